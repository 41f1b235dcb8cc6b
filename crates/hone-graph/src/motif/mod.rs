//! Network motifs: exact counts of the 13 edge orbits, and the weighted motif graphs W_t (sec. 2.1, 2.2).
//!
//! An occurrence of a motif is an *induced* connected subgraph of 2–4 vertices. [`count`] finds for
//! every edge how many occurrences contain it, in each of the 13 positions ([`Orbit`]) an edge can
//! have; node orbits, totals and whole graphlets follow. [`Counts::motif_graph`] builds W_t from
//! these.
//!
//! ```
//! use hone_graph::GraphBuilder;
//! use hone_graph::motif::{self, Graphlet, Orbit, Weighting};
//!
//! // A triangle with a tail.
//! let graph = GraphBuilder::undirected(4).edges(vec![(0, 1), (1, 2), (2, 0), (2, 3)]).build()?;
//! let counts = motif::count(&graph, &hone_graph::Silent)?;
//! let tail = counts.edge(2, 3).expect("an edge");
//! assert_eq!(tail[Orbit::Path3.index()], 2);
//! assert_eq!(tail[Orbit::TailedTail.index()], 1);
//! assert_eq!(counts.totals().graphlets[Graphlet::Triangle.index()], 1);
//!
//! let w = counts.motif_graph(&graph, "triangle".parse()?, Weighting::default())?;
//! assert_eq!(w.nnz, 6, "each edge of the triangle in both directions");
//! # Ok::<(), hone_graph::Error>(())
//! ```
//!
//! Directed graphs also have their own motifs: [`triad`]. [`Sample::count_motifs`] counts what a set of motifs needs.
//!
//! How it works: everything follows from five numbers per edge and three per node (`formula`). `exact/` finds those by
//! sweeps over nodes ranked by degree (`ranked`), `around` for chosen nodes alone, `estimate/` estimates them from a bounded
//! number of neighbours of each node, and [`Sample`] chooses. [`Counts`] holds either, and [`Counts::update`] updates
//! exact counts when edges are added or removed (`update/`). W_t of edges is built in `motif_graph`, that of all pairs
//! in `pairs`. From the counts follow clustering and closure coefficients (`coefficients`), comparisons of graphs (`compare`),
//! and whether a motif is more frequent than in random graphs (`null_model`, `significance`); `names` has all names.

mod around;
mod coefficients;
mod column;
mod compare;
mod counts;
mod estimate;
mod exact;
mod formula;
mod motif_graph;
mod names;
mod null_model;
mod orbit;
mod pair_set;
pub mod pairs;
mod ranked;
mod sample;
mod saved;
mod set;
mod significance;
mod table;
pub mod triad;
pub mod update;

pub use crate::communicator::{Communicator, SingleProcess};
pub use around::{Triangles, sums_of_nodes, triangles, with_neighbours};
pub use coefficients::{COEFFICIENTS, Coefficient, Coefficients};
pub use column::{Column, Sizes};
pub use compare::{
    Agreement, Comparison, NOT_REDUNDANT, NodeOrbits, correlation_distance, correlations,
};
pub use counts::{Counts, Totals};
pub use formula::Primitives;
pub use motif_graph::{
    MotifGraph, MotifRows, Weighting, overflow, shares_pattern, unit_of_weights,
};
pub use names::{Named, catalogue, node_orbits_called};
pub use null_model::{NullModel, Randomiser, Switching};
pub use orbit::{Graphlet, NODE_ORBITS, Orbit};
pub use pairs::Pairs;
pub use sample::{COUNTING, COUNTING_AT_MOST, Sample, Sampled, counting_at_most};
pub use set::{Delta, Motif, MotifSet};
pub use significance::{MOST_RANDOM, MotifSignificance, Significance, false_discovery_rates};
pub use table::OrbitTable;

use crate::Graph;
use crate::error::Result;
use crate::memory::Allowance;
use crate::progress::Progress;

/// Counts the 13 edge orbits of every edge exactly; [`Sample::count`] estimates them.
///
/// Takes Σ_e min(d_u, d_v) steps and some popcounts, in parallel; the result does not depend on
/// the number of threads. Directed graphs are counted without their directions.
///
/// Fails when `progress` asks to stop, when memory does not suffice, or when a node has 2³¹ neighbours or more.
pub fn count(graph: &Graph, progress: &dyn Progress) -> Result<Counts> {
    sample::exact(
        graph.symmetric_pattern(),
        Allowance::new(None),
        &SingleProcess,
        progress,
    )
}
