//! Temporary files and folders, and the registry that lets a process remove them on its way out.

use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

use super::place::{folder_of, refused, sync};
use crate::error::{Error, Result};

/// How the names of temporary files begin and end.
const TEMPORARY: (&str, &str) = (".hone-", ".part");

/// Temporary files and folders of this process that are neither committed nor removed yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The registry, locked: nothing begins, is committed or is removed meanwhile.
pub(super) type Registry = MutexGuard<'static, Vec<PathBuf>>;

pub(super) fn registry() -> Registry {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this lives no output can be begun or committed.
#[derive(Debug)]
pub struct Frozen {
    _registry: Registry,
}

/// Removes every unfinished temporary file of this process; for use just before it exits.
///
/// Hold the result until the exit, so that no other thread begins a new file meanwhile.
#[must_use]
pub fn remove_unfinished() -> Frozen {
    let mut registry = registry();
    for path in registry.drain(..) {
        // It may be gone already, and there is nobody left to report it to.
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
    Frozen { _registry: registry }
}

/// Whether a file of this name is an output that was never finished.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// A temporary file that is registered while it lives, and what it shall replace.
#[derive(Debug)]
pub(super) struct Temporary {
    /// `Some` until taken or dropped.
    path: Option<TempPath>,
    /// The regular file to replace, links resolved.
    pub(super) target: PathBuf,
}

impl Temporary {
    /// Makes a file beside `target`, with the permissions of the one that exists; `path` is what the user calls it.
    pub(super) fn create(path: &Path, target: PathBuf, existing: Option<Metadata>) -> Result<(File, Self)> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
        let mut registry = registry();
        let made = builder.tempfile_in(folder_of(&target)).map_err(|e| refused(path, &e))?;
        let (file, name) = made.into_parts();
        registry.push(name.to_path_buf());
        drop(registry);
        let temporary = Temporary { path: Some(name), target };
        if let Some(existing) = existing {
            file.set_permissions(existing.permissions()).map_err(|e| refused(path, &e))?;
        }
        Ok((file, temporary))
    }

    /// Its name, and that of the target; it is off the registry, which the caller has locked.
    pub(super) fn take(mut self, registry: &mut Registry) -> (TempPath, PathBuf) {
        let path = self.path.take().expect("taken once, and by value");
        registry.retain(|registered| *registered != *path);
        (path, std::mem::take(&mut self.target))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut registry = registry();
            registry.retain(|registered| *registered != *path);
            drop(path); // removes the file, before the registry is unlocked
        }
    }
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

    /// Makes a new folder beside the one that it is to become.
    pub(crate) fn beside(target: &Path) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777)); // less the umask
        let mut registry = registry();
        let folder = builder.tempdir_in(folder_of(target)).map_err(|e| refused(target, &e))?;
        registry.push(folder.path().to_path_buf());
        Ok(TemporaryFolder { folder: Some(folder) })
    }

    /// Gives the folder its name. One that is there already is removed.
    pub(crate) fn publish(mut self, target: &Path) -> Result<()> {
        let old = if target.is_dir() { Some(TemporaryFolder::beside(target)?) } else { None };
        let mut registry = registry();
        let folder = self.folder.take().expect("there until dropped");
        let aside = old.as_ref().map(|old| old.path().join("old"));
        let rename = || {
            aside.as_ref().map_or(Ok(()), |aside| fs::rename(target, aside))?;
            fs::rename(folder.path(), target).inspect_err(|_| {
                // What was there stays there, as far as it can be.
                let _ = aside.as_ref().map(|aside| fs::rename(aside, target));
            })
        };
        let renamed = rename();
        registry.retain(|path| path != folder.path());
        drop(registry);
        renamed.map_err(|e| Error::io(target, e))?;
        let _ = folder.keep(); // it is there no longer under its old name
        sync(folder_of(target)).map_err(|e| Error::io(target, e))
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
