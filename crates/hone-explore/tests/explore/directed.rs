//! Roles and maps of directed graphs: sources, sinks and brokers are told apart, and numbers are those of the arcs.

use std::collections::BTreeSet;

use hone::graph::{Graph, GraphBuilder};
use hone::random::Key;
use hone::{Config, Hone, Silent};
use hone_explore::{By, Layout, Map, RoleOptions, Roles, Space, Style};
use rand_xoshiro::rand_core::Rng;

fn find(graph: &Graph) -> Roles {
    RoleOptions::default().find(graph, &Silent).expect("roles")
}

/// Stars of three kinds: arcs from the centre, arcs to it, and both ways; without directions all are the same.
fn stars(each: u32) -> (Graph, Vec<&'static str>) {
    let (mut arcs, mut kinds) = (Vec::new(), Vec::new());
    for star in 0..3 * each {
        let centre = kinds.len() as u32;
        let leaves = 7 + star / 3 % 3;
        kinds.push(
            [
                "source star centre",
                "sink star centre",
                "mutual star centre",
            ][star as usize % 3],
        );
        for leaf in centre + 1..=centre + leaves {
            kinds.push(
                ["sink star leaf", "source star leaf", "mutual star leaf"][star as usize % 3],
            );
            arcs.extend((star % 3 != 1).then_some((centre, leaf)));
            arcs.extend((star % 3 != 0).then_some((leaf, centre)));
        }
    }
    (
        GraphBuilder::directed(kinds.len())
            .edges(arcs)
            .build()
            .expect("stars"),
        kinds,
    )
}

#[test]
fn directions_make_roles() {
    let (graph, kinds) = stars(60);
    let found = find(&graph);
    let names: Vec<&str> = found.roles.iter().map(|role| role.name.as_str()).collect();
    for (node, kind) in kinds.iter().enumerate() {
        assert_eq!(
            names[found.role_of(node as u32)],
            *kind,
            "node {node} of {names:?}"
        );
    }
    let without = find(&graph.underlying());
    assert_eq!(
        without.roles.len(),
        2,
        "two roles are left without directions"
    );
    assert!(
        without
            .roles
            .iter()
            .all(|role| role.out_degree.is_none() && role.ratios.len() == 6)
    );
    // Arcs that all have their reverse are edges.
    let both = (0..graph.nodes() as u32).flat_map(|i| {
        graph
            .neighbors(i)
            .iter()
            .flat_map(move |&j| [(i, j), (j, i)])
    });
    let both = find(
        &GraphBuilder::directed(graph.nodes())
            .edges(both.collect())
            .build()
            .expect("mutual arcs"),
    );
    let names = |roles: &Roles| {
        roles
            .roles
            .iter()
            .map(|role| role.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&both), names(&without));
}

/// Chains of arcs: those in the middle receive from one side and pass on to the other.
#[test]
fn brokers_stand_between() {
    let mut arcs = Vec::new();
    for chain in 0..30u32 {
        let first = 12 * chain;
        arcs.extend((first..first + 11).map(|i| (i, i + 1)));
    }
    let found = find(
        &GraphBuilder::directed(360)
            .edges(arcs)
            .build()
            .expect("chains"),
    );
    let name = |node: u32| found.roles[found.role_of(node)].name.as_str();
    assert!(name(5).starts_with("broker chain"), "{}", name(5));
    assert!(
        name(0).starts_with("source chain end") && name(11).starts_with("sink chain end"),
        "{} {}",
        name(0),
        name(11)
    );
    let why = found.explain(0, "first").text;
    assert!(
        why.contains("it has arcs to 100 % of its neighbours and none back (average"),
        "{why}"
    );
    let why = found.explain(11, "last").text;
    assert!(
        why.contains("100 % of its neighbours have arcs to it and none back (average"),
        "{why}"
    );
}

fn random(n: u32, arcs: usize, seed: u64) -> Graph {
    let mut rng = Key::new(seed).rng();
    let mut node = || (rng.next_u64() % u64::from(n)) as u32;
    let arcs: Vec<(u32, u32)> = (0..arcs)
        .map(|_| (node(), node()))
        .filter(|(i, j)| i != j)
        .collect();
    GraphBuilder::directed(n as usize)
        .edges(arcs)
        .build()
        .expect("random arcs")
}

#[test]
fn degrees_ratios_scores_and_affinity_are_those_of_the_arcs() {
    let graph = random(80, 300, 3);
    let n = graph.nodes() as u32;
    let found = RoleOptions {
        roles: Some(3),
        ..RoleOptions::default()
    }
    .find(&graph, &Silent)
    .expect("roles");
    let arcs: BTreeSet<(u32, u32)> = (0..n)
        .flat_map(|i| graph.neighbors(i).iter().map(move |&j| (i, j)))
        .collect();
    let own = found.assignments();
    let out = |i: u32| arcs.iter().filter(|arc| arc.0 == i).count() as f64;
    let into = |i: u32| arcs.iter().filter(|arc| arc.1 == i).count() as f64;
    let one_way = |i: u32| {
        arcs.iter()
            .filter(|arc| arc.0 == i && !arcs.contains(&(arc.1, arc.0)))
            .count() as f64
    };
    for (k, role) in found.roles.iter().enumerate() {
        let members: Vec<u32> = (0..n).filter(|&i| own[i as usize] as usize == k).collect();
        let mean = |of: &dyn Fn(u32) -> f64| {
            members.iter().map(|&i| of(i)).sum::<f64>() / members.len() as f64
        };
        let close = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-9);
        assert!(
            close(role.out_degree, mean(&out)) && close(role.in_degree, mean(&into)),
            "{role:?}"
        );
        let of = |name: &str| {
            role.motifs
                .iter()
                .find(|score| score.motif == name)
                .map(|score| score.mean)
        };
        assert!(close(of("one-way_out_degree"), mean(&one_way)), "{role:?}");
        assert!(
            close(of("mutual_degree"), mean(&|i| out(i) - one_way(i))),
            "{role:?}"
        );
        assert_eq!(role.motifs.len(), 15 + 27);
        for (l, &ratio) in found.affinity[k].iter().enumerate() {
            let role = |i: u32| own[i as usize] as usize;
            let between = arcs
                .iter()
                .filter(|arc| role(arc.0) == k && role(arc.1) == l)
                .count() as f64;
            let from = arcs.iter().filter(|arc| role(arc.0) == k).count() as f64;
            let to = arcs.iter().filter(|arc| role(arc.1) == l).count() as f64;
            let expected = from * to / arcs.len() as f64;
            assert!(
                (ratio - between / expected.max(1e-9)).abs() < 1e-9,
                "{k} {l}"
            );
        }
    }
    // Estimates leave triads out, which are always exact.
    let sample = "cap=8".parse().expect("a cap");
    let roughly = RoleOptions {
        sample,
        ..RoleOptions::default()
    }
    .find(&graph, &Silent)
    .expect("roles");
    assert_eq!(roughly.roles[0].motifs.len(), 15);
    assert!(roughly.roles[0].out_degree.is_some());
}

#[test]
fn the_order_of_nodes_and_the_threads_change_no_bit() {
    let graph = random(60, 200, 5);
    let order: Vec<u32> = (0..60).map(|i| (i * 7 + 11) % 60).collect();
    let renamed = (0..60u32).flat_map(|i| graph.neighbors(i).iter().map(move |&j| (i, j)));
    let renamed = renamed
        .map(|(i, j)| (order[i as usize], order[j as usize]))
        .collect();
    let renamed = GraphBuilder::directed(60)
        .edges(renamed)
        .build()
        .expect("the same arcs");
    let (one, other) = (find(&graph), find(&renamed));
    for node in 0..60 {
        assert_eq!(
            one.memberships(node),
            other.memberships(order[node as usize]),
            "{node}"
        );
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .expect("a pool");
    assert_eq!(pool.install(|| find(&graph)).roles, one.roles);
}

/// The page has a section of directions and degrees both ways; the pages of edges have neither.
#[test]
fn pages_show_directions() {
    let graph = random(40, 120, 7);
    let page = |graph: &Graph| {
        let embedding = Hone::new(Config::default())
            .expect("the default")
            .embed(graph, &Silent)
            .expect("vectors")
            .embedding;
        let space = Space::of(&embedding, By::All).expect("vectors");
        let layout = Layout {
            steps: Some(30),
            ..Layout::default()
        };
        let map = Map {
            graph,
            title: "arcs".to_owned(),
            layouts: &layout.of_map(&[space], &Silent).expect("placed"),
            roles: &find(graph),
            colours: Vec::new(),
            style: Style::default(),
        };
        map.html(&Silent).expect("a page")
    };
    let (arcs, edges) = (page(&graph), page(&graph.underlying()));
    assert!(arcs.contains("id=\"data-directions\"") && !edges.contains("id=\"data-directions\""));
    assert!(arcs.contains("\"directed\":true") && edges.contains("\"directed\":false"));
}
