//! Files that belong to another one: ids and column names of formats that cannot store them, and the record of a run.
//! If a file is replaced, companions of the old one could be mistaken for those of the new one.

use std::fs;
use std::path::{Path, PathBuf};

/// The ids of the rows of `path`: `z.npy` → `z.ids.txt`.
pub fn ids(path: &Path) -> PathBuf {
    path.with_extension("ids.txt")
}

/// The names of the columns of `path`: `z.npy` → `z.npy.columns.txt`.
pub fn columns(path: &Path) -> PathBuf {
    with(path, ".columns.txt")
}

/// The record of the run that made `path`: `z.npy` → `z.npy.run.json`.
pub fn record(path: &Path) -> PathBuf {
    with(path, ".run.json")
}

fn with(path: &Path, ending: &str) -> PathBuf {
    // The name of a folder may end with a `/`.
    let mut name = path.components().as_path().as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Bytes of a record at most: far more than any that is written.
pub(crate) const LARGEST: u64 = 64 << 20;

/// Whether readers would take a file for the record of a run, intact or damaged: it starts as a JSON object, and it is not
/// that of another tool, which has neither `version` nor `files`.
pub fn is_record(path: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Record {
        version: Option<serde::de::IgnoredAny>,
        files: Option<serde::de::IgnoredAny>,
    }
    let small = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
    let Some(text) = small.then(|| fs::read(path).ok()).flatten() else {
        return false;
    };
    let others = |record: Record| record.version.is_none() && record.files.is_none();
    text.trim_ascii_start().starts_with(b"{") && !serde_json::from_slice(&text).is_ok_and(others)
}

/// All files that would be taken for companions of `path`.
pub fn companions(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![columns(path), record(path)];
    if path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
    {
        all.push(ids(path));
    }
    all
}
