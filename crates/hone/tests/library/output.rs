//! Output files appear whole or not at all.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use hone::Error;
use hone::output::{Batch, Existing, Output, Temporary};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable");
    let mut names: Vec<String> = entries
        .map(|e| {
            e.expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

fn write(path: &Path, overwrite: bool, text: &str) -> hone::Result<()> {
    let mut output = Output::create(path, Existing::replaced_if(overwrite))?;
    output
        .write_all(text.as_bytes())
        .map_err(|e| output.error(e))?;
    output.commit()
}

#[test]
fn nothing_under_the_name_until_committed_and_nothing_else_after() {
    let dir = folder();
    let path = dir.path().join("a.txt");
    let mut output = Output::create(&path, Existing::Refuse).expect("writable");
    output.write_all(b"hello").expect("writable");
    assert!(!path.exists());
    output.commit().expect("writable");
    assert_eq!(fs::read(&path).expect("there"), b"hello");
    assert_eq!(listing(dir.path()), ["a.txt"]);
}

#[test]
fn dropped_leaves_nothing_and_the_old_file_alone() {
    let dir = folder();
    let path = dir.path().join("a.txt");
    write(&path, false, "old").expect("writable");
    let mut output = Output::create(&path, Existing::Replace).expect("writable");
    output.write_all(&vec![b'x'; 1 << 20]).expect("writable");
    drop(output);
    assert_eq!(fs::read(&path).expect("there"), b"old");
    assert_eq!(listing(dir.path()), ["a.txt"]);
}

#[test]
fn what_is_write_protected_stays() {
    let dir = folder();
    let (path, link) = (dir.path().join("a.npy"), dir.path().join("link.npy"));
    write(&path, false, "old").expect("writable");
    let protect = |path: &Path, protected: bool| {
        let mut permissions = fs::metadata(path).expect("there").permissions();
        permissions.set_readonly(protected);
        fs::set_permissions(path, permissions).expect("ours");
    };
    protect(&path, true);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &link).expect("writable");
    for name in [&path, &link].into_iter().filter(|name| name.exists()) {
        let refused = write(name, true, "new").expect_err("protected");
        assert!(
            refused.is_input() && refused.to_string().contains("write-protected"),
            "{refused}"
        );
    }
    // So does a file that belongs to an older output of the same name.
    let (vectors, ids) = (dir.path().join("b.npy"), dir.path().join("b.ids.txt"));
    write(&ids, false, "old ids").expect("writable");
    protect(&ids, true);
    assert!(
        write(&vectors, true, "new")
            .expect_err("protected")
            .to_string()
            .contains("b.ids.txt")
    );
    assert_eq!(
        (
            fs::read(&path).expect("there"),
            fs::read(&ids).expect("there")
        ),
        (b"old".to_vec(), b"old ids".to_vec())
    );
    assert!(!vectors.exists());
    [&path, &ids]
        .into_iter()
        .for_each(|path| protect(path, false));
}

#[test]
fn replaces_only_when_asked() {
    let dir = folder();
    let path = dir.path().join("a.txt");
    write(&path, false, "old").expect("writable");
    assert!(matches!(
        write(&path, false, "new"),
        Err(Error::Exists { .. })
    ));
    assert_eq!(fs::read(&path).expect("there"), b"old");
    write(&path, true, "new").expect("writable");
    assert_eq!(fs::read(&path).expect("there"), b"new");
}

#[test]
fn seeks_back_in_a_file() {
    let dir = folder();
    let path = dir.path().join("a.txt");
    let mut output = Output::create(&path, Existing::Refuse).expect("writable");
    assert!(output.can_seek());
    output.write_all(b"0000 data").expect("writable");
    output.seek(SeekFrom::Start(0)).expect("a file");
    output.write_all(b"head").expect("writable");
    output.commit().expect("writable");
    assert_eq!(fs::read(&path).expect("there"), b"head data");
}

#[test]
fn impossible_places_are_input_errors_with_a_remedy() {
    let dir = folder();
    fs::write(dir.path().join("file"), "").expect("writable");
    let cases = [
        (dir.path().to_path_buf(), "is a folder"),
        (dir.path().join("no/such/a.txt"), "there is no folder"),
        (dir.path().join("file/a.txt"), "is not a folder"),
        (dir.path().join("x".repeat(300)), "name"),
    ];
    for (path, text) in cases {
        let error = Output::create(&path, Existing::Replace).expect_err("impossible");
        assert!(
            error.is_input() && error.to_string().contains(text),
            "{error}"
        );
    }
    assert_eq!(listing(dir.path()), ["file"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn permissions_are_those_of_a_plain_new_file_or_of_the_old_one() {
        let dir = folder();
        let (ours, plain) = (dir.path().join("ours"), dir.path().join("plain"));
        fs::write(&plain, "").expect("writable");
        write(&ours, false, "x").expect("writable");
        assert_eq!(mode(&ours), mode(&plain));
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).expect("ours");
        write(&ours, true, "y").expect("writable");
        assert_eq!(mode(&ours), 0o640);
    }

    #[test]
    fn a_link_stays_and_its_file_is_replaced() {
        let dir = folder();
        fs::create_dir(dir.path().join("far")).expect("writable");
        let (link, file) = (dir.path().join("link"), dir.path().join("far/file"));
        symlink("far/file", &link).expect("links");
        write(&link, false, "dangling").expect("writable");
        assert!(matches!(
            write(&link, false, "again"),
            Err(Error::Exists { .. })
        ));
        write(&link, true, "again").expect("writable");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&file).expect("there"), b"again");
        assert_eq!(listing(&dir.path().join("far")), ["file"]);
    }

    #[test]
    fn a_link_to_itself_is_an_error() {
        let dir = folder();
        symlink("loop", dir.path().join("loop")).expect("links");
        assert!(Output::create(&dir.path().join("loop"), Existing::Replace).is_err());
        assert_eq!(listing(dir.path()), ["loop"]);
    }

    #[test]
    fn devices_and_pipes_are_written_to_directly() {
        write(Path::new("/dev/null"), false, "gone").expect("writable");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        let dir = folder();
        let fifo = dir.path().join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .expect("mkfifo")
                .success()
        );
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read(fifo).expect("a pipe")
        });
        write(&fifo, false, "through").expect("writable");
        assert_eq!(reader.join().expect("read"), b"through");
        assert_eq!(listing(dir.path()), ["fifo"]);
    }
}

#[test]
fn temporary_folders_go_with_all_in_them() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let folder = Temporary::folder(&parent.path().join("f")).expect("writable");
    fs::write(folder.path().join("file"), "text").expect("writable");
    let path = folder.path().to_path_buf();
    assert!(path.starts_with(parent.path()) && path.is_dir());
    drop(folder);
    assert!(!path.exists());
    let error = Temporary::folder(&parent.path().join("absent/f")).expect_err("no folder");
    assert!(error.to_string().contains("there is no folder"), "{error}");
}

/// A batch of files with their texts, in order, not committed yet.
fn batch(dir: &Path, files: &[(&str, &str)]) -> hone::Result<Batch> {
    let mut batch = Batch::new(Existing::Replace);
    for (name, text) in files {
        let mut output = batch.begin(&dir.join(name))?;
        output
            .write_all(text.as_bytes())
            .map_err(|e| output.error(e))?;
        batch.add(output)?;
    }
    Ok(batch)
}

fn texts(dir: &Path) -> Vec<(String, String)> {
    let read = |name: String| {
        (
            name.clone(),
            fs::read_to_string(dir.join(name)).unwrap_or_else(|_| "a folder".into()),
        )
    };
    listing(dir).into_iter().map(read).collect()
}

#[test]
fn files_of_a_batch_appear_together_or_not_at_all() {
    let dir = folder();
    let first = batch(dir.path(), &[("a", "1"), ("b", "2"), ("c", "3")]).expect("writable");
    assert!(!dir.path().join("a").exists());
    drop(first);
    assert!(listing(dir.path()).is_empty());
    let first = batch(dir.path(), &[("a", "1"), ("b", "2")]).expect("writable");
    let written: Vec<_> = first
        .written()
        .iter()
        .map(|w| (w.name.as_str(), w.bytes, w.crc32.as_str()))
        .collect();
    // Checksums as every other tool gives them.
    assert_eq!(written, [("a", 1, "83dcefb7"), ("b", 1, "1ad5be0d")]);
    assert_eq!(
        first.commit().expect("in place"),
        [dir.path().join("a"), dir.path().join("b")]
    );
    let pairs = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(dir.path()), pairs(&[("a", "1"), ("b", "2")]));
    // A rename that fails, whichever it is, leaves all as it was.
    for stuck in ["a", "b", "new"] {
        let second = batch(dir.path(), &[("a", "x"), ("b", "y"), ("new", "z")]).expect("writable");
        let path = dir.path().join(stuck);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.join("full")).expect("writable");
        second.commit().expect_err("a folder is in the way");
        let kept = texts(dir.path());
        fs::remove_dir_all(&path).expect("there");
        let mut expected = vec![("a", "1"), ("b", "2")];
        expected.retain(|(name, _)| *name != stuck);
        expected.push((stuck, "a folder"));
        expected.sort_unstable();
        assert_eq!(kept, pairs(&expected), "{stuck}");
        batch(dir.path(), &[("a", "1"), ("b", "2")])
            .and_then(Batch::commit)
            .expect("restored");
    }
}

#[test]
fn a_batch_takes_obsolete_files_along_and_no_file_twice() {
    let dir = folder();
    write(&dir.path().join("old"), false, "old").expect("writable");
    let mut second = batch(dir.path(), &[("a", "1")]).expect("writable");
    second.obsolete(&dir.path().join("old")).expect("there");
    second
        .obsolete(&dir.path().join("never"))
        .expect("nothing to do");
    assert!(dir.path().join("old").exists());
    second.commit().expect("in place");
    assert_eq!(listing(dir.path()), ["a"]);
    assert!(matches!(
        Batch::new(Existing::Refuse).obsolete(&dir.path().join("a")),
        Err(Error::Exists { .. })
    ));
    let twice = batch(dir.path(), &[("a", "1"), ("a", "2")]).expect_err("twice the same");
    assert!(twice.to_string().contains("two outputs go to"), "{twice}");
}

/// Two runs begin when nothing is there, and one of them ends first.
#[test]
fn what_appears_during_a_run_is_not_replaced() {
    let dir = folder();
    let begun = |names: &[&str], text: &str| {
        let mut batch = Batch::new(Existing::Refuse);
        for name in names {
            let mut output = batch.begin(&dir.path().join(name)).expect("writable");
            output.write_all(text.as_bytes()).expect("writable");
            batch.add(output).expect("on disk");
        }
        batch
    };
    let second = [["a", "b"], ["b", "c"], ["c", "a"]].map(|names| begun(&names, "second"));
    let alone = begun(&["a"], "second");
    begun(&["a", "b"], "first").commit().expect("in place");
    for batch in second.into_iter().chain([alone]) {
        assert!(matches!(batch.commit(), Err(Error::Exists { .. })));
        // Beside the parts of those that are still at work.
        let mut there = texts(dir.path());
        there.retain(|(name, _)| !name.ends_with(".part"));
        let both = ["a", "b"].map(|name| (name.to_owned(), "first".to_owned()));
        assert_eq!(there, both);
    }
    assert_eq!(listing(dir.path()), ["a", "b"]);
}

#[test]
fn a_graph_that_is_generated_does_not_replace_what_appears_meanwhile() {
    #[derive(Debug)]
    struct Faster(std::path::PathBuf);
    impl hone::Progress for Faster {
        fn stage(&self, _name: &str, _total: u64) {
            fs::write(&self.0, "of another run").expect("writable");
        }
    }
    let dir = folder();
    let path = dir.path().join("g.tsv");
    let generator = hone::graph::Generator::Er {
        nodes: 50,
        degree: 4.0,
    };
    let options = hone::graph::WriteOptions::default();
    let refused =
        hone::graph::write_generated(&generator, 1, &path, &options, &Faster(path.clone()));
    assert!(matches!(refused, Err(Error::Exists { .. })), "{refused:?}");
    assert_eq!(fs::read(&path).expect("there"), b"of another run");
    assert_eq!(listing(dir.path()), ["g.tsv"]);
}

#[test]
fn checksums_are_of_the_file_also_where_it_was_written_over() {
    let dir = folder();
    let mut batch = Batch::new(Existing::Refuse);
    let mut output = batch.begin(&dir.path().join("a")).expect("writable");
    output.write_all(b"0000 data").expect("writable");
    output.seek(SeekFrom::Start(0)).expect("a file");
    output.write_all(b"head").expect("writable");
    batch.add(output).expect("on disk");
    assert_eq!(
        (batch.written()[0].bytes, batch.written()[0].crc32.as_str()),
        (9, "6a6b90ab")
    );
}

/// A folder `f` with one file in it, added to a batch.
fn add_folder(batch: &mut Batch, dir: &Path, existing: Existing) {
    let new = Temporary::folder(&dir.join("f")).expect("writable");
    fs::write(new.path().join("y"), "new").expect("writable");
    batch.add_folder(new, dir.join("f"), existing, Vec::new());
}

#[test]
fn folders_and_files_are_replaced_together_or_not_at_all() {
    let dir = folder();
    fs::create_dir(dir.path().join("f")).expect("writable");
    fs::create_dir(dir.path().join("sub")).expect("writable");
    for name in ["a", "b", "f/x", "gone"] {
        fs::write(dir.path().join(name), "old").expect("writable");
    }
    let new = |last: &str| {
        let mut batch = batch(dir.path(), &[("a", "new"), (last, "new")]).expect("writable");
        add_folder(&mut batch, dir.path(), Existing::Replace);
        batch.obsolete(&dir.path().join("gone")).expect("there");
        batch
    };
    // The second file cannot be put where a folder is missing; the folder was in place by then.
    let stuck = new("sub/b");
    fs::remove_dir_all(dir.path().join("sub")).expect("there");
    stuck.commit().expect_err("no such folder");
    assert_eq!(listing(dir.path()), ["a", "b", "f", "gone"]);
    assert_eq!(fs::read(dir.path().join("a")).expect("back"), b"old");
    assert_eq!(listing(&dir.path().join("f")), ["x"]);
    new("b").commit().expect("all can be replaced");
    assert_eq!(listing(dir.path()), ["a", "b", "f"]);
    assert_eq!(fs::read(dir.path().join("b")).expect("there"), b"new");
    assert_eq!(listing(&dir.path().join("f")), ["y"]);
}

#[test]
fn where_one_name_is_taken_nothing_is_put() {
    let dir = folder();
    let new = Batch::new(Existing::Refuse);
    let mut new = ["b", "c"].into_iter().fold(new, |mut new, name| {
        let output = new.begin(&dir.path().join(name)).expect("writable");
        new.add(output).expect("on disk");
        new
    });
    add_folder(&mut new, dir.path(), Existing::Refuse);
    fs::create_dir_all(dir.path().join("f/inside")).expect("writable");
    assert!(matches!(new.commit(), Err(Error::Exists { .. })));
    assert_eq!(listing(dir.path()), ["f"]);
    assert_eq!(listing(&dir.path().join("f")), ["inside"]);
    #[cfg(unix)]
    {
        let link = dir.path().join("link");
        let late = Output::create(&link, Existing::Refuse).expect("writable");
        std::os::unix::fs::symlink("nowhere", &link).expect("links");
        assert!(matches!(late.commit(), Err(Error::Exists { .. })));
        assert_eq!(listing(dir.path()), ["f", "link"]);
    }
}
