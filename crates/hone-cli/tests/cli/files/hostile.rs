//! Files that lie, links in folders of our own, and outputs that cannot be written.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::{after, folder, hone};

/// A JSON file of tensors without data, as safetensors has it.
fn safetensors(path: &Path, header: &str, data: &[u8]) {
    let header = header.as_bytes();
    fs::write(
        path,
        [&(header.len() as u64).to_le_bytes()[..], header, data].concat(),
    )
    .expect("writable");
}

#[test]
fn records_that_are_none_are_refused_with_the_field() {
    let folder = folder();
    hone(folder.path(), "-q embed g.tsv -o z.npy").success();
    let record = folder.path().join("z.npy.run.json");
    let whole = fs::read_to_string(&record).expect("written");
    for (text, what) in [
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("7", "not a JSON object"),
        (r#"{"version": 7}"#, "`version`"),
        (r#"{"version": "0.1.0"}"#, "`files`"),
        (r#"{"version": "0.1.0", "files": []}"#, "`files`"),
        (r#"{"files": 7}"#, "`files`"),
        (r#"{"files": [{"name": 7}]}"#, "`files[0].name`"),
    ] {
        fs::write(&record, text).expect("writable");
        hone(folder.path(), "similar z.npy --node n0")
            .code(2)
            .stderr(contains("z.npy.run.json").and(contains(what)));
    }
    // What another tool has put there.
    fs::write(&record, "{}").expect("writable");
    hone(folder.path(), "-q similar z.npy --node n0").success();
    for (field, from, to) in [
        (
            "`version`",
            "\"version\": \"",
            "\"version\": 7, \"was\": \"",
        ),
        ("`folder`", "\"folder\": \"", "\"folder\": 7, \"was\": \""),
    ] {
        assert!(whole.contains(from), "{whole}");
        fs::write(&record, whole.replacen(from, to, 1)).expect("writable");
        let refused = hone(folder.path(), "embed -o again.npy --config z.npy.run.json").code(2);
        refused.stderr(contains("z.npy.run.json").and(contains(field)));
    }
}

#[test]
fn names_of_columns_that_are_wrong_are_refused() {
    let folder = folder();
    let path = folder.path().join("z.safetensors");
    let tensors = r#""embedding":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"ids":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}"#;
    let data = [
        &1f32.to_le_bytes()[..],
        &2f32.to_le_bytes(),
        &7i64.to_le_bytes(),
    ]
    .concat();
    for (columns, what) in [
        (r#"7"#, "not a list of names"),
        (r#"[\"a\"]"#, "1 names for 2"),
        ("[1,2]", "not a list of names"),
    ] {
        safetensors(
            &path,
            &format!(r#"{{"__metadata__":{{"columns":"{columns}"}},{tensors}}}"#),
            &data,
        );
        let refused = hone(folder.path(), "similar z.safetensors --node 7").code(2);
        refused.stderr(contains("`columns` of the metadata").and(contains(what)));
    }
    safetensors(&path, &format!("{{{tensors}}}"), &data);
    hone(folder.path(), "-q similar z.safetensors --node 7").success();
}

#[test]
fn tensors_without_number_keep_to_the_budget() {
    let folder = folder();
    let empty: Vec<String> = (0..200_000)
        .map(|i| format!(r#""t{i}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#))
        .collect();
    safetensors(
        &folder.path().join("many.safetensors"),
        &format!("{{{}}}", empty.join(",")),
        &[],
    );
    let refused = hone(
        folder.path(),
        "similar many.safetensors --node 0 --memory 60M",
    )
    .code(2);
    refused.stderr(contains("many.safetensors needs more than").and(contains("only 60 MiB")));
    safetensors(
        &folder.path().join("few.safetensors"),
        &format!("{{{}}}", empty[..9].join(",")),
        &[],
    );
    hone(folder.path(), "similar few.safetensors --node 0")
        .code(2)
        .stderr(contains("`embedding` and `ids` are expected"));
}

#[test]
fn arrays_of_an_unknown_version_are_refused() {
    let folder = folder();
    hone(folder.path(), "-q embed g.tsv -o z.npy").success();
    fs::remove_file(folder.path().join("z.npy.run.json")).expect("written");
    let mut bytes = fs::read(folder.path().join("z.npy")).expect("written");
    for version in [0, 9, 255] {
        bytes[6] = version;
        fs::write(folder.path().join("z.npy"), &bytes).expect("writable");
        let refused = hone(folder.path(), "similar z.npy --node n0").code(2);
        refused.stderr(contains(format!("version {version} of the format")));
    }
}

#[test]
fn frames_of_zstd_are_read_or_refused() {
    let folder = folder();
    let graph = fs::read(folder.path().join("g.tsv")).expect("written");
    let frame = zstd::encode_all(&graph[..], 3).expect("in memory");
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 4, 0, 0, 0], &b"note"[..]].concat();
    fs::write(
        folder.path().join("s.tsv.zst"),
        [&skipped[..], &frame, &skipped, &frame].concat(),
    )
    .expect("writable");
    hone(folder.path(), "-q info s.tsv.zst")
        .success()
        .stdout(contains("nodes               40"));
    let mut long = zstd::Encoder::new(Vec::new(), 1).expect("in memory");
    long.window_log(27).expect("a window of 128 MB");
    long.write_all(&graph).expect("in memory");
    fs::write(
        folder.path().join("l.tsv.zst"),
        long.finish().expect("in memory"),
    )
    .expect("writable");
    let refused = hone(folder.path(), "info l.tsv.zst --memory 60M").code(2);
    refused.stderr(
        contains("a longer window")
            .and(contains("--memory"))
            .and(contains("--long")),
    );
    hone(folder.path(), "-q info l.tsv.zst --memory 600M").success();
}

#[test]
fn links_in_folders_of_our_own_are_replaced() {
    let folder = folder();
    let cells = "-q eval link g.tsv --methods degree --seeds 1 --cache cells";
    let first = hone(folder.path(), cells)
        .success()
        .get_output()
        .stdout
        .clone();
    let names = |folder: &Path| -> Vec<_> {
        fs::read_dir(folder)
            .expect("made")
            .map(|entry| entry.expect("readable").path())
            .collect()
    };
    let victim = folder.path().join("victim");
    fs::write(&victim, "mine").expect("writable");
    let cell = names(&folder.path().join("cells")).remove(0);
    fs::remove_file(&cell).expect("there");
    symlink(&victim, &cell).expect("made");
    assert_eq!(
        hone(folder.path(), cells).success().get_output().stdout,
        first
    );
    assert_eq!(fs::read(&victim).expect("there"), b"mine");
    assert!(!cell.is_symlink() && cell.is_file(), "it is a cell again");
    // So are the stages of a checkpoint.
    let embed = "-q embed g.tsv -o z.npy --checkpoint saved";
    hone(folder.path(), embed).success();
    for path in names(&folder.path().join("saved"))
        .iter()
        .filter(|path| !path.ends_with("lock"))
    {
        let aside = folder.path().join("aside");
        fs::rename(path, &aside).expect("there");
        symlink(&aside, path).expect("made");
        let before = fs::read(&aside).expect("there");
        hone(folder.path(), &format!("{embed} --resume -f")).success();
        assert_eq!(
            fs::read(&aside).expect("there"),
            before,
            "{}",
            path.display()
        );
        fs::remove_file(&aside).expect("there");
        if path.is_symlink() {
            fs::remove_file(path).expect("there");
        }
    }
}

#[test]
fn what_the_system_refuses_has_a_remedy() {
    let folder = folder();
    symlink("self.npy", folder.path().join("self.npy")).expect("made");
    for args in [
        "-q embed g.tsv -o self.npy",
        "-q embed g.tsv -o self.npy/z.npy",
        "similar self.npy --node n0",
        "info self.npy",
    ] {
        hone(folder.path(), args)
            .code(2)
            .stderr(contains("leads back to itself").or(contains("cannot be read")));
    }
    for files in 4..6 {
        let run = after(
            folder.path(),
            &format!("ulimit -n {files}"),
            "-q embed g.tsv -o z.npy",
        );
        // With the fewest not even the libraries of the system can be loaded.
        let said = run.get_output();
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(
            said.status.code() != Some(1) || text.contains("ulimit -n"),
            "{files}: {text}"
        );
        assert!(!text.contains(".part"), "{text}");
    }
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    if !Path::new("/dev/full").exists() {
        return super::skip("there is no /dev/full here");
    }
    let folder = folder();
    for args in [
        "--help",
        "embed --help",
        "--version",
        "help count",
        "completions bash",
    ] {
        let run = after(folder.path(), "exec >/dev/full", args).code(1);
        run.stderr(contains("standard output").and(contains("free some space")));
        hone(folder.path(), args).success();
    }
    after(folder.path(), "exec >/dev/full", "embed --no-such-option")
        .code(2)
        .stderr(contains("--no-such-option"));
}
