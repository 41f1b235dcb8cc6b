//! Replaces files and folders so that the old ones are never lost.
//!
//! Old files are first moved, under their own names, to a folder `.hone-….old` in the same folder. It is removed when
//! all new files are in place; if a step fails, its content is moved back. Nothing else ever removes it: if a process
//! is killed in between, or cannot move something back, the old files are there under their own names.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::{TempDir, TempPath};

use super::place::folder_of;

/// How the names of folders of replaced files begin and end.
const ASIDE: (&str, &str) = (".hone-", ".old");

/// Something complete under a temporary name, which is removed when dropped.
#[derive(Debug)]
pub(super) enum New {
    File(TempPath),
    Folder(TempDir),
}

impl New {
    fn put(self, target: &Path) -> io::Result<()> {
        match self {
            New::File(file) => file.persist(target).map_err(|e| e.error),
            New::Folder(folder) => {
                fs::rename(folder.path(), target)?;
                let _ = folder.keep(); // it is there no longer under its old name
                Ok(())
            }
        }
    }
}

/// A failed step and its path.
pub(super) type Failed = (PathBuf, io::Error);

/// Puts new things in place, the last one first, and removes obsolete files; when it fails the old ones are back.
pub(super) fn exchange(new: Vec<(New, PathBuf)>, obsolete: Vec<PathBuf>) -> Result<(), Failed> {
    // A single file is replaced in one step, and is there at any moment.
    let alone = matches!(new.as_slice(), [(New::File(_), _)]) && obsolete.is_empty();
    let (mut old, mut done) = (Old::default(), Vec::new());
    let steps = || {
        let folder = |thing: &New| matches!(thing, New::Folder(_));
        let files = obsolete.into_iter().map(|target| (target, false));
        let targets: Vec<(PathBuf, bool)> = new
            .iter()
            .map(|(thing, target)| (target.clone(), folder(thing)))
            .chain(files)
            .collect();
        for (target, folder) in targets.into_iter().filter(|_| !alone) {
            old.set_aside(&target, folder).map_err(|e| (target, e))?;
        }
        for (thing, target) in new.into_iter().rev() {
            thing.put(&target).map_err(|e| (target.clone(), e))?;
            done.push(target);
        }
        Ok(())
    };
    match steps() {
        Ok(()) => {
            old.remove();
            Ok(())
        }
        Err((path, error)) => {
            // As far as possible: the first error is the one to report.
            done.iter().for_each(|target| remove(target));
            Err((path, old.back(error)))
        }
    }
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
}

/// The old files that were moved away.
#[derive(Debug, Default)]
struct Old {
    /// Folders that are replaced in, each with the folder inside that takes what is replaced.
    folders: Vec<(PathBuf, PathBuf)>,
    /// Where a thing is now, and where it was.
    moved: Vec<(PathBuf, PathBuf)>,
}

impl Old {
    /// Moves what has this name, if anything has; a folder gives way to a folder only.
    fn set_aside(&mut self, target: &Path, folder: bool) -> io::Result<()> {
        match fs::symlink_metadata(target) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            Ok(found) if found.is_dir() && !folder => return Err(ErrorKind::IsADirectory.into()),
            _ => {}
        }
        let Some(name) = target.file_name() else {
            return Err(ErrorKind::InvalidFilename.into());
        };
        let aside = self.folder_in(folder_of(target))?.join(name);
        fs::rename(target, &aside)?;
        self.moved.push((aside, target.to_path_buf()));
        Ok(())
    }

    fn folder_in(&mut self, folder: &Path) -> io::Result<PathBuf> {
        if let Some((_, aside)) = self.folders.iter().find(|(known, _)| known == folder) {
            return Ok(aside.clone());
        }
        let aside = tempfile::Builder::new()
            .prefix(ASIDE.0)
            .suffix(ASIDE.1)
            .tempdir_in(folder)?
            .keep();
        self.folders.push((folder.to_path_buf(), aside.clone()));
        Ok(aside)
    }

    /// Its successors are in place.
    fn remove(self) {
        self.folders
            .iter()
            .for_each(|(_, aside)| drop(fs::remove_dir_all(aside)));
    }

    /// Moves everything back; what cannot be is named in the error.
    fn back(self, error: io::Error) -> io::Error {
        for (aside, target) in self.moved.iter().rev() {
            let _ = fs::rename(aside, target);
        }
        // Only empty ones can be removed so.
        let stuck = self
            .folders
            .iter()
            .find(|(_, aside)| fs::remove_dir(aside).is_err());
        let Some((folder, aside)) = stuck else {
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

    fn new_file(folder: &Path, text: &str) -> New {
        let file = tempfile::NamedTempFile::new_in(folder)
            .expect("writable")
            .into_temp_path();
        fs::write(&file, text).expect("writable");
        New::File(file)
    }

    /// Every name in a folder, hidden ones too.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder)
            .expect("readable")
            .map(|entry| entry.expect("readable").file_name());
        let mut names: Vec<String> = entries
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn folders_and_files_are_replaced_together_or_not_at_all() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("f")).expect("writable");
        for name in ["a", "b", "f/x", "gone"] {
            fs::write(at(name), "old").expect("writable");
        }
        let new = |last: &str| {
            let folder = TempDir::new_in(place.path()).expect("writable");
            fs::write(folder.path().join("y"), "new").expect("writable");
            let files = ["a", last].map(|name| (new_file(place.path(), "new"), at(name)));
            files
                .into_iter()
                .chain([(New::Folder(folder), at("f"))])
                .collect::<Vec<_>>()
        };
        // The second file cannot be put where a folder is missing; the folder was in place by then.
        let (path, _) = exchange(new("absent/b"), vec![at("gone")]).expect_err("no such folder");
        assert_eq!(path, at("absent/b"));
        assert_eq!(names(place.path()), ["a", "b", "f", "gone"]);
        assert_eq!(
            (fs::read(at("a")).expect("back"), names(&at("f"))),
            (b"old".to_vec(), vec!["x".to_owned()])
        );
        exchange(new("b"), vec![at("gone")]).expect("all can be replaced");
        assert_eq!(names(place.path()), ["a", "b", "f"]);
        assert_eq!(
            (fs::read(at("b")).expect("there"), names(&at("f"))),
            (b"new".to_vec(), vec!["y".to_owned()])
        );
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
        let aside = names(place.path())
            .into_iter()
            .find(|name| name.ends_with(".old"))
            .expect("kept");
        assert_eq!(
            fs::read(place.path().join(aside).join("a")).expect("kept"),
            b"the only copy"
        );
    }
}
