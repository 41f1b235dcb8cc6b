//! [`Small`]: a dense f64 matrix of the size of an embedding, with the decompositions we need.
//!
//! Everything here is O(b³) for b columns (tens to some hundreds), done by one thread.

use faer::{Mat, MatRef, Side};

use crate::error::{Error, Result};

/// A dense row-major matrix of f64 values, small in both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Small {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

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

impl Small {
    /// Zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Small { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        Small::from_fn(n, n, |i, j| f64::from(u8::from(i == j)))
    }

    /// Entry by entry.
    pub fn from_fn(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows * cols).map(|at| entry(at / cols, at % cols)).collect();
        Small { rows, cols, data }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Entry (i, j).
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.cols + j]
    }

    /// Sets entry (i, j).
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        self.data[i * self.cols + j] = value;
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All values, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The transpose.
    pub fn transposed(&self) -> Small {
        Small::from_fn(self.cols, self.rows, |i, j| self.get(j, i))
    }

    /// The product with `other`.
    pub fn times(&self, other: &Small) -> Small {
        assert_eq!(self.cols, other.rows, "inner sizes of a product");
        let mut out = Small::zeros(self.rows, other.cols);
        for i in 0..self.rows {
            for (k, &a) in self.row(i).iter().enumerate() {
                for (c, &b) in out.row_mut(i).iter_mut().zip(other.row(k)) {
                    *c += a * b;
                }
            }
        }
        out
    }

    /// The first `count` columns.
    pub fn columns(&self, count: usize) -> Small {
        Small::from_fn(self.rows, count, |i, j| self.get(i, j))
    }

    /// Multiplies column j by `factors[j]`.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.cols, "one factor a column");
        let cols = self.cols.max(1);
        for row in self.data.chunks_exact_mut(cols) {
            row.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
        }
    }

    /// Eigenvalues and vectors of a symmetric matrix (its lower triangle is read).
    pub fn eigen(&self) -> Result<Eigen> {
        assert_eq!(self.rows, self.cols, "a symmetric matrix is square");
        self.check_finite()?;
        let n = self.rows;
        if n == 0 {
            return Ok(Eigen { values: Vec::new(), vectors: Small::zeros(0, 0) });
        }
        if let Ok(found) = self.as_faer().self_adjoint_eigen(Side::Lower) {
            let (values, vectors) = (found.S(), found.U());
            return Ok(Eigen {
                values: (0..n).map(|j| values[n - 1 - j]).collect(),
                vectors: Small::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)]),
            });
        }
        // Seldom, with many equal eigenvalues, the iteration goes astray; another order of rounding helps.
        let turned = Small::from_fn(n, n, |i, j| self.get(n - 1 - i.min(j), n - 1 - i.max(j)));
        let found = turned.as_faer().self_adjoint_eigen(Side::Lower).map_err(|_| no_convergence())?;
        let (values, vectors) = (found.S(), found.U());
        Ok(Eigen {
            values: (0..n).map(|j| values[n - 1 - j]).collect(),
            vectors: Small::from_fn(n, n, |i, j| vectors[(n - 1 - i, n - 1 - j)]),
        })
    }

    /// The thin singular value decomposition.
    pub fn svd(&self) -> Result<SmallSvd> {
        self.check_finite()?;
        let rank = self.rows.min(self.cols);
        if rank == 0 {
            let (u, v) = (Small::zeros(self.rows, 0), Small::zeros(self.cols, 0));
            return Ok(SmallSvd { u, sigma: Vec::new(), v });
        }
        let found = self.as_faer().thin_svd().map_err(|_| no_convergence())?;
        let (u, sigma, v) = (found.U(), found.S(), found.V());
        Ok(SmallSvd {
            u: Small::from_fn(self.rows, rank, |i, j| u[(i, j)]),
            sigma: (0..rank).map(|j| sigma[j]).collect(),
            v: Small::from_fn(self.cols, rank, |i, j| v[(i, j)]),
        })
    }

    /// The lower triangular L with L Lᵀ = self, or `None` when self is not positive definite.
    pub fn cholesky(&self) -> Option<Small> {
        assert_eq!(self.rows, self.cols, "a symmetric matrix is square");
        let found = self.as_faer().llt(Side::Lower).ok()?;
        let lower = found.L();
        Some(Small::from_fn(self.rows, self.rows, |i, j| if j <= i { lower[(i, j)] } else { 0.0 }))
    }

    fn check_finite(&self) -> Result<()> {
        if self.data.iter().all(|value| value.is_finite()) {
            return Ok(());
        }
        let message = "values are not finite: the matrix overflows; scale its weights down".into();
        Err(Error::Numeric { stage: "decomposition".into(), message })
    }

    fn as_faer(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    /// `columns` as the rows of a square matrix read from the lower triangle of a faer matrix.
    pub(super) fn from_lower(lower: &Mat<f64>) -> Small {
        Small::from_fn(lower.nrows(), lower.ncols(), |i, j| lower[(i.max(j), i.min(j))])
    }

    /// A copy of a faer matrix.
    pub(super) fn from_faer(matrix: &Mat<f64>) -> Small {
        Small::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)])
    }
}

fn no_convergence() -> Error {
    Error::Numeric { stage: "decomposition".into(), message: "the dense eigenvalue iteration did not converge".into() }
}
