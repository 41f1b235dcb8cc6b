//! Nodes that no factor covers get proximity columns of their own.
//!
//! Factors keep the leading directions of a matrix. Small components have none of these, and neither have nodes at the end of
//! a long path: their rows are zero. If the matrix is that of edges, each connected group of such nodes gets one random
//! direction, so that its nodes are alike and unlike all others. The first quarter of the columns, which tell the large parts
//! of the graph apart, stays zero, and rows have half the length of a typical one; all other rows keep their bits.
//! Cost: O(N + M) if there are such nodes.

use super::context::Context;
use crate::dense::Block;
use crate::graph::Graph;
use crate::random::Key;
use crate::store::Embedding;

/// One column in this many, the first ones, stays zero.
const LEADING: usize = 4;
/// The length of a row, relative to a typical one.
const LENGTH: f64 = 0.5;

/// Nodes with edges whose proximity columns are zero.
#[derive(Default)]
pub(super) struct Uncovered {
    /// Those of this process, ascending.
    pub(super) nodes: Vec<u32>,
    /// How many all processes have.
    pub(super) count: u64,
    /// Number of proximity columns, which come first.
    pub(super) columns: usize,
}

/// Fills the proximity columns of the nodes that were found to have none.
pub(super) fn fill(run: &mut Context, graph: &Graph, embedding: &mut Embedding) {
    let Uncovered {
        nodes,
        count,
        columns,
    } = std::mem::take(&mut run.uncovered);
    if count == 0 {
        return;
    }
    let mut among = vec![0u64; graph.nodes()];
    nodes.iter().for_each(|&i| among[i as usize] = 1);
    if !run.own.is_all() {
        run.engine.totals(&mut among);
    }
    let groups = groups(graph, run.config.uses_weights(), &among);
    let lengths = run.engine.lengths(&embedding.vectors, &run.own);
    let energy: f64 = lengths[..columns]
        .iter()
        .map(|length| length * length)
        .sum();
    let length = LENGTH * (energy / run.own.rows as f64).sqrt();
    let (key, skipped) = (Key::new(run.config.seed), columns / LEADING);
    for i in nodes {
        let group = u64::from(groups[i as usize]);
        let direction = Block::random(1, columns - skipped, key.with("uncovered", group));
        let squares = direction.row(0).iter().map(|&x| f64::from(x).powi(2));
        let scale = length / squares.sum::<f64>().sqrt();
        let row = embedding.vectors.row_mut(i as usize - run.own.range.start);
        row[skipped..columns]
            .iter_mut()
            .zip(direction.row(0))
            .for_each(|(to, &x)| *to = (f64::from(x) * scale) as f32);
    }
}

/// The smallest node that each of some nodes is connected with through others of them.
fn groups(graph: &Graph, weighted: bool, among: &[u64]) -> Vec<u32> {
    let mut smaller: Vec<u32> = (0..graph.nodes() as u32).collect();
    let weights = graph.weights().filter(|_| weighted);
    for i in (0..graph.nodes()).filter(|&i| among[i] > 0) {
        for (slot, &j) in graph.pattern().range(i).zip(graph.neighbors(i as u32)) {
            if among[j as usize] > 0 && weights.is_none_or(|weights| weights[slot] > 0.0) {
                let (a, b) = (root(&mut smaller, i as u32), root(&mut smaller, j));
                smaller[a.max(b) as usize] = a.min(b);
            }
        }
    }
    (0..graph.nodes() as u32)
        .map(|i| root(&mut smaller, i))
        .collect()
}

/// The smallest node of a group so far; paths are halved.
fn root(smaller: &mut [u32], mut i: u32) -> u32 {
    while smaller[i as usize] != i {
        smaller[i as usize] = smaller[smaller[i as usize] as usize];
        i = smaller[i as usize];
    }
    i
}
