//! Every solver within the method: edges, threads, reports, settings, errors.
#![allow(missing_docs)]

use crate::naive;

use hone::config::Layers;
use hone::dense::Block;
use hone::factor::{SOLVERS, Solver, Task};
use hone::matrix::{MotifMatrix, Psi};
use hone::message::Message;
use hone::operator::Operator;
use hone::random::Key;
use hone::{Hone, Silent, graph};
use naive::{leaf, zeros};

/// Every solver with every choice that leads to other code; few iterations.
fn every() -> Vec<Solver> {
    let more = [
        r#"{"method":"svd"}"#,
        r#"{"method":"als","iterations":4,"regularization":0.1}"#,
        r#"{"method":"als","iterations":4,"orthogonal":"left"}"#,
        r#"{"method":"als","iterations":4,"orthogonal":"right"}"#,
        r#"{"method":"als","iterations":4,"orthogonal":"both","start":"random"}"#,
        r#"{"method":"als","iterations":4,"observed-only":true}"#,
        r#"{"method":"ccd","iterations":4}"#,
        r#"{"method":"ccd","iterations":4,"observed-only":true,"regularization":0.1}"#,
        r#"{"method":"sgd","iterations":3}"#,
        r#"{"method":"sgd","iterations":3,"observed-only":true,"start":"random"}"#,
        r#"{"method":"nmf","iterations":4}"#,
        r#"{"method":"nmf","iterations":4,"start":"random"}"#,
        r#"{"method":"bregman","iterations":3}"#,
        r#"{"method":"bregman","iterations":3,"loss":"poisson"}"#,
        r#"{"method":"bregman","iterations":3,"loss":"poisson","entries":"sampled"}"#,
        r#"{"method":"bregman","iterations":3,"loss":"gamma-log","entries":"observed"}"#,
        r#"{"method":"bregman","iterations":3,"loss":"gamma-inverse","entries":"observed"}"#,
        r#"{"method":"bregman","iterations":3,"loss":"bernoulli"}"#,
    ];
    more.iter()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}")))
        .collect()
}

fn task(rank: usize) -> Task<'static> {
    Task {
        rank,
        right: true,
        key: Key::new(3),
        progress: &Silent,
        aside: None,
    }
}

/// A multiple c of S under a penalty of cλ has the factors of S under λ, times √c: so it is near the largest norm that each
/// solver says it takes.
#[test]
fn the_largest_matrices_are_factored_like_others() {
    let w = naive::graph(60, 0.1, true, 4);
    for (text, exponent) in [
        (r#"{"method":"als","iterations":30}"#, 66),
        (
            r#"{"method":"als","iterations":30,"observed-only":true}"#,
            66,
        ),
        (r#"{"method":"ccd","iterations":30}"#, 66),
        (r#"{"method":"nmf","iterations":30}"#, 66),
        (r#"{"method":"sgd","iterations":10}"#, 66),
        (r#"{"method":"bregman","iterations":30}"#, 114),
    ] {
        let large: naive::Matrix = w
            .iter()
            .map(|row| row.iter().map(|x| x * 2f64.powi(exponent)).collect())
            .collect();
        let factor = |w: &naive::Matrix, penalty: f64| {
            let mut json: serde_json::Value = serde_json::from_str(text).expect("json");
            json["regularization"] = penalty.into();
            let solver: Solver = serde_json::from_value(json).expect("options");
            assert!(
                !solver.is_scale_free() && solver.largest() >= f64::from(exponent) + 6.0,
                "{text}"
            );
            solver.factor(&leaf(w, false), &task(4)).expect("in range")
        };
        let (found, plain) = (factor(&large, 0.3 * 2f64.powi(exponent)), factor(&w, 0.3));
        assert!(plain.info.rank > 0, "{text}");
        for (found, plain) in found.sigma.iter().zip(&plain.sigma) {
            let found = found / 2f64.powi(exponent);
            assert!(
                (found - plain).abs() < 1e-3 * plain.abs().max(1e-3),
                "{text}: {found} {plain}"
            );
        }
    }
}

#[test]
fn the_table_lists_every_solver() {
    let names: Vec<&str> = SOLVERS.iter().map(|(name, _)| *name).collect();
    for solver in every() {
        let json = serde_json::to_value(&solver).expect("json");
        assert!(
            names.contains(&json["method"].as_str().expect("a name")),
            "{json}"
        );
    }
    assert!(
        SOLVERS
            .iter()
            .all(|(name, line)| !name.is_empty() && line.ends_with('.') && !line.starts_with(' '))
    );
    for (name, _) in SOLVERS {
        let solver: Solver =
            serde_json::from_value(serde_json::json!({ "method": name })).expect("defaults");
        solver.check("local.solver").expect("defaults are in range");
        let odd = serde_json::json!({ "method": name, "tolerence": 0.1 });
        assert!(
            serde_json::from_value::<Solver>(odd).is_err(),
            "{name} takes unknown options"
        );
    }
}

#[test]
fn empty_and_zero_matrices_and_ranks_beyond_the_size() {
    let path = |n: usize| {
        let mut w = zeros(n, n);
        (1..n).for_each(|i| (w[i - 1][i], w[i][i - 1]) = (0.5, 0.5));
        w
    };
    for solver in every() {
        for (n, rank) in [(0, 3), (1, 3), (6, 2)] {
            let found = solver.factor(&leaf(&zeros(n, n), true), &task(rank));
            let found = found.unwrap_or_else(|e| panic!("{solver:?} of {n} × {n} zeros: {e}"));
            assert_eq!(
                (found.u.rows(), found.u.cols(), found.sigma.len()),
                (n, rank, rank),
                "{solver:?}"
            );
            assert!(
                found.u.as_slice().iter().all(|&x| x == 0.0),
                "{solver:?}: nothing has no columns"
            );
            assert_eq!((found.info.rank, found.sigma[0]), (0, 0.0), "{solver:?}");
        }
        let found = solver.factor(&leaf(&path(3), true), &task(8));
        let found = found.unwrap_or_else(|e| panic!("{solver:?} of a path: {e}"));
        assert_eq!((found.u.cols(), found.sigma.len()), (8, 8), "{solver:?}");
        assert!(
            found.info.rank <= 3 && found.sigma[found.info.rank..].iter().all(|&x| x == 0.0),
            "{solver:?}"
        );
        assert!(
            found.sigma.windows(2).all(|pair| pair[0] >= pair[1]),
            "{solver:?}: {:?}",
            found.sigma
        );
        let norms = found.u.column_norms(hone::dense::Norm::L2);
        assert!(
            norms[..found.info.rank]
                .iter()
                .all(|norm| (norm - 1.0).abs() < 1e-4),
            "{solver:?}: {norms:?}"
        );
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    for solver in every() {
        // All entries are examined by some: they get less to do. The others get more than one chunk of everything.
        let (n, rank) = if matches!(solver, Solver::Bregman(_)) {
            (150, 3)
        } else {
            (1100, 16)
        };
        let w = naive::csr(&naive::graph(n, 4.0 / n as f64, false, 8), n);
        let y = naive::block(n, 2 * rank, 3);
        let positive = Block::from_vec(n, 2 * rank, y.as_slice().iter().map(|x| x.abs()).collect());
        naive::same_on_any_threads(|| {
            let w = Operator::symmetric("W", w.clone());
            let s = MotifMatrix {
                psi: Psi::P,
                ..MotifMatrix::default()
            }
            .operator(&w, 2)
            .expect("in range");
            let local = solver
                .factor(&s, &task(rank))
                .unwrap_or_else(|e| panic!("{solver:?}: {e}"));
            let global = solver.factor(&Operator::dense("Y", positive.clone()), &task(rank));
            let global = global.unwrap_or_else(|e| panic!("{solver:?}: {e}"));
            let bits = |block: &Block| {
                block
                    .as_slice()
                    .iter()
                    .map(|x| x.to_bits())
                    .collect::<Vec<_>>()
            };
            (
                bits(&local.u),
                bits(&global.u),
                bits(&global.v.expect("asked for")),
                local.info,
            )
        });
    }
}

#[test]
fn numbers_out_of_range_are_errors_not_vectors() {
    // More nodes than are decomposed whole, in f64, where nothing overflows.
    let mut w = zeros(300, 300);
    (1..300).for_each(|i| (w[i - 1][i], w[i][i - 1]) = (3e38, 3e38));
    let s = Operator::power(leaf(&w, false), 2);
    for solver in every() {
        if let Err(error) = solver.factor(&s, &task(2)) {
            let told = matches!(
                error,
                hone::Error::Numeric { .. } | hone::Error::Config { .. }
            );
            assert!(told, "{solver:?}: {error}");
        } else {
            panic!("{solver:?} made numbers of overflow");
        }
    }
}

fn run(settings: &[(&str, &str)]) -> hone::Result<hone::Run> {
    let mut layers = Layers::new()
        .preset("hone-p")?
        .set("global.dim", "6")?
        .set("local.dim", "4")?;
    layers = layers.set("motifs", "[\"edge\", \"triangle\", \"clique4\"]")?;
    for (key, value) in settings {
        layers = layers.set(key, value)?;
    }
    Hone::new(layers.build()?)?.embed(&graph::builtin("karate")?, &Silent)
}

#[test]
fn embeddings_by_every_solver_report_their_losses() {
    // The autoencoder has losses of its own.
    for (name, _) in SOLVERS.iter().filter(|(name, _)| *name != "autoencoder") {
        let run = run(&[
            ("local.solver.method", name),
            ("global.solver.method", name),
        ]);
        let run = run.unwrap_or_else(|e| panic!("{name}: {e}"));
        let report = &run.report;
        assert!(
            run.embedding
                .vectors
                .as_slice()
                .iter()
                .all(|x| x.is_finite()),
            "{name}"
        );
        assert!(
            report.local.iter().all(|facts| facts.loss.is_some()),
            "{name}"
        );
        let global = report.global.as_ref().expect("a global stage");
        let share: f64 = report.importance.iter().map(|part| part.share).sum();
        assert!((share - 1.0).abs() < 1e-4, "{name}: {share}");
        assert!(
            (0.0..1.0).contains(&global.residual),
            "{name}: {}",
            global.residual
        );
        let loss = global.loss.as_ref().expect("followed");
        if *name != "bregman" {
            let least = loss.values.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(
                (least - global.residual).abs() < 1e-4,
                "{name}: {least} {}",
                global.residual
            );
        }
        let back: hone::report::Report =
            serde_json::from_str(&report.to_json()).expect("a report reads back");
        let measures = |report: &hone::report::Report| -> Vec<_> {
            report
                .local
                .iter()
                .filter_map(|facts| facts.loss.clone())
                .map(|loss| loss.measure)
                .collect()
        };
        assert_eq!(
            (measures(&back), &back.config),
            (measures(report), &report.config)
        );
    }
}

/// The report says whether the global stage converged, as its warning does.
#[test]
fn the_global_stage_says_whether_it_converged() {
    for (name, _) in SOLVERS {
        let passes = if *name == "autoencoder" {
            "global.solver.epochs"
        } else {
            "global.solver.iterations"
        };
        let (mut few, mut many) = (None, None);
        for (count, to) in [("1", &mut few), ("5000", &mut many)] {
            let settings = [
                ("global.solver.method", *name),
                (passes, count),
                ("global.solver.tolerance", "0.01"),
            ];
            let report = run(&settings).expect("in range").report;
            let global = report.global.expect("a global stage");
            let warned = |text: &Message| {
                text.to_string()
                    .contains("the global embedding did not converge")
            };
            assert_eq!(
                global.converged,
                !report.warnings.iter().any(warned),
                "{name}"
            );
            *to = Some((global.converged, global.iterations));
        }
        let (few, many) = (few.expect("run"), many.expect("run"));
        assert!(many.0 && many.1 < 5000, "{name}: {many:?}");
        if *name != "svd" {
            assert_eq!(few.1, 1, "{name}");
        }
    }
}

/// The loss reported of Y ≈ ZH with non-negative factors, which are not orthogonal, is that of Z and H.
#[test]
fn shares_and_residual_hold_for_factors_that_are_not_orthogonal() {
    let run = run(&[
        ("local.solver.method", "nmf"),
        ("global.solver.method", "nmf"),
    ])
    .expect("non-negative");
    assert!(
        run.embedding.vectors.as_slice().iter().all(|&x| x >= 0.0),
        "Z is not negative"
    );
    let global = run.report.global.expect("a global stage");
    let loss = global.loss.expect("followed");
    assert!((global.residual - loss.values.last().expect("values")).abs() < 1e-4);
}

#[test]
fn errors_of_solvers_name_field_stage_and_motif() {
    let refused = |settings: &[(&str, &str)]| run(settings).expect_err("refused").to_string();
    let poisson = [
        ("local.solver.method", "bregman"),
        ("local.solver.loss", "poisson"),
        ("psi", "l"),
    ];
    assert_eq!(
        refused(&poisson),
        "local.solver.loss: Poisson needs non-negative entries: matrix L has negative ones; use psi = \"w\" or psi = \"p\""
    );
    let global = refused(&[
        ("global.solver.method", "bregman"),
        ("global.solver.loss", "poisson"),
    ]);
    assert!(
        global.starts_with("global.solver.loss: ") && global.contains("matrix Y"),
        "{global}"
    );
    let gamma = refused(&[
        ("local.solver.method", "bregman"),
        ("local.solver.loss", "gamma-log"),
    ]);
    assert!(
        gamma.contains("motif edge, step 1") && gamma.contains("observed entries alone"),
        "{gamma}"
    );
    for (method, option, value) in [
        ("als", "tolerance", "-1"),
        ("als", "regularization", "nan"),
        ("ccd", "sweeps", "0"),
        ("sgd", "step", "1.5"),
        ("sgd", "batch", "0"),
        ("nmf", "regularization", "-2"),
        ("bregman", "negatives", "0"),
        ("bregman", "loss", "cauchy"),
        ("nmf", "orthogonal", "left"),
    ] {
        let message = refused(&[
            ("local.solver.method", method),
            (&format!("local.solver.{option}"), value),
        ]);
        let named = message.contains(option) || message.contains(value);
        assert!(
            message.contains("local.solver") && named,
            "{method} {option}: {message}"
        );
    }
    let both = [
        ("local.solver.method", "als"),
        ("local.solver.orthogonal", "left"),
        ("local.solver.observed-only", "true"),
    ];
    assert!(
        refused(&both).starts_with("local.solver.orthogonal: "),
        "{}",
        refused(&both)
    );
}

#[test]
fn a_method_set_later_replaces_the_options_of_another() {
    let layers = Layers::new()
        .set("local.solver.oversampling", "4")
        .expect("a setting");
    let config = layers
        .set("local.solver.method", "als")
        .and_then(Layers::build)
        .expect("options of als alone");
    assert_eq!(
        config.local.solver,
        Solver::Als(hone::factor::als::Als::default())
    );
}

#[test]
fn columns_beyond_the_shape_are_zero_whatever_the_solver() {
    for name in ["als", "ccd", "nmf"] {
        let settings = [
            ("local.solver.method", name),
            ("global.solver.method", name),
            ("local.dim", "40"),
            ("steps", "1"),
        ];
        let found = run(&[&settings[..], &[("global.dim", "100")]].concat()).expect("fits");
        let z = &found.embedding.vectors;
        assert_eq!((z.rows(), z.cols()), (34, 100), "{name}");
        assert!(
            (0..34).all(|i| z.row(i)[34..].iter().all(|&x| x == 0.0)),
            "{name}"
        );
    }
}

#[test]
fn losses_that_the_global_stage_cannot_have_are_refused_before_any_work() {
    let poisson = [
        ("global.solver.method", "bregman"),
        ("global.solver.loss", "poisson"),
    ];
    let error = run(&poisson).expect_err("Y has both signs").to_string();
    assert!(
        error.contains("global.solver.loss") && error.contains("matrix Y has negative ones"),
        "{error}"
    );
    run(&[&poisson[..], &[("local.solver.method", "nmf")]].concat()).expect("Y is not negative");
}
