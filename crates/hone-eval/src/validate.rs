//! k-fold cross-validation and the choice of the penalty C.
//!
//! Folds are stratified and depend on the seed alone. For each fold the models of all C are fitted
//! as one path from small to large C, each starting where the last one ended; folds run in
//! parallel. Ties go to the smaller C (the simpler model).

use hone::dense::Block;
use hone::parallel;

use crate::logistic::{self, Model, Stop, Task};
use crate::metrics;
use crate::random::Stream;

/// The default candidates for C: nine decades around 1.
pub const PENALTIES: [f64; 9] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4];

/// How the penalty is chosen.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Candidates for C, ascending.
    pub penalties: Vec<f64>,
    /// Number of folds; fewer are used when a class has fewer rows.
    pub folds: usize,
    /// Accuracy of the fits.
    pub stop: Stop,
}

impl Default for Selection {
    fn default() -> Self {
        Selection {
            penalties: PENALTIES.to_vec(),
            folds: 10,
            stop: Stop {
                tolerance: 1e-4,
                ..Stop::default()
            },
        }
    }
}

/// What was chosen, and the mean score over folds that made it so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// The penalty parameter.
    pub c: f64,
    /// Mean AUC over the folds (0.5 when there were too few rows to validate).
    pub score: f64,
}

/// The number of the fold of each row: stratified by `class`, shuffled by seed, as even as can be.
pub fn folds(class: &[u32], k: usize, seed: u64) -> Vec<u32> {
    let mut stream = Stream::new(seed, "folds", k as u64);
    let mut order: Vec<usize> = (0..class.len()).collect();
    stream.shuffle(&mut order);
    order.sort_by_key(|&i| class[i]);
    let mut fold = vec![0; class.len()];
    for (place, &i) in order.iter().enumerate() {
        fold[i] = (place % k.max(1)) as u32;
    }
    fold
}

/// Chooses C by the mean AUC over stratified folds of all rows of `x`.
pub fn choose(x: &Block, y: &[bool], selection: &Selection, seed: u64) -> Chosen {
    let positives = y.iter().filter(|&&y| y).count();
    let k = selection.folds.min(positives).min(y.len() - positives);
    if k < 2 {
        return Chosen {
            c: selection.penalties[selection.penalties.len() / 2],
            score: 0.5,
        };
    }
    let class: Vec<u32> = y.iter().map(|&y| u32::from(y)).collect();
    let fold = folds(&class, k, seed);
    let scores: Vec<Vec<f64>> = parallel::map(k, |f| path(x, y, &fold, f as u32, selection));
    let mut best = Chosen {
        c: 1.0,
        score: f64::NEG_INFINITY,
    };
    for (p, &c) in selection.penalties.iter().enumerate() {
        let score = scores.iter().map(|s| s[p]).sum::<f64>() / k as f64;
        if score > best.score + 1e-12 {
            best = Chosen { c, score };
        }
    }
    best
}

/// The AUC on fold `f` of models fitted on the others, for every penalty.
fn path(x: &Block, y: &[bool], fold: &[u32], f: u32, selection: &Selection) -> Vec<f64> {
    let (held, rows): (Vec<u32>, Vec<u32>) =
        (0..y.len() as u32).partition(|&i| fold[i as usize] == f);
    let truth: Vec<bool> = held.iter().map(|&i| y[i as usize]).collect();
    let mut model = Model::zero(x.cols());
    let score = |c: &f64| {
        model = logistic::fit(Task { x, y, rows: &rows }, *c, &model, selection.stop);
        let scores: Vec<f64> = held
            .iter()
            .map(|&i| model.score(x.row(i as usize)))
            .collect();
        metrics::auc(&scores, &truth).expect("each fold holds both classes")
    };
    selection.penalties.iter().map(score).collect()
}

/// Chooses C on all rows of `x`, then fits on them.
pub fn choose_and_fit(x: &Block, y: &[bool], selection: &Selection, seed: u64) -> (Chosen, Model) {
    let chosen = choose(x, y, selection, seed);
    let rows: Vec<u32> = (0..y.len() as u32).collect();
    let model = logistic::fit(
        Task { x, y, rows: &rows },
        chosen.c,
        &Model::zero(x.cols()),
        Stop::default(),
    );
    (chosen, model)
}
