//! Log windows against their definition; samples of rows and columns against all of them.

use std::sync::Arc;

use hone_graph::motif::{Counts, Motif, Weighting, count};
use hone_graph::{Generator, Graph, GraphBuilder};
use hone_linalg::Silent;
use hone_linalg::dense::{Block, Small, orthonormalize};
use hone_linalg::factor::Task;
use hone_linalg::factor::log_window::{Landmarks, community_weight, landmarks, log_window};
use hone_linalg::factor::svd::{Svd, svd};
use hone_linalg::matrix::{MotifMatrix, Psi};
use hone_linalg::operator::Operator;
use hone_linalg::random::Key;
use hone_linalg::space::Host;
use hone_linalg::sparse::{Csr, Pattern};

fn matrix(graph: &Graph, steps: usize) -> Operator {
    let counts: Counts = count(graph, &Silent).expect("counted");
    let edge: Motif = "edge".parse().expect("a motif");
    let w = counts
        .motif_graph(
            graph,
            edge,
            Weighting {
                delta: 1,
                use_weights: true,
                ..Weighting::default()
            },
        )
        .expect("made");
    let matrix = MotifMatrix {
        psi: Psi::ANorm,
        regularize: 0.5,
        ..MotifMatrix::default()
    };
    matrix
        .operator(&Operator::symmetric("W", w.matrix), steps)
        .expect("in range")
}

fn task(rank: usize) -> Task<'static> {
    Task {
        right: false,
        ..super::task(rank, 5)
    }
}

fn eigenvectors(s: &Operator, rank: usize) -> Vec<Block> {
    vec![svd(s, &Svd::default(), &task(rank)).expect("finite").u]
}

/// log max(1, v D^-½ f(S) D^-½) by its definition, in f64, with a slow eigensolver of its own.
fn by_definition(graph: &Graph, steps: usize) -> Vec<Vec<f64>> {
    let n = graph.nodes();
    let degree = |i: usize| graph.degree(i as u32) as f64;
    let touched = (0..n).filter(|&i| degree(i) > 0.0).count() as f64;
    let tau = 0.5 * (0..n).map(degree).sum::<f64>() / touched;
    let root = |i: usize, tau: f64| {
        if degree(i) > 0.0 {
            1.0 / (degree(i) + tau).sqrt()
        } else {
            0.0
        }
    };
    let edge = |i: usize, j: usize| graph.neighbors(i as u32).contains(&(j as u32));
    let entry = |i: usize, j: usize| {
        if edge(i, j) {
            root(i, tau) * root(j, tau)
        } else {
            0.0
        }
    };
    let (values, vectors) = jacobi(
        (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect(),
    );
    let filter =
        |x: f64| ((1..=steps as i32).map(|k| x.powi(k)).sum::<f64>() / steps as f64).max(0.0);
    let volume: f64 = (0..n).map(degree).sum();
    let window = |i: usize, j: usize| -> f64 {
        (0..n)
            .map(|k| vectors[i][k] * filter(values[k]) * vectors[j][k])
            .sum::<f64>()
            * volume
            * root(i, 0.0)
            * root(j, 0.0)
    };
    (0..n)
        .map(|i| (0..n).map(|j| window(i, j).max(1.0).ln()).collect())
        .collect()
}

/// Eigenvalues and vectors of a small symmetric matrix by plane rotations.
fn jacobi(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _ in 0..50 {
        for p in 0..n {
            for q in p + 1..n {
                let angle = 0.5 * f64::atan2(2.0 * a[p][q], a[q][q] - a[p][p]);
                let (sin, cos) = angle.sin_cos();
                for rows in [&mut a, &mut v] {
                    for row in rows.iter_mut() {
                        (row[p], row[q]) =
                            (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
                    }
                }
                let (first, second) = a.split_at_mut(q);
                for (x, y) in first[p].iter_mut().zip(&mut second[0]) {
                    (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
                }
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

/// With all eigenpairs and all columns, the view is U √Σ of the matrix by its definition.
#[test]
fn all_landmarks_give_the_factors_of_the_definition() {
    // Two components, of which the path of three nodes has eigenvalues of both signs and the same size; one node alone.
    let edges = vec![
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
        (0, 2),
        (3, 4),
        (4, 5),
        (5, 3),
        (6, 7),
        (7, 8),
    ];
    let graph = GraphBuilder::undirected(10)
        .edges(edges)
        .build()
        .expect("in range");
    for (power, steps) in [(1, 1), (3, 2), (2, 3)] {
        let s = matrix(&graph, power);
        let n = s.rows();
        let view = log_window(&Host, &s, &mut eigenvectors(&s, n), steps, &task(n))
            .expect("symmetric")
            .panels
            .remove(0);
        let expected = by_definition(&graph, steps);
        // Column lengths of V √Σ are √σ, so that E diag(σ) Eᵀ = M Mᵀ.
        let sigma = |k: usize| {
            (0..n)
                .map(|i| f64::from(view.get(i, k)).powi(2))
                .sum::<f64>()
        };
        for i in 0..n {
            for j in 0..n {
                let ours: f64 = (0..n)
                    .map(|k| f64::from(view.get(i, k)) * f64::from(view.get(j, k)) * sigma(k))
                    .sum();
                let square: f64 = (0..10).map(|k| expected[i][k] * expected[j][k]).sum();
                assert!(
                    (ours - square).abs() < 2e-3,
                    "T {steps} ({i}, {j}): {ours} instead of {square}"
                );
            }
        }
    }
}

/// A sample of columns spans nearly as much of the matrix as the best directions do.
#[test]
fn few_landmarks_hold_nearly_as_much_as_all() {
    let graph = Generator::Rmat {
        nodes: 2500,
        degree: 12.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let graph = graph.graph(2, &Silent).expect("a graph");
    let s = matrix(&graph, 1);
    let (n, rank, steps) = (s.rows(), 24, 3);
    let mut u = eigenvectors(&s, 48);
    // L from the eigenpairs in the span of U, as dense rows.
    let ritz = u[0].cross(&s.apply(&u[0])).eigen().expect("symmetric");
    let x = u[0].times(&ritz.vectors);
    let mean =
        |x: f64| ((1..=steps as i32).map(|k| x.powi(k)).sum::<f64>() / steps as f64).max(0.0);
    let mut scaled = x.clone();
    scaled.scale_columns(&ritz.values.iter().map(|&x| mean(x)).collect::<Vec<_>>());
    let degree = |i: usize| graph.degree(i as u32) as f64;
    let volume: f64 = (0..n).map(degree).sum();
    let mut all = Block::zeros(n, n);
    all.update_rows(|i, row| {
        for (j, to) in row.iter_mut().enumerate() {
            let both = (degree(i) * degree(j)).sqrt();
            let terms = scaled.row(i).iter().zip(x.row(j));
            let dot: f64 = terms.map(|(a, b)| f64::from(a * b)).sum();
            *to = if both > 0.0 {
                (volume * dot / both).max(1.0).ln() as f32
            } else {
                0.0
            };
        }
    });
    let best = svd(
        &Operator::dense("L", all.clone()),
        &Svd::default(),
        &task(rank),
    );
    let most: f64 = best.expect("finite").sigma.iter().map(|x| x * x).sum();
    let view = log_window(&Host, &s, &mut u, steps, &task(rank)).expect("symmetric");
    assert!(view.landmarks.scales.len() < n / 2);
    let mut basis = view.panels.into_iter().next().expect("a panel");
    orthonormalize(&mut basis);
    let held: f64 = basis.cross(&all).as_slice().iter().map(|x| x * x).sum();
    assert!(held > 0.92 * most, "{held} of {most}");
}

#[test]
fn directed_graphs_are_refused() {
    let directed = Operator::sparse(
        "W",
        Csr::new(
            Arc::new(Pattern::new(vec![0, 1, 1], vec![1], 2)),
            vec![1.0].into(),
        ),
    );
    let mut u = [Block::random(2, 2, Key::new(1))];
    assert!(log_window(&Host, &directed, &mut u, 1, &task(2)).is_err());
}

#[test]
fn landmarks_are_few_on_large_graphs_and_all_on_small_ones() {
    assert_eq!(
        [100, 5000, 100_000, 1_000_000, 10_000_000].map(|n| landmarks(n, 112)),
        [100, 512, 512, 256, 256]
    );
    assert_eq!(landmarks(1_000_000, 400), 1024);
}

/// Rows of other nodes by the definition; zeros where there is nothing to make them of.
#[test]
fn rows_of_other_nodes() {
    let rows = Block::random(5, 3, Key::new(1));
    let turn = Small::from_fn(5, 2, |i, j| (i * 2 + j) as f64 / 4.0 - 1.0);
    let landmarks = Landmarks {
        rows,
        scales: vec![0.5, 1.0, 2.0, 1.5, 0.25],
        turn,
    };
    let (u, degrees) = ([9.0, -4.0, 6.0, 0.5, 20.0, -30.0], [4.0, 0.25]);
    let found = landmarks.extension().rows(&u, &degrees);
    for (i, degree) in degrees.iter().enumerate() {
        for j in 0..2 {
            let entry = |k: usize| -> f64 {
                let dot: f64 = (0..3)
                    .map(|l| u[3 * i + l] * f64::from(landmarks.rows.get(k, l)))
                    .sum();
                (dot / degree.sqrt()).max(1.0).ln() * landmarks.scales[k] * landmarks.turn.get(k, j)
            };
            let expected: f64 = (0..5).map(entry).sum();
            assert!(
                (found[2 * i + j] - expected).abs() < 1e-5,
                "({i}, {j}): {} {expected}",
                found[2 * i + j]
            );
        }
    }
    assert!(found.iter().any(|x| x.abs() > 0.1), "{found:?}");
    assert_eq!(
        landmarks.extension().rows(&u[..3], &degrees[..1]),
        found[..2],
        "whoever else is there"
    );
    let none = Landmarks {
        rows: Block::zeros(3, 0),
        scales: vec![1.0; 3],
        turn: Small::zeros(3, 2),
    };
    assert_eq!(none.extension().rows(&[], &[1.0, 2.0]), [0.0; 4]);
}

#[test]
fn weights_follow_the_leading_eigenvalues() {
    assert_eq!(community_weight(&[]), 0.02);
    assert_eq!(community_weight(&[0.9]), 0.02);
    assert_eq!(community_weight(&[0.9, 0.8, -0.8, 0.7, 0.6, 0.6, 0.1]), 1.0);
    let found = community_weight(&[0.4, 0.9, 0.4, -0.4, 0.4, 0.4, 0.01]);
    assert!((found - 0.8f64.powi(6)).abs() < 1e-12);
}
