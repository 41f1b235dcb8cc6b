//! [`Graph::from_arcs`] and [`Graph::from_pattern`]: from a matrix in compressed rows, as other programs hold it, to a graph.
//!
//! Such a matrix guarantees less than a [`Graph`]: rows may be unsorted, contain a column twice or
//! the diagonal, and it does not say whether the graph is directed. If it satisfies all invariants,
//! as most do, its column indices are used in place; otherwise they are sorted once, as by the
//! builder. Cost: some passes over the rows, in parallel.

use std::sync::Arc;

use super::assemble::{Slots, assemble};
use super::orientation::Orientation;
use super::weights::check_weights;
use super::{Dropped, Graph, NodeIds};
use crate::error::{Error, Result};
use crate::parallel;
use crate::random::{GOLDEN_GAMMA, mix64};
use crate::sparse::{Indices, Pattern};

/// Rows in a piece of work.
const PIECE: usize = 1 << 12;

impl Graph {
    /// The graph whose arcs out of node i are `columns[offsets[i]..offsets[i + 1]]`.
    ///
    /// `orientation` says what the matrix means. An undirected graph of a matrix that is not symmetric has an edge
    /// wherever there is an arc in either direction, with the sum of their weights. Self-loops and repeated arcs are
    /// dropped and counted; the weights of repeated arcs are added.
    ///
    /// ```
    /// use hone_graph::{Graph, NodeIds, Orientation};
    /// // 0 → 1, 1 → 0, 1 → 2
    /// let arcs = |meant| Graph::from_arcs(vec![0, 1, 3, 3], vec![1, 2, 0], None, meant, NodeIds::Sequential(3));
    /// assert!(arcs(Orientation::Detect)?.is_directed());
    /// assert_eq!((arcs(Orientation::Detect)?.edges(), arcs(Orientation::Undirected)?.edges()), (3, 2));
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn from_arcs(
        offsets: Vec<usize>,
        columns: impl Into<Indices>,
        weights: Option<Arc<[f32]>>,
        orientation: Orientation,
        ids: NodeIds,
    ) -> Result<Graph> {
        let matrix = Matrix {
            offsets,
            columns: columns.into(),
            weights,
        };
        matrix.check(ids.len())?;
        Ok(matrix.graph(ids)?.with_orientation(orientation))
    }

    /// Takes a finished adjacency, without copying it, after checking every invariant: square, rows
    /// strictly ascending, no self-loops, symmetric (weights too) where it is to be undirected,
    /// weights finite and not negative, one id per node.
    pub fn from_pattern(
        pattern: Arc<Pattern>,
        weights: Option<Arc<[f32]>>,
        orientation: Orientation,
        ids: NodeIds,
    ) -> Result<Graph> {
        let directed = orientation != Orientation::Undirected;
        let graph = Graph {
            pattern,
            weights,
            directed,
            ids,
            dropped: Dropped::default(),
            extension: None,
        };
        graph.check_shape()?;
        let rows = |check: &(dyn Fn(u32) -> Result<()> + Sync)| {
            let checked = parallel::stretches(graph.nodes(), PIECE, |mut rows| {
                rows.try_for_each(|i| check(i as u32))
            });
            checked.into_iter().collect::<Result<()>>()
        };
        rows(&|i| graph.check_row(i))?;
        if !directed {
            rows(&|i| graph.check_symmetry(i))?;
        }
        Ok(graph.with_orientation(orientation))
    }

    fn check_row(&self, i: u32) -> Result<()> {
        let row = self.neighbors(i);
        let fail = |message: String| Err(Error::config("adjacency", message));
        if row.windows(2).any(|w| w[0] >= w[1]) {
            return fail(format!(
                "row {i} does not strictly ascend; sort it and merge duplicates first"
            ));
        }
        match row.last() {
            Some(&j) if j as usize >= self.nodes() => fail(format!(
                "row {i} has column {j}, but there are {} nodes",
                self.nodes()
            )),
            _ if row.binary_search(&i).is_ok() => fail(format!(
                "row {i} has a self-loop; remove the diagonal first"
            )),
            _ => Ok(()),
        }
    }

    fn check_symmetry(&self, i: u32) -> Result<()> {
        for (position, &j) in self.pattern.range(i as usize).zip(self.neighbors(i)) {
            let Ok(back) = self.neighbors(j).binary_search(&i) else {
                let message = format!(
                    "({i}, {j}) is there but not ({j}, {i}); symmetrise it or pass directed"
                );
                return Err(Error::config("adjacency", message));
            };
            let back = self.pattern.offsets()[j as usize] + back;
            if self
                .weights
                .as_ref()
                .is_some_and(|w| w[position] != w[back])
            {
                let message = format!(
                    "those of ({i}, {j}) and ({j}, {i}) differ; symmetrise them or pass directed"
                );
                return Err(Error::config("weights", message));
            }
        }
        Ok(())
    }

    /// The same arcs as a directed or as an undirected graph; [`Graph::from_arcs`] says what that means.
    #[must_use]
    pub fn with_orientation(self, orientation: Orientation) -> Graph {
        match orientation {
            Orientation::Directed => Graph {
                directed: true,
                ..self
            },
            _ if !self.directed => self,
            _ if self.is_symmetric() => Graph {
                directed: false,
                ..self
            },
            Orientation::Undirected => self.underlying(),
            Orientation::Detect => self,
        }
    }

    /// Whether every arc has its reverse, with the same weight.
    ///
    /// The arcs above the diagonal and those below it are two sets; they are the same if their sums
    /// of 128-bit hashes are, but for one case in 2¹²⁸. That takes two streams and no search.
    fn is_symmetric(&self) -> bool {
        let sums = parallel::stretches(self.nodes(), PIECE, |rows| {
            rows.map(|i| self.imbalance(i as u32))
                .fold(0, u128::wrapping_add)
        });
        sums.into_iter().fold(0, u128::wrapping_add) == 0
    }

    /// Hashes of the arcs of row `i` above the diagonal less those below it.
    fn imbalance(&self, i: u32) -> u128 {
        let positions = self.pattern.range(i as usize).zip(self.neighbors(i));
        positions.fold(0, |sum: u128, (position, &j)| {
            // Adding zero turns -0 into 0, its equal.
            let weight = self
                .weights
                .as_ref()
                .map_or(0, |w| (w[position] + 0.0).to_bits());
            if i < j {
                sum.wrapping_add(hash(i, j, weight))
            } else {
                sum.wrapping_sub(hash(j, i, weight))
            }
        })
    }
}

/// A hash of three numbers: two rounds of SplitMix64, each from another start.
fn hash(a: u32, b: u32, c: u32) -> u128 {
    let mix = |start: u64| {
        let x = (u64::from(a) << 32 | u64::from(b)).wrapping_add(start);
        mix64(mix64(x).wrapping_add(u64::from(c).wrapping_mul(GOLDEN_GAMMA)))
    };
    u128::from(mix(GOLDEN_GAMMA)) << 64 | u128::from(mix(0xd1b5_4a32_d192_ed03))
}

/// A square matrix in compressed rows, not yet checked.
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
            return fail(format!(
                "{rows} rows for {nodes} nodes; it must be square, with one id per node"
            ));
        }
        if nodes > u32::MAX as usize {
            return fail(format!("{nodes} nodes; at most {} are supported", u32::MAX));
        }
        if self.offsets[0] != 0
            || self.offsets[rows] != stored
            || self.offsets.windows(2).any(|w| w[0] > w[1])
        {
            return fail(format!(
                "the row offsets do not run from 0 to the {stored} columns without falling"
            ));
        }
        if let Some(at) = parallel::first(stored, |at| self.columns[at] as usize >= nodes) {
            let row = self.offsets.partition_point(|&start| start <= at) - 1;
            return fail(format!(
                "row {row} has column {}, but there are {nodes} nodes",
                self.columns[at]
            ));
        }
        match &self.weights {
            Some(weights) if weights.len() != stored => {
                let message = format!(
                    "{} weights for {stored} positions; give one each",
                    weights.len()
                );
                Err(Error::config("weights", message))
            }
            Some(weights) => check_weights(weights),
            None => Ok(()),
        }
    }

    /// A directed graph: of the matrix itself if it satisfies all invariants, else sorted.
    fn graph(self, ids: NodeIds) -> Result<Graph> {
        let nodes = ids.len();
        let kept = |i: usize| {
            let row = self.row(i);
            row.windows(2).all(|w| w[0] < w[1]) && row.binary_search(&(i as u32)).is_err()
        };
        if parallel::stretches(nodes, PIECE, |mut rows| rows.all(kept))
            .into_iter()
            .all(|kept| kept)
        {
            let pattern = Arc::new(Pattern::shared(self.offsets, self.columns, nodes));
            let (weights, dropped) = (self.weights, Dropped::default());
            return Ok(Graph {
                pattern,
                weights,
                directed: true,
                ids,
                dropped,
                extension: None,
            });
        }
        let loops = |i: usize| self.row(i).iter().filter(|&&j| j as usize == i).count() as u64;
        let self_loops = parallel::stretches(nodes, PIECE, |rows| rows.map(loops).sum::<u64>())
            .into_iter()
            .sum();
        let parts = if self.weights.is_some() {
            assemble::<3>(nodes, self)
        } else {
            assemble::<2>(nodes, self)
        };
        if parts
            .weights
            .as_ref()
            .is_some_and(|weights| weights.iter().any(|w| w.is_infinite()))
        {
            return Err(Error::config(
                "weights",
                "those of repeated arcs add up to more than f32 can hold",
            ));
        }
        let dropped = Dropped {
            self_loops,
            duplicates: parts.duplicates,
            weights: 0,
        };
        let (pattern, weights) = (Arc::new(parts.pattern), parts.weights);
        Ok(Graph {
            pattern,
            weights,
            directed: true,
            ids,
            dropped,
            extension: None,
        })
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
                    let bits = self
                        .weights
                        .as_ref()
                        .map_or(0, |w| (w[position] + 0.0).to_bits());
                    visit(i as u32, j, bits);
                }
            }
        }
    }
}
