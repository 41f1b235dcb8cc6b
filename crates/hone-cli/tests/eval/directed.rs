//! Link prediction on directed graphs.

use std::fs;

use predicates::str::contains;

use super::{folder, hone};

/// Reversed arcs are told from arcs, by operators that see directions.
#[test]
fn links_of_directed_graphs_have_a_direction() {
    let folder = folder();
    let path = folder.path().join("d.tsv");
    let arcs = (2..240u32).flat_map(|i| [(i, i / 2), (i, i * 7 % (i - 1)), (i, i / 3)]);
    fs::write(&path, arcs.map(|(u, v)| format!("{u}\t{v}\n")).collect::<String>()).expect("writable");
    let eval = |more: &[&str]| {
        let usual = ["--directed", "--seeds", "1", "--methods", "hone:dim=32,hope:dim=32"];
        hone().args(["eval", "link"]).arg(&path).args(usual).args(more).assert()
    };
    let found = eval(&["--negatives", "reversed", "--json", "-"]).success();
    let text = String::from_utf8_lossy(&found.get_output().stdout).into_owned();
    assert!(text.contains("hone:dim=32") && text.contains("hope:dim=32") && text.contains("reversed"), "{text}");
    eval(&["--operators", "concat,difference,cross"]).success();
    eval(&["--operators", "mean"]).success().stderr(contains("cannot tell which way"));
    let plain = ["eval", "link", "builtin:karate", "--negatives", "reversed", "--seeds", "1", "--methods", "degree"];
    hone().args(plain).assert().code(2).stderr(contains("negatives"));
}
