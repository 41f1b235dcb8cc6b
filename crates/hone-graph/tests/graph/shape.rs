//! Known sizes, degrees, components and sides.

use hone_graph::{BUILTINS, Dropped, Graph, GraphBuilder, Summary, builtin};
use proptest::prelude::*;

fn triangles(g: &Graph) -> usize {
    let n = g.nodes() as u32;
    let edge = |u, v| g.neighbors(u).binary_search(&v).is_ok();
    let mut count = 0;
    for u in 0..n {
        for v in u + 1..n {
            count += (v + 1..n)
                .filter(|&w| edge(u, v) && edge(v, w) && edge(u, w))
                .count();
        }
    }
    count
}

/// Published counts of nodes, edges and triangles, largest degree.
#[test]
fn builtins_have_their_known_sizes() {
    let known = [
        ("karate", 34, 78, 45, 17),
        ("florentine", 15, 20, 3, 6),
        ("petersen", 10, 15, 0, 3),
        ("star", 11, 10, 0, 10),
        ("grid", 25, 40, 0, 4),
        ("barbell", 13, 24, 20, 5),
        ("ring-of-cliques", 30, 66, 60, 5),
    ];
    assert_eq!(known.map(|k| k.0), BUILTINS.map(|b| b.0));
    for (name, nodes, edges, triangle, degree) in known {
        let g = builtin(name).expect(name);
        let max = (0..g.nodes() as u32).map(|i| g.degree(i)).max();
        assert_eq!(
            (g.nodes(), g.edges(), triangles(&g), max),
            (nodes, edges, triangle, Some(degree)),
            "{name}"
        );
        assert_eq!(g.dropped(), Dropped::default(), "{name}");
    }
}

#[test]
fn florentine_names_are_kept() {
    let g = builtin("florentine").expect("exists");
    let medici: Vec<String> = g
        .neighbors(8)
        .iter()
        .map(|&v| g.ids().get(v).to_string())
        .collect();
    assert_eq!(
        medici,
        [
            "Acciaiuoli",
            "Albizzi",
            "Barbadori",
            "Ridolfi",
            "Salviati",
            "Tornabuoni"
        ]
    );
}

#[test]
fn petersen_is_three_regular() {
    let g = builtin("petersen").expect("exists");
    assert!((0..10).all(|i| g.degree(i) == 3));
}

#[test]
fn unknown_name_lists_the_known() {
    let error = builtin("facebook").expect_err("no such graph");
    assert!(error.is_input());
    assert!(
        error.to_string().contains("builtin:facebook")
            && error.to_string().contains("karate, florentine")
    );
}

#[test]
fn karate() {
    let s = Summary::of(&builtin("karate").expect("built in"));
    assert_eq!(
        (
            s.nodes,
            s.edges,
            s.isolated,
            s.components,
            s.largest_component
        ),
        (34, 78, 0, 1, 34)
    );
    // Sorted degrees: 1, then eleven 2s, six 3s, six 4s, three 5s, two 6s, then 9 10 12 16 17.
    assert_eq!(
        (
            s.degree.min,
            s.degree.q25,
            s.degree.median,
            s.degree.q75,
            s.degree.max
        ),
        (1, 2, 3, 5, 17)
    );
    assert!((s.degree.mean - 156.0 / 34.0).abs() < 1e-12);
    assert!((s.density - 78.0 / 561.0).abs() < 1e-12);
}

#[test]
fn empty_and_single() {
    let empty = Summary::of(&GraphBuilder::undirected(0).build().expect("fine"));
    assert_eq!(
        (
            empty.nodes,
            empty.components,
            empty.largest_component,
            empty.density
        ),
        (0, 0, 0, 0.0)
    );
    let single = Summary::of(&GraphBuilder::undirected(1).build().expect("fine"));
    assert_eq!(
        (single.isolated, single.components, single.largest_component),
        (1, 1, 1)
    );
}

#[test]
fn directed_degrees_both_ways() {
    let g = GraphBuilder::directed(4)
        .edges(vec![(0, 1), (2, 1), (1, 0)])
        .build()
        .expect("fine");
    let s = Summary::of(&g);
    assert_eq!((s.degree.max, s.isolated, s.components), (3, 1, 2));
    assert_eq!(s.in_degree.expect("directed").max, 2);
    assert_eq!(s.out_degree.expect("directed").max, 1);
    assert!((s.density - 3.0 / 12.0).abs() < 1e-12);
}

/// Components by flood fill over a full matrix.
fn flood(n: usize, edges: &[(u32, u32)]) -> (u64, u64) {
    let (mut seen, mut count, mut largest) = (vec![false; n], 0, 0);
    for start in 0..n {
        if seen[start] {
            continue;
        }
        let (mut stack, mut size) = (vec![start], 0);
        seen[start] = true;
        while let Some(u) = stack.pop() {
            size += 1;
            for &(a, b) in edges {
                for (x, y) in [(a as usize, b as usize), (b as usize, a as usize)] {
                    if x == u && !seen[y] {
                        seen[y] = true;
                        stack.push(y);
                    }
                }
            }
        }
        count += 1;
        largest = largest.max(size);
    }
    (count, largest)
}

proptest! {
    #[test]
    fn components_match_flood_fill(
        edges in prop::collection::vec((0u32..30, 0u32..30), 0..40),
        directed in any::<bool>(),
    ) {
        let builder = if directed { GraphBuilder::directed(30) } else { GraphBuilder::undirected(30) };
        let s = Summary::of(&builder.edges(edges.clone()).build().expect("in range"));
        prop_assert_eq!((s.components, s.largest_component), flood(30, &edges));
    }
}

proptest! {
    /// Against all ways to give nine nodes two sides.
    #[test]
    fn sides_exist_where_some_assignment_has_them(
        edges in prop::collection::vec((0u32..9, 0u32..9), 0..14),
        directed: bool,
    ) {
        let edges: Vec<_> = edges.into_iter().filter(|(u, v)| u != v).collect();
        let builder = if directed { GraphBuilder::directed(9) } else { GraphBuilder::undirected(9) };
        let graph = builder.edges(edges.clone()).build().expect("sound");
        let splits = |sides: u32| edges.iter().all(|(u, v)| (sides >> u & 1) != (sides >> v & 1));
        prop_assert_eq!(graph.is_bipartite(), !edges.is_empty() && (0..512).any(splits));
    }
}
