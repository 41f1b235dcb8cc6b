//! Files that have the names of companions of an output and are none, and folders whose files have names of their own.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use super::{folder, hone};

/// What stands where the record of an output would be, and is an input of the run, is not removed with the old output.
#[test]
fn an_input_is_no_companion_of_an_output() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for name in ["x.svg", "x.svg.run.json"] {
        fs::copy(at("nodes.txt"), at(name)).expect("copied");
    }
    let refused = hone(
        folder.path(),
        "draw g.tsv --node-list x.svg.run.json -o x.svg --force",
    )
    .code(2);
    refused.stderr(
        contains("x.svg.run.json, the input of --node-list")
            .and(contains("x.svg; write to another file")),
    );
    fs::copy(at("g.tsv"), at("y.svg.run.json")).expect("copied");
    hone(
        folder.path(),
        "draw y.svg.run.json --input-format edges -o y.svg --force",
    )
    .code(2);
    assert_eq!(
        fs::read(at("x.svg.run.json")).expect("there"),
        fs::read(at("nodes.txt")).expect("there")
    );
    assert_eq!(
        fs::read(at("y.svg.run.json")).expect("there"),
        fs::read(at("g.tsv")).expect("there")
    );
}

/// A record of an earlier run goes with what it describes, and only when that may be replaced; notes of someone's own stay.
#[test]
fn only_records_are_removed_and_only_by_force() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let generate = |more: &str| {
        hone(
            folder.path(),
            &format!("-q generate er --nodes 20 --degree 4 -o q.tsv{more}"),
        )
    };
    fs::write(at("q.tsv.run.json"), "my notes").expect("written");
    generate("").success();
    generate(" --force").success();
    assert_eq!(fs::read(at("q.tsv.run.json")).expect("there"), b"my notes");
    fs::remove_file(at("q.tsv")).expect("there");
    hone(folder.path(), "-q embed g.tsv -o r.tsv --dim 4").success();
    fs::rename(at("r.tsv.run.json"), at("q.tsv.run.json")).expect("there");
    generate("")
        .code(2)
        .stderr(contains("q.tsv.run.json").and(contains("--force")));
    assert!(at("q.tsv.run.json").exists() && !at("q.tsv").exists());
    generate(" --force").success();
    assert!(!at("q.tsv.run.json").exists());
    for (text, stays) in [
        ("{\"version\": \"0.1.0\", \"fi", false),
        ("{\"my\": \"notes\"}", true),
    ] {
        fs::write(at("q.tsv.run.json"), text).expect("written");
        generate(" --force").success();
        assert_eq!(at("q.tsv.run.json").exists(), stays, "{text}");
    }
    fs::write(at("q.svg.run.json"), "my notes").expect("written");
    hone(folder.path(), "-q draw g.tsv -o q.svg").success();
    hone(folder.path(), "-q draw g.tsv -o q.svg --force").success();
    assert_eq!(fs::read(at("q.svg.run.json")).expect("there"), b"my notes");
}

/// Reports are not written among the files of saved vectors and of cells, whose names the command chooses.
#[test]
fn reports_stay_out_of_folders_with_names_of_their_own() {
    let folder = folder();
    let run = "eval link g.tsv --methods degree --seeds 1";
    for (option, more) in [
        ("--save", " -f"),
        ("--save", ""),
        ("--cache", " -f"),
        ("--cache", ""),
    ] {
        let refused = hone(
            folder.path(),
            &format!("{run} {option} kept -o kept/manifest.json{more}"),
        )
        .code(2);
        refused.stderr(contains(option).and(contains("is in the folder")));
        assert!(!folder.path().join("kept/manifest.json").exists());
    }
    fs::create_dir(folder.path().join("kept")).expect("made");
    hone(
        folder.path(),
        &format!("{run} --save kept -o kept/report.html"),
    )
    .success();
}

/// Sizes far beyond any disk are refused before anything is made.
#[test]
fn graphs_of_absurd_sizes_are_refused() {
    let folder = folder();
    for model in [
        "barbell --size 99999999",
        "ring-of-cliques --cliques 2 --size 99999999",
    ] {
        let refused = hone(folder.path(), &format!("generate {model} -o x.tsv")).code(2);
        refused.stderr(contains("--size: about ").and(contains("edges; there can be up to")));
        assert!(!folder.path().join("x.tsv").exists());
    }
}
