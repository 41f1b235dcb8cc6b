//! [`Batch`]: several files that appear together.
//!
//! All files are written and synced under temporary names first, which is when a disk is full. What is left are
//! renames. The registry of temporaries is locked meanwhile, so that an interrupt waits; when a rename
//! fails, all that was done is undone. A process that is killed between two renames leaves no mixture that could be taken for
//! a whole: the file added first, which is the one that is opened later, is set aside first and comes last.
//! A record of checksums among the files ([`crate::record`]) lets readers detect what a crash of the machine may leave.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempPath;

use super::place::{Place, folder_of, sync};
use super::temporary::{Temporary, registry};
use super::{Output, Sum};
use crate::error::{Error, Result};

/// How the names of replaced files begin and end while their successors are put in place.
const ASIDE: (&str, &str) = (".hone-", ".old");

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

impl Written {
    pub(crate) fn new(path: &Path, sum: &Sum) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Written { name, bytes: sum.bytes(), crc32: format!("{:08x}", sum.crc32()) }
    }
}

/// Files that appear together or not at all; the first one is the one that matters.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let (table, names) = (folder.path().join("table"), folder.path().join("names"));
/// let mut batch = hone::output::Batch::new(false);
/// for path in [&table, &names] {
///     let mut output = batch.begin(path)?;
///     output.write_all(b"1 2 3\n").map_err(|e| output.error(e))?;
///     batch.add(output)?;
/// }
/// assert!(!table.exists() && !names.exists());
/// batch.commit()?;
/// assert!(table.exists() && names.exists());
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    overwrite: bool,
    /// As named by the caller.
    paths: Vec<PathBuf>,
    ready: Vec<Temporary>,
    written: Vec<Written>,
    obsolete: Vec<PathBuf>,
}

impl Batch {
    /// No files yet; existing ones may be replaced when `overwrite`.
    pub fn new(overwrite: bool) -> Self {
        Batch { overwrite, paths: Vec::new(), ready: Vec::new(), written: Vec::new(), obsolete: Vec::new() }
    }

    /// Opens a file (`-`: standard output) for writing, to be [added](Batch::add) when complete.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn begin(&self, path: impl AsRef<Path>) -> Result<Output> {
        Output::create(path, self.overwrite)
    }

    /// Takes a complete file: its data is on disk, but not yet under its name. Streams are flushed.
    pub fn add(&mut self, output: Output) -> Result<()> {
        let (path, temporary, sum) = output.seal()?;
        if let Some(temporary) = temporary {
            if self.ready.iter().any(|other| other.target == temporary.target) {
                let message = format!("two outputs go to {}; give each a place of its own", path.display());
                return Err(Error::config("output", message));
            }
            self.written.push(Written::new(&path, &sum));
            self.ready.push(temporary);
        }
        self.paths.push(path);
        Ok(())
    }

    /// The files so far, streams left out.
    pub fn written(&self) -> &[Written] {
        &self.written
    }

    /// Has a file of an earlier run, which would be wrong beside the new ones, removed when they appear.
    ///
    /// # Errors
    /// [`Error::Exists`] when it exists and may not be replaced.
    pub fn obsolete(&mut self, path: &Path) -> Result<()> {
        match Place::of(path)? {
            Place::File { existing: Some(_), .. } if !self.overwrite => Err(Error::Exists { path: path.to_path_buf() }),
            Place::File { target, existing: Some(_) } => {
                self.obsolete.push(target);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Puts all files in place, and returns them as they were named.
    ///
    /// # Errors
    /// When one cannot be renamed; then the folder is as it was before.
    pub fn commit(self) -> Result<Vec<PathBuf>> {
        let Batch { paths, ready, obsolete, .. } = self;
        let mut registry = registry();
        let files: Vec<(TempPath, PathBuf)> = ready.into_iter().map(|file| file.take(&mut registry)).collect();
        let mut folders: Vec<PathBuf> = files.iter().map(|(_, target)| folder_of(target).to_path_buf()).collect();
        folders.dedup();
        exchange(files, obsolete).map_err(|(path, error)| Error::io(path, error))?;
        drop(registry);
        for folder in &folders {
            sync(folder).map_err(|e| Error::io(folder, e))?;
        }
        Ok(paths)
    }
}

/// A failed step and its path.
type Failed = (PathBuf, io::Error);

/// Puts new files in place of old ones; when it fails the old ones are back.
fn exchange(files: Vec<(TempPath, PathBuf)>, obsolete: Vec<PathBuf>) -> std::result::Result<(), Failed> {
    let alone = files.len() == 1 && obsolete.is_empty();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let steps = || {
        let targets = files.iter().map(|(_, target)| target.clone()).chain(obsolete);
        // A single file is replaced in one step, and is there at any moment.
        for target in targets.filter(|_| !alone) {
            old.extend(set_aside(&target).map_err(|e| (target.clone(), e))?.map(|aside| (aside, target)));
        }
        for (temporary, target) in files.into_iter().rev() {
            temporary.persist(&target).map_err(|e| (target.clone(), e.error))?;
            new.push(target);
        }
        Ok(())
    };
    let outcome = steps();
    if outcome.is_err() {
        // As far as possible: the first error is the one to report.
        new.iter().for_each(|target| drop(fs::remove_file(target)));
        for (aside, target) in old.into_iter().rev() {
            if let Err(stuck) = aside.persist(&target) {
                let _ = stuck.path.keep();
            }
        }
    }
    outcome
}

/// Gives an existing file another name in its folder; it is removed when the result is dropped.
fn set_aside(target: &Path) -> io::Result<Option<TempPath>> {
    if fs::symlink_metadata(target).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return Ok(None);
    }
    let mut builder = tempfile::Builder::new();
    let aside = builder.prefix(ASIDE.0).suffix(ASIDE.1).tempfile_in(folder_of(target))?.into_temp_path();
    fs::rename(target, &aside)?;
    Ok(Some(aside))
}
