//! [`Totals`]: occurrences in the whole graph.
//!
//! Orbit counts are linear in a few [`Terms`], and the sum of each term over the edges is a sum over
//! columns that are held: no edge is looked at from both ends. Linear in the edges, in the order of
//! memory. Estimates are added up as they are, not held to what single edges can have: the sums are unbiased.

use rayon::prelude::*;

use super::counts::{Counts, Values};
use super::exact::Exact;
use super::formula::{Middle, Number, Terms};
use super::orbit::{Graphlet, Orbit};
use super::set::Motif;

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
        motif.orbits().iter().map(|orbit| self.orbits[orbit.index()]).sum()
    }
}

impl Counts {
    /// Occurrences in the whole graph: of each orbit over all edges, and of each graphlet. Those of estimates are
    /// unbiased, unless they come out below zero and are cut off, and need not be sums of [`Counts::row`].
    pub fn totals(&self) -> Totals {
        match self.values() {
            Values::Exact(exact) => {
                let orbits = exact.orbit_totals().map(|total| u128::try_from(total).expect("counts are not negative"));
                let sum = |g: Graphlet| g.orbits().iter().map(|o| orbits[o.index()]).sum::<u128>();
                Totals { orbits, graphlets: Graphlet::ALL.map(|g| sum(g) / g.edges() as u128) }
            }
            Values::Estimated(estimated) => {
                let orbits = estimated.totals(self.pattern());
                let sum = |g: Graphlet| g.orbits().iter().map(|o| orbits[o.index()]).sum::<f64>();
                // Negative numbers become zero.
                let whole = |total: f64| total.round() as u128;
                Totals { orbits: orbits.map(whole), graphlets: Graphlet::ALL.map(|g| whole(sum(g) / g.edges() as f64)) }
            }
        }
    }
}

impl Exact {
    /// The sum over the edges of each orbit's count.
    fn orbit_totals(&self) -> [i128; Orbit::COUNT] {
        // The sum over the edges of what both ends add: every node adds it once for each of its edges.
        let [ends, both, product, pairs, t_both, triangles, s] = sums(self.d.len(), |i| {
            let [d, triangles, s] = [&self.d, &self.triangles, &self.s].map(|column| i128::from(column.get(i)));
            let x = d - 1;
            [d, d * x, x * s, d * x.pairs(), x * 2 * triangles, d * triangles, d * s]
        });
        // Every edge stands in two slots.
        let [t, p, c] = sums(self.t.len(), |slot| {
            let [t, c] = [&self.t, &self.c].map(|column| i128::from(column.get(slot)));
            [t, t.pairs(), c]
        });
        let [k, q, r] = sums(self.k.len(), |at| [&self.k, &self.q, &self.r].map(|column| column.get(at).into()));
        let middle = Middle { t: t / 2, p: p / 2, c: c / 2, k: k / 2, q: q / 2, r: r / 2 };
        let terms = Terms { one: ends / 2, both, product: product / 2, pairs, t_both, triangles, s, middle };
        terms.orbits()
    }
}

/// Sums of what the numbers below `len` give.
fn sums<const N: usize>(len: usize, values: impl Fn(usize) -> [i128; N] + Sync + Send) -> [i128; N] {
    (0..len).into_par_iter().with_min_len(1 << 10).map(values).reduce(|| [0; N], add)
}

fn add<const N: usize>(mut a: [i128; N], b: [i128; N]) -> [i128; N] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}
