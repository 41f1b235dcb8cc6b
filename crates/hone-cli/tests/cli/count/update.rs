//! `hone count --update`: the same files as a count of the changed graph, and changes that make no sense.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::{hone, read};

const OLD: &str = "7 2\n2 5\n5 7\n5 9\n9 12\n12 2\n2 9\n";
const ADDED: &str = "7 9\n12 5\n3 5\n3 30\n";
const REMOVED: &str = "9 5\n2 12\n";
const NEW: &str = "7 2\n2 5\n5 7\n9 12\n2 9\n7 9\n12 5\n3 5\n3 30\n";
const CHANGES: [&str; 4] = ["--add", "added.txt", "--remove", "removed.txt"];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = [
        ("old.txt", OLD),
        ("added.txt", ADDED),
        ("removed.txt", REMOVED),
        ("new.txt", NEW),
    ];
    files
        .iter()
        .for_each(|(name, text)| fs::write(folder.path().join(name), text).expect("written"));
    folder
}

fn count(folder: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    hone(folder, &[&["count"], args].concat())
}

fn updated(folder: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    count(folder, &[&["old.txt"], args, &CHANGES].concat())
}

#[test]
fn an_update_writes_what_a_count_of_the_changed_graph_writes() {
    let folder = folder();
    let at = folder.path();
    for old in ["old.parquet", "old.tsv", "old.csv.gz"] {
        count(at, &["old.txt", "-o", old, "-q"]).success();
        for output in ["edges.tsv", "edges.parquet", "edges.npy"] {
            let again = format!("again-{output}");
            updated(at, &["--update", old, "-o", output, "-f"])
                .success()
                .stderr(contains("wrote edges"));
            count(at, &["new.txt", "-o", &again, "-f"]).success();
            let bytes = |name: &str| fs::read(at.join(name)).expect(name);
            assert_eq!(bytes(output), bytes(&again), "{old} {output}");
        }
    }
    for by in [
        ["--per", "node"],
        ["--per", "total"],
        ["--motifs", "graphlets"],
    ] {
        let expected = count(at, &[&["new.txt"][..], &by].concat())
            .success()
            .get_output()
            .stdout
            .clone();
        updated(at, &[&["--update", "old.parquet", "-q"][..], &by].concat())
            .success()
            .stdout(expected)
            .stderr("");
    }
}

#[test]
fn an_update_is_updated_and_repeated() {
    let folder = folder();
    let at = folder.path();
    count(at, &["old.txt", "-o", "old.parquet"]).success();
    updated(at, &["--update", "old.parquet", "-o", "new.parquet"]).success();
    let record: serde_json::Value =
        serde_json::from_str(&read(at, "new.parquet.run.json")).expect("JSON");
    assert_eq!(
        (&record["changed"]["edges"], &record["changed"]["new_nodes"]),
        (&9.into(), &2.into())
    );
    assert_eq!(record["update"]["counts"], "old.parquet");
    count(
        at,
        &["--config", "new.parquet.run.json", "-o", "repeated.parquet"],
    )
    .success();
    assert_eq!(
        fs::read(at.join("new.parquet")).expect("written"),
        fs::read(at.join("repeated.parquet")).expect("written")
    );
    // And back again.
    let back = [
        "new.txt",
        "--update",
        "new.parquet",
        "--add",
        "removed.txt",
        "--remove",
        "added.txt",
        "-o",
        "back.tsv",
    ];
    count(at, &back).success();
    let expected = count(at, &["old.txt"])
        .success()
        .get_output()
        .stdout
        .clone();
    assert_eq!(fs::read(at.join("back.tsv")).expect("written"), expected);
}

#[test]
fn names_and_new_names() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("old.txt"), "ann bob\nbob cid\n").expect("written");
    fs::write(at.join("added.txt"), "cid ann\ncid dee\n").expect("written");
    fs::write(at.join("new.txt"), "ann bob\nbob cid\ncid ann\ncid dee\n").expect("written");
    fs::write(at.join("removed.txt"), "").expect("written");
    count(at, &["old.txt", "-o", "old.parquet"]).success();
    let expected = count(at, &["new.txt"])
        .success()
        .get_output()
        .stdout
        .clone();
    updated(at, &["--update", "old.parquet"])
        .success()
        .stdout(expected);
    fs::write(at.join("added.txt"), "bob ann\ncid ann\n").expect("written");
    updated(at, &["--update", "old.parquet"])
        .success()
        .stderr(contains("in the graph already"));
}

#[test]
fn changes_that_make_no_sense_are_refused() {
    let folder = folder();
    let at = folder.path();
    count(at, &["old.txt", "-o", "old.parquet"]).success();
    let refused = |args: &[&str], words: &[&str]| {
        let assert = updated(at, args).failure();
        words
            .iter()
            .fold(assert, |assert, &words| assert.stderr(contains(words)));
    };
    fs::write(at.join("removed.txt"), "2 12\n\n9 7\n").expect("written");
    refused(
        &["--update", "old.parquet"],
        &["removed.txt", "line 3", "no edge between"],
    );
    fs::write(at.join("removed.txt"), "2 12\n").expect("written");
    fs::write(at.join("added.txt"), "12 2\n").expect("written");
    refused(
        &["--update", "old.parquet"],
        &["removed.txt", "to be added as well"],
    );
    fs::write(at.join("added.txt"), "12 5\n").expect("written");
    count(at, &["new.txt", "-o", "other.parquet"]).success();
    refused(
        &["--update", "other.parquet"],
        &["other.parquet", "not the exact counts of this graph"],
    );
    count(at, &["old.txt", "-o", "few.parquet", "--motifs", "size3"]).success();
    refused(&["--update", "few.parquet"], &["no column `cycle4`"]);
    count(at, &["old.txt", "-o", "nodes.parquet", "--per", "node"]).success();
    refused(&["--update", "nodes.parquet"], &["not by edge"]);
    count(
        at,
        &["builtin:karate", "-o", "rough.parquet", "--sample", "cap=4"],
    )
    .success();
    count(
        at,
        &[
            "builtin:karate",
            "--update",
            "rough.parquet",
            "--add",
            "added.txt",
        ],
    )
    .failure()
    .stderr(contains("estimates"));
    count(at, &["old.txt", "-o", "old.npy"]).success();
    refused(&["--update", "old.npy"], &["no names of columns"]);
    refused(
        &["--update", "old.parquet", "--directed"],
        &["directed graph"],
    );
    refused(
        &["--update", "old.parquet", "--sample", "cap=8"],
        &["--sample", "exact"],
    );
    refused(&[], &["needs --update"]);
    count(at, &["old.txt", "--update", "old.parquet"])
        .failure()
        .stderr(contains("nothing changes"));
    refused(&["--update", "lost.parquet"], &["lost.parquet"]);
    let text = read(at, "old.txt");
    count(at, &["old.txt", "-o", "old.tsv"]).success();
    let counts = read(at, "old.tsv").replacen("\t1\t", "\t2\t", 1);
    fs::write(at.join("old.tsv"), counts).expect("written");
    refused(
        &["--update", "old.tsv"],
        &["old.tsv", "where its other counts give"],
    );
    assert_eq!(text, OLD, "inputs stay as they are");
    updated(at, &["--update", "old.parquet", "-o", "added.txt", "-f"])
        .failure()
        .stderr(contains("is the input of --add"));
    assert!(
        !at.join("out.parquet").exists() && predicate::path::exists().eval(&at.join("old.parquet"))
    );
}
