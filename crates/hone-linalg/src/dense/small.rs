//! [`Small`]: a dense f64 matrix of the size of an embedding.
//!
//! Products are O(b³) for b columns (tens to some hundreds), done by one thread.

use faer::{Mat, MatMut, MatRef};

use super::Block;

/// A dense row-major matrix of f64 values, small in both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Small {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Small {
    /// Zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Small {
            rows,
            cols,
            data: vec![0.0; rows * cols],
        }
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        Small::unit_columns(n, n)
    }

    /// The first columns of the identity, or all and zero columns.
    pub fn unit_columns(rows: usize, cols: usize) -> Self {
        Small::from_fn(rows, cols, |i, j| f64::from(u8::from(i == j)))
    }

    /// A diagonal matrix.
    pub fn diagonal(values: &[f64]) -> Self {
        let entry = |i: usize, j: usize| if i == j { values[i] } else { 0.0 };
        Small::from_fn(values.len(), values.len(), entry)
    }

    /// Entry by entry.
    pub fn from_fn(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| entry(i, j)));
        }
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

    /// Adds the entries of a matrix of the same shape.
    pub fn add(&mut self, other: &Small) {
        self.add_scaled(1.0, other);
    }

    /// Adds `factor` times the entries of a matrix of the same shape.
    pub fn add_scaled(&mut self, factor: f64, other: &Small) {
        let shape = (self.rows, self.cols);
        assert_eq!(shape, (other.rows, other.cols), "shapes of a sum");
        let pairs = self.data.iter_mut().zip(&other.data);
        pairs.for_each(|(to, x)| *to += factor * x);
    }

    /// Σ a_ij b_ij.
    pub fn inner(&self, other: &Small) -> f64 {
        dot(&self.data, &other.data)
    }

    /// (A + Aᵀ)/2.
    pub fn symmetrized(&self) -> Small {
        Small::from_fn(self.rows, self.rows, |i, j| {
            0.5 * (self.get(i, j) + self.get(j, i))
        })
    }

    /// The product with `other`.
    pub fn times(&self, other: &Small) -> Small {
        assert_eq!(self.cols, other.rows, "inner sizes of a product");
        if self.cols == 0 {
            return Small::zeros(self.rows, other.cols);
        }
        Small {
            rows: self.rows,
            cols: other.cols,
            data: rows_times(&self.data, other),
        }
    }

    /// The first `count` columns.
    pub fn columns(&self, count: usize) -> Small {
        Small::from_fn(self.rows, count, |i, j| self.get(i, j))
    }

    /// Multiplies column j by `factors[j]`.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.cols, "one factor per column");
        let cols = self.cols.max(1);
        for row in self.data.chunks_exact_mut(cols) {
            row.iter_mut()
                .zip(factors)
                .for_each(|(value, factor)| *value *= factor);
        }
    }

    pub(super) fn as_faer(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    pub(super) fn as_faer_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_row_major_slice_mut(&mut self.data, self.rows, self.cols)
    }

    /// Copies the lower triangle to the upper one.
    pub(super) fn mirror_lower(&mut self) {
        for i in 0..self.rows {
            for j in 0..i {
                self.set(j, i, self.get(i, j));
            }
        }
    }

    /// A copy of a faer matrix.
    pub(super) fn from_faer(matrix: &Mat<f64>) -> Small {
        Small::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)])
    }
}

impl From<&Block> for Small {
    fn from(block: &Block) -> Self {
        Small::from_fn(block.rows(), block.cols(), |i, j| {
            f64::from(block.get(i, j))
        })
    }
}

/// Σ x y.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Rows that are multiplied together: they stay in the nearest cache while the matrix passes by.
const TOGETHER: usize = 8;

/// Rows, one after the other, times a matrix. Who else is multiplied changes no bit of a row.
pub fn rows_times(rows: &[f64], matrix: &Small) -> Vec<f64> {
    let mut out = vec![0.0; rows.len() / matrix.rows.max(1) * matrix.cols];
    if !out.is_empty() {
        pulp::Arch::new().dispatch(RowsTimes {
            rows,
            matrix,
            out: &mut out,
        });
    }
    out
}

/// A product in the widest vectors of this machine, which add up the same numbers in the same order. No closure, since the
/// compiler puts a function between, which has narrow vectors only.
struct RowsTimes<'a> {
    rows: &'a [f64],
    matrix: &'a Small,
    out: &'a mut [f64],
}

impl pulp::WithSimd for RowsTimes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let RowsTimes {
            rows,
            matrix:
                Small {
                    rows: inner,
                    cols,
                    data,
                },
            out,
        } = self;
        for (rows, out) in rows
            .chunks(TOGETHER * inner)
            .zip(out.chunks_mut(TOGETHER * cols))
        {
            for (k, matrix) in data.chunks_exact(*cols).enumerate() {
                for (row, out) in rows.chunks_exact(*inner).zip(out.chunks_exact_mut(*cols)) {
                    let x = row[k];
                    out.iter_mut().zip(matrix).for_each(|(to, m)| *to += x * m);
                }
            }
        }
    }
}
