//! Replaces files and folders so that the old ones are never lost.
//!
//! Old files are first moved, under their own names, to a folder `.hone-….old` in the same folder. It is removed when
//! all new files are in place; if a step fails, its content is moved back. Nothing else ever removes it: if a process
//! is killed in between, or cannot move something back, the old files are there under their own names.
//!
//! Where nothing may be replaced, a new file takes its name in one step that fails if the name is taken, whoever took it
//! and however late. Processes that exchange several files in one folder take turns, so that the files of one run stay
//! together.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempPath;

use super::Existing;
use super::place::folder_of;
use super::temporary::Thing;

/// How the names of folders of replaced files begin and end.
const ASIDE: (&str, &str) = (".hone-", ".old");

/// How often, and how many times, a process looks whether it is its turn. Whoever takes longer than this second is no
/// exchange of files.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: usize = 100;

/// Something complete under a temporary name, and where it goes.
#[derive(Debug)]
pub(super) struct New {
    pub(super) thing: Thing,
    pub(super) target: PathBuf,
    pub(super) existing: Existing,
}

impl New {
    fn put(self) -> io::Result<()> {
        match (self.thing, self.existing) {
            (Thing::File(file), Existing::Replace) => {
                file.persist(&self.target).map_err(|e| e.error)
            }
            (Thing::File(file), Existing::Refuse) => {
                let put = file.persist_noclobber(&self.target);
                put.or_else(|failed| match failed.error.kind() {
                    ErrorKind::AlreadyExists => Err(failed.error),
                    _ => claim(failed.path, &self.target),
                })
            }
            // A folder never replaces a file, or a folder that holds anything.
            (Thing::Folder(folder), existing) => {
                fs::rename(folder.path(), &self.target).map_err(|error| {
                    match existing == Existing::Refuse && self.target.symlink_metadata().is_ok() {
                        true => ErrorKind::AlreadyExists.into(),
                        false => error,
                    }
                })?;
                let _ = folder.keep(); // it is there no longer under its old name
                Ok(())
            }
        }
    }
}

/// Puts a file in place where the file system can neither rename without replacing nor link: an empty file takes the name
/// first.
fn claim(file: TempPath, target: &Path) -> io::Result<()> {
    File::create_new(target)?;
    file.persist(target).map_err(|failed| {
        remove(target);
        failed.error
    })
}

/// A failed step and its path.
pub(super) type Failed = (PathBuf, io::Error);

/// Puts new things in place, the last one first, and removes obsolete files; when it fails the old ones are back, and none
/// of the new ones is there.
pub(super) fn exchange(new: Vec<New>, obsolete: Vec<PathBuf>) -> Result<(), Failed> {
    // A single file is replaced in one step, and is there at any moment.
    let alone = matches!(new.as_slice(), [one] if matches!(one.thing, Thing::File(_)))
        && obsolete.is_empty();
    let first = new.first().filter(|_| !alone);
    let _turn = first.and_then(|first| turn(folder_of(&first.target)));
    let (mut old, mut done) = (Old::default(), Vec::new());
    let steps = || {
        let targets = new
            .iter()
            .filter(|one| !alone && one.existing == Existing::Replace)
            .map(|one| (one.target.clone(), matches!(one.thing, Thing::Folder(_))));
        let files = obsolete.into_iter().map(|target| (target, false));
        for (target, folder) in targets.chain(files) {
            old.set_aside(&target, folder).map_err(|e| (target, e))?;
        }
        for one in new.into_iter().rev() {
            let target = one.target.clone();
            one.put().map_err(|e| (target.clone(), e))?;
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

/// Waits until no other process exchanges files in this folder. The turn ends when the result is dropped; file systems
/// without locks have no turns.
fn turn(folder: &Path) -> Option<File> {
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
    use tempfile::TempDir;

    use super::*;

    fn new_file(folder: &Path, text: &str, target: PathBuf) -> New {
        let file = tempfile::NamedTempFile::new_in(folder)
            .expect("writable")
            .into_temp_path();
        fs::write(&file, text).expect("writable");
        New {
            thing: Thing::File(file),
            target,
            existing: Existing::Replace,
        }
    }

    fn refused(new: Vec<New>) -> Failed {
        let existing = Existing::Refuse;
        let new = new.into_iter().map(|one| New { existing, ..one }).collect();
        exchange(new, Vec::new()).expect_err("a name is taken")
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
            let files = ["a", last].map(|name| new_file(place.path(), "new", at(name)));
            let folder = New {
                thing: Thing::Folder(folder),
                target: at("f"),
                existing: Existing::Replace,
            };
            files.into_iter().chain([folder]).collect::<Vec<_>>()
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

    #[cfg(unix)]
    #[test]
    fn where_one_name_is_taken_nothing_is_put() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| place.path().join(name);
        let new = |name: &str| new_file(place.path(), "new", at(name));
        fs::write(at("a"), "old").expect("writable");
        std::os::unix::fs::symlink("nowhere", at("link")).expect("links");
        for taken in ["a", "link"] {
            // Alone, first and last.
            for files in [vec![taken], vec![taken, "b", "c"], vec!["b", "c", taken]] {
                let (path, error) = refused(files.into_iter().map(new).collect());
                assert_eq!((path, error.kind()), (at(taken), ErrorKind::AlreadyExists));
                assert_eq!(names(place.path()), ["a", "link"]);
                assert_eq!(fs::read(at("a")).expect("still there"), b"old");
            }
        }
        for taken in ["a", "f"] {
            let folder = TempDir::new_in(place.path()).expect("writable");
            fs::create_dir_all(at("f/inside")).expect("writable");
            let folder = New {
                thing: Thing::Folder(folder),
                ..new(taken)
            };
            let (path, error) = refused(vec![new("b"), folder]);
            assert_eq!((path, error.kind()), (at(taken), ErrorKind::AlreadyExists));
            assert_eq!(names(place.path()), ["a", "f", "link"]);
            assert_eq!(names(&at("f")), ["inside"]);
        }
    }

    #[test]
    fn a_name_is_claimed_where_the_file_system_cannot_refuse() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let target = place.path().join("a");
        for (text, put) in [("new", true), ("late", false)] {
            let Thing::File(file) = new_file(place.path(), text, target.clone()).thing else {
                unreachable!("a file");
            };
            assert_eq!(claim(file, &target).is_ok(), put);
            assert_eq!(fs::read(&target).expect("there"), b"new");
            assert_eq!(names(place.path()), ["a"]);
        }
    }

    #[test]
    fn runs_that_replace_the_same_files_take_turns() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| place.path().join(name);
        let run = |text: &str| {
            for _ in 0..50 {
                let files = ["a", "b"].map(|name| new_file(place.path(), text, at(name)));
                exchange(files.into(), vec![at("c")]).expect("all can be replaced");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| run("one"));
            scope.spawn(|| run("two"));
        });
        let [a, b] = ["a", "b"].map(|name| fs::read(at(name)).expect("there"));
        assert_eq!(a, b, "files of one run");
        assert_eq!(names(place.path()), ["a", "b"]);
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
