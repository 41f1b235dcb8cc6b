//! Products and decompositions of f64 matrices of the linear algebra library, compiled here once.
//!
//! They are generic there: each crate that called them would compile its own copy of some of the largest functions that there
//! are, and without the optimisation that this crate gets. All are done by one thread.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Solve;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};

/// A B.
pub fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// Adds `scale` A B.
pub fn add_product(to: MatMut<'_, f64>, scale: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(to, Accum::Add, a, b, scale, Par::Seq);
}

/// Adds the lower triangle of AᵀA.
pub fn add_gram(to: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(
        to,
        lower,
        Accum::Add,
        a.transpose(),
        full,
        a,
        full,
        1.0,
        Par::Seq,
    );
}

/// An orthonormal basis of the columns.
pub fn orthonormal(a: MatRef<'_, f64>) -> Mat<f64> {
    a.qr().compute_thin_Q()
}

/// Eigenvalues of a symmetric matrix (its lower triangle is read), falling, and its eigenvectors as columns; none if they do not
/// converge.
pub fn symmetric_eigen(a: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let (solved, n) = (a.self_adjoint_eigen(Side::Lower).ok()?, a.nrows());
    let vectors = Mat::from_fn(n, n, |i, j| solved.U()[(i, n - 1 - j)]);
    Some(((0..n).map(|j| solved.S()[n - 1 - j]).collect(), vectors))
}

/// The x with A x = b for a positive definite matrix (its lower triangle is read); none for any other.
pub fn solve_positive(a: MatRef<'_, f64>, b: &[f64]) -> Option<Vec<f64>> {
    let found = a
        .llt(Side::Lower)
        .ok()?
        .solve(Mat::from_fn(b.len(), 1, |i, _| b[i]));
    Some((0..b.len()).map(|i| found[(i, 0)]).collect())
}
