//! The embeddings and scores HONE is compared with.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;

use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder};
use hone::{Error, Progress, Result};

use crate::random::Stream;

/// Options that have ranges.
pub trait Ranges {
    /// Refuses options out of range: when a method is named, before anything is allocated.
    fn check_ranges(&self) -> Result<()>;
}

/// A method that gives every node a vector; its fields are its options.
pub trait Baseline: Ranges {
    /// Refuses options out of range, also those that depend on others.
    fn check(&self) -> Result<()> {
        self.check_ranges()
    }

    /// The vectors of all nodes.
    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block>;

    /// Columns of a row of f32 per node, and how many of such rows are at work at once; none where memory is seen to elsewhere.
    fn rows(&self) -> (usize, u64) {
        (0, 0)
    }

    /// Bytes of samples beside the rows.
    fn samples(&self) -> u64 {
        0
    }

    /// Whether the weights of edges matter.
    fn uses_weights(&self) -> bool {
        true
    }
}

/// A struct of options with their defaults and ranges: `field: type = default, range;`. Ranges are far beyond what the literature
/// uses, and small enough that no product of two of them overflows.
macro_rules! options {
    ($(#[$about:meta])* pub struct $name:ident {
        $($(#[$help:meta])* $field:ident: $kind:ty = $default:expr $(, $range:expr)?;)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$help])* pub $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl crate::baseline::Ranges for $name {
            fn check_ranges(&self) -> hone::Result<()> {
                $($(crate::baseline::check_range(stringify!($field), self.$field, $range)?;)?)*
                Ok(())
            }
        }
    };
}

mod degree;
mod fastrp;
mod graphwave;
mod heuristic;
mod hope;
mod line;
mod node2vec;
mod prone;
mod rolx;
mod skipgram;
mod spectral;
mod window;

pub use degree::Degree;
pub use fastrp::FastRp;
pub use graphwave::GraphWave;
pub use heuristic::Heuristic;
pub use hope::Hope;
pub use line::{Line, Order};
pub use node2vec::Node2Vec;
pub use prone::ProNe;
pub use rolx::{RolX, Values};
pub use spectral::Spectral;
pub use window::{GraRep, NetMf};

/// Columns of vectors, as of HONE's own.
const DIM: RangeInclusive<usize> = 1..=65_536;
/// Distance of the nodes of a pair on a walk.
const WINDOW: RangeInclusive<usize> = 1..=10_000;
/// Random pairs beside each true one.
const NEGATIVES: RangeInclusive<usize> = 1..=1000;
/// Factors of learning rates and of the bias of walks.
const FACTOR: RangeInclusive<f64> = 1e-9..=1e9;

/// Refuses a value out of its range, by name.
fn check_range<T: PartialOrd + Display + Copy>(
    field: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    let (start, end) = range.into_inner();
    let message = format!("is {value}; must be from {start} to {end}");
    Err(Error::config(field, message))
}

options! {
    /// Vectors of independent standard normal numbers: the lower bound of every table.
    pub struct Random {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
    }
}

impl Baseline for Random {
    fn embed(&self, graph: &Graph, seed: u64, _: &dyn Progress) -> Result<Block> {
        let mut out = Block::zeros(graph.nodes(), self.dim);
        for i in 0..graph.nodes() {
            let mut stream = Stream::new(seed, "random vectors", i as u64);
            out.row_mut(i).fill_with(|| stream.normal() as f32);
        }
        Ok(out)
    }

    fn rows(&self) -> (usize, u64) {
        (self.dim, 1)
    }

    fn uses_weights(&self) -> bool {
        false
    }
}

/// The graph without directions (weights of opposite arcs add up).
fn undirected(graph: &Graph) -> Result<Cow<'_, Graph>> {
    if !graph.is_directed() {
        return Ok(Cow::Borrowed(graph));
    }
    let nodes = 0..graph.nodes() as u32;
    let arcs = nodes.flat_map(|u| {
        graph
            .neighbors(u)
            .iter()
            .map(move |&v| (u.min(v), u.max(v)))
    });
    let edges = arcs.collect();
    let mut builder = GraphBuilder::undirected(graph.nodes()).edges(edges);
    if let Some(weights) = graph.weights() {
        builder = builder.weights(weights.to_vec());
    }
    Ok(Cow::Owned(builder.build()?))
}

/// The weight at position `k` of the pattern.
fn weight(graph: &Graph, k: usize) -> f64 {
    graph.weights().map_or(1.0, |w| f64::from(w[k]))
}

/// Nodes adjacent to both, found from the smaller neighbourhood.
fn common_neighbors(graph: &Graph, u: u32, v: u32) -> impl Iterator<Item = u32> + '_ {
    let (few, many) = match graph.degree(u) <= graph.degree(v) {
        true => (u, v),
        false => (v, u),
    };
    let few = graph.neighbors(few).iter().copied();
    few.filter(move |&w| graph.has_edge(many, w))
}

/// Number of triangles at a node.
fn triangles_at(graph: &Graph, u: u32) -> u64 {
    let common = |&v: &u32| common_neighbors(graph, u, v).count();
    graph.neighbors(u).iter().map(common).sum::<usize>() as u64 / 2
}
