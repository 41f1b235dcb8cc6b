//! Sets of files: published together, listed with checksums, checked under any name, never lost, and spoken of truly.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::signals::{ignored_already, kill};
use crate::skip::skip;
use crate::{EMBED, after, binary, content, folder, hone};

/// The names in a folder, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn record(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("there")).expect("JSON")
}

/// CRC-32 bit by bit, after its definition.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
}

const FACTORS: &str = "embed g.tsv -q --preset hone-p --motifs edge,path3 --dim 16 -o z.tsv --factors f";

#[test]
fn factors_appear_with_the_vectors_and_are_listed() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    hone(folder.path(), FACTORS).success();
    let said = record(&path("z.tsv.run.json"));
    assert_eq!(said["folders"][0]["path"], "f");
    let files = said["folders"][0]["files"].as_array().expect("files").clone();
    assert_eq!(names(&path("f")).len(), files.len(), "every file is listed");
    for file in &files {
        let bytes = fs::read(path("f").join(file["name"].as_str().expect("a name"))).expect("there");
        assert_eq!(file["crc32"], format!("{:08x}", crc32(&bytes)), "{file}");
        assert_eq!(file["bytes"], bytes.len(), "{file}");
    }
    // A limit that every array keeps to, but not the text of the vectors: then there is neither.
    let largest = files.iter().filter_map(|file| file["bytes"].as_u64()).max().expect("files");
    let text = fs::metadata(path("z.tsv")).expect("there").len();
    assert!(text > largest + 1024, "{text} {largest}");
    let limit = format!("ulimit -f {}", largest.div_ceil(512) + 1);
    let (before, inside) = (content(folder.path()), content(&path("f")));
    after(folder.path(), &limit, &format!("{FACTORS} --force --seed 5")).code(1).stderr(contains("z.tsv"));
    assert_eq!((content(folder.path()), content(&path("f"))), (before, inside));
    fs::remove_dir_all(path("f")).expect("there");
    fs::remove_file(path("z.tsv")).expect("there");
    fs::remove_file(path("z.tsv.run.json")).expect("there");
    after(folder.path(), &limit, FACTORS).code(1);
    assert_eq!(names(folder.path()), ["g.tsv", "nodes.txt", "people.csv"]);
    // Replaced together, with nothing left aside.
    hone(folder.path(), FACTORS).success();
    hone(folder.path(), &format!("{FACTORS} --force --steps 1")).success();
    assert_eq!(names(folder.path()), ["f", "g.tsv", "nodes.txt", "people.csv", "z.tsv", "z.tsv.run.json"]);
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
    for (from, to) in [("z.npy", "y.npy"), ("z.ids.txt", "y.ids.txt"), ("z.npy.run.json", "y.npy.run.json")] {
        fs::rename(path(from), path(to)).expect("there");
    }
    if path("z.npy.columns.txt").exists() {
        fs::rename(path("z.npy.columns.txt"), path("y.npy.columns.txt")).expect("there");
    }
    let judge = || hone(folder.path(), "eval nodes g.tsv --labels labels.tsv --methods degree,file:y.npy --seeds 1");
    judge().success();
    let ids = fs::read_to_string(path("y.ids.txt")).expect("text");
    let turned: Vec<&str> = ids.lines().rev().collect();
    fs::write(path("y.ids.txt"), turned.join("\n") + "\n").expect("writable");
    judge().code(2).stderr(contains("y.ids.txt has another content").and(contains("files of two runs")));
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
        after(folder.path(), "ulimit -v 400000", command).code(2).stderr(contains("error: "));
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
        let sign = if round % 2 == 0 { "z.npy.run.json" } else { "z.npy" };
        while !path(sign).exists() && start.elapsed() < Duration::from_secs(60) {
            std::hint::spin_loop();
        }
        kill("-TERM", &child);
        let done = child.wait_with_output().expect("ends");
        let (said, all) = (String::from_utf8_lossy(&done.stderr).into_owned(), path("z.npy").exists());
        assert!(all, "renames are not interrupted");
        assert!(matches!(done.status.code(), Some(0 | 130)), "{:?}", done.status);
        // The run may end by itself while the line is written.
        if done.status.code() == Some(130) || !said.is_empty() {
            interrupted += 1;
            assert_eq!(said.lines().count(), 1, "{said}");
            let true_line = said.starts_with("interrupted: z.npy, ") && said.ends_with(" had been written, complete\n");
            assert!(true_line, "{said}");
        }
    }
    if interrupted == 0 {
        skip("every run had ended before it could be interrupted");
    }
}
