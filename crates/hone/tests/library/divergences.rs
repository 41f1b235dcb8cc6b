//! Losses with links: finite differences, exact recovery, domains, and what sampling leaves out.
#![allow(missing_docs)]

use crate::naive;

use hone::Silent;
use hone::dense::Block;
use hone::factor::bregman::{Bregman, Entries};
use hone::factor::{Divergence, Factors, Solver, Task};
use hone::matrix::{MotifMatrix, Psi};
use hone::operator::Operator;
use hone::random::Key;
use naive::{Matrix, graph, leaf, times, transpose, wide};
use proptest::prelude::*;

const ALL: [Divergence; 5] = [
    Divergence::Gaussian,
    Divergence::Poisson,
    Divergence::GammaLog,
    Divergence::GammaInverse,
    Divergence::Bernoulli,
];

/// The divergences of a mean, as books print them.
fn of_mean(loss: Divergence, s: f64, m: f64) -> f64 {
    let log = |x: f64, y: f64| if x == 0.0 { 0.0 } else { x * (x / y).ln() };
    match loss {
        Divergence::Gaussian => (s - m) * (s - m) / 2.0,
        Divergence::Poisson => log(s, m) - s + m,
        Divergence::GammaLog | Divergence::GammaInverse => s / m - (s / m).ln() - 1.0,
        Divergence::Bernoulli => log(s, m) + log(1.0 - s, 1.0 - m),
    }
}

fn mean(loss: Divergence, theta: f64) -> f64 {
    match loss {
        Divergence::Gaussian => theta,
        Divergence::Poisson | Divergence::GammaLog => theta.exp(),
        Divergence::GammaInverse => 1.0 / theta,
        Divergence::Bernoulli => 1.0 / (1.0 + (-theta).exp()),
    }
}

proptest! {
    #[test]
    fn values_and_derivatives(unit in 0.01f64..0.99, theta in 0.05f64..4.0, negative: bool) {
        for loss in ALL {
            let theta = if negative && loss != Divergence::GammaInverse { -theta } else { theta };
            let s = if loss == Divergence::Bernoulli { unit } else { 5.0 * unit };
            let value = loss.value(s, theta);
            let truth = of_mean(loss, s, mean(loss, theta));
            prop_assert!((value - truth).abs() < 1e-9 * (1.0 + truth.abs()), "{loss:?}: {value} {truth}");
            prop_assert!(value >= -1e-12);
            let h = 1e-5;
            let slope = (loss.value(s, theta + h) - loss.value(s, theta - h)) / (2.0 * h);
            let gradient = loss.gradient(s, theta);
            prop_assert!((slope - gradient).abs() < 1e-4 * (1.0 + gradient.abs()), "{loss:?}: {slope} {gradient}");
            let bend = (loss.gradient(s, theta + h) - loss.gradient(s, theta - h)) / (2.0 * h);
            let curvature = loss.curvature(s, theta);
            prop_assert!((bend - curvature).abs() < 1e-4 * (1.0 + curvature), "{loss:?}: {bend} {curvature}");
            prop_assert!((loss.link(loss.mean(theta)) - theta).abs() < 1e-6, "{loss:?}: a link is undone by its inverse");
        }
    }
}

#[test]
fn edges_of_the_domains() {
    for (loss, s) in [
        (Divergence::Poisson, 0.0),
        (Divergence::Bernoulli, 0.0),
        (Divergence::Bernoulli, 1.0),
    ] {
        assert!(loss.value(s, 0.3).is_finite(), "{loss:?} of {s}");
    }
    assert_eq!(Divergence::GammaInverse.value(1.0, -0.1), f64::INFINITY);
    assert!(
        Divergence::Bernoulli.value(0.5, 900.0) < 451.0,
        "no overflow"
    );
}

fn solve(options: Bregman, s: &Operator, rank: usize, seed: u64) -> hone::Result<Factors> {
    let task = Task {
        rank,
        right: true,
        key: Key::new(seed),
        progress: &Silent,
        aside: None,
    };
    Solver::Bregman(options).factor(s, &task)
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

fn dense(m: &Matrix) -> Operator {
    let values = m.iter().flatten().map(|&x| x as f32).collect();
    Operator::dense("S", Block::from_vec(m.len(), m[0].len(), values))
}

/// θ of exactly that rank: a constant, and waves around it.
fn natural(rows: usize, cols: usize, rank: usize, level: f64) -> Matrix {
    let (a, b) = (
        wide(&naive::block(rows, rank, 8)),
        wide(&naive::block(cols, rank, 9)),
    );
    let (mut a, mut b) = (a, b);
    a.iter_mut().for_each(|row| row[0] = level);
    b.iter_mut().for_each(|row| row[0] = 1.0);
    times(&a, &transpose(&b))
}

#[test]
fn natural_parameters_of_low_rank_are_recovered() {
    for (loss, level) in [
        (Divergence::Gaussian, 0.5),
        (Divergence::Poisson, 0.5),
        (Divergence::Poisson, -2.0),
        (Divergence::GammaLog, 0.5),
        (Divergence::GammaInverse, 4.0),
        (Divergence::Bernoulli, -0.5),
    ] {
        let theta = natural(40, 30, 3, level);
        let s: Matrix = theta
            .iter()
            .map(|row| row.iter().map(|&theta| mean(loss, theta)).collect())
            .collect();
        let options = Bregman {
            loss,
            iterations: 300,
            tolerance: 0.0,
            regularization: 0.0,
            ..Bregman::default()
        };
        let found = solve(options, &dense(&s), 3, 1).expect("in the domain");
        let far = naive::distance(&product(&found), &theta);
        assert!(far < 5e-3, "{loss:?} {level}: {far}");
        let values = &found.info.loss.as_ref().expect("followed").values;
        assert!(
            values
                .windows(2)
                .all(|pair| pair[1] <= pair[0] + 1e-6 * values[0].abs() + 1e-12),
            "{loss:?}: {values:?}"
        );
        assert!(
            found
                .info
                .loss
                .as_ref()
                .expect("followed")
                .measure
                .contains("all 1200 entries; exact")
        );
    }
}

/// Counts of tens of thousands, whose inverses are far smaller than the usual start.
#[test]
fn an_inverse_link_starts_where_the_counts_are() {
    for size in [1e-3, 1e4, 1e9] {
        let theta: Matrix = natural(40, 30, 3, 4.0)
            .iter()
            .map(|row| row.iter().map(|theta| theta / size).collect())
            .collect();
        let s: Matrix = theta
            .iter()
            .map(|row| row.iter().map(|theta| 1.0 / theta).collect())
            .collect();
        let options = Bregman {
            loss: Divergence::GammaInverse,
            iterations: 300,
            tolerance: 0.0,
            regularization: 0.0,
            ..Bregman::default()
        };
        let found = solve(options, &dense(&s), 3, 1).expect("in the domain");
        let far = naive::distance(&product(&found), &theta);
        assert!(far < 5e-3, "{size}: {far}");
    }
}

/// A sum over all entries, zeros too, as the definition has it.
#[test]
fn the_loss_reported_is_the_loss() {
    let w = leaf(&graph(30, 0.2, true, 5), false);
    let s = MotifMatrix {
        psi: Psi::P,
        ..MotifMatrix::default()
    }
    .operator(&w, 2)
    .expect("in range");
    let mut identity = Block::zeros(30, 30);
    (0..30).for_each(|i| identity.row_mut(i)[i] = 1.0);
    let entries = wide(&s.apply(&identity));
    for loss in [
        Divergence::Gaussian,
        Divergence::Poisson,
        Divergence::Bernoulli,
    ] {
        let options = Bregman {
            loss,
            regularization: 0.0,
            iterations: 5,
            tolerance: 0.0,
            ..Bregman::default()
        };
        let found = solve(options, &s, 3, 1).expect("in the domain");
        let theta = product(&found);
        let pairs = entries.iter().flatten().zip(theta.iter().flatten());
        let truth: f64 = pairs
            .map(|(&s, &theta)| of_mean(loss, s.min(1.0), mean(loss, theta)))
            .sum::<f64>()
            / 900.0;
        let last = *found
            .info
            .loss
            .expect("followed")
            .values
            .last()
            .expect("values");
        assert!(
            (last - truth).abs() < 1e-4 * truth.max(1e-3),
            "{loss:?}: {last} {truth}"
        );
    }
}

#[test]
fn a_sample_of_zeros_stands_for_all_of_them() {
    let s = leaf(&graph(60, 0.06, false, 3), true);
    let start = |entries, negatives, seed| {
        let options = Bregman {
            loss: Divergence::Poisson,
            iterations: 0,
            entries,
            negatives,
            ..Bregman::default()
        };
        let found = solve(options, &s, 2, seed).expect("in the domain");
        found.info.loss.expect("followed")
    };
    let exact = start(Entries::Exact, 1, 0).values[0];
    // With enough of them a sample is all there is, entry for entry.
    let all = start(Entries::Sampled, 60, 0);
    assert!(
        (all.values[0] - exact).abs() < 1e-6 * exact,
        "{} {exact}",
        all.values[0]
    );
    let one = start(Entries::Sampled, 1, 0);
    assert!(
        one.measure.contains("an estimate") && one.measure.contains("sampled zeros"),
        "{}",
        one.measure
    );
    // A model learnt from a sample has a loss near that of one learnt from all entries.
    let options = |entries| Bregman {
        loss: Divergence::Poisson,
        iterations: 40,
        entries,
        negatives: 4,
        regularization: 0.1,
        ..Bregman::default()
    };
    let truth = solve(options(Entries::Exact), &s, 2, 0).expect("in the domain");
    let losses: Vec<f64> = (0..8)
        .map(|seed| {
            let found = solve(options(Entries::Sampled), &s, 2, seed).expect("in the domain");
            *found
                .info
                .loss
                .expect("followed")
                .values
                .last()
                .expect("values")
        })
        .collect();
    let average = losses.iter().sum::<f64>() / 8.0;
    let truth = *truth
        .info
        .loss
        .expect("followed")
        .values
        .last()
        .expect("values");
    assert!(
        (average - truth).abs() < 0.15 * truth,
        "{losses:?} around {truth}"
    );
}

#[test]
fn entries_outside_the_domain_are_refused_by_name() {
    let w = leaf(&graph(20, 0.3, false, 3), true);
    let refused = |loss, psi: Psi, entries| {
        let s = MotifMatrix {
            psi,
            ..MotifMatrix::default()
        }
        .operator(&w, 1)
        .expect("in range");
        let error = solve(
            Bregman {
                loss,
                entries,
                ..Bregman::default()
            },
            &s,
            2,
            1,
        )
        .expect_err("outside");
        assert!(error.is_input());
        error.to_string()
    };
    let message = refused(Divergence::Poisson, Psi::L, Entries::Auto);
    assert_eq!(
        message,
        "solver.loss: Poisson needs non-negative entries: matrix diag(d) − W has negative ones; use psi = \"w\" or psi = \"p\""
    );
    let message = refused(Divergence::Bernoulli, Psi::W, Entries::Auto);
    assert_eq!(
        message,
        "solver.loss: Bernoulli needs entries between 0 and 1: matrix W has larger ones; use psi = \"p\""
    );
    let message = refused(Divergence::GammaLog, Psi::W, Entries::Sampled);
    assert_eq!(
        message,
        "solver.loss: Gamma needs positive entries: matrix W has zeros; let it fit observed entries alone"
    );
    let y = dense(&vec![vec![1.0, -1.0], vec![0.5, 2.0]]);
    let error = solve(
        Bregman {
            loss: Divergence::Poisson,
            ..Bregman::default()
        },
        &y,
        1,
        1,
    )
    .expect_err("negative");
    assert!(
        error
            .to_string()
            .contains("use local.solver.method = \"nmf\""),
        "{error}"
    );
    // Positive entries alone suit every loss.
    for loss in [Divergence::GammaLog, Divergence::GammaInverse] {
        let options = Bregman {
            loss,
            entries: Entries::Observed,
            ..Bregman::default()
        };
        let found = solve(options, &w, 2, 1).expect("positive");
        let loss = found.info.loss.expect("followed");
        assert!(loss.measure.contains("nonzeros only"), "{}", loss.measure);
        assert!(
            loss.values.windows(2).all(|pair| pair[1] <= pair[0] + 1e-6),
            "{:?}",
            loss.values
        );
    }
}
