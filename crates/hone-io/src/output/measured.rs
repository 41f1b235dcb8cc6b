//! [`Measured`]: a file under a temporary name that is measured while it is written, whole or a part of it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::place::{Place, folder_of};
use super::sum::Sum;
use super::{BUFFER, Output, Sink};
use crate::error::Result;

/// A file of which this process writes all, or what follows an offset.
#[derive(Debug)]
pub struct Measured {
    out: BufWriter<File>,
    sum: Sum,
}

impl Measured {
    /// Creates a file, or empties it.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(Self::new)
    }

    /// Opens a file that another process has begun; writes begin at its first byte.
    pub fn join(path: &Path) -> io::Result<Self> {
        OpenOptions::new().write(true).open(path).map(Self::new)
    }

    fn new(file: File) -> Self {
        Measured {
            out: BufWriter::with_capacity(BUFFER, file),
            sum: Sum::default(),
        }
    }

    /// Continues at an offset.
    pub fn go_to(&mut self, offset: u64) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(offset)).map(drop)
    }

    /// Brings everything to disk; returns length and checksum of what this process has written.
    pub fn finish(self) -> io::Result<Sum> {
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        Ok(self.sum)
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

impl Output {
    /// The name of the temporary file, in the folder of the target; none for a stream.
    pub fn temporary_name(&self) -> Option<&str> {
        match &self.sink {
            Sink::Temporary(_, temporary) => temporary.name(),
            _ => None,
        }
    }

    /// Says that another process has written the next bytes.
    pub fn extend(&mut self, part: &Sum) {
        self.sum.append(part);
    }
}

/// Where a temporary file of another process is, given its name and what the user calls the file.
pub fn temporary_of(path: &Path, name: &str) -> Result<PathBuf> {
    let target = match Place::of(path)? {
        Place::File { target, .. } => target,
        Place::Stdout | Place::Stream => path.to_path_buf(),
    };
    Ok(folder_of(&target).join(name))
}
