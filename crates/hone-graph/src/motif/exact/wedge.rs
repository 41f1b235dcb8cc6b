//! The wedge sweeps: non-induced 4-cycles through each edge, and which nodes are in a triangle.
//!
//! Every 4-cycle has a highest-ranked vertex u and, opposite it, a vertex w; its other two vertices v are in between.
//! Let c(u,w) be the number of common neighbours v < u of u and w < u. An edge {u,v} or {v,w} lies in Σ (c(u,w) − 1)
//! cycles, summed over the wedges u–v–w that it is part of. Two sweeps compute this without conflicts between threads:
//! `down` from each u over its wedges to lower w, which owns the edges {u,v}, and `up` from each w over its wedges to
//! higher u, which owns the edges {v,w}: an edge has two ends that may be w, so the cycles of the lower end are stored
//! separately and added in the end. Each costs Σ_e min(d_u, d_v) steps.
//!
//! In sparse graphs hardly any two wedges of u end in the same node. A small bit filter detects
//! this without touching a counter, and `up` visits only the w that `down` found to be shared.
//! Reference: Chiba and Nishizeki, "Arboricity and subgraph listing algorithms", 1985.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::super::column::cut;
use super::super::divide::{self, share};
use super::super::ranked::{Ranked, balanced, ranges, sweep};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::parallel;
use crate::progress::Progress;

/// What the wedge sweeps find.
pub(super) struct Wedges {
    /// Non-induced 4-cycles through each edge.
    pub(super) cycles: Vec<AtomicU64>,
    /// For each lower slot (u → v, v < u) the position of u in the row of v.
    pub(super) reverse: Vec<u32>,
    /// Nodes in a triangle.
    triangle: Vec<AtomicBool>,
    /// Set once most wedges meet: from then on the lists below are not kept.
    dense: AtomicBool,
    /// Nodes on a 4-cycle, and where two `down` wedges of a node meet.
    cycle: Vec<AtomicBool>,
    shared: Vec<AtomicBool>,
}

impl Wedges {
    fn new(nodes: usize, edges: usize) -> Wedges {
        let flags = || (0..nodes).map(|_| AtomicBool::new(false)).collect();
        Wedges {
            cycles: (0..edges).map(|_| AtomicU64::new(0)).collect(),
            reverse: Vec::new(),
            dense: AtomicBool::new(false),
            triangle: flags(),
            cycle: flags(),
            shared: flags(),
        }
    }

    /// Whether node `u` is in a triangle.
    #[inline]
    pub(super) fn in_triangle(&self, u: usize) -> bool {
        self.triangle[u].load(Relaxed)
    }

    /// Whether node `u` may be on a 4-cycle.
    #[inline]
    pub(super) fn on_cycle(&self, u: usize) -> bool {
        self.dense.load(Relaxed) || self.cycle[u].load(Relaxed)
    }

    #[inline]
    fn is_shared(&self, u: usize) -> bool {
        self.dense.load(Relaxed) || self.shared[u].load(Relaxed)
    }

    /// Combines what the processes found in the first sweep.
    fn join_flags(&self, communicator: &dyn Communicator) {
        divide::join(std::slice::from_ref(&self.dense), communicator);
        divide::join(&self.triangle, communicator);
        divide::join(&self.shared, communicator);
    }

    /// Adds cycles through the edge between `u` and a lower `v`. In each sweep one thread adds to an edge.
    #[inline]
    fn add(&self, cycles: u64, edge: usize, u: usize, v: u32) {
        if cycles > 0 {
            let sum = &self.cycles[edge];
            sum.store(sum.load(Relaxed) + cycles, Relaxed);
            self.mark(u, v);
        }
    }

    /// Marks both ends of an edge as nodes on a 4-cycle.
    #[inline]
    fn mark(&self, u: usize, v: u32) {
        if !self.dense.load(Relaxed) {
            self.cycle[u].store(true, Relaxed);
            self.cycle[v as usize].store(true, Relaxed);
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
    /// The parts of the neighbours' rows that `up` walks, as slots.
    tails: Vec<Range<usize>>,
}

pub(super) fn count(
    graph: &Ranked,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Wedges> {
    let n = graph.nodes();
    let mut reverse = vec![0u32; graph.size()];
    let found = Wedges::new(n, graph.size());
    let scratch = || Scratch {
        count: vec![0; n],
        filter: vec![0; FILTER_BITS / 64],
        tails: Vec::new(),
    };
    let bounds = balanced(n, 1 << 14, |u| graph.work[u] + 8);

    let (total, met) = (graph.work.iter().sum::<u64>(), AtomicU64::new(0));

    progress.stage("counting wedges", (2 * n / communicator.size()) as u64);
    let lower: Vec<usize> = bounds
        .iter()
        .map(|&u| {
            if u == n {
                graph.size()
            } else {
                graph.lower_start(u)
            }
        })
        .collect();
    let parts = share(ranges(&bounds).zip(cut(&mut reverse, &lower)), communicator);
    sweep(parts, progress, scratch, |range, reverse, scratch| {
        let base = graph.lower_start(range.start);
        for u in range {
            let start = graph.lower_start(u) - base;
            let reverse = &mut reverse[start..start + graph.lower(u).len()];
            if down(graph, u, reverse, scratch, &found)
                && met.fetch_add(graph.work[u], Relaxed) > total / 4
            {
                found.dense.store(true, Relaxed);
            }
        }
    })?;
    communicator.add_u32(&mut reverse);
    found.join_flags(communicator);
    let mut lower_end = vec![0u64; graph.size()];
    let edges: Vec<usize> = bounds.iter().map(|&u| graph.heads[u].edge).collect();
    let parts = share(
        ranges(&bounds).zip(cut(&mut lower_end, &edges)),
        communicator,
    );
    sweep(parts, progress, scratch, |range, lower_end, scratch| {
        let base = graph.heads[range.start].edge;
        for w in range.filter(|&w| found.is_shared(w)) {
            let start = graph.heads[w].edge - base;
            up(
                graph,
                w,
                &reverse,
                &mut lower_end[start..start + graph.upper(w).len()],
                scratch,
                &found,
            );
        }
    })?;
    parallel::stretches(lower_end.len(), 1 << 16, |edges| {
        for (sum, more) in found.cycles[edges.clone()].iter().zip(&lower_end[edges]) {
            sum.store(sum.load(Relaxed) + more, Relaxed);
        }
    });
    divide::add(&found.cycles, communicator);
    divide::join(&found.cycle, communicator);
    Ok(Wedges { reverse, ..found })
}

/// All wedges from `u` to lower-ranked nodes; returns whether two of them meet.
fn down(
    graph: &Ranked,
    u: usize,
    reverse: &mut [u32],
    scratch: &mut Scratch,
    found: &Wedges,
) -> bool {
    let lower = graph.lower(u);
    let dense = found.dense.load(Relaxed);
    graph.ask_next(u);
    let few = lower.len() < 2 || (graph.work[u] <= FILTER_WEDGES && !dense);
    if few && no_wedge_meets(graph, u, reverse, &mut scratch.filter) {
        return false;
    }
    let count = &mut scratch.count[..];
    lower.iter().for_each(|&v| count[v as usize] = MARK);
    for (at, (&v, back)) in lower.iter().zip(reverse.iter_mut()).enumerate() {
        graph.ask_ahead(lower, at);
        let row = graph.row(v as usize);
        *back = row.partition_point(|&w| (w as usize) < u) as u32;
        row[..*back as usize]
            .iter()
            .for_each(|&w| count[w as usize] += 1);
    }
    for &v in lower.iter().filter(|&&v| count[v as usize] > MARK) {
        found.triangle[v as usize].store(true, Relaxed);
        found.triangle[u].store(true, Relaxed);
    }
    let (mut steps, mut cycles) = (0, 0);
    for (&v, &back) in lower.iter().zip(reverse.iter()) {
        let prefix = &graph.row(v as usize)[..back as usize];
        let sum: u64 = prefix
            .iter()
            .map(|&w| u64::from(count[w as usize] & !MARK))
            .sum();
        found.add(
            sum - prefix.len() as u64,
            graph.edge_at(v as usize, back),
            u,
            v,
        );
        steps += prefix.len();
        cycles += sum - prefix.len() as u64;
    }
    if !dense {
        for (&v, &back) in lower.iter().zip(reverse.iter()) {
            for &w in &graph.row(v as usize)[..back as usize] {
                if std::mem::take(&mut count[w as usize]) & !MARK >= 2 {
                    found.shared[w as usize].store(true, Relaxed);
                }
            }
        }
        lower.iter().for_each(|&v| count[v as usize] = 0);
    } else if steps > u / 8 {
        count[..u].fill(0);
    } else {
        for (&v, &back) in lower.iter().zip(reverse.iter()) {
            graph.row(v as usize)[..back as usize]
                .iter()
                .for_each(|&w| count[w as usize] = 0);
        }
        lower.iter().for_each(|&v| count[v as usize] = 0);
    }
    cycles > 0
}

/// Whether all wedges from `u` end in different nodes, none of them a neighbour of `u`; false
/// negatives are possible. Fills `reverse` if true.
fn no_wedge_meets(graph: &Ranked, u: usize, reverse: &mut [u32], filter: &mut [u64]) -> bool {
    let lower = graph.lower(u);
    if let ([v], [back]) = (lower, &mut *reverse) {
        *back = graph
            .row(*v as usize)
            .partition_point(|&w| (w as usize) < u) as u32;
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

/// All wedges x–v–y from `x` to nodes y ranked above x and v. Cycles through the edges from `x` to higher
/// nodes go to `lower_end`.
fn up(
    graph: &Ranked,
    x: usize,
    all: &[u32],
    lower_end: &mut [u64],
    scratch: &mut Scratch,
    found: &Wedges,
) {
    let (row, lower) = (graph.row(x), graph.lower(x).len());
    let reverse = &all[graph.lower_start(x)..][..lower];
    let Scratch { count, tails, .. } = scratch;
    tails.clear();
    tails.extend(row[..lower].iter().zip(reverse).map(|(&v, &back)| {
        graph.heads[v as usize].start + back as usize + 1..graph.heads[v as usize + 1].start
    }));
    tails.extend(
        row[lower..]
            .iter()
            .map(|&v| graph.heads[v as usize].split..graph.heads[v as usize + 1].start),
    );
    let mut steps = 0;
    for (at, tail) in tails.iter().enumerate() {
        graph.ask_parts(tails, at);
        graph.columns[tail.clone()]
            .iter()
            .for_each(|&y| count[y as usize] += 1);
        steps += tail.len();
    }
    for (at, (tail, &v)) in tails.iter().zip(row).enumerate() {
        graph.ask_parts(tails, at);
        let sum: u64 = graph.columns[tail.clone()]
            .iter()
            .map(|&y| u64::from(count[y as usize]))
            .sum();
        let cycles = sum - tail.len() as u64;
        if at < lower {
            found.add(cycles, graph.edge_at(v as usize, reverse[at]), x, v);
        } else if cycles > 0 {
            lower_end[at - lower] = cycles;
            found.mark(x, v);
        }
    }
    if steps > (graph.nodes() - x) / 8 {
        count[x..].fill(0);
    } else {
        tails.iter().for_each(|tail| {
            graph.columns[tail.clone()]
                .iter()
                .for_each(|&y| count[y as usize] = 0);
        });
    }
}
