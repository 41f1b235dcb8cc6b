//! 4-cliques of every edge, without enumerating them.
//!
//! For each node x the neighbours ranked above it form a local graph; an edge {a, b} of it forms as many 4-cliques with
//! x as a and b have common neighbours in the local graph: the popcount of the intersection of two bit rows. Half the
//! sum over a's local edges is the number of cliques on {x, a}. Local graphs have at most √(2M) nodes; the bit rows are
//! built a block of columns at a time, so that memory stays linear in that number.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::super::divide::{self, share};
use super::super::ranked::{balanced, ranges, sweep};
use super::triangle::TriangleGraph;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::progress::Progress;

/// Words of a bit row held at once: 8192 columns.
const BLOCK: usize = 128;

#[derive(Default)]
struct Scratch {
    /// Local number + 1 of the neighbours of x, 0 elsewhere.
    local: Vec<u32>,
    /// Edges of the local graph, by their lower end a: the higher end, and the place in a's upper row.
    pairs: Vec<(u32, u32)>,
    /// Where the edges of each a end.
    ends: Vec<usize>,
    /// Bit rows.
    bits: Vec<u64>,
    /// Twice the cliques on {x, a}.
    own: Vec<u64>,
}

/// The number of 4-cliques on every edge of the triangle graph.
pub(super) fn count(
    graph: &TriangleGraph,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Vec<u64>> {
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
    progress.stage("counting cliques", (n / communicator.size()) as u64);
    let parts = share(ranges(&bounds).map(|range| (range, ())), communicator);
    let scratch = || Scratch {
        local: vec![0; n],
        ..Scratch::default()
    };
    let arch = pulp::Arch::new();
    sweep(parts, progress, scratch, |range, (), scratch| {
        arch.dispatch(
            #[inline(always)]
            || range.for_each(|x| cliques_above(graph, x, scratch, &cliques)),
        );
    })?;
    divide::add(&cliques, communicator);
    Ok(cliques.into_iter().map(AtomicU64::into_inner).collect())
}

/// Size of the intersection of two bit rows.
#[inline(always)]
fn common_bits(a: &[u64], b: &[u64]) -> u64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| u64::from((x & y).count_ones()))
        .sum()
}

/// Adds all 4-cliques whose lowest-ranked node is `x`. Inlined into code for this processor,
/// which may have an instruction for popcounts.
#[inline(always)]
fn cliques_above(graph: &TriangleGraph, x: usize, scratch: &mut Scratch, cliques: &[AtomicU64]) {
    let above = graph.upper(x);
    if above.len() < 3 {
        return;
    }
    let Scratch {
        local,
        pairs,
        ends,
        bits,
        own,
    } = scratch;
    above
        .iter()
        .zip(1..)
        .for_each(|(&a, k)| local[a as usize] = k);
    pairs.clear();
    ends.clear();
    for &a in above {
        let near = graph.upper(a as usize).iter().zip(0..);
        pairs.extend(
            near.map(|(&b, k)| (local[b as usize], k))
                .filter(|&(b, _)| b != 0)
                .map(|(b, k)| (b - 1, k)),
        );
        ends.push(pairs.len());
    }
    above.iter().for_each(|&a| local[a as usize] = 0);
    if pairs.len() < 3 {
        return;
    }
    own.clear();
    own.resize(above.len(), 0);
    for start in (0..above.len()).step_by(64 * BLOCK) {
        let words = (above.len() - start).div_ceil(64).min(BLOCK);
        fill_bits(pairs, ends, start, words, bits);
        let mut first = 0;
        for (a, &end) in ends.iter().enumerate() {
            let mine = &bits[a * words..][..words];
            let edge = graph.heads[above[a] as usize].edge;
            let mut sum = 0;
            for &(b, k) in &pairs[first..end] {
                let common = common_bits(mine, &bits[b as usize * words..][..words]);
                if common > 0 {
                    cliques[edge + k as usize].fetch_add(common, Relaxed);
                    own[b as usize] += common;
                    sum += common;
                }
            }
            own[a] += sum;
            first = end;
        }
    }
    for (k, twice) in own.iter().enumerate().filter(|&(_, &twice)| twice > 0) {
        cliques[graph.heads[x].edge + k].fetch_add(twice / 2, Relaxed);
    }
}

/// Bit rows of the local graph: columns `start..start + 64 * words`.
#[inline(always)]
fn fill_bits(
    pairs: &[(u32, u32)],
    ends: &[usize],
    start: usize,
    words: usize,
    bits: &mut Vec<u64>,
) {
    bits.clear();
    bits.resize(ends.len() * words, 0);
    let mut set = |row: usize, column: usize| {
        let at = column.wrapping_sub(start);
        if at < 64 * words {
            bits[row * words + at / 64] |= 1 << (at % 64);
        }
    };
    let mut first = 0;
    for (a, &end) in ends.iter().enumerate() {
        for &(b, _) in &pairs[first..end] {
            set(a, b as usize);
            set(b as usize, a);
        }
        first = end;
    }
}
