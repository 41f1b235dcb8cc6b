//! [`Written`] and [`WrittenFolder`]: what a record says about files, and whether a file still matches.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::sum::{Sum, checksum};

/// A file that was written: its name within its folder, length and checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// File name, without folders.
    pub name: String,
    /// Length.
    pub bytes: u64,
    /// CRC-32 (IEEE 802.3) of the content, in hexadecimal.
    pub crc32: String,
}

/// A folder that was written, with all files in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFolder {
    /// The folder as the user named it.
    pub path: PathBuf,
    /// Its files.
    pub files: Vec<Written>,
}

impl Written {
    /// The record of a file.
    pub fn new(path: &Path, sum: &Sum) -> Self {
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        Written {
            name,
            bytes: sum.bytes(),
            crc32: format!("{:08x}", sum.crc32()),
        }
    }

    /// How the file at `path` differs from this one, as text; nothing if it is the same.
    pub fn difference(&self, path: &Path) -> io::Result<Option<String>> {
        let shown = path.file_name().unwrap_or(path.as_os_str()).display();
        let Ok(mut opened) = File::open(path) else {
            return Ok(Some(format!("{shown} is missing")));
        };
        let length = opened.metadata()?.len();
        if length != self.bytes {
            return Ok(Some(format!(
                "{shown} has {length} bytes, not {}",
                self.bytes
            )));
        }
        let sum = checksum(&mut opened)?;
        Ok((Written::new(path, &sum).crc32 != self.crc32)
            .then(|| format!("{shown} has different content")))
    }
}
