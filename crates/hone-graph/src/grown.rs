//! The same graph with more nodes: where they go, and its adjacency there.

use std::sync::Arc;

use super::{Dropped, Graph, NodeId, NodeIds};
use crate::error::{Error, Result};
use crate::sparse::Pattern;

impl Graph {
    /// An adjacency that keeps the guarantees, undirected and without weights.
    pub fn trusted(pattern: Arc<Pattern>, ids: NodeIds) -> Result<Graph> {
        let dropped = Dropped::default();
        let graph = Graph {
            pattern,
            weights: None,
            directed: false,
            ids,
            dropped,
            extension: None,
        };
        graph.check_shape().map(|()| graph)
    }

    /// The same graph with further nodes, none of whose ids it has: among ascending integers each in its place, as if all
    /// had been read together, else behind the others. Weights are left out.
    pub fn grown(&self, further: &[String]) -> Result<Graph> {
        if further.is_empty() {
            return Ok(Graph {
                weights: None,
                ..self.clone()
            });
        }
        let (ids, places) = placed(&self.ids, further);
        if ids.len() > u32::MAX as usize {
            return Err(Error::config(
                "nodes",
                format!("{} nodes; at most {} are supported", ids.len(), u32::MAX),
            ));
        }
        let mut lengths = vec![0; ids.len()];
        places
            .iter()
            .zip(self.pattern.offsets().windows(2))
            .for_each(|(&i, w)| lengths[i as usize] = w[1] - w[0]);
        let mut end = 0;
        let ends = lengths.into_iter().map(|length| {
            end += length;
            end
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        // Places ascend, so that rows stay in order, and within them columns.
        let columns = self
            .pattern
            .columns()
            .iter()
            .map(|&j| places[j as usize])
            .collect();
        let pattern = Arc::new(Pattern::new(offsets, columns, ids.len()));
        let (directed, dropped, extension) = (self.directed, self.dropped, self.extension.clone());
        let graph = Graph {
            pattern,
            weights: None,
            directed,
            ids,
            dropped,
            extension,
        };
        graph.check_shape().map(|()| graph)
    }
}

/// All ids, and the new place of each old node; places ascend.
fn placed(ids: &NodeIds, further: &[String]) -> (NodeIds, Vec<u32>) {
    let old = ids.iter().map(|id| id.to_string());
    let all: Vec<String> = old.chain(further.iter().cloned()).collect();
    let in_order = |ids: &NodeIds| match ids {
        NodeIds::Sequential(_) => true,
        NodeIds::Integers(ids) => ids.is_sorted(),
        NodeIds::Text { .. } => false,
    };
    let count = ids.len() as u32;
    let behind = NodeIds::from_texts(&all);
    let NodeIds::Integers(numbers) = &behind else {
        return (behind, (0..count).collect());
    };
    if !in_order(ids) {
        return (behind, (0..count).collect());
    }
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    let place = |id: NodeId<'_>| match id {
        NodeId::Integer(id) => sorted.partition_point(|&other| other < id) as u32,
        NodeId::Text(_) => unreachable!("ids in order are integers"),
    };
    let places = ids.iter().map(place).collect();
    (NodeIds::from_integers(sorted), places)
}
