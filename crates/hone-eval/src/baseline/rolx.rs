//! RolX: roles as non-negative factors of recursive features (ReFeX).
//!
//! A node begins with its degree, the edges within its egonet, and those that leave it. Each round appends sums and means
//! over the neighbours of the features that the round before kept. Values go to logarithmic bins: the lower half (`share`) of
//! the nodes to bin 0, half of the rest to bin 1, and so on, equal values together. A feature whose bins differ
//! from those of an earlier one by no more than the number of the round is left out; the features stop where nothing new comes.
//! The bin numbers are then factored, V ≈ G F with non-negative factors; G is the embedding, one column per role. With
//! `values = "logs"` log(1 + x) of the values is factored instead: bins of half of the rest tell the lower half of the nodes apart
//! by their neighbours alone. Weights and directions are ignored. Cost: one triangle count, M per feature, and the factors.
//!
//! References: Henderson et al. It's who you know: graph mining using recursive structural features, 2011; the same, RolX:
//! structural role extraction and mining in large graphs, 2012.

use hone::dense::Block;
use hone::factor::nmf::Nmf;
use hone::factor::{Solver, Task};
use hone::graph::Graph;
use hone::operator::Operator;
use hone::parallel;
use hone::random::Key;
use hone::{Progress, Result};
use serde::{Deserialize, Serialize};

use super::{Baseline, DIM, triangles_at, undirected};

options! {
    /// The options.
    pub struct RolX {
        /// Roles: length of the vectors. Those beyond the number of features are zero.
        dim: usize = 32, DIM;
        /// Rounds of recursion at most.
        depth: usize = 3, 0..=8;
        /// Share of the remaining nodes that a bin takes.
        share: f64 = 0.5, 0.01..=0.99;
        /// What is factored.
        values: Values = Values::Bins;
    }
}

/// What of the features is factored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// The numbers of their bins, as published.
    #[default]
    Bins,
    /// log(1 + x) of their values.
    Logs,
}

/// A feature that is kept.
struct Feature {
    bins: Vec<u32>,
    /// log(1 + x) of its values, where these are wanted.
    logs: Vec<f32>,
}

/// Features at most: rounds beyond are not begun.
const MOST: usize = 512;

impl Baseline for RolX {
    fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        let features = self.features(graph, progress)?;
        let (n, width) = (graph.nodes(), features.len());
        let value = |feature: &Feature, i: usize| match self.values {
            Values::Bins => feature.bins[i] as f32,
            Values::Logs => feature.logs[i],
        };
        let mut v = Block::zeros(n, width);
        v.update_rows(|i, row| {
            row.iter_mut()
                .zip(&features)
                .for_each(|(to, feature)| *to = value(feature, i));
        });
        if v.as_slice().iter().all(|&value| value == 0.0) {
            return Ok(Block::zeros(n, self.dim));
        }
        let rank = self.dim.min(width).min(n);
        let key = Key::new(seed).with("RolX", 0);
        let task = Task {
            rank,
            right: false,
            key,
            progress,
            aside: None,
        };
        let mut found = Solver::Nmf(Nmf::default()).factor(&Operator::dense("V", v), &task)?;
        found.u.scale_columns(&found.sigma);
        Ok(found.u.widened(self.dim))
    }

    fn rows(&self) -> (usize, u64) {
        (self.dim, 5)
    }

    fn uses_weights(&self) -> bool {
        false
    }
}

impl RolX {
    /// All features that are kept.
    fn features(&self, graph: &Graph, progress: &dyn Progress) -> Result<Vec<Feature>> {
        let graph = undirected(graph)?;
        let mut fresh = egonets(&graph);
        let mut kept: Vec<Feature> = Vec::new();
        for round in 0..=self.depth {
            progress.check()?;
            let binned: Vec<Vec<u32>> = parallel::map(fresh.len(), |f| self.bins(&fresh[f]));
            let mut next = Vec::new();
            for (values, bins) in fresh.into_iter().zip(binned) {
                if kept
                    .iter()
                    .all(|other| differ_by(&other.bins, &bins) > round as u32)
                {
                    let logs = match self.values {
                        Values::Bins => Vec::new(),
                        Values::Logs => values.iter().map(|x| x.ln_1p() as f32).collect(),
                    };
                    kept.push(Feature { bins, logs });
                    next.push(values);
                }
            }
            if next.is_empty() || kept.len() + 2 * next.len() > MOST {
                break;
            }
            fresh = parallel::map(next.len(), |f| around(&graph, &next[f]))
                .into_iter()
                .flatten()
                .collect();
        }
        Ok(kept)
    }

    /// Logarithmic bins.
    fn bins(&self, values: &[f64]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        let mut bins = vec![0; values.len()];
        let (mut first, mut bin) = (0, 0);
        while first < order.len() {
            let wanted = ((order.len() - first) as f64 * self.share).ceil().max(1.0) as usize;
            let last = values[order[first + wanted - 1]];
            let end = first + order[first..].partition_point(|&i| values[i] <= last);
            order[first..end].iter().for_each(|&i| bins[i] = bin);
            (first, bin) = (end, bin + 1);
        }
        bins
    }
}

/// The largest difference of two features' bins.
fn differ_by(a: &[u32], b: &[u32]) -> u32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.abs_diff(*b))
        .max()
        .unwrap_or(0)
}

/// Degree, edges within the egonet, edges that leave it.
fn egonets(graph: &Graph) -> Vec<Vec<f64>> {
    let of = |i: usize| {
        let i = i as u32;
        let around = graph.neighbors(i);
        let triangles = triangles_at(graph, i) as usize;
        let (degree, within) = (around.len(), around.len() + triangles);
        let ends: usize = degree + around.iter().map(|&j| graph.degree(j)).sum::<usize>();
        [degree, within, ends - 2 * within].map(|x| x as f64)
    };
    let rows: Vec<[f64; 3]> = parallel::collect(graph.nodes(), of);
    (0..3)
        .map(|j| rows.iter().map(|row| row[j]).collect())
        .collect()
}

/// Sums and means over the neighbours.
fn around(graph: &Graph, values: &[f64]) -> [Vec<f64>; 2] {
    let sum = |i: u32| {
        graph
            .neighbors(i)
            .iter()
            .map(|&j| values[j as usize])
            .sum::<f64>()
    };
    let sums: Vec<f64> = (0..graph.nodes() as u32).map(sum).collect();
    let means = (0..graph.nodes() as u32)
        .zip(&sums)
        .map(|(i, sum)| sum / graph.degree(i).max(1) as f64)
        .collect();
    [sums, means]
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::graph::builtin;

    #[test]
    fn egonets_are_counted_edge_by_edge() {
        let graph = builtin("karate").expect("built in");
        let found = egonets(&graph);
        for i in 0..graph.nodes() as u32 {
            let inside = |v: u32| v == i || graph.neighbors(i).contains(&v);
            let (mut within, mut leaving) = (0.0, 0.0);
            for u in 0..graph.nodes() as u32 {
                for &v in graph.neighbors(u).iter().filter(|&&v| v > u) {
                    match (inside(u), inside(v)) {
                        (true, true) => within += 1.0,
                        (true, false) | (false, true) => leaving += 1.0,
                        _ => (),
                    }
                }
            }
            assert_eq!(
                (found[1][i as usize], found[2][i as usize]),
                (within, leaving),
                "node {i}"
            );
        }
    }

    #[test]
    fn bins_halve_what_is_left_and_keep_equal_values_together() {
        let bins = |values: &[f64]| RolX::default().bins(values);
        assert_eq!(
            bins(&[5.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0]),
            [1, 0, 0, 0, 0, 1, 2, 3]
        );
        assert_eq!(bins(&[1.0, 1.0, 1.0, 2.0]), [0, 0, 0, 1]);
        assert!(bins(&[]).is_empty());
    }
}
