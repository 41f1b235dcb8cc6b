//! The user's own node ids, kept beside the u32 the library works with.

use std::fmt;
use std::fmt::Display;
use std::ops::Range;

use crate::columnar::Column;

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
    /// Integer ids; nothing is stored when they are 0, 1, 2, …
    pub fn from_integers(ids: Vec<i64>) -> Self {
        let sequential = ids.iter().enumerate().all(|(i, &id)| i as i64 == id);
        if sequential { NodeIds::Sequential(ids.len()) } else { NodeIds::Integers(ids) }
    }

    /// Ids from text; integers when every one of them is an integer written the usual way.
    pub fn from_texts<T: AsRef<str>>(ids: &[T]) -> Self {
        let integers: Option<Vec<i64>> = ids.iter().map(|id| canonical_integer(id.as_ref())).collect();
        if let Some(integers) = integers {
            return NodeIds::from_integers(integers);
        }
        let mut offsets = vec![0];
        let mut bytes = String::new();
        for id in ids {
            bytes.push_str(id.as_ref());
            offsets.push(bytes.len());
        }
        NodeIds::Text { offsets, bytes }
    }

    /// The ids of some rows as a table column.
    pub fn column(&self, rows: Range<usize>) -> Column {
        match self {
            NodeIds::Sequential(_) => Column::Integers(rows.map(|i| i as i64).collect()),
            NodeIds::Integers(ids) => Column::Integers(ids[rows].to_vec()),
            NodeIds::Text { .. } => Column::Texts(rows.map(|i| self.get(i as u32).to_string()).collect()),
        }
    }

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

/// The integer that `text` is the usual spelling of: no plus sign, no leading zeros.
fn canonical_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = digits == "0" && digits.len() == text.len() || !digits.starts_with(['0', '+', '-']);
    if canonical { text.parse().ok() } else { None }
}
