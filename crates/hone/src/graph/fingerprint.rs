//! A number that tells graphs apart: whether work done on one graph is of use for another.

use rayon::prelude::*;

use super::Graph;

/// Values a thread takes at a time.
const CHUNK: usize = 1 << 16;

impl Graph {
    /// A hash of edges, weights and direction, in node order; ids do not count. The same for any number
    /// of threads, and on any machine.
    pub fn fingerprint(&self) -> u64 {
        let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let offsets = self.pattern().offsets().par_chunks(CHUNK);
        let offsets = offsets.map(|chunk| chunk.iter().fold(1, |hash, &o| mix(hash, o as u64)));
        let columns = self.pattern().columns().par_chunks(CHUNK);
        let columns = columns.map(|chunk| chunk.iter().fold(2, |hash, &j| mix(hash, u64::from(j))));
        let weights = self.weights().map_or(&[][..], |weights| weights).par_chunks(CHUNK);
        let weights = weights.map(|chunk| chunk.iter().fold(3, |hash, w| mix(hash, u64::from(w.to_bits()))));
        let parts: Vec<u64> = offsets.chain(columns).chain(weights).collect();
        parts.into_iter().fold(u64::from(self.is_directed()), mix)
    }
}
