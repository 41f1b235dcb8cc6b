//! Counts after edges came and went, against brute force and against a count of the changed graph, bit by bit.

use std::collections::BTreeSet;

use hone_graph::Silent;
use hone_graph::motif::triad::Occurrence;
use hone_graph::motif::{Counts, Sample, count};
use hone_graph::{Generator, GraphBuilder};
use proptest::prelude::*;

use super::oracle::{enumerate, undirected};

type Edge = (u32, u32);

/// All that is held, as it is written.
fn bytes(counts: &Counts) -> Vec<u8> {
    let mut bytes = Vec::new();
    counts.save(&mut bytes).expect("memory takes it");
    bytes
}

/// The edges of a graph that was changed, and its nodes.
fn changed(nodes: usize, old: &[Edge], added: &[Edge], removed: &[Edge]) -> (usize, Vec<Edge>) {
    let key = |&(a, b): &Edge| (a.min(b), a.max(b));
    let gone: BTreeSet<Edge> = removed.iter().map(key).collect();
    let edges: Vec<Edge> = old
        .iter()
        .filter(|edge| !gone.contains(&key(edge)))
        .chain(added)
        .copied()
        .collect();
    (
        added
            .iter()
            .map(|&(a, b)| a.max(b) as usize + 1)
            .fold(nodes, usize::max),
        edges,
    )
}

/// Updates, and compares with a count of the changed graph.
fn updated(nodes: usize, old: &[Edge], added: &[Edge], removed: &[Edge]) -> Counts {
    let before = count(&undirected(nodes, old), &Silent).expect("counts");
    let after = before
        .update(added, removed, &Silent)
        .expect("sound changes");
    let (nodes, edges) = changed(nodes, old, added, removed);
    let anew = count(&undirected(nodes, &edges), &Silent).expect("counts");
    assert!(
        after.pattern() == anew.pattern(),
        "{old:?} + {added:?} - {removed:?}"
    );
    assert_eq!(
        bytes(&after),
        bytes(&anew),
        "{old:?} + {added:?} - {removed:?}"
    );
    after
}

/// A graph on few nodes and changes of it: for each pair whether it is an edge, whether it changes, and its order.
fn graphs() -> impl Strategy<Value = (usize, Vec<Edge>, Vec<Edge>, Vec<Edge>)> {
    (1u32..12, 0.0..1.0f64, 0.0..1.0f64).prop_flat_map(|(n, density, change)| {
        let pairs: Vec<Edge> = (0..n)
            .flat_map(|a| (a + 1..n).map(move |b| (a, b)))
            .collect();
        let each = prop::collection::vec(
            (
                prop::bool::weighted(density),
                prop::bool::weighted(change),
                any::<bool>(),
            ),
            pairs.len(),
        );
        (each, 0..=n).prop_map(move |(each, old_nodes)| {
            let (mut old, mut added, mut removed) = (Vec::new(), Vec::new(), Vec::new());
            for (&(a, b), (there, changes, turned)) in pairs.iter().zip(each) {
                let edge = if turned { (b, a) } else { (a, b) };
                // The last nodes are new.
                let there = there && b < old_nodes;
                if there {
                    old.push(edge);
                }
                match (there, changes) {
                    (true, true) => removed.push((edge.1, edge.0)),
                    (false, true) => added.push(edge),
                    _ => {}
                }
            }
            (old_nodes as usize, old, added, removed)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_update_is_a_recount((nodes, old, added, removed) in graphs()) {
        let counts = updated(nodes, &old, &added, &removed);
        let (nodes, edges) = changed(nodes, &old, &added, &removed);
        let truth = enumerate(nodes, &edges);
        for (&(u, v), orbits) in &truth.edges {
            let found = counts.edge(u, v);
            prop_assert_eq!(found.as_ref(), Some(orbits));
        }
        prop_assert_eq!(counts.node_orbits().expect("small"), truth.nodes);
        prop_assert_eq!(counts.totals().graphlets, truth.graphlets);
    }
}

#[test]
fn nothing_to_everything_and_back() {
    let complete: Vec<Edge> = (0..9u32)
        .flat_map(|a| (a + 1..9).map(move |b| (a, b)))
        .collect();
    updated(0, &[], &[], &[]);
    updated(9, &complete, &[], &[]);
    updated(0, &[], &complete, &[]);
    updated(9, &[], &complete, &[]);
    let empty = updated(9, &complete, &[], &complete);
    assert_eq!((empty.pattern().rows(), empty.pattern().nnz()), (9, 0));
    updated(9, &complete[..20], &complete[20..], &complete[..20]);
    updated(12, &[(0, 1), (4, 5)], &[(20, 21)], &[(0, 1)]);
}

#[test]
fn a_graph_with_hubs_on_any_number_of_threads() {
    let model = Generator::Rmat {
        nodes: 1 << 13,
        degree: 24.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let graph = model.graph(3, &Silent).expect("a graph");
    let edges: Vec<Edge> = (0..graph.nodes() as u32)
        .flat_map(|i| {
            graph
                .neighbors(i)
                .iter()
                .filter(move |&&j| i < j)
                .map(move |&j| (i, j))
        })
        .collect();
    assert!(
        (0..graph.nodes() as u32).any(|i| graph.degree(i) > 600),
        "a hub"
    );
    let some = |from: usize| {
        edges
            .iter()
            .copied()
            .skip(from)
            .step_by(173)
            .collect::<Vec<Edge>>()
    };
    let (added, removed) = (some(3), some(90));
    let gone: BTreeSet<Edge> = added.iter().copied().collect();
    let old: Vec<Edge> = edges
        .iter()
        .copied()
        .filter(|edge| !gone.contains(edge))
        .collect();
    let new: Vec<Edge> = changed(0, &edges, &[], &removed).1;
    let built = |edges: Vec<Edge>| {
        GraphBuilder::undirected(graph.nodes())
            .edges(edges)
            .build()
            .expect("sound")
    };
    let anew = bytes(&count(&built(new), &Silent).expect("counts"));
    let before = count(&built(old), &Silent).expect("counts");
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let after = pool
            .install(|| before.update(&added, &removed, &Silent))
            .expect("sound changes");
        assert!(bytes(&after) == anew, "{threads} threads");
    }
}

/// Hubs next to hubs, small nodes next to both, and changes of all kinds of edges between them: each pair of kinds is found in
/// another way.
#[test]
fn changes_among_hubs_and_small_nodes() {
    let model = Generator::Rmat {
        nodes: 1 << 11,
        degree: 60.0,
        quadrants: [0.6, 0.18, 0.18, 0.04],
    };
    let graph = model.graph(8, &Silent).expect("a graph");
    let n = graph.nodes() as u32;
    let is_hub = |i: u32| graph.degree(i) >= 128;
    assert!(
        (0..n).filter(|&i| is_hub(i)).count() > 70,
        "more hubs than a word has bits"
    );
    let edges: Vec<Edge> = (0..n)
        .flat_map(|i| {
            graph
                .neighbors(i)
                .iter()
                .filter(move |&&j| i < j)
                .map(move |&j| (i, j))
        })
        .collect();
    for kind in 0..3 {
        let of_kind = |&&(a, b): &&Edge| usize::from(is_hub(a)) + usize::from(is_hub(b)) == kind;
        let some = |from: usize| {
            edges
                .iter()
                .filter(of_kind)
                .copied()
                .skip(from)
                .step_by(61)
                .collect::<Vec<Edge>>()
        };
        let (added, mut removed) = (some(3), some(30));
        removed.extend(
            edges
                .iter()
                .filter(|&&(a, b)| a == added[0].0 && !added.contains(&(a, b)))
                .take(5),
        );
        removed.sort_unstable();
        removed.dedup();
        let gone: BTreeSet<Edge> = added.iter().copied().collect();
        let old: Vec<Edge> = edges
            .iter()
            .copied()
            .filter(|edge| !gone.contains(edge))
            .collect();
        updated(n as usize, &old, &added, &removed);
    }
}

#[test]
fn an_update_of_an_update() {
    let mut counts = count(&undirected(30, &[]), &Silent).expect("counts");
    let mut edges: Vec<Edge> = Vec::new();
    for step in 0..20u32 {
        let added: Vec<Edge> = (0..30)
            .map(|i| (i, (i * 7 + step * 3 + 1) % 30))
            .filter(|&(a, b)| a < b)
            .collect();
        let added: Vec<Edge> = added
            .into_iter()
            .filter(|edge| !edges.contains(edge))
            .collect();
        let removed: Vec<Edge> = edges
            .iter()
            .copied()
            .skip(step as usize % 3)
            .step_by(4)
            .collect();
        counts = counts
            .update(&added, &removed, &Silent)
            .expect("sound changes");
        edges = changed(30, &edges, &added, &removed).1;
    }
    assert_eq!(
        bytes(&counts),
        bytes(&count(&undirected(30, &edges), &Silent).expect("counts"))
    );
}

#[test]
fn what_cannot_be_updated_is_refused() {
    let counts = count(&undirected(3, &[(0, 1), (1, 2)]), &Silent).expect("counts");
    let message = |added: &[Edge], removed: &[Edge]| {
        counts
            .update(added, removed, &Silent)
            .unwrap_err()
            .to_string()
    };
    for (message, words) in [
        (
            message(&[(2, 0), (1, 0)], &[]),
            "added: edge 1, (1, 0), is in the graph already",
        ),
        (
            message(&[], &[(0, 2)]),
            "removed: edge 0, (0, 2), is not in the graph",
        ),
        (
            message(&[], &[(7, 2)]),
            "removed: edge 0, (7, 2), is not in the graph",
        ),
        (
            message(&[(2, 2)], &[]),
            "added: edge 0, (2, 2), is a self-loop",
        ),
        (message(&[(2, 0), (0, 2)], &[]), "(0, 2) is named twice"),
        (message(&[], &[(2, 1), (1, 2)]), "(1, 2) is named twice"),
    ] {
        assert!(message.contains(words), "{message}");
    }
    let graph = hone_graph::builtin("karate").expect("built in");
    let estimates = "cap=4"
        .parse::<Sample>()
        .expect("a sample")
        .count(&graph, 1, &Silent)
        .expect("estimates");
    let refused = estimates
        .update(&[], &[(0, 1)], &Silent)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("estimates cannot be updated"), "{refused}");
    let arcs = super::oracle::directed(3, &[(0, 1), (1, 2)]);
    let motifs = ["021C".parse().expect("a motif")];
    let allowance = hone_base::memory::Allowance::new(None);
    let triads = Sample::Exact
        .count_motifs(&arcs, &motifs, (0, allowance), &Silent)
        .expect("triads");
    assert!(triads.triads().is_some_and(|triads| {
        triads
            .totals(Occurrence::Induced)
            .triads
            .iter()
            .sum::<u128>()
            > 0
    }));
    let refused = triads
        .update(&[(2, 0)], &[], &Silent)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("directed motifs cannot be updated"),
        "{refused}"
    );
}
