//! LINE: first- and second-order proximity by edge sampling.
//!
//! Edges are drawn by weight from an alias table; each trains one skip-gram sample with negatives
//! by degree^0.75. First order: both ends share one vector; second order: the source has a vertex,
//! the target a context vector. `Both` joins the two at half the dimension each, every row of
//! either part scaled to unit length, as the authors do.
//!
//! The default number of samples is the paper's 60 million, or 1000 per edge where that is less:
//! beyond it small graphs only over-fit.
//!
//! Reference: Tang et al. LINE: Large-scale information network embedding, 2015.

use hone::dense::Block;
use hone::graph::Graph;
use hone::{Progress, Result};
use serde::{Deserialize, Serialize};

use super::alias::Alias;
use super::range;
use super::skipgram::{self, Options, SkipGram};

/// Which proximity is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// Adjacent nodes are alike.
    First,
    /// Nodes with the same neighbours are alike (the paper's choice).
    #[default]
    Second,
    /// Both, half of the columns each.
    Both,
}

/// The options; defaults are the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Line {
    /// Length of the vectors, D.
    pub dim: usize,
    /// Proximity.
    pub order: Order,
    /// Edge samples, T; by default the smaller of 60 million and 1000 per edge.
    pub samples: Option<u64>,
    /// Noise samples per edge.
    pub negatives: usize,
    /// Learning rate at the start; it falls linearly to 0.
    pub learning_rate: f64,
}

impl Default for Line {
    fn default() -> Self {
        Line {
            dim: 128,
            order: Order::Second,
            samples: None,
            negatives: 5,
            learning_rate: 0.025,
        }
    }
}

impl Line {
    /// Bytes of the pairs of a pool, at most.
    pub(crate) fn pool_bytes(&self) -> u64 {
        skipgram::pool_bytes(BATCH * POOL, self.negatives)
    }

    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        let least = if self.order == Order::Both { 2 } else { 1 };
        range::check("dim", self.dim, &(least..=*range::DIM.end()))?;
        self.samples.map_or(Ok(()), |samples| {
            range::check("samples", samples, &range::SAMPLES)
        })?;
        range::check("negatives", self.negatives, &range::NEGATIVES)?;
        range::check("learning_rate", self.learning_rate, &range::FACTOR)
    }

    /// The vectors of all nodes.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        if graph.edges() == 0 || graph.weights().is_some_and(|w| w.iter().all(|&w| w == 0.0)) {
            return Ok(Block::zeros(graph.nodes(), self.dim));
        }
        match self.order {
            Order::First => self.train(graph, self.dim, true, seed, progress),
            Order::Second => self.train(graph, self.dim, false, seed, progress),
            Order::Both => {
                let half = self.dim / 2;
                let first = self.train(graph, half, true, seed, progress)?;
                let second = self.train(graph, self.dim - half, false, seed, progress)?;
                Ok(join_unit_rows(&first, &second))
            }
        }
    }

    fn train(
        &self,
        graph: &Graph,
        dim: usize,
        tied: bool,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Block> {
        let arcs = Arcs::new(graph);
        let total = self
            .samples
            .unwrap_or((1000 * graph.edges() as u64).min(60_000_000));
        let options = Options {
            dim,
            negatives: self.negatives,
            learning_rate: self.learning_rate as f32,
            tied,
            seed,
        };
        let mut model = SkipGram::new(&arcs.strength, options);
        let units = total.div_ceil(BATCH);
        let pool = (units / 100).clamp(16, POOL).next_multiple_of(16);
        progress.stage("edge samples", units);
        for start in (0..units).step_by(pool as usize) {
            progress.check()?;
            let end = (start + pool).min(units);
            model.train(start..end, start as f64 / units as f64, |_, sink| {
                for _ in 0..BATCH {
                    let (source, target) = arcs.draw(&mut sink.stream);
                    sink.pair(source, target);
                }
            });
            progress.advance(end - start);
        }
        Ok(model.vectors())
    }
}

/// Edge samples in one unit of work.
const BATCH: u64 = 256;

/// Batches of a pool, at most.
const POOL: u64 = 2048;

/// All arcs (an undirected edge is two), with a table to draw one by weight.
struct Arcs<'a> {
    graph: &'a Graph,
    sources: Vec<u32>,
    table: Alias,
    /// Total weight of the arcs at each node.
    strength: Vec<f64>,
}

impl<'a> Arcs<'a> {
    fn new(graph: &'a Graph) -> Self {
        let pattern = graph.pattern();
        let weight = |k: usize| graph.weights().map_or(1.0, |w| f64::from(w[k]));
        let sources: Vec<u32> = (0..graph.nodes())
            .flat_map(|i| pattern.range(i).map(move |_| i as u32))
            .collect();
        let mut strength = vec![0.0; graph.nodes()];
        for (k, &source) in sources.iter().enumerate() {
            strength[source as usize] += weight(k);
            if graph.is_directed() {
                strength[pattern.columns()[k] as usize] += weight(k);
            }
        }
        Arcs {
            graph,
            table: Alias::new((0..sources.len()).map(weight)),
            sources,
            strength,
        }
    }

    fn draw(&self, stream: &mut crate::random::Stream) -> (u32, u32) {
        let k = self.table.draw(stream) as usize;
        (self.sources[k], self.graph.pattern().columns()[k])
    }
}

fn join_unit_rows(a: &Block, b: &Block) -> Block {
    let mut out = Block::zeros(a.rows(), a.cols() + b.cols());
    for i in 0..a.rows() {
        let (left, right) = out.row_mut(i).split_at_mut(a.cols());
        for (target, row) in [(left, a.row(i)), (right, b.row(i))] {
            let size = row
                .iter()
                .map(|v| v * v)
                .sum::<f32>()
                .sqrt()
                .max(f32::MIN_POSITIVE);
            target.iter_mut().zip(row).for_each(|(t, v)| *t = v / size);
        }
    }
    out
}
