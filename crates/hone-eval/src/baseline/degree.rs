//! Eight hand-made features of degree and triangles: a baseline that any embedding must beat.
//!
//! log degree, log triangles, clustering coefficient, log core number; over the neighbours the mean
//! and the maximum of log degree, the mean of log triangles, and the log of the sum of degrees.
//! "log" is log(1 + x). Directed graphs are taken as undirected. Cost: one triangle count.

use hone::Result;
use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use serde::{Deserialize, Serialize};

use super::{range, undirected};

/// Options of the hand-made features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Degree {
    /// How many of [`FEATURES`], the first ones; 1 for log degree alone.
    pub columns: usize,
}

impl Default for Degree {
    fn default() -> Self {
        Degree {
            columns: FEATURES.len(),
        }
    }
}

impl Degree {
    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("columns", self.columns, &(1..=FEATURES.len()))
    }

    /// The features of all nodes.
    pub fn embed(&self, graph: &Graph) -> Result<Block> {
        self.check()?;
        let all = features(graph)?;
        let mut out = Block::zeros(all.rows(), self.columns);
        out.update_rows(|i, row| row.copy_from_slice(&all.row(i)[..self.columns]));
        Ok(out)
    }
}

/// Names of the columns of [`Degree`].
pub const FEATURES: [&str; 8] = [
    "log degree",
    "log triangles",
    "clustering coefficient",
    "log core number",
    "mean log degree of neighbours",
    "largest log degree of neighbours",
    "mean log triangles of neighbours",
    "log sum of degrees of neighbours",
];

/// The features of all nodes, in the order of [`FEATURES`].
fn features(graph: &Graph) -> Result<Block> {
    let graph = undirected(graph)?;
    let n = graph.nodes();
    let (triangles, cores) = (triangles(&graph), core_numbers(&graph));
    let log = |x: f64| x.ln_1p();
    let degree = |i: u32| graph.degree(i) as f64;
    let mut out = Block::zeros(n, FEATURES.len());
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

/// Triangles at each node.
fn triangles(graph: &Graph) -> Vec<u64> {
    let at = |i: u32| -> u64 {
        graph
            .neighbors(i)
            .iter()
            .map(|&j| common(graph, i, j))
            .sum::<u64>()
            / 2
    };
    parallel::collect(graph.nodes(), |i| at(i as u32))
}

/// Number of common neighbours, by the smaller list.
fn common(graph: &Graph, i: u32, j: u32) -> u64 {
    super::common_neighbors(graph, i, j).count() as u64
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

#[cfg(test)]
mod tests {
    use super::*;
    use hone::graph::GraphBuilder;

    #[test]
    fn a_clique_with_a_tail() {
        // 0 1 2 3 a clique, 3-4-5 a tail, 6 alone.
        let edges = vec![
            (0, 1),
            (0, 2),
            (0, 3),
            (1, 2),
            (1, 3),
            (2, 3),
            (3, 4),
            (4, 5),
        ];
        for directed in [false, true] {
            let builder = if directed {
                GraphBuilder::directed(7)
            } else {
                GraphBuilder::undirected(7)
            };
            let graph = builder.edges(edges.clone()).build().expect("in range");
            let x = features(&graph).expect("no reason to fail");
            let near = |i: usize, j: usize, value: f64| {
                assert!((f64::from(x.row(i)[j]) - value).abs() < 1e-6, "{i} {j}");
            };
            near(3, 0, 5f64.ln());
            near(3, 1, 4f64.ln());
            near(3, 2, 0.5);
            for (node, core) in [(0, 3.0), (3, 3.0), (4, 1.0), (5, 1.0), (6, 0.0)] {
                near(node, 3, f64::ln_1p(core));
            }
            near(4, 4, (5f64.ln() + 2f64.ln()) / 2.0);
            near(4, 5, 5f64.ln());
            near(4, 6, 4f64.ln() / 2.0);
            near(4, 7, 6f64.ln());
            assert!(x.row(6).iter().all(|&v| v == 0.0));
            let log_degree = Degree { columns: 1 }.embed(&graph).expect("in range");
            assert_eq!((log_degree.cols(), log_degree.row(3)[0]), (1, x.row(3)[0]));
            assert!(
                Degree { columns: 9 }.embed(&graph).is_err()
                    && Degree { columns: 0 }.embed(&graph).is_err()
            );
        }
    }
}
