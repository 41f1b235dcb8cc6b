//! Triangles and 4-cliques that are made or destroyed: t, K, the triangles of nodes, and what Q and R gain at old
//! degrees and old t.
//!
//! What an added edge makes lies in the changed graph, what a removed edge destroys in the old one. With several changed
//! edges it is listed at the first of them. Cost for each change: the smaller row, and a search for each pair of common
//! neighbours.

use std::sync::Mutex;

use super::super::ranked::sweep;
use super::changes::{Change, for_common, row};
use super::{Gain, Update, add};
use crate::error::Result;
use crate::progress::Progress;
use crate::sparse::Pattern;

/// A common neighbour of the ends {a, b} of a changed edge, and its edges in the changed graph.
struct Third<'a> {
    w: u32,
    to_a: Option<&'a Gain>,
    to_b: Option<&'a Gain>,
    /// 4-cliques with a, b and another common neighbour.
    cliques: u64,
}

/// Lists them all; returns the edges of the changed graph whose t may have changed, from their smaller nodes.
pub(super) fn list(update: &Update<'_>, progress: &dyn Progress) -> Result<Vec<(u32, u32)>> {
    let changes = &update.changes.list;
    let degree = |i: u32| row(update.old, i).len().max(update.new.row(i as usize).len()) as u64;
    let parts = update.parts(|at| degree(changes[at].u).min(degree(changes[at].v)) + 64);
    let grown = Mutex::new(Vec::new());
    progress.stage("triangles", changes.len() as u64);
    sweep(parts, progress, Vec::new, |range, (), thirds| {
        let mut own = Vec::new();
        for &change in &changes[range] {
            find_thirds(update, change, thirds);
            triangles(update, change, thirds, &mut own);
            cliques(update, change, thirds);
        }
        grown.lock().expect("no thread panics with the lock").append(&mut own);
    })?;
    let mut grown = grown.into_inner().expect("no thread panics with the lock");
    grown.sort_unstable();
    grown.dedup();
    Ok(grown)
}

/// The graph that what a change makes or destroys lies in.
fn graph_of<'a>(update: &Update<'a>, change: Change) -> &'a Pattern {
    if change.added { update.new } else { update.old }
}

/// Whether the edge between two nodes changes too, and comes before: then it lists what has both.
fn precedes(update: &Update<'_>, (a, b): (u32, u32), change: Change) -> bool {
    (a.min(b), a.max(b)) < (change.u, change.v) && update.changes.find(a, b) == Some(change.added)
}

/// The edge at a place in a row of the graph of a change, in the changed graph.
fn gain<'a>(update: &'a Update<'_>, change: Change, u: u32, (at, w): (usize, u32)) -> Option<&'a Gain> {
    let at = if change.added { Some(at) } else { update.changes.moved(u, at, w) };
    at.map(|at| update.gain(u, at))
}

fn find_thirds<'a>(update: &'a Update<'_>, change: Change, thirds: &mut Vec<Third<'a>>) {
    let (graph, a, b) = (graph_of(update, change), change.u, change.v);
    thirds.clear();
    for_common(row(graph, a), row(graph, b), |w, at_a, at_b| {
        if !precedes(update, (a, w), change) && !precedes(update, (b, w), change) {
            let (to_a, to_b) = (gain(update, change, a, (at_a, w)), gain(update, change, b, (at_b, w)));
            thirds.push(Third { w, to_a, to_b, cliques: 0 });
        }
    });
}

fn triangles(update: &Update<'_>, change: Change, thirds: &[Third<'_>], grown: &mut Vec<(u32, u32)>) {
    let (a, b, sign) = (change.u, change.v, change.sign());
    let own = update.gains_between(a, b).map(|[own, _]| own);
    let t = update.common_before(a, b);
    // The triangle at an edge whose third node has this degree, and whose other edges have so many common neighbours.
    let gain = |edge: Option<&Gain>, degree: u64, t: u64| {
        if let Some(edge) = edge {
            add(&edge.t, sign);
            add(&edge.q, sign.wrapping_mul(degree));
            add(&edge.r, sign.wrapping_mul(t));
        }
    };
    for third in thirds {
        let w = third.w;
        let (to_a, to_b) = (update.common_before(a, w), update.common_before(b, w));
        gain(own, update.degree(w), to_a + to_b);
        gain(third.to_a, update.degree(b), t + to_b);
        gain(third.to_b, update.degree(a), t + to_a);
        [a, b, w].iter().for_each(|&node| add(&update.triangles[node as usize], sign));
        grown.extend(third.to_a.map(|_| (a.min(w), a.max(w))));
        grown.extend(third.to_b.map(|_| (b.min(w), b.max(w))));
    }
    if own.is_some() && !thirds.is_empty() {
        grown.push((a, b));
    }
}

fn cliques(update: &Update<'_>, change: Change, thirds: &mut [Third<'_>]) {
    let (graph, sign) = (graph_of(update, change), change.sign());
    let nodes: Vec<u32> = thirds.iter().map(|third| third.w).collect();
    let mut all = 0;
    for (first, &w) in nodes.iter().enumerate() {
        let rest = first + 1;
        for_common(&nodes[rest..], row(graph, w), |x, second, at| {
            if !precedes(update, (w, x), change) {
                thirds[first].cliques += 1;
                thirds[rest + second].cliques += 1;
                all += 1;
                if let Some(across) = gain(update, change, w, (at, x)) {
                    add(&across.k, sign);
                }
            }
        });
    }
    if let Some([own, _]) = update.gains_between(change.u, change.v) {
        add(&own.k, sign.wrapping_mul(all));
    }
    for third in thirds.iter() {
        for edge in [third.to_a, third.to_b].into_iter().flatten() {
            add(&edge.k, sign.wrapping_mul(third.cliques));
        }
    }
}
