//! [`GraphBuilder`]: from any list of pairs to a graph that keeps the guarantees.
//!
//! The heavy part is [`assemble`], a bucketed sort: slots (row, column) are dealt stably into
//! buckets of neighbouring rows small enough for the cache, each bucket is sorted (by row with a
//! counting sort, then row by row) and freed of duplicates on its own, and the survivors are
//! copied to their final place. Every step is parallel over pieces of fixed size that write to
//! disjoint slices, so the result is the same for any number of threads. Cost: O(M log degree)
//! time; at the peak 8 bytes per slot (12 with weights) beside the input or beside the result,
//! never both.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::slice::ParallelSliceMut;

use super::{Dropped, Graph, NodeIds};
use crate::clock::{Work, timed};
use crate::error::{Error, Result};
use crate::parallel;
use crate::sparse::Pattern;

/// Edges a piece of the input that one task deals out.
const PIECE: usize = 1 << 18;
/// Slots a bucket aims at: 1 MB, so that sorting stays in a core's cache.
const BUCKET: usize = 1 << 17;
/// More buckets than this and the writes of one task no longer stay in its cache.
const MAX_BUCKETS: usize = 1 << 10;
/// A row this large (a hub's) is sorted by all threads.
const LARGE: usize = 1 << 21;

/// Collects pairs of node indices and makes a [`Graph`] of them.
///
/// ```
/// use hone::graph::GraphBuilder;
/// let graph = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 0), (2, 2)]).build()?;
/// assert_eq!((graph.nodes(), graph.edges()), (3, 1));
/// assert_eq!((graph.dropped().duplicates, graph.dropped().self_loops), (1, 1));
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    directed: bool,
    ids: NodeIds,
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    ignored_weights: u64,
}

impl GraphBuilder {
    /// An undirected graph on nodes 0..n.
    pub fn undirected(nodes: usize) -> Self {
        let ids = NodeIds::Sequential(nodes);
        GraphBuilder { directed: false, ids, edges: Vec::new(), weights: None, ignored_weights: 0 }
    }

    /// A directed graph on nodes 0..n.
    pub fn directed(nodes: usize) -> Self {
        GraphBuilder { directed: true, ..Self::undirected(nodes) }
    }

    /// Names the nodes; their number becomes the number of ids.
    #[must_use]
    pub fn ids(mut self, ids: NodeIds) -> Self {
        self.ids = ids;
        self
    }

    /// The edges, as pairs of node indices; loops and duplicates are dropped and counted.
    #[must_use]
    pub fn edges(mut self, edges: Vec<(u32, u32)>) -> Self {
        self.edges = edges;
        self
    }

    /// One weight per edge, finite and not negative; of duplicates the weights add up (in either
    /// direction when undirected).
    #[must_use]
    pub fn weights(mut self, weights: Vec<f32>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Says that the input had this many weights which were not requested.
    #[must_use]
    pub(super) fn ignored_weights(mut self, count: u64) -> Self {
        self.ignored_weights = count;
        self
    }

    /// Makes the graph. Fails when an index is not below the number of nodes, when there are more
    /// nodes than u32 can number, or when a weight is negative or not finite.
    pub fn build(self) -> Result<Graph> {
        self.check()?;
        let GraphBuilder { directed, ids, edges, weights, ignored_weights } = self;
        let self_loops = parallel::count(edges.len(), |e| edges[e].0 == edges[e].1);
        let slots = Pairs { edges, weights, both: !directed };
        // Read, dealt into buckets, sorted there, copied to their place: 8 bytes per slot each time, 12 with weights.
        let slot = if slots.weights.is_some() { 12 } else { 8 };
        let bytes = 5 * slot * slots.edges.len() as u64 * if directed { 1 } else { 2 };
        let parts = timed(Work::Build, bytes, || match slots.weights {
            Some(_) => assemble::<3>(ids.len(), slots),
            None => assemble::<2>(ids.len(), slots),
        });
        if parts.weights.as_ref().is_some_and(|w| parallel::first(w.len(), |e| w[e].is_infinite()).is_some()) {
            let message = "those of duplicate edges add up to more than f32 can hold; scale them down";
            return Err(Error::config("weights", message));
        }
        let duplicates = if directed { parts.duplicates } else { parts.duplicates / 2 };
        let dropped = Dropped { self_loops: self_loops as u64, duplicates, weights: ignored_weights };
        let (pattern, weights) = (Arc::new(parts.pattern), parts.weights);
        Ok(Graph { pattern, weights, directed, ids, dropped, reading: None })
    }

    fn check(&self) -> Result<()> {
        let n = self.ids.len();
        if n > u32::MAX as usize {
            return Err(Error::config("nodes", format!("{n} nodes; at most {} are supported", u32::MAX)));
        }
        if let Some(e) = parallel::first(self.edges.len(), |e| self.edges[e].0.max(self.edges[e].1) as usize >= n) {
            let (u, v) = self.edges[e];
            return Err(Error::config("edges", format!("edge {e} is ({u}, {v}), but there are {n} nodes")));
        }
        let Some(weights) = &self.weights else { return Ok(()) };
        if weights.len() != self.edges.len() {
            let message = format!("{} weights for {} edges; give one per edge", weights.len(), self.edges.len());
            return Err(Error::config("weights", message));
        }
        check_weights(weights)
    }
}

/// Fails at the first weight that is negative or not finite.
pub(super) fn check_weights(weights: &[f32]) -> Result<()> {
    match parallel::first(weights.len(), |e| !(weights[e].is_finite() && weights[e] >= 0.0)) {
        Some(e) => {
            Err(Error::config("weights", format!("weight {e} is {}; weights must be finite and ≥ 0", weights[e])))
        }
        None => Ok(()),
    }
}

/// Directed slots (row, column, bits of the weight) in pieces that can be visited again and again.
pub(super) trait Slots: Sync {
    /// Number of pieces; must not depend on the number of threads.
    fn pieces(&self) -> usize;
    /// Number of slots, or a little more.
    fn total(&self) -> usize;
    /// Calls `visit` for each slot of a piece, always in the same order.
    fn each(&self, piece: usize, visit: impl FnMut(u32, u32, u32));
}

/// The builder's input as slots: loops left out, undirected edges in both directions.
struct Pairs {
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    both: bool,
}

impl Slots for Pairs {
    fn pieces(&self) -> usize {
        self.edges.len().div_ceil(PIECE)
    }

    fn total(&self) -> usize {
        if self.both { 2 * self.edges.len() } else { self.edges.len() }
    }

    fn each(&self, piece: usize, mut visit: impl FnMut(u32, u32, u32)) {
        let begin = piece * PIECE;
        let end = self.edges.len().min(begin + PIECE);
        for (e, &(u, v)) in (begin..end).zip(&self.edges[begin..end]) {
            if u == v {
                continue;
            }
            // Adding zero turns -0 into 0, whose bits sort where they should.
            let bits = self.weights.as_ref().map_or(0, |w| (w[e] + 0.0).to_bits());
            visit(u, v, bits);
            if self.both {
                visit(v, u, bits);
            }
        }
    }
}

/// What [`assemble`] makes.
pub(super) struct Parts {
    pub(super) pattern: Pattern,
    pub(super) weights: Option<Arc<[f32]>>,
    /// Slots beyond the first at the same position.
    pub(super) duplicates: u64,
}

/// Slots dealt into buckets of `1 << shift` rows, in the order of the rows.
struct Buckets<const K: usize> {
    slots: Vec<[u32; K]>,
    sizes: Vec<usize>,
    shift: u32,
}

/// Sorts slots into rows, merging duplicates. `K` is 2 without weights and 3 with them; the
/// weights of duplicates are added in ascending order, in f64, so no order of input matters; a sum
/// beyond f32 becomes infinite.
pub(super) fn assemble<const K: usize>(nodes: usize, slots: impl Slots) -> Parts {
    let mut buckets = deal::<K>(nodes, &slots);
    drop(slots);
    let total = buckets.slots.len();
    let mut offsets = vec![0; nodes + 1];
    let shift = buckets.shift;
    let rows = offsets[1..].chunks_mut(1 << shift);
    let filled: Vec<_> = split(&mut buckets.slots, &buckets.sizes).into_iter().zip(rows).map(Mutex::new).collect();
    let kept = parallel::map(filled.len(), |b| {
        let mut filled = filled[b].lock().unwrap_or_else(PoisonError::into_inner);
        let (bucket, counts) = &mut *filled;
        settle(bucket, b << shift, counts)
    });
    drop(filled);
    for i in 0..nodes {
        offsets[i + 1] += offsets[i];
    }
    let nnz = offsets[nodes];
    let mut columns = vec![0; nnz];
    let mut weights: Option<Arc<[f32]>> = (K == 3).then(|| std::iter::repeat_n(0.0, nnz).collect());
    let bucket_slots = split(&mut buckets.slots, &buckets.sizes);
    parallel::each(split(&mut columns, &kept), &|b, columns| {
        columns.iter_mut().zip(bucket_slots[b].iter()).for_each(|(column, slot)| *column = slot[1]);
    });
    if let Some(weights) = weights.as_mut().and_then(Arc::get_mut) {
        parallel::each(split(weights, &kept), &|b, weights| {
            let slots = bucket_slots[b].iter();
            weights.iter_mut().zip(slots).for_each(|(weight, slot)| *weight = f32::from_bits(slot[K - 1]));
        });
    }
    let pattern = Pattern::new(offsets, columns, nodes);
    Parts { pattern, weights, duplicates: (total - nnz) as u64 }
}

/// Deals the slots into buckets: count for each piece and bucket, then write to disjoint slices.
fn deal<const K: usize>(nodes: usize, slots: &impl Slots) -> Buckets<K> {
    let last = nodes.saturating_sub(1);
    let wanted = (slots.total() / BUCKET).clamp(1, MAX_BUCKETS);
    let shift = (0..usize::BITS).find(|&s| last >> s < wanted).unwrap_or(0);
    let number = if nodes == 0 { 0 } else { (last >> shift) + 1 };
    let counts: Vec<Vec<u32>> = parallel::map(slots.pieces(), |piece| {
        let mut counts = vec![0; number];
        slots.each(piece, |row, _, _| counts[(row >> shift) as usize] += 1);
        counts
    });
    let sizes: Vec<usize> = (0..number).map(|b| counts.iter().map(|c| c[b] as usize).sum()).collect();
    let mut dealt = vec![[0; K]; sizes.iter().sum()];
    let mut rest = &mut dealt[..];
    let mut targets: Vec<Vec<&mut [[u32; K]]>> = counts.iter().map(|_| Vec::with_capacity(number)).collect();
    for b in 0..number {
        for (target, counts) in targets.iter_mut().zip(&counts) {
            let (head, tail) = rest.split_at_mut(counts[b] as usize);
            target.push(head);
            rest = tail;
        }
    }
    parallel::each(targets, &|piece, mut targets| {
        let mut filled = vec![0; number];
        slots.each(piece, |row, column, bits| {
            let b = (row >> shift) as usize;
            let values = [row, column, bits];
            targets[b][filled[b]] = std::array::from_fn(|k| values[k]);
            filled[b] += 1;
        });
    });
    Buckets { slots: dealt, sizes, shift }
}

/// Cuts a slice into consecutive parts of the given sizes.
fn split<'a, T>(mut rest: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (head, tail) = rest.split_at_mut(size);
        parts.push(head);
        rest = tail;
    }
    parts
}

/// Sorts a bucket whose first row is `base`, merges duplicates and moves what is left to its
/// front; counts the slots left in each row and returns their number.
fn settle<const K: usize>(bucket: &mut [[u32; K]], base: usize, counts: &mut [usize]) -> usize {
    let row = |slot: &[u32; K]| slot[0] as usize - base;
    bucket.iter().for_each(|slot| counts[row(slot)] += 1);
    let mut total = 0;
    for count in counts.iter_mut() {
        let before = total;
        total += *count;
        *count = before;
    }
    let mut sorted = vec![[0; K]; bucket.len()];
    for slot in bucket.iter() {
        let place = &mut counts[row(slot)];
        sorted[*place] = *slot;
        *place += 1;
    }
    // By now each count is where its row ends.
    let (mut begin, mut kept) = (0, 0);
    for count in counts.iter_mut() {
        let row = &mut sorted[begin..*count];
        begin = *count;
        sort_row(row);
        *count = merge(row, &mut bucket[kept..]);
        kept += *count;
    }
    kept
}

/// Sorts a row by column, then by weight.
fn sort_row<const K: usize>(row: &mut [[u32; K]]) {
    let key = |slot: &[u32; K]| if K == 3 { u64::from(slot[1]) << 32 | u64::from(slot[K - 1]) } else { slot[1].into() };
    if row.len() > LARGE {
        row.par_sort_unstable_by_key(key);
    } else {
        row.sort_unstable_by_key(key);
    }
}

/// Writes a sorted row to `out` with its duplicates merged; returns how many slots are left.
fn merge<const K: usize>(row: &[[u32; K]], out: &mut [[u32; K]]) -> usize {
    let mut kept = 0;
    for same in row.chunk_by(|a, b| a[1] == b[1]) {
        out[kept] = same[0];
        if K == 3 && same.len() > 1 {
            let sum: f64 = same.iter().map(|slot| f64::from(f32::from_bits(slot[K - 1]))).sum();
            out[kept][K - 1] = (sum as f32).to_bits();
        }
        kept += 1;
    }
    kept
}
