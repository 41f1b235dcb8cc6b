//! Autoencoders, and all motif matrices at once.

use hone::config::Layers;
use hone::graph::builtin;
use hone::{Error, Hone, Shortage, Silent};

use super::{chorded_ring, config, paper, run};

#[test]
fn autoencoders_embed_and_tell_how_they_learnt() {
    let graph = builtin("karate").unwrap();
    let base = [
        ("global.solver.method", "autoencoder"),
        ("global.dim", "6"),
        ("local.dim", "4"),
    ];
    for activation in ["sigmoid", "tanh", "relu", "identity"] {
        let config = config(&[&base[..], &[("global.solver.activation", activation)]].concat());
        let first = run(config.clone(), &graph);
        assert_eq!(
            (
                first.embedding.vectors.rows(),
                first.embedding.vectors.cols()
            ),
            (34, 6)
        );
        let shares: f64 = first.report.importance.iter().map(|part| part.share).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{activation}: {shares}");
        let facts = first.report.global.as_ref().unwrap();
        let fit = facts.autoencoder.as_ref().unwrap();
        assert!(
            fit.epochs > 0 && fit.training_loss.len() == fit.epochs && fit.scale > 0.0,
            "{fit:?}"
        );
        assert!(facts.residual < 1.0, "{activation}: {}", facts.residual);
        assert!(
            run(config, &graph).embedding == first.embedding,
            "{activation} repeats"
        );
    }
    let wider = config(&[
        base[0],
        ("global.dim", "200"),
        ("local.dim", "2"),
        ("motifs", "[\"edge\"]"),
    ]);
    assert_eq!(
        run(wider, &graph).embedding.vectors.cols(),
        200,
        "a code may be wider than Y"
    );
}

#[test]
fn joint_models_embed_directed_and_undirected_graphs() {
    for (model, directed) in [
        ("tucker", false),
        ("tucker", true),
        ("cp", false),
        ("cp", true),
    ] {
        let graph = chorded_ring(40, directed);
        for psi in ["w", "p", "l-norm"] {
            let config = config(&[
                ("model", model),
                ("psi", psi),
                ("global.dim", "12"),
                ("steps", "2"),
            ]);
            let found = run(config, &graph);
            let z = &found.embedding.vectors;
            let what = format!("{model} {psi} directed {directed}");
            assert_eq!((z.rows(), z.cols()), (41, 12), "{what}");
            assert!(
                z.as_slice().iter().all(|x| x.is_finite()) && z.row(40).iter().all(|&x| x == 0.0),
                "{what}"
            );
            let joint = found.report.joint.as_ref().unwrap();
            assert_eq!(joint.slices.len(), 26, "{what}");
            assert!(
                joint.residual < 1.0
                    && joint.descent.losses.windows(2).all(|l| l[1] <= l[0] + 1e-6),
                "{what}"
            );
            let shares: f64 = found.report.importance.iter().map(|part| part.share).sum();
            assert!((shares - 1.0).abs() < 1e-6, "{what}: {shares}");
            // Columns of Z are as long as their weights, and the core has the weights for rows.
            for (length, weight) in z
                .column_norms(hone::dense::Norm::L2)
                .iter()
                .zip(&joint.weights)
            {
                assert!(
                    (length - weight).abs() < 1e-4 * joint.weights[0],
                    "{what}: {length} {weight}"
                );
            }
            assert_eq!(
                joint.core.as_ref().map(Vec::len),
                (model == "tucker").then_some(8),
                "{what}"
            );
            let back: hone::report::Report = serde_json::from_str(&found.report.to_json()).unwrap();
            assert_eq!(back.joint.unwrap().slices.len(), 26);
        }
    }
}

#[test]
fn slices_made_anew_give_the_same_bits_as_slices_held() {
    let graph = chorded_ring(500, false);
    let hone = Hone::new(config(&[
        ("model", "tucker"),
        ("global.dim", "8"),
        ("joint.iterations", "2"),
    ]))
    .unwrap();
    let held = hone.clone().embed(&graph, &Silent).unwrap();
    assert!(held.report.joint.as_ref().unwrap().slices_held);
    let tight = hone
        .as_if_short(Shortage::Slices)
        .embed(&graph, &Silent)
        .unwrap();
    assert!(!tight.report.joint.as_ref().unwrap().slices_held);
    assert!(tight.embedding == held.embedding);
}

#[test]
fn attributes_stand_beside_joint_embeddings() {
    let graph = builtin("karate").unwrap();
    let layers = Layers::new()
        .preset("hone")
        .unwrap()
        .set("model", "cp")
        .unwrap();
    let found = run(
        layers.set("global.dim", "40").unwrap().build().unwrap(),
        &graph,
    );
    assert_eq!(found.embedding.vectors.cols(), 40);
    assert!(found.report.structure.unwrap().components > 0);
}

#[test]
fn what_joint_models_and_autoencoders_cannot_do_is_refused_by_name() {
    let cases: [(&[(&str, &str)], &str); 12] = [
        (
            &[
                ("local.solver.method", "autoencoder"),
                ("local.solver.batch", "0"),
            ],
            "local.solver.batch",
        ),
        (
            &[
                ("global.solver.method", "autoencoder"),
                ("global.solver.rate", "0.0"),
            ],
            "global.solver.rate",
        ),
        (
            &[
                ("global.solver.method", "autoencoder"),
                ("global.solver.hidden", "[0]"),
            ],
            "global.solver.hidden",
        ),
        (
            &[
                ("global.solver.method", "autoencoder"),
                ("global.solver.held-out", "1.0"),
            ],
            "global.solver.held-out",
        ),
        (
            &[
                ("global.solver.method", "autoencoder"),
                ("global.solver.start", "svd"),
                ("global.solver.activation", "relu"),
            ],
            "global.solver.start",
        ),
        (&[("model", "tensor")], "model"),
        (&[("model", "tucker"), ("steps", "auto")], "steps"),
        (
            &[("model", "cp"), ("global.output", "local")],
            "global.output",
        ),
        (
            &[("model", "cp"), ("structure.enabled", "true")],
            "features.combine",
        ),
        (&[("joint.motif-rank", "0")], "joint.motif-rank"),
        (&[("joint.regularization", "-1.0")], "joint.regularization"),
        (&[("joint.tolerances", "1.0")], "joint"),
    ];
    for (settings, named) in cases {
        let layers = settings
            .iter()
            .try_fold(paper(), |layers, (key, value)| layers.set(key, value));
        let error = layers.and_then(Layers::build).unwrap_err();
        assert!(
            matches!(&error, Error::Config { field, .. } if field.starts_with(named)),
            "{settings:?}: {error}"
        );
    }
}
