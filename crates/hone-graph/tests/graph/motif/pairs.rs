//! Co-occurrence weights against enumeration, and the identities they keep.

use std::collections::BTreeMap;

use hone_graph::Graph;
use hone_graph::Silent;
use hone_graph::motif::{Graphlet, Motif, MotifGraph, Orbit, Sample, count};
use proptest::prelude::*;
use rand::RngExt;

use super::oracle::{directed, random_edges, rng, undirected};

/// Unscaled entries without zeros, in the graph's own numbering.
fn entries(w: &MotifGraph) -> BTreeMap<(u32, u32), f64> {
    let name = |k: u32| w.nodes.as_ref().map_or(k, |nodes| nodes[k as usize]);
    let mut entries = BTreeMap::new();
    for i in 0..w.matrix.pattern().rows() {
        let (columns, values) = w.matrix.row(i);
        for (&j, &value) in columns
            .iter()
            .zip(values)
            .filter(|&(_, &value)| value != 0.0)
        {
            entries.insert((name(i as u32), name(j)), f64::from(value) / w.scale);
        }
    }
    entries
}

/// The graphlet of some nodes, if they are connected: recognised by the number of edges and the largest degree.
fn graphlet(nodes: &[u32], edge: &dyn Fn(u32, u32) -> bool) -> Option<Graphlet> {
    let degree = |u: &u32| nodes.iter().filter(|&&v| edge(*u, v)).count();
    let degrees: Vec<usize> = nodes.iter().map(degree).collect();
    let (edges, most) = (degrees.iter().sum::<usize>() / 2, *degrees.iter().max()?);
    if degrees.contains(&0) {
        return None;
    }
    match (nodes.len(), edges, most) {
        (2, 1, _) => Some(Graphlet::Edge),
        (3, 2, _) => Some(Graphlet::Path3),
        (3, 3, _) => Some(Graphlet::Triangle),
        (4, 3, 2) => Some(Graphlet::Path4),
        (4, 3, 3) => Some(Graphlet::Star4),
        (4, 4, 2) => Some(Graphlet::Cycle4),
        (4, 4, 3) => Some(Graphlet::TailedTriangle),
        (4, 5, _) => Some(Graphlet::Diamond),
        (4, 6, _) => Some(Graphlet::Clique4),
        _ => None, // two edges apart
    }
}

/// For each graphlet the occurrences that hold a pair, by looking at every set of nodes.
fn truth(n: u32, edge: &dyn Fn(u32, u32) -> bool) -> Vec<BTreeMap<(u32, u32), f64>> {
    let mut sets: Vec<Vec<u32>> = (0..n).map(|u| vec![u]).collect();
    let mut found = vec![BTreeMap::new(); Graphlet::COUNT];
    for _ in 0..3 {
        sets = sets
            .iter()
            .flat_map(|set| (set[set.len() - 1] + 1..n).map(|u| [&set[..], &[u]].concat()))
            .collect();
        for set in &sets {
            let Some(graphlet) = graphlet(set, edge) else {
                continue;
            };
            for &u in set {
                for &v in set.iter().filter(|&&v| v != u) {
                    *found[graphlet.index()].entry((u, v)).or_insert(0.0) += 1.0;
                }
            }
        }
    }
    found
}

fn check(graph: &Graph, delta: u64) {
    let n = graph.nodes() as u32;
    let edge = |u: u32, v: u32| graph.has_edge(u, v) || graph.has_edge(v, u);
    let counts = count(graph, &Silent).expect("counts");
    for (graphlet, mut expected) in Graphlet::ALL.into_iter().zip(truth(n, &edge)) {
        // Arcs keep their direction; pairs without one stand both ways.
        expected.retain(|&(u, v), _| graph.has_edge(u, v) || !edge(u, v));
        let all = expected.len();
        expected.retain(|_, count| *count >= delta as f64);
        let w = counts
            .pair_graph(graph, Motif::Graphlet(graphlet), delta)
            .expect("weights");
        assert_eq!(entries(&w), expected, "{graphlet}, delta {delta}");
        assert_eq!(
            (w.nnz, w.below_delta),
            (expected.len(), all - expected.len()),
            "{graphlet}"
        );
        assert_eq!(w.total, expected.values().sum::<f64>(), "{graphlet}");
        assert!(
            w.nodes
                .as_ref()
                .is_none_or(|nodes| nodes.len() < n as usize),
            "{graphlet}"
        );
    }
}

#[test]
fn pairs_have_the_occurrences_that_hold_both() {
    let mut rng = rng(11);
    for case in 0..60 {
        let n = rng.random_range(0..14);
        let density = rng.random_range(0.05..0.9);
        let edges = random_edges(&mut rng, n, density);
        check(&undirected(n, &edges), 1 + case % 3);
        check(&directed(n, &edges), 1 + case % 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Sums of a row count the occurrences that hold a node, once for each other node in it.
    #[test]
    fn rows_sum_to_occurrences(n in 1usize..40, density in 0.02..0.5f64, seed: u64) {
        let graph = undirected(n, &random_edges(&mut rng(seed), n, density));
        let counts = count(&graph, &Silent).expect("counts");
        let (nodes, totals) = (counts.node_orbits().expect("small"), counts.totals());
        // Node orbits of each graphlet, in ORCA's numbering.
        let orbits: [&[usize]; 9] =
            [&[0], &[1, 2], &[3], &[4, 5], &[6, 7], &[8], &[9, 10, 11], &[12, 13], &[14]];
        for graphlet in Graphlet::ALL {
            let w = counts.pair_graph(&graph, Motif::Graphlet(graphlet), 1).expect("weights");
            let others = graphlet.size() - 1;
            let mut sums = vec![0.0; n];
            entries(&w).iter().for_each(|(&(i, _), weight)| sums[i as usize] += weight);
            for (i, sum) in sums.iter().enumerate() {
                let holding: u64 = orbits[graphlet.index()].iter().map(|&orbit| nodes[i][orbit]).sum();
                prop_assert_eq!(*sum, (others as u64 * holding) as f64, "{} of node {}", graphlet, i);
            }
            let all = totals.graphlets[graphlet.index()] * (graphlet.size() * others) as u128;
            prop_assert_eq!(w.total, all as f64);
        }
    }

    /// path3 without an edge: A². Triangles: A² ∘ A. Both off the diagonal.
    #[test]
    fn squares_of_the_adjacency_are_found_again(n in 1usize..50, density in 0.02..0.4f64, seed: u64) {
        let graph = undirected(n, &random_edges(&mut rng(seed), n, density));
        let counts = count(&graph, &Silent).expect("counts");
        let of = |motif: Graphlet| entries(&counts.pair_graph(&graph, Motif::Graphlet(motif), 1).expect("weights"));
        let (path, triangle) = (of(Graphlet::Path3), of(Graphlet::Triangle));
        for i in 0..n as u32 {
            for j in (0..n as u32).filter(|&j| j != i) {
                let square = graph.neighbors(i).iter().filter(|&&c| graph.has_edge(c, j)).count() as f64;
                let (own, other) = if graph.has_edge(i, j) { (&triangle, None) } else { (&path, triangle.get(&(i, j))) };
                prop_assert_eq!(own.get(&(i, j)).copied().unwrap_or(0.0), square, "{} {}", i, j);
                prop_assert!(other.is_none());
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_graph() {
    let graph = undirected(400, &random_edges(&mut rng(3), 400, 0.04));
    let counts = count(&graph, &Silent).expect("counts");
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| {
            Graphlet::ALL.map(|g| {
                entries(
                    &counts
                        .pair_graph(&graph, Motif::Graphlet(g), 2)
                        .expect("weights"),
                )
            })
        })
    };
    assert!(on(1) == on(3));
}

#[test]
fn single_positions_and_estimates_are_refused() {
    let graph = undirected(60, &random_edges(&mut rng(5), 60, 0.5));
    let counts = count(&graph, &Silent).expect("counts");
    let end = counts
        .pair_graph(&graph, Motif::Orbit(Orbit::Path4End), 1)
        .expect_err("a position");
    assert!(end.to_string().contains("path4"), "{end}");
    assert!(
        counts
            .pair_graph(&graph, Motif::Orbit(Orbit::Star4), 1)
            .is_ok(),
        "the only position"
    );
    let sample: Sample = "cap=4".parse().expect("a sample");
    let estimated = sample.count(&graph, 1, &Silent).expect("counts");
    assert!(estimated.sampled().is_some());
    assert!(
        estimated
            .pair_graph(&graph, Motif::Orbit(Orbit::Path3), 1)
            .is_err()
    );
}
