//! [`Indices`]: column indices in owned or borrowed memory.
//!
//! A caller that already holds a matrix (a NumPy array behind a SciPy matrix, a mapped file) lends
//! its memory instead of having it copied. Reading costs the same either way: a slice tied to its
//! owner, without a virtual call or check.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use yoke::Yoke;

/// The owner of the memory.
type Owner = Arc<dyn AsRef<[u32]> + Send + Sync>;

/// A shared, immutable run of u32 values.
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
    use std::sync::Arc;

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
