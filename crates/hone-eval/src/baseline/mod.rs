//! The embeddings and scores HONE is compared with, one per file.

mod alias;
mod degree;
mod descent;
mod eigen;
mod graphwave;
mod grarep;
mod heuristic;
mod hope;
mod line;
mod netmf;
mod node2vec;
mod prone;
mod range;
mod rolx;
mod skipgram;
mod spectral;
mod square;
mod walk;

pub(crate) use descent::PAD;

use std::borrow::Cow;

use hone::Result;
use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder};

pub use degree::{Degree, FEATURES};
pub use graphwave::GraphWave;
pub use grarep::GraRep;
pub use heuristic::Heuristic;
pub use hope::Hope;
pub use line::{Line, Order};
pub use netmf::NetMf;
pub use node2vec::Node2Vec;
pub use prone::ProNe;
pub use rolx::RolX;
pub use spectral::Spectral;

use crate::random::Stream;

/// Refuses a length of vectors that is out of range.
pub(crate) fn check_dim(dim: usize) -> Result<()> {
    range::check("dim", dim, &range::DIM)
}

/// Vectors of independent standard normal numbers: the lower bound of every table.
pub fn random(nodes: usize, dim: usize, seed: u64) -> Block {
    let mut out = Block::zeros(nodes, dim);
    for i in 0..nodes {
        let mut stream = Stream::new(seed, "random vectors", i as u64);
        out.row_mut(i)
            .iter_mut()
            .for_each(|v| *v = stream.normal() as f32);
    }
    out
}

/// The graph without directions (weights of opposite arcs add up).
fn undirected(graph: &Graph) -> Result<Cow<'_, Graph>> {
    if !graph.is_directed() {
        return Ok(Cow::Borrowed(graph));
    }
    let edges: Vec<(u32, u32)> = (0..graph.nodes() as u32)
        .flat_map(|u| {
            graph
                .neighbors(u)
                .iter()
                .map(move |&v| (u.min(v), u.max(v)))
        })
        .collect();
    let builder = GraphBuilder::undirected(graph.nodes()).edges(edges);
    let builder = match graph.weights() {
        Some(weights) => builder.weights(weights.to_vec()),
        None => builder,
    };
    Ok(Cow::Owned(builder.build()?))
}

/// Nodes adjacent to both, found from the smaller neighbourhood.
fn common_neighbors(graph: &Graph, u: u32, v: u32) -> impl Iterator<Item = u32> + '_ {
    let (few, many) = if graph.degree(u) <= graph.degree(v) {
        (u, v)
    } else {
        (v, u)
    };
    let many = graph.neighbors(many);
    graph
        .neighbors(few)
        .iter()
        .copied()
        .filter(move |w| many.binary_search(w).is_ok())
}
