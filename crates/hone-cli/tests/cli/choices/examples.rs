//! Every example in every help text runs, alone in a fresh folder, and those of one story in one folder, in order.

use std::fs;
use std::io::Write;
use std::path::Path;

use assert_cmd::Command;

use super::{folder, hone};

/// Names of the subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1);
    let listed = listed.take_while(|line| !line.trim().is_empty());
    const GROUPS: [&str; 5] = ["make", "ask", "keep", "judge", "about"];
    listed
        .flat_map(|line| {
            // Commands without a line of their own stand together: `completions, man`.
            let mut words = line
                .split_whitespace()
                .skip_while(|word| GROUPS.contains(word));
            let first = words.next();
            let several = first.is_some_and(|name| name.ends_with(','));
            first.into_iter().chain(words.take_while(move |_| several))
        })
        .map(|name| name.trim_end_matches(',').to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// All example lines of a command and of those below it.
fn examples(command: &[String], found: &mut Vec<String>) {
    let help = hone().args(command).arg("--help").assert().success();
    let help = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
    let listed = help
        .lines()
        .skip_while(|line| !line.starts_with("Examples:"))
        .skip(1);
    let lines = listed
        .take_while(|line| !line.trim().is_empty())
        .map(str::trim);
    // What an example does may stand behind it, after two spaces.
    found.extend(lines.map(|line| {
        line.split("   ")
            .next()
            .unwrap_or(line)
            .split("  ")
            .next()
            .unwrap_or(line)
            .to_owned()
    }));
    for name in subcommands(&help) {
        examples(&[command, &[name]].concat(), found);
    }
}

/// A smaller run of the same kind: fewer nodes, walks and candidates, one split, cheap methods where the example names none.
pub(super) fn smaller(example: &str) -> String {
    let shrink = |word: &str| {
        let is_large = |part: &str| part.len() > 3 && part.bytes().all(|b| b.is_ascii_digit());
        let part = |part| match part {
            "node2vec" | "deepwalk" => format!("{part}:walks=1"),
            "node2vec'" => "node2vec:walks=1'".to_owned(),
            part if is_large(part) => "300".to_owned(),
            part => part.to_owned(),
        };
        word.split(',').map(part).collect::<Vec<_>>().join(",")
    };
    let example = example.replace(
        "--source from --target to",
        "--source source --target target",
    );
    let line = example
        .split(' ')
        .map(shrink)
        .collect::<Vec<_>>()
        .join(" ")
        .replace("--seeds 3", "--seeds 1")
        .replace("--seeds 6", "--seeds 1");
    let unless = |option: &str, value: &str| {
        if line.contains(option) {
            String::new()
        } else {
            format!(" {option} {value}")
        }
    };
    let mut words = line.split(' ');
    match (words.nth(1), words.next()) {
        (Some("eval"), Some("link" | "nodes" | "roles")) => {
            format!(
                "{line}{}{}",
                unless("--seeds", "1"),
                unless("--methods", "degree")
            )
        }
        (Some("tune"), _) if !line.contains("--config") => {
            let small = |is_candidate: &mut bool, word: &str| {
                let few = if word.contains(':') {
                    ",dim=8"
                } else {
                    ":dim=8"
                };
                let word = if std::mem::replace(is_candidate, word == "--candidate") {
                    [word, few].concat()
                } else {
                    word.into()
                };
                Some(word)
            };
            let line = line
                .split(' ')
                .scan(false, small)
                .collect::<Vec<_>>()
                .join(" ")
                .replace("--rounds 3", "--rounds 1");
            let candidates = unless("--candidate", "hone:dim=8 --candidate hone:dim=4");
            format!("{line}{}{candidates}", unless("--rounds", "1"))
        }
        _ => line,
    }
}

/// Files that examples read, small.
fn stand_ins(folder: &Path, example: &str) {
    let make = |args: &[&str]| {
        drop(
            hone()
                .current_dir(folder)
                .arg("-q")
                .args(args)
                .assert()
                .success(),
        );
    };
    for file in [
        "graph.tsv",
        "graph.tsv.gz",
        "graph.mtx",
        "hubs.tsv",
        "a.tsv",
        "b.tsv",
        "g.tsv",
        "ca-netscience.edges",
    ] {
        let read = example
            .split("-o ")
            .next()
            .unwrap_or(example)
            .split(' ')
            .any(|word| word == file);
        if read {
            make(&[&SBM[..], &[file]].concat());
        }
    }
    let explored = [
        "hone similar",
        "hone layout",
        "hone roles",
        "hone map",
        "hone info vectors.npy",
    ];
    if explored.iter().any(|command| example.starts_with(command)) {
        let names = ["alice", "bob", "king", "woman", "man"];
        let name = |i: usize| {
            names
                .get(i)
                .map_or_else(|| i.to_string(), ToString::to_string)
        };
        let edge = |i: usize, step: usize| format!("{}\t{}\n", name(i), name((i * step + 1) % 60));
        let text: String = (0..60).flat_map(|i| [edge(i, 7), edge(i, 3)]).collect();
        fs::write(folder.join("graph.tsv"), text).expect("writable");
        make(&["embed", "graph.tsv", "-o", "vectors.npy"]);
        make(&["embed", "builtin:karate", "-o", "karate.tsv"]);
    }
    if example.contains("--weighted") {
        let text: String = (0..60)
            .map(|i| format!("{i}\t{}\t{}.5\n", (i * 7 + 1) % 60, i % 4))
            .collect();
        let file = fs::File::create(folder.join("graph.tsv.gz")).expect("writable");
        let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        out.write_all(text.as_bytes())
            .and_then(|()| out.finish().map(drop))
            .expect("writable");
    }
    let lines = |of: &dyn Fn(usize) -> String| (0..60).map(of).collect::<String>();
    fs::write(
        folder.join("people.csv"),
        format!("id,age\n{}", lines(&|i| format!("{i},{}\n", 20 + i % 7))),
    )
    .expect("writable");
    fs::write(
        folder.join("labels.tsv"),
        lines(&|i| format!("{i}\t{}\n", i / 30)),
    )
    .expect("writable");
    for inner in [
        "DIR",
        "docs",
        "site",
        ".local/share/man/man1",
        ".local/share/bash-completion/completions",
        ".config/fish/completions",
    ] {
        fs::create_dir_all(folder.join(inner)).expect("writable");
    }
    if example.contains("--update counts.tsv") {
        make(&["count", "graph.tsv", "-o", "counts.tsv"]);
        fs::write(folder.join("added.tsv"), "0\t1000\n").expect("writable");
        let text = fs::read_to_string(folder.join("graph.tsv")).expect("made above");
        let first = text
            .lines()
            .find(|line| !line.starts_with('#'))
            .expect("an edge");
        fs::write(folder.join("removed.tsv"), first).expect("writable");
    }
    if example.contains("table.parquet") {
        make(&[
            "generate",
            "er",
            "--nodes",
            "60",
            "--degree",
            "6",
            "-o",
            "table.parquet",
        ]);
    }
    if example.contains("--config best.toml") && !example.contains("run.json") {
        make(&[&TUNE[..], &["best.toml"]].concat());
    }
    if example.contains("--add new.tsv") {
        fs::write(folder.join("new.tsv"), "90001\t0\n90001\t1\n").expect("writable");
    }
    if example.contains("--model people.hone") {
        make(&[
            "embed",
            "graph.tsv",
            "-o",
            "fit.npy",
            "--attributes",
            "people.csv",
            "--save-model",
            "people.hone",
        ]);
    }
    if example.contains("--model graph.hone") || example.starts_with("hone info graph.hone") {
        make(&[&SBM[..], &["graph.tsv", "--force"]].concat());
        make(&[
            "embed",
            "graph.tsv",
            "-o",
            "fit.npy",
            "--save-model",
            "graph.hone",
        ]);
    }
    earlier_run(folder, example);
}

/// The record of an earlier run of the same command, or of an embedding, where an example repeats one.
fn earlier_run(folder: &Path, example: &str) {
    let make = |args: &[&str]| {
        drop(
            hone()
                .current_dir(folder)
                .arg("-q")
                .args(args)
                .assert()
                .success(),
        );
    };
    let Some(file) = example
        .split(' ')
        .find_map(|word| word.strip_suffix(".run.json"))
    else {
        return;
    };
    if !folder.join("graph.tsv").exists() {
        make(&[&SBM[..], &["graph.tsv"]].concat());
    }
    let command = example.split(' ').nth(1).unwrap_or_default();
    match command {
        "similar" => make(&["similar", "vectors.npy", "--all", "-o", file]),
        "layout" => make(&["layout", "vectors.npy", "-o", file]),
        "count" | "roles" | "map" => make(&[command, "graph.tsv", "-o", file]),
        "tune" => make(&[&TUNE[..], &[file]].concat()),
        "place" => {
            let fit = ["embed", "graph.tsv", "-o", "fit.npy", "--save-model"];
            make(&[&fit[..], &["graph.hone"]].concat());
            make(&["place", "graph.tsv", "--model", "graph.hone", "-o", file]);
        }
        _ => make(&["embed", "graph.tsv", "-o", file]),
    }
}

/// A small graph of two communities.
const SBM: [&str; 11] = [
    "generate",
    "sbm",
    "--nodes",
    "60",
    "--degree",
    "10",
    "--communities",
    "2",
    "--mixing",
    "0.1",
    "-o",
];

/// A short comparison of settings.
const TUNE: [&str; 9] = [
    "tune",
    "graph.tsv",
    "--candidate",
    "hone:dim=8",
    "--candidate",
    "hone:dim=4",
    "--rounds",
    "1",
    "-o",
];

/// Runs an example, as given or smaller, in a shell.
fn run_in(folder: &Path, example: &str, line: &str) {
    let binary = assert_cmd::cargo::cargo_bin("hone");
    let path = format!(
        "{}:{}",
        binary.parent().expect("a folder").display(),
        std::env::var("PATH").expect("set")
    );
    let run = Command::new("bash")
        .args(["-c", &format!("set -e; fpath=(. \"$HOME/site\"); {line}")])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", &path)
        .timeout(std::time::Duration::from_secs(300))
        .output()
        .expect("bash");
    assert!(
        run.status.success(),
        "{example}: {}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn every_example_in_the_help_runs() {
    let mut all = Vec::new();
    examples(&[], &mut all);
    assert!(
        all.len() > 30 && all.iter().all(|line| line.contains("hone ")),
        "{all:?}"
    );
    all.sort();
    all.dedup();
    for example in all {
        let folder = folder();
        stand_ins(folder.path(), &example);
        run_in(folder.path(), &example, &smaller(&example));
    }
}

/// Examples of `embed` write what those of other commands read; nothing is in the way of anything.
#[test]
fn examples_of_one_graph_run_in_order_in_one_folder() {
    let folder = folder();
    let names = ["alice", "bob", "king", "woman", "man"];
    let name = |i: usize| {
        names
            .get(i)
            .map_or_else(|| i.to_string(), ToString::to_string)
    };
    let edge = |i: usize, step: usize| format!("{}\t{}\n", name(i), name((i * step + 1) % 60));
    let text: String = (0..60).flat_map(|i| [edge(i, 7), edge(i, 3)]).collect();
    let write =
        |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("writable");
    write("graph.tsv", &text);
    write("hubs.tsv", &text);
    write("added.tsv", "alice\tzoe\n");
    write("removed.tsv", text.lines().next().expect("an edge"));
    write(
        "people.csv",
        &format!(
            "id,age\n{}",
            (0..60)
                .map(|i| format!("{},{}\n", name(i), 20 + i % 7))
                .collect::<String>()
        ),
    );
    write(
        "labels.tsv",
        &(0..60)
            .map(|i| format!("{}\t{}\n", name(i), i / 30))
            .collect::<String>(),
    );
    for file in ["graph.tsv.gz", "graph.mtx"] {
        let sbm = [
            "-q", "generate", "er", "--nodes", "60", "--degree", "8", "-o", file,
        ];
        hone()
            .current_dir(folder.path())
            .args(sbm)
            .assert()
            .success();
    }
    for command in [
        "embed", "features", "count", "similar", "layout", "roles", "map",
    ] {
        let mut all = Vec::new();
        examples(&[command.to_owned()], &mut all);
        assert!(all.len() >= 3, "{command}: {all:?}");
        for example in all {
            run_in(folder.path(), &example, &example);
        }
    }
}
