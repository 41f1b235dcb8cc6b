//! Names of a table that is a folder of Parquet files, one per process: `vectors.parquet/part-00000.parquet`, ….
//!
//! A name that ends with `/` stands for such a folder. Readers take the files in the order of their names, as pandas,
//! Polars and DuckDB do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Existing, may_replace};
use crate::error::{Error, Result};

/// How the names of the files begin and end.
const PART: (&str, &str) = ("part-", ".parquet");

/// Whether a name stands for a folder of parts: it ends with a `/`.
pub fn is_folder(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|&last| std::path::is_separator(last.into()))
}

/// Refuses an existing folder, or one that contains anything but parts: everything in it would be deleted.
pub fn check_target(folder: &Path, existing: Existing) -> Result<()> {
    let folder = folder.components().as_path();
    let Ok(metadata) = fs::symlink_metadata(folder) else {
        return Ok(());
    };
    if !metadata.is_dir() {
        return Err(Error::input(
            folder,
            "is not a folder",
            "leave out the `/` at the end, or name another folder",
        ));
    }
    if existing == Existing::Refuse {
        return Err(Error::Exists {
            path: folder.to_path_buf(),
        });
    }
    for entry in fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
        let entry = entry.map_err(|e| Error::io(folder, e))?;
        let name = entry.file_name();
        if !is_part(&name.to_string_lossy()) || !entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            let message = format!(
                "holds {}, which is not a part of a table: it is not replaced",
                name.display()
            );
            return Err(Error::input(
                folder,
                message,
                "move that away, or name another folder",
            ));
        }
        let metadata = entry.metadata().map_err(|e| Error::io(entry.path(), e))?;
        may_replace(&entry.path(), &metadata, existing)?;
    }
    Ok(())
}

/// Whether a file has the name of a part.
pub fn is_part(name: &str) -> bool {
    let number = name
        .strip_prefix(PART.0)
        .and_then(|rest| rest.strip_suffix(PART.1));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The files of a table, in the order of their names: the file itself, or those of a folder. Hidden files are left out,
/// and so are those that begin with `_`, which other tools write beside the parts.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let shown =
        |name: &str| !name.starts_with(['.', '_']) && name.to_ascii_lowercase().ends_with(PART.1);
    let entries = entries.map_err(|e| Error::io(path, e))?.into_iter();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| shown(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(Error::input(
            path,
            "there is no .parquet file in this folder",
            "name a folder of Parquet files",
        ));
    }
    Ok(files)
}

/// The name of the part of a process.
pub fn part_name(rank: usize) -> String {
    format!("{}{rank:05}{}", PART.0, PART.1)
}
