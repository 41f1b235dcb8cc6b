#![doc = include_str!("../README.md")]

mod arcs;
mod assemble;
mod bipartite;
mod builder;
mod builtin;
mod edits;
mod fingerprint;
mod generate;
mod grown;
mod ids;
pub mod motif;
pub mod number;
mod orientation;
mod summary;
mod weights;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub use builder::GraphBuilder;
pub use builtin::{BUILTIN_PREFIX, BUILTINS, builtin};
pub use edits::Edits;
pub use fingerprint::name as id_number;
pub use generate::{Edges, Generator};
pub use ids::{IdIndex, Names, NodeId, NodeIds, canonical_integer};
pub use orientation::Orientation;
pub use summary::{Degrees, Summary};

pub use hone_base::{Error, Progress, Result, Silent, error, progress, random};
use hone_base::{clock, communicator, hashing, memory, parallel, sparse, spelling, storage};

use crate::sparse::Pattern;
use assemble::{Slots, assemble};
use weights::check_weights;

/// Stored positions that a thread takes in one go.
const COLUMNS: usize = 1 << 16;

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
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        if parts.is_empty() {
            f.write_str("dropped nothing")
        } else {
            write!(f, "dropped {}", parts.join(", "))
        }
    }
}

impl Graph {
    fn check_shape(&self) -> Result<()> {
        let (n, cols) = (self.pattern.rows(), self.pattern.cols());
        if n != cols {
            return Err(Error::config(
                "adjacency",
                format!("{n} rows and {cols} columns; it must be square"),
            ));
        }
        if self.ids.len() != n {
            return Err(Error::config(
                "ids",
                format!("{} ids for {n} nodes; give one per node", self.ids.len()),
            ));
        }
        let Some(weights) = &self.weights else {
            return Ok(());
        };
        if weights.len() != self.pattern.nnz() {
            let message = format!(
                "{} weights for {} positions; give one each",
                weights.len(),
                self.pattern.nnz()
            );
            return Err(Error::config("weights", message));
        }
        check_weights(weights)
    }

    /// Number of nodes N.
    pub fn nodes(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of edges M: undirected edges once, arcs of a directed graph each.
    pub fn edges(&self) -> usize {
        if self.directed {
            self.pattern.nnz()
        } else {
            self.pattern.nnz() / 2
        }
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
            return self
                .pattern
                .offsets()
                .windows(2)
                .map(|w| (w[1] - w[0]) as u32)
                .collect();
        }
        let counts: Vec<AtomicU32> = (0..self.nodes()).map(|_| AtomicU32::new(0)).collect();
        let columns = self.pattern.columns();
        parallel::stretches(columns.len(), COLUMNS, |range| {
            columns[range]
                .iter()
                .for_each(|&j| _ = counts[j as usize].fetch_add(1, Ordering::Relaxed));
        });
        counts.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// The symmetric adjacency of the same graph without directions and weights: what motifs are counted on.
    pub fn symmetric_pattern(&self) -> Arc<Pattern> {
        if self.directed {
            self.underlying().pattern
        } else {
            self.pattern.clone()
        }
    }

    /// The same graph without directions: an edge wherever there is an arc in either direction,
    /// with the sum of their weights (at most `f32::MAX`). Cheap when the graph is undirected
    /// already.
    pub fn underlying(&self) -> Graph {
        if !self.directed {
            return self.clone();
        }
        let (pattern, weights) = self.rearranged(true);
        Graph {
            pattern,
            weights,
            directed: false,
            ids: self.ids.clone(),
            dropped: self.dropped,
            extension: self.extension.clone(),
        }
    }

    /// Transposed adjacency: row i holds the in-neighbours of node i, ascending. Shared, not
    /// copied, when the graph is undirected.
    pub fn transposed(&self) -> Arc<Pattern> {
        if self.directed {
            self.rearranged(false).0
        } else {
            Arc::clone(&self.pattern)
        }
    }

    /// The arcs reversed, with (`both`) or without the original ones.
    fn rearranged(&self, both: bool) -> (Arc<Pattern>, Option<Arc<[f32]>>) {
        let arcs = Arcs { graph: self, both };
        let mut parts = match (&self.weights, both) {
            (Some(_), true) => assemble::<3>(self.nodes(), arcs),
            _ => assemble::<2>(self.nodes(), arcs),
        };
        if let Some(weights) = parts.weights.as_mut().and_then(Arc::get_mut) {
            parallel::for_chunks(weights, COLUMNS, &|_, weights| {
                weights.iter_mut().for_each(|w| *w = w.min(f32::MAX));
            });
        }
        (Arc::new(parts.pattern), parts.weights)
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
        let graph = Graph { ids, ..self };
        graph.check_shape()?;
        Ok(graph)
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

/// The arcs of a directed graph, reversed and perhaps also as they are, in pieces of rows.
struct Arcs<'a> {
    graph: &'a Graph,
    both: bool,
}

impl Arcs<'_> {
    fn rows_a_piece(&self) -> usize {
        self.graph.nodes().div_ceil(256).max(1 << 10)
    }
}

impl Slots for Arcs<'_> {
    fn pieces(&self) -> usize {
        self.graph.nodes().div_ceil(self.rows_a_piece())
    }

    fn total(&self) -> usize {
        if self.both {
            2 * self.graph.pattern.nnz()
        } else {
            self.graph.pattern.nnz()
        }
    }

    fn each(&self, piece: usize, mut visit: impl FnMut(u32, u32, u32)) {
        let begin = piece * self.rows_a_piece();
        let end = self.graph.nodes().min(begin + self.rows_a_piece());
        let weights = self.graph.weights.as_deref();
        for i in begin..end {
            for (position, &j) in self.graph.pattern.range(i).zip(self.graph.pattern.row(i)) {
                let bits = weights.map_or(0, |w| (w[position] + 0.0).to_bits());
                visit(j, i as u32, bits);
                if self.both {
                    visit(i as u32, j, bits);
                }
            }
        }
    }
}
