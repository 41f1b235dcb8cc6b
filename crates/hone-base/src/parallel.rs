//! Parallel loops that are compiled only once.
//!
//! A parallel iterator is generic in everything it calls: each use compiles the whole work-stealing code again, about a
//! thousand lines. These loops call a closure behind a pointer, once per task. They are for tasks that are not small.

use std::env;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Threads of a core at most: more do not help, and each takes memory.
const OF_A_CORE: usize = 4;

/// How many threads to start: as many as are asked for, else as the variable `RAYON_NUM_THREADS` says, else one per core;
/// never more than four per core.
pub fn threads(asked: Option<usize>) -> usize {
    let named = env::var("RAYON_NUM_THREADS").ok();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    threads_of(asked.or(named.and_then(|text| text.parse().ok())), cores)
}

fn threads_of(wanted: Option<usize>, cores: usize) -> usize {
    let wanted = wanted.filter(|&wanted| wanted > 0);
    wanted.unwrap_or(cores).min(OF_A_CORE * cores)
}

/// Calls `work` with each of `0..count`, in parallel.
pub fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// The results of `work` for each of `0..count`, in order, computed in parallel.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(count, &|i| {
        let found = work(i);
        *slots[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    });
    let value = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots
        .into_iter()
        .map(|slot| value(slot).expect("every piece was worked on"))
        .collect()
}

/// The results of `work` for each of `0..count`, in order, computed in parallel: for small work, of which a thread does
/// many items at a time.
pub fn collect<T: Clone + Default + Send>(
    count: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let (mut found, length) = (vec![T::default(); count], in_one_go(count));
    each(found.chunks_mut(length).collect(), &|piece, part| {
        part.iter_mut()
            .zip(piece * length..)
            .for_each(|(to, i)| *to = work(i));
    });
    found
}

/// The results of `work` for those of `0..count` that have one, in order, computed in parallel: for small work, as with
/// [`collect`].
pub fn collect_some<T: Send>(count: usize, work: impl Fn(usize) -> Option<T> + Sync) -> Vec<T> {
    let some = |range: Range<usize>| range.filter_map(&work).collect::<Vec<T>>();
    let parts = stretches(count, in_one_go(count), some);
    parts.into_iter().flatten().collect()
}

/// How many small items form a task: each thread gets many tasks, since nodes differ in their neighbours.
fn in_one_go(count: usize) -> usize {
    count
        .div_ceil(64 * rayon::current_num_threads())
        .clamp(1, LOOKED_AT)
}

/// The results of `work` for each item and its number, in order, computed in parallel.
pub fn map_each<T: Send, O: Send>(items: Vec<T>, work: impl Fn(usize, T) -> O + Sync) -> Vec<O> {
    let items = items.into_iter().map(|item| Mutex::new(Some(item)));
    let items: Vec<Mutex<Option<T>>> = items.collect();
    map(items.len(), |i| {
        let mut item = items[i].lock().unwrap_or_else(PoisonError::into_inner);
        let item = item.take().expect("every item is taken once");
        work(i, item)
    })
}

/// Gives each item to `work`, with its number, in parallel.
pub fn each<T: Send>(items: Vec<T>, work: &(dyn Fn(usize, T) + Sync)) {
    map_each(items, work);
}

/// Gives each item to `work`, with its number, in parallel. Fails with the error of the first item that has one, whichever
/// thread is faster; items after one that failed may be left out.
pub fn try_each<T: Send, E: Send>(
    items: Vec<T>,
    work: &(dyn Fn(usize, T) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let first = AtomicUsize::new(usize::MAX);
    let results = map_each(items, |i, item| {
        if first.load(Ordering::Relaxed) < i {
            return Ok(());
        }
        work(i, item).inspect_err(|_| {
            first.fetch_min(i, Ordering::Relaxed);
        })
    });
    results.into_iter().collect()
}

/// The results of `work` for each range of `length` numbers of `0..count`, in order, computed in parallel.
pub fn stretches<T: Send>(
    count: usize,
    length: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    map(count.div_ceil(length), |i| {
        work(i * length..count.min((i + 1) * length))
    })
}

/// The first of `0..count` that satisfies `wanted`, searched in parallel.
pub fn first(count: usize, wanted: impl Fn(usize) -> bool + Sync) -> Option<usize> {
    let found = stretches(count, LOOKED_AT, |mut range| range.find(|&i| wanted(i)));
    found.into_iter().flatten().next()
}

/// How many of `0..count` satisfy `wanted`.
pub fn count(count: usize, wanted: impl Fn(usize) -> bool + Sync) -> usize {
    stretches(count, LOOKED_AT, |range| {
        range.filter(|&i| wanted(i)).count()
    })
    .into_iter()
    .sum()
}

/// Numbers per task.
const LOOKED_AT: usize = 1 << 14;

/// Splits a slice at the inner ones of ascending bounds, so that threads can fill the pieces.
pub fn cut<'a, T>(mut values: &'a mut [T], bounds: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(bounds.len().saturating_sub(1));
    for pair in bounds.windows(2) {
        let (piece, rest) = values.split_at_mut(pair[1] - pair[0]);
        pieces.push(piece);
        values = rest;
    }
    pieces
}

/// Splits `values` into pieces of `length` and changes each, given its number, in parallel.
pub fn for_chunks(values: &mut [f32], length: usize, change: &(dyn Fn(usize, &mut [f32]) + Sync)) {
    values
        .par_chunks_mut(length)
        .enumerate()
        .for_each(|(index, piece)| change(index, piece));
}

/// Splits `values` into rows of `width` and changes each, given its number, in parallel; a task has many rows.
pub fn for_rows<T: Send>(values: &mut [T], width: usize, change: impl Fn(usize, &mut [T]) + Sync) {
    let width = width.max(1);
    let rows = in_one_go(values.len() / width);
    each(values.chunks_mut(rows * width).collect(), &|piece, part| {
        part.chunks_mut(width)
            .zip(piece * rows..)
            .for_each(|(row, i)| change(i, row));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_no_more_than_a_few_per_core() {
        for (wanted, started) in [
            (None, 2),
            (Some(0), 2),
            (Some(1), 1),
            (Some(7), 7),
            (Some(100_000), 8),
        ] {
            assert_eq!(threads_of(wanted, 2), started, "{wanted:?}");
        }
    }
}
