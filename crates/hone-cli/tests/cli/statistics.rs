//! `hone significance`, `coefficients`, `compare`, `cluster` and `list motifs`.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

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
fn significance_is_written_as_a_table_or_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str| {
        let args = [
            "significance",
            "builtin:karate",
            "--random",
            "10",
            "-o",
            name,
        ];
        hone(folder.path(), &args)
    };
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    for (name, separator) in [("a.tsv", "\t"), ("a.csv", ",")] {
        write(name).success().stdout("").stderr(contains(name));
        let text = read(name);
        let head = [
            "motif", "count", "mean", "sd", "z", "p_more", "p_fewer", "q", "profile",
        ];
        assert!(text.starts_with(&head.join(separator)), "{text}");
        assert!(
            text.contains(&format!("\ntriangle{separator}45{separator}")),
            "{text}"
        );
        assert!(
            text.lines()
                .all(|line| line.split(separator).count() == head.len()),
            "{text}"
        );
    }
    write("a.json").success();
    let found: Value = serde_json::from_str(&read("a.json")).expect("JSON");
    assert_eq!(found["random"], 10);
    write("a.json").code(2).stderr(contains("--force"));
    write("a.png")
        .code(2)
        .stderr(contains("a table of motifs is .tsv, .csv or .json"));
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
fn the_smallest_graphs_have_coefficients_and_comparisons() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("written");
    };
    write("pair.tsv", "a b\n");
    // Loops are dropped, and their nodes stay.
    write("one.tsv", "a a\n");
    write("apart.tsv", "a a\nb b\nc c\n");
    for graph in ["pair.tsv", "one.tsv", "apart.tsv"] {
        let shown = printed(folder.path(), &["coefficients", graph]);
        assert_eq!(shown.lines().count(), 5, "{shown}");
        assert!(shown.contains('–') && !shown.contains("NaN") && !shown.contains("inf"));
        let found = json(folder.path(), &["coefficients", graph, "--json"]);
        for coefficient in found.as_array().expect("a list") {
            assert_eq!(
                (&coefficient["global"], &coefficient["defined"]),
                (&Value::Null, &Value::from(0))
            );
        }
        let out = ["coefficients", graph, "-o", "-", "--quiet"];
        let nodes = printed(folder.path(), &out);
        assert!(
            nodes
                .lines()
                .skip(1)
                .all(|line| line.ends_with("\t0\t0\t0\t0")),
            "{nodes}"
        );
        let both = ["compare", graph, "builtin:karate"];
        let shown = printed(folder.path(), &[&both[..], &["--orbits"]].concat());
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
        let found = json(folder.path(), &[&both[..], &["--json"]].concat());
        assert_eq!(
            (&found["gcd11"][0][0], &found["agreement"][0][0]),
            (&Value::from(0.0), &Value::from(1.0))
        );
        let between = found["agreement"][0][1].as_f64().expect("a number");
        assert!((0.0..1.0).contains(&between));
    }
}

#[test]
fn repeated_edges_are_merged_and_that_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let arcs = "a b\nb c\nc a\nc d\nd e\ne f\nf d\n";
    fs::write(folder.path().join("simple.tsv"), arcs).expect("written");
    let repeated = format!("{arcs}a b\na b\nc c\n");
    fs::write(folder.path().join("multi.tsv"), repeated).expect("written");
    let run = |graph| {
        let args = ["significance", graph, "--random", "20", "--json"];
        json(folder.path(), &args)
    };
    assert_eq!(run("multi.tsv"), run("simple.tsv"));
    hone(
        folder.path(),
        &["significance", "multi.tsv", "--random", "5"],
    )
    .success()
    .stderr(contains("merged 2 duplicate edges").and(contains("dropped 1 self-loop")));
}

#[test]
fn clusters_of_four_nodes_say_that_their_conductance_is_a_surrogate() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |motif: &str| {
        let args = ["cluster", "builtin:karate", "--motif", motif];
        let found = json(folder.path(), &[&args[..], &["--json"]].concat());
        (
            found["surrogate"].clone(),
            hone(folder.path(), &args).success(),
        )
    };
    let (surrogate, run) = of("clique4");
    assert_eq!(surrogate, true);
    run.stderr(contains("surrogate conductance (an occurrence cut in half"));
    let (surrogate, run) = of("triangle");
    assert_eq!(surrogate, false);
    run.stderr(contains("with conductance"));
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
    fs::write(folder.path().join("one.tsv"), "a b\n").expect("written");
    hone(folder.path(), &["cluster", "one.tsv", "--motif", "edge"])
        .success()
        .stderr(contains("1 node with conductance 1.0000"));
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

/// The tables of `docs/motifs.md` are those of the catalogue.
#[test]
fn the_page_has_all_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = json(folder.path(), &["list", "motifs", "--table", "--json"]);
    let of_kind = |kind: &'static str| {
        let all = all.as_array().expect("a list").iter();
        all.filter(move |named| named["kind"] == kind)
    };
    let text = |named: &Value, field: &str| named[field].as_str().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    for graphlet in of_kind("graphlet") {
        let drawing = text(graphlet, "drawing");
        let positions = |kind| {
            let own = of_kind(kind).filter(|orbit| orbit["drawing"] == graphlet["drawing"]);
            let shown = own.map(|orbit| {
                let [number, name, position] =
                    ["number", "name", "position"].map(|field| text(orbit, field));
                let number = Some(format!("{number} ")).filter(|_| !number.is_empty());
                format!("{}`{name}`: {position}", number.unwrap_or_default())
            });
            shown.collect::<Vec<_>>().join("; ")
        };
        lines.push(format!(
            "| {} | `{}` | {drawing} | {} | {} |",
            text(graphlet, "number"),
            text(graphlet, "name"),
            positions("node orbit"),
            positions("edge orbit"),
        ));
    }
    for triad in of_kind("triad") {
        lines.push(format!(
            "| `{}` | {} | {} | {} |",
            text(triad, "name"),
            text(triad, "number"),
            triad["mfinder"]
                .as_u64()
                .map(|id| id.to_string())
                .unwrap_or_default(),
            text(triad, "drawing"),
        ));
    }
    assert_eq!(lines.len(), 9 + 18);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/motifs.md");
    // The crate may be tested outside the repository.
    let Ok(page) = fs::read_to_string(page) else {
        return;
    };
    let lacking: Vec<&String> = lines.iter().filter(|line| !page.contains(*line)).collect();
    assert!(lacking.is_empty(), "docs/motifs.md lacks\n{lacking:#?}");
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
    let features = |numbers: &[&str]| {
        let args = [
            "features",
            "builtin:karate",
            "--motifs",
            "edge,triangle,path4",
        ];
        let header = first(&[&args[..], numbers].concat()).expect("a line");
        header.split('\t').map(str::to_owned).collect::<Vec<_>>()
    };
    let (named, numbered) = (features(&[]), features(&["--numbers"]));
    assert_eq!(
        named[1..4],
        ["edge_degree", "triangle_degree", "path4_degree"]
    );
    assert_eq!(numbered[1..4], ["edge_degree", "E1_degree", "G3_degree"]);
    let renamed = named
        .iter()
        .map(|name| name.replace("triangle", "E1").replace("path4", "G3"));
    assert_eq!(numbered, renamed.collect::<Vec<_>>());
    let over = [
        "features",
        "builtin:karate",
        "--numbers",
        "--motifs",
        "edge",
        "--depth",
        "0",
        "--diffuse",
        "1",
        "--over",
        "triangle",
    ];
    assert_eq!(
        first(&over).as_deref(),
        Some("id\tedge_degree\tE1_k1_edge_degree")
    );
    let compare = ["compare", "builtin:karate", "builtin:grid", "--numbers"];
    let shown = printed(folder.path(), &[&compare[..], &["--orbits"]].concat());
    assert!(shown.contains("\n14 ") && shown.contains("\ngeometric mean "));
    let found = json(folder.path(), &[&compare[..], &["--json"]].concat());
    assert_eq!(
        (&found["orbits"][14], &found["correlated"][3]),
        (&Value::from("14"), &Value::from("4"))
    );
    assert_eq!(found["correlations"][0].as_array().map(Vec::len), Some(11));
    assert_eq!(found["by_orbit"][0][1].as_array().map(Vec::len), Some(15));
    // Roles and what a map shows, of directed graphs too; embeddings, drawings, clusters and what is known of a graph.
    let roles = |args: &[&str]| {
        let found = json(
            folder.path(),
            &[&["roles", "--json", "--numbers"], args].concat(),
        );
        let motifs = found["roles"][0]["motifs"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        motifs
            .iter()
            .filter_map(|it| Some(it["motif"].as_str()?.to_owned()))
            .collect::<Vec<_>>()
    };
    let orbits: Vec<String> = (0..15).map(|orbit| orbit.to_string()).collect();
    assert_eq!(roles(&["builtin:karate"]), orbits);
    fs::write(folder.path().join("arcs.tsv"), "a b\nb c\na c\nc d\n").expect("written");
    let directed = roles(&["arcs.tsv", "--directed"]);
    assert!(directed[..15] == orbits && directed.contains(&"M5_in_degree".to_owned()));
    let table = printed(folder.path(), &["roles", "builtin:karate", "--numbers"]);
    assert!(
        table.contains(" 13 +") && !table.contains("diamond"),
        "{table}"
    );
    let map = [
        "map",
        "builtin:karate",
        "--layout",
        "pca",
        "--colour",
        "motif: triangle",
    ];
    let outputs = ["--numbers", "-o", "m.html", "-o", "m.svg"];
    hone(folder.path(), &[&map[..], &outputs].concat()).success();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    let page = read("m.html");
    let meta = page
        .split("id=\"meta\">")
        .nth(1)
        .and_then(|text| text.split("</script>").next());
    let meta: Value = serde_json::from_str(meta.expect("the page's data")).expect("JSON");
    assert_eq!(meta["orbits"], json!(orbits));
    assert_eq!(
        (&meta["colour"], &meta["graphlets"][1][0]),
        (&json!("orbit-3"), &json!("G2"))
    );
    assert!(read("m.svg").contains(">motif: 3</text>"));
    // A record has the choice; the names of motifs and their numbers are known in either case.
    let again = ["map", "--config", "m.html.run.json", "-o"];
    hone(
        folder.path(),
        &[&again[..], &["n.svg", "--no-numbers"]].concat(),
    )
    .success();
    assert!(read("n.svg").contains(">motif: triangle</text>"));
    hone(folder.path(), &[&again[..], &["o.svg"]].concat()).success();
    assert_eq!(read("o.svg"), read("m.svg"));
    let embed = ["embed", "builtin:karate", "--numbers", "-o"];
    hone(folder.path(), &[&embed[..], &["v.tsv"]].concat())
        .success()
        .stderr(contains("mean_E5_degree"));
    let stage = [
        "v.csv",
        "--preset",
        "hone-p",
        "--motifs",
        "edge,triangle",
        "--stage",
        "local",
    ];
    hone(folder.path(), &[&embed[..], &stage].concat()).success();
    let head = read("v.csv");
    assert!(head.starts_with("id,edge_k1_0,") && head.contains(",E1_k1_0,"));
    let draw = [
        "draw",
        "builtin:karate",
        "--motif",
        "triangle",
        "--numbers",
        "-o",
        "d.svg",
    ];
    hone(folder.path(), &draw).success();
    assert!(read("d.svg").contains("E1  ·"));
    let cluster = ["cluster", "builtin:karate", "--numbers", "--json"];
    assert_eq!(json(folder.path(), &cluster)["motif"], "E1");
    let info = json(
        folder.path(),
        &["info", "arcs.tsv", "--directed", "--numbers", "--json"],
    );
    assert_eq!(
        (&info["motifs"]["G2"], &info["triads"]["M5"]),
        (&json!(1), &json!(1))
    );
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
