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
use serde::{Deserialize, Serialize};

use super::spectral::Normalised;
use super::{range, undirected};

/// The options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProNe {
    /// Length of the vectors, D.
    pub dim: usize,
    /// Chebyshev polynomials of the filter.
    pub order: usize,
    /// Sharpness of the filter, θ.
    pub theta: f64,
    /// Middle of the filter, μ.
    pub mu: f64,
}

impl Default for ProNe {
    fn default() -> Self {
        ProNe {
            dim: 128,
            order: 10,
            theta: 0.5,
            mu: 0.2,
        }
    }
}

/// Iterations of the sparse decomposition.
const ITERATIONS: usize = 12;

impl ProNe {
    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("dim", self.dim, &range::DIM)?;
        range::check("order", self.order, &(2..=1000))?;
        range::check("theta", self.theta, &(1e-9..=100.0))?;
        range::check("mu", self.mu, &(-2.0..=2.0))
    }

    /// The vectors of all nodes; columns beyond the number of nodes are zero.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        let graph = undirected(graph)?;
        if graph.nodes() == 0 {
            return Ok(Block::zeros(0, self.dim));
        }
        let mut start = self.factored(&graph, seed, progress)?;
        unit_rows(&mut start);
        self.propagated(&graph, &start, progress)
    }

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
        let mut found = svd(
            &f,
            &options,
            &Task {
                rank,
                right: false,
                key,
                progress,
                aside: None,
            },
        )?;
        found.u.scale_columns(
            &found
                .sigma
                .iter()
                .map(|sigma| sigma.sqrt())
                .collect::<Vec<_>>(),
        );
        Ok(found.u.widened(self.dim))
    }

    /// The filtered vectors, U √Σ with rows of length one.
    fn propagated(&self, graph: &Graph, start: &Block, progress: &dyn Progress) -> Result<Block> {
        let degrees = Normalised::of(graph).degrees;
        // (L − μ) x.
        let step = |x: &Block| {
            combined(&[
                (1.0 - self.mu, x),
                (-1.0, &walked(graph, x, Some(&degrees))),
            ])
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
    let weight = |k: usize| graph.weights().map_or(1.0, |w| f64::from(w[k]));
    let degrees = Normalised::of(graph).degrees;
    let mut frequencies = vec![0.0; graph.nodes()];
    for i in 0..graph.nodes() {
        pattern
            .range(i)
            .for_each(|k| frequencies[pattern.columns()[k] as usize] += weight(k) / degrees[i]);
    }
    frequencies
        .iter_mut()
        .for_each(|f| *f = f64::powf(*f, 0.75));
    let total: f64 = frequencies.iter().sum();
    let of_row = |i: usize| {
        let entry = |k: usize| {
            (weight(k) / degrees[i]).ln()
                - (frequencies[pattern.columns()[k] as usize] / total).ln()
        };
        pattern
            .range(i)
            .map(move |k| entry(k) as f32)
            .collect::<Vec<f32>>()
    };
    let values: Vec<f32> = (0..graph.nodes()).flat_map(of_row).collect();
    Csr::new(Arc::new(pattern.as_ref().clone()), values.into())
}

/// (A + I) x, each row divided by its degree plus one if degrees are given.
fn walked(graph: &Graph, x: &Block, degrees: Option<&[f64]>) -> Block {
    let mut out = Block::zeros(x.rows(), x.cols());
    let weight = |k: usize| graph.weights().map_or(1.0, |w| f64::from(w[k]));
    out.update_rows(|i, row| {
        let mut sums: Vec<f64> = x.row(i).iter().map(|&v| f64::from(v)).collect();
        for k in graph.pattern().range(i) {
            let (w, other) = (weight(k), x.row(graph.pattern().columns()[k] as usize));
            sums.iter_mut()
                .zip(other)
                .for_each(|(s, &v)| *s += w * f64::from(v));
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
        let length = row
            .iter()
            .map(|&v| f64::from(v).powi(2))
            .sum::<f64>()
            .sqrt();
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

#[cfg(test)]
mod tests {
    use super::*;
    use hone::Silent;
    use hone::graph::builtin;

    type Dense = Vec<Vec<f64>>;

    fn times(a: &Dense, b: &Dense) -> Dense {
        let entry =
            |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, other)| x * other[j]).sum();
        a.iter()
            .map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect())
            .collect()
    }

    fn transposed(a: &Dense) -> Dense {
        (0..a[0].len())
            .map(|j| a.iter().map(|row| row[j]).collect())
            .collect()
    }

    fn of_block(x: &Block) -> Dense {
        (0..x.rows())
            .map(|i| x.row(i).iter().map(|&v| f64::from(v)).collect())
            .collect()
    }

    fn far(a: &Dense, b: &Dense) -> f64 {
        let pairs = a.iter().flatten().zip(b.iter().flatten());
        pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    }

    fn adjacency(graph: &Graph) -> Dense {
        let n = graph.nodes();
        let entry = |i: usize, j: usize| {
            f64::from(u8::from(graph.neighbors(i as u32).contains(&(j as u32))))
        };
        (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect()
    }

    #[test]
    fn factors_repeat_the_logarithms() {
        let graph = builtin("karate").expect("built in");
        let (n, a) = (graph.nodes(), adjacency(&graph));
        let degree: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
        let often = |j: usize| (0..n).map(|i| a[i][j] / degree[i]).sum::<f64>().powf(0.75);
        let total: f64 = (0..n).map(often).sum();
        let entry = |i: usize, j: usize| match a[i][j] > 0.0 {
            true => (1.0 / degree[i]).ln() - (often(j) / total).ln(),
            false => 0.0,
        };
        let f: Dense = (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect();
        let found = ProNe {
            dim: n,
            ..ProNe::default()
        }
        .factored(&graph, 1, &Silent)
        .expect("small");
        let found = of_block(&found);
        let root = times(&found, &transposed(&found)); // U Σ Uᵀ
        let (ours, expected) = (times(&root, &root), times(&f, &transposed(&f)));
        assert!(far(&ours, &expected) < 0.05, "{}", far(&ours, &expected));
    }

    #[test]
    fn the_filter_is_an_exponential() {
        let graph = builtin("karate").expect("built in");
        let (n, a) = (graph.nodes(), adjacency(&graph));
        let options = ProNe {
            dim: 5,
            order: 20,
            ..ProNe::default()
        };
        let start = Block::random(n, 5, Key::new(4));
        let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
        let degree: Vec<f64> = a.iter().map(|row| row.iter().sum::<f64>() + 1.0).collect();
        let with_loops: Dense = (0..n)
            .map(|i| (0..n).map(|j| a[i][j] + identity(i, j)).collect())
            .collect();
        let shifted =
            |i: usize, j: usize| identity(i, j) * (1.0 - options.mu) - with_loops[i][j] / degree[i];
        let shifted: Dense = (0..n)
            .map(|i| (0..n).map(|j| shifted(i, j)).collect())
            .collect();
        let square = times(&shifted, &shifted);
        let exponent = |i: usize, j: usize| -options.theta * (0.5 * square[i][j] - identity(i, j));
        let exponent: Dense = (0..n)
            .map(|i| (0..n).map(|j| exponent(i, j)).collect())
            .collect();
        // exp by Taylor's series, applied to the start.
        let (mut term, mut sum) = (of_block(&start), of_block(&start));
        for k in 1..60 {
            term = times(&exponent, &term);
            term.iter_mut().flatten().for_each(|x| *x /= f64::from(k));
            sum.iter_mut()
                .flatten()
                .zip(term.iter().flatten())
                .for_each(|(s, t)| *s += t);
        }
        let rest: Dense = (0..n)
            .map(|i| {
                (0..5)
                    .map(|j| f64::from(start.get(i, j)) - sum[i][j])
                    .collect()
            })
            .collect();
        let passed = times(&with_loops, &rest);
        let found = of_block(&options.propagated(&graph, &start, &Silent).expect("finite"));
        let gram = times(&passed, &transposed(&passed));
        let ours = times(&found, &transposed(&found));
        for i in 0..n {
            assert!(
                (ours[i][i] - 1.0).abs() < 1e-5,
                "row {i} has length {}",
                ours[i][i]
            );
        }
        // (U √Σ)(U √Σ)ᵀ = U Σ Uᵀ is the root of X Xᵀ; then rows are brought to length one.
        let root = square_root(&gram);
        for (i, j) in [(0, 1), (3, 30), (16, 17), (33, 2)] {
            let expected = root[i][j] / (root[i][i] * root[j][j]).sqrt();
            assert!(
                (ours[i][j] - expected).abs() < 2e-3,
                "({i}, {j}): {} not {expected}",
                ours[i][j]
            );
        }
    }

    /// The root of a matrix of low rank, slightly lifted, by Newton's method (Denman, Beavers 1976).
    fn square_root(a: &Dense) -> Dense {
        let n = a.len();
        let lift = 1e-9
            * a.iter()
                .enumerate()
                .map(|(i, row)| row[i])
                .fold(0.0, f64::max);
        let mut y = a.clone();
        (0..n).for_each(|i| y[i][i] += lift);
        let mut z: Dense = (0..n)
            .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
            .collect();
        for _ in 0..60 {
            let (inverse_y, inverse_z) = (inverted(&y), inverted(&z));
            let half = |a: &Dense, b: &Dense| -> Dense {
                a.iter()
                    .zip(b)
                    .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a + b) / 2.0).collect())
                    .collect()
            };
            (y, z) = (half(&y, &inverse_z), half(&z, &inverse_y));
        }
        y
    }

    fn inverted(a: &Dense) -> Dense {
        let n = a.len();
        let mut rows: Dense = (0..n)
            .map(|i| {
                a[i].iter()
                    .copied()
                    .chain((0..n).map(|j| f64::from(u8::from(i == j))))
                    .collect()
            })
            .collect();
        for column in 0..n {
            let best = (column..n)
                .max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs()));
            rows.swap(column, best.expect("not empty"));
            let pivot = rows[column][column];
            rows[column].iter_mut().for_each(|x| *x /= pivot);
            let own = rows[column].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
                let factor = row[column];
                row.iter_mut().zip(&own).for_each(|(x, o)| *x -= factor * o);
            }
        }
        rows.into_iter().map(|row| row[n..].to_vec()).collect()
    }

    #[test]
    fn bessel_functions_have_known_values() {
        for (i, s, value) in [
            (0, 0.5, 1.063_483_37),
            (1, 0.5, 0.257_894_31),
            (3, 2.0, 0.212_739_96),
        ] {
            assert!(
                (bessel(i, s) - value).abs() < 1e-7,
                "I_{i}({s}) = {}",
                bessel(i, s)
            );
        }
    }
}
