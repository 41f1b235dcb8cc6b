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
//! Several processes may write their parts of one temporary file ([`Writers`]); one of them creates and renames it.

mod batch;
pub mod companions;
mod exchange;
mod measured;
pub mod parts;
mod place;
mod sum;
mod temporary;
mod writers;
mod written;

pub use batch::Batch;
pub use companions::companions;
pub use measured::{Measured, temporary_of};
pub use place::plain;
pub use place::{is_stream, same_file, spelled_out};
pub use sum::{Sum, checksum};
pub use temporary::is_temporary;
pub use temporary::{Frozen, NewFolder, TemporaryFolder, remove_unfinished};
pub use writers::{OneWriter, Writers};
pub use written::{Written, WrittenFolder};

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::terminal::Results;
use place::Place;
pub use place::may_replace;
use temporary::Temporary;

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
    Temporary(BufWriter<File>, Temporary),
}

impl Output {
    /// Opens `path` (`-`: standard output) for writing.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is a file already that may not be replaced; an error with a remedy
    /// when the path is a folder, or its folder is missing or cannot be written to.
    pub fn create(path: impl AsRef<Path>, existing: Existing) -> Result<Self> {
        let (path, replaces) = (path.as_ref().to_path_buf(), existing);
        let sink = match Place::of(&path)? {
            Place::Stdout => Sink::Stdout(stream(io::stdout())),
            Place::Stream => direct(&path)?,
            Place::File { target, existing } => {
                existing
                    .iter()
                    .try_for_each(|file| may_replace(&path, file, replaces))?;
                let (file, temporary) = Temporary::create(&path, target, existing)?;
                Sink::Temporary(BufWriter::with_capacity(BUFFER, file), temporary)
            }
        };
        Ok(Output {
            path,
            sink,
            existing: replaces,
            sum: Sum::default(),
            rewritten: false,
        })
    }

    /// Opens a file in a folder that hone manages, such as a checkpoint: an existing file is replaced, and so is a
    /// symbolic link itself, not its target.
    pub fn create_own(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let existing = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {
                return Err(Error::input(
                    path,
                    "is a folder",
                    "move it away, or name another place",
                ));
            }
            found => found.ok().filter(std::fs::Metadata::is_file),
        };
        let (file, temporary) = Temporary::create(&path, path.clone(), existing)?;
        let sink = Sink::Temporary(BufWriter::with_capacity(BUFFER, file), temporary);
        Ok(Output {
            path,
            sink,
            existing: Existing::Replace,
            sum: Sum::default(),
            rewritten: false,
        })
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

    /// Brings all data to disk, under the temporary name if there is one, and measures it.
    fn seal(self) -> Result<(PathBuf, Option<Temporary>, Sum)> {
        let Output {
            path,
            sink,
            sum,
            rewritten,
            ..
        } = self;
        let sealed = match sink {
            Sink::Stdout(mut out) => out.flush().map(|()| (None, sum)),
            Sink::Direct(mut file) => file.flush().map(|()| (None, sum)),
            Sink::Temporary(file, temporary) => {
                synced(file, if rewritten { None } else { Some(sum) })
                    .map(|sum| (Some(temporary), sum))
            }
        };
        match sealed {
            Ok((temporary, sum)) => Ok((path, temporary, sum)),
            Err(error) => Err(Error::io(shown(&path), error)),
        }
    }
}

impl Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            Sink::Stdout(out) => out.write(data),
            Sink::Direct(stream) => stream.write(data),
            Sink::Temporary(file, _) => file.write(data),
        }?;
        self.sum.add(&data[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(out) => out.flush(),
            Sink::Direct(stream) => stream.flush(),
            Sink::Temporary(file, _) => file.flush(),
        }
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.rewritten |= to != SeekFrom::Current(0);
        match &mut self.sink {
            Sink::Temporary(file, _) => file.seek(to),
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
