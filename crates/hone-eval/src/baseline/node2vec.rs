//! DeepWalk and node2vec: skip-gram over random walks.
//!
//! R walks of L nodes start at every node; each node predicts the nodes around it within a window
//! whose size is drawn from 1..=window, as in word2vec. DeepWalk is node2vec with p = q = 1 (and
//! negative sampling in place of the hierarchical softmax). Walks are not stored: they are drawn
//! from keyed streams, once to count visits (the noise distribution) and once to train.
//!
//! References: Perozzi et al. DeepWalk, 2014; Grover, Leskovec. node2vec, 2016.

use std::sync::atomic::{AtomicU64, Ordering};

use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use hone::{Progress, Result};
use serde::{Deserialize, Serialize};

use super::range;
use super::skipgram::{self, Options, Sink, SkipGram};
use super::walk::Walker;
use crate::random::Stream;

/// The options; defaults are the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Node2Vec {
    /// Length of the vectors, D.
    pub dim: usize,
    /// Walks from each node, R.
    pub walks: usize,
    /// Nodes in a walk, L.
    pub length: usize,
    /// Largest distance in a walk between a node and its context.
    pub window: usize,
    /// Return parameter: large p avoids going back.
    pub p: f64,
    /// In-out parameter: large q stays near.
    pub q: f64,
    /// Noise samples a true pair.
    pub negatives: usize,
    /// Passes over the walks.
    pub epochs: usize,
    /// Learning rate at the start; it falls linearly to 0.
    pub learning_rate: f64,
}

impl Default for Node2Vec {
    fn default() -> Self {
        Node2Vec {
            dim: 128,
            walks: 10,
            length: 80,
            window: 10,
            p: 1.0,
            q: 1.0,
            negatives: 5,
            epochs: 1,
            learning_rate: 0.025,
        }
    }
}

impl Node2Vec {
    /// The vectors of all nodes; a node without edges keeps its tiny random start.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        if graph.edges() == 0 {
            return Ok(Block::zeros(graph.nodes(), self.dim));
        }
        let run = Run::new(self, graph, seed);
        let options = Options {
            dim: self.dim,
            negatives: self.negatives,
            learning_rate: self.learning_rate as f32,
            tied: false,
            seed,
        };
        let mut model = SkipGram::new(&run.visits(), options);
        let total = run.units() * self.epochs as u64;
        // About a hundred steps of the learning rate, at most some 10 million samples in memory.
        let pool = (total / 100)
            .clamp(16, self.heaviest())
            .next_multiple_of(16);
        progress.stage("walks and skip-gram", total);
        for start in (0..total).step_by(pool as usize) {
            progress.check()?;
            let end = (start + pool).min(total);
            model.train(start..end, start as f64 / total as f64, |unit, sink| {
                run.emit(unit, sink);
            });
            progress.advance(end - start);
        }
        Ok(model.vectors())
    }

    /// Walks of a pool, at most.
    fn heaviest(&self) -> u64 {
        (2_000_000 / (self.length * self.window).max(1)).max(16) as u64
    }

    /// Bytes of the pairs of a pool, at most.
    pub(crate) fn pool_bytes(&self) -> u64 {
        let reach = 2 * self.window.min(self.length) as u64;
        skipgram::pool_bytes(
            self.heaviest().next_multiple_of(16) * self.length as u64 * reach,
            self.negatives,
        )
    }

    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("dim", self.dim, &range::DIM)?;
        range::check("walks", self.walks, &range::WALKS)?;
        range::check("length", self.length, &range::LENGTH)?;
        range::check("window", self.window, &range::WINDOW)?;
        range::check("epochs", self.epochs, &range::EPOCHS)?;
        range::check("negatives", self.negatives, &range::NEGATIVES)?;
        range::check("p", self.p, &range::FACTOR)?;
        range::check("q", self.q, &range::FACTOR)?;
        range::check("learning_rate", self.learning_rate, &range::FACTOR)
    }
}

struct Run<'a> {
    options: &'a Node2Vec,
    walker: Walker<'a>,
    /// The nodes in the random order in which walks start.
    order: Vec<u32>,
    seed: u64,
}

impl<'a> Run<'a> {
    fn new(options: &'a Node2Vec, graph: &'a Graph, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..graph.nodes() as u32).collect();
        Stream::new(seed, "walk order", 0).shuffle(&mut order);
        Run {
            options,
            walker: Walker::new(graph, options.p, options.q),
            order,
            seed,
        }
    }

    /// Walks of one epoch.
    fn units(&self) -> u64 {
        self.order.len() as u64 * self.options.walks as u64
    }

    fn walk(&self, unit: u64, walk: &mut Vec<u32>) {
        let unit = unit % self.units();
        let start = self.order[(unit % self.order.len() as u64) as usize];
        let mut stream = Stream::new(self.seed, "walk", unit);
        self.walker
            .walk(start, self.options.length, &mut stream, walk);
    }

    /// How often each node is visited by all walks.
    fn visits(&self) -> Vec<f64> {
        let visits: Vec<AtomicU64> = (0..self.order.len()).map(|_| AtomicU64::new(0)).collect();
        let piece = (self.units() / 64).max(1024) as usize;
        parallel::stretches(self.units() as usize, piece, |units| {
            let mut walk = Vec::with_capacity(self.options.length);
            for unit in units {
                self.walk(unit as u64, &mut walk);
                walk.iter()
                    .for_each(|&v| _ = visits[v as usize].fetch_add(1, Ordering::Relaxed));
            }
        });
        visits.into_iter().map(|v| v.into_inner() as f64).collect()
    }

    fn emit(&self, unit: u64, sink: &mut Sink<'_>) {
        let mut walk = Vec::with_capacity(self.options.length);
        self.walk(unit, &mut walk);
        for (at, &vertex) in walk.iter().enumerate() {
            let reach = 1 + sink.stream.below(self.options.window);
            let (start, end) = (at.saturating_sub(reach), (at + reach + 1).min(walk.len()));
            for &context in walk[start..at].iter().chain(&walk[at + 1..end]) {
                sink.pair(vertex, context);
            }
        }
    }
}
