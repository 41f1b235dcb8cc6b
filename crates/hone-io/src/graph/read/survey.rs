//! [`Sizes`]: how large a graph is, and how much memory reading it takes, without storing it.
//!
//! A refusal names memory that is enough. For that the numbers of nodes and edges must be known, though the graph does not
//! fit. Matrix Market and METIS have both in their first lines; edge lists are parsed block by block and Parquet group by
//! group, each dropped at once. Distinct ids are counted by HyperLogLog (Flajolet, Fusy, Gandouet and Meunier 2007) with 2¹⁴
//! registers of a byte: a standard error of 0.8 %. Cost: one more pass over the file, in a few megabytes.

use super::division::ROUND;
use super::edges::Chunk;
use super::options::ReadOptions;
use hone_base::random::splitmix64;
use hone_graph::canonical_integer;
use hone_graph::number::Ends;

/// Bits of a hash that choose a register.
const BITS: u32 = 14;
/// Part by which an estimate of nodes may be too small: three standard errors.
const SLACK: f64 = 1.025;
/// Bytes of buffers and of blocks that are being parsed, per thread.
const BUFFERS: u64 = 2 << 20;
/// Bytes per name beside its letters, where names are numbered.
const NAME: u64 = 24;
/// Bytes per row while a Parquet group is decoded: both ids as they are decoded and kept, and the edge.
const DECODED: u64 = 48;

/// The size of a graph in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Nodes, about.
    pub nodes: u64,
    /// Edges, duplicates among them.
    pub edges: u64,
    /// Bytes of all parsed blocks, before they are joined.
    parsed: u64,
    /// Bytes of the names of nodes, where these are text.
    names: u64,
    /// Rows of the largest group of a Parquet file.
    group: u64,
}

impl Sizes {
    /// Those that a file of this many bytes promises.
    pub(super) fn promised(nodes: u64, edges: u64, bytes: u64) -> Sizes {
        Sizes {
            nodes,
            edges,
            parsed: bytes.max(8 * edges),
            ..Sizes::default()
        }
    }

    /// Bytes that the allocator may keep of those that reading has freed.
    pub fn leftover(&self) -> u64 {
        self.parsed + 8 * self.edges
    }

    /// Bytes that reading takes at its peak, in addition to those in use before, in each of so many processes.
    pub(super) fn reading(&self, options: &ReadOptions, processes: usize) -> u64 {
        let weight = if options.keeps_weights() { 4 } else { 0 };
        let pairs = (8 + weight) * self.edges;
        let slots = if options.directed { 1 } else { 2 } * self.edges;
        let decoding = self.parsed + DECODED * self.group;
        // Messages are held as they are sent, received and decoded.
        let exchanging = if processes > 1 {
            self.parsed + 2 * self.parsed.min(ROUND)
        } else {
            0
        };
        let joining = self.parsed + pairs;
        let building = pairs + (8 + weight) * slots + 8 * self.nodes;
        self.names
            + decoding.max(exchanging).max(joining).max(building)
            + BUFFERS * rayon::current_num_threads() as u64
    }
}

/// What is counted on the way.
pub(super) struct Survey {
    sizes: Sizes,
    /// Letters of the names of all chunks, and how many names.
    letters: u64,
    distinct: u64,
    /// The largest rank of the hashes of each register.
    registers: Vec<u8>,
}

impl Default for Survey {
    fn default() -> Self {
        let (sizes, registers) = (Sizes::default(), vec![0; 1 << BITS]);
        Survey {
            sizes,
            letters: 0,
            distinct: 0,
            registers,
        }
    }
}

impl Survey {
    /// Adds a chunk; `group` is the number of its rows, if it is a group of a Parquet file.
    pub(super) fn add(&mut self, chunk: &Chunk, group: u64) {
        self.sizes.edges += chunk.ends.len() as u64;
        self.sizes.parsed += chunk.bytes();
        self.sizes.group = self.sizes.group.max(group);
        match &chunk.ends {
            Ends::Nodes(pairs) | Ends::Narrow(pairs) => {
                let ids = pairs.iter().flat_map(|&(u, v)| [u, v]);
                ids.for_each(|id| self.count(u64::from(id)));
            }
            Ends::Wide(pairs) => {
                let ids = pairs.iter().flat_map(|&(u, v)| [u, v]);
                ids.for_each(|id| self.count(id as u64));
            }
            Ends::Text(names, _) => {
                for name in (0..names.len() as u32).map(|i| names.get(i)) {
                    let number = canonical_integer(name.as_bytes()).map(|id| id as u64);
                    self.count(number.unwrap_or_else(|| hash(name.as_bytes())));
                    self.letters += name.len() as u64;
                }
                self.distinct += names.len() as u64;
            }
        }
    }

    fn count(&mut self, id: u64) {
        let hash = splitmix64(id);
        let rest = hash << BITS | 1 << (BITS - 1);
        let register = &mut self.registers[(hash >> (64 - BITS)) as usize];
        *register = (*register).max(rest.leading_zeros() as u8 + 1);
    }

    pub(super) fn sizes(self) -> Sizes {
        let registers = self.registers.len() as f64;
        let ranks = || self.registers.iter();
        let sum: f64 = ranks().map(|&rank| (-f64::from(rank)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty = ranks().filter(|rank| **rank == 0).count() as f64;
        let estimate = match raw <= 4.0 * registers && empty > 0.0 {
            true => registers * (registers / empty).ln(),
            false => raw,
        };
        let nodes = (estimate * SLACK) as u64;
        let names = match self.letters {
            0 => 0,
            letters => nodes * (NAME + letters.div_ceil(self.distinct.max(1))),
        };
        Sizes {
            nodes,
            names,
            ..self.sizes
        }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
