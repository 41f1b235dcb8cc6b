//! [`Edits`]: edges to be added and removed, by id, as nodes of the graph that they change; and graphs with further nodes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Graph, IdIndex, NodeId, NodeIds};
use crate::error::{Error, Result};
use crate::message::{message, quoted};
use crate::sparse::Pattern;

/// Changes of a graph.
#[derive(Debug, Clone)]
pub struct Edits {
    /// The graph before, undirected and without weights, with the nodes that are new.
    pub graph: Graph,
    /// Edges to be added, none of which exists.
    pub added: Vec<(u32, u32)>,
    /// Edges to be removed, all of which exist.
    pub removed: Vec<(u32, u32)>,
    /// Edges to be added that exist already: left out of `added`.
    pub present: u64,
    /// Nodes that are new.
    pub new_nodes: usize,
}

impl Graph {
    /// The edges of two other graphs as changes of this one, by id. New nodes are placed as [`Graph::grown`] does.
    /// Fails on directed graphs, removed edges that do not exist, and edges both added and removed.
    ///
    /// ```
    /// use hone_graph::{GraphBuilder, NodeIds};
    /// let graph = |ids: &[&str], edges| GraphBuilder::undirected(0).ids(NodeIds::from_texts(ids)).edges(edges).build();
    /// let before = graph(&["ann", "bob", "cid"], vec![(0, 1), (1, 2)])?;
    /// let edits = before.edits(Some(&graph(&["cid", "dan"], vec![(0, 1)])?), Some(&graph(&["bob", "ann"], vec![(0, 1)])?))?;
    /// assert_eq!((edits.graph.nodes(), edits.added, edits.removed), (4, vec![(2, 3)], vec![(0, 1)]));
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn edits(&self, added: Option<&Graph>, removed: Option<&Graph>) -> Result<Edits> {
        if self.is_directed() {
            let message = "changes of a directed graph are not supported; read it without directions, or count it again";
            return Err(Error::config("directed", message));
        }
        let index = self.ids().index();
        let ids = added.into_iter().flat_map(|graph| graph.ids().iter());
        let further: Vec<String> = ids
            .map(|id| id.to_string())
            .filter(|id| index.find(id).is_none())
            .collect();
        let graph = self.grown(&further)?;
        let index = graph.ids().index();
        let mut named = BTreeSet::new();
        let (mut to_add, mut to_remove, mut present) = (Vec::new(), Vec::new(), 0);
        for (_, edge) in added.into_iter().flat_map(|graph| edges(graph, &index)) {
            let edge = edge.expect("new nodes have their places");
            named.insert(edge);
            if graph.has_edge(edge.0, edge.1) {
                present += 1;
            } else {
                to_add.push(edge);
            }
        }
        for (ends, edge) in removed.into_iter().flat_map(|graph| edges(graph, &index)) {
            let [a, b] = ends.map(|id| id.to_string());
            let message = match edge.filter(|&(u, v)| graph.has_edge(u, v)) {
                Some(edge) if !named.contains(&edge) => {
                    to_remove.push(edge);
                    continue;
                }
                Some(_) => message![
                    "the edge between ",
                    quoted(a),
                    " and ",
                    quoted(b),
                    " is to be added as well; leave out one of the two"
                ],
                None => message![
                    "the graph has no edge between ",
                    quoted(a),
                    " and ",
                    quoted(b)
                ],
            };
            return Err(Error::config("removed", message));
        }
        Ok(Edits {
            graph,
            added: to_add,
            removed: to_remove,
            present,
            new_nodes: further.len(),
        })
    }

    /// The same graph with further nodes, none of whose ids it has: among ascending integers each in its place, as if all
    /// had been read together, else behind the others. Weights are left out.
    pub fn grown(&self, further: &[String]) -> Result<Graph> {
        let mut graph = Graph {
            weights: None,
            ..self.clone()
        };
        if further.is_empty() {
            return Ok(graph);
        }
        let (ids, places) = places(&self.ids, further);
        if ids.len() > u32::MAX as usize {
            let message = format!("{} nodes; at most {} are supported", ids.len(), u32::MAX);
            return Err(Error::config("nodes", message));
        }
        let mut offsets = vec![0; ids.len() + 1];
        for (i, &place) in places.iter().enumerate() {
            offsets[place as usize + 1] = self.pattern.range(i).len();
        }
        for place in 0..ids.len() {
            offsets[place + 1] += offsets[place];
        }
        // Places ascend, so that rows stay in order, and within them columns.
        let columns = self.pattern.columns().iter();
        let columns = columns.map(|&j| places[j as usize]).collect();
        graph.pattern = Arc::new(Pattern::new(offsets, columns, ids.len()));
        graph.with_ids(ids)
    }
}

/// The edges of a graph, each once, directions ignored: the ids of both ends, and the nodes of another graph that have
/// them, the smaller first; none where it has no such node.
fn edges<'a>(
    graph: &'a Graph,
    index: &IdIndex<'_>,
) -> impl Iterator<Item = ([NodeId<'a>; 2], Option<(u32, u32)>)> {
    let ids = graph.ids();
    let nodes: Vec<Option<u32>> = ids.iter().map(|id| index.find(&id.to_string())).collect();
    let pairs = (0..graph.nodes() as u32).flat_map(move |u| {
        let row = graph.neighbors(u).iter().map(move |&v| (u, v));
        row.filter(move |&(u, v)| u < v || graph.is_directed() && !graph.has_edge(v, u))
    });
    pairs.map(move |(u, v)| {
        let edge = nodes[u as usize].zip(nodes[v as usize]);
        (
            [ids.get(u), ids.get(v)],
            edge.map(|(u, v)| (u.min(v), u.max(v))),
        )
    })
}

/// All ids, and the new place of each old node; places ascend.
fn places(ids: &NodeIds, further: &[String]) -> (NodeIds, Vec<u32>) {
    let old = ids.iter().map(|id| id.to_string());
    let all: Vec<String> = old.chain(further.iter().cloned()).collect();
    let behind = NodeIds::from_texts(&all);
    let in_order = match ids {
        NodeIds::Sequential(_) => true,
        NodeIds::Integers(ids) => ids.is_sorted(),
        NodeIds::Text { .. } => false,
    };
    let mut sorted = match &behind {
        NodeIds::Integers(numbers) if in_order => numbers.clone(),
        _ => return (behind, (0..ids.len() as u32).collect()),
    };
    sorted.sort_unstable();
    let place = |id: NodeId<'_>| match id {
        NodeId::Integer(id) => sorted.partition_point(|&other| other < id) as u32,
        NodeId::Text(_) => unreachable!("ids in order are integers"),
    };
    let places = ids.iter().map(place).collect();
    (NodeIds::from_integers(sorted), places)
}
