//! [`GraphBuilder`]: from any list of pairs to a graph that keeps the guarantees.

use std::sync::Arc;

use super::{Dropped, Graph, NodeIds};
use crate::error::{Error, Result};
use crate::sparse::Pattern;

/// Collects pairs of node indices and makes a [`Graph`] of them.
///
/// ```
/// use hone::graph::GraphBuilder;
/// let graph = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 0), (2, 2)]).build()?;
/// assert_eq!((graph.nodes(), graph.edges()), (3, 1));
/// assert_eq!((graph.dropped().duplicates, graph.dropped().self_loops), (1, 1));
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    directed: bool,
    ids: NodeIds,
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
}

impl GraphBuilder {
    /// An undirected graph on nodes 0..n.
    pub fn undirected(nodes: usize) -> Self {
        GraphBuilder { directed: false, ids: NodeIds::Sequential(nodes), edges: Vec::new(), weights: None }
    }

    /// A directed graph on nodes 0..n.
    pub fn directed(nodes: usize) -> Self {
        GraphBuilder { directed: true, ..Self::undirected(nodes) }
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

    /// One weight an edge, finite and not negative; of duplicates the weights add up.
    #[must_use]
    pub fn weights(mut self, weights: Vec<f32>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Makes the graph. Fails when an index is not below the number of nodes, when there are more
    /// nodes than u32 can number, or when a weight is negative or not finite.
    pub fn build(self) -> Result<Graph> {
        let n = self.ids.len();
        if n > u32::MAX as usize {
            return Err(Error::config("nodes", format!("{n} nodes; at most {} are supported", u32::MAX)));
        }
        let mut dropped = Dropped::default();
        let mut slots: Vec<(u32, u32, f32)> = Vec::new();
        for (e, &(u, v)) in self.edges.iter().enumerate() {
            if u as usize >= n || v as usize >= n {
                return Err(Error::config("edges", format!("edge {e} is ({u}, {v}), but there are {n} nodes")));
            }
            let w = self.weights.as_ref().map_or(1.0, |w| w[e]);
            if u == v {
                dropped.self_loops += 1;
                continue;
            }
            slots.push((u, v, w));
            if !self.directed {
                slots.push((v, u, w));
            }
        }
        slots.sort_by_key(|s| (s.0, s.1));
        let before = slots.len();
        slots.dedup_by(|b, a| {
            let same = (a.0, a.1) == (b.0, b.1);
            if same {
                a.2 += b.2;
            }
            same
        });
        dropped.duplicates = (before - slots.len()) as u64 / if self.directed { 1 } else { 2 };
        let mut offsets = vec![0; n + 1];
        for s in &slots {
            offsets[s.0 as usize + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let columns = slots.iter().map(|s| s.1).collect();
        let weights = self.weights.is_some().then(|| slots.iter().map(|s| s.2).collect::<Arc<[f32]>>());
        let pattern = Arc::new(Pattern::new(offsets, columns, n));
        Ok(Graph { pattern, weights, directed: self.directed, ids: self.ids, dropped })
    }
}
