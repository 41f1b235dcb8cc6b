//! Brute force on hundreds of random graphs, and laws that hold at any size.

use hone_graph::Graph;
use hone_graph::Silent;
use hone_graph::motif::{Counts, Graphlet, Orbit, count};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::oracle::{directed, enumerate, random_edges, rng, undirected};

/// All counts of all edges, both directions.
fn all(counts: &Counts) -> Vec<(u32, u32, [u64; 13])> {
    let rows = 0..counts.pattern().rows() as u32;
    rows.flat_map(|i| counts.row(i).map(move |(j, orbits)| (i, j, orbits)))
        .collect()
}

fn check(graph: &Graph, n: usize, edges: &[(u32, u32)]) {
    let truth = enumerate(n, edges);
    let counts = count(graph, &Silent).expect("counts");
    let found = all(&counts);
    let expected: Vec<_> = truth
        .edges
        .iter()
        .map(|(&(u, v), &orbits)| (u, v, orbits))
        .collect();
    assert_eq!(found, expected, "n = {n}, edges {edges:?}");
    assert_eq!(
        counts.node_orbits().expect("small"),
        truth.nodes,
        "n = {n}, edges {edges:?}"
    );
    let totals = counts.totals();
    assert_eq!(
        totals.graphlets, truth.graphlets,
        "n = {n}, edges {edges:?}"
    );
    let both: [u128; 13] = std::array::from_fn(|o| {
        truth
            .edges
            .values()
            .map(|orbits| u128::from(orbits[o]))
            .sum()
    });
    assert_eq!(
        totals.orbits,
        both.map(|sum| sum / 2),
        "n = {n}, edges {edges:?}"
    );
}

#[test]
fn agrees_with_brute_force_on_random_graphs() {
    let mut rng = rng(1);
    for round in 0..300 {
        let n = rng.random_range(0..18);
        let density = [0.05, 0.15, 0.3, 0.5, 0.8, 1.0][round % 6];
        let edges = random_edges(&mut rng, n, density);
        check(&undirected(n, &edges), n, &edges);
    }
}

#[test]
fn ignores_direction() {
    let mut rng = rng(2);
    for _ in 0..60 {
        let n = rng.random_range(1..16);
        let edges = random_edges(&mut rng, n, 0.4);
        check(&directed(n, &edges), n, &edges);
    }
}

#[test]
fn keeps_isolated_nodes_and_components_apart() {
    let mut rng = rng(3);
    for _ in 0..40 {
        let one = random_edges(&mut rng, 8, 0.5);
        let two = random_edges(&mut rng, 7, 0.4);
        // Nodes 0, 9 and 17 have no edge.
        let shift = |edges: &[(u32, u32)], by: u32| {
            edges
                .iter()
                .map(|&(u, v)| (u + by, v + by))
                .collect::<Vec<_>>()
        };
        let edges = [shift(&one, 1), shift(&two, 10)].concat();
        check(&undirected(18, &edges), 18, &edges);
    }
}

#[test]
fn agrees_with_brute_force_around_a_hub() {
    let mut rng = rng(4);
    for _ in 0..4 {
        let mut edges: Vec<(u32, u32)> = (1..45).map(|v| (0, v)).collect();
        edges.extend((1..30).map(|v| (44, v)));
        edges.extend(random_edges(&mut rng, 45, 0.05));
        check(&undirected(45, &edges), 45, &edges);
    }
}

#[test]
fn tiny_graphs() {
    check(&undirected(0, &[]), 0, &[]);
    check(&undirected(1, &[]), 1, &[]);
    check(&undirected(5, &[]), 5, &[]);
    check(&undirected(2, &[(0, 1)]), 2, &[(0, 1)]);
    check(&directed(2, &[(1, 0)]), 2, &[(1, 0)]);
    check(&directed(3, &[(1, 0), (0, 1)]), 3, &[(1, 0), (0, 1)]);
    let counts = count(&undirected(3, &[(0, 1)]), &Silent).expect("counts");
    assert_eq!(counts.edge(0, 2), None);
    assert_eq!(
        counts.edge(1, 0),
        Some([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    );
}

/// A graph too large for enumeration, sparse with hubs and cliques.
fn large(rng: &mut impl Rng) -> (usize, Vec<(u32, u32)>) {
    let n = 3000u32;
    let mut edges: Vec<(u32, u32)> = (0..9000)
        .map(|_| {
            let u = rng.random_range(0..n);
            (
                u,
                (u64::from(rng.random_range(0..n)) * u64::from(rng.random_range(0..n))
                    / u64::from(n)) as u32,
            )
        })
        .collect();
    for start in [10, 500, 2900] {
        for u in start..start + 40 {
            edges.extend((u + 1..start + 40).map(|v| (u, v)));
        }
    }
    edges.extend((1..2000).map(|v| (0, v)));
    (n as usize, edges)
}

/// What a single edge has, straight from the definitions, in O(d²).
fn by_hand(graph: &Graph, u: u32, v: u32) -> [u64; 13] {
    let adjacent = |x: u32, y: u32| graph.neighbors(x).binary_search(&y).is_ok();
    let around: Vec<u32> = {
        let mut list: Vec<u32> = graph
            .neighbors(u)
            .iter()
            .chain(graph.neighbors(v))
            .copied()
            .collect();
        list.sort_unstable();
        list.dedup();
        list.retain(|&w| w != u && w != v);
        list
    };
    let mut orbits = [0; 13];
    orbits[0] = 1;
    for (k, &w) in around.iter().enumerate() {
        let (wu, wv) = (adjacent(w, u), adjacent(w, v));
        orbits[if wu && wv { 2 } else { 1 }] += 1;
        for &x in &around[k + 1..] {
            let (xu, xv, wx) = (adjacent(x, u), adjacent(x, v), adjacent(w, x));
            let ties = [wu, wv, xu, xv, wx].iter().filter(|&&tie| tie).count();
            let both = usize::from(wu && wv) + usize::from(xu && xv);
            let orbit = match (ties, both, wx) {
                (2, 0, false) => {
                    if wu == xu {
                        5
                    } else {
                        4
                    }
                }
                (3, 0, true) => {
                    if wu == xu {
                        7
                    } else {
                        6
                    }
                }
                (3, 1, false) => 8,
                (4, 2, false) => 10,
                (4, 1, true) => 11,
                (5, ..) => 12,
                other => panic!("{other:?}"),
            };
            orbits[orbit] += 1;
        }
        // Fourth nodes that touch only w.
        for &x in graph.neighbors(w) {
            if x != u && x != v && !adjacent(x, u) && !adjacent(x, v) {
                orbits[if wu && wv { 9 } else { 3 }] += 1;
            }
        }
    }
    orbits
}

#[test]
fn agrees_with_the_definition_on_edges_of_a_larger_graph() {
    let mut rng = rng(5);
    let (n, edges) = large(&mut rng);
    let graph = undirected(n, &edges);
    let counts = count(&graph, &Silent).expect("counts");
    for _ in 0..400 {
        let u = rng.random_range(1..n as u32);
        if let Some((v, found)) = counts.row(u).find(|&(v, _)| v != 0 && (u + v) % 3 != 0) {
            assert_eq!(found, by_hand(&graph, u, v), "edge ({u}, {v})");
        }
    }
    let (hub, found) = counts.row(0).nth(700).expect("the hub's");
    assert_eq!(found, by_hand(&graph, 0, hub));
}

#[test]
fn renumbering_nodes_renumbers_counts() {
    let mut rng = rng(6);
    let (n, edges) = large(&mut rng);
    let mut names: Vec<u32> = (0..n as u32).collect();
    names.shuffle(&mut rng);
    let renamed: Vec<(u32, u32)> = edges
        .iter()
        .map(|&(u, v)| (names[u as usize], names[v as usize]))
        .collect();
    let (a, b) = (undirected(n, &edges), undirected(n, &renamed));
    let (a, b) = (
        count(&a, &Silent).expect("counts"),
        count(&b, &Silent).expect("counts"),
    );
    for (u, v, orbits) in all(&a) {
        assert_eq!(b.edge(names[u as usize], names[v as usize]), Some(orbits));
    }
    assert_eq!(a.totals(), b.totals());
}

#[test]
fn both_directions_of_an_edge_agree_and_totals_divide() {
    let mut rng = rng(7);
    let (n, edges) = large(&mut rng);
    let counts = count(&undirected(n, &edges), &Silent).expect("counts");
    for (u, v, orbits) in all(&counts).into_iter().filter(|&(u, v, _)| u < v) {
        assert_eq!(counts.edge(v, u), Some(orbits));
    }
    let totals = counts.totals();
    let total = |orbit: Orbit| totals.orbits[orbit.index()];
    for graphlet in Graphlet::ALL {
        let sum: u128 = graphlet.orbits().iter().map(|&orbit| total(orbit)).sum();
        assert_eq!(sum % graphlet.edges() as u128, 0, "{graphlet}");
    }
    assert_eq!(total(Orbit::Path4End), 2 * total(Orbit::Path4Mid));
    assert_eq!(total(Orbit::TailedNear), 2 * total(Orbit::TailedTail));
    assert_eq!(total(Orbit::TailedFar), total(Orbit::TailedTail));
    assert_eq!(total(Orbit::DiamondRim), 4 * total(Orbit::DiamondChord));
    // Node orbits add up to vertices of the same graphlets.
    let nodes = counts.node_orbits().expect("fits");
    let sum = |orbit: usize| {
        nodes
            .iter()
            .map(|node| u128::from(node[orbit]))
            .sum::<u128>()
    };
    let by_graphlet: [&[usize]; 9] = [
        &[0],
        &[1, 2],
        &[3],
        &[4, 5],
        &[6, 7],
        &[8],
        &[9, 10, 11],
        &[12, 13],
        &[14],
    ];
    for (graphlet, orbits) in Graphlet::ALL.into_iter().zip(by_graphlet) {
        let vertices: u128 = orbits.iter().map(|&orbit| sum(orbit)).sum();
        assert_eq!(
            vertices,
            totals.graphlets[graphlet.index()] * graphlet.size() as u128,
            "{graphlet}"
        );
    }
}

#[test]
fn threads_do_not_change_counts() {
    let (n, edges) = large(&mut rng(8));
    let graph = undirected(n, &edges);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| all(&count(&graph, &Silent).expect("counts")))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(7));
}

#[test]
fn stops_when_asked() {
    struct Stop;
    impl hone_graph::Progress for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let result = count(&undirected(3, &[(0, 1), (1, 2)]), &Stop);
    assert!(matches!(result, Err(hone_graph::Error::Interrupted)));
}
