//! Features, diffusion and their place in the embedding, against naive recomputation.

#![allow(clippy::unwrap_used)]

use hone::config::Layers;
use hone::dense::Block;
use hone::diffuse::{Diffusion, Process};
use hone::features::{Named, Origin, Structure};
use hone::graph::{Graph, GraphBuilder, builtin};
use hone::matrix::{MotifMatrix, Order, Psi};
use hone::motif::{self, Motif, MotifSet, Orbit, Weighting};
use hone::operator::Operator;
use hone::{Config, Error, Hone, Silent};

fn graph(directed: bool) -> Graph {
    let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 2), (5, 6), (6, 7), (0, 3), (7, 5), (1, 4)];
    let builder = if directed { GraphBuilder::directed(9) } else { GraphBuilder::undirected(9) };
    builder.edges(edges).build().unwrap()
}

#[test]
fn features_are_motif_degrees_and_aggregates_of_them() {
    let graph = graph(false);
    let counts = motif::count(&graph, &Silent).unwrap();
    let x = Structure::default().of(&counts).unwrap();
    assert_eq!(x.names.len(), 13 * 4);
    assert_eq!((&x.names[0][..], &x.names[13][..], &x.names[28][..]), ("edge", "sum(edge)", "mean(triangle)"));
    let degree_of =
        |i: u32, t: usize| graph.neighbors(i).iter().map(|&j| counts.edge(i, j).unwrap()[t]).sum::<u64>() as f64;
    for i in 0..9 {
        for t in 0..13 {
            let around: Vec<f64> = graph.neighbors(i).iter().map(|&j| degree_of(j, t)).collect();
            let sum: f64 = around.iter().sum();
            let mean = around.iter().map(|d| d.ln_1p()).sum::<f64>() / around.len().max(1) as f64;
            let max = around.iter().fold(0f64, |a, &b| a.max(b));
            let expected = [degree_of(i, t).ln_1p(), sum.ln_1p(), mean, max.ln_1p()];
            for (a, expected) in expected.iter().enumerate() {
                let found = f64::from(x.block.row(i as usize)[a * 13 + t]);
                assert!((found - expected).abs() < 1e-5, "node {i}, orbit {t}, aggregate {a}: {found} {expected}");
            }
        }
    }
}

#[test]
fn recursion_adds_columns_and_prunes_repetitions() {
    let counts = motif::count(&builtin("karate").unwrap(), &Silent).unwrap();
    let deep = Structure { depth: 2, ..Structure::default() }.of(&counts).unwrap();
    assert!(deep.names.len() > 52 && deep.names.len() < 13 + 39 + 117, "{}", deep.names.len());
    let all = Structure { depth: 2, prune: 1.0, ..Structure::default() }.of(&counts).unwrap();
    assert!(all.names.len() > deep.names.len());
    let plain = Structure { depth: 0, log: false, ..Structure::default() }.of(&counts).unwrap();
    assert_eq!(plain.names.len(), 13);
    assert_eq!(plain.block.row(0)[0], 16.0, "the degree of the instructor");
}

/// X^(k) by dense matrices, for every Psi, motif and step.
#[test]
fn diffusion_is_products_with_explicit_matrices() {
    for directed in [false, true] {
        let graph = graph(directed);
        let counts = motif::count(&graph, &Silent).unwrap();
        for motif in MotifSet::default().motifs() {
            for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw, Psi::ANorm] {
                for process in [Process::Linear, Process::Laplacian(0.3)] {
                    diffuse_and_compare(&graph, &counts, motif, psi, process);
                }
            }
        }
    }
}

fn diffuse_and_compare(graph: &Graph, counts: &motif::Counts, motif: Motif, psi: Psi, process: Process) {
    let w = counts.motif_graph(graph, motif, Weighting::default()).unwrap();
    let n = w.matrix.pattern().rows();
    let dense: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row = vec![0.0; n];
            let (columns, values) = w.matrix.row(i);
            columns.iter().zip(values).for_each(|(&j, &v)| row[j as usize] = f64::from(v));
            row
        })
        .collect();
    let x = Block::from_vec(n, 2, (0..2 * n).map(|e| (e * 7 % 5) as f32 - 1.5).collect());
    let start: Vec<Vec<f64>> = (0..n).map(|i| x.row(i).iter().map(|&v| f64::from(v)).collect()).collect();
    let operator = if graph.is_directed() {
        Operator::sparse("W", w.matrix.clone())
    } else {
        Operator::symmetric("W", w.matrix.clone())
    };
    let matrix = MotifMatrix { psi, ..MotifMatrix::default() };
    let mut expected = start.clone();
    let diffusion = Diffusion { steps: 3, original: false, process };
    let check = |k: usize, found: &Block, scale: f64| {
        assert_eq!(scale, 1.0);
        let s = match process {
            Process::Laplacian(_) => function(Psi::LNorm, &dense),
            Process::Linear => match psi {
                Psi::P => function(Psi::P, &dense),
                Psi::ANorm => power(&function(Psi::ANorm, &dense), k),
                psi => function(psi, &power(&dense, k)),
            },
            other => unreachable!("{other:?} has no definition here"),
        };
        expected = times(&s, &expected);
        if let Process::Laplacian(theta) = process {
            for (row, start) in expected.iter_mut().zip(&start) {
                row.iter_mut().zip(start).for_each(|(v, x)| *v = (1.0 - theta) * *v + theta * x);
            }
        }
        for i in 0..n {
            for c in 0..2 {
                let (found, expected) = (f64::from(found.row(i)[c]), expected[i][c]);
                let close = (found - expected).abs() <= 1e-4 * (1.0 + expected.abs());
                assert!(close, "{motif} {psi:?} {process:?} k={k} node {i}: {found} {expected}");
            }
        }
        Ok(())
    };
    diffusion.run(&x, (&operator, 1.0), &matrix, check).unwrap();
}

fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let width = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..width).map(|c| row.iter().zip(b).map(|(v, other)| v * other[c]).sum()).collect()).collect()
}

fn power(a: &[Vec<f64>], k: usize) -> Vec<Vec<f64>> {
    (1..k).fold(a.to_vec(), |product, _| times(&product, a))
}

fn function(psi: Psi, a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let d: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
    let over = |x: f64, y: f64| if y == 0.0 { 0.0 } else { x / y };
    let entry = |i: usize, j: usize| {
        let one = f64::from(u8::from(i == j && d[i] != 0.0));
        match psi {
            Psi::W => a[i][j],
            Psi::P => over(a[i][j], d[i]),
            Psi::L => one * d[i] - a[i][j],
            Psi::LNorm => one - over(a[i][j], (d[i] * d[j]).sqrt()),
            Psi::LRw => one - over(a[i][j], d[i]),
            Psi::ANorm => over(a[i][j], (d[i] * d[j]).sqrt()),
            other => unreachable!("{other:?} has no definition here"),
        }
    };
    (0..a.len()).map(|i| (0..a.len()).map(|j| entry(i, j)).collect()).collect()
}

#[test]
fn orders_of_diffusion_can_be_chosen() {
    let graph = graph(false);
    let counts = motif::count(&graph, &Silent).unwrap();
    let w = counts.motif_graph(&graph, Motif::Orbit(Orbit::Edge), Weighting::default()).unwrap();
    let operator = Operator::symmetric("W", w.matrix.clone());
    let x = Block::from_vec(w.matrix.pattern().rows(), 1, (0..w.matrix.pattern().rows()).map(|i| i as f32).collect());
    let second = |order| {
        let mut last = None;
        let matrix = MotifMatrix { psi: Psi::P, order, ..MotifMatrix::default() };
        let keep = |_: usize, block: &Block, _: f64| {
            last = Some(block.clone());
            Ok(())
        };
        Diffusion { steps: 2, original: false, process: Process::Linear }
            .run(&x, (&operator, 1.0), &matrix, keep)
            .unwrap();
        last.unwrap()
    };
    assert_ne!(second(Order::Auto), second(Order::PsiOfPower));
}

fn preset(name: &str, settings: &[(&str, &str)]) -> Config {
    let layers = Layers::new().preset(name).unwrap();
    settings.iter().fold(layers, |layers, (key, value)| layers.set(key, value).unwrap()).build().unwrap()
}

#[test]
fn attributes_join_before_or_after_with_their_weight() {
    let graph = builtin("karate").unwrap();
    let run = |config| Hone::new(config).unwrap().embed(&graph, &Silent).unwrap();
    let before = run(preset("hone-p+x", &[]));
    assert_eq!(before.embedding.vectors.cols(), 128);
    let local = run(preset("hone-p+x", &[("global.output", "local"), ("features.weight", "0.5")]));
    let of = |share: &dyn Fn(&str) -> bool| -> f64 {
        local.report.importance.iter().filter(|part| share(&part.motif)).map(|part| part.share).sum()
    };
    let structure = of(&|name| name.starts_with("structure:"));
    assert!((structure - 1.0 / 3.0).abs() < 1e-6, "weight 0.5 is a third of the whole: {structure}");
    // The paper's balance: every column has length one, so attributes weigh as much as they have columns.
    let unit = run(preset("hone-p+x", &[("global.output", "local")]));
    let (y, names) = (&unit.embedding.vectors, &unit.embedding.columns);
    for (j, name) in names.iter().enumerate() {
        let square: f64 = (0..y.rows()).map(|i| f64::from(y.get(i, j)).powi(2)).sum();
        assert!(square < 1e-12 || (square - 1.0).abs() < 1e-5, "{name}: {square}");
    }
    let after = run(preset("hone-p+x", &[("features.combine", "after")]));
    assert_eq!(after.embedding.vectors.cols(), 128 + 13 * 2 * 52);
    let default = run(preset("hone", &[]));
    assert_eq!(default.embedding.vectors.cols(), 128);
    let shares: f64 = default.report.importance.iter().map(|part| part.share).sum();
    assert!((shares - 1.0).abs() < 1e-6);
}

/// The share of a motif in the structure columns, from correlations of plain features with the columns themselves.
#[test]
fn motifs_of_the_structure_columns_are_told_by_correlation() {
    for name in ["karate", "barbell", "florentine"] {
        let graph = builtin(name).unwrap();
        let run = Hone::new(preset("hone", &[])).unwrap().embed(&graph, &Silent).unwrap();
        let plain = [("structure.enabled", "true"), ("features.diffusion.steps", "0"), ("local.norm", "none")];
        let features = Hone::new(preset("hone-p", &plain)).unwrap().features(&graph, &Silent).unwrap().embedding;
        let column =
            |block: &Block, j: usize| (0..graph.nodes()).map(|i| f64::from(block.get(i, j))).collect::<Vec<_>>();
        let centred = |x: Vec<f64>| {
            let mean = x.iter().sum::<f64>() / x.len() as f64;
            x.into_iter().map(|x| x - mean).collect::<Vec<_>>()
        };
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let z: Vec<Vec<f64>> = (112..128).map(|j| centred(column(&run.embedding.vectors, j))).collect();
        let x: Vec<Vec<f64>> = (0..features.columns.len()).map(|j| centred(column(&features.vectors, j))).collect();
        let total: f64 = z.iter().map(|z| dot(z, z)).sum();
        let found = run.report.structure.unwrap();
        for entry in &found.motifs {
            let mut share = 0.0;
            for z in z.iter().filter(|z| dot(z, z) > 1e-6 * total) {
                let squared = |x: &Vec<f64>| {
                    if dot(x, x) > 1e-9 { dot(x, z).powi(2) / dot(x, x) / dot(z, z) } else { 0.0 }
                };
                let own = x
                    .iter()
                    .zip(&features.columns)
                    .filter(|(_, name)| name.trim_end_matches(')').rsplit('(').next() == Some(&entry.motif));
                let own: f64 = own.map(|(x, _)| squared(x)).sum();
                share += dot(z, z) / total * own / x.iter().map(squared).sum::<f64>();
            }
            assert!((share - entry.share).abs() < 2e-3, "{name} {}: {share} {}", entry.motif, entry.share);
        }
        assert!((found.motifs.iter().map(|entry| entry.share).sum::<f64>() - 1.0).abs() < 1e-9, "{name}");
    }
}

/// Relabelling the nodes permutes the rows of the structural block and of the features, nothing else.
#[test]
fn relabelling_permutes_the_features() {
    let graph = builtin("karate").unwrap();
    let shift = |i: u32| (i * 5 + 3) % 34;
    let edges: Vec<(u32, u32)> = (0..34)
        .flat_map(|i| graph.neighbors(i).iter().map(move |&j| (shift(i), shift(j))).collect::<Vec<_>>())
        .collect();
    let moved = GraphBuilder::undirected(34).edges(edges).build().unwrap();
    let features = |graph: &Graph| Structure::default().of(&motif::count(graph, &Silent).unwrap()).unwrap();
    let (a, b) = (features(&graph), features(&moved));
    for i in 0..34u32 {
        for (x, y) in a.block.row(i as usize).iter().zip(b.block.row(shift(i) as usize)) {
            assert!((x - y).abs() < 1e-5, "node {i}: {x} {y}");
        }
    }
}

#[test]
fn attributes_of_the_users_own_are_used_and_checked() {
    let graph = builtin("karate").unwrap();
    let own = |rows: usize| Named {
        names: vec!["age".into()],
        origins: vec![Origin::default()],
        block: Block::from_vec(rows, 1, (0..rows).map(|i| i as f32).collect()),
    };
    let config = preset("hone-p", &[("global.output", "local"), ("features.diffusion.steps", "0")]);
    let run = Hone::new(config.clone()).unwrap().with_attributes(own(34)).embed(&graph, &Silent).unwrap();
    assert_eq!(run.embedding.vectors.cols(), 417);
    let error = Hone::new(config).unwrap().with_attributes(own(3)).embed(&graph, &Silent).unwrap_err();
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
        let error = Layers::new().set(key, value).and_then(Layers::build).unwrap_err();
        assert!(error.to_string().contains(key), "{key}={value}: {error}");
    }
}

/// Settings that were renamed are refused with their new names, given alone, in a file, or in a record as JSON.
#[test]
fn old_names_of_settings_are_refused_with_the_new_ones() {
    let cases = [
        ("attributes.structure", "true", "structure.enabled"),
        ("attributes.features.depth", "1", "structure.depth"),
        ("attributes.form", "\"columns\"", "features.form"),
        ("attributes.form.components.dim", "4", "features.form.components.dim"),
        ("attributes.combine", "\"after\"", "features.combine"),
        ("attributes.weight", "1.0", "features.weight"),
        ("attributes.diffusion.steps", "1", "features.diffusion.steps"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    for (old, value, new) in cases {
        let error = Layers::new().set(old, value).unwrap_err().to_string();
        assert_eq!(error, format!("{old}: this setting is now called `{new}`"));
        std::fs::write(&file, format!("{old} = {value}\n")).unwrap();
        let error = Layers::new().file(&file).unwrap_err().to_string();
        let group: Vec<&str> = new.splitn(3, '.').collect();
        let group = if old.starts_with("attributes.features") { "structure".to_owned() } else { group[..2].join(".") };
        assert!(error.contains(&format!("is now called `{group}`")), "{old}: {error}");
        let table: toml::Table = format!("{old} = {value}").parse().unwrap();
        let json = serde_json::to_string(&table).unwrap();
        let error = serde_json::from_str::<Config>(&json).unwrap_err().to_string();
        assert!(error.contains(&format!("is now called `{group}`")), "{old}: {error}");
    }
    let error = Layers::new().set("attributes.weights", "1").and_then(Layers::build).unwrap_err().to_string();
    assert!(error.contains("unknown field `weights`, expected `file` or `table`"), "{error}");
}

fn with(settings: &[(&str, &str)]) -> Config {
    let layers = settings.iter().fold(Layers::new(), |layers, (key, value)| layers.set(key, value).unwrap());
    layers.build().unwrap()
}

/// The features of a graph by id: one row per node, whatever the order of the nodes.
fn by_id(graph: &Graph, settings: &[(&str, &str)], own: Named) -> std::collections::BTreeMap<String, Vec<f32>> {
    let run = Hone::new(with(settings)).unwrap().with_attributes(own).features(graph, &Silent).unwrap();
    let ids = graph.ids().iter().map(|id| id.to_string());
    ids.enumerate().map(|(i, id)| (id, run.embedding.vectors.row(i).to_vec())).collect()
}

/// Another order of the nodes permutes the rows of X and of every diffused block, nothing else.
#[test]
fn relabelling_permutes_the_diffused_attributes() {
    let karate = builtin("karate").unwrap();
    let place = |i: u32| (i * 5 + 3) % 34;
    let edges: Vec<(u32, u32)> = (0..34u32)
        .flat_map(|i| karate.neighbors(i).iter().map(move |&j| (place(i), place(j))).collect::<Vec<_>>())
        .collect();
    let mut names = vec![0i64; 34];
    (0..34u32).for_each(|i| names[place(i) as usize] = i64::from(i));
    let ids = hone::graph::NodeIds::from_integers(names.clone());
    let moved = GraphBuilder::undirected(34).ids(ids).edges(edges).build().unwrap();
    let own = |ids: &[i64]| Named {
        names: vec!["a".into(), "b".into()],
        origins: vec![Origin::default(); 2],
        block: Block::from_vec(34, 2, ids.iter().flat_map(|&i| [(i * 7 % 11) as f32, (i % 2) as f32]).collect()),
    };
    let straight: Vec<i64> = (0..34).collect();
    for psi in ["w", "p", "l", "l-norm", "l-rw"] {
        let process = ("features.diffusion.process", "{ laplacian = 0.4 }");
        for more in [&[][..], &[process]] {
            let settings = [&[("psi", psi), ("structure.enabled", "true")], more].concat();
            let (a, b) = (by_id(&karate, &settings, own(&straight)), by_id(&moved, &settings, own(&names)));
            assert_eq!(a["0"].len(), (52 + 2) * (1 + 13 * 2));
            for (id, row) in &a {
                for (j, (x, y)) in row.iter().zip(&b[id]).enumerate() {
                    assert!((x - y).abs() < 2e-5, "{psi}, node {id}, column {j}: {x} {y}");
                }
            }
        }
    }
}

#[test]
fn features_alone_are_the_columns_that_the_embedding_takes() {
    let graph = builtin("karate").unwrap();
    let settings = [("structure.enabled", "true"), ("features.weight", "1"), ("motifs", "edge,triangle")];
    let x = Hone::new(with(&settings)).unwrap().features(&graph, &Silent).unwrap().embedding;
    let local = [&settings[..], &[("global.output", "local"), ("features.diffusion.original", "true")]].concat();
    let y = Hone::new(with(&local)).unwrap().embed(&graph, &Silent).unwrap().embedding;
    let scale = |i: usize, name: &str, of: &str| {
        let find = |e: &hone::store::Embedding, name: &str| e.columns.iter().position(|c| c == name).unwrap();
        (x.vectors.get(i, find(&x, name)), y.vectors.get(i, find(&y, of)))
    };
    let pairs = [
        ("mean(triangle)", "structure.mean(triangle)"),
        ("triangle.k2.edge", "structure:triangle.k2.edge"),
        ("edge.k1.max(clique4)", "structure:edge.k1.max(clique4)"),
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
        Structure { motifs, depth: 0, log: false, ..Structure::default() }.of(&counts).unwrap()
    };
    let (orbits, path) = (plain("path4-end,path4-mid"), plain("path4"));
    assert_eq!((orbits.names.len(), path.names.as_slice()), (2, &["path4".to_owned()][..]));
    for i in 0..9 {
        assert_eq!(orbits.block.row(i).iter().sum::<f32>(), path.block.get(i, 0), "node {i}");
    }
}

/// A graph's motif graph may leave out nodes; in the Laplacian process they keep θX all the same.
#[test]
fn nodes_without_the_motif_keep_their_part_of_x() {
    let graph = builtin("karate").unwrap();
    let n = graph.nodes();
    let block = Block::from_vec(n, 2, (0..n).flat_map(|i| [1.0, i as f32]).collect());
    let named = Named { names: vec!["one".into(), "number".into()], origins: vec![Origin::default(); 2], block };
    for (motif, theta) in [("clique4", 1.0), ("clique4", 0.25), ("edge", 1.0), ("clique4", 0.0)] {
        let config = [
            ("structure.enabled", "false"),
            ("local.norm", "none"),
            ("motifs", &format!("[\"{motif}\"]")),
            ("features.diffusion.process", &format!("{{ laplacian = {theta:?} }}")),
        ];
        let config = preset("hone-p", &config);
        let run = Hone::new(config).unwrap().with_attributes(named.clone()).features(&graph, &Silent).unwrap();
        let counts = motif::count(&graph, &Silent).unwrap();
        let w = counts.motif_graph(&graph, motif.parse().unwrap(), Weighting::default()).unwrap();
        let touched = |i: usize| w.nodes.as_ref().is_none_or(|nodes| nodes.contains(&(i as u32)));
        assert!(motif == "edge" || (0..n).filter(|&i| !touched(i)).count() == 22);
        for i in 0..n {
            // X, then the first and the second step.
            let row = run.embedding.vectors.row(i);
            assert_eq!(row.len(), 6);
            if theta == 1.0 {
                assert_eq!(row[2..], [1.0, i as f32, 1.0, i as f32], "{motif}, node {i}");
            } else if !touched(i) {
                let kept = theta as f32 * i as f32;
                assert_eq!(row[2..], [theta as f32, kept, theta as f32, kept], "{motif}, node {i}");
            }
        }
    }
}

/// The Laplacian process adds θX at every step, so sizes that a product may not reach are no reason to scale it.
#[test]
fn the_laplacian_process_keeps_the_size_of_x() {
    let graph = builtin("karate").unwrap();
    for size in [2e9f32, 1e-12] {
        let block = Block::from_vec(graph.nodes(), 1, vec![size; graph.nodes()]);
        let named = Named { names: vec!["size".into()], origins: vec![Origin::default()], block };
        let config = preset(
            "hone-p",
            &[
                ("structure.enabled", "false"),
                ("local.norm", "none"),
                ("motifs", "[\"clique4\"]"),
                ("features.diffusion.process", "{ laplacian = 1.0 }"),
            ],
        );
        let run = Hone::new(config).unwrap().with_attributes(named).features(&graph, &Silent).unwrap();
        (0..graph.nodes()).for_each(|i| assert_eq!(run.embedding.vectors.row(i), [size; 3], "node {i}"));
    }
}

/// Eq. 20 with counts: W X sums the neighbours' attributes, each times a count; and what leaves the range is an error.
#[test]
fn diffusion_over_counts_sees_the_counts() {
    let edges: Vec<(u32, u32)> = (0..60u32).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let graph = GraphBuilder::undirected(60).edges(edges).build().unwrap();
    let block = Block::from_vec(60, 1, vec![1.0; 60]);
    let named = Named { names: vec!["one".into()], origins: vec![Origin::default()], block };
    let run = |steps: &str, norm: &str| {
        let settings = [("structure.enabled", "false"), ("local.norm", norm), ("motifs", "[\"clique4\"]")];
        let config = preset("hone-w", &[&settings[..], &[("features.diffusion.steps", steps)]].concat());
        Hone::new(config).unwrap().with_attributes(named.clone()).features(&graph, &Silent)
    };
    // Every edge of K60 is in 58·57/2 cliques of four; X^(2) = W² W X.
    let degree = 59.0 * 58.0 * 57.0 / 2.0;
    let row = run("2", "none").unwrap().embedding.vectors.row(7).to_vec();
    assert_eq!(f64::from(row[1]), degree);
    assert!((f64::from(row[2]) / f64::powi(degree, 3) - 1.0).abs() < 1e-5, "{row:?}");
    let error = run("6", "none").unwrap_err().to_string();
    assert!(error.contains("clique4") && error.contains("leave the range"), "{error}");
    let normed = run("6", "l2").unwrap().embedding.vectors;
    assert!(normed.as_slice().iter().all(|x| (f64::from(*x) - 60f64.sqrt().recip()).abs() < 1e-5));
}
