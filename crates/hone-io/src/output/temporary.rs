//! Temporary files and folders, and the registry that lets a process remove them before it exits.

use std::collections::VecDeque;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{TempDir, TempPath};

use super::place::{folder_of, refused};
use crate::error::{Error, Result};

/// How the names of temporary files begin and end.
const TEMPORARY: (&str, &str) = (".hone-", ".part");

/// Number of finished files that are remembered, the last ones.
const REMEMBERED: usize = 64;

/// What this process has begun and what it has finished.
#[derive(Debug)]
pub(super) struct Registered {
    /// Temporary files and folders that are neither committed nor removed yet.
    unfinished: Vec<PathBuf>,
    /// Folders that were made for outputs which are not in place yet, deepest first.
    made: Vec<PathBuf>,
    /// Outputs that are in place, as they were named.
    published: VecDeque<PathBuf>,
}

static REGISTERED: Mutex<Registered> = Mutex::new(Registered {
    unfinished: Vec::new(),
    made: Vec::new(),
    published: VecDeque::new(),
});

/// The registry, locked: nothing begins, is committed or is removed meanwhile.
pub(super) type Registry = MutexGuard<'static, Registered>;

pub(super) fn registry() -> Registry {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registered {
    fn forget(&mut self, path: &Path) {
        self.unfinished.retain(|registered| registered != path);
    }

    /// Remembers outputs that are in place.
    pub(super) fn publish(&mut self, paths: &[PathBuf]) {
        self.published.extend(paths.iter().cloned());
        let surplus = self.published.len().saturating_sub(REMEMBERED);
        self.published.drain(..surplus);
    }
}

/// While this lives no output can be begun or committed.
#[derive(Debug)]
pub struct Frozen {
    registry: Registry,
}

impl Frozen {
    /// The outputs that this process has put in place, as they were named; the last ones where there are many.
    pub fn published(&self) -> impl Iterator<Item = &Path> {
        self.registry.published.iter().map(PathBuf::as_path)
    }
}

/// Removes every unfinished temporary file of this process; for use just before it exits.
///
/// Hold the result until the exit, so that no other thread begins a new file meanwhile.
#[must_use]
pub fn remove_unfinished() -> Frozen {
    let mut registry = registry();
    for path in registry.unfinished.drain(..) {
        // It may be gone already, and there is nobody left to report it to.
        let _ = fs::remove_file(&path).or_else(|_| remove_folder(&path));
    }
    remove_empty(&mut registry.made);
    Frozen { registry }
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
        let mut registry = registry();
        let made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(absent)
            .map(Path::to_path_buf)
            .collect();
        registry.made.extend(made.iter().cloned());
        drop(registry);
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

/// Removes a folder that another thread may be writing to: under another name, where that thread does not find it.
fn remove_folder(path: &Path) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".gone");
    fs::rename(path, &name)?;
    fs::remove_dir_all(&name)
}

/// Whether a file of this name is an output that was never finished.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// What is complete or becomes so under a temporary name; removed when dropped.
#[derive(Debug)]
pub(super) enum Thing {
    File(TempPath),
    Folder(TempDir),
}

impl Thing {
    fn path(&self) -> &Path {
        match self {
            Thing::File(file) => file,
            Thing::Folder(folder) => folder.path(),
        }
    }
}

/// A thing that is registered while it lives.
#[derive(Debug)]
pub(super) struct Temporary(
    /// `Some` until taken or dropped.
    Option<Thing>,
);

impl Temporary {
    fn new(thing: Thing, registry: &mut Registry) -> Self {
        registry.unfinished.push(thing.path().to_path_buf());
        Temporary(Some(thing))
    }

    /// Makes a file beside `target`, with the permissions of the one that exists; `path` is what the user calls it.
    pub(super) fn file(
        path: &Path,
        target: &Path,
        existing: Option<Metadata>,
    ) -> Result<(File, Self)> {
        let failed = |e| refused(path, e);
        let mut registry = registry();
        let made = builder(0o666).tempfile_in(folder_of(target));
        let (file, name) = made.map_err(failed)?.into_parts();
        let temporary = Temporary::new(Thing::File(name), &mut registry);
        drop(registry);
        if let Some(existing) = existing {
            file.set_permissions(existing.permissions())
                .map_err(failed)?;
        }
        Ok((file, temporary))
    }

    /// The thing, off the registry, which the caller has locked.
    pub(super) fn take(mut self, registry: &mut Registry) -> Thing {
        let thing = self.0.take().expect("taken once, and by value");
        registry.forget(thing.path());
        thing
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(thing) = self.0.take() {
            let mut registry = registry();
            registry.forget(thing.path());
            drop(thing); // removes it, before the registry is unlocked
        }
    }
}

fn builder(_mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(_mode)); // less the umask
    builder
}

/// A folder for temporary files, removed with all in it when dropped, and by [`remove_unfinished`].
#[derive(Debug)]
pub struct TemporaryFolder(pub(super) Temporary);

impl TemporaryFolder {
    /// Makes a new folder beside the one that it is to become.
    pub fn beside(target: &Path) -> Result<Self> {
        let mut registry = registry();
        let folder = builder(0o777).tempdir_in(folder_of(target));
        let folder = Thing::Folder(folder.map_err(|e| refused(target, e))?);
        Ok(TemporaryFolder(Temporary::new(folder, &mut registry)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        let thing = self.0.0.as_ref();
        thing.expect("there until dropped").path()
    }
}
