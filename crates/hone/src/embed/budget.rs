//! How much memory the embedding will take, known once the motifs are counted.
//!
//! A rare motif's factors are kept for the nodes it touches only, so the touched nodes are counted
//! first: one pass over the edges.

use rayon::prelude::*;

use crate::config::{Config, Form, Output};
use crate::graph::Graph;
use crate::motif::{Counts, Motif};

/// Bytes an f32 takes.
const FLOAT: u64 = 4;
/// Blocks of the width of a local factorisation that a solver holds at once.
const WORK_BLOCKS: u64 = 5;
/// Columns beyond the rank that a solver works with.
const OVERSAMPLING: u64 = 8;

/// Bytes needed on top of the graph and its counts, at the peak; `user` is the number of attribute
/// columns that the user brings.
pub(super) fn bytes(
    config: &Config,
    user: usize,
    graph: &Graph,
    counts: &Counts,
    motifs: &[Motif],
    steps: usize,
) -> u64 {
    let n = graph.nodes() as u64;
    let kept = (steps + 1 - config.first_step) as u64;
    let rows: u64 = touched(counts, motifs, config.delta).iter().sum();
    let dim = config.local.dim as u64;
    let structure = if config.attributes.structure { config.attributes.features.columns() } else { 0 };
    let features = (structure + user) as u64;
    let attributes = match config.attributes.form {
        Form::Components(components) if features > 0 => components.dim as u64,
        _ => features,
    };
    let diffused = attributes * config.attributes.diffusion.steps as u64;
    let y = rows * (dim * FLOAT + FLOAT) * kept + (rows * diffused + n * attributes) * FLOAT;
    let transposed = if graph.is_directed() { 2 } else { 1 };
    let solver = graph.pattern().nnz() as u64 * FLOAT * transposed + WORK_BLOCKS * n * (dim + OVERSAMPLING) * FLOAT;
    let result = match config.global.output {
        Output::Global => n * config.global.dim as u64 * FLOAT,
        Output::Local => n * dim * kept * motifs.len() as u64 * FLOAT,
    };
    y + solver.max(result).max(3 * n * features * FLOAT)
}

/// Nodes that each motif touches.
fn touched(counts: &Counts, motifs: &[Motif], delta: u64) -> Vec<u64> {
    let rows = counts.pattern().rows() as u32;
    let of_row = |mut sums: Vec<u64>, i: u32| {
        let mut seen = 0u64;
        for (_, orbits) in counts.row(i) {
            for (t, motif) in motifs.iter().enumerate() {
                // A sum beyond u64 is certainly there.
                seen |= u64::from(motif.weight(&orbits).is_none_or(|w| w >= delta.max(1))) << t;
            }
        }
        sums.iter_mut().enumerate().for_each(|(t, sum)| *sum += seen >> t & 1);
        sums
    };
    let add = |a: Vec<u64>, b: Vec<u64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    (0..rows).into_par_iter().fold(|| vec![0; motifs.len()], of_row).reduce(|| vec![0; motifs.len()], add)
}
