//! Triangles and 4-cliques that are made or destroyed: t, K, the triangles of nodes, and what Q and R gain at old
//! degrees and old t.
//!
//! What an added edge makes lies in the changed graph, what a removed edge destroys in the old one. With several changed
//! edges it is listed at the first of them. Cost for each change: the smaller row, and a search for each pair of common
//! neighbours. What t and Q gain is listed by edge, for few edges do; K and R have their place at every slot.

use std::num::Wrapping;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use super::changes::{Change, for_common, row};
use super::{Gains, Update};
use crate::error::Result;
use crate::motif::formula::Whole;
use crate::motif::ranked::{Marks, sweep};
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// What an edge of the changed graph gains by triangles that come or go, seen from one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EdgeGain {
    pub(super) u: u32,
    pub(super) v: u32,
    pub(super) t: Whole,
    pub(super) q: Whole,
}

/// What was found, and the nodes in it.
#[derive(Default)]
struct Gathered {
    grown: Vec<EdgeGain>,
    nodes: Vec<u32>,
}

/// All triangles that come or go.
pub(super) struct Triangles {
    /// From both ends, ascending; each edge once.
    pub(super) grown: Vec<EdgeGain>,
    /// Their nodes.
    pub(super) nodes: Marks,
}

/// A common neighbour of the ends {a, b} of a changed edge, and the places of its edges in the rows of a and b of
/// the changed graph.
struct Third {
    w: u32,
    to_a: Option<usize>,
    to_b: Option<usize>,
    /// 4-cliques with a, b and another common neighbour.
    cliques: u64,
}

/// Lists them all.
pub(super) fn list(
    update: &Update<'_>,
    gains: &Gains<'_>,
    progress: &dyn Progress,
) -> Result<Triangles> {
    let changes = &update.changes.list;
    let degree = |i: u32| update.old_row(i).len().max(update.row(i).len()) as u64;
    let parts = update.parts(|at| degree(changes[at].u).min(degree(changes[at].v)) + 64);
    let all = Mutex::new(Gathered::default());
    progress.stage("counting triangles", changes.len() as u64);
    sweep(parts, progress, Vec::new, |range, (), thirds| {
        let mut own = Gathered::default();
        for &change in &changes[range] {
            find_thirds(update, change, thirds);
            triangles(update, gains, change, thirds, &mut own);
            cliques(update, gains, change, thirds);
        }
        let mut all = all.lock().expect("no thread panics with the lock");
        all.grown.append(&mut own.grown);
        all.nodes.append(&mut own.nodes);
    })?;
    let Gathered { grown, nodes: list } = all.into_inner().expect("no thread panics with the lock");
    let mut nodes = Marks::new(update.new.rows());
    nodes.set(&list);
    Ok(Triangles {
        grown: added_up(grown),
        nodes,
    })
}

/// One entry for each edge and end, from some for each edge.
fn added_up(mut some: Vec<EdgeGain>) -> Vec<EdgeGain> {
    some.sort_unstable();
    let mut grown: Vec<EdgeGain> = Vec::new();
    for next in some {
        match grown
            .last_mut()
            .filter(|last| (last.u, last.v) == (next.u, next.v))
        {
            Some(last) => {
                last.t += next.t;
                last.q += next.q;
            }
            None => grown.push(next),
        }
    }
    for at in 0..grown.len() {
        let EdgeGain { u, v, t, q } = grown[at];
        grown.push(EdgeGain { u: v, v: u, t, q });
    }
    grown.sort_unstable();
    grown
}

/// The graph that what a change makes or destroys lies in.
fn graph_of<'a>(update: &Update<'a>, change: Change) -> &'a Pattern {
    if change.added { update.new } else { update.old }
}

/// Whether the edge between two nodes changes too, and comes before: then it lists what has both.
fn precedes(update: &Update<'_>, (a, b): (u32, u32), change: Change) -> bool {
    (a.min(b), a.max(b)) < (change.u, change.v) && update.changes.find(a, b) == Some(change.added)
}

/// The place in the changed graph of the edge at a place in a row of the graph of a change.
fn place(update: &Update<'_>, change: Change, u: u32, (at, w): (usize, u32)) -> Option<usize> {
    if change.added {
        Some(at)
    } else {
        update.changes.moved(u, at, w)
    }
}

fn find_thirds(update: &Update<'_>, change: Change, thirds: &mut Vec<Third>) {
    let (graph, a, b) = (graph_of(update, change), change.u, change.v);
    thirds.clear();
    for_common(row(graph, a), row(graph, b), |w, at_a, at_b| {
        if !precedes(update, (a, w), change) && !precedes(update, (b, w), change) {
            let (to_a, to_b) = (
                place(update, change, a, (at_a, w)),
                place(update, change, b, (at_b, w)),
            );
            thirds.push(Third {
                w,
                to_a,
                to_b,
                cliques: 0,
            });
        }
    });
}

fn triangles(
    update: &Update<'_>,
    gains: &Gains<'_>,
    change: Change,
    thirds: &[Third],
    found: &mut Gathered,
) {
    let (a, b, sign) = (change.u, change.v, change.sign());
    let own = update.find(a, b);
    let t = update.common_before(a, b);
    // The triangle at an edge whose third node has this degree, and whose other edges have this many common neighbours.
    let mut gain = |at: Option<usize>, (u, v): (u32, u32), degree: u64, t: u64| {
        if let Some(at) = at {
            gains.r.add(u, at, sign * Wrapping(t));
            found.grown.push(EdgeGain {
                u: u.min(v),
                v: u.max(v),
                t: sign,
                q: sign * Wrapping(degree),
            });
        }
    };
    for third in thirds {
        let w = third.w;
        let (to_a, to_b) = (update.common_before(a, w), update.common_before(b, w));
        gain(own, (a, b), update.degree(w), to_a + to_b);
        gain(third.to_a, (a, w), update.degree(b), t + to_b);
        gain(third.to_b, (b, w), update.degree(a), t + to_a);
        for node in [a, b, w] {
            update.triangles[node as usize].fetch_add(sign.0, Relaxed);
        }
    }
    if !thirds.is_empty() {
        found
            .nodes
            .extend([a, b].into_iter().chain(thirds.iter().map(|third| third.w)));
    }
}

fn cliques(update: &Update<'_>, gains: &Gains<'_>, change: Change, thirds: &mut [Third]) {
    let (graph, sign) = (graph_of(update, change), change.sign());
    let nodes: Vec<u32> = thirds.iter().map(|third| third.w).collect();
    let mut all = 0;
    for (first, &w) in nodes.iter().enumerate() {
        let rest = first + 1;
        gains.k.row(w, |row_of_w| {
            for_common(&nodes[rest..], row(graph, w), |x, second, at| {
                if !precedes(update, (w, x), change) {
                    thirds[first].cliques += 1;
                    thirds[rest + second].cliques += 1;
                    all += 1;
                    if let Some(at) = place(update, change, w, (at, x)) {
                        row_of_w[at] += sign;
                    }
                }
            });
        });
    }
    if let Some(own) = update.find(change.u, change.v) {
        gains.k.add(change.u, own, sign * Wrapping(all));
    }
    for third in thirds.iter() {
        for (node, at) in [(change.u, third.to_a), (change.v, third.to_b)] {
            at.into_iter()
                .for_each(|at| gains.k.add(node, at, sign * Wrapping(third.cliques)));
        }
    }
}

/// Steps after which marks are made again, so that threads share the edges of a hub.
const PIECE: usize = 1 << 20;

/// An edge whose t has grown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    /// The end of larger degree, and the other.
    x: u32,
    w: u32,
    by: Whole,
}

/// Adds what R gains where t has grown or shrunk: for each such edge {x, w} and each triangle {x, w, y} of the changed graph,
/// the growth of t goes to {x, y} and {w, y}.
///
/// The neighbours of the end of larger degree are marked, those of the other walked: Σ min(d_x, d_w) over such edges.
pub(super) fn add_rims(
    update: &Update<'_>,
    gains: &Gains<'_>,
    found: &Triangles,
    progress: &dyn Progress,
) -> Result<()> {
    let degree = |i: u32| update.row(i).len();
    let mut edges = Vec::new();
    for &EdgeGain { u, v, t, .. } in &found.grown {
        if u < v && t.0 != 0 {
            let (x, w) = if degree(u) >= degree(v) {
                (u, v)
            } else {
                (v, u)
            };
            edges.push(Edge { x, w, by: t });
        }
    }
    edges.sort_unstable();
    let pieces = pieces(&edges, degree);
    progress.stage("counting triangles of changed edges", edges.len() as u64);
    let scratch = || {
        (
            Marks::new(update.new.rows()),
            vec![Wrapping(0); update.new.rows()],
        )
    };
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
    sums: &mut [Whole],
) {
    let Some(&Edge { x, .. }) = edges.first() else {
        return;
    };
    let row = update.row(x);
    marks.set(row);
    for (at, &Edge { w, by, .. }) in edges.iter().enumerate() {
        if let Some(next) = edges.get(at + 1) {
            prefetch(update.row(next.w));
        }
        gains.r.row(w, |own| {
            for (&y, r) in update.row(w).iter().zip(own) {
                if marks.has(y) {
                    sums[y as usize] += by;
                    *r += by;
                }
            }
        });
    }
    marks.clear(row);
    gains.r.row(x, |own| {
        for (&y, r) in row.iter().zip(own) {
            *r += std::mem::take(&mut sums[y as usize]);
        }
    });
}
