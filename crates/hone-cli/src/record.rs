//! `OUT.run.json`: what a run did, beside what it wrote, so that it can be explained and repeated.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use hone::Error;
use hone::output::{Output, is_stream};
use serde::Serialize;

/// Where the record of a run stands; nowhere when its output goes to standard output, a pipe or a device.
pub(crate) fn path(output: &Path) -> Option<PathBuf> {
    let mut name = output.as_os_str().to_owned();
    name.push(".run.json");
    (!is_stream(output)).then(|| PathBuf::from(name))
}

/// Finds out before the work, not after it, that an output is in the way. Pipes are not touched: opening one is
/// seen by whoever reads it.
pub(crate) fn refuse_existing<'a>(files: impl Iterator<Item = &'a PathBuf>, force: bool) -> Result<(), Error> {
    files.filter(|file| !is_stream(file)).try_for_each(|file| Output::create(file, force).map(drop))
}

/// Removes the record of an earlier run, which would be wrong beside the output of this one; call it just before that
/// is written.
pub(crate) fn clear(path: Option<&PathBuf>) -> Result<(), Error> {
    match path.map(|path| (path, std::fs::remove_file(path))) {
        Some((path, Err(error))) if error.kind() != ErrorKind::NotFound => Err(Error::io(path, error)),
        _ => Ok(()),
    }
}

/// Writes a record as indented JSON.
pub(crate) fn write(record: &impl Serialize, path: &Path, force: bool) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(record).expect("a record is plain data") + "\n";
    let mut out = Output::create(path, force)?;
    out.write_all(text.as_bytes()).map_err(|e| out.error(e))?;
    out.commit()
}
