//! Eigenpairs of small projections, and the residuals that measure convergence.

use crate::dense::Small;
use crate::error::Result;
use crate::factor::method::Info;
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

    /// Residuals ‖F E_last‖ from the Gram matrix of F.
    pub(super) fn judge(&self, gram: &Small, rank: usize, tolerance: f64, info: &mut Info) {
        let (n, width) = (self.vectors.rows(), gram.rows());
        let last = Small::from_fn(width, self.vectors.cols(), |i, j| {
            self.vectors.get(n - width + i, j)
        });
        let image = gram.times(&last);
        let lengths = (0..self.values.len()).map(|j| {
            let square: f64 = (0..width).map(|i| last.get(i, j) * image.get(i, j)).sum();
            square.max(0.0).sqrt()
        });
        info.judge(lengths.zip(&self.values).take(rank), tolerance);
    }
}

impl Info {
    /// The largest of the residuals, each relative to its value, minus what rounding of the products explains. Values
    /// that count as zero have none. The tolerance is met if this number meets it.
    pub(super) fn judge<'a>(
        &mut self,
        residuals: impl Iterator<Item = (f64, &'a f64)>,
        tolerance: f64,
    ) {
        let (mut worst, mut most) = (0.0f64, None);
        for (length, value) in residuals.map(|(length, value)| (length, value.abs())) {
            let most = *most.get_or_insert(value);
            if length > NOISE * most && value > ZERO * most {
                worst = worst.max((length - NOISE * most) / value);
            }
        }
        self.residual = Some(worst);
        self.converged = worst <= tolerance;
    }
}
