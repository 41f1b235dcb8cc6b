//! Names of a table that is a folder of Parquet files, one per process: `vectors.parquet/part-00000.parquet`, ….
//!
//! A name that ends with `/` stands for such a folder. Readers take the files in the order of their names, as pandas,
//! Polars and DuckDB do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Existing;
use super::place::check_folder;
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
        let remedy = "leave out the `/` at the end, or name another folder";
        return Err(Error::input(folder, "is not a folder", remedy));
    }
    if existing == Existing::Refuse {
        let path = folder.to_path_buf();
        return Err(Error::Exists { path });
    }
    check_folder(folder, existing, is_part, "is not a part of a table")
}

/// Whether a file has the name of a part.
pub fn is_part(name: &str) -> bool {
    let rest = name.strip_prefix(PART.0);
    let number = rest.and_then(|rest| rest.strip_suffix(PART.1));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    number.is_some_and(|number| !number.is_empty() && is_number(number))
}

/// The files of a table, in the order of their names: the file itself, or those of a folder. Hidden files are left out,
/// and so are those that begin with `_`, which other tools write beside the parts.
pub fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|e| Error::io(path, e))?.into_iter();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with(['.', '_']) && name.to_ascii_lowercase().ends_with(PART.1)
    });
    files.sort();
    if files.is_empty() {
        let message = "there is no .parquet file in this folder";
        return Err(Error::input(
            path,
            message,
            "name a folder of Parquet files",
        ));
    }
    Ok(files)
}

/// The name of the part of a process.
pub fn part_name(rank: usize) -> String {
    format!("{}{rank:05}{}", PART.0, PART.1)
}
