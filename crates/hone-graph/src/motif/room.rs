//! How much memory exact counting takes.

use crate::sparse::Pattern;

/// Bytes per slot that exact counting takes at its peak on graphs with few triangles; with many it is up to three times
/// that.
pub const COUNTING: u64 = 20;
/// Bytes per stored position that exact counting takes at most.
pub const COUNTING_AT_MOST: u64 = 60;
/// Edges that are examined to estimate how many are in triangles.
const SEEN: usize = 4096;
/// Neighbours that are examined per edge; an edge with more is assumed to be in a triangle.
const LOOKED_AT: usize = 1000;

/// Bytes that exact counting takes at its peak, at most, on a symmetric pattern: by the share of edges in triangles, as
/// evenly spaced edges show it, and three standard errors more. Cost: at most 4096 · 1000 searches.
pub fn counting_at_most(pattern: &Pattern) -> u64 {
    let step = pattern.nnz().div_ceil(SEEN).max(1);
    let (mut seen, mut inside) = (0u64, 0u64);
    for i in 0..pattern.rows() {
        let slots = pattern.range(i);
        let mut slot = slots.start.next_multiple_of(step);
        while slot < slots.end {
            seen += 1;
            inside += u64::from(may_be_in_triangle(
                pattern,
                i,
                pattern.row(i)[slot - slots.start] as usize,
            ));
            slot += step;
        }
    }
    let share = inside as f64 / seen.max(1) as f64;
    let error = if step == 1 {
        0.0
    } else {
        1.5 / (seen as f64).sqrt()
    };
    let more = (COUNTING_AT_MOST - COUNTING) as f64 * (share + error).min(1.0);
    ((COUNTING as f64 + more) * pattern.nnz() as f64) as u64
}

fn may_be_in_triangle(pattern: &Pattern, u: usize, v: usize) -> bool {
    let (u, v) = (pattern.row(u), pattern.row(v));
    let (few, many) = if u.len() <= v.len() { (u, v) } else { (v, u) };
    few.len() > LOOKED_AT || few.iter().any(|node| many.binary_search(node).is_ok())
}
