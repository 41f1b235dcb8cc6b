//! GraphWave: how heat spreads from a node, as samples of a characteristic function.
//!
//! With the normalised Laplacian L, column a of exp(−sL) is the heat that a node a has given to all others. Its entries are
//! taken as a distribution: the vector of the node has the real and imaginary parts of the mean of exp(i t x) over them, at
//! `points` times t up to `longest`, for `scales` scales s spread over the authors' range [−ln .95, −ln .80] · √(N/2).
//! The exponential is expanded in Chebyshev polynomials, for a few nodes at a time: memory is linear, time is
//! order · M · N. Directed graphs are taken as undirected; a node without edges keeps its heat.
//!
//! Reference: Donnat, Zitnik, Hallac, Leskovec. Learning structural node embeddings via diffusion wavelets, 2018.

use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use hone::{Progress, Result};
use serde::{Deserialize, Serialize};

use super::spectral::Normalised;
use super::{range, undirected};

/// The options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphWave {
    /// Scales of diffusion.
    pub scales: usize,
    /// Times at which the characteristic function is sampled.
    pub points: usize,
    /// The largest of these times.
    pub longest: f64,
    /// Degree of the Chebyshev expansion.
    pub order: usize,
}

impl Default for GraphWave {
    fn default() -> Self {
        GraphWave {
            scales: 2,
            points: 25,
            longest: 100.0,
            order: 30,
        }
    }
}

/// Shares of the heat that are left at the ends of the range of scales.
const MOST_LEFT: f64 = 0.95;
const LEAST_LEFT: f64 = 0.80;

impl GraphWave {
    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("scales", self.scales, &(1..=64))?;
        range::check("points", self.points, &(1..=1000))?;
        range::check("longest", self.longest, &range::FACTOR)?;
        range::check("order", self.order, &(1..=1000))
    }

    /// Length of the vectors.
    pub(crate) fn dim(&self) -> usize {
        2 * self.scales * self.points
    }

    /// The vectors of all nodes.
    pub fn embed(&self, graph: &Graph, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        let graph = undirected(graph)?;
        let n = graph.nodes();
        let normalised = Normalised::of(&graph);
        let scales = self.scales_of(n);
        let coefficients: Vec<Vec<f64>> = scales
            .iter()
            .map(|&s| chebyshev_of_heat(s, self.order))
            .collect();
        let mut out = Block::zeros(n, self.dim());
        progress.stage("GraphWave nodes", n as u64);
        for start in (0..n).step_by(AT_A_TIME) {
            progress.check()?;
            let end = n.min(start + AT_A_TIME);
            let rows: Vec<Vec<f32>> = parallel::map(end - start, |at| {
                self.vector(&normalised, start + at, &coefficients)
            });
            (start..end)
                .zip(rows)
                .for_each(|(a, row)| out.row_mut(a).copy_from_slice(&row));
            progress.advance((end - start) as u64);
        }
        Ok(out)
    }

    fn scales_of(&self, nodes: usize) -> Vec<f64> {
        let [low, high] =
            [MOST_LEFT, LEAST_LEFT].map(|left: f64| -left.ln() * (0.5 * nodes as f64).sqrt());
        let steps = (self.scales - 1).max(1) as f64;
        (0..self.scales)
            .map(|k| low + (high - low) * k as f64 / steps)
            .collect()
    }

    fn vector(&self, normalised: &Normalised<'_>, a: usize, coefficients: &[Vec<f64>]) -> Vec<f32> {
        let heats = heat(normalised, a, coefficients);
        let n = normalised.degrees.len() as f64;
        let time = |k: usize| self.longest * k as f64 / (self.points - 1).max(1) as f64;
        let sample = |heat: &Vec<f64>, k: usize| {
            let (mut real, mut imaginary) = (0.0, 0.0);
            for x in heat {
                let (sin, cos) = (time(k) * x).sin_cos();
                real += cos;
                imaginary += sin;
            }
            [(real / n) as f32, (imaginary / n) as f32]
        };
        heats
            .iter()
            .flat_map(|heat| (0..self.points).flat_map(move |k| sample(heat, k)))
            .collect()
    }
}

/// Nodes between two looks at whether to stop.
const AT_A_TIME: usize = 256;

/// exp(−sL) δ_a for every scale; x = L − 1 = −D^-½ A D^-½ has its spectrum in [−1, 1].
fn heat(normalised: &Normalised<'_>, a: usize, coefficients: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = normalised.degrees.len();
    let times = |x: &[f64]| -> Vec<f64> {
        // An isolated node has L = 0 here, so that it keeps its heat.
        let row = |i: usize| {
            if normalised.degrees[i] > 0.0 {
                -normalised.row_times(x, i)
            } else {
                -x[i]
            }
        };
        (0..n).map(row).collect()
    };
    let mut before = vec![0.0; n];
    before[a] = 1.0;
    let mut now = times(&before);
    let mut out: Vec<Vec<f64>> = coefficients
        .iter()
        .map(|c| {
            before
                .iter()
                .zip(&now)
                .map(|(b, x)| c[0] / 2.0 * b + c[1] * x)
                .collect()
        })
        .collect();
    for k in 2..coefficients[0].len() {
        let next: Vec<f64> = times(&now)
            .iter()
            .zip(&before)
            .map(|(x, b)| 2.0 * x - b)
            .collect();
        for (sum, c) in out.iter_mut().zip(coefficients) {
            sum.iter_mut().zip(&next).for_each(|(s, x)| *s += c[k] * x);
        }
        (before, now) = (now, next);
    }
    out
}

/// Chebyshev coefficients of exp(−s (x + 1)) on [−1, 1], the first to be halved: a cosine sum over the nodes of a rule
/// that is exact to rounding.
fn chebyshev_of_heat(s: f64, order: usize) -> Vec<f64> {
    let rule = 4 * (order + 1);
    let angle = |m: usize| std::f64::consts::PI * (m as f64 + 0.5) / rule as f64;
    let term =
        |m: usize, k: usize| (-s * (angle(m).cos() + 1.0)).exp() * (k as f64 * angle(m)).cos();
    (0..=order)
        .map(|k| 2.0 / rule as f64 * (0..rule).map(|m| term(m, k)).sum::<f64>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::Silent;
    use hone::graph::{GraphBuilder, builtin};

    /// exp(−sL) by Taylor's series of (−sL / 2¹⁰), squared ten times.
    fn heat_kernel(graph: &Graph, s: f64) -> Vec<Vec<f64>> {
        let n = graph.nodes();
        let times = |a: &Vec<Vec<f64>>, b: &Vec<Vec<f64>>| -> Vec<Vec<f64>> {
            (0..n)
                .map(|i| {
                    (0..n)
                        .map(|j| (0..n).map(|k| a[i][k] * b[k][j]).sum())
                        .collect()
                })
                .collect()
        };
        let degree = |i: usize| graph.degree(i as u32) as f64;
        let entry = |i: usize, j: usize| {
            let edge = graph.neighbors(i as u32).contains(&(j as u32));
            let own = if i == j && degree(i) > 0.0 { 1.0 } else { 0.0 };
            let shared = if edge {
                1.0 / (degree(i) * degree(j)).sqrt()
            } else {
                0.0
            };
            -s / 1024.0 * (own - shared)
        };
        let small: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect();
        let mut sum: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
            .collect();
        let mut term = sum.clone();
        for k in 1..10 {
            term = times(&term, &small);
            term.iter_mut().flatten().for_each(|x| *x /= f64::from(k));
            sum.iter_mut()
                .flatten()
                .zip(term.iter().flatten())
                .for_each(|(s, t)| *s += t);
        }
        (0..10).for_each(|_| sum = times(&sum, &sum));
        sum
    }

    #[test]
    fn vectors_are_characteristic_functions_of_the_heat_kernel() {
        let graph = builtin("karate").expect("built in");
        let options = GraphWave {
            points: 4,
            longest: 30.0,
            ..GraphWave::default()
        };
        let found = options.embed(&graph, &Silent).expect("small");
        let n = graph.nodes();
        for (k, s) in [-(0.95f64.ln()), -(0.80f64.ln())]
            .map(|left| left * (n as f64 / 2.0).sqrt())
            .into_iter()
            .enumerate()
        {
            let kernel = heat_kernel(&graph, s);
            for a in [0, 7, 33] {
                for (p, t) in [0.0, 10.0, 20.0, 30.0].into_iter().enumerate() {
                    let column: Vec<f64> = (0..n).map(|i| kernel[i][a]).collect();
                    let real = column.iter().map(|x| (t * x).cos()).sum::<f64>() / n as f64;
                    let imaginary = column.iter().map(|x| (t * x).sin()).sum::<f64>() / n as f64;
                    let at = 2 * (k * 4 + p);
                    let ours = [found.get(a, at), found.get(a, at + 1)].map(f64::from);
                    assert!(
                        (ours[0] - real).abs() < 1e-5 && (ours[1] - imaginary).abs() < 1e-5,
                        "{a} {s} {t}"
                    );
                }
            }
        }
    }

    #[test]
    fn nodes_that_a_symmetry_exchanges_are_equal_and_isolated_ones_are_values() {
        // A path of five nodes and one alone.
        let graph = GraphBuilder::undirected(6)
            .edges(vec![(0, 1), (1, 2), (2, 3), (3, 4)])
            .build()
            .expect("in range");
        let found = GraphWave::default().embed(&graph, &Silent).expect("small");
        for (a, b) in [(0, 4), (1, 3)] {
            assert!(
                found
                    .row(a)
                    .iter()
                    .zip(found.row(b))
                    .all(|(x, y)| (x - y).abs() < 1e-6)
            );
        }
        assert!(
            found
                .row(0)
                .iter()
                .zip(found.row(2))
                .any(|(x, y)| (x - y).abs() > 1e-3)
        );
        assert!(found.as_slice().iter().all(|x| x.is_finite()));
    }
}
