//! What edges of the changed graph gain: sums in progress, and final sums.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::striped::Striped;

/// What edges of the changed graph gain, modulo 2⁶⁴, in two shares: one at each slot of an edge, so that additions
/// along a row are in memory order.
pub(super) struct Gains<'a> {
    /// C by walks from changed edges: in rows of D alone.
    pub(super) c: Striped<'a>,
    /// K and R: in rows of nodes of triangles that come or go alone.
    pub(super) k: Striped<'a>,
    pub(super) r: Striped<'a>,
}

/// The same, summed.
#[derive(Clone, Copy)]
pub(super) struct Sums<'a> {
    pub(super) c: &'a [u64],
    pub(super) k: &'a [u64],
    pub(super) r: &'a [u64],
    /// C and Q by neighbours in D, two numbers in one, at one of the slots (`middle`).
    pub(super) middle: &'a [u64],
}

/// Adds modulo 2⁶⁴.
#[inline]
pub(super) fn add(sum: &AtomicU64, value: u64) {
    if value != 0 {
        sum.fetch_add(value, Relaxed);
    }
}
