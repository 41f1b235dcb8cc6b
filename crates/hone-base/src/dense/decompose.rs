//! Eigenvalues, singular values and Cholesky factors of [`Small`] matrices.
//!
//! The QR iteration of the linear algebra crate drops an entry beside the diagonal when it is small relative to its
//! neighbours *on* the diagonal. Of a matrix of deficient rank some of those are rounding noise themselves, every
//! rotation renews the noise, and the iteration never ends: stars, complete graphs and repeated columns did so. A
//! symmetric matrix is therefore brought to norm 1 and moved by twice the identity: no vector changes, the diagonal is
//! nowhere small, and the criterion means "small relative to the norm", which is all that rounding permits.
//! Singular values cannot be moved so. Behind both stand Jacobi's methods, which always end, and whatever comes out of
//! the iterations is checked to be finite.

use faer::Side;

use super::{Small, jacobi};
use crate::error::{Error, Result};

/// Eigenvalues, descending, and their orthonormal vectors (columns).
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Descending.
    pub values: Vec<f64>,
    /// Column j belongs to value j.
    pub vectors: Small,
}

/// A = U diag(sigma) Vᵀ, thin.
#[derive(Debug, Clone)]
pub struct SmallSvd {
    /// Left singular vectors (columns).
    pub u: Small,
    /// Descending, not negative.
    pub sigma: Vec<f64>,
    /// Right singular vectors (columns).
    pub v: Small,
}

/// How far the eigenvalues of a matrix of norm 1 are moved away from zero.
const AWAY: f64 = 2.0;

impl Small {
    /// Eigenvalues and vectors of a symmetric matrix (its lower triangle is read).
    pub fn eigen(&self) -> Result<Eigen> {
        assert_eq!(self.rows(), self.cols(), "a symmetric matrix is square");
        let n = self.rows();
        let scale = self.to_norm_one()?;
        if scale == 0.0 {
            return Ok(Eigen { values: vec![0.0; n], vectors: Small::identity(n) });
        }
        let even = Small::from_fn(n, n, |i, j| scale * self.get(i.max(j), i.min(j)));
        let mut found = moved(&even).unwrap_or_else(|| jacobi::eigen(&even));
        found.values.iter_mut().for_each(|value| *value /= scale);
        Ok(found)
    }

    /// The thin singular value decomposition.
    pub fn svd(&self) -> Result<SmallSvd> {
        let (rows, cols, rank) = (self.rows(), self.cols(), self.rows().min(self.cols()));
        let scale = self.to_norm_one()?;
        if scale == 0.0 {
            let unit = |n| Small::from_fn(n, rank, |i, j| f64::from(u8::from(i == j)));
            return Ok(SmallSvd { u: unit(rows), sigma: vec![0.0; rank], v: unit(cols) });
        }
        let scaled = Small::from_fn(rows, cols, |i, j| scale * self.get(i, j));
        let mut found = iterated(&scaled).unwrap_or_else(|| jacobi::svd(&scaled));
        found.sigma.iter_mut().for_each(|sigma| *sigma /= scale);
        Ok(found)
    }

    /// The lower triangular L with L Lᵀ = self, or `None` when self is not positive definite.
    pub fn cholesky(&self) -> Option<Small> {
        assert_eq!(self.rows(), self.cols(), "a symmetric matrix is square");
        let found = self.as_faer().llt(Side::Lower).ok()?;
        let lower = found.L();
        Some(Small::from_fn(self.rows(), self.rows(), |i, j| if j <= i { lower[(i, j)] } else { 0.0 }))
    }

    /// The power of two that brings the Frobenius norm into (½, 1]; 0 for a zero matrix.
    fn to_norm_one(&self) -> Result<f64> {
        if !self.is_finite() {
            let message = "values are not finite: the matrix overflows; scale its weights down".into();
            return Err(Error::Numeric { stage: "decomposition".into(), message });
        }
        let most = self.as_slice().iter().fold(0.0f64, |most, value| most.max(value.abs()));
        if most == 0.0 {
            return Ok(0.0);
        }
        // Relative to the largest entry, lest the squares leave the range.
        let squares: f64 = self.as_slice().iter().map(|value| (value / most).powi(2)).sum();
        let exponent = (most.log2() + 0.5 * squares.log2()).ceil();
        Ok((-exponent).clamp(-1000.0, 1000.0).exp2())
    }

    fn is_finite(&self) -> bool {
        self.as_slice().iter().all(|value| value.is_finite())
    }
}

/// Eigenvalues and vectors of a symmetric matrix of norm at most 1, away from zero; `None` if that fails.
fn moved(even: &Small) -> Option<Eigen> {
    let n = even.rows();
    let away = Small::from_fn(n, n, |i, j| even.get(i, j) + if i == j { AWAY } else { 0.0 });
    let found = away.as_faer().self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (found.S(), found.U());
    let values: Vec<f64> = (0..n).map(|j| values[n - 1 - j] - AWAY).collect();
    let vectors = Small::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)]);
    (values.iter().all(|value| value.is_finite()) && vectors.is_finite()).then_some(Eigen { values, vectors })
}

/// The singular value decomposition by iteration; `None` if that fails.
fn iterated(matrix: &Small) -> Option<SmallSvd> {
    let (rows, cols, rank) = (matrix.rows(), matrix.cols(), matrix.rows().min(matrix.cols()));
    let found = matrix.as_faer().thin_svd().ok()?;
    let (u, sigma, v) = (found.U(), found.S(), found.V());
    let found = SmallSvd {
        u: Small::from_fn(rows, rank, |i, j| u[(i, j)]),
        sigma: (0..rank).map(|j| sigma[j]).collect(),
        v: Small::from_fn(cols, rank, |i, j| v[(i, j)]),
    };
    let finite = found.sigma.iter().all(|sigma| sigma.is_finite()) && found.u.is_finite() && found.v.is_finite();
    finite.then_some(found)
}
