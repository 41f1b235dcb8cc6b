//! Sets of files: published together, listed with checksums, checked under any name, never lost, and spoken of truly.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::signals::{ignored_already, kill};
use super::{EMBED, after, binary, content, folder, hone};
use crate::skip::skip;

/// The names in a folder, hidden ones too.
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

fn record(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("there")).expect("JSON")
}

/// CRC-32 bit by bit, after its definition.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| {
        if crc & 1 == 1 {
            crc >> 1 ^ 0xedb8_8320
        } else {
            crc >> 1
        }
    };
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), bit)
    })
}

const FACTORS: &str =
    "embed g.tsv -q --preset hone-p --motifs edge,path3 --dim 16 -o z.tsv --factors f";

#[test]
fn factors_appear_with_the_vectors_and_are_listed() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), FACTORS).success();
    let said = record(&path("z.tsv.run.json"));
    assert_eq!(said["folders"][0]["path"], "f");
    let files = said["folders"][0]["files"]
        .as_array()
        .expect("files")
        .clone();
    assert_eq!(names(&path("f")).len(), files.len(), "every file is listed");
    for file in &files {
        let bytes =
            fs::read(path("f").join(file["name"].as_str().expect("a name"))).expect("there");
        assert_eq!(file["crc32"], format!("{:08x}", crc32(&bytes)), "{file}");
        assert_eq!(file["bytes"], bytes.len(), "{file}");
    }
    // A limit that every array keeps to, but not the text of the vectors: then there is neither.
    let largest = files
        .iter()
        .filter_map(|file| file["bytes"].as_u64())
        .max()
        .expect("files");
    let text = fs::metadata(path("z.tsv")).expect("there").len();
    assert!(text > largest + 1024, "{text} {largest}");
    let limit = format!("ulimit -f {}", largest.div_ceil(512) + 1);
    let (before, inside) = (content(folder.path()), content(&path("f")));
    after(
        folder.path(),
        &limit,
        &format!("{FACTORS} --force --seed 5"),
    )
    .code(1)
    .stderr(contains("z.tsv"));
    assert_eq!(
        (content(folder.path()), content(&path("f"))),
        (before, inside)
    );
    fs::remove_dir_all(path("f")).expect("there");
    fs::remove_file(path("z.tsv")).expect("there");
    fs::remove_file(path("z.tsv.run.json")).expect("there");
    after(folder.path(), &limit, FACTORS).code(1);
    assert_eq!(names(folder.path()), ["g.tsv", "nodes.txt", "people.csv"]);
    // Replaced together, with nothing left aside.
    hone(folder.path(), FACTORS).success();
    hone(folder.path(), &format!("{FACTORS} --force --steps 1")).success();
    assert_eq!(
        names(folder.path()),
        [
            "f",
            "g.tsv",
            "nodes.txt",
            "people.csv",
            "z.tsv",
            "z.tsv.run.json"
        ]
    );
    let again = record(&path("z.tsv.run.json"));
    assert_ne!(again["folders"], said["folders"]);
}

#[test]
fn renamed_files_are_compared_under_their_new_names() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let labels: String = (0..40).map(|i| format!("n{i}\t{}\n", i % 2)).collect();
    fs::write(path("labels.tsv"), labels).expect("writable");
    hone(folder.path(), &format!("{EMBED} -q -o z.npy")).success();
    for (from, to) in [
        ("z.npy", "y.npy"),
        ("z.ids.txt", "y.ids.txt"),
        ("z.npy.run.json", "y.npy.run.json"),
    ] {
        fs::rename(path(from), path(to)).expect("there");
    }
    if path("z.npy.columns.txt").exists() {
        fs::rename(path("z.npy.columns.txt"), path("y.npy.columns.txt")).expect("there");
    }
    let judge = || {
        hone(
            folder.path(),
            "eval nodes g.tsv --labels labels.tsv --methods degree,file:y.npy --seeds 1",
        )
    };
    judge().success();
    let ids = fs::read_to_string(path("y.ids.txt")).expect("text");
    let turned: Vec<&str> = ids.lines().rev().collect();
    fs::write(path("y.ids.txt"), turned.join("\n") + "\n").expect("writable");
    judge()
        .code(2)
        .stderr(contains("y.ids.txt has different content").and(contains("files of two runs")));
    fs::remove_file(path("y.ids.txt")).expect("there");
    judge().code(2).stderr(contains("y.ids.txt is missing"));
    fs::write(path("y.ids.txt"), ids).expect("writable");
    judge().success();
    let vectors = fs::read(path("y.npy")).expect("there");
    fs::write(path("y.npy"), &vectors[..200]).expect("writable");
    judge().code(2).stderr(contains("y.npy has 200 bytes"));
}

#[test]
fn records_that_cannot_be_ours_are_not_read() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let huge = |name: &str| {
        let file = fs::File::create(path(name)).expect("writable");
        file.set_len(1 << 40).expect("a file with a hole");
    };
    hone(folder.path(), &format!("{EMBED} -q -o z.npy")).success();
    let labels: String = (0..40).map(|i| format!("n{i}\t{}\n", i % 2)).collect();
    fs::write(path("labels.tsv"), labels).expect("writable");
    huge("z.npy.run.json");
    huge("huge.json");
    fs::create_dir(path("f")).expect("writable");
    huge("f/manifest.json");
    fs::create_dir(path("saved")).expect("writable");
    huge("saved/manifest.json");
    for command in [
        "eval nodes g.tsv --labels labels.tsv --methods degree,file:z.npy --seeds 1",
        "features g.tsv -q -o - --attributes z.npy",
        "embed -q -o a.npy --config huge.json",
        "count -q -o a.tsv --config huge.json",
        "embed g.tsv -q -o a.npy --force --factors f",
        "embed g.tsv -q -o a.npy --checkpoint saved --resume",
    ] {
        // Within 400 MB of addresses: nothing of it is held.
        after(folder.path(), "ulimit -v 400000", command)
            .code(2)
            .stderr(contains("error: "));
    }
    assert!(!path("a.npy").exists() && !path("a.tsv").exists());
}

/// Stops a run at the moment when its files appear; what it says must be what there is.
#[cfg(target_os = "linux")]
#[test]
fn what_an_interrupted_run_says_is_true() {
    if ignored_already(&[15]) {
        return skip("kills are ignored here");
    }
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let mut interrupted = 0;
    for round in 0..24 {
        for name in ["z.npy", "z.ids.txt", "z.npy.run.json", "z.npy.columns.txt"] {
            let _ = fs::remove_file(path(name));
        }
        let child = Process::new(binary())
            .args(format!("{EMBED} -q -o z.npy").split(' '))
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let start = Instant::now();
        // The record comes first, the vectors last.
        let sign = if round % 2 == 0 {
            "z.npy.run.json"
        } else {
            "z.npy"
        };
        while !path(sign).exists() && start.elapsed() < Duration::from_secs(60) {
            std::hint::spin_loop();
        }
        kill("-TERM", &child);
        let done = child.wait_with_output().expect("ends");
        let (said, all) = (
            String::from_utf8_lossy(&done.stderr).into_owned(),
            path("z.npy").exists(),
        );
        assert!(all, "renames are not interrupted");
        assert!(
            done.status.success() || done.status.signal() == Some(15),
            "{:?}",
            done.status
        );
        // The run may end by itself while the line is written.
        if !done.status.success() || !said.is_empty() {
            interrupted += 1;
            assert_eq!(said.lines().count(), 1, "{said}");
            let true_line = said.starts_with("interrupted: z.npy, ")
                && said.ends_with(" had already been written in full\n");
            assert!(true_line, "{said}");
        }
    }
    if interrupted == 0 {
        skip("every run had ended before it could be interrupted");
    }
}

/// A folder of factors is replaced only when nothing else is lost with it.
#[test]
fn a_folder_of_factors_with_anything_else_in_it_is_not_replaced() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let again = |more: &str| hone(folder.path(), &format!("{FACTORS} --force{more}"));
    hone(folder.path(), FACTORS).success();
    fs::copy(path("g.tsv"), path("f/notes.txt")).expect("writable");
    again("").code(2).stderr(contains(
        "f: holds notes.txt, which its manifest.json does not list",
    ));
    fs::remove_file(path("f/notes.txt")).expect("there");
    fs::create_dir(path("f/sub")).expect("writable");
    again("").code(2).stderr(contains("holds sub,"));
    fs::remove_dir(path("f/sub")).expect("there");
    // A folder under the name of an array is not that array.
    fs::rename(path("f/H.npy"), path("h.npy")).expect("there");
    fs::create_dir(path("f/H.npy")).expect("writable");
    again("").code(2).stderr(contains("holds H.npy,"));
    fs::remove_dir(path("f/H.npy")).expect("there");
    fs::rename(path("h.npy"), path("f/H.npy")).expect("there");
    // Inputs, outputs and other folders of the run.
    fs::copy(path("f/Z.npy"), path("z.npy")).expect("writable");
    let before = content(&path("f"));
    again(" --attributes f/Z.npy").code(2).stderr(contains(
        "f/Z.npy, the input of --attributes, is in the folder f",
    ));
    fs::copy(path("g.tsv"), path("f/g.tsv")).expect("writable");
    let moved = FACTORS.replace("g.tsv", "./f/g.tsv") + " --force";
    hone(folder.path(), &moved)
        .code(2)
        .stderr(contains("./f/g.tsv, the input, is in the folder f"));
    fs::remove_file(path("f/g.tsv")).expect("there");
    let inside = FACTORS.replace("z.tsv", "f/z.tsv") + " --force";
    hone(folder.path(), &inside).code(2).stderr(contains(
        "f/z.tsv, the file of --output, is in the folder f",
    ));
    for (folders, said) in [
        (
            " --checkpoint f",
            "--checkpoint: f and f, that of --factors, share a folder",
        ),
        (" --checkpoint ./f/ck", "share a folder"),
        (" --temp-dir f", "share a folder"),
        (
            " --checkpoint z.tsv",
            "--checkpoint: z.tsv is also the file of --output",
        ),
    ] {
        again(folders).code(2).stderr(contains(said));
    }
    assert_eq!(content(&path("f")), before);
    again("").success();
    // Nothing is made for what is refused.
    let new = "embed g.tsv -q --preset hone-p --motifs edge --dim 4";
    hone(folder.path(), &format!("{new} -o n.npy --checkpoint n.npy"))
        .code(2)
        .stderr(contains("also the file of"));
    hone(
        folder.path(),
        &format!("{new} -o n.npy --checkpoint ck --factors ./ck"),
    )
    .code(2);
    assert!(!path("n.npy").exists() && !path("ck").exists());
}

#[test]
fn outputs_of_one_place_are_refused_however_it_is_spelled() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("sub")).expect("writable");
    std::os::unix::fs::symlink(path("sub"), path("link")).expect("links");
    for (one, other) in [
        ("x", "x"),
        ("x", "./x"),
        ("x", "sub/../x"),
        ("sub/x", "link/x"),
        ("sub/x", "sub//./x"),
    ] {
        let command = format!(
            "eval nodes g.tsv --labels nodes.txt --methods degree -o {one}.csv -o {other}.csv"
        );
        hone(folder.path(), &command)
            .code(2)
            .stderr(contains("two outputs go to"));
    }
    let absolute = format!("-o x.csv -o {}", path("x.csv").display());
    let command = format!("eval nodes g.tsv --labels nodes.txt --methods degree {absolute}");
    hone(folder.path(), &command)
        .code(2)
        .stderr(contains("two outputs go to"));
}

#[test]
fn a_split_is_not_written_over_its_own_graph() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), "eval split g.tsv -q -o sp").success();
    let before = content(&path("sp"));
    hone(folder.path(), "eval split sp/train.tsv -q -f -o sp")
        .code(2)
        .stderr(contains("sp/train.tsv is the input"));
    let nodes = "eval split g.tsv --node-list sp/nodes.txt -q -f -o ./sp";
    hone(folder.path(), nodes)
        .code(2)
        .stderr(contains("is the input of --node-list"));
    assert_eq!(content(&path("sp")), before);
    hone(folder.path(), "eval split g.tsv -q -f -o sp").success();
    let few = "eval split g.tsv -q -o few --removed 1e-9";
    hone(folder.path(), few)
        .code(2)
        .stderr(contains("give a larger share"));
    assert!(!path("few").exists());
}

#[test]
fn a_record_with_a_damaged_list_is_an_error_and_another_version_is_noted() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), &format!("{EMBED} -q -o z.npy")).success();
    let mut said = record(&path("z.npy.run.json"));
    said["version"] = "0.0.9".into();
    fs::write(path("old.json"), said.to_string()).expect("writable");
    let repeated = hone(folder.path(), "embed -o y.npy --config old.json").success();
    repeated.stderr(contains("old.json is of version 0.0.9, this is version"));
    assert_eq!(
        fs::read(path("y.npy")).expect("there"),
        fs::read(path("z.npy")).expect("there")
    );
    for list in [
        Value::from("none"),
        serde_json::json!([{"name": "z.npy"}]),
        3.into(),
    ] {
        said["files"] = list;
        fs::write(path("z.npy.run.json"), said.to_string()).expect("writable");
        let read = hone(
            folder.path(),
            "features g.tsv -q -o - --no-structure --attributes z.npy",
        )
        .code(2);
        read.stderr(contains(
            "z.npy.run.json: the record of z.npy is damaged: `files",
        ));
    }
}

/// What the system lacks is not the user's mistake: exit code 1, and a remedy that helps.
#[test]
fn errors_of_the_system_have_their_own_remedies() {
    let folder = folder();
    let full = format!("{EMBED} -q -o - --output-format tsv");
    let script = |setup: &str, command: &str, more: &str| {
        let line = format!("{setup} exec \"$0\" {command} {more}");
        assert_cmd::Command::new("sh")
            .current_dir(folder.path())
            .args(["-c", &line])
            .arg(binary())
            .assert()
    };
    if Path::new("/dev/full").exists() {
        for command in [&full, "info g.tsv", "count g.tsv -q"] {
            script("", command, ">/dev/full")
                .code(1)
                .stderr(contains("standard output: No space left"));
        }
    }
    let few = script("ulimit -n 5;", &format!("{EMBED} -q -o u.npy"), "");
    few.code(1)
        .stderr(contains("too many open files").or(contains("Too many open files")));
    hone(folder.path(), &format!("{EMBED} -q -o /proc/x.tsv"))
        .code(2)
        .stderr(contains("there is no folder").not());
    hone(folder.path(), &format!("{EMBED} --set seed -o u.npy"))
        .code(2)
        .stderr(contains("such as local.dim=8"));
}

#[test]
fn companions_of_a_replaced_file_go_with_it() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), &format!("{EMBED} -q -o z.npy")).success();
    assert!(path("z.ids.txt").exists() && path("z.npy.columns.txt").exists());
    // The ids of another file of that name stay.
    hone(folder.path(), &format!("{EMBED} -q -o z.tsv")).success();
    hone(folder.path(), &format!("{EMBED} -q -f -o z.tsv")).success();
    assert!(path("z.ids.txt").exists());
    hone(folder.path(), "count g.tsv -q -f --per edge -o z.npy").success();
    assert!(!path("z.ids.txt").exists() && !path("z.npy.columns.txt").exists());
    // The record of an embedding does not describe a generated graph.
    hone(
        folder.path(),
        "generate er --nodes 9 --degree 2 -q -f -o z.tsv",
    )
    .success();
    assert!(!path("z.tsv.run.json").exists());
    assert!(
        !names(folder.path())
            .iter()
            .any(|name| name.starts_with(".hone-"))
    );
}

#[test]
fn configurations_are_small_and_their_numbers_in_range() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let tables: String = (0..100_000).map(|i| format!("[a{i}]\nx=1\n")).collect();
    fs::write(path("t.toml"), tables).expect("writable");
    let maps = vec!["{\"a\":1}"; 100_000].join(",");
    fs::write(
        path("r.json"),
        format!("{{\"config\":{{\"motifs\":[{maps}]}}}}"),
    )
    .expect("writable");
    for (file, named) in [("t.toml", "at most 512 KiB"), ("r.json", "config.motifs")] {
        let refused = hone(
            folder.path(),
            &format!("{EMBED} -q -o u.npy --config {file}"),
        );
        refused.code(2).stderr(contains(named).and(contains(file)));
    }
    for setting in [
        "features.weight=1e300",
        "local.row-power=1000",
        "regularize=1e308",
        "accumulate={decay=1e300}",
        "features.form.components.offset=1e300",
        "features.form.components.size-decay=1e-300",
    ] {
        let (field, _) = setting.split_once(['=', '{']).expect("a value");
        let refused = hone(
            folder.path(),
            &format!("embed g.tsv -q -o u.npy --set {setting}"),
        );
        refused.code(2).stderr(contains(field));
    }
    hone(
        folder.path(),
        &format!("{EMBED} -q -o u.npy --checkpoint g.tsv"),
    )
    .code(2)
    .stderr(contains("is not a folder"));
    assert!(!path("u.npy").exists());
}
