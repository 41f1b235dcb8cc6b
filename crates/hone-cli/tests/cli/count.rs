//! `hone count` and the motifs of `hone info`: every layout holds the same counts.

mod update;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use hone::store::table::{Column, TableReader};
use predicates::prelude::*;
use predicates::str::{contains, starts_with};

/// A triangle b c a with a tail d; the first id needs quotes in CSV.
const GRAPH: &str = "b,1\tc\nc\ta\na\tb,1\nc\td\n";
const NAMES: &str = "edge path3 triangle path4-end path4-mid star4 cycle4 tailed-tail tailed-near tailed-far \
                     diamond-chord diamond-rim clique4";

fn hone(folder: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("hone")
        .expect("the binary")
        .current_dir(folder)
        .args(args)
        .assert()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("graph.tsv"), GRAPH).expect("written");
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect(name)
}

#[test]
fn edges_as_text() {
    let folder = folder();
    let lines = "b,1 c 1 1 1 0 0 0 0 0 1 0 0 0 0\nb,1 a 1 0 1 0 0 0 0 0 0 1 0 0 0\n\
                 c a 1 1 1 0 0 0 0 0 1 0 0 0 0\nc d 1 2 0 0 0 0 0 1 0 0 0 0 0\n";
    let tsv = format!("source target {NAMES}\n{lines}").replace(' ', "\t");
    hone(folder.path(), &["count", "graph.tsv"])
        .success()
        .stdout(tsv.clone());
    hone(folder.path(), &["count", "graph.tsv", "-o", "x.tsv"])
        .success()
        .stderr(contains("wrote x.tsv"));
    assert_eq!(read(folder.path(), "x.tsv"), tsv);
    hone(
        folder.path(),
        &[
            "count",
            "graph.tsv",
            "-o",
            "x.csv",
            "--motifs",
            "tailed-triangle,edge",
        ],
    )
    .success();
    let csv =
        "source,target,tailed-triangle,edge\n\"b,1\",c,1,1\n\"b,1\",a,1,1\nc,a,1,1\nc,d,1,1\n";
    assert_eq!(read(folder.path(), "x.csv"), csv);
    hone(folder.path(), &["count", "graph.tsv", "--motif-size", "3"])
        .success()
        .stdout(starts_with("source\ttarget\tedge\tpath3\ttriangle\n"));
}

#[test]
fn arcs_keep_their_direction() {
    let folder = folder();
    let counts = hone(
        folder.path(),
        &[
            "count",
            "graph.tsv",
            "--directed",
            "--motifs",
            "path3,triangle",
        ],
    )
    .success();
    counts.stdout(
        "source\ttarget\tpath3\ttriangle\nb,1\tc\t1\t1\nc\ta\t1\t1\nc\td\t2\t0\na\tb,1\t0\t1\n",
    );
}

#[test]
fn nodes() {
    let folder = folder();
    hone(
        folder.path(),
        &["count", "graph.tsv", "--per", "node", "-o", "n.tsv"],
    )
    .success();
    let text = read(folder.path(), "n.tsv");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("id\tdegree\tpath3-end\tpath3-mid\ttriangle\t"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[2], "c\t3\t0\t2\t1\t0\t0\t0\t0\t0\t0\t0\t1\t0\t0\t0");
    assert_eq!(lines[4], "d\t1\t2\t0\t0\t0\t0\t0\t0\t0\t1\t0\t0\t0\t0\t0");
    hone(
        folder.path(),
        &["count", "graph.tsv", "--per", "node", "--motifs", "edge"],
    )
    .code(2)
    .stderr(contains("15 node orbits"));
}

#[test]
fn numpy_arrays() {
    let folder = folder();
    hone(folder.path(), &["count", "graph.tsv", "-o", "x.npy"]).success();
    let bytes = fs::read(folder.path().join("x.npy")).expect("written");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[..start]).into_owned();
    assert!(
        header.contains("'<u8'") && header.contains("(4, 13)"),
        "{header}"
    );
    let words = bytes[start..]
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
    let rows: Vec<u64> = words.collect();
    assert_eq!(rows.len(), 52);
    assert_eq!(rows[39..], [1, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(
        read(folder.path(), "x.edges.csv"),
        "source,target\n\"b,1\",c\n\"b,1\",a\nc,a\nc,d\n"
    );
    hone(
        folder.path(),
        &["count", "graph.tsv", "-o", "n.npy", "--per", "node"],
    )
    .success();
    assert_eq!(read(folder.path(), "n.ids.txt"), "b,1\nc\na\nd\n");
}

#[test]
fn parquet_tables() {
    let folder = folder();
    hone(
        folder.path(),
        &[
            "count",
            "graph.tsv",
            "-o",
            "x.parquet",
            "--motifs",
            "path3,triangle",
        ],
    )
    .success();
    let table = TableReader::open(
        &folder.path().join("x.parquet"),
        hone::memory::Allowance::new(None),
    )
    .expect("a table");
    assert_eq!(table.columns(), ["source", "target", "path3", "triangle"]);
    let names = |names: [&str; 4]| Column::Texts(names.map(str::to_owned).to_vec());
    assert_eq!(
        table.column("source").expect("there"),
        names(["b,1", "b,1", "c", "c"])
    );
    assert_eq!(
        table.column("target").expect("there"),
        names(["c", "a", "a", "d"])
    );
    assert_eq!(
        table.column("path3").expect("there"),
        Column::Counts(vec![1, 0, 1, 2])
    );
    assert_eq!(
        table.column("triangle").expect("there"),
        Column::Counts(vec![1, 1, 1, 0])
    );
}

#[test]
fn compressed_text_holds_the_same() {
    let folder = folder();
    for name in ["x.tsv", "x.tsv.gz", "x.tsv.zst"] {
        hone(folder.path(), &["count", "graph.tsv", "-o", name]).success();
    }
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect("a file");
    let mut text = String::new();
    std::io::Read::read_to_string(
        &mut flate2::read::GzDecoder::new(&*bytes("x.tsv.gz")),
        &mut text,
    )
    .expect("gzip");
    assert_eq!(text.as_bytes(), bytes("x.tsv"));
    assert_eq!(
        zstd::decode_all(&*bytes("x.tsv.zst")).expect("zstd"),
        bytes("x.tsv")
    );
    hone(folder.path(), &["count", "graph.tsv", "-o", "x.npy.gz"])
        .failure()
        .code(2);
}

#[test]
fn estimates_say_so_and_follow_the_seed() {
    let folder = folder();
    let run = |seed: &str, name: &str| {
        let args = [
            "count",
            "builtin:karate",
            "--sample",
            "cap=4",
            "--seed",
            seed,
            "-o",
            name,
        ];
        let output = hone(folder.path(), &args)
            .success()
            .get_output()
            .stderr
            .clone();
        assert!(String::from_utf8_lossy(&output).contains("estimates from at most 4 neighbours"));
        read(folder.path(), name)
    };
    let (a, b, c) = (run("1", "a.tsv"), run("1", "b.tsv"), run("2", "c.tsv"));
    assert!(a == b && a != c);
    hone(
        folder.path(),
        &["count", "builtin:karate", "--sample", "cap=2"],
    )
    .failure()
    .code(2);
}

#[test]
fn a_record_beside_the_counts_says_what_they_are() {
    let folder = folder();
    let record = |name: &str, more: &[&str]| -> serde_json::Value {
        let args = [
            &["count", "builtin:karate", "--seed", "5", "-o", name],
            more,
        ]
        .concat();
        hone(folder.path(), &args).success();
        serde_json::from_str(&read(folder.path(), &format!("{name}.run.json"))).expect("JSON")
    };
    let exact = record("a.npy", &["--per", "node"]);
    assert_eq!(
        (&exact["exact"], &exact["sampled"], &exact["by"]),
        (&true.into(), &().into(), &"node".into())
    );
    assert_eq!(
        (&exact["graph"]["nodes"], &exact["stages"][1]["name"]),
        (&34.into(), &"count".into())
    );
    let estimated = record(
        "b.tsv",
        &["--sample", "cap=8", "--motifs", "path3,triangle"],
    );
    assert_eq!(
        (&estimated["exact"], &estimated["sampled"]["cap"]),
        (&false.into(), &8.into())
    );
    assert_eq!(
        (&estimated["seed"], &estimated["sample"]),
        (&5.into(), &"cap=8".into())
    );
    assert_eq!(
        estimated["motifs"],
        serde_json::json!(["path3", "triangle"])
    );
    // A cap that no node exceeds leaves nothing to estimate.
    assert_eq!(
        record("c.csv", &["--per", "total", "--sample", "cap=64"])["exact"],
        true
    );
    let taken = hone(folder.path(), &["count", "nowhere.tsv", "-o", "a.npy"])
        .failure()
        .code(2);
    taken.stderr(contains("a.npy exists"));
    fs::remove_file(folder.path().join("b.tsv")).expect("there");
    let taken = hone(folder.path(), &["count", "builtin:karate", "-o", "b.tsv"])
        .failure()
        .code(2);
    taken.stderr(contains("b.tsv.run.json exists"));
    assert_eq!(
        (&exact["columns"][0], &estimated["columns"][1]),
        (&"degree".into(), &"triangle".into())
    );
    hone(
        folder.path(),
        &["features", "builtin:karate", "-o", "x.csv", "--depth", "2"],
    )
    .success();
    let record: serde_json::Value =
        serde_json::from_str(&read(folder.path(), "x.csv.run.json")).expect("JSON");
    assert_eq!(
        (&record["columns"][0], &record["graph"]["nodes"]),
        (&"edge_degree".into(), &34.into())
    );
    hone(
        folder.path(),
        &[
            "features",
            "builtin:karate",
            "-o",
            "y.csv",
            "--config",
            "x.csv.run.json",
        ],
    )
    .success();
    assert_eq!(read(folder.path(), "x.csv"), read(folder.path(), "y.csv"));
}

#[cfg(unix)]
#[test]
fn pipes_and_descriptors_have_no_record() {
    let folder = folder();
    let file = fs::File::create(folder.path().join("out.tsv")).expect("a file");
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_hone"));
    run.args(["count", "builtin:karate", "-q", "-o", "/dev/stdout"])
        .stdout(file);
    assert!(run.status().expect("it runs").success());
    assert_eq!(read(folder.path(), "out.tsv").lines().count(), 79);
    let piped = |args: &[&str]| {
        let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_hone"));
        let output = run
            .args(args)
            .args(["-q", "-o", "/dev/fd/1"])
            .output()
            .expect("it runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout)
            .expect("text")
            .lines()
            .count()
    };
    assert_eq!(piped(&["count", "builtin:karate"]), 79);
    assert_eq!(piped(&["features", "builtin:karate", "--depth", "0"]), 35);
    let pipe = folder.path().join("pipe.tsv");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .expect("mkfifo runs")
            .success()
    );
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::read_to_string(pipe).expect("the pipe is read"))
    };
    hone(
        folder.path(),
        &["count", "builtin:karate", "-q", "-o", "pipe.tsv"],
    )
    .success();
    assert_eq!(reader.join().expect("no panic").lines().count(), 79);
    assert!(!folder.path().join("pipe.tsv.run.json").exists());
}

#[test]
fn ids_that_look_like_comments_or_have_blanks_survive() {
    let folder = folder();
    fs::write(
        folder.path().join("odd.csv"),
        "\"#x\",b\nb,\"%c\"\n\"%c\",\" #x\"\n\" #x\",\"#x\"\n",
    )
    .expect("written");
    let info = |name: &str| {
        let output = hone(folder.path(), &["info", name, "--json"])
            .success()
            .get_output()
            .stdout
            .clone();
        let json: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
        (json["nodes"].clone(), json["edges"].clone())
    };
    for out in ["out.csv", "out.tsv"] {
        hone(folder.path(), &["count", "odd.csv", "-o", out]).success();
        assert_eq!(info(out), (4.into(), 4.into()));
    }
}

#[test]
fn the_input_is_not_written_over_by_files_beside_the_output() {
    let folder = folder();
    fs::write(folder.path().join("g.edges.csv"), "a,b\nb,c\n").expect("written");
    let refused = hone(
        folder.path(),
        &["count", "g.edges.csv", "-o", "g.npy", "--force"],
    )
    .failure()
    .code(2);
    refused.stderr(contains("g.edges.csv is the input"));
}

#[test]
fn totals_and_info() {
    let folder = folder();
    let total = hone(
        folder.path(),
        &[
            "count",
            "builtin:karate",
            "--per",
            "total",
            "--motifs",
            "graphlets",
        ],
    )
    .success();
    total.stdout(
        contains("triangle")
            .and(contains("45"))
            .and(contains("393")),
    );
    hone(
        folder.path(),
        &[
            "count",
            "graph.tsv",
            "--per",
            "total",
            "--motifs",
            "path3,tailed-near",
            "-o",
            "t.tsv",
        ],
    )
    .success();
    assert_eq!(
        read(folder.path(), "t.tsv"),
        "motif\toccurrences\tedges_in_position\npath3\t2\t4\ntailed-near\t1\t2\n"
    );
    hone(
        folder.path(),
        &[
            "count",
            "graph.tsv",
            "--per",
            "total",
            "--motifs",
            "path3",
            "-o",
            "t.csv",
        ],
    )
    .success();
    assert_eq!(
        read(folder.path(), "t.csv"),
        "motif,occurrences,edges_in_position\npath3,2,4\n"
    );
    for other in ["t.npy", "t.tsv.gz", "t.foo"] {
        let refused = hone(
            folder.path(),
            &["count", "graph.tsv", "--per", "total", "-o", other],
        )
        .failure()
        .code(2);
        refused.stderr(contains(".tsv").and(contains(other)));
    }
    let graph = read(folder.path(), "graph.tsv");
    let refused = hone(
        folder.path(),
        &["count", "graph.tsv", "-o", "graph.tsv", "--force"],
    )
    .failure()
    .code(2);
    refused.stderr(contains("is the input"));
    assert_eq!(read(folder.path(), "graph.tsv"), graph);
    let json = hone(folder.path(), &["info", "builtin:karate", "--json"])
        .success()
        .get_output()
        .stdout
        .clone();
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(
        (&json["motifs"]["triangle"], &json["motifs"]["path3"]),
        (&45.into(), &393.into())
    );
    hone(folder.path(), &["info", "builtin:karate"])
        .success()
        .stdout(contains("tailed-triangle"));
    hone(folder.path(), &["info", "builtin:karate", "--no-motifs"])
        .success()
        .stdout(contains("clique4").not());
}

#[test]
fn refuses_what_it_cannot_do() {
    let folder = folder();
    let args: [(&[&str], &str); 7] = [
        (
            &["count", "graph.tsv", "-o", "x.doc"],
            ".tsv, .csv (also .gz, .zst), .npy or .parquet",
        ),
        (
            &["count", "graph.tsv", "--motifs", "hexagon"],
            "`hone list motifs` lists all",
        ),
        (
            &["count", "graph.tsv", "--motifs", "all,triangle"],
            "cannot be combined",
        ),
        // Before any work: the graph is not even looked for.
        (
            &["count", "nowhere.tsv", "--per", "total", "-o", "x"],
            ".tsv or .csv",
        ),
        (&["count", "nowhere.tsv"], "check"),
        (
            &[
                "count",
                "graph.tsv",
                "--motifs",
                "clique4",
                "--motif-size",
                "3",
            ],
            "--motifs: no motif is left",
        ),
        (&["count", "graph.tsv", "-o", "graph.tsv"], "is the input"),
    ];
    for (args, message) in args {
        hone(folder.path(), args).code(2).stderr(contains(message));
    }
    assert_eq!(read(folder.path(), "graph.tsv"), GRAPH);
}

/// Pictures of motif graphs: the same for any number of threads, whatever the ids, and never over an input.
#[test]
fn motif_graphs_are_drawn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("g.tsv"), "a<b>\tc&d\nc&d\te\ne\ta<b>\ne\tf\n").expect("written");
    let draw = |more: &[&str]| {
        hone(
            folder.path(),
            &[
                &["draw", "g.tsv", "--motif", "edge", "--motif", "triangle"],
                more,
            ]
            .concat(),
        )
    };
    draw(&["-o", "one.svg", "--threads", "1"]).success();
    draw(&["-o", "three.svg", "--threads", "3"]).success();
    let picture = fs::read_to_string(path("one.svg")).expect("written");
    assert_eq!(
        picture,
        fs::read_to_string(path("three.svg")).expect("written")
    );
    assert!(
        picture.contains("a&lt;b&gt;") && !picture.contains("a<b>") && picture.contains("c&amp;d")
    );
    assert!(
        picture.contains("triangle")
            && picture.contains("3 nodes, 3 edges")
            && picture.contains("undirected")
    );
    draw(&["-o", "one.svg"]).code(2).stderr(contains("exists"));
    draw(&["-o", "g.tsv", "--force"])
        .code(2)
        .stderr(contains("is the input"));
    draw(&["-o", "x.svg", "--motif", "hexagon"])
        .code(2)
        .stderr(contains("`hexagon` is not a motif"));
    draw(&["-o", "x.pdf"])
        .code(2)
        .stderr(contains("a drawing is .svg").and(contains("x.pdf")));
    draw(&["-o", "-", "--directed"])
        .success()
        .stdout(contains("<svg"));
}

/// A refusal while the file is read names what reading it and the work that follows take, not what was held when it was
/// noticed: given back, it is enough.
#[test]
#[cfg(target_os = "linux")]
fn the_memory_that_a_refusal_names_is_enough() {
    let folder = folder();
    for (nodes, name) in [
        ("30000", "large.tsv"),
        ("4000", "small.tsv"),
        ("4000", "small.parquet"),
    ] {
        hone(
            folder.path(),
            &[
                "-q", "generate", "er", "--nodes", nodes, "--degree", "12", "-o", name,
            ],
        )
        .success();
    }
    let cases: [&[&str]; 6] = [
        &["count", "large.tsv", "--per", "total"],
        &["count", "small.parquet", "--per", "total"],
        &["embed", "small.tsv", "-o", "z.npy", "--force"],
        &[
            "embed",
            "small.parquet",
            "-o",
            "z.npy",
            "--force",
            "--preset",
            "hone-p",
            "--motifs",
            "edge,triangle",
        ],
        &["features", "small.tsv", "-o", "x.npy", "--force"],
        &[
            "features",
            "small.parquet",
            "-o",
            "x.npy",
            "--force",
            "--directed",
        ],
    ];
    for arguments in cases {
        let with = |memory: &str| hone(folder.path(), &[arguments, &["--memory", memory]].concat());
        let refused = with("5M").code(2);
        let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(
            said.contains("with the work that follows, needs about"),
            "{arguments:?}: {said}"
        );
        let named = said
            .split("needs about ")
            .nth(1)
            .and_then(|rest| rest.split(" but").next())
            .expect("a size");
        with(&named.replace(' ', "").replace("iB", "")).success();
    }
}

/// Triads of directed graphs: by arc, in total, induced or not, and in `hone info`.
#[test]
fn triads_of_a_directed_graph() {
    let folder = folder();
    let count = |more: &[&str]| {
        hone(
            folder.path(),
            &[&["count", "graph.tsv", "--directed"], more].concat(),
        )
    };
    // b,1 → c → a → b,1 is a cycle, and c → d leaves it.
    let lines =
        "source target 030C 021D 021C-first\nb,1 c 1 0 1\nc a 1 1 0\nc d 0 1 0\na b,1 1 0 0\n"
            .replace(' ', "\t");
    count(&["--motifs", "030C,M8,021C-first"])
        .success()
        .stdout(lines);
    let totals = |more: &[&str]| {
        let found = count(&[&["--motifs", "triads", "--per", "total"], more].concat()).success();
        let text = String::from_utf8_lossy(&found.get_output().stdout).into_owned();
        let line = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        text.lines()
            .skip(1)
            .map(line)
            .map(|words| (words[0].clone(), words[1].clone(), words[2].clone()))
            .collect::<Vec<_>>()
    };
    let row =
        |name: &str, count: &str, sum: &str| (name.to_owned(), count.to_owned(), sum.to_owned());
    let induced = totals(&[]);
    for expected in [
        row("one-way", "4", "4"),
        row("030C", "1", "3"),
        row("021D", "1", "2"),
        row("021C", "1", "2"),
    ] {
        assert!(induced.contains(&expected), "{induced:?}");
    }
    assert!(
        totals(&["--subgraph"]).contains(&row("021C", "4", "8")),
        "three paths lie in the cycle"
    );
    count(&["--motifs", "triads", "-o", "t.csv", "--subgraph"]).success();
    hone(
        folder.path(),
        &["count", "-o", "again.csv", "--config", "t.csv.run.json"],
    )
    .success();
    assert_eq!(
        read(folder.path(), "again.csv"),
        read(folder.path(), "t.csv"),
        "the record repeats it"
    );
    count(&["--subgraph"])
        .code(2)
        .stderr(contains("--subgraph").and(contains("triads")));
    count(&["--motifs", "triads", "--sample", "cap=8"])
        .code(2)
        .stderr(contains("--sample"));
    hone(folder.path(), &["count", "graph.tsv", "--motifs", "triads"])
        .code(2)
        .stderr(contains("undirected"));
    hone(folder.path(), &["info", "graph.tsv", "--directed"])
        .success()
        .stdout(contains("030C  "));
    let json = hone(
        folder.path(),
        &["info", "graph.tsv", "--directed", "--json"],
    )
    .success();
    assert!(String::from_utf8_lossy(&json.get_output().stdout).contains("\"030C\": 1"));
}
