//! [`Totals`]: occurrences in the whole graph.
//!
//! Orbit counts are linear in a few [`Terms`], and the sum of each term over the edges is a sum over
//! columns that are held: no edge is looked at from both ends. Linear in the edges, in the order of
//! memory. Estimates are rounded, edge by edge, as they are everywhere.

use rayon::prelude::*;

use super::column::Column;
use super::counts::Counts;
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
    /// Occurrences in the whole graph: of each orbit over all edges, and of each graphlet.
    pub fn totals(&self) -> Totals {
        let orbits = match self.primitives() {
            Some(exact) => exact.orbit_totals(),
            None => self.rounded_totals(),
        };
        let graphlet = |g: Graphlet| g.orbits().iter().map(|o| orbits[o.index()]).sum::<u128>() / g.edges() as u128;
        Totals { orbits, graphlets: Graphlet::ALL.map(graphlet) }
    }

    fn rounded_totals(&self) -> [u128; Orbit::COUNT] {
        let add = |mut a: [u128; Orbit::COUNT], b: [u128; Orbit::COUNT]| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let row = |i: usize| {
            let edges = self.row(i as u32).filter(|&(j, _)| i < j as usize);
            edges.map(|(_, counts)| counts.map(u128::from)).fold([0; Orbit::COUNT], add)
        };
        (0..self.pattern().rows()).into_par_iter().with_min_len(1024).map(row).reduce(|| [0; Orbit::COUNT], add)
    }
}

impl Exact {
    /// The sum over the edges of each orbit's count.
    fn orbit_totals(&self) -> [u128; Orbit::COUNT] {
        // Every edge stands in two slots.
        let edges = |column: &Column, value: fn(i128) -> i128| sum(column.len(), |i| value(column.get(i).into())) / 2;
        // The sum over the edges of what both ends add: every node adds it once for each of its edges.
        let nodes = |value: fn([i128; 3]) -> i128| {
            sum(self.d.len(), |i| value([&self.d, &self.triangles, &self.s].map(|column| column.get(i).into())))
        };
        let terms = Terms {
            one: nodes(|[d, ..]| d) / 2,
            both: nodes(|[d, ..]| d * (d - 1)),
            product: nodes(|[d, _, s]| (d - 1) * s) / 2,
            pairs: nodes(|[d, ..]| d * (d - 1).pairs()),
            t_both: nodes(|[d, triangles, _]| (d - 1) * 2 * triangles),
            triangles: nodes(|[d, triangles, _]| d * triangles),
            s: nodes(|[d, _, s]| d * s),
            middle: Middle {
                t: edges(&self.t, |t| t),
                p: edges(&self.t, i128::pairs),
                c: edges(&self.c, |c| c),
                k: edges(&self.k, |k| k),
                q: edges(&self.q, |q| q),
                r: edges(&self.r, |r| r),
            },
        };
        terms.orbits().map(|total| u128::try_from(total).expect("counts are not negative"))
    }
}

fn sum(len: usize, value: impl Fn(usize) -> i128 + Sync + Send) -> i128 {
    (0..len).into_par_iter().with_min_len(1 << 14).map(value).sum()
}
