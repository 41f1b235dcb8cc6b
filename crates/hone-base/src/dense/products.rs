//! Products of tall blocks: Gram matrices XᵀX, cross products XᵀY, and X times a small matrix.
//!
//! Sums over rows are taken in f64: each chunk of rows is widened once and multiplied in f64, since
//! Cholesky QR and eigenvalues of Gram matrices square the condition number.

use std::ops::Range;

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::{Block, Small, by_some_lanes, chunk_rows, product_lanes};

impl Block {
    /// The Gram matrix XᵀX.
    pub fn gram(&self) -> Small {
        let (rows, cols) = (self.rows(), self.cols());
        gram_of(rows, cols, || |range, wide: &mut [f64]| widen(self.rows_slice(range), wide))
    }

    /// XᵀY, for blocks with the same number of rows.
    pub fn cross(&self, other: &Block) -> Small {
        assert_eq!(self.rows(), other.rows(), "rows of a cross product");
        let (a, b) = (self.cols(), other.cols());
        if a * b == 0 {
            return Small::zeros(a, b);
        }
        let chunk = chunk_rows(a.max(b));
        let partial = by_some_lanes(product_lanes(self.rows(), a, b), self.rows(), chunk, |lane| {
            let mut sum = Mat::<f64>::zeros(a, b);
            let (mut left, mut right) = (vec![0.0; chunk * a], vec![0.0; chunk * b]);
            for start in lane.clone().step_by(chunk) {
                let range = start..(start + chunk).min(lane.end);
                let n = range.len();
                widen(self.rows_slice(range.clone()), &mut left[..n * a]);
                widen(other.rows_slice(range), &mut right[..n * b]);
                let left = MatRef::from_row_major_slice(&left[..n * a], n, a);
                let right = MatRef::from_row_major_slice(&right[..n * b], n, b);
                matmul(&mut sum, Accum::Add, left.transpose(), right, 1.0, Par::Seq);
            }
            sum
        });
        Small::from_faer(&in_order(partial, a, b))
    }

    /// X·M for a small matrix M.
    pub fn times(&self, matrix: &Small) -> Block {
        assert_eq!(self.cols(), matrix.rows(), "inner sizes of a product");
        let (a, b) = (self.cols(), matrix.cols());
        let mut out = Block::zeros(self.rows(), b);
        if a * b == 0 {
            return out;
        }
        let factor = narrow(matrix);
        let chunk = chunk_rows(a.max(b));
        let pairs = out.as_mut_slice().par_chunks_mut(chunk * b).zip(self.as_slice().par_chunks(chunk * a));
        pairs.for_each(|(to, from)| times_chunk(from, &factor, a, b, to, Accum::Replace));
        out
    }

    /// X·Yᵀ of some rows of X and some of Y, row-major into `to`; on the calling thread. The values depend on the shape
    /// of the ranges, not on who computes them.
    pub fn dots(&self, rows: Range<usize>, other: &Block, others: Range<usize>, to: &mut [f32]) {
        assert_eq!(self.cols(), other.cols(), "inner sizes of a product");
        let (m, n, width) = (rows.len(), others.len(), self.cols());
        assert_eq!(to.len(), m * n, "one value per pair of rows");
        if m * n * width == 0 {
            return to.fill(0.0);
        }
        let left = MatRef::from_row_major_slice(self.rows_slice(rows), m, width);
        let right = MatRef::from_row_major_slice(other.rows_slice(others), n, width);
        let to = MatMut::from_row_major_slice_mut(to, m, n);
        matmul(to, Accum::Replace, left, right.transpose(), 1.0, Par::Seq);
    }

    /// X ← X + sign · Y·M for a small matrix M.
    pub fn add_times(&mut self, other: &Block, matrix: &Small, sign: f32) {
        let (a, b) = (other.cols(), self.cols());
        assert_eq!((other.rows(), matrix.rows(), matrix.cols()), (self.rows(), a, b), "shapes of a sum of products");
        if a * b == 0 {
            return;
        }
        let factor: Vec<f32> = matrix.as_slice().iter().map(|&value| sign * value as f32).collect();
        let chunk = chunk_rows(a.max(b));
        let pairs = self.as_mut_slice().par_chunks_mut(chunk * b).zip(other.as_slice().par_chunks(chunk * a));
        pairs.for_each(|(to, from)| times_chunk(from, &factor, a, b, to, Accum::Add));
    }

    /// X ← X·M for a small square matrix M.
    pub fn transform(&mut self, matrix: &Small) {
        let cols = self.cols();
        assert!(matrix.rows() == cols && matrix.cols() == cols, "a transform keeps the width {cols}");
        if cols == 0 {
            return;
        }
        let factor = narrow(matrix);
        self.as_mut_slice().par_chunks_mut(chunk_rows(cols) * cols).for_each_init(
            Vec::new,
            |copy: &mut Vec<f32>, to| {
                copy.clear();
                copy.extend_from_slice(to);
                times_chunk(copy, &factor, cols, cols, to, Accum::Replace);
            },
        );
    }
}

/// Gram matrix of `cols` columns whose rows `range` are written, in f64, by what `start` makes: once a lane, then
/// called with ascending ranges.
pub(super) fn gram_of<F: FnMut(Range<usize>, &mut [f64])>(
    rows: usize,
    cols: usize,
    start: impl Fn() -> F + Sync,
) -> Small {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    if cols == 0 {
        return Small::zeros(0, 0);
    }
    let chunk = chunk_rows(cols);
    let partial = by_some_lanes(product_lanes(rows, cols, cols), rows, chunk, |lane| {
        let mut sum = Mat::<f64>::zeros(cols, cols);
        let (mut wide, mut fill) = (vec![0.0; chunk * cols], start());
        for start in lane.clone().step_by(chunk) {
            let range = start..(start + chunk).min(lane.end);
            let wide = &mut wide[..range.len() * cols];
            fill(range.clone(), wide);
            let x = MatRef::from_row_major_slice(wide, range.len(), cols);
            let (lower, full) = (TriangularLower, Rectangular);
            triangular::matmul(&mut sum, lower, Accum::Add, x.transpose(), full, x, full, 1.0, Par::Seq);
        }
        sum
    });
    Small::from_lower(&in_order(partial, cols, cols))
}

/// `to` (n × b) = [`to` +] `from` (n × a) · `factor` (a × b), all row-major.
pub(super) fn times_chunk(from: &[f32], factor: &[f32], a: usize, b: usize, to: &mut [f32], accum: Accum) {
    let n = from.len() / a;
    let from = MatRef::from_row_major_slice(from, n, a);
    let factor = MatRef::from_row_major_slice(factor, a, b);
    matmul(MatMut::from_row_major_slice_mut(to, n, b), accum, from, factor, 1.0, Par::Seq);
}

/// The entries as f32.
pub(super) fn narrow(matrix: &Small) -> Vec<f32> {
    matrix.as_slice().iter().map(|&value| value as f32).collect()
}

pub(super) fn widen(from: &[f32], to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = f64::from(from));
}

/// The sum of partial results, first to last.
pub(super) fn in_order(partial: Vec<Mat<f64>>, rows: usize, cols: usize) -> Mat<f64> {
    partial.into_iter().fold(Mat::zeros(rows, cols), |mut sum, part| {
        sum += part;
        sum
    })
}
