//! The process that watches: it starts one reading process after the other under a limit of its address space, saves
//! the input of one that dies, and prints a table.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use hone::{Error, Result};

use crate::child::{self, HANG, MEMORY};
use crate::seeds;
use crate::target::Target;

/// Kilobytes of address space that a reading process gets: far more than it may hold, since threads reserve some.
const ADDRESS_SPACE: u64 = 4 << 20;
/// Failures of a target after which it is left alone.
const MOST_FAILURES: usize = 5;

/// What came of a target.
#[derive(Debug, Default)]
struct Outcome {
    inputs: u64,
    accepted: u64,
    outcomes: u64,
    peak: u64,
    failures: Vec<String>,
}

/// Runs targets one after the other; whether none failed.
pub(crate) fn run(targets: &[&Target], seconds: f64, seed: u64, inputs: u64) -> Result<bool> {
    println!("{:24}{:>10}{:>10}{:>10}{:>9}{:>8}", "target", "inputs", "accepted", "outcomes", "seconds", "MB");
    let (mut sound, mut total) = (true, 0);
    for target in targets {
        let start = Instant::now();
        let found = run_target(target, seconds / targets.len() as f64, seed, inputs)?;
        println!(
            "{:24}{:>10}{:>10}{:>10}{:>9.1}{:>8}",
            target.name,
            found.inputs,
            found.accepted,
            found.outcomes,
            start.elapsed().as_secs_f64(),
            found.peak >> 20
        );
        found.failures.iter().for_each(|failure| println!("  FAILED {failure}"));
        sound &= found.failures.is_empty();
        total += found.inputs;
    }
    println!("{total} inputs, seed {seed}: {}", if sound { "nothing broke" } else { "see above" });
    Ok(sound)
}

fn run_target(target: &Target, seconds: f64, seed: u64, inputs: u64) -> Result<Outcome> {
    let folder = work_folder()?;
    let start = Instant::now();
    let mut found = Outcome::default();
    for round in 0..MOST_FAILURES as u64 {
        let left = seconds - start.elapsed().as_secs_f64();
        let left_inputs = inputs.saturating_sub(found.inputs);
        if round > 0 && (left <= 0.0 || left_inputs == 0) {
            break;
        }
        let (counts, failure) = run_child(target, folder.path(), seed + round, left, left_inputs)?;
        let [done, accepted, outcomes, peak] = counts;
        found.inputs += done;
        found.accepted += accepted;
        found.outcomes = found.outcomes.max(outcomes);
        found.peak = found.peak.max(peak);
        match failure {
            None => break,
            Some(why) => found.failures.push(format!("{why}; {}", save(target, folder.path())?)),
        }
    }
    Ok(found)
}

/// A folder in memory where there is one.
fn work_folder() -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    tempfile::tempdir_in(&place).map_err(|e| Error::io(&place, e))
}

/// The counts of a reading process, and why it failed if it did.
fn run_child(
    target: &Target,
    folder: &Path,
    seed: u64,
    seconds: f64,
    inputs: u64,
) -> Result<([u64; 4], Option<String>)> {
    let own = std::env::current_exe().map_err(|e| Error::io("hone-fuzz", e))?;
    let limited = format!("ulimit -c 0; ulimit -v {ADDRESS_SPACE}; exec \"$@\"");
    let numbers = [seed.to_string(), seconds.max(0.0).to_string(), inputs.to_string()];
    let mut child = Command::new("sh")
        .args(["-c", &limited, "sh"])
        .arg(&own)
        .args(["child", target.name])
        .arg(folder)
        .args(numbers)
        .env("RUST_BACKTRACE", "0")
        .env("TMPDIR", folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| Error::io(&own, e))?;
    let mut said = child.stderr.take();
    let complaints = std::thread::spawn(move || {
        let mut text = Vec::new();
        said.as_mut().map(|said| said.read_to_end(&mut text));
        String::from_utf8_lossy(&text).trim().to_owned()
    });
    let mut counted = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut counted).map_err(|e| Error::io(&own, e))?;
    }
    let status = child.wait().map_err(|e| Error::io(&own, e))?;
    let complaints = complaints.join().unwrap_or_default();
    let last = counted.lines().last().unwrap_or_default();
    let mut counts = [0; 4];
    counts.iter_mut().zip(last.split(' ')).for_each(|(count, word)| *count = word.parse().unwrap_or(0));
    let failure = match status.code() {
        Some(0) => None,
        Some(HANG) => Some(format!("more than {} s", child::LONGEST_SECONDS)),
        Some(MEMORY) => Some(format!("{} MB", counts[3] >> 20)),
        _ => {
            let first: Vec<&str> = complaints.lines().take(2).collect();
            Some(format!("{status}: {}", first.join(" ")))
        }
    };
    Ok((counts, failure))
}

/// Saves the input that a process left behind.
fn save(target: &Target, folder: &Path) -> Result<String> {
    let from = child::input_file(folder, target);
    let bytes = fs::read(&from).map_err(|e| Error::io(&from, e))?;
    let to = seeds::folder(target).join(format!("failure-{:08x}", crc32fast::hash(&bytes)));
    fs::write(&to, bytes).map_err(|e| Error::io(&to, e))?;
    Ok(format!("saved as {}", to.display()))
}
