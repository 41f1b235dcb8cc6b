//! Real jobs under `mpirun`, several processes on this machine: the laws of a space, and the command against `hone`, bit
//! for bit.
//!
//! `hone` itself must have been built before: `cargo build --workspace --bin hone`.

#![allow(clippy::unwrap_used)]

mod divided;
mod faults;
#[path = "../../../hone/tests/library/laws.rs"]
mod laws;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hone::Silent;
use hone::graph::{Division, ReadOptions, read, read_divided};
use hone::store::Embedding;
use hone_mpi::{Ranks, World};

/// Tells this program that it is a process of a job, and the folder that the job works in.
const INSIDE: &str = "HONE_TEST_INSIDE_A_JOB";

/// `mpirun` with so many processes.
fn mpirun(processes: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["-n", &processes.to_string(), "--oversubscribe"]);
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // Containers often forbid that processes read each other's memory.
    command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    command
}

fn hone_mpi() -> &'static str {
    env!("CARGO_BIN_EXE_hone-mpi")
}

/// The command of one process.
fn hone() -> PathBuf {
    let hone = Path::new(hone_mpi()).with_file_name("hone");
    assert!(
        hone.exists(),
        "{} is missing: cargo build --workspace --bin hone",
        hone.display()
    );
    hone
}

fn finished(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// What a job of so many processes says, and its files.
fn job(processes: usize, folder: &Path, args: &[&str]) -> Output {
    let mut command = mpirun(processes);
    finished({
        command.arg(hone_mpi()).args(args).current_dir(folder);
        command
    })
}

/// How a job that cannot succeed ends: its exit code, and what it says.
fn failed(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = mpirun(2)
        .arg(hone_mpi())
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn alone(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(hone());
    finished({
        command.args(args).current_dir(folder);
        command
    })
}

/// A folder with graphs: some hubs, some triangles, enough nodes for several lanes.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let generate = |args: &[&str]| alone(folder.path(), &[&["-q", "generate"], args].concat());
    generate(&[
        "rmat",
        "--nodes",
        "1500",
        "--degree",
        "8",
        "--seed",
        "3",
        "-o",
        "graph.tsv",
    ]);
    folder
}

fn same(folder: &Path, one: &str, other: &str) {
    let [a, b] = [one, other].map(|name| fs::read(folder.join(name)).unwrap());
    assert!(a == b, "{one} and {other} differ");
}

#[test]
fn ranks_keep_the_laws_with_the_bits_of_the_host() {
    if std::env::var_os(INSIDE).is_some() {
        let universe = mpi::initialize().expect("MPI is started once");
        let world = World::of_job();
        laws::check(&Ranks::new(world));
        laws::check_bits(&Ranks::new(world));
        if world.size() == 3 {
            // Matrices that take several calls.
            laws::check_bits(&Ranks::new(world.with_calls_of(5000)));
        }
        return drop(universe);
    }
    for processes in [2, 3] {
        inside(
            processes,
            "ranks_keep_the_laws_with_the_bits_of_the_host",
            Path::new("."),
        );
    }
}

/// Runs a test of this program in every process of a job.
fn inside(processes: usize, test: &str, folder: &Path) {
    let mut command = mpirun(processes);
    command
        .arg(std::env::current_exe().unwrap())
        .env(INSIDE, folder)
        .env("RAYON_NUM_THREADS", "1");
    command.args(["--exact", test, "--test-threads", "1"]);
    finished(command);
}

/// A graph that was read, or the error.
fn told(result: hone::Result<hone::graph::Graph>) -> String {
    let graph = |graph: hone::graph::Graph| {
        (
            graph.fingerprint(),
            graph.edges(),
            format!("{:?} {:?}", graph.dropped(), hone::graph::reading(&graph)),
        )
    };
    format!("{:?}", result.map(graph))
}

#[test]
fn a_file_that_all_read_together_is_that_of_one_process() {
    if let Some(folder) = std::env::var_os(INSIDE) {
        let universe = mpi::initialize().expect("MPI is started once");
        let world = World::of_job();
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        // Messages in one call, and in several.
        for world in [world, world.with_calls_of(7)] {
            for (file, round) in files.iter().flat_map(|file| [(file, 0), (file, 1 << 20)]) {
                let options = ReadOptions {
                    weighted: file.ends_with("weights.csv"),
                    ..ReadOptions::default()
                };
                let division = Division::among(&world).in_blocks_of(100, round);
                let together = told(read_divided(file, &options, &division, &Silent));
                assert_eq!(
                    together,
                    told(read(file, &options, &Silent)),
                    "process {}",
                    world.rank()
                );
            }
        }
        return drop(universe);
    }
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<String> = (0..300)
        .map(|i| format!("{} {}", i % 70, i * i % 67))
        .collect();
    let names: Vec<String> = (0..200)
        .map(|i| format!("n{},\"m {}\",{}.5", i % 30, i * i % 31, i % 4))
        .collect();
    let mut wrong = numbers.clone();
    wrong[210] = "1 2 3".into();
    wrong[290] = "1".into();
    for (file, lines) in [
        ("numbers.txt", numbers),
        ("weights.csv", names),
        ("wrong.txt", wrong),
    ] {
        fs::write(folder.path().join(file), lines.join("\r\n")).unwrap();
    }
    alone(
        folder.path(),
        &[
            "-q", "generate", "er", "--nodes", "300", "--degree", "4", "-o", "er.mtx",
        ],
    );
    for processes in [2, 3] {
        inside(
            processes,
            "a_file_that_all_read_together_is_that_of_one_process",
            folder.path(),
        );
    }
}

#[test]
fn a_large_file_is_read_with_the_notes_and_errors_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Large enough to be divided without being asked to.
    alone(
        folder,
        &[
            "-q", "generate", "er", "--nodes", "120000", "--degree", "14", "-o", "er.tsv",
        ],
    );
    let text = fs::read_to_string(folder.join("er.tsv")).unwrap();
    let (_comment, lines) = text.split_once('\n').unwrap();
    assert!(lines.len() > 8 << 20, "{}", lines.len());
    let count = [
        "count",
        "er.tsv",
        "--per",
        "total",
        "--motifs",
        "edge,triangle",
    ];
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    // What has a note: a comment like an edge, and duplicates.
    fs::write(folder.join("er.tsv"), format!("#1\t2\n{lines}{lines}")).unwrap();
    let one = alone(folder, &count);
    for processes in [2, 3] {
        let some = job(processes, folder, &count);
        assert_eq!((&some.stdout, said(&some)), (&one.stdout, said(&one)));
    }
    // Wrong lines in the parts of two processes, and of the last one alone.
    let half = lines.lines().count();
    for (content, line) in [
        (format!("1\t2\n1\n{lines}{lines}1\n"), 2),
        (format!("{lines}{lines}1\t2\t3\n"), 2 * half + 1),
    ] {
        fs::write(folder.join("er.tsv"), content).unwrap();
        let wrong = Command::new(hone())
            .args(count)
            .current_dir(folder)
            .output()
            .unwrap();
        let (code, some) = failed(folder, &count);
        assert_eq!(code, wrong.status.code(), "{some}");
        // What `mpirun` says comes after it.
        assert!(
            some.starts_with(&said(&wrong)) && some.matches("error:").count() == 1,
            "{some}"
        );
        assert!(some.contains(&format!("line {line}:")), "{some}");
    }
}

/// Runs a command by one process and by several, and compares its files.
fn same_by_all(folder: &Path, processes: usize, args: &[&str], file: &str) {
    let (one, some) = (format!("one.{file}"), format!("some.{file}"));
    alone(folder, &[&["-q"], args, &["-o", &one, "--force"]].concat());
    job(
        processes,
        folder,
        &[&["-q"], args, &["-o", &some, "--force", "--threads", "1"]].concat(),
    );
    same(folder, &one, &some);
}

#[test]
fn embeddings_have_the_bits_of_one_process() {
    let folder = folder();
    let presets = [
        "hone",
        "hone-w",
        "hone-p",
        "hone-l",
        "hone-l-norm",
        "hone-l-rw",
        "hone-p+x",
    ];
    for (at, preset) in presets.into_iter().enumerate() {
        // As few iterations as a basis, a filter and plain products each need, over the presets.
        let iterations = ["local.solver.iterations=2", "local.solver.iterations=9"][at % 2];
        let args = [
            "embed",
            "graph.tsv",
            "--preset",
            preset,
            "--motifs",
            "edge,triangle,clique4",
            "--set",
            iterations,
        ];
        same_by_all(folder.path(), [2, 3, 4, 8][at % 4], &args, "npy");
    }
}

#[test]
fn files_have_the_bytes_of_one_process() {
    let folder = folder();
    let folder = folder.path();
    let embed = [
        "embed",
        "graph.tsv",
        "--preset",
        "hone-p",
        "--motifs",
        "edge",
        "--dim",
        "12",
    ];
    let formats = [
        "npy",
        "tsv",
        "parquet",
        "npz",
        "safetensors",
        "w2v",
        "csv.gz",
        "tsv.zst",
    ];
    for (at, format) in formats.into_iter().enumerate() {
        same_by_all(folder, 2 + at % 2, &embed, format);
        // Lengths and checksums.
        let [one, some] = ["one", "some"].map(|name| {
            let record = fs::read(folder.join(format!("{name}.{format}.run.json"))).unwrap();
            let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
            record["files"]
                .to_string()
                .replace(&format!("\"{name}."), "\"")
        });
        assert_eq!(one, some, "{format}");
    }
    same(folder, "one.ids.txt", "some.ids.txt");
    let by_all = job(
        3,
        folder,
        &[&["-q", "--threads", "1"], &embed[..], &["-o", "-"]].concat(),
    );
    assert!(
        by_all.stdout == fs::read(folder.join("one.tsv")).unwrap(),
        "standard output"
    );
    // Parts of a table, one per process; written once more over the old ones.
    for processes in [3, 2] {
        let parts = ["-q", "--threads", "1", "-o", "parts.parquet/", "--force"];
        job(processes, folder, &[&embed[..], &parts].concat());
        assert_eq!(
            fs::read_dir(folder.join("parts.parquet")).unwrap().count(),
            processes
        );
        let [parts, one] =
            ["parts.parquet", "one.npy"].map(|name| Embedding::read(folder.join(name)).unwrap());
        assert!(parts == one, "{processes} parts");
    }
    let hidden = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        !hidden
            .into_iter()
            .any(|name| name.to_string_lossy().starts_with('.')),
        "nothing temporary is left"
    );
}

#[test]
fn graphs_of_one_lane_are_embedded_too() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "embed",
        "builtin:karate",
        "--preset",
        "hone-p",
        "--motifs",
        "edge",
        "--dim",
        "8",
    ];
    same_by_all(folder.path(), 2, &args, "npy");
    // Two lanes: one of three processes has no rows.
    alone(
        folder.path(),
        &[
            "-q", "generate", "rmat", "--nodes", "300", "--degree", "6", "-o", "two.tsv",
        ],
    );
    same_by_all(
        folder.path(),
        3,
        &["embed", "two.tsv", "--dim", "16"],
        "npy",
    );
}

#[test]
fn other_work_has_the_bits_of_one_process() {
    let folder = folder();
    let folder = folder.path();
    let rows: Vec<String> = (0..1500)
        .map(|i| format!("{i},{},{}", i % 7, ["a", "b", "c"][i % 3]))
        .collect();
    fs::write(
        folder.join("people.csv"),
        format!("id,age,kind\n{}\n", rows.join("\n")),
    )
    .unwrap();
    let embed = [
        "embed",
        "graph.tsv",
        "--preset",
        "hone-p",
        "--motifs",
        "edge,triangle",
        "--dim",
        "16",
    ];
    for more in [
        &["--attributes", "people.csv", "--sample", "cap=8"][..],
        &["--directed", "--steps", "auto"],
        &[
            "--solver",
            "nmf",
            "--set",
            "local.solver.iterations=3",
            "--set",
            "global.solver.iterations=3",
        ],
        &["--set", "model=tucker"],
        &["--stage", "local"],
    ] {
        same_by_all(folder, 3, &[&embed[..], more].concat(), "tsv");
    }
    for count in [
        &["count", "graph.tsv"][..],
        &["count", "graph.tsv", "--per", "node", "--sample", "cap=8"],
        &[
            "count",
            "graph.tsv",
            "--directed",
            "--motifs",
            "triad-orbits",
        ],
    ] {
        same_by_all(folder, 3, count, "tsv");
    }
    for (processes, name) in [(1, "a"), (3, "b")] {
        let factors = [
            "-q",
            "--threads",
            "1",
            "-o",
            "z.tsv",
            "--force",
            "--factors",
            name,
        ];
        job(processes, folder, &[&embed[..], &factors].concat());
    }
    for file in fs::read_dir(folder.join("a")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        same(folder, &format!("a/{name}"), &format!("b/{name}"));
    }
    // The default has a log window, which all processes make together though one of them writes factors.
    for (processes, name) in [(1, "c"), (3, "d")] {
        let window = [
            "embed",
            "graph.tsv",
            "--dim",
            "16",
            "-q",
            "--threads",
            "1",
            "-o",
            "w.tsv",
            "--force",
            "--factors",
            name,
        ];
        job(processes, folder, &window);
        fs::rename(folder.join("w.tsv"), folder.join(format!("{name}.tsv"))).unwrap();
    }
    same(folder, "c.tsv", "d.tsv");
    let by_all = job(2, folder, &["-q", "count", "graph.tsv", "--per", "total"]);
    let by_one = alone(folder, &["-q", "count", "graph.tsv", "--per", "total"]);
    assert_eq!(by_all.stdout, by_one.stdout);
}

#[test]
fn a_refusal_says_how_many_processes_would_do() {
    let folder = tempfile::tempdir().unwrap();
    alone(
        folder.path(),
        &[
            "-q", "generate", "er", "--nodes", "40000", "--degree", "4", "-o", "er.tsv",
        ],
    );
    let args = [
        "embed", "er.tsv", "-o", "z.npy", "--preset", "hone-p", "--dim", "512", "--memory", "130M",
    ];
    let (code, said) = failed(folder.path(), &args);
    assert!(
        code == Some(2) && said.contains("or start ") && said.contains(" processes"),
        "{code:?}: {said}"
    );
}

#[test]
fn it_runs_without_mpirun() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(hone_mpi());
    command
        .args(["-q", "embed", "builtin:karate", "-o", "some.tsv"])
        .current_dir(&folder);
    finished(command);
    alone(
        folder.path(),
        &["-q", "embed", "builtin:karate", "-o", "one.tsv"],
    );
    same(folder.path(), "one.tsv", "some.tsv");
}

#[test]
fn checkpoints_are_continued_by_another_number_of_processes() {
    let folder = folder();
    let folder = folder.path();
    let args = [
        "-q",
        "embed",
        "graph.tsv",
        "--preset",
        "hone-p",
        "--motifs",
        "edge,triangle",
        "--dim",
        "16",
    ];
    alone(folder, &[&args[..], &["-o", "one.npy"]].concat());
    for (name, before, after) in [("a", 1, 3), ("b", 3, 2)] {
        let saved = [
            "--checkpoint",
            name,
            "--resume",
            "--force",
            "-o",
            "some.npy",
        ];
        job(before, folder, &[&args[..], &saved].concat());
        same(folder, "one.npy", "some.npy");
        fs::remove_file(folder.join("some.npy")).unwrap();
        // As a run that was interrupted leaves it: some stages are not there.
        let lost = fs::read_dir(folder.join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let lost = lost.filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().contains("triangle"))
        });
        assert!(
            lost.map(|path| fs::remove_file(path).unwrap()).count() > 0,
            "stages of triangles"
        );
        job(after, folder, &[&args[..], &saved].concat());
        same(folder, "one.npy", "some.npy");
    }
}
