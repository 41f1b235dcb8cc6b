//! The leading eigenvectors of a positive semidefinite map that can only be applied.
//!
//! Subspace iteration with a few columns more than requested: Q ← orth(A Q E), E being the eigenvectors of
//! QᵀAQ, largest first (Halko, Martinsson, Tropp 2011). The result is only the start of a tensor model, so
//! a few rounds are enough.

use crate::dense::{Block, Small, orthonormalize};
use crate::error::Result;
use crate::random::Key;

/// Columns beyond those requested.
const OVERSAMPLING: usize = 8;

/// The last round is the one that gains less than this share of the eigenvalues' sum.
const GAIN: f64 = 1e-7;

/// At most `width` orthonormal columns (zero where A has fewer directions), largest eigenvalue first.
pub(super) fn leading(
    nodes: usize,
    width: usize,
    rounds: usize,
    key: Key,
    mut apply: impl FnMut(&Block) -> Result<Block>,
) -> Result<Block> {
    let mut q = Block::random(nodes, (width + OVERSAMPLING).min(nodes), key);
    orthonormalize(&mut q);
    let mut before = 0.0;
    for _ in 0..rounds.max(1) {
        let mut image = apply(&q)?;
        let h = q.cross(&image);
        let eigen =
            Small::from_fn(h.rows(), h.rows(), |i, j| 0.5 * (h.get(i, j) + h.get(j, i))).eigen()?;
        image.transform(&eigen.vectors);
        orthonormalize(&mut image);
        q = image;
        let sum: f64 = eigen
            .values
            .iter()
            .take(width)
            .map(|value| value.max(0.0))
            .sum();
        if sum - before <= GAIN * sum {
            break;
        }
        before = sum;
    }
    Ok(if width < q.cols() {
        q.columns(0..width)
    } else {
        q
    })
}
