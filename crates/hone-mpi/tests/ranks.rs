//! Real jobs under `mpirun`, several processes on this machine: the laws of a space, and the command against `hone`, bit
//! for bit.
//!
//! `hone` itself must have been built before: `cargo build --workspace --bin hone`.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use hone::space::laws;
use hone_mpi::{Ranks, World};

/// Tells this program that it is a process of a job.
const INSIDE: &str = "HONE_TEST_INSIDE_A_JOB";

/// `mpirun` with so many processes.
fn mpirun(processes: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["-n", &processes.to_string(), "--oversubscribe"]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
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
    assert!(hone.exists(), "{} is missing: cargo build --workspace --bin hone", hone.display());
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
    generate(&["rmat", "--nodes", "1500", "--degree", "8", "--seed", "3", "-o", "graph.tsv"]);
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
        for world in [world, world.with_calls_of(1000)] {
            laws::check(&Ranks::new(world));
            laws::check_bits(&Ranks::new(world));
        }
        return drop(universe);
    }
    for processes in [1, 2, 3] {
        let mut command = mpirun(processes);
        command.arg(std::env::current_exe().unwrap()).env(INSIDE, "1");
        command.args(["--exact", "ranks_keep_the_laws_with_the_bits_of_the_host", "--test-threads", "1"]);
        finished(command);
    }
}

#[test]
fn embeddings_have_the_bits_of_one_process() {
    let folder = folder();
    let folder = folder.path();
    let presets = ["hone", "hone-w", "hone-p", "hone-l", "hone-l-norm", "hone-l-rw", "hone-p+x"];
    for (at, preset) in presets.into_iter().enumerate() {
        // As few iterations as a basis, a filter and plain products each need, over the presets.
        let iterations = ["local.solver.iterations=2", "local.solver.iterations=9"][at % 2];
        let args = ["-q", "embed", "graph.tsv", "--preset", preset, "--motifs", "edge,triangle,star4", "--set", iterations];
        alone(folder, &[&args[..], &["-o", "one.npy", "--force"]].concat());
        let processes = 2 + at % 2;
        job(processes, folder, &[&args[..], &["-o", "some.npy", "--force", "--threads", "1"]].concat());
        same(folder, "one.npy", "some.npy");
    }
}
