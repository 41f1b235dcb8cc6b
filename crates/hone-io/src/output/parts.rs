//! Names of a table that is a folder of Parquet files, one or more per process: `vectors.parquet/part-00000.parquet`, ….
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

/// Folders within one another that are looked into; more are a link to a folder that it is in.
const DEEPEST: usize = 32;

/// The Parquet files of a data set, in the order of their paths: those in a folder and in the folders within it, such as the
/// partitions `year=2024`. What begins with `.` or `_` is left out, as other tools write such files beside the data; any other
/// file is refused.
pub fn data_set(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![(folder.to_path_buf(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        if depth > DEEPEST {
            let message = format!("more than {DEEPEST} folders within one another");
            return Err(Error::input(folder, message, "remove links to folders"));
        }
        let entries = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        for entry in entries.map_err(|e| Error::io(&folder, e))? {
            let path = entry.path();
            if let Some(b'.' | b'_') = entry.file_name().as_encoded_bytes().first() {
                continue;
            }
            let found = fs::metadata(&path).map_err(|e| Error::io(&path, e))?;
            if found.is_dir() {
                folders.push((path, depth + 1));
            } else {
                files.push(path);
            }
        }
    }
    let is_table = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        extension == "parquet" || extension == "pq"
    };
    files.sort();
    if !files.iter().any(is_table) {
        let message = "there is no .parquet file in this folder";
        let remedy = "name a folder of Parquet files, or one file of another format";
        return Err(Error::input(folder, message, remedy));
    }
    if let Some(other) = files.iter().find(|path| !is_table(path)) {
        let message = format!(
            "this is no .parquet file, as others in the folder {}",
            folder.display()
        );
        let remedy = "move it away; names that begin with _ or . are left out";
        return Err(Error::input(other, message, remedy));
    }
    Ok(files)
}

/// The name of a part, by its number.
pub fn part_name(number: usize) -> String {
    format!("{}{number:05}{}", PART.0, PART.1)
}
