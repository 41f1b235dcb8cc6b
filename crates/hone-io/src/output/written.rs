//! What a record says about files: names, lengths and checksums, and whether a file still matches.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::BUFFER;

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
        let name = path.file_name().unwrap_or(path.as_os_str());
        Written {
            name: name.to_string_lossy().into_owned(),
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
        let now = Written::new(path, &checksum(&mut opened)?);
        Ok((now.crc32 != self.crc32).then(|| format!("{shown} has different content")))
    }
}

/// Length and CRC-32 (IEEE 802.3) of the bytes so far.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    bytes: u64,
    hasher: crc32fast::Hasher,
}

impl Sum {
    /// Adds bytes.
    pub fn add(&mut self, data: &[u8]) {
        self.hasher.update(data);
        self.bytes += data.len() as u64;
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Their checksum.
    pub fn crc32(&self) -> u32 {
        self.hasher.clone().finalize()
    }
}

/// That of all that is left to read.
pub fn checksum(reader: &mut dyn Read) -> io::Result<Sum> {
    let (mut sum, mut buffer) = (Sum::default(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(sum),
            Ok(read) => sum.add(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A file of a temporary folder, measured while it is written.
#[derive(Debug)]
pub(crate) struct Measured {
    out: BufWriter<File>,
    sum: Sum,
}

impl Measured {
    /// Creates a file, or empties it.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let (out, sum) = (File::create(path)?, Sum::default());
        Ok(Measured {
            out: BufWriter::with_capacity(BUFFER, out),
            sum,
        })
    }

    /// Brings everything to disk.
    pub(crate) fn finish(self) -> io::Result<Sum> {
        let file = self
            .out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.sync_all().map(|()| self.sum)
    }
}

impl Write for Measured {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.out.write(data)?;
        self.sum.add(&data[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
