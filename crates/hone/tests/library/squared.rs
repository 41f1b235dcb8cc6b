//! Solvers in squared loss against closed forms, Jacobi rotations, naive dense solvers and scikit-learn.
#![allow(missing_docs)]

use crate::naive;

use hone::Silent;
use hone::dense::Block;
use hone::factor::als::{Als, Orthogonal};
use hone::factor::ccd::Ccd;
use hone::factor::nmf::Nmf;
use hone::factor::sgd::Sgd;
use hone::factor::{Factors, Solver, Start, Task};
use hone::matrix::{MotifMatrix, Psi};
use hone::operator::Operator;
use hone::random::Key;
use naive::{Matrix, graph, jacobi, leaf, singular_values, times, transpose, wide};

fn solve(solver: &Solver, s: &Operator, rank: usize) -> Factors {
    solver.check("solver").expect("options in range");
    let task = Task {
        rank,
        right: true,
        key: Key::new(7),
        progress: &Silent,
        aside: None,
    };
    solver
        .factor(s, &task)
        .unwrap_or_else(|e| panic!("{solver:?}: {e}"))
}

fn als(options: Als) -> Solver {
    Solver::Als(options)
}

/// Iterations without an end but that of the count.
fn long_als() -> Als {
    Als {
        iterations: 600,
        tolerance: 0.0,
        ..Als::default()
    }
}

fn long_ccd() -> Ccd {
    Ccd {
        iterations: 600,
        tolerance: 0.0,
        ..Ccd::default()
    }
}

fn product(found: &Factors) -> Matrix {
    let (u, v) = (wide(&found.u), wide(found.v.as_ref().expect("asked for")));
    let weighted: Matrix = u
        .iter()
        .map(|row| {
            row.iter()
                .zip(&found.sigma)
                .map(|(x, sigma)| x * sigma)
                .collect()
        })
        .collect();
    times(&weighted, &transpose(&v))
}

fn square(m: &Matrix) -> f64 {
    m.iter().flatten().map(|x| x * x).sum()
}

fn minus(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect())
        .collect()
}

/// ‖S − found‖² / ‖S‖².
fn error(s: &Matrix, found: &Factors) -> f64 {
    square(&minus(s, &product(found))) / square(s)
}

fn rounded(m: &Matrix) -> Matrix {
    m.iter()
        .map(|row| row.iter().map(|&x| f64::from(x as f32)).collect())
        .collect()
}

fn explicit(s: &Operator) -> Matrix {
    let n = s.cols();
    let mut identity = Block::zeros(n, n);
    (0..n).for_each(|i| identity.row_mut(i)[i] = 1.0);
    wide(&s.apply(&identity))
}

/// A matrix of exactly that rank, as a general (not symmetric) sparse leaf.
fn low_rank(rows: usize, cols: usize, rank: usize, seed: u64) -> Matrix {
    let (a, b) = (
        naive::block(rows, rank, seed),
        naive::block(cols, rank, seed + 1),
    );
    rounded(&times(&wide(&a), &transpose(&wide(&b))))
}

fn sparse(m: &Matrix) -> Operator {
    Operator::sparse("S", naive::csr(m, m[0].len()))
}

fn falls(found: &Factors) -> &[f64] {
    let values = &found.info.loss.as_ref().expect("followed").values;
    assert_eq!(values.len(), found.info.iterations + 1);
    assert!(
        values.windows(2).all(|pair| pair[1] <= pair[0] + 1e-6),
        "the loss never rises: {values:?}"
    );
    values
}

#[test]
fn matrices_of_low_rank_are_recovered_from_any_start() {
    let s = low_rank(40, 30, 4, 5);
    let operator = sparse(&s);
    for start in [Start::Svd, Start::Random] {
        let found = solve(
            &als(Als {
                start,
                ..long_als()
            }),
            &operator,
            4,
        );
        assert!(
            error(&s, &found) < 1e-9,
            "als {start:?}: {}",
            error(&s, &found)
        );
        let found = solve(
            &Solver::Ccd(Ccd {
                start,
                ..long_ccd()
            }),
            &operator,
            4,
        );
        assert!(
            error(&s, &found) < 1e-6,
            "ccd {start:?}: {}",
            error(&s, &found)
        );
        let sgd = Sgd {
            start,
            iterations: 100,
            tolerance: 0.0,
            decay: 0.05,
            ..Sgd::default()
        };
        let found = solve(&Solver::Sgd(sgd), &operator, 4);
        assert!(
            error(&s, &found) < 1e-4,
            "sgd {start:?}: {}",
            error(&s, &found)
        );
    }
}

/// The smallest cosine of a principal angle between the spans of orthonormal columns.
fn smallest_cosine(a: &Matrix, b: &Matrix) -> f64 {
    *singular_values(&times(&transpose(a), b))
        .last()
        .expect("columns")
}

#[test]
fn svd_als_and_ccd_span_the_same_space() {
    let w = leaf(&graph(40, 0.2, false, 11), true);
    for (psi, k) in [(Psi::W, 1), (Psi::P, 1), (Psi::P, 2), (Psi::L, 2)] {
        let s = MotifMatrix {
            psi,
            ..MotifMatrix::default()
        }
        .operator(&w, k)
        .expect("in range");
        let dense = explicit(&s);
        let (values, vectors) = jacobi(&times(&dense, &transpose(&dense)));
        // A rank behind which there is a gap: without one the space is not defined.
        let gap = |r: &usize| values[r - 1] / values[*r];
        let rank = (2..8)
            .max_by(|a, b| gap(a).total_cmp(&gap(b)))
            .expect("ranks");
        let truth: Matrix = vectors.iter().map(|row| row[..rank].to_vec()).collect();
        for start in [Start::Svd, Start::Random] {
            let solvers = [
                als(Als {
                    start,
                    ..long_als()
                }),
                Solver::Ccd(Ccd {
                    start,
                    sweeps: 8,
                    ..long_ccd()
                }),
            ];
            for solver in solvers {
                let found = solve(&solver, &s, rank);
                let cosine = smallest_cosine(&truth, &wide(&found.u));
                assert!(
                    cosine > 0.999,
                    "{} rank {rank} {solver:?}: {cosine}",
                    s.formula()
                );
                let best: f64 = values[rank..].iter().sum::<f64>() / values.iter().sum::<f64>();
                let last = *falls(&found).last().expect("values");
                assert!((last - best).abs() < 1e-4, "{}: {last} {best}", s.formula());
                assert!((error(&dense, &found) - best).abs() < 1e-4);
            }
        }
    }
}

/// ‖S − ABᵀ‖² + λ(‖A‖² + ‖B‖²) is least where singular values are lowered by λ; with a factor orthonormal,
/// where they are divided by 1 + λ.
#[test]
fn penalties_and_constraints_have_their_closed_forms() {
    let s = low_rank(30, 20, 20, 3);
    let exact = singular_values(&s);
    let lambda = 0.3 * exact[0];
    let lowered: Vec<f64> = exact
        .iter()
        .take(4)
        .map(|sigma| (sigma - lambda).max(0.0))
        .collect();
    let shrunk: Vec<f64> = exact.iter().take(4).map(|sigma| sigma / 1.5).collect();
    let close = |found: &Factors, truth: &[f64], what: &str| {
        for (a, b) in found.sigma.iter().zip(truth) {
            assert!(
                (a - b).abs() < 2e-3 * exact[0],
                "{what}: {:?} {truth:?}",
                found.sigma
            );
        }
        falls(found);
    };
    for start in [Start::Svd, Start::Random] {
        let found = solve(
            &als(Als {
                regularization: lambda,
                start,
                ..long_als()
            }),
            &sparse(&s),
            4,
        );
        close(&found, &lowered, "als");
        let found = solve(
            &Solver::Ccd(Ccd {
                regularization: lambda,
                start,
                ..long_ccd()
            }),
            &sparse(&s),
            4,
        );
        close(&found, &lowered, "ccd");
        for orthogonal in [Orthogonal::Left, Orthogonal::Right, Orthogonal::Both] {
            let found = solve(
                &als(Als {
                    regularization: 0.5,
                    orthogonal,
                    start,
                    ..long_als()
                }),
                &sparse(&s),
                4,
            );
            close(&found, &shrunk, &format!("{orthogonal:?} {start:?}"));
            for block in [&found.u, found.v.as_ref().expect("asked for")] {
                let gram = times(&transpose(&wide(block)), &wide(block));
                for (i, row) in gram.iter().enumerate() {
                    let far =
                        |(j, x): (usize, &f64)| (x - f64::from(u8::from(i == j))).abs() > 1e-5;
                    assert!(!row.iter().enumerate().any(far), "{orthogonal:?}: {gram:?}");
                }
            }
        }
    }
}

/// A matrix with about half of its entries unknown (zero).
fn with_holes(seed: u64) -> Matrix {
    let mut numbers = naive::Numbers(seed);
    let full = low_rank(25, 20, 3, seed);
    full.iter()
        .map(|row| {
            row.iter()
                .map(|&x| if numbers.next() < 0.45 { 0.0 } else { x })
                .collect()
        })
        .collect()
}

/// Solves a small linear system by elimination with pivots.
fn eliminate(mut m: Matrix, mut y: Vec<f64>) -> Vec<f64> {
    let n = y.len();
    for c in 0..n {
        let pivot = (c..n)
            .max_by(|&a, &b| m[a][c].abs().total_cmp(&m[b][c].abs()))
            .expect("rows");
        m.swap(c, pivot);
        y.swap(c, pivot);
        for r in 0..n {
            if r != c {
                let factor = m[r][c] / m[c][c];
                (0..n).for_each(|k| m[r][k] -= factor * m[c][k]);
                y[r] -= factor * y[c];
            }
        }
    }
    (0..n).map(|i| y[i] / m[i][i]).collect()
}

/// Rows of the left factor by the normal equations of each row's known entries.
fn naive_half(s: &Matrix, b: &Matrix, lambda: f64) -> Matrix {
    let rank = b[0].len();
    let row = |s: &Vec<f64>| {
        let (mut m, mut y) = (naive::zeros(rank, rank), vec![0.0; rank]);
        for (j, &s) in s.iter().enumerate().filter(|(_, s)| **s != 0.0) {
            for f in 0..rank {
                y[f] += s * b[j][f];
                (0..rank).for_each(|g| m[f][g] += b[j][f] * b[j][g]);
            }
        }
        (0..rank).for_each(|f| m[f][f] += lambda);
        eliminate(m, y)
    };
    s.iter().map(row).collect()
}

fn observed_loss(s: &Matrix, fit: &Matrix) -> f64 {
    let pairs = s.iter().flatten().zip(fit.iter().flatten());
    pairs
        .filter(|(s, _)| **s != 0.0)
        .map(|(s, x)| (s - x).powi(2))
        .sum()
}

#[test]
fn observed_entries_alone_as_a_naive_solver_has_it() {
    let s = with_holes(21);
    let (lambda, rounds) = (0.05, 12);
    // The right singular vectors of all entries, as the start of both.
    let (values, vectors) = jacobi(&times(&transpose(&s), &s));
    let mut b: Matrix = vectors
        .iter()
        .map(|row| {
            (0..3)
                .map(|f| row[f] * values[f].max(0.0).powf(0.25))
                .collect()
        })
        .collect();
    let mut a = Matrix::new();
    for _ in 0..rounds {
        a = naive_half(&s, &b, lambda);
        b = naive_half(&transpose(&s), &a, lambda);
    }
    let truth = times(&a, &transpose(&b));
    let dense = Operator::dense(
        "S",
        Block::from_vec(25, 20, s.iter().flatten().map(|&x| x as f32).collect()),
    );
    let options = Als {
        observed_only: true,
        regularization: lambda,
        iterations: rounds,
        tolerance: 0.0,
        ..Als::default()
    };
    let found = solve(&als(options), &dense, 3);
    assert!(
        naive::distance(&product(&found), &truth) < 1e-3,
        "{}",
        naive::distance(&product(&found), &truth)
    );
    let penalty = lambda * (square(&a) + square(&b));
    let last = *falls(&found).last().expect("values");
    let expected = (observed_loss(&s, &truth) + penalty) / square(&s);
    assert!(
        (last - expected).abs() < 1e-4 * expected.max(1e-2),
        "{last} {expected}"
    );

    // Coordinate and stochastic descent reach as low a loss, on the sparse form too.
    let ccd = Ccd {
        observed_only: true,
        regularization: lambda,
        ..long_ccd()
    };
    let found = solve(&Solver::Ccd(ccd), &sparse(&s), 3);
    assert!(*falls(&found).last().expect("values") < 1.02 * expected);
    let sgd = Sgd {
        observed_only: true,
        regularization: lambda,
        iterations: 200,
        tolerance: 0.0,
        decay: 0.1,
        ..Sgd::default()
    };
    let found = solve(&Solver::Sgd(sgd), &sparse(&s), 3);
    let values = &found.info.loss.as_ref().expect("followed").values;
    assert!(
        *values.last().expect("values") < 1.1 * expected,
        "{expected} {values:?}"
    );
    // What is unknown is filled in: the matrix without holes has rank 3.
    let full = low_rank(25, 20, 3, 21);
    let found = solve(
        &als(Als {
            observed_only: true,
            regularization: 1e-4,
            ..long_als()
        }),
        &sparse(&s),
        3,
    );
    assert!(error(&full, &found) < 1e-3, "{}", error(&full, &found));
}

/// Most nodes have fewer edges than there are columns, and no penalty was asked for: the loss reported is that of the factors
/// returned, entry by entry, and not that of huge factors that cancel.
#[test]
fn unpenalised_observed_entries_have_the_loss_that_is_reported() {
    for (psi, power) in [(Psi::W, 1), (Psi::P, 2), (Psi::L, 2)] {
        let w = leaf(&graph(40, 0.12, false, 6), false);
        let s = MotifMatrix {
            psi,
            ..MotifMatrix::default()
        }
        .operator(&w, power)
        .expect("in range");
        let entries = explicit(&s);
        let nonzeros = || entries.iter().flatten().filter(|&&s| s != 0.0);
        let norm: f64 = nonzeros().map(|s| s * s).sum();
        let lambda = 1e-4 * (norm / nonzeros().count() as f64).sqrt();
        let solvers = [
            als(Als {
                observed_only: true,
                ..Als::default()
            }),
            Solver::Ccd(Ccd {
                observed_only: true,
                ..Ccd::default()
            }),
        ];
        for solver in solvers {
            let found = solve(&solver, &s, 16);
            let of = product(&found);
            let pairs = entries.iter().flatten().zip(of.iter().flatten());
            let left: f64 = pairs
                .filter(|(s, _)| **s != 0.0)
                .map(|(s, of)| (s - of).powi(2))
                .sum();
            let penalty = 2.0 * lambda * found.sigma.iter().sum::<f64>();
            let truth = (left + penalty) / norm;
            let loss = found.info.loss.as_ref().expect("followed");
            let returned = loss.returned.expect("finite");
            let what = format!("{solver:?} of {psi:?}, {power}");
            assert!(
                (returned - truth).abs() < 1e-3 * truth + 1e-6,
                "{what}: {truth}, {loss:?}"
            );
            let least = falls(&found).iter().copied().fold(f64::INFINITY, f64::min);
            assert!(returned < 1.01 * least + 1e-6, "{what}: {loss:?}");
            assert!(truth < 0.05, "{what}: {truth}");
        }
    }
}

#[test]
fn stochastic_steps_come_near_the_best_loss_with_zeros_counted() {
    let w = leaf(&graph(60, 0.1, false, 4), true);
    let s = MotifMatrix::default().operator(&w, 1).expect("in range");
    let dense = explicit(&s);
    let values = jacobi(&times(&dense, &transpose(&dense))).0;
    let best: f64 = values[6..].iter().sum::<f64>() / values.iter().sum::<f64>();
    let sgd = Sgd {
        start: Start::Random,
        iterations: 200,
        tolerance: 0.0,
        step: 0.5,
        decay: 0.05,
        ..Sgd::default()
    };
    let found = solve(&Solver::Sgd(sgd), &s, 6);
    let losses = &found.info.loss.as_ref().expect("followed").values;
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(
        (least - error(&dense, &found)).abs() < 1e-4,
        "the best epoch is returned"
    );
    assert!(least < 1.02 * best, "best {best}, {least} of {losses:?}");
    let last = losses.last().expect("values");
    assert!(*last < 1.03 * best, "best {best}, {last} of {losses:?}");
}

fn waves(n: usize, d: usize, threshold: f64) -> Matrix {
    let value = |i: f64, j: f64| {
        (1.7 * i + 0.9 * j * j + 0.3 * i * j).sin() + 0.4 * (0.11 * i * j).cos() - threshold
    };
    rounded(
        &(0..n)
            .map(|i| (0..d).map(|j| value(i as f64, j as f64).max(0.0)).collect())
            .collect(),
    )
}

/// The figures are printed by tests/nmf_golden.py.
#[test]
fn non_negative_factors_are_as_good_as_those_of_scikit_learn() {
    for (n, d, threshold, rank, golden) in [
        (40, 30, -2.0, 5, 0.091723),
        (60, 25, 0.0, 8, 0.337629),
        (50, 50, 0.8, 6, 0.558023),
    ] {
        let s = waves(n, d, threshold);
        for start in [Start::Svd, Start::Random] {
            let options = Nmf {
                iterations: 3000,
                tolerance: 1e-7,
                start,
                ..Nmf::default()
            };
            let found = solve(&Solver::Nmf(options), &sparse(&s), rank);
            let all = found
                .u
                .as_slice()
                .iter()
                .chain(found.v.as_ref().expect("asked for").as_slice());
            assert!(all.clone().all(|&x| x >= 0.0), "factors are not negative");
            let last = *falls(&found).last().expect("values");
            assert!(
                (last - error(&s, &found)).abs() < 1e-4,
                "{last} {}",
                error(&s, &found)
            );
            assert!(
                last < 1.02 * golden,
                "{n} × {d}, {start:?}: {last}, scikit-learn {golden}"
            );
            assert!(
                found.sigma.windows(2).all(|pair| pair[0] >= pair[1]),
                "{:?}",
                found.sigma
            );
            let norms = found.u.column_norms(hone::dense::Norm::L2);
            assert!(norms.iter().all(|norm| (norm - 1.0).abs() < 1e-5));
        }
    }
}

#[test]
fn the_norm_may_be_estimated_and_the_measure_says_so() {
    // A star with many leaves: its fourth power has more walks than are walked.
    let n = 3000;
    let mut w = vec![vec![0.0; n]; n];
    (1..n).for_each(|i| (w[0][i], w[i][0]) = (1.0, 1.0));
    let csr = naive::csr(&w, n);
    let p = MotifMatrix::default()
        .operator(&Operator::symmetric("W", csr), 4)
        .expect("in range");
    assert!(p.row_work() > 5e8);
    let found = solve(&als(Als::default()), &p, 3);
    let loss = found.info.loss.as_ref().expect("followed");
    assert!(loss.measure.contains("estimated"), "{}", loss.measure);
    assert!(
        loss.values.last().expect("values").abs() < 1e-4,
        "P⁴ of a star has rank 2: {loss:?}"
    );
}
