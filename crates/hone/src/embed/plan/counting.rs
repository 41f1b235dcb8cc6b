//! How much memory counting motifs takes, and what is held of it afterwards.

use super::work::{FLOAT, Work};
use crate::motif::{COUNTING, COUNTING_AT_MOST, Sample, counting_at_most};

/// Bytes that the allocator keeps when they are freed; of more, some go back to the system.
const KEPT: u64 = 64 << 20;

impl Work<'_> {
    /// Bytes that are held once motifs are counted, at least: the allocator keeps what few bytes counting gives back, and
    /// the narrowest counts have two bytes. Of what counting can take at most, by the triangles of the graph, it takes most:
    /// 92 % on R-MAT.
    pub(super) fn counted_at_least(&self) -> u64 {
        let peak = if self.graph.is_directed() { self.counting() } else { self.counted_at_most() / 8 * 7 };
        if peak <= KEPT { peak } else { 2 * self.slots() }
    }

    /// More than is ever held once motifs are counted.
    pub(super) fn counted_beyond(&self) -> u64 {
        COUNTING_AT_MOST * self.slots()
    }

    /// Bytes that counting motifs exactly takes, at least.
    pub(super) fn counting(&self) -> u64 {
        COUNTING * self.slots()
    }

    /// Bytes that may be held once motifs are counted, at most: the counts, and what the allocator keeps.
    pub(super) fn counted_at_most(&self) -> u64 {
        match self.config.sample {
            Sample::Exact if !self.graph.is_directed() => counting_at_most(self.graph.pattern()),
            _ => COUNTING_AT_MOST * self.slots(),
        }
    }

    /// Bytes of the row numbers of all parts, at most.
    pub(super) fn row_numbers(&self) -> u64 {
        self.graph.nodes() as u64 * self.parts() * FLOAT
    }

    /// Positions that motifs are counted at.
    fn slots(&self) -> u64 {
        let both_ways = if self.graph.is_directed() { 2 } else { 1 };
        both_ways * self.graph.pattern().nnz() as u64
    }
}
