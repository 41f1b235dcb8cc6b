//! Files that belong to another one: ids and names of columns of formats that have no place for them, and the record of a
//! run. Where a file is replaced, companions of the old one would be taken for those of the new one.

use std::path::{Path, PathBuf};

/// The ids of the rows of `path`: `z.npy` → `z.ids.txt`.
pub(crate) fn ids(path: &Path) -> PathBuf {
    path.with_extension("ids.txt")
}

/// The names of the columns of `path`: `z.npy` → `z.npy.columns.txt`.
pub(crate) fn columns(path: &Path) -> PathBuf {
    with(path, ".columns.txt")
}

/// The record of the run that made `path`: `z.npy` → `z.npy.run.json`.
pub(crate) fn record(path: &Path) -> PathBuf {
    with(path, ".run.json")
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// All files that would be taken for companions of `path`.
pub(super) fn of(path: &Path) -> Vec<PathBuf> {
    let mut all = vec![columns(path), record(path)];
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy")) {
        all.push(ids(path));
    }
    all
}
