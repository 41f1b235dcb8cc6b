//! Motif counts: exact or estimated, or those that a checkpoint has (sec. 2.1).

use std::io::BufReader;

use super::attributes::Own;
use super::context::Context;
use super::storage::checkpoint::{AGAIN, Begin, Checkpoint, Identity};
use crate::engine::Counting;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::memory::Allowance;
use crate::motif::{Counts, Sampled};

/// Version of the program and of what its stages compute: raise the second when parts of an earlier one are no longer
/// those that a run would make.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+3");

/// Their file in a checkpoint.
const COUNTS: &str = "counts";

/// Opens the checkpoint, when one is asked for; refuses one of other work.
pub(super) fn open_checkpoint(run: &Context, graph: &Graph, own: &Own) -> Result<Option<Checkpoint>> {
    let Some((folder, begin)) = run.checkpoint else { return Ok(None) };
    let identity = Identity {
        version: VERSION.to_owned(),
        graph: graph.fingerprint(),
        attributes: format!("{:08x}", own.fingerprint()),
        engine: run.engine.name().to_owned(),
        config: run.config.clone(),
    };
    let checkpoint = Checkpoint::begin(folder, *begin, identity)?;
    if *begin == Begin::Resumed {
        let folder = folder.display();
        run.progress.note(&match checkpoint.len() {
            0 => format!("nothing to resume in {folder}: starting from the beginning"),
            stages => format!("resuming from {folder}: {stages} finished stages"),
        });
    }
    Ok(Some(checkpoint))
}

/// Whether a checkpoint holds the motif counts.
pub(super) fn are_in(checkpoint: &Checkpoint) -> bool {
    checkpoint.has(COUNTS)
}

/// Motif counts, from the checkpoint where it has them.
pub(super) fn count_or_load(run: &mut Context, graph: &Graph, checkpoint: Option<&mut Checkpoint>) -> Result<Counts> {
    let Some(checkpoint) = checkpoint else { return count(run, graph) };
    if are_in(checkpoint) {
        let counts = run.time("count", |_| load(checkpoint, graph))?;
        report_sample(run, &counts);
        return Ok(counts);
    }
    let counts = count(run, graph)?;
    run.time("save counts", |_| checkpoint.save(COUNTS, |out| counts.save(out)))?;
    Ok(counts)
}

/// Motif counts, exact or estimated.
pub(super) fn count(run: &mut Context, graph: &Graph) -> Result<Counts> {
    let allowance = Allowance::new(run.memory_limit);
    let (sample, seed, progress) = (&run.config.sample, run.config.seed, run.progress);
    let counting = Counting { sample, seed, allowance, progress };
    let counts = run.time("count", |run| run.engine.count(graph, counting))?;
    report_sample(run, &counts);
    Ok(counts)
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
    run.report.sampled = counts.sampled().cloned();
    run.report.notes.extend(run.report.sampled.as_ref().map(Sampled::to_string));
}
