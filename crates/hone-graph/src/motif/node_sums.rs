//! Sums of orbit counts over the edges of a node, without the counts of each edge.
//!
//! Orbit counts are linear in a few terms (`formula`), so their sums over the edges of a node follow from sums of these terms,
//! which need no products of edges: d, T and S of the neighbours, and t, C, K, Q and R of the edges, added up.
//! Cost: O(M), and few additions for each edge.

use std::num::Wrapping;

use super::counts::{Counts, Values};
use super::exact::Exact;
use super::formula::{Bounds, End, Exact as Whole, Middle, Number, node_sums};
use super::orbit::Orbit;
use crate::sparse::Pattern;

/// Sums of orbit counts, node by node.
pub struct NodeSums<'a> {
    counts: &'a Counts,
    exact: Option<&'a Exact>,
    bounds: Bounds,
}

impl Counts {
    /// Triangles of each node, where counts are exact.
    pub fn triangles(&self) -> Option<Vec<u64>> {
        let Values::Exact(exact) = self.values() else {
            return None;
        };
        Some(
            (0..exact.triangles.len())
                .map(|i| exact.triangles.get(i))
                .collect(),
        )
    }
}

impl<'a> NodeSums<'a> {
    /// Sums over the edges of each node of these counts.
    pub fn new(counts: &'a Counts) -> NodeSums<'a> {
        let exact = match counts.values() {
            Values::Exact(exact) => Some(&**exact),
            _ => None,
        };
        NodeSums {
            counts,
            exact,
            bounds: Bounds::of(counts.pattern()),
        }
    }

    /// The sum over the edges of node `i` of each orbit's count, with the same bits as adding f64 values one by one.
    pub fn of(&self, i: usize) -> [f64; Orbit::COUNT] {
        let pattern = self.counts.pattern();
        match self.exact {
            Some(exact) if self.bounds.are_whole(pattern.range(i).len()) => {
                whole(pattern, exact, i).map(|sum| sum.0 as f64)
            }
            _ => self.one_by_one(i),
        }
    }

    fn one_by_one(&self, i: usize) -> [f64; Orbit::COUNT] {
        let mut sums = [0.0; Orbit::COUNT];
        for (_, orbits) in self.counts.row(i as u32) {
            sums.iter_mut()
                .zip(orbits)
                .for_each(|(sum, count)| *sum += count as f64);
        }
        sums
    }
}

/// The sums modulo 2⁶⁴.
fn whole(pattern: &Pattern, exact: &Exact, i: usize) -> [Whole; Orbit::COUNT] {
    let row = pattern.row(i);
    if row.is_empty() {
        return [Wrapping(0); Orbit::COUNT];
    }
    let end = |j: usize| End {
        d: Wrapping(exact.d.get(j)),
        triangles: Wrapping(exact.triangles.get(j)),
        s: Wrapping(exact.s.get(j)),
    };
    node_sums(row, end(i), end, edges(exact, i, pattern.range(i)))
}

/// The sums of the numbers of edges.
fn edges(exact: &Exact, i: usize, slots: std::ops::Range<usize>) -> Middle<Whole> {
    let zero = Wrapping(0);
    let c = slots.clone().map(|slot| Wrapping(exact.c.get(slot))).sum();
    let mut sum = Middle {
        t: zero,
        p: zero,
        c,
        k: zero,
        q: zero,
        r: zero,
    };
    if exact.triangles.get(i) == 0 {
        return sum;
    }
    let mut at = exact
        .rank
        .below(slots.start, |range| exact.t.nonzeros(range));
    for slot in slots {
        let t = Wrapping(exact.t.get(slot));
        if t > zero {
            sum.t += t;
            sum.p += t.pairs();
            sum.k += exact.k.get(at);
            sum.q += exact.q.get(at);
            sum.r += exact.r.get(at);
            at += 1;
        }
    }
    sum
}
