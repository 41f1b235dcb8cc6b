//! [`Space`]: the operations that solvers need on tall matrices, on any device.
//!
//! A tall matrix has one row per node and few columns. It may be in the memory of this process ([`Host`]), on a device,
//! or divided among processes that own some rows each. Solvers never see its rows: they multiply it with sparse
//! matrices and with small ones, sum over its rows, and rescale its columns. There are no other operations, so a solver
//! is written once and runs on every space. Every space has to pass [`laws::check`], a space with the arithmetic of the
//! host also [`laws::check_bits`].
//!
//! Wide matrices are lists of *panels*, tall matrices side by side: a sparse product then gathers rows of two cache
//! lines, with the memory of one panel. Panels are the same for every space ([`panels`]).
//!
//! To add a space: implement the trait, pass the laws, and let an engine use it.

mod host;
pub mod laws;

pub use host::Host;

use std::ops::Range;
use std::path::Path;

use crate::dense::panels::Own;
use crate::dense::{Block, Columns, Logs, Small};
use crate::error::Result;
use crate::random::Key;
use crate::sparse::{Csr, Diagonal, Fused};

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
    fn gram_of(&self, y: &Columns) -> Small;

    /// [`Fold::Extreme`] of a block in the memory of this process, which has rows `own` of a larger matrix.
    fn extremes_of(&self, x: &Block, own: &Own) -> Vec<f64>;

    /// Y·M of such columns for a small matrix M, each column with a sign that makes its entry of largest absolute value
    /// positive; and the signs.
    fn signed_times(&self, y: &Columns, matrix: &Small) -> (Block, Vec<f64>) {
        let mut x = y.times(matrix);
        let signs = signs(&self.extremes_of(&x, y.own()));
        x.scale_columns(&signs);
        (x, signs)
    }

    /// XᵀX of all panels together.
    fn gram(&self, x: &[Self::Tall]) -> Small;

    /// XᵀY of all panels together.
    fn cross(&self, x: &[Self::Tall], y: &[Self::Tall]) -> Small;

    /// X·M for a small matrix M, in panels of the given widths.
    fn times(&self, x: &[Self::Tall], matrix: &Small, widths: &[usize]) -> Vec<Self::Tall>;

    /// Y ← Y + sign · X·M for a small matrix M.
    fn add_times(&self, y: &mut [Self::Tall], x: &[Self::Tall], matrix: &Small, sign: f32);

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

/// Tall matrices that products need on the way, kept for the next product.
#[derive(Debug)]
pub struct Workspace<T = Block> {
    free: Vec<T>,
    /// Whether sparse products may round the values that they gather, see [`Rounded`](crate::sparse::Rounded).
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
        match self
            .free
            .iter()
            .position(|x| space.shape(x) == (rows, cols))
        {
            Some(at) => self.free.swap_remove(at),
            None => space.zeros(rows, cols),
        }
    }

    /// Returns a matrix.
    pub fn give(&mut self, x: T) {
        self.free.push(x);
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
