//! What R gains where t has grown or shrunk: for each such edge {x, w} and each triangle {x, w, y} of the changed graph,
//! the growth of t goes to {x, y} and {w, y}.
//!
//! The neighbours of the end of larger degree are marked, those of the other walked: Σ min(d_x, d_w) over such edges.

use std::ops::Range;

use super::super::ranked::sweep;
use super::gains::Gains;
use super::hubs::Marks;
use super::triangles::Found;
use super::under_way::Update;
use crate::error::Result;
use crate::progress::Progress;
use crate::sparse::prefetch;

/// Steps after which marks are made again, so that threads share the edges of a hub.
const PIECE: usize = 1 << 20;

/// An edge whose t has grown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    /// The end of larger degree, and the other.
    x: u32,
    w: u32,
    by: u64,
}

/// Adds what edges give whose t has grown.
pub(super) fn add_all(
    update: &Update<'_>,
    gains: &Gains<'_>,
    found: &Found,
    progress: &dyn Progress,
) -> Result<()> {
    let degree = |i: u32| update.new.row(i as usize).len();
    let grown = found
        .grown
        .iter()
        .filter(|edge| edge.u < edge.v && edge.t != 0);
    let mut edges: Vec<Edge> = grown
        .map(|edge| {
            let (x, w) = if degree(edge.u) >= degree(edge.v) {
                (edge.u, edge.v)
            } else {
                (edge.v, edge.u)
            };
            Edge { x, w, by: edge.t }
        })
        .collect();
    edges.sort_unstable();
    let pieces = pieces(&edges, degree);
    progress.stage("counting triangles of changed edges", edges.len() as u64);
    let scratch = || (Marks::new(update.new.rows()), vec![0u64; update.new.rows()]);
    sweep(pieces, progress, scratch, |range, (), (marks, sums)| {
        of_hub(update, gains, &edges[range], marks, sums);
    })
}

/// Stretches of edges with the same x.
fn pieces(edges: &[Edge], degree: impl Fn(u32) -> usize) -> Vec<(Range<usize>, ())> {
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
fn of_hub(
    update: &Update<'_>,
    gains: &Gains<'_>,
    edges: &[Edge],
    marks: &mut Marks,
    sums: &mut [u64],
) {
    let Some(&Edge { x, .. }) = edges.first() else {
        return;
    };
    let row = update.new.row(x as usize);
    marks.set(row);
    for (at, &Edge { w, by, .. }) in edges.iter().enumerate() {
        if let Some(next) = edges.get(at + 1) {
            prefetch(update.new.row(next.w as usize));
        }
        gains.r.row(w, |own| {
            for (&y, r) in update.new.row(w as usize).iter().zip(own) {
                if marks.has(y) {
                    sums[y as usize] = sums[y as usize].wrapping_add(by);
                    *r = r.wrapping_add(by);
                }
            }
        });
    }
    marks.clear(row);
    gains.r.row(x, |own| {
        row.iter()
            .zip(own)
            .for_each(|(&y, r)| *r = r.wrapping_add(std::mem::take(&mut sums[y as usize])));
    });
}
