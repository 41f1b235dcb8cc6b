//! [`InputArgs`]: the graph a command works on, and how to read it.

use hone::Error;
use hone::graph::{BUILTIN_PREFIX, Graph, builtin};

use crate::context::Context;

/// The input graph; flatten this into the `Args` of any command that reads one.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The graph: builtin:NAME for a built-in one (karate, florentine, petersen, …).
    #[arg(value_name = "INPUT")]
    input: String,
}

impl InputArgs {
    /// Reads the graph, and notes on standard error what was dropped on the way.
    pub(crate) fn open(&self, context: &Context) -> anyhow::Result<Graph> {
        let Some(name) = self.input.strip_prefix(BUILTIN_PREFIX) else {
            let remedy = format!("use {BUILTIN_PREFIX}NAME");
            return Err(Error::input(&self.input, "not a built-in graph", remedy).into());
        };
        context.progress().stage("reading the graph", 0);
        let graph = builtin(name)?;
        if let Some(note) = dropped(&graph) {
            context.note(note);
        }
        Ok(graph)
    }
}

/// What the builder left out, in one line; nothing when it left out nothing.
fn dropped(graph: &Graph) -> Option<String> {
    let dropped = graph.dropped();
    let parts: Vec<String> = [
        (dropped.self_loops, "self-loop", "self-loops"),
        (dropped.duplicates, "duplicate edge", "duplicate edges"),
        (dropped.weights, "weight", "weights"),
    ]
    .into_iter()
    .filter(|part| part.0 > 0)
    .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
    .collect();
    (!parts.is_empty()).then(|| format!("note: dropped {}", parts.join(", ")))
}
