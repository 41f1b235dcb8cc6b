//! DeepWalk and node2vec: skip-gram over random walks.
//!
//! R walks of L nodes start at every node; each node predicts the nodes around it within a window
//! whose size is drawn from 1..=window, as in word2vec. DeepWalk is node2vec with p = q = 1 (and
//! negative sampling in place of the hierarchical softmax). Walks are not stored: they are drawn
//! from keyed streams, once to count visits (the noise distribution) and once to train.
//!
//! A second-order step from `at`, having come from `before`, chooses a neighbour x with weight
//! w(at, x) times 1/p if x is `before`, 1 if x is adjacent to `before`, 1/q otherwise. We draw x by
//! w alone and accept it with its factor over the largest factor, so that memory stays linear in the
//! edges; the way back, whose factor may be far larger than all others, is drawn apart, so that few
//! draws are rejected.
//!
//! References: Perozzi et al. DeepWalk, 2014; Grover, Leskovec. node2vec, 2016; Yang et al.
//! KnightKing, 2019.

use std::sync::atomic::{AtomicU64, Ordering};

use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use hone::{Progress, Result};

use super::skipgram::{self, Alias, Options, Sink, SkipGram};
use super::{Baseline, DIM, FACTOR, NEGATIVES, WINDOW};
use crate::random::Stream;

options! {
    /// The options; defaults are the paper's.
    pub struct Node2Vec {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
        /// Walks from each node, R.
        walks: usize = 10, 1..=100_000;
        /// Nodes in a walk, L; one alone has no pairs.
        length: usize = 80, 2..=100_000;
        /// Largest distance in a walk between a node and its context.
        window: usize = 10, WINDOW;
        /// Return parameter: large p avoids going back.
        p: f64 = 1.0, FACTOR;
        /// In-out parameter: large q stays near.
        q: f64 = 1.0, FACTOR;
        /// Noise samples a true pair.
        negatives: usize = 5, NEGATIVES;
        /// Passes over the walks.
        epochs: usize = 1, 1..=10_000;
        /// Learning rate at the start; it falls linearly to 0.
        learning_rate: f64 = 0.025, FACTOR;
    }
}

impl Node2Vec {
    /// Walks of a pool, at most: some 10 million samples.
    fn largest_pool(&self) -> u64 {
        (2_000_000 / (self.length * self.window).max(1)).max(16) as u64
    }
}

impl Baseline for Node2Vec {
    /// A node without edges keeps its tiny random start.
    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        if graph.edges() == 0 {
            return Ok(Block::zeros(graph.nodes(), self.dim));
        }
        let walks = Walks::new(self, graph, seed);
        let options = Options {
            dim: self.dim,
            negatives: self.negatives,
            learning_rate: self.learning_rate,
            tied: false,
            seed,
        };
        let mut model = SkipGram::new(&walks.visits(), options);
        let total = walks.count() * self.epochs as u64;
        progress.stage("walks and skip-gram", total);
        model.train(total, self.largest_pool(), progress, |unit, sink| {
            walks.add_pairs(unit, sink);
        })?;
        Ok(model.vectors())
    }

    fn rows(&self) -> (usize, u64) {
        skipgram::rows(self.dim)
    }

    fn samples(&self) -> u64 {
        let reach = 2 * self.window.min(self.length) as u64;
        let pairs = self.largest_pool().next_multiple_of(16) * self.length as u64 * reach;
        skipgram::sample_bytes(pairs, self.negatives)
    }
}

/// Random walks on one graph.
struct Walks<'a> {
    options: &'a Node2Vec,
    graph: &'a Graph,
    /// Factor of the way back, 1/p.
    back: f64,
    /// Factor of nodes not adjacent to the last one, 1/q.
    out: f64,
    /// For weighted graphs, one table per node that has neighbours.
    tables: Option<Vec<Option<Alias>>>,
    /// The nodes in the random order in which walks start.
    order: Vec<u32>,
    seed: u64,
}

impl<'a> Walks<'a> {
    fn new(options: &'a Node2Vec, graph: &'a Graph, seed: u64) -> Self {
        let tables = graph.weights().map(|weights| {
            let table = |i: usize| {
                let own = &weights[graph.pattern().range(i)];
                let any = own.iter().any(|&w| w > 0.0);
                any.then(|| Alias::new(own.iter().map(|&w| f64::from(w))))
            };
            (0..graph.nodes()).map(table).collect()
        });
        let mut order: Vec<u32> = (0..graph.nodes() as u32).collect();
        Stream::new(seed, "walk order", 0).shuffle(&mut order);
        Walks {
            options,
            graph,
            back: 1.0 / options.p,
            out: 1.0 / options.q,
            tables,
            order,
            seed,
        }
    }

    /// Walks of one epoch.
    fn count(&self) -> u64 {
        self.order.len() as u64 * self.options.walks as u64
    }

    /// How often each node is visited by all walks.
    fn visits(&self) -> Vec<f64> {
        let visits: Vec<AtomicU64> = (0..self.order.len()).map(|_| AtomicU64::new(0)).collect();
        let piece = (self.count() / 64).max(1024) as usize;
        parallel::stretches(self.count() as usize, piece, |units| {
            for unit in units {
                self.walk(unit as u64)
                    .iter()
                    .for_each(|&v| _ = visits[v as usize].fetch_add(1, Ordering::Relaxed));
            }
        });
        visits.into_iter().map(|v| v.into_inner() as f64).collect()
    }

    /// The pairs of nodes near each other on a walk.
    fn add_pairs(&self, unit: u64, sink: &mut Sink<'_>) {
        let walk = self.walk(unit);
        for (at, &vertex) in walk.iter().enumerate() {
            let reach = 1 + sink.stream.below(self.options.window);
            let (start, end) = (at.saturating_sub(reach), (at + reach + 1).min(walk.len()));
            let around = walk[start..at].iter().chain(&walk[at + 1..end]);
            around.for_each(|&context| sink.pair(vertex, context));
        }
    }

    /// The walk of a number; it ends early where no arc leads on.
    fn walk(&self, unit: u64) -> Vec<u32> {
        let unit = unit % self.count();
        let mut stream = Stream::new(self.seed, "walk", unit);
        let mut walk = vec![self.order[(unit % self.order.len() as u64) as usize]];
        while walk.len() < self.options.length {
            let at = walk.len() - 1;
            let before = at.checked_sub(1).map(|before| walk[before]);
            let Some(next) = self.step(walk[at], before, &mut stream) else {
                break;
            };
            walk.push(next);
        }
        walk
    }

    fn step(&self, at: u32, before: Option<u32>, stream: &mut Stream) -> Option<u32> {
        let neighbors = self.graph.neighbors(at);
        let table = match &self.tables {
            Some(tables) => Some(tables[at as usize].as_ref()?),
            None if neighbors.is_empty() => return None,
            None => None,
        };
        let draw = |stream: &mut Stream| match table {
            Some(table) => neighbors[table.draw(stream) as usize],
            None => neighbors[stream.below(neighbors.len())],
        };
        let (back, out) = (self.back, self.out);
        let Some(before) = before.filter(|_| back != 1.0 || out != 1.0) else {
            return Some(draw(stream));
        };
        let bound = out.max(1.0);
        let extra = (back - bound).max(0.0) * self.share(at, before);
        loop {
            if extra > 0.0 && stream.unit() * (extra + bound) < extra {
                return Some(before);
            }
            let next = draw(stream);
            let factor = if next == before {
                back.min(bound)
            } else if self.graph.neighbors(before).binary_search(&next).is_ok() {
                1.0
            } else {
                out
            };
            if stream.unit() * bound < factor {
                return Some(next);
            }
        }
    }

    /// The share of the way to `to` in all ways out of `at`; 0 when there is none (directed graphs).
    fn share(&self, at: u32, to: u32) -> f64 {
        let neighbors = self.graph.neighbors(at);
        match (neighbors.binary_search(&to), self.graph.weights()) {
            (Err(_), _) => 0.0,
            (Ok(_), None) => 1.0 / neighbors.len() as f64,
            (Ok(k), Some(weights)) => {
                let own = &weights[self.graph.pattern().range(at as usize)];
                f64::from(own[k]) / own.iter().map(|&w| f64::from(w)).sum::<f64>()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::graph::GraphBuilder;

    fn options(p: f64, q: f64) -> Node2Vec {
        Node2Vec {
            p,
            q,
            length: 10,
            walks: 1,
            ..Node2Vec::default()
        }
    }

    #[test]
    fn steps_follow_the_definition() {
        // A triangle 0-1-2 with tails 1-3 and 1-4: from 1, having come from 0, all factors occur.
        let edges = vec![(0, 1), (0, 2), (1, 2), (1, 3), (1, 4)];
        let plain = GraphBuilder::undirected(5).edges(edges);
        let weighted = plain.clone().weights(vec![2.0, 1.0, 3.0, 1.0, 4.0]);
        for (p, q) in [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (0.5, 0.5), (2.0, 1.0)] {
            for (builder, w) in [
                (&plain, [1.0, 0.0, 1.0, 1.0, 1.0]),
                (&weighted, [2.0, 0.0, 3.0, 1.0, 4.0]),
            ] {
                let (options, graph) = (options(p, q), builder.clone().build().expect("in range"));
                let walks = Walks::new(&options, &graph, 1);
                let mut stream = Stream::new(1, "test", 0);
                let mut seen = [0.0; 5];
                for _ in 0..100_000 {
                    let next = walks.step(1, Some(0), &mut stream);
                    seen[next.expect("has neighbours") as usize] += 1e-5;
                }
                let mass = [w[0] / p, 0.0, w[2], w[3] / q, w[4] / q];
                let total: f64 = mass.iter().sum();
                let mut both = seen.iter().zip(mass);
                assert!(
                    both.all(|(s, m)| (s - m / total).abs() < 0.01),
                    "{seen:?} instead of {mass:?} / {total}"
                );
            }
        }
    }

    #[test]
    fn walks_follow_arcs_and_end_where_none_leads_on() {
        let walks = |builder: GraphBuilder| {
            let (options, graph) = (options(0.5, 2.0), builder.build().expect("in range"));
            let walks = Walks::new(&options, &graph, 1);
            let mut all: Vec<_> = (0..walks.count()).map(|unit| walks.walk(unit)).collect();
            all.sort();
            all
        };
        let arcs = GraphBuilder::directed(3).edges(vec![(0, 1), (1, 2)]);
        assert_eq!(walks(arcs), [vec![0, 1, 2], vec![1, 2], vec![2]]);
        let zero = GraphBuilder::undirected(2).edges(vec![(0, 1)]);
        assert_eq!(walks(zero.weights(vec![0.0])), [[0], [1]]);
    }
}
