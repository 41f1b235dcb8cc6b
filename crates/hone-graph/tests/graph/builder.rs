//! The builder against a slow set-based truth, and the laws of the graph's own helpers.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use hone_base::sparse::Pattern;
use hone_graph::{Graph, GraphBuilder};
use proptest::prelude::*;

type Edge = (u32, u32, f32);

/// What the builder should make: weights by position, self-loops, duplicates.
fn truth(edges: &[Edge], directed: bool) -> (BTreeMap<(u32, u32), f32>, u64, u64) {
    let mut groups: BTreeMap<(u32, u32), Vec<f32>> = BTreeMap::new();
    let (mut loops, mut duplicates) = (0, 0);
    for &(u, v, w) in edges {
        if u == v {
            loops += 1;
            continue;
        }
        let key = if directed {
            (u, v)
        } else {
            (u.min(v), u.max(v))
        };
        let group = groups.entry(key).or_default();
        duplicates += u64::from(!group.is_empty());
        group.push(w);
    }
    let mut positions = BTreeMap::new();
    for ((u, v), mut group) in groups {
        group.sort_by(f32::total_cmp);
        let sum = group.iter().map(|&w| f64::from(w)).sum::<f64>() as f32;
        positions.insert((u, v), sum);
        if !directed {
            positions.insert((v, u), sum);
        }
    }
    (positions, loops, duplicates)
}

fn build(n: usize, edges: &[Edge], directed: bool, weighted: bool) -> Graph {
    let builder = if directed {
        GraphBuilder::directed(n)
    } else {
        GraphBuilder::undirected(n)
    };
    let builder = builder.edges(edges.iter().map(|e| (e.0, e.1)).collect());
    let builder = if weighted {
        builder.weights(edges.iter().map(|e| e.2).collect())
    } else {
        builder
    };
    builder.build().unwrap()
}

/// All positions of a graph with their weights (1 without weights).
fn positions(graph: &Graph) -> BTreeMap<(u32, u32), f32> {
    let pattern = graph.pattern();
    let weight = |p: usize| graph.weights().map_or(1.0, |w| w[p]);
    (0..graph.nodes())
        .flat_map(|i| {
            pattern
                .range(i)
                .map(move |p| ((i as u32, pattern.columns()[p]), weight(p)))
        })
        .collect()
}

fn edges(n: u32, most: usize) -> impl Strategy<Value = Vec<Edge>> {
    prop::collection::vec(
        (0..n, 0..n, (0u32..1000).prop_map(|w| w as f32 / 7.0)),
        0..most,
    )
}

proptest! {
    #[test]
    fn equals_the_truth((n, edges) in (1u32..40).prop_flat_map(|n| (Just(n), edges(n, 200))),
                        directed: bool, weighted: bool) {
        let graph = build(n as usize, &edges, directed, weighted);
        let (mut expected, loops, duplicates) = truth(&edges, directed);
        if !weighted {
            expected.values_mut().for_each(|w| *w = 1.0);
        }
        prop_assert_eq!(positions(&graph), expected);
        prop_assert_eq!((graph.dropped().self_loops, graph.dropped().duplicates), (loops, duplicates));
        prop_assert!((0..n).all(|i| graph.neighbors(i).is_sorted()));
        prop_assert_eq!(graph.nodes(), n as usize);
    }

    #[test]
    fn order_of_input_does_not_matter(edges in edges(9, 60), directed: bool, seed: u64) {
        let mut shuffled = edges.clone();
        shuffled.sort_by_key(|e| (u64::from(e.0) * 31 + u64::from(e.1) * 17 + e.2 as u64).wrapping_mul(seed | 1));
        let (a, b) = (build(9, &edges, directed, true), build(9, &shuffled, directed, true));
        prop_assert_eq!(positions(&a), positions(&b));
    }

    #[test]
    fn transposing_turns_every_arc(edges in edges(12, 80), directed: bool) {
        let graph = build(12, &edges, directed, false);
        let back = graph.transposed();
        prop_assert_eq!(back.nnz(), graph.pattern().nnz());
        for i in 0..12u32 {
            for j in 0..12u32 {
                prop_assert_eq!(back.row(j as usize).contains(&i), graph.has_edge(i, j));
            }
        }
        let degrees: Vec<u32> = (0..12).map(|i| back.row(i).len() as u32).collect();
        prop_assert_eq!(graph.in_degrees(), degrees);
    }

    #[test]
    fn underlying_joins_both_directions(edges in edges(12, 80), weighted: bool) {
        let graph = build(12, &edges, true, weighted);
        let underlying = graph.underlying();
        prop_assert!(!underlying.is_directed());
        let arcs = positions(&graph);
        for i in 0..12u32 {
            for j in 0..12u32 {
                let both: Vec<f32> = [(i, j), (j, i)].iter().filter_map(|p| arcs.get(p)).copied().collect();
                prop_assert_eq!(underlying.has_edge(i, j), !both.is_empty());
                if weighted && !both.is_empty() {
                    prop_assert_eq!(positions(&underlying)[&(i, j)], both.iter().sum::<f32>());
                }
            }
        }
        let again = underlying.underlying();
        prop_assert!(Arc::ptr_eq(again.pattern(), underlying.pattern()));
    }
}

/// Pseudo-random edges, some of them on a hub so that one bucket is far larger than the others.
fn many_edges(n: u32, m: usize) -> Vec<Edge> {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as u32
    };
    (0..m)
        .map(|e| {
            (
                if e % 3 == 0 { 7 } else { next() % n },
                next() % n,
                (next() % 100) as f32 / 3.0,
            )
        })
        .collect()
}

#[test]
fn many_buckets_and_any_number_of_threads_give_the_truth() {
    let n = 50_000;
    let edges = many_edges(n, 600_000);
    for directed in [false, true] {
        let (expected, loops, duplicates) = truth(&edges, directed);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let graph = pool.install(|| build(n as usize, &edges, directed, true));
            assert!(
                positions(&graph) == expected,
                "directed {directed}, {threads} threads"
            );
            assert_eq!(
                (graph.dropped().self_loops, graph.dropped().duplicates),
                (loops, duplicates)
            );
            let unweighted = pool.install(|| build(n as usize, &edges, directed, false));
            assert_eq!(unweighted.pattern(), graph.pattern());
        }
    }
}

#[test]
fn empty_and_isolated() {
    for n in [0, 1, 5] {
        let graph = build(n, &[], false, true);
        assert_eq!(
            (
                graph.nodes(),
                graph.edges(),
                graph.weights().map(|w| w.len())
            ),
            (n, 0, Some(0))
        );
        assert_eq!(build(n, &[], true, false).underlying().nodes(), n);
    }
}

#[test]
fn wrong_input_is_an_error_that_names_it() {
    let pair = || GraphBuilder::undirected(2).edges(vec![(0, 1)]);
    let cases = [
        (
            GraphBuilder::directed(2)
                .edges(vec![(0, 1), (1, 2)])
                .build(),
            "edge 1 is (1, 2), but there are 2 nodes",
        ),
        (pair().weights(vec![]).build(), "0 weights for 1 edges"),
        (pair().weights(vec![-1.0]).build(), "weight 0 is -1"),
        (pair().weights(vec![f32::NAN]).build(), "weight 0 is NaN"),
        (
            pair().weights(vec![f32::INFINITY]).build(),
            "weight 0 is inf",
        ),
        (
            GraphBuilder::undirected(u32::MAX as usize + 1).build(),
            "4294967296 nodes",
        ),
        (
            GraphBuilder::undirected(2)
                .edges(vec![(0, 1), (1, 0)])
                .weights(vec![3e38, 3e38])
                .build(),
            "more than f32 can hold",
        ),
    ];
    for (result, expected) in cases {
        let error = result.expect_err(expected);
        assert!(
            error.is_input() && error.to_string().contains(expected),
            "{error}"
        );
    }
}

#[test]
fn rows_of_a_pattern_ascend_and_stay_inside() {
    for (columns, fine) in [
        ([1, 0, 2, 1], true),
        ([1, 2, 0, 1], false),
        ([1, 0, 0, 1], false),
        ([1, 0, 2, 3], false),
    ] {
        let made = std::panic::catch_unwind(|| Pattern::new(vec![0, 1, 3, 4], columns.into(), 3));
        assert_eq!(made.is_ok(), fine, "{columns:?}");
    }
}

#[test]
fn dropped_prints_as_one_line() {
    let graph = build(
        3,
        &[(0, 1, 1.0), (1, 0, 1.0), (0, 1, 1.0), (2, 2, 1.0)],
        false,
        false,
    );
    assert_eq!(
        graph.dropped().to_string(),
        "dropped 1 self-loop, 2 duplicate edges"
    );
    assert!(build(3, &[(0, 1, 1.0)], false, false).dropped().is_empty());
}
