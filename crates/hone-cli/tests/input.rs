//! Reading graphs through the real binary: every format there and back, notes, and bad input.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};

fn hone() -> Command {
    Command::cargo_bin("hone").expect("the binary of this package")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Nodes and edges as `hone info` sees them.
fn size(arguments: &[&str], dir: &Path) -> (u64, u64) {
    let run = hone().current_dir(dir).arg("info").args(arguments).arg("--json").assert().success();
    let json: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    (json["nodes"].as_u64().expect("a number"), json["edges"].as_u64().expect("a number"))
}

#[test]
fn every_format_there_and_back() {
    let dir = folder();
    for name in ["a.tsv", "a.csv", "a.txt", "a.mtx", "a.graph", "a.parquet", "a.tsv.gz", "a.csv.zst", "a.mtx.gz"] {
        let arguments = ["generate", "er", "--nodes", "60", "--degree", "20", "-o", name];
        hone().current_dir(dir.path()).args(arguments).assert().success();
        assert_eq!(size(&[name], dir.path()), size(&["a.tsv"], dir.path()), "{name}");
    }
    assert_eq!(size(&["a.mtx"], dir.path()).0, 60);
}

#[test]
fn standard_input_and_what_was_dropped() {
    let list = "1 2 0.5\n2 1 0.5\n3 3 1\n2 3 1\n";
    let run = hone().args(["info", "-"]).write_stdin(list).assert().success();
    let note = "note: dropped 1 self-loop, 1 duplicate edge, 4 weights (--weighted keeps weights)\n";
    run.stdout(contains("nodes               3\nedges               2\n")).stderr(note);
    let quiet = hone().args(["info", "-", "--quiet"]).write_stdin(list).assert().success();
    quiet.stdout(contains("self-loops dropped  1\nduplicates dropped  1\n")).stderr(is_empty());
    let kept = hone().args(["info", "-", "--weighted", "--directed"]).write_stdin(list).assert().success();
    kept.stdout(contains("edges               3\n").and(contains("weighted            yes\n")));
}

#[test]
fn columns_delimiters_and_node_lists() {
    let dir = folder();
    fs::write(dir.path().join("a.csv"), "when;from;to\n1;x;y\n2;y;z\n").expect("writable");
    fs::write(dir.path().join("nodes.txt"), "z\ny\nx\nw\n").expect("writable");
    let named = ["a.csv", "--delimiter", ";", "--source", "from", "--target", "to", "--nodes", "nodes.txt"];
    assert_eq!(size(&named, dir.path()), (4, 2));
    let numbered = ["a.csv", "--header", "yes", "--source", "1", "--target", "2"];
    assert_eq!(size(&numbered, dir.path()), (3, 2));
    fs::write(dir.path().join("b.csv"), "x\ty\n").expect("writable");
    assert_eq!(size(&["b.csv", "--delimiter", "tab", "--header", "no"], dir.path()), (2, 1));
    let wrong = hone().args(["info", "a.csv", "--delimiter", "ab"]).assert().code(2);
    wrong.stderr(contains("one character"));
}

/// Exit code 2, nothing on standard output, one line on standard error that names the file.
fn refused(arguments: &[&str], dir: &Path, name: &str) {
    let run = hone().current_dir(dir).arg("info").args(arguments).assert();
    let output = run.get_output();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
    assert!(output.stdout.is_empty(), "{name}");
    assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1 && stderr.contains(name), "{name}: {stderr}");
}

#[test]
fn missing_files_and_folders() {
    let dir = folder();
    refused(&["nowhere.tsv"], dir.path(), "nowhere.tsv");
    refused(&["."], dir.path(), ".");
    fs::write(dir.path().join("a.tsv"), "1\t2\n").expect("writable");
    refused(&["a.tsv", "--nodes", "nowhere.txt"], dir.path(), "nowhere.txt");
}

#[test]
fn every_mangled_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hone/tests/mangled");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the library's mangled files") {
        let name = entry.expect("readable").file_name().to_string_lossy().into_owned();
        let weighted: &[&str] = if name.starts_with("weighted-") { &["--weighted"] } else { &[] };
        refused(&[&[name.as_str()], weighted].concat(), &folder, &name);
        count += 1;
    }
    assert!(count >= 40, "only {count} mangled files");
}
