//! How much memory counting motifs takes, and how much of it is kept afterwards.

use super::work::{FLOAT, Work};
use crate::motif::{COUNTING, COUNTING_AT_MOST, Sample, counting_at_most};

/// Freed bytes that the allocator keeps; beyond this, some are returned to the system.
const KEPT: u64 = 64 << 20;

impl Work<'_> {
    /// Lower bound of the bytes in use once motifs are counted: the allocator keeps small amounts freed by counting,
    /// and the narrowest counts have two bytes. Counting takes most of its maximum, given the triangles of the graph:
    /// 92 % on R-MAT.
    pub(super) fn counted_at_least(&self) -> u64 {
        let peak = if self.graph.is_directed() {
            self.counting()
        } else {
            self.counted_at_most() / 8 * 7
        };
        if peak <= KEPT { peak } else { 2 * self.slots() }
    }

    /// More than is ever in use once motifs are counted.
    pub(super) fn counted_beyond(&self) -> u64 {
        COUNTING_AT_MOST * self.slots()
    }

    /// Minimum bytes that counting motifs exactly takes.
    pub(super) fn counting(&self) -> u64 {
        COUNTING * self.slots()
    }

    /// Maximum bytes in use once motifs are counted: the counts, and what the allocator keeps.
    pub(super) fn counted_at_most(&self) -> u64 {
        match self.config.sample {
            Sample::Exact if !self.graph.is_directed() => counting_at_most(self.graph.pattern()),
            _ => COUNTING_AT_MOST * self.slots(),
        }
    }

    /// Maximum bytes of the row numbers of all parts.
    pub(super) fn row_numbers(&self) -> u64 {
        self.graph.nodes() as u64 * self.parts() * FLOAT
    }

    /// Positions at which motifs are counted.
    fn slots(&self) -> u64 {
        let both_ways = if self.graph.is_directed() { 2 } else { 1 };
        both_ways * self.graph.pattern().nnz() as u64
    }
}
