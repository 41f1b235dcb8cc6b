//! Where a layout begins: the two leading principal components, ten units wide.
//!
//! Cost: O(N D²) and one eigen decomposition of D × D.

use hone::Result;
use hone::dense::{Block, Norm, Small};

use crate::space::Space;

/// Half the width of the picture that a descent begins with.
const EXTENT: f64 = 10.0;

/// The two leading principal components of the prepared rows. The signs are fixed: positive with the sum of all columns.
pub(super) fn components(space: &Space) -> Result<Block> {
    let (x, n) = (space.vectors(), space.len());
    let width = x.cols();
    if n == 0 || width == 0 {
        return Ok(Block::zeros(n, 2));
    }
    let ones = Block::from_vec(n, 1, vec![1.0; n]);
    let sums = x.cross(&ones);
    let mean = |j: usize| sums.get(j, 0) / n as f64;
    let gram = x.gram();
    let covariance = Small::from_fn(width, width, |i, j| {
        gram.get(i, j) - n as f64 * mean(i) * mean(j)
    });
    let eigen = covariance.eigen()?;
    let direction = |i: usize, j: usize| {
        if j < width {
            eigen.vectors.get(i, j)
        } else {
            0.0
        }
    };
    let sign = |j: usize| {
        if (0..width).map(|i| direction(i, j)).sum::<f64>() < 0.0 {
            -1.0
        } else {
            1.0
        }
    };
    let signs = [sign(0), sign(1)];
    let mut placed = x.times(&Small::from_fn(width, 2, |i, j| signs[j] * direction(i, j)));
    let centre: [f64; 2] = std::array::from_fn(|j| {
        signs[j] * (0..width).map(|i| mean(i) * direction(i, j)).sum::<f64>()
    });
    placed.update_rows(|_, row| (0..2).for_each(|j| row[j] -= centre[j] as f32));
    let widest = placed
        .column_norms(Norm::Max)
        .into_iter()
        .fold(0.0, f64::max);
    let scale = if widest > 0.0 { EXTENT / widest } else { 0.0 };
    placed.update_rows(|_, row| {
        row.iter_mut()
            .for_each(|x| *x = (f64::from(*x) * scale) as f32);
    });
    Ok(placed)
}
