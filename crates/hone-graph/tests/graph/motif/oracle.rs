//! The slow truth: look at every set of 2, 3 and 4 nodes. Shares no code with the library.

use std::collections::BTreeMap;

use hone_graph::{Graph, GraphBuilder};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Orbit counts of every pair of adjacent nodes (both orders) and of every node.
pub(crate) struct Truth {
    pub(crate) edges: BTreeMap<(u32, u32), [u64; 13]>,
    pub(crate) nodes: Vec<[u64; 15]>,
    pub(crate) graphlets: [u128; 9],
}

/// Edge orbit, by the graphlet and the degrees (within the subgraph) of the two ends.
fn edge_orbit(degrees: &[usize], a: usize, b: usize) -> usize {
    let (x, y) = (degrees[a].min(degrees[b]), degrees[a].max(degrees[b]));
    match sorted(degrees).as_slice() {
        [1, 1] => 0,
        [1, 1, 2] => 1,
        [2, 2, 2] => 2,
        [1, 1, 2, 2] => {
            if x == 1 {
                3
            } else {
                4
            }
        }
        [1, 1, 1, 3] => 5,
        [2, 2, 2, 2] => 6,
        [1, 2, 2, 3] => match (x, y) {
            (1, 3) => 7,
            (2, 3) => 8,
            _ => 9,
        },
        [2, 2, 3, 3] => {
            if x == 3 {
                10
            } else {
                11
            }
        }
        [3, 3, 3, 3] => 12,
        other => panic!("no connected graphlet has degrees {other:?}"),
    }
}

/// Node orbit in ORCA's numbering.
fn node_orbit(degrees: &[usize], a: usize) -> usize {
    let d = degrees[a];
    match sorted(degrees).as_slice() {
        [1, 1] => 0,
        [1, 1, 2] => d,
        [2, 2, 2] => 3,
        [1, 1, 2, 2] => {
            if d == 1 {
                4
            } else {
                5
            }
        }
        [1, 1, 1, 3] => {
            if d == 1 {
                6
            } else {
                7
            }
        }
        [2, 2, 2, 2] => 8,
        [1, 2, 2, 3] => 8 + d,
        [2, 2, 3, 3] => {
            if d == 2 {
                12
            } else {
                13
            }
        }
        [3, 3, 3, 3] => 14,
        other => panic!("no connected graphlet has degrees {other:?}"),
    }
}

fn graphlet(degrees: &[usize]) -> usize {
    let all: [&[usize]; 9] = [
        &[1, 1],
        &[1, 1, 2],
        &[2, 2, 2],
        &[1, 1, 2, 2],
        &[1, 1, 1, 3],
        &[2, 2, 2, 2],
        &[1, 2, 2, 3],
        &[2, 2, 3, 3],
        &[3, 3, 3, 3],
    ];
    all.iter()
        .position(|g| *g == sorted(degrees))
        .expect("a graphlet")
}

fn sorted(degrees: &[usize]) -> Vec<usize> {
    let mut sorted = degrees.to_vec();
    sorted.sort_unstable();
    sorted
}

fn connected(nodes: &[usize], adjacent: &[Vec<bool>]) -> bool {
    let mut seen = vec![nodes[0]];
    let mut at = 0;
    while at < seen.len() {
        let here = seen[at];
        at += 1;
        for &w in nodes {
            if adjacent[here][w] && !seen.contains(&w) {
                seen.push(w);
            }
        }
    }
    seen.len() == nodes.len()
}

/// Counts by enumeration, direction ignored.
pub(crate) fn enumerate(n: usize, edges: &[(u32, u32)]) -> Truth {
    let mut adjacent = vec![vec![false; n]; n];
    for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
        adjacent[u as usize][v as usize] = true;
        adjacent[v as usize][u as usize] = true;
    }
    let mut truth = Truth {
        edges: BTreeMap::new(),
        nodes: vec![[0; 15]; n],
        graphlets: [0; 9],
    };
    for a in 0..n {
        for b in a + 1..n {
            visit(&[a, b], &adjacent, &mut truth);
            for c in b + 1..n {
                visit(&[a, b, c], &adjacent, &mut truth);
                for d in c + 1..n {
                    visit(&[a, b, c, d], &adjacent, &mut truth);
                }
            }
        }
    }
    truth
}

fn visit(nodes: &[usize], adjacent: &[Vec<bool>], truth: &mut Truth) {
    if !connected(nodes, adjacent) {
        return;
    }
    let degrees: Vec<usize> = nodes
        .iter()
        .map(|&u| nodes.iter().filter(|&&w| adjacent[u][w]).count())
        .collect();
    truth.graphlets[graphlet(&degrees)] += 1;
    for (a, &u) in nodes.iter().enumerate() {
        truth.nodes[u][node_orbit(&degrees, a)] += 1;
        for (b, &v) in nodes.iter().enumerate().filter(|&(_, &v)| adjacent[u][v]) {
            truth.edges.entry((u as u32, v as u32)).or_insert([0; 13])
                [edge_orbit(&degrees, a, b)] += 1;
        }
    }
}

/// A random graph as a list of pairs, some in both directions.
pub(crate) fn random_edges(rng: &mut impl Rng, n: usize, density: f64) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for u in 0..n as u32 {
        for v in 0..n as u32 {
            if u != v && rng.random::<f64>() < density / 2.0 {
                edges.push((u, v));
            }
        }
    }
    edges
}

pub(crate) fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

pub(crate) fn undirected(n: usize, edges: &[(u32, u32)]) -> Graph {
    GraphBuilder::undirected(n)
        .edges(edges.to_vec())
        .build()
        .expect("a graph")
}

pub(crate) fn directed(n: usize, edges: &[(u32, u32)]) -> Graph {
    GraphBuilder::directed(n)
        .edges(edges.to_vec())
        .build()
        .expect("a graph")
}
