//! Eigenpairs of small projections, and the estimated residuals that end iterations.

use crate::dense::Small;
use crate::error::Result;
use crate::factor::svd_options::{NOISE, ZERO};

/// Leading eigenvalues of H by magnitude, and their vectors.
pub(super) struct Ritz {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Small,
}

/// When an iteration with a basis ends.
pub(super) struct Until {
    /// Maximum number of applications of A.
    pub(super) limit: usize,
    /// Blocks in the basis before it is restarted.
    pub(super) depth: usize,
    /// The residual at which to stop.
    pub(super) tolerance: f64,
}

impl Ritz {
    /// The `count` leading eigenpairs of H (symmetrised: its halves differ by rounding).
    pub(super) fn of(h: &Small, count: usize) -> Result<Ritz> {
        let n = h.rows();
        let even = Small::from_fn(n, n, |i, j| 0.5 * (h.get(i, j) + h.get(j, i)));
        let eigen = even.eigen()?;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| eigen.values[j].abs().total_cmp(&eigen.values[i].abs()));
        let values = order[..count].iter().map(|&i| eigen.values[i]).collect();
        Ok(Ritz {
            values,
            vectors: Small::from_fn(n, count, |i, j| eigen.vectors.get(i, order[j])),
        })
    }

    /// The worst of the residuals ‖F E_last‖, from the Gram matrix of F.
    pub(super) fn worst(&self, gram: &Small, rank: usize) -> f64 {
        let (n, width) = (self.vectors.rows(), gram.rows());
        let last = Small::from_fn(width, self.vectors.cols(), |i, j| {
            self.vectors.get(n - width + i, j)
        });
        worst(&lengths(gram, &last), &self.values, rank)
    }
}

/// ‖F E‖ for each column of E, from the Gram matrix of F.
pub(super) fn lengths(gram: &Small, e: &Small) -> Vec<f64> {
    let image = gram.times(e);
    let square = |j: usize| -> f64 { (0..e.rows()).map(|i| e.get(i, j) * image.get(i, j)).sum() };
    (0..e.cols()).map(|j| square(j).max(0.0).sqrt()).collect()
}

/// The largest of the first residuals, each relative to its value, minus what rounding of the products explains: no
/// iteration would lower that. Values that count as zero have none.
pub(super) fn worst(residuals: &[f64], values: &[f64], rank: usize) -> f64 {
    let most = values.first().map_or(0.0, |value| value.abs());
    let beyond = |(length, value): (&f64, &f64)| match value.abs() {
        value if value > ZERO * most => (length - NOISE * most).max(0.0) / value,
        _ => 0.0,
    };
    let pairs = residuals.iter().zip(values).take(rank);
    pairs.map(beyond).fold(0.0, f64::max)
}
