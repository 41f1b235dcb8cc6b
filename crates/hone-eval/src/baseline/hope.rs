//! HOPE: source and target vectors from the Katz proximity, which tells i → j from j → i.
//!
//! The proximity S = Σ_l βˡ Aˡ counts walks along arcs, shorter ones more. It is cut off after `steps` steps and never formed: the
//! first D/2 singular vectors of the sum of powers give U √Σ (a node as source) and V √Σ (as target), side by side, so that
//! the product of one node's source half and another's target half approximates S. β is `decay` over the largest
//! singular value of A, so that the series converges. Undirected graphs have U = ±V. Cost: `steps` sparse products
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
        Hope { dim: 128, steps: 4, decay: 0.5 }
    }
}

impl Hope {
    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("dim", self.dim, &range::DIM)?;
        range::check("steps", self.steps, &(1..=16))?;
        if self.dim < 2 {
            return Err(Error::config("dim", format!("is {}; must be from 2, half for each side", self.dim)));
        }
        if self.decay > 0.0 && self.decay < 1.0 {
            return Ok(());
        }
        Err(Error::config("decay", format!("is {}; must be between 0 and 1", self.decay)))
    }

    /// The vectors of all nodes; an odd last column is zero.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        let mut out = Block::zeros(graph.nodes(), self.dim);
        if graph.edges() == 0 {
            return Ok(out);
        }
        let ones = || Arc::from(vec![1.0; graph.pattern().nnz()]);
        let weights = graph.weights().cloned().unwrap_or_else(ones);
        let a = Operator::sparse("A", Csr::new(graph.pattern().clone(), weights), !graph.is_directed());
        let factor = |s: &Operator, rank: usize, purpose: &str| {
            let task = Task { rank, right: true, key: Key::new(seed).with(purpose, 0), progress };
            svd(s, &Svd::default(), &task)
        };
        let largest = factor(&a, 1, "hope norm")?.sigma.first().copied().unwrap_or(0.0);
        if largest <= 0.0 {
            return Ok(out);
        }
        let katz =
            MotifMatrix { psi: Psi::W, accumulate: Accumulate::Decay(self.decay / largest), ..MotifMatrix::default() };
        let Factors { u, sigma, v, .. } = factor(&katz.operator(&a, self.steps)?, self.dim / 2, "hope")?;
        let v = v.expect("the right factor was asked for");
        let half = self.dim / 2;
        for i in 0..graph.nodes() {
            let row = out.row_mut(i);
            for (j, sigma) in sigma.iter().take(half).enumerate() {
                let root = sigma.max(0.0).sqrt() as f32;
                row[j] = root * u.get(i, j);
                row[half + j] = root * v.get(i, j);
            }
        }
        Ok(out)
    }
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
        let graph = GraphBuilder::directed(n).edges(edges.clone()).build().expect("a graph");
        let options = Hope { dim: 10, steps: 3, decay: 0.5 };
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
        let product = |i: usize, j: usize| (0..5).map(|k| f64::from(z.get(i, k) * z.get(j, 5 + k))).sum::<f64>();
        // β follows from an entry that walks of one step alone reach: 4 → 0.
        let beta = 3.0 * product(4, 0);
        assert!(beta > 0.1 && beta < 0.5, "{beta}");
        for i in 0..n {
            for j in 0..n {
                let expected: f64 = (0..3).map(|l| beta.powi(l as i32 + 1) * walks[l][i][j]).sum::<f64>() / 3.0;
                assert!((product(i, j) - expected).abs() < 1e-4, "{i} → {j}: {} and {expected}", product(i, j));
            }
        }
    }
}
