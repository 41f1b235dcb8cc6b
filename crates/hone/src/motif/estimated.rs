//! [`Estimated`]: orbit counts of every edge from estimated primitives.
//!
//! Orbit counts are linear in the primitives ([`formula`](super::formula)), so those of unbiased
//! estimates are unbiased too; but differences of large numbers come out negative, or positive where
//! there is nothing. Sums over many edges are taken of these *raw* counts. What is told of a single edge
//! is *held* to what it can have, which brings every count nearer to the truth wherever the bound is
//! right. With the letters of the formulas, and X the edges that leave exclusive neighbours of either end:
//!
//! | orbits | the edge has at most |
//! |---|---|
//! | triangle | min(d_u, d_v) − 1 |
//! | diamond-chord, clique4 | t(t − 1)/2 |
//! | path4-mid, cycle4 | ab |
//! | star4, tailed-tail | a(a − 1)/2 + b(b − 1)/2 |
//! | tailed-near, diamond-rim | t(a + b) |
//! | tailed-far | Q − 2t |
//! | path4-end | X = Σ over both ends of S_u − (d_v − 1) − (Q − t), nothing where a is zero |
//!
//! Both orbits of a line add up to the bound in an exact count. So a clique, where a and b are zero, has
//! no induced paths, however noisy the cycles. Cost: a few dozen operations an edge.

use rayon::prelude::*;

use super::estimate::Estimates;
use super::formula::{End, Middle, Number, orbits};
use super::orbit::Orbit;
use super::sample::Sampled;
use crate::sparse::Pattern;

/// Estimated primitives, and what follows from them for nodes.
#[derive(Debug, Clone)]
pub(super) struct Estimated {
    pub(super) facts: Sampled,
    pub(super) edge: Estimates,
    triangles: Vec<f64>,
    s: Vec<f64>,
}

/// Orbit counts that need not be whole.
pub(super) type Amounts = [f64; Orbit::COUNT];

/// Nodes whose sums are added up by one thread: a fixed number, so that rounding depends on nothing else.
const CHUNK: usize = 1 << 12;

impl Estimated {
    pub(super) fn new(pattern: &Pattern, edge: Estimates, facts: Sampled) -> Estimated {
        let rows = || (0..pattern.rows()).into_par_iter();
        let triangles = rows().map(|i| edge.t[pattern.range(i)].iter().map(|&t| f64::from(t)).sum::<f64>() / 2.0);
        let triangles = triangles.collect();
        let other_degrees =
            |i: usize| pattern.row(i).iter().map(|&j| pattern.range(j as usize).len() - 1).sum::<usize>();
        let s = rows().map(|i| other_degrees(i) as f64).collect();
        Estimated { facts, edge, triangles, s }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        6 * size_of::<f32>() * self.edge.t.len() + 2 * size_of::<f64>() * self.s.len()
    }

    /// Neighbours of node `i` from the `k`-th on, with the counts of the edge to each, held to what it can have.
    pub(super) fn row<'a>(
        &'a self,
        pattern: &'a Pattern,
        i: usize,
        k: usize,
    ) -> impl Iterator<Item = (u32, Amounts)> + 'a {
        self.primitives(pattern, i, k).map(|(j, u, v, e)| (j, held(u, v, e)))
    }

    /// Sums over the edges of node `i` of the counts, as they are and held.
    pub(super) fn degrees(&self, pattern: &Pattern, i: usize) -> [Amounts; 2] {
        let edges = self.primitives(pattern, i, 0);
        edges.fold([[0.0; Orbit::COUNT]; 2], |[raw, kept], (_, u, v, e)| {
            [add(raw, orbits(u, v, e)), add(kept, held(u, v, e))]
        })
    }

    /// Sums over all edges of the counts as they are.
    pub(super) fn totals(&self, pattern: &Pattern) -> Amounts {
        let starts: Vec<usize> = (0..pattern.rows()).step_by(CHUNK).collect();
        let nodes = |start: usize| start..(start + CHUNK).min(pattern.rows());
        let edges = |i: usize| self.primitives(pattern, i, 0).filter(move |&(j, ..)| i < j as usize);
        let sum = |i: usize| edges(i).fold([0.0; Orbit::COUNT], |sum, (_, u, v, e)| add(sum, orbits(u, v, e)));
        let chunk = |&start: &usize| nodes(start).map(sum).fold([0.0; Orbit::COUNT], add);
        let chunks: Vec<Amounts> = starts.par_iter().map(chunk).collect();
        chunks.into_iter().fold([0.0; Orbit::COUNT], add)
    }

    /// Neighbours of node `i` from the `k`-th on, with the primitives of both ends and of the edge.
    fn primitives<'a>(
        &'a self,
        pattern: &'a Pattern,
        i: usize,
        k: usize,
    ) -> impl Iterator<Item = (u32, End<f64>, End<f64>, Middle<f64>)> + 'a {
        let end = move |i: usize| End { d: pattern.range(i).len() as f64, triangles: self.triangles[i], s: self.s[i] };
        let u = end(i);
        let start = pattern.range(i).start + k;
        pattern.row(i)[k..].iter().zip(start..).map(move |(&j, slot)| {
            let at = |list: &[f32]| f64::from(list[slot]);
            let Estimates { t, p, c, k, q, r } = &self.edge;
            (j, u, end(j as usize), Middle { t: at(t), p: at(p), c: at(c), k: at(k), q: at(q), r: at(r) })
        })
    }
}

/// The counts of an edge, each held between zero and the most that the edge can have.
#[inline]
fn held(u: End<f64>, v: End<f64>, e: Middle<f64>) -> Amounts {
    let (x, y) = (u.d - 1.0, v.d - 1.0);
    let t = e.t.min(x.min(y));
    let (a, b) = (x - t, y - t);
    // Edges that leave exclusive neighbours of one end, for another edge than that to the end.
    let leaving =
        |end: End<f64>, other: f64, own: f64| if own > 0.0 { (end.s - other - (e.q - t)).max(0.0) } else { 0.0 };
    // x(x − 1)/2 is negative between 0 and 1.
    let pairs = |x: f64| x.pairs().max(0.0);
    let (stars, tailed) = (pairs(a) + pairs(b), t * (a + b));
    let ends = leaving(u, y, a) + leaving(v, x, b);
    let far = (e.q - 2.0 * t).max(0.0);
    let most = [1.0, a + b, t, ends, a * b, stars, a * b, stars, tailed, far, pairs(t), tailed, pairs(t)];
    let mut counts = orbits(u, v, e);
    counts.iter_mut().zip(most).for_each(|(count, most)| *count = count.clamp(0.0, most));
    counts
}

fn add(mut a: Amounts, b: Amounts) -> Amounts {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}
