//! [`Graph::from_arcs`]: from a matrix in compressed rows, as other programs hold it, to a graph.
//!
//! Such a matrix promises less than a [`Graph`]: rows may be unsorted, hold a column twice or the
//! diagonal, and whether it means a directed graph is not written anywhere. Where it keeps all
//! guarantees, as most do, its column numbers are used where they lie; otherwise they are sorted
//! once, as by the builder. Cost: one pass over the rows and, to learn whether the matrix is
//! symmetric, a bisection for every arc above the diagonal, in parallel.

use std::sync::Arc;

use rayon::prelude::*;

use super::builder::{Slots, assemble, check_weights};
use super::{Dropped, Graph, NodeIds};
use crate::error::{Error, Result};
use crate::sparse::{Indices, Pattern};

/// Rows in a piece of work.
const PIECE: usize = 1 << 12;

impl Graph {
    /// The graph whose arcs out of node i are `columns[offsets[i]..offsets[i + 1]]`.
    ///
    /// `directed` says what the matrix means; without it, a symmetric matrix (weights included) is
    /// an undirected graph and any other a directed one. An undirected graph of a matrix that is
    /// not symmetric has an edge where there is an arc either way, with the sum of their weights.
    /// Loops and repeated arcs are dropped and counted; the weights of repeated arcs add up.
    ///
    /// ```
    /// use hone::graph::{Graph, NodeIds};
    /// // 0 → 1, 1 → 0, 1 → 2
    /// let arcs = |directed| Graph::from_arcs(vec![0, 1, 3, 3], vec![1, 2, 0], None, directed, NodeIds::Sequential(3));
    /// assert!(arcs(None)?.is_directed());
    /// assert_eq!((arcs(None)?.edges(), arcs(Some(false))?.edges()), (3, 2));
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub fn from_arcs(
        offsets: Vec<usize>,
        columns: impl Into<Indices>,
        weights: Option<Arc<[f32]>>,
        directed: Option<bool>,
        ids: NodeIds,
    ) -> Result<Graph> {
        let matrix = Matrix { offsets, columns: columns.into(), weights };
        matrix.check(ids.len())?;
        Ok(matrix.graph(ids)?.with_direction(directed))
    }

    /// The same arcs as a directed or as an undirected graph; without `directed`, as an undirected
    /// one when they are symmetric. [`Graph::from_arcs`] says what that means.
    #[must_use]
    pub fn with_direction(self, directed: Option<bool>) -> Graph {
        if directed == Some(true) {
            return Graph { directed: true, ..self };
        }
        match directed {
            _ if !self.directed => self,
            _ if self.is_symmetric() => Graph { directed: false, ..self },
            Some(false) => self.underlying(),
            _ => self,
        }
    }

    /// Whether every arc has its reverse, with the same weight.
    fn is_symmetric(&self) -> bool {
        let rows = (0..self.nodes() as u32).into_par_iter().with_min_len(PIECE);
        let above: Option<u64> = rows.map(|i| self.mirrored(i)).sum();
        above == Some(self.pattern.nnz() as u64)
    }

    /// Twice the number of arcs of row `i` above the diagonal; none when one has no reverse.
    fn mirrored(&self, i: u32) -> Option<u64> {
        let row = self.neighbors(i);
        let above = row.partition_point(|&j| j < i);
        for (position, &j) in self.pattern.range(i as usize).zip(row).skip(above) {
            let back = self.pattern.offsets()[j as usize] + self.neighbors(j).binary_search(&i).ok()?;
            if self.weights.as_ref().is_some_and(|w| w[position] != w[back]) {
                return None;
            }
        }
        Some(2 * (row.len() - above) as u64)
    }
}

/// A square matrix in compressed rows that promises nothing yet.
struct Matrix {
    offsets: Vec<usize>,
    columns: Indices,
    weights: Option<Arc<[f32]>>,
}

impl Matrix {
    /// Refuses what is not a square matrix of that size.
    fn check(&self, nodes: usize) -> Result<()> {
        let fail = |message: String| Err(Error::config("adjacency", message));
        let (rows, stored) = (self.offsets.len().saturating_sub(1), self.columns.len());
        if rows != nodes || self.offsets.is_empty() {
            return fail(format!("{rows} rows for {nodes} nodes; it must be square, with one id a node"));
        }
        if nodes > u32::MAX as usize {
            return fail(format!("{nodes} nodes; at most {} are supported", u32::MAX));
        }
        if self.offsets[0] != 0 || self.offsets[rows] != stored || self.offsets.windows(2).any(|w| w[0] > w[1]) {
            return fail(format!("the row offsets do not run from 0 to the {stored} columns without falling"));
        }
        if let Some(at) = self.columns.par_iter().position_first(|&j| j as usize >= nodes) {
            let row = self.offsets.partition_point(|&start| start <= at) - 1;
            return fail(format!("row {row} has column {}, but there are {nodes} nodes", self.columns[at]));
        }
        match &self.weights {
            Some(weights) if weights.len() != stored => {
                let message = format!("{} weights for {stored} positions; give one each", weights.len());
                Err(Error::config("weights", message))
            }
            Some(weights) => check_weights(weights),
            None => Ok(()),
        }
    }

    /// A directed graph: of the matrix as it is when it keeps all guarantees, else sorted.
    fn graph(self, ids: NodeIds) -> Result<Graph> {
        let nodes = ids.len();
        let kept = |i: usize| {
            let row = self.row(i);
            row.windows(2).all(|w| w[0] < w[1]) && row.binary_search(&(i as u32)).is_err()
        };
        if (0..nodes).into_par_iter().with_min_len(PIECE).all(kept) {
            let pattern = Arc::new(Pattern::shared(self.offsets, self.columns, nodes));
            return Ok(Graph { pattern, weights: self.weights, directed: true, ids, dropped: Dropped::default() });
        }
        let loops = |i: usize| self.row(i).iter().filter(|&&j| j as usize == i).count() as u64;
        let self_loops = (0..nodes).into_par_iter().with_min_len(PIECE).map(loops).sum();
        let parts = if self.weights.is_some() { assemble::<3>(nodes, self) } else { assemble::<2>(nodes, self) };
        if parts.weights.as_ref().is_some_and(|weights| weights.iter().any(|w| w.is_infinite())) {
            return Err(Error::config("weights", "those of repeated arcs add up to more than f32 can hold"));
        }
        let dropped = Dropped { self_loops, duplicates: parts.duplicates, weights: 0 };
        Ok(Graph { pattern: Arc::new(parts.pattern), weights: parts.weights, directed: true, ids, dropped })
    }

    fn row(&self, i: usize) -> &[u32] {
        &self.columns[self.offsets[i]..self.offsets[i + 1]]
    }
}

impl Slots for Matrix {
    fn pieces(&self) -> usize {
        (self.offsets.len() - 1).div_ceil(PIECE)
    }

    fn total(&self) -> usize {
        self.columns.len()
    }

    fn each(&self, piece: usize, mut visit: impl FnMut(u32, u32, u32)) {
        let end = (self.offsets.len() - 1).min((piece + 1) * PIECE);
        for i in piece * PIECE..end {
            for (position, &j) in (self.offsets[i]..).zip(self.row(i)) {
                if j as usize != i {
                    // Adding zero turns -0 into 0, whose bits sort where they should.
                    let bits = self.weights.as_ref().map_or(0, |w| (w[position] + 0.0).to_bits());
                    visit(i as u32, j, bits);
                }
            }
        }
    }
}
