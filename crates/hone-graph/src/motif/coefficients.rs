//! [`Coefficients`]: how often what could be closed is closed, for each node and for the graph.
//!
//! | coefficient | closed | that could be | source |
//! |---|---|---|---|
//! | `clustering` | triangles | paths of three nodes around the node | Watts and Strogatz 1998 |
//! | `clustering-3` | 4-cliques | triangles with an edge at the node, which is in both | Yin, Benson and Leskovec 2018 |
//! | `square-clustering` | 4-cycles | pairs of neighbours, and their further neighbours | Lind, González and Herrmann 2005 |
//! | `closure` | triangles | paths of three nodes that begin at the node | Yin, Benson and Leskovec 2019 |
//!
//! All follow from the 15 node orbits, without another look at the graph. `clustering` is the coefficient of order 2 of which
//! `clustering-3` is that of order 3.

use serde::Serialize;

use super::counts::Counts;
use crate::error::{Error, Result};

/// The names of the coefficients, in the order of columns.
pub const COEFFICIENTS: [&str; 4] = ["clustering", "clustering-3", "square-clustering", "closure"];

/// Coefficients of a graph without directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// Those of each node, in the order of [`COEFFICIENTS`]; 0 where nothing could be closed.
    pub nodes: Vec<[f64; 4]>,
    /// Those of the graph.
    pub graph: [Coefficient; 4],
}

/// A coefficient of a whole graph.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficient {
    /// One of [`COEFFICIENTS`].
    pub name: &'static str,
    /// What is closed, of all that could be, around all nodes; none where nothing could.
    pub global: Option<f64>,
    /// The mean over all nodes; none if there is no node.
    pub mean: Option<f64>,
    /// The mean over the nodes at which something could be closed.
    pub mean_where_defined: Option<f64>,
    /// The number of these nodes.
    pub defined: u64,
}

impl Counts {
    /// Clustering, square clustering and closure coefficients. Fails where counts are estimates.
    ///
    /// ```
    /// use hone_graph::{GraphBuilder, Silent, motif};
    /// // A triangle with a tail.
    /// let graph = GraphBuilder::undirected(4).edges(vec![(0, 1), (1, 2), (2, 0), (2, 3)]).build()?;
    /// let found = motif::count(&graph, &Silent)?.coefficients()?;
    /// assert_eq!(found.graph[0].global, Some(0.6));
    /// assert_eq!(found.nodes[2][0], 1.0 / 3.0);
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    pub fn coefficients(&self) -> Result<Coefficients> {
        if !self.are_exact() {
            let message = "coefficients need exact counts of the 13 edge orbits, and these are not; count without a sample";
            return Err(Error::config("sample", message));
        }
        let shares: Vec<_> = self.node_orbits()?.iter().map(shares).collect();
        let of = |(closed, whole): (u128, u128)| (whole > 0).then(|| closed as f64 / whole as f64);
        let graph = std::array::from_fn(|at| {
            let column = || shares.iter().map(|shares| shares[at]);
            let total = column().fold((0, 0), |(a, b), (closed, whole)| (a + closed, b + whole));
            let (mut sum, mut defined) = (0.0, 0);
            for share in column().filter_map(of) {
                sum += share;
                defined += 1;
            }
            let mean = |nodes: u64| (nodes > 0).then(|| sum / nodes as f64);
            Coefficient {
                name: COEFFICIENTS[at],
                global: of(total),
                mean: mean(shares.len() as u64),
                mean_where_defined: mean(defined),
                defined,
            }
        });
        let nodes = shares
            .iter()
            .map(|shares| shares.map(|share| of(share).unwrap_or(0.0)));
        Ok(Coefficients {
            nodes: nodes.collect(),
            graph,
        })
    }
}

/// What is closed around a node, and what could be, from its node orbits.
fn shares(orbits: &[u64; 15]) -> [(u128, u128); 4] {
    let o = orbits.map(u128::from);
    let (d, triangles, cliques) = (o[0], o[3], o[14]);
    // Paths of three nodes that begin here, closed or not, and cycles with chords or without.
    let paths = o[1] + 2 * triangles;
    let squares = o[8] + o[12] + o[13] + 3 * cliques;
    let less = d.saturating_sub(1);
    [
        (triangles, d * less / 2),
        (3 * cliques, triangles * d.saturating_sub(2)),
        // Neighbours u and w with q further ones in common: d_u + d_w − 2 less q, and less 2 if they are linked.
        (squares, less * paths - squares - 2 * triangles),
        (2 * triangles, paths),
    ]
}
