//! Metrics and logistic regression against scikit-learn (figures printed by `golden.py`), against
//! slow definitions, and against their own laws.

#![allow(clippy::unwrap_used)]

use hone::dense::Block;
use hone_eval::classify::{self, Model, Stop, Task, choose, folds, sigmoid};
use hone_eval::kmeans::kmeans;
use hone_eval::metrics::{accuracy, auc, average_precision, f1, nmi};
use hone_eval::random::Stream;
use proptest::prelude::*;

fn formula(n: usize, d: usize, shift: f64, scale: f64) -> (Block, Vec<bool>) {
    let mut x = Block::zeros(n, d);
    let mut y = Vec::new();
    for i in 0..n {
        let t = i as f64;
        for j in 0..d {
            let s = j as f64;
            x.row_mut(i)[j] =
                ((1.7 * t + 0.9 * s * s + 0.3 * t * s).sin() * scale.powf(s) + shift) as f32;
        }
        y.push((2.3 * t).sin() + (1.7 * t).sin() + 0.5 * (5.1 * t).cos() > 0.2);
    }
    (x, y)
}

fn fit_all(x: &Block, y: &[bool], c: f64) -> Model {
    let rows: Vec<u32> = (0..y.len() as u32).collect();
    classify::fit(
        Task { x, y, rows: &rows },
        c,
        &Model::zero(x.cols()),
        Stop {
            tolerance: 1e-9,
            iterations: 500,
        },
    )
}

type Golden = (usize, usize, f64, f64, f64, &'static [f64], f64);

/// Rows, features, shift, scale, C; then scikit-learn's coefficients and intercept.
const GOLDEN: [Golden; 5] = [
    (
        60,
        4,
        0.0,
        1.0,
        1.0,
        &[1.876141, -0.02094711, -1.386254, -0.09818215],
        0.1878377,
    ),
    (
        40,
        3,
        5.0,
        1.0,
        100.0,
        &[2.892829, 0.1018763, -1.794987],
        -5.690295,
    ),
    (
        30,
        12,
        -1.0,
        0.5,
        0.1,
        &[
            0.4072705,
            0.01604902,
            -0.1026237,
            -0.01562022,
            0.01340142,
            -0.002579204,
            0.0013723,
            0.0007995649,
            0.001004726,
            -0.0001665465,
            0.0001882157,
            6.210916e-05,
        ],
        0.5956597,
    ),
    (
        80,
        6,
        0.0,
        3.0,
        10.0,
        &[
            3.480922,
            0.03898131,
            -0.3756542,
            -0.006161884,
            0.01828942,
            -0.0007017701,
        ],
        -0.3172417,
    ),
    (
        50,
        5,
        2.0,
        0.1,
        10000.0,
        &[2.54795, 2.255716, -142.7214, -14.79824, 3.364965],
        298.9536,
    ),
];

#[test]
fn coefficients_are_scikit_learns() {
    for (n, d, shift, scale, c, weights, intercept) in GOLDEN {
        let (x, y) = formula(n, d, shift, scale);
        let model = fit_all(&x, &y, c);
        assert!(model.converged);
        for (ours, theirs) in model
            .weights
            .iter()
            .chain([&model.intercept])
            .zip(weights.iter().chain([&intercept]))
        {
            assert!(
                (ours - theirs).abs() <= 1e-4 * (1.0 + theirs.abs()),
                "{ours} instead of {theirs}, C {c}"
            );
        }
    }
}

#[test]
fn the_gradient_vanishes_at_the_optimum() {
    let (x, y) = formula(200, 7, 1.0, 0.7);
    let model = fit_all(&x, &y, 3.0);
    for j in 0..7 {
        let pull: f64 = (0..200)
            .map(|i| {
                (sigmoid(model.score(x.row(i))) - f64::from(u8::from(y[i])))
                    * f64::from(x.row(i)[j])
            })
            .sum();
        assert!((model.weights[j] + 3.0 * pull).abs() < 1e-5);
    }
}

#[test]
fn the_start_does_not_matter_and_rows_select() {
    let (x, y) = formula(90, 5, 0.5, 1.2);
    let rows: Vec<u32> = (0..60).collect();
    let task = Task {
        x: &x,
        y: &y,
        rows: &rows,
    };
    let cold = classify::fit(task, 1.0, &Model::zero(5), Stop::default());
    let start = Model {
        weights: vec![3.0; 5],
        intercept: -7.0,
        converged: false,
    };
    let warm = classify::fit(task, 1.0, &start, Stop::default());
    let (head, truth) = (
        Block::from_vec(60, 5, x.as_slice()[..300].to_vec()),
        &y[..60],
    );
    let alone = fit_all(&head, truth, 1.0);
    for j in 0..5 {
        assert!((cold.weights[j] - warm.weights[j]).abs() < 1e-4);
        assert!((cold.weights[j] - alone.weights[j]).abs() < 1e-4);
    }
}

#[test]
fn degenerate_data_give_finite_models() {
    let x = Block::zeros(6, 3);
    let one_class = fit_all(&x, &[true; 6], 1.0);
    assert!(one_class.converged && one_class.intercept.is_finite() && one_class.intercept > 0.0);
    let no_signal = fit_all(&x, &[true, false, true, false, true, true], 1.0);
    assert!(no_signal.converged && (no_signal.intercept - 2f64.ln()).abs() < 1e-6);
    let separable = Block::from_vec(4, 1, vec![-2.0, -1.0, 1.0, 2.0]);
    let model = fit_all(&separable, &[false, false, true, true], 1e6);
    assert!(model.weights[0] > 5.0 && model.weights[0].is_finite());
}

#[test]
fn metrics_are_scikit_learns() {
    let t: Vec<f64> = (0..40).map(f64::from).collect();
    let scores: Vec<f64> = t
        .iter()
        .map(|t| ((1.3 * t).sin() * 4.0).round_ties_even() / 4.0)
        .collect();
    let labels: Vec<bool> = t
        .iter()
        .zip(&scores)
        .map(|(t, s)| (2.9 * t).sin() + s > 0.1)
        .collect();
    assert!((auc(&scores, &labels).unwrap() - 0.8573333333333333).abs() < 1e-12);
    assert!((average_precision(&scores, &labels).unwrap() - 0.7403043841487777).abs() < 1e-12);
    let a: Vec<u32> = (0..40).map(|i| i * 7 % 5).collect();
    let b: Vec<u32> = (0..40).map(|i| (i + i / 7) % 3).collect();
    let halves: Vec<u32> = a.iter().map(|a| a / 2).collect();
    assert!((nmi(&a, &b) - 0.04982144219136704).abs() < 1e-12);
    assert!((nmi(&a, &halves) - 0.7918756684685214).abs() < 1e-12);
    let sets = |member: &dyn Fn(u32, u32) -> bool| -> Vec<Vec<u32>> {
        (0..30)
            .map(|i| (0..5).filter(|&l| member(i, l)).collect())
            .collect()
    };
    let truth = sets(&|i, l| (i * 3 + l * l) % 4 == 0 && l != 3);
    let guess = sets(&|i, l| (i * 5 + l) % 3 == 0 && l < 4);
    let f1 = f1(&truth, &guess, 5);
    assert!(
        (f1.micro - 0.2222222222222222).abs() < 1e-12
            && (f1.macro_ - 0.17777777777777776).abs() < 1e-12
    );
}

#[test]
fn metrics_at_the_borders() {
    assert_eq!(auc(&[1.0, 2.0], &[true, true]), None);
    assert_eq!(average_precision(&[1.0], &[false]), None);
    assert_eq!(auc(&[0.0; 4], &[true, false, true, false]), Some(0.5));
    assert_eq!(accuracy::<u32>(&[], &[]), 0.0);
    assert_eq!(accuracy(&[1, 2, 3, 4], &[1, 2, 0, 4]), 0.75);
    assert_eq!(nmi(&[1, 1, 1], &[4, 4, 4]), 1.0);
    assert_eq!(nmi(&[0, 0, 1, 1], &[5, 5, 2, 2]), 1.0);
    assert_eq!(nmi(&[0, 0, 0], &[0, 1, 2]), 0.0);
}

#[test]
fn a_penalty_is_chosen_and_repeats() {
    let (x, y) = formula(120, 6, 0.0, 1.0);
    let chosen = choose(&x, &y, 3);
    assert_eq!(chosen, choose(&x, &y, 3));
    assert!(chosen.score > 0.75, "{chosen:?}");
    let model = fit_all(&x, &y, chosen.c);
    assert!(auc(&model.scores(&x), &y).unwrap() > 0.8);
    let few = choose(&Block::zeros(3, 1), &[true, false, false], 1);
    assert_eq!(few.score, 0.5);
}

proptest! {
    #[test]
    fn auc_is_the_share_of_won_pairs(items in prop::collection::vec((0u8..6, any::<bool>()), 1..60)) {
        let scores: Vec<f64> = items.iter().map(|i| f64::from(i.0)).collect();
        let labels: Vec<bool> = items.iter().map(|i| i.1).collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for (p, _) in items.iter().filter(|i| i.1) {
            for (n, _) in items.iter().filter(|i| !i.1) {
                pairs += 1.0;
                won += if p > n { 1.0 } else if p == n { 0.5 } else { 0.0 };
            }
        }
        match auc(&scores, &labels) {
            None => prop_assert!(pairs == 0.0),
            Some(a) => prop_assert!((a - won / pairs).abs() < 1e-12),
        }
    }

    #[test]
    fn folds_are_even_in_each_class(class in prop::collection::vec(0u32..3, 0..80), k in 2usize..6, seed: u64) {
        let fold = folds(&class, k, seed);
        for c in 0..3 {
            let sizes: Vec<usize> = (0..k as u32)
                .map(|f| (0..class.len()).filter(|&i| class[i] == c && fold[i] == f).count())
                .collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }
    }
}

/// Many features take conjugate gradients, few the Hessian itself: columns of zeros change the way, not the model.
#[test]
fn both_ways_to_a_direction_lead_to_the_same_model() {
    let (rows, cols) = (80, 12);
    let few = Block::random(rows, cols, hone::random::Key::new(3));
    let mut many = Block::zeros(rows, 1100);
    (0..rows).for_each(|i| many.row_mut(i)[..cols].copy_from_slice(few.row(i)));
    let y: Vec<bool> = (0..rows)
        .map(|i| few.row(i)[0] - 0.5 * few.row(i)[3] + 0.3 * (i as f32).sin() > 0.1)
        .collect();
    let all: Vec<u32> = (0..rows as u32).collect();
    for c in [0.01, 1.0, 1000.0] {
        let [a, b] = [&few, &many].map(|x| {
            classify::fit(
                Task {
                    x,
                    y: &y,
                    rows: &all,
                },
                c,
                &Model::zero(x.cols()),
                Stop {
                    tolerance: 1e-10,
                    iterations: 500,
                },
            )
        });
        assert!(a.converged && b.converged, "C {c}");
        let off = a
            .weights
            .iter()
            .zip(&b.weights)
            .fold((a.intercept - b.intercept).abs(), |m, (a, b)| {
                m.max((a - b).abs())
            });
        assert!(off < 1e-6 * (1.0 + a.intercept.abs()), "C {c}: {off}");
        assert!(b.weights[cols..].iter().all(|&w| w == 0.0));
    }
}

#[test]
fn far_groups_are_found() {
    let mut stream = Stream::new(2, "test", 0);
    let mut x = Block::zeros(90, 3);
    let truth: Vec<u32> = (0..90).map(|i| i % 3).collect();
    for i in 0..90 {
        for (j, v) in x.row_mut(i).iter_mut().enumerate() {
            *v = stream.normal() as f32 * 0.3 + if i % 3 == j { 5.0 } else { 0.0 };
        }
    }
    assert!(nmi(&kmeans(&x, 3, 1), &truth) > 0.999);
    assert_eq!(kmeans(&x, 3, 1), kmeans(&x, 3, 1));
    assert_eq!(kmeans(&Block::zeros(4, 2), 3, 1).len(), 4);
}

#[test]
fn numbers_have_the_moments_they_should() {
    let mut stream = Stream::new(7, "moments", 0);
    let n = 100_000;
    let (mut unit, mut normal, mut square) = (0.0, 0.0, 0.0);
    let mut thirds = [0; 3];
    for _ in 0..n {
        unit += stream.unit();
        let x = stream.normal();
        normal += x;
        square += x * x;
        thirds[stream.below(3)] += 1;
    }
    let n = f64::from(n);
    assert!((unit / n - 0.5).abs() < 0.005);
    assert!((normal / n).abs() < 0.02 && (square / n - 1.0).abs() < 0.03);
    assert!(
        thirds
            .iter()
            .all(|&t| (f64::from(t) / n - 1.0 / 3.0).abs() < 0.01)
    );
}
