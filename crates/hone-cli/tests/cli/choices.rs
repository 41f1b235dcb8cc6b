//! Choices that combine: every preset with everyday options, weights, directions, files with presets, examples in the help.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

mod contradictions;
mod documents;
mod examples;
mod weights;

fn hone() -> Command {
    Command::cargo_bin("hone").expect("the binary of this package")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Two communities of twelve with a few bridges: every motif occurs.
fn graph_file(folder: &Path) -> std::path::PathBuf {
    let mut edges = String::new();
    for i in 0..24u32 {
        for j in 0..i {
            let (near, mixed) = (i / 12 == j / 12, (i * 7 + j * 11) % 10);
            if (near && mixed < 5) || mixed == 9 && i % 3 == 0 {
                edges += &format!("{i}\t{j}\t{}.5\n", 1 + (i + j) % 4);
            }
        }
    }
    let path = folder.join("graph.tsv");
    fs::write(&path, edges).expect("writable");
    path
}

/// Columns of the vectors, and what was said on standard error.
fn embed(graph: &Path, options: &[&str]) -> (usize, String) {
    let mut run = hone();
    run.args(["embed", "-o", "-", "--output-format", "tsv"])
        .arg(graph)
        .args(options);
    let run = run.assert();
    let output = run.get_output();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{options:?}: {said}");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !table.contains("NaN") && !table.contains("inf"),
        "{options:?}"
    );
    (
        table.lines().next().expect("a header").split('\t').count() - 1,
        said,
    )
}

fn presets() -> Vec<String> {
    let help = hone()
        .args(["config", "--preset", "unlisted"])
        .assert()
        .code(2);
    let said = String::from_utf8_lossy(&help.get_output().stderr).into_owned();
    let list = said
        .split("one of ")
        .nth(1)
        .expect("a list of presets")
        .trim()
        .to_owned();
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_default_is_that_of_the_library() {
    let printed = hone()
        .arg("config")
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let printed = String::from_utf8(printed).expect("text");
    assert_eq!(
        printed.trim_end(),
        hone::Config::default().to_commented_toml().trim_end()
    );
}

#[test]
fn everyday_options_work_with_every_preset() {
    let folder = folder();
    let graph = graph_file(folder.path());
    let everyday: [(&[&str], usize); 18] = [
        (&["--dim", "1"], 1),
        (&["--dim", "2"], 2),
        (&["--dim", "8"], 8),
        (&["--dim", "16"], 16),
        (&["--dim", "200"], 200),
        (&["--dim", "1024"], 1024),
        (&["--steps", "1"], 128),
        (&["--steps", "2"], 128),
        (&["--steps", "4"], 128),
        (&["--steps", "auto"], 128),
        (&["--local-dim", "32"], 128),
        (&["--motifs", "edge,triangle,clique4"], 128),
        (&["--motif-size", "3"], 128),
        (&["--sample", "cap=8"], 128),
        (&["--delta", "2"], 128),
        (&["--weighted"], 128),
        (&["--directed", "--weighted", "--dim", "10"], 10),
        (
            &[
                "--dim",
                "50",
                "--steps",
                "auto",
                "--local-dim",
                "4",
                "--motifs",
                "edge,path3",
                "--weighted",
            ],
            50,
        ),
    ];
    let presets = presets();
    assert!(presets.len() >= 11, "{presets:?}");
    for (number, preset) in presets.iter().enumerate() {
        // All for the default and the next; every preset meets a third of them, and a third of the presets each of them;
        // all of them with `./check --all`.
        let every = std::env::var_os("HONE_EVERY_CASE").is_some();
        let met = |at: usize| every || number < 2 || (at + number).is_multiple_of(3);
        for (_, (options, columns)) in everyday.into_iter().enumerate().filter(|(at, _)| met(*at)) {
            let (found, said) = embed(&graph, &[&["--preset", preset], options].concat());
            assert_eq!(found, columns, "{preset} {options:?}");
            let zero = said
                .lines()
                .filter(|line| {
                    line.contains(" proximity columns ") || line.contains("structure columns")
                })
                .count();
            assert!(zero <= 1, "{preset} {options:?}: {said}");
        }
    }
}

#[test]
fn the_default_shares_its_columns_by_a_rule() {
    for (dim, structure) in [
        (1, 0),
        (2, 1),
        (3, 1),
        (8, 2),
        (12, 2),
        (32, 4),
        (64, 8),
        (128, 16),
        (256, 16),
    ] {
        let (dim, folder) = (dim.to_string(), folder());
        let out = folder.path().join("a.tsv");
        let run = hone()
            .args(["embed", "builtin:karate", "--dim", &dim, "-o"])
            .arg(&out)
            .assert()
            .success();
        let left_out = contains("leaves no column for structure");
        if structure == 0 {
            run.stderr(left_out)
        } else {
            run.stderr(left_out.not())
        };
        let head = fs::read_to_string(&out).expect("written");
        let names: Vec<&str> = head
            .lines()
            .next()
            .expect("a header")
            .split('\t')
            .skip(1)
            .collect();
        assert_eq!(
            names
                .iter()
                .filter(|name| name.starts_with("structure"))
                .count(),
            structure,
            "{dim}"
        );
        let report = fs::read_to_string(folder.path().join("a.tsv.run.json")).expect("a report");
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        assert_eq!(
            report["config"]["features"]["form"]["components"]["dim"],
            structure
        );
        assert!(
            report["config"]["local"]["dim"].as_u64() >= Some(16),
            "numbers, not rules, are recorded"
        );
    }
}

/// A record has numbers where a rule shares the columns; another dimension is shared by the rule again.
#[test]
fn a_record_with_another_dimension_is_a_run_with_that_dimension() {
    let folder = folder();
    let embed = |out: &str, options: &[&str]| {
        hone()
            .current_dir(folder.path())
            .args(["embed", "-o", out])
            .args(options)
            .assert()
            .success();
        fs::read(folder.path().join(out)).expect("written")
    };
    embed("a.tsv", &["builtin:karate"]);
    for dim in ["8", "64", "200"] {
        let fresh = embed("b.tsv", &["builtin:karate", "--dim", dim, "--force"]);
        let again = embed(
            "c.tsv",
            &["--config", "a.tsv.run.json", "--dim", dim, "--force"],
        );
        assert!(fresh == again, "{dim}");
    }
}

/// Records of other commands have no embedding to repeat.
#[test]
fn records_of_features_and_counts_are_refused_by_name() {
    let folder = folder();
    for (command, what) in [("features", "`hone features`"), ("count", "counts")] {
        let out = format!("{command}.tsv");
        hone()
            .current_dir(folder.path())
            .args([command, "builtin:karate", "-o", &out])
            .assert()
            .success();
        let record = format!("{out}.run.json");
        let run = hone()
            .current_dir(folder.path())
            .args(["embed", "-o", "v.tsv", "--config", &record])
            .assert()
            .code(2);
        run.stderr(contains(format!("it is the record of {what}")));
    }
}

/// Columns of equal length have equal shares: a setting, not a finding.
#[test]
fn even_shares_are_not_shown() {
    for preset in ["hone-p", "hone-p+x"] {
        let run = hone()
            .args(["embed", "builtin:karate", "-o", "-", "--preset", preset])
            .assert()
            .success();
        run.stderr(
            contains("share of the embedding")
                .not()
                .and(contains("columns: proximity 0")),
        );
    }
}

#[test]
fn directions_of_arcs_are_kept_or_ignored() {
    let folder = folder();
    let graph = graph_file(folder.path());
    let run = |options: &[&str]| {
        let run = hone()
            .args(["embed", "-o", "-"])
            .arg(&graph)
            .args(options)
            .assert()
            .success();
        (
            run.get_output().stdout.clone(),
            String::from_utf8_lossy(&run.get_output().stderr).into_owned(),
        )
    };
    let (undirected, _) = run(&[]);
    let (ignored, said) = run(&["--directed", "--set", "direction=ignore"]);
    assert!(
        ignored == undirected && said.contains("--set direction=keep"),
        "{said}"
    );
    let (directed, said) = run(&["--directed"]);
    assert!(
        directed != ignored && said.contains("--set direction=ignore"),
        "{said}"
    );
    assert!(!said.contains("vectors of zeros"), "{said}");
    // Edges go from larger to smaller numbers: no arc leaves node 0. Target factors place it.
    let (_, said) = run(&[
        "--directed",
        "--preset",
        "hone-p",
        "--set",
        "direction=source",
    ]);
    assert!(
        said.contains("without an outgoing arc") && said.contains("--set direction=keep"),
        "{said}"
    );
    for options in [
        &["--set", "direction=keep"][..],
        &["--set", "direction=ignore"],
        &["--motifs", "triads"],
    ] {
        let (_, said) = run(&[&["--directed", "--preset", "hone-p"], options].concat());
        assert!(!said.contains("without an outgoing arc"), "{said}");
    }
}

#[test]
fn motifs_that_do_not_occur_share_a_line_and_automatic_iterations_need_none() {
    for settings in [&[][..], &["--set", "model=cp"]] {
        let run = hone()
            .args(["embed", "builtin:star", "--preset", "hone-p", "-o", "-"])
            .args(settings)
            .assert()
            .success();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert_eq!(said.matches("do not occur").count(), 1, "{said}");
        assert!(
            !said.lines().any(|line| line.starts_with("clique4 ")),
            "absent motifs have no share: {said}"
        );
        assert!(
            said.contains("triangle, ") && said.contains("clique4"),
            "{said}"
        );
    }
    let folder = folder();
    let graph = folder.path().join("er.tsv");
    hone()
        .args([
            "-q", "generate", "er", "--nodes", "30000", "--degree", "8", "-o",
        ])
        .arg(&graph)
        .assert()
        .success();
    let out = folder.path().join("a.npy");
    let run = hone()
        .args([
            "embed", "--preset", "hone-p", "--motifs", "edge", "--steps", "1", "-o",
        ])
        .arg(&out)
        .arg(&graph)
        .assert();
    run.success().stderr(contains("tolerance").not());
    let report = fs::read_to_string(folder.path().join("a.npy.run.json")).expect("a report");
    assert!(
        report.contains("\"converged\": false"),
        "the fact stays in the report"
    );
    // Asked for, on a graph that is not decomposed whole.
    let few = [
        "embed",
        "--preset",
        "hone-p",
        "--motifs",
        "edge",
        "-o",
        "-",
        "--set",
        "local.solver.iterations=1",
    ];
    hone()
        .args(few)
        .arg(&graph)
        .assert()
        .success()
        .stderr(contains("tolerance"));
}

/// The summary says by its name what the share of the leading dimensions is: it follows from the vectors.
#[test]
fn the_share_of_leading_dimensions_is_that_of_squares() {
    let run = hone()
        .args(["embed", "builtin:karate", "-o", "-"])
        .assert()
        .success();
    let [table, said] = [&run.get_output().stdout, &run.get_output().stderr]
        .map(|out| String::from_utf8_lossy(out));
    let mut squares = [0.0; 112];
    for line in table.lines().skip(1) {
        for (sum, value) in squares.iter_mut().zip(line.split('\t').skip(1)) {
            *sum += value.parse::<f64>().expect("a number").powi(2);
        }
    }
    let share = 100.0 * squares[..10].iter().sum::<f64>() / squares.iter().sum::<f64>();
    let expected = format!("hold {share:.1} % of the squared norm\n");
    assert!(said.contains(&expected), "{expected} {said}");
}

#[test]
fn the_summary_shows_findings_of_this_graph() {
    let said = |graph: &str| {
        let run = hone().args(["embed", graph, "-o", "-"]).assert().success();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        said.lines()
            .filter(|line| line.starts_with("structure:"))
            .collect::<String>()
    };
    let (karate, barbell, grid) = (
        said("builtin:karate"),
        said("builtin:barbell"),
        said("builtin:grid"),
    );
    assert!(
        karate.contains(
            "% of the variance) increases with edge_degree, decreases with mean_edge_degree"
        ),
        "{karate}"
    );
    let shared = |one: &str, other: &str| {
        one.split_once("increases").map(|said| said.1)
            == other.split_once("increases").map(|said| said.1)
    };
    assert!(
        !shared(&karate, &barbell) && !shared(&barbell, &grid) && !shared(&karate, &grid),
        "{barbell} {grid}"
    );
}

#[test]
fn rows_of_zeros_are_explained_and_zeros_have_no_sign() {
    let path = [
        "embed",
        "-",
        "--dim",
        "2",
        "--steps",
        "3",
        "--set",
        "laziness=0",
        "-o",
        "-",
    ];
    let run = hone()
        .args(path)
        .write_stdin("a b\nb c\n")
        .assert()
        .success();
    let (table, said) = (
        &run.get_output().stdout,
        String::from_utf8_lossy(&run.get_output().stderr).into_owned(),
    );
    assert!(
        !said.contains("none of the motifs"),
        "every node has an edge: {said}"
    );
    assert!(
        said.contains("1 of 3 nodes is outside the leading directions"),
        "{said}"
    );
    assert!(
        !String::from_utf8_lossy(table).contains("-0.0"),
        "{table:?}"
    );
    let triangles = [
        "embed", "-", "--preset", "hone-p", "--motifs", "triangle", "-o", "-",
    ];
    let run = hone()
        .args(triangles)
        .write_stdin("a b\nb c\nc a\nc d\nd e\n")
        .assert()
        .success();
    run.stderr(contains(
        "2 of 5 nodes have vectors of zeros: 2 without the motifs",
    ));
}

#[test]
fn shares_are_shown_where_they_say_something() {
    let said = |args: &[&str]| {
        let run = hone()
            .arg("embed")
            .args(args)
            .args(["-o", "-"])
            .assert()
            .success();
        String::from_utf8_lossy(&run.get_output().stderr).into_owned()
    };
    for graph in ["builtin:star", "builtin:grid", "builtin:karate"] {
        assert!(!said(&[graph]).contains(" 0.0 %"), "{graph}");
    }
    // Two motifs whose columns all have length one: half each, whatever the graph.
    let even = said(&[
        "builtin:karate",
        "--preset",
        "hone-p",
        "--motifs",
        "edge,path3",
        "--steps",
        "1",
    ]);
    assert!(!even.contains("share of the embedding"), "{even}");
    let uneven = said(&[
        "builtin:karate",
        "--preset",
        "hone-p",
        "--steps",
        "1",
        "--local-dim",
        "64",
    ]);
    assert!(uneven.contains("share of the embedding"), "{uneven}");
}

#[test]
fn automatic_steps_of_many_columns_on_few_nodes_are_chosen_at_once() {
    let args = [
        "embed",
        "builtin:karate",
        "--preset",
        "hone-p",
        "--steps",
        "auto",
        "--local-dim",
        "64",
        "-o",
        "-",
    ];
    // 3328 columns of rank 29: eigenvectors of all of them take minutes.
    hone()
        .args(args)
        .timeout(std::time::Duration::from_secs(60))
        .assert()
        .success()
        .stderr(contains("--steps auto chose 1"));
}

#[test]
fn a_record_is_repeated_from_any_folder() {
    let folder = folder();
    let at = |inner: &str| folder.path().join(inner);
    for inner in ["first/out", "elsewhere"] {
        fs::create_dir_all(at(inner)).expect("writable");
    }
    fs::rename(graph_file(folder.path()), at("first/graph.tsv")).expect("writable");
    let people = |shift: usize| {
        format!(
            "id,age\n{}",
            (0..24)
                .map(|i| format!("{i},{}\n", i * i + shift))
                .collect::<String>()
        )
    };
    fs::write(at("first/people.csv"), people(0)).expect("writable");
    fs::write(
        at("first/nodes.txt"),
        (0..30).map(|i| format!("{i}\n")).collect::<String>(),
    )
    .expect("writable");
    let options = [
        "--node-list",
        "nodes.txt",
        "--attributes",
        "people.csv",
        "--dim",
        "12",
    ];
    let run = |inner: &str, args: &[&str]| hone().current_dir(at(inner)).args(args).assert();
    run(
        "first",
        &[
            &["-q", "embed", "graph.tsv", "-o", "out/z.npy"],
            &options[..],
        ]
        .concat(),
    )
    .success();
    let repeat = [
        "-q",
        "embed",
        "-o",
        "again.npy",
        "--force",
        "--config",
        "../first/out/z.npy.run.json",
    ];
    run("elsewhere", &repeat).success();
    assert_eq!(
        fs::read(at("elsewhere/again.npy")).expect("written"),
        fs::read(at("first/out/z.npy")).expect("written")
    );
    // The files of the run are meant, not others of the same name.
    fs::write(at("elsewhere/graph.tsv"), "x y\ny z\n").expect("writable");
    run("elsewhere", &repeat).success();
    // The new record leads there too.
    run(
        ".",
        &[
            "-q",
            "embed",
            "-o",
            "third.npy",
            "--config",
            "elsewhere/again.npy.run.json",
        ],
    )
    .success();
    fs::remove_file(at("elsewhere/graph.tsv")).expect("there");
    // Moved together.
    fs::rename(at("first"), at("moved")).expect("writable");
    let moved = [
        "-q",
        "embed",
        "-o",
        "b.npy",
        "--config",
        "../moved/out/z.npy.run.json",
    ];
    run("elsewhere", &moved).success();
    for (file, said) in [
        ("graph.tsv", "moved"),
        ("people.csv", "moved"),
        ("nodes.txt", "moved"),
    ] {
        fs::rename(at("moved").join(file), at(file)).expect("writable");
        let lost = run("elsewhere", &[&moved[..], &["--force"]].concat()).code(2);
        lost.stderr(
            contains(file).and(contains(format!("neither in ../{said} nor in this folder"))),
        );
        fs::rename(at(file), at("moved").join(file)).expect("writable");
    }
    fs::write(at("moved/people.csv"), people(1)).expect("writable");
    run("elsewhere", &[&moved[..], &["--force"]].concat())
        .code(2)
        .stderr(contains("not the attributes of"));
    // Options of a record that the graph cannot have.
    run(
        "moved",
        &["-q", "embed", "graph.tsv", "--directed", "-o", "d.npy"],
    )
    .success();
    let karate = [
        "embed",
        "builtin:karate",
        "-o",
        "k.npy",
        "--config",
        "d.npy.run.json",
        "--changed",
        "allow",
    ];
    run("moved", &karate)
        .code(2)
        .stderr(contains("--no-directed takes that back").and(contains("d.npy.run.json")));
    run("moved", &[&karate[..], &["--no-directed"]].concat()).success();
}

/// On a machine with a GPU the report names it; without, `cuda` says what is missing and `auto` goes on.
#[test]
fn devices_are_named_or_missed() {
    let folder = folder();
    let embed = |device: &str, name: &str| {
        let output = folder.path().join(name);
        let mut command = hone();
        command
            .args([
                "embed",
                "builtin:karate",
                "--preset",
                "hone-p",
                "--device",
                device,
                "-o",
            ])
            .arg(&output);
        let engine = move || {
            let record =
                fs::read_to_string(format!("{}.run.json", output.display())).expect("a record");
            let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
            record["engine"].as_str().expect("a name").to_owned()
        };
        (command.output().expect("the command runs"), engine)
    };
    let (cpu, engine) = embed("cpu", "cpu.tsv");
    assert!(cpu.status.success() && engine() == "cpu");
    let (cuda, engine) = embed("cuda", "cuda.tsv");
    let said = String::from_utf8_lossy(&cuda.stderr).into_owned();
    if cuda.status.success() {
        assert!(engine().starts_with("cuda:0 ("));
    } else {
        assert_eq!(cuda.status.code(), Some(1), "{said}");
        assert!(
            said.contains("cuda:0: ") && said.contains("device cpu"),
            "{said}"
        );
    }
    let (auto, engine) = embed("auto", "auto.tsv");
    let noted = String::from_utf8_lossy(&auto.stderr).contains("using the CPU: cuda:0: ");
    assert!(
        auto.status.success() && noted != cuda.status.success() && (engine() == "cpu") == noted
    );
    let (wrong, _) = embed("gpu", "wrong.tsv");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        wrong.status.code() == Some(2) && said.contains("one of cpu, cuda, cuda:N"),
        "{said}"
    );
    assert!(!folder.path().join("wrong.tsv").exists());
}
