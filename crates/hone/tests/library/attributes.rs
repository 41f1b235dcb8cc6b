//! Features, diffusion and their place in the embedding, against naive recomputation.

#![allow(clippy::unwrap_used)]

mod diffusion;
mod profiles;

use hone::attributes::Attributes;
use hone::config::Layers;
use hone::dense::Block;
use hone::features::Structure;
use hone::graph::{Graph, GraphBuilder, builtin};
use hone::motif;
use hone::{Config, Error, Hone, Silent};

fn graph(directed: bool) -> Graph {
    let edges = vec![
        (0, 1),
        (1, 2),
        (2, 0),
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 2),
        (5, 6),
        (6, 7),
        (0, 3),
        (7, 5),
        (1, 4),
    ];
    let builder = if directed {
        GraphBuilder::directed(9)
    } else {
        GraphBuilder::undirected(9)
    };
    builder.edges(edges).build().unwrap()
}

#[test]
fn features_are_motif_degrees_and_aggregates_of_them() {
    let graph = graph(false);
    let counts = motif::count(&graph, &Silent).unwrap();
    let x = Structure::default().of(&counts).unwrap();
    assert_eq!(x.names.len(), 13 * 4);
    assert_eq!(
        (&x.names[0][..], &x.names[13][..], &x.names[28][..]),
        ("edge_degree", "sum_edge_degree", "mean_triangle_degree")
    );
    let degree_of = |i: u32, t: usize| {
        graph
            .neighbors(i)
            .iter()
            .map(|&j| counts.edge(i, j).unwrap()[t])
            .sum::<u64>() as f64
    };
    for i in 0..9 {
        for t in 0..13 {
            let around: Vec<f64> = graph
                .neighbors(i)
                .iter()
                .map(|&j| degree_of(j, t))
                .collect();
            let sum: f64 = around.iter().sum();
            let mean = around.iter().map(|d| d.ln_1p()).sum::<f64>() / around.len().max(1) as f64;
            let max = around.iter().fold(0f64, |a, &b| a.max(b));
            let expected = [degree_of(i, t).ln_1p(), sum.ln_1p(), mean, max.ln_1p()];
            for (a, expected) in expected.iter().enumerate() {
                let found = f64::from(x.block.row(i as usize)[a * 13 + t]);
                assert!(
                    (found - expected).abs() < 1e-5,
                    "node {i}, orbit {t}, aggregate {a}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn recursion_adds_columns_and_prunes_repetitions() {
    let counts = motif::count(&builtin("karate").unwrap(), &Silent).unwrap();
    let deep = Structure {
        depth: 2,
        ..Structure::default()
    }
    .of(&counts)
    .unwrap();
    assert!(
        deep.names.len() > 52 && deep.names.len() < 13 + 39 + 117,
        "{}",
        deep.names.len()
    );
    let all = Structure {
        depth: 2,
        prune: 1.0,
        ..Structure::default()
    }
    .of(&counts)
    .unwrap();
    assert!(all.names.len() > deep.names.len());
    let plain = Structure {
        depth: 0,
        log: false,
        ..Structure::default()
    }
    .of(&counts)
    .unwrap();
    assert_eq!(plain.names.len(), 13);
    assert_eq!(plain.block.row(0)[0], 16.0, "the degree of the instructor");
}

fn preset(name: &str, settings: &[(&str, &str)]) -> Config {
    let layers = Layers::new().preset(name).unwrap();
    settings
        .iter()
        .fold(layers, |layers, (key, value)| {
            layers.set(key, value).unwrap()
        })
        .build()
        .unwrap()
}

#[test]
fn attributes_join_before_or_after_with_their_weight() {
    let graph = builtin("karate").unwrap();
    let run = |config| Hone::new(config).unwrap().embed(&graph, &Silent).unwrap();
    let before = run(preset("hone-p+x", &[]));
    assert_eq!(before.embedding.vectors.cols(), 128);
    let local = run(preset(
        "hone-p+x",
        &[("global.output", "local"), ("features.weight", "0.5")],
    ));
    let of = |share: &dyn Fn(&str) -> bool| -> f64 {
        local
            .report
            .importance
            .iter()
            .filter(|part| share(&part.motif))
            .map(|part| part.share)
            .sum()
    };
    let structure = of(&|name| name.starts_with("structure:"));
    assert!(
        (structure - 1.0 / 3.0).abs() < 1e-6,
        "weight 0.5 is a third of the whole: {structure}"
    );
    // The paper's balance: every column has length one, so attributes weigh as much as they have columns.
    let unit = run(preset("hone-p+x", &[("global.output", "local")]));
    let (y, names) = (&unit.embedding.vectors, &unit.embedding.columns);
    for (j, name) in names.iter().enumerate() {
        let square: f64 = (0..y.rows()).map(|i| f64::from(y.get(i, j)).powi(2)).sum();
        assert!(
            square < 1e-12 || (square - 1.0).abs() < 1e-5,
            "{name}: {square}"
        );
    }
    let after = run(preset("hone-p+x", &[("features.combine", "after")]));
    assert_eq!(after.embedding.vectors.cols(), 128 + 13 * 2 * 52);
    let default = run(preset("hone", &[]));
    assert_eq!(default.embedding.vectors.cols(), 128);
    let shares: f64 = default
        .report
        .importance
        .iter()
        .map(|part| part.share)
        .sum();
    assert!((shares - 1.0).abs() < 1e-6);
}

/// The share of a motif in the structure columns, from correlations of plain features with the columns themselves.
#[test]
fn motifs_of_the_structure_columns_are_told_by_correlation() {
    for name in ["karate", "barbell", "florentine"] {
        let graph = builtin(name).unwrap();
        let components = [("features.form.components.extremes", "0")];
        let run = Hone::new(preset("hone", &components))
            .unwrap()
            .embed(&graph, &Silent)
            .unwrap();
        let plain = [
            ("structure.enabled", "true"),
            ("features.diffusion.steps", "0"),
            ("local.norm", "none"),
        ];
        let features = Hone::new(preset("hone-p", &plain))
            .unwrap()
            .features(&graph, &Silent)
            .unwrap()
            .embedding;
        let column = |block: &Block, j: usize| {
            (0..graph.nodes())
                .map(|i| f64::from(block.get(i, j)))
                .collect::<Vec<_>>()
        };
        let centred = |x: Vec<f64>| {
            let mean = x.iter().sum::<f64>() / x.len() as f64;
            x.into_iter().map(|x| x - mean).collect::<Vec<_>>()
        };
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let z: Vec<Vec<f64>> = (112..128)
            .map(|j| centred(column(&run.embedding.vectors, j)))
            .collect();
        let x: Vec<Vec<f64>> = (0..features.columns.len())
            .map(|j| centred(column(&features.vectors, j)))
            .collect();
        let total: f64 = z.iter().map(|z| dot(z, z)).sum();
        let found = run.report.structure.unwrap();
        for entry in &found.motifs {
            let mut share = 0.0;
            for z in z.iter().filter(|z| dot(z, z) > 1e-6 * total) {
                let squared = |x: &Vec<f64>| {
                    if dot(x, x) > 1e-9 {
                        dot(x, z).powi(2) / dot(x, x) / dot(z, z)
                    } else {
                        0.0
                    }
                };
                let own = x.iter().zip(&features.columns).filter(|(_, name)| {
                    let named = name.trim_end_matches("_degree").rsplit('_').next();
                    named == Some(&entry.motif)
                });
                let own: f64 = own.map(|(x, _)| squared(x)).sum();
                share += dot(z, z) / total * own / x.iter().map(squared).sum::<f64>();
            }
            assert!(
                (share - entry.share).abs() < 2e-3,
                "{name} {}: {share} {}",
                entry.motif,
                entry.share
            );
        }
        assert!(
            (found.motifs.iter().map(|entry| entry.share).sum::<f64>() - 1.0).abs() < 1e-9,
            "{name}"
        );
    }
}

/// Relabelling the nodes permutes the rows of the structural block and of the features, nothing else.
#[test]
fn relabelling_permutes_the_features() {
    let graph = builtin("karate").unwrap();
    let shift = |i: u32| (i * 5 + 3) % 34;
    let edges: Vec<(u32, u32)> = (0..34)
        .flat_map(|i| {
            graph
                .neighbors(i)
                .iter()
                .map(move |&j| (shift(i), shift(j)))
                .collect::<Vec<_>>()
        })
        .collect();
    let moved = GraphBuilder::undirected(34).edges(edges).build().unwrap();
    let features = |graph: &Graph| {
        Structure::default()
            .of(&motif::count(graph, &Silent).unwrap())
            .unwrap()
    };
    let (a, b) = (features(&graph), features(&moved));
    for i in 0..34u32 {
        for (x, y) in a
            .block
            .row(i as usize)
            .iter()
            .zip(b.block.row(shift(i) as usize))
        {
            assert!((x - y).abs() < 1e-5, "node {i}: {x} {y}");
        }
    }
}

#[test]
fn attributes_of_the_users_own_are_used_and_checked() {
    let graph = builtin("karate").unwrap();
    let own = |rows: usize| {
        let ages = Block::from_vec(rows, 1, (0..rows).map(|i| i as f32).collect());
        Attributes::numbers(vec!["age".into()], &ages).unwrap()
    };
    let config = preset(
        "hone-p",
        &[
            ("global.output", "local"),
            ("features.diffusion.steps", "0"),
        ],
    );
    let run = Hone::new(config.clone())
        .unwrap()
        .with_attributes(own(34))
        .embed(&graph, &Silent)
        .unwrap();
    assert_eq!(run.embedding.vectors.cols(), 417);
    let error = Hone::new(config)
        .unwrap()
        .with_attributes(own(3))
        .embed(&graph, &Silent)
        .unwrap_err();
    assert!(matches!(error, Error::Config { .. }), "{error}");
}

#[test]
fn wrong_settings_of_attributes_are_refused_by_name() {
    let cases = [
        ("features.weight", "-1"),
        ("features.weight", "heavy"),
        ("structure.depth", "99"),
        ("structure.prune", "0"),
        ("features.diffusion.steps", "99"),
        ("features.diffusion.process", "{ laplacian = 2.0 }"),
        ("features.form", "{ components = { offset = inf } }"),
        ("features.combine", "between"),
    ];
    for (key, value) in cases {
        let error = Layers::new()
            .set(key, value)
            .and_then(Layers::build)
            .unwrap_err();
        assert!(error.to_string().contains(key), "{key}={value}: {error}");
    }
}

fn with(settings: &[(&str, &str)]) -> Config {
    let layers = settings.iter().fold(
        Layers::new().preset("hone-p").unwrap(),
        |layers, (key, value)| layers.set(key, value).unwrap(),
    );
    layers.build().unwrap()
}

/// The features of a graph by id: one row per node, whatever the order of the nodes.
fn by_id(
    graph: &Graph,
    settings: &[(&str, &str)],
    own: Attributes,
) -> std::collections::BTreeMap<String, Vec<f32>> {
    let run = Hone::new(with(settings))
        .unwrap()
        .with_attributes(own)
        .features(graph, &Silent)
        .unwrap();
    let ids = graph.ids().iter().map(|id| id.to_string());
    ids.enumerate()
        .map(|(i, id)| (id, run.embedding.vectors.row(i).to_vec()))
        .collect()
}

#[test]
fn features_alone_are_the_columns_that_the_embedding_takes() {
    let graph = builtin("karate").unwrap();
    let settings = [
        ("structure.enabled", "true"),
        ("features.weight", "1"),
        ("motifs", "edge,triangle"),
    ];
    let x = Hone::new(with(&settings))
        .unwrap()
        .features(&graph, &Silent)
        .unwrap()
        .embedding;
    let local = [
        &settings[..],
        &[
            ("global.output", "local"),
            ("features.diffusion.original", "true"),
        ],
    ]
    .concat();
    let y = Hone::new(with(&local))
        .unwrap()
        .embed(&graph, &Silent)
        .unwrap()
        .embedding;
    let scale = |i: usize, name: &str, of: &str| {
        let find = |e: &hone::store::Embedding, name: &str| {
            e.columns.iter().position(|c| c == name).unwrap()
        };
        (
            x.vectors.get(i, find(&x, name)),
            y.vectors.get(i, find(&y, of)),
        )
    };
    let pairs = [
        ("mean_triangle_degree", "structure_mean_triangle_degree"),
        (
            "triangle_k2_edge_degree",
            "structure-triangle_k2_edge_degree",
        ),
        (
            "edge_k1_max_clique4_degree",
            "structure-edge_k1_max_clique4_degree",
        ),
    ];
    let (a, b) = scale(0, pairs[0].0, pairs[0].1);
    let factor = b / a;
    for i in 0..34 {
        for (name, of) in pairs {
            let (a, b) = scale(i, name, of);
            assert!((a * factor - b).abs() < 1e-5, "node {i}, {name}: {a} {b}");
        }
    }
}

#[test]
fn chosen_motifs_are_the_only_columns_and_graphlets_sum_their_orbits() {
    let graph = graph(false);
    let counts = motif::count(&graph, &Silent).unwrap();
    let plain = |motifs: &str| {
        let motifs = motifs.parse().unwrap();
        Structure {
            motifs,
            depth: 0,
            log: false,
            ..Structure::default()
        }
        .of(&counts)
        .unwrap()
    };
    let (orbits, path) = (plain("path4-end,path4-mid"), plain("path4"));
    assert_eq!(
        (orbits.names.len(), path.names.as_slice()),
        (2, &["path4_degree".to_owned()][..])
    );
    for i in 0..9 {
        assert_eq!(
            orbits.block.row(i).iter().sum::<f32>(),
            path.block.get(i, 0),
            "node {i}"
        );
    }
}
