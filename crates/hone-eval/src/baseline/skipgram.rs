//! Skip-gram with negative sampling: parallel, free of races, and the same bits for any number of
//! threads.
//!
//! Nodes are dealt into P parts. A pool of samples (vertex, context, is it a true pair?) is sorted
//! into P × P blocks; then P rounds each train P blocks at once, block i on vertex part i and
//! context part (i + round) mod P, which no other block of the round touches (the scheme of
//! GraphVite, with negatives drawn from all nodes and not only from the block's part). P depends on
//! the number of nodes alone, so neither values nor order depend on threads. When vertices and
//! contexts are the same vectors (LINE's first order) the rounds are those of a round-robin
//! tournament of the parts.
//!
//! Cost: that of `descent` a sample. Memory: the two matrices and one pool.
//! References: Mikolov et al., Distributed representations of words and phrases, 2013; Zhu et al.,
//! GraphVite, 2019.

use hone::dense::Block;
use hone::parallel;

use super::alias::Alias;
use super::descent::{Descent, PAD, Sigmoid, TRUE};
use crate::random::Stream;

/// Samples of one pool are generated in chunks of this many units of work.
const CHUNK: u64 = 16;

/// Bytes of a pool of this many pairs, and of the random ones beside them; vectors that grow hold twice that.
pub(super) fn pool_bytes(pairs: u64, negatives: usize) -> u64 {
    pairs
        .saturating_mul(1 + negatives as u64)
        .saturating_mul(2 * size_of::<(u32, u32)>() as u64)
}

/// Constants of the training.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) dim: usize,
    pub(super) negatives: usize,
    pub(super) learning_rate: f32,
    /// Whether vertices and contexts are the same vectors.
    pub(super) tied: bool,
    pub(super) seed: u64,
}

/// The two matrices in training.
pub(super) struct SkipGram {
    options: Options,
    /// Length of a padded row.
    stride: usize,
    deal: Deal,
    vertices: Vec<Vec<f32>>,
    /// Empty when tied.
    contexts: Vec<Vec<f32>>,
    noise: Alias,
    sigmoid: Sigmoid,
}

/// Which part a node is in, and at which row.
struct Deal {
    parts: usize,
    place: Vec<(u32, u32)>,
}

impl Deal {
    /// Deals nodes in turns by falling frequency, so that parts are equally busy.
    fn new(frequency: &[f64]) -> Self {
        let n = frequency.len();
        let parts = match n {
            0..1_000 => 4,
            1_000..100_000 => 8,
            100_000..1_000_000 => 16,
            _ => 32,
        };
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by(|&a, &b| frequency[b as usize].total_cmp(&frequency[a as usize]));
        let mut place = vec![(0, 0); n];
        for (turn, &node) in order.iter().enumerate() {
            let (row, seat) = (turn / parts, turn % parts);
            let part = if row % 2 == 0 { seat } else { parts - 1 - seat };
            place[node as usize] = (part as u32, row as u32);
        }
        Deal { parts, place }
    }

    fn rows(&self) -> usize {
        self.place.len().div_ceil(self.parts)
    }
}

/// Takes the true pairs of one chunk of work and adds their negatives.
pub(super) struct Sink<'a> {
    model: &'a SkipGram,
    blocks: Vec<Vec<(u32, u32)>>,
    /// The random numbers of this chunk, free to use for other draws of the same chunk.
    pub(super) stream: Stream,
}

impl Sink<'_> {
    /// Adds a true pair and its negatives.
    #[inline]
    pub(super) fn pair(&mut self, vertex: u32, context: u32) {
        self.sample(vertex, context, TRUE);
        for _ in 0..self.model.options.negatives {
            let other = self.model.noise.draw(&mut self.stream);
            if other != context && (other != vertex || !self.model.options.tied) {
                self.sample(vertex, other, 0);
            }
        }
    }

    #[inline]
    fn sample(&mut self, vertex: u32, context: u32, mark: u32) {
        let deal = &self.model.deal;
        let ((p, v), (q, c)) = (deal.place[vertex as usize], deal.place[context as usize]);
        if self.model.options.tied && p > q {
            self.blocks[q as usize * deal.parts + p as usize].push((c, v | mark));
        } else {
            self.blocks[p as usize * deal.parts + q as usize].push((v, c | mark));
        }
    }
}

impl SkipGram {
    /// Fresh vectors: vertices uniform and small, contexts zero. Negatives are drawn by
    /// frequency^0.75.
    pub(super) fn new(frequency: &[f64], options: Options) -> Self {
        let deal = Deal::new(frequency);
        let stride = options.dim.next_multiple_of(PAD);
        let size = deal.rows() * stride;
        let mut vertices = vec![vec![0.0; size]; deal.parts];
        for (node, &(part, row)) in deal.place.iter().enumerate() {
            let mut stream = Stream::new(options.seed, "skip-gram start", node as u64);
            let at = row as usize * stride;
            for value in &mut vertices[part as usize][at..at + options.dim] {
                *value = (stream.unit() as f32 - 0.5) / options.dim as f32;
            }
        }
        let contexts = if options.tied {
            Vec::new()
        } else {
            vec![vec![0.0; size]; deal.parts]
        };
        let noise = Alias::new(frequency.iter().map(|f| f.powf(0.75)));
        SkipGram {
            options,
            stride,
            deal,
            vertices,
            contexts,
            noise,
            sigmoid: Sigmoid::new(),
        }
    }

    /// Trains on the units of work `units`; `emit` gives the true pairs of one unit. `done` is the
    /// share of the whole training before this pool: the learning rate falls linearly with it.
    pub(super) fn train(
        &mut self,
        units: std::ops::Range<u64>,
        done: f64,
        emit: impl Fn(u64, &mut Sink<'_>) + Sync,
    ) {
        let rate = self.options.learning_rate * (1.0 - done as f32).max(1e-4);
        let first = units.start / CHUNK;
        let pool = |at: usize| {
            let chunk = first + at as u64;
            let stream = Stream::new(self.options.seed, "skip-gram samples", chunk);
            let blocks = vec![Vec::new(); self.deal.parts * self.deal.parts];
            let mut sink = Sink {
                model: self,
                blocks,
                stream,
            };
            let (start, end) = (
                (chunk * CHUNK).max(units.start),
                ((chunk + 1) * CHUNK).min(units.end),
            );
            (start..end).for_each(|unit| emit(unit, &mut sink));
            sink.blocks
        };
        let pools: Vec<Vec<Vec<(u32, u32)>>> =
            parallel::map((units.end.div_ceil(CHUNK) - first) as usize, pool);
        if self.options.tied {
            self.tournament(&pools, rate);
        } else {
            self.rounds(&pools, rate);
        }
    }

    fn rounds(&mut self, pools: &[Vec<Vec<(u32, u32)>>], rate: f32) {
        let (parts, stride, sigmoid) = (self.deal.parts, self.stride, &self.sigmoid);
        let arch = pulp::Arch::new();
        for round in 0..parts {
            // Contexts stand rotated by `round`, so that neighbours in the zip belong together.
            let both = self.vertices.iter_mut().zip(&mut self.contexts).collect();
            parallel::each(both, &|p, (v, c): (&mut Vec<f32>, &mut Vec<f32>)| {
                let block = p * parts + (p + round) % parts;
                for pool in pools {
                    let (vertices, contexts) = (&mut v[..], Some(&mut c[..]));
                    arch.dispatch(Descent {
                        samples: &pool[block],
                        vertices,
                        contexts,
                        stride,
                        rate,
                        sigmoid,
                    });
                }
            });
            self.contexts.rotate_left(1);
        }
    }

    /// Each pair of parts meets once: part P−1 stays, the others move around the table.
    fn tournament(&mut self, pools: &[Vec<Vec<(u32, u32)>>], rate: f32) {
        let (parts, stride, sigmoid) = (self.deal.parts, self.stride, &self.sigmoid);
        let arch = pulp::Arch::new();
        parallel::each(
            self.vertices.iter_mut().collect(),
            &|p, v: &mut Vec<f32>| {
                for pool in pools {
                    let samples = &pool[p * parts + p];
                    arch.dispatch(Descent {
                        samples,
                        vertices: v,
                        contexts: None,
                        stride,
                        rate,
                        sigmoid,
                    });
                }
            },
        );
        for round in 0..parts - 1 {
            let seat = |k: usize| {
                if k == 0 {
                    parts - 1
                } else {
                    (round + k) % (parts - 1)
                }
            };
            let matches: Vec<(usize, usize, Vec<f32>, Vec<f32>)> = (0..parts / 2)
                .map(|k| {
                    let (a, b) = (seat(k), if k == 0 { round } else { seat(parts - 1 - k) });
                    let (p, q) = (a.min(b), a.max(b));
                    (
                        p,
                        q,
                        std::mem::take(&mut self.vertices[p]),
                        std::mem::take(&mut self.vertices[q]),
                    )
                })
                .collect();
            let matches = parallel::map_each(matches, |_, (p, q, mut v, mut c)| {
                for pool in pools {
                    let (samples, vertices, contexts) =
                        (&pool[p * parts + q], &mut v[..], Some(&mut c[..]));
                    arch.dispatch(Descent {
                        samples,
                        vertices,
                        contexts,
                        stride,
                        rate,
                        sigmoid,
                    });
                }
                (p, q, v, c)
            });
            for (p, q, v, c) in matches {
                (self.vertices[p], self.vertices[q]) = (v, c);
            }
        }
    }

    /// The vertex vectors, one row per node.
    pub(super) fn vectors(&self) -> Block {
        let dim = self.options.dim;
        let mut out = Block::zeros(self.deal.place.len(), dim);
        for (node, &(part, row)) in self.deal.place.iter().enumerate() {
            let at = row as usize * self.stride;
            out.row_mut(node)
                .copy_from_slice(&self.vertices[part as usize][at..at + dim]);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_even_work_and_every_node_a_place() {
        let frequency: Vec<f64> = (0..1003).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
        let deal = Deal::new(&frequency);
        let mut places: Vec<_> = deal.place.clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 1003);
        assert!(
            deal.place
                .iter()
                .all(|p| (p.0 as usize) < deal.parts && (p.1 as usize) < deal.rows())
        );
    }

    /// True pairs within two groups: vectors of a group must end up alike, in both modes.
    #[test]
    fn groups_are_told_apart_and_samples_are_all_used() {
        for tied in [false, true] {
            let frequency = vec![1.0; 40];
            let options = Options {
                dim: 8,
                negatives: 3,
                learning_rate: 0.1,
                tied,
                seed: 5,
            };
            let mut model = SkipGram::new(&frequency, options);
            for pool in 0..200u64 {
                model.train(
                    pool * 64..(pool + 1) * 64,
                    pool as f64 / 200.0,
                    |_, sink| {
                        for _ in 0..8 {
                            let (u, v) =
                                (sink.stream.below(40) as u32, sink.stream.below(20) as u32);
                            let mate = u / 20 * 20 + v;
                            if mate != u {
                                sink.pair(u, mate);
                            }
                        }
                    },
                );
            }
            let z = model.vectors();
            let cosine = |a: usize, b: usize| {
                let product = |i: usize, j: usize| {
                    z.row(i)
                        .iter()
                        .zip(z.row(j))
                        .map(|(x, y)| x * y)
                        .sum::<f32>()
                };
                product(a, b) / (product(a, a) * product(b, b)).sqrt()
            };
            assert!(
                cosine(0, 19) > 0.5 && cosine(20, 39) > 0.5 && cosine(0, 20) < 0.3,
                "tied {tied}"
            );
        }
    }
}
