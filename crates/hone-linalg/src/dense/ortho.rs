//! Orthonormal columns by Cholesky QR, repeated (Yamamoto et al. 2015), safe for deficient rank.
//!
//! Each pass takes the Gram matrix G = XᵀX in f64, its factor G = RᵀR, and X ← X R⁻¹. One pass loses orthogonality by
//! the condition number times f32 precision; the second repairs it. Columns are scaled to length one inside G first. A
//! column that depends on those before it, to f32 precision, becomes a zero column instead of amplified noise. Cost:
//! per pass N b² multiply-adds for G (half of it by symmetry) and N b² for the product.

use super::small::dot;
use super::{Block, Small};
use crate::clock::{Work, timed};
use crate::space::{Host, Space};

/// Squared length, relative to the column's own, below which what is left of a column after the
/// columns before it is rounding noise: (100 × f32 precision)².
const NOISE: f64 = 1e-10;

/// Deviation of a Gram matrix from the identity that f32 entries cannot improve on.
const ORTHONORMAL: f64 = 1e-6;

/// Turns X into Q with orthonormal columns that span the same space; dependent columns become zero.
/// Returns which columns are kept: their count is the numerical rank.
pub fn orthonormalize(x: &mut Block) -> Vec<bool> {
    orthonormalize_in(&Host, std::slice::from_mut(x))
}

/// The same for panels in any space.
pub fn orthonormalize_in<S: Space>(space: &S, x: &mut [S::Tall]) -> Vec<bool> {
    let size = |panel: &S::Tall| {
        let (rows, cols) = space.shape(panel);
        (size_of::<f32>() * rows * cols) as u64
    };
    // Mostly one pass: read for the Gram matrix, read and written for the product.
    let bytes = 3 * x.iter().map(size).sum::<u64>();
    timed(Work::Orthonormalise, bytes, || {
        let cols = x.iter().map(|panel| space.shape(panel).1).sum();
        let mut kept = vec![true; cols];
        // Columns far from dependent need one pass; the third is only reached after a bad start.
        for most in [1e-1, 1e-4, 0.0] {
            let gram = space.gram(x);
            if deviation(&gram, &kept) < ORTHONORMAL {
                break;
            }
            let (inverse, hardest) = inverse_factor(&gram, &mut kept);
            space.transform(x, &inverse);
            if hardest > most {
                break;
            }
        }
        kept
    })
}

/// Largest entry of |G − I|, where dropped columns are expected to be zero.
fn deviation(gram: &Small, kept: &[bool]) -> f64 {
    let mut worst = 0.0f64;
    for i in 0..gram.rows() {
        for j in 0..=i {
            let expected = f64::from(u8::from(i == j && kept[i]));
            let off = (gram.get(i, j) - expected).abs();
            // Written so that NaN counts as far away.
            worst = if off <= worst { worst } else { off };
        }
    }
    worst
}

/// T with X·T orthonormal, from G = XᵀX: the inverse of the Cholesky factor, with zero columns where
/// a column is dependent (and is struck from `kept`). Also the smallest pivot kept.
fn inverse_factor(gram: &Small, kept: &mut [bool]) -> (Small, f64) {
    let n = gram.rows();
    // Not normal numbers: zero columns, overflow.
    let scale: Vec<f64> = (0..n)
        .map(|j| gram.get(j, j))
        .map(|d| if d.is_normal() { d.sqrt().recip() } else { 0.0 })
        .collect();
    // Gram–Schmidt in the inner product G: column j of `t`, and row j of `columns`, hold the coefficients of q_j. Loops run
    // along rows, so that they use vector instructions.
    let (mut t, mut columns) = (Small::zeros(n, n), Small::zeros(n, n));
    let mut hardest = 1.0f64;
    for j in 0..n {
        let mut column = vec![0.0; n];
        column[j] = scale[j];
        for _ in 0..2 {
            let image = image(gram, &column[..=j]);
            let mut along = vec![0.0; j];
            for q in (0..j).filter(|&q| kept[q]) {
                add(&mut along[q..], image[q], &t.row(q)[q..j]);
            }
            for q in (0..j).filter(|&q| kept[q]) {
                add(&mut column[..=q], -along[q], &columns.row(q)[..=q]);
            }
        }
        let pivot = dot(&column[..=j], &image(gram, &column[..=j]));
        kept[j] &= scale[j] > 0.0 && pivot > NOISE;
        if kept[j] {
            hardest = hardest.min(pivot);
            for (i, value) in column[..=j].iter().enumerate() {
                t.set(i, j, value / pivot.sqrt());
                columns.set(j, i, value / pivot.sqrt());
            }
        }
    }
    (t, hardest)
}

/// The first entries of G x, as many as x has.
fn image(gram: &Small, x: &[f64]) -> Vec<f64> {
    let mut image = vec![0.0; x.len()];
    for (i, &x) in x.iter().enumerate() {
        add(&mut image, x, gram.row(i));
    }
    image
}

/// Y ← Y + factor · X.
fn add(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}
