//! `hone bench` through the real binary.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn hone() -> Command {
    Command::cargo_bin("hone").expect("the binary of this package")
}

#[test]
fn the_study_writes_json_tables_and_the_figure_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (work, path) = (folder.path().join("work"), |name: &str| {
        folder.path().join(name)
    });
    fs::create_dir(&work).expect("writable");
    let mut bench = hone();
    bench
        .args([
            "bench",
            "--sizes",
            "300,100",
            "--models",
            "er,rmat",
            "--set",
            "global.dim=16",
            "--temp-dir",
        ])
        .arg(&work);
    bench
        .arg("--json")
        .arg(path("s.json"))
        .arg("--markdown")
        .arg(path("s.md"))
        .arg("--svg")
        .arg(path("s.svg"));
    bench
        .assert()
        .success()
        .stdout(contains("Whole runs"))
        .stderr(contains("er of 100 nodes"));
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(path("s.json")).expect("written")).expect("JSON");
    let rows = json["tables"][0]["rows"].as_array().expect("a list");
    let names: Vec<&str> = rows.iter().filter_map(|row| row[0].as_str()).collect();
    // Nodes without an edge are not in the file.
    assert_eq!(names[..2], ["er N = 100", "er N = 300"]);
    assert!(
        names.len() == 4 && names[2..].iter().all(|name| name.starts_with("rmat N = ")),
        "{names:?}"
    );
    let peaks = rows.iter().map(|row| row[1][4]["mean"].as_f64());
    assert!(
        !cfg!(target_os = "linux") || peaks.clone().all(|peak| peak.is_some_and(|gb| gb > 0.001)),
        "{rows:?}"
    );
    let table = fs::read_to_string(path("s.md")).expect("written");
    for word in [
        "| read",
        "build",
        "| count",
        "operators",
        "products",
        "orthonormalisation",
        "Gram",
        "Z",
        "| write",
    ] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(
        table.contains("memory bandwidth") && table.contains("Memory traffic"),
        "{table}"
    );
    let figure = fs::read_to_string(path("s.svg")).expect("written");
    assert!(
        figure.starts_with("<?xml")
            && figure.contains("xmlns")
            && figure.matches("<polyline").count() == 2
    );
    assert_eq!(fs::read_dir(&work).expect("readable").count(), 0);
}

/// The process of a run ends with the study, even one that cannot clean up.
#[cfg(target_os = "linux")]
#[test]
fn a_study_that_is_killed_leaves_no_process() {
    use std::time::{Duration, Instant};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut study = std::process::Command::new(assert_cmd::cargo::cargo_bin("hone"))
        .args(["-q", "bench", "--sizes", "3000000", "--temp-dir"])
        .arg(folder.path())
        .spawn()
        .expect("starts");
    let status =
        |process: &str| fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let parent = format!("PPid:\t{}\n", study.id());
    let child = || {
        let all = fs::read_dir("/proc").expect("Linux");
        all.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .find(|process| status(process).contains(&parent))
    };
    let wait = |condition: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(60), "in vain");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait(&|| child().is_some());
    let child = child().expect("a run takes a while");
    study.kill().expect("killed");
    study.wait().expect("ends");
    // One that has ended may wait for the process that inherits it.
    wait(&|| {
        let status = status(&child);
        status.is_empty() || status.contains("State:\tZ")
    });
}

#[test]
fn a_run_that_fails_says_why() {
    let bench = hone()
        .args(["bench", "--sizes", "100", "--memory", "10k"])
        .assert()
        .failure();
    bench.stderr(contains("er of 100 nodes").and(contains("needs about")));
    hone()
        .args(["bench", "--max-nodes", "10"])
        .assert()
        .code(2)
        .stderr(contains("--max-nodes"));
}
