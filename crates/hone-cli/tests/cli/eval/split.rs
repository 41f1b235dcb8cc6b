//! `hone eval split`: files for other tools.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, hone};

#[test]
fn a_split_serves_other_tools() {
    let folder = folder();
    let split = folder.path().join("split");
    hone()
        .args(["eval", "split", "builtin:karate", "-o"])
        .arg(&split)
        .assert()
        .success();
    let lines = |name: &str| {
        fs::read_to_string(split.join(name))
            .expect("written")
            .lines()
            .count()
    };
    assert_eq!(
        (lines("train.tsv"), lines("nodes.txt"), lines("pairs.tsv")),
        (39, 34, 79)
    );
    let about: serde_json::Value =
        serde_json::from_slice(&fs::read(split.join("split.json")).expect("written"))
            .expect("well formed");
    assert_eq!(
        (
            &about["seed"],
            &about["graph"]["edges"],
            &about["train"]["edges"]
        ),
        (&0.into(), &78.into(), &39.into())
    );
    let vectors = folder.path().join("z.npy");
    let embed = |graph: &[&std::ffi::OsStr]| {
        let mut embed = hone();
        embed
            .arg("embed")
            .args(graph)
            .arg("-o")
            .arg(&vectors)
            .args(["--preset", "hone-p", "--dim", "4", "-qf"]);
        embed.assert().success();
    };
    let judge = |more: &[&str]| {
        let mut judge = hone();
        judge
            .args([
                "eval",
                "link",
                "builtin:karate",
                "--methods",
                "random",
                "--embedding",
            ])
            .arg(&vectors);
        judge.args(more).assert()
    };
    embed(&[
        split.join("train.tsv").as_os_str(),
        "--node-list".as_ref(),
        split.join("nodes.txt").as_os_str(),
    ]);
    judge(&["--seeds", "1"])
        .success()
        .stdout(contains("z.npy"))
        .stderr(contains("meaningless").not());
    judge(&["--seeds", "2"])
        .code(2)
        .stderr(contains("another split than that of seed 1"));
    embed(&["builtin:karate".as_ref()]);
    judge(&["--seeds", "1"])
        .code(2)
        .stderr(contains("whole graph").and(contains("hone eval split INPUT --seed 0")));
    fs::remove_file(folder.path().join("z.npy.run.json")).expect("removed");
    judge(&["--seeds", "1"])
        .success()
        .stdout(contains("nothing says"))
        .stderr(contains("nothing says"));
    hone()
        .args(["generate", "er", "--nodes", "200", "--degree", "6", "-qo"])
        .arg(folder.path().join("er.tsv"))
        .assert()
        .success();
    embed(&[folder.path().join("er.tsv").as_os_str()]);
    judge(&["--seeds", "1"])
        .code(2)
        .stderr(contains("another graph").and(contains(
            "rows are of nodes that the graph does not have (`",
        )));
}

/// Ids that would be comments, several columns, blanks or headers, through one command after the other.
#[test]
fn a_split_keeps_every_id() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let ids = [
        "#a",
        "%b",
        "tab\there",
        " blank",
        "q\"uote",
        "source",
        "target",
        "comma,",
        "semi;colon",
        "id",
        "7",
        "ü",
        "a|b",
    ];
    let quoted = |id: &str| format!("\"{}\"", id.replace('"', "\"\""));
    let mut graph = String::from("source\ttarget\n");
    for (i, step) in (0..ids.len()).flat_map(|i| (1..4).map(move |step| (i, step))) {
        graph.push_str(&format!(
            "{}\t{}\n",
            quoted(ids[i]),
            quoted(ids[(i + step) % ids.len()])
        ));
    }
    fs::write(path("g.tsv"), &graph).expect("written");
    hone()
        .args(["eval", "split", "--removed", "0.2", "-o"])
        .arg(path("s"))
        .arg(path("g.tsv"))
        .assert()
        .success();
    let info = |args: &[&std::ffi::OsStr]| {
        let output = hone()
            .arg("info")
            .args(args)
            .args(["--json", "-q"])
            .assert()
            .success()
            .get_output()
            .stdout
            .clone();
        let json: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
        (json["nodes"].as_u64(), json["edges"].as_u64())
    };
    let (train, nodes) = (path("s/train.tsv"), path("s/nodes.txt"));
    let kept = 39 - 8;
    assert_eq!(info(&[train.as_os_str()]), (Some(13), Some(kept)));
    assert_eq!(
        info(&[train.as_os_str(), "--node-list".as_ref(), nodes.as_os_str()]),
        (Some(13), Some(kept))
    );
    let mut embed = hone();
    embed
        .arg("embed")
        .arg(&train)
        .arg("--node-list")
        .arg(&nodes)
        .args(["--preset", "hone-p", "--dim", "3", "-qo"]);
    embed.arg(path("z.tsv")).assert().success();
    let mut judge = hone();
    judge
        .args([
            "eval",
            "link",
            "--removed",
            "0.2",
            "--seeds",
            "1",
            "--methods",
        ])
        .arg(format!("file:{}", path("z.tsv").display()));
    judge
        .arg(path("g.tsv"))
        .assert()
        .success()
        .stderr(contains("vectors").not());
}

#[test]
fn a_refused_split_leaves_no_file() {
    let folder = folder();
    let split = folder.path().join("s");
    fs::create_dir(&split).expect("made");
    fs::write(split.join("pairs.tsv"), "mine").expect("written");
    let run = |more: &[&str]| {
        hone()
            .args(["eval", "split", "builtin:karate", "-o"])
            .arg(&split)
            .args(more)
            .assert()
    };
    run(&[])
        .code(2)
        .stderr(contains("pairs.tsv").and(contains("exists")));
    assert_eq!(fs::read_dir(&split).expect("listed").count(), 1);
    run(&["--force"]).success();
    assert_eq!(fs::read_dir(&split).expect("listed").count(), 4);
}

#[test]
fn weights_are_kept_in_a_split_and_what_is_not_used_is_told() {
    let folder = folder();
    let (graph, split) = (folder.path().join("w.tsv"), folder.path().join("split"));
    let edges: String = (0..30)
        .map(|i| format!("{}\t{}\t{}.5\n", i % 10, (i * 7 + 3) % 11, i))
        .collect();
    fs::write(&graph, format!("{edges}4\t4\t1\n")).expect("written");
    hone()
        .args(["eval", "split", "--weighted"])
        .arg(&graph)
        .arg("-o")
        .arg(&split)
        .assert()
        .success();
    let train = fs::read_to_string(split.join("train.tsv")).expect("written");
    assert!(
        train.lines().count() > 5 && train.lines().all(|line| line.split('\t').count() == 3),
        "{train}"
    );
    let mut link = hone();
    link.args([
        "eval",
        "link",
        "--seeds",
        "1",
        "--methods",
        "hone-p:global.dim=4,degree",
        "--weighted",
    ])
    .arg(&graph);
    link.assert()
        .success()
        .stderr(contains("self-loops").and(contains("degree uses no weights")));
}
