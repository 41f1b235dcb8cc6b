//! What R gains where t has grown or shrunk: for each such edge {x, w} and each triangle {x, w, y} of the changed graph,
//! the growth of t goes to {x, y} and {w, y}.
//!
//! The neighbours of the end of larger degree are marked, those of the other walked: Σ min(d_x, d_w) over such edges.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::super::ranked::sweep;
use super::hubs::Marks;
use super::{Update, add};
use crate::error::Result;
use crate::progress::Progress;

/// Steps after which marks are made again, so that threads share the edges of a hub.
const PIECE: usize = 1 << 20;

/// An edge whose t has grown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Grown {
    /// The end of larger degree, and the other.
    x: u32,
    w: u32,
    by: u64,
}

/// Adds what the edges `grown` give, of which some may be as before.
pub(super) fn add_all(update: &Update<'_>, grown: Vec<(u32, u32)>, progress: &dyn Progress) -> Result<()> {
    let degree = |i: u32| update.new.row(i as usize).len();
    let mut edges: Vec<Grown> = Vec::new();
    for (a, b) in grown {
        let shares = update.gains_between(a, b).expect("an edge of the changed graph");
        let by = shares.iter().map(|share| share.t.load(Relaxed)).fold(0, u64::wrapping_add);
        let (x, w) = if degree(a) >= degree(b) { (a, b) } else { (b, a) };
        if by != 0 {
            edges.push(Grown { x, w, by });
        }
    }
    edges.sort_unstable();
    let pieces = pieces(&edges, degree);
    progress.stage("triangles of changed edges", edges.len() as u64);
    let scratch = || (Marks::new(update.new.rows()), vec![0u64; update.new.rows()]);
    sweep(pieces, progress, scratch, |range, (), (marks, sums)| of_hub(update, &edges[range], marks, sums))
}

/// Stretches of edges with the same x.
fn pieces(edges: &[Grown], degree: impl Fn(u32) -> usize) -> Vec<(Range<usize>, ())> {
    let (mut pieces, mut start, mut steps) = (Vec::new(), 0, 0);
    for (at, edge) in edges.iter().enumerate() {
        if at > start && (edge.x != edges[start].x || steps > PIECE) {
            pieces.push((start..at, ()));
            (start, steps) = (at, 0);
        }
        steps += degree(edge.w);
    }
    if start < edges.len() {
        pieces.push((start..edges.len(), ()));
    }
    pieces
}

/// Edges of one node x; `sums` is zero before and after.
fn of_hub(update: &Update<'_>, edges: &[Grown], marks: &mut Marks, sums: &mut [u64]) {
    let Some(&Grown { x, .. }) = edges.first() else { return };
    let row = update.new.row(x as usize);
    marks.set(row);
    for &Grown { w, by, .. } in edges {
        for (at, &y) in update.new.row(w as usize).iter().enumerate() {
            if marks.has(y) {
                sums[y as usize] = sums[y as usize].wrapping_add(by);
                add(&update.gain(w, at).r, by);
            }
        }
    }
    marks.clear(row);
    for (at, &y) in row.iter().enumerate() {
        add(&update.gain(x, at).r, std::mem::take(&mut sums[y as usize]));
    }
}
