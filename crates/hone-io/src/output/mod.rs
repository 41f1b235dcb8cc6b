//! [`Output`] and [`Batch`]: files that appear complete or not at all, alone or together.
//!
//! Every writer of the library goes through here. Data goes to a temporary file in the target's
//! folder; when it is complete it is flushed and synced to disk, and renamed over the target. A
//! [`Batch`] does so for all files of one result at once. What is dropped before that leaves nothing
//! behind, and neither does a process that calls [`remove_unfinished`] on its way out (the command
//! does so on Ctrl-C).
//!
//! An existing target is replaced only on request, and keeps its permissions. A symbolic link stays
//! and the file it points to is replaced, as with a plain write; only in folders that hone manages are links themselves
//! replaced. Devices, pipes and open descriptors are written to directly, and `-` is standard output; every other name
//! is a regular file.
//!
//! A batch is written and synced under temporary names first, which is when a full disk shows. Only renames remain. The
//! registry of temporary files is locked meanwhile, so that an interrupt waits; if a rename fails, everything is undone
//! (`temporary`). A process that is killed between two renames leaves no mixture that looks complete: the file added first,
//! which is the one that is opened later, is moved away first and put in place last; folders come before all files.
//! Companions of a replaced file that the new ones do not replace are removed with it; files that are not the record of a
//! run stay. A record of checksums among the files ([`crate::record`]) shows what a crash of the machine may leave.

pub mod companions;
pub mod parts;
mod place;
mod temporary;

pub use companions::companions;
pub(crate) use place::check_folder;
pub use place::{is_stream, plain, same_file, spelled_out};
pub use temporary::{Frozen, NewFolder, Temporary, is_temporary, remove_unfinished};

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::terminal::Results;
use place::{Place, folder_of, may_replace, sync};
use temporary::{Pending, exchange, registry};

/// Large enough that system calls do not count.
const BUFFER: usize = 256 * 1024;

/// What to do about an existing file or folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and writing is an error.
    #[default]
    Refuse,
    /// It is replaced.
    Replace,
}

impl Existing {
    /// Replaced if a user said so.
    pub fn replaced_if(force: bool) -> Self {
        if force {
            Existing::Replace
        } else {
            Existing::Refuse
        }
    }
}

/// A buffered file under construction, or standard output.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("result.txt");
/// let mut output = hone_io::output::Output::create(&path, hone_io::output::Existing::Refuse)?;
/// output.write_all(b"42\n").map_err(|e| output.error(e))?;
/// assert!(!path.exists());
/// output.commit()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"42\n");
/// # Ok::<(), hone_base::Error>(())
/// ```
#[derive(Debug)]
pub struct Output {
    /// As the user named it.
    path: PathBuf,
    sink: Sink,
    /// Of what was written; of no use once a part was written over.
    sum: Sum,
    rewritten: bool,
}

#[derive(Debug)]
enum Sink {
    Stdout(BufWriter<Results<io::Stdout>>),
    /// A device, a pipe or a descriptor: no temporary, nothing to replace.
    Stream(BufWriter<Results<File>>),
    /// And where it goes; nowhere if it is in a temporary folder.
    File(BufWriter<File>, Option<Pending>),
}

impl Output {
    /// Opens `path` (`-`: standard output) for writing.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is a file already that may not be replaced; an error with a remedy
    /// when the path is a folder, or its folder is missing or cannot be written to.
    pub fn create(path: &Path, existing: Existing) -> Result<Self> {
        match Place::of(path)? {
            Place::Stdout => Ok(Output::new(path, Sink::Stdout(buffered(io::stdout())))),
            Place::Stream => {
                // What is behind a descriptor may be a file, which is added to: the shell has emptied it where that was
                // requested.
                let regular = path.is_file();
                let file = OpenOptions::new()
                    .write(!regular)
                    .append(regular)
                    .open(path)
                    .map_err(|e| place::refused(path, e))?;
                Ok(Output::new(path, Sink::Stream(buffered(file))))
            }
            Place::File { target, found } => {
                if let Some(file) = &found {
                    may_replace(path, file, existing)?;
                }
                Output::temporary(path, target, found, existing)
            }
        }
    }

    /// Opens a file in a folder that hone manages, such as a checkpoint: an existing file is replaced, and so is a
    /// symbolic link itself, not its target.
    pub fn create_own(path: &Path) -> Result<Self> {
        let found = fs::symlink_metadata(path).ok();
        if found.as_ref().is_some_and(Metadata::is_dir) {
            let remedy = "move it away, or name another place";
            return Err(Error::input(path, "is a folder", remedy));
        }
        let found = found.filter(Metadata::is_file);
        Output::temporary(path, path.to_path_buf(), found, Existing::Replace)
    }

    /// Creates a file in a temporary folder, or empties it.
    pub(crate) fn inside(path: &Path) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER, File::create(path)?);
        Ok(Output::new(path, Sink::File(file, None)))
    }

    fn temporary(
        path: &Path,
        target: PathBuf,
        found: Option<Metadata>,
        existing: Existing,
    ) -> Result<Self> {
        let (file, temporary) = Temporary::file(path, &target, found)?;
        let pending = Pending {
            temporary,
            target,
            existing,
        };
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Output::new(path, Sink::File(file, Some(pending))))
    }

    fn new(path: &Path, sink: Sink) -> Self {
        Output {
            path: path.to_path_buf(),
            sink,
            sum: Sum::default(),
            rewritten: false,
        }
    }

    /// The path as given to [`Output::create`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether [`Seek`] works: not so for standard output, pipes and devices.
    pub fn can_seek(&self) -> bool {
        matches!(self.sink, Sink::File(..))
    }

    /// Length and checksum of what was written, as long as none of it was written over.
    pub fn sum(&self) -> &Sum {
        &self.sum
    }

    /// `error`, met while writing here, with the path to it.
    pub fn error(&self, error: io::Error) -> Error {
        Error::io(shown(&self.path), error)
    }

    /// Finishes: all data is on disk, and the target is complete under its own name.
    pub fn commit(self) -> Result<()> {
        let mut alone = Batch::default();
        if let Sink::File(_, Some(pending)) = &self.sink {
            alone.existing = pending.existing;
        }
        alone.add(self)?;
        alone.commit().map(drop)
    }

    /// Brings all data to disk, or through a stream; returns what a file has become, and where it goes.
    pub(crate) fn finish(self) -> io::Result<Option<(Written, Option<Pending>)>> {
        let (buffer, pending) = match self.sink {
            Sink::Stdout(mut out) => return out.flush().map(|()| None),
            Sink::Stream(mut out) => return out.flush().map(|()| None),
            Sink::File(buffer, pending) => (buffer, pending),
        };
        let mut file = buffer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        let sum = if self.rewritten {
            file.rewind()?;
            checksum(&mut file)?
        } else {
            self.sum
        };
        Ok(Some((Written::new(&self.path, &sum), pending)))
    }
}

impl Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            Sink::Stdout(out) => out.write(data),
            Sink::Stream(out) => out.write(data),
            Sink::File(out, _) => out.write(data),
        }?;
        self.sum.add(&data[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(out) => out.flush(),
            Sink::Stream(out) => out.flush(),
            Sink::File(out, _) => out.flush(),
        }
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.rewritten |= to != SeekFrom::Current(0);
        match &mut self.sink {
            Sink::File(file, _) => file.seek(to),
            _ => Err(io::Error::new(
                ErrorKind::NotSeekable,
                "this output cannot be rewound; write to a file",
            )),
        }
    }
}

fn buffered<W: Write + IsTerminal>(out: W) -> BufWriter<Results<W>> {
    BufWriter::with_capacity(BUFFER, Results::new(out))
}

/// The name of an output in errors.
fn shown(path: &Path) -> &Path {
    if path == Path::new("-") {
        Path::new("standard output")
    } else {
        path
    }
}

/// Files that appear together or not at all; the first one is the one that matters.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let (table, names) = (folder.path().join("table"), folder.path().join("names"));
/// let mut batch = hone_io::output::Batch::default();
/// for path in [&table, &names] {
///     let mut output = batch.begin(path)?;
///     output.write_all(b"1 2 3\n").map_err(|e| output.error(e))?;
///     batch.add(output)?;
/// }
/// assert!(!table.exists() && !names.exists());
/// batch.commit()?;
/// assert!(table.exists() && names.exists());
/// # Ok::<(), hone_base::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Batch {
    existing: Existing,
    /// As named by the caller.
    paths: Vec<PathBuf>,
    /// Complete under temporary names.
    pending: Vec<Pending>,
    written: Vec<Written>,
    folders: Vec<WrittenFolder>,
    obsolete: Vec<PathBuf>,
}

impl Batch {
    /// No files yet.
    pub fn new(existing: Existing) -> Self {
        Batch {
            existing,
            ..Batch::default()
        }
    }

    /// Opens a file (`-`: standard output) for writing, to be [added](Batch::add) when complete.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn begin(&self, path: &Path) -> Result<Output> {
        Output::create(path, self.existing)
    }

    /// Takes a complete file: its data is on disk, but not yet under its name. Streams are flushed.
    pub fn add(&mut self, output: Output) -> Result<()> {
        let path = output.path.clone();
        let finished = output.finish().map_err(|e| Error::io(shown(&path), e))?;
        if let Some((written, Some(pending))) = finished {
            let same = |other: &Pending| other.target == pending.target;
            if self.pending.iter().any(same) {
                let path = path.display();
                let message = format!("two outputs go to {path}; give each its own path");
                return Err(Error::config("output", message));
            }
            self.written.push(written);
            self.pending.push(pending);
        }
        self.paths.push(path);
        Ok(())
    }

    /// What it does about files that exist.
    pub fn existing(&self) -> Existing {
        self.existing
    }

    /// The files so far, streams left out.
    pub fn written(&self) -> &[Written] {
        &self.written
    }

    /// Takes a complete folder, whose files are on disk.
    pub fn add_folder(
        &mut self,
        folder: Temporary,
        target: PathBuf,
        existing: Existing,
        files: Vec<Written>,
    ) {
        self.folders.push(WrittenFolder {
            path: target.clone(),
            files,
        });
        self.pending.push(Pending {
            temporary: folder,
            target,
            existing,
        });
    }

    /// The folders so far.
    pub fn folders(&self) -> &[WrittenFolder] {
        &self.folders
    }

    /// Schedules the removal of a file of an earlier run, which does not belong to the new ones, for when they appear.
    ///
    /// # Errors
    /// [`Error::Exists`] when it exists and may not be replaced.
    pub fn obsolete(&mut self, path: &Path) -> Result<()> {
        if let Place::File {
            target,
            found: Some(file),
        } = Place::of(path)?
        {
            may_replace(path, &file, self.existing)?;
            self.obsolete.push(target);
        }
        Ok(())
    }

    /// Schedules the removal of companions of replaced files, unless they are written anew or are files of others.
    fn obsolete_companions(&mut self) -> Result<()> {
        let pending = &self.pending;
        for of in pending.iter().filter(|one| !one.temporary.is_folder()) {
            let record = companions::record(&of.target);
            let mut beside = companions(&of.target);
            beside.retain(|path| *path != record || companions::is_record(path));
            for path in beside {
                // A companion may be a link to a file that is replaced.
                if let Ok(Place::File {
                    target,
                    found: Some(file),
                }) = Place::of(&path)
                    && !self.obsolete.contains(&target)
                    && pending.iter().all(|one| one.target != target)
                {
                    may_replace(&path, &file, self.existing)?;
                    self.obsolete.push(path);
                }
            }
        }
        Ok(())
    }

    /// Puts all files and folders in place, and returns them as they were named.
    ///
    /// # Errors
    /// [`Error::Exists`] when one may not be replaced and is there by now; when one cannot be renamed. Then all is as it
    /// was before.
    pub fn commit(mut self) -> Result<Vec<PathBuf>> {
        if self.existing == Existing::Replace {
            self.obsolete_companions()?;
        }
        let (mut paths, mut pending) = (self.paths, self.pending);
        paths.extend(self.folders.into_iter().map(|folder| folder.path));
        pending.sort_by_key(|one| one.temporary.is_folder());
        // Released before the temporary files are, which need it.
        let mut registry = registry();
        exchange(&pending, &self.obsolete).map_err(|(path, error)| match error.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path },
            _ => Error::io(path, error),
        })?;
        registry.publish(&paths);
        drop(registry);
        let mut folders: Vec<&Path> = pending.iter().map(|one| folder_of(&one.target)).collect();
        folders.dedup();
        for folder in folders {
            sync(folder).map_err(|e| Error::io(folder, e))?;
        }
        Ok(paths)
    }
}

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
    fn new(path: &Path, sum: &Sum) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Written {
            name: name.to_string_lossy().into_owned(),
            bytes: sum.bytes(),
            crc32: format!("{:08x}", sum.crc32()),
        }
    }

    /// The file at a path, in one pass over it.
    pub fn of(path: &Path) -> Result<Self> {
        let sum = File::open(path).and_then(|mut file| checksum(&mut file));
        let sum = sum.map_err(|error| Error::io(path, error))?;
        Ok(Written::new(path, &sum))
    }

    /// How the file at `path` differs from this one, as text; nothing if it is the same.
    pub fn difference(&self, path: &Path) -> Result<Option<String>> {
        if File::open(path).is_err() {
            let name = path.file_name().unwrap_or(path.as_os_str()).display();
            return Ok(Some(format!("{name} is missing")));
        }
        Ok(self.change(&Written::of(path)?))
    }

    /// How another file differs from this one, as text; nothing if it has the same content.
    pub fn change(&self, now: &Written) -> Option<String> {
        if now.bytes != self.bytes {
            let how = format!("{} has {} bytes, not {}", now.name, now.bytes, self.bytes);
            return Some(how);
        }
        (now.crc32 != self.crc32).then(|| format!("{} has different content", now.name))
    }
}

/// Length and CRC-32 (IEEE 802.3) of the bytes so far.
#[derive(Debug, Clone, Default)]
pub struct Sum {
    bytes: u64,
    hasher: crc32fast::Hasher,
}

impl Sum {
    fn add(&mut self, data: &[u8]) {
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
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
