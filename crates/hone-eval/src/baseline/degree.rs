//! Eight hand-made features of degree and triangles: a baseline that any embedding must beat.
//!
//! log degree, log triangles, clustering coefficient, log core number; over the neighbours the mean
//! and the maximum of log degree, the mean of log triangles, and the log of the sum of degrees.
//! "log" is log(1 + x). Directed graphs are taken as undirected. Cost: one triangle count.

use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use hone::{Progress, Result};

use super::{Baseline, triangles_at, undirected};

/// Number of features.
const FEATURES: usize = 8;

options! {
    /// Options of the hand-made features.
    pub struct Degree {
        /// How many of the features, the first ones; 1 for log degree alone.
        columns: usize = FEATURES, 1..=FEATURES;
    }
}

impl Baseline for Degree {
    fn embed(&self, graph: &Graph, _: u64, _: &dyn Progress) -> Result<Block> {
        let all = features(graph)?;
        let mut out = Block::zeros(all.rows(), self.columns);
        out.update_rows(|i, row| row.copy_from_slice(&all.row(i)[..self.columns]));
        Ok(out)
    }

    fn uses_weights(&self) -> bool {
        false
    }
}

/// The features of all nodes, in the order above.
fn features(graph: &Graph) -> Result<Block> {
    let graph = undirected(graph)?;
    let n = graph.nodes();
    let triangles: Vec<u64> = parallel::collect(n, |i| triangles_at(&graph, i as u32));
    let cores = core_numbers(&graph);
    let log = |x: f64| x.ln_1p();
    let degree = |i: u32| graph.degree(i) as f64;
    let mut out = Block::zeros(n, FEATURES);
    for i in 0..n as u32 {
        let (d, t) = (degree(i), triangles[i as usize] as f64);
        let around = graph.neighbors(i);
        let mean = |f: &dyn Fn(u32) -> f64| around.iter().map(|&j| f(j)).sum::<f64>() / d.max(1.0);
        let row = [
            log(d),
            log(t),
            if d > 1.0 {
                2.0 * t / (d * (d - 1.0))
            } else {
                0.0
            },
            log(f64::from(cores[i as usize])),
            mean(&|j| log(degree(j))),
            around.iter().map(|&j| log(degree(j))).fold(0.0, f64::max),
            mean(&|j| log(triangles[j as usize] as f64)),
            log(around.iter().map(|&j| degree(j)).sum()),
        ];
        out.row_mut(i as usize)
            .iter_mut()
            .zip(row)
            .for_each(|(o, v)| *o = v as f32);
    }
    Ok(out)
}

/// The largest k such that the node is in a subgraph of least degree k, for every node, by taking
/// nodes of least remaining degree away one after another (Batagelj, Zaveršnik 2003).
fn core_numbers(graph: &Graph) -> Vec<u32> {
    let n = graph.nodes();
    let mut degree: Vec<u32> = (0..n as u32).map(|i| graph.degree(i) as u32).collect();
    let most = degree.iter().copied().max().unwrap_or(0) as usize;
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); most + 1];
    (0..n as u32).for_each(|i| buckets[degree[i as usize] as usize].push(i));
    let mut core = vec![u32::MAX; n];
    let mut level = 0;
    while level <= most {
        let Some(i) = buckets[level].pop() else {
            level += 1;
            continue;
        };
        if core[i as usize] != u32::MAX || degree[i as usize] as usize > level {
            continue; // an old entry of a node that moved
        }
        core[i as usize] = level as u32;
        for &j in graph.neighbors(i) {
            let d = &mut degree[j as usize];
            if core[j as usize] == u32::MAX && *d as usize > level {
                *d -= 1;
                buckets[*d as usize].push(j);
            }
        }
    }
    core
}
