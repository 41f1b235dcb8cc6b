//! A name that tells graphs apart: whether work done on one graph is of use for another.
//!
//! One pass over ids, edges and weights, by all threads; the same for any number of them, and on any machine. Two
//! words of 64 bits with a bijective step each: made to tell graphs apart that differ by accident, not to withstand
//! whoever looks for two with the same name.

use rayon::prelude::*;

use super::{Graph, NodeId};

/// Values a thread takes at a time.
const CHUNK: usize = 1 << 16;

impl Graph {
    /// A name for the content, of 32 hexadecimal digits: ids and their order, edges, direction and weights.
    pub fn fingerprint(&self) -> String {
        let id = |mark: Mark, node: u32| match self.ids().get(node) {
            NodeId::Integer(id) => mark.and(id.cast_unsigned()),
            NodeId::Text(id) => id.bytes().fold(mark.and(!(id.len() as u64)), |mark, byte| mark.and(u64::from(byte))),
        };
        let starts: Vec<usize> = (0..self.nodes()).step_by(CHUNK).collect();
        let chunk = |&start: &usize| start as u32..self.nodes().min(start + CHUNK) as u32;
        let ids = starts.par_iter().map(|start| chunk(start).fold(Mark::new(1), id));
        let offsets = marks(2, self.pattern().offsets(), |&o| o as u64);
        let columns = marks(3, self.pattern().columns(), |&j| u64::from(j));
        let weights = marks(4, self.weights().map_or(&[][..], |weights| weights), |w| u64::from(w.to_bits()));
        let parts: Vec<Mark> = ids.chain(offsets).chain(columns).chain(weights).collect();
        let start = Mark::new(u64::from(self.is_directed())).and(self.nodes() as u64);
        let Mark(a, b) = parts.into_iter().fold(start, |mark, part| mark.and(part.0).and(part.1));
        format!("{:016x}{:016x}", spread(a), spread(b))
    }
}

/// Marks of the chunks of some values.
fn marks<T: Sync>(
    kind: u64,
    values: &[T],
    word: impl Fn(&T) -> u64 + Sync + Send,
) -> impl IndexedParallelIterator<Item = Mark> {
    values.par_chunks(CHUNK).map(move |chunk| chunk.iter().fold(Mark::new(kind), |mark, value| mark.and(word(value))))
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
            (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            (self.1.rotate_left(37) ^ word).wrapping_mul(0xd1b5_4a32_d192_ed03),
        )
    }
}

/// Spreads a number over all bits (the finaliser of splitmix64).
fn spread(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
