//! The checkpoint from which a run resumes, and what it must belong to.

use std::path::Path;

use super::attributes::Own;
use super::context::Context;
use super::storage::checkpoint::{Begin, Checkpoint, Identity};
use crate::error::{Error, Result};
use crate::graph::Graph;

/// Version of the program and of what its stages compute: raise the second when the stages compute other parts than
/// before.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+5");

/// Refuses a checkpoint of which processes see different files: some would work where others read.
fn agree(run: &Context, folder: &Path, seen: Option<&Checkpoint>) -> Result<()> {
    let names = seen.map(Checkpoint::names).unwrap_or_default();
    let all = run.engine.communicator().gather_bytes(names.as_bytes());
    // A process that saw none reports its own error.
    if seen.is_none() || all.iter().all(|other| other == names.as_bytes()) {
        return Ok(());
    }
    let message = "not all processes see the same files of the checkpoint";
    Err(Error::input(
        folder,
        message,
        "use a folder that all machines share, and wait until it is the same on all of them",
    ))
}

/// Opens the checkpoint, if one is requested; refuses one of other work. Of several processes one opens it, and the
/// others read its content.
pub(super) fn open(run: &Context, graph: &Graph, own: &Own) -> Result<Option<Checkpoint>> {
    let Some((folder, begin)) = run.checkpoint else {
        return Ok(None);
    };
    let identity = Identity {
        version: VERSION.to_owned(),
        graph: graph.fingerprint(),
        attributes: format!("{:08x}", own.fingerprint()),
        engine: run.engine.arithmetic().to_owned(),
        config: run.config.clone(),
    };
    if !run.engine.leads() {
        // What the leading process has found or created; nobody saves anything before all have seen it.
        run.engine.meet();
        let seen = Checkpoint::look(folder, identity);
        agree(run, folder, seen.as_ref().ok())?;
        return seen.map(Some);
    }
    let checkpoint = Checkpoint::begin(folder, *begin, identity)?;
    run.engine.meet();
    agree(run, folder, Some(&checkpoint))?;
    if *begin == Begin::Resumed {
        let folder = folder.display();
        run.progress.note(&match checkpoint.len() {
            0 => format!("nothing to resume in {folder}: starting from the beginning"),
            1 => format!("resuming from {folder}: 1 finished stage"),
            stages => format!("resuming from {folder}: {stages} finished stages"),
        });
    }
    Ok(Some(checkpoint))
}
