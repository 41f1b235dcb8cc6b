//! Sums of orbit counts over the edges of a node, without the counts of each edge.
//!
//! Orbit counts are linear in a few terms (`formula`), so their sums over the edges of a node follow from sums of these
//! terms, which need no products of edges: with x = d − 1, Σ x_j, Σ x_j(x_j − 1)/2, Σ T_j and Σ S_j over the neighbours
//! j, and the sums of t, C, K, Q and R, where Σ_j t(i,j) d_j = Σ_j Q(i,j) since both add d_w for each triangle and each
//! of its other nodes. Cost: O(M), and few additions for each edge.

use std::num::Wrapping;

use super::counts::{Counts, Values};
use super::exact::Exact;
use super::formula::{Exact as Whole, Middle, Number, Terms};
use super::orbit::Orbit;
use crate::parallel;
use crate::sparse::Pattern;

/// Sums up to this are exact in f64, in any order of additions.
const EXACT: u128 = 1 << 53;

/// Sums of orbit counts, node by node.
pub(crate) struct NodeSums<'a> {
    counts: &'a Counts,
    exact: Option<&'a Exact>,
    most: u128,
    edges: u128,
}

impl<'a> NodeSums<'a> {
    pub(crate) fn new(counts: &'a Counts) -> NodeSums<'a> {
        let pattern = counts.pattern();
        let exact = match counts.values() {
            Values::Exact(exact) => Some(&**exact),
            _ => None,
        };
        let degrees = parallel::stretches(pattern.rows(), 1 << 14, |rows| rows.map(|i| pattern.range(i).len()).max());
        let most = degrees.into_iter().flatten().max().unwrap_or(0) as u128;
        NodeSums { counts, exact, most, edges: pattern.nnz() as u128 / 2 }
    }

    /// The sum over the edges of node `i` of each orbit's count, with the same bits as adding f64 values one by one.
    pub(crate) fn of(&self, i: usize) -> [f64; Orbit::COUNT] {
        let degree = self.counts.pattern().range(i).len() as u128;
        // No edge has more of any orbit (`formula`).
        let most = (4 * self.edges).max((degree + self.most).pow(2));
        match self.exact {
            Some(exact) if degree * most < EXACT => whole(self.counts.pattern(), exact, i).map(|sum| sum.0 as f64),
            _ => self.one_by_one(i),
        }
    }

    fn one_by_one(&self, i: usize) -> [f64; Orbit::COUNT] {
        let mut sums = [0.0; Orbit::COUNT];
        for (_, orbits) in self.counts.row(i as u32) {
            sums.iter_mut().zip(orbits).for_each(|(sum, count)| *sum += count as f64);
        }
        sums
    }
}

/// The sums modulo 2⁶⁴.
fn whole(pattern: &Pattern, exact: &Exact, i: usize) -> [Whole; Orbit::COUNT] {
    let (row, slots) = (pattern.row(i), pattern.range(i));
    if row.is_empty() {
        return [Wrapping(0); Orbit::COUNT];
    }
    let (one, d) = (Wrapping(1), Wrapping(row.len() as u64));
    let [mut x, mut pairs, mut triangles, mut s] = [Wrapping(0); 4];
    for &j in row {
        let j = j as usize;
        let other = Wrapping(exact.d.get(j)) - one;
        x += other;
        pairs += other.pairs();
        triangles += exact.triangles.get(j);
        s += exact.s.get(j);
    }
    let middle = edges(exact, i, slots);
    let own = d - one;
    Terms {
        one: d,
        both: d * own + x,
        product: own * x,
        pairs: d * own.pairs() + pairs,
        // Σ t (x_i + x_j), with x_j = d_j − 1.
        t_both: middle.t * (own - one) + middle.q,
        triangles: d * Wrapping(exact.triangles.get(i)) + triangles,
        s: d * Wrapping(exact.s.get(i)) + s,
        middle,
    }
    .orbits()
}

/// The sums of the numbers of edges.
fn edges(exact: &Exact, i: usize, slots: std::ops::Range<usize>) -> Middle<Whole> {
    let zero = Wrapping(0);
    let c = slots.clone().map(|slot| Wrapping(exact.c.get(slot))).sum();
    let mut sum = Middle { t: zero, p: zero, c, k: zero, q: zero, r: zero };
    if exact.triangles.get(i) == 0 {
        return sum;
    }
    let mut at = exact.rank.below(slots.start, |range| exact.t.nonzeros(range));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Generator;
    use crate::progress::Silent;

    /// The same bits as adding the counts of edges one by one.
    #[test]
    fn sums_are_those_of_the_edges() {
        let rmat = [0.57, 0.19, 0.19, 0.05];
        for model in [
            Generator::Er { nodes: 400, degree: 6.0 },
            Generator::Rmat { nodes: 1 << 10, degree: 20.0, quadrants: rmat },
            Generator::RingOfCliques { cliques: 4, size: 9 },
            Generator::Ba { nodes: 300, degree: 8.0 },
        ] {
            let graph = model.graph(5, &Silent).expect("a graph");
            let counts = super::super::count(&graph, &Silent).expect("counted");
            let sums = NodeSums::new(&counts);
            (0..graph.nodes()).for_each(|i| assert_eq!(sums.of(i), sums.one_by_one(i), "node {i}"));
        }
    }

    /// If sums may not be exact, they are added one by one.
    #[test]
    fn hubs_are_added_one_by_one() {
        let graph = Generator::Er { nodes: 50, degree: 6.0 }.graph(5, &Silent).expect("a graph");
        let counts = super::super::count(&graph, &Silent).expect("counted");
        let sums = NodeSums { most: 1 << 40, ..NodeSums::new(&counts) };
        (0..50).for_each(|i| assert_eq!(sums.of(i), sums.one_by_one(i)));
    }
}
