//! [`Pattern`]: the positions of a sparse matrix, in rows; and [`Indices`], memory of columns that may be borrowed.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use yoke::Yoke;

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

    /// The same, which may be shared.
    pub fn indices(&self) -> &Indices {
        &self.columns
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.offsets) + size_of_val(&*self.columns)
    }
}

/// The owner of the memory.
type Owner = Arc<dyn AsRef<[u32]> + Send + Sync>;

/// A shared, immutable run of u32 values.
///
/// A caller that already holds a matrix (a NumPy array behind a SciPy matrix, a mapped file) lends its memory instead of
/// having it copied. Reading costs the same either way: a slice tied to its owner, without a virtual call or check.
///
/// ```
/// use hone_base::sparse::Indices;
/// let own = Indices::from(vec![1, 2, 3]);
/// let lent = Indices::lent([1u32, 2, 3]);
/// assert_eq!(own, lent);
/// ```
#[derive(Clone)]
pub struct Indices(Yoke<&'static [u32], Owner>);

impl Indices {
    /// Takes memory that `owner` keeps alive and unchanged; it is dropped with the last clone.
    pub fn lent(owner: impl AsRef<[u32]> + Send + Sync + 'static) -> Self {
        let owner: Owner = Arc::new(owner);
        Indices(Yoke::attach_to_cart(owner, |owner| owner.as_ref()))
    }
}

impl From<Vec<u32>> for Indices {
    fn from(own: Vec<u32>) -> Self {
        Indices::lent(own)
    }
}

impl Deref for Indices {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        self.0.get()
    }
}

impl PartialEq for Indices {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Indices {}

impl fmt::Debug for Indices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lent_memory_is_used_where_it_lies_and_given_back() {
        let owner: Arc<[u32]> = vec![3, 1, 2].into();
        let lent = Indices::lent(Arc::clone(&owner));
        assert_eq!((lent.as_ptr(), &*lent), (owner.as_ptr(), &owner[..]));
        let again = lent.clone();
        drop(lent);
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(again);
        assert_eq!(Arc::strong_count(&owner), 1);
        assert!(Indices::from(Vec::new()).is_empty());
    }
}
