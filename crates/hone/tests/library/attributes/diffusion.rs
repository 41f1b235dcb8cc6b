//! Attributes spread over motif graphs.

use hone::attributes::Attributes;
use hone::dense::Block;
use hone::diffuse::{Diffusion, Process};
use hone::graph::{Graph, GraphBuilder, builtin};
use hone::matrix::{MotifMatrix, Order, Psi};
use hone::motif::{self, Motif, MotifSet, Orbit, Weighting};
use hone::operator::Operator;
use hone::sparse::Csr;
use hone::{Hone, Silent};

use super::{by_id, graph, preset};

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

fn diffuse_and_compare(
    graph: &Graph,
    counts: &motif::Counts,
    motif: Motif,
    psi: Psi,
    process: Process,
) {
    let w = counts
        .motif_graph(graph, motif, Weighting::default())
        .unwrap();
    let n = w.matrix.pattern().rows();
    let dense: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row = vec![0.0; n];
            let (columns, values) = w.matrix.row(i);
            columns
                .iter()
                .zip(values)
                .for_each(|(&j, &v)| row[j as usize] = f64::from(v));
            row
        })
        .collect();
    let x = Block::from_vec(n, 2, (0..2 * n).map(|e| (e * 7 % 5) as f32 - 1.5).collect());
    let start: Vec<Vec<f64>> = (0..n)
        .map(|i| x.row(i).iter().map(|&v| f64::from(v)).collect())
        .collect();
    let operator = if graph.is_directed() {
        Operator::sparse("W", w.matrix.clone())
    } else {
        Operator::symmetric("W", w.matrix.clone())
    };
    let matrix = MotifMatrix {
        psi,
        ..MotifMatrix::default()
    };
    let mut expected = start.clone();
    let diffusion = Diffusion {
        steps: 3,
        original: false,
        process,
    };
    for (k, step) in (1..).zip(diffusion.over(&x, (&operator, 1.0), &matrix)) {
        let (found, scale) = step.unwrap();
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
                row.iter_mut()
                    .zip(start)
                    .for_each(|(v, x)| *v = (1.0 - theta) * *v + theta * x);
            }
        }
        for i in 0..n {
            for c in 0..2 {
                let (found, expected) = (f64::from(found.row(i)[c]), expected[i][c]);
                let close = (found - expected).abs() <= 1e-4 * (1.0 + expected.abs());
                assert!(
                    close,
                    "{motif} {psi:?} {process:?} k={k} node {i}: {found} {expected}"
                );
            }
        }
    }
}

fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let width = b.first().map_or(0, Vec::len);
    a.iter()
        .map(|row| {
            (0..width)
                .map(|c| row.iter().zip(b).map(|(v, other)| v * other[c]).sum())
                .collect()
        })
        .collect()
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
        }
    };
    (0..a.len())
        .map(|i| (0..a.len()).map(|j| entry(i, j)).collect())
        .collect()
}

#[test]
fn orders_of_diffusion_can_be_chosen() {
    let graph = graph(false);
    let counts = motif::count(&graph, &Silent).unwrap();
    let w = counts
        .motif_graph(&graph, Motif::Orbit(Orbit::Edge), Weighting::default())
        .unwrap();
    let operator = Operator::symmetric("W", w.matrix.clone());
    let x = Block::from_vec(
        w.matrix.pattern().rows(),
        1,
        (0..w.matrix.pattern().rows()).map(|i| i as f32).collect(),
    );
    let second = |order| {
        let matrix = MotifMatrix {
            psi: Psi::P,
            order,
            ..MotifMatrix::default()
        };
        let diffusion = Diffusion {
            steps: 2,
            original: false,
            process: Process::Linear,
        };
        let steps = diffusion.over(&x, (&operator, 1.0), &matrix);
        steps.last().unwrap().unwrap().0
    };
    assert_ne!(second(Order::Auto), second(Order::PsiOfPower));
}

/// Another order of the nodes permutes the rows of X and of every diffused block, nothing else.
#[test]
fn relabelling_permutes_the_diffused_attributes() {
    let karate = builtin("karate").unwrap();
    let place = |i: u32| (i * 5 + 3) % 34;
    let edges: Vec<(u32, u32)> = (0..34u32)
        .flat_map(|i| {
            karate
                .neighbors(i)
                .iter()
                .map(move |&j| (place(i), place(j)))
                .collect::<Vec<_>>()
        })
        .collect();
    let mut names = vec![0i64; 34];
    (0..34u32).for_each(|i| names[place(i) as usize] = i64::from(i));
    let ids = hone::graph::NodeIds::from_integers(names.clone());
    let moved = GraphBuilder::undirected(34)
        .ids(ids)
        .edges(edges)
        .build()
        .unwrap();
    let own = |ids: &[i64]| {
        let values = ids.iter();
        let values = values.flat_map(|&i| [(i * 7 % 11) as f32, (i % 2) as f32]);
        let block = Block::from_vec(34, 2, values.collect());
        Attributes::numbers(vec!["a".into(), "b".into()], &block).unwrap()
    };
    let straight: Vec<i64> = (0..34).collect();
    for psi in ["w", "p", "l", "l-norm", "l-rw"] {
        let process = ("features.diffusion.process", "{ laplacian = 0.4 }");
        for more in [&[][..], &[process]] {
            let settings = [&[("psi", psi), ("structure.enabled", "true")], more].concat();
            let (a, b) = (
                by_id(&karate, &settings, own(&straight)),
                by_id(&moved, &settings, own(&names)),
            );
            assert_eq!(a["0"].len(), (52 + 2) * (1 + 13 * 2));
            for (id, row) in &a {
                for (j, (x, y)) in row.iter().zip(&b[id]).enumerate() {
                    assert!(
                        (x - y).abs() < 2e-5,
                        "{psi}, node {id}, column {j}: {x} {y}"
                    );
                }
            }
        }
    }
}

/// A graph's motif graph may leave out nodes; in the Laplacian process they keep θX all the same.
#[test]
fn nodes_without_the_motif_keep_their_part_of_x() {
    let graph = builtin("karate").unwrap();
    let n = graph.nodes();
    let block = Block::from_vec(n, 2, (0..n).flat_map(|i| [1.0, i as f32]).collect());
    let named = Attributes::numbers(vec!["one".into(), "number".into()], &block).unwrap();
    for (motif, theta) in [
        ("clique4", 1.0),
        ("clique4", 0.25),
        ("edge", 1.0),
        ("clique4", 0.0),
    ] {
        let config = [
            ("structure.enabled", "false"),
            ("local.norm", "none"),
            ("motifs", &format!("[\"{motif}\"]")),
            (
                "features.diffusion.process",
                &format!("{{ laplacian = {theta:?} }}"),
            ),
        ];
        let config = preset("hone-p", &config);
        let run = Hone::new(config)
            .unwrap()
            .with_attributes(named.clone())
            .features(&graph, &Silent)
            .unwrap();
        let counts = motif::count(&graph, &Silent).unwrap();
        let w = counts
            .motif_graph(&graph, motif.parse().unwrap(), Weighting::default())
            .unwrap();
        let touched = |i: usize| {
            w.nodes
                .as_ref()
                .is_none_or(|nodes| nodes.contains(&(i as u32)))
        };
        assert!(motif == "edge" || (0..n).filter(|&i| !touched(i)).count() == 22);
        for i in 0..n {
            // X, then the first and the second step.
            let row = run.embedding.vectors.row(i);
            assert_eq!(row.len(), 6);
            if theta == 1.0 {
                assert_eq!(
                    row[2..],
                    [1.0, i as f32, 1.0, i as f32],
                    "{motif}, node {i}"
                );
            } else if !touched(i) {
                let kept = theta as f32 * i as f32;
                assert_eq!(
                    row[2..],
                    [theta as f32, kept, theta as f32, kept],
                    "{motif}, node {i}"
                );
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
        let named = Attributes::numbers(vec!["size".into()], &block).unwrap();
        let config = preset(
            "hone-p",
            &[
                ("structure.enabled", "false"),
                ("local.norm", "none"),
                ("motifs", "[\"clique4\"]"),
                ("features.diffusion.process", "{ laplacian = 1.0 }"),
            ],
        );
        let run = Hone::new(config)
            .unwrap()
            .with_attributes(named)
            .features(&graph, &Silent)
            .unwrap();
        (0..graph.nodes())
            .for_each(|i| assert_eq!(run.embedding.vectors.row(i), [size; 3], "node {i}"));
    }
}

/// Eq. 20 with counts: W X sums the neighbours' attributes, each times a count; and what leaves the range is an error.
#[test]
fn diffusion_over_counts_sees_the_counts() {
    let edges: Vec<(u32, u32)> = (0..60u32)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .collect();
    let graph = GraphBuilder::undirected(60).edges(edges).build().unwrap();
    let block = Block::from_vec(60, 1, vec![1.0; 60]);
    let named = Attributes::numbers(vec!["one".into()], &block).unwrap();
    let run = |steps: &str, norm: &str| {
        let settings = [
            ("structure.enabled", "false"),
            ("local.norm", norm),
            ("motifs", "[\"clique4\"]"),
        ];
        let config = preset(
            "hone-w",
            &[&settings[..], &[("features.diffusion.steps", steps)]].concat(),
        );
        Hone::new(config)
            .unwrap()
            .with_attributes(named.clone())
            .features(&graph, &Silent)
    };
    // Every edge of K60 is in 58·57/2 cliques of four; X^(2) = W² W X.
    let degree = 59.0 * 58.0 * 57.0 / 2.0;
    let row = run("2", "none").unwrap().embedding.vectors.row(7).to_vec();
    assert_eq!(f64::from(row[1]), degree);
    assert!(
        (f64::from(row[2]) / f64::powi(degree, 3) - 1.0).abs() < 1e-5,
        "{row:?}"
    );
    let error = run("6", "none").unwrap_err().to_string();
    assert!(
        error.contains("clique4") && error.contains("overflow"),
        "{error}"
    );
    let normed = run("6", "l2").unwrap().embedding.vectors;
    assert!(
        normed
            .as_slice()
            .iter()
            .all(|x| (f64::from(*x) - 60f64.sqrt().recip()).abs() < 1e-5)
    );
}

/// X^(1), X^(2) of attributes of one size over the edges of the karate club, as they are.
fn diffused(size: f32, process: Process, psi: Psi) -> hone::Result<Vec<Vec<f64>>> {
    let pattern = builtin("karate")?.pattern().clone();
    let w = Operator::symmetric(
        "W",
        Csr::new(pattern.clone(), vec![1.0; pattern.nnz()].into()),
    );
    let signs = (0..34)
        .map(|i| if i % 3 == 0 { -size } else { size })
        .collect();
    let diffusion = Diffusion {
        steps: 2,
        original: false,
        process,
    };
    let matrix = MotifMatrix {
        psi,
        ..MotifMatrix::default()
    };
    let x = Block::from_vec(34, 1, signs);
    let steps = diffusion.over(&x, (&w, 1.0), &matrix);
    let unscaled = |(x, scale): (Block, f64)| {
        let values = x.as_slice().iter().map(|&x| f64::from(x) / scale);
        values.collect()
    };
    steps.map(|step| step.map(unscaled)).collect()
}

/// Attributes near the end of the range are multiplied with a power of two first, and nothing changes but that.
#[test]
fn attributes_of_any_size_are_diffused() {
    for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm] {
        let plain = diffused(1.0, Process::Linear, psi).unwrap();
        for exponent in [-120, -40, 40, 127] {
            let found = diffused(2f32.powi(exponent), Process::Linear, psi).unwrap();
            for (found, plain) in found.iter().flatten().zip(plain.iter().flatten()) {
                assert!(
                    (found / 2f64.powi(exponent) - plain).abs() <= 1e-5 * plain.abs().max(1.0),
                    "{psi:?} {exponent}"
                );
            }
        }
    }
}

/// Whatever the process and the norm that follows: what is not a number is an error that names the step.
#[test]
fn attributes_that_leave_the_range_are_an_error() {
    for (size, process) in [
        (f32::INFINITY, Process::Linear),
        (f32::NAN, Process::Linear),
        (f32::MAX, Process::Laplacian(0.0)),
        (f32::NAN, Process::Laplacian(1.0)),
    ] {
        let error = diffused(size, process, Psi::W).unwrap_err().to_string();
        assert!(
            error.contains("step 1") && error.contains("overflow"),
            "{size} {process:?}: {error}"
        );
    }
}
