//! [`Edits`]: edges to be added and removed, by id, as nodes of the graph that they change.

use std::collections::BTreeSet;

use super::{Graph, IdIndex};
use crate::error::{Error, Result};

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
        let names = |graph: &Graph, i: u32| graph.ids().get(i).to_string();
        let index = self.ids().index();
        let new = |graph: &Graph| {
            let nodes = 0..graph.nodes() as u32;
            nodes
                .map(|i| names(graph, i))
                .filter(|id| index.find(id).is_none())
                .collect::<Vec<String>>()
        };
        let further = added.map(new).unwrap_or_default();
        let grown = self.grown(&further)?;
        let index = grown.ids().index();
        let (mut to_add, mut present) = (Vec::new(), 0);
        for (u, v) in added.map(|graph| pairs(graph, &index)).unwrap_or_default() {
            let (u, v) = u.zip(v).expect("new nodes have their places");
            if grown.has_edge(u, v) {
                present += 1;
            } else {
                to_add.push((u, v));
            }
        }
        let named: BTreeSet<(u32, u32)> = added
            .map(|graph| pairs(graph, &index))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(u, v)| u.zip(v))
            .collect();
        let mut to_remove = Vec::new();
        for (graph, at, (u, v)) in removed.into_iter().flat_map(|graph| {
            let ends = edges(graph).zip(pairs(graph, &index));
            ends.map(move |(at, pair)| (graph, at, pair))
        }) {
            let (a, b) = (names(graph, at.0), names(graph, at.1));
            match u.zip(v).filter(|&(u, v)| grown.has_edge(u, v)) {
                Some(edge) if named.contains(&edge) => {
                    let message = format!(
                        "the edge between `{a}` and `{b}` is to be added as well; leave out one of the two"
                    );
                    return Err(Error::config("removed", message));
                }
                Some(edge) => to_remove.push(edge),
                None => {
                    return Err(Error::config(
                        "removed",
                        format!("the graph has no edge between `{a}` and `{b}`"),
                    ));
                }
            }
        }
        let new_nodes = further.len();
        Ok(Edits {
            graph: grown,
            added: to_add,
            removed: to_remove,
            present,
            new_nodes,
        })
    }
}

/// The edges of a graph, each once, directions ignored.
fn edges(graph: &Graph) -> impl Iterator<Item = (u32, u32)> + '_ {
    let back = move |u: u32, v: u32| graph.is_directed() && graph.has_edge(v, u);
    (0..graph.nodes() as u32).flat_map(move |u| {
        let own = graph.neighbors(u).iter().map(move |&v| (u, v));
        own.filter(move |&(u, v)| u < v || graph.is_directed() && !back(u, v))
    })
}

/// The same as nodes of another graph, the smaller first; nothing where it has no such node.
fn pairs(graph: &Graph, index: &IdIndex<'_>) -> Vec<(Option<u32>, Option<u32>)> {
    let nodes: Vec<Option<u32>> = graph
        .ids()
        .iter()
        .map(|id| index.find(&id.to_string()))
        .collect();
    let order = |(u, v): (u32, u32)| {
        let (u, v) = (nodes[u as usize], nodes[v as usize]);
        if u <= v { (u, v) } else { (v, u) }
    };
    edges(graph).map(order).collect()
}
