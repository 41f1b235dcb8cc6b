//! What a decomposition of a [`Small`] matrix returns.

use super::Small;

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
