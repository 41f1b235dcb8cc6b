//! Log windows against their definition; samples of rows and columns against all of them.

use std::sync::Arc;

use super::*;
use crate::matrix::{MotifMatrix, Psi};
use crate::progress::Silent;
use crate::random::Key;
use crate::space::Host;
use hone_graph::motif::{Counts, Motif, Weighting, count};
use hone_graph::{Generator, Graph, GraphBuilder};

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
        rank,
        right: false,
        key: Key::new(5),
        progress: &Silent,
        aside: None,
    }
}

fn eigenvectors(s: &Operator, rank: usize) -> Vec<Block> {
    vec![
        super::super::svd::svd(s, &super::super::svd::Svd::default(), &task(rank))
            .expect("finite")
            .u,
    ]
}

/// The columns of C that some landmarks give, and what they are made of.
struct Case {
    u: Vec<Block>,
    roots: Diagonal,
    chosen: Chosen,
    rows: Block,
}

impl Case {
    fn new(s: &Operator, u: Vec<Block>, landmarks: usize) -> Self {
        let degrees = degrees(s.same_vectors_as()).expect("symmetric");
        let roots = degrees.iter().map(|&d| (1.0 / d.max(1.0).sqrt()) as f32);
        let roots = Diagonal::new("roots", roots.collect::<Vec<_>>());
        let filter = filter(
            &ritz(&Host, s.same_vectors_as(), &u, false).expect("finite"),
            2,
        );
        let chosen = Chosen::of(&degrees, landmarks, &task(24));
        let rows = chosen.rows(&Host, &u, &roots, &filter);
        Case {
            u,
            roots,
            chosen,
            rows,
        }
    }

    fn logs(&self) -> Logs<'_> {
        Logs {
            landmarks: &self.rows,
            scales: &self.chosen.scales,
        }
    }

    /// C itself.
    fn whole(&self) -> Block {
        let count = self.chosen.scales.len();
        let same = Small::from_fn(count, count, |i, j| f64::from(u8::from(i == j)));
        Host.log_times(&self.u, (&self.roots, self.logs()), &same, &[count])
            .remove(0)
    }
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

/// A sample of the rows finds directions that hold nearly as much of C as the best ones, and the sizes of all.
#[test]
fn some_rows_say_nearly_as_much_as_all() {
    let graph = Generator::Rmat {
        nodes: 6000,
        degree: 12.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let s = matrix(&graph.graph(2, &Silent).expect("a graph"), 2);
    let rank = 24;
    let case = Case::new(&s, eigenvectors(&s, 48), 256);
    let all = case.whole().gram();
    let found = |sampled: usize| {
        gram(
            &Host,
            &case.u,
            (&case.roots, case.logs()),
            sampled,
            &task(rank),
        )
    };
    let (best, found) = (
        found(s.rows()).expect("finite"),
        found(2000).expect("finite"),
    );
    let exact = all.eigen().expect("finite");
    assert!(
        (best.values[0] / exact.values[0] - 1.0).abs() < 1e-9,
        "small graphs have no sample"
    );
    let held: f64 = (0..rank)
        .map(|k| {
            let v = |i: usize| found.vectors.get(i, k);
            let product = |i: usize| (0..all.cols()).map(|j| all.get(i, j) * v(j)).sum::<f64>();
            (0..all.rows()).map(|i| v(i) * product(i)).sum::<f64>()
        })
        .sum();
    let most: f64 = best.values[..rank].iter().sum();
    assert!(held > 0.97 * most, "{held} of {most}");
    for k in 0..8 {
        let ratio = found.values[k] / best.values[k];
        assert!(
            (ratio - 1.0).abs() < 0.15,
            "eigenvalue {k} is {ratio} times what it should be"
        );
    }
}

#[test]
fn few_landmarks_hold_nearly_as_much_as_all() {
    let graph = Generator::Rmat {
        nodes: 1500,
        degree: 12.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let s = matrix(&graph.graph(2, &Silent).expect("a graph"), 3);
    let (n, rank) = (s.rows(), 24);
    let u = eigenvectors(&s, 48);
    let columns = |count: usize| Case::new(&s, u.clone(), count).whole();
    let all = columns(n);
    let energy: f64 = all.gram().eigen().expect("finite").values[..rank]
        .iter()
        .sum();
    let few = columns(512);
    let gram = few.gram().eigen().expect("finite");
    let turn = Small::from_fn(few.cols(), rank, |i, j| {
        gram.vectors.get(i, j) / gram.values[j].sqrt()
    });
    let basis = few.times(&turn);
    let held: f64 = basis.cross(&all).as_slice().iter().map(|x| x * x).sum();
    assert!(held > 0.92 * energy, "{held} of {energy}");
    let estimate = gram.values.iter().sum::<f64>()
        / all
            .gram()
            .eigen()
            .expect("finite")
            .values
            .iter()
            .sum::<f64>();
    assert!(
        (estimate - 1.0).abs() < 0.2,
        "the squared size is {estimate} times what it should be"
    );
}

#[test]
fn directed_graphs_are_refused() {
    let directed = Operator::sparse(
        "W",
        crate::sparse::Csr::new(
            Arc::new(crate::sparse::Pattern::new(vec![0, 1, 1], vec![1], 2)),
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
        [100, 1024, 1024, 256, 256]
    );
    assert_eq!(landmarks(1_000_000, 400), 1024);
}

/// Hubs are taken once and as they are; what others stand for adds up to all of them.
#[test]
fn landmarks_are_drawn_by_degree_and_once() {
    let mut degrees: Vec<f64> = (0..500).map(|i| f64::from(i % 7)).collect();
    (degrees[3], degrees[250], degrees[499]) = (4000.0, 900.0, 5000.0);
    let volume: f64 = degrees.iter().sum();
    let with_edges = degrees.iter().filter(|degree| **degree > 0.0).count();
    for count in [1, 2, 3, 10, 64, 300, with_edges, 500, 900] {
        let Chosen {
            nodes,
            scales,
            volume: whole,
        } = Chosen::of(&degrees, count, &task(4));
        assert_eq!(
            (nodes.len(), whole),
            (count.min(with_edges), volume),
            "{count} landmarks"
        );
        assert!(nodes.is_sorted_by(|a, b| a < b), "each node once");
        assert!(nodes.iter().all(|&node| degrees[node] > 0.0));
        let stands_for: f64 = nodes
            .iter()
            .zip(&scales)
            .map(|(&node, &s)| degrees[node] * f64::from(s * s))
            .sum();
        assert!(
            (stands_for / volume - 1.0).abs() < 1e-5,
            "{count} landmarks stand for {stands_for} of {volume}"
        );
        let hubs = nodes
            .iter()
            .zip(&scales)
            .filter(|(node, _)| [3, 250, 499].contains(*node));
        assert!(
            count < 10 || hubs.map(|(_, scale)| *scale).eq([1.0; 3]),
            "{count} landmarks"
        );
    }
    assert!(Chosen::of(&[0.0; 9], 4, &task(4)).nodes.is_empty());
    // Hubs beside which the others vanish.
    let mut degrees = vec![1.0; 5000];
    (degrees[7], degrees[4000]) = (1e20, 1e20);
    let Chosen { nodes, scales, .. } = Chosen::of(&degrees, 64, &task(4));
    assert!(nodes.len() == 64 && nodes.contains(&7) && nodes.contains(&4000));
    let stands_for: f64 = scales
        .iter()
        .filter(|scale| **scale > 1.0)
        .map(|scale| f64::from(scale * scale))
        .sum();
    assert!((stands_for - 4998.0).abs() < 0.1, "{stands_for}");
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
