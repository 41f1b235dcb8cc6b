//! W_t, the weighted graph of a motif, built when needed (sec. 2.2).

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crate::clock::{Work, timed};
use crate::config::{Auto, Config};
use crate::dense::Group;
use crate::dense::panels::Own;
use crate::engine::{Cpu, Engine};
use crate::error::Result;
use crate::factor::Solver;
use crate::graph::{Graph, NodeIds};
use crate::motif::{Counts, Motif, MotifGraph, Orbit, Pairs, Weighting};
use crate::operator::Operator;

/// The weighted graph of a motif, as an operator, and its nodes.
pub(super) struct Weighted {
    pub(super) graph: MotifGraph,
    pub(super) operator: Operator,
}

/// A graph and its motif counts.
#[derive(Clone)]
pub(super) struct Counted<'a> {
    pub(super) graph: &'a Graph,
    pub(super) counts: Arc<Counts>,
}

/// W_t of a motif, built when first used: not at all if the checkpoint already has its results.
pub(super) struct Lazily<'a> {
    config: &'a Config,
    engine: &'a dyn Engine,
    graph: &'a Graph,
    /// Rows of W_t that this process needs.
    rows: Own,
    /// Released once W_t is built; with the last motif, so are the counts.
    counts: Cell<Option<Arc<Counts>>>,
    pub(super) motif: Motif,
    made: OnceCell<Weighted>,
}

impl<'a> Lazily<'a> {
    /// W_t of one motif, on first use, for a process that shares the rows of Y with others and has these.
    pub(super) fn new(
        (config, engine): (&'a Config, &'a dyn Engine),
        own: &Own,
        counted: Counted<'a>,
        motif: Motif,
    ) -> Self {
        let counts = Cell::new(Some(counted.counts));
        // Diffusion and other solvers read all rows.
        let some =
            matches!(config.local.solver, Solver::Svd(_)) && config.features.diffusion.steps == 0;
        let rows = if some {
            own.clone()
        } else {
            Own::all(own.rows)
        };
        Lazily {
            config,
            engine,
            graph: counted.graph,
            rows,
            counts,
            motif,
            made: OnceCell::new(),
        }
    }

    /// The graph.
    pub(super) fn graph(&self) -> &Graph {
        self.graph
    }

    /// Ids of the nodes.
    pub(super) fn ids(&self) -> &NodeIds {
        self.graph.ids()
    }

    /// W_t.
    pub(super) fn get(&self) -> Result<&Weighted> {
        if let Some(w) = self.made.get() {
            return Ok(w);
        }
        let counts = self
            .counts
            .take()
            .expect("counts are there until W is made");
        let w = weighted_rows(
            (self.config, self.engine),
            (self.graph, &self.rows),
            &counts,
            self.motif,
        )?;
        Ok(self.made.get_or_init(|| w))
    }
}

impl Weighted {
    /// Columns of the touched nodes as columns of all nodes.
    pub(super) fn group(&self, columns: Group) -> Group {
        columns.with_rows(self.graph.nodes.clone())
    }
}

/// W_t of one motif.
pub(super) fn weighted(
    config: &Config,
    graph: &Graph,
    counts: &Counts,
    motif: Motif,
) -> Result<Weighted> {
    weighted_rows(
        (config, &Cpu),
        (graph, &Own::all(graph.nodes())),
        counts,
        motif,
    )
}

/// The same, of which this process needs some rows.
fn weighted_rows(
    (config, engine): (&Config, &dyn Engine),
    (graph, rows): (&Graph, &Own),
    counts: &Counts,
    motif: Motif,
) -> Result<Weighted> {
    let (delta, use_weights) = (config.delta.of(motif), config.weights != Auto::Given(false));
    let weighting = Weighting {
        delta,
        use_weights,
        occurrence: config.occurrence,
    };
    // Primitives, pattern and values, 4 bytes each per slot.
    let bytes = 12 * graph.pattern().nnz() as u64;
    let w = timed(Work::Weights, bytes, || match config.pairs {
        Pairs::Edges => engine.motif_graph_of_rows(counts, graph, (motif, weighting), rows),
        Pairs::Occurrences => counts.pair_graph(graph, motif, weighting.delta),
    })?;
    let w = with_reverse(config, graph, w);
    let operator = if graph.is_directed() {
        Operator::sparse("W", w.matrix.clone())
    } else {
        Operator::symmetric("W", w.matrix.clone())
    };
    Ok(Weighted { graph: w, operator })
}

/// Whether W_t of a motif needs no counts.
pub(super) fn is_of_edges(config: &Config, motif: Motif) -> bool {
    motif == Motif::Orbit(Orbit::Edge) && config.pairs == Pairs::Edges
}

/// W_t of the motif `edge`, without counts.
pub(super) fn of_edges(config: &Config, graph: &Graph) -> Result<MotifGraph> {
    let delta = config.delta.of(Motif::Orbit(Orbit::Edge));
    let use_weights = config.weights != Auto::Given(false);
    let w = MotifGraph::of_edges(
        graph,
        Weighting {
            delta,
            use_weights,
            occurrence: config.occurrence,
        },
    )?;
    Ok(with_reverse(config, graph, w))
}

/// The same, with a part of each arc's weight on the way back where that is wanted.
fn with_reverse(config: &Config, graph: &Graph, w: MotifGraph) -> MotifGraph {
    let reverse = config.reverse.or(0.0);
    if reverse > 0.0 && graph.is_directed() {
        w.with_reverse(reverse)
    } else {
        w
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use crate::graph::GraphBuilder;
    use crate::progress::Silent;

    /// The graph of edges is the same with counts and without.
    #[test]
    fn edges_need_no_counts() {
        let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (5, 3)];
        let weights = vec![2.0, 0.5, 1e20, 1.0, 3.0];
        let graphs = [
            GraphBuilder::undirected(7).edges(edges.clone()).build(),
            GraphBuilder::undirected(7)
                .edges(edges.clone())
                .weights(weights.clone())
                .build(),
            GraphBuilder::directed(7)
                .edges(edges)
                .weights(weights)
                .build(),
        ];
        for graph in graphs.map(|graph| graph.expect("a graph")) {
            let counts = crate::motif::count(&graph, &Silent).expect("counted");
            for (delta, reverse) in [("1", "0"), ("2", "0"), ("1", "0.5")] {
                let layers = Layers::new()
                    .preset("hone-p")
                    .and_then(|layers| layers.set("delta", delta))
                    .and_then(|layers| layers.set("reverse", reverse));
                let config = layers.and_then(Layers::build).expect("settings");
                let edge = Motif::Orbit(Orbit::Edge);
                let counted = weighted(&config, &graph, &counts, edge)
                    .expect("weights")
                    .graph;
                let plain = of_edges(&config, &graph).expect("weights");
                assert_eq!(
                    format!("{counted:?}"),
                    format!("{plain:?}"),
                    "delta {delta}, reverse {reverse}"
                );
            }
        }
    }
}
