//! Budgets and checkpoints through the real binary: limits that the system enforces, and runs that are killed.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

mod floods;

fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin("hone")
}

fn hone() -> Command {
    Command::new(binary())
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn generate(folder: &Path, nodes: &str) -> PathBuf {
    let graph = folder.join("graph.tsv");
    hone()
        .args([
            "-q", "generate", "er", "--nodes", nodes, "--degree", "6", "-o",
        ])
        .arg(&graph)
        .assert()
        .success();
    graph
}

/// A method whose local embeddings are far larger than all else.
const WIDE: &str = "--preset hone-w --motifs edge,path3,path4-mid,star4 --steps 2 --local-dim 64 --dim 16 --set local.solver.iterations=1";

fn embed(graph: &Path, out: &Path) -> Vec<String> {
    let mut args = vec![
        "embed".to_owned(),
        graph.display().to_string(),
        "-o".into(),
        out.display().to_string(),
    ];
    args.extend(WIDE.split(' ').map(str::to_owned));
    args
}

/// Runs with at most `kib` KiB of address space.
fn under(kib: u64, args: &[String]) -> assert_cmd::assert::Assert {
    let script = format!("ulimit -v {kib}; exec \"$@\"");
    let mut shell = Command::new("sh");
    shell
        .env("MALLOC_ARENA_MAX", "1")
        .args(["-c", &script, "sh"])
        .arg(binary())
        .args(["--threads", "2"]);
    shell.args(args).assert()
}

#[test]
fn a_budget_is_kept_under_a_hard_limit_with_the_same_bits() {
    let folder = folder();
    let graph = generate(folder.path(), "60000");
    let path = |name: &str| folder.path().join(name);
    let (free, tight) = (path("free.npy"), path("tight.npy"));
    hone().args(embed(&graph, &free)).assert().success();
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(path("free.npy.run.json")).expect("written"))
            .expect("JSON");
    let plan = |key: &str| report["plan"][key].as_u64().expect("a number");
    let peak = plan("local").max(plan("global"));
    // A little more than what must be held; then code, stacks and the allocator's reserve, which are no data.
    let budget = peak - plan("held") + (24 << 20);
    let hard = (budget + (64 << 20)) / 1024;
    let with_budget = [
        embed(&graph, &tight),
        vec!["--memory".into(), budget.to_string()],
    ]
    .concat();
    under(hard, &with_budget)
        .success()
        .stderr(contains("the local stage takes").and(contains("temporary files in")));
    assert!(fs::read(&free).expect("written") == fs::read(&tight).expect("written"));
    // The limit is one: without a budget the same run dies of it.
    under(hard, &embed(&graph, &path("greedy.npy"))).failure();
    let spare = format!("{}k", plan("resident") / 1024);
    let refused = [
        embed(&graph, &path("less.npy")),
        vec!["--memory".into(), spare],
    ]
    .concat();
    hone()
        .args(refused)
        .assert()
        .code(2)
        .stderr(contains("needs ").and(contains("--memory")));
    let left: Vec<_> = fs::read_dir(folder.path())
        .expect("readable")
        .map(|e| e.expect("readable").file_name())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().starts_with('.')),
        "{left:?}"
    );
}

/// The plan holds for pairs that share a motif: as many bytes as planned, at most, and not far fewer. Pieces of rows
/// that grow without being cut to size, or are joined in memory that doubles, take half as much again.
#[test]
fn the_plan_of_pairs_is_kept() {
    let folder = folder();
    let graph = folder.path().join("graph.tsv");
    hone()
        .args([
            "-q", "generate", "er", "--nodes", "15000", "--degree", "24", "-o",
        ])
        .arg(&graph)
        .assert()
        .success();
    let out = folder.path().join("z.npy");
    let choices = "--preset hone-p --motifs path3,cycle4 --pairs occurrences --steps 1 --dim 8 --set local.dim=2";
    let few = "--set local.solver.iterations=2 --set local.solver.oversampling=2";
    let mut run = hone();
    run.args(["--threads", "2", "embed", "-o"])
        .arg(&out)
        .arg(&graph)
        .args(choices.split(' '))
        .args(few.split(' '));
    run.assert().success();
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("z.npy.run.json")).expect("written"))
            .expect("JSON");
    let stages = report["stages"].as_array().expect("stages");
    let peak = stages
        .iter()
        .filter_map(|stage| stage["peak_memory"].as_u64())
        .max()
        .expect("Linux tells");
    let planned = report["memory_estimate"].as_u64().expect("a number");
    let pairs = report["local"][0]["nonzeros"].as_u64().expect("a number");
    assert!(
        pairs > 6_000_000 && peak <= planned,
        "{pairs} pairs took {peak} of {planned} bytes"
    );
    assert!(
        peak > planned / 3,
        "{pairs} pairs took {peak} of {planned} bytes"
    );
}

/// The size after "needs about" or "needs more than" in a refusal, as one would type it.
fn named_need(said: &str) -> String {
    let rest = said
        .split("needs about ")
        .nth(1)
        .or_else(|| said.split("needs more than ").nth(1));
    let size = rest.and_then(|rest| rest.split(" but only").next());
    size.unwrap_or_else(|| panic!("no need in {said}"))
        .replace("iB", "")
        .replace(' ', "")
}

#[test]
fn the_budget_that_a_refusal_names_is_enough() {
    let folder = folder();
    for (nodes, presets) in [
        ("100", "hone"),
        ("5000", "hone-w hone-l+x"),
        ("30000", "hone hone-p"),
    ] {
        let graph = folder.path().join(format!("{nodes}.tsv"));
        hone()
            .args([
                "-q", "generate", "er", "--nodes", nodes, "--degree", "6", "-o",
            ])
            .arg(&graph)
            .assert()
            .success();
        for preset in presets.split(' ') {
            let quick = [
                "--motifs",
                "edge,triangle",
                "--set",
                "local.solver.iterations=2",
                "--dim",
                "32",
            ];
            let embed = |memory: &str| {
                let mut run = hone();
                run.args([
                    "embed",
                    "-o",
                    "-",
                    "--output-format",
                    "tsv",
                    "--memory",
                    memory,
                    "--preset",
                    preset,
                ]);
                run.arg(&graph).args(quick).assert()
            };
            let refused = embed("1M")
                .code(2)
                .stderr(contains("only 1 MiB may be used").and(contains("--memory")));
            let mut need = named_need(&String::from_utf8_lossy(&refused.get_output().stderr));
            // A refusal while the graph is read cannot know what comes after it, and names the least.
            for _ in 0..20 {
                let said = String::from_utf8_lossy(&embed(&need).get_output().stderr).into_owned();
                if said.contains("needs about") {
                    need = named_need(&said);
                }
                if !said.contains("needs more than") {
                    break;
                }
                need = named_need(&said);
            }
            embed(&need).success();
        }
    }
    let features = |memory: &str| {
        hone()
            .args(["features", "builtin:karate", "--memory", memory])
            .assert()
    };
    let refused = features("1M").code(2);
    features(&named_need(&String::from_utf8_lossy(
        &refused.get_output().stderr,
    )))
    .success();
}

#[test]
fn a_killed_run_is_continued_to_the_same_bits() {
    let folder = folder();
    let graph = generate(folder.path(), "20000");
    let (plain, resumed, saved) = (
        folder.path().join("plain.npy"),
        folder.path().join("resumed.npy"),
        folder.path().join("saved"),
    );
    hone()
        .arg("-q")
        .args(embed(&graph, &plain))
        .assert()
        .success();
    let with_checkpoint = [
        embed(&graph, &resumed),
        vec!["--checkpoint".into(), saved.display().to_string()],
    ]
    .concat();
    let mut run = Process::new(binary())
        .args(&with_checkpoint)
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let start = Instant::now();
    let parts = || fs::read_dir(&saved).map_or(0, Iterator::count);
    while parts() < 6 {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "no checkpoint appears"
        );
        assert!(
            run.try_wait().expect("a child").is_none(),
            "it finished before it could be killed"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    run.kill().expect("kill -9");
    run.wait().expect("a child");
    assert!(!resumed.exists());
    hone()
        .args(&with_checkpoint)
        .assert()
        .code(2)
        .stderr(contains("not empty").and(contains("--resume")));
    let resume = [with_checkpoint, vec!["--resume".into()]].concat();
    hone()
        .args(&resume)
        .assert()
        .success()
        .stderr(contains("resuming from").and(contains("finished stages")));
    assert!(fs::read(&plain).expect("written") == fs::read(&resumed).expect("written"));
}

#[test]
fn resuming_needs_a_checkpoint() {
    hone()
        .args(["embed", "builtin:karate", "-o", "-", "--resume"])
        .assert()
        .code(2)
        .stderr(contains("--checkpoint"));
}

#[test]
fn sizes_beyond_reason_are_refused_by_name() {
    let huge = "4611686018427387904";
    for (args, field) in [
        (vec!["--local-dim", huge], "local.dim"),
        (vec!["--dim", huge], "global.dim"),
        (
            vec!["--set", "features.form.components.dim=4611686018427387904"],
            "features.form.components.dim",
        ),
        (
            vec!["--set", "local.solver.oversampling=4611686018427387904"],
            "local.solver.oversampling",
        ),
        (
            vec!["--set", "joint.motif-rank=4611686018427387904"],
            "joint.motif-rank",
        ),
        (vec!["--steps", huge], "steps"),
    ] {
        let refused = contains("error: ")
            .and(contains(field))
            .and(contains("panicked").not());
        hone()
            .args(["embed", "builtin:karate", "-o", "-"])
            .args(args)
            .assert()
            .code(2)
            .stderr(refused);
    }
    // Within range, but not within memory.
    let dim = [
        "embed",
        "builtin:karate",
        "-o",
        "-",
        "--preset",
        "hone-p",
        "--memory",
        "100M",
        "--local-dim",
        "65536",
    ];
    hone()
        .args(dim)
        .assert()
        .code(2)
        .stderr(contains("needs about").and(contains("may be used")));
}

/// More attributes than a matrix of all their pairs would have room for.
#[test]
fn wide_attributes_keep_to_the_budget() {
    let folder = folder();
    let table = folder.path().join("wide.csv");
    let names: Vec<String> = (0..6000).map(|j| format!("x{j}")).collect();
    let mut text = format!("id,{}\n", names.join(","));
    for i in 0..34usize {
        let values: Vec<String> = (0..6000usize)
            .map(|j| ((i * j + j) % 17).to_string())
            .collect();
        text.push_str(&format!("{i},{}\n", values.join(",")));
    }
    fs::write(&table, text).expect("written");
    let out = folder.path().join("z.npy");
    let args = [
        "embed",
        "builtin:karate",
        "--memory",
        "150M",
        "--attributes",
    ]
    .map(str::to_owned);
    let args = [
        &args[..],
        &[
            table.display().to_string(),
            "-o".into(),
            out.display().to_string(),
        ],
    ]
    .concat();
    under(400 << 10, &args).success();
    let tight: Vec<String> = args
        .iter()
        .map(|arg| arg.replace("150M", "20M").replace("z.npy", "y.npy"))
        .collect();
    hone()
        .args(tight)
        .assert()
        .code(2)
        .stderr(contains("needs ").and(contains("panicked").not()));
}

/// Memory is worth a note where it is much, or a large part of the limit.
#[test]
fn memory_is_noted_where_it_matters() {
    let run = |limit: &str| {
        let args = ["embed", "builtin:karate", "-o", "-", "--memory", limit];
        hone().args(args).assert().success()
    };
    run("100M").stderr(contains("note: the embedding takes about").and(contains("of 100 MiB")));
    run("100G").stderr(contains("of memory").not());
}

/// A run that will not fit is refused before its motifs are counted.
#[test]
fn refusals_come_before_the_work() {
    let folder = folder();
    let graph = folder.path().join("rm.tsv");
    hone()
        .args("-q generate rmat --nodes 20000 --degree 16 -o".split(' '))
        .arg(&graph)
        .assert()
        .success();
    let run = |memory: &str| {
        let mut run = hone();
        run.args([
            "-v",
            "embed",
            "--memory",
            memory,
            "--dim",
            "32",
            "--set",
            "local.solver.iterations=2",
            "-f",
            "-o",
        ]);
        run.arg(folder.path().join("z.npy")).arg(&graph).assert()
    };
    let refused = run("24M").code(2);
    let need = named_need(
        String::from_utf8_lossy(&refused.get_output().stderr)
            .lines()
            .last()
            .expect("a refusal"),
    );
    let bytes = hone::memory::parse_bytes(&need).expect("a size");
    // What the process holds differs from run to run: a little less may be enough, but is never refused after the counts.
    for less in [12 << 20, 16 << 20, 20 << 20, 64 << 20] {
        let ended = run(&(bytes - less).to_string());
        let (code, said) = (
            ended.get_output().status.code(),
            String::from_utf8_lossy(&ended.get_output().stderr),
        );
        assert!(
            code == Some(2) || code == Some(0) && less < 64 << 20,
            "{code:?} {said}"
        );
        assert_eq!(code == Some(0), said.contains("sorting nodes"), "{said}");
    }
    run(&need).success().stderr(contains("sorting nodes"));
}

/// Estimates and the nonzeros that a solver keeps are held to the limit as all else is.
#[test]
fn sampling_and_observed_entries_keep_to_the_budget() {
    let folder = folder();
    let graph = folder.path().join("hubs.tsv");
    hone()
        .args([
            "-q", "generate", "ba", "--nodes", "20000", "--degree", "30", "-o",
        ])
        .arg(&graph)
        .assert()
        .success();
    let run = |args: &str, memory: &str| {
        let mut command = hone();
        command
            .args(args.split(' '))
            .args(["-o", "-", "--memory", memory])
            .arg(&graph);
        command.assert()
    };
    let small = "--output-format tsv --preset hone-p --motifs edge --local-dim 2 --dim 2 --steps 1";
    for command in [
        format!("embed {small} --sample cap=256"),
        "count --per total --sample cap=256".to_owned(),
    ] {
        // The first limit that is enough to read the graph, but not for the estimates.
        let refusal = (16..100).step_by(4).find_map(|limit| {
            let ended = run(&command, &format!("{limit}M"));
            let said = String::from_utf8_lossy(&ended.get_output().stderr).into_owned();
            said.contains("estimating motifs from 256 neighbours needs about")
                .then_some(said)
        });
        let said = refusal.unwrap_or_else(|| panic!("no limit refuses the estimates of {command}"));
        assert!(said.contains("--memory"), "{said}");
        run(&command, &named_need(&said)).success();
    }
    let longer = small.replace("--steps 1", "--steps 3");
    let observed = format!("embed {longer} --solver als --set local.solver.observed-only=true");
    run(&observed, "300M")
        .code(2)
        .stderr(contains("the embedding needs about").and(contains("--memory")));
}

/// The most bytes that the stages in a record held.
fn peak(record: &Path) -> u64 {
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(record).expect("written")).expect("JSON");
    let stages = report["stages"].as_array().expect("stages");
    stages
        .iter()
        .filter_map(|stage| stage["peak_memory"].as_u64())
        .max()
        .expect("Linux tells")
}

/// More dimensions than nodes take zeros, not matrices of D × D.
#[test]
fn many_dimensions_of_a_small_graph_take_little() {
    let folder = folder();
    let run = |dim: &str, memory: &str, more: &str| {
        let out = folder.path().join(format!("{dim}.npy"));
        let mut embed = hone();
        embed
            .args([
                "embed",
                "builtin:karate",
                "-q",
                "--dim",
                dim,
                "--memory",
                memory,
                "-o",
            ])
            .arg(&out);
        embed
            .args(more.split(' ').filter(|word| !word.is_empty()))
            .current_dir(folder.path())
            .assert()
            .success();
        peak(&folder.path().join(format!("{dim}.npy.run.json")))
    };
    let held = run("16384", "100M", "");
    assert!(held <= 100 << 20, "{held}");
    let held = run("65536", "500M", "");
    assert!(held <= 500 << 20, "{held}");
    // The writer of Parquet holds something of every column, which is in the plan.
    let out = folder.path().join("wide.parquet");
    let embed = |memory: &str| {
        let mut embed = hone();
        embed
            .args([
                "embed",
                "builtin:karate",
                "-q",
                "--dim",
                "40000",
                "--memory",
                memory,
                "-o",
            ])
            .arg(&out)
            .assert()
    };
    let need = named_need(&String::from_utf8_lossy(
        &embed("30M").code(2).get_output().stderr,
    ));
    embed(&need).success();
    let (held, limit) = (
        peak(&folder.path().join("wide.parquet.run.json")),
        hone::memory::parse_bytes(&need).expect("a size"),
    );
    assert!(held <= limit + (4 << 20), "{held} of {need}");
    // Reading takes time for each column, not for each pair of columns.
    hone()
        .args(["-q", "similar", "--node", "0", "--top", "1"])
        .arg(&out)
        .assert()
        .success();
    // The rows of H beyond the rank are there, as zeros.
    run("500", "200M", "--preset hone-p --factors f");
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.path().join("f/manifest.json")).expect("written"))
            .expect("JSON");
    let (z, h) = (
        &manifest["global"]["Z"]["shape"],
        &manifest["global"]["H"]["shape"],
    );
    assert_eq!((z[1].as_u64(), h[0].as_u64()), (Some(500), Some(500)));
    let bytes = fs::read(folder.path().join("f/H.npy")).expect("written");
    let values = &bytes[bytes.len() - 4 * 500 * h[1].as_u64().expect("a number") as usize..];
    let (first, rest) = values.split_at(values.len() / 500 * 34);
    assert!(first.iter().any(|&byte| byte != 0) && rest.iter().all(|&byte| byte == 0));
}

/// Counting and features keep to what they are given, and a refusal names enough.
#[test]
fn counting_and_features_keep_to_their_budget() {
    let folder = folder();
    let graph = folder.path().join("rm.tsv");
    hone()
        .args("-q generate rmat --nodes 50000 --degree 16 -o".split(' '))
        .arg(&graph)
        .assert()
        .success();
    for (command, name) in [
        ("count", "c.parquet"),
        ("count --per node", "n.npy"),
        ("features", "x.npy"),
    ] {
        let run = |memory: &str| {
            let mut run = hone();
            run.args(command.split(' '))
                .arg(&graph)
                .arg("-f")
                .arg("-o")
                .arg(folder.path().join(name));
            run.args(["--memory", memory]).assert()
        };
        let refused = run("30M")
            .code(2)
            .stderr(contains("only 30 MiB may be used"));
        let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(!folder.path().join(name).exists());
        let need = named_need(said.lines().last().expect("a refusal"));
        run(&need).success();
        let (held, limit) = (
            peak(&folder.path().join(format!("{name}.run.json"))),
            hone::memory::parse_bytes(&need).expect("a size"),
        );
        assert!(held <= limit, "{command}: {held} of {limit}");
        // Below what the process itself holds.
        run("16").code(2).stderr(contains("only 16 B may be used"));
    }
    hone()
        .args("count builtin:karate --per total --memory 16".split(' '))
        .assert()
        .code(2)
        .stderr(contains("needs about"));
}
