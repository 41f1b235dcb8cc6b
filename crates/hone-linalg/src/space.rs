//! [`Space`]: the operations that solvers need on tall matrices, on any device.
//!
//! A tall matrix has one row per node and few columns. It may be in the memory of this process ([`Host`]), on a device,
//! or divided among processes that own some rows each. Solvers never see its rows: they multiply it with sparse
//! matrices and with small ones, sum over its rows, and rescale its columns. There are no other operations, so a solver
//! is written once and runs on every space. Every space has to keep the laws in
//! `crates/hone/tests/library/laws.rs`: `check`, and with the arithmetic of the host also `check_bits`.
//!
//! Wide matrices are lists of *panels*, tall matrices side by side: a sparse product then gathers rows of two cache
//! lines, with the memory of one panel. Panels are the same for every space ([`panels`]).
//!
//! To add a space: implement the trait, pass the laws, and let an engine use it.

use std::ops::Range;
use std::path::Path;

use crate::dense::panels::{self as side_by_side, Own};
use crate::dense::{Block, Columns, Logs, Norm, Small};
use crate::error::Result;
use crate::random::Key;
use crate::sparse::{Csr, Diagonal, Fused, Rounded, multiply_rounded, multiply_rows};

/// Tall matrices, and the operations on them.
///
/// Sums over rows are taken in f64 and in an order that depends on the number of rows alone: not on threads, panels, or
/// the owners of rows. Spaces with the bits of the host use its order ([`lane_rows`](crate::dense::lane_rows)).
pub trait Space: Sync {
    /// Some columns of a tall matrix.
    type Tall: Send + Sync;

    /// A matrix of zeros.
    fn zeros(&self, rows: usize, cols: usize) -> Self::Tall;

    /// Columns `cols` of a random matrix whose entries depend on key, row and column alone
    /// ([`Block::random`](crate::dense::Block::random)).
    fn random(&self, rows: usize, cols: Range<usize>, key: Key) -> Self::Tall;

    /// A copy of a matrix in the memory of this process.
    fn import(&self, block: &Block) -> Self::Tall;

    /// The matrix in the memory of this process.
    fn export(&self, x: Self::Tall) -> Block;

    /// A copy in the same place.
    fn copy(&self, x: &Self::Tall) -> Self::Tall;

    /// Puts a matrix aside where memory is short: until it is [back](Space::bring_back), it is only copied, and read by
    /// [`cross`](Space::cross) and the verbs that say so. Spaces that have no other place keep it where it is.
    fn put_aside(&self, _x: &mut Self::Tall, _folder: &Path) -> Result<()> {
        Ok(())
    }

    /// Brings back a matrix that was put aside.
    fn bring_back(&self, _x: &mut Self::Tall) -> Result<()> {
        Ok(())
    }

    /// Rows and columns of the whole matrix.
    fn shape(&self, x: &Self::Tall) -> (usize, usize);

    /// `y = [y] + scale · left · A · diag(right) · x + …`, see [`Fused`].
    fn multiply(
        &self,
        a: &Leaf,
        x: &Self::Tall,
        y: &mut Self::Tall,
        then: &Fused<Self::Tall>,
        work: &mut Workspace<Self::Tall>,
    );

    /// `y = [y] + scale · left · product + …`: the epilogue of a product that was computed elsewhere.
    fn finish(&self, product: &Self::Tall, y: &mut Self::Tall, then: &Fused<Self::Tall>);

    /// y = diag(factors) x.
    fn scale_rows(&self, factors: &Diagonal, x: &Self::Tall, y: &mut Self::Tall);

    /// YᵀY of columns in the memory of this process, or of the rows that it holds.
    fn gram_of(&self, y: &Columns) -> Small {
        y.gram()
    }

    /// Y·M of such columns for a small matrix M.
    fn times_of(&self, y: &Columns, matrix: &Small) -> Block {
        y.times(matrix)
    }

    /// [`Fold::Extreme`] of a block in the memory of this process, which has rows `own` of a larger matrix.
    fn extremes_of(&self, x: &Block, _own: &Own) -> Vec<f64> {
        x.column_extremes()
    }

    /// XᵀX of all panels together.
    fn gram(&self, x: &[Self::Tall]) -> Small;

    /// XᵀY of all panels together.
    fn cross(&self, x: &[Self::Tall], y: &[Self::Tall]) -> Small;

    /// X·M for a small matrix M, in panels of the given widths.
    fn times(&self, x: &[Self::Tall], matrix: &Small, widths: &[usize]) -> Vec<Self::Tall>;

    /// Y ← Y − X·M for a small matrix M.
    fn subtract_times(&self, y: &mut [Self::Tall], x: &[Self::Tall], matrix: &Small);

    /// X ← X·M for a small square matrix M.
    fn transform(&self, x: &mut [Self::Tall], matrix: &Small);

    /// One number per column.
    fn fold(&self, x: &[Self::Tall], fold: Fold) -> Vec<f64>;

    /// Changes all entries.
    fn map(&self, x: &mut [Self::Tall], map: &Map);

    /// Some rows of all panels together, in the order given, in the memory of this process; x may be aside.
    fn pick(&self, x: &[Self::Tall], rows: &[usize]) -> Block;

    /// L·M for the matrix L of [logarithms](Logs) of X, whose rows have the given factors, and a small matrix M, in panels of the given
    /// widths; x may be aside.
    fn log_times(
        &self,
        x: &[Self::Tall],
        logs: (&Diagonal, Logs),
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Self::Tall>;
}

/// The sign of each column, given its entry of largest absolute value.
pub fn signs(extremes: &[f64]) -> Vec<f64> {
    extremes
        .iter()
        .map(|&x| if x < 0.0 { -1.0 } else { 1.0 })
        .collect()
}

/// A sparse matrix in a product, and how it is multiplied.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a> {
    /// The matrix. Its pattern and values are shared by all clones: a device may keep a copy of them.
    pub matrix: &'a Csr,
    /// Multiplies the columns of the matrix.
    pub right: Option<&'a Diagonal>,
    /// Whether gathered values may be rounded to 16 bits (bfloat16).
    pub rounded: bool,
}

/// A number per column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Euclidean length.
    Length,
    /// The entry of largest absolute value, the first row in case of a tie.
    Extreme,
}

/// A change of all entries.
#[derive(Debug, Clone, Copy)]
pub enum Map<'a> {
    /// Entries become zero.
    Zero,
    /// Column j is multiplied by factor j, in f64.
    Scale(&'a [f64]),
    /// Columns that are marked are drawn again, as [`Space::random`] would.
    Redraw(&'a [bool], Key),
    /// Each row of all panels together is divided by its length to this power.
    Shorten(f64),
}

impl Map<'_> {
    /// Changes rows from `first` on of a matrix, which are in the memory of this process.
    pub fn change(&self, x: &mut [Block], first: usize) {
        if let Map::Shorten(power) = self {
            return side_by_side::update_rows(x, |row| shorten(row, *power));
        }
        let mut end = 0;
        for panel in x {
            let cols = end..end + panel.cols();
            end = cols.end;
            match self {
                Map::Zero => panel.as_mut_slice().fill(0.0),
                Map::Scale(factors) => panel.scale_columns(&factors[cols]),
                Map::Redraw(which, key) => panel.redraw(cols.clone(), first, &which[cols], *key),
                Map::Shorten(_) => unreachable!("done above"),
            }
        }
    }
}

/// Tall matrices that products need on the way, kept for the next product.
#[derive(Debug)]
pub struct Workspace<T = Block> {
    free: Vec<T>,
    /// Whether sparse products may round the values that they gather, see [`Rounded`].
    pub rounds: bool,
}

impl<T> Default for Workspace<T> {
    fn default() -> Self {
        Workspace {
            free: Vec::new(),
            rounds: false,
        }
    }
}

impl<T> Workspace<T> {
    /// A matrix of that shape with arbitrary content.
    pub fn take(&mut self, space: &impl Space<Tall = T>, rows: usize, cols: usize) -> T {
        let fits = |x: &T| space.shape(x) == (rows, cols);
        match self.free.iter().position(fits) {
            Some(at) => self.free.swap_remove(at),
            None => space.zeros(rows, cols),
        }
    }

    /// Returns a matrix.
    pub fn give(&mut self, x: T) {
        self.free.push(x);
    }

    /// Returns some matrices.
    pub(crate) fn give_all(&mut self, x: impl IntoIterator<Item = T>) {
        self.free.extend(x);
    }

    /// Frees the kept matrices.
    pub fn clear(&mut self) {
        self.free.clear();
    }
}

/// Divides a row by its length to a power.
pub fn shorten(row: &mut [f32], power: f64) {
    let length = row
        .iter()
        .map(|&x| f64::from(x).powi(2))
        .sum::<f64>()
        .sqrt();
    if length > 0.0 {
        let factor = length.powf(-power);
        row.iter_mut()
            .for_each(|x| *x = (f64::from(*x) * factor) as f32);
    }
}

/// The most columns of a panel: rows of two cache lines, one when rounded.
pub const PANEL: usize = 32;

/// The columns of each panel of a matrix with `cols` columns.
pub fn panels(cols: usize) -> Vec<Range<usize>> {
    (0..cols.div_ceil(PANEL).max(1))
        .map(|p| p * PANEL..((p + 1) * PANEL).min(cols))
        .collect()
}

/// Widths of the panels of a matrix with `cols` columns.
pub fn widths(cols: usize) -> Vec<usize> {
    panels(cols).iter().map(Range::len).collect()
}

/// Tall matrices in the memory of this process, worked on by its threads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Host;

impl Space for Host {
    type Tall = Block;

    fn zeros(&self, rows: usize, cols: usize) -> Block {
        Block::zeros(rows, cols)
    }

    fn random(&self, rows: usize, cols: Range<usize>, key: Key) -> Block {
        Block::random_part(0..rows, cols, key)
    }

    fn import(&self, block: &Block) -> Block {
        block.clone()
    }

    fn export(&self, x: Block) -> Block {
        x
    }

    fn copy(&self, x: &Block) -> Block {
        x.clone()
    }

    fn put_aside(&self, x: &mut Block, folder: &Path) -> Result<()> {
        x.put_aside(folder)
    }

    fn bring_back(&self, x: &mut Block) -> Result<()> {
        x.bring_back()
    }

    fn shape(&self, x: &Block) -> (usize, usize) {
        (x.rows(), x.cols())
    }

    fn multiply(&self, a: &Leaf, x: &Block, y: &mut Block, then: &Fused, work: &mut Workspace) {
        if a.rounded && Rounded::words(x.cols()) < x.cols() {
            let words = work.take(self, x.rows(), Rounded::words(x.cols()));
            let rounded = Rounded::of(x, a.right.map(Diagonal::values), words);
            multiply_rounded(a.matrix, 0..a.matrix.rows(), &rounded, y, then);
            return work.give(rounded.into_block());
        }
        let Some(right) = a.right else {
            return multiply_rows(a.matrix, 0..a.matrix.rows(), x, y, then);
        };
        let mut scaled = work.take(self, x.rows(), x.cols());
        self.scale_rows(right, x, &mut scaled);
        multiply_rows(a.matrix, 0..a.matrix.rows(), &scaled, y, then);
        work.give(scaled);
    }

    fn finish(&self, product: &Block, y: &mut Block, then: &Fused) {
        then.finish_part(y.rows(), 0..y.rows(), product, y);
    }

    fn scale_rows(&self, factors: &Diagonal, x: &Block, y: &mut Block) {
        let factors = factors.values();
        y.update_rows(|i, row| {
            row.iter_mut()
                .zip(x.row(i))
                .for_each(|(to, &from)| *to = factors[i] * from);
        });
    }

    fn gram(&self, x: &[Block]) -> Small {
        side_by_side::gram(x)
    }

    fn cross(&self, x: &[Block], y: &[Block]) -> Small {
        side_by_side::cross(x, y)
    }

    fn times(&self, x: &[Block], matrix: &Small, widths: &[usize]) -> Vec<Block> {
        side_by_side::times(x, matrix, widths)
    }

    fn subtract_times(&self, y: &mut [Block], x: &[Block], matrix: &Small) {
        side_by_side::subtract_times(y, x, matrix);
    }

    fn transform(&self, x: &mut [Block], matrix: &Small) {
        side_by_side::transform(x, matrix);
    }

    fn fold(&self, x: &[Block], fold: Fold) -> Vec<f64> {
        let of = |panel: &Block| match fold {
            Fold::Length => panel.column_norms(Norm::L2),
            Fold::Extreme => panel.column_extremes(),
        };
        x.iter().flat_map(of).collect()
    }

    fn map(&self, x: &mut [Block], map: &Map) {
        map.change(x, 0);
    }

    fn pick(&self, x: &[Block], rows: &[usize]) -> Block {
        side_by_side::pick(x, rows)
    }

    fn log_times(
        &self,
        x: &[Block],
        (factors, logs): (&Diagonal, Logs),
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Block> {
        logs.times(x, factors.values(), matrix, widths)
    }
}
