//! [`Marks`] on the neighbours of one node, and [`Hubs`]: the rows of the largest nodes as bits, which any thread may query.

use crate::sparse::Pattern;

/// A bit per node.
pub(super) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    pub(super) fn new(nodes: usize) -> Marks {
        Marks { words: vec![0; nodes.div_ceil(64)] }
    }

    pub(super) fn set(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&i| self.words[i as usize / 64] |= 1 << (i % 64));
    }

    /// Takes the marks back that were set.
    pub(super) fn clear(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&i| self.words[i as usize / 64] = 0);
    }

    #[inline(always)]
    pub(super) fn has(&self, i: u32) -> bool {
        has(&self.words, i)
    }
}

#[inline(always)]
fn has(words: &[u64], i: u32) -> bool {
    words[i as usize / 64] >> (i % 64) & 1 == 1
}

/// Neighbours below which a row is walked as fast as it is queried.
const LEAST: usize = 256;

/// The largest rows as bits: 4 bytes per slot of the graph at most.
pub(super) struct Hubs {
    /// Nodes with a row of bits, ascending.
    nodes: Vec<u32>,
    words: usize,
    bits: Vec<u64>,
}

impl Hubs {
    pub(super) fn new(pattern: &Pattern) -> Hubs {
        let words = pattern.rows().div_ceil(64);
        let degree = |i: u32| pattern.row(i as usize).len();
        let mut nodes: Vec<u32> = (0..pattern.rows() as u32).filter(|&i| degree(i) >= LEAST).collect();
        nodes.sort_unstable_by_key(|&i| (std::cmp::Reverse(degree(i)), i));
        nodes.truncate(pattern.nnz() / 2 / words.max(1));
        nodes.sort_unstable();
        let mut bits = vec![0; nodes.len() * words];
        for (row, &node) in bits.chunks_mut(words.max(1)).zip(&nodes) {
            pattern.row(node as usize).iter().for_each(|&i| row[i as usize / 64] |= 1 << (i % 64));
        }
        Hubs { nodes, words, bits }
    }

    /// The row of a node, if it is a hub.
    pub(super) fn row(&self, i: u32) -> Option<HubRow<'_>> {
        let at = self.nodes.binary_search(&i).ok()?;
        Some(HubRow { words: &self.bits[at * self.words..][..self.words] })
    }
}

/// The neighbours of a hub.
pub(super) struct HubRow<'a> {
    words: &'a [u64],
}

impl HubRow<'_> {
    #[inline(always)]
    pub(super) fn has(&self, i: u32) -> bool {
        has(self.words, i)
    }
}
