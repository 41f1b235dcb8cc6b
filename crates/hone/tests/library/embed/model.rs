//! Models: the same space for nodes that stay, nodes that come, and edges that change; checked against dense matrices.

use std::collections::BTreeSet;
use std::path::Path;

use hone::config::Layers;
use hone::dense::Block;
use hone::graph::{Generator, Graph, GraphBuilder, NodeIds, builtin};
use hone::output::Existing;
use hone::store::factors::Folder;
use hone::{Config, Hone, Like, Model, Run, Silent};
use proptest::prelude::*;

type Dense = Vec<Vec<f64>>;

pub(super) fn default_of(settings: &[(&str, &str)]) -> Config {
    let layers = Layers::new().preset("hone").unwrap();
    settings
        .iter()
        .fold(layers, |layers, (key, value)| {
            layers.set(key, value).unwrap()
        })
        .build()
        .unwrap()
}

pub(super) fn fit(graph: &Graph, settings: &[(&str, &str)]) -> (Run, Model) {
    Hone::new(default_of(settings))
        .unwrap()
        .fit(graph, &Silent)
        .unwrap()
}

pub(super) fn like(model: &Model, graph: &Graph) -> Run {
    model.embed(graph, &Like::default(), &Silent).unwrap()
}

pub(super) fn error(model: &Model, graph: &Graph) -> String {
    let placed = model
        .embed(graph, &Like::default(), &Silent)
        .map(|run| run.report.like);
    placed.expect_err("cannot be placed").to_string()
}

/// Nodes called by their number, from 0.
pub(super) fn graph(nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    GraphBuilder::undirected(nodes)
        .edges(edges.into_iter().collect::<Vec<_>>())
        .build()
        .unwrap()
}

pub(super) fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    let of = |i: u32| {
        graph
            .neighbors(i)
            .iter()
            .filter(move |&&j| i < j)
            .map(move |&j| (i, j))
            .collect::<Vec<_>>()
    };
    (0..graph.nodes() as u32).flat_map(of).collect()
}

/// Communities, so that the leading factors are far from the rest.
pub(super) fn communities(nodes: u64, seed: u64) -> Graph {
    let generator = Generator::Sbm {
        nodes,
        degree: 8.0,
        communities: 5,
        mixing: 0.1,
    };
    generator.graph(seed, &Silent).unwrap()
}

pub(super) fn apart(a: &[f32], b: &[f32]) -> f64 {
    let square = |x: &[f32]| x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let difference: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    square(&difference) / square(a).max(square(b)).max(1e-30)
}

#[test]
fn the_graph_of_the_fit_has_its_own_vectors() {
    let place = tempfile::tempdir().unwrap();
    for (name, settings) in [
        ("karate", &[][..]),
        ("florentine", &[("global.dim", "20"), ("steps", "2")]),
    ] {
        let graph = builtin(name).unwrap();
        let plain = super::run(default_of(settings), &graph).embedding;
        let (run, model) = fit(&graph, settings);
        assert_eq!(run.embedding, plain, "{name}: a model changes no bit");
        let path = place.path().join(name);
        model.write(&path, Existing::Refuse).unwrap();
        let read = Model::read(&path).unwrap();
        assert!(
            Model::is_model(&path) && read == model,
            "{name}: what is read is what was written"
        );
        let again = like(&read, &graph);
        assert_eq!(again.embedding, plain, "{name}");
        assert!(
            again
                .report
                .like
                .is_some_and(|like| like.same && like.new == 0)
        );
        assert!(model.write(&path, Existing::Refuse).is_err());
    }
}

/// S V of a new node, from the matrices themselves: A of the fit, with the new nodes beside it that walks only leave.
fn oracle(old: &Graph, new: &Graph, folder: &Folder, node: usize, vectors: &Block) -> Vec<f64> {
    let (n, all) = (old.nodes(), new.nodes());
    let degree = |i: usize| if i < n { old.degree(i as u32) } else { new.degree(i as u32) } as f64;
    let touched = (0..n).filter(|&i| old.degree(i as u32) > 0).count() as f64;
    let tau = 0.5 * (0..n).map(degree).sum::<f64>() / touched;
    let adjacent = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) => old.has_edge(i as u32, j as u32),
        (true, false) => false,
        _ => new.has_edge(i as u32, j as u32),
    };
    let entry = |i: usize, j: usize| {
        if adjacent(i, j) {
            ((degree(i) + tau) * (degree(j) + tau)).sqrt().recip()
        } else {
            0.0
        }
    };
    // A lazy walk of four steps.
    let stays = |i: usize, j: usize| if i == j { 0.2 } else { 0.0 };
    let b: Dense = (0..all)
        .map(|i| (0..all).map(|j| stays(i, j) + 0.8 * entry(i, j)).collect())
        .collect();
    let mut s: Vec<f64> = b[node].clone();
    for _ in 1..4 {
        s = (0..all)
            .map(|j| (0..all).map(|i| s[i] * b[i][j]).sum())
            .collect();
    }
    finish(folder, &s[..n], vectors)
}

/// From a row of S to the proximity columns, by V and H as they were written.
fn finish(folder: &Folder, s: &[f64], vectors: &Block) -> Vec<f64> {
    let local = &folder.manifest.local[0];
    let v = folder.read(local.v.as_ref().unwrap()).unwrap();
    let sigma = folder.read(&local.sigma).unwrap();
    let mut y: Vec<f64> = (0..v.cols())
        .map(|j| {
            (0..v.rows())
                .map(|i| s[i] * f64::from(v.get(i, j)))
                .sum::<f64>()
                / f64::from(sigma.as_slice()[0])
        })
        .collect();
    let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
    y.iter_mut().for_each(|y| *y /= length.max(1e-30).sqrt());
    let global = folder.manifest.global.as_ref().unwrap();
    let (z, h) = (
        folder.read(&global.z).unwrap(),
        folder.read(global.h.as_ref().unwrap()).unwrap(),
    );
    let at = (0..z.rows())
        .max_by(|&a, &b| z.get(a, 0).abs().total_cmp(&z.get(b, 0).abs()))
        .unwrap();
    let scale = f64::from(vectors.get(at, 0)) / f64::from(z.get(at, 0));
    (0..z.cols())
        .map(|j| {
            (0..y.len())
                .map(|i| y[i] * f64::from(h.get(j, i)))
                .sum::<f64>()
                * scale
        })
        .collect()
}

/// Factors alone, as the oracle makes them: U Σ without a log window.
const FACTORS: &[(&str, &str)] = &[
    ("features.form.components.dim", "2"),
    ("steps", "4"),
    ("laziness", "0.2"),
    ("local.scale", "sigma"),
    ("local.log-window.steps", "0"),
];

#[test]
fn new_nodes_have_the_factors_of_their_rows() {
    let place = tempfile::tempdir().unwrap();
    let old = communities(150, 3);
    let settings = &[&[("global.dim", "16")], FACTORS].concat();
    let hone = Hone::new(default_of(settings))
        .unwrap()
        .factors(place.path().join("f"), Existing::Refuse);
    let (run, model) = hone.fit(&old, &Silent).unwrap();
    let folder = Folder::open(place.path().join("f")).unwrap();
    // 150 knows nodes of the fit, 151 also a new one, 152 is known to 151 alone, 153 to nobody.
    let more = [
        (150, 4),
        (150, 9),
        (150, 17),
        (151, 150),
        (151, 30),
        (151, 31),
        (152, 151),
    ];
    let new = graph(154, edges(&old).into_iter().chain(more));
    let placed = like(&model, &new);
    for node in 150..153 {
        let expected = oracle(&old, &new, &folder, node, &run.embedding.vectors);
        let found = &placed.embedding.vectors.row(node)[..14];
        let expected: Vec<f32> = expected.iter().map(|&x| x as f32).collect();
        assert!(
            apart(found, &expected) < 1e-3,
            "node {node}: {found:?}, {expected:?}"
        );
        assert!(found.iter().any(|&x| x != 0.0), "node {node}");
    }
    assert!(
        placed.embedding.vectors.row(153)[..14]
            .iter()
            .all(|&x| x == 0.0),
        "nothing is known of it"
    );
    for i in 0..150 {
        let (before, after) = (
            run.embedding.vectors.row(i),
            placed.embedding.vectors.row(i),
        );
        assert_eq!(before[..14], after[..14], "node {i} has the edges it had");
    }
    let facts = placed.report.like.unwrap();
    assert_eq!(
        (facts.shared, facts.new, facts.kept, facts.same),
        (150, 4, 150, false)
    );
}

#[test]
fn nodes_whose_edges_changed_move_alone() {
    let place = tempfile::tempdir().unwrap();
    let old = communities(400, 5);
    let settings = &[&[("global.dim", "12")], FACTORS].concat();
    let hone = Hone::new(default_of(settings))
        .unwrap()
        .factors(place.path().join("f"), Existing::Refuse);
    let (run, model) = hone.fit(&old, &Silent).unwrap();
    let folder = Folder::open(place.path().join("f")).unwrap();
    let (a, b) = (0, (1..400).find(|&j| !old.has_edge(0, j)).unwrap());
    let new = graph(400, edges(&old).into_iter().chain([(a, b)]));
    let placed = like(&model, &new);
    let facts = &placed.report.like.as_ref().unwrap().views[0];
    assert_eq!((facts.changed, facts.iterations), (2, 0), "{facts:?}");
    for i in 0..400u32 {
        let (before, after) = (
            &run.embedding.vectors.row(i as usize)[..10],
            &placed.embedding.vectors.row(i as usize)[..10],
        );
        if i != a && i != b {
            assert_eq!(before, after, "node {i}");
            continue;
        }
        // The row of S begins with the edges of now, after none or some steps that stay, and goes on in the graph of the fit.
        let degree = |i: u32| f64::from(old.degree(i) as u32);
        let tau = 0.5 * (0..400).map(degree).sum::<f64>()
            / (0..400).filter(|&i| old.degree(i) > 0).count() as f64;
        let root = |d: f64| (d + tau).sqrt().recip();
        let (mut s, mut waiting) = (vec![0.0; 400], 1.0);
        for _ in 0..4 {
            let mut next: Vec<f64> = s.iter().map(|x| 0.2 * x).collect();
            for j in 0..400u32 {
                let to = |k: &u32| {
                    (
                        *k as usize,
                        0.8 * s[j as usize] * root(degree(j)) * root(degree(*k)),
                    )
                };
                old.neighbors(j)
                    .iter()
                    .map(to)
                    .for_each(|(k, x)| next[k] += x);
            }
            for &j in new.neighbors(i) {
                next[j as usize] += waiting * 0.8 * root(new.degree(i) as f64) * root(degree(j));
            }
            (s, waiting) = (next, 0.2 * waiting);
        }
        let expected: Vec<f32> = finish(&folder, &s, &run.embedding.vectors)
            .iter()
            .map(|&x| x as f32)
            .collect();
        assert!(
            apart(after, &expected) < 1e-3,
            "node {i}: {after:?}, {expected:?}"
        );
        assert_ne!(before, after, "node {i}");
    }
}

/// A new node with the edges of an old one has its place, log window and all, but for walks that never leave it.
#[test]
fn twins_are_in_the_same_place() {
    let old = communities(200, 23);
    let twin = old.neighbors(5).iter().map(|&j| (200, j));
    let new = graph(201, edges(&old).into_iter().chain(twin));
    let window = ("local.log-window.steps", "2");
    for settings in [
        vec![],
        vec![window],
        vec![window, ("steps", "4"), ("laziness", "0.2")],
        vec![window, ("global.output", "local"), ("local.dim", "20")],
    ] {
        let settings: Vec<_> = settings.into_iter().chain([("global.dim", "40")]).collect();
        let (run, model) = fit(&old, &settings);
        let mut bytes = Vec::new();
        model.write_to(&mut bytes).unwrap();
        let model = Model::from_bytes(&bytes, "m.hone").unwrap();
        let placed = like(&model, &new).embedding;
        let first = placed
            .columns
            .iter()
            .position(|name| name.starts_with("structure"))
            .unwrap();
        let (old, new) = (
            &run.embedding.vectors.row(5)[..first],
            &placed.vectors.row(200)[..first],
        );
        assert!(apart(old, new) < 0.02, "{settings:?}: {old:?}, {new:?}");
    }
}

#[test]
fn other_new_nodes_change_nothing() {
    let old = communities(200, 7);
    let (_, model) = fit(&old, &[("global.dim", "24")]);
    let base: Vec<_> = edges(&old)
        .into_iter()
        .chain([(200, 3), (200, 5), (200, 90)])
        .collect();
    let alone = like(&model, &graph(201, base.clone())).embedding;
    // A path of its own, and a node beside a neighbour of node 200: that has other structure, the same proximity.
    let far = like(
        &model,
        &graph(204, base.iter().copied().chain([(201, 202), (202, 203)])),
    )
    .embedding;
    assert_eq!(alone.vectors.row(200), far.vectors.row(200));
    let near = like(
        &model,
        &graph(202, base.iter().copied().chain([(201, 3), (201, 77)])),
    )
    .embedding;
    assert_eq!(alone.vectors.row(200)[..21], near.vectors.row(200)[..21]);
    assert_ne!(alone.vectors.row(200)[21..], near.vectors.row(200)[21..]);
}

#[test]
fn a_copy_under_other_names_has_the_same_structure() {
    let old = communities(300, 11);
    let (run, model) = fit(&old, &[("global.dim", "24")]);
    // Node i of the copy is node (7 i) mod 300 of the original.
    let place: Vec<u32> = (0..300u32).map(|i| i * 7 % 300).collect();
    let mut number = vec![0; 300];
    place
        .iter()
        .zip(0..)
        .for_each(|(&old, new)| number[old as usize] = new);
    let turned = edges(&old)
        .into_iter()
        .map(|(i, j)| (number[i as usize], number[j as usize]));
    let names = NodeIds::from_texts(&(0..300).map(|i| format!("copy{i}")).collect::<Vec<_>>());
    let copy = GraphBuilder::undirected(0)
        .ids(names)
        .edges(turned.collect::<Vec<_>>())
        .build()
        .unwrap();
    let placed = like(&model, &copy);
    for (i, &of) in place.iter().enumerate() {
        let (row, fitted) = (
            placed.embedding.vectors.row(i),
            run.embedding.vectors.row(of as usize),
        );
        assert_eq!(row[21..], fitted[21..], "node {i}");
        assert!(row[..21].iter().all(|&x| x == 0.0));
    }
    assert!(placed.report.notes.iter().any(|note| {
        note.to_string()
            .contains("no node of this graph is in the model")
    }));
    let only = model
        .embed(
            &copy,
            &Like {
                structure_only: true,
                ..Like::default()
            },
            &Silent,
        )
        .unwrap();
    assert_eq!(
        only.embedding.columns,
        ["structure_pc0", "structure_pc1", "structure_pc2"]
    );
    assert_eq!(
        only.embedding.vectors,
        placed.embedding.vectors.columns(21..24)
    );
    assert!(
        only.report.notes.is_empty() && only.report.blocks[0].first == 0,
        "{:?}",
        only.report.notes
    );
}

/// A node of the fit of which only an edge to a new node is left is placed by that edge, and so is the new node.
#[test]
fn nodes_that_know_new_nodes_only_have_a_place() {
    let old = communities(300, 21);
    let (_, model) = fit(&old, &[("global.dim", "24")]);
    let kept = edges(&old).into_iter().filter(|(i, j)| *i != 7 && *j != 7);
    let new = graph(
        303,
        kept.chain([(7, 300), (300, 40), (300, 41), (301, 302)]),
    );
    let placed = like(&model, &new);
    assert!(
        placed.embedding.vectors.row(7)[..21]
            .iter()
            .any(|&x| x != 0.0)
    );
    // The other two know nobody of the fit.
    let note = placed
        .report
        .notes
        .iter()
        .find(|note| note.to_string().contains("proximity columns are zero"));
    assert!(
        note.is_some_and(|note| note.to_string().starts_with("2 nodes")),
        "{:?}",
        placed.report.notes
    );
}

#[test]
fn damaged_files_are_refused() {
    let (_, model) = fit(&builtin("petersen").unwrap(), &[("global.dim", "8")]);
    let mut bytes = Vec::new();
    model.write_to(&mut bytes).unwrap();
    let path = Path::new("m.hone");
    assert_eq!(Model::from_bytes(&bytes, path).unwrap(), model);
    for length in (0..bytes.len()).step_by(13) {
        let error = Model::from_bytes(&bytes[..length], path).unwrap_err();
        assert!(error.is_input(), "{length}: {error}");
    }
    // A tensor that is listed and not there.
    let at = bytes
        .windows(11)
        .position(|part| part == b"\"structure\"")
        .unwrap();
    let mut other = bytes.clone();
    other[at + 1] = b'S';
    assert!(Model::from_bytes(&other, path).is_err(), "another name");
    for at in (0..bytes.len()).step_by(11) {
        let mut other = bytes.clone();
        other[at] ^= 1 << (at % 8);
        if let Ok(read) = Model::from_bytes(&other, path) {
            assert_eq!(read, model, "byte {at} matters to nobody");
        }
    }
}

#[test]
fn several_motifs_and_steps_make_several_views() {
    let old = communities(200, 19);
    let settings = &[
        ("motifs", "[\"edge\", \"triangle\"]"),
        ("first-step", "1"),
        ("steps", "2"),
        ("global.dim", "40"),
    ];
    for more in [
        ("global.output", "global"),
        ("global.output", "local"),
        ("steps", "auto"),
    ] {
        let settings: Vec<_> = settings.iter().copied().chain([more]).collect();
        let (run, model) = fit(&old, &settings);
        assert_eq!(
            run.embedding,
            super::run(default_of(&settings), &old).embedding,
            "{more:?}"
        );
        let new = graph(
            201,
            edges(&old)
                .into_iter()
                .chain([(200, 1), (200, 2), (200, 3)]),
        );
        let placed = like(&model, &new);
        assert!(
            placed.embedding.vectors.row(200)[..20]
                .iter()
                .any(|&x| x != 0.0),
            "{more:?}"
        );
        assert_eq!(placed.embedding.columns, run.embedding.columns, "{more:?}");
        assert_eq!(
            placed.report.like.unwrap().views.len(),
            run.report.local.len(),
            "{more:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Nodes of the fit keep their rows whatever joins them, and the threads change nothing.
    #[test]
    fn whoever_joins_moves_nobody(
        seed in 0u64..1000,
        joins in proptest::collection::vec((60u32..70, 0u32..70), 1..30),
    ) {
        let old = communities(60, seed);
        let (run, model) = fit(&old, &[("global.dim", "10")]);
        let joins: BTreeSet<(u32, u32)> = joins.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
        let new = graph(70, edges(&old).into_iter().chain(joins));
        let pools = [1, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
        let [one, three] = pools.map(|pool| pool.install(|| like(&model, &new).embedding));
        prop_assert_eq!(&one, &three);
        for i in 0..60 {
            prop_assert_eq!(&one.vectors.row(i)[..8], &run.embedding.vectors.row(i)[..8]);
        }
    }
}

/// Only ratios of weights count, also where new nodes are placed beside a log window.
#[test]
fn weights_of_any_size_place_new_nodes_alike() {
    let of = |nodes: usize, edges: Vec<(u32, u32)>, scale: f32| {
        let weights = edges
            .iter()
            .map(|&(i, j)| scale * (1 + (i * 7 + j * 3) % 5) as f32)
            .collect();
        GraphBuilder::undirected(nodes)
            .edges(edges)
            .weights(weights)
            .build()
            .unwrap()
    };
    let old = edges(&communities(120, 4));
    let new: Vec<(u32, u32)> = old
        .iter()
        .copied()
        .chain([(120, 3), (120, 8), (120, 21)])
        .collect();
    let placed = |scale: f32| {
        let (_, model) = fit(
            &of(120, old.clone(), scale),
            &[("global.dim", "32"), ("weights", "true")],
        );
        like(&model, &of(121, new.clone(), scale))
            .embedding
            .vectors
            .row(120)
            .to_vec()
    };
    let usual = placed(1.0);
    assert!(usual.iter().any(|&x| x != 0.0));
    for power in [-60, 60] {
        let found = placed(2f32.powi(power));
        assert!(
            apart(&usual, &found) < 1e-3,
            "2^{power}: {found:?}, {usual:?}"
        );
    }
}
