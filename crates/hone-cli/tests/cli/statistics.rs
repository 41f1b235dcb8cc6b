//! `hone significance`, `coefficients`, `compare`, `cluster` and `list motifs`.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn hone(folder: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("hone").expect("the binary of this package");
    command.current_dir(folder).args(args).assert()
}

fn printed(folder: &Path, args: &[&str]) -> String {
    let run = hone(folder, args).success();
    String::from_utf8(run.get_output().stdout.clone()).expect("text")
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&printed(folder, args)).expect("JSON")
}

/// A feed-forward loop, a mutual pair that points at it, and a node of its own.
const ARCS: &str = "a b\nb c\na c\nd e\ne d\nd a\n";

#[test]
fn the_census_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("arcs.txt"), ARCS).expect("written");
    let args = [
        "count",
        "arcs.txt",
        "--directed",
        "--motifs",
        "triads",
        "--per",
        "total",
    ];
    let census = printed(folder.path(), &args);
    let count = |name: &str| {
        let line = census
            .lines()
            .find(|line| line.starts_with(name))
            .expect("a line");
        line.split_whitespace()
            .nth(1)
            .expect("a count")
            .parse::<u64>()
            .expect("a number")
    };
    assert_eq!(
        (count("030T"), count("003"), count("012"), count("102")),
        (1, 0, 4, 2)
    );
    let triads: Vec<&str> = census
        .lines()
        .skip(3)
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        (
            triads.len(),
            triads.iter().map(|name| count(name)).sum::<u64>()
        ),
        (16, 10)
    );
    // By edge they have no counts, and a part of the set is no census.
    let edges = printed(
        folder.path(),
        &["count", "arcs.txt", "--directed", "--motifs", "triads"],
    );
    assert!(!edges.contains("003"));
}

#[test]
fn random_graphs_are_those_of_the_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |more: &[&str]| {
        json(
            folder.path(),
            &[
                &["significance", "builtin:karate", "--json", "--random", "30"],
                more,
            ]
            .concat(),
        )
    };
    let found = run(&[]);
    assert_eq!(found, run(&["--threads", "1"]));
    assert_ne!(found["motifs"], run(&["--seed", "1"])["motifs"]);
    assert_eq!(
        (&found["null_model"], &found["switching"]["mixed"]),
        (&"degrees".into(), &true.into())
    );
    assert_eq!(found["motifs"].as_array().map(Vec::len), Some(8));
    hone(
        folder.path(),
        &["significance", "builtin:karate", "--random", "10"],
    )
    .success()
    .stdout(contains("triangle"))
    .stderr(contains("attempts to switch per edge"));
}

#[test]
fn what_cannot_be_compared_is_refused_by_option() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |args: &[&str], message: &str| {
        hone(folder.path(), args)
            .code(2)
            .stderr(contains(message.to_owned()));
    };
    refused(&["significance", "builtin:star"], "--null-model");
    refused(
        &["significance", "builtin:karate", "--random", "1"],
        "--random",
    );
    refused(
        &[
            "significance",
            "builtin:karate",
            "--null-model",
            "reciprocity",
        ],
        "directed graphs",
    );
    refused(
        &["cluster", "builtin:karate", "--motif", "tringle"],
        "--motif",
    );
    refused(&["cluster", "builtin:petersen"], "does not occur");
    refused(&["cluster", "builtin:karate", "--node", "99"], "--node");
    refused(&["compare", "builtin:karate"], "GRAPH");
    // A complete graph is like all others of its size: nothing varies.
    let path = folder.path().join("all.tsv");
    fs::write(path, "a b\na c\na d\nb c\nb d\nc d\n").expect("written");
    let args = [
        "significance",
        "all.tsv",
        "--null-model",
        "er",
        "--random",
        "5",
    ];
    let shown = printed(folder.path(), &args);
    assert!(shown.contains('–') && !shown.contains("NaN") && !shown.contains("inf"));
}

#[test]
fn coefficients_of_nodes_are_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    hone(
        folder.path(),
        &["coefficients", "builtin:karate", "-o", "x.tsv"],
    )
    .success();
    let table = fs::read_to_string(folder.path().join("x.tsv")).expect("written");
    assert!(
        table.starts_with("id\tclustering\tclustering-3\tsquare-clustering\tclosure\n0\t0.15\t")
    );
    assert_eq!(table.lines().count(), 35);
    hone(
        folder.path(),
        &["coefficients", "builtin:karate", "-o", "x.tsv"],
    )
    .failure();
    let of_graph = json(folder.path(), &["coefficients", "builtin:karate", "--json"]);
    let mean = of_graph[0]["mean"].as_f64().expect("a number");
    assert!((mean - 0.5706).abs() < 1e-4);
    hone(
        folder.path(),
        &["coefficients", "builtin:karate", "-o", "x.npy"],
    )
    .code(2);
}

#[test]
fn graphs_are_like_themselves() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = [
        "compare",
        "builtin:karate",
        "builtin:grid",
        "builtin:karate",
        "--json",
    ];
    let found = json(folder.path(), &args);
    assert_eq!(
        (&found["gcd11"][0][2], &found["agreement"][0][2]),
        (&Value::from(0.0), &Value::from(1.0))
    );
    assert!(found["gcd11"][0][1].as_f64() > Some(0.5));
    assert_eq!(found["graphs"][1], "builtin:grid");
}

#[test]
fn clusters_are_ids() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("g.tsv"),
        "a b\nb c\nc a\nc d\nd e\ne f\nf d\n",
    )
    .expect("written");
    hone(folder.path(), &["cluster", "g.tsv", "--node", "b"])
        .success()
        .stdout("a\nb\nc\n")
        .stderr(contains("conductance 0.0000"));
    // As in a file of --node-list.
    fs::write(
        folder.path().join("q.csv"),
        "\"#a\",id\nid,\"c \"\n\"c \",\"#a\"\nx,y\ny,z\nz,x\n",
    )
    .expect("written");
    let args = ["cluster", "q.csv", "--node", "#a", "--no-header"];
    hone(folder.path(), &args)
        .success()
        .stdout("\"#a\"\n\"id\"\n\"c \"\n");
    let found = json(
        folder.path(),
        &["cluster", "g.tsv", "--motif", "edge", "--json"],
    );
    assert_eq!(
        (&found["cut"], &found["volume"]),
        (&Value::from(1.0), &Value::from(7.0))
    );
}

#[test]
fn motifs_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    hone(folder.path(), &["list", "motifs"])
        .success()
        .stdout(contains("triangle ").and(contains("030T ")));
    hone(folder.path(), &["list", "motifs", "--table"])
        .success()
        .stdout(contains("A → B → C, A → C").and(contains("M5")));
    assert_eq!(
        json(folder.path(), &["list", "motifs", "--table", "--json"])[0]["number"],
        "G0"
    );
}

#[test]
fn motifs_have_numbers_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = |args: &[&str]| {
        printed(folder.path(), args)
            .lines()
            .next()
            .map(str::to_owned)
    };
    let count = ["count", "builtin:karate", "--numbers"];
    let edges = first(&[&count[..], &["--motifs", "triangle,path4,edge,E5"]].concat());
    assert_eq!(edges.as_deref(), Some("source\ttarget\tE1\tG3\tedge\tE5"));
    let nodes = first(&[&count[..], &["--per", "node"]].concat()).expect("a line");
    assert!(nodes.starts_with("id\t0\t1\t2\t") && nodes.ends_with("\t14"));
    let totals = printed(
        folder.path(),
        &[&count[..], &["--per", "total", "--motifs", "graphlets"]].concat(),
    );
    assert!(totals.contains("\nG8 "));
    let args = [
        "significance",
        "builtin:karate",
        "--random",
        "3",
        "--numbers",
    ];
    assert!(printed(folder.path(), &args).contains("\nG2 "));
    // What is written by number is read back.
    hone(folder.path(), &[&count[..], &["-o", "c.tsv"]].concat()).success();
    fs::write(folder.path().join("new.tsv"), "9 16\n").expect("written");
    let update = [
        "count",
        "builtin:karate",
        "--update",
        "c.tsv",
        "--add",
        "new.tsv",
        "--per",
        "total",
    ];
    hone(folder.path(), &update)
        .success()
        .stdout(contains("edge "));
}
