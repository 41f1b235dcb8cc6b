//! Coefficients by their definitions, over all pairs and triples of neighbours.

use hone_graph::Silent;
use hone_graph::motif::{COEFFICIENTS, Sample, count};
use rand::RngExt;

use super::oracle::{random_edges, rng, undirected};

/// Closed and possible, for each coefficient.
fn brute_force(adjacent: &[Vec<bool>], u: usize) -> [(u64, u64); 4] {
    let n = adjacent.len();
    let neighbours = |u: usize| (0..n).filter(move |&v| adjacent[u][v]);
    let mut found = [(0, 0); 4];
    let mut add = |at: usize, closed: bool| {
        found[at].0 += u64::from(closed);
        found[at].1 += 1;
    };
    for v in neighbours(u) {
        for w in neighbours(u).filter(|&w| w > v) {
            add(0, adjacent[v][w]);
            // A triangle, and an edge from u to a node outside.
            for x in neighbours(u).filter(|&x| adjacent[v][w] && x != v && x != w) {
                add(1, adjacent[x][v] && adjacent[x][w]);
            }
        }
        for w in neighbours(v).filter(|&w| w != u) {
            add(3, adjacent[u][w]);
        }
    }
    let degree = |u: usize| neighbours(u).count() as u64;
    for v in neighbours(u) {
        for w in neighbours(u).filter(|&w| w > v) {
            let squares = neighbours(v).filter(|&x| x != u && adjacent[w][x]).count() as u64;
            let less = squares + 1 + u64::from(adjacent[v][w]);
            found[2].0 += squares;
            found[2].1 += (degree(v) - less) + (degree(w) - less) + squares;
        }
    }
    found
}

#[test]
fn coefficients_are_those_of_their_definitions() {
    let mut rng = rng(3);
    for round in 0..80 {
        let n = rng.random_range(0..16);
        let edges = random_edges(&mut rng, n, [0.0, 0.1, 0.3, 0.6, 1.0, 2.0][round % 6]);
        let mut adjacent = vec![vec![false; n]; n];
        for &(u, v) in &edges {
            adjacent[u as usize][v as usize] = true;
            adjacent[v as usize][u as usize] = true;
        }
        let counts = count(&undirected(n, &edges), &Silent).expect("counted");
        let found = counts.coefficients().expect("exact");
        let truth: Vec<_> = (0..n).map(|u| brute_force(&adjacent, u)).collect();
        for at in 0..COEFFICIENTS.len() {
            let share = |(closed, whole): (u64, u64)| closed as f64 / whole as f64;
            let (mut sum, mut defined, mut all) = (0.0, 0, (0, 0));
            for u in 0..n {
                let (closed, whole) = truth[u][at];
                let expected = if whole == 0 {
                    0.0
                } else {
                    share((closed, whole))
                };
                assert!(
                    (found.nodes[u][at] - expected).abs() < 1e-12,
                    "{at} of {u}: {edges:?}"
                );
                sum += expected;
                defined += u64::from(whole > 0);
                all = (all.0 + closed, all.1 + whole);
            }
            let graph = found.graph[at];
            assert_eq!((graph.name, graph.defined), (COEFFICIENTS[at], defined));
            let near = |found: Option<f64>, expected: Option<f64>| match (found, expected) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            assert!(near(graph.global, (all.1 > 0).then(|| share(all))));
            assert!(near(graph.mean, (n > 0).then(|| sum / n as f64)));
            assert!(near(
                graph.mean_where_defined,
                (defined > 0).then(|| sum / defined as f64)
            ));
        }
    }
}

#[test]
fn estimates_are_refused() {
    let hub: Vec<(u32, u32)> = (1..40).map(|leaf| (0, leaf)).collect();
    let sample: Sample = "cap=4".parse().expect("a sample");
    let estimated = sample
        .count(&undirected(40, &hub), 0, &Silent)
        .expect("counted");
    assert!(estimated.sampled().is_some());
    assert!(estimated.coefficients().is_err());
}
