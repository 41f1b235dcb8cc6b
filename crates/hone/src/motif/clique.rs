//! 4-cliques on every edge, without listing them.
//!
//! For each node x the neighbours ranked above it form a local graph; an edge {a, b} of it makes
//! with x as many 4-cliques as a and b have common neighbours in the local graph: the popcount of
//! the intersection of two bit rows. Half the sum over a's local edges are the cliques on {x, a}.
//! Local graphs have at most √(2M) nodes; the bit rows are built a block of columns at a time, so
//! that memory stays linear in that number.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::ranked::{balanced, ranges, sweep};
use super::triangle::TriangleGraph;
use crate::error::Result;
use crate::progress::Progress;

/// Words of a bit row held at once: 8192 columns.
const BLOCK: usize = 128;

#[derive(Default)]
struct Scratch {
    /// Local number + 1 of the neighbours of x, 0 elsewhere.
    local: Vec<u32>,
    /// Edges (a, b) of the local graph, with their number in the triangle graph.
    pairs: Vec<(u32, u32, usize)>,
    /// Bit rows.
    bits: Vec<u64>,
    /// Twice the cliques on {x, a}.
    own: Vec<u64>,
}

/// The number of 4-cliques on every edge of the triangle graph.
pub(super) fn count(graph: &TriangleGraph, progress: &dyn Progress) -> Result<Vec<u64>> {
    let n = graph.nodes.len();
    let cliques: Vec<AtomicU64> = (0..graph.size()).map(|_| AtomicU64::new(0)).collect();
    let work: Vec<u64> = (0..n)
        .map(|x| {
            let above = graph.upper(x);
            let steps: usize = above.iter().map(|&a| graph.upper(a as usize).len()).sum();
            (steps * (1 + above.len() / 64)) as u64
        })
        .collect();
    let bounds = balanced(n, 1 << 12, |x| work[x]);
    progress.stage("cliques", n as u64);
    let parts = ranges(&bounds).map(|range| (range, ())).collect();
    let scratch = || Scratch { local: vec![0; n], ..Scratch::default() };
    let arch = pulp::Arch::new();
    sweep(parts, progress, scratch, |range, (), scratch| {
        arch.dispatch(
            #[inline(always)]
            || range.for_each(|x| cliques_above(graph, x, scratch, &cliques)),
        );
    })?;
    Ok(cliques.into_iter().map(AtomicU64::into_inner).collect())
}

/// Size of the intersection of two bit rows.
#[inline(always)]
fn common_bits(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(x, y)| u64::from((x & y).count_ones())).sum()
}

/// Adds all 4-cliques whose lowest-ranked node is `x`. Inlined into code for the processor at hand,
/// which may have an instruction for popcounts.
#[inline(always)]
fn cliques_above(graph: &TriangleGraph, x: usize, scratch: &mut Scratch, cliques: &[AtomicU64]) {
    let above = graph.upper(x);
    if above.len() < 3 {
        return;
    }
    let Scratch { local, pairs, bits, own } = scratch;
    above.iter().zip(1..).for_each(|(&a, k)| local[a as usize] = k);
    pairs.clear();
    for (&a, i) in above.iter().zip(0..) {
        let start = graph.heads[a as usize].edge;
        for (k, &b) in graph.upper(a as usize).iter().enumerate() {
            if local[b as usize] != 0 {
                pairs.push((i, local[b as usize] - 1, start + k));
            }
        }
    }
    above.iter().for_each(|&a| local[a as usize] = 0);
    if pairs.len() < 3 {
        return;
    }
    own.clear();
    own.resize(above.len(), 0);
    for start in (0..above.len()).step_by(64 * BLOCK) {
        let words = (above.len() - start).div_ceil(64).min(BLOCK);
        fill_bits(pairs, above.len(), start as u32, words, bits);
        for &(a, b, edge) in pairs.iter() {
            let common = common_bits(&bits[a as usize * words..][..words], &bits[b as usize * words..][..words]);
            if common > 0 {
                cliques[edge].fetch_add(common, Relaxed);
                own[a as usize] += common;
                own[b as usize] += common;
            }
        }
    }
    for (k, twice) in own.iter().enumerate().filter(|&(_, &twice)| twice > 0) {
        cliques[graph.heads[x].edge + k].fetch_add(twice / 2, Relaxed);
    }
}

/// Bit rows of the local graph: columns `start..start + 64 * words`.
#[inline(always)]
fn fill_bits(pairs: &[(u32, u32, usize)], nodes: usize, start: u32, words: usize, bits: &mut Vec<u64>) {
    bits.clear();
    bits.resize(nodes * words, 0);
    let mut set = |row: u32, column: u32| {
        let at = column.wrapping_sub(start) as usize;
        if at < 64 * words {
            bits[row as usize * words + at / 64] |= 1 << (at % 64);
        }
    };
    for &(a, b, _) in pairs {
        set(a, b);
        set(b, a);
    }
}
