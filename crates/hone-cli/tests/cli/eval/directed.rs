//! Link prediction on directed graphs.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::{folder, hone};

/// Arcs as a file.
fn write(folder: &Path, arcs: impl IntoIterator<Item = (u32, u32)>) -> PathBuf {
    let path = folder.join("d.tsv");
    fs::write(
        &path,
        arcs.into_iter()
            .map(|(u, v)| format!("{u}\t{v}\n"))
            .collect::<String>(),
    )
    .expect("writable");
    path
}

/// Later nodes point to earlier ones.
fn downward() -> impl Iterator<Item = (u32, u32)> {
    (2..240u32).flat_map(|i| [(i, i / 2), (i, i * 7 % (i - 1)), (i, i / 3)])
}

/// Eight blocks of thirty nodes; arcs lead from random nodes of a block to random nodes of the next, six for each node.
fn block_cycle() -> impl Iterator<Item = (u32, u32)> {
    let mut state = 1u64;
    let mut below = move |n: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as u32) % n
    };
    (0..8 * 30 * 6u32).map(move |arc| {
        let block = arc % 8;
        (30 * block + below(30), 30 * ((block + 1) % 8) + below(30))
    })
}

fn link(path: &Path, more: &[&str]) -> Assert {
    hone()
        .args(["eval", "link"])
        .arg(path)
        .args(["--directed", "--seeds", "1"])
        .args(more)
        .assert()
}

/// A method, its AUC under each operator, and under the one that validation chose.
type Score = (String, Vec<(String, f64)>, f64);

/// The scores of every method.
fn scores(path: &Path, more: &[&str]) -> Vec<Score> {
    let found = link(path, &[more, &["--json"]].concat()).success();
    let report: Value = serde_json::from_slice(&found.get_output().stdout).expect("well formed");
    let (text, number) = (
        |v: &Value| v.as_str().unwrap_or_default().to_owned(),
        |v: &Value| v.as_f64().expect("a number"),
    );
    let runs = report["runs"]
        .as_array()
        .expect("every single result")
        .iter();
    runs.map(|run| {
        let results = run["results"].as_array().expect("one for each operator");
        let chosen = results
            .iter()
            .max_by(|a, b| number(&a["validation"]).total_cmp(&number(&b["validation"])));
        let all = results
            .iter()
            .map(|result| (text(&result["operator"]), number(&result["auc"])))
            .collect();
        (
            text(&run["method"]),
            all,
            number(&chosen.expect("an operator")["auc"]),
        )
    })
    .collect()
}

/// Reversed arcs are told from arcs, by operators that see directions; others are at a loss, and the command says so.
#[test]
fn links_of_directed_graphs_have_a_direction() {
    let folder = folder();
    let path = write(folder.path(), downward());
    let methods = [
        "--methods",
        "hone:dim=16,hope:dim=16,degree:columns=1",
        "--negatives",
        "reversed",
    ];
    let all = scores(&path, &methods);
    assert_eq!(
        all.iter().map(|method| &method.0).collect::<Vec<_>>(),
        ["hone:dim=16", "hope:dim=16", "degree:columns=1"]
    );
    for (method, by_operator, chosen) in &all {
        assert!(*chosen > 0.85, "{method}: {by_operator:?}");
    }
    for (method, by_operator, _) in scores(
        &path,
        &[&methods[..], &["--operators", "mean,difference"]].concat(),
    ) {
        assert!(
            (by_operator[0].1 - 0.5).abs() < 0.1,
            "{method} cannot: {by_operator:?}"
        );
        assert!(by_operator[1].1 > 0.85, "{method} can: {by_operator:?}");
    }
    let said = link(&path, &[&methods[..], &["--operators", "mean"]].concat());
    said.success()
        .stderr(contains("cannot tell which way").and(contains("cross or outer")));
}

/// Every node is a source and a target alike, so that a sum of what both are worth says nothing: products do.
#[test]
fn products_see_who_goes_with_whom() {
    let folder = folder();
    let path = write(folder.path(), block_cycle());
    let how = [
        "--negatives",
        "reversed",
        "--removed",
        "0.3",
        "--protocol",
        "train-graph",
    ];
    let all = scores(
        &path,
        &[&how[..], &["--methods", "hone:dim=32,hope:dim=32"]].concat(),
    );
    assert_eq!(all.len(), 2);
    for (method, by_operator, chosen) in all {
        let names: Vec<&str> = by_operator.iter().map(|one| one.0.as_str()).collect();
        assert_eq!(names, ["concat", "cross", "outer", "concat+cross"]);
        assert!(
            chosen > 0.9 && by_operator[0].1 < 0.6,
            "{method}: {chosen} of {by_operator:?}"
        );
    }
}

/// A common factor of all weights changes nothing.
#[test]
fn large_weights_are_weights() {
    let folder = folder();
    let auc = |factor: f64| {
        let arcs = downward()
            .enumerate()
            .map(|(i, (u, v))| format!("{u}\t{v}\t{}\n", factor * (1.0 + (i % 3) as f64)));
        let path = folder.path().join("w.tsv");
        fs::write(&path, arcs.collect::<String>()).expect("writable");
        scores(
            &path,
            &[
                "--weighted",
                "--methods",
                "hope:dim=8",
                "--negatives",
                "reversed",
            ],
        )[0]
        .2
    };
    let plain = auc(1.0);
    assert!(plain > 0.8, "{plain}");
    for factor in [1e8, 2f64.powi(100)] {
        assert!(
            (auc(factor) - plain).abs() < 0.005,
            "{factor}: {} and {plain}",
            auc(factor)
        );
    }
}

/// What cannot be done is refused in the words of the command, without notes about choices that nobody made.
#[test]
fn refusals_name_options() {
    let folder = folder();
    let plain = [
        "eval",
        "link",
        "builtin:karate",
        "--negatives",
        "reversed",
        "--seeds",
        "1",
        "--methods",
        "degree",
    ];
    let remedy = contains("--negatives: ").and(contains(
        "read it with --directed, or use --negatives random",
    ));
    hone()
        .args(plain)
        .assert()
        .code(2)
        .stderr(remedy.and(contains("cannot tell").not()));
    let mutual = write(
        folder.path(),
        downward()
            .filter(|arc| arc.0 != arc.1)
            .flat_map(|(u, v)| [(u, v), (v, u)]),
    );
    let said =
        contains("every arc has its reverse, so none can be reversed; use --negatives random");
    link(&mutual, &["--methods", "degree", "--negatives", "mixed"])
        .code(2)
        .stderr(said.clone());
    link(&mutual, &["--methods", "degree"])
        .success()
        .stderr(contains("pairs without an arc are random"));
    link(&mutual, &["--methods", "degree", "--negatives", "random"]).success();
    let split = folder.path().join("split");
    let run = |more: &[&str]| {
        hone()
            .args(["eval", "split", "--directed"])
            .arg(&mutual)
            .arg("-o")
            .arg(&split)
            .args(more)
            .assert()
    };
    run(&["--negatives", "reversed"]).code(2).stderr(said);
    assert!(!split.exists());
    run(&[]).success();
}

/// A split has the pairs that `eval link` would have, and says which they are.
#[test]
fn splits_have_the_pairs_of_link_prediction() {
    let folder = folder();
    let path = write(folder.path(), downward());
    let split = |name: &str, more: &[&str]| {
        let to = folder.path().join(name);
        hone()
            .args(["eval", "split"])
            .arg(&path)
            .arg("-o")
            .arg(&to)
            .args(more)
            .assert()
            .success();
        let read = |file: &str| fs::read_to_string(to.join(file)).expect("written");
        let about: Value = serde_json::from_str(&read("split.json")).expect("well formed");
        let pairs: Vec<(String, String, bool)> = read("pairs.tsv")
            .lines()
            .skip(1)
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .map(|fields| (fields[0].to_owned(), fields[1].to_owned(), fields[2] == "1"))
            .collect();
        let turned = pairs
            .iter()
            .filter(|(u, v, arc)| !arc && pairs.contains(&(v.clone(), u.clone(), true)))
            .count();
        let negatives = pairs.iter().filter(|pair| !pair.2).count();
        (
            about["negatives"].as_str().unwrap_or_default().to_owned(),
            turned as f64 / negatives as f64,
        )
    };
    let (usual, share) = split("usual", &["--directed"]);
    assert!(
        usual == "mixed" && (share - 0.5).abs() < 0.02,
        "{usual}: {share}"
    );
    assert_eq!(
        split("reversed", &["--directed", "--negatives", "reversed"]),
        ("reversed".into(), 1.0)
    );
    let (random, share) = split("random", &["--directed", "--negatives", "random"]);
    assert!(random == "random" && share < 0.05, "{random}: {share}");
    assert_eq!(split("plain", &[]), ("random".into(), 0.0));
}
