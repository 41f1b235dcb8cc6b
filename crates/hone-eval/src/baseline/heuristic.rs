//! Untrained scores of node pairs: what a link predictor must beat to be worth its training.
//!
//! Directed graphs are taken as undirected. Common-neighbour scores cost the smaller degree per pair;
//! Katz is the series up to length four, one sweep of products per distinct first node.

use hone::Result;
use hone::graph::Graph;
use hone::parallel;
use serde::{Deserialize, Serialize};

use super::{common_neighbors, undirected};

/// A score of node pairs; larger means an edge is more likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Heuristic {
    /// log(1 + d(u)) + log(1 + d(v)), as one logarithm, so that equal scores are equal bits.
    LogDegree,
    /// d(u) d(v).
    PreferentialAttachment,
    /// Number of common neighbours.
    CommonNeighbors,
    /// Σ 1 / log d(w) over common neighbours w.
    AdamicAdar,
    /// Common neighbours over all neighbours.
    Jaccard,
    /// Σ βˡ (number of walks of length l), β = 0.01, l ≤ 4.
    Katz,
}

const BETA: f64 = 0.01;
const LENGTH: usize = 4;

impl Heuristic {
    /// The score of each pair.
    pub fn scores(self, graph: &Graph, pairs: &[(u32, u32)]) -> Result<Vec<f64>> {
        let graph = &*undirected(graph)?;
        if self == Heuristic::Katz {
            return Ok(katz(graph, pairs));
        }
        let degree = |i: u32| graph.degree(i) as f64;
        let common = |u, v| common_neighbors(graph, u, v).count() as f64;
        let score = |(u, v): (u32, u32)| match self {
            Heuristic::LogDegree => ((1.0 + degree(u)) * (1.0 + degree(v))).ln(),
            Heuristic::PreferentialAttachment => degree(u) * degree(v),
            Heuristic::CommonNeighbors => common(u, v),
            // A common neighbour has two neighbours at least, so no logarithm is zero (u ≠ v).
            Heuristic::AdamicAdar => common_neighbors(graph, u, v)
                .map(|w| 1.0 / degree(w).max(2.0).ln())
                .sum(),
            Heuristic::Jaccard => {
                let both = common(u, v);
                let either = degree(u) + degree(v) - both;
                if either > 0.0 { both / either } else { 0.0 }
            }
            Heuristic::Katz => unreachable!("treated above"),
        };
        Ok(parallel::collect(pairs.len(), |k| score(pairs[k])))
    }
}

fn katz(graph: &Graph, pairs: &[(u32, u32)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&k| pairs[k].0);
    let groups: Vec<&[usize]> = order.chunk_by(|&a, &b| pairs[a].0 == pairs[b].0).collect();
    let scored: Vec<Vec<(usize, f64)>> = parallel::map_each(groups, |_, group| {
        let series = walks_from(graph, pairs[group[0]].0);
        group
            .iter()
            .map(|&k| (k, series[pairs[k].1 as usize]))
            .collect()
    });
    let mut out = vec![0.0; pairs.len()];
    scored
        .into_iter()
        .flatten()
        .for_each(|(k, score)| out[k] = score);
    out
}

/// Σ βˡ (Aˡ e_u) for l in 1..=LENGTH.
fn walks_from(graph: &Graph, u: u32) -> Vec<f64> {
    let n = graph.nodes();
    let mut sum = vec![0.0; n];
    let mut front: Vec<(u32, f64)> = vec![(u, 1.0)];
    for _ in 0..LENGTH {
        let mut next = vec![0.0; n];
        for &(i, mass) in &front {
            graph
                .neighbors(i)
                .iter()
                .for_each(|&j| next[j as usize] += BETA * mass);
        }
        sum.iter_mut().zip(&next).for_each(|(s, v)| *s += v);
        front = (0..n as u32)
            .map(|i| (i, next[i as usize]))
            .filter(|e| e.1 > 0.0)
            .collect();
    }
    sum
}
