//! The normalised matrix of a view, (D+τ)^-½ W (D+τ)^-½, and what factors of it are measured and weighed by.

use crate::dense::{Block, Norm, Panels, Small};
use crate::engine::Shape;
use crate::parallel;
use crate::sparse::Csr;

/// Singular values below this part of the largest are rounding noise.
const NOISE: f64 = 1e-6;

/// All panels in one block; the panels stay.
pub(super) fn joined(u: &Panels) -> Block {
    u.clone().into_block()
}

/// Motif degrees, of weights as they are.
pub(super) fn degrees(matrix: &Csr, scale: f64) -> Vec<f64> {
    let sum = |i: usize| matrix.row(i).1.iter().map(|&w| f64::from(w)).sum::<f64>() / scale;
    parallel::collect(matrix.rows(), sum)
}

/// (D+τ)^-½ W (D+τ)^-½.
pub(super) fn normalized(matrix: &Csr, scale: f64, degrees: &[f64], tau: f64) -> Csr {
    let roots: Vec<f64> = degrees.iter().map(|&d| root(d, tau)).collect();
    matrix.scaled(|i, j| roots[i] * roots[j] / scale)
}

/// (d+τ)^-½; nothing for a node without the motif.
pub(super) fn root(degree: f64, tau: f64) -> f64 {
    if degree > 0.0 {
        (degree + tau).sqrt().recip()
    } else {
        0.0
    }
}

pub(super) fn mean_of_nonzero(d: &[f64]) -> f64 {
    let nodes = d.iter().filter(|&&d| d != 0.0).count();
    d.iter().sum::<f64>() / nodes.max(1) as f64
}

/// The symmetric part.
pub(super) fn symmetric(c: &Small) -> Small {
    Small::from_fn(c.rows(), c.cols(), |i, j| (c.get(i, j) + c.get(j, i)) / 2.0)
}

/// ‖A X − X C‖ / ‖X C‖, A X being the image: X may be some rows of factors only.
pub(super) fn relative_residual(mut image: Block, x: &Block, c: &Small) -> f64 {
    let expected = x.times(c);
    image.update_rows(|i, row| {
        row.iter_mut()
            .zip(expected.row(i))
            .for_each(|(to, x)| *to -= x);
    });
    let length = |block: &Block| {
        block
            .column_norms(Norm::L2)
            .iter()
            .map(|norm| norm * norm)
            .sum::<f64>()
            .sqrt()
    };
    let size = length(&expected);
    if size > 0.0 {
        length(&image) / size
    } else {
        0.0
    }
}

/// What the columns of U Σ^K are multiplied with by the norm and the scale of a local embedding.
pub(super) fn weights(shape: &Shape, x: &Block, sigma: &[f64]) -> Vec<f64> {
    let largest = sigma.first().copied().unwrap_or(0.0);
    let scales = shape
        .weights(sigma, x.rows())
        .unwrap_or_else(|| vec![1.0; sigma.len()]);
    let weight = |(norm, (&sigma, scale)): (f64, (&f64, f64))| {
        if norm > 0.0 && sigma > NOISE * largest {
            scale / (norm * sigma)
        } else {
            0.0
        }
    };
    x.column_norms(shape.norm)
        .into_iter()
        .zip(sigma.iter().zip(scales))
        .map(weight)
        .collect()
}
