//! The user's own node ids, stored next to the u32 that the library works with.
//!
//! Ids that are all integers in canonical form (what printing them would give back: no leading
//! zero, no plus) are kept as numbers, everything else as text; either way what is written later
//! is what was read. [`Names`] numbers names while a file is read, [`IdIndex`] finds the node of
//! an id afterwards.

use std::fmt;
use std::fmt::Display;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::hashing::{HashSeed, SeededMap};

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
        if sequential {
            NodeIds::Sequential(ids.len())
        } else {
            NodeIds::Integers(ids)
        }
    }

    /// The ids 1..=n.
    pub fn one_based(n: u32) -> Self {
        NodeIds::Integers((1..=i64::from(n)).collect())
    }

    /// Ids from text; integers when every one of them is an integer written the usual way.
    pub fn from_texts<T: AsRef<str>>(ids: &[T]) -> Self {
        let integers: Option<Vec<i64>> = ids
            .iter()
            .map(|id| canonical_integer(id.as_ref().as_bytes()))
            .collect();
        if let Some(integers) = integers {
            return NodeIds::from_integers(integers);
        }
        let (mut offsets, mut bytes) = (vec![0], String::new());
        for id in ids {
            bytes.push_str(id.as_ref());
            offsets.push(bytes.len());
        }
        NodeIds::Text { offsets, bytes }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        match self {
            NodeIds::Sequential(n) => *n,
            NodeIds::Integers(ids) => ids.len(),
            NodeIds::Text { offsets, .. } => offsets.len().saturating_sub(1),
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

    /// The ids of some nodes, of the same kind.
    ///
    /// # Panics
    /// When there is no such node.
    #[must_use]
    pub fn some(&self, nodes: &[u32]) -> NodeIds {
        match self {
            NodeIds::Sequential(_) => {
                NodeIds::from_integers(nodes.iter().map(|&i| i64::from(i)).collect())
            }
            NodeIds::Integers(ids) => {
                NodeIds::from_integers(nodes.iter().map(|&i| ids[i as usize]).collect())
            }
            NodeIds::Text { offsets, bytes } => {
                let name = |&i: &u32| &bytes[offsets[i as usize]..offsets[i as usize + 1]];
                let ends = nodes.iter().map(name).scan(0, |end, name| {
                    *end += name.len();
                    Some(*end)
                });
                NodeIds::Text {
                    offsets: [0].into_iter().chain(ends).collect(),
                    bytes: nodes.iter().map(name).collect(),
                }
            }
        }
    }

    /// All ids in node order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId<'_>> {
        (0..self.len()).map(|i| self.get(i as u32))
    }

    /// Two rows with the same id, the first and the next that repeats an earlier one. O(N).
    pub fn repeated(&self) -> Option<(usize, usize)> {
        fn of<T: Eq + std::hash::Hash>(ids: impl Iterator<Item = T>) -> Option<(usize, usize)> {
            let mut seen: SeededMap<T, usize> = SeededMap::default();
            ids.enumerate()
                .find_map(|(row, id)| Some((seen.insert(id, row)?, row)))
        }
        match self {
            NodeIds::Sequential(_) => None,
            NodeIds::Integers(ids) if ids.is_sorted_by(|a, b| a < b) => None,
            NodeIds::Integers(ids) => of(ids.iter()),
            NodeIds::Text { offsets, bytes } => of(offsets.windows(2).map(|w| &bytes[w[0]..w[1]])),
        }
    }

    /// Prepares the lookup from an id to its node. O(N).
    pub fn index(&self) -> IdIndex<'_> {
        match self {
            NodeIds::Sequential(n) => IdIndex::Sequential(*n),
            NodeIds::Integers(ids) => IdIndex::Integers(ids.iter().copied().zip(0..).collect()),
            NodeIds::Text { offsets, bytes } => IdIndex::Text(
                offsets
                    .windows(2)
                    .map(|w| &bytes[w[0]..w[1]])
                    .zip(0..)
                    .collect(),
            ),
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

/// Finds nodes by their id, as printed.
#[derive(Debug, Clone)]
pub enum IdIndex<'a> {
    /// Ids 0..n.
    Sequential(usize),
    /// Integer ids.
    Integers(SeededMap<i64, u32>),
    /// Text ids.
    Text(SeededMap<&'a str, u32>),
}

impl IdIndex<'_> {
    /// The node called `id`.
    pub fn find(&self, id: &str) -> Option<u32> {
        match self {
            IdIndex::Text(nodes) => nodes.get(id).copied(),
            IdIndex::Integers(nodes) => nodes.get(&canonical_integer(id.as_bytes())?).copied(),
            IdIndex::Sequential(n) => {
                let id = usize::try_from(canonical_integer(id.as_bytes())?).ok()?;
                (id < *n).then_some(id as u32)
            }
        }
    }
}

/// The integer that prints exactly as `text`, if there is one within i64.
pub fn canonical_integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let canonical = match digits {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.len() < 19 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !canonical {
        return None;
    }
    // Summed on the negative side, which reaches one further than the positive.
    let negative = digits.iter().try_fold(0i64, |v, d| {
        v.checked_mul(10)?.checked_sub(i64::from(d - b'0'))
    })?;
    if digits.len() < text.len() {
        Some(negative)
    } else {
        negative.checked_neg()
    }
}

/// Distinct names numbered in order of first appearance: an arena and a table of numbers.
#[derive(Debug, Clone)]
pub struct Names {
    offsets: Vec<usize>,
    bytes: String,
    /// Numbers by name; of listed names none, until another is to be numbered.
    table: HashTable<u32>,
    seed: HashSeed,
}

/// The most names there can be.
const MOST: usize = u32::MAX as usize;

impl Default for Names {
    fn default() -> Self {
        Names::new()
    }
}

impl Names {
    /// No names yet.
    pub fn new() -> Self {
        Names {
            offsets: vec![0],
            bytes: String::new(),
            table: HashTable::new(),
            seed: HashSeed::default(),
        }
    }

    /// Names that are known to be distinct, as their lengths and all of them in a row; none if these do not match. No place
    /// is made for them until [`Names::intern`] needs it.
    pub fn listed(lengths: impl Iterator<Item = u32>, text: &str) -> Option<Self> {
        let mut offsets = vec![0];
        let mut end = 0usize;
        for length in lengths {
            end = end.checked_add(length as usize)?;
            offsets.push(Some(end).filter(|&end| text.is_char_boundary(end))?);
        }
        let fits = end == text.len() && offsets.len() <= MOST;
        fits.then(|| Names {
            offsets,
            bytes: text.to_owned(),
            ..Names::new()
        })
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        8 * self.offsets.capacity() + self.bytes.capacity() + self.table.allocation_size()
    }

    /// Bytes of a new table in addition to the old one, if `more` names need it.
    pub fn growth(&self, more: usize) -> u64 {
        let names = self.len() + more;
        if names <= self.table.capacity() {
            return 0;
        }
        // A number and a byte per place, of which seven in eight are used at most.
        5 * (names as u64 * 8 / 7).next_power_of_two()
    }

    /// The name with number `i`.
    pub fn get(&self, i: u32) -> &str {
        &self.bytes[self.offsets[i as usize]..self.offsets[i as usize + 1]]
    }

    /// The number of `name`, a new one if need be; none when u32 numbers are used up.
    pub fn intern(&mut self, name: &str) -> Option<u32> {
        let numbered = self.table.len()..self.len();
        let Names {
            offsets,
            bytes,
            table,
            seed,
        } = self;
        let text = |i: u32| &bytes[offsets[i as usize]..offsets[i as usize + 1]];
        let hash = |i: &u32| seed.hash_one(text(*i));
        for number in numbered {
            let number = number as u32;
            table.insert_unique(hash(&number), number, hash);
        }
        match table.entry(seed.hash_one(name), |&i| text(i) == name, hash) {
            Entry::Occupied(found) => Some(*found.get()),
            Entry::Vacant(place) => {
                let number = offsets.len() - 1;
                if number >= MOST {
                    return None;
                }
                place.insert(number as u32);
                bytes.push_str(name);
                offsets.push(bytes.len());
                Some(number as u32)
            }
        }
    }

    /// The number of `name`, if it has one.
    pub fn find(&self, name: &str) -> Option<u32> {
        if self.table.len() < self.len() {
            return (0..self.len() as u32).find(|&i| self.get(i) == name);
        }
        let hash = self.seed.hash_one(name);
        self.table.find(hash, |&i| self.get(i) == name).copied()
    }

    /// The names as node ids: integers when every one is canonical, else text.
    pub fn into_ids(self) -> NodeIds {
        let integers: Option<Vec<i64>> = (0..self.len() as u32)
            .map(|i| canonical_integer(self.get(i).as_bytes()))
            .collect();
        match integers {
            Some(integers) if !integers.is_empty() => NodeIds::from_integers(integers),
            _ => NodeIds::Text {
                offsets: self.offsets,
                bytes: self.bytes,
            },
        }
    }
}
