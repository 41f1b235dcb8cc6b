//! Triads against brute force over all triples of nodes and all ways to lay a drawn motif on them.

use std::collections::{BTreeMap, BTreeSet};

use hone_base::memory::Allowance;
use hone_graph::Graph;
use hone_graph::Silent;
use hone_graph::motif::triad::{ArcOrbit, Occurrence, Triad, Triads};
use hone_graph::motif::{Counts, Graphlet, Motif, MotifSet, Orbit, Sample, Weighting, count};
use proptest::prelude::*;

use super::oracle::{directed, random_edges, rng, undirected};

/// An arc of a drawn motif: from, to, name of its position.
type Drawn = (usize, usize, &'static str);

/// The motifs as drawn in the literature, A, B, C being 0, 1, 2.
fn drawings() -> Vec<(&'static str, Vec<Drawn>)> {
    vec![
        ("021D", vec![(1, 0, "021D"), (1, 2, "021D")]),
        ("021U", vec![(0, 1, "021U"), (2, 1, "021U")]),
        ("021C", vec![(0, 1, "021C-first"), (1, 2, "021C-second")]),
        (
            "111D",
            vec![
                (0, 1, "111D-to-centre"),
                (1, 0, "111D-to-end"),
                (2, 1, "111D-one-way"),
            ],
        ),
        (
            "111U",
            vec![
                (0, 1, "111U-to-centre"),
                (1, 0, "111U-to-end"),
                (1, 2, "111U-one-way"),
            ],
        ),
        (
            "030T",
            vec![
                (0, 1, "030T-first"),
                (1, 2, "030T-second"),
                (0, 2, "030T-direct"),
            ],
        ),
        ("030C", vec![(0, 1, "030C"), (1, 2, "030C"), (2, 0, "030C")]),
        (
            "201",
            vec![
                (0, 1, "201-to-centre"),
                (1, 0, "201-to-end"),
                (2, 1, "201-to-centre"),
                (1, 2, "201-to-end"),
            ],
        ),
        (
            "120D",
            vec![
                (1, 0, "120D-one-way"),
                (1, 2, "120D-one-way"),
                (0, 2, "120D-mutual"),
                (2, 0, "120D-mutual"),
            ],
        ),
        (
            "120U",
            vec![
                (0, 1, "120U-one-way"),
                (2, 1, "120U-one-way"),
                (0, 2, "120U-mutual"),
                (2, 0, "120U-mutual"),
            ],
        ),
        (
            "120C",
            vec![
                (0, 1, "120C-first"),
                (1, 2, "120C-second"),
                (0, 2, "120C-along"),
                (2, 0, "120C-back"),
            ],
        ),
        (
            "210",
            vec![
                (0, 1, "210-one-way"),
                (0, 2, "210-along-first"),
                (2, 1, "210-along-second"),
                (1, 2, "210-back-first"),
                (2, 0, "210-back-second"),
            ],
        ),
        (
            "300",
            vec![
                (0, 1, "300"),
                (1, 0, "300"),
                (1, 2, "300"),
                (2, 1, "300"),
                (0, 2, "300"),
                (2, 0, "300"),
            ],
        ),
    ]
}

/// Counts by arc and position, and by motif.
type Truth = (
    BTreeMap<(u32, u32), BTreeMap<&'static str, u64>>,
    BTreeMap<&'static str, u128>,
);

/// Counts by enumeration.
fn enumerate(n: usize, edges: &[(u32, u32)], subgraph: bool) -> Truth {
    let arcs: BTreeSet<(u32, u32)> = edges.iter().copied().filter(|(u, v)| u != v).collect();
    let (mut of_arcs, mut totals): Truth = Default::default();
    for &(u, v) in &arcs {
        let mutual = arcs.contains(&(v, u));
        for (name, there) in [("one-way", subgraph || !mutual), ("mutual", mutual)] {
            *of_arcs.entry((u, v)).or_default().entry(name).or_default() += u64::from(there);
            let once = name == "one-way" || u < v;
            *totals.entry(name).or_default() += u128::from(there && once);
        }
    }
    for a in 0..n as u32 {
        for b in a + 1..n as u32 {
            for c in b + 1..n as u32 {
                add_triple([a, b, c], &arcs, subgraph, (&mut of_arcs, &mut totals));
            }
        }
    }
    (of_arcs, totals)
}

type Arc = (u32, u32);
/// Counts of motifs, arc by arc.
type OfArcs = BTreeMap<Arc, BTreeMap<&'static str, u64>>;
/// Names of the positions of arcs.
type Laid = BTreeMap<Arc, &'static str>;

fn add_triple(
    nodes: [u32; 3],
    arcs: &BTreeSet<(u32, u32)>,
    subgraph: bool,
    (of_arcs, totals): (&mut OfArcs, &mut BTreeMap<&'static str, u128>),
) {
    const WAYS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let inside: BTreeSet<(u32, u32)> = arcs
        .iter()
        .copied()
        .filter(|(u, v)| nodes.contains(u) && nodes.contains(v))
        .collect();
    for (motif, drawn) in drawings() {
        // The same arcs may be reached in several ways, by an automorphism.
        let mut found: BTreeMap<BTreeSet<Arc>, Laid> = BTreeMap::new();
        for way in WAYS {
            let laid: Laid = drawn
                .iter()
                .map(|&(u, v, name)| ((nodes[way[u]], nodes[way[v]]), name))
                .collect();
            let set: BTreeSet<(u32, u32)> = laid.keys().copied().collect();
            if set == inside || (subgraph && set.is_subset(&inside)) {
                found.insert(set, laid);
            }
        }
        for laid in found.values() {
            *totals.entry(motif).or_default() += 1;
            for (&arc, &name) in laid {
                *of_arcs.entry(arc).or_default().entry(name).or_default() += 1;
            }
        }
    }
}

fn check(n: usize, edges: &[(u32, u32)]) {
    let graph = directed(n, edges);
    let counts = Triads::count(&graph, &Silent).expect("counted");
    for occurrence in [Occurrence::Induced, Occurrence::Subgraph] {
        let (of_arcs, totals) = enumerate(n, edges, occurrence == Occurrence::Subgraph);
        for u in 0..n as u32 {
            for &v in graph.neighbors(u) {
                let found = counts.arc(u, v, occurrence).expect("an arc");
                for orbit in ArcOrbit::ALL {
                    let expected = of_arcs[&(u, v)].get(orbit.name()).copied().unwrap_or(0);
                    assert_eq!(
                        found[orbit.index()],
                        expected,
                        "{orbit} of {u} → {v}, {occurrence:?}, {edges:?}"
                    );
                }
            }
        }
        let found = counts.totals(occurrence).triads;
        for triad in Triad::ALL {
            let expected = totals.get(triad.name()).copied().unwrap_or(0);
            assert_eq!(
                found[triad.index()],
                expected,
                "{triad}, {occurrence:?}, {edges:?}"
            );
        }
    }
}

#[test]
fn drawn_motifs_are_found() {
    for (name, drawn) in drawings() {
        let edges: Vec<(u32, u32)> = drawn
            .iter()
            .map(|&(u, v, _)| (u as u32, v as u32))
            .collect();
        check(3, &edges);
        let totals = Triads::count(&directed(3, &edges), &Silent)
            .expect("counted")
            .totals(Occurrence::Induced);
        let found: Vec<&str> = Triad::ALL
            .into_iter()
            .filter(|t| t.size() == 3 && totals.triads[t.index()] > 0)
            .map(Triad::name)
            .collect();
        assert_eq!(found, [name]);
        assert_eq!(
            drawn.len(),
            name.parse::<Motif>()
                .expect("a motif")
                .triad()
                .expect("directed")
                .arcs()
        );
    }
    check(0, &[]);
    check(4, &[]);
    check(2, &[(0, 1)]);
    check(2, &[(0, 1), (1, 0)]);
}

#[test]
fn random_graphs_of_all_densities() {
    for seed in 0..120 {
        let mut rng = rng(seed);
        let (n, density) = (
            3 + seed as usize % 14,
            [0.1, 0.3, 0.7, 1.2, 1.8][seed as usize % 5],
        );
        check(n, &random_edges(&mut rng, n, density));
    }
}

fn counted(graph: &Graph, set: &str) -> Counts {
    let motifs = set.parse::<MotifSet>().expect("a set").motifs();
    Sample::Exact
        .count_motifs(graph, &motifs, (0, Allowance::new(None)), &Silent)
        .expect("counted")
}

/// Where all arcs are mutual, paths and triangles are those of the undirected graph.
#[test]
fn symmetric_graphs_have_the_undirected_counts() {
    let edges = random_edges(&mut rng(5), 60, 0.2);
    let both: Vec<(u32, u32)> = edges.iter().flat_map(|&(u, v)| [(u, v), (v, u)]).collect();
    let (graph, plain) = (directed(60, &both), undirected(60, &edges));
    let (triads, orbits) = (
        counted(&graph, "triads"),
        count(&plain, &Silent).expect("counted"),
    );
    let totals = triads
        .triads()
        .expect("triads")
        .totals(Occurrence::Induced)
        .triads;
    let expected = orbits.totals().graphlets;
    assert_eq!(
        totals[Triad::T201.index()],
        expected[Graphlet::Path3.index()]
    );
    assert_eq!(
        totals[Triad::T300.index()],
        expected[Graphlet::Triangle.index()]
    );
    assert_eq!(
        totals[Triad::Mutual.index()],
        expected[Graphlet::Edge.index()]
    );
    assert_eq!(totals.iter().filter(|total| **total > 0).count(), 3);
    let motifs = ["201", "300"].map(|name| name.parse::<Motif>().expect("a motif"));
    for i in 0..60 {
        triads
            .for_arcs(&graph, i, (&motifs, Occurrence::Induced), |j, weights| {
                let edge = orbits.edge(i, j).expect("an edge");
                assert_eq!(
                    weights,
                    [edge[Orbit::Path3.index()], edge[Orbit::Triangle.index()]]
                );
            })
            .expect("counted");
    }
}

/// W of a triad has a position for each arc, and together the arcs of its occurrences.
#[test]
fn motif_graphs_keep_directions() {
    let edges = random_edges(&mut rng(9), 30, 0.5);
    let graph = directed(30, &edges);
    let counts = counted(&graph, "triads");
    let triads = counts.triads().expect("triads");
    for occurrence in [Occurrence::Induced, Occurrence::Subgraph] {
        let totals = triads.totals(occurrence);
        for triad in Triad::ALL {
            let w = counts
                .motif_graph(
                    &graph,
                    Motif::Triad(triad),
                    Weighting {
                        occurrence,
                        ..Weighting::default()
                    },
                )
                .expect("W");
            assert_eq!(
                w.total,
                (totals.triads[triad.index()] * triad.arcs() as u128) as f64,
                "{triad}"
            );
            let node = |k: u32| w.nodes.as_ref().map_or(k, |nodes| nodes[k as usize]);
            for row in 0..w.matrix.rows() {
                let (columns, values) = w.matrix.row(row);
                for (&column, &value) in columns.iter().zip(values) {
                    let arc = triads
                        .arc(node(row as u32), node(column), occurrence)
                        .expect("an arc");
                    let expected: u64 = triad.orbits().iter().map(|orbit| arc[orbit.index()]).sum();
                    assert_eq!(f64::from(value), expected as f64, "{triad}");
                }
            }
        }
    }
}

#[test]
fn sets_and_other_names() {
    let names = |text: &str| -> Vec<&str> {
        text.parse::<MotifSet>()
            .expect("a set")
            .motifs()
            .into_iter()
            .map(Motif::name)
            .collect()
    };
    assert_eq!(names("triads"), Triad::ALL.map(Triad::name));
    assert_eq!(names("triad-orbits"), ArcOrbit::ALL.map(ArcOrbit::name));
    assert_eq!(
        names("M5,m1,030t-first,triangle"),
        ["030T", "030C", "030T-first", "triangle"]
    );
    let aliases: BTreeSet<&str> = Triad::ALL.into_iter().filter_map(Triad::alias).collect();
    assert_eq!(aliases.len(), 13);
    for number in 1..=13 {
        let alias = format!("M{number}");
        assert!(
            aliases.contains(alias.as_str()) && names(&alias).len() == 1,
            "{alias}"
        );
    }
    assert!(
        "triads"
            .parse::<MotifSet>()
            .expect("a set")
            .at_most(2)
            .motifs()
            .len()
            == 2
    );
    assert!("triads,edge".parse::<MotifSet>().is_err());
    for text in ["triads", "triad-orbits", "030T,300,021C-first"] {
        let set: MotifSet = text.parse().expect("a set");
        let written = serde_json::to_string(&set).expect("json");
        assert_eq!(
            serde_json::from_str::<MotifSet>(&written).expect("the same"),
            set
        );
    }
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let plain = undirected(3, &[(0, 1), (1, 2)]);
    let refuse = |graph: &Graph, sample: Sample, set: &str| {
        let motifs = set.parse::<MotifSet>().expect("a set").motifs();
        sample
            .count_motifs(graph, &motifs, (0, Allowance::new(None)), &Silent)
            .expect_err("refused")
            .to_string()
    };
    assert!(refuse(&plain, Sample::Exact, "030T").contains("directed"));
    let graph = directed(3, &[(0, 1), (1, 2)]);
    assert!(refuse(&graph, Sample::Cap(8), "triads").contains("exactly"));
    let triads = counted(&graph, "triads");
    let edge = "edge".parse().expect("a motif");
    assert!(
        triads
            .motif_graph(&graph, edge, Weighting::default())
            .is_err(),
        "orbits were not counted"
    );
    assert!(triads.edge(0, 1).is_none() && triads.row(0).next().is_none());
    let both = counted(&graph, "edge,021C");
    assert!(both.edge(0, 1).is_some() && both.triads().is_some());
}

#[test]
fn counts_are_saved_and_loaded() {
    let graph = directed(40, &random_edges(&mut rng(2), 40, 0.4));
    for set in ["triads", "edge,300", "all"] {
        let counts = counted(&graph, set);
        let mut bytes = Vec::new();
        counts.save(&mut bytes).expect("memory takes it");
        let loaded = Counts::load(&graph, &mut &*bytes).expect("whole");
        assert_eq!(loaded.triads().is_some(), set != "all");
        if let (Some(a), Some(b)) = (counts.triads(), loaded.triads()) {
            assert_eq!(a.totals(Occurrence::Induced), b.totals(Occurrence::Induced));
        }
        assert_eq!(loaded.totals(), counts.totals());
        assert!(
            Counts::load(&graph, &mut &bytes[..bytes.len() - 1]).is_err(),
            "cut off"
        );
        let longer = [&bytes[..], &[0]].concat();
        assert!(Counts::load(&graph, &mut &*longer).is_err(), "too long");
    }
}

#[test]
fn any_number_of_threads_counts_the_same() {
    let graph = directed(3000, &random_edges(&mut rng(4), 3000, 0.01));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let mut bytes = Vec::new();
        pool.install(|| counted(&graph, "triads").save(&mut bytes))
            .expect("memory takes it");
        bytes
    };
    let one = with(1);
    assert!(one == with(2) && one == with(7));
}

proptest! {
    /// Turning all arcs around exchanges up and down, first and second.
    #[test]
    fn reversal_exchanges_up_and_down(edges in prop::collection::vec((0u32..25, 0u32..25), 0..160)) {
        let turned: Vec<(u32, u32)> = edges.iter().map(|&(u, v)| (v, u)).collect();
        let of = |edges: &[(u32, u32)]| {
            Triads::count(&directed(25, edges), &Silent).expect("counted").totals(Occurrence::Induced).triads
        };
        let (here, there) = (of(&edges), of(&turned));
        for triad in Triad::ALL {
            let other = match triad {
                Triad::T021D => Triad::T021U,
                Triad::T021U => Triad::T021D,
                Triad::T111D => Triad::T111U,
                Triad::T111U => Triad::T111D,
                Triad::T120D => Triad::T120U,
                Triad::T120U => Triad::T120D,
                same => same,
            };
            prop_assert_eq!(here[triad.index()], there[other.index()], "{}", triad);
        }
    }
}
