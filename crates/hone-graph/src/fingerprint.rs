//! Fingerprints of graphs: whether a result belongs to another graph.
//!
//! [`Graph::fingerprint`] covers everything that a computation uses, including the order of nodes: its result belongs
//! to no other graph. [`Graph::edge_fingerprint`] covers the edges between ids, however the file was ordered and read.
//!
//! One pass over ids, edges and weights, by all threads; the same for any number of them, and on any machine. Two
//! words of 64 bits with a bijective step each: designed to distinguish graphs that differ by accident, not to
//! resist deliberate collisions.

use std::ops::Range;

use crate::parallel;
use crate::random::{GOLDEN_GAMMA, mix64};
use crate::storage::Pages;

use super::{Graph, NodeId};

/// Values a thread takes at a time.
const CHUNK: usize = 1 << 16;

/// Rows whose edges a thread takes at a time.
const ROWS: usize = 1 << 12;

impl Graph {
    /// A fingerprint of the content, of 32 hexadecimal digits: ids and their order, edges, direction and weights.
    pub fn fingerprint(&self) -> String {
        let id = |mark: Mark, node: u32| match self.ids().get(node) {
            NodeId::Integer(id) => mark.and(id.cast_unsigned()),
            NodeId::Text(id) => id.bytes().fold(mark.and(!(id.len() as u64)), |mark, byte| {
                mark.and(u64::from(byte))
            }),
        };
        let ids = parallel::stretches(self.nodes(), CHUNK, |nodes| {
            nodes.fold(Mark::new(1), |mark, node| id(mark, node as u32))
        });
        let offsets = marks(2, self.pattern().offsets(), |&o| o as u64);
        let columns = marks(3, self.pattern().columns(), |&j| u64::from(j));
        let weights = marks(4, self.weights().map_or(&[][..], |weights| weights), |w| {
            u64::from(w.to_bits())
        });
        let parts = ids.into_iter().chain(offsets).chain(columns).chain(weights);
        let start = Mark::new(u64::from(self.is_directed())).and(self.nodes() as u64);
        let Mark(a, b) = parts.fold(start, |mark, part| mark.and(part.0).and(part.1));
        format!("{:016x}{:016x}", mix64(a), mix64(b))
    }

    /// A fingerprint of the set of edges between ids, of 16 hexadecimal digits. The order of nodes and edges,
    /// directions, weights and nodes without an edge do not count.
    pub fn edge_fingerprint(&self) -> String {
        let names = Pages::collect(self.nodes(), |i| name(self.ids().get(i as u32)));
        let of_row = |u: u32| {
            // Each pair once: from its smaller node, or from the larger when there is no arc back.
            let once = |&&v: &&u32| {
                u < v || self.is_directed() && self.neighbors(v).binary_search(&u).is_err()
            };
            let pair = |&v: &u32| unordered(names[u as usize], names[v as usize]);
            self.neighbors(u)
                .iter()
                .filter(once)
                .map(pair)
                .fold(0, u64::wrapping_add)
        };
        let of_rows =
            |rows: Range<usize>| rows.map(|u| of_row(u as u32)).fold(0, u64::wrapping_add);
        let sum = parallel::stretches(self.nodes(), ROWS, of_rows)
            .into_iter()
            .fold(0, u64::wrapping_add);
        format!("{sum:016x}")
    }
}

/// A number for a pair in either order; sums of such numbers collide by chance only.
fn unordered(a: u64, b: u64) -> u64 {
    mix64(Mark::new(a.min(b)).and(a.max(b)).0)
}

/// A number for an id as it is printed, so that 7 is the same id among numbers and among texts.
pub fn name(id: NodeId<'_>) -> u64 {
    let of = |text: &[u8]| {
        let mark = text
            .iter()
            .fold(Mark::new(text.len() as u64), |mark, &byte| {
                mark.and(u64::from(byte))
            });
        mix64(mark.0) ^ mix64(mark.1)
    };
    match id {
        NodeId::Text(text) => of(text.as_bytes()),
        NodeId::Integer(number) => {
            let (mut digits, mut at, mut rest) = ([0u8; 20], 20, number.unsigned_abs());
            loop {
                at -= 1;
                digits[at] = b'0' + (rest % 10) as u8;
                rest /= 10;
                if rest == 0 {
                    break;
                }
            }
            if number < 0 {
                at -= 1;
                digits[at] = b'-';
            }
            of(&digits[at..])
        }
    }
}

/// Marks of the chunks of some values.
fn marks<T: Sync>(kind: u64, values: &[T], word: impl Fn(&T) -> u64 + Sync) -> Vec<Mark> {
    parallel::stretches(values.len(), CHUNK, |range| {
        values[range]
            .iter()
            .fold(Mark::new(kind), |mark, value| mark.and(word(value)))
    })
}

/// What was seen so far.
#[derive(Clone, Copy)]
struct Mark(u64, u64);

impl Mark {
    fn new(kind: u64) -> Self {
        Mark(kind, !kind)
    }

    fn and(self, word: u64) -> Self {
        Mark(
            (self.0.rotate_left(23) ^ word).wrapping_mul(GOLDEN_GAMMA),
            (self.1.rotate_left(37) ^ word).wrapping_mul(0xd1b5_4a32_d192_ed03),
        )
    }
}
