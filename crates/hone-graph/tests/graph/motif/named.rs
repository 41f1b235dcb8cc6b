//! Totals of graphs with known ones: closed forms, small famous graphs, and the data at hand.

use std::path::Path;

use hone_graph::Silent;
use hone_graph::motif::{Graphlet, Orbit, Totals, count};

use super::oracle::undirected;

fn totals(n: usize, edges: &[(u32, u32)]) -> Totals {
    count(&undirected(n, edges), &Silent)
        .expect("counts")
        .totals()
}

fn choose(n: u128, k: u128) -> u128 {
    if n < k {
        0
    } else {
        (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
    }
}

#[test]
fn complete_graphs() {
    for n in [2u128, 3, 4, 5, 30, 400] {
        let edges: Vec<_> = (0..n as u32)
            .flat_map(|u| (u + 1..n as u32).map(move |v| (u, v)))
            .collect();
        let totals = totals(n as usize, &edges);
        let expected = [choose(n, 2), 0, choose(n, 3), 0, 0, 0, 0, 0, choose(n, 4)];
        assert_eq!(totals.graphlets, expected, "K_{n}");
    }
}

#[test]
fn complete_graph_of_six_hundred_nodes() {
    let n = 600u32;
    let edges: Vec<_> = (0..n)
        .flat_map(|u| (u + 1..n).map(move |v| (u, v)))
        .collect();
    let counts = count(&undirected(n as usize, &edges), &Silent).expect("counts");
    let others = u64::from(n) - 2;
    let expected = [
        1,
        0,
        others,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        others * (others - 1) / 2,
    ];
    for (u, v) in [(0, 1), (17, 599), (300, 299)] {
        assert_eq!(counts.edge(u, v).expect("an edge"), expected);
    }
    let n = u128::from(n);
    assert_eq!(
        counts.totals().graphlets,
        [choose(n, 2), 0, choose(n, 3), 0, 0, 0, 0, 0, choose(n, 4)]
    );
}

#[test]
fn stars() {
    for leaves in [1u128, 2, 3, 100_000] {
        let edges: Vec<_> = (1..=leaves as u32).map(|v| (0, v)).collect();
        let totals = totals(leaves as usize + 1, &edges);
        assert_eq!(
            totals.graphlets,
            [
                leaves,
                choose(leaves, 2),
                0,
                0,
                choose(leaves, 3),
                0,
                0,
                0,
                0
            ],
            "star of {leaves}"
        );
    }
}

#[test]
fn star_of_a_million_leaves_does_not_overflow() {
    let leaves = 1_000_000u32;
    let edges: Vec<_> = (1..=leaves).map(|v| (0, v)).collect();
    let counts = count(&undirected(leaves as usize + 1, &edges), &Silent).expect("counts");
    let others = u64::from(leaves) - 1;
    let orbits = counts.edge(17, 0).expect("an edge");
    assert_eq!(
        orbits,
        [
            1,
            others,
            0,
            0,
            0,
            others * (others - 1) / 2,
            0,
            0,
            0,
            0,
            0,
            0,
            0
        ]
    );
    let totals = counts.totals();
    assert_eq!(
        totals.graphlets[Graphlet::Star4.index()],
        choose(u128::from(leaves), 3)
    );
    assert_eq!(
        totals.orbits[Orbit::Star4.index()],
        3 * choose(u128::from(leaves), 3)
    );
    let centre = counts.node_orbits().expect("below u64")[0];
    assert_eq!(u128::from(centre[7]), choose(u128::from(leaves), 3));
}

#[test]
fn node_orbits_beyond_u64_are_reported() {
    let leaves = 5_000_000u32;
    let edges: Vec<_> = (1..=leaves).map(|v| (0, v)).collect();
    let counts = count(&undirected(leaves as usize + 1, &edges), &Silent).expect("counts");
    let totals = counts.totals();
    assert_eq!(
        totals.graphlets[Graphlet::Star4.index()],
        choose(u128::from(leaves), 3)
    );
    assert_eq!(
        totals.orbits[Orbit::Star4.index()],
        3 * choose(u128::from(leaves), 3)
    );
    let error = counts.node_orbits().expect_err("more than u64").to_string();
    assert!(
        error.contains("star4-centre") && error.contains("degree 5000000"),
        "{error}"
    );
}

#[test]
fn cycles_and_paths() {
    let cycle = |n: u32| (0..n).map(|u| (u, (u + 1) % n)).collect::<Vec<_>>();
    assert_eq!(totals(3, &cycle(3)).graphlets, [3, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(totals(4, &cycle(4)).graphlets, [4, 4, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(
        totals(50, &cycle(50)).graphlets,
        [50, 50, 0, 50, 0, 0, 0, 0, 0]
    );
    let path: Vec<_> = (0..49).map(|u| (u, u + 1)).collect();
    assert_eq!(totals(50, &path).graphlets, [49, 48, 0, 47, 0, 0, 0, 0, 0]);
}

#[test]
fn complete_bipartite_graphs() {
    let (a, b) = (40u128, 70u128);
    let edges: Vec<_> = (0..40)
        .flat_map(|u| (40..110).map(move |v| (u, v)))
        .collect();
    let stars = b * choose(a, 3) + a * choose(b, 3);
    let wedges = b * choose(a, 2) + a * choose(b, 2);
    let cycles = choose(a, 2) * choose(b, 2);
    assert_eq!(
        totals(110, &edges).graphlets,
        [a * b, wedges, 0, 0, stars, cycles, 0, 0, 0]
    );
}

#[test]
fn petersen_graph() {
    // 3-regular, girth 5: no triangle or 4-cycle; every middle edge makes 2 · 2 paths.
    let mut edges: Vec<(u32, u32)> = (0..5).map(|u| (u, (u + 1) % 5)).collect();
    edges.extend((0..5).map(|u| (u, u + 5)));
    edges.extend((0..5).map(|u| (u + 5, (u + 2) % 5 + 5)));
    assert_eq!(
        totals(10, &edges).graphlets,
        [15, 30, 0, 60, 10, 0, 0, 0, 0]
    );
}

#[test]
fn karate_club() {
    // Zachary 1977; totals as ORCA gives them.
    let edges = hone_graph::builtin("karate").expect("built in");
    let totals = count(&edges, &Silent).expect("counts").totals();
    assert_eq!(totals.graphlets[..3], [78, 393, 45]);
    assert_eq!(totals.graphlets[Graphlet::Clique4.index()], 11);
}

/// Triangles as the README beside the data gives them.
#[test]
fn triangles_of_the_data_at_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let Ok(readme) = std::fs::read_to_string(folder.join("README.md")) else {
        crate::skip::skip(&format!("no {}", folder.display()));
        return;
    };
    let mut seen = 0;
    for line in readme.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (Ok(nodes), Ok(triangles)) = (cells[2].parse::<usize>(), cells[5].parse::<u128>())
        else {
            continue;
        };
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{}.edges", cells[1]))) else {
            crate::skip::skip(&format!("no {}.edges", cells[1]));
            continue;
        };
        let number = |word: Option<&str>| word.and_then(|word| word.parse().ok()).expect("a node");
        let edges: Vec<(u32, u32)> = text
            .lines()
            .map(|line| {
                let mut words = line.split_whitespace();
                (number(words.next()), number(words.next()))
            })
            .collect();
        let totals = totals(nodes, &edges);
        assert_eq!(
            totals.graphlets[Graphlet::Edge.index()],
            edges.len() as u128,
            "{}",
            cells[1]
        );
        assert_eq!(
            totals.graphlets[Graphlet::Triangle.index()],
            triangles,
            "{}",
            cells[1]
        );
        seen += 1;
    }
    println!("{seen} graphs checked");
}
