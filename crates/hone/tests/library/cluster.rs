//! Motif clusters against occurrences listed one by one, and the least conductance of all cuts.

use hone::Silent;
use hone::cluster::{MotifCluster, MotifClusters};
use hone::graph::{Graph, GraphBuilder, builtin};
use hone::motif::Motif;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn built(directed: bool, n: usize, edges: Vec<(u32, u32)>) -> Graph {
    let builder = match directed {
        true => GraphBuilder::directed(n),
        false => GraphBuilder::undirected(n),
    };
    builder.edges(edges).build().expect("a graph")
}

/// Sets of nodes that are occurrences, by looking at all of them: the arcs among three or four nodes, sorted by
/// (out-degree, in-degree), tell these motifs apart.
fn occurrences(graph: &Graph, motif: &str) -> Vec<Vec<usize>> {
    let wanted: &[(usize, usize)] = match motif {
        "edge" => &[(1, 1), (1, 1)],
        "path3" => &[(1, 1), (1, 1), (2, 2)],
        "triangle" => &[(2, 2), (2, 2), (2, 2)],
        "cycle4" => &[(2, 2), (2, 2), (2, 2), (2, 2)],
        "clique4" => &[(3, 3), (3, 3), (3, 3), (3, 3)],
        "030C" | "M1" => &[(1, 1), (1, 1), (1, 1)],
        "M2" => &[(1, 1), (1, 2), (2, 1)],
        "M3" => &[(1, 2), (2, 1), (2, 2)],
        "M4" => &[(2, 2), (2, 2), (2, 2)],
        "030T" | "M5" => &[(0, 2), (1, 1), (2, 0)],
        "M6" => &[(1, 2), (1, 2), (2, 0)],
        "120U" | "M7" => &[(0, 2), (2, 1), (2, 1)],
        other => panic!("{other} has no description here"),
    };
    let n = graph.nodes();
    let mut found = Vec::new();
    for set in 0u32..1 << n {
        let nodes: Vec<usize> = (0..n).filter(|node| set >> node & 1 == 1).collect();
        if nodes.len() != wanted.len() {
            continue;
        }
        let arc = |u: usize, v: usize| u != v && graph.has_edge(u as u32, v as u32);
        let degrees = nodes.iter().map(|&u| {
            let out = nodes.iter().filter(|&&v| arc(u, v)).count();
            (out, nodes.iter().filter(|&&v| arc(v, u)).count())
        });
        let mut degrees: Vec<(usize, usize)> = degrees.collect();
        degrees.sort_unstable();
        if degrees == wanted {
            found.push(nodes);
        }
    }
    found
}

/// Cut and volumes of a set of nodes, and of the rest of `whole`.
fn cut(occurrences: &[Vec<usize>], whole: &[bool], set: &dyn Fn(usize) -> bool) -> (f64, f64, f64) {
    let (mut cut, mut volumes) = (0.0, [0.0, 0.0]);
    for nodes in occurrences.iter().filter(|nodes| whole[nodes[0]]) {
        for &u in nodes {
            volumes[usize::from(set(u))] += nodes.len() as f64 - 1.0;
        }
        let inside = nodes.iter().filter(|&&u| set(u)).count();
        cut += (inside * (nodes.len() - inside)) as f64;
    }
    (cut, volumes[1], volumes[0])
}

/// The largest set of nodes that are linked by occurrences, the first of several.
fn largest(n: usize, occurrences: &[Vec<usize>]) -> Vec<bool> {
    let mut label: Vec<usize> = (0..n).collect();
    for _ in 0..n {
        for nodes in occurrences {
            let least = nodes.iter().map(|&u| label[u]).min().expect("nodes");
            nodes.iter().for_each(|&u| label[u] = least);
        }
    }
    let size = |of: usize| label.iter().filter(|&&other| other == of).count();
    let best = (0..n).max_by_key(|&of| (size(of), n - of)).expect("nodes");
    label.iter().map(|&other| other == best).collect()
}

fn check(found: &MotifCluster, occurrences: &[Vec<usize>], whole: &[bool]) {
    let set = |u: usize| found.nodes.contains(&(u as u32));
    let (cut, volume, rest) = cut(occurrences, whole, &set);
    assert_eq!(
        (found.cut, found.volume, found.rest),
        (cut, volume, rest),
        "{found:?}"
    );
    assert_eq!(found.conductance, cut / volume.min(rest));
    assert_eq!(found.surrogate, occurrences[0].len() == 4);
    assert!(found.nodes.is_sorted() && volume > 0.0 && rest > 0.0);
}

/// Conductance is that of the definition; no cut has less than Cheeger's inequality allows, and on most of these small graphs none
/// has less at all.
#[test]
fn cuts_are_as_good_as_the_best_of_all() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut optimal, mut all) = (0, 0);
    for round in 0..60 {
        let directed = round % 2 == 1;
        let n = rng.random_range(5..11);
        let pair = |rng: &mut Xoshiro256PlusPlus| (rng.random_range(0..n), rng.random_range(0..n));
        let edges = (0..3 * n).map(|_| pair(&mut rng)).collect();
        let graph = built(directed, n as usize, edges);
        let motifs: &[&str] = match directed {
            true => &["030T", "030C", "120U"],
            false => &["edge", "path3", "triangle", "cycle4", "clique4"],
        };
        for name in motifs {
            let motif: Motif = name.parse().expect("a motif");
            let list = occurrences(&graph, name);
            let clusters = MotifClusters::new(&graph, motif, &Silent);
            if list.is_empty() {
                let error = clusters.expect_err("refused").to_string();
                assert!(error.contains("does not occur"), "{error}");
                continue;
            }
            let (clusters, whole) = (clusters.expect("it occurs"), largest(n as usize, &list));
            let found = clusters.spectral(&Silent).expect("a cut");
            check(&found, &list, &whole);
            let sets =
                (1u32..1 << n).filter(|set| (0..n).all(|u| set >> u & 1 == 0 || whole[u as usize]));
            let least = sets.map(|set| {
                let (cut, volume, rest) = cut(&list, &whole, &|u| set >> u & 1 == 1);
                if volume * rest > 0.0 {
                    cut / volume.min(rest)
                } else {
                    f64::INFINITY
                }
            });
            let least = least.fold(f64::INFINITY, f64::min);
            assert!(least <= found.conductance && found.conductance <= 2.0 * least.sqrt());
            optimal += u32::from(found.conductance == least);
            all += 1;
            let everything = vec![true; n as usize];
            for node in 0..n {
                match clusters.local(node, &Silent) {
                    Ok(found) => check(&found, &list, &everything),
                    Err(_) => assert!(list.iter().all(|nodes| !nodes.contains(&(node as usize)))),
                }
            }
        }
    }
    assert!(all > 100 && 2 * optimal > all, "{optimal} of {all}");
}

/// Motif conductance as the paper defines it: occurrences that are cut, over the ends of occurrences on the side that has fewer.
fn motif_conductance(occurrences: &[Vec<usize>], set: &dyn Fn(usize) -> bool) -> Option<f64> {
    let inside = |nodes: &[usize]| nodes.iter().filter(|&&u| set(u)).count();
    let cut = occurrences
        .iter()
        .filter(|nodes| (1..nodes.len()).contains(&inside(nodes)));
    let ends: usize = occurrences.iter().map(Vec::len).sum();
    let own: usize = occurrences.iter().map(|nodes| inside(nodes)).sum();
    let fewer = own.min(ends - own);
    (fewer > 0).then(|| cut.count() as f64 / fewer as f64)
}

/// The least motif conductance of all sets of nodes.
fn least(n: usize, occurrences: &[Vec<usize>]) -> f64 {
    let sets =
        (1u32..1 << n).filter_map(|set| motif_conductance(occurrences, &|u| set >> u & 1 == 1));
    sets.fold(f64::INFINITY, f64::min)
}

/// Figure 1 of Benson, Gleich and Leskovec (2016): by M7, nodes 1 to 5 are apart from 6 to 10. One occurrence is cut, and the sides
/// have 10 and 8 ends of occurrences. No cut of the graph is better.
#[test]
fn the_example_of_the_paper() {
    let arcs: Vec<(u32, u32)> = vec![
        (1, 2),
        (1, 3),
        (1, 4),
        (1, 5),
        (1, 6),
        (2, 1),
        (2, 3),
        (2, 4),
        (2, 5),
        (6, 2),
        (6, 7),
        (7, 2),
        (7, 6),
        (8, 2),
        (8, 6),
        (8, 9),
        (8, 10),
        (9, 6),
        (9, 7),
        (9, 8),
        (9, 10),
    ];
    let arcs = arcs.into_iter().map(|(u, v)| (u - 1, v - 1)).collect();
    let graph = built(true, 10, arcs);
    let list = occurrences(&graph, "M7");
    let clusters = MotifClusters::new(&graph, "M7".parse().expect("a motif"), &Silent);
    let found = clusters
        .expect("it occurs")
        .spectral(&Silent)
        .expect("a cut");
    assert_eq!((found.conductance, least(10, &list)), (0.125, 0.125));
    assert_eq!(
        motif_conductance(&list, &|u| found.nodes.contains(&(u as u32))),
        Some(0.125)
    );
    assert_eq!(found.nodes, [5, 6, 7, 8, 9]);
    // W has twice the ends of the occurrences: each has two others beside it.
    assert_eq!((found.cut, found.volume, found.rest), (2.0, 16.0, 20.0));
}

/// Two pairs of occurrences that share a node, and one occurrence between the pairs: the cut is the best of all, for each of the
/// paper's M1 to M7.
#[test]
fn each_motif_of_the_paper_is_cut_best() {
    let planted: [(&str, &[(u32, u32)]); 7] = [
        ("M1", &[(0, 1), (1, 2), (2, 0)]),
        ("M2", &[(0, 1), (1, 0), (1, 2), (2, 0)]),
        ("M3", &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 0)]),
        ("M4", &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)]),
        ("M5", &[(0, 1), (1, 2), (0, 2)]),
        ("M6", &[(0, 1), (0, 2), (1, 2), (2, 1)]),
        ("M7", &[(0, 2), (1, 2), (0, 1), (1, 0)]),
    ];
    for (name, arcs) in planted {
        let triples = [[0, 1, 2], [2, 3, 4], [5, 6, 7], [7, 8, 9], [4, 5, 10]];
        let all = triples.iter().flat_map(|triple| {
            let node = |at: u32| triple[at as usize];
            arcs.iter().map(move |&(u, v)| (node(u), node(v)))
        });
        let graph = built(true, 11, all.collect());
        let list = occurrences(&graph, name);
        assert_eq!(list.len(), 5, "{name}");
        let clusters = MotifClusters::new(&graph, name.parse().expect("a motif"), &Silent);
        let found = clusters
            .expect("it occurs")
            .spectral(&Silent)
            .expect("a cut");
        let of =
            |found: &MotifCluster| motif_conductance(&list, &|u| found.nodes.contains(&(u as u32)));
        assert_eq!(of(&found), Some(found.conductance), "{name}");
        assert_eq!(found.conductance, least(11, &list), "{name}");
    }
}

/// Motifs of four nodes have a surrogate: at most 4/3 of the motif conductance, at least that.
#[test]
fn the_surrogate_is_near_the_motif_conductance() {
    let graph = builtin("karate").expect("built in");
    let quadruples = |arcs: &Graph| -> Vec<Vec<usize>> {
        let (n, mut found) = (arcs.nodes(), Vec::new());
        let linked = |u: usize, v: usize| arcs.has_edge(u as u32, v as u32);
        for a in 0..n {
            for b in (a + 1..n).filter(|&b| linked(a, b)) {
                for c in (b + 1..n).filter(|&c| linked(a, c) && linked(b, c)) {
                    let last = (c + 1..n).filter(|&d| [a, b, c].iter().all(|&u| linked(u, d)));
                    found.extend(last.map(|d| vec![a, b, c, d]));
                }
            }
        }
        found
    };
    let list = quadruples(&graph);
    assert_eq!(list.len(), 11);
    let clusters = MotifClusters::new(&graph, "clique4".parse().expect("a motif"), &Silent);
    let clusters = clusters.expect("it occurs");
    for node in 0..34 {
        let Ok(found) = clusters.local(node, &Silent) else {
            continue;
        };
        let exact = motif_conductance(&list, &|u| found.nodes.contains(&(u as u32)));
        let exact = exact.expect("occurrences on both sides");
        assert!(found.surrogate && exact <= found.conductance);
        assert!(found.conductance <= 4.0 / 3.0 * exact + 1e-12);
    }
}

#[test]
fn groups_of_triangles_are_found_around_every_node() {
    let graph = builtin("ring-of-cliques").expect("built in");
    let clusters = MotifClusters::new(&graph, "triangle".parse().expect("a motif"), &Silent);
    let clusters = clusters.expect("it occurs");
    for node in 0..30u32 {
        let found = clusters.local(node, &Silent).expect("a cluster");
        assert_eq!(
            found.nodes,
            (node / 5 * 5..node / 5 * 5 + 5).collect::<Vec<u32>>()
        );
        assert_eq!(found.conductance, 0.0);
    }
    let edges = MotifClusters::new(&graph, "edge".parse().expect("a motif"), &Silent);
    let found = edges.expect("edges").spectral(&Silent).expect("a cut");
    assert_eq!((found.nodes.len(), found.cut), (15, 2.0));
}

#[test]
fn what_has_no_clusters_is_said() {
    let refused = |graph: &Graph, motif: &str| {
        let found = MotifClusters::new(graph, motif.parse().expect("a motif"), &Silent);
        found.expect_err("refused").to_string()
    };
    for n in [0, 1, 3] {
        assert!(refused(&built(false, n, vec![]), "triangle").contains("does not occur"));
        assert!(refused(&built(true, n, vec![]), "030T").contains("does not occur"));
    }
    let path = built(true, 3, vec![(0, 1), (1, 2)]);
    assert!(refused(&path, "021C").contains("M1 to M7"));
    assert!(refused(&path, "030T-first").contains("M1 to M7"));
    assert!(refused(&built(false, 3, vec![(0, 1)]), "030T").contains("directed"));
    assert!(refused(&built(false, 3, vec![(0, 1)]), "path4-end").contains("path4"));
}
