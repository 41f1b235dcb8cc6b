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
    let parts: Vec<Vec<T>> = stretches(count, in_one_go(count), |range| {
        range.filter_map(&work).collect()
    });
    parts.into_iter().flatten().collect()
}

/// How many small items form a task: each thread gets many tasks, since nodes differ in their neighbours.
fn in_one_go(count: usize) -> usize {
    count
        .div_ceil(64 * rayon::current_num_threads())
        .clamp(1, LOOKED_AT)
}

/// Gives each item to `work`, with its number, in parallel.
pub fn each<T: Send>(items: Vec<T>, work: &(dyn Fn(usize, T) + Sync)) {
    let slots: Vec<Mutex<Option<T>>> = items
        .into_iter()
        .map(|item| Mutex::new(Some(item)))
        .collect();
    for_each(slots.len(), &|i| {
        let item = slots[i]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        work(i, item.expect("every item is taken once"));
    });
}

/// Gives each item to `work`, with its number, in parallel. Fails with the error of the first item that has one, whichever
/// thread is faster; items after one that failed may be left out.
pub fn try_each<T: Send, E: Send>(
    items: Vec<T>,
    work: &(dyn Fn(usize, T) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let (first, errors) = (AtomicUsize::new(usize::MAX), Mutex::new(Vec::new()));
    each(items, &|i, item| {
        if first.load(Ordering::Relaxed) < i {
            return;
        }
        if let Err(error) = work(i, item) {
            first.fetch_min(i, Ordering::Relaxed);
            errors
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((i, error));
        }
    });
    let errors = errors.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first = errors.into_iter().min_by_key(|(i, _)| *i);
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// The results of `work` for each item and its number, in order, computed in parallel.
pub fn map_each<T: Send, O: Send>(items: Vec<T>, work: impl Fn(usize, T) -> O + Sync) -> Vec<O> {
    let items: Vec<Mutex<Option<T>>> = items
        .into_iter()
        .map(|item| Mutex::new(Some(item)))
        .collect();
    map(items.len(), |i| {
        let item = items[i]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        work(i, item.expect("every item is taken once"))
    })
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

    #[test]
    fn results_come_in_order() {
        assert_eq!(
            map(1000, |i| i * i),
            (0..1000).map(|i| i * i).collect::<Vec<_>>()
        );
        assert!(map(0, |i| i).is_empty());
        assert_eq!(stretches(10, 4, Iterator::sum::<usize>), [6, 22, 17]);
        assert_eq!(first(100_000, |i| i >= 77_777), Some(77_777));
        assert_eq!(
            (first(100_000, |_| false), first(0, |_| true)),
            (None, None)
        );
        assert_eq!(count(100_000, |i| i % 10 == 3), 10_000);
        assert_eq!(
            collect(100_000, |i| i + 1),
            (1..=100_000).collect::<Vec<_>>()
        );
        assert!(collect(0, |i| i).is_empty() && collect_some(1000, |_| None::<u8>).is_empty());
        assert_eq!(collect_some(10, |i| (i % 3 == 1).then_some(i)), [1, 4, 7]);
        let taken = Mutex::new(Vec::new());
        each(vec!["a", "b", "c"], &|i, item| {
            taken.lock().expect("not poisoned").push((i, item));
        });
        let mut taken = taken.into_inner().expect("not poisoned");
        taken.sort_unstable();
        assert_eq!(taken, [(0, "a"), (1, "b"), (2, "c")]);
        assert_eq!(
            try_each(vec![1, 2, 3], &|_, x| if x == 2 { Err(x) } else { Ok(()) }),
            Err(2)
        );
        assert_eq!(try_each(vec![1, 2, 3], &|_, _| Ok::<(), ()>(())), Ok(()));
        assert_eq!(
            map_each(vec!["a", "b"], |i, item| item.repeat(i + 1)),
            ["a", "bb"]
        );
        let mut values = vec![0.0; 10];
        for_chunks(&mut values, 3, &|index, piece| piece.fill(index as f32));
        assert_eq!(values, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
        let mut values = vec![0; 3000];
        for_rows(&mut values, 3, |i, row| row.fill(i));
        assert_eq!(values, (0..3000).map(|at| at / 3).collect::<Vec<_>>());
        for_rows(&mut [0; 0], 3, |_, _| unreachable!("there are no rows"));
    }

    /// The first error in the order of the items, even where a later one comes first in time.
    #[test]
    fn the_first_error_in_order_is_returned() {
        let late = AtomicUsize::new(0);
        let work = |i: usize, _: ()| {
            if i == 70 {
                late.store(1, Ordering::SeqCst);
                return Err(i);
            }
            if i == 3 {
                // Another thread, if there is one, comes to the other by then.
                for _ in 0..1000 {
                    if late.load(Ordering::SeqCst) == 1 {
                        break;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                return Err(i);
            }
            Ok(())
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build();
        let found = pool
            .expect("threads")
            .install(|| try_each(vec![(); 100], &work));
        assert_eq!(found, Err(3));
    }
}
