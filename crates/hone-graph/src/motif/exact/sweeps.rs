//! The sweeps of exact counting: wedges, triangles, cliques.
//!
//! Wedge sweeps: non-induced 4-cycles through each edge, and which nodes are in a triangle.
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
//!
//! Triangle sweeps: [`common`] walks, for each edge {u, v} with v < u, the row of v over marks on the neighbours of u:
//! Σ_e min(d_u, d_v) steps, each edge owned by one thread. [`TriangleGraph`] then keeps only the
//! edges with t > 0, without nodes that have none; in sparse graphs it is tiny. On it the
//! same walk with t(u,w) in place of the mark gives Q = Σ d_w and R = Σ (t(u,w) + t(v,w)), and [`cliques`] gives K.

use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::communicator::Communicator;
use crate::error::Result;
use crate::motif::column::Rank;
use crate::motif::ranked::{Ranked, Rows, add_counts, balanced, join_flags, ranges, share, sweep};
use crate::parallel::{self, cut};
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

struct WedgeScratch {
    /// c(u, w) of the current u by w, zero between nodes.
    count: Vec<u32>,
    filter: Vec<u64>,
    /// The parts of the neighbours' rows that `up` walks, as slots.
    tails: Vec<Range<usize>>,
}

pub(super) fn wedges(
    graph: &Ranked,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Wedges> {
    let n = graph.nodes();
    let mut reverse = vec![0u32; graph.size()];
    let flags = || (0..n).map(|_| AtomicBool::new(false)).collect();
    let found = Wedges {
        cycles: (0..graph.size()).map(|_| AtomicU64::new(0)).collect(),
        reverse: Vec::new(),
        dense: AtomicBool::new(false),
        triangle: flags(),
        cycle: flags(),
        shared: flags(),
    };
    let scratch = || WedgeScratch {
        count: vec![0; n],
        filter: vec![0; FILTER_BITS / 64],
        tails: Vec::new(),
    };
    let bounds = balanced(n, 1 << 14, |u| graph.work[u] + 8);
    let (total, met) = (graph.work.iter().sum::<u64>(), AtomicU64::new(0));
    progress.stage("counting wedges", (2 * n / communicator.size()) as u64);
    let lower: Vec<usize> = bounds.iter().map(|&u| graph.lower_start(u)).collect();
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
    for flags in [
        std::slice::from_ref(&found.dense),
        &found.triangle,
        &found.shared,
    ] {
        join_flags(flags, communicator);
    }
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
    add_counts(&found.cycles, communicator);
    join_flags(&found.cycle, communicator);
    Ok(Wedges { reverse, ..found })
}

/// All wedges from `u` to lower-ranked nodes; returns whether two of them meet.
fn down(
    graph: &Ranked,
    u: usize,
    reverse: &mut [u32],
    scratch: &mut WedgeScratch,
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
    let reverse = &*reverse;
    let prefixes = || {
        let both = lower.iter().zip(reverse);
        both.map(|(&v, &back)| (v, back, &graph.row(v as usize)[..back as usize]))
    };
    let (mut steps, mut cycles) = (0, 0);
    for (v, back, prefix) in prefixes() {
        let met = prefix.iter().map(|&w| u64::from(count[w as usize] & !MARK));
        let more = met.sum::<u64>() - prefix.len() as u64;
        found.add(more, graph.edge_at(v as usize, back), u, v);
        steps += prefix.len();
        cycles += more;
    }
    if dense && steps > u / 8 {
        count[..u].fill(0);
        return cycles > 0;
    }
    for (_, _, prefix) in prefixes() {
        for &w in prefix {
            if std::mem::take(&mut count[w as usize]) & !MARK >= 2 && !dense {
                found.shared[w as usize].store(true, Relaxed);
            }
        }
    }
    lower.iter().for_each(|&v| count[v as usize] = 0);
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
    scratch: &mut WedgeScratch,
    found: &Wedges,
) {
    let (row, lower) = (graph.row(x), graph.lower(x).len());
    let reverse = &all[graph.lower_start(x)..][..lower];
    let WedgeScratch { count, tails, .. } = scratch;
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

/// Common neighbours of the ends of every edge.
pub(super) fn common(
    graph: &Ranked,
    wedges: &Wedges,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let n = graph.nodes();
    let common: Vec<AtomicU32> = (0..graph.size()).map(|_| AtomicU32::new(0)).collect();
    let inside = |u: usize| wedges.in_triangle(u);
    let bounds = balanced(n, 1 << 14, |u| if inside(u) { graph.work[u] } else { 1 });
    progress.stage("counting triangles", (n / communicator.size()) as u64);
    let parts = share(ranges(&bounds).map(|range| (range, ())), communicator);
    sweep(
        parts,
        progress,
        || vec![0u8; n],
        |range, (), mark| {
            for u in range.filter(|&u| inside(u)) {
                graph.row(u).iter().for_each(|&w| mark[w as usize] = 1);
                let reverse = &wedges.reverse[graph.lower_start(u)..];
                if u + 1 < n && inside(u + 1) {
                    graph.ask_next(u);
                }
                for (at, (&v, &back)) in graph.lower(u).iter().zip(reverse).enumerate() {
                    graph.ask_ahead(graph.lower(u), at);
                    if inside(v as usize) {
                        let t: u32 = graph
                            .row(v as usize)
                            .iter()
                            .map(|&w| u32::from(mark[w as usize]))
                            .sum();
                        common[graph.edge_at(v as usize, back)].store(t, Relaxed);
                    }
                }
                graph.row(u).iter().for_each(|&w| mark[w as usize] = 0);
            }
        },
    )?;
    let mut common: Vec<u32> = common.into_iter().map(AtomicU32::into_inner).collect();
    communicator.add_u32(&mut common);
    Ok(common)
}

/// The edges in triangles, on the nodes in triangles, both in the order of the ranked graph.
pub(super) struct TriangleGraph {
    rows: Rows,
    /// Edge of each lower slot.
    lower_edge: Vec<usize>,
    /// t of each slot.
    t: Vec<u32>,
    /// Degree of the neighbour of each slot, in the whole graph.
    degrees: Vec<u32>,
    /// Ranked node of each node.
    pub(super) nodes: Vec<u32>,
}

/// Number of edges in triangles among the edges `range`.
fn nonzeros(t: &[u32], range: Range<usize>) -> usize {
    t[range].iter().filter(|&&t| t != 0).count()
}

impl Deref for TriangleGraph {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.rows
    }
}

impl TriangleGraph {
    pub(super) fn new(graph: &Ranked, wedges: &Wedges, t: &[u32]) -> TriangleGraph {
        let rank = Rank::new(t.len(), |range| nonzeros(t, range));
        let inside = |u: u32| wedges.in_triangle(u as usize);
        let nodes: Vec<u32> = (0..graph.nodes() as u32).filter(|&u| inside(u)).collect();
        let mut number = vec![0u32; graph.nodes()];
        nodes
            .iter()
            .zip(0..)
            .for_each(|(&u, k)| number[u as usize] = k);
        // Columns and t, edges of lower slots, and where rows and their upper parts begin.
        let parts = parallel::stretches(nodes.len(), 1024, |range| {
            let (mut slots, mut lower_edge, mut ends) = (Vec::new(), Vec::new(), Vec::new());
            for &u in &nodes[range] {
                let (before, edges) = (
                    lower_edge.len(),
                    graph.edges_of(u as usize, &wedges.reverse),
                );
                let first = slots.len();
                for (&w, edge) in graph.row(u as usize).iter().zip(edges) {
                    if inside(w) && t[edge] > 0 {
                        slots.push((number[w as usize], t[edge]));
                        if w < u {
                            lower_edge.push(rank.below(edge, |range| nonzeros(t, range)));
                        }
                    }
                }
                ends.push((first + lower_edge.len() - before, slots.len()));
            }
            (slots, lower_edge, ends)
        });
        let (mut offsets, mut split) = (vec![0], Vec::with_capacity(nodes.len()));
        let (mut columns, mut t, mut lower_edge) = (Vec::new(), Vec::new(), Vec::new());
        for (slots, edges, ends) in parts {
            let first = columns.len();
            for (upper, end) in ends {
                split.push(first + upper);
                offsets.push(first + end);
            }
            columns.extend(slots.iter().map(|slot| slot.0));
            t.extend(slots.iter().map(|slot| slot.1));
            lower_edge.extend(edges);
        }
        let degree: Vec<u32> = nodes
            .iter()
            .map(|&u| graph.row(u as usize).len() as u32)
            .collect();
        let degrees = columns.iter().map(|&w| degree[w as usize]).collect();
        TriangleGraph {
            rows: Rows::new(&offsets, &split, columns),
            lower_edge,
            t,
            degrees,
            nodes,
        }
    }

    /// The edges of the row of ranked node `r`, in order; none when it is in no triangle.
    pub(super) fn edges_of(&self, r: u32) -> impl Iterator<Item = usize> + '_ {
        let u = self.nodes.binary_search(&r).ok();
        let edges = u.map(|u| {
            let lower = &self.lower_edge[self.lower_start(u)..][..self.lower(u).len()];
            lower
                .iter()
                .copied()
                .chain(self.heads[u].edge..self.heads[u + 1].edge)
        });
        edges.into_iter().flatten()
    }

    /// Q and R of every edge of this graph.
    pub(super) fn sums(
        &self,
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let n = self.nodes.len();
        let mut sums = vec![(0u64, 0u64); self.size()];
        let degree = |v: u32| self.range(v as usize).len() as u64;
        let work: Vec<u64> = (0..n)
            .map(|u| self.lower(u).iter().map(|&v| degree(v)).sum())
            .collect();
        let bounds = balanced(n, 1 << 14, |u| work[u]);
        let starts: Vec<usize> = bounds.iter().map(|&u| self.lower_start(u)).collect();
        let parts = share(ranges(&bounds).zip(cut(&mut sums, &starts)), communicator);
        sweep(
            parts,
            progress,
            || vec![0u32; n],
            |range, sums, near| {
                let base = self.lower_start(range.start);
                for u in range {
                    let start = self.lower_start(u) - base;
                    self.sums_of(u, &mut sums[start..start + self.lower(u).len()], near);
                }
            },
        )?;
        let (mut q, mut r) = (vec![0; self.size()], vec![0; self.size()]);
        for (&edge, (edge_q, edge_r)) in self.lower_edge.iter().zip(sums) {
            (q[edge], r[edge]) = (edge_q, edge_r);
        }
        communicator.add_u64(&mut q);
        communicator.add_u64(&mut r);
        Ok((q, r))
    }

    /// Q and R of the edges from `u` to its lower neighbours; `near` is zero before and after.
    fn sums_of(&self, u: usize, sums: &mut [(u64, u64)], near: &mut [u32]) {
        let t = &self.t[self.range(u)];
        self.row(u)
            .iter()
            .zip(t)
            .for_each(|(&w, &t)| near[w as usize] = t);
        for (&v, sums) in self.lower(u).iter().zip(sums) {
            let range = self.range(v as usize);
            let row = self.columns[range.clone()]
                .iter()
                .zip(&self.t[range.clone()])
                .zip(&self.degrees[range]);
            let (mut q, mut r) = (0, 0);
            for ((&w, &t), &d) in row {
                let x = near[w as usize];
                let mask = if x == 0 { 0 } else { u32::MAX };
                q += u64::from(d & mask);
                r += u64::from(x) + u64::from(t & mask);
            }
            *sums = (q, r);
        }
        self.row(u).iter().for_each(|&w| near[w as usize] = 0);
    }
}

/// Words of a bit row held at once: 8192 columns.
const BLOCK: usize = 128;

#[derive(Default)]
struct CliqueScratch {
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

/// The number of 4-cliques on every edge of the triangle graph, without enumerating them.
///
/// For each node x the neighbours ranked above it form a local graph; an edge {a, b} of it forms as many 4-cliques with
/// x as a and b have common neighbours in the local graph: the popcount of the intersection of two bit rows. Half the
/// sum over a's local edges is the number of cliques on {x, a}. Local graphs have at most √(2M) nodes; the bit rows are
/// built a block of columns at a time, so that memory stays linear in that number.
pub(super) fn cliques(
    graph: &TriangleGraph,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Vec<u64>> {
    let n = graph.nodes.len();
    let counts: Vec<AtomicU64> = (0..graph.size()).map(|_| AtomicU64::new(0)).collect();
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
    let scratch = || CliqueScratch {
        local: vec![0; n],
        ..CliqueScratch::default()
    };
    let arch = pulp::Arch::new();
    sweep(parts, progress, scratch, |range, (), scratch| {
        arch.dispatch(
            #[inline(always)]
            || range.for_each(|x| cliques_above(graph, x, scratch, &counts)),
        );
    })?;
    let mut counts: Vec<u64> = counts.into_iter().map(AtomicU64::into_inner).collect();
    communicator.add_u64(&mut counts);
    Ok(counts)
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
fn cliques_above(
    graph: &TriangleGraph,
    x: usize,
    scratch: &mut CliqueScratch,
    cliques: &[AtomicU64],
) {
    let above = graph.upper(x);
    if above.len() < 3 {
        return;
    }
    let CliqueScratch {
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
