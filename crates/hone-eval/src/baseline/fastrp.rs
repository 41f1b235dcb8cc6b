//! FastRP: random vectors, averaged over the neighbours again and again.
//!
//! The random vector of a node has entries ±√3, each with probability 1/6, and zeros (Achlioptas 2003), times a power of the
//! node's degree. Each step replaces the vectors by the weighted means of those of the neighbours. The result is the sum of these
//! vectors, each with unit length, from the second step on: the first step tells little more than the edges. So are the
//! defaults of the implementation in Neo4j, weights 0, 1, 1. Directed graphs are taken as undirected. Cost: one product of the
//! adjacency matrix and a block per step.
//!
//! Reference: Chen, Sultan, Tian, Chen, Skiena. Fast and accurate network embeddings via very sparse random projection, 2019.

use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use hone::{Progress, Result};

use super::{Baseline, DIM, undirected, weight};
use crate::random::Stream;

options! {
    /// The options.
    pub struct FastRp {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
        /// How often vectors are averaged.
        steps: usize = 3, 1..=64;
        /// The power of the degree that random vectors are multiplied with; negative: hubs count less.
        degree_power: f64 = 0.0, -10.0..=10.0;
    }
}

impl Baseline for FastRp {
    /// A node without edges gets zeros.
    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        let graph = undirected(graph)?;
        let n = graph.nodes();
        let degree = |i: usize| graph.pattern().range(i).map(|k| weight(&graph, k)).sum();
        let degrees: Vec<f64> = (0..n).map(degree).collect();
        let mut vectors = parallel::map(n, |i| {
            let mut stream = Stream::new(seed, "random projection", i as u64);
            let size = 3f64.sqrt() * degrees[i].powf(self.degree_power);
            let entry = |_| match stream.below(6) {
                0 => size,
                1 => -size,
                _ => 0.0,
            };
            (0..self.dim).map(entry).collect::<Vec<f64>>()
        });
        let mut out = Block::zeros(n, self.dim);
        for step in 1..=self.steps {
            progress.check()?;
            vectors = parallel::map(n, |i| {
                let mut mean = vec![0.0; self.dim];
                for k in graph.pattern().range(i) {
                    let share = weight(&graph, k) / degrees[i];
                    let other = &vectors[graph.pattern().columns()[k] as usize];
                    mean.iter_mut()
                        .zip(other)
                        .for_each(|(to, x)| *to += share * x);
                }
                mean
            });
            if step == 1 && self.steps > 1 {
                continue;
            }
            for (i, vector) in vectors.iter().enumerate() {
                let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length > 0.0 {
                    let row = out.row_mut(i).iter_mut();
                    row.zip(vector)
                        .for_each(|(to, x)| *to += (x / length) as f32);
                }
            }
        }
        Ok(out)
    }

    fn rows(&self) -> (usize, u64) {
        (self.dim, 5)
    }
}
