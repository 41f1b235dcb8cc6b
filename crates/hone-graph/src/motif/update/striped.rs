//! [`Striped`]: one number per slot that any thread may add to, row by row.
//!
//! The lock of a stripe of rows is taken once per row, followed by plain additions. Atomic additions would each wait
//! for memory, and with values scattered over rows that are not in a cache, a thread would do nothing else.

use std::sync::Mutex;

use super::super::column::cut;
use crate::sparse::Pattern;

/// Rows of a stripe.
const ROWS: usize = 64;

pub(super) struct Striped<'a> {
    pattern: &'a Pattern,
    parts: Vec<Mutex<&'a mut [u64]>>,
}

impl<'a> Striped<'a> {
    /// `values` has one for each slot.
    pub(super) fn new(pattern: &'a Pattern, values: &'a mut [u64]) -> Striped<'a> {
        let rows = pattern.rows();
        let bounds: Vec<usize> = (0..rows)
            .step_by(ROWS)
            .chain([rows])
            .map(|i| pattern.offsets()[i])
            .collect();
        Striped {
            pattern,
            parts: cut(values, &bounds).into_iter().map(Mutex::new).collect(),
        }
    }

    /// Passes the values of a row to a function.
    #[inline]
    pub(super) fn row<T>(&self, i: u32, change: impl FnOnce(&mut [u64]) -> T) -> T {
        let i = i as usize;
        let mut part = self.parts[i / ROWS]
            .lock()
            .expect("no thread panics with the lock");
        let (first, range) = (
            self.pattern.offsets()[i / ROWS * ROWS],
            self.pattern.range(i),
        );
        change(&mut part[range.start - first..range.end - first])
    }

    /// Adds to the value at a place in a row, modulo 2⁶⁴.
    pub(super) fn add(&self, i: u32, at: usize, value: u64) {
        if value != 0 {
            self.row(i, |row| row[at] = row[at].wrapping_add(value));
        }
    }
}
