//! Motif counts: exact, estimated, or from a checkpoint (sec. 2.1).

use std::io::BufReader;

use super::checkpoint::{AGAIN, Checkpoint};
use super::context::Context;
use crate::config::Config;
use crate::engine::Counting;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::memory::Allowance;
use crate::message::Message;
use crate::motif::{Counts, Sampled};

/// Their file in a checkpoint.
const COUNTS: &str = "counts";

/// Those that a checkpoint holds.
fn cached<'a>(run: &'a Context) -> Option<&'a Checkpoint> {
    run.checkpoint
        .as_ref()
        .filter(|checkpoint| checkpoint.has(COUNTS))
}

/// Whether a checkpoint holds the motif counts.
pub(super) fn are_cached(run: &Context) -> bool {
    cached(run).is_some()
}

/// Motif counts, from the checkpoint if it has them.
pub(super) fn count_or_load(run: &mut Context, graph: &Graph) -> Result<Counts> {
    if are_cached(run) {
        let load = |run: &mut Context| cached(run).map(|checkpoint| load(checkpoint, graph));
        let counts = run.time("count", load).expect("it is there")?;
        report_sample(run, &counts);
        return Ok(counts);
    }
    let counts = count(run, graph)?;
    if run.checkpoint.is_some() {
        run.time("save counts", |run| {
            let mut checkpoint = run.checkpoint.iter_mut();
            checkpoint.try_for_each(|checkpoint| checkpoint.save(COUNTS, |out| counts.save(out)))
        })?;
    }
    Ok(counts)
}

/// Motif counts, exact or estimated.
pub(super) fn count(run: &mut Context, graph: &Graph) -> Result<Counts> {
    let allowance = Allowance::new(run.memory_limit);
    let (sample, seed, progress) = (&run.config.sample, run.config.seed, run.progress);
    let motifs = &run.config.counted_motifs();
    let counting = Counting {
        motifs,
        sample,
        seed,
        allowance,
        progress,
    };
    let counts = run.time("count", |run| run.engine.count(graph, counting));
    let counts = counts.map_err(|error| at_fault(run.config, error))?;
    report_sample(run, &counts);
    Ok(counts)
}

/// Names the setting with the motifs that cannot be counted: those of matrices, or those of features.
fn at_fault(config: &Config, error: Error) -> Error {
    match error {
        Error::Config { field, message }
            if field == "motifs" && !config.motifs.motifs().iter().any(|m| m.is_directed()) =>
        {
            Error::config("structure.motifs", message)
        }
        other => other,
    }
}

fn load(checkpoint: &Checkpoint, graph: &Graph) -> Result<Counts> {
    checkpoint.open(COUNTS, |file, path| {
        Counts::load(graph, &mut BufReader::with_capacity(1 << 20, file)).map_err(|e| {
            if e.raw_os_error().is_some() {
                return Error::io(path, e);
            }
            Error::input(path, format!("is damaged: {e}"), AGAIN)
        })
    })
}

/// Reports what was estimated.
fn report_sample(run: &mut Context, counts: &Counts) {
    run.report.sampled = counts.sampled().filter(|_| run.config.estimates()).cloned();
    let note = run.report.sampled.as_ref().map(Sampled::to_string);
    run.report.notes.extend(note.map(Message::from));
}
