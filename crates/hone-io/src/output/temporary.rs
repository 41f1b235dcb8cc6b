//! Files and folders under temporary names, how they take their places all together or not at all, and the registry that
//! lets a process remove them before it exits.
//!
//! Old files are first moved, under their own names, to a folder `.hone-….old` in the same folder. It is removed when
//! all new files are in place; if a step fails, its content is moved back. Nothing else ever removes it: if a process
//! is killed in between, or cannot move something back, the old files are there under their own names.
//!
//! Where nothing may be replaced, a new file takes its name in one step that fails if the name is taken, whoever took it
//! and however late. Processes that exchange several files in one folder take turns, so that the files of one run stay
//! together.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempPath;

use super::Existing;
use super::place::{folder_of, refused};
use crate::error::{Error, Result};

/// How the names of temporary files begin, and how those of new files, and of folders of old files, end.
const PREFIX: &str = ".hone-";
const NEW: &str = ".part";
const OLD: &str = ".old";

/// Number of finished files that are remembered, the last ones.
const REMEMBERED: usize = 64;

/// How often, and how many times, a process looks whether it is its turn. Whoever takes longer than this second is no
/// exchange of files.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: usize = 100;

/// What this process has begun and what it has finished.
#[derive(Debug)]
pub(super) struct Registry {
    /// Temporary files and folders that are neither committed nor removed yet.
    unfinished: Vec<PathBuf>,
    /// Folders that were made for outputs which are not in place yet, deepest first.
    made: Vec<PathBuf>,
    /// Outputs that are in place, as they were named.
    published: VecDeque<PathBuf>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    unfinished: Vec::new(),
    made: Vec::new(),
    published: VecDeque::new(),
});

/// The registry, locked: nothing begins, is committed or is removed meanwhile.
pub(super) fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// Remembers outputs that are in place.
    pub(super) fn publish(&mut self, paths: &[PathBuf]) {
        self.published.extend(paths.iter().cloned());
        let surplus = self.published.len().saturating_sub(REMEMBERED);
        self.published.drain(..surplus);
    }
}

/// While this lives no output can be begun or committed.
#[derive(Debug)]
pub struct Frozen(MutexGuard<'static, Registry>);

impl Frozen {
    /// The outputs that this process has put in place, as they were named; the last ones where there are many.
    pub fn published(&self) -> impl Iterator<Item = &Path> {
        self.0.published.iter().map(PathBuf::as_path)
    }
}

/// Removes every unfinished temporary file of this process; for use just before it exits.
///
/// Hold the result until the exit, so that no other thread begins a new file meanwhile.
#[must_use]
pub fn remove_unfinished() -> Frozen {
    let mut registry = registry();
    registry.unfinished.drain(..).for_each(|path| remove(&path));
    remove_empty(&mut registry.made);
    Frozen(registry)
}

/// Removes a file, or a folder with all in it, if it is there. Another thread may be writing to the folder: it is removed under another
/// name, where that thread does not find it. What cannot be removed stays: there is nobody left to report it to.
fn remove(path: &Path) {
    let folder = || {
        let mut name = path.as_os_str().to_owned();
        name.push(".gone");
        fs::rename(path, &name)?;
        fs::remove_dir_all(&name)
    };
    let _ = fs::remove_file(path).or_else(|_| folder());
}

/// Removes folders, deepest first; one that is not empty stays, and so do those above it.
fn remove_empty(folders: &mut Vec<PathBuf>) {
    folders
        .drain(..)
        .for_each(|folder| drop(fs::remove_dir(folder)));
}

/// Folders that were made for outputs: removed again, where they are empty, when dropped and by [`remove_unfinished`].
#[derive(Debug)]
pub struct NewFolder(Vec<PathBuf>);

impl NewFolder {
    /// Creates a folder and its parents, if necessary.
    pub fn make(folder: &Path) -> Result<Self> {
        let absent = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(absent)
            .map(Path::to_path_buf)
            .collect();
        registry().made.extend(made.iter().cloned());
        let made = NewFolder(made);
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        Ok(made)
    }

    /// Keeps them: the outputs are in place.
    pub fn keep(mut self) {
        registry().made.retain(|folder| !self.0.contains(folder));
        self.0.clear();
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        registry().made.retain(|folder| !self.0.contains(folder));
        remove_empty(&mut self.0);
    }
}

/// Whether a file of this name is an output that was never finished.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(NEW)
}

/// A file or a folder under a temporary name: removed, unless it has taken its place, when dropped and by
/// [`remove_unfinished`].
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    is_folder: bool,
}

impl Temporary {
    /// Makes a file beside `target`, with the permissions of the one that was found; `path` is what the user calls it.
    pub(super) fn file(
        path: &Path,
        target: &Path,
        found: Option<Metadata>,
    ) -> Result<(File, Self)> {
        let failed = |e| refused(path, e);
        let mut registry = registry();
        let made = builder(0o666).tempfile_in(folder_of(target));
        let made = made.and_then(|file| file.keep().map_err(|e| e.error));
        let (file, path) = made.map_err(failed)?;
        registry.unfinished.push(path.clone());
        drop(registry);
        let temporary = Temporary {
            path,
            is_folder: false,
        };
        if let Some(found) = found {
            file.set_permissions(found.permissions()).map_err(failed)?;
        }
        Ok((file, temporary))
    }

    /// Makes a folder beside the one that it is to become.
    pub fn folder(target: &Path) -> Result<Self> {
        let mut registry = registry();
        let made = builder(0o777).tempdir_in(folder_of(target));
        let path = made.map_err(|e| refused(target, e))?.keep();
        registry.unfinished.push(path.clone());
        Ok(Temporary {
            path,
            is_folder: true,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_folder(&self) -> bool {
        self.is_folder
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut registry = registry();
        registry.unfinished.retain(|path| *path != self.path);
        remove(&self.path);
    }
}

fn builder(_mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(NEW);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(_mode)); // less the umask
    builder
}

/// Something complete under a temporary name, and where it goes.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(super) temporary: Temporary,
    pub(super) target: PathBuf,
    pub(super) existing: Existing,
}

impl Pending {
    fn put(&self) -> io::Result<()> {
        let (from, to) = (&self.temporary.path, &self.target);
        match self.existing {
            // A folder never replaces a file, or a folder that holds anything.
            _ if self.temporary.is_folder => fs::rename(from, to).map_err(|error| {
                match self.existing == Existing::Refuse && to.symlink_metadata().is_ok() {
                    true => ErrorKind::AlreadyExists.into(),
                    false => error,
                }
            }),
            Existing::Replace => fs::rename(from, to),
            Existing::Refuse => {
                let put = TempPath::try_from_path(from)?.persist_noclobber(to);
                put.or_else(|failed| match failed.error.kind() {
                    ErrorKind::AlreadyExists => Err(failed.error),
                    _ => claim(failed.path, to),
                })
            }
        }
    }
}

/// Puts a file in place where the file system can neither rename without replacing nor link: an empty file takes the name
/// first.
fn claim(file: TempPath, target: &Path) -> io::Result<()> {
    File::create_new(target)?;
    file.persist(target).map_err(|failed| {
        let _ = fs::remove_file(target);
        failed.error
    })
}

/// Puts new things in place, the last one first, and removes obsolete files; when it fails the old ones are back, and none
/// of the new ones is there. The error has the path of the step that failed.
pub(super) fn exchange(
    new: &[Pending],
    obsolete: &[PathBuf],
) -> std::result::Result<(), (PathBuf, io::Error)> {
    // A single file is replaced in one step, and is there at any moment.
    let alone = obsolete.is_empty() && matches!(new, [one] if !one.temporary.is_folder);
    let first = new.first().filter(|_| !alone);
    let _lock = first.and_then(|first| lock(folder_of(&first.target)));
    let (mut old, mut done) = (Old::default(), Vec::new());
    let mut steps = || {
        let replaced = new
            .iter()
            .filter(|one| !alone && one.existing == Existing::Replace)
            .map(|one| (&one.target, one.temporary.is_folder))
            .chain(obsolete.iter().map(|target| (target, false)));
        for (target, is_folder) in replaced {
            old.set_aside(target, is_folder)
                .map_err(|e| (target.clone(), e))?;
        }
        for one in new.iter().rev() {
            one.put().map_err(|e| (one.target.clone(), e))?;
            done.push(&one.target);
        }
        Ok(())
    };
    let taken = steps();
    match taken {
        Ok(()) => old.remove(),
        Err((path, error)) => {
            // As far as possible: the first error is the one to report.
            for target in done {
                let _ = fs::remove_file(target).or_else(|_| fs::remove_dir_all(target));
            }
            return Err((path, old.back(error)));
        }
    }
    Ok(())
}

/// Waits until no other process exchanges files in this folder. The turn ends when the result is dropped; file systems
/// without locks have no turns.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    for _ in 0..LOOKS {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) => sleep(LOOK),
            Err(TryLockError::Error(_)) => return None,
        }
    }
    None
}

/// The old files that were moved away.
#[derive(Debug, Default)]
struct Old {
    /// Of each folder that is replaced in, the folder inside that takes what is replaced.
    folders: BTreeMap<PathBuf, PathBuf>,
    /// Where a thing is now, and where it was.
    moved: Vec<(PathBuf, PathBuf)>,
}

impl Old {
    /// Moves what has this name, if anything has; a folder gives way to a folder only.
    fn set_aside(&mut self, target: &Path, is_folder: bool) -> io::Result<()> {
        match fs::symlink_metadata(target) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            Ok(found) if found.is_dir() && !is_folder => {
                return Err(ErrorKind::IsADirectory.into());
            }
            _ => {}
        }
        let Some(name) = target.file_name() else {
            return Err(ErrorKind::InvalidFilename.into());
        };
        let folder = folder_of(target);
        if !self.folders.contains_key(folder) {
            let mut builder = tempfile::Builder::new();
            let aside = builder.prefix(PREFIX).suffix(OLD).tempdir_in(folder)?;
            self.folders.insert(folder.to_path_buf(), aside.keep());
        }
        let aside = self.folders[folder].join(name);
        match fs::rename(target, &aside) {
            // Another process was faster.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            moved => {
                moved?;
                self.moved.push((aside, target.to_path_buf()));
            }
        }
        Ok(())
    }

    /// Its successors are in place.
    fn remove(&self) {
        for aside in self.folders.values() {
            let _ = fs::remove_dir_all(aside);
        }
    }

    /// Moves everything back; what cannot be is named in the error.
    fn back(&self, error: io::Error) -> io::Error {
        for (aside, target) in self.moved.iter().rev() {
            let _ = fs::rename(aside, target);
        }
        // Only empty ones can be removed so.
        let mut folders = self.folders.iter();
        let Some((folder, aside)) = folders.find(|(_, aside)| fs::remove_dir(aside).is_err())
        else {
            return error;
        };
        let (folder, aside) = (folder.display(), aside.display());
        io::Error::new(
            error.kind(),
            format!("{error}; what was there before is in {aside}: move it back to {folder}"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_claimed_where_the_file_system_cannot_refuse() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let target = place.path().join("a");
        for (text, put) in [("new", true), ("late", false)] {
            let file = tempfile::NamedTempFile::new_in(place.path()).expect("writable");
            fs::write(file.path(), text).expect("writable");
            assert_eq!(claim(file.into_temp_path(), &target).is_ok(), put);
            assert_eq!(fs::read(&target).expect("there"), b"new");
            assert_eq!(fs::read_dir(place.path()).expect("there").count(), 1);
        }
    }

    #[test]
    fn what_cannot_go_back_is_kept_and_named() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let target = place.path().join("a");
        fs::write(&target, "the only copy").expect("writable");
        let mut old = Old::default();
        old.set_aside(&target, false).expect("moved");
        // Somebody has put a folder there meanwhile.
        fs::create_dir(&target).expect("writable");
        fs::write(target.join("x"), "").expect("writable");
        let error = old.back(ErrorKind::StorageFull.into());
        assert!(error.to_string().contains(".old: move it back"), "{error}");
        let kept = old.folders[place.path()].join("a");
        assert_eq!(fs::read(kept).expect("kept"), b"the only copy");
    }
    #[test]
    fn runs_that_replace_the_same_files_take_turns() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let run = |text: &str| {
            for _ in 0..50 {
                let files = ["a", "b"].map(|name| {
                    let target = place.path().join(name);
                    let made = Temporary::file(&target, &target, None).expect("writable");
                    fs::write(made.1.path(), text).expect("writable");
                    Pending {
                        temporary: made.1,
                        target,
                        existing: Existing::Replace,
                    }
                });
                exchange(&files, &[place.path().join("c")]).expect("all can be replaced");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| run("one"));
            scope.spawn(|| run("two"));
        });
        let [a, b] = ["a", "b"].map(|name| fs::read(place.path().join(name)).expect("there"));
        assert_eq!(a, b, "files of one run");
        assert_eq!(fs::read_dir(place.path()).expect("there").count(), 2);
    }
}
