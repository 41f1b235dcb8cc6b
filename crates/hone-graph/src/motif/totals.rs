//! [`Totals`]: occurrences in the whole graph.
//!
//! Orbit counts are linear in a few [`Terms`], and the sum of each term over the edges is a sum over
//! columns that are held: no edge is examined from both ends. Linear in the edges, in memory order. Estimates
//! are summed without clamping single edges, which keeps sums unbiased.

use super::column::Column;
use super::counts::{Counts, Values};
use super::exact::Exact;
use super::formula::{End, Middle, Number, Sum, Terms};
use super::orbit::{Graphlet, Orbit};
use super::sampled::{Estimated, Estimates};
use super::set::Motif;
use crate::parallel;
use crate::sparse::Pattern;

/// Occurrences in the whole graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Sum over the edges of each orbit's count, in the order of [`Orbit::ALL`].
    pub orbits: [u128; Orbit::COUNT],
    /// Induced occurrences of each graphlet, in the order of [`Graphlet::ALL`].
    pub graphlets: [u128; Graphlet::COUNT],
}

impl Totals {
    /// Total weight of a motif over all edges.
    pub fn weight(&self, motif: Motif) -> u128 {
        motif
            .orbits()
            .iter()
            .map(|orbit| self.orbits[orbit.index()])
            .sum()
    }
}

impl Counts {
    /// Occurrences in the whole graph: of each orbit over all edges, and of each graphlet. Estimates from a cap are
    /// unbiased, except that negative ones are set to zero, and need not be the sums of [`Counts::row`]. Zero where
    /// only triads were counted, whose totals [`Counts::triads`] has.
    pub fn totals(&self) -> Totals {
        match self.values() {
            Values::Exact(exact) => {
                let orbits = exact
                    .orbit_totals()
                    .map(|total| u128::try_from(total).expect("counts are not negative"));
                let sum = |g: Graphlet| g.orbits().iter().map(|o| orbits[o.index()]).sum::<u128>();
                Totals {
                    orbits,
                    graphlets: Graphlet::ALL.map(|g| sum(g) / g.edges() as u128),
                }
            }
            Values::Absent => Totals {
                orbits: [0; Orbit::COUNT],
                graphlets: [0; Graphlet::COUNT],
            },
            Values::Estimated(estimated) => {
                let orbits = estimated
                    .orbit_totals(self.pattern())
                    .map(|total| total.max(0.0));
                let sum = |g: Graphlet| g.orbits().iter().map(|o| orbits[o.index()]).sum::<f64>();
                let whole = |total: f64| total.round() as u128;
                Totals {
                    orbits: orbits.map(whole),
                    graphlets: Graphlet::ALL.map(|g| whole(sum(g) / g.edges() as f64)),
                }
            }
        }
    }
}

impl Exact {
    /// The sum over the edges of each orbit's count.
    fn orbit_totals(&self) -> [i128; Orbit::COUNT] {
        let get = |column: &Column, at: usize| i128::from(column.get(at));
        let ends = sums(self.d.len(), |i| {
            both_ends(End {
                d: get(&self.d, i),
                triangles: get(&self.triangles, i),
                s: get(&self.s, i),
            })
        });
        let [t, p, c] = sums(self.t.len(), |slot| {
            let t = get(&self.t, slot);
            [t, t.pairs(), get(&self.c, slot)]
        });
        let [k, q, r] = sums(self.k.len(), |at| {
            [&self.k, &self.q, &self.r].map(|column| get(column, at))
        });
        orbits_of_sums(ends, [t, p, c, k, q, r])
    }
}

impl Estimated {
    /// The sum over the edges of each orbit's raw count.
    fn orbit_totals(&self, pattern: &Pattern) -> [f64; Orbit::COUNT] {
        let ends = sums(pattern.rows(), |i| both_ends(self.end(pattern, i)));
        let Estimates { t, p, c, k, q, r } = &self.edge;
        let middle = sums(pattern.nnz(), |slot| {
            [t, p, c, k, q, r].map(|list| f64::from(list[slot]))
        });
        orbits_of_sums(ends, middle)
    }
}

/// What a node adds to the terms of all its edges: one, Σ x, Π x, Σ x(x − 1)/2, t Σ x, T, S. Products need both ends,
/// and are met from both.
fn both_ends<N: Number>(end: End<N>) -> [N; 7] {
    let End { d, triangles, s } = end;
    let x = d - N::of(1);
    [
        d,
        d * x,
        x * s,
        d * x.pairs(),
        x * N::of(2) * triangles,
        d * triangles,
        d * s,
    ]
}

/// Orbit counts of the whole graph from sums over nodes, and over slots, of which every edge has two.
fn orbits_of_sums<N: Sum>(ends: [N; 7], slots: [N; 6]) -> [N; Orbit::COUNT] {
    let [ends, both, product, pairs, t_both, triangles, s] = ends;
    let [t, p, c, k, q, r] = slots.map(N::half);
    let middle = Middle { t, p, c, k, q, r };
    Terms {
        one: ends.half(),
        both,
        product: product.half(),
        pairs,
        t_both,
        triangles,
        s,
        middle,
    }
    .orbits()
}

/// Numbers that one thread sums: fixed, so that rounding depends on nothing else.
const CHUNK: usize = 1 << 12;

/// The sum of a function over the numbers below `len`.
fn sums<N: Sum, const K: usize>(
    len: usize,
    values: impl Fn(usize) -> [N; K] + Sync + Send,
) -> [N; K] {
    let chunks = parallel::stretches(len, CHUNK, |range| {
        range.map(&values).fold([N::of(0); K], add)
    });
    chunks.into_iter().fold([N::of(0); K], add)
}

fn add<N: Number, const K: usize>(a: [N; K], b: [N; K]) -> [N; K] {
    std::array::from_fn(|at| a[at] + b[at])
}
