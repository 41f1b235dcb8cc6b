//! [`Block`]: a tall, thin, row-major f32 matrix, the only dense object of size N in the method;
//! [`Small`]: an f64 matrix of the size of an embedding; [`Columns`]: blocks side by side.
//!
//! Values are f32, everything summed over rows is f64. Sums are cut into lanes of rows that depend only on the number
//! of rows (`lanes`), and combined in order, so all functions return the same bits for any number of threads. Functions
//! of [`panels`] take several blocks side by side as one wider matrix. This folder alone calls the dense linear
//! algebra crate, always from one thread.

mod columns;
mod decompose;
mod group;
mod jacobi;
#[doc(hidden)]
pub mod kernels;
mod lanes;
mod logs;
mod norms;
mod ortho;
pub mod panels;
mod small;

pub use columns::Columns;
pub use decompose::{Eigen, SmallSvd};
pub use group::{Group, Stored};
pub use lanes::{gram_memory, lane_rows};
pub use logs::{Logs, log_above_one};
pub use norms::Norm;
pub(crate) use norms::larger;
pub use ortho::{orthonormalize, orthonormalize_in};
pub use panels::Panels;
pub use small::{Small, rows_times};

use std::ops::Range;
use std::path::Path;

use crate::error::Result;
use crate::parallel::for_chunks;
use crate::random::Key;
use crate::storage::Storage;
use lanes::chunk_rows;

/// A dense row-major matrix of `rows` × `cols` f32 values.
#[derive(Debug, Clone)]
pub struct Block {
    rows: usize,
    cols: usize,
    data: Storage<f32>,
}

impl Block {
    /// A block of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        let len = rows
            .checked_mul(cols)
            .expect("a block fits the address space");
        Block {
            rows,
            cols,
            data: Storage::zeros(len),
        }
    }

    /// Takes row-major data.
    ///
    /// # Panics
    /// When the length is not `rows * cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f32>) -> Self {
        assert_eq!(data.len(), rows * cols, "{rows} × {cols} values");
        Block {
            rows,
            cols,
            data: data.into(),
        }
    }

    /// Takes row-major values, wherever they are. Of those in a file rows can be read as those of a panel, and nothing else.
    ///
    /// # Panics
    /// When their number is not `rows * cols`.
    pub fn of_storage(rows: usize, cols: usize, data: Storage<f32>) -> Self {
        assert_eq!(data.count(), rows * cols, "{rows} × {cols} values");
        Block { rows, cols, data }
    }

    /// Independent values, uniform in (−1, 1), that depend on key, row and column alone.
    ///
    /// A sketch needs independent, symmetric, bounded entries; it need not pay for logarithms.
    pub fn random(rows: usize, cols: usize, key: Key) -> Self {
        Self::random_part(0..rows, 0..cols, key)
    }

    /// Rows and columns of a larger random matrix, see [`Block::random`].
    pub fn random_part(rows: Range<usize>, cols: Range<usize>, key: Key) -> Self {
        let mut block = Block::zeros(rows.len(), cols.len());
        block.update_rows(|i, row| {
            let of_row = key.of_row((rows.start + i) as u64);
            for (value, j) in row.iter_mut().zip(cols.clone()) {
                // The odd 24-bit number never gives 0.
                *value =
                    ((of_row.bits(j as u64) >> 40) | 1) as f32 * (2.0 / (1 << 24) as f32) - 1.0;
            }
        });
        block
    }

    /// Draws marked columns again: column j of the block is column `cols.start + j` of a larger random matrix whose rows
    /// from `first` on are those of the block.
    pub fn redraw(&mut self, cols: Range<usize>, first: usize, marked: &[bool], key: Key) {
        if marked.contains(&true) {
            let fresh = Block::random_part(first..first + self.rows, cols, key);
            self.update_rows(|i, row| {
                let values = row.iter_mut().zip(fresh.row(i)).zip(marked);
                for ((value, &fresh), _) in values.filter(|(_, marked)| **marked) {
                    *value = fresh;
                }
            });
        }
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

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        self.data.len() * size_of::<f32>()
    }

    /// Moves the values to a temporary file in a folder. Until they are [brought back](Block::bring_back), rows can be
    /// read as those of a panel, and nothing else.
    pub fn put_aside(&mut self, folder: &Path) -> Result<()> {
        self.data.move_to_file(folder)
    }

    /// Reads the values back; fails if a read has failed meanwhile.
    pub fn bring_back(&mut self) -> Result<()> {
        self.data.move_to_memory()
    }

    /// Fails if values in a file could not be read, once for each failure.
    pub fn check(&self) -> Result<()> {
        self.data.check()
    }

    /// Whether the values are in a file.
    pub fn is_in_file(&self) -> bool {
        self.data.is_in_file()
    }

    /// A copy of values in a file, which stay there.
    pub fn brought_back(&self) -> Result<Block> {
        let mut copy = self.clone();
        copy.bring_back()?;
        Ok(copy)
    }

    /// Rows `range`, row after row, from memory or the file.
    fn rows_anywhere<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<f32>) -> &'a [f32] {
        if !self.is_in_file() {
            return self.rows_slice(range);
        }
        buffer.resize(range.len() * self.cols, 0.0);
        self.data.read(range.start * self.cols, buffer);
        buffer
    }

    /// A copy of columns `range`.
    pub fn columns(&self, range: Range<usize>) -> Block {
        assert!(range.end <= self.cols, "columns {range:?} of {}", self.cols);
        let mut out = Block::zeros(self.rows, range.len());
        out.update_rows(|i, row| row.copy_from_slice(&self.row(i)[range.clone()]));
        out
    }

    /// Some columns, in the order given.
    pub fn select(&self, columns: &[usize]) -> Block {
        let mut out = Block::zeros(self.rows, columns.len());
        out.update_rows(|i, row| {
            let from = columns.iter().map(|&j| self.get(i, j));
            row.iter_mut().zip(from).for_each(|(to, x)| *to = x);
        });
        out
    }

    /// The block, padded with zero columns to `cols`.
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
        for_chunks(&mut self.data, chunk * cols, &|index, rows| {
            for (i, row) in rows.chunks_exact_mut(cols).enumerate() {
                change(index * chunk + i, row);
            }
        });
    }
}

impl From<&Small> for Block {
    fn from(small: &Small) -> Self {
        let values = small.as_slice().iter().map(|&value| value as f32);
        Block::from_vec(small.rows(), small.cols(), values.collect())
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.cols == other.cols && self.as_slice() == other.as_slice()
    }
}
