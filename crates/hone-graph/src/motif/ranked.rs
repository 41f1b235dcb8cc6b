//! [`Ranked`]: the graph with its nodes renumbered by degree, the form all sweeps work on.
//!
//! Nodes are numbered in order of (degree, node). Each row ascends, so that its lower-ranked part
//! comes first; for an edge {u, v} with v < u, d_v = min(d_u, d_v), which bounds the work of every
//! sweep that walks the row of the lower end. Edges are numbered by (lower end, higher end): the
//! upper parts of all rows in a row.
//!
//! Sweeps visit the rows of a node's neighbours, which are scattered: they are prefetched some
//! neighbours ahead, and the first ones of the next node at the beginning of a node.

use std::ops::{Deref, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::formula::largest_degree;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// Neighbours from the current one to the ones whose head, and whose row, is prefetched.
const HEADS_AHEAD: usize = 32;
const ROWS_AHEAD: usize = 16;

/// Entries of a row that are prefetched: the hardware prefetches those that follow.
const ENTRIES_AHEAD: usize = 32;

/// Where a row is; together, since they are always needed together, and lie in one cache line.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    /// Where the row begins.
    pub(super) start: usize,
    /// Where its upper part begins.
    pub(super) split: usize,
    /// Number of the first edge of its upper part.
    pub(super) edge: usize,
}

/// Rows of ranked nodes, each with its lower part first.
pub(super) struct Rows {
    /// One head per row, and one more for the end.
    pub(super) heads: Vec<Head>,
    pub(super) columns: Vec<u32>,
}

impl Rows {
    /// Rows that begin at `offsets`, and their upper parts at `split`.
    pub(super) fn new(offsets: &[usize], split: &[usize], columns: Vec<u32>) -> Rows {
        let mut edge = 0;
        let mut heads = Vec::with_capacity(offsets.len());
        for ((&start, &split), &end) in offsets.iter().zip(split).zip(&offsets[1..]) {
            heads.push(Head { start, split, edge });
            edge += end - split;
        }
        let end = offsets[split.len()];
        heads.push(Head {
            start: end,
            split: end,
            edge,
        });
        Rows { heads, columns }
    }

    pub(super) fn nodes(&self) -> usize {
        self.heads.len() - 1
    }

    /// Number of edges.
    pub(super) fn size(&self) -> usize {
        self.heads[self.nodes()].edge
    }

    #[inline]
    pub(super) fn range(&self, u: usize) -> Range<usize> {
        self.heads[u].start..self.heads[u + 1].start
    }

    /// All neighbours of `u`, ascending.
    #[inline]
    pub(super) fn row(&self, u: usize) -> &[u32] {
        &self.columns[self.range(u)]
    }

    /// Neighbours of `u` ranked below it.
    #[inline]
    pub(super) fn lower(&self, u: usize) -> &[u32] {
        &self.columns[self.heads[u].start..self.heads[u].split]
    }

    /// Neighbours of `u` ranked above it; the k-th makes edge `heads[u].edge + k`.
    #[inline]
    pub(super) fn upper(&self, u: usize) -> &[u32] {
        &self.columns[self.heads[u].split..self.heads[u + 1].start]
    }

    /// Number of lower slots before row `u`: where its lower part begins in arrays of lower slots.
    #[inline]
    pub(super) fn lower_start(&self, u: usize) -> usize {
        self.heads[u].start - self.heads[u].edge
    }

    /// The edge from `v` to the neighbour at position `p` of its row, in the upper part.
    #[inline]
    pub(super) fn edge_at(&self, v: usize, p: u32) -> usize {
        let head = self.heads[v];
        head.edge + (head.start + p as usize - head.split)
    }
}

pub(super) struct Ranked {
    rows: Rows,
    /// Node of each rank.
    pub(super) order: Vec<u32>,
    /// Rank of each node.
    pub(super) rank: Vec<u32>,
    /// Σ (d_w − 1) over the neighbours w, by rank.
    pub(super) s: Vec<u64>,
    /// Σ d_v over the lower-ranked neighbours v, by rank: the work of a wedge sweep.
    pub(super) work: Vec<u64>,
}

impl Deref for Ranked {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.rows
    }
}

impl Ranked {
    /// Renumbers a symmetric pattern.
    pub(super) fn new(pattern: &Pattern, progress: &dyn Progress) -> Result<Ranked> {
        let n = pattern.rows();
        let (order, packed) = by_degree(pattern);
        let mut offsets = vec![0; n + 1];
        for (r, &i) in order.iter().enumerate() {
            offsets[r + 1] = offsets[r] + pattern.range(i as usize).len();
        }
        let mut columns = vec![0u32; pattern.nnz()];
        let (mut split, mut s, mut work) = (vec![0usize; n], vec![0u64; n], vec![0u64; n]);
        let bounds = balanced(n, 1 << 16, |r| (offsets[r + 1] - offsets[r] + 8) as u64);
        let slots: Vec<usize> = bounds.iter().map(|&r| offsets[r]).collect();
        let parts = cut(&mut columns, &slots)
            .into_iter()
            .zip(cut(&mut split, &bounds))
            .zip(cut(&mut s, &bounds))
            .zip(cut(&mut work, &bounds));
        parallel::try_each(parts.collect(), &|part, (((columns, split), s), work)| {
            progress.check()?;
            let (first, base) = (bounds[part], slots[part]);
            for r in first..bounds[part + 1] {
                let out = &mut columns[offsets[r] - base..offsets[r + 1] - base];
                let (row, mut sums) = (pattern.row(order[r] as usize), (0, 0));
                for (place, &j) in out.iter_mut().zip(row) {
                    let p = packed[j as usize];
                    let (rank, degree) = ((p >> 32) as u32, p & u64::from(u32::MAX));
                    *place = rank;
                    sums.0 += degree - 1;
                    sums.1 += if (rank as usize) < r { degree } else { 0 };
                }
                out.sort_unstable();
                (s[r - first], work[r - first]) = sums;
                split[r - first] = offsets[r] + out.partition_point(|&w| (w as usize) < r);
            }
            Ok(())
        })?;
        Ok(Ranked {
            rows: Rows::new(&offsets, &split, columns),
            rank: packed.into_iter().map(|p| (p >> 32) as u32).collect(),
            order,
            s,
            work,
        })
    }

    /// Prefetches what a sweep over rows of lower neighbours needs first of the nodes after `u`.
    #[inline]
    pub(super) fn ask_next(&self, u: usize) {
        let last = self.nodes() - 1;
        self.lower((u + 2).min(last))
            .iter()
            .take(HEADS_AHEAD)
            .for_each(|&v| self.ask_head(v));
        let next = self.lower((u + 1).min(last));
        next.iter()
            .take(ROWS_AHEAD)
            .for_each(|&v| ask_entries(self.row(v as usize)));
    }

    /// Prefetches what a sweep over the rows of `neighbours`, now at place `at`, needs soon.
    #[inline(always)]
    pub(super) fn ask_ahead(&self, neighbours: &[u32], at: usize) {
        if let Some(&v) = neighbours.get(at + HEADS_AHEAD) {
            self.ask_head(v);
        }
        if let Some(&v) = neighbours.get(at + ROWS_AHEAD) {
            ask_entries(self.row(v as usize));
        }
    }

    /// The same for parts of rows, given as slots: the first ones together at the first place, then one at
    /// each place.
    #[inline(always)]
    pub(super) fn ask_parts(&self, parts: &[Range<usize>], at: usize) {
        let next = if at == 0 {
            0..(ROWS_AHEAD + 1).min(parts.len())
        } else {
            at + ROWS_AHEAD..at + ROWS_AHEAD + 1
        };
        let next = parts.get(next).unwrap_or_default();
        next.iter()
            .for_each(|part| ask_entries(&self.columns[part.clone()]));
    }

    #[inline(always)]
    fn ask_head(&self, v: u32) {
        prefetch(&self.heads[v as usize..][..2]);
    }

    /// The edges of the row of `u`, in order; `reverse` gives for each lower slot (u → v) the position of u in the row of v.
    pub(super) fn edges_of<'a>(
        &'a self,
        u: usize,
        reverse: &'a [u32],
    ) -> impl Iterator<Item = usize> + 'a {
        let lower = self.lower(u).iter().zip(&reverse[self.lower_start(u)..]);
        let lower = lower.map(|(&v, &back)| self.edge_at(v as usize, back));
        lower.chain(self.heads[u].edge..self.heads[u + 1].edge)
    }
}

#[inline(always)]
fn ask_entries(row: &[u32]) {
    prefetch(&row[..row.len().min(ENTRIES_AHEAD)]);
}

/// Nodes in order of degree, and for each node its rank (high half) and degree (low half).
pub(super) fn by_degree(pattern: &Pattern) -> (Vec<u32>, Vec<u64>) {
    let n = pattern.rows();
    let degree = |i: usize| pattern.range(i).len();
    let mut starts = vec![0usize; largest_degree(pattern) + 2];
    (0..n).for_each(|i| starts[degree(i) + 1] += 1);
    (1..starts.len()).for_each(|d| starts[d] += starts[d - 1]);
    let mut order = vec![0u32; n];
    let mut packed = vec![0u64; n];
    for (i, packed) in packed.iter_mut().enumerate() {
        let d = degree(i);
        let rank = starts[d];
        starts[d] += 1;
        order[rank] = i as u32;
        *packed = (rank as u64) << 32 | d as u64;
    }
    (order, packed)
}

/// Divides `0..n` into ranges of about equal work, of at least `grain` each: the bounds.
pub(super) fn balanced(n: usize, grain: u64, work: impl Fn(usize) -> u64) -> Vec<usize> {
    let total: u64 = (0..n).map(&work).sum();
    let share = (total / 2048).max(grain);
    let mut bounds = vec![0];
    let mut sum = 0;
    for i in 0..n {
        sum += work(i);
        if sum >= share && i + 1 < n {
            bounds.push(i + 1);
            sum = 0;
        }
    }
    if n > 0 {
        bounds.push(n);
    }
    bounds
}

/// Runs `sweep` over ranges of nodes in parallel, the last (heaviest nodes) first, with scratch
/// that threads reuse. Integer sums only, so the order does not matter to the result.
pub(super) fn sweep<S: Send, P: Send>(
    parts: Vec<(Range<usize>, P)>,
    progress: &dyn Progress,
    scratch: impl Fn() -> S + Sync,
    sweep: impl Fn(Range<usize>, P, &mut S) + Sync,
) -> Result<()> {
    let pool: Mutex<Vec<S>> = Mutex::new(Vec::new());
    parallel::try_each(parts.into_iter().rev().collect(), &|_, (range, part)| {
        progress.check()?;
        let idle = pool.lock().expect("no thread panics with the lock").pop();
        let mut mine = idle.unwrap_or_else(&scratch);
        let nodes = range.len() as u64;
        sweep(range, part, &mut mine);
        pool.lock()
            .expect("no thread panics with the lock")
            .push(mine);
        progress.advance(nodes);
        Ok(())
    })
}

/// The ranges between bounds.
pub(super) fn ranges(bounds: &[usize]) -> impl Iterator<Item = Range<usize>> + '_ {
    bounds.windows(2).map(|pair| pair[0]..pair[1])
}

/// A bit per node.
pub(super) struct Marks(Vec<u64>);

impl Marks {
    pub(super) fn new(nodes: usize) -> Marks {
        Marks(vec![0; nodes.div_ceil(64)])
    }

    pub(super) fn set(&mut self, nodes: &[u32]) {
        for &i in nodes {
            self.0[i as usize / 64] |= 1 << (i % 64);
        }
    }

    /// Clears the marks that were set.
    pub(super) fn clear(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&i| self.0[i as usize / 64] = 0);
    }

    #[inline(always)]
    pub(super) fn has(&self, i: u32) -> bool {
        self.0[i as usize / 64] >> (i % 64) & 1 == 1
    }
}

/// Calls `found` with the common nodes of two ascending rows, and their positions in each: the shorter one is
/// walked, the longer one searched from the last position on.
pub(super) fn for_common(a: &[u32], b: &[u32], mut found: impl FnMut(u32, usize, usize)) {
    let (few, many, turned) = if a.len() <= b.len() {
        (a, b, false)
    } else {
        (b, a, true)
    };
    let mut from = 0;
    for (at, &w) in few.iter().enumerate() {
        let (mut step, mut end) = (1, from);
        while end < many.len() && many[end] < w {
            from = end + 1;
            end += step;
            step *= 2;
        }
        from += many[from..end.min(many.len())].partition_point(|&x| x < w);
        if many.get(from) == Some(&w) {
            let (of_a, of_b) = if turned { (from, at) } else { (at, from) };
            found(w, of_a, of_b);
        }
    }
}

/// The smaller degree of each edge of node `i`, summed.
pub(super) fn smaller_degrees(pattern: &Pattern, i: usize) -> u64 {
    let (row, d) = (pattern.row(i).iter(), pattern.range(i).len());
    row.map(|&j| pattern.range(j as usize).len().min(d) as u64)
        .sum()
}

/// For each slot of a symmetric pattern that of the same edge in the other row: rows ascend, so that the lower part of a row
/// is met in order.
pub(super) fn reversed(pattern: &Pattern) -> Vec<u32> {
    let mut back = vec![0; pattern.nnz()];
    let mut next: Vec<usize> = pattern.offsets()[..pattern.rows()].to_vec();
    for i in 0..pattern.rows() {
        let upper = next[i];
        for (slot, &j) in (upper..).zip(&pattern.columns()[upper..pattern.range(i).end]) {
            let place = &mut next[j as usize];
            back[slot] = *place as u32;
            back[*place] = slot as u32;
            *place += 1;
        }
    }
    back
}

// Processes that count together: each has the whole graph and does every n-th range of a sweep, for n processes; their
// results are added. All are integers, so it does not matter which process found what. Ranges have equal work, and there are
// about two thousand.

/// The ranges that this process does.
pub(super) fn share<T>(parts: impl Iterator<Item = T>, communicator: &dyn Communicator) -> Vec<T> {
    parts
        .skip(communicator.rank())
        .step_by(communicator.size())
        .collect()
}

/// Values that are exchanged at a time, if they have to be copied.
const EXCHANGED: usize = 1 << 18;

/// Adds counters of all processes.
pub(super) fn add_counts(counts: &[AtomicU64], communicator: &dyn Communicator) {
    if communicator.size() > 1 {
        for counts in counts.chunks(EXCHANGED) {
            let mut sums: Vec<u64> = counts.iter().map(|count| count.load(Relaxed)).collect();
            communicator.add_u64(&mut sums);
            counts
                .iter()
                .zip(sums)
                .for_each(|(count, sum)| count.store(sum, Relaxed));
        }
    }
}

/// Combines the flags of all processes: set if any process has set them.
pub(super) fn join_flags(flags: &[AtomicBool], communicator: &dyn Communicator) {
    if communicator.size() > 1 {
        for flags in flags.chunks(EXCHANGED) {
            let mut sums: Vec<u32> = flags.iter().map(|flag| flag.load(Relaxed).into()).collect();
            communicator.add_u32(&mut sums);
            flags
                .iter()
                .zip(sums)
                .for_each(|(flag, sum)| flag.store(sum > 0, Relaxed));
        }
    }
}
