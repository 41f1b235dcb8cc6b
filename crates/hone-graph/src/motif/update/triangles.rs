//! Triangles and 4-cliques that are made or destroyed: t and K, and what Q and R gain at old degrees and old t.
//!
//! What an added edge makes lies in the changed graph, what a removed edge destroys in the old one. With several changed
//! edges it is found at the first of them. Cost for each change: the smaller row, and a search for each pair of common
//! neighbours. What edges of these triangles gain is listed by edge, for few edges do; other gains have a place at every slot.

use std::num::Wrapping;
use std::ops::Range;
use std::sync::Mutex;

use super::changes::{Change, sign};
use super::{Gains, K, R, Update};
use crate::error::Result;
use crate::motif::formula::Whole;
use crate::motif::ranked::{Marks, for_common, sweep};
use crate::progress::Progress;
use crate::sparse::prefetch;

/// What an edge of the changed graph gains by triangles that come or go, seen from one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeGain {
    pub(super) u: u32,
    pub(super) v: u32,
    pub(super) t: Whole,
    pub(super) k: Whole,
    pub(super) q: Whole,
    pub(super) r: Whole,
}

/// What all edges of triangles that come or go gain, each from both ends, ascending.
pub(super) fn list(
    update: &Update<'_>,
    gains: &Gains<'_>,
    progress: &dyn Progress,
) -> Result<Vec<EdgeGain>> {
    let changes = &update.changes.list;
    let degree = |i: u32| update.old_row(i).len().max(update.row(i).len()) as u64;
    let parts = update.parts(|at| degree(changes[at].u).min(degree(changes[at].v)) + 64);
    let all = Mutex::new(Vec::new());
    progress.stage("counting triangles", changes.len() as u64);
    sweep(parts, progress, Vec::new, |range, (), found| {
        for &change in &changes[range] {
            of_change(update, gains, change, found);
        }
        let mut all = all.lock().expect("no thread panics with the lock");
        all.append(found);
    })?;
    let all = all.into_inner().expect("no thread panics with the lock");
    Ok(added_up(all))
}

/// One entry for each edge and end, from some for each edge.
fn added_up(mut some: Vec<EdgeGain>) -> Vec<EdgeGain> {
    some.sort_unstable_by_key(|edge| (edge.u, edge.v));
    some.dedup_by(|next, sum| {
        let same = (next.u, next.v) == (sum.u, sum.v);
        if same {
            sum.t += next.t;
            sum.k += next.k;
            sum.q += next.q;
            sum.r += next.r;
        }
        same
    });
    let turned = |edge: &EdgeGain| EdgeGain {
        u: edge.v,
        v: edge.u,
        ..*edge
    };
    let turned: Vec<EdgeGain> = some.iter().map(turned).collect();
    some.extend(turned);
    some.sort_unstable_by_key(|edge| (edge.u, edge.v));
    some
}

/// Triangles and 4-cliques with an edge {a, b} that changes, and with no earlier one that changes alike.
fn of_change(update: &Update<'_>, gains: &Gains<'_>, change: Change, found: &mut Vec<EdgeGain>) {
    let Change { u: a, v: b, added } = change;
    let (graph, sign) = (if added { update.new } else { update.old }, sign(added));
    let earlier =
        |i: u32, j: u32| (i.min(j), i.max(j)) < (a, b) && update.changes.find(i, j) == Some(added);
    let mut thirds = Vec::new();
    for_common(graph.row(a as usize), graph.row(b as usize), |w, _, _| {
        if !earlier(a, w) && !earlier(b, w) {
            thirds.push(w);
        }
    });
    if thirds.is_empty() {
        return;
    }
    // 4-cliques with each of these.
    let mut cliques = vec![0u64; thirds.len()];
    for (first, &w) in thirds.iter().enumerate() {
        let rest = first + 1;
        gains.row(w, |row_of_w| {
            for_common(&thirds[rest..], graph.row(w as usize), |x, second, at| {
                if !earlier(w, x) {
                    cliques[first] += 1;
                    cliques[rest + second] += 1;
                    let at = if added { Some(at) } else { update.find(w, x) };
                    at.into_iter().for_each(|at| row_of_w[at][K] += sign);
                }
            });
        });
    }
    // Edges that are removed too gain nothing.
    let mut gain = |i: u32, j: u32, [t, k, q, r]: [u64; 4]| {
        if added || update.changes.find(i, j).is_none() {
            let (u, v) = (i.min(j), i.max(j));
            let [t, k, q, r] = [t, k, q, r].map(|value| sign * Wrapping(value));
            found.push(EdgeGain { u, v, t, k, q, r });
        }
    };
    let degree = |i: u32| update.old_row(i).len() as u64;
    let (t_ab, mut own) = (update.common_before(a, b), [0; 4]);
    for (&w, &k) in thirds.iter().zip(&cliques) {
        let (t_aw, t_bw) = (update.common_before(a, w), update.common_before(b, w));
        gain(a, w, [1, k, degree(b), t_ab + t_bw]);
        gain(b, w, [1, k, degree(a), t_ab + t_aw]);
        let more = [1, k, degree(w), t_aw + t_bw];
        own.iter_mut()
            .zip(more)
            .for_each(|(sum, more)| *sum += more);
    }
    // Each clique was met from two thirds.
    own[1] /= 2;
    gain(a, b, own);
}

/// Steps after which marks are made again, so that threads share the edges of a hub.
const PIECE: usize = 1 << 20;

/// Adds what R gains where t has grown or shrunk: for each such edge {x, w} and each triangle {x, w, y} of the changed graph,
/// the growth of t goes to {x, y} and {w, y}.
///
/// The neighbours of the end of larger degree are marked, those of the other walked: Σ min(d_x, d_w) over such edges.
pub(super) fn add_rims(
    update: &Update<'_>,
    gains: &Gains<'_>,
    grown: &[EdgeGain],
    progress: &dyn Progress,
) -> Result<()> {
    let degree = |i: u32| update.row(i).len();
    // Seen from either end: one of them is the larger.
    let larger_first = |edge: &&EdgeGain| (degree(edge.u), edge.u) > (degree(edge.v), edge.v);
    let grown = grown
        .iter()
        .filter(|edge| edge.t.0 != 0)
        .filter(larger_first);
    let edges: Vec<EdgeGain> = grown.copied().collect();
    let mut steps = 0;
    let mut piece = |a: &EdgeGain, b: &EdgeGain| {
        let whole = a.u != b.u || steps > PIECE;
        steps = if whole { 0 } else { steps + degree(b.v) };
        !whole
    };
    let mut pieces: Vec<(Range<usize>, ())> = Vec::new();
    for some in edges.chunk_by(&mut piece) {
        let start = pieces.last().map_or(0, |piece| piece.0.end);
        pieces.push((start..start + some.len(), ()));
    }
    progress.stage("counting triangles of changed edges", edges.len() as u64);
    let n = update.new.rows();
    let scratch = || (Marks::new(n), vec![Wrapping(0); n]);
    sweep(pieces, progress, scratch, |range, (), (marks, sums)| {
        of_hub(update, gains, &edges[range], marks, sums);
    })
}

/// Edges of one hub; `sums` is zero before and after.
fn of_hub(
    update: &Update<'_>,
    gains: &Gains<'_>,
    edges: &[EdgeGain],
    marks: &mut Marks,
    sums: &mut [Whole],
) {
    let hub = edges[0].u;
    let row = update.row(hub);
    marks.set(row);
    for (at, &EdgeGain { v: w, t: by, .. }) in edges.iter().enumerate() {
        if let Some(next) = edges.get(at + 1) {
            prefetch(update.row(next.v));
        }
        gains.row(w, |own| {
            for (&y, gain) in update.row(w).iter().zip(own) {
                if marks.has(y) {
                    sums[y as usize] += by;
                    gain[R] += by;
                }
            }
        });
    }
    marks.clear(row);
    gains.row(hub, |own| {
        for (&y, gain) in row.iter().zip(own) {
            gain[R] += std::mem::take(&mut sums[y as usize]);
        }
    });
}
