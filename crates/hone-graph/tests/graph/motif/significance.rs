//! Random graphs are uniform among all that keep what their model keeps, found by enumeration; statistics are those of the
//! formulas; what cannot be compared is said.

use std::collections::{BTreeMap, BTreeSet};

use hone_graph::motif::{NullModel, Randomiser, Significance, false_discovery_rates};
use hone_graph::{Graph, Silent, builtin};
use rand::RngExt;

use super::oracle::{directed, enumerate, random_edges, rng, undirected};

type Arcs = BTreeSet<(u32, u32)>;

fn arcs(graph: &Graph) -> Arcs {
    let rows = 0..graph.nodes() as u32;
    rows.flat_map(|i| graph.neighbors(i).iter().map(move |&j| (i, j)))
        .collect()
}

/// What a model keeps, of a graph given by its arcs: for each node, arcs out, in, and mutual ones.
fn kept(model: NullModel, n: u32, arcs: &Arcs) -> Vec<[usize; 3]> {
    let count = |holds: &dyn Fn(&(u32, u32)) -> bool| arcs.iter().filter(|arc| holds(arc)).count();
    let node = |u: u32| {
        let (out, into) = (count(&|arc| arc.0 == u), count(&|arc| arc.1 == u));
        let mutual = count(&|arc| arc.0 == u && arcs.contains(&(arc.1, arc.0)));
        match model {
            NullModel::Degrees => [out, into, 0],
            NullModel::Reciprocity => [out, into, mutual],
            _ => [0; 3],
        }
    };
    (0..n).map(node).collect()
}

/// All graphs on the nodes that have as many edges and keep what the model keeps.
fn all_like(model: NullModel, n: u32, graph: &Graph) -> BTreeSet<Arcs> {
    let pairs: Vec<(u32, u32)> = (0..n)
        .flat_map(|u| (0..n).map(move |v| (u, v)))
        .filter(|&(u, v)| if graph.is_directed() { u != v } else { u < v })
        .collect();
    let like = kept(model, n, &arcs(graph));
    let sets = (0u32..1 << pairs.len()).filter(|set| set.count_ones() as usize == graph.edges());
    let graphs = sets.map(|set| -> Arcs {
        let chosen = pairs
            .iter()
            .enumerate()
            .filter(|(at, _)| set >> at & 1 == 1);
        let chosen = chosen.map(|(_, &(u, v))| (u, v));
        match graph.is_directed() {
            true => chosen.collect(),
            false => chosen.flat_map(|(u, v)| [(u, v), (v, u)]).collect(),
        }
    });
    graphs.filter(|arcs| kept(model, n, arcs) == like).collect()
}

#[test]
fn every_graph_of_a_model_is_equally_likely() {
    let cases = [
        (
            NullModel::Degrees,
            undirected(6, &[(0, 1), (0, 2), (1, 2), (2, 3), (4, 5)]),
        ),
        (
            NullModel::Degrees,
            undirected(6, &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 4)]),
        ),
        (
            NullModel::Degrees,
            directed(4, &[(0, 1), (1, 0), (1, 2), (2, 3), (0, 3)]),
        ),
        (
            NullModel::Reciprocity,
            directed(5, &[(0, 1), (1, 0), (2, 3), (3, 2), (0, 4), (2, 1)]),
        ),
        (NullModel::Er, undirected(5, &[(0, 1), (0, 2), (3, 4)])),
        (
            NullModel::Er,
            undirected(4, &[(0, 1), (0, 2), (2, 3), (1, 3), (1, 2)]),
        ),
        (NullModel::Er, directed(3, &[(0, 1), (1, 0)])),
    ];
    for (model, graph) in cases {
        let all = all_like(model, graph.nodes() as u32, &graph);
        let (classes, draws) = (all.len(), 300 * all.len() as u64);
        assert!(classes > 2, "{model} of {:?}", arcs(&graph));
        let randomiser = Randomiser::new(&graph, model, 1, &Silent).expect("a model");
        assert!(
            randomiser
                .switching()
                .is_none_or(|switching| switching.mixed)
        );
        let mut seen: BTreeMap<Arcs, u64> = BTreeMap::new();
        for index in 0..draws {
            let drawn = randomiser.draw(index, &Silent).expect("a graph");
            *seen.entry(arcs(&drawn)).or_default() += 1;
        }
        assert!(seen.keys().all(|drawn| all.contains(drawn)), "{model}");
        let square = |drawn: &Arcs| {
            let found = seen.get(drawn).copied().unwrap_or(0) as f64;
            (found - 300.0).powi(2) / 300.0
        };
        let (chi, freedom) = (all.iter().map(square).sum::<f64>(), classes as f64 - 1.0);
        assert!(
            chi < freedom + 4.0 * (2.0 * freedom).sqrt() + 4.0,
            "{model} of {:?}: {chi} for {freedom}",
            arcs(&graph)
        );
    }
}

#[test]
fn large_graphs_keep_what_their_model_keeps() {
    for seed in 0..6 {
        let edges = random_edges(&mut rng(seed), 60, 0.2);
        for graph in [undirected(60, &edges), directed(60, &edges)] {
            let (before, mut models) = (arcs(&graph), vec![NullModel::Degrees, NullModel::Er]);
            models.extend(graph.is_directed().then_some(NullModel::Reciprocity));
            for model in models {
                let randomiser = Randomiser::new(&graph, model, seed, &Silent).expect("a model");
                let drawn = randomiser.draw(0, &Silent).expect("a graph");
                assert_eq!((drawn.edges(), drawn.nodes()), (graph.edges(), 60));
                assert_eq!(
                    kept(model, 60, &arcs(&drawn)),
                    kept(model, 60, &before),
                    "{model}"
                );
                assert!(drawn.dropped().is_empty() && arcs(&drawn) != before);
            }
            let randomiser = Randomiser::new(&graph, NullModel::Configuration, seed, &Silent);
            let drawn = randomiser
                .expect("a model")
                .draw(0, &Silent)
                .expect("a graph");
            let lost = drawn.dropped().self_loops + drawn.dropped().duplicates;
            assert_eq!(drawn.edges() as u64 + lost, graph.edges() as u64);
            let most = |of: &Graph| kept(NullModel::Degrees, 60, &arcs(of));
            assert!(
                most(&drawn)
                    .iter()
                    .zip(most(&graph))
                    .all(|(a, b)| a[0] <= b[0] && a[1] <= b[1])
            );
        }
    }
}

/// The number of feed-forward loops, over all ordered triples.
fn loops(n: u32, arcs: &Arcs) -> f64 {
    let has = |a: u32, b: u32| arcs.contains(&(a, b));
    let one_way = |a: u32, b: u32| has(a, b) && !has(b, a);
    let mut found = 0;
    for a in 0..n {
        for b in (0..n).filter(|&b| one_way(a, b)) {
            found += (0..n).filter(|&c| one_way(b, c) && one_way(a, c)).count();
        }
    }
    found as f64
}

/// Planted feed-forward loops, against a second implementation: a list of arcs, switched and searched through.
#[test]
fn planted_loops_are_found_as_by_a_simple_program() {
    let (n, mut rng) = (40u32, rng(7));
    let mut edges: Vec<(u32, u32)> = (0..12)
        .flat_map(|i| {
            [
                (3 * i, 3 * i + 1),
                (3 * i + 1, 3 * i + 2),
                (3 * i, 3 * i + 2),
            ]
        })
        .collect();
    for _ in 0..50 {
        edges.push((rng.random_range(0..n), rng.random_range(0..n)));
    }
    let graph = directed(n as usize, &edges);
    let found =
        Significance::of(&graph, Some(NullModel::Degrees), 400, 3, &Silent).expect("compared");
    let found = found
        .motifs
        .iter()
        .find(|found| found.motif == "030T")
        .expect("counted");
    let original = arcs(&graph);
    assert_eq!(found.count as f64, loops(n, &original));
    let mut sample = Vec::new();
    for _ in 0..400 {
        let mut list: Vec<(u32, u32)> = original.iter().copied().collect();
        for _ in 0..20 * list.len() {
            let (x, y) = (
                rng.random_range(0..list.len()),
                rng.random_range(0..list.len()),
            );
            let (new, other) = ((list[x].0, list[y].1), (list[y].0, list[x].1));
            if new.0 != new.1
                && other.0 != other.1
                && !list.contains(&new)
                && !list.contains(&other)
            {
                (list[x], list[y]) = (new, other);
            }
        }
        sample.push(loops(n, &list.into_iter().collect()));
    }
    let mean = sample.iter().sum::<f64>() / 400.0;
    let sd = (sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
    assert!(
        (found.mean - mean).abs() < 5.0 * sd / 20.0,
        "{} {mean}",
        found.mean
    );
    assert!((found.sd / sd - 1.0).abs() < 0.2, "{} {sd}", found.sd);
    assert!(
        found.z > Some(4.0) && found.p_more == 1.0 / 401.0 && found.p_fewer == 1.0,
        "{found:?}"
    );
}

/// By the definition: the least rate at which the step-up procedure rejects the hypothesis, of all rates that can matter.
fn least_rate(p: &[f64], own: f64) -> f64 {
    let m = p.len() as f64;
    let rejected = |rate: f64| {
        let below = |k: usize| p.iter().filter(|&&q| q <= rate * k as f64 / m).count() >= k;
        let most = (1..=p.len()).rev().find(|&k| below(k));
        most.is_some_and(|k| own <= rate * k as f64 / m)
    };
    let ranks = 1..=p.len();
    let rates = p
        .iter()
        .flat_map(|&q| ranks.clone().map(move |k| q * m / k as f64));
    // A rate is found from its own p-value by a division, which rounds.
    let rates = rates.filter(|&rate| rejected(rate * (1.0 + 1e-12)));
    rates.fold(1.0, f64::min)
}

#[test]
fn false_discoveries_are_those_of_the_step_up_procedure() {
    assert!(false_discovery_rates(&[]).is_empty());
    assert_eq!(false_discovery_rates(&[1.0, 1.0]), [1.0, 1.0]);
    let mut rng = rng(3);
    for round in 0..200 {
        let n = rng.random_range(1..14);
        let level = |rng: &mut _| f64::from(RngExt::random_range(rng, 1..=20u32)) / 20.0;
        let mut p: Vec<f64> = (0..n).map(|_| level(&mut rng)).collect();
        if round % 2 == 0 {
            p.iter_mut().for_each(|p| *p = p.powi(4));
        }
        for (&own, rate) in p.iter().zip(false_discovery_rates(&p)) {
            assert!((rate - least_rate(&p, own)).abs() < 1e-9, "{own} of {p:?}");
        }
    }
}

#[test]
fn statistics_are_those_of_the_formulas() {
    let edges = random_edges(&mut rng(11), 12, 0.5);
    let graph = undirected(12, &edges);
    let found = Significance::of(&graph, None, 15, 9, &Silent).expect("compared");
    let randomiser = Randomiser::new(&graph, NullModel::Degrees, 9, &Silent).expect("a model");
    let count = |graph: &Graph| {
        let arcs: Vec<(u32, u32)> = arcs(graph).into_iter().collect();
        enumerate(12, &arcs).graphlets
    };
    let samples: Vec<_> = (0..15)
        .map(|at| count(&randomiser.draw(at, &Silent).expect("a graph")))
        .collect();
    let mut squares = [0.0; 5];
    let two_sided = |p_more: f64, p_fewer: f64| f64::min(1.0, 2.0 * p_more.min(p_fewer));
    let p = found
        .motifs
        .iter()
        .map(|motif| two_sided(motif.p_more, motif.p_fewer));
    let p: Vec<f64> = p.collect();
    for (motif, &own) in found.motifs.iter().zip(&p) {
        assert!((motif.q - least_rate(&p, own)).abs() < 1e-9);
    }
    let names = |found: &Significance| -> Vec<&str> {
        found.motifs.iter().map(|motif| motif.motif).collect()
    };
    assert_eq!(names(&found)[..3], ["path3", "triangle", "path4"]);
    assert_eq!(
        names(&found.clone().numbered()),
        ["G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8"]
    );
    for (at, motif) in (1..9).zip(&found.motifs) {
        let values: Vec<f64> = samples.iter().map(|sample| sample[at] as f64).collect();
        let own = count(&graph)[at] as f64;
        let mean = values.iter().sum::<f64>() / 15.0;
        let sd = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 14.0).sqrt();
        let more = values.iter().filter(|&&x| x >= own).count() as f64;
        let fewer = values.iter().filter(|&&x| x <= own).count() as f64;
        assert_eq!(motif.count as f64, own);
        assert!((motif.mean - mean).abs() < 1e-9 && (motif.sd - sd).abs() < 1e-9);
        assert_eq!(
            (motif.p_more, motif.p_fewer),
            ((more + 1.0) / 16.0, (fewer + 1.0) / 16.0)
        );
        assert!((motif.z.expect("they vary") - (own - mean) / sd).abs() < 1e-9);
        squares[if at < 3 { 3 } else { 4 }] += ((own - mean) / sd).powi(2);
    }
    for (at, motif) in (1..9).zip(&found.motifs) {
        let length = squares[if at < 3 { 3 } else { 4 }].sqrt();
        let expected = motif.z.expect("they vary") / length;
        assert!((motif.profile.expect("it has a z") - expected).abs() < 1e-9);
    }
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let graph = directed(50, &random_edges(&mut rng(2), 50, 0.3));
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| Significance::of(&graph, None, 70, seed, &Silent))
            .expect("compared")
    };
    assert_eq!(run(1, 0), run(3, 0));
    assert_ne!(run(1, 0).motifs, run(1, 1).motifs);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let complete: Vec<(u32, u32)> = (0..5).flat_map(|u| (0..u).map(move |v| (u, v))).collect();
    let refused = |graph: &Graph, model, random| {
        let error = Significance::of(graph, model, random, 0, &Silent).expect_err("refused");
        error.to_string()
    };
    for graph in [
        undirected(0, &[]),
        undirected(1, &[]),
        directed(3, &[]),
        undirected(4, &[]),
    ] {
        for model in [None, Some(NullModel::Er), Some(NullModel::Configuration)] {
            assert!(refused(&graph, model, 10).contains("no edges"));
        }
    }
    let star = builtin("star").expect("built in");
    for graph in [
        star,
        undirected(5, &complete),
        undirected(2, &[(0, 1)]),
        directed(2, &[(0, 1), (1, 0)]),
    ] {
        assert!(refused(&graph, None, 10).contains("can be switched"));
    }
    let karate = builtin("karate").expect("built in");
    assert!(refused(&karate, Some(NullModel::Reciprocity), 10).contains("directed"));
    assert!(refused(&karate, None, 1).contains("give from 2"));
    // Only one graph has all edges: nothing varies, and nothing is divided by zero.
    let found = Significance::of(
        &undirected(5, &complete),
        Some(NullModel::Er),
        10,
        0,
        &Silent,
    )
    .expect("compared");
    for motif in found.motifs {
        assert_eq!((motif.z, motif.profile, motif.sd), (None, None, 0.0));
        assert_eq!(
            (motif.mean, motif.p_more, motif.p_fewer),
            (motif.count as f64, 1.0, 1.0)
        );
    }
}
