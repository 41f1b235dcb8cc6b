//! [`Edits`]: edges to be added and removed, by id, as nodes of the graph that they change; and graphs with further nodes.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Graph, GraphBuilder, IdIndex, NodeId, NodeIds};
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

    /// The same graph with the edges of another as well, by id; an edge that both have takes the weight of the other. New nodes
    /// are placed as [`Graph::grown`] does.
    ///
    /// # Errors
    /// When only one of the two is directed.
    ///
    /// ```
    /// use hone_graph::{GraphBuilder, NodeIds};
    /// let graph = |ids: &[&str], edges| GraphBuilder::undirected(0).ids(NodeIds::from_texts(ids)).edges(edges).build();
    /// let all = graph(&["ann", "bob"], vec![(0, 1)])?.with_added(&graph(&["bob", "cid"], vec![(0, 1)])?)?;
    /// assert_eq!((all.nodes(), all.edges(), all.has_edge(1, 2)), (3, 2, true));
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn with_added(&self, added: &Graph) -> Result<Graph> {
        if self.is_directed() != added.is_directed() {
            let message = "edges of a directed graph cannot be added to an undirected one, nor the other way round";
            return Err(Error::config("directed", message));
        }
        let index = self.ids.index();
        let further = added.ids().iter().map(|id| id.to_string());
        let further: Vec<String> = further.filter(|id| index.find(id).is_none()).collect();
        let (ids, at) = places(&self.ids, &further);
        let index = ids.index();
        let new_at = added.ids().iter().map(|id| index.find(&id.to_string()));
        let new_at: Vec<u32> = new_at.map(|at| at.expect("all ids are there")).collect();
        let new = added.weighted_edges_at(&new_at);
        let given: BTreeSet<(u32, u32)> = new.iter().map(|(edge, _)| *edge).collect();
        let kept = self.weighted_edges_at(&at);
        let kept = kept.into_iter().filter(|(edge, _)| !given.contains(edge));
        let (edges, weights): (Vec<_>, Vec<_>) = kept.chain(new).unzip();
        let builder = match self.is_directed() {
            true => GraphBuilder::directed(0),
            false => GraphBuilder::undirected(0),
        };
        let mut builder = builder.ids(ids).edges(edges);
        if self.weights.is_some() {
            builder = builder.weights(weights);
        }
        let mut graph = builder.build()?;
        graph.dropped = self.dropped;
        graph.extension.clone_from(&self.extension);
        Ok(graph)
    }

    /// The edges of a graph, each once, as nodes that `at` numbers, the smaller first where there are no directions; the weight
    /// is 1 where it has none.
    fn weighted_edges_at(&self, at: &[u32]) -> Vec<((u32, u32), f32)> {
        let row = |u: u32| {
            let slots = self.pattern().range(u as usize);
            self.neighbors(u)
                .iter()
                .zip(slots)
                .map(move |(&v, slot)| (u, v, slot))
        };
        let slots = (0..self.nodes() as u32).flat_map(row);
        let once = slots.filter(|(u, v, _)| u < v || self.is_directed());
        let placed = once.map(|(u, v, slot)| {
            let (u, v) = (at[u as usize], at[v as usize]);
            let edge = if self.is_directed() {
                (u, v)
            } else {
                (u.min(v), u.max(v))
            };
            (edge, self.weights().map_or(1.0, |weights| weights[slot]))
        });
        placed.collect()
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
