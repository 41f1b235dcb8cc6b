//! [`Estimated`]: orbit counts of every edge from estimated primitives.
//!
//! Orbit counts are linear in the primitives ([`formula`](super::formula)), so those of unbiased
//! estimates are unbiased too; but as differences of large numbers they may be negative, or large where
//! there are no occurrences. Totals and node orbits are sums of these *raw* counts. The reported counts
//! of a single edge are *clamped* between zero and what the edge can have. With the letters of the
//! formulas:
//!
//! | orbits | the edge has at most |
//! |---|---|
//! | path3 | a + b |
//! | triangle | min(d_u, d_v) − 1 |
//! | path4-mid, cycle4 | ab |
//! | star4, tailed-tail | a(a − 1)/2 + b(b − 1)/2 |
//! | tailed-near, diamond-rim | t(a + b) |
//! | diamond-chord, clique4 | t(t − 1)/2 |
//! | tailed-far | Q − 2t |
//! | path4-end | Σ over both ends of S_u − (d_v − 1) − (Q − t), nothing where a is zero |
//!
//! In exact counts the two orbits of a line add up to the bound. If t is exact, because an end has no more
//! neighbours than the cap, clamping never moves a count away from the truth. If it is an estimate, the bounds
//! are estimates too, and clamping is a heuristic: edges of a clique, whose a and b are about zero, get few
//! paths however noisy the cycles are. Cost: a few dozen operations per edge.

mod neighbours;
mod sweeps;

pub(super) use sweeps::{bytes, estimate};

use std::ops::Range;

use super::formula::{End, Middle, Number, degrees_of_others, orbits};
use super::orbit::Orbit;
use super::sample::Sampled;
use crate::parallel;
use crate::random::Key;
use crate::sparse::Pattern;
use crate::storage::Pages;

/// Estimated primitives, and the resulting numbers of nodes.
#[derive(Debug, Clone)]
pub(super) struct Estimated {
    pub(super) facts: Sampled,
    /// t, P, C, K, Q and R of each slot.
    pub(super) slots: Pages<[f32; 6]>,
    triangles: Vec<f64>,
    s: Vec<f64>,
}

/// Orbit counts that need not be whole.
pub(super) type Amounts = [f64; Orbit::COUNT];

impl Estimated {
    pub(super) fn new(pattern: &Pattern, slots: Pages<[f32; 6]>, facts: Sampled) -> Estimated {
        let triangles = |i: usize| {
            let t = slots[pattern.range(i)].iter().map(|[t, ..]| f64::from(*t));
            t.sum::<f64>() / 2.0
        };
        Estimated {
            facts,
            triangles: parallel::collect(pattern.rows(), triangles),
            s: parallel::collect(pattern.rows(), |i| degrees_of_others(pattern, i) as f64),
            slots,
        }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + 2 * size_of::<f64>() * self.s.len()
    }

    /// A key of random numbers that are independent of the estimates of a node: it depends on those of all edges.
    pub(super) fn key(&self) -> Key {
        let sums = parallel::stretches(self.slots.len(), 1 << 14, |range: Range<usize>| {
            let slots = self.slots[range].iter();
            slots
                .flat_map(|[t, _, c, _, _, r]| [t, c, r])
                .fold(0u64, |sum, value| {
                    sum.wrapping_mul(31).wrapping_add(value.to_bits().into())
                })
        });
        Key::new(sums.into_iter().fold(0, u64::wrapping_add))
    }

    /// Neighbours of node `i` from the `k`-th on, with the counts of the edge to each, clamped to what it can have.
    pub(super) fn row<'a>(
        &'a self,
        pattern: &'a Pattern,
        i: usize,
        k: usize,
    ) -> impl Iterator<Item = (u32, Amounts)> + 'a {
        self.primitives(pattern, i, k)
            .map(|(j, u, v, e)| (j, clamped(u, v, e)))
    }

    /// Sums over the edges of node `i` of the raw counts.
    pub(super) fn degrees(&self, pattern: &Pattern, i: usize) -> Amounts {
        self.primitives(pattern, i, 0)
            .fold([0.0; Orbit::COUNT], |sum, (_, u, v, e)| {
                add(sum, orbits(u, v, e))
            })
    }

    /// As [`Estimated::degrees`] of two estimates, and the sums of the clamped edges of their mean.
    pub(super) fn degrees_of_mean(
        &self,
        other: &Estimated,
        pattern: &Pattern,
        i: usize,
    ) -> [Amounts; 3] {
        let mean = |a: f64, b: f64| 0.5 * (a + b);
        let mean_end = |a: End<f64>, b: End<f64>| End {
            d: a.d,
            triangles: mean(a.triangles, b.triangles),
            s: mean(a.s, b.s),
        };
        let mut sums = [[0.0; Orbit::COUNT]; 3];
        let both = self.primitives(pattern, i, 0);
        for ((_, u, v, e), (_, u2, v2, e2)) in both.zip(other.primitives(pattern, i, 0)) {
            let middle = Middle {
                t: mean(e.t, e2.t),
                p: mean(e.p, e2.p),
                c: mean(e.c, e2.c),
                k: mean(e.k, e2.k),
                q: mean(e.q, e2.q),
                r: mean(e.r, e2.r),
            };
            let clamped = clamped(mean_end(u, u2), mean_end(v, v2), middle);
            let three = [orbits(u, v, e), orbits(u2, v2, e2), clamped];
            for (sum, counts) in sums.iter_mut().zip(three) {
                *sum = add(*sum, counts);
            }
        }
        sums
    }

    /// The primitives of a node.
    pub(super) fn end(&self, pattern: &Pattern, i: usize) -> End<f64> {
        End {
            d: pattern.range(i).len() as f64,
            triangles: self.triangles[i],
            s: self.s[i],
        }
    }

    /// Neighbours of node `i` from the `k`-th on, with the primitives of both ends and of the edge.
    fn primitives<'a>(
        &'a self,
        pattern: &'a Pattern,
        i: usize,
        k: usize,
    ) -> impl Iterator<Item = (u32, End<f64>, End<f64>, Middle<f64>)> + 'a {
        let u = self.end(pattern, i);
        let slots = pattern.row(i).iter().zip(pattern.range(i)).skip(k);
        slots.map(move |(&j, slot)| {
            let middle = Middle::from(self.slots[slot].map(f64::from));
            (j, u, self.end(pattern, j as usize), middle)
        })
    }
}

/// The counts of an edge, each clamped between zero and the maximum that the edge can have.
#[inline]
fn clamped(u: End<f64>, v: End<f64>, e: Middle<f64>) -> Amounts {
    let (x, y) = (u.d - 1.0, v.d - 1.0);
    let t = e.t.min(x.min(y));
    let (a, b) = (x - t, y - t);
    // Edges between neighbours of one end alone, whole ones, and nodes other than it.
    let leaving = |end: End<f64>, other: f64, own: f64| match own >= 0.5 {
        true => (end.s - other - (e.q - t)).max(0.0),
        false => 0.0,
    };
    // x(x − 1)/2 is negative between 0 and 1.
    let pairs = |x: f64| x.pairs().max(0.0);
    let (stars, tailed) = (pairs(a) + pairs(b), t * (a + b));
    let ends = leaving(u, y, a) + leaving(v, x, b);
    let far = (e.q - 2.0 * t).max(0.0);
    let pairs_of_t = pairs(t);
    let ab = a * b;
    #[rustfmt::skip]
    let most = [
        1.0, a + b, t, ends, ab, stars, ab, stars, tailed, far, pairs_of_t, tailed, pairs_of_t,
    ];
    let mut counts = orbits(u, v, e);
    // Loaded values may be invalid; `clamp` would panic on a negative maximum.
    for (count, most) in counts.iter_mut().zip(most) {
        *count = count.min(most).max(0.0);
    }
    counts
}

fn add(mut a: Amounts, b: Amounts) -> Amounts {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}
