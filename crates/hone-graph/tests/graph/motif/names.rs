//! The drawings of the catalogue are what they say, and so are the positions in them; the census of triads is complete.

use std::collections::BTreeMap;

use hone_graph::Silent;
use hone_graph::motif::triad::{ArcOrbit, Occurrence, Triads};
use hone_graph::motif::{Graphlet, Motif, Named, Orbit, catalogue};

use super::oracle::{directed, enumerate, random_edges, rng};

fn node(letter: &str) -> u32 {
    "ABCD".find(letter).expect("a letter of a node") as u32
}

/// Number of nodes, and arcs; links without a direction both ways.
fn parsed(drawing: &str) -> (usize, Vec<(u32, u32)>) {
    let mut arcs = Vec::new();
    for path in drawing.split(", ").filter(|path| !path.is_empty()) {
        let words: Vec<&str> = path.split_whitespace().collect();
        for at in (0..words.len() - 1).step_by(2) {
            let (a, link, b) = (node(words[at]), words[at + 1], node(words[at + 2]));
            match link {
                "→" => arcs.push((a, b)),
                "←" => arcs.push((b, a)),
                "–" | "↔" => arcs.extend([(a, b), (b, a)]),
                other => panic!("{other} is no link"),
            }
        }
    }
    let letters = drawing.chars().filter(char::is_ascii_uppercase);
    (
        letters
            .map(|c| node(&c.to_string()) as usize + 1)
            .max()
            .unwrap_or(0),
        arcs,
    )
}

fn of_kind(kind: &str) -> Vec<Named> {
    let all = catalogue().into_iter();
    all.filter(|named| named.kind == kind).collect()
}

#[test]
fn undirected_drawings_and_positions() {
    for (at, graphlet) in of_kind("graphlet").iter().enumerate() {
        let (n, links) = parsed(graphlet.drawing);
        assert_eq!(
            (n, links.len()),
            (Graphlet::ALL[at].size(), 2 * Graphlet::ALL[at].edges())
        );
        assert_eq!(enumerate(n, &links).graphlets[at], 1, "{graphlet:?}");
        let numbered: Motif = graphlet.number.parse().expect("a motif");
        assert_eq!(numbered, graphlet.name.parse::<Motif>().expect("a motif"));
    }
    for (at, orbit) in of_kind("node orbit").iter().enumerate() {
        let (n, links) = parsed(orbit.drawing);
        let truth = enumerate(n, &links).nodes;
        let listed: Vec<u32> = orbit.position.split(", ").map(node).collect();
        let expected: Vec<u32> = (0..n as u32)
            .filter(|&u| truth[u as usize][at] == 1)
            .collect();
        assert_eq!(listed, expected, "{orbit:?}");
        assert_eq!(orbit.number, at.to_string());
    }
    for (at, orbit) in of_kind("edge orbit").iter().enumerate() {
        let (n, links) = parsed(orbit.drawing);
        let mut listed = parsed(&orbit.position).1;
        listed.sort_unstable();
        let motif = Motif::Orbit(Orbit::ALL[at]);
        assert_eq!(motif.number().parse::<Motif>().expect("a motif"), motif);
        let truth = enumerate(n, &links).edges;
        let expected = truth.iter().filter(|(_, orbits)| orbits[at] == 1);
        let expected: Vec<(u32, u32)> = expected.map(|(&edge, _)| edge).collect();
        assert_eq!(listed, expected, "{orbit:?}");
    }
    assert_eq!(of_kind("edge orbit").len(), Orbit::COUNT);
}

#[test]
fn directed_drawings_positions_and_identifiers() {
    let known: BTreeMap<&str, u32> = [
        ("021D", 6),
        ("021C", 12),
        ("111U", 14),
        ("021U", 36),
        ("030T", 38),
        ("120U", 46),
        ("111D", 74),
        ("201", 78),
        ("030C", 98),
        ("120C", 102),
        ("120D", 108),
        ("210", 110),
        ("300", 238),
    ]
    .into();
    let mut seen = 0;
    for triad in of_kind("triad") {
        let (n, arcs) = parsed(triad.drawing);
        let totals = Triads::count(&directed(n, &arcs), &Silent).expect("counted");
        let census = totals.totals(Occurrence::Induced).census(n);
        if n == 3 {
            let found: Vec<&str> = census
                .iter()
                .filter(|class| class.1 == 1)
                .map(|class| class.0)
                .collect();
            assert_eq!(found, [triad.name]);
            seen += 1;
        }
        assert_eq!(triad.mfinder, known.get(triad.name).copied());
    }
    assert_eq!(seen, 16);
    for (at, orbit) in of_kind("arc orbit").iter().enumerate() {
        let (n, arcs) = parsed(orbit.drawing);
        let counts = Triads::count(&directed(n, &arcs), &Silent).expect("counted");
        let mut listed = parsed(&orbit.position).1;
        listed.sort_unstable();
        let here =
            |&(u, v): &(u32, u32)| counts.arc(u, v, Occurrence::Induced).expect("an arc")[at] == 1;
        let mut expected: Vec<(u32, u32)> = arcs.into_iter().filter(here).collect();
        expected.sort_unstable();
        assert_eq!(listed, expected, "{orbit:?}");
        assert_eq!(orbit.name, ArcOrbit::ALL[at].name());
    }
}

/// Every set of three nodes is in one class, which has as many mutual and one-way pairs.
#[test]
fn the_census_has_all_sets_of_three_nodes() {
    for seed in 0..60 {
        let n = seed as usize % 12;
        let edges = random_edges(&mut rng(seed), n, [0.1, 0.4, 1.0, 1.9][seed as usize % 4]);
        let counts = Triads::count(&directed(n, &edges), &Silent).expect("counted");
        let mut found: BTreeMap<String, u128> = BTreeMap::new();
        for (name, count) in counts.totals(Occurrence::Induced).census(n) {
            *found.entry(name[..3].to_owned()).or_default() += count;
        }
        let mut expected: BTreeMap<String, u128> =
            found.keys().map(|code| (code.clone(), 0)).collect();
        let linked = |a: usize, b: usize| edges.contains(&(a as u32, b as u32));
        for a in 0..n {
            for b in a + 1..n {
                for c in b + 1..n {
                    let pairs = [(a, b), (a, c), (b, c)];
                    let of = |wanted: usize| {
                        let arcs = |&(u, v): &(usize, usize)| {
                            usize::from(linked(u, v)) + usize::from(linked(v, u))
                        };
                        pairs.iter().filter(|pair| arcs(pair) == wanted).count()
                    };
                    let code = format!("{}{}{}", of(2), of(1), of(0));
                    *expected.get_mut(&code).expect("a class") += 1;
                }
            }
        }
        assert_eq!(found, expected);
    }
}
