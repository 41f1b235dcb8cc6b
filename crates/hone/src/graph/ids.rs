//! The user's own node ids, kept beside the u32 the library works with.

use std::fmt;
use std::fmt::Display;

/// Original ids in node order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeIds {
    /// Node i is called i: nothing to store.
    Sequential(usize),
    /// Integers, as the file had them.
    Integers(Vec<i64>),
    /// Any text; `offsets[i]..offsets[i + 1]` of `bytes` is the name of node i.
    Text {
        /// Where each name begins, and the end of the last.
        offsets: Vec<usize>,
        /// All names in a row.
        bytes: String,
    },
}

impl NodeIds {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        match self {
            NodeIds::Sequential(n) => *n,
            NodeIds::Integers(ids) => ids.len(),
            NodeIds::Text { offsets, .. } => offsets.len() - 1,
        }
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of node `i`, to be printed.
    ///
    /// # Panics
    /// When there is no node `i`.
    pub fn get(&self, i: u32) -> NodeId<'_> {
        let i = i as usize;
        match self {
            NodeIds::Sequential(n) => {
                assert!(i < *n, "node {i} of {n}");
                NodeId::Integer(i as i64)
            }
            NodeIds::Integers(ids) => NodeId::Integer(ids[i]),
            NodeIds::Text { offsets, bytes } => NodeId::Text(&bytes[offsets[i]..offsets[i + 1]]),
        }
    }
}

/// One original id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeId<'a> {
    /// An integer id.
    Integer(i64),
    /// A text id.
    Text(&'a str),
}

impl Display for NodeId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeId::Integer(id) => id.fmt(f),
            NodeId::Text(id) => f.write_str(id),
        }
    }
}
