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

use super::skipgram::{self, Alias, Options, SkipGram};
use super::{Baseline, DIM, FACTOR, NEGATIVES, Ranges, check_range, weight};

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

options! {
    /// The options; defaults are the paper's.
    pub struct Line {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
        /// Proximity.
        order: Order = Order::Second;
        /// Edge samples, T; by default the smaller of 60 million and 1000 per edge.
        samples: Option<u64> = None;
        /// Noise samples per edge.
        negatives: usize = 5, NEGATIVES;
        /// Learning rate at the start; it falls linearly to 0.
        learning_rate: f64 = 0.025, FACTOR;
    }
}

/// Edge samples in one unit of work.
const BATCH: u64 = 256;

/// Batches of a pool, at most.
const POOL: u64 = 2048;

impl Baseline for Line {
    fn check(&self) -> Result<()> {
        if self.order == Order::Both {
            check_range("dim", self.dim, 2..=*DIM.end())?;
        }
        if let Some(samples) = self.samples {
            check_range("samples", samples, 1..=1_000_000_000_000)?;
        }
        self.check_ranges()
    }

    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        if graph.edges() == 0 || graph.weights().is_some_and(|w| w.iter().all(|&w| w == 0.0)) {
            return Ok(Block::zeros(graph.nodes(), self.dim));
        }
        let train = |dim, tied| self.train(graph, dim, tied, seed, progress);
        match self.order {
            Order::First => train(self.dim, true),
            Order::Second => train(self.dim, false),
            Order::Both => {
                let half = self.dim / 2;
                Ok(join_unit_rows(
                    &train(half, true)?,
                    &train(self.dim - half, false)?,
                ))
            }
        }
    }

    fn rows(&self) -> (usize, u64) {
        skipgram::rows(self.dim)
    }

    fn samples(&self) -> u64 {
        skipgram::sample_bytes(BATCH * POOL, self.negatives)
    }
}

impl Line {
    fn train(
        &self,
        graph: &Graph,
        dim: usize,
        tied: bool,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Block> {
        let (pattern, targets) = (graph.pattern(), graph.pattern().columns());
        // The arcs: an undirected edge is two.
        let sources: Vec<u32> = (0..graph.nodes())
            .flat_map(|i| pattern.range(i).map(move |_| i as u32))
            .collect();
        let table = Alias::new((0..sources.len()).map(|k| weight(graph, k)));
        let mut strength = vec![0.0; graph.nodes()];
        for (k, &source) in sources.iter().enumerate() {
            strength[source as usize] += weight(graph, k);
            if graph.is_directed() {
                strength[targets[k] as usize] += weight(graph, k);
            }
        }
        let options = Options {
            dim,
            negatives: self.negatives,
            learning_rate: self.learning_rate,
            tied,
            seed,
        };
        let mut model = SkipGram::new(&strength, options);
        let most = (1000 * graph.edges() as u64).min(60_000_000);
        let units = self.samples.unwrap_or(most).div_ceil(BATCH);
        progress.stage("edge samples", units);
        model.train(units, POOL, progress, |_, sink| {
            for _ in 0..BATCH {
                let k = table.draw(&mut sink.stream) as usize;
                sink.pair(sources[k], targets[k]);
            }
        })?;
        Ok(model.vectors())
    }
}

fn join_unit_rows(a: &Block, b: &Block) -> Block {
    let mut out = Block::zeros(a.rows(), a.cols() + b.cols());
    for i in 0..a.rows() {
        let (left, right) = out.row_mut(i).split_at_mut(a.cols());
        for (target, row) in [(left, a.row(i)), (right, b.row(i))] {
            let size = row.iter().map(|v| v * v).sum::<f32>().sqrt();
            let size = size.max(f32::MIN_POSITIVE);
            target.iter_mut().zip(row).for_each(|(t, v)| *t = v / size);
        }
    }
    out
}
