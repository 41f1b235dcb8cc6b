//! [`Aside`]: values in a temporary file while their memory is needed for others.
//!
//! The file has no name: the system removes it when the run ends, however it ends. Rows can still be read. A product
//! cannot fail, so a read that fails gives zeros, and [reading the values back](Aside::back) reports the error.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

use crate::error::{Error, Result, human_bytes};

/// Values in a temporary file.
#[derive(Debug, Clone)]
pub struct Aside {
    file: Arc<File>,
    folder: PathBuf,
    len: usize,
    fault: Arc<Mutex<Option<io::Error>>>,
}

impl Aside {
    /// Writes values to a temporary file in a folder.
    pub fn new<T: Pod>(values: &[T], folder: &Path) -> Result<Self> {
        let written = tempfile::tempfile_in(folder).and_then(|mut file| {
            file.write_all(bytemuck::cast_slice(values))?;
            Ok(file)
        });
        let file =
            Arc::new(written.map_err(|error| refused(folder, size_of_val(values) as u64, error))?);
        Ok(Aside {
            file,
            folder: folder.to_owned(),
            len: values.len(),
            fault: Arc::default(),
        })
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.len
    }

    /// Reads values from the `first` on; zeros where that fails.
    pub fn read<T: Pod>(&self, first: usize, to: &mut [T]) {
        let offset = (first * size_of::<T>()) as u64;
        if let Err(error) = read_exactly(&self.file, bytemuck::cast_slice_mut(to), offset) {
            to.fill(T::zeroed());
            self.fault
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(error);
        }
    }

    /// Reads all values; fails where a read has failed before.
    pub fn back<T: Pod>(&self, to: &mut [T]) -> Result<()> {
        self.read(0, to);
        let fault = self
            .fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let unreadable =
            |error| io::Error::other(format!("a temporary file cannot be read back: {error}"));
        fault.map_or(Ok(()), |error| {
            Err(Error::io(&self.folder, unreadable(error)))
        })
    }
}

/// Why a temporary file of this many bytes could not be written in a folder, and what to do.
pub fn refused(folder: &Path, bytes: u64, error: io::Error) -> Error {
    let remedy = "name another folder for temporary files (temp_dir), or raise the memory limit";
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            let message = format!(
                "no space left for temporary files of {}; {remedy}",
                human_bytes(bytes)
            );
            Error::io(folder, io::Error::new(error.kind(), message))
        }
        ErrorKind::NotFound
        | ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::NotADirectory => Error::input(
            folder,
            format!("no temporary file can be made here: {error}"),
            remedy,
        ),
        _ => Error::io(folder, error),
    }
}

/// Fills a buffer from a place of a file, whose own position is not used.
pub fn read_exactly(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buffer = &mut buffer[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads at a place without moving the file's own position, so that threads can share it.
#[cfg(unix)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Reads at a place; the file's own position moves, but nobody uses it.
#[cfg(windows)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Reads at a place, one thread at a time because the file's own position is used.
#[cfg(not(any(unix, windows)))]
pub fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    file.seek(SeekFrom::Start(offset))?;
    file.read(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_can_be_read_meanwhile() {
        let folder = std::env::temp_dir();
        let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let aside = Aside::new(&values, &folder).expect("written");
        let mut some = [0.0f32; 3];
        aside.read(500, &mut some);
        assert_eq!((aside.count(), some), (1000, [500.0, 501.0, 502.0]));
        let mut all = vec![0.0; 1000];
        aside.back(&mut all).expect("read");
        assert_eq!(all, values);
    }

    #[test]
    fn a_read_that_fails_is_told_once_the_values_are_wanted() {
        let aside = Aside::new(&[1.0f32; 4], &std::env::temp_dir()).expect("written");
        aside.file.set_len(8).expect("shortened");
        let mut some = [7.0f32; 2];
        aside.read(2, &mut some);
        assert_eq!(some, [0.0; 2]);
        assert!(aside.back(&mut [0.0f32; 2]).is_err());
        assert!(Aside::new(&[1.0f32], Path::new("/no such folder")).is_err());
    }
}
