//! `OUT.run.json`: what a run did, beside what it wrote, so that it can be explained and repeated.

use std::io::Write;
use std::path::{Path, PathBuf};

use hone::Error;
use hone::output::Output;
use serde::Serialize;

/// Where the record of a run stands; nowhere when its output goes to standard output or a device.
pub(crate) fn path(output: &Path) -> Option<PathBuf> {
    let special = output == Path::new("-") || output.exists() && !output.is_file();
    let name = || {
        let mut name = output.as_os_str().to_owned();
        name.push(".run.json");
        PathBuf::from(name)
    };
    (!special).then(name)
}

/// Finds out before the work, not after it, that an output is in the way.
pub(crate) fn refuse_existing<'a>(files: impl Iterator<Item = &'a PathBuf>, force: bool) -> Result<(), Error> {
    for file in files.filter(|file| file.as_os_str() != "-") {
        Output::create(file, force)?;
    }
    Ok(())
}

/// Writes a record as indented JSON.
pub(crate) fn write(record: &impl Serialize, path: &Path, force: bool) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(record).expect("a record is plain data") + "\n";
    let mut out = Output::create(path, force)?;
    out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e))?;
    out.commit()
}
