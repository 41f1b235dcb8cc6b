//! Sparse matrices and diagonals kept on a device.
//!
//! Patterns, values and diagonals are shared by reference count, and are copied to the device when first multiplied.
//! The copy is identified by the address of the original, and kept as long as the original is in use: a weak reference
//! prevents the address from being reused, so that it always stands for the same numbers. Copies no longer in use are
//! dropped at the next look-up. All W_t share the pattern of their graph, all steps of a motif its values.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use hone::sparse::{Csr, Diagonal, Pattern};

use crate::driver::{Driver, Memory};

/// Rows with more nonzeros are multiplied by a block of threads each.
pub(crate) const LONGEST: usize = 512;

/// The shared originals, and their copies.
type Copies<T, C> = Mutex<Vec<(Weak<T>, Arc<C>)>>;

/// Copies that a device has.
#[derive(Default)]
pub(crate) struct Resident {
    patterns: Copies<Pattern, Positions>,
    values: Copies<[f32], Memory<f32>>,
}

/// A pattern on the device.
pub(crate) struct Positions {
    pub(crate) offsets: Memory<usize>,
    pub(crate) columns: Memory<u32>,
    /// Rows with more than [`LONGEST`] nonzeros, and how many there are.
    pub(crate) long: (Memory<u32>, usize),
}

/// A sparse matrix on the device.
pub(crate) struct Matrix {
    pub(crate) positions: Arc<Positions>,
    pub(crate) values: Arc<Memory<f32>>,
}

impl Resident {
    pub(crate) fn matrix(&self, driver: &Driver, matrix: &Csr) -> Matrix {
        let positions = self.positions(driver, matrix.pattern());
        Matrix {
            positions,
            values: self.values(driver, matrix.shared_values()),
        }
    }

    /// The copy of a pattern.
    pub(crate) fn positions(&self, driver: &Driver, pattern: &Arc<Pattern>) -> Arc<Positions> {
        known(&self.patterns, pattern, |pattern| {
            Positions::of(driver, pattern)
        })
    }

    /// Records that the device has a pattern.
    pub(crate) fn remember(&self, pattern: &Arc<Pattern>, positions: &Arc<Positions>) {
        lock(&self.patterns).push((Arc::downgrade(pattern), positions.clone()));
    }

    pub(crate) fn diagonal(&self, driver: &Driver, diagonal: &Diagonal) -> Arc<Memory<f32>> {
        self.values(driver, diagonal.shared())
    }

    pub(crate) fn values(&self, driver: &Driver, values: &Arc<[f32]>) -> Arc<Memory<f32>> {
        known(&self.values, values, |values| driver.upload(values))
    }

    /// Drops the copies of what is no longer in use.
    pub(crate) fn forget_unused(&self) {
        lock(&self.patterns).retain(in_use);
        lock(&self.values).retain(in_use);
    }
}

impl Positions {
    fn of(driver: &Driver, pattern: &Pattern) -> Self {
        Positions::new(
            driver,
            pattern,
            driver.upload(pattern.offsets()),
            driver.upload(pattern.columns()),
        )
    }

    /// A pattern whose offsets and columns are on the device.
    pub(crate) fn new(
        driver: &Driver,
        pattern: &Pattern,
        offsets: Memory<usize>,
        columns: Memory<u32>,
    ) -> Self {
        let is_long = |i: &u32| pattern.range(*i as usize).len() > LONGEST;
        let long: Vec<u32> = (0..pattern.rows() as u32).filter(is_long).collect();
        Positions {
            offsets,
            columns,
            long: (driver.upload(&long), long.len()),
        }
    }
}

/// The copy of a shared original, created if there is none.
fn known<T: ?Sized, C>(all: &Copies<T, C>, of: &Arc<T>, make: impl FnOnce(&T) -> C) -> Arc<C> {
    let mut all = lock(all);
    all.retain(in_use);
    if let Some((_, copy)) = all
        .iter()
        .find(|(weak, _)| std::ptr::addr_eq(weak.as_ptr(), Arc::as_ptr(of)))
    {
        return copy.clone();
    }
    let copy = Arc::new(make(of));
    all.push((Arc::downgrade(of), copy.clone()));
    copy
}

fn in_use<T: ?Sized, C>(entry: &(Weak<T>, Arc<C>)) -> bool {
    entry.0.strong_count() > 0
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One copy for all sharers, another for equal numbers at another address, none when nobody is left.
    #[test]
    fn copies_are_known_by_what_they_are_of() {
        let all = Copies::default();
        let made = std::cell::Cell::new(0);
        let ask = |of: &Arc<[f32]>| {
            let copy = known(&all, of, |values| {
                made.set(made.get() + 1);
                values.to_vec()
            });
            (*copy).clone()
        };
        let first: Arc<[f32]> = vec![1.0, 2.0].into();
        let other: Arc<[f32]> = vec![1.0, 2.0].into();
        assert_eq!(
            (ask(&first), ask(&first.clone()), made.get()),
            (vec![1.0, 2.0], vec![1.0, 2.0], 1)
        );
        assert_eq!((ask(&other), made.get()), (vec![1.0, 2.0], 2));
        drop(first);
        assert_eq!(
            (ask(&other), made.get(), lock(&all).len()),
            (vec![1.0, 2.0], 2, 1)
        );
    }
}
