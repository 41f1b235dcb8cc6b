//! Rows of new nodes alone: the bits that they have among all rows, however motifs are counted and the model is kept.

use std::path::Path;

use hone::graph::{Generator, Graph, GraphBuilder, NodeIds};
use hone::output::Existing;
use hone::{Like, Model, Run, Silent};
use proptest::prelude::*;

use super::model::{communities, edges, fit, graph, like};

const NEW_ONLY: Like = Like {
    structure_only: false,
    new_only: true,
    added_only: false,
    memory_limit: None,
    attributes: None,
};

fn new_only(model: &Model, graph: &Graph) -> Run {
    model.embed(graph, &NEW_ONLY, &Silent).unwrap()
}

fn stages(run: &Run) -> Vec<&str> {
    run.report
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect()
}

/// The model itself, as it comes from a file, and with its tall parts still in the file.
fn kept(model: &Model, folder: &Path) -> [Model; 3] {
    let path = folder.join("m.hone");
    model.write(&path, Existing::Replace).unwrap();
    [
        model.clone(),
        Model::read(&path).unwrap(),
        Model::open(&path).unwrap(),
    ]
}

/// Compares rows of new nodes with the same rows among all, for each way a model is kept; returns the last run.
fn assert_rows(model: &Model, graph: &Graph, structure_only: bool) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let all = model
        .embed(
            graph,
            &Like {
                structure_only,
                ..Like::default()
            },
            &Silent,
        )
        .unwrap();
    let known = model.ids().index();
    let new: Vec<u32> = (0..graph.nodes() as u32)
        .filter(|&i| known.find(&graph.ids().get(i).to_string()).is_none())
        .collect();
    let mut last = None;
    for model in kept(model, folder.path()) {
        let run = model
            .embed(
                graph,
                &Like {
                    structure_only,
                    ..NEW_ONLY
                },
                &Silent,
            )
            .unwrap();
        assert_eq!(run.embedding.ids, graph.ids().some(&new));
        assert_eq!(run.embedding.columns, all.embedding.columns);
        assert_eq!(run.embedding.vectors.rows(), new.len());
        for (k, &i) in new.iter().enumerate() {
            assert_eq!(
                run.embedding.vectors.row(k),
                all.embedding.vectors.row(i as usize),
                "node {i}"
            );
        }
        let (mut few, whole) = (
            run.report.like.clone().unwrap(),
            all.report.like.clone().unwrap(),
        );
        assert!(few.new_only && !whole.new_only);
        few.new_only = false;
        assert_eq!(few, whole);
        last = Some(run);
    }
    last.unwrap()
}

/// A sparse graph with new nodes behind it: next to old ones, to each other, alone, and one that is next to new ones only.
fn with_new(old: &Graph, new: u32) -> Graph {
    let n = old.nodes() as u32;
    let more =
        (0..new).flat_map(|k| [(n + k, k * 37 % n), (n + k, k * 91 % n), (n + k, n + k / 2)]);
    let chain = [
        (n + new, n + new + 1),
        (n + new, n),
        (n + new + 1, n + new + 2),
    ];
    graph(
        (n + new + 4) as usize,
        edges(old)
            .into_iter()
            .chain(more)
            .chain(chain)
            .filter(|(a, b)| a != b),
    )
}

#[test]
fn motifs_are_counted_around_new_nodes() {
    let old = Generator::Er {
        nodes: 3000,
        degree: 4.0,
    }
    .graph(3, &Silent)
    .unwrap();
    let (_, model) = fit(&old, &[("global.dim", "16")]);
    let run = assert_rows(&model, &with_new(&old, 10), false);
    assert_eq!(
        stages(&run),
        ["compare", "structure", "proximity"],
        "nothing was counted whole"
    );
    assert_rows(&model, &with_new(&old, 10), true);
    assert_rows(&model, &with_new(&old, 1), false);
}

/// Triangles of old nodes are those of the fit while their edges are. An old node without edges in the fit may join two that are
/// adjacent, and nodes of the fit may be gone: then triangles two steps away from new nodes are others.
#[test]
fn triangles_far_from_new_nodes_may_change_too() {
    let (sites, n) = (40, 6000u32);
    let random = Generator::Er {
        nodes: u64::from(n),
        degree: 3.0,
    }
    .graph(8, &Silent)
    .unwrap();
    let old = graph((n + sites) as usize, edges(&random));
    let (_, model) = fit(&old, &[("global.dim", "16")]);
    let at = |k: u32, old: &Graph| {
        let c = (k * 149..n)
            .find(|&c| !old.neighbors(c).is_empty())
            .unwrap();
        let a = old.neighbors(c)[0];
        (c, a, old.neighbors(a).iter().copied().find(|&b| b != c))
    };
    let new = (0..sites).map(|k| (n + sites + k, at(k, &old).0));
    let closed = (0..sites)
        .filter_map(|k| at(k, &old).2.map(|b| [(n + k, at(k, &old).1), (n + k, b)]))
        .flatten();
    let run = assert_rows(
        &model,
        &graph(
            (n + 2 * sites) as usize,
            edges(&old).into_iter().chain(new.clone()).chain(closed),
        ),
        false,
    );
    assert_eq!(
        run.report.like.unwrap().views[0].changed,
        0,
        "edges of nodes without any in the fit are no change"
    );
    let all = graph((n + 2 * sites) as usize, edges(&old).into_iter().chain(new));
    let some: Vec<u32> = (0..all.nodes() as u32).filter(|i| i % 5 != 3).collect();
    let number = |i: u32| some.binary_search(&i).ok().map(|i| i as u32);
    let left = edges(&all)
        .into_iter()
        .filter_map(|(a, b)| Some((number(a)?, number(b)?)))
        .collect::<Vec<_>>();
    let ids = NodeIds::from_integers(some.iter().map(|&i| i64::from(i)).collect());
    assert_rows(
        &model,
        &GraphBuilder::undirected(some.len())
            .edges(left)
            .ids(ids)
            .build()
            .unwrap(),
        false,
    );
}

/// Edges of weight zero make triangles, but no walks; and with a threshold of two no edge does. They tell of no change.
#[test]
fn edges_that_are_not_walked_may_change_too() {
    let (n, sites) = (6_000u32, 35);
    let random = Generator::Er {
        nodes: u64::from(n),
        degree: 2.0,
    }
    .graph(9, &Silent)
    .unwrap();
    let (mut new, mut closing) = (Vec::new(), Vec::new());
    for (k, c) in (0..n)
        .filter(|&c| !random.neighbors(c).is_empty())
        .step_by(151)
        .take(sites)
        .enumerate()
    {
        new.push((n + k as u32, c));
        let a = random.neighbors(c)[0];
        let far = random
            .neighbors(a)
            .iter()
            .filter(|&&b| b != c)
            .flat_map(|&b| random.neighbors(b));
        closing.extend(
            far.copied()
                .find(|&d| d != a && d != c && !random.neighbors(a).contains(&d))
                .map(|d| (a, d)),
        );
    }
    let build = |more: &[(u32, u32)], new: &[(u32, u32)], weight: Option<f32>| {
        let kept: Vec<(u32, u32)> = edges(&random)
            .into_iter()
            .chain(new.iter().copied())
            .collect();
        let weights = weight.map(|weight| {
            vec![1.5; kept.len()]
                .into_iter()
                .chain(vec![weight; more.len()])
                .collect()
        });
        let all = kept
            .into_iter()
            .chain(more.iter().copied())
            .collect::<Vec<_>>();
        let builder = GraphBuilder::undirected((n as usize) + new.len()).edges(all);
        weights
            .into_iter()
            .fold(builder, |builder, weights: Vec<f32>| {
                builder.weights(weights)
            })
            .build()
            .unwrap()
    };
    let small = [
        ("global.dim", "8"),
        ("local.dim", "8"),
        ("local.log-window.steps", "0"),
    ];
    let (_, without) = fit(&build(&[], &[], Some(0.0)), &small);
    let unweighted: Vec<(u32, u32)> = new
        .iter()
        .map(|&(i, c)| (i, (c + 7) % n))
        .chain(closing.clone())
        .collect();
    assert_rows(&without, &build(&unweighted, &new, Some(0.0)), false);
    let (_, with) = fit(&build(&closing, &[], Some(0.0)), &small);
    assert_rows(&with, &build(&[], &new, Some(0.0)), false);
    let (_, none) = fit(
        &build(&[], &[], None),
        &[&small[..], &[("delta", "2")]].concat(),
    );
    assert_rows(&none, &build(&closing, &new, None), false);
}

#[test]
fn graphs_that_take_the_whole_count_have_the_same_rows() {
    // Dense: motifs of the whole graph take less. Other motifs: W needs their counts. Many changes: factors are refined.
    let dense = Generator::Er {
        nodes: 120,
        degree: 80.0,
    }
    .graph(4, &Silent)
    .unwrap();
    let (_, model) = fit(&dense, &[("global.dim", "16")]);
    assert!(stages(&assert_rows(&model, &with_new(&dense, 5), false)).contains(&"count"));
    let old = communities(300, 13);
    let (_, model) = fit(&old, &[("global.dim", "16"), ("motifs", "edge,triangle")]);
    assert_rows(&model, &with_new(&old, 7), false);
    // A new node closes the first triangle of an old edge: its weight was zero, and no row of a factor stands for it.
    let ring = (0..60u32)
        .flat_map(|i| [(i, (i + 1) % 60), (i, (i + 2) % 60)])
        .chain([(60, 61), (61, 62), (62, 0)]);
    let (_, model) = fit(
        &graph(63, ring.clone()),
        &[("global.dim", "16"), ("motifs", "triangle")],
    );
    assert_rows(
        &model,
        &graph(64, ring.chain([(63, 60), (63, 61), (63, 5)])),
        false,
    );
    let (_, model) = fit(&old, &[("global.dim", "16")]);
    let other = edges(&communities(300, 14)).into_iter().step_by(4);
    let kept = edges(&old)
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % 4 != 0)
        .map(|(_, edge)| edge);
    let changed = graph(300, kept.chain(other));
    let run = assert_rows(&model, &with_new(&changed, 7), false);
    assert!(
        run.report.like.unwrap().views[0].iterations > 0,
        "factors were refined"
    );
    let slightly = graph(300, edges(&old).into_iter().skip(3));
    let run = assert_rows(&model, &with_new(&slightly, 7), false);
    assert!(
        run.report.like.unwrap().views[0].residual.is_some(),
        "edges have changed"
    );
}

#[test]
fn weights_directions_and_names() {
    let pairs: Vec<(u32, u32)> = (0..300u32)
        .flat_map(|i| [(i, (i + 1) % 300), (i, (i * 7 + 3) % 300)])
        .collect();
    let pairs: Vec<(u32, u32)> = pairs.into_iter().filter(|(a, b)| a != b).collect();
    let more: Vec<(u32, u32)> = pairs
        .iter()
        .copied()
        .chain([(300, 5), (301, 300), (302, 9), (11, 302)])
        .collect();
    let weights = |edges: &[(u32, u32)]| {
        edges
            .iter()
            .map(|(a, b)| 1.0 + (a * 3 + b) as f32 / 50.0)
            .collect::<Vec<_>>()
    };
    for directed in [false, true] {
        let build = |nodes: usize, edges: &[(u32, u32)], ids: NodeIds| {
            let builder = if directed {
                GraphBuilder::directed(nodes)
            } else {
                GraphBuilder::undirected(nodes)
            };
            builder
                .edges(edges.to_vec())
                .weights(weights(edges))
                .ids(ids)
                .build()
                .unwrap()
        };
        let name = |i: u32| format!("n{}", (i + 150) % 303);
        let names = |nodes: u32| NodeIds::from_texts(&(0..nodes).map(name).collect::<Vec<_>>());
        let (_, model) = fit(&build(300, &pairs, names(300)), &[("global.dim", "16")]);
        let run = assert_rows(&model, &build(303, &more, names(303)), false);
        assert_eq!(run.embedding.ids.get(0).to_string(), "n147");
        assert_added(&model, &build(303, &more, names(303)));
    }
}

/// The part of a graph that new nodes are, by their ids.
fn added(whole: &Graph, model: &Model) -> Graph {
    let known = model.ids().index();
    let name = |i: u32| whole.ids().get(i).to_string();
    let is_new = |i: u32| known.find(&name(i)).is_none();
    let rows = (0..whole.nodes() as u32).flat_map(|i| {
        let slots = whole.pattern().range(i as usize);
        let row = whole.neighbors(i).iter().zip(slots);
        row.map(move |(&j, slot)| (i, j, slot))
    });
    let once = rows.filter(|(i, j, _)| whole.is_directed() || i < j);
    let slots: Vec<_> = once.filter(|(i, j, _)| is_new(*i) || is_new(*j)).collect();
    let mut nodes: Vec<u32> = slots.iter().flat_map(|(i, j, _)| [*i, *j]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let number = |i: u32| nodes.binary_search(&i).unwrap() as u32;
    let pairs = slots.iter().map(|(i, j, _)| (number(*i), number(*j)));
    let builder = match whole.is_directed() {
        true => GraphBuilder::directed(0),
        false => GraphBuilder::undirected(0),
    };
    let names: Vec<String> = nodes.iter().map(|&i| name(i)).collect();
    let mut builder = builder
        .ids(NodeIds::from_texts(&names))
        .edges(pairs.collect());
    if let Some(weights) = whole.weights() {
        builder = builder.weights(slots.iter().map(|(.., slot)| weights[*slot]).collect());
    }
    builder.build().unwrap()
}

const ADDED_ONLY: Like = Like {
    new_only: false,
    added_only: true,
    ..NEW_ONLY
};

/// Compares proximity columns made from the edges of new nodes alone with those made from the whole graph.
fn assert_added(model: &Model, whole: &Graph) {
    let folder = tempfile::tempdir().unwrap();
    let all = new_only(model, whole);
    let places = all.embedding.ids.index();
    let added = added(whole, model);
    for model in kept(model, folder.path()) {
        let run = model.embed(&added, &ADDED_ONLY, &Silent).unwrap();
        let cols = run.embedding.vectors.cols();
        assert_eq!(run.embedding.columns, all.embedding.columns[..cols]);
        assert!(all.embedding.columns[cols].starts_with("structure"));
        assert!(!run.embedding.ids.is_empty());
        for (k, id) in run.embedding.ids.iter().enumerate() {
            let at = places.find(&id.to_string()).unwrap() as usize;
            let (own, whole) = (run.embedding.vectors.row(k), all.embedding.vectors.row(at));
            assert_eq!(own, &whole[..cols], "node {id}");
        }
        let facts = run.report.like.unwrap();
        assert!(facts.added_only && facts.new == run.embedding.ids.len());
    }
}

#[test]
fn edges_of_new_nodes_alone_are_enough_for_proximity() {
    let old = communities(300, 13);
    let (_, model) = fit(&old, &[("global.dim", "16")]);
    assert_added(&model, &with_new(&old, 7));
    let refused = |model: &Model, graph: &Graph, like: &Like| {
        let refused = model.embed(graph, like, &Silent);
        refused.map(|run| run.embedding).unwrap_err().to_string()
    };
    let part = added(&with_new(&old, 7), &model);
    let structure = Like {
        structure_only: true,
        ..ADDED_ONLY
    };
    assert!(refused(&model, &part, &structure).contains("take the whole graph"));
    let strangers = NodeIds::from_texts(&["x", "y", "z"]);
    let strangers = graph(3, [(0, 1)]).with_ids(strangers).unwrap();
    let message = refused(&model, &strangers, &ADDED_ONLY);
    assert!(
        message.contains("no node of these edges is in the model"),
        "{message}"
    );
    let (_, motifs) = fit(&old, &[("global.dim", "16"), ("motifs", "edge,triangle")]);
    assert!(refused(&motifs, &part, &ADDED_ONLY).contains("added: the model has motif graphs"));
    // An edge between old nodes moves no new one, and a note says that it is left out.
    let more = graph(300, [(0, 299)]);
    let run = model.embed(&part.with_added(&more).unwrap(), &ADDED_ONLY, &Silent);
    let run = run.unwrap();
    let notes = run.report.notes.iter().map(ToString::to_string);
    assert!(notes.into_iter().any(|note| note.contains("left out (1)")));
    let alone = model.embed(&part, &ADDED_ONLY, &Silent).unwrap();
    let at = alone.embedding.ids.index();
    for (k, id) in run.embedding.ids.iter().enumerate() {
        let at = at.find(&id.to_string()).unwrap() as usize;
        assert_eq!(
            run.embedding.vectors.row(k),
            alone.embedding.vectors.row(at)
        );
    }
}

#[test]
fn without_new_nodes_there_are_no_rows() {
    let old = communities(200, 3);
    let (run, model) = fit(&old, &[("global.dim", "16")]);
    for graph in [old.clone(), graph(200, edges(&old).into_iter().skip(2))] {
        let none = new_only(&model, &graph);
        assert_eq!(
            (none.embedding.vectors.rows(), none.embedding.vectors.cols()),
            (0, 16)
        );
        assert!(none.embedding.ids.is_empty() && none.embedding.columns == run.embedding.columns);
        assert!(
            none.report
                .notes
                .iter()
                .any(|note| note.to_string().contains("no rows")),
            "{:?}",
            none.report.notes
        );
    }
    let only = model
        .embed(
            &old,
            &Like {
                structure_only: true,
                ..NEW_ONLY
            },
            &Silent,
        )
        .unwrap();
    assert_eq!(only.embedding.vectors.cols(), 2);
}

/// Whatever is damaged among what is read is found before any row is given. So small a model is read whole.
#[test]
fn damaged_files_are_refused() {
    let old = communities(200, 3);
    let (_, model) = fit(&old, &[("global.dim", "16")]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hone");
    model.write(&path, Existing::Replace).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let larger = with_new(&old, 3);
    let whole = like(&model, &larger).embedding;
    for at in (bytes.len() / 8..bytes.len()).step_by(bytes.len() / 61) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        std::fs::write(&path, &damaged).unwrap();
        let placed = Model::open(&path).and_then(|model| model.embed(&larger, &NEW_ONLY, &Silent));
        let message = placed
            .map(|run| run.embedding)
            .expect_err("damaged")
            .to_string();
        assert!(
            message.contains("m.hone") && message.contains("save it again"),
            "byte {at}: {message}"
        );
    }
    std::fs::write(&path, &bytes).unwrap();
    let opened = Model::open(&path).unwrap();
    assert!(opened == model && opened.memory() < model.memory() / 2);
    assert_eq!(like(&opened, &larger).embedding, whole);
    let again = folder.path().join("again.hone");
    opened.write(&again, Existing::Replace).unwrap();
    assert!(
        std::fs::read(again).unwrap() == bytes,
        "a model that was opened is written as it was"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn any_new_nodes(seed in 0u64..1000, new in 1u32..9, gone in 0usize..30, degree in 2u32..9) {
        let generator = Generator::Er { nodes: 400, degree: f64::from(degree) };
        let old = generator.graph(seed, &Silent).unwrap();
        let (_, model) = fit(&old, &[("global.dim", "16")]);
        let fewer = graph(400, edges(&old).into_iter().skip(gone));
        assert_rows(&model, &with_new(&fewer, new), false);
    }
}
