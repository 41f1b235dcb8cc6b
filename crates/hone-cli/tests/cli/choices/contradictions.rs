//! Choices that say two things about one setting are refused, and both are named; choices without effect are noted.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, hone};

#[test]
fn a_preset_and_a_file_may_not_contradict_each_other() {
    let folder = folder();
    let file = |name: &str, args: &[&str]| {
        let printed = hone().arg("config").args(args).assert().success();
        let path = folder.path().join(name);
        fs::write(&path, &printed.get_output().stdout).expect("writable");
        path
    };
    let config = |preset: &str, file: &Path| {
        hone()
            .args(["config", "--preset", preset, "--config"])
            .arg(file)
            .assert()
    };
    let full = file("full.toml", &["--preset", "hone-p"]);
    let refused = config("hone-l", &full).code(2);
    refused.stderr(
        contains("--preset").and(contains("psi is \"l\" in the preset and \"p\" in the file")),
    );
    config("hone", &full).code(2).stderr(contains("contradict"));
    config("hone-p", &full).success();
    // What the preset does not set, or leaves to a rule, is the file's.
    let tuned = file(
        "tuned.toml",
        &["--preset", "hone-l", "--set", "local.dim=8", "--steps", "3"],
    );
    config("hone-l", &tuned)
        .success()
        .stdout(contains("dim = 8").and(contains("steps = 3")));
    let small = folder.path().join("small.toml");
    fs::write(&small, "[local]\ndim = 24\n").expect("writable");
    config("hone", &small)
        .success()
        .stdout(contains("dim = 24").and(contains("psi = \"a-norm\"")));
    hone()
        .args(["-q", "embed", "builtin:karate", "-o"])
        .arg(folder.path().join("a.npy"))
        .assert()
        .success();
    config("hone", &folder.path().join("a.npy.run.json")).success();
    config("hone-p", &folder.path().join("a.npy.run.json"))
        .code(2)
        .stderr(contains("leave one of the two out"));
}

/// A file without settings changes nothing, for any command that has a configuration.
#[test]
fn an_empty_file_is_the_default() {
    let folder = folder();
    let (empty, graph) = (folder.path().join("empty.toml"), "builtin:karate");
    fs::write(&empty, "").expect("writable");
    for command in [
        &["config"][..],
        &["config", "--steps", "2"],
        &["features", graph, "-q", "-o", "-"],
        &["embed", graph, "-q", "--dim", "16", "-o", "-"],
    ] {
        let plain = hone().args(command).assert().success();
        let with = hone().args(command).arg("--config").arg(&empty).assert();
        assert!(
            with.success().get_output().stdout == plain.get_output().stdout,
            "{command:?}"
        );
    }
}

#[test]
fn an_option_and_a_setting_may_not_contradict_each_other() {
    let cases: [(&str, &[&str], &str, &str); 8] = [
        (
            "embed",
            &["--dim", "32"],
            "global.dim=16",
            "--dim gives 32, and --set global.dim=16 something else",
        ),
        (
            "embed",
            &["--steps", "2"],
            "steps=auto",
            "--steps gives 2, and --set steps=auto",
        ),
        (
            "embed",
            &["--motifs", "edge"],
            "motifs=triangle",
            "--motifs gives edge, and --set motifs=triangle",
        ),
        (
            "embed",
            &["--solver", "nmf"],
            "global.solver.method=svd",
            "--solver gives nmf",
        ),
        ("embed", &["--seed", "7"], "seed=8", "--seed gives 7"),
        (
            "embed",
            &["--stage", "local"],
            "global.output=global",
            "--stage gives local",
        ),
        (
            "features",
            &["--depth", "2"],
            "structure.depth=1",
            "--depth gives 2, and --set structure",
        ),
        (
            "features",
            &["--psi", "p"],
            "psi=w",
            "--psi gives p, and --set psi=w",
        ),
    ];
    for (command, option, setting, said) in cases {
        let run = hone()
            .args([command, "builtin:karate", "-o", "-"])
            .args(option)
            .args(["--set", setting])
            .assert();
        run.code(2)
            .stderr(contains(said).and(contains("leave one of them out")));
    }
    let same: [(&str, &[&str], &str); 4] = [
        ("embed", &["--dim", "16"], "global.dim=16"),
        ("embed", &["--dim", "16"], "local.dim=8"),
        (
            "embed",
            &["--motifs", "edge,triangle"],
            "motifs=[\"edge\", \"triangle\"]",
        ),
        ("features", &["--depth", "0"], "structure.depth=0"),
    ];
    for (command, option, setting) in same {
        let run = hone()
            .args([command, "builtin:karate", "-q", "-o", "-"])
            .args(option)
            .args(["--set", setting])
            .assert();
        run.success();
    }
}

#[test]
fn options_without_effect_are_noted_in_one_line() {
    let folder = folder();
    let attributes = folder.path().join("x.csv");
    fs::write(&attributes, "id,age\n0,3\n1,4\n").expect("writable");
    let attributes = attributes.to_str().expect("text");
    let cases: [(&str, &str, &str); 9] = [
        (
            "embed",
            "--motif-size 3 --pairs occurrences --attribute-id foo",
            "these options have no effect here: --pairs (the only motif is the edge, whose pairs are the edges), \
             --attribute-id (there is no file of attributes), --motif-size (no motif of edge is larger)",
        ),
        (
            "embed",
            "--preset hone-p --stage local --dim 16",
            "this option has no effect here: --dim (the vectors are the local embeddings, 26 of 16 columns)",
        ),
        (
            "embed",
            "--set joint.iterations=3",
            "--set joint.iterations=3 (motif matrices are embedded one by one)",
        ),
        (
            "embed",
            "--set degree=in",
            "--set degree=in (edges have no direction)",
        ),
        (
            "embed",
            "--preset hone-p --motifs edge --sample 8",
            "--sample (counts of edges and of directed motifs are exact)",
        ),
        (
            "features",
            "--over triangle --psi w",
            "--over (nothing is diffused), --psi (nothing is diffused)",
        ),
        (
            "features",
            "--depth 0 --aggregates sum",
            "--aggregates (a depth of 0 has no aggregates over neighbours)",
        ),
        (
            "features",
            "--prune 0.9",
            "--prune (columns are left out from depth 2 on)",
        ),
        (
            "count",
            "--per total --seed 3",
            "--seed (exact counts are not random)",
        ),
    ];
    for (command, options, said) in cases {
        let run = hone()
            .args([command, "builtin:karate", "-o", "-"])
            .args(options.split(' '))
            .assert()
            .success();
        run.stderr(contains("note: th").and(contains(said)));
    }
    let embed = |options: &str| {
        hone()
            .args(["embed", "builtin:karate", "-o", "-"])
            .args(options.split(' '))
            .assert()
    };
    for options in [
        "--dim 16 --seed 3 --steps 2 --local-dim 20 --sample 8",
        "--stage local --dim 32",
        "--preset hone-p --solver nmf --stage local",
        "--preset hone-p --motif-size 3 --pairs occurrences --motifs graphlets",
        &format!("--attributes {attributes} --attribute-id id"),
    ] {
        embed(options).success().stderr(contains("no effect").not());
    }
    // What is said to have no effect has none.
    let rows = |options: &str| embed(options).success().get_output().stdout.clone();
    assert!(
        rows("--seed 0")
            == rows("--motif-size 3 --pairs occurrences --attribute-id foo --set degree=in")
    );
    let local = "--preset hone-p --stage local";
    assert!(
        rows(local)
            == rows(&format!(
                "{local} --dim 16 --set global.solver.oversampling=3"
            ))
    );
}

#[test]
fn messages_of_one_motif_name_the_option() {
    let run = hone()
        .args([
            "embed",
            "builtin:karate",
            "-o",
            "-",
            "--delta",
            "triangle=3",
        ])
        .assert()
        .code(2);
    run.stderr(contains(
        "--delta (delta.triangle): `triangle` is not among the motifs used (edge); name them one by one with --motifs, with it among them",
    ));
}

#[test]
fn the_command_line_wins_over_the_way_a_record_reads_its_graph() {
    let folder = folder();
    let run = |line: &str| {
        hone()
            .current_dir(folder.path())
            .args(line.split(' '))
            .assert()
    };
    fs::write(folder.path().join("d.txt"), "a b 2\nb c 3\nc a 1\nd a 1\n").expect("writable");
    for (how, other) in [
        ("--directed", "--no-directed"),
        ("--weighted", "--no-weighted"),
        ("--no-header", "--header"),
    ] {
        run(&format!("embed d.txt -q -f -o d.tsv {how}")).success();
        let again = run(&format!(
            "embed -f -o e.tsv --config d.tsv.run.json {other}"
        ))
        .success();
        again.stderr(
            contains("not the graph of d.tsv.run.json")
                .and(contains("the command line reads it with other options")),
        );
        run(&format!("embed -f -o e.tsv --config d.tsv.run.json {how}"))
            .success()
            .stderr(contains("not the graph").not());
    }
    fs::write(folder.path().join("d.txt"), "a b 2\nb c 3\nc a 1\nd b 1\n").expect("writable");
    run("embed -f -o e.tsv --config d.tsv.run.json")
        .code(2)
        .stderr(contains("--changed allow"));
}

#[test]
fn sizes_keep_the_units_that_were_typed() {
    let embed = |memory: &str| {
        hone()
            .args(["embed", "builtin:karate", "-o", "-", "--memory", memory])
            .assert()
            .code(2)
    };
    embed("5MB").stderr(contains("but only 5 MB may be used").and(contains("iB").not()));
    for binary in ["5M", "5MiB", "5 MIB"] {
        embed(binary).stderr(contains("but only 5 MiB may be used").and(contains(" MB").not()));
    }
    for command in ["info", "draw", "roles", "map", "eval link"] {
        let run = hone()
            .args(command.split(' '))
            .args(["builtin:karate", "--memory", "much"])
            .assert()
            .code(2);
        run.stderr(contains("a size such as 8G (8 GiB)"));
    }
}
