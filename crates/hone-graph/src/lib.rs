#![doc = include_str!("../README.md")]

mod builder;
mod builtin;
mod edits;
mod fingerprint;
mod generate;
mod ids;
pub mod motif;
pub mod number;
mod summary;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub use builder::{GraphBuilder, Orientation};
pub use builtin::{BUILTIN_PREFIX, BUILTINS, builtin};
pub use edits::Edits;
pub use fingerprint::name as id_number;
pub use generate::{Edges, Generator};
pub use ids::{IdIndex, Names, NodeId, NodeIds, canonical_integer};
pub use summary::{Degrees, Summary};

pub use hone_base::{Error, Progress, Result, Silent, error, message, progress, random};
use hone_base::{clock, communicator, hashing, memory, parallel, sparse, spelling, storage};

use crate::sparse::Pattern;

/// A simple graph, directed or not, with optional edge weights.
#[derive(Debug, Clone)]
pub struct Graph {
    /// Out-neighbours; for undirected graphs symmetric, each edge in both rows.
    pattern: Arc<Pattern>,
    /// One weight per position of `pattern`.
    weights: Option<Arc<[f32]>>,
    directed: bool,
    ids: NodeIds,
    dropped: Dropped,
    /// What a reader keeps with the graph.
    extension: Option<Arc<dyn Any + Send + Sync>>,
}

/// What the builder dropped, and how often. Prints as one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Edges from a node to itself.
    pub self_loops: u64,
    /// Further copies of an edge already seen (in either direction when undirected).
    pub duplicates: u64,
    /// Weights read but not kept.
    pub weights: u64,
}

impl Dropped {
    /// Whether nothing was dropped.
    pub fn is_empty(&self) -> bool {
        *self == Dropped::default()
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.self_loops, "self-loop"),
            (self.duplicates, "duplicate edge"),
            (self.weights, "weight"),
        ];
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let parts = counts.into_iter().filter(|(count, _)| *count > 0);
        let parts = parts.map(|(count, what)| format!("{count} {what}{}", plural(count)));
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() {
            f.write_str("dropped nothing")
        } else {
            write!(f, "dropped {}", parts.join(", "))
        }
    }
}

impl Graph {
    /// A graph of which nothing was dropped; the caller guarantees the invariants.
    fn new(
        pattern: Arc<Pattern>,
        weights: Option<Arc<[f32]>>,
        directed: bool,
        ids: NodeIds,
    ) -> Graph {
        Graph {
            pattern,
            weights,
            directed,
            ids,
            dropped: Dropped::default(),
            extension: None,
        }
    }

    /// Number of nodes N.
    pub fn nodes(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of edges M: undirected edges once, arcs of a directed graph each.
    pub fn edges(&self) -> usize {
        self.pattern.nnz() / if self.directed { 1 } else { 2 }
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

    /// Whether there is an edge (an arc from `i` to `j` when directed). O(log degree).
    pub fn has_edge(&self, i: u32, j: u32) -> bool {
        self.neighbors(i).binary_search(&j).is_ok()
    }

    /// In-degree of every node; of an undirected graph simply its degrees. O(N + M).
    pub fn in_degrees(&self) -> Vec<u32> {
        if !self.directed {
            let offsets = self.pattern.offsets();
            return offsets.windows(2).map(|w| (w[1] - w[0]) as u32).collect();
        }
        let counts: Vec<AtomicU32> = (0..self.nodes()).map(|_| AtomicU32::new(0)).collect();
        let columns = self.pattern.columns();
        parallel::stretches(columns.len(), 1 << 16, |range| {
            for &j in &columns[range] {
                counts[j as usize].fetch_add(1, Ordering::Relaxed);
            }
        });
        counts.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// Edge weights in the order of [`Graph::pattern`], when the input had them and they were kept.
    pub fn weights(&self) -> Option<&Arc<[f32]>> {
        self.weights.as_ref()
    }

    /// The user's name of every node.
    pub fn ids(&self) -> &NodeIds {
        &self.ids
    }

    /// The same graph with other names; an error unless there is one per node.
    pub fn with_ids(self, ids: NodeIds) -> Result<Graph> {
        Graph { ids, ..self }.checked()
    }

    /// What the builder dropped.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The same graph, which says that it was made without this many weights that its source has.
    #[must_use]
    pub fn without_weights_of_source(mut self, count: u64) -> Graph {
        self.dropped.weights = count;
        self
    }

    /// A value that was attached to the graph by [`Graph::with_extension`], if it has this type.
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.extension.as_deref()?.downcast_ref()
    }

    /// The same graph with a value of any type attached, such as how its file was interpreted. It replaces an earlier one.
    #[must_use]
    pub fn with_extension<T: Any + Send + Sync>(self, value: T) -> Graph {
        Graph {
            extension: Some(Arc::new(value)),
            ..self
        }
    }
}
