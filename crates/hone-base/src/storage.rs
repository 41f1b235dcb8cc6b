//! [`Storage`]: a long run of plain values, in memory or in a file; and [`Pages`], the memory of such a run.
//!
//! A run in a file takes no memory and can still be read, by ranges and from several threads. A temporary file has no name: the
//! system removes it when the run of the program ends, however it ends. A file is read into buffers and never mapped, so a
//! failing disk is an error and not a signal. Products of matrices cannot fail, however: a read that fails gives zeros, and
//! [`Storage::check`] and [`Storage::move_to_memory`] report the first one.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use memmap2::MmapMut;

use crate::error::{Error, Result, human_bytes};
use crate::message::{message, setting};
use crate::parallel;

/// A run of values, in memory or in a file. It dereferences to the values in memory: none if they are in a file.
#[derive(Debug)]
pub struct Storage<T> {
    memory: Pages<T>,
    /// The file, if the values are in one. Not a variant beside the memory, so that `deref` in inner loops has fewer cases.
    file: Option<Box<ValuesInFile>>,
}

impl<T: Pod> Storage<T> {
    /// `len` zeros in memory.
    ///
    /// # Panics
    /// When they do not fit the address space.
    pub fn zeros(len: usize) -> Self {
        Pages::zeros(len).into()
    }

    /// `len` values in a temporary file of a folder, written once and in order: `fill` gets one range after the other, of at
    /// most `piece` values, and a buffer for them.
    pub fn write(
        folder: &Path,
        len: usize,
        piece: usize,
        mut fill: impl FnMut(Range<usize>, &mut [T]) -> Result<()>,
    ) -> Result<Self> {
        let failed = |error| write_error(folder, (len * size_of::<T>()) as u64, error);
        let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
        let mut buffer = vec![T::zeroed(); piece.min(len)];
        for start in (0..len).step_by(piece.max(1)) {
            let range = start..len.min(start + piece);
            let values = &mut buffer[..range.len()];
            fill(range, values)?;
            file.write_all(bytemuck::cast_slice(values))
                .map_err(failed)?;
        }
        Ok(Storage::of_file(file, folder, 0, len))
    }

    /// `len` values of a file, from byte `start` on, as they are in memory.
    pub fn of_file(file: File, path: &Path, start: u64, len: usize) -> Self {
        Storage {
            memory: Vec::new().into(),
            file: Some(Box::new(ValuesInFile {
                file: Arc::new(file),
                path: path.to_owned(),
                start,
                len,
                failure: Arc::default(),
            })),
        }
    }

    /// Number of values, wherever they are.
    pub fn count(&self) -> usize {
        self.file
            .as_ref()
            .map_or(self.memory.len(), |file| file.len)
    }

    /// Whether the values are in a file.
    pub fn is_in_file(&self) -> bool {
        self.file.is_some()
    }

    /// Moves the values to a temporary file in a folder, unless they are in one.
    pub fn move_to_file(&mut self, folder: &Path) -> Result<()> {
        if !self.is_in_file() {
            let values = &self.memory;
            *self = Storage::write(folder, values.len(), BUFFER, |range, to| {
                to.copy_from_slice(&values[range]);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Reads the values back, if they are in a file; fails where any read has failed.
    pub fn move_to_memory(&mut self) -> Result<()> {
        if let Some(file) = &self.file {
            let mut values = Pages::zeros(file.len);
            file.read(0, &mut values);
            file.check()?;
            *self = values.into();
        }
        Ok(())
    }

    /// Copies the values from `first` on, as many as `to` takes; zeros where a file cannot be read.
    pub fn read(&self, first: usize, to: &mut [T]) {
        match &self.file {
            None => to.copy_from_slice(&self.memory[first..first + to.len()]),
            Some(file) => file.read(first, to),
        }
    }

    /// Fails if a read has failed, once for each failure.
    pub fn check(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.check())
    }
}

impl<T> From<Pages<T>> for Storage<T> {
    fn from(memory: Pages<T>) -> Self {
        Storage { memory, file: None }
    }
}

impl<T> From<Vec<T>> for Storage<T> {
    fn from(values: Vec<T>) -> Self {
        Pages::from(values).into()
    }
}

impl<T: Pod> Deref for Storage<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.memory
    }
}

impl<T: Pod> DerefMut for Storage<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory
    }
}

/// Clones share a file.
impl<T: Pod> Clone for Storage<T> {
    fn clone(&self) -> Self {
        Storage {
            memory: self.memory.clone(),
            file: self.file.clone(),
        }
    }
}

/// Values copied to a file at a time.
const BUFFER: usize = 1 << 16;

/// Values in a file.
#[derive(Debug, Clone)]
struct ValuesInFile {
    file: Arc<File>,
    /// Of the file, or of its folder if it has no name.
    path: PathBuf,
    /// The byte of the first value.
    start: u64,
    len: usize,
    /// The first read that failed, until it is reported.
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl ValuesInFile {
    fn read<T: Pod>(&self, first: usize, to: &mut [T]) {
        let offset = self.start + (first * size_of::<T>()) as u64;
        if let Err(error) = read_exactly(&self.file, bytemuck::cast_slice_mut(to), offset) {
            to.fill(T::zeroed());
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
        }
    }

    fn check(&self) -> Result<()> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map_or(Ok(()), |error| {
            let message = format!("a file of values cannot be read back: {error}");
            Err(Error::io(&self.path, io::Error::other(message)))
        })
    }
}

/// Runs of this many bytes or more are on pages of their own.
const LARGE: usize = 2 << 20;

/// The memory of a run of values, zero at first: on the heap for few, on anonymous huge pages for many.
///
/// Products gather rows of a block at random; with pages of 4 kB nearly each gather misses the translation cache, and every
/// page is faulted in separately. If the system gives huge pages only on request (`madvise`), they are requested.
#[derive(Debug)]
pub struct Pages<T>(Memory<T>);

#[derive(Debug)]
enum Memory<T> {
    Heap(Vec<T>),
    Mapped(MmapMut, PhantomData<T>),
}

impl<T: Pod> Pages<T> {
    /// `len` zeros.
    ///
    /// # Panics
    /// When they do not fit the address space.
    pub fn zeros(len: usize) -> Self {
        let bytes = len
            .checked_mul(size_of::<T>())
            .expect("values fit the address space");
        if bytes < LARGE {
            return Pages::from(vec![T::zeroed(); len]);
        }
        // If the map is refused, the allocator decides.
        let Ok(map) = MmapMut::map_anon(bytes) else {
            return Pages::from(vec![T::zeroed(); len]);
        };
        // Only a hint: a kernel without huge pages refuses it, and the map works anyway.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Pages(Memory::Mapped(map, PhantomData))
    }

    /// The results of `work` for each of `0..len`, computed in parallel: for small work, and results that are looked up in no order.
    pub fn collect(len: usize, work: impl Fn(usize) -> T + Sync) -> Self
    where
        T: Send,
    {
        let mut values = Pages::zeros(len);
        parallel::for_rows(&mut values, 1, |i, to: &mut [T]| to[0] = work(i));
        values
    }
}

impl<T> From<Vec<T>> for Pages<T> {
    fn from(values: Vec<T>) -> Self {
        Pages(Memory::Heap(values))
    }
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Heap(values) => values,
            Memory::Mapped(map, _) => bytemuck::cast_slice(map),
        }
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Memory::Heap(values) => values,
            Memory::Mapped(map, _) => bytemuck::cast_slice_mut(map),
        }
    }
}

impl<T: Pod> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut copy = Pages::zeros(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

/// Why a temporary file of this many bytes could not be written in a folder, and what to do.
pub fn write_error(folder: &Path, bytes: u64, error: io::Error) -> Error {
    let remedy = message![
        "name another folder for temporary files (",
        setting("temp_dir"),
        "), or raise ",
        setting("memory_limit")
    ];
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            let bytes = human_bytes(bytes);
            let message = format!("no space left for temporary files of {bytes}");
            Error::Io {
                path: folder.to_path_buf(),
                source: io::Error::new(error.kind(), message),
                remedy,
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_fails_is_reported_when_the_values_are_needed() {
        let folder = std::env::temp_dir();
        let fill = |_: Range<usize>, to: &mut [f32]| {
            to.fill(1.0);
            Ok(())
        };
        let mut storage = Storage::write(&folder, 4, 3, fill).expect("written");
        let file = storage.file.as_ref().expect("in a file");
        file.file.set_len(8).expect("shortened");
        let mut some = [7.0f32; 2];
        storage.read(2, &mut some);
        assert_eq!(some, [0.0; 2]);
        assert!(storage.check().is_err() && storage.check().is_ok());
        assert!(storage.move_to_memory().is_err());
        assert!(Storage::write(Path::new("/no such folder"), 4, 3, fill).is_err());
    }
}
