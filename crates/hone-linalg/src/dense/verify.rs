//! Whether a decomposition is correct, checked by products with a few random sign vectors in O(n²).
//!
//! A = V diag(λ) Vᵀ holds if both sides agree on random vectors, unless the error happens to be orthogonal to all of
//! them (Freivalds 1979); VᵀV = I likewise. Finite results of an iteration need not be correct, and
//! everything computed from them (ranks, residuals, losses) would repeat the mistake.

use super::Small;
use super::{Eigen, SmallSvd};
use crate::random::Key;

use rand_xoshiro::rand_core::Rng;

/// Random vectors that are tried.
const PROBES: u64 = 3;

/// Bound on the rounding error in f64 for a matrix of norm 1; measured errors are below 10⁻¹³.
const ROUNDING: f64 = 1e-10;

/// Whether the eigenvalues descend, and vectors and values reproduce the symmetric matrix, whose norm is at most 1.
pub(super) fn eigen(matrix: &Small, found: &Eigen) -> bool {
    let Eigen { values, vectors } = found;
    values.is_sorted_by(|a, b| a >= b)
        && probes(matrix.cols()).all(|x| {
            let along = transposed_times(vectors, &x);
            let scaled: Vec<f64> = along
                .iter()
                .zip(values)
                .map(|(y, value)| y * value)
                .collect();
            near(&times(vectors, &along), &x) && near(&times(vectors, &scaled), &times(matrix, &x))
        })
}

/// Whether the singular values descend and are not negative, and the triplets reproduce the matrix, whose norm
/// is at most 1.
pub(super) fn svd(matrix: &Small, found: &SmallSvd) -> bool {
    let SmallSvd { u, sigma, v } = found;
    let orthonormal =
        |q: &Small| probes(q.cols()).all(|x| near(&transposed_times(q, &times(q, &x)), &x));
    let rebuilds = |x: Vec<f64>| {
        let along = transposed_times(v, &x);
        let scaled: Vec<f64> = along
            .iter()
            .zip(sigma)
            .map(|(y, sigma)| y * sigma)
            .collect();
        near(&times(u, &scaled), &times(matrix, &x))
    };
    sigma.is_sorted_by(|a, b| a >= b)
        && sigma.last().is_none_or(|&least| least >= 0.0)
        && orthonormal(u)
        && orthonormal(v)
        && probes(matrix.cols()).all(rebuilds)
}

/// Vectors of length 1 with entries of equal size and random signs.
fn probes(n: usize) -> impl Iterator<Item = Vec<f64>> {
    let size = 1.0 / (n.max(1) as f64).sqrt();
    (0..PROBES).map(move |probe| {
        let mut signs = Key::new(probe).with("verify", n as u64).rng();
        (0..n)
            .map(|_| {
                if signs.next_u64() >> 63 == 0 {
                    size
                } else {
                    -size
                }
            })
            .collect()
    })
}

fn times(matrix: &Small, x: &[f64]) -> Vec<f64> {
    (0..matrix.rows())
        .map(|i| matrix.row(i).iter().zip(x).map(|(a, x)| a * x).sum())
        .collect()
}

fn transposed_times(matrix: &Small, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; matrix.cols()];
    for (i, x) in x.iter().enumerate() {
        out.iter_mut()
            .zip(matrix.row(i))
            .for_each(|(to, a)| *to += a * x);
    }
    out
}

/// Written so that NaN is far away.
fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
        <= ROUNDING
}
