//! `hone embed` and `hone config` through the real binary.

mod model;

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

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).expect("readable").count()
}

#[test]
fn karate_becomes_a_table_with_a_report_beside_it() {
    let folder = folder();
    let out = folder.path().join("karate.tsv");
    let run = hone()
        .args(["embed", "builtin:karate", "-o"])
        .arg(&out)
        .assert()
        .success()
        .stdout(is_empty());
    run.stderr(contains("structure: pc0 (").and(contains("seconds: read")));
    let table = fs::read_to_string(&out).expect("written");
    let head: Vec<&str> = table
        .lines()
        .next()
        .expect("a header")
        .split('\t')
        .collect();
    assert_eq!((head[0], head[1], head.len()), ("id", "z0", 129));
    assert_eq!(table.lines().count(), 35);
    let report: serde_json::Value =
        serde_json::from_slice(&bytes(&folder.path().join("karate.tsv.run.json"))).expect("JSON");
    assert_eq!(report["graph"]["nodes"], 34);
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        report["local"][0]["formula"],
        "(diag((d+τ)^-1/2)·W·diag((d+τ)^-1/2))³"
    );
    let shares: f64 = report["importance"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|i| i["share"].as_f64())
        .sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    let stages: Vec<_> = report["stages"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|s| s["name"].clone())
        .collect();
    assert_eq!(
        stages,
        ["read", "count", "features", "local", "global", "write"]
    );
}

#[test]
fn the_report_repeats_the_run_bit_for_bit() {
    let folder = folder();
    let (first, again) = (folder.path().join("a.npy"), folder.path().join("b.npy"));
    let choices = [
        "--preset",
        "hone-l-norm",
        "--dim",
        "20",
        "--steps",
        "3",
        "--seed",
        "5",
        "--motifs",
        "graphlets",
    ];
    hone()
        .args(["-q", "embed", "builtin:barbell", "-o"])
        .arg(&first)
        .args(choices)
        .assert()
        .success();
    let report = folder.path().join("a.npy.run.json");
    hone()
        .args(["-q", "embed", "builtin:barbell", "-o"])
        .arg(&again)
        .arg("--config")
        .arg(report)
        .assert()
        .success();
    assert_eq!(bytes(&first), bytes(&again));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = folder();
    let graph = folder.path().join("graph.tsv");
    let sizes = ["--nodes", "600", "--degree", "12", "--seed", "3"];
    hone()
        .args(["-q", "generate", "rmat"])
        .args(sizes)
        .arg("-o")
        .arg(&graph)
        .assert()
        .success();
    let embed = |threads: &str| {
        let out = folder.path().join(format!("{threads}.npy"));
        hone()
            .args(["-q", "embed", "--threads", threads])
            .arg(&graph)
            .args(["--local-dim", "32", "-o"])
            .arg(&out)
            .assert()
            .success();
        bytes(&out)
    };
    let one = embed("1");
    assert!(one == embed("2") && one == embed("7"));
}

#[test]
fn every_format_is_written() {
    let folder = folder();
    for name in [
        "a.tsv",
        "a.csv.gz",
        "a.npy",
        "a.npz",
        "a.parquet",
        "a.w2v",
        "a.safetensors",
    ] {
        let out = folder.path().join(name);
        hone()
            .args(["-q", "embed", "builtin:florentine", "-o"])
            .arg(&out)
            .assert()
            .success()
            .stderr(is_empty());
        assert!(out.is_file(), "{name}");
    }
    assert!(folder.path().join("a.ids.txt").is_file());
    for name in ["a.npy.columns.txt", "a.w2v.columns.txt"] {
        let names = fs::read_to_string(folder.path().join(name)).expect("names of columns");
        let names: Vec<&str> = names.lines().collect();
        assert_eq!(
            (names.len(), names[0], names[127]),
            (128, "z0", "structure_extremes"),
            "{name}"
        );
    }
    let table = hone()
        .args(["-q", "embed", "builtin:florentine", "-o", "-"])
        .assert()
        .success();
    table.stdout(contains("Medici\t"));
}

#[test]
fn outputs_in_the_way_are_found_before_the_work() {
    let folder = folder();
    let out = folder.path().join("a.npy");
    let report = folder.path().join("a.npy.run.json");
    fs::write(&report, "mine").expect("writable");
    let embed = |force: &[&str]| {
        hone()
            .args(["embed", "builtin:karate", "-o"])
            .arg(&out)
            .args(force)
            .assert()
    };
    embed(&[])
        .code(2)
        .stderr(contains("a.npy.run.json exists").and(contains("share").not()));
    assert_eq!(files(folder.path()), 1);
    embed(&["--force"]).success();
    assert_eq!(
        files(folder.path()),
        4,
        "vectors, ids, names of columns, record"
    );
}

#[test]
fn bad_choices_exit_with_2_and_write_nothing() {
    let folder = folder();
    let cases: [(&[&str], &str); 16] = [
        (&["-o", "a.xyz"], "extension"),
        (&["-o", "a.tsv", "--dim", "0"], "global.dim"),
        (&["-o", "a.tsv", "--local-dim", "0"], "local.dim"),
        (&["-o", "a.tsv", "--steps", "17"], "steps"),
        (&["-o", "a.tsv", "--delta", "many"], "MOTIF=NUMBER"),
        (
            &["-o", "a.tsv", "--delta", "triangle=3"],
            "not among the motifs used",
        ),
        (&["-o", "a.tsv", "--set", "features.weight=heavy"], "unit"),
        (&["-o", "a.tsv", "--motifs", "squid"], "squid"),
        (&["-o", "a.tsv", "--motif-size", "9"], "motif"),
        (&["-o", "a.tsv", "--preset", "unlisted"], "hone-l-norm"),
        (&["-o", "a.tsv", "--set", "nonsense"], "KEY=VALUE"),
        (&["-o", "a.tsv", "--set", "local.dims=3"], "dims"),
        (&["-o", "a.tsv", "--config", "absent.toml"], "absent.toml"),
        (&["-o", "a.tsv", "--memory", "10k"], "--memory"),
        (&["-o", "a.tsv", "--memory", "much"], "8G"),
        (&["-o", "absent/a.tsv"], "absent"),
    ];
    for (args, named) in cases {
        let run = hone()
            .current_dir(folder.path())
            .args(["embed", "builtin:karate"])
            .args(args)
            .assert();
        run.code(2)
            .stdout(is_empty())
            .stderr(contains("error").and(contains(named)));
        assert_eq!(files(folder.path()), 0, "{args:?}");
    }
}

#[test]
fn the_printed_configuration_can_be_used() {
    let folder = folder();
    let file = folder.path().join("run.toml");
    let printed = hone()
        .args(["config", "--preset", "hone-w", "--set", "local.dim=8"])
        .assert()
        .success();
    let printed = String::from_utf8(printed.get_output().stdout.clone()).expect("text");
    assert!(
        printed.contains("psi = \"w\"") && printed.contains("# Number of steps"),
        "{printed}"
    );
    fs::write(&file, &printed).expect("writable");
    let again = hone()
        .arg("config")
        .arg("--config")
        .arg(&file)
        .assert()
        .success();
    assert_eq!(again.get_output().stdout, printed.as_bytes());
    hone()
        .args(["-q", "embed", "builtin:karate", "-o", "-", "--config"])
        .arg(&file)
        .assert()
        .success();
}

#[test]
fn thresholds_by_motif_are_kept_in_the_record() {
    let folder = folder();
    let (first, again) = (folder.path().join("a.tsv"), folder.path().join("b.tsv"));
    let choices = [
        "--preset",
        "hone-p",
        "--dim",
        "8",
        "--delta",
        "triangle=3,clique4=2",
    ];
    let run = hone()
        .args(["embed", "builtin:karate", "-o"])
        .arg(&first)
        .args(choices)
        .assert()
        .success();
    run.stderr(contains("columns: proximity 0–7"));
    let record = folder.path().join("a.tsv.run.json");
    let report: serde_json::Value = serde_json::from_slice(&bytes(&record)).expect("JSON");
    assert_eq!(report["config"]["delta"]["triangle"], 3);
    hone()
        .args(["-q", "embed", "builtin:karate", "-o"])
        .arg(&again)
        .arg("--config")
        .arg(&record)
        .assert()
        .success();
    assert_eq!(bytes(&first), bytes(&again));
    let printed = hone()
        .args(["config", "--config"])
        .arg(&record)
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    fs::write(folder.path().join("c.toml"), &printed).expect("writable");
    let twice = hone()
        .args(["config", "--config"])
        .arg(folder.path().join("c.toml"))
        .assert()
        .success();
    assert_eq!(twice.get_output().stdout, printed);
    let one = hone()
        .args(["config", "--delta", "2", "--config"])
        .arg(&record)
        .assert()
        .success();
    one.stdout(contains("delta = 2"));
}

#[test]
fn factors_are_written_beside_the_vectors() {
    let folder = folder();
    let (out, factors) = (folder.path().join("a.npy"), folder.path().join("factors"));
    let embed = |extra: &[&str]| {
        let choices = [
            "--preset",
            "hone-p",
            "--dim",
            "6",
            "--motifs",
            "edge,triangle",
        ];
        let mut command = hone();
        command
            .args(["-q", "embed", "builtin:karate", "-o"])
            .arg(&out)
            .args(choices);
        command.arg("--factors").arg(&factors).args(extra).assert()
    };
    embed(&[]).success();
    let manifest: serde_json::Value =
        serde_json::from_slice(&bytes(&factors.join("manifest.json"))).expect("JSON");
    assert_eq!(manifest["global"]["H"]["shape"], serde_json::json!([6, 64]));
    assert_eq!(manifest["local"][1]["motif"], "triangle");
    for file in [
        "ids.npy",
        "Z.npy",
        "H.npy",
        "edge.k2.U.npy",
        "triangle.k1.sigma.npy",
        "triangle.k2.V.npy",
    ] {
        assert!(factors.join(file).is_file(), "{file}");
    }
    fs::remove_file(&out).expect("there");
    for beside in ["a.ids.txt", "a.npy.columns.txt", "a.npy.run.json"] {
        fs::remove_file(folder.path().join(beside)).expect("there");
    }
    embed(&[]).code(2).stderr(contains("factors exists"));
    assert!(!out.exists());
    embed(&["--force"]).success();
    let same = hone()
        .args([
            "embed",
            "builtin:karate",
            "-o",
            "x.npy",
            "--factors",
            "x.npy",
        ])
        .assert();
    same.code(2).stderr(contains("also the file of --output"));
}

#[test]
fn co_occurrences_are_chosen_by_a_flag() {
    let folder = folder();
    let embed = |name: &str, choices: &[&str]| {
        let out = folder.path().join(name);
        hone()
            .args(["-q", "embed", "builtin:karate", "-o"])
            .arg(&out)
            .args(choices)
            .assert()
            .success();
        bytes(&out)
    };
    let base = ["--preset", "hone-p", "--motifs", "graphlets", "--dim", "8"];
    let edges = embed("a.tsv", &base);
    let pairs = embed("b.tsv", &[&base[..], &["--pairs", "occurrences"]].concat());
    assert_ne!(edges, pairs);
    let record = folder.path().join("b.tsv.run.json");
    assert_eq!(
        embed("c.tsv", &["--config", record.to_str().expect("text")]),
        pairs
    );
    let refused = [
        "embed",
        "builtin:karate",
        "-o",
        "x.tsv",
        "--preset",
        "hone-p",
        "--pairs",
        "occurrences",
    ];
    hone()
        .args(refused)
        .assert()
        .code(2)
        .stderr(contains("graphlets"));
    hone()
        .args(refused)
        .args(["--pairs", "some"])
        .assert()
        .code(2);
}

#[test]
fn codes_are_local_embeddings_by_a_setting() {
    let folder = folder();
    let out = folder.path().join("a.tsv");
    let network = [
        "--set",
        "local.solver.method=autoencoder",
        "--set",
        "local.solver.epochs=5",
    ];
    let choices = [
        "--preset",
        "hone-p",
        "--dim",
        "8",
        "--motifs",
        "edge,triangle",
    ];
    let run = hone()
        .args(["embed", "builtin:karate", "-o"])
        .arg(&out)
        .args(choices)
        .args(network)
        .assert()
        .success();
    run.stderr(contains("local.solver.epochs"));
    let report = fs::read_to_string(folder.path().join("a.tsv.run.json")).expect("a report");
    assert!(report.contains("rows held out"));
}

#[test]
fn a_solver_is_chosen_by_name_in_both_stages() {
    let folder = folder();
    let out = folder.path().join("a.tsv");
    let choices = [
        "--preset",
        "hone-p",
        "--dim",
        "8",
        "--motifs",
        "edge,triangle",
        "--solver",
        "als",
    ];
    let options = [
        "--set",
        "local.solver.iterations=3",
        "--set",
        "local.solver.start=random",
    ];
    hone()
        .args(["-q", "embed", "builtin:karate", "-o"])
        .arg(&out)
        .args(choices)
        .args(options)
        .assert()
        .success();
    let report: serde_json::Value =
        serde_json::from_slice(&bytes(&folder.path().join("a.tsv.run.json"))).expect("JSON");
    assert_eq!(report["config"]["local"]["solver"]["method"], "als");
    assert_eq!(report["config"]["global"]["solver"]["method"], "als");
    assert_eq!(
        report["local"][0]["loss"]["values"]
            .as_array()
            .map(Vec::len),
        Some(4)
    );
    assert!(
        report["global"]["loss"]["measure"]
            .as_str()
            .is_some_and(|measure| measure.contains("exact"))
    );
    // A method named by --set replaces the options of the one before, in whatever order they are given.
    let printed = hone()
        .args([
            "config",
            "--set",
            "local.solver.loss=poisson",
            "--set",
            "local.solver.method=bregman",
            "--config",
        ])
        .arg(folder.path().join("a.tsv.run.json"))
        .assert()
        .success();
    printed.stdout(contains("loss = \"poisson\"").and(contains("negatives = 5")));
    let wrong = [
        "embed",
        "builtin:karate",
        "-o",
        "x.tsv",
        "--preset",
        "hone-l",
        "--set",
        "local.solver.method=bregman",
    ];
    let message = "Poisson needs non-negative entries: matrix L has negative ones; use --set psi=w or --set psi=p";
    hone()
        .args(wrong)
        .args(["--set", "local.solver.loss=poisson"])
        .assert()
        .code(2)
        .stderr(contains(message));
    hone()
        .args(["config", "--solver", "magic"])
        .assert()
        .code(2)
        .stderr(contains("magic"));
}

#[test]
fn joint_models_and_autoencoders_are_reached_by_settings() {
    let folder = folder();
    for (settings, said) in [
        ("model=tucker", "\"core\""),
        ("model=cp", "\"factors\""),
        ("global.solver.method=autoencoder", "\"training_loss\""),
    ] {
        let out = folder.path().join("a.tsv");
        let choices = ["--preset", "hone-p", "--dim", "8", "--set", settings];
        let args = ["-q", "embed", "builtin:karate", "--force", "-o"];
        hone()
            .args(args)
            .arg(&out)
            .args(choices)
            .assert()
            .success()
            .stderr(is_empty());
        let report = fs::read_to_string(folder.path().join("a.tsv.run.json")).expect("a report");
        assert!(report.contains(said), "{settings}");
        let again = folder.path().join("b.tsv");
        let repeat = ["--config"];
        hone()
            .args(args)
            .arg(&again)
            .args(repeat)
            .arg(folder.path().join("a.tsv.run.json"))
            .assert()
            .success();
        assert_eq!(bytes(&out), bytes(&again), "{settings}");
    }
    // The default preset has a single slice, and attributes beside it.
    hone()
        .args([
            "-q",
            "embed",
            "builtin:karate",
            "--set",
            "model=tucker",
            "-o",
            "-",
        ])
        .assert()
        .success();
    let printed = hone()
        .args(["config", "--set", "model=cp"])
        .assert()
        .success();
    printed.stdout(contains("model = \"cp\"").and(contains("# How each matrix is scaled")));
}

/// A table with a header, weights and a delimiter that must be named, a list of its nodes, and their attributes.
fn odd_graph() -> tempfile::TempDir {
    let folder = folder();
    let rows: String = (0..30)
        .map(|i| format!("{}|n{i}|n{}\n", 1 + i % 4, (i * 7 + 1) % 30))
        .collect();
    let nodes: String = (0..31).rev().map(|i| format!("n{i}\n")).collect();
    let people: String = (0..30).map(|i| format!("{},n{i}\n", i * i % 11)).collect();
    for (name, text) in [
        ("g.txt", format!("w|from here|to there\n{rows}")),
        ("nodes.txt", nodes),
    ] {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    fs::write(
        folder.path().join("people.csv"),
        format!("age,who\n{people}"),
    )
    .expect("writable");
    folder
}

const ODD: &str = "g.txt --directed --weight w --delimiter | --header --node-list nodes.txt";

/// Runs a command in a folder; the two columns with blanks in their names are added for `ODD`.
fn within(folder: &Path, args: &str) -> assert_cmd::assert::Assert {
    let mut command = hone();
    command.current_dir(folder).args(args.split(' '));
    if args.contains("--delimiter") {
        command.args(["--source", "from here", "--target", "to there"]);
    }
    command.assert()
}

#[test]
fn a_record_repeats_its_run_with_its_graph() {
    let folder = odd_graph();
    let file = |name: &str| bytes(&folder.path().join(name));
    let choices = "--preset hone-p+x --motifs edge,path3 --dim 6 --set weights=true --attributes people.csv --attribute-id who";
    within(folder.path(), &format!("embed {ODD} {choices} -q -o a.npy")).success();
    within(folder.path(), "embed -q -o b.npy --config a.npy.run.json")
        .success()
        .stderr(is_empty());
    assert_eq!(
        (file("a.npy"), file("a.ids.txt")),
        (file("b.npy"), file("b.ids.txt"))
    );
    let json = |name: &str| serde_json::from_slice::<serde_json::Value>(&file(name)).expect("JSON");
    let (first, again) = (json("a.npy.run.json"), json("b.npy.run.json"));
    assert_eq!(
        (&first["input"], &first["graph"]),
        (&again["input"], &again["graph"])
    );
    assert_eq!(first["input"]["path"], "g.txt");
    // The same graph elsewhere; then another one, or read otherwise.
    fs::copy(folder.path().join("g.txt"), folder.path().join("moved.txt")).expect("writable");
    within(
        folder.path(),
        "embed moved.txt -q -o c.npy --config a.npy.run.json",
    )
    .success();
    assert_eq!(file("a.npy"), file("c.npy"));
    let mut changed = fs::read_to_string(folder.path().join("g.txt")).expect("text");
    changed.push_str("1|n3|n9\n");
    fs::write(folder.path().join("g.txt"), changed).expect("writable");
    let refused = within(folder.path(), "embed -o d.npy --config a.npy.run.json").code(2);
    refused.stderr(
        contains("not the graph of a.npy.run.json: 31 nodes and 30 edges then")
            .and(contains("--changed allow")),
    );
    assert!(!folder.path().join("d.npy").exists());
    let allowed = within(
        folder.path(),
        "embed -o d.npy --config a.npy.run.json --changed allow",
    )
    .success();
    allowed.stderr(contains("note: g.txt: not the graph of a.npy.run.json"));
    // What is said on the command line wins.
    within(
        folder.path(),
        "embed moved.txt -q -o u.npy --no-directed --config a.npy.run.json",
    )
    .success();
    assert_eq!(json("u.npy.run.json")["graph"]["directed"], false);
    fs::write(folder.path().join("plain.toml"), "seed = 3\n").expect("writable");
    within(folder.path(), "embed -o e.npy --config plain.toml")
        .code(2)
        .stderr(contains("plain.toml names no graph"));
    within(folder.path(), "embed -o e.npy")
        .code(2)
        .stderr(contains("INPUT").and(contains("Usage")));
}

#[test]
fn records_of_features_and_counts_repeat_their_runs() {
    let folder = odd_graph();
    let file = |name: &str| bytes(&folder.path().join(name));
    let choices = "--depth 1 --aggregates mean --attributes people.csv --attribute-id who";
    within(
        folder.path(),
        &format!("features {ODD} {choices} -q -o x.tsv"),
    )
    .success();
    within(
        folder.path(),
        "features -q -o y.tsv --config x.tsv.run.json",
    )
    .success();
    assert_eq!(file("x.tsv"), file("y.tsv"));
    within(
        folder.path(),
        &format!("count {ODD} -q -o c.npy --motifs path3,triangle --sample cap=4 --seed 5"),
    )
    .success();
    within(folder.path(), "count -q -o d.npy --config c.npy.run.json").success();
    assert_eq!(
        (file("c.npy"), file("c.edges.csv")),
        (file("d.npy"), file("d.edges.csv"))
    );
    // What is given wins over what was recorded.
    within(
        folder.path(),
        "count -q -o n.tsv --per node --config c.npy.run.json",
    )
    .success();
    within(
        folder.path(),
        "count -q -o t.tsv --per total --motifs edge --config c.npy.run.json",
    )
    .success();
    assert!(
        String::from_utf8(file("t.tsv"))
            .expect("text")
            .lines()
            .count()
            == 2
    );
    within(folder.path(), "count -o e.npy --config x.tsv.run.json")
        .code(2)
        .stderr(contains("not the record of `hone count`"));
    fs::write(
        folder.path().join("g.txt"),
        "w|from here|to there\n1|n1|n2\n",
    )
    .expect("writable");
    for (command, record) in [("features", "x.tsv.run.json"), ("count", "c.npy.run.json")] {
        let other = within(
            folder.path(),
            &format!("{command} -o f.tsv --config {record}"),
        )
        .code(2);
        other.stderr(contains(format!("not the graph of {record}")));
    }
}

/// Small, degenerate graphs: few distinct eigenvalues, each many times, and hardly any rank.
#[test]
fn tiny_and_regular_graphs_embed_with_every_preset_and_seed() {
    let folder = folder();
    let complete = |n: usize| {
        (0..n)
            .flat_map(move |i| (0..i).map(move |j| (i, j)))
            .collect::<Vec<_>>()
    };
    let graphs = [
        ("path", vec![(0, 1), (1, 2)]),
        ("star", (1..40).map(|i| (0, i)).collect()),
        ("triangle", complete(3)),
        ("complete", complete(5)),
        (
            "bipartite",
            (0..50)
                .flat_map(|i| (50..100).map(move |j| (i, j)))
                .collect(),
        ),
    ];
    for (name, edges) in graphs {
        let input = folder.path().join(format!("{name}.txt"));
        let lines: String = edges.iter().map(|(i, j)| format!("{i} {j}\n")).collect();
        fs::write(&input, lines).expect("written");
        for preset in [
            "hone",
            "hone-w",
            "hone-p",
            "hone-l",
            "hone-l-norm",
            "hone-l-rw",
            "hone-p+x",
        ] {
            // Starts of iterations differ by seed.
            for seed in if preset == "hone" {
                &["0", "1"][..]
            } else {
                &["0"]
            } {
                let out = folder.path().join("z.npy");
                let mut run = hone();
                run.args(["-q", "embed"])
                    .arg(&input)
                    .args(["--force", "-o"])
                    .arg(&out);
                run.args(["--preset", preset, "--seed", seed])
                    .assert()
                    .success();
            }
        }
    }
}
