//! Edges drawn row by row.

use std::ops::Range;

/// Edges as pairs of node indices.
pub type Edges = Vec<(u32, u32)>;

/// Edges a chunk has, about.
pub(super) const CHUNK: u64 = 1 << 15;
/// The edges that every row of a range adds, in order.
pub(super) fn each_row(rows: Range<u32>, mut row: impl FnMut(u32, &mut Edges)) -> Edges {
    let mut out = Vec::new();
    rows.for_each(|u| row(u, &mut out));
    out
}
