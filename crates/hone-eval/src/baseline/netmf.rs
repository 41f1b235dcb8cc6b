//! NetMF: factors of the logarithm of the window matrix that DeepWalk factors implicitly.
//!
//! M = vol / (b T) · (P + P² + … + Pᵀ) D⁻¹ with P = D⁻¹A and window T; X = log max(1, M), entry by entry; the vectors are
//! U √Σ of its leading D singular triplets. Up to `exact` nodes the powers are written out, at T products of M N
//! additions. Beyond, the authors' approximation: with the `rank` largest eigenpairs (λ, V) of D^-½ A D^-½,
//! M ≈ vol / b · D^-½ V f(λ) Vᵀ D^-½, f(λ) = max(0, λ (1 − λᵀ) / (T (1 − λ))). Either way N × N values are held, so memory is
//! guarded. Directed graphs are taken as undirected; a node without edges gets zeros.
//!
//! Reference: Qiu, Dong, Ma, Li, Wang, Tang. Network embedding as matrix factorization, 2018.

use hone::dense::Block;
use hone::graph::Graph;
use hone::{Progress, Result};
use serde::{Deserialize, Serialize};

use super::spectral::{Normalised, eigenpairs};
use super::square::{self, Square};
use super::{range, undirected};

/// The options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetMf {
    /// Length of the vectors, D.
    pub dim: usize,
    /// Window, T.
    pub window: usize,
    /// Negative samples, b.
    pub negatives: usize,
    /// Eigenpairs of the approximation.
    pub rank: usize,
    /// Graphs of more nodes are approximated.
    pub exact: usize,
    /// Bytes the dense matrices may take.
    pub memory: u64,
}

impl Default for NetMf {
    fn default() -> Self {
        NetMf {
            dim: 128,
            window: 10,
            negatives: 1,
            rank: 256,
            exact: 2000,
            memory: 8 << 30,
        }
    }
}

impl NetMf {
    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("dim", self.dim, &range::DIM)?;
        range::check("window", self.window, &range::WINDOW)?;
        range::check("negatives", self.negatives, &range::NEGATIVES)?;
        range::check("rank", self.rank, &range::DIM)
    }

    /// The vectors of all nodes; columns beyond the number of nodes are zero.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        let graph = undirected(graph)?;
        let n = graph.nodes();
        let exact = n <= self.exact;
        square::check_room("NetMF", if exact { 3 } else { 1 }, n, self.memory)?;
        let mut out = Block::zeros(n, self.dim);
        if n == 0 {
            return Ok(out);
        }
        let normalised = Normalised::of(&graph);
        let mut window = match exact {
            true => self.walked(&graph, &normalised, progress)?,
            false => self.approximated(&normalised, seed)?,
        };
        progress.check()?;
        window.update_rows(|_, row| row.iter_mut().for_each(|m| *m = m.max(1.0).ln()));
        let (vectors, roots) = window.factor(self.dim.min(n), seed)?;
        for i in (0..n).filter(|&i| normalised.degrees[i] > 0.0) {
            let values = roots
                .iter()
                .enumerate()
                .map(|(j, root)| (vectors[(i, j)] * root) as f32);
            out.row_mut(i)
                .iter_mut()
                .zip(values)
                .for_each(|(o, v)| *o = v);
        }
        Ok(out)
    }

    /// The window matrix from powers of P.
    fn walked(
        &self,
        graph: &Graph,
        normalised: &Normalised<'_>,
        progress: &dyn Progress,
    ) -> Result<Square> {
        let n = graph.nodes();
        let (mut power, mut sum) = (Square::identity(n), Square::from_rows(n, |_, _| ()));
        progress.stage("NetMF window", self.window as u64);
        for _ in 0..self.window {
            progress.check()?;
            power = power.walked(graph);
            sum.update_rows(|i, row| row.iter_mut().zip(power.row(i)).for_each(|(s, p)| *s += p));
            progress.advance(1);
        }
        let factor = normalised.volume() / (self.negatives * self.window) as f64;
        let roots = &normalised.roots;
        sum.update_rows(|_, row| {
            row.iter_mut()
                .zip(roots)
                .for_each(|(m, root)| *m *= factor * root * root);
        });
        Ok(sum)
    }

    /// The window matrix from the largest eigenpairs.
    fn approximated(&self, normalised: &Normalised<'_>, seed: u64) -> Result<Square> {
        let found = eigenpairs(normalised, self.rank, seed)?;
        let n = normalised.degrees.len();
        let factor = normalised.volume() / self.negatives as f64;
        let filtered: Vec<f64> = found
            .values
            .iter()
            .map(|&value| window_filter(value, self.window))
            .collect();
        let kept: Vec<usize> = (0..filtered.len()).filter(|&j| filtered[j] > 0.0).collect();
        let weight = |i: usize, j: usize| {
            normalised.roots[i] * (factor * filtered[j]).sqrt() * found.vectors[(i, j)]
        };
        let x: Vec<Vec<f64>> = (0..n)
            .map(|i| kept.iter().map(|&j| weight(i, j)).collect())
            .collect();
        Ok(Square::from_rows(n, |i, row| {
            let dot = |other: &[f64]| x[i].iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            row.iter_mut()
                .zip(&x)
                .for_each(|(m, other)| *m = dot(other));
        }))
    }
}

/// (λ + λ² + … + λᵀ) / T, at least 0.
fn window_filter(value: f64, window: usize) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0);
    for _ in 0..window {
        power *= value;
        sum += power;
    }
    (sum / window as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::Silent;
    use hone::graph::builtin;

    /// M by its definition, entry by entry: probabilities of walks, summed over all of them.
    fn by_walks(graph: &Graph, window: usize, negatives: f64) -> Vec<Vec<f64>> {
        let n = graph.nodes();
        let volume: f64 = (0..n as u32).map(|i| graph.degree(i) as f64).sum();
        let ends = |start: u32| {
            let mut now = vec![0.0; n];
            now[start as usize] = 1.0;
            let mut seen = vec![0.0; n];
            for _ in 0..window {
                let mut next = vec![0.0; n];
                for (i, share) in now.iter().enumerate() {
                    let around = graph.neighbors(i as u32);
                    around
                        .iter()
                        .for_each(|&j| next[j as usize] += share / around.len() as f64);
                }
                seen.iter_mut().zip(&next).for_each(|(s, p)| *s += p);
                now = next;
            }
            seen
        };
        let entry = |j: usize, p: f64| {
            volume * p / (negatives * window as f64 * graph.degree(j as u32) as f64)
        };
        (0..n as u32)
            .map(|i| {
                ends(i)
                    .iter()
                    .enumerate()
                    .map(|(j, &p)| entry(j, p))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn products_of_vectors_repeat_the_logarithm_of_the_window_matrix() {
        let graph = builtin("karate").expect("built in");
        let n = graph.nodes();
        let options = NetMf {
            window: 4,
            negatives: 2,
            dim: n,
            ..NetMf::default()
        };
        let vectors = options.embed(&graph, 1, &Silent).expect("fits");
        let log = |row: Vec<f64>| {
            row.into_iter()
                .map(|m| m.max(1.0).ln())
                .collect::<Vec<f64>>()
        };
        let logs: Vec<Vec<f64>> = by_walks(&graph, 4, 2.0).into_iter().map(log).collect();
        // Squared lengths of the columns of U √Σ are Σ: with weights Σ, products of rows are those of the rows of X.
        let sigma = |j: usize| {
            (0..n)
                .map(|i| f64::from(vectors.get(i, j)).powi(2))
                .sum::<f64>()
        };
        for i in 0..n {
            for j in 0..n {
                let ours: f64 = (0..n)
                    .map(|k| f64::from(vectors.get(i, k)) * f64::from(vectors.get(j, k)) * sigma(k))
                    .sum();
                let exact: f64 = logs[i].iter().zip(&logs[j]).map(|(a, b)| a * b).sum();
                assert!(
                    (ours - exact).abs() < 1e-3,
                    "({i}, {j}): {ours} instead of {exact}"
                );
            }
        }
    }

    /// The approximation with all eigenpairs leaves out the negative part of the window, and nothing else.
    #[test]
    fn the_approximation_lacks_what_is_negative() {
        let graph = builtin("karate").expect("built in");
        let n = graph.nodes();
        let options = NetMf {
            window: 4,
            negatives: 2,
            rank: n,
            ..NetMf::default()
        };
        let found = options
            .approximated(&Normalised::of(&graph), 1)
            .expect("small");
        let exact = by_walks(&graph, 4, 2.0);
        let form = |x: &[f64]| -> f64 {
            (0..n)
                .map(|i| {
                    x[i] * (0..n)
                        .map(|j| (found.row(i)[j] - exact[i][j]) * x[j])
                        .sum::<f64>()
                })
                .sum()
        };
        // D^½ times the leading eigenvector is the vector of degrees.
        let degrees: Vec<f64> = (0..n as u32).map(|i| graph.degree(i) as f64).collect();
        assert!(
            form(&degrees).abs() < 1e-6 * degrees.iter().sum::<f64>().powi(2),
            "{}",
            form(&degrees)
        );
        let mut stream = crate::random::Stream::new(1, "forms", 0);
        let mut most = 0.0f64;
        for _ in 0..50 {
            let x: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
            assert!(form(&x) > -1e-9, "{}", form(&x));
            most = most.max(form(&x));
        }
        assert!(most > 1e-3, "karate has negative eigenvalues");
    }

    #[test]
    fn the_filter_is_the_mean_of_powers() {
        for value in [-1.0, -0.3, 0.0, 0.4, 1.0] {
            let mean = (1..=7).map(|k| f64::powi(value, k)).sum::<f64>() / 7.0;
            assert!((window_filter(value, 7) - mean.max(0.0)).abs() < 1e-12);
        }
    }
}
