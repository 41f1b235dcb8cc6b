//! The graph that other files refer to.

use std::sync::OnceLock;

use hone::graph::{self, Graph};

/// A small graph that other files refer to.
pub(crate) fn karate() -> &'static Graph {
    static GRAPH: OnceLock<Graph> = OnceLock::new();
    GRAPH.get_or_init(|| graph::builtin("karate").expect("built in"))
}
