//! `OUT.run.json`: the record of a run beside what it wrote, with checksums of the files that belong together.
//!
//! The record is written in one [`Batch`] with the files it lists. Whoever reads one of them later calls [`verify`], so
//! that files of two runs are never taken for one: ids of one beside vectors of another, or a record that describes
//! something else. Cost: one more pass over the files.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::output::{Batch, Written, checksum, is_stream};

/// What a record says of files, and all else that it says.
#[derive(Serialize)]
struct Complete<'a, T> {
    #[serde(flatten)]
    run: &'a T,
    files: &'a [Written],
}

/// The part of a record that [`verify`] needs.
#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    files: Vec<Written>,
}

/// Where the record of a run stands; nowhere when its output is a stream.
pub fn path(output: &Path) -> Option<PathBuf> {
    (!is_stream(output)).then(|| beside(output))
}

fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".run.json");
    PathBuf::from(name)
}

/// Adds the record of a run, as indented JSON, to the files of its batch, which it lists; nothing for a stream.
pub fn add_to(batch: &mut Batch, output: &Path, run: &impl Serialize) -> Result<()> {
    let Some(path) = path(output) else { return Ok(()) };
    let complete = Complete { run, files: batch.written() };
    let text = serde_json::to_string_pretty(&complete).expect("a record is plain data") + "\n";
    let mut out = batch.begin(&path)?;
    out.write_all(text.as_bytes()).map_err(|e| out.error(e))?;
    batch.add(out)
}

/// Refuses an output whose record lists other files than those that are there; what has no record is not checked.
pub fn verify(output: &Path) -> Result<()> {
    let record = beside(output);
    let Some(text) = read(&record)? else { return Ok(()) };
    let damaged = |e: serde_json::Error| {
        let remedy = "write the files again, or delete the .run.json if they are known to belong together";
        Error::input(&record, format!("the record of {} is damaged: {e}", output.display()), remedy)
    };
    let json: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
    // Records of other tools, and those without a list, have nothing to compare with.
    let Ok(Listed { files }) = serde_json::from_value(json) else { return Ok(()) };
    let named = |name: &Path| files.iter().any(|file| Path::new(&file.name) == name);
    if !output.file_name().is_some_and(|name| named(Path::new(name))) {
        return Ok(());
    }
    files.iter().try_for_each(|file| compare(file, output, &record))
}

/// Length and checksum of an existing file, in one pass over it.
pub(crate) fn content(path: &Path) -> Result<Written> {
    let read = File::open(path).and_then(|mut file| checksum(&mut file));
    read.map(|sum| Written::new(path, &sum)).map_err(|error| Error::io(path, error))
}

/// The most bytes of a record: far beyond any that is written.
const LARGEST: u64 = 256 << 20;

/// The text of a record, when there is one.
fn read(record: &Path) -> Result<Option<Vec<u8>>> {
    let wrong = |e| Error::io(record, e);
    match std::fs::metadata(record) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(wrong(e)),
        Ok(found) if !found.is_file() || found.len() > LARGEST => {
            let remedy = "delete it, or move the output elsewhere";
            return Err(Error::input(record, "this cannot be the record of a run", remedy));
        }
        Ok(_) => {}
    }
    std::fs::read(record).map(Some).map_err(wrong)
}

fn compare(file: &Written, output: &Path, record: &Path) -> Result<()> {
    let differs = |how: String| {
        let message =
            format!("not as {} says: {how}. These are files of two runs, or one was changed", record.display());
        let remedy = "write them again, or delete the .run.json if the change is meant";
        Err(Error::input(output, message, remedy))
    };
    // A name, never a path that leads elsewhere.
    let Some(name) = Path::new(&file.name).file_name() else { return differs("it lists no name".into()) };
    let path = output.with_file_name(name);
    let shown = name.display();
    let Ok(mut opened) = File::open(&path) else { return differs(format!("{shown} is missing")) };
    let length = opened.metadata().map_err(|e| Error::io(&path, e))?.len();
    if length != file.bytes {
        return differs(format!("{shown} has {length} bytes, not {}", file.bytes));
    }
    let sum = checksum(&mut opened).map_err(|e| Error::io(&path, e))?;
    if Written::new(&path, &sum).crc32 != file.crc32 {
        return differs(format!("{shown} has another content"));
    }
    Ok(())
}
