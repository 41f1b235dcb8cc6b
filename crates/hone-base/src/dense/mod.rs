//! [`Block`]: a tall, thin, row-major f32 matrix, the only dense thing of size N in the method;
//! [`Small`]: an f64 matrix of the size of an embedding; [`Columns`]: blocks side by side.
//!
//! Values are f32, everything summed over rows is f64. Work is cut into chunks of rows whose size
//! depends only on the shape, and their results are combined in order, so all functions return the
//! same bits for any number of threads. This folder is the only door to the dense linear algebra
//! crate, which is always called from one thread.

mod columns;
mod decompose;
mod group;
mod jacobi;
mod norms;
mod ortho;
mod products;
mod small;
mod verify;

pub use columns::Columns;
pub use decompose::{Eigen, SmallSvd};
pub use group::{Group, Stored};
pub use norms::Norm;
pub use ortho::orthonormalize;
pub use small::Small;

use std::ops::Range;

use rand_xoshiro::rand_core::Rng;
use rayon::prelude::*;

use crate::pages::Pages;
use crate::random::Key;

/// A dense row-major matrix of `rows` × `cols` f32 values.
#[derive(Debug, Clone)]
pub struct Block {
    rows: usize,
    cols: usize,
    data: Pages<f32>,
}

impl Block {
    /// A block of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        let len = rows.checked_mul(cols).expect("a block fits the address space");
        Block { rows, cols, data: Pages::zeros(len) }
    }

    /// Takes row-major data.
    ///
    /// # Panics
    /// When the length is not `rows * cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f32>) -> Self {
        assert_eq!(data.len(), rows * cols, "{rows} × {cols} values");
        Block { rows, cols, data: data.into() }
    }

    /// Independent values, uniform in (−1, 1), keyed by position and not by thread.
    ///
    /// A sketch needs independent, symmetric, bounded entries; it need not pay for logarithms.
    pub fn random(rows: usize, cols: usize, key: Key) -> Self {
        let mut block = Block::zeros(rows, cols);
        const CHUNK: usize = 1 << 14;
        block.as_mut_slice().par_chunks_mut(CHUNK).enumerate().for_each(|(index, chunk)| {
            let mut rng = key.with("entries", index as u64).rng();
            for pair in chunk.chunks_mut(2) {
                let bits = rng.next_u64();
                for (value, half) in pair.iter_mut().zip([bits >> 32, bits & 0xffff_ffff]) {
                    // The odd 24-bit number never gives 0.
                    *value = ((half >> 8) | 1) as f32 * (2.0 / (1 << 24) as f32) - 1.0;
                }
            }
        });
        block
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
    pub fn row(&self, i: usize) -> &[f32] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f32] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Rows `range`, row after row.
    pub fn rows_slice(&self, range: Range<usize>) -> &[f32] {
        &self.data[range.start * self.cols..range.end * self.cols]
    }

    /// Entry (i, j).
    pub fn get(&self, i: usize, j: usize) -> f32 {
        self.row(i)[j]
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[f32] {
        &self.data
    }

    /// All values, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.data.len() * size_of::<f32>()
    }

    /// A copy of columns `range`.
    pub fn columns(&self, range: Range<usize>) -> Block {
        assert!(range.end <= self.cols, "columns {range:?} of {}", self.cols);
        let mut out = Block::zeros(self.rows, range.len());
        out.update_rows(|i, row| row.copy_from_slice(&self.row(i)[range.clone()]));
        out
    }

    /// The block with zero columns added until there are `cols`.
    pub fn widened(self, cols: usize) -> Block {
        if cols <= self.cols {
            return self;
        }
        let mut wide = Block::zeros(self.rows, cols);
        wide.update_rows(|i, row| row[..self.cols].copy_from_slice(self.row(i)));
        wide
    }

    /// Rewrites each row, in parallel, given its number.
    pub fn update_rows(&mut self, change: impl Fn(usize, &mut [f32]) + Sync) {
        let cols = self.cols;
        if cols == 0 {
            return;
        }
        let chunk = chunk_rows(cols);
        self.data.par_chunks_mut(chunk * cols).enumerate().for_each(|(index, rows)| {
            for (i, row) in rows.chunks_exact_mut(cols).enumerate() {
                change(index * chunk + i, row);
            }
        });
    }
}

impl From<&Small> for Block {
    fn from(small: &Small) -> Self {
        Block::from_vec(small.rows(), small.cols(), small.as_slice().iter().map(|&value| value as f32).collect())
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.cols == other.cols && self.as_slice() == other.as_slice()
    }
}

/// Rows in a chunk of work: about 64 kB of f32 values, a function of the width only.
fn chunk_rows(cols: usize) -> usize {
    ((1 << 14) / cols.max(1)).clamp(32, 1024)
}

/// At most this many partial results exist at a time, for any number of threads.
const LANES: usize = 64;

/// How many partial products of two matrices of `rows` rows, `a` and `b` columns, may exist at a time: together
/// they take 256 MB or half of what the wider matrix takes, whichever is more. A function of the shape only.
fn product_lanes(rows: usize, a: usize, b: usize) -> usize {
    let values = (1 << 25).max(rows.saturating_mul(a.max(b)) / 4);
    (values / a.saturating_mul(b).max(1)).clamp(2, LANES)
}

/// Bytes that the Gram matrix of `cols` columns of `rows` values takes while it and its eigenvectors are found.
pub fn gram_memory(rows: usize, cols: usize) -> u64 {
    let lanes = product_lanes(rows, cols, cols).min(rows.div_ceil(chunk_rows(cols)));
    (cols as u64).saturating_mul(cols as u64).saturating_mul(8 * (lanes as u64 + 4))
}

/// Cuts `0..rows` into at most [`LANES`] ranges of whole chunks and maps each, in parallel; the
/// results come back in order.
fn by_lanes<T: Send>(rows: usize, chunk: usize, lane: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    by_some_lanes(LANES, rows, chunk, lane)
}

/// The same with at most `lanes` ranges.
fn by_some_lanes<T: Send>(lanes: usize, rows: usize, chunk: usize, lane: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let length = rows.div_ceil(chunk).div_ceil(lanes).max(1) * chunk;
    (0..rows.div_ceil(length))
        .into_par_iter()
        .with_max_len(1)
        .map(|l| lane(l * length..((l + 1) * length).min(rows)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_products_stay_within_their_bound() {
        assert_eq!(product_lanes(1_000_000, 416, 416), LANES, "the usual width is cut as finely as ever");
        for (rows, cols) in [(10, 3000), (3000, 1768), (1_000_000, 1768), (10_000_000, 4096)] {
            let bytes = product_lanes(rows, cols, cols) * cols * cols * 8;
            let bound = (1 << 28).max(rows * cols * 4 / 2).max(2 * cols * cols * 8);
            assert!(bytes <= bound, "{rows} × {cols}: {bytes} of {bound}");
            assert!(gram_memory(rows, cols) >= (cols * cols * 8 * 5) as u64);
        }
    }
}
