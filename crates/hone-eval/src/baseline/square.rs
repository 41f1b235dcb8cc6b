//! [`Square`]: a dense N × N matrix in f64, for methods that write all pairs of nodes out.
//!
//! The same bits for any number of threads: rows are independent, products are cut into fixed ranges of rows.

use std::ops::Range;

use faer::{Mat, MatRef};
use hone::dense::kernels::product;
use hone::graph::Graph;
use hone::parallel;
use hone::{Error, Result};

use super::eigen::{self, Symmetric};

/// A square matrix, row after row.
pub(super) struct Square {
    n: usize,
    values: Vec<f64>,
}

/// Refuses `copies` matrices of all pairs of nodes that take more than `limit` bytes.
pub(super) fn check_room(method: &str, copies: u64, nodes: usize, limit: u64) -> Result<()> {
    let need = (copies * 8)
        .saturating_mul(nodes as u64)
        .saturating_mul(nodes as u64);
    if need <= limit {
        return Ok(());
    }
    let remedy = format!(
        "leave out {}, or raise its memory option",
        method.to_lowercase()
    );
    Err(Error::Memory {
        stage: method.to_owned(),
        need,
        least: false,
        limit,
        remedy,
    })
}

impl Square {
    /// The identity.
    pub(super) fn identity(n: usize) -> Self {
        let mut values = vec![0.0; n * n];
        (0..n).for_each(|i| values[i * n + i] = 1.0);
        Square { n, values }
    }

    /// A matrix whose rows are written by `fill`, in parallel.
    pub(super) fn from_rows(n: usize, fill: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        let mut values = vec![0.0; n * n];
        parallel::for_rows(&mut values, n.max(1), fill);
        Square { n, values }
    }

    /// Another matrix of the same size.
    pub(super) fn map_rows(&self, fill: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        Square::from_rows(self.n, fill)
    }

    /// Rewrites each row, given its number.
    pub(super) fn update_rows(&mut self, change: impl Fn(usize, &mut [f64]) + Sync) {
        parallel::for_rows(&mut self.values, self.n.max(1), change);
    }

    /// The number of rows.
    pub(super) fn size(&self) -> usize {
        self.n
    }

    /// Row `i`.
    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    /// The sum of each column.
    pub(super) fn column_sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.n];
        (0..self.n).for_each(|i| sums.iter_mut().zip(self.row(i)).for_each(|(s, v)| *s += v));
        sums
    }

    /// P = D⁻¹A times this matrix.
    pub(super) fn walked(&self, graph: &Graph) -> Self {
        self.map_rows(|i, out| {
            let range = graph.pattern().range(i);
            let weight = |k: usize| graph.weights().map_or(1.0, |w| f64::from(w[k]));
            let degree: f64 = range.clone().map(weight).sum();
            for k in range.filter(|_| degree > 0.0) {
                let share = weight(k) / degree;
                let row = self.row(graph.pattern().columns()[k] as usize);
                out.iter_mut().zip(row).for_each(|(o, r)| *o += share * r);
            }
        })
    }

    /// Left singular vectors, and the square roots of the singular values.
    pub(super) fn factor(&self, rank: usize, seed: u64) -> Result<(Mat<f64>, Vec<f64>)> {
        let matrix = MatRef::from_row_major_slice(&self.values, self.n, self.n);
        let squared = |x: MatRef<'_, f64>| times(matrix, times(matrix.transpose(), x).as_ref());
        let found = eigen::largest(
            &Symmetric {
                size: self.n,
                lowest: 0.0,
                product: &squared,
            },
            rank,
            seed,
        )?;
        let roots = found
            .values
            .iter()
            .map(|v| v.max(0.0).sqrt().sqrt())
            .collect();
        Ok((found.vectors, roots))
    }
}

/// A product in parallel over fixed ranges of rows.
fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    const ROWS: usize = 256;
    let part = |rows: Range<usize>| product(a.subrows(rows.start, rows.len()), b);
    let parts: Vec<Mat<f64>> = parallel::stretches(a.nrows(), ROWS, part);
    Mat::from_fn(a.nrows(), b.ncols(), |i, j| parts[i / ROWS][(i % ROWS, j)])
}
