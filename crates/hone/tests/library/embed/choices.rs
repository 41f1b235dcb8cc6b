//! Thresholds by motif, one order of local embeddings, names of columns, losses that see the size of counts.

use hone::config::Layers;
use hone::dense::{Block, Norm};
use hone::graph::{Graph, GraphBuilder, builtin};
use hone::output::Existing;
use hone::report::ColumnBlock;
use hone::store::factors::Folder;
use hone::{Config, Hone, Silent};

use super::{chorded_ring, config, run, texts};
use crate::naive::jacobi;

/// Facts, shares and columns of Y all have the order of eq. 16: by step, then by motif.
#[test]
fn local_embeddings_have_one_order_everywhere() {
    let graph = chorded_ring(30, false);
    let settings = [
        ("motifs", "[\"edge\", \"triangle\", \"path3\"]"),
        ("steps", "3"),
        ("local.dim", "2"),
    ];
    let found = run(
        config(&[&settings[..], &[("global.output", "local")]].concat()),
        &graph,
    );
    let expected: Vec<(String, usize)> = (1..=3)
        .flat_map(|step| ["edge", "triangle", "path3"].map(|motif| (motif.to_owned(), step)))
        .collect();
    let local: Vec<_> = found
        .report
        .local
        .iter()
        .map(|facts| (facts.motif.clone(), facts.step))
        .collect();
    let shares: Vec<_> = found
        .report
        .importance
        .iter()
        .map(|part| (part.motif.clone(), part.step))
        .collect();
    let blocks: Vec<_> = found
        .report
        .blocks
        .iter()
        .map(|block| (block.name.clone(), block.step))
        .collect();
    assert_eq!(
        (&local, &shares, &blocks),
        (&expected, &expected, &expected)
    );
    let named = |(motif, step): &(String, usize)| [0, 1].map(|j| format!("{motif}_k{step}_{j}"));
    assert_eq!(
        found.embedding.columns,
        expected.iter().flat_map(named).collect::<Vec<_>>()
    );
    assert_eq!(found.report.columns, found.embedding.columns);
    assert_eq!(found.report.blocks[4].first, 8);
    for model in ["tucker", "cp"] {
        let joint = run(
            config(&[&settings[..], &[("model", model), ("global.dim", "4")]].concat()),
            &graph,
        );
        let slices = joint.report.joint.unwrap().slices;
        assert_eq!(
            slices
                .iter()
                .map(|s| (s.motif.clone(), s.step))
                .collect::<Vec<_>>(),
            expected,
            "{model}"
        );
        let shares: Vec<_> = joint
            .report
            .importance
            .iter()
            .map(|part| (part.motif.clone(), part.step))
            .collect();
        assert_eq!(shares, expected, "{model}");
    }
}

#[test]
fn columns_of_the_default_say_what_they_are() {
    let found = run(Config::preset("hone").unwrap(), &builtin("karate").unwrap());
    let columns = &found.embedding.columns;
    assert_eq!((columns[0].as_str(), columns[111].as_str()), ("z0", "z111"));
    assert_eq!(
        (columns[112].as_str(), columns[127].as_str()),
        ("structure_pc0", "structure_extremes")
    );
    let blocks: Vec<_> = found
        .report
        .blocks
        .iter()
        .map(|b| (b.name.as_str(), b.first, b.count))
        .collect();
    assert_eq!(blocks, [("z", 0, 112), ("structure", 112, 16)]);
}

/// A threshold of its own for each motif gives the W_t of that threshold.
#[test]
fn thresholds_may_differ_by_motif() {
    let graph = builtin("karate").unwrap();
    let run = |delta: &str, motif: &str| {
        let all = [
            ("motifs", motif),
            ("delta", delta),
            ("steps", "1"),
            ("local.dim", "4"),
            ("global.output", "local"),
        ];
        run(config(&all), &graph)
    };
    let both = run("{ triangle = 3 }", "[\"edge\", \"triangle\"]");
    let (edge, triangle) = (run("1", "[\"edge\"]"), run("3", "[\"triangle\"]"));
    for i in 0..34 {
        let alone = [
            edge.embedding.vectors.row(i),
            triangle.embedding.vectors.row(i),
        ]
        .concat();
        assert_eq!(both.embedding.vectors.row(i), alone, "node {i}");
    }
    assert!(both.report.local[1].nonzeros < run("1", "[\"triangle\"]").report.local[0].nonzeros);
    let refused = |delta: &str| {
        let layers = Layers::new()
            .set("motifs", "edge,triangle")
            .unwrap()
            .set("delta", delta)
            .unwrap();
        layers.build().unwrap_err().to_string()
    };
    for (delta, said) in [
        ("0", "delta"),
        ("{ triangle = 0 }", "delta.triangle"),
        ("triangle=0,edge=1", "delta.triangle"),
        ("{ clique4 = 2 }", "`clique4` is not among the motifs used"),
        ("{ squid = 2 }", "`squid` is not a motif"),
        ("triangle:3", "MOTIF=NUMBER"),
        ("edge=1,edge=2", "named twice"),
        ("-1", "whole number"),
    ] {
        assert!(refused(delta).contains(said), "{delta}: {}", refused(delta));
    }
}

/// Empty motif graphs are explained in one line, with what to do.
#[test]
fn an_empty_motif_graph_is_explained() {
    let graph = builtin("karate").unwrap();
    let said = |settings: &[(&str, &str)], graph: &Graph| {
        let report = run(config(settings), graph).report;
        texts(&[report.warnings, report.notes].concat())
    };
    for model in ["separate", "tucker"] {
        let with = |motifs, delta| {
            said(
                &[
                    ("motifs", motifs),
                    ("delta", delta),
                    ("global.dim", "4"),
                    ("model", model),
                ],
                &graph,
            )
        };
        let whole = with("[\"edge\"]", "2");
        let expected =
            "no edge has motif edge as often as delta = 2 requires: all vectors are zero";
        assert!(whole.len() == 1 && whole[0].contains(expected), "{whole:?}");
        let whole = with("[\"edge\", \"triangle\", \"clique4\"]", "1000");
        assert!(
            whole.len() == 1
                && whole[0].contains("no edge has any motif as often as `delta` requires"),
            "{whole:?}"
        );
        let parts = with(
            "[\"edge\", \"triangle\", \"clique4\"]",
            "{ triangle = 90, clique4 = 90 }",
        );
        let lines: Vec<_> = parts
            .iter()
            .filter(|line| line.to_string().contains("delta"))
            .collect();
        assert!(
            lines.len() == 1 && lines[0].contains("their columns are zero: triangle, clique4"),
            "{parts:?}"
        );
        let star = said(
            &[
                ("motifs", "[\"triangle\", \"clique4\"]"),
                ("global.dim", "4"),
                ("model", model),
            ],
            &builtin("star").unwrap(),
        );
        let expected =
            "none of the 2 motifs occurs: all vectors are zero; motifs = \"all\" includes edges";
        assert!(star.len() == 1 && star[0] == expected, "{star:?}");
        let weightless = GraphBuilder::undirected(3)
            .edges(vec![(0, 1), (1, 2)])
            .weights(vec![0.0; 2])
            .build()
            .unwrap();
        let settings = [
            ("motifs", "[\"edge\"]"),
            ("weights", "true"),
            ("global.dim", "2"),
            ("model", model),
        ];
        let notes = said(&settings, &weightless);
        let expected = "motif edge does not occur on edges with a weight: all vectors are zero; weights = false";
        assert!(notes.len() == 1 && notes[0].contains(expected), "{notes:?}");
    }
    // All edges have a weight, so that leaving the weights out would change nothing.
    let weights = GraphBuilder::undirected(3)
        .edges(vec![(0, 1), (1, 2)])
        .weights(vec![2.0; 2])
        .build()
        .unwrap();
    let notes = said(
        &[
            ("motifs", "[\"triangle\"]"),
            ("weights", "true"),
            ("global.dim", "2"),
        ],
        &weights,
    );
    assert!(
        notes.len() == 1 && notes[0].ends_with("motifs = \"all\" includes edges"),
        "{notes:?}"
    );
    // Features are diffused over graphs without an edge.
    let diffused = Config {
        motifs: "triangle".parse().unwrap(),
        ..Config::preset("hone-p+x").unwrap()
    };
    let diffused = run(diffused, &builtin("star").unwrap()).report;
    let expected =
        "motif triangle does not occur: all vectors are zero; motifs = \"all\" includes edges";
    assert_eq!(
        (texts(&diffused.warnings), texts(&diffused.notes)),
        (vec![expected.to_owned()], vec![])
    );
    let rare = Config {
        delta: "1000".parse().unwrap(),
        ..Config::preset("hone-p+x").unwrap()
    };
    let rare = run(rare, &graph).report;
    assert!(
        rare.warnings.len() == 1
            && rare.warnings[0]
                .to_string()
                .ends_with("a smaller value keeps more"),
        "{rare:?}"
    );
    // Structure columns that are zero are said to be, whatever is said of Z.
    for model in ["separate", "tucker"] {
        let layers = Layers::new()
            .preset("hone")
            .unwrap()
            .set("motifs", "[\"triangle\"]")
            .unwrap();
        let config = layers
            .set("global.dim", "8")
            .unwrap()
            .set("model", model)
            .unwrap()
            .build()
            .unwrap();
        let petersen = run(config, &builtin("petersen").unwrap()).report;
        assert!(
            petersen
                .warnings
                .iter()
                .any(|line| line.to_string().contains("all proximity columns are zero")),
            "{petersen:?}"
        );
        let columns = petersen.notes.iter().filter(|note| {
            note.to_string()
                .contains("2 of 2 structure columns are zero")
        });
        assert_eq!(columns.count(), 1, "{model} {petersen:?}");
    }
    // Structure columns are beside them.
    let beside = [
        ("motifs", "[\"edge\"]"),
        ("delta", "1000"),
        ("structure.enabled", "true"),
        ("features.combine", "after"),
    ];
    let beside = said(&beside, &graph);
    assert!(
        beside.len() == 1 && beside[0].contains("all proximity columns are zero"),
        "{beside:?}"
    );
}

type Dense = Vec<Vec<f64>>;

/// The Poisson deviance per entry of exp(a bᵀ), as books print it.
fn deviance(s: &Dense, a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    let log = |s: f64| if s > 0.0 { s * s.ln() } else { 0.0 };
    let term = |s: f64, theta: f64| log(s) - s - s * theta + theta.exp();
    let row = |i: usize| {
        (0..b.len())
            .map(|j| term(s[i][j], a[i][0] * b[j][0] + a[i][1] * b[j][1]))
            .sum::<f64>()
    };
    (0..a.len()).map(row).sum::<f64>() / (a.len() * b.len()) as f64
}

/// Improves each row of `a` by a Newton step on Σ exp(a·b) − s a·b + λ a², halved until that falls.
fn improve(s: &Dense, a: &mut [[f64; 2]], b: &[[f64; 2]], lambda: f64) {
    for (row, a) in s.iter().zip(a) {
        let value = |a: [f64; 2]| {
            let term = |(s, b): (&f64, &[f64; 2])| {
                (a[0] * b[0] + a[1] * b[1]).exp() - s * (a[0] * b[0] + a[1] * b[1])
            };
            row.iter().zip(b).map(term).sum::<f64>() + lambda * (a[0] * a[0] + a[1] * a[1])
        };
        let (mut g, mut h) = (
            [2.0 * lambda * a[0], 2.0 * lambda * a[1]],
            [2.0 * lambda, 0.0, 2.0 * lambda],
        );
        for (s, b) in row.iter().zip(b) {
            let mean = (a[0] * b[0] + a[1] * b[1]).exp();
            (g[0], g[1]) = (g[0] + (mean - s) * b[0], g[1] + (mean - s) * b[1]);
            h = [
                h[0] + mean * b[0] * b[0],
                h[1] + mean * b[0] * b[1],
                h[2] + mean * b[1] * b[1],
            ];
        }
        let det = h[0] * h[2] - h[1] * h[1];
        let step = [
            (h[2] * g[0] - h[1] * g[1]) / det,
            (h[0] * g[1] - h[1] * g[0]) / det,
        ];
        let tried = |size: f64| [a[0] - size * step[0], a[1] - size * step[1]];
        if let Some(better) = (0..30)
            .map(|k| tried(0.5f64.powi(k)))
            .find(|&tried| value(tried) < value(*a))
        {
            *a = better;
        }
    }
}

/// A fit of rank two that shares nothing with the solver: the best of a few starts.
fn fitted(s: &Dense, lambda: f64) -> f64 {
    let n = s.len();
    let transposed: Dense = (0..n)
        .map(|j| s.iter().map(|row| row[j]).collect())
        .collect();
    let of = |start: usize| {
        let wave = |i: usize, turn: usize| {
            ((i * (7 + start) + turn * 13 + start) % 17) as f64 / 17.0 - 0.5
        };
        let mut a: Vec<[f64; 2]> = (0..n).map(|i| [1.0, wave(i, 1)]).collect();
        let mut b: Vec<[f64; 2]> = (0..n).map(|j| [-1.0, wave(j, 2)]).collect();
        for _ in 0..400 {
            improve(s, &mut a, &b, lambda);
            improve(&transposed, &mut b, &a, lambda);
        }
        deviance(s, &a, &b)
    };
    (0..6).map(of).fold(f64::INFINITY, f64::min)
}

/// Triangles of the karate club under a Poisson loss: the counts themselves are fitted. Counts times 2⁻⁹, which have the
/// same singular vectors, have other factors, more than three times worse.
#[test]
fn poisson_fits_the_counts_as_they_are() {
    let graph = builtin("karate").unwrap();
    let place = tempfile::tempdir().unwrap();
    let settings = [
        ("psi", "w"),
        ("motifs", "[\"triangle\"]"),
        ("steps", "1"),
        ("local.dim", "2"),
        ("global.dim", "2"),
        ("local.solver.method", "bregman"),
        ("local.solver.loss", "poisson"),
    ];
    let hone = Hone::new(config(&settings))
        .unwrap()
        .factors(place.path().join("f"), Existing::Refuse);
    hone.embed(&graph, &Silent).unwrap();
    let folder = Folder::open(place.path().join("f")).unwrap();
    let entry = &folder.manifest.local[0];
    assert_eq!(
        (entry.scale, entry.model.as_str()),
        (1.0, "S ≈ exp(U·diag(sigma)·Vᵀ)")
    );
    let read = |array| folder.read(array).unwrap();
    let rows = entry
        .rows
        .as_ref()
        .map(|rows| read(rows).as_slice().to_vec());
    let nodes: Vec<u32> = rows.map_or((0..34).collect(), |rows| {
        rows.iter().map(|&i| i as u32).collect()
    });
    let count = |i: u32, j: u32| {
        let third = |c: &u32| graph.has_edge(i, *c) && graph.has_edge(j, *c);
        if graph.has_edge(i, j) {
            (0..34).filter(third).count() as f64
        } else {
            0.0
        }
    };
    let s: Dense = nodes
        .iter()
        .map(|&i| nodes.iter().map(|&j| count(i, j)).collect())
        .collect();
    let (u, v, sigma) = (
        read(&entry.u),
        read(entry.v.as_ref().unwrap()),
        read(&entry.sigma),
    );
    let pairs = |block: &Block, weighted: bool| -> Vec<[f64; 2]> {
        let of = |i: usize, j: usize| {
            f64::from(block.get(i, j))
                * if weighted {
                    f64::from(sigma.as_slice()[j])
                } else {
                    1.0
                }
        };
        (0..nodes.len()).map(|i| [of(i, 0), of(i, 1)]).collect()
    };
    let (found, best) = (
        deviance(&s, &pairs(&u, true), &pairs(&v, false)),
        fitted(&s, 0.01),
    );
    assert!(
        found < 1.1 * best && found > 0.9 * best,
        "{found} where an independent fit has {best}"
    );
    let shrunk: Dense = s
        .iter()
        .map(|row| row.iter().map(|x| x / 512.0).collect())
        .collect();
    let scaled = 512.0 * fitted(&shrunk, 0.01);
    assert!(
        scaled > 3.0 * found,
        "{scaled} {found}: this run would not tell scaled counts from real ones"
    );
}

/// Norms up to 2¹²⁰ are factored as they are under a divergence, up to 2⁷² under a penalty; beyond, the refusal says so.
#[test]
fn counts_are_scaled_only_where_a_solver_cannot_take_them() {
    let plain = builtin("karate").unwrap();
    let weighted = |exponent: i32| {
        let edges: Vec<(u32, u32)> = (0..34)
            .flat_map(|u| {
                plain
                    .neighbors(u)
                    .iter()
                    .map(move |&v| (u, v))
                    .filter(|(u, v)| u < v)
            })
            .collect();
        let weights = vec![2f32.powi(exponent); edges.len()];
        GraphBuilder::undirected(34)
            .edges(edges)
            .weights(weights)
            .build()
            .unwrap()
    };
    let embed = |exponent: i32, steps: &str, solver: &[(&str, &str)]| {
        let base = [
            ("psi", "w"),
            ("motifs", "[\"edge\"]"),
            ("local.dim", "3"),
            ("global.dim", "2"),
            ("steps", steps),
        ];
        Hone::new(config(&[&base[..], solver].concat()))
            .unwrap()
            .embed(&weighted(exponent), &Silent)
    };
    let poisson = [
        ("local.solver.method", "bregman"),
        ("local.solver.loss", "poisson"),
    ];
    let penalty = [
        ("local.solver.method", "als"),
        ("local.solver.regularization", "0.1"),
    ];
    // A norm of W of 2^(exponent + 5), at most.
    for (exponent, steps, solver) in [
        (30, "3", &poisson),
        (15, "6", &poisson),
        (31, "2", &penalty),
        (19, "3", &penalty),
    ] {
        let local = embed(exponent, steps, solver).unwrap().report.local;
        assert!(
            local
                .iter()
                .all(|facts| facts.scale == 1.0 && facts.rank > 0),
            "{exponent} {steps}: {local:?}"
        );
    }
    for (exponent, steps, solver, said) in [
        (38, "3", &poisson, "2^±120"),
        (38, "2", &penalty, "2^±72"),
        (60, "1", &poisson, "edge weights are beyond 2^±40"),
    ] {
        let error = embed(exponent, steps, solver).unwrap_err().to_string();
        assert!(
            error.contains(said) && error.contains("without regularization"),
            "{error}"
        );
    }
    let local = embed(60, "3", &[]).unwrap().report.local;
    assert!(
        local.iter().all(|facts| facts.scale != 1.0),
        "the SVD takes a multiple"
    );
}

/// A triangle beside an edge: the mean size after the first is that of four values and not of five, for the power of the
/// factors and for the size of the log window.
#[test]
fn both_views_of_a_tiny_graph_have_one_weight() {
    let edges = vec![(0, 1), (1, 2), (0, 2), (3, 4)];
    let degrees = [2.0, 2.0, 2.0, 1.0, 1.0f64];
    let tau = 0.5 * degrees.iter().sum::<f64>() / 5.0;
    let mut s = vec![vec![0.0; 5]; 5];
    for &(u, v) in &edges {
        let entry = 1.0 / ((degrees[u as usize] + tau) * (degrees[v as usize] + tau)).sqrt();
        (s[u as usize][v as usize], s[v as usize][u as usize]) = (entry, entry);
    }
    let mut sizes: Vec<f64> = jacobi(&s).0.into_iter().map(f64::abs).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let w = (2.0 * sizes[1..].iter().sum::<f64>() / 4.0)
        .powi(6)
        .clamp(0.02, 1.0);
    assert!(w > 0.02, "the smallest weight would hide a wrong mean: {w}");
    let graph = GraphBuilder::undirected(5).edges(edges).build().unwrap();
    let settings = [
        ("structure.enabled", "false"),
        ("global.output", "local"),
        ("local.row-power", "0"),
    ];
    let layers = Layers::new().preset("hone").unwrap();
    let config = layers.set_all(settings).unwrap().build().unwrap();
    let found = run(config, &graph);
    let lengths = found.embedding.vectors.column_norms(Norm::L2);
    let of = |block: &ColumnBlock| &lengths[block.first..][..block.count];
    let energy = |block: &ColumnBlock| of(block).iter().map(|length| length * length).sum::<f64>();
    let [factors, window] = &found.report.blocks[..] else {
        panic!("two views: {:?}", found.report.blocks);
    };
    for (length, size) in of(factors).iter().zip(&sizes) {
        let expected = (size / sizes[0]).powf(2.0 + w);
        assert!(
            (length / lengths[0] - expected).abs() < 1e-5,
            "{length} instead of {expected} times {}",
            lengths[0]
        );
    }
    let size = energy(window) / energy(factors);
    assert!((size - w).abs() < 1e-5, "{size} instead of {w}");
}
