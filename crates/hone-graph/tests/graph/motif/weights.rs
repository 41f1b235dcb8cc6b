//! Weighted motif graphs: entries against the counts, zeros left out, direction and weights kept.

use std::sync::Arc;

use hone_graph::Silent;
use hone_graph::motif::{Motif, MotifGraph, MotifSet, Orbit, Weighting, count};
use hone_graph::{Graph, GraphBuilder};
use rand::RngExt;

use super::oracle::{directed, enumerate, random_edges, rng, undirected};

/// Entries (row, column, value) without zeros, in the graph's own numbering.
fn entries(w: &MotifGraph) -> Vec<(u32, u32, f64)> {
    let name = |k: u32| w.nodes.as_ref().map_or(k, |nodes| nodes[k as usize]);
    let mut entries = Vec::new();
    for i in 0..w.matrix.pattern().rows() {
        let (columns, values) = w.matrix.row(i);
        for (&j, &value) in columns
            .iter()
            .zip(values)
            .filter(|&(_, &value)| value != 0.0)
        {
            entries.push((name(i as u32), name(j), f64::from(value)));
        }
    }
    entries
}

fn check(graph: &Graph, n: usize, edges: &[(u32, u32)], delta: u64) {
    let truth = enumerate(n, edges);
    let counts = count(graph, &Silent).expect("counts");
    for set in [MotifSet::Orbits, MotifSet::Graphlets] {
        for motif in set.motifs() {
            let weighting = Weighting {
                delta,
                ..Weighting::default()
            };
            let w = counts
                .motif_graph(graph, motif, weighting)
                .expect("weights");
            let mut expected = Vec::new();
            for u in 0..n as u32 {
                for &v in graph.neighbors(u) {
                    let weight = motif.weight(&truth.edges[&(u, v)]).expect("small");
                    if weight > 0 && weight >= delta {
                        expected.push((u, v, weight as f64));
                    }
                }
            }
            assert_eq!(
                entries(&w),
                expected,
                "{motif}, delta {delta}, edges {edges:?}"
            );
            assert_eq!(w.nnz, expected.len());
            assert_eq!(w.total, expected.iter().map(|e| e.2).sum::<f64>());
            shape(&w, graph);
        }
    }
}

/// Storage is as promised.
fn shape(w: &MotifGraph, graph: &Graph) {
    if Arc::ptr_eq(w.matrix.pattern(), graph.pattern()) {
        assert_eq!(w.nodes, None);
    } else {
        assert_eq!(w.matrix.values().len(), w.nnz);
    }
    if let Some(nodes) = &w.nodes {
        assert!(nodes.len() < graph.nodes() && nodes.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(nodes.len(), w.matrix.pattern().cols());
    }
}

#[test]
fn hold_the_counts_of_undirected_graphs() {
    let mut rng = rng(20);
    for round in 0..60 {
        let n = rng.random_range(0..14);
        let edges = random_edges(&mut rng, n, [0.1, 0.3, 0.6, 1.0][round % 4]);
        check(&undirected(n, &edges), n, &edges, [0, 1, 2, 5][round % 3]);
    }
}

#[test]
fn keep_the_direction_of_arcs() {
    let mut rng = rng(21);
    for _ in 0..40 {
        let n = rng.random_range(1..14);
        let edges = random_edges(&mut rng, n, 0.5);
        check(&directed(n, &edges), n, &edges, 1);
    }
    // One arc of a triangle, so that a transposed matrix would be seen.
    let graph = directed(3, &[(0, 1), (1, 2), (0, 2)]);
    let counts = count(&graph, &Silent).expect("counts");
    let w = counts
        .motif_graph(&graph, Motif::Orbit(Orbit::Triangle), Weighting::default())
        .expect("weights");
    assert_eq!(entries(&w), [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]);
}

#[test]
fn share_the_pattern_when_full() {
    let edges: Vec<_> = (0..20)
        .flat_map(|u| (u + 1..20).map(move |v| (u, v)))
        .collect();
    let graph = undirected(20, &edges);
    let counts = count(&graph, &Silent).expect("counts");
    let w = counts
        .motif_graph(&graph, Motif::Orbit(Orbit::Clique4), Weighting::default())
        .expect("weights");
    assert!(Arc::ptr_eq(w.matrix.pattern(), graph.pattern()));
    let none = counts
        .motif_graph(&graph, Motif::Orbit(Orbit::Star4), Weighting::default())
        .expect("weights");
    assert_eq!((none.nodes, none.nnz, none.total), (Some(vec![]), 0, 0.0));
}

#[test]
fn multiply_with_edge_weights_on_request() {
    let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3)];
    let graph = GraphBuilder::undirected(4)
        .edges(edges)
        .weights(vec![2.0, 0.5, 4.0, 8.0])
        .build()
        .expect("a graph");
    let counts = count(&graph, &Silent).expect("counts");
    let path3 = Motif::Orbit(Orbit::Path3);
    let plain = counts
        .motif_graph(&graph, path3, Weighting::default())
        .expect("weights");
    assert_eq!(
        entries(&plain),
        [
            (0, 2, 1.0),
            (1, 2, 1.0),
            (2, 0, 1.0),
            (2, 1, 1.0),
            (2, 3, 2.0),
            (3, 2, 2.0)
        ]
    );
    let weighting = Weighting {
        delta: 2,
        use_weights: true,
        ..Weighting::default()
    };
    let weighted = counts
        .motif_graph(&graph, path3, weighting)
        .expect("weights");
    assert_eq!(entries(&weighted), [(2, 3, 16.0), (3, 2, 16.0)]);
}
