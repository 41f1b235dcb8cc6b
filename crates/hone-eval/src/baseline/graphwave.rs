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

use super::spectral::Normalised;
use super::{Baseline, FACTOR, undirected};

options! {
    /// The options.
    pub struct GraphWave {
        /// Scales of diffusion.
        scales: usize = 2, 1..=64;
        /// Times at which the characteristic function is sampled.
        points: usize = 25, 1..=1000;
        /// The largest of these times.
        longest: f64 = 100.0, FACTOR;
        /// Degree of the Chebyshev expansion.
        order: usize = 30, 1..=1000;
    }
}

/// Shares of the heat that are left at the ends of the range of scales.
const MOST_LEFT: f64 = 0.95;
const LEAST_LEFT: f64 = 0.80;

impl Baseline for GraphWave {
    fn embed(&self, graph: &Graph, _: u64, progress: &dyn Progress) -> Result<Block> {
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

    fn rows(&self) -> (usize, u64) {
        (self.dim(), 1)
    }
}

impl GraphWave {
    /// Length of the vectors.
    fn dim(&self) -> usize {
        2 * self.scales * self.points
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
