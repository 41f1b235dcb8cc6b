//! Laws of the whole method, and a slow dense recomputation of it.

#![allow(clippy::unwrap_used)]

mod bipartite;
mod changed;
mod choices;
mod directed;
mod directed_model;
mod factors;
mod joint;
mod matrices;
mod model;
mod model_counts;
mod new_only;

use hone::config::{Auto, Layers, Output};
use hone::dense::Block;
use hone::graph::{Graph, GraphBuilder, builtin};
use hone::message::Message;
use hone::motif::Weighting;
use hone::{Config, Error, Hone, Progress, Run, Silent};

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(ToString::to_string).collect()
}

fn run(config: Config, graph: &Graph) -> Run {
    Hone::new(config).unwrap().embed(graph, &Silent).unwrap()
}

/// The settings of the preset `hone-p`.
fn paper() -> Layers {
    Layers::new().preset("hone-p").unwrap()
}

fn config(settings: &[(&str, &str)]) -> Config {
    settings
        .iter()
        .fold(paper(), |layers, (key, value)| {
            layers.set(key, value).unwrap()
        })
        .build()
        .unwrap()
}

/// A ring of `n` nodes with some chords, and an isolated node at the end.
fn chorded_ring(n: u32, directed: bool) -> Graph {
    let mut edges: Vec<(u32, u32)> = (0..n).map(|i| (i, (i + 1) % n)).collect();
    edges.extend((0..n).step_by(3).map(|i| (i, (i * 7 + 2) % n)));
    edges.extend((0..n).step_by(4).map(|i| (i, (i + 2) % n)));
    let builder = if directed {
        GraphBuilder::directed(n as usize + 1)
    } else {
        GraphBuilder::undirected(n as usize + 1)
    };
    builder.edges(edges).build().unwrap()
}

#[test]
fn every_preset_embeds_directed_and_undirected_graphs() {
    for directed in [false, true] {
        let graph = chorded_ring(40, directed);
        for (preset, _) in hone::config::PRESETS {
            let layers = Layers::new()
                .preset(preset)
                .unwrap()
                .set("structure.depth", "0")
                .unwrap();
            let run = run(layers.build().unwrap(), &graph);
            let z = &run.embedding.vectors;
            assert_eq!((z.rows(), z.cols()), (41, 128), "{preset}");
            assert!(z.as_slice().iter().all(|v| v.is_finite()), "{preset}");
            let zero = z.row(40).iter().all(|&v| v == 0.0);
            assert!(
                zero || preset == "hone",
                "{preset}: an isolated node has a zero vector"
            );
            assert!(z.row(0).iter().any(|&v| v != 0.0), "{preset}");
            let shares: f64 = run.report.importance.iter().map(|part| part.share).sum();
            assert!(
                (shares - 1.0).abs() < 1e-6,
                "{preset}: shares sum to {shares}"
            );
        }
    }
}

/// ZH is the best rank-D approximation of Y: ZᵀZ is diagonal, and ZZᵀ = YYᵀ when D is enough.
#[test]
fn z_keeps_the_inner_products_of_y() {
    let graph = chorded_ring(30, false);
    let base = [
        ("local.dim", "4"),
        ("steps", "2"),
        ("motifs", "[\"edge\", \"path3\", \"triangle\"]"),
    ];
    let with = |extra: (&str, &str)| config(&[&base[..], &[extra]].concat());
    let y = run(with(("global.output", "local")), &graph)
        .embedding
        .vectors;
    assert_eq!(y.cols(), 3 * 2 * 4);
    let z = run(with(("global.dim", "24")), &graph).embedding.vectors;
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    for i in 0..y.rows() {
        for j in 0..y.rows() {
            let (of_y, of_z) = (dot(y.row(i), y.row(j)), dot(z.row(i), z.row(j)));
            assert!(
                (of_y - of_z).abs() < 1e-4,
                "rows {i}, {j}: {of_y} and {of_z}"
            );
        }
    }
    let column = |j: usize| (0..z.rows()).map(|i| z.row(i)[j]).collect::<Vec<_>>();
    for i in 0..24 {
        for j in 0..i {
            assert!(
                dot(&column(i), &column(j)).abs() < 1e-4,
                "columns {i}, {j} are not orthogonal"
            );
        }
    }
}

/// U of step k spans the leading left singular space of the explicit matrix P^k.
#[test]
fn local_embeddings_are_singular_vectors_of_the_explicit_matrix() {
    let graph = chorded_ring(24, false);
    let n = graph.nodes();
    let settings = [
        ("local.dim", "5"),
        ("steps", "2"),
        ("motifs", "[\"edge\"]"),
        ("global.output", "local"),
    ];
    let run = run(config(&settings), &graph);
    let y = &run.embedding.vectors;
    let mut p = vec![vec![0.0; n]; n];
    for i in 0..n as u32 {
        graph
            .neighbors(i)
            .iter()
            .for_each(|&j| p[i as usize][j as usize] = 1.0 / graph.degree(i) as f64);
    }
    let square: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            (0..n)
                .map(|j| (0..n).map(|l| p[i][l] * p[l][j]).sum())
                .collect()
        })
        .collect();
    for (step, matrix) in [(1, &p), (2, &square)] {
        let facts = &run.report.local[step - 1];
        for (c, sigma) in facts.singular_values.iter().enumerate() {
            let u: Vec<f64> = (0..n)
                .map(|i| f64::from(y.row(i)[(step - 1) * 5 + c]))
                .collect();
            // S Sᵀ u = sigma² u
            let v: Vec<f64> = (0..n)
                .map(|j| (0..n).map(|i| matrix[i][j] * u[i]).sum())
                .collect();
            for i in 0..n {
                let image: f64 = (0..n).map(|j| matrix[i][j] * v[j]).sum();
                assert!(
                    (image - sigma * sigma * u[i]).abs() < 2e-3,
                    "step {step}, column {c}, row {i}"
                );
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let graph = chorded_ring(500, true);
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| run(Config::default(), &graph).embedding)
    };
    let one = with_threads(1);
    assert!(one == with_threads(2) && one == with_threads(7));
}

#[test]
fn motifs_that_do_not_occur_are_zero_and_said_so() {
    let star = GraphBuilder::undirected(9)
        .edges((1..9).map(|i| (0, i)).collect())
        .build()
        .unwrap();
    let run = run(config(&[("global.output", "local"), ("steps", "1")]), &star);
    assert!(
        run.report
            .notes
            .iter()
            .any(|note| note.to_string().contains("triangle")),
        "{:?}",
        run.report.notes
    );
    let names = &run.embedding.columns;
    let triangle = names
        .iter()
        .position(|name| name == "triangle_k1_0")
        .unwrap();
    assert!((0..9).all(|i| run.embedding.vectors.row(i)[triangle] == 0.0));
}

#[test]
fn graphs_without_edges_or_nodes_embed_to_zeros() {
    for nodes in [0, 1, 5] {
        let graph = GraphBuilder::undirected(nodes).build().unwrap();
        for output in ["global", "local"] {
            let run = run(config(&[("global.output", output)]), &graph);
            assert_eq!(run.embedding.vectors.rows(), nodes);
            assert!(run.embedding.vectors.as_slice().iter().all(|&v| v == 0.0));
        }
    }
}

#[test]
fn automatic_steps_stop_where_nothing_is_new() {
    let graph = builtin("karate").unwrap();
    let w = run(config(&[("psi", "w"), ("steps", "auto")]), &graph);
    let chosen = w.report.automatic_steps.unwrap();
    assert_eq!(
        chosen.steps, 1,
        "powers of W have the vectors of W: {chosen:?}"
    );
    assert!(w.report.local.iter().all(|facts| facts.step == 1));
    let p = run(
        config(&[
            ("psi", "p"),
            ("steps", "auto"),
            ("local.dim", "4"),
            ("global.dim", "8"),
        ]),
        &graph,
    );
    assert!(p.report.automatic_steps.unwrap().novelty.len() == 4);
}

#[test]
fn more_dimensions_than_columns_are_zero_and_said_so() {
    let graph = builtin("karate").unwrap();
    for solver in ["svd", "als", "ccd", "nmf"] {
        let few = [
            ("motifs", "[\"edge\"]"),
            ("steps", "1"),
            ("local.dim", "4"),
            ("global.solver.method", solver),
        ];
        let found = run(config(&few), &graph);
        let z = &found.embedding.vectors;
        assert_eq!(z.cols(), 128, "{solver}");
        assert!(
            (0..34).all(|i| z.row(i)[4..].iter().all(|&x| x == 0.0)),
            "{solver}"
        );
        let notes: Vec<_> = found
            .report
            .notes
            .iter()
            .filter(|note| note.to_string().contains("proximity columns are"))
            .collect();
        assert!(
            notes.len() == 1 && notes[0].to_string().contains("124 of 128"),
            "{solver}: {notes:?}"
        );
    }
}

/// What "auto" stands for: D_l is 16, or as many as Z needs; components get one column in eight.
#[test]
fn columns_are_shared_by_a_rule() {
    let karate = builtin("karate").unwrap();
    let of = |preset: &str, settings: &[(&str, &str)]| {
        let layers = Layers::new()
            .preset(preset)
            .unwrap()
            .set_all(settings.iter().copied())
            .unwrap();
        let config = layers.build().unwrap().resolved();
        (
            config.local_dim(),
            config.log_window_dim(&karate),
            config.components_dim(),
        )
    };
    assert_eq!(of("hone", &[]), (112, 56, 16));
    assert_eq!(of("hone", &[("local.log-window.steps", "0")]), (112, 0, 16));
    assert_eq!(of("hone", &[("global.dim", "1")]), (16, 8, 0));
    assert_eq!(of("hone", &[("global.dim", "2")]), (16, 8, 1));
    assert_eq!(of("hone", &[("global.dim", "3")]), (16, 8, 1));
    assert_eq!(of("hone", &[("global.dim", "8")]), (16, 8, 2));
    assert_eq!(of("hone", &[("global.dim", "64")]), (56, 28, 8));
    assert_eq!(
        of("hone", &[("global.dim", "1024"), ("steps", "auto")]),
        (1008, 0, 16)
    );
    assert_eq!(
        of("hone", &[("motifs", "[\"edge\", \"triangle\"]")]),
        (56, 28, 16)
    );
    assert_eq!(of("hone", &[("structure.enabled", "false")]), (128, 64, 0));
    assert_eq!(of("hone-p", &[]), (16, 0, 0));
    assert_eq!(of("hone-p", &[("global.dim", "1024")]), (40, 0, 0));
    assert_eq!(
        of("hone-p", &[("motifs", "[\"edge\"]"), ("steps", "1")]),
        (128, 0, 0)
    );
}

/// The second view is left out where other settings need another matrix; numbers beside their range are refused by name.
#[test]
fn a_log_window_needs_the_normalised_matrix() {
    let karate = builtin("karate").unwrap();
    let with = |key: &str, value: &str| Layers::new().set(key, value).and_then(Layers::build);
    for (key, value, columns) in [
        ("local.log-window.steps", "2", 56),
        ("local.log-window.steps", "0", 0),
        ("psi", "p", 0),
        ("steps", "auto", 0),
        ("accumulate", "mean", 0),
        ("order", "psi-of-power", 0),
    ] {
        let config = with(key, value).unwrap();
        assert_eq!(config.log_window_dim(&karate), columns, "{key} = {value}");
    }
    for (key, value, message) in [
        ("local.log-window.weight", "0.0", "not between"),
        (
            "local.log-window.weight",
            "nan",
            "NaN is not between 0.000000000001 and 1000000000000, nor \"auto\"",
        ),
        (
            "local.log-window.dim",
            "0",
            "0 is not between 1 and 65536, nor \"auto\"",
        ),
        ("local.log-window.steps", "17", "17 is not between 0 and 16"),
        (
            "steps",
            "many",
            "found string \"many\", expected a whole number or \"auto\"",
        ),
        ("first-step", "0", "0 is not between 1 and 16, nor \"last\""),
        (
            "features.weight",
            "heavy",
            "a weight is a number, \"unit\" or \"auto\"",
        ),
        ("weights", "3", "expected true or false or \"auto\""),
    ] {
        let error = with(key, value).unwrap_err().to_string();
        assert!(error.starts_with(key) && error.contains(message), "{error}");
    }
}

#[test]
fn a_run_that_does_not_fit_is_refused_with_a_remedy() {
    let graph = builtin("karate").unwrap();
    let error = Hone::new(Config::default())
        .unwrap()
        .memory_limit(1000)
        .embed(&graph, &Silent)
        .unwrap_err();
    assert!(
        matches!(error, Error::Memory { .. }) && error.to_string().contains("memory_limit"),
        "{error}"
    );
}

#[test]
fn a_cancelled_run_stops() {
    struct Cancelled;
    impl Progress for Cancelled {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let graph = builtin("karate").unwrap();
    let result = Hone::new(Config::default())
        .unwrap()
        .embed(&graph, &Cancelled);
    assert!(matches!(result, Err(Error::Interrupted)));
}

#[test]
fn a_report_repeats_its_run() {
    let graph = builtin("karate").unwrap();
    let first = run(
        config(&[("psi", "l-rw"), ("seed", "7"), ("local.dim", "6")]),
        &graph,
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), first.report.to_json()).unwrap();
    let config = Layers::new().file(file.path()).unwrap().build().unwrap();
    assert_eq!(config, first.report.config);
    assert_eq!(run(config, &graph).embedding, first.embedding);
}

#[test]
fn wrong_settings_are_refused_by_name() {
    let cases = [
        ("local.dim", "0", "local.dim"),
        ("global.dim", "0", "global.dim"),
        ("delta", "0", "delta"),
        ("steps", "0", "steps"),
        ("steps", "99", "steps"),
        ("steps", "soon", "steps"),
        ("accumulate", "{ decay = -1.0 }", "decay"),
        ("psi", "q", "psi"),
        ("motifs", "[\"edge\", \"squid\"]", "squid"),
        ("locale.dim", "3", "locale"),
        ("local.dims", "3", "dims"),
        ("local.solver.method", "magic", "magic"),
        ("local.solver.tolerance", "-1", "tolerance"),
    ];
    for (key, value, named) in cases {
        let error = Layers::new()
            .set(key, value)
            .and_then(Layers::build)
            .unwrap_err();
        assert!(
            matches!(error, Error::Config { .. }),
            "{key}={value}: {error}"
        );
        assert!(
            error.to_string().contains(named),
            "{key}={value} should name {named}: {error}"
        );
    }
}

/// There is one default: without settings, with an empty file, and for whatever a file leaves out.
#[test]
fn what_is_left_out_is_as_in_the_default() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let of_file = |text: &str| {
        std::fs::write(file.path(), text).unwrap();
        Layers::new().file(file.path()).unwrap().build().unwrap()
    };
    let default = Config::default();
    assert_eq!(default, Config::preset("hone").unwrap());
    assert_eq!(default, Layers::new().build().unwrap());
    assert_eq!(default, of_file(""));
    assert_eq!(default, toml::from_str("").unwrap());
    for (text, key, value) in [
        ("steps = 2", "steps", "2"),
        ("[local]\nrow-power = 0.25", "local.row-power", "0.25"),
        ("[local.log-window]\ndim = 9", "local.log-window.dim", "9"),
        ("[structure]\ndepth = 2", "structure.depth", "2"),
        ("[features]\nweight = 2.0", "features.weight", "2.0"),
    ] {
        let set = Layers::new().set(key, value).unwrap().build().unwrap();
        assert_eq!(of_file(text), set, "{text}");
        assert_eq!(toml::from_str::<Config>(text).unwrap(), set, "{text}");
        assert_ne!(set, default);
    }
    for (name, _) in hone::config::PRESETS {
        let preset = Config::preset(name).unwrap();
        assert_eq!(of_file(&preset.to_toml()), preset);
        let layers = Layers::new()
            .preset("hone-l+x")
            .unwrap()
            .preset(name)
            .unwrap();
        assert_eq!(layers.build().unwrap(), preset, "{name}");
    }
    // A group may stand where a word was.
    let set = paper().set("structure.enabled", "true").unwrap();
    let set = set.set("features.form.components.dim", "8").unwrap();
    assert_eq!(set.build().unwrap().components_dim(), 8);
}

/// Options of solvers are explained on a page of their own.
#[test]
fn every_setting_is_explained_and_reads_back() {
    for preset in ["hone", "hone-p"] {
        let config = Config::preset(preset).unwrap();
        let text = config.to_commented_toml();
        assert_eq!(toml::from_str::<Config>(&text).unwrap(), config);
        let (mut solver, mut above) = (false, "");
        for line in text.lines() {
            if line.starts_with('[') {
                solver = line.contains("solver");
            } else if !line.is_empty() && !line.starts_with('#') && !solver {
                assert!(above.starts_with('#'), "no comment above {line}");
            }
            above = line;
        }
    }
}

#[test]
fn settings_are_laid_over_each_other() {
    let layers = Layers::new()
        .preset("hone-l")
        .unwrap()
        .set("psi", "w")
        .unwrap()
        .set("steps", "auto")
        .unwrap();
    let config = layers
        .set("global.output", "local")
        .unwrap()
        .build()
        .unwrap();
    assert_eq!(
        (config.psi, config.steps),
        (hone::matrix::Psi::W, Auto::Auto)
    );
    assert_eq!(config.global.output, Output::Local);
    assert!(Layers::new().preset("hone-x").is_err());
}

#[test]
fn norms_scale_the_columns() {
    let graph = chorded_ring(20, false);
    for (norm, of) in [("l2", 2), ("l1", 1), ("max", 0)] {
        let settings = [
            ("local.norm", norm),
            ("global.output", "local"),
            ("steps", "1"),
            ("motifs", "[\"edge\"]"),
        ];
        let y: Block = run(config(&settings), &graph).embedding.vectors;
        let column = (0..y.rows()).map(|i| f64::from(y.row(i)[0]).abs());
        let size = match of {
            2 => column.map(|v| v * v).sum::<f64>().sqrt(),
            1 => column.sum::<f64>(),
            _ => column.fold(0.0, f64::max),
        };
        assert!((size - 1.0).abs() < 1e-5, "{norm}: {size}");
    }
}

/// Eq. 24 with counts: the mean of W, W², W³ and W⁴, not of multiples of them. Figures by LAPACK, in f64.
#[test]
fn steps_accumulate_as_they_were_counted() {
    let settings = [
        ("motifs", "[\"path3\"]"),
        ("steps", "4"),
        ("first-step", "4"),
        ("global.output", "local"),
    ];
    let decay = "{ decay = 0.3 }";
    for (psi, accumulate, most, expected) in [
        (
            "w",
            "\"mean\"",
            11_672_454.1,
            [1.0, 0.518326, 0.162958, 0.119392],
        ),
        (
            "w",
            decay,
            97_336.435_7,
            [1.0, 0.487534, 0.165833, 0.110781],
        ),
        (
            "l",
            "\"mean\"",
            17_197_802.5,
            [1.0, 0.978679, 0.901957, 0.824857],
        ),
        ("l", decay, 146_774.485, [1.0, 0.945743, 0.872135, 0.799556]),
    ] {
        let config = config(&[&settings[..], &[("psi", psi), ("accumulate", accumulate)]].concat());
        let facts = &run(config, &builtin("karate").unwrap()).report.local[0];
        for (found, expected) in facts.singular_values.iter().zip(expected) {
            assert!(
                (found / most - expected).abs() < 2e-6,
                "{psi} {accumulate}: {} {expected}",
                found / most
            );
        }
        assert_eq!(facts.scale, 1.0);
    }
}

/// Losses with a link fit the counts themselves: the fit begins near the mean count, whose divergence is known, and
/// improves on it; a penalty weighs as much as it does on the counts.
#[test]
fn losses_that_depend_on_the_scale_see_the_counts() {
    let graph = builtin("karate").unwrap();
    let counts = hone::motif::count(&graph, &Silent).unwrap();
    for motif in ["edge", "path3", "star4", "clique4"] {
        let w = counts
            .motif_graph(&graph, motif.parse().unwrap(), Weighting::default())
            .unwrap();
        let n = w.matrix.rows() as f64;
        let entries = || {
            w.matrix
                .values()
                .iter()
                .map(|&x| f64::from(x))
                .filter(|&x| x > 0.0)
        };
        assert!(
            entries().all(|x| x >= 1.0 && x.fract() == 0.0),
            "{motif}: counts"
        );
        let mean = entries().sum::<f64>() / (n * n);
        let deviance = entries().map(|s| s * (s / mean).ln()).sum::<f64>() / (n * n);
        let settings = [
            ("psi", "w"),
            ("steps", "1"),
            ("local.dim", "4"),
            ("global.output", "local"),
        ];
        let with = |extra: &[(&str, &str)]| {
            let motifs = format!("[\"{motif}\"]");
            config(&[&settings[..], &[("motifs", &*motifs)], extra].concat())
        };
        let poisson = with(&[
            ("local.solver.method", "bregman"),
            ("local.solver.loss", "poisson"),
        ]);
        let loss = run(poisson, &graph).report.local[0]
            .loss
            .clone()
            .unwrap()
            .values;
        assert!(
            (loss[0] / deviance - 1.0).abs() < 0.05,
            "{motif}: {} {deviance}",
            loss[0]
        );
        assert!(
            loss[loss.len() - 1] < 0.3 * deviance,
            "{motif}: {loss:?} {deviance}"
        );
        // min ‖S − A Bᵀ‖² + λ(‖A‖² + ‖B‖²) has the singular values of S less λ, or none.
        let plain = run(with(&[]), &graph).report.local[0]
            .singular_values
            .clone();
        let penalty = plain[1] / 3.0;
        let als = [
            ("local.solver.method", "als"),
            ("local.solver.regularization", &*format!("{penalty}")),
        ];
        let shrunk = run(
            with(&[&als[..], &[("local.solver.tolerance", "1e-9")]].concat()),
            &graph,
        )
        .report
        .local[0]
            .clone();
        for (found, sigma) in shrunk.singular_values.iter().zip(&plain).take(2) {
            assert!(
                (found - (sigma - penalty)).abs() < 1e-3 * plain[0],
                "{motif}: {found}, {sigma} less {penalty}"
            );
        }
    }
}
