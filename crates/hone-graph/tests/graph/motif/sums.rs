//! Sums over the edges of nodes, the bound on memory, and motifs as sets of orbits.

use hone_graph::motif::triad::Triad;
use hone_graph::motif::{COUNTING, COUNTING_AT_MOST, Motif, Orbit, count, counting_at_most};
use hone_graph::{Generator, Graph, GraphBuilder, Silent};

/// The same bits as adding the counts of edges one by one.
fn check_sums(graph: &Graph) {
    let counts = count(graph, &Silent).expect("counted");
    let sums = counts.node_sums();
    for i in 0..graph.nodes() {
        let mut expected = [0.0; Orbit::COUNT];
        for (_, orbits) in counts.row(i as u32) {
            for (sum, count) in expected.iter_mut().zip(orbits) {
                *sum += count as f64;
            }
        }
        assert_eq!(sums(i), expected, "node {i}");
    }
}

#[test]
fn sums_are_those_of_the_edges() {
    let rmat = [0.57, 0.19, 0.19, 0.05];
    for model in [
        Generator::Er {
            nodes: 400,
            degree: 6.0,
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
            nodes: 300,
            degree: 8.0,
        },
    ] {
        check_sums(&model.graph(5, &Silent).expect("a graph"));
    }
}

/// The sums of such a hub may be beyond the whole numbers of f64.
#[test]
fn sums_of_a_large_hub_are_those_of_the_edges() {
    let star = (1..200_000).map(|leaf| (0, leaf)).collect();
    let graph = GraphBuilder::undirected(200_000).edges(star).build();
    check_sums(&graph.expect("a star"));
}

#[test]
fn motifs_are_bits_of_orbits() {
    let bits = |name: &str| name.parse::<Motif>().expect("a motif").orbit_bits();
    assert_eq!((bits("edge"), bits("clique4")), (1, 1 << 12));
    assert_eq!(bits("path4"), bits("path4-end") | bits("path4-mid"));
}

#[test]
fn orbits_and_triads_fit() {
    for triad in Triad::ALL {
        for &orbit in triad.orbits() {
            assert_eq!(orbit.triad(), triad, "{orbit}");
            assert!(orbit.name().starts_with(triad.name()), "{orbit}");
        }
        assert_eq!(
            triad.orbits().len() == 1,
            triad.orbits()[0].name() == triad.name()
        );
    }
}

#[test]
fn the_bound_on_counting_follows_the_share_of_edges_in_triangles() {
    let per_slot = |edges: Vec<(u32, u32)>, nodes: usize| {
        let graph = GraphBuilder::undirected(nodes).edges(edges).build();
        let pattern = graph.expect("sound").pattern().clone();
        counting_at_most(&pattern) as f64 / pattern.nnz() as f64
    };
    let ring = |nodes: u32, steps: u32| -> Vec<(u32, u32)> {
        (0..nodes)
            .flat_map(|i| (1..=steps).map(move |step| (i, (i + step) % nodes)))
            .collect()
    };
    assert_eq!(per_slot(ring(100, 1), 100), COUNTING as f64);
    assert_eq!(per_slot(ring(100, 2), 100), COUNTING_AT_MOST as f64);
    // Only some edges are examined, and few of them lie in triangles.
    let mut mixed = ring(36_000, 1);
    mixed.extend((36_000..40_000).flat_map(|i| [(i, (i + 1 - 36_000) % 4000 + 36_000)]));
    mixed.extend((0..4000).step_by(40).map(|i| (i, i + 2)));
    let bound = per_slot(mixed, 40_000);
    assert!(bound > COUNTING as f64 && bound < 24.0, "{bound}");
}
