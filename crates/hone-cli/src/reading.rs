//! Notes about a graph that was read: guesses, with the option that changes them, and what was dropped.

use hone::graph::{Graph, reading};

use crate::context::Context;

/// Notes guesses made while reading the graph, with the option that changes them, and what was dropped.
pub(crate) fn note_dropped(graph: &Graph, weights: bool, context: &Context) {
    let option = |name: &str, value: &str| match value {
        "" => format!("--{name}"),
        "yes" if name == "bipartite" => "--bipartite".to_owned(),
        _ => format!("--{name} {}", shell_word(value)),
    };
    for note in reading(graph).iter().flat_map(|reading| &reading.notes) {
        let kind = if note.is_warning() { "warning" } else { "note" };
        context.note(format_args!("{kind}: {}", note.show(&option)));
    }
    let dropped = graph.dropped();
    if !dropped.is_empty() {
        let remedy = match (dropped.weights > 0, weights) {
            (true, true) => " (--weighted keeps and uses weights)",
            (true, false) => " (weights are not used here)",
            (false, _) => "",
        };
        let added = if dropped.duplicates > 0 && graph.weights().is_some() {
            "; the weights of duplicate edges are added"
        } else {
            ""
        };
        context.note(format_args!("note: {dropped}{remedy}{added}"));
    }
}

/// Notes that weights were read for work that does not use them.
pub(crate) fn note_idle_weights(graph: &Graph, context: &Context) {
    if graph.weights().is_some() {
        context.note("note: weights are not used here");
    }
}

/// A value as it can be typed into a shell.
fn shell_word(value: &str) -> String {
    if value.chars().all(|c| c.is_ascii_alphanumeric() || c == '%') {
        value.into()
    } else {
        format!("'{value}'")
    }
}
