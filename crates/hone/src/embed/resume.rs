//! What a run finds in its checkpoint, and what it leaves there.

use std::io::BufReader;

use super::Hone;
use super::attributes::Own;
use super::checkpoint::{AGAIN, Begin, Checkpoint, Identity};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::motif::{Counts, Sampled};
use crate::progress::Progress;
use crate::report::Report;

/// Version of the program and of what its stages compute: raise the second when parts of an earlier one are no longer
/// those that a run would make.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+3");

/// File of the motif counts.
const COUNTS: &str = "counts";

/// Whether a checkpoint holds the motif counts.
pub(super) fn counted(checkpoint: &Checkpoint) -> bool {
    checkpoint.has(COUNTS)
}

impl Hone {
    /// Opens the checkpoint, when one is asked for; refuses one of other work.
    pub(super) fn begin_checkpoint(
        &self,
        graph: &Graph,
        own: &Own,
        progress: &dyn Progress,
    ) -> Result<Option<Checkpoint>> {
        let Some((folder, begin)) = &self.checkpoint else { return Ok(None) };
        let identity = Identity {
            version: VERSION.to_owned(),
            graph: graph.fingerprint(),
            attributes: format!("{:08x}", own.fingerprint()),
            engine: self.engine.name().to_owned(),
            config: self.config.clone(),
        };
        let checkpoint = Checkpoint::begin(folder, *begin, identity)?;
        if *begin == Begin::Resumed {
            let folder = folder.display();
            progress.note(&match checkpoint.len() {
                0 => format!("nothing to resume in {folder}: starting from the beginning"),
                stages => format!("resuming from {folder}: {stages} finished stages"),
            });
        }
        Ok(Some(checkpoint))
    }

    /// Motif counts, from the checkpoint where it has them.
    pub(super) fn counts(
        &self,
        graph: &Graph,
        checkpoint: Option<&mut Checkpoint>,
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        let Some(checkpoint) = checkpoint else { return self.count(graph, report, progress) };
        if !checkpoint.has(COUNTS) {
            let counts = self.count(graph, report, progress)?;
            report.time("save counts", |_| checkpoint.save(COUNTS, |out| counts.save(out)))?;
            return Ok(counts);
        }
        let counts = report.time("count", |_| {
            checkpoint.open(COUNTS, |file, path| {
                Counts::load(graph, &mut BufReader::with_capacity(1 << 20, file)).map_err(|e| {
                    if e.raw_os_error().is_some() {
                        return Error::io(path, e);
                    }
                    Error::input(path, format!("is damaged: {e}"), AGAIN)
                })
            })
        })?;
        tell_sampled(&counts, report);
        Ok(counts)
    }
}

/// Notes what was estimated.
pub(super) fn tell_sampled(counts: &Counts, report: &mut Report) {
    report.sampled = counts.sampled().cloned();
    report.notes.extend(report.sampled.as_ref().map(Sampled::to_string));
}
