//! Sums over rows whose bits depend on the rows alone.
//!
//! Rows are divided into at most [`MOST`] lanes. Each lane is summed from its first row to its last, and lanes are
//! added first to last. Where the lanes begin depends on the number of rows only: not on threads, on how many lanes are
//! processed at a time, or on which process owns them. Processes that share the rows of a matrix own whole lanes,
//! and get the same bits as one process.
//!
//! Sums of products are taken in f64: each chunk of rows is widened once and multiplied in f64, since
//! Cholesky QR and eigenvalues of Gram matrices square the condition number.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::kernels::{add_gram, add_product};
use super::{Block, Small};
use crate::parallel;

/// Rows that belong to a matrix: how many it has, and those that are present, which are whole lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Rows of the whole matrix.
    pub rows: usize,
    /// The rows present.
    pub range: Range<usize>,
}

impl Own {
    /// All rows.
    pub fn all(rows: usize) -> Self {
        Own {
            rows,
            range: 0..rows,
        }
    }

    /// Whether all rows are present.
    pub fn is_all(&self) -> bool {
        self.range.len() == self.rows
    }
}

/// Maximum number of lanes.
pub(super) const MOST: usize = 64;

/// The rows of a lane are a multiple of this, except in the last.
const UNIT: usize = 256;

/// Rows of each lane of a matrix with `rows` rows; the last may have fewer.
///
/// ```
/// use hone_linalg::dense::lane_rows;
/// assert_eq!(lane_rows(1_000), 256);
/// assert_eq!(1_000_000usize.div_ceil(lane_rows(1_000_000)), 64);
/// ```
pub fn lane_rows(rows: usize) -> usize {
    rows.div_ceil(UNIT).div_ceil(MOST).max(1) * UNIT
}

/// Rows in a chunk of work: about 64 kB of f32 values, a function of the width only.
pub(super) fn chunk_rows(cols: usize) -> usize {
    ((1 << 14) / cols.max(1)).clamp(32, 1024)
}

/// Maps the lanes present, `at_a_time` of them in parallel, and passes on the results in order.
///
/// # Panics
/// When the rows present do not begin and end at lanes.
pub(super) fn by_lanes<T: Send>(
    own: &Own,
    at_a_time: usize,
    lane: impl Fn(Range<usize>) -> T + Sync,
    mut hand_over: impl FnMut(T),
) {
    let (length, range) = (lane_rows(own.rows), &own.range);
    let at_lane = |row: usize| row.is_multiple_of(length) || row == own.rows;
    assert!(
        at_lane(range.start) && at_lane(range.end),
        "rows {range:?} of {} are not whole lanes",
        own.rows
    );
    let starts: Vec<usize> = range.clone().step_by(length).collect();
    for some in starts.chunks(at_a_time.max(1)) {
        let lane = |at: usize| lane(some[at]..(some[at] + length).min(range.end));
        parallel::map(some.len(), lane)
            .into_iter()
            .for_each(&mut hand_over);
    }
}

/// How many partial products of matrices with `a` and `b` columns are held at a time: together they take 256 MB or half
/// of what the wider matrix takes, whichever is more.
pub(super) fn products_at_a_time(rows: usize, a: usize, b: usize) -> usize {
    let values = (1 << 25).max(rows.saturating_mul(a.max(b)) / 4);
    (values / a.saturating_mul(b).max(1)).clamp(2, MOST)
}

/// Bytes that the Gram matrix of `cols` columns of `rows` values takes while it and its eigenvectors are found.
pub fn gram_memory(rows: usize, cols: usize) -> u64 {
    let lanes = products_at_a_time(rows, cols, cols).min(rows.div_ceil(lane_rows(rows)));
    (cols as u64)
        .saturating_mul(cols as u64)
        .saturating_mul(8 * (lanes as u64 + 4))
}

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
    let chunk = chunk_rows(cols);
    let mut sum = Small::zeros(cols, cols);
    let mut wide = vec![0.0; chunk * cols];
    for start in lane.clone().step_by(chunk) {
        let range = start..(start + chunk).min(lane.end);
        let wide = &mut wide[..range.len() * cols];
        fill(range.clone(), wide);
        let x = MatRef::from_row_major_slice(wide, range.len(), cols);
        add_gram(sum.as_faer_mut(), x);
    }
    sum.mirror_lower();
    sum
}

/// Partial sums of XᵀY, one for each lane present; `start` makes what writes rows of X and Y.
pub(super) fn cross_parts<F: FnMut(Range<usize>, &mut [f64], &mut [f64])>(
    own: &Own,
    a: usize,
    b: usize,
    start: impl Fn() -> F + Sync,
    add: impl FnMut(Small),
) {
    if a * b == 0 {
        return;
    }
    let chunk = chunk_rows(a.max(b));
    let lane = |lane: Range<usize>| {
        let mut sum = Small::zeros(a, b);
        let (mut left, mut right, mut fill) = (vec![0.0; chunk * a], vec![0.0; chunk * b], start());
        for start in lane.clone().step_by(chunk) {
            let range = start - own.range.start..(start + chunk).min(lane.end) - own.range.start;
            let n = range.len();
            fill(range, &mut left[..n * a], &mut right[..n * b]);
            let left = MatRef::from_row_major_slice(&left[..n * a], n, a);
            let right = MatRef::from_row_major_slice(&right[..n * b], n, b);
            add_product(sum.as_faer_mut(), 1.0, left.transpose(), right);
        }
        sum
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_products_stay_within_their_bound() {
        assert_eq!(
            products_at_a_time(1_000_000, 416, 416),
            MOST,
            "the usual width is worked on all at once"
        );
        for (rows, cols) in [
            (10, 3000),
            (3000, 1768),
            (1_000_000, 1768),
            (10_000_000, 4096),
        ] {
            let bytes = products_at_a_time(rows, cols, cols) * cols * cols * 8;
            let bound = (1 << 28).max(rows * cols * 4 / 2).max(2 * cols * cols * 8);
            assert!(bytes <= bound, "{rows} × {cols}: {bytes} of {bound}");
            assert!(gram_memory(rows, cols) >= (cols * cols * 8 * 5) as u64);
        }
    }

    #[test]
    fn lanes_cover_all_rows_in_order_however_many_are_in_work() {
        for rows in [0, 1, 255, 256, 257, 16_384, 16_385, 100_000] {
            for at_a_time in [1, 3, 64] {
                let mut seen = Vec::new();
                by_lanes(
                    &Own::all(rows),
                    at_a_time,
                    |lane| lane,
                    |lane| seen.push(lane),
                );
                assert!(
                    seen.len() <= MOST && seen.first().is_none_or(|lane| lane.start == 0),
                    "{rows}"
                );
                assert!(
                    seen.windows(2).all(|pair| pair[0].end == pair[1].start),
                    "{rows}"
                );
                assert_eq!(seen.last().map_or(0, |lane| lane.end), rows);
            }
        }
    }
}
