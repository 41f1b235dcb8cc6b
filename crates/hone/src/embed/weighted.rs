//! W_t, the weighted graph of a motif (sec. 2.2).

use crate::clock::{Work, timed};
use crate::config::{Auto, Config};
use crate::dense::panels::Own;
use crate::engine::{Cpu, Engine};
use crate::error::Result;
use crate::graph::Graph;
use crate::motif::{Counts, Motif, MotifGraph, Orbit, Pairs, Weighting};
use crate::operator::Operator;

/// The weighted graph of a motif, as an operator, and its nodes.
pub(super) struct Weighted {
    pub(super) graph: MotifGraph,
    pub(super) operator: Operator,
}

/// W_t of one motif.
pub(super) fn weighted(
    config: &Config,
    graph: &Graph,
    counts: &Counts,
    motif: Motif,
) -> Result<Weighted> {
    weighted_on(&Cpu, config, graph, counts, motif, &Own::all(graph.nodes()))
}

/// The same by an engine, which may leave out rows that other processes hold.
pub(super) fn weighted_on(
    engine: &dyn Engine,
    config: &Config,
    graph: &Graph,
    counts: &Counts,
    motif: Motif,
    rows: &Own,
) -> Result<Weighted> {
    let weighting = weighting(config, motif);
    // Primitives, pattern and values, 4 bytes each per slot.
    let bytes = 12 * graph.pattern().nnz() as u64;
    let w = timed(Work::Weights, bytes, || match config.pairs {
        Pairs::Edges => engine.motif_graph(counts, graph, motif, weighting, rows),
        Pairs::Occurrences => counts.pair_graph(graph, motif, weighting.delta),
    })?;
    let graph_of_motif = with_reverse(config, graph, w);
    let matrix = graph_of_motif.matrix.clone();
    let operator = if graph.is_directed() {
        Operator::sparse("W", matrix)
    } else {
        Operator::symmetric("W", matrix)
    };
    Ok(Weighted {
        graph: graph_of_motif,
        operator,
    })
}

/// How counts become weights.
fn weighting(config: &Config, motif: Motif) -> Weighting {
    Weighting {
        delta: config.delta.of(motif),
        use_weights: config.weights != Auto::Given(false),
        occurrence: config.occurrence,
    }
}

/// Whether W_t of a motif needs no counts.
pub(super) fn is_of_edges(config: &Config, motif: Motif) -> bool {
    motif == Motif::Orbit(Orbit::Edge) && config.pairs == Pairs::Edges
}

/// W_t of the motif `edge`, without counts.
pub(super) fn of_edges(config: &Config, graph: &Graph) -> Result<MotifGraph> {
    let weighting = weighting(config, Motif::Orbit(Orbit::Edge));
    let w = MotifGraph::of_edges(graph, weighting)?;
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
