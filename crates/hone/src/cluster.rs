//! Clusters that few occurrences of a motif leave: sweep cuts of the motif Laplacian, around a node or of the whole graph.
//!
//! W has the number of occurrences that two nodes share, adjacent or not. The conductance of a set S of nodes is the weight between S
//! and the rest, divided by the volume (sum of the degrees in W) of the one that has less. For motifs of three nodes that
//! is the motif conductance: the occurrences that S cuts, over those ends of occurrences in it. For motifs of four nodes, occurrences
//! that are cut in half count 4/3 as much as those that lose one node.
//!
//! * [`MotifClusters::spectral`]: nodes in the order of the second eigenvector of the normalised Laplacian of W, each divided by
//!   the root of its degree; of all beginnings of that order, the one of the least conductance φ. No set of the graph has less than
//!   about φ²/4. Benson, Gleich and Leskovec 2016, doi:10.1126/science.aad9029.
//! * [`MotifClusters::local`]: the same in the order of an approximate personalised PageRank from a node (MAPPR), which only visits
//!   the surroundings. Yin, Benson, Leskovec and Gleich 2017, doi:10.1145/3097983.3098069.
//!
//! Cost: counting the motif; then products with W, or 1 / (ε (1 − α)) pushes.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::factor::Task;
use crate::factor::svd::{Iterations, Svd, svd};
use crate::graph::Graph;
use crate::matrix::{MotifMatrix, Psi};
use crate::memory::Allowance;
use crate::message::{call, message};
use crate::motif::{Motif, Sample, Weighting};
use crate::operator::Operator;
use crate::progress::Progress;
use crate::random::Key;
use crate::sparse::{Csr, Pattern};

/// Share of the steps of PageRank that follow an edge.
const ALPHA: f64 = 0.98;
/// Residual of PageRank that is left at a node, per degree in multiples of the mean degree.
const EPSILON: f64 = 1e-4;
/// Residual of the eigenvector, and products at most.
const TOLERANCE: f64 = 1e-5;
const PRODUCTS: usize = 1000;

/// The occurrences of a motif that nodes share.
#[derive(Debug, Clone)]
pub struct MotifClusters {
    /// The nodes of the graph that are the rows of W, ascending.
    nodes: Vec<u32>,
    weights: Csr,
    degrees: Arc<Vec<f64>>,
    surrogate: bool,
}

/// A set of nodes, and how well it keeps occurrences together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MotifCluster {
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// `cut` over the smaller volume.
    pub conductance: f64,
    /// Whether that is a surrogate of the motif conductance: of motifs of four nodes, it counts an occurrence that is cut in half
    /// 4/3 times.
    pub surrogate: bool,
    /// Weight between the set and the rest.
    pub cut: f64,
    /// Volume of the set.
    pub volume: f64,
    /// Volume of the rest of what is divided: the largest component for `spectral`, the whole graph for `local`.
    pub rest: f64,
}

impl MotifClusters {
    /// Counts the motif: a graphlet, or a directed triad in which all nodes are linked (M1 to M7).
    ///
    /// ```
    /// use hone::cluster::MotifClusters;
    /// use hone::{Silent, graph};
    /// let graph = graph::builtin("barbell")?;
    /// let clusters = MotifClusters::new(&graph, "triangle".parse()?, &Silent)?;
    /// assert_eq!(clusters.local(0, &Silent)?.nodes, [0, 1, 2, 3, 4]);
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub fn new(graph: &Graph, motif: Motif, progress: &dyn Progress) -> Result<MotifClusters> {
        let undirected;
        let graph = match motif.triad() {
            None => {
                undirected = graph.underlying();
                &undirected
            }
            Some(_) if !all_linked(motif) => {
                let message = format!(
                    "{motif} is not a whole triad in which every two nodes are linked; use one of M1 to M7, or a graphlet"
                );
                return Err(Error::config("motifs", message));
            }
            Some(_) => graph,
        };
        let exact = (0, Allowance::new(None));
        let counts = Sample::Exact.count_motifs(graph, &[motif], exact, progress)?;
        let (nodes, weights) = match motif.is_directed() {
            true => {
                let arcs = counts.motif_graph(graph, motif, Weighting::default())?;
                let both = arcs.with_reverse(1.0);
                let node = |row: usize| both.nodes.as_ref().map_or(row as u32, |nodes| nodes[row]);
                // Both arcs of a mutual pair have the occurrences of the pair.
                let once = both.matrix.scaled(|i, j| {
                    let (i, j) = (node(i), node(j));
                    if graph.has_edge(i, j) && graph.has_edge(j, i) {
                        0.5
                    } else {
                        1.0
                    }
                });
                (both.nodes, once)
            }
            false => {
                let pairs = counts.pair_graph(graph, motif, 1)?;
                (pairs.nodes, pairs.matrix)
            }
        };
        let degrees = weights.row_sums();
        if degrees.iter().all(|&degree| degree == 0.0) {
            let message = message![
                format!("{motif} does not occur in the graph; choose another motif ("),
                call("Counts::totals"),
                " counts all)"
            ];
            return Err(Error::config("motifs", message));
        }
        let nodes = nodes.unwrap_or_else(|| (0..graph.nodes() as u32).collect());
        Ok(MotifClusters {
            nodes,
            weights,
            degrees,
            surrogate: motif.size() > 3,
        })
    }

    /// The cut of the least conductance among those of the spectral order of the largest component of W.
    pub fn spectral(&self, progress: &dyn Progress) -> Result<MotifCluster> {
        let rows = self.largest_component();
        let part = self.part(&rows);
        let lazy = MotifMatrix {
            psi: Psi::ANorm,
            laziness: 0.5,
            ..MotifMatrix::default()
        };
        let operator = lazy.operator(&Operator::symmetric("W", part), 1)?;
        progress.stage("finding the spectral order", 0);
        let options = Svd {
            tolerance: TOLERANCE,
            iterations: Iterations::AtMost(PRODUCTS),
            ..Svd::default()
        };
        let task = Task {
            rank: 2,
            right: false,
            key: Key::new(0).with("motif clusters", 0),
            progress,
            aside: None,
        };
        let found = svd(&operator, &options, &task)?;
        // The first eigenvector is known; what the space of both has beside it is the second, however close their values.
        let first: Vec<f64> = rows
            .iter()
            .map(|&row| self.degrees[row as usize].sqrt())
            .collect();
        let squares: f64 = first.iter().map(|x| x * x).sum();
        let beside = |column: usize| {
            let own: Vec<f64> = (0..rows.len())
                .map(|row| f64::from(found.u.row(row)[column]))
                .collect();
            let along = own.iter().zip(&first).map(|(x, y)| x * y).sum::<f64>() / squares;
            own.iter()
                .zip(&first)
                .map(|(x, y)| x - along * y)
                .collect::<Vec<f64>>()
        };
        let size = |column: &[f64]| column.iter().map(|x| x * x).sum::<f64>();
        let (a, b) = (beside(0), beside(1));
        let second = if size(&a) > size(&b) { a } else { b };
        let order = second.iter().zip(&first).zip(&rows);
        let order = order.map(|((x, root), &row)| (x / root, row)).collect();
        let total = rows.iter().map(|&row| self.degrees[row as usize]).sum();
        Ok(self.sweep(order, total, true))
    }

    /// The cluster around a node; fails where the node is in no occurrence.
    pub fn local(&self, node: u32, progress: &dyn Progress) -> Result<MotifCluster> {
        let seed = self.nodes.binary_search(&node).ok();
        let Some(seed) = seed.filter(|&row| self.degrees[row] > 0.0) else {
            let message =
                "the node is in no occurrence of the motif; choose another node, or another motif";
            return Err(Error::config("node", message));
        };
        progress.stage("visiting the surroundings of the node", 0);
        let total: f64 = self.degrees.iter().sum();
        let occurring = self.degrees.iter().filter(|&&degree| degree > 0.0).count();
        let mean = total / occurring as f64;
        let enough = |row: usize| (EPSILON * self.degrees[row] / mean).min(0.5);
        let mut rank = vec![0.0; self.nodes.len()];
        let mut left = vec![0.0; self.nodes.len()];
        let mut waiting = VecDeque::from([seed]);
        left[seed] = 1.0;
        let (mut pushes, mut visited) = (0u64, vec![]);
        while let Some(row) = waiting.pop_front() {
            pushes += 1;
            if pushes.is_multiple_of(1 << 16) {
                progress.check()?;
            }
            if rank[row] == 0.0 {
                visited.push(row as u32);
            }
            let pushed = left[row] - enough(row) / 2.0;
            rank[row] += (1.0 - ALPHA) * pushed;
            left[row] = enough(row) / 2.0;
            let (columns, weights) = self.weights.row(row);
            for (&column, &weight) in columns.iter().zip(weights) {
                let (column, weight) = (column as usize, f64::from(weight));
                let before = left[column];
                left[column] += ALPHA * pushed * weight / self.degrees[row];
                if before < enough(column) && left[column] >= enough(column) {
                    waiting.push_back(column);
                }
            }
        }
        visited.sort_unstable();
        let order = visited
            .iter()
            .map(|&row| (-rank[row as usize] / self.degrees[row as usize], row));
        Ok(self.sweep(order.collect(), total, false))
    }

    /// Of all beginnings of an order, the one of the least conductance; its rest instead, if that has less volume and the order
    /// has all nodes.
    fn sweep(&self, mut order: Vec<(f64, u32)>, total: f64, has_all: bool) -> MotifCluster {
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut inside = vec![false; self.nodes.len()];
        let (mut cut, mut volume) = (0.0, 0.0);
        let mut best = MotifCluster {
            nodes: Vec::new(),
            conductance: f64::INFINITY,
            surrogate: self.surrogate,
            cut,
            volume,
            rest: total,
        };
        let mut count = 0;
        for (at, &(_, row)) in order.iter().enumerate() {
            let row = row as usize;
            let (columns, weights) = self.weights.row(row);
            let within = columns.iter().zip(weights);
            let within = within.filter(|(column, _)| inside[**column as usize]);
            let within: f64 = within.map(|(_, &weight)| f64::from(weight)).sum();
            inside[row] = true;
            volume += self.degrees[row];
            cut += self.degrees[row] - 2.0 * within;
            let (rest, conductance) = (total - volume, cut / volume.min(total - volume));
            // All nodes are no cut.
            if rest > 0.0 && conductance < best.conductance {
                (best.conductance, best.cut) = (conductance, cut);
                (best.volume, best.rest, count) = (volume, rest, at + 1);
            }
        }
        let mut rows = &order[..count];
        if has_all && best.rest < best.volume {
            rows = &order[count..];
            (best.volume, best.rest) = (best.rest, best.volume);
        }
        best.nodes = rows
            .iter()
            .map(|&(_, row)| self.nodes[row as usize])
            .collect();
        best.nodes.sort_unstable();
        best
    }

    /// The rows of the component of W that has the most, ascending.
    fn largest_component(&self) -> Vec<u32> {
        let mut seen = vec![false; self.nodes.len()];
        let mut largest: Vec<u32> = Vec::new();
        for start in 0..self.nodes.len() as u32 {
            let mut rows = vec![start];
            let mut at = 0;
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            while let Some(&row) = rows.get(at) {
                let (columns, weights) = self.weights.row(row as usize);
                for (&column, _) in columns
                    .iter()
                    .zip(weights)
                    .filter(|(_, weight)| **weight > 0.0)
                {
                    if !std::mem::replace(&mut seen[column as usize], true) {
                        rows.push(column);
                    }
                }
                at += 1;
            }
            if rows.len() > largest.len() {
                largest = rows;
            }
        }
        largest.sort_unstable();
        largest
    }

    /// Some rows of W, and their columns.
    fn part(&self, rows: &[u32]) -> Csr {
        let mut place = vec![u32::MAX; self.nodes.len()];
        for (at, &row) in rows.iter().enumerate() {
            place[row as usize] = at as u32;
        }
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let (others, weights) = self.weights.row(row as usize);
            for (&other, &weight) in others
                .iter()
                .zip(weights)
                .filter(|(_, weight)| **weight > 0.0)
            {
                columns.push(place[other as usize]);
                values.push(weight);
            }
            offsets.push(columns.len());
        }
        let pattern = Pattern::new(offsets, columns, rows.len());
        Csr::new(Arc::new(pattern), values.into())
    }
}

/// Whether it is a dyad or a whole triad without a null dyad in its code.
fn all_linked(motif: Motif) -> bool {
    motif.triad().is_some_and(|triad| {
        let whole = motif.arc_orbits().len() == triad.orbits().len();
        whole && (triad.size() == 2 || triad.name().as_bytes()[2] == b'0')
    })
}
