//! [`Batch`]: several files that appear together.
//!
//! All files are written and synced under temporary names first, which is when a full disk shows. Only renames remain.
//! The registry of temporary files is locked meanwhile, so that an interrupt waits; if a rename fails, everything is
//! undone (`exchange`). A process that is killed between two renames leaves no mixture that looks complete: the file
//! added first, which is the one that is opened later, is moved away first and put in place last; folders come before
//! all files. Companions of a replaced file that the new ones do not replace are removed with it; files that are not
//! the record of a run stay. A record of checksums among the files ([`crate::record`]) lets readers detect what a crash
//! of the machine may leave.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::companions;
use super::exchange::{New, Thing, exchange};
use super::place::{Place, folder_of, may_replace, sync};
use super::temporary::{Temporary, TemporaryFolder, registry};
use super::{Existing, Output, Written, WrittenFolder};
use crate::error::{Error, Result};

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
    ready: Vec<Temporary>,
    written: Vec<Written>,
    ready_folders: Vec<(TemporaryFolder, PathBuf, Existing)>,
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
    pub fn begin(&self, path: impl AsRef<Path>) -> Result<Output> {
        Output::create(path, self.existing)
    }

    /// Takes a complete file: its data is on disk, but not yet under its name. Streams are flushed.
    pub fn add(&mut self, output: Output) -> Result<()> {
        let (path, temporary, sum) = output.seal()?;
        if let Some(temporary) = temporary {
            if self
                .ready
                .iter()
                .any(|other| other.target == temporary.target)
            {
                let message = format!(
                    "two outputs go to {}; give each its own path",
                    path.display()
                );
                return Err(Error::config("output", message));
            }
            self.written.push(Written::new(&path, &sum));
            self.ready.push(temporary);
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
        self.ready_folders.push((folder, target, existing));
    }

    /// The folders so far.
    pub fn folders(&self) -> &[WrittenFolder] {
        &self.folders
    }

    /// Schedules the removal of a file of an earlier run, which does not belong to the new ones, for when they appear.
    ///
    /// # Errors
    /// [`Error::Exists`] when it exists and may not be replaced.
    pub fn obsolete(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.obsolete_at(path.as_ref())
    }

    fn obsolete_at(&mut self, path: &Path) -> Result<()> {
        match Place::of(path)? {
            Place::File {
                target,
                existing: Some(file),
            } => {
                may_replace(path, &file, self.existing)?;
                self.obsolete.push(target);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Puts all files and folders in place, and returns them as they were named.
    ///
    /// # Errors
    /// [`Error::Exists`] when one may not be replaced and is there by now; when one cannot be renamed. Then all is as it
    /// was before.
    pub fn commit(self) -> Result<Vec<PathBuf>> {
        let Batch {
            existing,
            mut paths,
            ready,
            ready_folders,
            mut obsolete,
            ..
        } = self;
        if existing == Existing::Replace {
            let known = |path: &PathBuf| {
                ready.iter().any(|file| file.target == *path) || obsolete.contains(path)
            };
            // A companion may be a link to a file that is replaced.
            let real = |path: PathBuf| match Place::of(&path) {
                Ok(Place::File {
                    target,
                    existing: Some(file),
                }) if !known(&target) => Some(may_replace(&path, &file, existing).map(|()| path)),
                _ => None,
            };
            let is_stale = |path: &PathBuf, of: &Path| {
                *path != companions::record(of) || companions::is_record(path)
            };
            let stale = |file: &Temporary| {
                let companions = companions(&file.target).into_iter();
                companions
                    .filter(|path| is_stale(path, &file.target))
                    .collect::<Vec<_>>()
            };
            let stale = ready
                .iter()
                .flat_map(stale)
                .filter_map(real)
                .collect::<Result<Vec<PathBuf>>>()?;
            obsolete.extend(stale);
        }
        paths.extend(ready_folders.iter().map(|(_, target, _)| target.clone()));
        let mut registry = registry();
        let files = ready.into_iter().map(|file| {
            let (file, target) = file.take(&mut registry);
            let thing = Thing::File(file);
            New {
                thing,
                target,
                existing,
            }
        });
        let mut new: Vec<New> = files.collect();
        for (folder, target, existing) in ready_folders {
            let thing = Thing::Folder(folder.take(&mut registry));
            new.push(New {
                thing,
                target,
                existing,
            });
        }
        let mut within: Vec<PathBuf> = new
            .iter()
            .map(|one| folder_of(&one.target).to_path_buf())
            .collect();
        within.dedup();
        exchange(new, obsolete).map_err(|(path, error)| match error.kind() {
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
