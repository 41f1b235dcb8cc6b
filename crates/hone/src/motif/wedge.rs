//! The wedge sweeps: non-induced 4-cycles through each edge, and who is in a triangle.
//!
//! Every 4-cycle has a highest-ranked vertex u and, opposite to it, a vertex w; its other two
//! vertices v are in between. Let c(u,w) be the number of common neighbours v < u of u and w < u.
//! An edge {u,v} or {v,w} lies in Σ (c(u,w) − 1) cycles, summed over the wedges u–v–w that it is
//! part of. Two sweeps collect that without a conflict between threads: `down` from each u over
//! its wedges to lower w, which owns the edges {u,v}, and `up` from each w over its wedges to
//! higher u, which owns the edges {v,w}. Each costs Σ_e min(d_u, d_v) steps.
//!
//! In sparse graphs nearly no wedge of u ends where another did. A small bit filter sees that
//! without touching a counter, and `up` visits only the w that `down` found to be shared.
//! Reference: Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", 1985.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::column::cut;
use super::ranked::{Ranked, balanced, ranges, sweep};
use crate::error::Result;
use crate::progress::Progress;

/// What the wedge sweeps find.
pub(super) struct Wedges {
    /// Non-induced 4-cycles through each edge.
    pub(super) cycles: Vec<AtomicU64>,
    /// For each lower slot (u → v, v < u) the position of u in the row of v.
    pub(super) reverse: Vec<u32>,
    /// Nodes in a triangle.
    pub(super) in_triangle: Vec<AtomicBool>,
    /// Nodes on a 4-cycle.
    pub(super) in_cycle: Vec<AtomicBool>,
}

impl Wedges {
    #[inline]
    fn add(&self, cycles: u64, edge: usize, u: usize, v: u32) {
        if cycles > 0 {
            self.cycles[edge].fetch_add(cycles, Relaxed);
            self.in_cycle[u].store(true, Relaxed);
            self.in_cycle[v as usize].store(true, Relaxed);
        }
    }
}

/// Beyond this many wedges the filter would be full of false hits.
const FILTER_WEDGES: u64 = 512;
const FILTER_BITS: usize = 1 << 15;

/// Marks neighbours of u in the counters; degrees are below it.
const MARK: u32 = 1 << 31;

struct Scratch {
    /// c(u, w) of the current u by w, zero between nodes.
    count: Vec<u32>,
    filter: Vec<u64>,
}

pub(super) fn count(graph: &Ranked, progress: &dyn Progress) -> Result<Wedges> {
    let n = graph.nodes();
    let zeros = |len: usize| (0..len).map(|_| AtomicBool::new(false)).collect::<Vec<_>>();
    let mut reverse = vec![0u32; graph.size()];
    let found = Wedges {
        cycles: (0..graph.size()).map(|_| AtomicU64::new(0)).collect(),
        reverse: Vec::new(),
        in_triangle: zeros(n),
        in_cycle: zeros(n),
    };
    let shared = zeros(n);
    let scratch = || Scratch { count: vec![0; n], filter: vec![0; FILTER_BITS / 64] };
    let bounds = balanced(n, 1 << 14, |u| graph.work[u] + 8);

    progress.stage("wedges", 2 * n as u64);
    let lower: Vec<usize> = bounds.iter().map(|&u| if u == n { graph.size() } else { graph.lower_start(u) }).collect();
    let parts = ranges(&bounds).zip(cut(&mut reverse, &lower)).collect();
    sweep(parts, progress, scratch, |range, reverse, scratch| {
        let base = graph.lower_start(range.start);
        for u in range {
            let start = graph.lower_start(u) - base;
            let reverse = &mut reverse[start..start + graph.lower(u).len()];
            down(graph, u, reverse, scratch, &found, &shared);
        }
    })?;
    let parts = ranges(&bounds).map(|range| (range, ())).collect();
    sweep(parts, progress, scratch, |range, (), scratch| {
        for w in range.filter(|&w| shared[w].load(Relaxed)) {
            up(graph, w, &reverse, scratch, &found);
        }
    })?;
    Ok(Wedges { reverse, ..found })
}

/// All wedges from `u` to lower-ranked nodes.
fn down(graph: &Ranked, u: usize, reverse: &mut [u32], scratch: &mut Scratch, found: &Wedges, shared: &[AtomicBool]) {
    let lower = graph.lower(u);
    let few = graph.work[u] <= FILTER_WEDGES;
    if few && no_wedge_meets(graph, u, reverse, &mut scratch.filter) {
        return;
    }
    let count = &mut scratch.count[..];
    lower.iter().for_each(|&v| count[v as usize] = MARK);
    for (&v, back) in lower.iter().zip(reverse.iter_mut()) {
        let row = graph.row(v as usize);
        let mut p = 0;
        while (row[p] as usize) < u {
            count[row[p] as usize] += 1;
            p += 1;
        }
        *back = p as u32;
    }
    for (&v, &back) in lower.iter().zip(reverse.iter()) {
        let prefix = &graph.row(v as usize)[..back as usize];
        let sum: u64 = prefix.iter().map(|&w| u64::from(count[w as usize] & !MARK)).sum();
        let cycles = sum - prefix.len() as u64;
        found.add(cycles, graph.edge_at(v as usize, back), u, v);
    }
    let note = |w: usize, c: u32| {
        let visits = c & !MARK;
        if visits >= 2 && !shared[w].load(Relaxed) {
            shared[w].store(true, Relaxed);
        }
        if c > MARK {
            found.in_triangle[w].store(true, Relaxed);
            found.in_triangle[u].store(true, Relaxed);
        }
    };
    if graph.work[u] > u as u64 / 4 {
        for (w, c) in count[..u].iter_mut().enumerate() {
            note(w, std::mem::take(c));
        }
    } else {
        for (&v, &back) in lower.iter().zip(reverse.iter()) {
            for &w in &graph.row(v as usize)[..back as usize] {
                note(w as usize, std::mem::take(&mut count[w as usize]));
            }
            note(v as usize, std::mem::take(&mut count[v as usize]));
        }
    }
}

/// Whether all wedges from `u` end in different nodes, none of them a neighbour of `u`; may say no
/// wrongly. Fills `reverse` when the answer is yes.
fn no_wedge_meets(graph: &Ranked, u: usize, reverse: &mut [u32], filter: &mut [u64]) -> bool {
    let lower = graph.lower(u);
    if let ([v], [back]) = (lower, &mut *reverse) {
        *back = graph.row(*v as usize).partition_point(|&w| (w as usize) < u) as u32;
        return true;
    }
    filter.fill(0);
    let bit = |w: u32| {
        let hash = w.wrapping_mul(0x9E37_79B1) >> (32 - FILTER_BITS.ilog2());
        (hash as usize / 64, 1u64 << (hash % 64))
    };
    for &v in lower {
        let (word, bit) = bit(v);
        filter[word] |= bit;
    }
    for (&v, back) in lower.iter().zip(reverse) {
        let row = graph.row(v as usize);
        let (mut p, mut hit) = (0, 0);
        while (row[p] as usize) < u {
            let (word, bit) = bit(row[p]);
            hit |= filter[word] & bit;
            filter[word] |= bit;
            p += 1;
        }
        *back = p as u32;
        if hit != 0 {
            return false;
        }
    }
    true
}

/// All wedges x–v–y from `x` to nodes y ranked above x and v.
fn up(graph: &Ranked, x: usize, reverse: &[u32], scratch: &mut Scratch, found: &Wedges) {
    let count = &mut scratch.count[..];
    let lower = graph.lower(x);
    let reverse = &reverse[graph.lower_start(x)..][..lower.len()];
    let tail = |v: u32, back: u32| &graph.row(v as usize)[back as usize + 1..];
    let mut steps = 0;
    for (&v, &back) in lower.iter().zip(reverse) {
        tail(v, back).iter().for_each(|&y| count[y as usize] += 1);
        steps += tail(v, back).len();
    }
    for &v in graph.upper(x) {
        let tail = graph.upper(v as usize);
        tail.iter().for_each(|&y| count[y as usize] += 1);
        steps += tail.len();
    }
    let add = |edge: usize, v: u32, tail: &[u32], count: &[u32]| {
        let sum: u64 = tail.iter().map(|&y| u64::from(count[y as usize])).sum();
        found.add(sum - tail.len() as u64, edge, x, v);
    };
    for (&v, &back) in lower.iter().zip(reverse) {
        add(graph.edge_at(v as usize, back), v, tail(v, back), count);
    }
    for (k, &v) in graph.upper(x).iter().enumerate() {
        add(graph.edges[x] + k, v, graph.upper(v as usize), count);
    }
    if steps > (graph.nodes() - x) / 8 {
        count[x..].fill(0);
    } else {
        for (&v, &back) in lower.iter().zip(reverse) {
            tail(v, back).iter().for_each(|&y| count[y as usize] = 0);
        }
        for &v in graph.upper(x) {
            graph.upper(v as usize).iter().for_each(|&y| count[y as usize] = 0);
        }
    }
}
