//! ProNE: factors of log transition probabilities on the edges, then a band-pass filter of the Laplacian.
//!
//! First F, on the pattern of A: log(A_ij / d_i) − log n_j, where n_j ∝ (Σ_i A_ij / d_i)^0.75 is the negative-sampling
//! frequency; R = U √Σ of its leading singular triplets, rows of length one. Then, with the Laplacian
//! L = I − D'⁻¹A' of A' = A + I, the filter R − exp(−θ (½(L − μ)² − 1)) R, the exponential expanded in `order` Chebyshev
//! polynomials; the result times A' is brought back to U √Σ with rows of length one. Directed graphs are taken as undirected.
//! Cost: 2 · order products of D columns, and the decompositions.
//!
//! Reference: Zhang, Dong, Wang, Tang, Ding. ProNE: fast and scalable network representation learning, 2019.

use std::sync::Arc;

use hone::dense::{Block, Small};
use hone::factor::Task;
use hone::factor::svd::{Iterations, Svd, svd};
use hone::graph::Graph;
use hone::operator::Operator;
use hone::random::Key;
use hone::sparse::Csr;
use hone::{Progress, Result};

use super::spectral::Normalised;
use super::{Baseline, DIM, undirected, weight};

options! {
    /// The options.
    pub struct ProNe {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
        /// Chebyshev polynomials of the filter.
        order: usize = 10, 2..=1000;
        /// Sharpness of the filter, θ.
        theta: f64 = 0.5, 1e-9..=100.0;
        /// Middle of the filter, μ.
        mu: f64 = 0.2, -2.0..=2.0;
    }
}

/// Iterations of the sparse decomposition.
const ITERATIONS: usize = 12;

impl Baseline for ProNe {
    /// Columns beyond the number of nodes are zero.
    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        let graph = undirected(graph)?;
        if graph.nodes() == 0 {
            return Ok(Block::zeros(0, self.dim));
        }
        let mut start = self.factored(&graph, seed, progress)?;
        unit_rows(&mut start);
        self.propagated(&graph, &start, progress)
    }

    fn rows(&self) -> (usize, u64) {
        (self.dim, 7)
    }
}

impl ProNe {
    /// U √Σ of the logarithms on the edges.
    fn factored(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        let f = Operator::sparse("F", logarithms(graph));
        let rank = self.dim.min(graph.nodes());
        let options = Svd {
            oversampling: 16,
            iterations: Iterations::AtMost(ITERATIONS),
            ..Svd::default()
        };
        let key = Key::new(seed).with("ProNE", 0);
        let task = Task {
            rank,
            right: false,
            key,
            progress,
            aside: None,
        };
        let mut found = svd(&f, &options, &task)?;
        let roots: Vec<f64> = found.sigma.iter().map(|sigma| sigma.sqrt()).collect();
        found.u.scale_columns(&roots);
        Ok(found.u.widened(self.dim))
    }

    /// The filtered vectors, U √Σ with rows of length one.
    fn propagated(&self, graph: &Graph, start: &Block, progress: &dyn Progress) -> Result<Block> {
        let degrees = Normalised::of(graph).degrees;
        // (L − μ) x.
        let step = |x: &Block| {
            let walked = walked(graph, x, Some(&degrees));
            combined(&[(1.0 - self.mu, x), (-1.0, &walked)])
        };
        let squared = |x: &Block| step(&step(x));
        progress.stage("ProNE filter", self.order as u64);
        let mut before = start.clone();
        let mut now = combined(&[(0.5, &squared(start)), (-1.0, start)]);
        let mut sum = combined(&[
            (bessel(0, self.theta), &before),
            (-2.0 * bessel(1, self.theta), &now),
        ]);
        for i in 2..self.order {
            progress.check()?;
            let next = combined(&[(1.0, &squared(&now)), (-2.0, &now), (-1.0, &before)]);
            let sign = if i % 2 == 0 { 2.0 } else { -2.0 };
            sum = combined(&[(1.0, &sum), (sign * bessel(i, self.theta), &next)]);
            (before, now) = (now, next);
            progress.advance(1);
        }
        let passed = walked(graph, &combined(&[(1.0, start), (-1.0, &sum)]), None);
        let eigen = passed.gram().eigen()?;
        // Σ² are the eigenvalues: U √Σ = X V Σ^-½.
        let most = eigen.values.first().copied().unwrap_or(0.0);
        let weight = |value: f64| {
            if value > 1e-12 * most {
                value.powf(-0.25)
            } else {
                0.0
            }
        };
        let turn = Small::from_fn(self.dim, self.dim, |i, j| {
            eigen.vectors.get(i, j) * weight(eigen.values[j])
        });
        let mut out = passed.times(&turn);
        unit_rows(&mut out);
        Ok(out)
    }
}

/// log(A_ij / d_i) − log n_j on the edges.
fn logarithms(graph: &Graph) -> Csr {
    let pattern = graph.pattern();
    let degrees = Normalised::of(graph).degrees;
    let mut frequencies = vec![0.0; graph.nodes()];
    for i in 0..graph.nodes() {
        for k in pattern.range(i) {
            frequencies[pattern.columns()[k] as usize] += weight(graph, k) / degrees[i];
        }
    }
    frequencies
        .iter_mut()
        .for_each(|f| *f = f64::powf(*f, 0.75));
    let total: f64 = frequencies.iter().sum();
    let mut values = Vec::with_capacity(pattern.nnz());
    for i in 0..graph.nodes() {
        for k in pattern.range(i) {
            let frequency = frequencies[pattern.columns()[k] as usize] / total;
            values.push(((weight(graph, k) / degrees[i]).ln() - frequency.ln()) as f32);
        }
    }
    Csr::new(Arc::new(pattern.as_ref().clone()), values.into())
}

/// (A + I) x, each row divided by its degree plus one if degrees are given.
fn walked(graph: &Graph, x: &Block, degrees: Option<&[f64]>) -> Block {
    let mut out = Block::zeros(x.rows(), x.cols());
    out.update_rows(|i, row| {
        let mut sums: Vec<f64> = x.row(i).iter().map(|&v| f64::from(v)).collect();
        for k in graph.pattern().range(i) {
            let other = x.row(graph.pattern().columns()[k] as usize);
            let both = sums.iter_mut().zip(other);
            both.for_each(|(s, &v)| *s += weight(graph, k) * f64::from(v));
        }
        let divisor = degrees.map_or(1.0, |degrees| 1.0 + degrees[i]);
        row.iter_mut()
            .zip(sums)
            .for_each(|(to, sum)| *to = (sum / divisor) as f32);
    });
    out
}

/// A sum of multiples of blocks.
fn combined(terms: &[(f64, &Block)]) -> Block {
    let mut out = Block::zeros(terms[0].1.rows(), terms[0].1.cols());
    out.update_rows(|i, row| {
        for (j, to) in row.iter_mut().enumerate() {
            *to = terms
                .iter()
                .map(|(factor, x)| factor * f64::from(x.get(i, j)))
                .sum::<f64>() as f32;
        }
    });
    out
}

/// Rows of length one; zeros stay zeros.
fn unit_rows(x: &mut Block) {
    x.update_rows(|_, row| {
        let square: f64 = row.iter().map(|&v| f64::from(v).powi(2)).sum();
        let length = square.sqrt();
        if length > 0.0 {
            row.iter_mut()
                .for_each(|v| *v = (f64::from(*v) / length) as f32);
        }
    });
}

/// The modified Bessel function of the first kind, I_i(s), by its series.
fn bessel(i: usize, s: f64) -> f64 {
    let mut term = (1..=i).fold(1.0, |term, k| term * s / 2.0 / k as f64);
    let mut sum = term;
    for k in 1..200 {
        term *= (s / 2.0).powi(2) / (k as f64 * (k + i) as f64);
        sum += term;
    }
    sum
}
