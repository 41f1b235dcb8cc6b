//! [`Estimated`]: orbit counts of every edge from estimated primitives.
//!
//! Orbit counts are linear in the primitives ([`formula`](super::super::formula)), so those of unbiased
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

use std::ops::Range;

use super::super::formula::{End, Middle, Number, orbits};
use super::super::orbit::Orbit;
use super::Sampled;
use super::estimate::Estimates;
use crate::parallel;
use crate::random::Key;
use crate::sparse::Pattern;

/// Estimated primitives, and the resulting numbers of nodes.
#[derive(Debug, Clone)]
pub(in super::super) struct Estimated {
    pub(in super::super) facts: Sampled,
    pub(in super::super) edge: Estimates,
    triangles: Vec<f64>,
    s: Vec<f64>,
}

/// Orbit counts that need not be whole.
pub(in super::super) type Amounts = [f64; Orbit::COUNT];

impl Estimated {
    pub(in super::super) fn new(pattern: &Pattern, edge: Estimates, facts: Sampled) -> Estimated {
        let rows = |of: &(dyn Fn(usize) -> f64 + Sync)| {
            parallel::stretches(pattern.rows(), 1 << 12, |rows| {
                rows.map(of).collect::<Vec<f64>>()
            })
            .concat()
        };
        let triangles = rows(&|i| {
            edge.t[pattern.range(i)]
                .iter()
                .map(|&t| f64::from(t))
                .sum::<f64>()
                / 2.0
        });
        let other_degrees = |i: usize| {
            pattern
                .row(i)
                .iter()
                .map(|&j| pattern.range(j as usize).len() - 1)
                .sum::<usize>()
        };
        let s = rows(&|i| other_degrees(i) as f64);
        Estimated {
            facts,
            edge,
            triangles,
            s,
        }
    }

    /// Bytes in memory.
    pub(in super::super) fn bytes(&self) -> usize {
        6 * size_of::<f32>() * self.edge.t.len() + 2 * size_of::<f64>() * self.s.len()
    }

    /// A key of random numbers that are independent of the estimates of a node: it depends on those of all edges.
    pub(in super::super) fn key(&self) -> Key {
        let Estimates { t, c, r, .. } = &self.edge;
        let bits = |at: usize| [t, c, r].map(|list| u64::from(list[at].to_bits()));
        let sum = |range: Range<usize>| {
            range
                .flat_map(bits)
                .fold(0u64, |sum, bits| sum.wrapping_mul(31).wrapping_add(bits))
        };
        let sums = parallel::stretches(t.len(), 1 << 14, sum);
        Key::new(sums.into_iter().fold(0, u64::wrapping_add))
    }

    /// Neighbours of node `i` from the `k`-th on, with the counts of the edge to each, clamped to what it can have.
    pub(in super::super) fn row<'a>(
        &'a self,
        pattern: &'a Pattern,
        i: usize,
        k: usize,
    ) -> impl Iterator<Item = (u32, Amounts)> + 'a {
        self.primitives(pattern, i, k)
            .map(|(j, u, v, e)| (j, held(u, v, e)))
    }

    /// Sums over the edges of node `i` of the raw counts.
    pub(in super::super) fn degrees(&self, pattern: &Pattern, i: usize) -> Amounts {
        self.primitives(pattern, i, 0)
            .fold([0.0; Orbit::COUNT], |sum, (_, u, v, e)| {
                add(sum, orbits(u, v, e))
            })
    }

    /// As [`Estimated::degrees`] of two estimates, and the sums of the clamped edges of their mean.
    pub(in super::super) fn degrees_of_mean(
        &self,
        other: &Estimated,
        pattern: &Pattern,
        i: usize,
    ) -> [Amounts; 3] {
        let both = self
            .primitives(pattern, i, 0)
            .zip(other.primitives(pattern, i, 0));
        both.fold(
            [[0.0; Orbit::COUNT]; 3],
            |[a, b, kept], ((_, u, v, e), (_, u2, v2, e2))| {
                let mean = held(u.mean(u2), v.mean(v2), e.mean(e2));
                [
                    add(a, orbits(u, v, e)),
                    add(b, orbits(u2, v2, e2)),
                    add(kept, mean),
                ]
            },
        )
    }

    /// The primitives of a node.
    pub(in super::super) fn end(&self, pattern: &Pattern, i: usize) -> End<f64> {
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
        let start = pattern.range(i).start + k;
        pattern.row(i)[k..]
            .iter()
            .zip(start..)
            .map(move |(&j, slot)| {
                let at = |list: &[f32]| f64::from(list[slot]);
                let Estimates { t, p, c, k, q, r } = &self.edge;
                (
                    j,
                    u,
                    self.end(pattern, j as usize),
                    Middle {
                        t: at(t),
                        p: at(p),
                        c: at(c),
                        k: at(k),
                        q: at(q),
                        r: at(r),
                    },
                )
            })
    }
}

impl End<f64> {
    fn mean(self, other: Self) -> Self {
        let mean = |a: f64, b: f64| 0.5 * (a + b);
        End {
            d: self.d,
            triangles: mean(self.triangles, other.triangles),
            s: self.s,
        }
    }
}

impl Middle<f64> {
    fn mean(self, other: Self) -> Self {
        let mean = |a: f64, b: f64| 0.5 * (a + b);
        let Middle { t, p, c, k, q, r } = other;
        Middle {
            t: mean(self.t, t),
            p: mean(self.p, p),
            c: mean(self.c, c),
            k: mean(self.k, k),
            q: mean(self.q, q),
            r: mean(self.r, r),
        }
    }
}

/// The counts of an edge, each clamped between zero and the maximum that the edge can have.
#[inline]
fn held(u: End<f64>, v: End<f64>, e: Middle<f64>) -> Amounts {
    let (x, y) = (u.d - 1.0, v.d - 1.0);
    let t = e.t.min(x.min(y));
    let (a, b) = (x - t, y - t);
    // Edges between neighbours of one end alone, whole ones, and nodes other than it.
    let leaving = |end: End<f64>, other: f64, own: f64| {
        if own >= 0.5 {
            (end.s - other - (e.q - t)).max(0.0)
        } else {
            0.0
        }
    };
    // x(x − 1)/2 is negative between 0 and 1.
    let pairs = |x: f64| x.pairs().max(0.0);
    let (stars, tailed) = (pairs(a) + pairs(b), t * (a + b));
    let ends = leaving(u, y, a) + leaving(v, x, b);
    let far = (e.q - 2.0 * t).max(0.0);
    let most = [
        1.0,
        a + b,
        t,
        ends,
        a * b,
        stars,
        a * b,
        stars,
        tailed,
        far,
        pairs(t),
        tailed,
        pairs(t),
    ];
    let mut counts = orbits(u, v, e);
    // Loaded values may be invalid; `clamp` would panic on a negative maximum.
    counts
        .iter_mut()
        .zip(most)
        .for_each(|(count, most)| *count = count.min(most).max(0.0));
    counts
}

fn add(mut a: Amounts, b: Amounts) -> Amounts {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}

#[cfg(test)]
mod tests {
    use super::super::super::counts::Values;
    use super::super::super::{Sample, count};
    use super::*;
    use crate::progress::Silent;
    use crate::{Generator, Graph};

    /// Squared errors of all edges in several estimates, orbit by orbit: raw counts, clamped at zero, clamped
    /// to the possible range.
    fn errors(graph: &Graph, cap: usize) -> [Amounts; 3] {
        let exact = count(graph, &Silent).expect("counts");
        let mut errors = [[0.0; Orbit::COUNT]; 3];
        for seed in 0..20 {
            let counts = Sample::Cap(cap)
                .count(graph, seed, &Silent)
                .expect("estimates");
            let Values::Estimated(estimated) = counts.values() else {
                panic!("a cap gives estimates")
            };
            let pattern = graph.pattern();
            for i in 0..graph.nodes() {
                for ((_, truth), (_, u, v, e)) in
                    exact.row(i as u32).zip(estimated.primitives(pattern, i, 0))
                {
                    let raw = orbits(u, v, e);
                    for (errors, found) in
                        errors
                            .iter_mut()
                            .zip([raw, raw.map(|x| x.max(0.0)), held(u, v, e)])
                    {
                        for (at, error) in errors.iter_mut().enumerate() {
                            *error += (found[at] - truth[at] as f64).powi(2);
                        }
                    }
                }
            }
        }
        errors
    }

    #[test]
    fn holding_helps_where_graphs_are_dense_and_hardly_harms_elsewhere() {
        let rmat = Generator::Rmat {
            nodes: 1 << 9,
            degree: 20.0,
            quadrants: [0.57, 0.19, 0.19, 0.05],
        };
        let cliques = Generator::RingOfCliques {
            cliques: 3,
            size: 40,
        };
        for model in [
            rmat,
            Generator::Er {
                nodes: 90,
                degree: 70.0,
            },
            cliques,
        ] {
            let graph = model.graph(7, &Silent).expect("a graph");
            for cap in [8, 16] {
                let [raw, cut, held] = errors(&graph, cap).map(|errors| errors.map(f64::sqrt));
                for orbit in Orbit::ALL.map(Orbit::index) {
                    assert!(
                        held[orbit] <= 1.02 * cut[orbit].min(raw[orbit]),
                        "{model:?} {cap} {}",
                        Orbit::ALL[orbit]
                    );
                }
                if matches!(model, Generator::RingOfCliques { .. }) {
                    let [mid, cycle] = [Orbit::Path4Mid, Orbit::Cycle4].map(Orbit::index);
                    assert!(held[mid] < 0.1 * cut[mid] && held[cycle] < 0.1 * cut[cycle]);
                }
            }
        }
    }
}
