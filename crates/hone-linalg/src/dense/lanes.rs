//! Sums over rows whose bits depend on the rows alone.
//!
//! Rows are divided into at most [`MOST`] lanes. Each lane is summed from its first row to its last, and lanes are
//! added first to last. Where the lanes begin depends on the number of rows only: not on threads, on how many lanes are
//! processed at a time, or on which process owns them. Processes that share the rows of a matrix own whole lanes,
//! and get the same bits as one process.

use std::ops::Range;

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
