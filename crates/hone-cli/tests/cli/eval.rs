//! `hone eval` through the real binary.

mod directed;
mod split;

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

fn hone() -> Command {
    Command::cargo_bin("hone").expect("the binary of this package")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn every_method_is_listed() {
    let list = hone().args(["list", "methods"]).assert().success();
    list.stdout(
        contains("hone-p")
            .and(contains("node2vec"))
            .and(contains("katz"))
            .and(contains("file:PATH")),
    );
}

#[test]
fn sizes_of_baselines_are_checked_before_anything_is_allocated() {
    for (method, named) in [
        (
            "node2vec:dim=4611686018427387904",
            "dim is 4611686018427387904; must be from 1 to 65536",
        ),
        ("deepwalk:walks=4611686018427387904", "walks is"),
        ("node2vec:window=4611686018427387904", "window is"),
        ("line:samples=18446744073709551615", "samples is"),
        ("grarep:steps=99", "steps is 99"),
        ("random:dim=99999999", "dim is 99999999"),
        // Each in range, but not all together.
        (
            "node2vec:length=100000,window=10000,negatives=1000",
            "smaller `length`, `window` or `negatives`",
        ),
    ] {
        let run = hone()
            .args([
                "eval",
                "link",
                "builtin:karate",
                "--seeds",
                "1",
                "--methods",
                method,
            ])
            .assert();
        run.code(2)
            .stderr(contains(named).and(contains("panicked").not()));
    }
}

#[test]
fn link_prediction_in_all_formats_and_again_from_the_cache() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let run = || {
        let mut run = hone();
        run.args([
            "eval",
            "link",
            "builtin:karate",
            "--methods",
            "degree,spectral:dim=2|4,skip_trivial=true,katz",
        ]);
        run.args(["--seeds", "2", "--operators", "mean,hadamard", "--cache"])
            .arg(path("cache"));
        run
    };
    let first = run()
        .arg("-o")
        .arg(path("r.json"))
        .arg("-o")
        .arg(path("r.html"))
        .assert()
        .success();
    first.stdout(
        contains("AUC, mean operator")
            .and(contains(
                "Chosen by validation for spectral:dim=2|4,skip_trivial=true: dim=",
            ))
            .and(contains("±")),
    );
    assert!(
        fs::read_to_string(path("r.html"))
            .expect("written")
            .contains("<svg")
    );
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(path("r.json")).expect("written")).expect("well formed");
    assert_eq!(json["tables"][0]["rows"].as_array().map(Vec::len), Some(3));
    let runs = json["runs"].as_array().expect("every single result");
    assert_eq!(runs.len(), 2 * 3);
    assert!(
        runs[1]["results"][0]["candidate"]
            .as_str()
            .is_some_and(|chosen| chosen.starts_with("dim=")),
        "{}",
        runs[1]
    );
    run()
        .arg("--csv")
        .assert()
        .success()
        .stdout(contains("table,row,column,mean,std,count,chosen,seeds"));
    run()
        .arg("--markdown")
        .assert()
        .success()
        .stdout(contains("chosen by validation").and(contains("dim=")));
    let page = fs::read_to_string(path("r.html")).expect("written");
    assert!(page.contains("Chosen by validation") && page.contains("skip_trivial=true"));
    run()
        .arg("-o")
        .arg(path("r.json"))
        .assert()
        .code(2)
        .stderr(contains("exists"));
}

#[test]
fn graphs_are_read_as_by_every_other_command() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let rows: String = (0..40)
        .map(|i| format!("{};x;n{};{}\n", i + 1, i % 9, (i * 5 + 3) % 11))
        .collect();
    fs::write(path("g.data"), format!("w;note;from;to\n{rows}")).expect("written");
    let id = |i: u32| {
        if i < 9 {
            format!("n{i}")
        } else {
            (i - 9).to_string()
        }
    };
    let labels: String = (0..20).map(|i| format!("{}\t{}\n", id(i), i % 2)).collect();
    fs::write(path("labels.tsv"), labels).expect("written");
    let how = [
        "--header",
        "--delimiter",
        ";",
        "--source",
        "from",
        "--target",
        "to",
        "--weight",
        "w",
    ];
    let how = [&how[..], &["--input-format", "edges"]].concat();
    let run = |task: &str, more: &[&str]| {
        let mut run = hone();
        run.args(["eval", task])
            .arg(path("g.data"))
            .args(&how)
            .args(more)
            .current_dir(folder.path())
            .assert()
            .success();
    };
    run("link", &["--methods", "degree", "--seeds", "1", "--csv"]);
    run("split", &["-o", "s"]);
    run(
        "nodes",
        &[
            "--methods",
            "degree",
            "--seeds",
            "1",
            "--labels",
            "labels.tsv",
        ],
    );
    run(
        "roles",
        &[
            "--methods",
            "degree",
            "--seeds",
            "1",
            "--labels",
            "labels.tsv",
        ],
    );
    let train = fs::read_to_string(path("s/train.tsv")).expect("written");
    assert!(
        train.starts_with("source\ttarget\tweight\n") && train.contains("\nn"),
        "{train}"
    );
}

#[test]
fn roles_need_labels_that_fit() {
    let folder = folder();
    let labels = folder.path().join("labels.tsv");
    let text: String = (0..34)
        .map(|i| format!("{i}\t{}\n", u8::from([0, 33, 32, 2, 1].contains(&i))))
        .collect();
    fs::write(&labels, text).expect("written");
    let run = |task: &str| {
        let mut run = hone();
        run.args([
            "eval",
            task,
            "builtin:karate",
            "--methods",
            "degree",
            "--seeds",
            "2",
            "--labels",
        ])
        .arg(&labels);
        run
    };
    run("roles")
        .assert()
        .success()
        .stdout(contains("accuracy").and(contains("NMI")));
    run("nodes")
        .args(["--train", "50"])
        .assert()
        .success()
        .stdout(contains("macro F1"));
    // Gains have intervals, and several labels per node are told.
    let several: String = (0..34).map(|i| format!("{i}\t{},x\n", i % 2)).collect();
    fs::write(&labels, several).expect("written");
    let mut both = hone();
    both.args([
        "eval",
        "nodes",
        "builtin:karate",
        "--methods",
        "hone:dim=8,degree",
    ]);
    both.args(["--seeds", "3", "--train", "50", "--labels"])
        .arg(&labels);
    both.assert().success().stdout(
        contains("karate: gain in micro F1")
            .and(contains("hone:dim=8 over degree"))
            .and(contains("from"))
            .and(contains("no p-value is given"))
            .and(contains(
                "given the number of labels of each node (2.0 on average)",
            )),
    );
    fs::write(&labels, "nobody\t1\n").expect("written");
    run("roles")
        .assert()
        .code(2)
        .stderr(contains("none of its nodes"));
}

#[test]
fn slips_are_usage_errors() {
    for (args, part) in [
        (
            vec!["link", "builtin:karate", "--methods", "node3vec"],
            "`node3vec` is not a method",
        ),
        (
            vec!["link", "builtin:karate", "--operators", "sum"],
            "not one of mean",
        ),
        (
            vec!["link", "builtin:karate", "--protocol", "all"],
            "not one of select10",
        ),
        (
            vec!["link", "builtin:karate", "--removed", "1.5"],
            "not between 0 and 1",
        ),
        (
            vec!["link", "builtin:karate", "--methods", "hone:seed=3"],
            "its own seed",
        ),
        (
            vec!["link", "builtin:karate", "--save", "Cargo.toml"],
            "is a file",
        ),
        (
            vec!["link", "builtin:karate", "builtin:karate"],
            "given twice",
        ),
        (
            vec!["link", "builtin:karate", "--operators", "mean+mean"],
            "twice",
        ),
        (
            vec!["link", "builtin:karate", "--methods", "file:"],
            "no such file",
        ),
        (
            vec!["link", "builtin:karate", "--cache", "Cargo.toml"],
            "is a file",
        ),
        (
            vec!["nodes", "builtin:karate", "--labels", "x", "--train", "150"],
            "above 0 and below 100",
        ),
    ] {
        hone()
            .arg("eval")
            .args(args)
            .assert()
            .code(2)
            .stderr(contains(part));
    }
}

#[test]
fn a_run_may_begin_at_any_seed() {
    let run = |seeds: &[&str]| {
        let mut run = hone();
        run.args([
            "eval",
            "link",
            "builtin:karate",
            "--methods",
            "degree,random",
            "--json",
        ])
        .args(seeds);
        let json = run.assert().success().get_output().stdout.clone();
        let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        let runs = json["runs"].as_array().expect("a list").clone();
        runs.into_iter()
            .map(|run| (run["seed"].clone(), run["results"].clone()))
            .collect::<Vec<_>>()
    };
    let (three, last) = (
        run(&["--seeds", "3"]),
        run(&["--seeds", "1", "--first-seed", "2"]),
    );
    assert_eq!((three.len(), last.len()), (6, 2));
    assert_eq!(three[4..], last);
}

#[test]
fn labels_are_judged_under_the_seeds_that_are_asked_for() {
    let folder = folder();
    let labels = folder.path().join("labels.tsv");
    fs::write(
        &labels,
        (0..34)
            .map(|i| format!("{i}\t{}\n", i % 2))
            .collect::<String>(),
    )
    .expect("written");
    for task in ["nodes", "roles"] {
        let mut run = hone();
        run.args([
            "eval",
            task,
            "builtin:karate",
            "--methods",
            "degree",
            "--seeds",
            "2",
            "--first-seed",
            "101",
        ]);
        let json = run
            .args(["--json", "--labels"])
            .arg(&labels)
            .assert()
            .success()
            .get_output()
            .stdout
            .clone();
        let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        let seeds: Vec<u64> = json["runs"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|r| r["seed"].as_u64())
            .collect();
        assert_eq!(seeds, [101, 102], "{task}");
    }
}

#[test]
fn few_seeds_are_not_tested_for_significance() {
    let run = |seeds: &str| {
        let mut run = hone();
        run.args([
            "eval",
            "link",
            "builtin:karate",
            "--methods",
            "hone-p:dim=4,degree",
            "--seeds",
            seeds,
        ])
        .assert()
        .success()
    };
    run("2").stdout(contains(
        "Not tested: 2 seeds cannot reach p < 0.05; it takes 6.",
    ));
    run("6").stdout(
        contains("Not tested")
            .not()
            .and(contains("Wilcoxon signed-rank test over seeds"))
            .and(contains("not about other graphs")),
    );
}

/// A method that needs more memory than it may take has no figures; the others have theirs, and the exit code tells.
#[test]
fn a_failing_method_does_not_end_the_others() {
    let folder = folder();
    let labels = folder.path().join("labels.tsv");
    let text: String = (0..34).map(|i| format!("{i}\t{}\n", i % 2)).collect();
    fs::write(&labels, text).expect("written");
    let reason = "GraRep needs about";
    for task in ["link", "nodes", "roles"] {
        let run = |methods: &str| {
            let mut run = hone();
            run.args(["eval", task, "builtin:karate", "--seeds", "2"]);
            run.args(["--methods", methods, "-f", "-o"]);
            run.arg(folder.path().join("r.json"));
            if task != "link" {
                run.arg("--labels").arg(&labels);
            }
            run.assert()
        };
        let some = run("grarep:memory=1000,degree").code(3);
        let note = format!("grarep:memory=1000 failed on builtin:karate (–): {reason}");
        some.stdout(
            contains(note.as_str())
                .count(if task == "roles" { 3 } else { 2 })
                .and(contains("degree")),
        )
        .stderr(contains(
            "no results of grarep:memory=1000 on builtin:karate",
        ));
        let json = fs::read(folder.path().join("r.json")).expect("written");
        let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        let rows = json["tables"][0]["rows"].as_array().expect("rows");
        assert!(
            rows[0][1][0].is_null() && rows[1][1][0]["mean"].is_number(),
            "{task}"
        );
        assert_eq!(json["runs"].as_array().map(Vec::len), Some(2), "{task}");
        let failed = &json["failures"][0];
        assert_eq!(failed["method"], "grarep:memory=1000", "{task}");
        assert!(
            failed["reason"]
                .as_str()
                .is_some_and(|r| r.contains(reason)),
            "{task}"
        );
        // Nothing is left: that is an error as any other.
        run("grarep:memory=1000").code(2).stderr(contains(reason));
    }
}

#[test]
fn vectors_of_all_methods_are_kept() {
    let folder = folder();
    let kept = folder.path().join("kept");
    let run = |methods: &str| {
        let mut run = hone();
        run.args([
            "eval",
            "link",
            "builtin:karate",
            "--seeds",
            "2",
            "--csv",
            "--methods",
            methods,
            "--save",
        ]);
        run.arg(&kept).assert().success()
    };
    let first = run("hone:dim=32,degree").stderr(contains("manifest.json lists 4 files"));
    let first = String::from_utf8(first.get_output().stdout.clone()).expect("text");
    assert!(kept.join("builtin_karate/hone-dim=32-1.npz").exists());
    let again = run(&format!(
        "file:{}/builtin_karate/degree-{{seed}}.npz",
        kept.display()
    ));
    let again = String::from_utf8(again.get_output().stdout.clone()).expect("text");
    let figures = |text: &str, row: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| line.starts_with("\"A") && line.contains(row));
        lines
            .map(|line| line.rsplit("\",").next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(
        figures(&first, "\"degree\""),
        figures(&again, "degree-"),
        "{first}{again}"
    );
    assert_eq!(figures(&again, "degree-").len(), 2);
}

#[test]
fn methods_are_named_once() {
    let link = |methods: &str| {
        let mut run = hone();
        run.args([
            "eval",
            "link",
            "builtin:karate",
            "--seeds",
            "1",
            "--methods",
            methods,
        ])
        .assert()
        .code(2)
    };
    link(",").stderr(contains("none is named"));
    link("degree,degree").stderr(contains("named twice"));
}

#[test]
fn vectors_of_a_file_are_read_anew_whatever_the_cache_holds() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let run = || {
        let mut run = hone();
        run.args([
            "eval",
            "link",
            "builtin:karate",
            "--seeds",
            "1",
            "--csv",
            "--methods",
        ]);
        run.arg(format!("file:{}", path("z.tsv").display()))
            .arg("--cache")
            .arg(path("cache"));
        run.assert().success().get_output().stdout.clone()
    };
    let embed = |preset: &str| {
        let mut embed = hone();
        embed
            .args([
                "embed",
                "builtin:karate",
                "--force",
                "--preset",
                preset,
                "--dim",
                "20",
                "-o",
            ])
            .arg(path("z.tsv"));
        embed.assert().success();
        fs::remove_file(path("z.tsv.run.json"))
            .expect("without it nothing says that these are of the whole graph");
    };
    embed("hone");
    let first = run();
    embed("hone-l");
    assert_ne!(first, run());
}

#[test]
fn attributes_of_a_file_are_read_anew_whatever_the_cache_holds() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let run = |value: &dyn Fn(u32) -> u32| {
        let rows: String = (0..34).map(|id| format!("{id},{}\n", value(id))).collect();
        fs::write(path("x.csv"), format!("id,x\n{rows}")).expect("writable");
        let mut run = hone();
        run.args(["eval", "link", "builtin:karate", "--seeds", "1", "--csv"]);
        run.args(["--operators", "hadamard", "--methods"]);
        run.arg(format!("hone:attributes.file={}", path("x.csv").display()));
        run.arg("--cache").arg(path("cache"));
        run.assert().success().get_output().stdout.clone()
    };
    let first = run(&|id| id % 2);
    assert_ne!(first, run(&|id| id * id % 7));
}

/// The command that is recommended runs as it is printed, and reads the graph as the tuning did.
#[test]
#[cfg(unix)]
fn the_next_command_runs_as_it_is_printed() {
    let folder = folder();
    let edges = (0..40u32).flat_map(|i| [(i, (i + 1) % 40), (i, (i * 7 + 3) % 40)]);
    let table: String = edges
        .map(|(a, b)| format!("{a};{b};{}\n", 1 + a % 3))
        .collect();
    fs::write(
        folder.path().join("my pay's.csv"),
        format!("-from;to;amount\n{table}"),
    )
    .expect("writable");
    let mut tune = hone();
    tune.current_dir(folder.path()).args([
        "tune",
        "my pay's.csv",
        "--rounds",
        "1",
        "--directed",
        "--delimiter",
        ";",
    ]);
    tune.args([
        "--source=-from",
        "--weight",
        "amount",
        "--candidate",
        "hone:dim=8",
        "--candidate",
        "hone:dim=4",
    ]);
    let tuned = tune.args(["-o", "best it.toml"]).assert().success();
    let said = String::from_utf8_lossy(&tuned.get_output().stderr).into_owned();
    let next = said
        .lines()
        .find_map(|line| line.strip_prefix("next: hone "))
        .expect("a next command");
    let binary = hone().get_program().to_owned();
    let script = format!("\"$HONE\" -q {next}");
    let mut shell = std::process::Command::new("sh");
    let ended = shell
        .arg("-c")
        .arg(&script)
        .env("HONE", binary)
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    assert!(
        ended.status.success(),
        "{next}: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let record = fs::read(folder.path().join("vectors.npy.run.json")).expect("written");
    let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
    let graph = &record["graph"];
    assert_eq!(
        (&graph["directed"], &graph["weighted"]),
        (&true.into(), &true.into()),
        "{graph}"
    );
}

#[test]
fn settings_are_tuned_written_and_repeated() {
    let folder = folder();
    let run = |line: &str| {
        hone()
            .args(line.split(' '))
            .current_dir(folder.path())
            .assert()
    };
    let labels: String = (0..34).map(|i| format!("{i}\t{}\n", i % 2)).collect();
    fs::write(folder.path().join("labels"), labels + "99\ta\n").expect("writable");
    let tune =
        "tune builtin:karate --candidate hone:dim=8 --candidate hone:dim=8,steps=2|4 --rounds 2";
    let first = run(&format!("{tune} --labels labels -o best.toml")).success();
    first
        .stdout(
            contains("hone:dim=8,steps=4")
                .and(contains("labels (F1)"))
                .and(contains("hone:dim=8 stays: ")),
        )
        .stderr(contains("1 labelled node is not in the graph"));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("written");
    assert!(read("best.toml").contains("dim = 8"));
    run("embed builtin:karate -q --config best.toml -o z.npy").success();
    run("tune -o again.toml --config best.toml.run.json").success();
    let rows = |name: &str| {
        let record: serde_json::Value = serde_json::from_str(&read(name)).expect("JSON");
        record["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| row["links"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(rows("best.toml.run.json"), rows("again.toml.run.json"));
    assert_eq!(read("best.toml"), read("again.toml"));
    let none = run(&format!("{tune} --time 0s --json")).success();
    let said: serde_json::Value = serde_json::from_slice(&none.get_output().stdout).expect("JSON");
    assert_eq!((&said["rounds"], &said["chosen"]), (&0.into(), &0.into()));
    assert_eq!(
        said["verdict"],
        "no round finished in 0s, so nothing was compared; hone:dim=8 stays. Try 9s (--time) or fewer candidates (--candidate)"
    );
    run(&format!("{tune} --time 0s -o none.toml"))
        .code(3)
        .stderr(contains("none.toml is not written"));
    assert!(!folder.path().join("none.toml").exists());
    // What cannot be computed here is left out.
    run("tune builtin:karate --candidate hone --candidate hone-p --candidate hone:motifs=triads --rounds 1")
        .code(3)
        .stdout(contains("hone:motifs=triads failed (–): ").and(contains("hone-p")))
        .stderr(contains("no results of hone:motifs=triads"));
    for (line, named) in [
        ("tune builtin:karate -o best.toml", "best.toml exists"),
        (
            "tune builtin:karate --candidate hone --candidate node2vec",
            "`node2vec` is not a preset",
        ),
        (
            "tune builtin:karate --goal labels",
            "--goal: labels can decide only if there are some",
        ),
        (
            "tune builtin:karate --goal links --labels labels",
            "--goal: links decide",
        ),
        (
            "tune builtin:karate --json -o -",
            "--json: standard output has the result",
        ),
        ("tune builtin:karate --removed 1.5", "--removed: "),
        ("tune builtin:karate --time 5", "90s, 10m or 2h"),
        (
            "tune builtin:karate --labels labels -f -o labels",
            "is the input of --labels",
        ),
    ] {
        run(line).code(2).stderr(contains(named));
    }
}
