//! Attributes of the user's own and `hone features`, through the real binary.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};

/// Nodes of the ring.
const RING: usize = 60;

fn hone() -> Command {
    Command::cargo_bin("hone").expect("the binary of this package")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The class of a node of the ring: nothing in the structure tells it.
fn class(i: usize) -> usize {
    ((i as u32).wrapping_mul(2_654_435_761) >> 10 & 1) as usize
}

/// A ring, all of whose nodes look alike, and a table that knows their classes: two noisy numbers and
/// a word, in another order than the graph's, with a stranger.
fn attributed_ring(folder: &Path) {
    let edges: String = (0..RING)
        .map(|i| format!("n{i}\tn{}\n", (i + 1) % RING))
        .collect();
    fs::write(folder.join("ring.tsv"), edges).expect("writable");
    let mut table = String::from("id,size,age,colour\nstranger,9,9,pink\n");
    for i in (0..RING).rev() {
        let noise = (i * 37 % 11) as f32 / 22.0;
        let colour = ["red", "blue"][class(i)];
        table += &format!(
            "n{i},{},{},{colour}\n",
            class(i) as f32 * 2.0 + noise,
            50 - 10 * class(i) as i32 + (i % 3) as i32
        );
    }
    fs::write(folder.join("people.csv"), table).expect("writable");
}

fn vectors(path: &Path) -> Vec<Vec<f64>> {
    let table = fs::read_to_string(path).expect("written");
    let row = |line: &str| {
        line.split('\t')
            .skip(1)
            .map(|x| x.parse().expect("a number"))
            .collect()
    };
    table.lines().skip(1).map(row).collect()
}

/// Accuracy of logistic regression on half of the nodes, for each file of vectors.
fn accuracy(folder: &Path, files: &[&str]) -> Vec<f64> {
    let labels: String = (0..RING)
        .map(|i| format!("n{i}\tclass{}\n", class(i)))
        .collect();
    fs::write(folder.join("labels.tsv"), labels).expect("writable");
    let mut eval = hone();
    eval.current_dir(folder).args([
        "-q",
        "eval",
        "nodes",
        "ring.tsv",
        "--labels",
        "labels.tsv",
        "--methods",
        "degree",
    ]);
    eval.args(["--train", "50", "--csv"]);
    for file in files {
        eval.args(["--embedding", file]);
    }
    let run = eval.assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).expect("text");
    let of = |file: &&str| {
        let cells =
            |line: &str| line.contains("accuracy") && line.contains(&format!("file:{file}\""));
        let line = text
            .lines()
            .find(|line| cells(line))
            .unwrap_or_else(|| panic!("no {file} in {text}"));
        line.rsplit(',')
            .nth(4)
            .and_then(|mean| mean.parse().ok())
            .expect("a mean")
    };
    files.iter().map(of).collect()
}

#[test]
fn classes_that_only_attributes_know_are_found_with_them() {
    let folder = folder();
    attributed_ring(folder.path());
    let embed = |name: &str, more: &[&str]| {
        hone()
            .current_dir(folder.path())
            .args(["-q", "embed", "ring.tsv", "-o", name])
            .args(more)
            .assert()
            .success();
    };
    let paper = [
        "--preset",
        "hone-p",
        "--motifs",
        "edge,path3",
        "--dim",
        "24",
    ];
    let with = ["--attributes", "people.csv"];
    let keep = ["--set", "features.diffusion.original=true"];
    embed("paper.npy", &paper);
    embed("default.npy", &[]);
    embed("before.npy", &[&paper[..], &with, &keep].concat());
    embed(
        "after.npy",
        &[
            &paper[..],
            &with,
            &keep,
            &["--set", "features.combine=after"],
        ]
        .concat(),
    );
    embed("beside.npy", &with);
    let files = [
        "paper.npy",
        "default.npy",
        "before.npy",
        "after.npy",
        "beside.npy",
    ];
    let found = accuracy(folder.path(), &files);
    assert!(
        found[..2].iter().all(|&right| right < 0.7),
        "the structure knows nothing of the classes: {found:?}"
    );
    assert!(
        found[2..].iter().all(|&right| right > 0.9),
        "the attributes know the classes: {found:?}"
    );
}

#[test]
fn the_report_tells_of_the_file_and_repeats_the_run() {
    let folder = folder();
    attributed_ring(folder.path());
    let run = |args: &[&str]| {
        hone()
            .current_dir(folder.path())
            .args(args)
            .assert()
            .success()
    };
    let choices = [
        "--attributes",
        "people.csv",
        "--preset",
        "hone-l-norm+x",
        "--set",
        "attributes.table.missing=zero",
    ];
    let first = run(&[&["embed", "ring.tsv", "-o", "a.npy"][..], &choices].concat());
    first.stderr(contains("not in the graph, such as `stranger`"));
    run(&[
        "-q",
        "embed",
        "ring.tsv",
        "-o",
        "b.npy",
        "--config",
        "a.npy.run.json",
        "--threads",
        "3",
    ]);
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect("written");
    assert_eq!(bytes("a.npy"), bytes("b.npy"));
    let report: serde_json::Value = serde_json::from_slice(&bytes("a.npy.run.json")).expect("JSON");
    let facts = &report["attributes"];
    assert_eq!(
        (&facts["file"], &facts["rows"], &facts["features"]),
        (&"people.csv".into(), &61.into(), &4.into())
    );
    assert_eq!(
        (&facts["unknown_ids"], &facts["absent_nodes"]),
        (&1.into(), &0.into())
    );
    assert_eq!(report["config"]["attributes"]["file"], "people.csv");
    let groups = report["importance"].as_array().expect("a list").iter();
    let features = groups.filter(|part| {
        part["motif"]
            .as_str()
            .is_some_and(|name| name == "features:edge")
    });
    assert_eq!(
        features.count(),
        2,
        "one group of features per motif and step"
    );
    run(&[
        "-q",
        "features",
        "ring.tsv",
        "-o",
        "x.csv",
        "--config",
        "a.npy.run.json",
    ]);
    let header = fs::read_to_string(folder.path().join("x.csv")).expect("written");
    assert!(
        header.starts_with("id,edge_degree,") && header.contains(",colour=red,"),
        "{}",
        &header[..100]
    );
}

#[test]
fn features_are_what_counting_gives() {
    let folder = folder();
    let run = |args: &[&str]| {
        hone()
            .current_dir(folder.path())
            .args(args)
            .assert()
            .success()
    };
    run(&["-q", "count", "builtin:karate", "-o", "edges.tsv"]);
    run(&[
        "-q",
        "features",
        "builtin:karate",
        "-o",
        "x.tsv",
        "--aggregates",
        "none",
        "--no-log",
    ]);
    let mut sums = vec![vec![0.0; 13]; 34];
    for row in fs::read_to_string(folder.path().join("edges.tsv"))
        .expect("written")
        .lines()
        .skip(1)
    {
        let fields: Vec<usize> = row
            .split('\t')
            .map(|x| x.parse().expect("a count"))
            .collect();
        for end in &fields[..2] {
            sums[*end]
                .iter_mut()
                .zip(&fields[2..])
                .for_each(|(sum, &count)| *sum += count as f64);
        }
    }
    assert_eq!(vectors(&folder.path().join("x.tsv")), sums);
    run(&[
        "-q",
        "features",
        "builtin:karate",
        "-o",
        "m.tsv",
        "--motifs",
        "edge",
        "--aggregates",
        "max",
        "--no-log",
    ]);
    let table = fs::read_to_string(folder.path().join("m.tsv")).expect("written");
    assert!(
        table.starts_with("id\tedge_degree\tmax_edge_degree\n0\t16.0\t10.0\n"),
        "{table}"
    );
}

#[test]
fn features_in_every_format_come_back_as_attributes() {
    let folder = folder();
    let run = |args: &[&str]| {
        hone()
            .current_dir(folder.path())
            .args(args)
            .assert()
            .success()
    };
    run(&["-q", "features", "builtin:florentine", "-o", "x.tsv"]);
    let table = fs::read(folder.path().join("x.tsv")).expect("written");
    for name in ["a.csv", "a.tsv.gz", "a.parquet", "a.npz", "a.csv.zst"] {
        run(&["-q", "features", "builtin:florentine", "-o", name]).stderr(is_empty());
        let again = [
            "-q",
            "features",
            "builtin:florentine",
            "--no-structure",
            "--attributes",
            name,
        ];
        let back = run(&again).get_output().stdout.clone();
        assert!(
            back == table,
            "{name}: {}",
            String::from_utf8_lossy(&back[..200])
        );
    }
    run(&["features", "builtin:florentine", "-o", "a.npy"])
        .stderr(contains("15 nodes × 52 features"));
    let run = hone()
        .current_dir(folder.path())
        .args(["features", "builtin:florentine", "-o", "a.npy"])
        .assert();
    run.code(2).stderr(contains("exists"));
}

#[test]
fn diffused_features_are_called_after_motif_and_step() {
    let choices = [
        "--motifs",
        "edge",
        "--depth",
        "0",
        "--diffuse",
        "2",
        "--over",
        "edge,triangle",
        "--no-log",
    ];
    let run = hone()
        .args(["-q", "features", "builtin:star"])
        .args(choices)
        .assert()
        .success();
    let text = String::from_utf8(run.get_output().stdout.clone()).expect("text");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "id\tedge_degree\tedge_k1_edge_degree\tedge_k2_edge_degree\ttriangle_k1_edge_degree\ttriangle_k2_edge_degree"
        )
    );
    let centre: Vec<&str> = lines.next().expect("the centre").split('\t').collect();
    assert_eq!(
        &centre[2..],
        ["1.0", centre[1], "0.0", "0.0"],
        "P x, P² x; a star has no triangle"
    );
}

#[test]
fn bad_attributes_exit_with_2_and_write_nothing() {
    let folder = folder();
    attributed_ring(folder.path());
    fs::write(folder.path().join("bad.csv"), "id,age\nn1,7\nn2,old\n").expect("writable");
    let cases: [(&[&str], &str); 9] = [
        (&["--attributes", "absent.csv"], "absent.csv"),
        (
            &["--attributes", "bad.csv"],
            "bad.csv, line 3: column `age`",
        ),
        (&["--attributes", "-"], "standard input"),
        (&["--attributes", "."], "directory"),
        (
            &["--attributes", "people.csv", "--attribute-id", "nme"],
            "`nme`",
        ),
        (
            &["--attributes", "people.csv", "--attribute-id", "1"],
            "node",
        ),
        (
            &[
                "--attributes",
                "people.csv",
                "--set",
                "attributes.table.sep=;",
            ],
            "sep",
        ),
        (
            &[
                "--attributes",
                "people.csv",
                "--set",
                "attributes.table.missing=guess",
            ],
            "guess",
        ),
        (
            &["--attributes", "people.csv", "--memory", "1k"],
            "--memory",
        ),
    ];
    for (args, named) in cases {
        for command in ["embed", "features"] {
            let run = hone()
                .current_dir(folder.path())
                .args([command, "ring.tsv", "-o", "out.tsv"])
                .args(args)
                .assert();
            run.code(2)
                .stdout(is_empty())
                .stderr(contains("error").and(contains(named)));
            assert!(!folder.path().join("out.tsv").exists(), "{args:?}");
        }
    }
    hone()
        .args(["features", "builtin:karate", "--no-structure"])
        .assert()
        .code(2)
        .stderr(contains("--attributes"));
    hone()
        .args(["features", "builtin:karate", "--aggregates", "mode"])
        .assert()
        .code(2)
        .stderr(contains("sum, mean"));
}

/// A run is repeated with the attributes and the nodes that it had, or says that it is not.
#[test]
fn changed_attributes_and_node_lists_are_not_repeated_in_silence() {
    let folder = folder();
    attributed_ring(folder.path());
    let nodes: String = (0..=RING).map(|i| format!("n{i}\n")).collect();
    fs::write(folder.path().join("nodes.txt"), &nodes).expect("writable");
    let run = |args: &str| {
        hone()
            .current_dir(folder.path())
            .args(args.split(' '))
            .assert()
    };
    run("-q embed ring.tsv -o a.npy --dim 8 --attributes people.csv --node-list nodes.txt")
        .success();
    run("-q features ring.tsv -o x.csv --attributes people.csv --node-list nodes.txt").success();
    run("-q embed -o b.npy --config a.npy.run.json").success();
    let people = fs::read_to_string(folder.path().join("people.csv")).expect("text");
    fs::write(folder.path().join("moved.csv"), &people).expect("writable");
    run("-q embed -o c.npy --config a.npy.run.json --attributes moved.csv").success();
    // The same length, and another length.
    for changed in [
        people.replacen("red", "tan", 1),
        people.replacen("blue", "green", 1),
    ] {
        fs::write(folder.path().join("people.csv"), &changed).expect("writable");
        for (command, record) in [("embed", "a.npy.run.json"), ("features", "x.csv.run.json")] {
            let refused = run(&format!("{command} -o d.csv --config {record}")).code(2);
            refused.stderr(
                contains(format!("people.csv: not the attributes of {record}"))
                    .and(contains("--changed allow")),
            );
            assert!(!folder.path().join("d.csv").exists());
            let allowed = run(&format!(
                "{command} -f -o e.csv --config {record} --changed allow"
            ))
            .success();
            allowed.stderr(contains(format!(
                "note: people.csv: not the attributes of {record}"
            )));
        }
    }
    fs::write(folder.path().join("people.csv"), &people).expect("writable");
    fs::write(
        folder.path().join("nodes.txt"),
        nodes.replace("n3\n", "n3\nn99\n"),
    )
    .expect("writable");
    run("embed -o d.npy --config a.npy.run.json")
        .code(2)
        .stderr(contains("61 nodes and 60 edges then, 62 nodes"));
    let turned: String = (0..=RING).rev().map(|i| format!("n{i}\n")).collect();
    fs::write(folder.path().join("nodes.txt"), turned).expect("writable");
    run("embed -o d.npy --config a.npy.run.json")
        .code(2)
        .stderr(contains("another order of nodes"));
    // Arrays have their ids beside them.
    run("-q features ring.tsv -o own.npy --depth 0").success();
    fs::remove_file(folder.path().join("own.npy.run.json")).expect("there");
    run("-q embed ring.tsv -o f.npy --dim 8 --attributes own.npy").success();
    let ids = fs::read_to_string(folder.path().join("own.ids.txt")).expect("text");
    fs::write(
        folder.path().join("own.ids.txt"),
        ids.replace("n1\n", "n?\n")
            .replace("n2\n", "n1\n")
            .replace("n?\n", "n2\n"),
    )
    .expect("writable");
    run("embed -o g.npy --config f.npy.run.json")
        .code(2)
        .stderr(contains("own.ids.txt has different content"));
}

/// A model places a node without edges by its attributes; the record of that repeats it, with the same attributes only.
#[test]
fn models_take_attributes_of_new_nodes() {
    let folder = folder();
    attributed_ring(folder.path());
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
    let nodes: String = (0..RING).map(|i| format!("n{i}\n")).collect();
    write("nodes.txt", &format!("{nodes}new\n")).expect("writable");
    let new = "id,size,age,colour\nnew,2.1,40,blue\n";
    write("new.csv", new).expect("writable");
    let run = |args: &str| {
        hone()
            .current_dir(folder.path())
            .args(args.split(' '))
            .assert()
    };
    run("-q embed ring.tsv -o a.tsv --dim 16 --attributes people.csv --save-model m.hone")
        .success();
    let like = "-q place ring.tsv --node-list nodes.txt --model m.hone";
    run(&format!("{like} -o b.tsv --attributes new.csv")).success();
    let text = fs::read_to_string(folder.path().join("b.tsv")).expect("written");
    let names: Vec<&str> = text.lines().next().expect("a header").split('\t').collect();
    let rows = vectors(&folder.path().join("b.tsv"));
    let is_zero = |start: &str| {
        let columns = names.iter().skip(1).zip(&rows[RING]);
        let mut some = columns.filter(|(name, _)| name.starts_with(start));
        some.all(|(_, &x)| x == 0.0)
    };
    assert!(is_zero("z") && !is_zero("attributes"), "{:?}", rows[RING]);
    run("-q place -o c.tsv --config b.tsv.run.json").success();
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect("written");
    assert_eq!(bytes("b.tsv"), bytes("c.tsv"));
    write("new.csv", &new.replace("blue", "red")).expect("writable");
    run("-q place -o d.tsv --config b.tsv.run.json")
        .code(2)
        .stderr(contains("not the attributes of b.tsv.run.json"));
    run(&format!(
        "{like} -o d.tsv --attributes new.csv --attribute-id id"
    ))
    .code(2)
    .stderr(contains("--attribute-id"));
    run("-q embed ring.tsv -o e.tsv --dim 16 --save-model plain.hone").success();
    run("place ring.tsv -o d.tsv --model plain.hone --attributes people.csv")
        .code(2)
        .stderr(contains("fitted without attributes"));
}
