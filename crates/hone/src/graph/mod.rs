//! Graphs: immutable, sorted adjacency over u32 with the user's own node ids.
//!
//! A [`Graph`] is made by the [`GraphBuilder`], which gives the guarantees everyone else assumes:
//! no self-loops, no duplicate edges, sorted neighbourhoods. What it dropped on the way is counted
//! in [`Dropped`], never silent.

mod builder;
mod builtin;
mod generate;
mod ids;
mod summary;
mod write;

use std::sync::Arc;

pub use builder::GraphBuilder;
pub use builtin::{BUILTIN_PREFIX, BUILTINS, builtin};
pub use generate::{Edges, Generator};
pub use ids::{NodeId, NodeIds};
pub use summary::{Degrees, Summary};
pub use write::{GraphFormat, WriteOptions};

use crate::sparse::Pattern;

/// A simple graph, directed or not, with optional edge weights.
#[derive(Debug, Clone)]
pub struct Graph {
    /// Out-neighbours; for undirected graphs symmetric, each edge in both rows.
    pattern: Arc<Pattern>,
    /// One weight a position of `pattern`.
    weights: Option<Arc<[f32]>>,
    directed: bool,
    ids: NodeIds,
    dropped: Dropped,
}

/// What the builder left out, and how often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Edges from a node to itself.
    pub self_loops: u64,
    /// Further copies of an edge already seen (in either direction when undirected).
    pub duplicates: u64,
    /// Weights read but not kept.
    pub weights: u64,
}

impl Graph {
    /// Number of nodes N.
    pub fn nodes(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of edges M: undirected edges once, arcs of a directed graph each.
    pub fn edges(&self) -> usize {
        if self.directed { self.pattern.nnz() } else { self.pattern.nnz() / 2 }
    }

    /// Whether arcs have a direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Adjacency: row i holds the (out-)neighbours of node i, ascending.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// (Out-)neighbours of node `i`, ascending.
    pub fn neighbors(&self, i: u32) -> &[u32] {
        self.pattern.row(i as usize)
    }

    /// (Out-)degree of node `i`.
    pub fn degree(&self, i: u32) -> usize {
        self.neighbors(i).len()
    }

    /// Edge weights in the order of [`Graph::pattern`], when the input had them and they were kept.
    pub fn weights(&self) -> Option<&Arc<[f32]>> {
        self.weights.as_ref()
    }

    /// The user's name of every node.
    pub fn ids(&self) -> &NodeIds {
        &self.ids
    }

    /// What the builder dropped.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }
}
