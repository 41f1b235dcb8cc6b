//! [`Update`]: an update in progress: the graph before and after, and the changes.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use super::super::exact::Exact;
use super::super::ranked::{balanced, ranges};
use super::changes::{Changes, range, row};
use super::effort::{is_light, is_more_than_counting};
use super::turned::turned;
use crate::sparse::Pattern;

/// An update in progress.
pub(super) struct Update<'a> {
    pub(super) old: &'a Pattern,
    pub(super) new: &'a Pattern,
    /// What was counted before.
    pub(super) exact: &'a Exact,
    pub(super) changes: Changes,
    /// For each slot of the changed graph that of the same edge in the other row.
    pub(super) back: Vec<u32>,
    /// Triangles that nodes gain.
    pub(super) triangles: Vec<AtomicU64>,
}

impl<'a> Update<'a> {
    /// Nothing if counting again is less work, or there are too many edges or changes to number.
    pub(super) fn new(
        old: &'a Pattern,
        new: &'a Pattern,
        exact: &'a Exact,
        changes: Changes,
    ) -> Option<Update<'a>> {
        if changes.list.len() >= 1 << 30 || is_light(new) || is_more_than_counting(new, &changes) {
            return None;
        }
        u32::try_from(new.nnz()).ok()?;
        let triangles = (0..new.rows()).map(|_| AtomicU64::new(0)).collect();
        Some(Update {
            old,
            new,
            exact,
            changes,
            back: turned(new),
            triangles,
        })
    }

    /// The place of the edge between two nodes in the row of the first, if there is one.
    pub(super) fn find(&self, u: u32, v: u32) -> Option<usize> {
        self.new.row(u as usize).binary_search(&v).ok()
    }

    /// Degree before.
    pub(super) fn degree(&self, i: u32) -> u64 {
        row(self.old, i).len() as u64
    }

    /// Common neighbours of the ends of an edge before; none for an edge that was not there.
    pub(super) fn common_before(&self, u: u32, v: u32) -> u64 {
        let slots = range(self.old, u as usize);
        row(self.old, u)
            .binary_search(&v)
            .map_or(0, |at| self.exact.t.get(slots.start + at))
    }

    /// Divides the changes into parts of about equal work.
    pub(super) fn parts(&self, work: impl Fn(usize) -> u64) -> Vec<(Range<usize>, ())> {
        let bounds = balanced(self.changes.list.len(), 1 << 16, work);
        ranges(&bounds).map(|range| (range, ())).collect()
    }
}
