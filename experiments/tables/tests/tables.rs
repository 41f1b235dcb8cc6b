//! `hone-tables` as it is run to make the tables.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

#[path = "../../../crates/hone/tests/library/skip.rs"]
mod skip;

fn tables() -> Command {
    Command::cargo_bin("hone-tables").expect("the binary of this package")
}

/// The command that the scaling study runs, if it has been built.
fn has_hone() -> bool {
    let built = assert_cmd::cargo::cargo_bin("hone").exists();
    if !built {
        skip::skip("the command `hone` has not been built");
    }
    built
}

#[test]
fn the_scaling_study_writes_json_tables_and_the_figure_and_leaves_nothing() {
    if !has_hone() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (work, path) = (folder.path().join("work"), |name: &str| {
        folder.path().join(name)
    });
    fs::create_dir(&work).expect("writable");
    tables()
        .args(["scaling", "--sizes", "300,100", "--models", "er,rmat"])
        .args(["--set", "global.dim=16", "--temp-dir"])
        .arg(&work)
        .arg("--json")
        .arg(path("s.json"))
        .arg("--markdown")
        .arg(path("s.md"))
        .arg("--svg")
        .arg(path("s.svg"))
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
        "memory bandwidth",
        "Memory traffic",
    ] {
        assert!(table.contains(word), "{word}: {table}");
    }
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

    if !has_hone() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut study = std::process::Command::new(assert_cmd::cargo::cargo_bin("hone-tables"))
        .args(["scaling", "--sizes", "3000000", "--temp-dir"])
        .arg(folder.path())
        .spawn()
        .expect("starts");
    let status =
        |process: &str| fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let parent = format!("PPid:\t{}\n", study.id());
    let child = || {
        let all = fs::read_dir("/proc").expect("Linux");
        all.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .find(|process| {
                let status = status(process);
                status.starts_with("Name:\thone\n") && status.contains(&parent)
            })
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
    if has_hone() {
        tables()
            .args(["scaling", "--sizes", "100", "--memory", "10k"])
            .assert()
            .failure()
            .stderr(contains("er of 100 nodes").and(contains("needs about")));
    }
    for (args, part) in [
        (&["scaling", "--max-nodes", "10"][..], "--max-nodes"),
        (
            &["paper", "--data", "nowhere"],
            "none of the paper's graphs",
        ),
        (
            &["runtime", "--methods", "katz", "--sizes", "100"],
            "no vectors",
        ),
        (
            &["runtime", "--methods", "spectral:dim=1|2", "--sizes", "100"],
            "several candidates",
        ),
    ] {
        tables()
            .args(args)
            .assert()
            .failure()
            .stderr(contains(part));
    }
}

#[test]
fn sizes_that_no_machine_holds_are_refused() {
    for sizes in ["18446744073709551615", "4294967296", "4294967295"] {
        tables()
            .args(["runtime", "--methods", "degree", "--sizes", sizes])
            .assert()
            .failure()
            .stderr(contains("--sizes").and(contains(sizes)));
    }
}

#[test]
fn run_times_have_an_exponent() {
    tables()
        .args(["runtime", "--methods", "degree", "--sizes", "100,1000"])
        .assert()
        .success()
        .stdout(contains("N = 1000").and(contains("exponent")));
}

#[test]
fn results_of_the_paper_are_written_where_asked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Twenty cliques of five in a ring.
    let clique = |i: u32| (0..5).flat_map(move |u| (0..u).map(move |v| (5 * i + u, 5 * i + v)));
    let ring = (0..20).map(|i| (5 * i, (5 * i + 6) % 100));
    let edges: String = (0..20)
        .flat_map(clique)
        .chain(ring)
        .map(|(u, v)| format!("{u} {v}\n"))
        .collect();
    fs::write(folder.path().join("soc-hamsterster.edges"), edges).expect("written");
    tables()
        .current_dir(folder.path())
        .args(["paper", "--data", ".", "--printed", "--largest", "0"])
        .args([
            "--seeds",
            "1",
            "--methods",
            "degree,hone-p:dim=8",
            "--write",
            "r.md",
        ])
        .assert()
        .success()
        .stdout(contains("Table 1, ours"));
    tables()
        .current_dir(folder.path())
        .args(["paper", "--data", ".", "--skip", "hamster"])
        .assert()
        .failure()
        .stderr(contains("`hamster`").and(contains("soc-wiki-Vote")));
    let written = fs::read_to_string(folder.path().join("r.md")).expect("written");
    assert!(written.starts_with("# Results\n\nWritten by `hone-tables paper"));
    assert!(written.contains("How to read this") && written.contains("Table 1, the paper's"));
}
