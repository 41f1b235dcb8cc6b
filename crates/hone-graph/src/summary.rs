//! [`Summary`]: basic statistics of a graph; and whether it is bipartite.
//!
//! Time O(M α(N) + N log N): degrees are sorted for their quantiles, components found by
//! union–find with path halving. Memory 4 bytes per node.

use rayon::slice::ParallelSliceMut;
use serde::Serialize;

use super::Graph;

/// Size, degrees and components of a graph.
///
/// ```
/// use hone_graph::{Summary, builtin};
/// let summary = Summary::of(&builtin("karate")?);
/// assert_eq!((summary.nodes, summary.edges, summary.components), (34, 78, 1));
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Number of nodes N.
    pub nodes: u64,
    /// Number of edges M; arcs when directed.
    pub edges: u64,
    /// Whether arcs have a direction.
    pub directed: bool,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Edges over the possible edges; 0 when fewer than two nodes.
    pub density: f64,
    /// Edges that touch a node; arcs in either direction when directed.
    pub degree: Degrees,
    /// Arcs that leave a node; only when directed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_degree: Option<Degrees>,
    /// Arcs that enter a node; only when directed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_degree: Option<Degrees>,
    /// Nodes without an edge.
    pub isolated: u64,
    /// Connected components, directions ignored.
    pub components: u64,
    /// Nodes of the largest component.
    pub largest_component: u64,
    /// Self-loops left out when the graph was built.
    pub dropped_self_loops: u64,
    /// Duplicate edges left out when the graph was built.
    pub dropped_duplicates: u64,
}

/// The distribution of degrees; quantiles by nearest rank, so each is a degree that occurs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Degrees {
    /// Smallest.
    pub min: u32,
    /// First quartile.
    pub q25: u32,
    /// Half of the nodes have at most this degree.
    pub median: u32,
    /// Third quartile.
    pub q75: u32,
    /// 99 % of the nodes have at most this degree.
    pub q99: u32,
    /// Largest.
    pub max: u32,
    /// Mean.
    pub mean: f64,
}

impl Summary {
    /// Summarises `graph`.
    pub fn of(graph: &Graph) -> Self {
        let (n, directed) = (graph.nodes(), graph.is_directed());
        let out: Vec<u32> = (0..n as u32).map(|i| graph.degree(i) as u32).collect();
        let into = directed.then(|| graph.in_degrees());
        let total = into.as_ref().map(|into| {
            let both = out.iter().zip(into);
            both.map(|(o, i)| o.saturating_add(*i)).collect()
        });
        let (components, largest_component) = components(graph);
        let pairs = n as f64 * (n as f64 - 1.0) / if directed { 1.0 } else { 2.0 };
        let out_degree = directed.then(|| Degrees::of(out.clone()));
        let degrees = total.unwrap_or(out);
        Summary {
            nodes: n as u64,
            edges: graph.edges() as u64,
            directed,
            weighted: graph.weights().is_some(),
            density: if n < 2 {
                0.0
            } else {
                graph.edges() as f64 / pairs
            },
            isolated: degrees.iter().filter(|d| **d == 0).count() as u64,
            degree: Degrees::of(degrees),
            out_degree,
            in_degree: into.map(Degrees::of),
            components,
            largest_component,
            dropped_self_loops: graph.dropped().self_loops,
            dropped_duplicates: graph.dropped().duplicates,
        }
    }
}

impl Degrees {
    /// Summarises degrees; all zero when there is none.
    fn of(mut degrees: Vec<u32>) -> Self {
        degrees.par_sort_unstable();
        let (Some(&min), Some(&max)) = (degrees.first(), degrees.last()) else {
            return Degrees::default();
        };
        let n = degrees.len();
        let quantile = |percent: usize| degrees[(n * percent).div_ceil(100).max(1) - 1];
        let sum: u64 = degrees.iter().map(|&d| u64::from(d)).sum();
        let mean = sum as f64 / n as f64;
        Degrees {
            min,
            q25: quantile(25),
            median: quantile(50),
            q75: quantile(75),
            q99: quantile(99),
            max,
            mean,
        }
    }
}

impl Graph {
    /// Whether no cycle has an odd length, ignoring the direction of arcs. A graph without edges is not bipartite.
    ///
    /// ```
    /// # use hone_graph::builtin;
    /// assert!(builtin("grid")?.is_bipartite() && !builtin("karate")?.is_bipartite());
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn is_bipartite(&self) -> bool {
        self.edges() > 0 && Forest::new(self.nodes()).join_edges(self, true)
    }
}

/// Number of weakly connected components, and the nodes of the largest.
fn components(graph: &Graph) -> (u64, u64) {
    let mut forest = Forest::new(graph.nodes());
    forest.join_edges(graph, false);
    let mut sizes = vec![0u32; graph.nodes()];
    for i in 0..graph.nodes() as u32 {
        sizes[forest.root(i).0 as usize] += 1;
    }
    let count = sizes.iter().filter(|s| **s > 0).count() as u64;
    let largest = sizes.into_iter().max().unwrap_or(0);
    (count, largest.into())
}

/// Trees of nodes that are connected; each node is on the same side as its root or across: edges go to the other side.
struct Forest {
    parent: Vec<u32>,
    /// Whether a node is on the other side than its parent.
    across: Vec<bool>,
}

impl Forest {
    fn new(nodes: usize) -> Forest {
        Forest {
            parent: (0..nodes as u32).collect(),
            across: vec![false; nodes],
        }
    }

    /// Joins the ends of all edges, or of those before one whose ends are on the same side; whether there is none.
    fn join_edges(&mut self, graph: &Graph, sides: bool) -> bool {
        for u in 0..graph.nodes() as u32 {
            for &v in graph.neighbors(u) {
                if u > v && !graph.is_directed() {
                    continue;
                }
                let ((a, of_u), (b, of_v)) = (self.root(u), self.root(v));
                if a != b {
                    self.parent[a.max(b) as usize] = a.min(b);
                    self.across[a.max(b) as usize] = of_u == of_v;
                } else if sides && of_u == of_v {
                    return false;
                }
            }
        }
        true
    }

    /// The root of a node, and whether the node is on the other side. Every other node on the way skips its parent afterwards.
    fn root(&mut self, mut i: u32) -> (u32, bool) {
        let mut across = false;
        loop {
            let parent = self.parent[i as usize];
            if parent == i {
                return (i, across);
            }
            let grand = self.parent[parent as usize];
            let side = self.across[i as usize];
            let skipped = side ^ (parent != grand && self.across[parent as usize]);
            (self.parent[i as usize], self.across[i as usize]) = (grand, skipped);
            across ^= skipped;
            i = grand;
        }
    }
}
