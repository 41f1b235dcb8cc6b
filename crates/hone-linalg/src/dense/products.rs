//! Sums of products over rows, lane after lane, and chunks of rows times a small matrix.
//!
//! Sums over rows are taken in f64: each chunk of rows is widened once and multiplied in f64, since
//! Cholesky QR and eigenvalues of Gram matrices square the condition number.

use std::ops::Range;

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::lanes::{Own, by_lanes, chunk_rows, products_at_a_time};
use super::{Block, Small};

impl Block {
    /// X·Yᵀ of some rows of X and some of Y, row-major into `to`; on the calling thread. The values depend on the shape
    /// of the ranges only.
    pub fn dots(&self, rows: Range<usize>, other: &Block, others: Range<usize>, to: &mut [f32]) {
        assert_eq!(self.cols(), other.cols(), "inner sizes of a product");
        let (m, n, width) = (rows.len(), others.len(), self.cols());
        assert_eq!(to.len(), m * n, "one value per pair of rows");
        dots(self.rows_slice(rows), other.rows_slice(others), width, to);
    }
}

/// X·Yᵀ of row-major X and Y with rows of `width` values.
pub(super) fn dots(x: &[f32], y: &[f32], width: usize, to: &mut [f32]) {
    if x.is_empty() || y.is_empty() {
        return to.fill(0.0);
    }
    let (m, n) = (x.len() / width, y.len() / width);
    let left = MatRef::from_row_major_slice(x, m, width);
    let right = MatRef::from_row_major_slice(y, n, width);
    matmul(
        MatMut::from_row_major_slice_mut(to, m, n),
        Accum::Replace,
        left,
        right.transpose(),
        1.0,
        Par::Seq,
    );
}

/// Partial sums of XᵀX, one for each lane present. Rows are written, in f64, by what `start` makes: once per lane, then
/// called with ascending ranges of the rows present.
pub(super) fn gram_parts<F: FnMut(Range<usize>, &mut [f64])>(
    own: &Own,
    cols: usize,
    start: impl Fn() -> F + Sync,
    add: impl FnMut(Small),
) {
    if cols > 0 {
        let first = own.range.start;
        let lane =
            |lane: Range<usize>| gram_lane(&(lane.start - first..lane.end - first), cols, start());
        by_lanes(own, products_at_a_time(own.rows, cols, cols), lane, add);
    }
}

/// XᵀX of one lane, whose rows `fill` writes, in f64, chunk by chunk.
pub(super) fn gram_lane(
    lane: &Range<usize>,
    cols: usize,
    mut fill: impl FnMut(Range<usize>, &mut [f64]),
) -> Small {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let chunk = chunk_rows(cols);
    let mut sum = Mat::<f64>::zeros(cols, cols);
    let mut wide = vec![0.0; chunk * cols];
    for start in lane.clone().step_by(chunk) {
        let range = start..(start + chunk).min(lane.end);
        let wide = &mut wide[..range.len() * cols];
        fill(range.clone(), wide);
        let x = MatRef::from_row_major_slice(wide, range.len(), cols);
        let (lower, full) = (TriangularLower, Rectangular);
        triangular::matmul(
            &mut sum,
            lower,
            Accum::Add,
            x.transpose(),
            full,
            x,
            full,
            1.0,
            Par::Seq,
        );
    }
    Small::from_lower(&sum)
}

/// Partial sums of XᵀY, one for each lane present; `start` makes what writes rows of X and Y.
pub(super) fn cross_parts<F: FnMut(Range<usize>, &mut [f64], &mut [f64])>(
    own: &Own,
    (a, b): (usize, usize),
    start: impl Fn() -> F + Sync,
    add: impl FnMut(Small),
) {
    if a * b == 0 {
        return;
    }
    let chunk = chunk_rows(a.max(b));
    let lane = |lane: Range<usize>| {
        let mut sum = Mat::<f64>::zeros(a, b);
        let (mut left, mut right, mut fill) = (vec![0.0; chunk * a], vec![0.0; chunk * b], start());
        for start in lane.clone().step_by(chunk) {
            let range = start - own.range.start..(start + chunk).min(lane.end) - own.range.start;
            let n = range.len();
            fill(range, &mut left[..n * a], &mut right[..n * b]);
            let left = MatRef::from_row_major_slice(&left[..n * a], n, a);
            let right = MatRef::from_row_major_slice(&right[..n * b], n, b);
            matmul(&mut sum, Accum::Add, left.transpose(), right, 1.0, Par::Seq);
        }
        Small::from_faer(&sum)
    };
    by_lanes(own, products_at_a_time(own.rows, a, b), lane, add);
}

/// `to` (n × b) = [`to` +] `from` (n × a) · `factor` (a × b), all row-major.
pub(super) fn times_chunk(
    from: &[f32],
    factor: &[f32],
    a: usize,
    b: usize,
    to: &mut [f32],
    accum: Accum,
) {
    let n = from.len() / a;
    if n == 1 {
        // A single row would be summed in another order than the same row among others.
        let (twice, mut both) = ([from, from].concat(), [&*to, &*to].concat());
        times_chunk(&twice, factor, a, b, &mut both, accum);
        return to.copy_from_slice(&both[..b]);
    }
    let from = MatRef::from_row_major_slice(from, n, a);
    let factor = MatRef::from_row_major_slice(factor, a, b);
    matmul(
        MatMut::from_row_major_slice_mut(to, n, b),
        accum,
        from,
        factor,
        1.0,
        Par::Seq,
    );
}

/// The entries as f32.
pub(super) fn narrow(matrix: &Small) -> Vec<f32> {
    matrix
        .as_slice()
        .iter()
        .map(|&value| value as f32)
        .collect()
}
