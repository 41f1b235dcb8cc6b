//! What would have given a node another role: changes that are possible and keep their promise; ratios of known nodes.

use std::collections::BTreeSet;

use hone::Silent;
use hone::graph::{Graph, GraphBuilder, builtin};
use hone::random::Key;
use hone_explore::{RATIOS, RoleOptions, Roles};
use rand_xoshiro::rand_core::Rng;

/// The ratios of directions are those from here on.
const DIRECTIONS: usize = 6;

fn find(graph: &Graph) -> Roles {
    RoleOptions::default().find(graph, &Silent).expect("roles")
}

/// Payments: some accounts receive most of them, and some are paid back.
fn payments(directed: bool) -> Graph {
    let mut rng = Key::new(4).rng();
    let mut part = || rng.next_u64() as f64 / u64::MAX as f64;
    let mut arcs = Vec::new();
    for i in 0..400u32 {
        for _ in 0..[1, 1, 2, 3, 5, 8][(6.0 * part()) as usize % 6] {
            let j = (399.0 * part().powf(2.2)) as u32;
            arcs.extend((i != j).then_some((i, j)));
            arcs.extend((i != j && part() < 0.3).then_some((j, i)));
        }
    }
    let builder = if directed {
        GraphBuilder::directed(400)
    } else {
        GraphBuilder::undirected(400)
    };
    builder.edges(arcs).build().expect("payments")
}

/// Stars whose centres pay most of their leaves, are paid by most of them, or both.
fn stars() -> Graph {
    let mut rng = Key::new(5).rng();
    let (mut arcs, mut nodes) = (Vec::new(), 0);
    for star in 0..60 {
        let centre = nodes;
        nodes += 8 + star % 3;
        for leaf in centre + 1..nodes {
            let kind = if rng.next_u64().is_multiple_of(6) {
                rng.next_u64() as u32
            } else {
                star
            } % 3;
            arcs.extend((kind != 1).then_some((centre, leaf)));
            arcs.extend((kind != 0).then_some((leaf, centre)));
        }
    }
    let builder = GraphBuilder::directed(nodes as usize).edges(arcs);
    builder.build().expect("stars")
}

fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() < 1e-6
}

/// Whether a node can have these ratios: whole neighbours, pairs, triples and arcs, and shares that leave room for each other.
fn is_possible(ratios: &[f64; 8]) -> bool {
    let [k, around, closed, open, _, cliques, out, into] = *ratios;
    let (pairs, triples) = (k * (k - 1.0) / 2.0, k * (k - 1.0) * (k - 2.0) / 6.0);
    let shares = [closed, open, cliques, out, into];
    let linked = if k > 1.0 {
        (closed + open - 1.0).abs() < 1e-9
    } else {
        closed + open + cliques == 0.0
    };
    shares
        .iter()
        .all(|share| (-1e-9..=1.0 + 1e-9).contains(share))
        && [k, pairs * closed, k * out, k * into]
            .into_iter()
            .all(is_whole)
        && is_whole(triples * cliques)
        && k >= 1.0
        && around >= 1.0
        && linked
        && out + into < 1.0 + 1e-9
        && cliques * triples <= (2.0 * closed * pairs).powf(1.5) / 6.0 + 1e-6
}

/// The role that a node would have otherwise, its ratios then, and the ratio that was changed first.
fn otherwise(found: &Roles, node: u32) -> Option<(usize, [f64; 8], usize)> {
    let other = found.explain(node, "n").otherwise?;
    let role = found.roles.iter().position(|role| role.name == other.role);
    let place = |ratio| {
        RATIOS
            .iter()
            .position(|name| *name == ratio)
            .expect("a ratio")
    };
    let mut ratios = found.ratios(node);
    for change in &other.changes {
        ratios[place(change.ratio)] = change.value;
    }
    let first = other.changes.first()?;
    Some((role.expect("a role"), ratios, place(first.ratio)))
}

#[test]
fn changes_are_possible_and_keep_their_promise() {
    let graphs = [
        builtin("karate").expect("built in"),
        builtin("florentine").expect("built in"),
        payments(false),
        payments(true),
        stars(),
    ];
    for graph in graphs {
        let found = find(&graph);
        let mut changed = 0;
        for node in 0..graph.nodes() as u32 {
            let now = found.ratios(node);
            let Some((role, ratios, first)) = otherwise(&found, node) else {
                continue;
            };
            changed += 1;
            assert!(
                role != found.role_of(node) && ratios[first] != now[first],
                "{node}"
            );
            assert!(is_possible(&ratios), "{node}: {now:?} to {ratios:?}");
            assert_eq!(found.role_with(&ratios), role, "{node}: {ratios:?}");
            assert!(found.explain(node, "n").text.contains("It would have been"));
        }
        assert!(
            2 * changed > graph.nodes(),
            "{changed} of {}",
            graph.nodes()
        );
    }
}

/// Arcs are turned around, added and removed as the change says: the ratios are those of the change then.
#[test]
fn changed_arcs_give_the_promised_ratios() {
    let graph = stars();
    let (found, whole) = (find(&graph), graph.underlying());
    let n = graph.nodes() as u32;
    let arcs: BTreeSet<(u32, u32)> = (0..n)
        .flat_map(|i| graph.neighbors(i).iter().map(move |&j| (i, j)))
        .collect();
    let mut tried = 0;
    for node in 0..n {
        let change = otherwise(&found, node).filter(|change| change.2 >= DIRECTIONS);
        let Some((_, ratios, _)) = change.filter(|_| tried < 40) else {
            continue;
        };
        tried += 1;
        let all = whole.neighbors(node);
        let count = |share: f64| (share * all.len() as f64).round() as usize;
        let (out, into) = (count(ratios[6]), count(ratios[7]));
        let mut arcs = arcs.clone();
        arcs.retain(|&(i, j)| i != node && j != node);
        for (at, &other) in all.iter().enumerate() {
            arcs.extend((at < out || at >= out + into).then_some((node, other)));
            arcs.extend((at >= out).then_some((other, node)));
        }
        let builder = GraphBuilder::directed(n as usize).edges(arcs.into_iter().collect());
        let turned = find(&builder.build().expect("the same neighbours")).ratios(node);
        let both = turned.iter().zip(ratios);
        assert!(
            both.clone().all(|(a, b)| (a - b).abs() < 1e-9),
            "{node}: {turned:?} {ratios:?}"
        );
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn ratios_of_known_nodes() {
    // A star of five, a clique of five, a node alone; arcs from the centre to two leaves, from one, and both ways with two.
    let star = [(0, 1), (0, 2), (3, 0), (0, 4), (4, 0), (0, 5), (5, 0)];
    let clique = (6..11u32).flat_map(|i| (6..i).flat_map(move |j| [(i, j), (j, i)]));
    let arcs = star.into_iter().chain(clique).collect();
    let graph = GraphBuilder::directed(12).edges(arcs).build();
    let found = find(&graph.expect("in range"));
    let cases = [
        (0, [5.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.4, 0.2]),
        (1, [1.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        (3, [1.0, 5.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        (6, [4.0, 4.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        (11, [0.0; 8]),
    ];
    for (node, expected) in cases {
        let ratios = found.ratios(node);
        let mut both = ratios.iter().zip(expected);
        assert!(
            both.all(|(a, b)| (a - b).abs() < 1e-9),
            "{node}: {ratios:?}"
        );
    }
}
