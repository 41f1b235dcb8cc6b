//! Roles: planted ones are found and named; no dependence on node order, threads or small changes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use hone::Silent;
use hone::graph::{Graph, GraphBuilder, ReadOptions, builtin, read};
use hone::output::{Batch, Existing};
use hone::random::Key;
use hone_explore::{RoleOptions, Roles};
use rand_xoshiro::rand_core::Rng;

use crate::planted::{Design, planted};

fn find(graph: &Graph) -> Roles {
    RoleOptions::default().find(graph, &Silent).expect("roles")
}

/// The adjusted Rand index, by its definition over pairs of groups.
fn rand_index<A: std::hash::Hash + Eq + Copy, B: std::hash::Hash + Eq + Copy>(
    a: &[A],
    b: &[B],
) -> f64 {
    let pairs = |n: usize| n as f64 * (n as f64 - 1.0) / 2.0;
    let mut both: HashMap<(A, B), usize> = HashMap::new();
    let (mut rows, mut columns) = (HashMap::new(), HashMap::new());
    for (&x, &y) in a.iter().zip(b) {
        *both.entry((x, y)).or_default() += 1;
        *rows.entry(x).or_insert(0usize) += 1;
        *columns.entry(y).or_insert(0usize) += 1;
    }
    let together: f64 = both.values().map(|&n| pairs(n)).sum();
    let (r, c): (f64, f64) = (
        rows.values().map(|&n| pairs(n)).sum(),
        columns.values().map(|&n| pairs(n)).sum(),
    );
    let expected = r * c / pairs(a.len());
    let most = (r + c) / 2.0;
    if most == expected {
        1.0
    } else {
        (together - expected) / (most - expected)
    }
}

#[test]
fn planted_roles_are_found_and_named() {
    let designs = [
        Design {
            stars: 20,
            cliques: 20,
            chains: 20,
            bridges: 10,
        },
        Design {
            stars: 40,
            cliques: 10,
            chains: 12,
            bridges: 0,
        },
        Design {
            stars: 10,
            cliques: 30,
            chains: 25,
            bridges: 20,
        },
        Design {
            stars: 15,
            cliques: 15,
            chains: 0,
            bridges: 10,
        },
        Design {
            stars: 0,
            cliques: 30,
            chains: 30,
            bridges: 10,
        },
    ];
    for (seed, design) in designs.iter().enumerate() {
        let planted = planted(design, seed as u64);
        let found = find(&planted.graph);
        let index = rand_index(&planted.words, &found.assignments());
        let names: Vec<&str> = found.roles.iter().map(|role| role.name.as_str()).collect();
        assert!(index >= 0.95, "design {seed}: {index} with {names:?}");
        for word in planted.words.iter().collect::<HashSet<_>>() {
            assert!(
                names.iter().any(|name| name.starts_with(word)),
                "design {seed}: no {word} in {names:?}"
            );
        }
    }
}

#[test]
fn memberships_sum_to_one_and_roles_count_all_nodes() {
    for name in ["karate", "florentine", "barbell", "grid", "star"] {
        let graph = builtin(name).expect("built in");
        let found = find(&graph);
        for node in 0..graph.nodes() as u32 {
            let sum: f32 = found.memberships(node).iter().sum();
            assert!((sum - 1.0).abs() < 1e-5, "{name} {node}: {sum}");
        }
        assert_eq!(
            found.roles.iter().map(|role| role.nodes).sum::<usize>(),
            graph.nodes(),
            "{name}"
        );
        assert!(
            found
                .roles
                .iter()
                .all(|role| role.exemplars.len() == role.nodes.min(3)),
            "{name}"
        );
    }
}

#[test]
fn the_order_of_nodes_and_the_threads_change_no_bit() {
    let graph = planted(
        &Design {
            stars: 6,
            cliques: 6,
            chains: 4,
            bridges: 4,
        },
        3,
    )
    .graph;
    let n = graph.nodes();
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut rng = Key::new(5).rng();
    (1..n).for_each(|i| order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize));
    let edges: Vec<(u32, u32)> = (0..n as u32)
        .flat_map(|i| graph.neighbors(i).iter().map(move |&j| (i, j)))
        .filter(|(i, j)| i < j)
        .map(|(i, j)| (order[i as usize], order[j as usize]))
        .collect();
    let renamed = GraphBuilder::undirected(n)
        .edges(edges)
        .build()
        .expect("the same graph");
    let one = find(&graph);
    let other = find(&renamed);
    for node in 0..n as u32 {
        assert_eq!(
            one.memberships(node),
            other.memberships(order[node as usize]),
            "{node}"
        );
    }
    let names = |found: &Roles| {
        found
            .roles
            .iter()
            .map(|role| role.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&one), names(&other));
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        let again = pool.install(|| find(&graph));
        assert!(
            (0..n as u32).all(|node| one.memberships(node) == again.memberships(node)),
            "{threads} threads"
        );
        assert_eq!(one.roles, again.roles, "{threads} threads");
    }
}

#[test]
fn scores_and_affinity_are_those_of_their_definitions() {
    let graph = builtin("karate").expect("built in");
    let found = RoleOptions {
        roles: Some(3),
        ..RoleOptions::default()
    }
    .find(&graph, &Silent)
    .expect("roles");
    assert_eq!(found.roles.len(), 3);
    let own = found.assignments();
    let n = graph.nodes();
    for (k, role) in found.roles.iter().enumerate() {
        let members: Vec<usize> = (0..n).filter(|&i| own[i] as usize == k).collect();
        assert_eq!(members.len(), role.nodes);
        for (m, score) in role.motifs.iter().enumerate() {
            let logs: Vec<f64> = found
                .counts()
                .iter()
                .map(|counts| (counts[m] as f64).ln_1p())
                .collect();
            let mean = logs.iter().sum::<f64>() / n as f64;
            let deviation =
                (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
            let inside = members.iter().map(|&i| logs[i]).sum::<f64>() / members.len() as f64;
            let z = if deviation > 0.0 {
                (inside - mean) / deviation
            } else {
                0.0
            };
            assert!((score.z - z).abs() < 1e-9, "{} {}", role.name, score.motif);
        }
        for (l, &ratio) in found.affinity[k].iter().enumerate() {
            let links = |a: usize, b: usize| {
                let from = (0..n as u32).filter(|&i| own[i as usize] as usize == a);
                from.flat_map(|i| graph.neighbors(i))
                    .filter(|&&j| own[j as usize] as usize == b)
                    .count() as f64
            };
            let volume = |a: usize| (0..3).map(|b| links(a, b)).sum::<f64>();
            let expected = volume(k) * volume(l) / (2 * graph.edges()) as f64;
            assert!((ratio - links(k, l) / expected).abs() < 1e-9, "{k} {l}");
        }
    }
}

#[test]
fn explanations_have_two_sentences_and_reasons_that_differ() {
    let planted = planted(
        &Design {
            stars: 10,
            cliques: 10,
            chains: 8,
            bridges: 4,
        },
        1,
    );
    let found = find(&planted.graph);
    for node in (0..planted.graph.nodes() as u32).step_by(7) {
        let why = found.explain(node, "n");
        assert!((1..=3).contains(&why.reasons.len()), "{}", why.text);
        let shown = |x: f64| (100.0 * x).round();
        let differs = |r: &hone_explore::Reason| shown(r.value) != shown(r.average);
        assert!(why.reasons.iter().all(differs), "{}", why.text);
        assert_eq!(why.text.matches(". ").count(), 1, "{}", why.text);
        assert!(
            why.text.ends_with('.') && why.text.starts_with("n is "),
            "{}",
            why.text
        );
        assert!(
            why.otherwise
                .as_ref()
                .is_some_and(|other| other.role != why.role),
            "{}",
            why.text
        );
        assert_eq!(why.role, found.roles[found.role_of(node)].name);
    }
}

/// Nodes without neighbours are isolated whatever the others are, nobody is said to have what it cannot have, and averages are
/// those of the graph.
#[test]
fn reasons_are_true() {
    let karate = builtin("karate").expect("built in");
    let edges = (0..34u32)
        .flat_map(|i| karate.neighbors(i).iter().map(move |&j| (i, j)))
        .filter(|(i, j)| i < j);
    let graph = GraphBuilder::undirected(37)
        .edges(edges.collect())
        .build()
        .expect("karate and three more");
    let found = find(&graph);
    for node in 34..37 {
        let why = found.explain(node, "n");
        assert_eq!(
            (why.role.as_str(), why.membership, &why.otherwise),
            ("isolated", 1.0, &None)
        );
        let text = "n is isolated (100 %) because it has no neighbours (average 4.2). Any edge would have given it another role.";
        assert_eq!(why.text, text);
    }
    assert!((0..34).all(|node| found.roles[found.role_of(node)].name != "isolated"));
    let leaf = found.explain(11, "n");
    assert!(
        leaf.reasons
            .iter()
            .all(|reason| !["closed-pairs", "cliques"].contains(&reason.ratio)),
        "{}",
        leaf.text
    );
    let hub = find(&karate).explain(0, "n");
    let degree = hub
        .reasons
        .iter()
        .find(|reason| reason.ratio == "degree")
        .expect("a hub has many neighbours");
    assert!(
        (degree.average - 156.0 / 34.0).abs() < 1e-9 && degree.value == 16.0,
        "{}",
        hub.text
    );
    let twelve = RoleOptions {
        roles: Some(12),
        ..RoleOptions::default()
    }
    .find(&karate, &Silent)
    .expect("roles");
    assert!(
        twelve.roles.iter().all(|role| role.nodes > 0),
        "{:?}",
        twelve.roles
    );
}

#[test]
fn tiny_graphs_and_nodes_without_edges() {
    for nodes in 1..4 {
        let graph = GraphBuilder::undirected(nodes)
            .edges(vec![])
            .build()
            .expect("no edges");
        let found = find(&graph);
        assert_eq!(
            (found.roles.len(), found.roles[0].name.as_str()),
            (1, "isolated")
        );
        assert_eq!(found.affinity, [[0.0]]);
        assert_eq!(found.explain(0, "a").otherwise, None);
    }
    let pair = GraphBuilder::undirected(2)
        .edges(vec![(0, 1)])
        .build()
        .expect("an edge");
    assert_eq!(find(&pair).roles.len(), 1);
    let empty = GraphBuilder::undirected(0)
        .edges(vec![])
        .build()
        .expect("nothing");
    let error = RoleOptions::default()
        .find(&empty, &Silent)
        .expect_err("no nodes")
        .to_string();
    assert!(error.contains("no nodes"), "{error}");
    for roles in [0, 13] {
        let options = RoleOptions {
            roles: Some(roles),
            ..RoleOptions::default()
        };
        assert!(options.find(&pair, &Silent).is_err(), "{roles}");
    }
}

/// The graph with one edge in a hundred replaced by a random one.
fn shaken(graph: &Graph, seed: u64) -> Graph {
    let mut rng = Key::new(seed).with("shaken", 0).rng();
    let n = graph.nodes() as u32;
    let mut edges: Vec<(u32, u32)> = (0..n)
        .flat_map(|i| graph.neighbors(i).iter().map(move |&j| (i, j)))
        .filter(|(i, j)| i < j)
        .collect();
    for _ in 0..edges.len() / 100 {
        let at = (rng.next_u64() % edges.len() as u64) as usize;
        edges[at] = (
            (rng.next_u64() % u64::from(n)) as u32,
            (rng.next_u64() % u64::from(n)) as u32,
        );
    }
    GraphBuilder::undirected(n as usize)
        .edges(edges)
        .build()
        .expect("a graph")
}

#[test]
fn a_few_changed_edges_change_few_roles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    for name in ["cora", "soc-wiki-Vote", "rt-twitter-copen"] {
        let path = folder.join(format!("{name}.edges"));
        if !path.is_file() {
            println!("skipped: {} is not there", path.display());
            continue;
        }
        let text = path.to_str().expect("a plain path");
        let graph = read(text, &ReadOptions::default(), &Silent).expect("readable");
        let own = find(&graph).assignments();
        let index = |seed: u64| rand_index(&own, &find(&shaken(&graph, seed)).assignments());
        let all = [1, 2, 3].map(index);
        assert!(all.iter().sum::<f64>() / 3.0 >= 0.9, "{name}: {all:?}");
    }
}

#[test]
fn tables_hold_names_and_memberships() {
    let folder = tempfile::tempdir().expect("a folder");
    let graph = builtin("star").expect("built in");
    let found = find(&graph);
    let write = |name: &str| {
        let mut batch = Batch::new(Existing::Refuse);
        found.add_to(
            &mut batch,
            &folder.path().join(name),
            graph.ids(),
            false,
            &Silent,
        )?;
        batch.commit()
    };
    write("roles.csv").expect("written");
    let text = std::fs::read_to_string(folder.path().join("roles.csv")).expect("text");
    assert!(text.starts_with("id,role,membership,star leaf"), "{text}");
    assert_eq!(text.lines().count(), graph.nodes() + 1);
    assert!(write("x.npy").is_err());
}

/// Hubs are few, and a role that holds them beside ordinary nodes has no true name.
#[test]
fn hubs_of_small_graphs_are_called_so() {
    let cases: [(&str, &[&str], &str); 2] = [
        ("karate", &["0", "33"], "hub"),
        ("florentine", &["Medici"], "star centre"),
    ];
    for (name, hubs, word) in cases {
        let graph = builtin(name).expect("built in");
        let found = find(&graph);
        let index = graph.ids().index();
        let names: Vec<&str> = found.roles.iter().map(|role| role.name.as_str()).collect();
        for id in hubs {
            let node = index.find(id).expect("a node");
            assert_eq!(
                names[found.role_of(node)],
                word,
                "{name}: {id} among {names:?}"
            );
        }
        let hub = found
            .roles
            .iter()
            .find(|role| role.name == word)
            .expect("found above");
        assert!(hub.nodes <= 3 * hubs.len(), "{name}: {} hubs", hub.nodes);
        // A number that is requested is kept.
        let two = RoleOptions {
            roles: Some(2),
            ..RoleOptions::default()
        }
        .find(&graph, &Silent)
        .expect("roles");
        assert_eq!(two.roles.len(), 2);
    }
    // No node of a grid stands out.
    assert!(
        find(&builtin("grid").expect("built in"))
            .roles
            .iter()
            .all(|role| role.name != "hub")
    );
}

/// Groups that are given up while a mixture is fitted are made up for: a number that is asked for is kept.
#[test]
fn as_many_roles_as_asked_for() {
    let graph = planted(
        &Design {
            stars: 5,
            cliques: 5,
            chains: 5,
            bridges: 5,
        },
        3,
    )
    .graph;
    for wanted in 1..=hone_explore::MOST_ROLES {
        let options = RoleOptions {
            roles: Some(wanted),
            ..RoleOptions::default()
        };
        let found = options.find(&graph, &Silent).expect("roles");
        assert_eq!(found.roles.len(), wanted);
        assert!(found.roles.iter().all(|role| role.nodes > 0), "{wanted}");
        let sizes: Vec<usize> = found.roles.iter().map(|role| role.nodes).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b) || wanted < 5, "{sizes:?}");
    }
}

/// No more roles than the nodes differ: a number that cannot be is refused.
#[test]
fn more_roles_than_different_neighbourhoods_are_refused() {
    let with = |graph: &Graph, roles: usize| {
        let options = RoleOptions {
            roles: Some(roles),
            ..RoleOptions::default()
        };
        options.find(graph, &Silent)
    };
    let star = |isolated: usize| {
        GraphBuilder::undirected(6 + isolated)
            .edges((1..6).map(|v| (0, v)).collect())
            .build()
            .expect("a star")
    };
    for (graph, kinds) in [(star(0), 2), (star(1), 3), (star(2), 3)] {
        for roles in 1..=kinds {
            assert_eq!(with(&graph, roles).expect("roles").roles.len(), roles);
        }
        let error = with(&graph, kinds + 1).expect_err("too many").to_string();
        let expected = format!(
            "roles: {} is too many: nodes have only {kinds} different neighbourhoods in this graph",
            kinds + 1
        );
        assert_eq!(error, expected);
    }
    let found = with(&star(2), 3).expect("roles");
    assert_eq!(found.assignments(), [2, 0, 0, 0, 0, 0, 1, 1]);
    let ring = GraphBuilder::undirected(9)
        .edges((0..9).map(|v| (v, (v + 1) % 9)).collect())
        .build()
        .expect("a ring");
    let error = with(&ring, 2).expect_err("one kind").to_string();
    assert!(
        error.contains("all nodes have the same neighbourhood"),
        "{error}"
    );
}
