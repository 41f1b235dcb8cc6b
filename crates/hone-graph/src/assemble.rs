//! [`assemble`]: from slots (row, column) in any order to sorted rows without duplicates.
//!
//! A bucketed sort: slots are dealt stably into buckets of neighbouring rows small enough for the
//! cache, each bucket is sorted (by row with a counting sort, then row by row) and freed of
//! duplicates on its own, and the survivors are copied to their final place. Every step is parallel
//! over pieces of fixed size that write to disjoint slices, so the result is the same for any number
//! of threads. Cost: O(M log degree) time; at the peak 8 bytes per slot (12 with weights) beside the
//! input or beside the result, never both.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::slice::ParallelSliceMut;

use crate::parallel;
use crate::sparse::Pattern;

/// Slots a bucket aims at: 1 MB, so that sorting stays in a core's cache.
const BUCKET: usize = 1 << 17;
/// More buckets than this and the writes of one task no longer stay in its cache.
const MAX_BUCKETS: usize = 1 << 10;
/// A row this large (a hub's) is sorted by all threads.
const LARGE: usize = 1 << 21;

/// Directed slots (row, column, bits of the weight) in pieces that can be visited again and again.
pub(super) trait Slots: Sync {
    /// Number of pieces; must not depend on the number of threads.
    fn pieces(&self) -> usize;
    /// Number of slots, or a little more.
    fn total(&self) -> usize;
    /// Calls `visit` for each slot of a piece, always in the same order.
    fn each(&self, piece: usize, visit: impl FnMut(u32, u32, u32));
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
    let filled: Vec<_> = split(&mut buckets.slots, &buckets.sizes)
        .into_iter()
        .zip(rows)
        .map(Mutex::new)
        .collect();
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
        columns
            .iter_mut()
            .zip(bucket_slots[b].iter())
            .for_each(|(column, slot)| *column = slot[1]);
    });
    if let Some(weights) = weights.as_mut().and_then(Arc::get_mut) {
        parallel::each(split(weights, &kept), &|b, weights| {
            let slots = bucket_slots[b].iter();
            weights
                .iter_mut()
                .zip(slots)
                .for_each(|(weight, slot)| *weight = f32::from_bits(slot[K - 1]));
        });
    }
    let pattern = Pattern::new(offsets, columns, nodes);
    Parts {
        pattern,
        weights,
        duplicates: (total - nnz) as u64,
    }
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
    let sizes: Vec<usize> = (0..number)
        .map(|b| counts.iter().map(|c| c[b] as usize).sum())
        .collect();
    let mut dealt = vec![[0; K]; sizes.iter().sum()];
    let mut rest = &mut dealt[..];
    let mut targets: Vec<Vec<&mut [[u32; K]]>> =
        counts.iter().map(|_| Vec::with_capacity(number)).collect();
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
    Buckets {
        slots: dealt,
        sizes,
        shift,
    }
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
    let key = |slot: &[u32; K]| {
        if K == 3 {
            u64::from(slot[1]) << 32 | u64::from(slot[K - 1])
        } else {
            slot[1].into()
        }
    };
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
            let sum: f64 = same
                .iter()
                .map(|slot| f64::from(f32::from_bits(slot[K - 1])))
                .sum();
            out[kept][K - 1] = (sum as f32).to_bits();
        }
        kept += 1;
    }
    kept
}
