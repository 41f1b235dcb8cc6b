//! The real binary: exit codes, streams, and what is (not) left in the folder.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};

#[cfg(target_os = "linux")]
use crate::skip;

fn hone() -> Command {
    let mut command = Command::cargo_bin("hone").expect("the binary of this package");
    command.env_remove("NO_COLOR");
    command
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable");
    let mut names: Vec<String> = entries
        .map(|e| {
            e.expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// One line that begins with `error: ` and holds `text`.
fn one_error(text: &str) -> impl Predicate<str> {
    starts_with("error: ")
        .and(contains(text.to_owned()))
        .and(predicate::function(|s: &str| s.lines().count() == 1))
}

#[test]
fn version_and_help() {
    let version = format!("hone {}\n", env!("CARGO_PKG_VERSION"));
    hone().arg("--version").assert().success().stdout(version);
    hone()
        .arg("--help")
        .assert()
        .success()
        .stdout(contains("Examples:").and(contains("Exit codes:")));
    for command in ["info", "generate", "completions"] {
        hone()
            .args([command, "--help"])
            .assert()
            .success()
            .stdout(contains("Examples:"));
        hone()
            .args(["help", command])
            .assert()
            .success()
            .stdout(contains("Usage: hone"));
    }
}

/// The help of hone fits a screen, and its lines a terminal.
#[test]
fn help_fits_a_screen() {
    let help = hone().arg("--help").assert().success();
    let help = String::from_utf8(help.get_output().stdout.clone()).expect("text");
    let lines = help.lines().count();
    assert!((24..=40).contains(&lines), "{lines} lines:\n{help}");
    assert!(
        help.lines().all(|line| line.chars().count() <= 100),
        "{help}"
    );
}

/// Who installed the command has no repository: help names pages by their addresses.
#[test]
fn help_gives_addresses() {
    for command in ["embed", "tune", "similar", "roles", "place", "count", "map"] {
        let help = hone().args([command, "--help"]).assert().success();
        let help = String::from_utf8(help.get_output().stdout.clone()).expect("text");
        assert!(!help.contains("docs/"), "{command}: {help}");
    }
    let tune = hone().args(["tune", "--help"]).assert().success();
    tune.stdout(contains(format!(
        "{}evaluation.html",
        hone::manual::ADDRESS
    )));
    hone()
        .args(["embed", "g.tsv", "-o", "z.npy", "--num-walks", "10"])
        .assert()
        .code(2)
        .stderr(contains("/from-node2vec.html").and(contains("docs/").not()));
}

/// With `--json` every command prints an object or a list: its result, or what is in its record.
#[test]
fn every_result_is_json_on_request() {
    let folder = folder();
    let run = |line: &str| {
        let mut run = hone();
        run.args(line.split(' '))
            .arg("--json")
            .current_dir(folder.path());
        let done = run.assert().success();
        let said: serde_json::Value =
            serde_json::from_slice(&done.get_output().stdout).expect(line);
        said
    };
    let embedded = run("embed builtin:karate --dim 8 -o v.npy --save-model m.hone");
    assert_eq!(embedded["config"]["seed"], 0);
    let record = fs::read(folder.path().join("v.npy.run.json")).expect("written");
    let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
    assert_eq!(embedded, record);
    assert!(run("place builtin:karate --model m.hone -o p.npy")["like"].is_object());
    assert_eq!(run("count builtin:karate -o c.tsv")["command"], "count");
    let totals = run("count builtin:karate --per total --motifs triangle");
    assert_eq!(
        (&totals[0]["motif"], &totals[0]["occurrences"]),
        (&"triangle".into(), &45.into())
    );
    assert!(run("features builtin:karate -o x.tsv")["columns"].is_array());
    assert_eq!(
        run("layout v.npy -o xy.tsv --layout pca")["command"],
        "layout"
    );
    assert_eq!(
        run("map builtin:karate -o map.html --layout pca")["command"],
        "map"
    );
    assert_eq!(
        run("draw builtin:karate -o figure.svg")["files"][0],
        "figure.svg"
    );
    assert_eq!(
        run("generate barbell --size 4 -o b.tsv")["files"][0],
        "b.tsv"
    );
    assert_eq!(run("config")["seed"], 0);
    assert!(run("eval split builtin:karate -o split")["files"].is_array());
    for line in [
        "embed builtin:karate -o -",
        "count builtin:karate",
        "features builtin:karate",
    ] {
        let mut run = hone();
        run.args(line.split(' '))
            .arg("--json")
            .assert()
            .code(2)
            .stderr(contains(
                "standard output has the result; give --output a file",
            ));
    }
}

/// One default for every seed.
#[test]
fn the_seed_is_0_unless_it_is_given() {
    let folder = folder();
    let read = |name: &str| fs::read(folder.path().join(name)).expect("written");
    let run = |line: &str| {
        let mut run = hone();
        run.args(line.split(' '))
            .current_dir(folder.path())
            .assert()
            .success();
    };
    run("generate er --nodes 50 --degree 4 -o a.tsv");
    run("generate er --nodes 50 --degree 4 --seed 0 -o b.tsv");
    assert_eq!(read("a.tsv"), read("b.tsv"));
    for (line, file) in [
        ("embed a.tsv --dim 8 -o z.npy", "z.npy.run.json"),
        ("eval split a.tsv -o split", "split/split.json"),
        ("count a.tsv -o c.tsv --sample cap=64", "c.tsv.run.json"),
        (
            "tune a.tsv --candidate hone:dim=4 --candidate hone:dim=8 --rounds 1 -o t.toml",
            "t.toml.run.json",
        ),
    ] {
        run(line);
        let record: serde_json::Value = serde_json::from_slice(&read(file)).expect("JSON");
        let seeds = [
            &record["seed"],
            &record["config"]["seed"],
            &record["choices"]["seed"],
        ];
        assert!(seeds.iter().any(|seed| **seed == 0), "{line}: {seeds:?}");
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    for args in [
        &[][..],
        &["nonsense"],
        &["info"],
        &["info", "builtin:karate", "--nonsense"],
        &["-q", "-v", "info", "x"],
    ] {
        hone()
            .args(args)
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(contains("Usage"));
    }
}

#[test]
fn info_of_karate() {
    let table = hone()
        .args(["info", "builtin:karate"])
        .assert()
        .success()
        .stderr(is_empty());
    table.stdout(contains("nodes               34\nedges               78\n"));
    let json = hone()
        .args(["info", "builtin:karate", "--json"])
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(
        (json["nodes"].as_u64(), json["edges"].as_u64()),
        (Some(34), Some(78))
    );
    assert_eq!(json["degree"]["max"], 17);
}

#[test]
fn unknown_builtin_lists_the_known() {
    hone()
        .args(["info", "builtin:nope"])
        .assert()
        .code(2)
        .stdout(is_empty())
        .stderr(one_error("karate, florentine"));
}

/// Misspelt names of settings, solvers, motifs, presets, methods and commands.
#[test]
fn what_was_meant_is_suggested() {
    for (command, said) in [
        (
            "embed builtin:karate -o - --set dimm=3",
            "dimm: there is no such setting; did you mean attributes.dim or --dim?",
        ),
        (
            "embed builtin:karate -o - --set global.dmi=3",
            "did you mean --dim?",
        ),
        (
            "embed builtin:karate -o - --set nonsense=3",
            "`nonsense` is not a setting here; use one of seed, motifs",
        ),
        (
            "embed builtin:karate -o - --solver brgman",
            "--solver (global.solver.method): `brgman` is not among its values; did you mean `bregman`?",
        ),
        (
            "embed builtin:karate -o - --motifs trianlge",
            "`trianlge` is not a motif; did you mean `triangle`?",
        ),
        (
            "embed builtin:karate -o - --preset hone-pp",
            "`hone-pp` is not a preset of HONE; did you mean `hone-p`?",
        ),
        (
            "embed builtin:karte -o -",
            "builtin:karte: no such built-in graph; did you mean `karate`?",
        ),
        (
            "eval link builtin:karate --methods node3vec",
            "`node3vec` is not a method; did you mean `node2vec`?",
        ),
        (
            "man embd",
            "there is no subcommand `embd`; did you mean `embed`?",
        ),
        (
            "embed builtin:karate -o - --set global.foo=3",
            "global.foo: `foo` is not a setting here; use one of",
        ),
        (
            "similar builtin:karate --node 0",
            "this is a graph, and vectors are needed",
        ),
        (
            "map builtin:karate",
            "nothing to write; give a page (-o map.html), a picture (-o map.svg, -o map.png) or points (-o points.parquet)",
        ),
        (
            "similar absent.xyz --node 0",
            "absent.xyz: No such file or directory; check its name and folder",
        ),
    ] {
        let run = hone()
            .args(command.split(' '))
            .assert()
            .code(2)
            .stdout(is_empty());
        run.stderr(one_error(said));
    }
}

/// Each file is named with what it is, or may be.
#[test]
fn graphs_are_no_vectors_and_vectors_no_graphs() {
    let folder = folder();
    let run = |args: &str| {
        hone()
            .current_dir(folder.path())
            .args(args.split(' '))
            .assert()
    };
    run("-q embed builtin:karate -o z.tsv").success();
    run("roles z.tsv").code(2).stderr(one_error(
        "z.tsv, line 1: the columns `id`, `z0`, … are those of vectors, not of edges",
    ));
    fs::write(folder.path().join("g.edges"), "a b\nb c\n").expect("writable");
    run("similar g.edges --node a").code(2).stderr(one_error(
        "if it is a graph, `hone embed` makes the vectors",
    ));
    run("-q embed builtin:karate -o z.emb").success();
    run("similar z.emb --node 33 --top 1")
        .success()
        .stdout(contains("\n33\t1\t"));
}

#[test]
fn absurd_threads_are_refused() {
    for threads in ["0", "100000"] {
        hone()
            .args(["--threads", threads, "info", "builtin:karate"])
            .assert()
            .code(2)
            .stderr(one_error("--threads"));
    }
    hone()
        .args(["--threads", "-1", "info", "builtin:karate"])
        .assert()
        .code(2);
    hone()
        .args(["info", "builtin:karate", "--threads", "3"])
        .assert()
        .success();
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        hone()
            .args(["completions", shell])
            .assert()
            .success()
            .stdout(contains("generate"));
    }
}

#[test]
fn generates_the_same_bytes_with_any_number_of_threads() {
    let models: [&[&str]; 5] = [
        &["er", "--nodes", "40000", "--degree", "6"],
        &["ba", "--nodes", "10000", "--degree", "6"],
        &["rmat", "--nodes", "40000", "--degree", "6"],
        &[
            "sbm",
            "--nodes",
            "40000",
            "--degree",
            "6",
            "--communities",
            "5",
        ],
        &["ring-of-cliques", "--cliques", "4000", "--size", "5"],
    ];
    for model in models {
        let with = |threads: &str| {
            let run = hone()
                .arg("generate")
                .args(model)
                .args(["--seed", "7", "--threads", threads])
                .assert()
                .success();
            run.get_output().stdout.clone()
        };
        let one = with("1");
        assert!(one.starts_with(b"# ") && one.len() > 100_000, "{model:?}");
        assert!(one == with("2") && one == with("7"), "{model:?}");
    }
}

#[test]
fn writes_every_format() {
    let dir = folder();
    let heads: [(&str, &[u8]); 9] = [
        ("a.tsv", b"# er nodes=9 degree=8 seed=0\n0\t1\n0\t2\n"),
        ("a.csv", b"source,target\n0,1\n0,2\n"),
        ("a.txt", b"# er nodes=9 degree=8 seed=0\n0 1\n0 2\n"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate pattern symmetric\n% er nodes=9 degree=8 seed=0\n9 9 36\n2 1\n"),
        ("a.graph", b"% er nodes=9 degree=8 seed=0\n9 36\n2 3 4 5 6 7 8 9\n1 3 4 "),
        ("a.parquet", b"PAR1"),
        ("a.tsv.gz", b"\x1f\x8b"),
        ("a.CSV.ZST", b"\x28\xb5\x2f\xfd"),
        ("plain", b"# er nodes=9 degree=8 seed=0\n0\t1\n"),
    ];
    for (name, head) in heads {
        let path = dir.path().join(name);
        let run = hone()
            .args(["generate", "er", "--nodes", "9", "--degree", "8", "-o"])
            .arg(&path)
            .assert();
        run.success()
            .stdout(is_empty())
            .stderr(starts_with("wrote 36 edges to "));
        let bytes = fs::read(&path).expect("written");
        assert!(
            bytes.starts_with(head),
            "{name}: {}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn impossible_graphs_and_formats_exit_with_2_and_leave_nothing() {
    let dir = folder();
    let cases: [(&[&str], &str); 8] = [
        (
            &["er", "--nodes", "10", "--degree", "11", "-o", "a.tsv"],
            "from 0 to 9",
        ),
        (
            &["er", "--nodes", "0", "--degree", "0", "-o", "a.tsv"],
            "0 nodes",
        ),
        (
            &["er", "--nodes", "10", "--degree", "-2", "-o", "a.tsv"],
            "degree",
        ),
        (
            &[
                "rmat",
                "--nodes",
                "10",
                "--degree",
                "2",
                "--quadrants",
                "0.5,0.5",
                "-o",
                "a.tsv",
            ],
            "give four",
        ),
        (
            &[
                "rmat",
                "--nodes",
                "10",
                "--degree",
                "2",
                "--quadrants",
                "0.9,0.9,0,0",
                "-o",
                "a.tsv",
            ],
            "add up to 1",
        ),
        (
            &["er", "--nodes", "10", "--degree", "2", "-o", "a.docx"],
            ".docx",
        ),
        (
            &["er", "--nodes", "10", "--degree", "2", "-o", "a.parquet.gz"],
            "compressed inside",
        ),
        (
            &[
                "er",
                "--nodes",
                "10",
                "--degree",
                "2",
                "-o",
                "no/such/a.tsv",
            ],
            "there is no folder",
        ),
    ];
    for (args, text) in cases {
        let run = hone()
            .current_dir(dir.path())
            .arg("generate")
            .args(args)
            .assert();
        run.code(2).stdout(is_empty()).stderr(one_error(text));
    }
    assert!(listing(dir.path()).is_empty());
}

#[test]
fn refuses_to_overwrite_unless_forced() {
    let dir = folder();
    let generate = |seed: &str| {
        let mut command = hone();
        command.current_dir(dir.path()).args([
            "generate", "er", "--nodes", "9", "--degree", "4", "-o", "a.tsv",
        ]);
        command.args(["--seed", seed]);
        command
    };
    generate("1").assert().success();
    let before = fs::read(dir.path().join("a.tsv")).expect("written");
    generate("2").assert().code(2).stderr(one_error("--force"));
    assert_eq!(fs::read(dir.path().join("a.tsv")).expect("kept"), before);
    generate("2").arg("--force").assert().success();
    assert_ne!(
        fs::read(dir.path().join("a.tsv")).expect("replaced"),
        before
    );
    assert_eq!(listing(dir.path()), ["a.tsv"]);
}

#[test]
fn quiet_is_quiet_and_verbose_logs() {
    let dir = folder();
    let generate = |flag: &str, name: &str| {
        let mut command = hone();
        command.current_dir(dir.path()).args([
            "generate", "er", "--nodes", "9", "--degree", "4", flag, "-o", name,
        ]);
        command.assert().success().stdout(is_empty())
    };
    generate("--quiet", "a.tsv").stderr(is_empty());
    generate("--verbose", "b.tsv").stderr(contains("generating edges").and(contains("INFO")));
}

#[test]
fn a_closed_pipe_is_success() {
    for format in ["tsv", "mtx", "parquet"] {
        let mut child = Process::new(assert_cmd::cargo::cargo_bin("hone"))
            .args([
                "generate",
                "er",
                "--nodes",
                "300000",
                "--degree",
                "10",
                "--output-format",
                format,
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut head = [0; 4];
        child
            .stdout
            .take()
            .expect("piped")
            .read_exact(&mut head)
            .expect("some output"); // and closes
        let done = child.wait_with_output().expect("ends");
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(
            (done.status.code(), stderr.as_ref()),
            (Some(0), ""),
            "{format}"
        );
    }
}

#[cfg(target_os = "linux")]
mod signals {
    use std::os::unix::process::ExitStatusExt;
    use std::time::{Duration, Instant};

    use super::*;

    /// Signals that a parent made its children ignore stay ignored by design: nothing to test then.
    fn ignored() -> bool {
        let status = fs::read_to_string("/proc/self/status").expect("Linux");
        let mask = status
            .lines()
            .find_map(|l| l.strip_prefix("SigIgn:"))
            .expect("Linux");
        let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask");
        [1, 2, 15]
            .iter()
            .any(|signal| mask & (1 << (signal - 1)) != 0)
    }

    #[test]
    fn nothing_is_left_after_an_interrupt() {
        if ignored() {
            skip::skip("an interrupt is ignored here");
            return;
        }
        for signal in ["-INT", "-TERM"] {
            let dir = folder();
            let mut child = Process::new(assert_cmd::cargo::cargo_bin("hone"))
                .args([
                    "generate",
                    "er",
                    "--nodes",
                    "4000000000",
                    "--degree",
                    "1",
                    "-o",
                    "a.tsv",
                ])
                .current_dir(dir.path())
                .spawn()
                .expect("starts");
            let start = Instant::now();
            while listing(dir.path()).is_empty() {
                assert!(
                    start.elapsed() < Duration::from_secs(60),
                    "no temporary file"
                );
                std::thread::sleep(Duration::from_millis(5));
            }
            let kill = Process::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .expect("kill");
            assert!(kill.success());
            let number = if signal == "-INT" { 2 } else { 15 };
            let ended = child.wait().expect("ends");
            assert_eq!(ended.signal(), Some(number), "{signal}");
            assert!(
                listing(dir.path()).is_empty(),
                "{signal}: {:?}",
                listing(dir.path())
            );
        }
    }
}

#[test]
fn solvers_are_listed_one_per_line() {
    let listed = hone()
        .args(["list", "solvers"])
        .assert()
        .success()
        .stderr(is_empty())
        .get_output()
        .stdout
        .clone();
    let listed = String::from_utf8(listed).expect("text");
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    for name in [
        "svd",
        "als",
        "ccd",
        "sgd",
        "nmf",
        "bregman",
        "autoencoder",
        "model=tucker",
        "model=cp",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(
        listed
            .lines()
            .all(|line| line.split_whitespace().count() > 4),
        "each with a line:\n{listed}"
    );
}

#[test]
fn lists_are_tables_or_json() {
    for (what, name) in [
        ("presets", "hone-l-norm"),
        ("motifs", "tailed-near"),
        ("solvers", "ccd"),
        ("formats", "parquet"),
        ("methods", "node2vec"),
    ] {
        let list = |more: &[&str]| {
            let list = hone().args(["list", what]).args(more).assert().success();
            String::from_utf8(list.get_output().stdout.clone()).expect("text")
        };
        let entries: serde_json::Value = serde_json::from_str(&list(&["--json"])).expect("JSON");
        let entries = entries.as_array().expect("a list").clone();
        assert!(
            entries.iter().any(|entry| entry["name"] == name),
            "{what}: {entries:?}"
        );
        assert_eq!(list(&[]).lines().count(), entries.len(), "{what}");
    }
}

/// Former spellings are refused, and the message has those of today.
#[test]
fn former_spellings_are_answered() {
    for (line, now) in [
        ("solvers", "hone list solvers"),
        ("eval list", "hone list methods"),
        (
            "embed g.tsv -o z.npy --like m.hone",
            "hone place GRAPH --model",
        ),
        ("embed g.tsv -o z.npy --model m.hone", "--save-model"),
        ("embed g.tsv -o z.npy --nodes n.txt", "--node-list"),
        ("count g.tsv --by node", "--per"),
        ("tune g.tsv --by links", "--goal"),
        ("info g.tsv --directed=no", "--no-directed"),
        ("eval link g.tsv --html r.html", "-o FILE"),
        ("embed g.tsv -o z.npy --dimensions 8", "--dim"),
        ("embed g.tsv -o z.npy --vectors local", "--stage"),
        ("layout z.npy -o xy.tsv --steps 50", "--iterations"),
        ("tune g.tsv --first-seed 3", "--seed"),
        ("draw g.tsv -o g.svg --labels 3", "--labelled"),
        // What other tools call it.
        ("similar z.npy --node 1 --k 3", "--top"),
        ("similar z.npy --node 1 -k 3", "--top"),
        ("similar z.npy --node 1 -n 3", "--top"),
        ("similar z.npy --node 1 --topn 3", "--top"),
        ("similar z.npy --id 1", "--node ID"),
        ("similar z.npy 0", "--node 0"),
        ("similar z.npy --node 1 --metric cosine", "--by"),
        ("embed g.tsv -o z.npy --random-state 1", "--seed"),
        ("info g.tsv --sep ,", "--delimiter"),
        ("embed g.tsv -o z.npy --overwrite", "--force"),
        ("significance g.tsv --samples 9", "--random"),
        (
            "eval nodes g.tsv --labels l.tsv --vectors z.npy",
            "--embedding",
        ),
        ("eval labels g.tsv", "hone eval nodes"),
        ("generate powerlaw", "hone generate ba"),
        ("generate ws", "er, ba, rmat, sbm, ring-of-cliques, barbell"),
    ] {
        hone()
            .args(line.split(' '))
            .assert()
            .code(2)
            .stderr(contains(now).and(contains("as a value").not()));
    }
    // The same spelling in another command is another mistake.
    for (line, not) in [
        ("roles g.tsv --labels l.tsv", "--labelled"),
        ("similar z.npy --node 1 --model m.hone", "--save-model"),
        ("count g.tsv --by node", "--goal"),
        ("tune g.tsv --by links", "--per"),
    ] {
        let refused = hone().args(line.split(' ')).assert().code(2);
        refused.stderr(contains("error: unexpected argument").and(contains(not).not()));
    }
}

/// Messages name commands, not the library, and say what is meant by words of the field.
#[test]
fn messages_name_what_can_be_done() {
    let folder = folder();
    let at = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("writable");
    at(
        "g.csv",
        "from,to,amount,date\na,b,1,May\nb,c,2,June\nc,a,3,July\n",
    );
    for (line, said) in [
        (
            "count builtin:karate --motifs tringle",
            "`hone list motifs` lists all",
        ),
        (
            "embed builtin:karate -o z.npy --motifs tringle",
            "`hone list motifs` lists all",
        ),
        (
            "count builtin:karate --motifs wedge",
            "did you mean `path3`?",
        ),
        ("count builtin:karate --motifs C4", "did you mean `cycle4`?"),
        (
            "count builtin:karate --motifs K4",
            "did you mean `clique4`?",
        ),
        (
            "draw builtin:karate -o g.svg --motif paw",
            "did you mean `tailed-triangle`?",
        ),
        (
            "count g.csv --directed --motifs ffl",
            "did you mean `030T`?",
        ),
        (
            "count builtin:karate --motifs hexagon",
            "`hone list motifs` lists all",
        ),
        (
            "embed builtin:karate -o o.txt",
            "name the format with --output-format",
        ),
        (
            "map builtin:karate -o a.pdf",
            "a map is .html, .svg, .png or .parquet",
        ),
        (
            "info g.csv --weight date",
            "`date` is not a column of numbers",
        ),
    ] {
        let mut run = hone();
        let run = run
            .args(line.split(' '))
            .current_dir(folder.path())
            .assert();
        run.code(2)
            .stderr(contains(said).and(contains("motif::").not()));
    }
}

/// Every option without a value has an opposite; the last of the two counts.
#[test]
fn options_can_be_taken_back() {
    let folder = folder();
    fs::write(folder.path().join("a.tsv"), "kept").expect("writable");
    let write = |more: &[&str]| {
        let mut write = hone();
        write.args(["generate", "barbell", "--size", "3", "-q", "-o", "a.tsv"]);
        write.args(more).current_dir(folder.path()).assert()
    };
    write(&["--force", "--no-force"])
        .code(2)
        .stderr(contains("exists; --force replaces it"));
    write(&["--no-force", "--force"]).success();
    fs::write(folder.path().join("g.txt"), "a b\nb c\nc a\n").expect("writable");
    let nodes = |more: &[&str]| {
        let info = hone()
            .current_dir(folder.path())
            .args(["info", "g.txt", "--json"])
            .args(more)
            .assert();
        String::from_utf8(info.success().get_output().stdout.clone()).expect("text")
    };
    assert!(nodes(&["--directed"]).contains("\"directed\": true"));
    assert!(nodes(&["--directed", "--no-directed"]).contains("\"directed\": false"));
    assert!(!nodes(&["--no-motifs"]).contains("triangle"));
    assert!(nodes(&["--no-motifs", "--motifs"]).contains("triangle"));
}

/// With `--json` an error is an object, with its kind, place and remedy.
#[test]
fn errors_are_json_where_results_are() {
    let folder = folder();
    fs::write(folder.path().join("a.txt"), "a b\nb c d e\n").expect("writable");
    let said = |line: &str| {
        let mut run = hone();
        let run = run
            .args(line.split(' '))
            .current_dir(folder.path())
            .assert()
            .code(2);
        let said: serde_json::Value =
            serde_json::from_slice(&run.get_output().stderr).expect("JSON");
        said["error"].clone()
    };
    let missing = said("info none.tsv --json");
    assert_eq!(
        (&missing["kind"], &missing["file"], &missing["exit_code"]),
        (&"file".into(), &"none.tsv".into(), &2.into())
    );
    let line = said("info a.txt --json");
    assert_eq!((&line["kind"], &line["line"]), (&"input".into(), &2.into()));
    let usage = said("info a.txt --nonsense --json");
    assert_eq!(
        (&usage["kind"], &usage["option"], &usage["exit_code"]),
        (&"usage".into(), &"--nonsense".into(), &2.into())
    );
    assert!(
        usage["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("unexpected argument"))
    );
    let option = said("eval link builtin:karate --json --methods nothing");
    assert_eq!(
        (&option["kind"], &option["option"]),
        (&"option".into(), &"--methods".into())
    );
}

#[test]
fn man_pages_are_printed_or_written_for_all_subcommands() {
    hone()
        .arg("man")
        .assert()
        .success()
        .stdout(contains(".TH hone 1").and(contains("embed")));
    hone()
        .args(["man", "eval", "link"])
        .assert()
        .success()
        .stdout(contains("hone-eval-link"));
    hone()
        .args(["man", "nonsense"])
        .assert()
        .code(2)
        .stderr(contains("there is no subcommand `nonsense`"));
    let folder = folder();
    hone()
        .args(["man", "-o"])
        .arg(folder.path())
        .assert()
        .success();
    let names = listing(folder.path());
    for page in [
        "hone.1",
        "hone-embed.1",
        "hone-eval.1",
        "hone-eval-link.1",
        "hone-man.1",
    ] {
        assert!(names.contains(&page.to_owned()), "{page} in {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
    hone()
        .args(["man", "-o"])
        .arg(folder.path())
        .assert()
        .code(2)
        .stderr(contains("--force"));
}
