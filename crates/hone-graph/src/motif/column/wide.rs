//! [`Wide`]: the values of a column that do not fit its width, by position.
//!
//! A sorted list, and for each block of positions where its values begin: a search looks at the few values of one block, in
//! a cache line or two, and not at a million of them.

/// Positions of a block.
const BLOCK: usize = 128;

/// Values by position, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Wide {
    list: Vec<(usize, u64)>,
    /// Values before each block, and all of them; nothing if there are none.
    before: Vec<usize>,
}

impl Wide {
    /// Takes values whose positions, below `len`, ascend.
    pub(super) fn new(len: usize, list: Vec<(usize, u64)>) -> Wide {
        let mut before = Vec::new();
        if !list.is_empty() {
            let blocks = len.div_ceil(BLOCK);
            before.reserve_exact(blocks + 1);
            for (at, &(i, _)) in list.iter().enumerate() {
                before.resize((i / BLOCK + 1).max(before.len()), at);
            }
            before.resize((blocks + 1).max(before.len()), list.len());
        }
        Wide { list, before }
    }

    /// The value at a position that has one.
    #[inline]
    pub(super) fn get(&self, i: usize) -> u64 {
        let block = i / BLOCK;
        let some = &self.list[self.before[block]..self.before[block + 1]];
        some[some
            .binary_search_by_key(&i, |wide| wide.0)
            .expect("a wide value is listed")]
        .1
    }

    pub(super) fn list(&self) -> &[(usize, u64)] {
        &self.list
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.list) + size_of_val(&*self.before)
    }
}
