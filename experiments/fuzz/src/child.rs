//! The process that reads: one target, one input after the other, until its time is over or something breaks.
//!
//! The input lies in a file before it is read, so that the parent process finds it there when this process is gone.
//! A watchdog ends the process when one input takes too long, and the largest amount of memory ever held is compared
//! with the limit after each. Inputs whose outcome is new become seeds of later ones.

use std::collections::VecDeque;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hone::{Error, Result, memory};
use rustc_hash::{FxHashSet, FxHasher};

use crate::message::unquoted;
use crate::mutate::{Random, mutate};
use crate::pack;
use crate::target::Target;

/// Seconds of processor time that an input may take.
pub(crate) const LONGEST_SECONDS: f64 = 10.0;
/// Seconds on the clock that an input may take: more, since other programs may have the processors.
const LONGEST_WAIT: f64 = 100.0;
/// Bytes that may be held.
pub(crate) const MOST_MEMORY: u64 = 256 << 20;
/// How a process ends that took too long, or held too much.
pub(crate) const HANG: i32 = 86;
pub(crate) const MEMORY: i32 = 87;
/// Inputs with a new outcome that are kept at once.
const KEPT: usize = 400;
/// Inputs between two lines on standard output.
const REPORTED: u64 = 1 << 10;

/// What a process is to do.
pub(crate) struct Task<'a> {
    pub(crate) target: &'a Target,
    /// Folder of the input.
    pub(crate) folder: PathBuf,
    pub(crate) seeds: Vec<Vec<u8>>,
    pub(crate) seed: u64,
    pub(crate) time: Duration,
    /// Inputs at most.
    pub(crate) inputs: u64,
}

/// Milliseconds since the start at which the present input began; 0 between inputs.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// The file of the present input.
pub(crate) fn input_file(folder: &Path, target: &Target) -> PathBuf {
    folder.join(format!("input.{}", target.extension))
}

/// Runs a task: the seeds as they are, then mutations of them.
pub(crate) fn run(task: &Task) -> Result<()> {
    let start = Instant::now();
    watch(start);
    let file = input_file(&task.folder, task.target);
    let mut random = Random::new(task.seed);
    let mut pool: VecDeque<Vec<u8>> = VecDeque::new();
    let mut seen = FxHashSet::default();
    let (mut done, mut accepted) = (0u64, 0u64);
    let mut plain = task.seeds.iter();
    while done < task.inputs && (done < task.seeds.len() as u64 || start.elapsed() < task.time) {
        let bytes = match plain.next() {
            Some(seed) => seed.clone(),
            None => {
                let one = chosen(&task.seeds, &pool, &mut random).to_vec();
                let other = chosen(&task.seeds, &pool, &mut random).to_vec();
                pack::mutated(task.target, &one, &random.next().to_le_bytes())
                    .unwrap_or_else(|| mutate(&one, &other, task.target.tokens, &mut random))
            }
        };
        fs::write(&file, &bytes).map_err(|e| Error::io(&file, e))?;
        BEGUN.store(start.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
        let outcome = (task.target.run)(&file);
        BEGUN.store(0, Ordering::Relaxed);
        done += 1;
        accepted += u64::from(outcome.is_ok());
        if seen.insert(signature(&outcome, &file)) {
            pool.push_back(bytes);
            if pool.len() > KEPT {
                pool.pop_front();
            }
        }
        let peak = memory::peak().unwrap_or(0);
        if done.is_multiple_of(REPORTED) || peak > MOST_MEMORY {
            report(done, accepted, seen.len(), peak);
        }
        if peak > MOST_MEMORY {
            std::process::exit(MEMORY);
        }
    }
    report(done, accepted, seen.len(), memory::peak().unwrap_or(0));
    Ok(())
}

fn chosen<'a>(seeds: &'a [Vec<u8>], pool: &'a VecDeque<Vec<u8>>, random: &mut Random) -> &'a [u8] {
    if pool.is_empty() || random.below(3) == 0 {
        return seeds
            .get(random.below(seeds.len()))
            .map_or(&[], Vec::as_slice);
    }
    // Mostly the shorter of two: long inputs find little that short ones do not, and take their time.
    let [one, other] = [0; 2].map(|_| &pool[random.below(pool.len())]);
    if other.len() < one.len() && random.below(8) > 0 {
        other
    } else {
        one
    }
}

/// One line that the parent process can read.
fn report(done: u64, accepted: u64, outcomes: usize, peak: u64) {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{done} {accepted} {outcomes} {peak}").and_then(|()| out.flush());
    if written.is_err() {
        std::process::exit(1);
    }
}

/// What came of an input, numbers and names left out.
fn signature(outcome: &Result<String>, file: &Path) -> u64 {
    let mut hasher = FxHasher::default();
    let shown = match outcome {
        Ok(found) => found.clone(),
        Err(error) => error.to_string(),
    };
    let shown = shown.replace(&file.display().to_string(), "");
    let text: String = unquoted(&shown)
        .chars()
        .filter(|c| outcome.is_ok() || !c.is_ascii_digit())
        .collect();
    (outcome.is_ok(), text).hash(&mut hasher);
    hasher.finish()
}

/// Ends the process when an input takes too long.
fn watch(start: Instant) {
    std::thread::spawn(move || {
        let (mut watched, mut before) = (0, 0.0);
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let begun = BEGUN.load(Ordering::Relaxed);
            let waited = start.elapsed().as_secs_f64() - begun as f64 / 1000.0;
            let processor = memory::processor_seconds();
            if begun != watched {
                (watched, before) = (begun, processor.unwrap_or(0.0));
            }
            let taken = processor.map_or(waited, |now| now - before);
            if begun > 0 && (taken > LONGEST_SECONDS || waited > LONGEST_WAIT) {
                std::process::exit(HANG);
            }
        }
    });
}
