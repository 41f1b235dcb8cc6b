//! Link-prediction splits that cannot leak.
//!
//! [`LinkSplit::of`] consumes the whole graph and returns two things: a [`TrainGraph`], the only input that embedding
//! methods accept, and [`LabeledPairs`], the removed edges with as many sampled non-edges. No [`TrainGraph`] with
//! removed edges can be made from a split. Nodes keep their number and order, so a node that lost all its edges stays,
//! isolated.
//!
//! Time and memory are linear in the edges, also for graphs so dense that non-edges are rare.

mod labeled_pairs;
mod negatives;

use hone::graph::{Graph, GraphBuilder};
use hone::{Error, Result};
use rustc_hash::FxHashSet;

pub use self::labeled_pairs::LabeledPairs;
pub use self::negatives::Negatives;
use crate::random::Stream;

/// The graph a method may learn from.
#[derive(Debug, Clone)]
pub struct TrainGraph(Graph);

impl TrainGraph {
    /// The whole graph, for tasks in which edges are not hidden (node labels, roles, run time).
    pub fn whole(graph: Graph) -> Self {
        TrainGraph(graph)
    }

    /// The graph to learn from.
    pub fn graph(&self) -> &Graph {
        &self.0
    }
}

/// A graph with part of its edges removed, and the pairs to be classified.
#[derive(Debug, Clone)]
pub struct LinkSplit {
    /// What is left: the only thing methods may see.
    pub train: TrainGraph,
    /// Removed edges and as many non-edges.
    pub pairs: LabeledPairs,
    /// Remaining edges and as many further non-edges, when requested.
    pub remaining: Option<LabeledPairs>,
}

/// Which edges a [`LinkSplit`] removes, and the negatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removal {
    /// The share of edges that is removed, at random.
    pub share: f64,
    /// Whether edges that stay get as many further non-edges.
    pub remaining: bool,
    /// The pairs without an edge. Reversed arcs are those of one-way arcs alone; with them arcs and non-arcs of a class are
    /// as many as there are one-way arcs among the removed (or remaining) ones, and mutual arcs are left out.
    pub negatives: Negatives,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for Removal {
    fn default() -> Self {
        Removal {
            share: 0.5,
            remaining: false,
            negatives: Negatives::Random,
            seed: 0,
        }
    }
}

impl LinkSplit {
    /// Removes edges at random and finds as many pairs without one.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the whole graph must not stay with the caller"
    )]
    pub fn of(graph: Graph, removal: &Removal) -> Result<Self> {
        let Removal {
            share,
            remaining,
            negatives,
            seed,
        } = *removal;
        negatives.check(&graph)?;
        let (mut edges, weights) = edges_of(&graph);
        let removed = check_share(&graph, share)?;
        let mut order: Vec<u32> = (0..edges.len() as u32).collect();
        Stream::new(seed, "remove edges", 0).shuffle(&mut order);
        let (gone, kept) = order.split_at(removed);
        let wanted = if remaining { edges.len() } else { removed };
        let non_edges = sample_non_edges(&graph, wanted, seed)?;
        let take = |which: &[u32]| -> Vec<(u32, u32)> {
            which.iter().map(|&e| edges[e as usize]).collect()
        };
        let (gone, kept_edges) = (take(gone), take(kept));
        let label =
            |arcs: &[(u32, u32)], random: &[(u32, u32)]| negatives.pairs(&graph, arcs, random);
        let pairs = label(&gone, &non_edges[..removed])?;
        let remaining = remaining
            .then(|| label(&kept_edges, &non_edges[removed..]))
            .transpose()?;
        let kept_weights =
            weights.map(|w| kept.iter().map(|&e| w[e as usize]).collect::<Vec<f32>>());
        edges = kept_edges;
        let builder = if graph.is_directed() {
            GraphBuilder::directed(graph.nodes())
        } else {
            GraphBuilder::undirected(graph.nodes())
        };
        let mut builder = builder.ids(graph.ids().clone()).edges(edges);
        if let Some(weights) = kept_weights {
            builder = builder.weights(weights);
        }
        Ok(LinkSplit {
            train: TrainGraph(builder.build()?),
            pairs,
            remaining,
        })
    }
}

fn check_share(graph: &Graph, share: f64) -> Result<usize> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::config(
            "removed",
            format!("the share of removed edges is {share}, not between 0 and 1"),
        ));
    }
    let removed = (share * graph.edges() as f64).round() as usize;
    if removed == 0 || removed == graph.edges() {
        let (edges, way) = (
            graph.edges(),
            if removed == 0 { "larger" } else { "smaller" },
        );
        let remedy = if edges < 2 {
            "give a larger graph".to_owned()
        } else {
            format!("give a {way} share")
        };
        let message =
            format!("{share} of {edges} edges leaves nothing to learn or to test; {remedy}");
        return Err(Error::config("removed", message));
    }
    Ok(removed)
}

/// Every edge once (the smaller node first when undirected), with its weight.
fn edges_of(graph: &Graph) -> (Vec<(u32, u32)>, Option<Vec<f32>>) {
    let mut edges = Vec::with_capacity(graph.edges());
    let mut weights = graph.weights().map(|_| Vec::with_capacity(graph.edges()));
    for u in 0..graph.nodes() as u32 {
        let start = graph.pattern().range(u as usize).start;
        for (k, &v) in graph.neighbors(u).iter().enumerate() {
            if graph.is_directed() || u < v {
                edges.push((u, v));
                if let (Some(out), Some(w)) = (&mut weights, graph.weights()) {
                    out.push(w[start + k]);
                }
            }
        }
    }
    (edges, weights)
}

/// `count` distinct pairs without an edge, in random order.
fn sample_non_edges(graph: &Graph, count: usize, seed: u64) -> Result<Vec<(u32, u32)>> {
    let n = graph.nodes();
    let ordered = n as u128 * (n as u128).saturating_sub(1);
    let all = if graph.is_directed() {
        ordered
    } else {
        ordered / 2
    };
    let free = all - graph.edges() as u128;
    if count as u128 > free {
        let message = format!(
            "the split needs {count} pairs without an edge, but the graph has only {free}; remove fewer edges"
        );
        return Err(Error::config("removed", message));
    }
    let mut stream = Stream::new(seed, "non-edges", 0);
    if free < 2 * count as u128 {
        // So dense that listing all non-edges is linear in the edges.
        let mut pairs: Vec<(u32, u32)> = non_edges(graph).collect();
        stream.shuffle(&mut pairs);
        pairs.truncate(count);
        return Ok(pairs);
    }
    let mut seen = FxHashSet::default();
    let mut pairs = Vec::with_capacity(count);
    while pairs.len() < count {
        let (mut u, mut v) = (stream.below(n) as u32, stream.below(n) as u32);
        if !graph.is_directed() && u > v {
            (u, v) = (v, u);
        }
        if u != v && graph.neighbors(u).binary_search(&v).is_err() && seen.insert((u, v)) {
            pairs.push((u, v));
        }
    }
    Ok(pairs)
}

fn non_edges(graph: &Graph) -> impl Iterator<Item = (u32, u32)> + '_ {
    let n = graph.nodes() as u32;
    let first = |u| if graph.is_directed() { 0 } else { u + 1 };
    let free = |&(u, v): &(u32, u32)| u != v && graph.neighbors(u).binary_search(&v).is_err();
    (0..n)
        .flat_map(move |u| (first(u)..n).map(move |v| (u, v)))
        .filter(free)
}
