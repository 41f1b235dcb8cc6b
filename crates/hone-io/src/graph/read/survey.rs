//! [`Sizes`]: how large a graph is, and how much memory reading it takes, without storing it.
//!
//! A refusal names memory that is enough. For that the numbers of nodes and edges must be known, though the graph does not
//! fit. Matrix Market and METIS have both in their first lines; edge lists are parsed block by block and Parquet group by
//! group, each dropped at once. Distinct ids are counted by HyperLogLog (Flajolet, Fusy, Gandouet and Meunier 2007) with 2¹⁴
//! registers of a byte: a standard error of 0.8 %. Cost: one more pass over the file, in a few megabytes.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::division::ROUND;
use super::join::Chunk;
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

    /// Those of chunks that `survey` has seen.
    pub(super) fn seen(survey: &Survey, group: u64) -> Sizes {
        let nodes = (survey.ids.estimate() * SLACK) as u64;
        let (edges, letters) = (
            survey.edges.load(Ordering::Relaxed),
            survey.letters.load(Ordering::Relaxed),
        );
        let distinct = survey.distinct.load(Ordering::Relaxed).max(1);
        let names = if letters == 0 {
            0
        } else {
            nodes * (NAME + letters.div_ceil(distinct))
        };
        Sizes {
            nodes,
            edges,
            parsed: survey.parsed.load(Ordering::Relaxed),
            names,
            group,
        }
    }

    /// Bytes that the allocator may keep of those that reading has freed.
    pub fn leftover(&self) -> u64 {
        self.parsed + 8 * self.edges
    }

    /// Bytes that reading takes at its peak, in addition to those in use before, in each of so many processes.
    pub(super) fn reading(&self, options: &ReadOptions, processes: usize) -> u64 {
        let weight = if options.weighted || options.weight.is_some() {
            4
        } else {
            0
        };
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
#[derive(Default)]
pub(super) struct Survey {
    ids: Sketch,
    edges: AtomicU64,
    parsed: AtomicU64,
    /// Letters of the names of all chunks, and how many names.
    letters: AtomicU64,
    distinct: AtomicU64,
}

impl Survey {
    pub(super) fn add(&self, chunk: &Chunk) {
        self.edges
            .fetch_add(chunk.ends.len() as u64, Ordering::Relaxed);
        self.parsed.fetch_add(chunk.bytes(), Ordering::Relaxed);
        match &chunk.ends {
            Ends::Nodes(pairs) | Ends::Narrow(pairs) => {
                pairs
                    .iter()
                    .flat_map(|&(u, v)| [u, v])
                    .for_each(|id| self.ids.add(u64::from(id)));
            }
            Ends::Wide(pairs) => pairs
                .iter()
                .flat_map(|&(u, v)| [u, v])
                .for_each(|id| self.ids.add(id as u64)),
            Ends::Text(names, _) => {
                for name in (0..names.len() as u32).map(|i| names.get(i)) {
                    let number = canonical_integer(name.as_bytes()).map(|id| id as u64);
                    self.ids
                        .add(number.unwrap_or_else(|| hash(name.as_bytes())));
                    self.letters.fetch_add(name.len() as u64, Ordering::Relaxed);
                }
                self.distinct
                    .fetch_add(names.len() as u64, Ordering::Relaxed);
            }
        }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Counts distinct numbers.
struct Sketch(Vec<AtomicU8>);

impl Default for Sketch {
    fn default() -> Self {
        Sketch((0..1 << BITS).map(|_| AtomicU8::new(0)).collect())
    }
}

impl Sketch {
    fn add(&self, id: u64) {
        let hash = splitmix64(id);
        let (register, rest) = (
            (hash >> (64 - BITS)) as usize,
            hash << BITS | 1 << (BITS - 1),
        );
        let rank = rest.leading_zeros() as u8 + 1;
        if self.0[register].load(Ordering::Relaxed) < rank {
            self.0[register].fetch_max(rank, Ordering::Relaxed);
        }
    }

    fn estimate(&self) -> f64 {
        let registers = self.0.len() as f64;
        let ranks = || self.0.iter().map(|rank| rank.load(Ordering::Relaxed));
        let sum: f64 = ranks().map(|rank| (-f64::from(rank)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty = ranks().filter(|&rank| rank == 0).count() as f64;
        if raw <= 4.0 * registers && empty > 0.0 {
            registers * (registers / empty).ln()
        } else {
            raw
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sizes;
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn distinct_ids_are_counted_within_a_few_per_cent() {
        for (count, step) in [(1, 1), (100, 7), (10_000, 1), (40_000, 1), (300_000, 3)] {
            let sketch = Sketch::default();
            (0..3).for_each(|_| (0..count).for_each(|i| sketch.add(i * step)));
            let error = sketch.estimate() / count as f64 - 1.0;
            assert!(error.abs() < 0.04, "{count}: {error}");
        }
    }

    #[test]
    fn files_of_every_format() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let numbers: String = (0..3000)
            .map(|i| format!("{} {}\n", i % 700, (i * i + 1) % 700))
            .collect();
        let names = numbers.replace(' ', ",n").replace('\n', "x\n");
        let mtx = "%%MatrixMarket matrix coordinate pattern symmetric\n% hi\n3 3 2\n2 1\n3 2\n"
            .to_owned();
        let metis = "% hi\n3 2\n2\n1 3\n2\n".to_owned();
        let pairs = |text: &str| {
            text.split(['\n', ' ', ','])
                .filter(|id| !id.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let distinct = |text: &str| {
            let ids: std::collections::HashSet<String> = pairs(text);
            ids.len() as f64
        };
        for (name, text, nodes, edges) in [
            ("a.txt", &numbers, distinct(&numbers), 3000),
            ("a.csv", &names, distinct(&names), 3000),
            ("a.mtx", &mtx, 3.0, 2),
            ("a.graph", &metis, 3.0, 2),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("writable");
            let options = ReadOptions::default();
            let sizes = sizes(&path, &options, &Silent)
                .expect("sound")
                .expect("a file");
            assert_eq!(sizes.edges, edges, "{name}");
            assert!(
                (sizes.nodes as f64 / nodes - 1.0).abs() < 0.06,
                "{name}: {} of {nodes}",
                sizes.nodes
            );
            assert!(sizes.reading(&options, 1) > 8 * edges, "{name}");
            assert!(
                sizes.reading(&options, 4) >= sizes.reading(&options, 1),
                "{name}"
            );
        }
        assert_eq!(
            sizes("-", &ReadOptions::default(), &Silent).expect("nothing is read"),
            None
        );
    }
}
