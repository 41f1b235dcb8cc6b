//! Parallel loops that are compiled once, whatever they do.
//!
//! A parallel iterator is generic in all that it calls: each use compiles the whole machinery of work stealing anew, about a
//! thousand lines. These loops call a closure behind a pointer, once per piece of work. They are for pieces that are not small.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Calls `work` with each of `0..count`, in parallel.
pub fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// What `work` gives for each of `0..count`, in order, found in parallel.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(count, &|i| {
        let found = work(i);
        *slots[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    });
    let value = |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots.into_iter().map(|slot| value(slot).expect("every piece was worked on")).collect()
}

/// Cuts `values` into pieces of `length` and changes each, given its number, in parallel.
pub fn for_chunks(values: &mut [f32], length: usize, change: &(dyn Fn(usize, &mut [f32]) + Sync)) {
    values.par_chunks_mut(length).enumerate().for_each(|(index, piece)| change(index, piece));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        assert_eq!(map(1000, |i| i * i), (0..1000).map(|i| i * i).collect::<Vec<_>>());
        assert!(map(0, |i| i).is_empty());
        let mut values = vec![0.0; 10];
        for_chunks(&mut values, 3, &|index, piece| piece.fill(index as f32));
        assert_eq!(values, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
    }
}
