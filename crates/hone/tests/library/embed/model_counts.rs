//! A model in memory updates the motif counts of the fit; one from a file counts the graph anew. Both give the same bits.

use std::path::Path;

use hone::config::Layers;
use hone::graph::{Generator, Graph, GraphBuilder, NodeIds};
use hone::{Hone, Like, Model, Silent};
use proptest::prelude::*;

type Edge = (u32, u32);

fn graph(nodes: usize, edges: &[Edge]) -> Graph {
    GraphBuilder::undirected(nodes)
        .edges(edges.to_vec())
        .build()
        .unwrap()
}

fn edges(graph: &Graph) -> Vec<Edge> {
    let of = |i: u32| {
        graph
            .neighbors(i)
            .iter()
            .filter(move |&&j| i < j)
            .map(move |&j| (i, j))
            .collect::<Vec<_>>()
    };
    (0..graph.nodes() as u32).flat_map(of).collect()
}

/// A model that has counts, and the same one without.
fn models(graph: &Graph) -> (Model, Model) {
    let config = Layers::new()
        .preset("hone")
        .unwrap()
        .set("global.dim", "16")
        .unwrap()
        .build()
        .unwrap();
    let (_, model) = Hone::new(config).unwrap().fit(graph, &Silent).unwrap();
    let mut bytes = Vec::new();
    model.write_to(&mut bytes).unwrap();
    let read = Model::from_bytes(&bytes, Path::new("m.hone")).unwrap();
    assert_eq!(model, read);
    assert!(model.memory() > read.memory(), "only one has counts");
    (model, read)
}

fn assert_same(models: &(Model, Model), graph: &Graph) {
    let place = |model: &Model| model.embed(graph, &Like::default(), &Silent).unwrap();
    let (updated, counted) = (place(&models.0), place(&models.1));
    assert!(updated.embedding == counted.embedding);
    assert_eq!(updated.report.like, counted.report.like);
    let stages = |run: &hone::Run| {
        run.report
            .stages
            .iter()
            .map(|stage| stage.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(stages(&updated), stages(&counted));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn updated_counts_give_the_same_vectors(seed in 0u64..1000, new in 0u32..6, gone in 0usize..9, more in 0usize..9) {
        let old = Generator::Sbm { nodes: 120, degree: 8.0, communities: 3, mixing: 0.1 }.graph(seed, &Silent).unwrap();
        let models = models(&old);
        let mut changed: Vec<Edge> = edges(&old).into_iter().skip(gone).collect();
        let far = |k: usize| (k as u32 * 7 % 120, (k as u32 * 31 + 11) % 120);
        changed.extend((0..more).map(far).filter(|(a, b)| a != b));
        changed.extend((0..new).flat_map(|k| [(120 + k, k * 5), (120 + k, k * 9 + 1)]));
        assert_same(&models, &graph(120 + new as usize, &changed));
    }
}

#[test]
fn other_orders_of_nodes_are_counted() {
    let old = Generator::Sbm {
        nodes: 80,
        degree: 8.0,
        communities: 3,
        mixing: 0.1,
    }
    .graph(3, &Silent)
    .unwrap();
    let models = models(&old);
    // Fewer nodes; and the same ones the other way round.
    let fewer: Vec<Edge> = edges(&old).into_iter().filter(|edge| edge.1 < 79).collect();
    assert_same(&models, &graph(79, &fewer));
    let turned: Vec<Edge> = edges(&old)
        .into_iter()
        .skip(2)
        .map(|(i, j)| (79 - i, 79 - j))
        .collect();
    let names = NodeIds::from_integers((0..80).rev().collect());
    assert_same(
        &models,
        &GraphBuilder::undirected(0)
            .ids(names)
            .edges(turned)
            .build()
            .unwrap(),
    );
}
