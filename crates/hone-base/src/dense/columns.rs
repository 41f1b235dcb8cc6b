//! [`Columns`]: a tall matrix as groups of columns side by side, some stored for a few rows only.
//!
//! Y of sec. 2.5 is the concatenation of the local embeddings of all motifs and steps. A rare motif
//! touches few nodes, so its group keeps only their rows; all others are zero. Products read rows
//! through a window of one chunk; Y is never copied into one piece.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::products::{gram_of, in_order, narrow, times_chunk, widen};
use super::{Block, Norm, Small, by_some_lanes, chunk_rows, product_lanes};

/// Some columns of a tall matrix.
#[derive(Debug, Clone)]
pub struct Group {
    rows: Option<Vec<u32>>,
    block: Block,
}

impl Group {
    /// Columns stored for every row.
    pub fn full(block: Block) -> Self {
        Group { rows: None, block }
    }

    /// Columns that are zero outside `rows`, which strictly ascend: row i of the block is row `rows[i]`.
    ///
    /// # Panics
    /// When there are not as many rows as in the block, or they do not ascend.
    pub fn partial(rows: Vec<u32>, block: Block) -> Self {
        assert_eq!(rows.len(), block.rows(), "one number a stored row");
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "rows do not ascend");
        Group { rows: Some(rows), block }
    }

    /// The stored values.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// The same columns times a factor.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        let factors = vec![factor; self.block.cols()];
        self.block.scale_columns(&factors);
        self
    }

    /// The numbers of the stored rows, when not all are stored.
    pub fn rows(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    /// Writes rows `range` of these columns into the window `to` at column `at` of `width`.
    fn read<T: Copy>(&self, range: Range<usize>, to: &mut [T], at: usize, width: usize, as_t: impl Fn(f32) -> T) {
        let cols = self.block.cols();
        let mut put = |i: usize, values: &[f32]| {
            let to = &mut to[(i - range.start) * width + at..][..cols];
            to.iter_mut().zip(values).for_each(|(to, &value)| *to = as_t(value));
        };
        match &self.rows {
            None => range.clone().for_each(|i| put(i, self.block.row(i))),
            Some(rows) => {
                let first = rows.partition_point(|&row| (row as usize) < range.start);
                let stored = rows[first..].iter().take_while(|&&row| (row as usize) < range.end);
                stored.enumerate().for_each(|(i, &row)| put(row as usize, self.block.row(first + i)));
            }
        }
    }
}

/// Groups of columns side by side.
#[derive(Debug, Clone)]
pub struct Columns {
    rows: usize,
    cols: usize,
    groups: Vec<Group>,
}

impl From<Block> for Columns {
    fn from(block: Block) -> Self {
        Columns::new(block.rows(), vec![Group::full(block)])
    }
}

impl Columns {
    /// Joins groups of a matrix with `rows` rows.
    ///
    /// # Panics
    /// When a group has other rows.
    pub fn new(rows: usize, groups: Vec<Group>) -> Self {
        for group in &groups {
            match &group.rows {
                None => assert_eq!(group.block.rows(), rows, "rows of a group of columns"),
                Some(stored) => assert!(stored.last().is_none_or(|&row| (row as usize) < rows), "a row beyond {rows}"),
            }
        }
        let cols = groups.iter().map(|group| group.block.cols()).sum();
        Columns { rows, cols, groups }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns of all groups.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The groups, left to right.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The groups, left to right, taken apart.
    pub fn into_groups(self) -> Vec<Group> {
        self.groups
    }

    /// The squared length of each column.
    pub fn column_energy(&self) -> Vec<f64> {
        let of = |group: &Group| group.block.column_norms(Norm::L2);
        self.groups.iter().flat_map(of).map(|norm| norm * norm).collect()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let of = |group: &Group| group.block.memory() + group.rows.as_ref().map_or(0, |rows| 4 * rows.len());
        self.groups.iter().map(of).sum()
    }

    /// Number of stored values.
    pub fn stored(&self) -> usize {
        self.groups.iter().map(|group| group.block.as_slice().len()).sum()
    }

    /// Writes rows `range`, row-major, into `to`; for writers that stream.
    pub fn read_rows(&self, range: Range<usize>, to: &mut [f32]) {
        to.fill(0.0);
        self.read(range, to, |value| value);
    }

    /// All in one block.
    pub fn to_block(&self) -> Block {
        let mut out = Block::zeros(self.rows, self.cols);
        self.for_chunks(self.cols, out.as_mut_slice(), |range, to| self.read(range, to, |value| value));
        out
    }

    /// The Gram matrix YᵀY.
    pub fn gram(&self) -> Small {
        gram_of(self.rows, self.cols, |range, wide| {
            wide.fill(0.0);
            self.read(range, wide, f64::from);
        })
    }

    /// Y·M for a small matrix M.
    pub fn times(&self, matrix: &Small) -> Block {
        assert_eq!(self.cols, matrix.rows(), "inner sizes of a product");
        let (a, b) = (self.cols, matrix.cols());
        let mut out = Block::zeros(self.rows, b);
        if a == 0 {
            return out;
        }
        let factor = narrow(matrix);
        self.for_chunks(b, out.as_mut_slice(), |range, to| {
            let mut window = vec![0.0; range.len() * a];
            self.read(range, &mut window, |value| value);
            times_chunk(&window, &factor, a, b, to, Accum::Replace);
        });
        out
    }

    /// YᵀX for a block X of as many rows.
    pub fn cross(&self, other: &Block) -> Small {
        assert_eq!(self.rows, other.rows(), "rows of a cross product");
        let (a, b) = (self.cols, other.cols());
        if a * b == 0 {
            return Small::zeros(a, b);
        }
        let chunk = chunk_rows(a.max(b));
        let partial = by_some_lanes(product_lanes(self.rows, a, b), self.rows, chunk, |lane| {
            let mut sum = Mat::<f64>::zeros(a, b);
            for start in lane.clone().step_by(chunk) {
                let range = start..(start + chunk).min(lane.end);
                let n = range.len();
                let (mut left, mut right) = (vec![0.0; n * a], vec![0.0; n * b]);
                self.read(range.clone(), &mut left, f64::from);
                widen(other.rows_slice(range), &mut right);
                let left = MatRef::from_row_major_slice(&left, n, a);
                let right = MatRef::from_row_major_slice(&right, n, b);
                matmul(&mut sum, Accum::Add, left.transpose(), right, 1.0, Par::Seq);
            }
            sum
        });
        Small::from_faer(&in_order(partial, a, b))
    }

    fn read<T: Copy>(&self, range: Range<usize>, to: &mut [T], as_t: impl Fn(f32) -> T) {
        let mut at = 0;
        for group in &self.groups {
            group.read(range.clone(), to, at, self.cols, &as_t);
            at += group.block.cols();
        }
    }

    /// Cuts an output of `width` columns into chunks of rows, in parallel.
    fn for_chunks(&self, width: usize, out: &mut [f32], fill: impl Fn(Range<usize>, &mut [f32]) + Sync) {
        if width == 0 {
            return;
        }
        let chunk = chunk_rows(width.max(self.cols));
        out.par_chunks_mut(chunk * width).enumerate().for_each(|(index, to)| {
            let start = index * chunk;
            fill(start..start + to.len() / width, to);
        });
    }
}
