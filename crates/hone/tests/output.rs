//! Output files appear whole or not at all.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use hone::Error;
use hone::output::Output;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn write(path: &Path, overwrite: bool, text: &str) -> hone::Result<()> {
    let mut output = Output::create(path, overwrite)?;
    output.write_all(text.as_bytes()).map_err(|e| output.error(e))?;
    output.commit()
}

#[test]
fn nothing_under_the_name_until_committed_and_nothing_else_after() {
    let dir = folder();
    let path = dir.path().join("a.txt");
    let mut output = Output::create(&path, false).expect("writable");
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
    let mut output = Output::create(&path, true).expect("writable");
    output.write_all(&vec![b'x'; 1 << 20]).expect("writable");
    drop(output);
    assert_eq!(fs::read(&path).expect("there"), b"old");
    assert_eq!(listing(dir.path()), ["a.txt"]);
}

#[test]
fn replaces_only_when_asked() {
    let dir = folder();
    let path = dir.path().join("a.txt");
    write(&path, false, "old").expect("writable");
    assert!(matches!(write(&path, false, "new"), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&path).expect("there"), b"old");
    write(&path, true, "new").expect("writable");
    assert_eq!(fs::read(&path).expect("there"), b"new");
}

#[test]
fn seeks_back_in_a_file() {
    let dir = folder();
    let path = dir.path().join("a.txt");
    let mut output = Output::create(&path, false).expect("writable");
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
        let error = Output::create(&path, true).expect_err("impossible");
        assert!(error.is_input() && error.to_string().contains(text), "{error}");
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
        assert!(matches!(write(&link, false, "again"), Err(Error::Exists { .. })));
        write(&link, true, "again").expect("writable");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&file).expect("there"), b"again");
        assert_eq!(listing(&dir.path().join("far")), ["file"]);
    }

    #[test]
    fn a_link_to_itself_is_an_error() {
        let dir = folder();
        symlink("loop", dir.path().join("loop")).expect("links");
        assert!(Output::create(dir.path().join("loop"), true).is_err());
        assert_eq!(listing(dir.path()), ["loop"]);
    }

    #[test]
    fn devices_and_pipes_are_written_to_directly() {
        write(Path::new("/dev/null"), false, "gone").expect("writable");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        let dir = folder();
        let fifo = dir.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
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
    let folder = hone::output::TemporaryFolder::create_in(parent.path()).expect("writable");
    fs::write(folder.path().join("file"), "text").expect("writable");
    let path = folder.path().to_path_buf();
    assert!(path.starts_with(parent.path()) && path.is_dir());
    drop(folder);
    assert!(!path.exists());
    let error = hone::output::TemporaryFolder::create_in(&parent.path().join("absent")).expect_err("no folder");
    assert!(error.to_string().contains("there is no folder"), "{error}");
}
