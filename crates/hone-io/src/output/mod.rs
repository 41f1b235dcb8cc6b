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
//! (`exchange`). A process that is killed between two renames leaves no mixture that looks complete: the file added first,
//! which is the one that is opened later, is moved away first and put in place last; folders come before all files.
//! Companions of a replaced file that the new ones do not replace are removed with it; files that are not the record of a
//! run stay. A record of checksums among the files ([`crate::record`]) shows what a crash of the machine may leave.

pub mod companions;
mod exchange;
pub mod parts;
mod place;
mod temporary;
mod writers;
mod written;

pub use companions::companions;
pub use place::{is_stream, may_replace, plain, same_file, spelled_out};
pub use temporary::{Frozen, NewFolder, TemporaryFolder, is_temporary, remove_unfinished};
pub use writers::Writers;
pub(crate) use written::Measured;
pub use written::{Sum, Written, WrittenFolder, checksum};

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::terminal::Results;
use exchange::{New, exchange};
use place::{Place, folder_of, sync};
use temporary::{Temporary, registry};

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
    existing: Existing,
    /// Of what was written; of no use once a part was written over.
    sum: Sum,
    rewritten: bool,
}

#[derive(Debug)]
enum Sink {
    Stdout(BufWriter<Results<io::Stdout>>),
    /// A device, a pipe or a descriptor: no temporary, nothing to replace.
    Direct(BufWriter<Results<File>>),
    /// And where it goes.
    Temporary(BufWriter<File>, Temporary, PathBuf),
}

impl Sink {
    fn temporary(path: &Path, target: PathBuf, existing: Option<Metadata>) -> Result<Sink> {
        let (file, temporary) = Temporary::file(path, &target, existing)?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Sink::Temporary(file, temporary, target))
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Sink::Stdout(out) => out,
            Sink::Direct(stream) => stream,
            Sink::Temporary(file, ..) => file,
        }
    }
}

impl Output {
    /// Opens `path` (`-`: standard output) for writing.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is a file already that may not be replaced; an error with a remedy
    /// when the path is a folder, or its folder is missing or cannot be written to.
    pub fn create(path: &Path, existing: Existing) -> Result<Self> {
        let (path, replaces) = (path.to_path_buf(), existing);
        let sink = match Place::of(&path)? {
            Place::Stdout => Sink::Stdout(stream(io::stdout())),
            Place::Stream => direct(&path)?,
            Place::File { target, existing } => {
                existing
                    .iter()
                    .try_for_each(|file| may_replace(&path, file, replaces))?;
                Sink::temporary(&path, target, existing)?
            }
        };
        Ok(Output::new(path, sink, replaces))
    }

    fn new(path: PathBuf, sink: Sink, existing: Existing) -> Self {
        Output {
            path,
            sink,
            existing,
            sum: Sum::default(),
            rewritten: false,
        }
    }

    /// Opens a file in a folder that hone manages, such as a checkpoint: an existing file is replaced, and so is a
    /// symbolic link itself, not its target.
    pub fn create_own(path: &Path) -> Result<Self> {
        let path = path.to_path_buf();
        let existing = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {
                return Err(Error::input(
                    path,
                    "is a folder",
                    "move it away, or name another place",
                ));
            }
            found => found.ok().filter(Metadata::is_file),
        };
        let sink = Sink::temporary(&path, path.clone(), existing)?;
        Ok(Output::new(path, sink, Existing::Replace))
    }

    /// The path as given to [`Output::create`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether [`Seek`] works: not so for standard output, pipes and devices.
    pub fn can_seek(&self) -> bool {
        matches!(self.sink, Sink::Temporary(..))
    }

    /// Length and checksum of what was written, as long as none of it was written over.
    pub fn sum(&self) -> &Sum {
        &self.sum
    }

    /// `error`, met while writing here, with the path to it.
    pub fn error(&self, error: io::Error) -> Error {
        Error::io(shown(&self.path), error)
    }
}

impl Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.sink.writer().write(data)?;
        self.sum.add(&data[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.writer().flush()
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.rewritten |= to != SeekFrom::Current(0);
        match &mut self.sink {
            Sink::Temporary(file, ..) => file.seek(to),
            _ => Err(io::Error::new(
                ErrorKind::NotSeekable,
                "this output cannot be rewound; write to a file",
            )),
        }
    }
}

/// The name of an output in errors.
fn shown(path: &Path) -> &Path {
    if path == Path::new("-") {
        Path::new("standard output")
    } else {
        path
    }
}

fn stream<W: Write + IsTerminal>(out: W) -> BufWriter<Results<W>> {
    BufWriter::with_capacity(BUFFER, Results::new(out))
}

/// Opens a device, a pipe or a descriptor. What is behind a descriptor may be a file, which is added to: the shell
/// has emptied it where that was requested.
fn direct(path: &Path) -> Result<Sink> {
    let regular = path.is_file();
    let file = OpenOptions::new()
        .write(!regular)
        .append(regular)
        .open(path)
        .map_err(|e| place::refused(path, e))?;
    Ok(Sink::Direct(stream(file)))
}

/// Flushes and syncs a file; its checksum is the one given, or that of a second look.
fn synced(file: BufWriter<File>, sum: Option<Sum>) -> io::Result<Sum> {
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    match sum {
        Some(sum) => Ok(sum),
        None => file.rewind().and_then(|()| checksum(&mut file)),
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
    ready: Vec<Ready>,
    ready_folders: Vec<Ready>,
    written: Vec<Written>,
    folders: Vec<WrittenFolder>,
    obsolete: Vec<PathBuf>,
}

/// What is complete under a temporary name, and where it goes.
#[derive(Debug)]
struct Ready {
    temporary: Temporary,
    target: PathBuf,
    existing: Existing,
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
        let (path, sum) = (output.path, output.sum);
        let failed = |e| Error::io(shown(&path), e);
        match output.sink {
            Sink::Stdout(mut out) => out.flush().map_err(failed)?,
            Sink::Direct(mut file) => file.flush().map_err(failed)?,
            Sink::Temporary(file, temporary, target) => {
                let sum = synced(file, (!output.rewritten).then_some(sum)).map_err(failed)?;
                if self.ready.iter().any(|other| other.target == target) {
                    let message = format!(
                        "two outputs go to {}; give each its own path",
                        path.display()
                    );
                    return Err(Error::config("output", message));
                }
                self.written.push(Written::new(&path, &sum));
                self.ready.push(Ready {
                    temporary,
                    target,
                    existing: self.existing,
                });
            }
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
        folder: TemporaryFolder,
        target: PathBuf,
        existing: Existing,
        files: Vec<Written>,
    ) {
        self.folders.push(WrittenFolder {
            path: target.clone(),
            files,
        });
        self.ready_folders.push(Ready {
            temporary: folder.0,
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
            existing: Some(file),
        } = Place::of(path)?
        {
            may_replace(path, &file, self.existing)?;
            self.obsolete.push(target);
        }
        Ok(())
    }

    /// Schedules the removal of companions of replaced files, unless they are written anew or are files of others.
    fn obsolete_companions(&mut self) -> Result<()> {
        for at in 0..self.ready.len() {
            let of = self.ready[at].target.clone();
            for path in companions(&of) {
                if path == companions::record(&of) && !companions::is_record(&path) {
                    continue;
                }
                // A companion may be a link to a file that is replaced.
                if let Ok(Place::File {
                    target,
                    existing: Some(file),
                }) = Place::of(&path)
                    && !self.obsolete.contains(&target)
                    && self.ready.iter().all(|file| file.target != target)
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
        let (mut paths, mut registry) = (self.paths, registry());
        paths.extend(self.folders.into_iter().map(|folder| folder.path));
        let ready = self.ready.into_iter().chain(self.ready_folders);
        let new: Vec<New> = ready
            .map(|ready| New {
                thing: ready.temporary.take(&mut registry),
                target: ready.target,
                existing: ready.existing,
            })
            .collect();
        let mut within: Vec<PathBuf> = new
            .iter()
            .map(|one| folder_of(&one.target).to_path_buf())
            .collect();
        within.dedup();
        exchange(new, self.obsolete).map_err(|(path, error)| match error.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path },
            _ => Error::io(path, error),
        })?;
        registry.publish(&paths);
        drop(registry);
        for folder in &within {
            sync(folder).map_err(|e| Error::io(folder, e))?;
        }
        Ok(paths)
    }
}

impl Output {
    /// Finishes: all data is on disk, and the target is complete under its own name.
    pub fn commit(self) -> Result<()> {
        let mut alone = Batch::new(self.existing);
        alone.add(self)?;
        alone.commit().map(drop)
    }
}
