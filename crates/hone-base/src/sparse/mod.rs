//! Sparse matrices in compressed rows: [`Pattern`] (positions) and [`Csr`] (positions and values).
//!
//! Many matrices of the method share one pattern (all W_t share the graph's), so the pattern is
//! reference-counted and stored separately from the values.

mod diagonal;
mod elsewhere;
mod indices;
mod prefetch;
mod reshape;
mod sums;

pub use diagonal::Diagonal;
pub use elsewhere::Elsewhere;
pub use indices::Indices;
pub use prefetch::prefetch;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::parallel;

/// Positions of the nonzeros of a square or rectangular matrix, row by row.
///
/// Invariants, checked by the constructor: `offsets` has one entry more than there are rows, starts at 0, never falls
/// and ends at `columns.len()`; each row's columns strictly ascend and are below `cols`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    offsets: Vec<usize>,
    columns: Indices,
    cols: usize,
}

impl Pattern {
    /// Takes rows that satisfy the invariants.
    ///
    /// # Panics
    /// When they do not.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, cols: usize) -> Self {
        Self::shared(offsets, columns.into(), cols)
    }

    /// [`Pattern::new`] with columns that may be borrowed.
    ///
    /// # Panics
    /// When the invariants are violated.
    pub fn shared(offsets: Vec<usize>, columns: Indices, cols: usize) -> Self {
        assert!(
            offsets.first() == Some(&0) && offsets.last() == Some(&columns.len()),
            "offsets do not span columns"
        );
        assert!(
            offsets.len() - 1 <= u32::MAX as usize && cols <= u32::MAX as usize,
            "more than u32 many rows or columns"
        );
        assert!(offsets.windows(2).all(|w| w[0] <= w[1]), "offsets fall");
        let pattern = Pattern {
            offsets,
            columns,
            cols,
        };
        // Products read the columns without further checks.
        let wrong = |i: usize| {
            let row = pattern.row(i);
            !row.is_sorted_by(|a, b| a < b) || row.last().is_some_and(|&j| j as usize >= cols)
        };
        assert!(
            parallel::first(pattern.rows(), wrong).is_none(),
            "a row is not sorted, or a column is out of range"
        );
        pattern
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored positions.
    pub fn nnz(&self) -> usize {
        self.columns.len()
    }

    /// Ascending columns of row `i`.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.columns[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Where row `i` lies in [`Pattern::columns`] and in the values that belong to it.
    pub fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// All row offsets, `rows + 1` of them.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// All columns, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.offsets) + size_of_val(&*self.columns)
    }
}

/// A sparse matrix: a shared pattern and one value per position. Values may be stored [elsewhere](Elsewhere)
/// until they are read.
#[derive(Debug, Clone)]
pub struct Csr {
    pattern: Arc<Pattern>,
    values: Arc<OnceLock<Arc<[f32]>>>,
    elsewhere: Option<Arc<dyn Elsewhere>>,
    /// The position of the first value: 0, or that of the first row that is present.
    first: usize,
}

impl Csr {
    /// Joins a pattern and its values.
    ///
    /// # Panics
    /// When their lengths differ.
    pub fn new(pattern: Arc<Pattern>, values: Arc<[f32]>) -> Self {
        assert_eq!(pattern.nnz(), values.len(), "one value per position");
        Csr {
            pattern,
            values: Arc::new(values.into()),
            elsewhere: None,
            first: 0,
        }
    }

    /// A matrix of which only some rows are present, for products of these rows.
    ///
    /// # Panics
    /// When these rows have another number of positions.
    pub fn of_rows(pattern: Arc<Pattern>, rows: &Range<usize>, values: Arc<[f32]>) -> Self {
        let positions = pattern.offsets()[rows.start]..pattern.offsets()[rows.end];
        assert_eq!(positions.len(), values.len(), "one value per position");
        Csr {
            pattern,
            values: Arc::new(values.into()),
            elsewhere: None,
            first: positions.start,
        }
    }

    /// Joins a pattern and values stored elsewhere.
    pub fn of_values_elsewhere(pattern: Arc<Pattern>, values: Arc<dyn Elsewhere>) -> Self {
        Csr {
            pattern,
            values: Arc::default(),
            elsewhere: Some(values),
            first: 0,
        }
    }

    /// The values, if they are stored elsewhere.
    pub fn elsewhere(&self) -> Option<&Arc<dyn Elsewhere>> {
        self.elsewhere.as_ref()
    }

    /// The positions.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The values, in the order of the pattern.
    pub fn values(&self) -> &[f32] {
        self.shared_values()
    }

    /// The values, shared by all clones: a device can keep its own copy and recognise it.
    pub fn shared_values(&self) -> &Arc<[f32]> {
        self.values.get_or_init(|| {
            let values = self
                .elsewhere
                .as_ref()
                .map(|values| values.read())
                .unwrap_or_default();
            assert_eq!(self.pattern.nnz(), values.len(), "one value per position");
            values.into()
        })
    }

    /// An identifier that clones share and other matrices do not have.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.values).addr()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.pattern.cols()
    }

    /// Number of stored positions.
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// Bytes in memory, pattern included.
    pub fn memory(&self) -> usize {
        self.pattern.memory() + self.values.get().map_or(0, |values| size_of_val(&**values))
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let Range { start, end } = self.pattern.range(i);
        (
            self.pattern.row(i),
            &self.values()[start - self.first..end - self.first],
        )
    }
}
