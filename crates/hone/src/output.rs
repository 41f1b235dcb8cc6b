//! [`Output`]: files that appear whole or not at all.
//!
//! Every writer of the library goes through here. Data goes to a temporary file in the target's
//! folder; [`Output::commit`] flushes it, syncs it to disk and renames it over the target. An
//! output dropped before that leaves nothing behind, and neither does a process that calls
//! [`remove_unfinished`] on its way out (the command does so on Ctrl-C).
//!
//! An existing target is replaced only when asked for, and keeps its permissions. A symbolic link
//! stays and the file it points to is replaced, as with a plain write. What is not a regular file
//! (a pipe, `/dev/null`) is written to directly, and `-` is standard output.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

use crate::error::{Error, Result};

/// Large enough that system calls do not count.
const BUFFER: usize = 256 * 1024;

/// How the names of temporary files begin and end.
const TEMPORARY: (&str, &str) = (".hone-", ".part");

/// Temporary files and folders of this process that are neither committed nor removed yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A buffered file under construction, or standard output.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("result.txt");
/// let mut output = hone::output::Output::create(&path, false)?;
/// output.write_all(b"42\n").map_err(|e| output.error(e))?;
/// assert!(!path.exists());
/// output.commit()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"42\n");
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug)]
pub struct Output {
    /// As the user named it.
    path: PathBuf,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Stdout(BufWriter<io::Stdout>),
    /// Not a regular file: no temporary, nothing to replace.
    Direct(BufWriter<File>),
    Temporary(BufWriter<File>, Temporary),
}

/// A temporary file that is registered in [`UNFINISHED`] while it lives.
#[derive(Debug)]
struct Temporary {
    /// `Some` until committed or dropped.
    path: Option<TempPath>,
    /// The regular file to replace, links resolved.
    target: PathBuf,
}

impl Output {
    /// Opens `path` (`-`: standard output) for writing.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is a file already and not `overwrite`; an error with a remedy
    /// when the path is a folder, or its folder is missing or cannot be written to.
    pub fn create(path: impl AsRef<Path>, overwrite: bool) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let sink = if path == Path::new("-") || path == Path::new("/dev/stdout") {
            Sink::Stdout(BufWriter::with_capacity(BUFFER, io::stdout()))
        } else {
            open(&path, overwrite)?
        };
        Ok(Output { path, sink })
    }

    /// The path as given to [`Output::create`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether [`Seek`] works: not so for standard output, pipes and devices.
    pub fn can_seek(&self) -> bool {
        matches!(self.sink, Sink::Temporary(..))
    }

    /// `error`, met while writing here, with the path to it.
    pub fn error(&self, error: io::Error) -> Error {
        Error::io(&self.path, error)
    }

    /// Finishes: all data is on disk, and the target is complete under its own name.
    pub fn commit(self) -> Result<()> {
        let Output { path, sink } = self;
        let done = match sink {
            Sink::Stdout(mut out) => out.flush(),
            Sink::Direct(mut file) => file.flush(),
            Sink::Temporary(file, temporary) => publish(file, temporary),
        };
        done.map_err(|e| Error::io(path, e))
    }
}

impl Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Stdout(out) => out.write(data),
            Sink::Direct(file) | Sink::Temporary(file, _) => file.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(out) => out.flush(),
            Sink::Direct(file) | Sink::Temporary(file, _) => file.flush(),
        }
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.sink {
            Sink::Temporary(file, _) => file.seek(to),
            _ => Err(io::Error::new(ErrorKind::NotSeekable, "this output cannot be rewound; write to a file")),
        }
    }
}

/// While this lives no output can be begun or committed.
#[derive(Debug)]
pub struct Frozen {
    _registry: MutexGuard<'static, Vec<PathBuf>>,
}

/// Removes every unfinished temporary file of this process; for use just before it exits.
///
/// Hold the result until the exit, so that no other thread begins a new file meanwhile.
#[must_use]
pub fn remove_unfinished() -> Frozen {
    let mut registry = registry();
    for path in registry.drain(..) {
        // It may be gone already, and there is no one left to tell.
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
    Frozen { _registry: registry }
}

/// A folder for temporary files, removed with all in it when dropped, and by [`remove_unfinished`].
#[derive(Debug)]
pub struct TemporaryFolder {
    /// `Some` until dropped.
    folder: Option<tempfile::TempDir>,
}

impl TemporaryFolder {
    /// Makes a new folder in another.
    pub fn create_in(parent: &Path) -> Result<Self> {
        let mut registry = registry();
        let folder = tempfile::Builder::new().prefix(TEMPORARY.0).tempdir_in(parent);
        let folder = folder.map_err(|e| refused(&parent.join("hone"), &e))?;
        registry.push(folder.path().to_path_buf());
        Ok(TemporaryFolder { folder: Some(folder) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.as_ref().expect("there until dropped").path()
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            let mut registry = registry();
            registry.retain(|path| path != folder.path());
            drop(folder); // removes it, before the registry is unlocked
        }
    }
}

/// Whether a file of this name is an output that was never finished.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

fn registry() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut registry = registry();
            registry.retain(|p| p != &*path);
            drop(path); // removes the file, before the registry is unlocked
        }
    }
}

fn open(path: &Path, overwrite: bool) -> Result<Sink> {
    // What the link of a descriptor says is no name: `pipe:[4711]`.
    if is_descriptor(path) && fs::metadata(path).is_ok_and(|m| !m.is_dir()) {
        return direct(path);
    }
    let target = resolve(path);
    let existing = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => return Err(refused(path, &e)),
    };
    match existing {
        Some(m) if m.is_dir() => Err(Error::input(path, "is a folder", "give the name of a file in it")),
        Some(m) if !m.is_file() => direct(path),
        Some(_) if !overwrite => Err(Error::Exists { path: path.to_path_buf() }),
        existing => temporary(path, target, existing.map(|m| m.permissions())),
    }
}

/// Follows symbolic links by hand, so that a dangling one gives the name to create.
fn resolve(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        let Ok(next) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    target
}

/// Whether what is written to `path` goes elsewhere than to a file of that name: a pipe, a device, a descriptor.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new("-") || is_descriptor(path) || path.exists() && !path.is_file() && !path.is_dir()
}

/// `/dev/fd/3` and the like: an open descriptor, not a name that could be replaced.
fn is_descriptor(path: &Path) -> bool {
    cfg!(unix) && (path.starts_with("/dev") || path.starts_with("/proc"))
}

fn direct(path: &Path) -> Result<Sink> {
    let file = OpenOptions::new().write(true).open(path).map_err(|e| refused(path, &e))?;
    Ok(Sink::Direct(BufWriter::with_capacity(BUFFER, file)))
}

fn temporary(path: &Path, target: PathBuf, permissions: Option<fs::Permissions>) -> Result<Sink> {
    let folder = folder_of(&target).to_path_buf();
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    let mut registry = registry();
    let (file, temp) = builder.tempfile_in(&folder).map_err(|e| refused(path, &e))?.into_parts();
    registry.push(temp.to_path_buf());
    drop(registry);
    let temporary = Temporary { path: Some(temp), target };
    if let Some(permissions) = permissions {
        file.set_permissions(permissions).map_err(|e| refused(path, &e))?;
    }
    Ok(Sink::Temporary(BufWriter::with_capacity(BUFFER, file), temporary))
}

/// The folder a file is in; `.` for a bare name.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn refused(path: &Path, error: &io::Error) -> Error {
    let folder = folder_of(path).display();
    let (message, remedy) = match error.kind() {
        ErrorKind::NotFound => (format!("there is no folder {folder}"), "make it first, or write elsewhere"),
        ErrorKind::NotADirectory => (format!("{folder} is not a folder"), "write elsewhere"),
        ErrorKind::PermissionDenied => {
            ("may not be written".to_owned(), "change the permissions of the folder, or write elsewhere")
        }
        ErrorKind::ReadOnlyFilesystem => ("is on a read-only file system".to_owned(), "write elsewhere"),
        ErrorKind::InvalidFilename => ("is no valid file name".to_owned(), "choose a shorter one"),
        _ => (format!("cannot be created: {error}"), "write elsewhere"),
    };
    Error::input(path, message, remedy)
}

/// Flush, sync, rename, sync the folder: after a crash there is the old file or the new one.
fn publish(file: BufWriter<File>, mut temporary: Temporary) -> io::Result<()> {
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    drop(file);
    let mut registry = registry();
    let path = temporary.path.take().expect("taken only here and on drop");
    let name = path.to_path_buf();
    let renamed = path.persist(&temporary.target).map_err(|e| e.error);
    registry.retain(|p| *p != name);
    drop(registry);
    renamed?;
    #[cfg(unix)]
    File::open(folder_of(&temporary.target)).and_then(|folder| folder.sync_all()).or_else(ignore_unsupported)?;
    Ok(())
}

/// Some file systems cannot sync a folder; the file itself is safe by then.
#[cfg(unix)]
fn ignore_unsupported(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied => Ok(()),
        _ => Err(error),
    }
}
