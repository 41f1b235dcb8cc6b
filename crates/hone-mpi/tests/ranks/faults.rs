//! What is wrong is reported once, and a process that fails ends its job and leaves nothing behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{alone, failed, folder, hone_mpi, mpirun};

#[test]
fn what_is_wrong_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("there.npy"), "mine").unwrap();
    for (args, message) in [
        (&["embed", "nowhere.tsv", "-o", "z.npy"][..], "nowhere.tsv"),
        (&["embed", "builtin:karate", "-o", "there.npy"], "there.npy"),
        (
            &["embed", "-", "-o", "z.npy"],
            "several processes cannot read",
        ),
        (
            &["embed", "builtin:karate", "-o", "z.npy", "--device", "cuda"],
            "--device",
        ),
        (
            &["embed", "builtin:karate", "-o", "z.npy", "--nonsense"],
            "--nonsense",
        ),
    ] {
        let (code, said) = failed(folder, args);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.matches("error:").count() == 1 && said.contains(message),
            "{said}"
        );
    }
    assert_eq!(fs::read(folder.join("there.npy")).unwrap(), b"mine");
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["there.npy"]);
}

#[test]
fn a_process_that_cannot_write_ends_the_job_and_leaves_nothing() {
    let folder = folder();
    let args = "embed graph.tsv --preset hone-p --motifs edge --dim 12 --threads 1 -q -o";
    // One file is written by process 0, a folder of parts by all.
    for (name, writer) in [("z.npy", 0), ("z.tsv", 0), ("z.parquet/", 1)] {
        // The files of this process may have no byte.
        let limited = format!("ulimit -f 0; exec {} {args} {name}", hone_mpi());
        let of_rank = |rank| match rank == writer {
            true => vec!["sh", "-c", &limited],
            false => [
                &[hone_mpi()],
                &args.split(' ').collect::<Vec<_>>()[..],
                &[name],
            ]
            .concat(),
        };
        let mut command = mpirun(1);
        // Shared memory would be a file as well.
        command.env("OMPI_MCA_btl", "self,tcp");
        command
            .args(of_rank(0))
            .args([":", "-n", "1"])
            .args(of_rank(1));
        command.current_dir(&folder);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains("process 1 of 2: ") == (writer == 1),
            "{name}: {said}"
        );
        assert!(
            said.contains(name.trim_end_matches('/')) && said.contains("ulimit -f"),
            "{name}: {said}"
        );
        let left: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["graph.tsv"], "{name}");
    }
}

/// Process ids of a job's process of that number, given something in its arguments.
fn process_of_job(rank: usize, argument: &str) -> Option<String> {
    let is = |pid: &str| {
        let [environment, arguments] =
            ["environ", "cmdline"].map(|of| fs::read(format!("/proc/{pid}/{of}")));
        let has = |bytes: std::io::Result<Vec<u8>>, text: &str| {
            bytes.is_ok_and(|bytes| {
                bytes
                    .split(|&byte| byte == 0)
                    .any(|part| part == text.as_bytes())
            })
        };
        has(environment, &format!("OMPI_COMM_WORLD_RANK={rank}")) && has(arguments, argument)
    };
    let processes = fs::read_dir("/proc")
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    processes
        .filter(|name| name.parse::<u32>().is_ok())
        .find(|pid| is(pid))
}

#[test]
fn a_process_that_is_killed_ends_the_job_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("z.npy");
    let out = out.to_str().unwrap();
    // Far more work than the test waits for.
    let args = [
        "-q",
        "embed",
        "er.tsv",
        "-o",
        out,
        "--steps",
        "8",
        "--set",
        "local.solver.iterations=100000",
    ];
    alone(
        folder.path(),
        &[
            "-q", "generate", "er", "--nodes", "20000", "--degree", "10", "-o", "er.tsv",
        ],
    );
    let mut command = mpirun(2);
    let mut job = command
        .arg(hone_mpi())
        .args(args)
        .current_dir(&folder)
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let victim = loop {
        assert!(begin.elapsed() < Duration::from_secs(60), "the job starts");
        if let Some(pid) = process_of_job(1, out) {
            break pid;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    std::thread::sleep(Duration::from_secs(2));
    assert!(
        Command::new("kill")
            .args(["-9", &victim])
            .status()
            .unwrap()
            .success()
    );
    let killed = Instant::now();
    let status = loop {
        if let Some(status) = job.try_wait().unwrap() {
            break status;
        }
        assert!(
            killed.elapsed() < Duration::from_secs(30),
            "the job ends soon"
        );
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(!status.success());
    let left: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["er.tsv"]);
}

/// The reader of a pipe that has seen enough ends the job, as it ends `hone`.
#[test]
fn a_reader_that_leaves_ends_the_job() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let count = ["-q", "count", "graph.tsv", "--force", "-o", "pipe"];
    let mut job = mpirun(2)
        .arg(hone_mpi())
        .args(count)
        .current_dir(folder.path())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(fs::File::open(&pipe).unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("source\ttarget"), "{line}");
    let begin = Instant::now();
    let ended = loop {
        match job.try_wait().unwrap() {
            Some(status) => break status,
            None if begin.elapsed() > Duration::from_secs(30) => {
                job.kill().unwrap();
                panic!("the job lives on");
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    assert!(ended.success(), "{ended}");
}
