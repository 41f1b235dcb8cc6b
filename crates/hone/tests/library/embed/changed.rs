//! Graphs that have changed since the fit of a model: what is refined, taken away or refused.

use hone::dense::Block;
use hone::graph::{Generator, GraphBuilder};
use hone::{Hone, Like, Silent};

use super::model::{apart, communities, default_of, edges, error, fit, graph, like};

/// Cosine of the inner products of rows: what rotations leave alone.
fn agreement(a: &Block, b: &Block, columns: usize) -> f64 {
    let dot = |x: &Block, i: usize, j: usize| {
        x.row(i)[..columns]
            .iter()
            .zip(&x.row(j)[..columns])
            .map(|(a, b)| f64::from(a * b))
            .sum::<f64>()
    };
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for i in 0..a.rows() {
        for j in 0..a.rows() {
            let (x, y) = (dot(a, i, j), dot(b, i, j));
            (both, of_a, of_b) = (both + x * y, of_a + x * x, of_b + y * y);
        }
    }
    both / (of_a * of_b).sqrt()
}

#[test]
fn factors_of_a_graph_that_changed_much_are_refined_and_turned_back() {
    let old = communities(300, 13);
    let settings = &[("global.dim", "8"), ("features.form.components.dim", "2")];
    let (run, model) = fit(&old, settings);
    let kept = edges(&old)
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % 4 != 0)
        .map(|(_, edge)| edge);
    let new = graph(
        300,
        kept.chain(edges(&communities(300, 14)).into_iter().step_by(4)),
    );
    let placed = like(&model, &new);
    let facts = &placed.report.like.as_ref().unwrap().views[0];
    assert!(
        facts.iterations > 0 && facts.rotation.unwrap() < 0.7,
        "{facts:?}"
    );
    assert!(
        placed
            .report
            .notes
            .iter()
            .any(|note| note.to_string().contains("refined")),
        "{:?}",
        placed.report.notes
    );
    let rerun = super::run(default_of(settings), &new).embedding.vectors;
    let (found, fitted) = (&placed.embedding.vectors, &run.embedding.vectors);
    let (near, before) = (agreement(found, &rerun, 6), agreement(fitted, &rerun, 6));
    assert!(
        near > 0.98 && near > before,
        "inner products are those of a rerun: {near}, before {before}"
    );
    let far = |z: &Block| {
        (0..300)
            .map(|i| apart(&fitted.row(i)[..6], &z.row(i)[..6]))
            .sum::<f64>()
            / 300.0
    };
    assert!(
        far(found) < far(&rerun),
        "{} and {}",
        far(found),
        far(&rerun)
    );
}

/// Columns of structure are moved by the median change of shared nodes: zero while fewer than half of them changed.
#[test]
fn what_all_nodes_gained_together_is_taken_away() {
    let old = communities(200, 15);
    let (run, model) = fit(&old, &[("global.dim", "24")]);
    let more = edges(&communities(200, 16)).into_iter().step_by(3);
    let grown = graph(200, edges(&old).into_iter().chain(more));
    let (placed, only) = (
        like(&model, &grown),
        Like {
            structure_only: true,
            ..Like::default()
        },
    );
    let plain = model
        .embed(&grown, &only, &Silent)
        .unwrap()
        .embedding
        .vectors;
    let drift = &placed.report.like.as_ref().unwrap().drift;
    assert!(
        drift.len() == 3 && drift.iter().any(|&x| x != 0.0),
        "{drift:?}"
    );
    for j in 0..3 {
        let fitted = |i: usize| run.embedding.vectors.get(i, 21 + j);
        let mut changes: Vec<f32> = (0..200).map(|i| fitted(i) - plain.get(i, j)).collect();
        changes.sort_by(f32::total_cmp);
        let median = 0.5 * (f64::from(changes[99]) + f64::from(changes[100]));
        assert!(
            (f64::from(drift[j]) - median).abs() < 1e-6,
            "{} {median}",
            drift[j]
        );
        (0..200).for_each(|i| {
            assert_eq!(
                placed.embedding.vectors.get(i, 21 + j),
                plain.get(i, j) + drift[j]
            );
        });
    }
    // Three graphs side by side, of which one changes.
    let thrice = |extra: Option<(u32, u32)>| {
        let copies = (0..3).flat_map(|c| {
            edges(&old)
                .into_iter()
                .map(move |(i, j)| (200 * c + i, 200 * c + j))
        });
        graph(600, copies.chain(extra))
    };
    let (run, model) = fit(&thrice(None), &[("global.dim", "24")]);
    let other = (1..200).find(|&j| !old.has_edge(0, j)).unwrap();
    let placed = like(&model, &thrice(Some((0, other))));
    assert_eq!(placed.report.like.unwrap().drift, [0.0; 3]);
    (200..600).for_each(|i| {
        assert_eq!(
            placed.embedding.vectors.row(i),
            run.embedding.vectors.row(i),
            "node {i}"
        );
    });
}

#[test]
fn what_cannot_be_placed_is_refused() {
    let old = communities(300, 17);
    let (_, model) = fit(&old, &[("global.dim", "16")]);
    let turned = edges(&old)
        .into_iter()
        .map(|(i, j)| (i * 7 % 300, j * 7 % 300));
    let message = error(&model, &graph(300, turned));
    assert!(
        message.contains("not those of the same nodes") && message.contains("structure-only"),
        "{message}"
    );
    // In a dense graph all nodes are alike, and factors of other nodes are hardly worse than their own.
    let dense = Generator::Er {
        nodes: 120,
        degree: 60.0,
    }
    .graph(5, &Silent)
    .unwrap();
    let (_, of_dense) = fit(&dense, &[("global.dim", "16")]);
    let turned = edges(&dense)
        .into_iter()
        .map(|(i, j)| (i * 7 % 120, j * 7 % 120));
    let message = error(&of_dense, &graph(120, turned));
    assert!(message.contains("not those of the same nodes"), "{message}");
    let few = graph(
        9,
        [
            (0, 1),
            (1, 2),
            (2, 3),
            (4, 5),
            (5, 6),
            (6, 7),
            (7, 8),
            (0, 8),
        ],
    );
    let message = error(&model, &few);
    assert!(
        message.contains("only 9 of the 300 nodes") && message.contains("at least"),
        "{message}"
    );
    let message = error(&model, &graph(330, (0..30).map(|i| (i, 300 + i))));
    assert!(
        message.contains("only 0 of the 300 nodes"),
        "no edge between nodes of the model is left: {message}"
    );
    let weighted = GraphBuilder::undirected(3)
        .edges(vec![(0, 1), (1, 2)])
        .weights(vec![2.0, 3.0])
        .build()
        .unwrap();
    assert!(
        error(&model, &weighted).contains("has no edge weights"),
        "{}",
        error(&model, &weighted)
    );
    for (setting, value, named) in [
        ("psi", "p", "psi"),
        ("accumulate", "mean", "accumulate"),
        ("order", "psi-of-power", "order"),
        ("local.solver.method", "ccd", "local.solver.method"),
        ("features.diffusion.steps", "2", "features.diffusion.steps"),
        ("structure.depth", "2", "structure.depth"),
        ("features.combine", "before", "features.combine"),
        ("model", "cp", "model"),
        ("sample", "8", "sample"),
    ] {
        let hone = Hone::new(default_of(&[(setting, value)])).unwrap();
        let message = hone.fit(&old, &Silent).unwrap_err().to_string();
        assert!(message.starts_with(named), "{setting}: {message}");
    }
    let arcs = GraphBuilder::directed(3)
        .edges(vec![(0, 1), (1, 2)])
        .build()
        .unwrap();
    assert!(
        Hone::new(default_of(&[("direction", "source")]))
            .unwrap()
            .fit(&arcs, &Silent)
            .is_err()
    );
    assert!(
        Hone::new(default_of(&[]))
            .unwrap()
            .fit(&arcs, &Silent)
            .is_ok()
    );
    let (run, model) = fit(&arcs, &[("direction", "ignore")]);
    assert_eq!(like(&model, &arcs).embedding, run.embedding);
    let (_, model) = fit(&communities(100, 3), &[("global.dim", "16")]);
    let message = error(&model, &arcs);
    assert!(
        message.starts_with("direction: ") && message.contains("this one is directed"),
        "{message}"
    );
}

/// The path of changed factors, too, has the same bits for any number of threads.
#[test]
fn refined_factors_do_not_depend_on_threads() {
    let old = communities(300, 13);
    let (_, model) = fit(&old, &[("global.dim", "16")]);
    let kept = edges(&old)
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % 4 != 0)
        .map(|(_, edge)| edge);
    let new = graph(
        310,
        kept.chain(edges(&communities(300, 14)).into_iter().step_by(4))
            .chain([(305, 1), (306, 305)]),
    );
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let run = pool.install(|| like(&model, &new));
        assert!(run.report.like.unwrap().views[0].iterations > 0);
        run.embedding
    };
    assert!([2, 7].into_iter().all(|threads| of(threads) == of(1)));
}
