//! The process that watches: it starts one reading process after the other under a limit of its address space, saves
//! the input of one that dies, and prints a table.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use hone::{Error, Result};

use crate::child::{self, HANG, MEMORY};
use crate::seeds;
use crate::state::State;
use crate::target::Target;

/// Kilobytes of address space that a reading process gets: far more than it may hold, since threads reserve some.
const ADDRESS_SPACE: u64 = 4 << 20;
/// Failures of a target after which it is left alone.
const MOST_FAILURES: usize = 5;

/// How long to go on, and from where.
pub(crate) struct Plan {
    /// Seconds for all targets together.
    pub(crate) seconds: f64,
    /// Seed of the mutations of a target's first process.
    pub(crate) seed: u64,
    /// Inputs for each target at most, those of earlier runs included.
    pub(crate) inputs: u64,
    /// File of what earlier runs have done.
    pub(crate) state: Option<PathBuf>,
}

/// Runs targets one after the other; whether none failed.
pub(crate) fn run(targets: &[&Target], plan: &Plan) -> Result<bool> {
    println!(
        "{:24}{:>10}{:>10}{:>10}{:>9}{:>8}",
        "target", "inputs", "accepted", "outcomes", "seconds", "MB"
    );
    let start = Instant::now();
    let mut state = State::open(plan.state.as_deref())?;
    let (mut sound, mut total) = (true, 0);
    for (done, target) in targets.iter().enumerate() {
        let share = (plan.seconds - start.elapsed().as_secs_f64()) / (targets.len() - done) as f64;
        let failures = run_target(target, share, plan, &mut state)?;
        state.save()?;
        let found = state.tally(target.name);
        println!(
            "{:24}{:>10}{:>10}{:>10}{:>9.1}{:>8}",
            target.name,
            found.inputs,
            found.accepted,
            found.outcomes,
            found.seconds,
            found.peak >> 20
        );
        let new = found.failures.len() - failures;
        found.failures[new..]
            .iter()
            .for_each(|failure| println!("  FAILED {failure}"));
        sound &= failures == 0;
        total += found.inputs;
    }
    println!(
        "{total} inputs, seed {}: {}",
        plan.seed,
        if sound { "nothing broke" } else { "see above" }
    );
    Ok(sound)
}

/// Adds to the tally of a target until it has its inputs, or its seconds are over; how many failures that brought.
fn run_target(target: &Target, seconds: f64, plan: &Plan, state: &mut State) -> Result<usize> {
    let folder = work_folder()?;
    let start = Instant::now();
    let mut failures = 0;
    while failures < MOST_FAILURES {
        let tally = state.tally(target.name);
        let left = seconds - start.elapsed().as_secs_f64();
        let left_inputs = plan.inputs.saturating_sub(tally.inputs);
        if left_inputs == 0 || (left <= 0.0 && tally.rounds > 0) {
            break;
        }
        let seed = plan.seed.wrapping_add(tally.rounds);
        // Counted now: the next process has other inputs, even if this one and its parent are killed.
        tally.rounds += 1;
        let (before, begun) = (tally.clone(), Instant::now());
        let part = Part {
            target,
            folder: folder.path(),
            seed,
            seconds: left,
            inputs: left_inputs,
        };
        let failure = run_child(&part, |counts| {
            *state.tally(target.name) = before.with(counts, begun.elapsed().as_secs_f64());
            state.save_now_and_then()
        })?;
        match failure {
            None => break,
            Some(why) => {
                let failure = format!("{why}; {}", save(target, folder.path())?);
                state.tally(target.name).failures.push(failure);
                failures += 1;
            }
        }
    }
    Ok(failures)
}

/// A folder in memory if there is one.
fn work_folder() -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() {
        memory.to_path_buf()
    } else {
        std::env::temp_dir()
    };
    tempfile::tempdir_in(&place).map_err(|e| Error::io(&place, e))
}

/// What a reading process is to do.
struct Part<'a> {
    target: &'a Target,
    folder: &'a Path,
    seed: u64,
    seconds: f64,
    inputs: u64,
}

/// Starts a reading process, hands on its counts as they come, and returns why it failed if it did.
fn run_child(
    part: &Part<'_>,
    mut counted: impl FnMut([u64; 4]) -> Result<()>,
) -> Result<Option<String>> {
    let own = std::env::current_exe().map_err(|e| Error::io("hone-fuzz", e))?;
    let mut child = start(part, &own)?;
    let mut said = child.stderr.take();
    let complaints = std::thread::spawn(move || {
        let mut text = Vec::new();
        said.as_mut().map(|said| said.read_to_end(&mut text));
        String::from_utf8_lossy(&text).trim().to_owned()
    });
    let mut counts = [0; 4];
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|out| BufReader::new(out).lines())
    {
        let line = line.map_err(|e| Error::io(&own, e))?;
        counts
            .iter_mut()
            .zip(line.split(' '))
            .for_each(|(count, word)| *count = word.parse().unwrap_or(0));
        counted(counts)?;
    }
    let status = child.wait().map_err(|e| Error::io(&own, e))?;
    let complaints = complaints.join().unwrap_or_default();
    Ok(match status.code() {
        Some(0) => None,
        Some(HANG) => Some(format!("more than {} s", child::LONGEST_SECONDS)),
        Some(MEMORY) => Some(format!("{} MB", counts[3] >> 20)),
        _ => {
            let first: Vec<&str> = complaints.lines().take(2).collect();
            Some(format!("{status}: {}", first.join(" ")))
        }
    })
}

fn start(part: &Part<'_>, own: &Path) -> Result<Child> {
    let limited = format!("ulimit -c 0; ulimit -v {ADDRESS_SPACE}; exec \"$@\"");
    let numbers = [
        part.seed.to_string(),
        part.seconds.max(0.0).to_string(),
        part.inputs.to_string(),
    ];
    let mut command = Command::new("sh");
    command
        .args(["-c", &limited, "sh"])
        .arg(own)
        .args(["child", part.target.name])
        .arg(part.folder)
        .args(numbers);
    command
        .env("RUST_BACKTRACE", "0")
        .env("TMPDIR", part.folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().map_err(|e| Error::io(own, e))
}

/// Saves the input that a process left behind.
fn save(target: &Target, folder: &Path) -> Result<String> {
    let from = child::input_file(folder, target);
    let bytes = fs::read(&from).map_err(|e| Error::io(&from, e))?;
    let folder = seeds::folder(target);
    fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
    let to = folder.join(format!("failure-{:08x}", crc32fast::hash(&bytes)));
    fs::write(&to, bytes).map_err(|e| Error::io(&to, e))?;
    Ok(format!("saved as {}", to.display()))
}
