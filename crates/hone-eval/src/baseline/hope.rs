//! HOPE: source and target vectors from the Katz proximity, which tells i → j from j → i.
//!
//! The proximity S = Σ_l βˡ Aˡ counts walks along arcs, shorter ones more. It is cut off after `steps` steps and never formed: the
//! first D/2 singular vectors of the sum of powers give U √Σ (a node as source) and V √Σ (as target), side by side, so that
//! the product of one node's source half and another's target half approximates S. β is `decay` over the largest
//! singular value of A, so that the series converges, and a common factor of all weights changes nothing: A is divided by a
//! power of two near that value first, so that no power of it leaves the range of f32. Undirected graphs have U = ±V. Cost: `steps` sparse products
//! per iteration; memory linear in nodes and arcs.
//!
//! Reference: Ou, Cui, Pei, Zhang, Zhu. Asymmetric transitivity preserving graph embedding, 2016.

use std::sync::Arc;

use hone::dense::Block;
use hone::factor::svd::{Svd, svd};
use hone::factor::{Factors, Task};
use hone::graph::Graph;
use hone::matrix::{Accumulate, MotifMatrix, Psi};
use hone::operator::Operator;
use hone::random::Key;
use hone::sparse::Csr;
use hone::{Error, Progress, Result};
use serde::{Deserialize, Serialize};

use super::range;

/// The options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hope {
    /// Length of the vectors, D: half for a node as source, half as target.
    pub dim: usize,
    /// Length of the longest walks.
    pub steps: usize,
    /// β times the largest singular value of A, between 0 and 1.
    pub decay: f64,
}

impl Default for Hope {
    fn default() -> Self {
        Hope {
            dim: 128,
            steps: 4,
            decay: 0.5,
        }
    }
}

impl Hope {
    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("dim", self.dim, &range::DIM)?;
        range::check("steps", self.steps, &(1..=16))?;
        if self.dim < 2 {
            return Err(Error::config(
                "dim",
                format!("is {}; must be from 2, half for each side", self.dim),
            ));
        }
        if self.decay > 0.0 && self.decay < 1.0 {
            return Ok(());
        }
        Err(Error::config(
            "decay",
            format!("is {}; must be between 0 and 1", self.decay),
        ))
    }

    /// The vectors of all nodes; of an odd number of columns that in the middle is zero.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        let mut out = Block::zeros(graph.nodes(), self.dim);
        if graph.edges() == 0 {
            return Ok(out);
        }
        let factor = |s: &Operator, rank: usize, purpose: &str| {
            let task = Task {
                rank,
                right: true,
                key: Key::new(seed).with(purpose, 0),
                progress,
                aside: None,
            };
            svd(s, &Svd::default(), &task)
        };
        let largest = |a: &Operator| {
            Ok(factor(a, 1, "hope norm")?
                .sigma
                .first()
                .copied()
                .unwrap_or(0.0))
        };
        let Some((norm, a)) = bounded(graph, largest)? else {
            return Ok(out);
        };
        let accumulate = Accumulate::Decay(self.decay / norm);
        let katz = MotifMatrix {
            psi: Psi::W,
            accumulate,
            ..MotifMatrix::default()
        };
        // No further scale, which would be lost: the norm of A is near 1.
        let (_, katz) = katz.scaled_operator_within(&a, 1.0, self.steps, f64::INFINITY)?;
        let half = self.dim / 2;
        let Factors { u, sigma, v, .. } = factor(&katz, half, "hope")?;
        let v = v.expect("the right factor was asked for");
        for i in 0..graph.nodes() {
            let row = out.row_mut(i);
            for (j, sigma) in sigma.iter().take(half).enumerate() {
                let root = sigma.max(0.0).sqrt() as f32;
                row[j] = root * u.get(i, j);
                row[self.dim - half + j] = root * v.get(i, j);
            }
        }
        Ok(out)
    }
}

/// A over a power of two, and its largest singular value, which is then near 1; nothing where A is zero.
fn bounded(
    graph: &Graph,
    largest: impl Fn(&Operator) -> Result<f64>,
) -> Result<Option<(f64, Operator)>> {
    let ones = || Arc::from(vec![1.0; graph.pattern().nnz()]);
    let weights: Arc<[f32]> = graph.weights().cloned().unwrap_or_else(ones);
    let times = |exponent: i32| {
        let scaled = weights
            .iter()
            .map(|&w| (f64::from(w) * f64::from(exponent).exp2()) as f32)
            .collect();
        if graph.is_directed() {
            Operator::sparse("A", Csr::new(graph.pattern().clone(), scaled))
        } else {
            Operator::symmetric("A", Csr::new(graph.pattern().clone(), scaled))
        }
    };
    let exponent = |size: f64| size.log2().round() as i32;
    let most = weights
        .iter()
        .fold(0.0, |most, &w| f64::max(most, f64::from(w).abs()));
    if most == 0.0 {
        return Ok(None);
    }
    // Entries of about 1 first: products of larger ones may be more than f32 holds.
    let first = exponent(most);
    let norm = largest(&times(-first))?;
    if norm <= 0.0 {
        return Ok(None);
    }
    let second = exponent(norm);
    Ok(Some((
        norm * f64::from(-second).exp2(),
        times(-first - second),
    )))
}

#[cfg(test)]
mod tests {
    use hone::Silent;
    use hone::graph::GraphBuilder;

    use super::*;

    /// All directions of a small graph give the proximity itself back: sums of powers, entry by entry.
    #[test]
    fn halves_multiply_to_the_truncated_katz_proximity() {
        let edges = vec![(0, 1), (1, 2), (2, 3), (0, 2), (3, 1), (4, 0)];
        let n = 5;
        let graph = GraphBuilder::directed(n)
            .edges(edges.clone())
            .build()
            .expect("a graph");
        let options = Hope {
            dim: 10,
            steps: 3,
            decay: 0.5,
        };
        let z = options.embed(&graph, 1, &Silent).expect("vectors");
        let mut power = vec![vec![0f64; n]; n];
        (0..n).for_each(|i| power[i][i] = 1.0);
        let mut walks = Vec::new();
        for _ in 0..3 {
            let mut next = vec![vec![0f64; n]; n];
            for &(u, v) in &edges {
                (0..n).for_each(|i| next[i][v as usize] += power[i][u as usize]);
            }
            power = next;
            walks.push(power.clone());
        }
        let product = |i: usize, j: usize| {
            (0..5)
                .map(|k| f64::from(z.get(i, k) * z.get(j, 5 + k)))
                .sum::<f64>()
        };
        // β follows from an entry that walks of one step alone reach: 4 → 0.
        let beta = 3.0 * product(4, 0);
        assert!(beta > 0.1 && beta < 0.5, "{beta}");
        for i in 0..n {
            for j in 0..n {
                let expected: f64 = (0..3)
                    .map(|l| beta.powi(l as i32 + 1) * walks[l][i][j])
                    .sum::<f64>()
                    / 3.0;
                assert!(
                    (product(i, j) - expected).abs() < 1e-4,
                    "{i} → {j}: {} and {expected}",
                    product(i, j)
                );
            }
        }
    }
    /// A common factor of all weights changes nothing, not one bit where it is a power of two; steps whose powers would
    /// leave the range of f32 do not vanish.
    #[test]
    fn a_common_factor_changes_nothing() {
        let edges: Vec<(u32, u32)> = (1..200u32)
            .flat_map(|i| [(i, i / 2), (i, i * i % 199), (i / 3, i)])
            .collect();
        let vectors = |factor: f64, options: &Hope| {
            let weights = (0..edges.len())
                .map(|i| (factor * (1.0 + (i % 5) as f64)) as f32)
                .collect();
            let graph = GraphBuilder::directed(200)
                .edges(edges.clone())
                .weights(weights)
                .build()
                .expect("a graph");
            options.embed(&graph, 1, &Silent).expect("vectors")
        };
        for steps in [4, 16] {
            let options = Hope {
                dim: 9,
                steps,
                decay: 0.5,
            };
            let plain = vectors(1.0, &options);
            let size = |z: &Block| z.as_slice().iter().map(|v| f64::from(v * v)).sum::<f64>();
            assert!(size(&plain) > 1e-3, "{}", size(&plain));
            assert!(
                (0..200).all(|i| plain.get(i, 4) == 0.0),
                "the column in the middle"
            );
            for factor in [2f64.powi(100), 2f64.powi(-100)] {
                assert_eq!(vectors(factor, &options), plain, "{factor}");
            }
            let other = vectors(1e8, &options);
            let apart = plain
                .as_slice()
                .iter()
                .zip(other.as_slice())
                .map(|(a, b)| f64::from(a - b).powi(2))
                .sum::<f64>();
            assert!(apart < 1e-4 * size(&plain), "{apart}");
        }
    }
}
