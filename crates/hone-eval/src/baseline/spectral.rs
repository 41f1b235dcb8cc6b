//! Spectral embedding: eigenvectors of the normalised Laplacian with the smallest eigenvalues.
//!
//! These are the eigenvectors of D^-1/2 A D^-1/2 with the largest eigenvalues, one column each,
//! the trivial one included unless `skip_trivial`. A node without edges gets zeros. Directed graphs
//! are taken as undirected. After half of the edges are removed a graph has many components, each
//! of which adds an eigenvalue 0 of the Laplacian; within such a multiple eigenvalue the choice of
//! vectors is arbitrary.
//!
//! Reference: Tang, Liu. Leveraging social media networks for classification, 2011.

use faer::{Mat, MatRef};
use hone::Result;
use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use serde::{Deserialize, Serialize};

use super::eigen::{self, Eigen, Symmetric};
use super::{range, undirected};

/// The options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spectral {
    /// Length of the vectors, D.
    pub dim: usize,
    /// Whether the first eigenvector (the square root of the degrees) is left out.
    pub skip_trivial: bool,
}

impl Default for Spectral {
    fn default() -> Self {
        Spectral {
            dim: 128,
            skip_trivial: false,
        }
    }
}

impl Spectral {
    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("dim", self.dim, &range::DIM)
    }

    /// The vectors of all nodes; columns beyond the number of nodes are zero.
    pub fn embed(&self, graph: &Graph, seed: u64) -> Result<Block> {
        self.check()?;
        let graph = undirected(graph)?;
        let n = graph.nodes();
        let mut out = Block::zeros(n, self.dim);
        if n == 0 {
            return Ok(out);
        }
        let normalised = Normalised::of(&graph);
        let skip = usize::from(self.skip_trivial);
        let found = eigenpairs(&normalised, self.dim + skip, seed)?;
        for i in 0..n {
            for j in skip..found.values.len() {
                out.row_mut(i)[j - skip] = if normalised.degrees[i] > 0.0 {
                    found.vectors[(i, j)] as f32
                } else {
                    0.0
                };
            }
        }
        Ok(out)
    }
}

/// D^-½ A D^-½ of an undirected graph.
pub(super) struct Normalised<'a> {
    graph: &'a Graph,
    /// Weighted degrees.
    pub(super) degrees: Vec<f64>,
    /// D^-½; 0 where a node has no edge.
    pub(super) roots: Vec<f64>,
}

impl<'a> Normalised<'a> {
    pub(super) fn of(graph: &'a Graph) -> Self {
        let weight = |k: usize| graph.weights().map_or(1.0, |w| f64::from(w[k]));
        let degrees: Vec<f64> = (0..graph.nodes())
            .map(|i| graph.pattern().range(i).map(weight).sum())
            .collect();
        let roots = degrees
            .iter()
            .map(|&d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 })
            .collect();
        Normalised {
            graph,
            degrees,
            roots,
        }
    }

    /// The sum of all degrees.
    pub(super) fn volume(&self) -> f64 {
        self.degrees.iter().sum()
    }

    /// Row `i` times a vector.
    pub(super) fn row_times(&self, x: &[f64], i: usize) -> f64 {
        let weight = |k: usize| self.graph.weights().map_or(1.0, |w| f64::from(w[k]));
        let terms = self
            .graph
            .pattern()
            .range(i)
            .map(|k| (k, self.graph.pattern().columns()[k] as usize));
        self.roots[i]
            * terms
                .map(|(k, j)| weight(k) * self.roots[j] * x[j])
                .sum::<f64>()
    }
}

/// The largest eigenvalues of D^-½ A D^-½, with vectors.
pub(super) fn eigenpairs(matrix: &Normalised<'_>, count: usize, seed: u64) -> Result<Eigen> {
    let n = matrix.degrees.len();
    let product = |x: MatRef<'_, f64>| {
        let columns: Vec<Vec<f64>> = parallel::map(x.ncols(), |j| {
            let column: Vec<f64> = x.col(j).iter().copied().collect();
            (0..n).map(|i| matrix.row_times(&column, i)).collect()
        });
        Mat::from_fn(n, x.ncols(), |i, j| columns[j][i])
    };
    eigen::largest(
        &Symmetric {
            size: n,
            lowest: -1.0,
            product: &product,
        },
        count,
        seed,
    )
}
