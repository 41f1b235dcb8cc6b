//! [`Marks`] on the neighbours of one node, and [`Hubs`]: the largest nodes, and who is adjacent to them.

use super::super::ranked::balanced;
use crate::parallel;
use crate::sparse::{Pattern, prefetch};

/// A bit per node.
pub(super) struct Marks {
    words: Vec<u64>,
}

impl Marks {
    pub(super) fn new(nodes: usize) -> Marks {
        Marks {
            words: vec![0; nodes.div_ceil(64)],
        }
    }

    pub(super) fn set(&mut self, nodes: &[u32]) {
        nodes
            .iter()
            .for_each(|&i| self.words[i as usize / 64] |= 1 << (i % 64));
    }

    /// Clears the marks that were set.
    pub(super) fn clear(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&i| self.words[i as usize / 64] = 0);
    }

    #[inline(always)]
    pub(super) fn has(&self, i: u32) -> bool {
        self.words[i as usize / 64] >> (i % 64) & 1 == 1
    }
}

/// Neighbours below which a row is walked as fast as its bits are.
const LEAST: usize = 128;
/// Hubs, at most: their rows of bits take a kilobyte each.
const MOST: usize = 8192;
/// Nodes from the current one to those whose place among lists, and whose list, is prefetched.
const STARTS_AHEAD: usize = 24;
const LISTS_AHEAD: usize = 12;
/// Marks nodes that are not hubs.
const NONE: u16 = u16::MAX;

/// The largest nodes by number: for hubs their adjacency to other hubs as bits, for others the list of their hubs.
pub(super) struct Hubs {
    /// The number of each node that is a hub.
    number: Vec<u16>,
    /// Words of a row of bits.
    pub(super) words: usize,
    bits: Vec<u64>,
    /// Where the list of each node begins; hubs have an empty one.
    starts: Vec<u32>,
    lists: Vec<u16>,
}

impl Hubs {
    pub(super) fn new(pattern: &Pattern) -> Hubs {
        let n = pattern.rows();
        let degree = |i: u32| pattern.range(i as usize).len();
        let mut nodes: Vec<u32> = (0..n as u32).filter(|&i| degree(i) >= LEAST).collect();
        nodes.sort_unstable_by_key(|&i| (std::cmp::Reverse(degree(i)), i));
        nodes.truncate(MOST);
        let mut number = vec![NONE; n];
        nodes
            .iter()
            .zip(0..)
            .for_each(|(&node, at)| number[node as usize] = at);
        let words = nodes.len().div_ceil(64);
        let rows = parallel::map(nodes.len(), |at| {
            let mut bits = vec![0u64; words];
            let near = pattern
                .row(nodes[at] as usize)
                .iter()
                .map(|&j| number[j as usize]);
            near.filter(|&j| j != NONE)
                .for_each(|j| bits[j as usize / 64] |= 1 << (j % 64));
            bits
        });
        let (starts, lists) = if nodes.is_empty() {
            (vec![0; n + 1], Vec::new())
        } else {
            lists(pattern, &number)
        };
        Hubs {
            number,
            words,
            bits: rows.concat(),
            starts,
            lists,
        }
    }

    /// The hub number of a node.
    #[inline(always)]
    pub(super) fn number(&self, i: u32) -> Option<usize> {
        let number = self.number[i as usize];
        (number != NONE).then_some(number as usize)
    }

    /// Which hubs are adjacent to a hub.
    #[inline(always)]
    pub(super) fn row(&self, number: usize) -> &[u64] {
        &self.bits[number * self.words..][..self.words]
    }

    /// Prefetches the lists of nodes that come soon.
    #[inline(always)]
    pub(super) fn ask(&self, nodes: &[u32], at: usize) {
        if let Some(&i) = nodes.get(at + STARTS_AHEAD) {
            prefetch(&self.starts[i as usize..][..2]);
        }
        if let Some(&i) = nodes.get(at + LISTS_AHEAD) {
            prefetch(self.near(i).get(..1).unwrap_or_default());
        }
    }

    /// Hubs adjacent to a node that is not a hub.
    #[inline(always)]
    pub(super) fn near(&self, i: u32) -> &[u16] {
        &self.lists[self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize]
    }
}

/// The hubs next to each node that is not a hub.
fn lists(pattern: &Pattern, number: &[u16]) -> (Vec<u32>, Vec<u16>) {
    let offsets = pattern.offsets();
    let bounds = balanced(pattern.rows(), 1 << 16, |i| {
        (offsets[i + 1] - offsets[i] + 4) as u64
    });
    let parts = parallel::map(bounds.len().saturating_sub(1), |part| {
        let (mut ends, mut list) = (Vec::new(), Vec::new());
        for i in bounds[part]..bounds[part + 1] {
            if number[i] == NONE {
                list.extend(
                    pattern
                        .row(i)
                        .iter()
                        .map(|&j| number[j as usize])
                        .filter(|&j| j != NONE),
                );
            }
            ends.push(list.len() as u32);
        }
        (ends, list)
    });
    let (mut starts, mut lists) = (vec![0], Vec::new());
    for (ends, list) in parts {
        let before = lists.len() as u32;
        starts.extend(ends.into_iter().map(|end| before + end));
        lists.extend(list);
    }
    (starts, lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;
    use crate::progress::Silent;

    /// Whoever is adjacent to a hub is found, by bits or by lists.
    #[test]
    fn hubs_know_their_neighbours() {
        let model = Generator::Rmat {
            nodes: 1 << 11,
            degree: 24.0,
            quadrants: [0.57, 0.19, 0.19, 0.05],
        };
        let graph = model.graph(3, &Silent).expect("a graph");
        let (pattern, hubs) = (graph.pattern(), Hubs::new(graph.pattern()));
        let all: Vec<u32> = (0..pattern.rows() as u32)
            .filter(|&i| hubs.number(i).is_some())
            .collect();
        assert!(all.len() > 10 && all.iter().all(|&i| pattern.row(i as usize).len() >= LEAST));
        for i in 0..pattern.rows() as u32 {
            let expected: Vec<usize> = pattern
                .row(i as usize)
                .iter()
                .filter_map(|&j| hubs.number(j))
                .collect();
            let mut found: Vec<usize> = match hubs.number(i) {
                Some(own) => (0..all.len())
                    .filter(|at| hubs.row(own)[at / 64] >> (at % 64) & 1 == 1)
                    .collect(),
                None => hubs.near(i).iter().map(|&at| at as usize).collect(),
            };
            let mut expected = expected;
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "node {i}");
        }
    }
}
