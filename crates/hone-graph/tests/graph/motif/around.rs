//! Counts around chosen nodes against counts of the whole graph.

use hone_graph::motif::{Orbit, count, sums_of_nodes, triangles};
use hone_graph::{Generator, Graph, GraphBuilder, Silent};
use proptest::prelude::*;

/// Compares the sums of some nodes with those of counts of the whole graph, with triangles of others to be looked for, and
/// known; in how many of both ways it is less work.
fn check(graph: &Graph, nodes: &[u32]) -> usize {
    let counts = count(graph, &Silent).expect("counted");
    let sums = counts.node_sums();
    let expected: Vec<_> = nodes.iter().map(|&i| sums(i as usize)).collect();
    let all = counts.triangles().expect("exact");
    let edges = triangles(graph.pattern(), &Silent).expect("counted");
    let mut twice = vec![0; graph.nodes()];
    for (u, v, of_edge) in edges {
        let orbits = counts.edge(u, v).expect("an edge");
        assert_eq!(u64::from(of_edge), orbits[Orbit::Triangle.index()]);
        twice[u as usize] += u64::from(of_edge);
        twice[v as usize] += u64::from(of_edge);
    }
    assert!(
        twice
            .iter()
            .zip(&all)
            .all(|(&twice, &all)| twice == 2 * all)
    );
    // Those of chosen nodes are looked for.
    let of_others = |i: u32| {
        if nodes.contains(&i) {
            77
        } else {
            all[i as usize]
        }
    };
    let found = [None, Some(&of_others as &(dyn Fn(u32) -> u64 + Sync))].map(|known| {
        let found = sums_of_nodes(graph.pattern(), nodes, known, &Silent).expect("counted");
        if let Some(sums) = &found {
            assert_eq!(sums, &expected, "{nodes:?}");
        }
        found.is_some()
    });
    found.into_iter().filter(|&found| found).count()
}

/// Graphs with and without triangles, cliques and hubs; hubs make rows that are searched.
#[test]
fn sums_of_chosen_nodes_are_those_of_the_whole_graph() {
    let rmat = [0.57, 0.19, 0.19, 0.05];
    for model in [
        Generator::Er {
            nodes: 2000,
            degree: 4.0,
        },
        Generator::Rmat {
            nodes: 1 << 10,
            degree: 20.0,
            quadrants: rmat,
        },
        Generator::RingOfCliques {
            cliques: 4,
            size: 9,
        },
        Generator::Ba {
            nodes: 600,
            degree: 4.0,
        },
        Generator::Er {
            nodes: 60,
            degree: 40.0,
        },
    ] {
        let graph = model.graph(5, &Silent).expect("a graph");
        let n = graph.nodes() as u32;
        let all: Vec<u32> = (0..n).collect();
        let some: Vec<u32> = (0..n).filter(|i| i % 7 == 3).collect();
        // Rows are looked up in lines of their own where many are visited.
        let less = [&all[..], &some, &[n / 2], &[0], &[]].map(|nodes| check(&graph, nodes));
        assert!(less[2..].iter().sum::<usize>() > 3, "{model:?} {less:?}");
        assert!(less[0] > 0 || !matches!(model, Generator::Er { nodes: 2000, .. }));
    }
}

#[test]
fn a_star_and_nodes_without_edges() {
    let star = (1..400)
        .map(|j| (0, j))
        .chain([(1, 2), (2, 3), (1, 3), (400, 401)])
        .collect::<Vec<_>>();
    let graph = GraphBuilder::undirected(405)
        .edges(star)
        .build()
        .expect("a graph");
    for nodes in [&[0][..], &[1, 2], &[399, 404], &[400], &[402, 403]] {
        check(&graph, nodes);
    }
    let near_hub = sums_of_nodes(graph.pattern(), &[404], None, &Silent).expect("counted");
    assert_eq!(near_hub, Some(vec![[0.0; Orbit::COUNT]]));
}

/// Most nodes of a graph with hubs take more steps than the whole graph; nodes far from them take fewer.
#[test]
fn counting_the_whole_graph_may_be_less() {
    let (hubs, leaves) = (60u32, 3000);
    let edges = (0..hubs).flat_map(|h| (0..leaves).map(move |l| (h, hubs + l)));
    let edges = edges
        .chain([(hubs + leaves, hubs + leaves + 1)])
        .collect::<Vec<_>>();
    let graph = GraphBuilder::undirected((hubs + leaves + 2) as usize)
        .edges(edges)
        .build()
        .expect("a graph");
    let all: Vec<u32> = (0..graph.nodes() as u32).collect();
    assert_eq!(
        sums_of_nodes(graph.pattern(), &all, None, &Silent).expect("counted"),
        None
    );
    let far = sums_of_nodes(graph.pattern(), &[hubs + leaves], None, &Silent)
        .expect("counted")
        .expect("few steps");
    assert_eq!(far[0][Orbit::Edge.index()], 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_nodes_of_any_graph(
        edges in prop::collection::vec((0u32..24, 0u32..24), 0..140),
        chosen in prop::collection::btree_set(0u32..26, 0..26),
    ) {
        let graph = GraphBuilder::undirected(26).edges(edges).build().expect("a graph");
        check(&graph, &chosen.into_iter().collect::<Vec<_>>());
    }
}
