//! Graphs of matrices in compressed rows against a slow set-based truth; ids of the caller's own.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hone_base::sparse::Indices;
use hone_graph::{Graph, NodeIds, Orientation};
use proptest::prelude::*;

type Arc3 = (u32, u32, f32);

/// Compressed rows in the order the arcs come, repetitions and loops included.
fn rows(n: usize, arcs: &[Arc3]) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
    let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n as u32 {
        for &(_, j, w) in arcs.iter().filter(|arc| arc.0 == i) {
            columns.push(j);
            weights.push(w);
        }
        offsets.push(columns.len());
    }
    (offsets, columns, weights)
}

/// Weight of each position of the graph a matrix means; without weights all are 1.
fn truth(
    arcs: &[Arc3],
    weighted: bool,
    directed: Option<bool>,
) -> (bool, BTreeMap<(u32, u32), f32>) {
    let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for &(i, j, w) in arcs.iter().filter(|arc| arc.0 != arc.1) {
        let sum = sums.entry((i, j)).or_default();
        *sum = if weighted { *sum + f64::from(w) } else { 1.0 };
    }
    let symmetric = sums.iter().all(|(&(i, j), w)| sums.get(&(j, i)) == Some(w));
    let directed = directed.unwrap_or(!symmetric);
    if !directed && !symmetric {
        let pairs: BTreeSet<(u32, u32)> =
            sums.keys().flat_map(|&(i, j)| [(i, j), (j, i)]).collect();
        let either = |&(i, j): &(u32, u32)| {
            let both = sums.get(&(i, j)).unwrap_or(&0.0) + sums.get(&(j, i)).unwrap_or(&0.0);
            ((i, j), if weighted { both } else { 1.0 })
        };
        sums = pairs.iter().map(either).collect();
    }
    (
        directed,
        sums.into_iter()
            .map(|(position, w)| (position, w as f32))
            .collect(),
    )
}

fn positions(graph: &Graph) -> BTreeMap<(u32, u32), f32> {
    let pattern = graph.pattern();
    let weight = |p: usize| graph.weights().map_or(1.0, |w| w[p]);
    let row = |i: usize| {
        pattern
            .range(i)
            .map(move |p| ((i as u32, pattern.columns()[p]), weight(p)))
    };
    (0..graph.nodes()).flat_map(row).collect()
}

proptest! {
    #[test]
    fn a_matrix_means_what_the_truth_says(
        arcs in prop::collection::vec((0u32..9, 0u32..9, (0u32..4).prop_map(|w| w as f32)), 0..40),
        mirror: bool, weighted: bool, directed in prop::option::of(any::<bool>()),
    ) {
        let mut arcs: Vec<Arc3> = arcs;
        if mirror {
            arcs.extend(arcs.clone().iter().map(|&(i, j, w)| (j, i, w)));
        }
        let (offsets, columns, weights) = rows(9, &arcs);
        let weights = weighted.then(|| Arc::from(weights));
        let meant = directed.map_or(Orientation::Detect, Orientation::directed_if);
        let graph = Graph::from_arcs(offsets, columns, weights, meant, NodeIds::Sequential(9)).unwrap();
        let (directed, expected) = truth(&arcs, weighted, directed);
        prop_assert_eq!(graph.is_directed(), directed);
        prop_assert_eq!(graph.weights().is_some(), weighted);
        prop_assert_eq!(positions(&graph), expected);
        let loops = arcs.iter().filter(|arc| arc.0 == arc.1).count() as u64;
        let distinct = arcs.iter().filter(|a| a.0 != a.1).map(|a| (a.0, a.1)).collect::<BTreeSet<_>>().len();
        let repeated = arcs.len() as u64 - loops - distinct as u64;
        prop_assert_eq!((graph.dropped().self_loops, graph.dropped().duplicates), (loops, repeated));
    }

    #[test]
    fn integers_are_numbered_in_ascending_order(
        edges in prop::collection::vec((-5i64..5, -5i64..1 << 40), 0..50), shift in prop::sample::select(vec![0i64, 5, 1 << 33]),
    ) {
        let edges: Vec<(i64, i64)> = edges.iter().map(|&(u, v)| (u + shift, v + shift)).collect();
        let (ids, pairs) = NodeIds::number_integers(edges.len(), |e| edges[e]).unwrap();
        let sorted: BTreeSet<i64> = edges.iter().flat_map(|&(u, v)| [u, v]).collect();
        let names: Vec<String> = ids.iter().map(|id| id.to_string()).collect();
        prop_assert_eq!(&names, &sorted.iter().map(i64::to_string).collect::<Vec<_>>());
        for (&(u, v), &(a, b)) in edges.iter().zip(&pairs) {
            prop_assert_eq!((&names[a as usize], &names[b as usize]), (&u.to_string(), &v.to_string()));
        }
    }
}

#[test]
fn directions_can_be_taken_and_given() {
    let path = |meant| {
        let ids = NodeIds::Sequential(3);
        Graph::from_arcs(vec![0, 1, 3, 4], vec![1, 0, 2, 1], None, meant, ids).unwrap()
    };
    let (directed, undirected) = (
        || path(Orientation::Directed),
        || path(Orientation::Undirected),
    );
    assert!(directed().is_directed() && directed().edges() == 4);
    for meant in [Orientation::Detect, Orientation::Undirected] {
        assert_eq!(
            (
                directed().with_orientation(meant).is_directed(),
                directed().edges()
            ),
            (false, 4)
        );
    }
    assert!(
        undirected()
            .with_orientation(Orientation::Directed)
            .is_directed()
    );
    assert!(
        !undirected()
            .with_orientation(Orientation::Detect)
            .is_directed()
    );
}

#[test]
fn a_finished_matrix_is_not_copied() {
    let lent: Arc<[u32]> = vec![1, 0, 2, 1].into();
    let arcs = |columns: Indices| {
        Graph::from_arcs(
            vec![0, 1, 3, 4],
            columns,
            None,
            Orientation::Detect,
            NodeIds::Sequential(3),
        )
        .unwrap()
    };
    let graph = arcs(Indices::lent(Arc::clone(&lent)));
    assert_eq!(graph.pattern().columns().as_ptr(), lent.as_ptr());
    assert!(!graph.is_directed() && graph.dropped().is_empty());
    let unsorted: Arc<[u32]> = vec![1, 2, 0, 1].into();
    let sorted = arcs(Indices::lent(Arc::clone(&unsorted)));
    assert_eq!(sorted.pattern(), graph.pattern());
    assert_eq!(Arc::strong_count(&unsorted), 1);
}

#[test]
fn many_rows_and_any_number_of_threads_give_the_truth() {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as u32
    };
    let n = 10_000;
    let mut arcs: Vec<Arc3> = (0..60_000)
        .map(|_| (next() % n, next() % n, (next() % 8) as f32))
        .collect();
    arcs.sort_by_key(|arc| arc.0); // only by row: columns stay unsorted
    let mut offsets = vec![0; n as usize + 1];
    arcs.iter().for_each(|arc| offsets[arc.0 as usize + 1] += 1);
    (0..n as usize).for_each(|i| offsets[i + 1] += offsets[i]);
    let columns: Vec<u32> = arcs.iter().map(|arc| arc.1).collect();
    let weights: Arc<[f32]> = arcs.iter().map(|arc| arc.2).collect();
    let expected = truth(&arcs, true, Some(false)).1;
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let ids = NodeIds::Sequential(n as usize);
        let (offsets, columns, weights) = (offsets.clone(), columns.clone(), Some(weights.clone()));
        let make = || Graph::from_arcs(offsets, columns, weights, Orientation::Undirected, ids);
        assert!(
            positions(&pool.install(make).unwrap()) == expected,
            "{threads} threads"
        );
    }
}

#[test]
fn names_are_numbered_as_they_come() {
    let (ids, pairs) = NodeIds::number_texts([("b", "a"), ("a", "c")].into_iter()).unwrap();
    assert_eq!(
        ids.iter().map(|id| id.to_string()).collect::<Vec<_>>(),
        ["b", "a", "c"]
    );
    assert_eq!(pairs, [(0, 1), (1, 2)]);
    assert!(
        NodeIds::number_integers(0, |_| (0, 0))
            .unwrap()
            .0
            .is_empty()
    );
}

#[test]
fn names_can_be_changed() {
    let path = || {
        Graph::from_arcs(
            vec![0, 1, 2],
            vec![1, 0],
            None,
            Orientation::Detect,
            NodeIds::Sequential(2),
        )
        .unwrap()
    };
    let named = path().with_ids(NodeIds::from_texts(&["b", "a"])).unwrap();
    assert_eq!(
        (named.ids().get(0).to_string(), named.edges()),
        ("b".into(), 1)
    );
    assert!(path().with_ids(NodeIds::Sequential(3)).is_err());
}

#[test]
fn broken_matrices_are_refused() {
    let make = |offsets: Vec<usize>, columns: Vec<u32>, weights: Option<Vec<f32>>, nodes| {
        Graph::from_arcs(
            offsets,
            columns,
            weights.map(Arc::from),
            Orientation::Detect,
            NodeIds::Sequential(nodes),
        )
    };
    let cases = [
        (make(vec![0, 1], vec![0], None, 2), "1 rows for 2 nodes"),
        (make(vec![], vec![], None, 0), "0 rows for 0 nodes"),
        (make(vec![0, 2, 1], vec![0], None, 2), "row offsets"),
        (make(vec![1, 1, 1], vec![0], None, 2), "row offsets"),
        (
            make(vec![0, 0, 2], vec![0, 7], None, 2),
            "row 1 has column 7, but there are 2 nodes",
        ),
        (
            make(vec![0, 0, 2], vec![0, 1], Some(vec![1.0]), 2),
            "1 weights for 2 positions",
        ),
        (
            make(vec![0, 0, 1], vec![0], Some(vec![-1.0]), 2),
            "weight 0 is -1",
        ),
        (
            make(vec![0, 2, 2], vec![1, 1], Some(vec![3e38, 3e38]), 2),
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
