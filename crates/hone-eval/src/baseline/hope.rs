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

use super::{Baseline, DIM, Ranges};

options! {
    /// The options.
    pub struct Hope {
        /// Length of the vectors, D: half for a node as source, half as target.
        dim: usize = 128, DIM;
        /// Length of the longest walks.
        steps: usize = 4, 1..=16;
        /// β times the largest singular value of A, between 0 and 1.
        decay: f64 = 0.5;
    }
}

impl Baseline for Hope {
    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        let (field, message) = if self.dim < 2 {
            (
                "dim",
                format!("is {}; must be from 2, half for each side", self.dim),
            )
        } else if self.decay > 0.0 && self.decay < 1.0 {
            return Ok(());
        } else {
            (
                "decay",
                format!("is {}; must be between 0 and 1", self.decay),
            )
        };
        Err(Error::config(field, message))
    }

    /// Of an odd number of columns that in the middle is zero.
    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
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
            let found = factor(a, 1, "hope norm")?;
            Ok(found.sigma.first().copied().unwrap_or(0.0))
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

    fn rows(&self) -> (usize, u64) {
        (self.dim, 7)
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
