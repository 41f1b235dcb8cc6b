//! [`GraphBuilder`]: from any list of pairs to a graph that satisfies the invariants. The heavy part is [`assemble`].

use std::sync::Arc;

use super::assemble::{Slots, assemble};
use super::weights::check_weights;
use super::{Dropped, Graph, NodeIds};
use crate::clock::{Work, timed};
use crate::error::{Error, Result};
use crate::parallel;

/// Edges per task.
const PIECE: usize = 1 << 18;

/// Collects pairs of node indices and makes a [`Graph`] of them.
///
/// ```
/// use hone_graph::GraphBuilder;
/// let graph = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 0), (2, 2)]).build()?;
/// assert_eq!((graph.nodes(), graph.edges()), (3, 1));
/// assert_eq!((graph.dropped().duplicates, graph.dropped().self_loops), (1, 1));
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    directed: bool,
    ids: NodeIds,
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    ignored_weights: u64,
}

impl GraphBuilder {
    /// An undirected graph on nodes 0..n.
    pub fn undirected(nodes: usize) -> Self {
        let ids = NodeIds::Sequential(nodes);
        GraphBuilder {
            directed: false,
            ids,
            edges: Vec::new(),
            weights: None,
            ignored_weights: 0,
        }
    }

    /// A directed graph on nodes 0..n.
    pub fn directed(nodes: usize) -> Self {
        GraphBuilder {
            directed: true,
            ..Self::undirected(nodes)
        }
    }

    /// Names the nodes; their number becomes the number of ids.
    #[must_use]
    pub fn ids(mut self, ids: NodeIds) -> Self {
        self.ids = ids;
        self
    }

    /// The edges, as pairs of node indices; loops and duplicates are dropped and counted.
    #[must_use]
    pub fn edges(mut self, edges: Vec<(u32, u32)>) -> Self {
        self.edges = edges;
        self
    }

    /// One weight per edge, finite and not negative; the weights of duplicates are added (in either
    /// direction if undirected).
    #[must_use]
    pub fn weights(mut self, weights: Vec<f32>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Says that the input had this many weights which were not requested.
    #[must_use]
    pub fn ignored_weights(mut self, count: u64) -> Self {
        self.ignored_weights = count;
        self
    }

    /// Makes the graph. Fails when an index is not below the number of nodes, when there are more
    /// nodes than u32 can number, or when a weight is negative or not finite.
    pub fn build(self) -> Result<Graph> {
        self.check()?;
        let GraphBuilder {
            directed,
            ids,
            edges,
            weights,
            ignored_weights,
        } = self;
        let self_loops = parallel::count(edges.len(), |e| edges[e].0 == edges[e].1);
        let slots = Pairs {
            edges,
            weights,
            both: !directed,
        };
        // Read, dealt into buckets, sorted there, copied to their place: 8 bytes per slot each time, 12 with weights.
        let slot = if slots.weights.is_some() { 12 } else { 8 };
        let bytes = 5 * slot * slots.edges.len() as u64 * if directed { 1 } else { 2 };
        let parts = timed(Work::Build, bytes, || match slots.weights {
            Some(_) => assemble::<3>(ids.len(), slots),
            None => assemble::<2>(ids.len(), slots),
        });
        if parts
            .weights
            .as_ref()
            .is_some_and(|w| parallel::first(w.len(), |e| w[e].is_infinite()).is_some())
        {
            let message =
                "those of duplicate edges add up to more than f32 can hold; scale them down";
            return Err(Error::config("weights", message));
        }
        let duplicates = if directed {
            parts.duplicates
        } else {
            parts.duplicates / 2
        };
        let dropped = Dropped {
            self_loops: self_loops as u64,
            duplicates,
            weights: ignored_weights,
        };
        let (pattern, weights) = (Arc::new(parts.pattern), parts.weights);
        Ok(Graph {
            pattern,
            weights,
            directed,
            ids,
            dropped,
            extension: None,
        })
    }

    fn check(&self) -> Result<()> {
        let n = self.ids.len();
        if n > u32::MAX as usize {
            return Err(Error::config(
                "nodes",
                format!("{n} nodes; at most {} are supported", u32::MAX),
            ));
        }
        if let Some(e) = parallel::first(self.edges.len(), |e| {
            self.edges[e].0.max(self.edges[e].1) as usize >= n
        }) {
            let (u, v) = self.edges[e];
            return Err(Error::config(
                "edges",
                format!("edge {e} is ({u}, {v}), but there are {n} nodes"),
            ));
        }
        let Some(weights) = &self.weights else {
            return Ok(());
        };
        if weights.len() != self.edges.len() {
            let message = format!(
                "{} weights for {} edges; give one per edge",
                weights.len(),
                self.edges.len()
            );
            return Err(Error::config("weights", message));
        }
        check_weights(weights)
    }
}

/// The builder's input as slots: loops left out, undirected edges in both directions.
struct Pairs {
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    both: bool,
}

impl Slots for Pairs {
    fn pieces(&self) -> usize {
        self.edges.len().div_ceil(PIECE)
    }

    fn total(&self) -> usize {
        if self.both {
            2 * self.edges.len()
        } else {
            self.edges.len()
        }
    }

    fn each(&self, piece: usize, mut visit: impl FnMut(u32, u32, u32)) {
        let begin = piece * PIECE;
        let end = self.edges.len().min(begin + PIECE);
        for (e, &(u, v)) in (begin..end).zip(&self.edges[begin..end]) {
            if u == v {
                continue;
            }
            // Adding zero turns -0 into 0, whose bits sort where they should.
            let bits = self.weights.as_ref().map_or(0, |w| (w[e] + 0.0).to_bits());
            visit(u, v, bits);
            if self.both {
                visit(v, u, bits);
            }
        }
    }
}
