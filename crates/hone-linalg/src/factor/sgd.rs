//! Stochastic gradient descent on sampled entries, in squared loss.
//!
//! An epoch draws as many nonzeros as there are, with replacement, half of them evenly and half by their squares
//! (importance sampling), each weighted by one over its probability; for every nonzero, `negatives` pairs of a row and
//! a column are drawn by their leverages, of which the zeros are used, weighted so that they stand for all zeros (none
//! if only observed entries count). The errors of a batch are computed with the factors at its beginning. Each epoch
//! begins by balancing the factors, AᵀA = BᵀB = diag(σ), which does not change A Bᵀ and lowers the penalty; steps along
//! column f are divided by σ_f, so that weak directions are learnt as fast as strong ones (Tong, Ma, Chi 2021), and
//! implicitly damped, so that no weight can make them overshoot (Toulis, Airoldi 2017). Steps decay as step / (1 +
//! decay · epoch). The loss may rise in an epoch; it is measured exactly after each and reported, and the best epoch is
//! returned. Cost per epoch: O((1 + negatives) nonzeros b) on one thread, since steps are sequential.

use rand_xoshiro::rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::entries::{ENTRY_BYTES, Observed, dot};
use super::pair::{
    Best, Descent, Pair, Start, at_least_one, inner, not_negative, nothing, penalty,
    sensible_negatives,
};
use super::{Factors, Method, Shape, Task, WITH_ROOTS};
use crate::dense::{Block, Panels};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::random::{Key, unit};

/// Options of stochastic gradient descent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sgd {
    /// Maximum number of epochs.
    pub iterations: usize,
    /// Epochs stop when the relative change of the loss is below this.
    pub tolerance: f64,
    /// λ, the weight of the squared length of the factors.
    pub regularization: f64,
    /// Nonzeros in a batch.
    pub batch: usize,
    /// Zeros drawn for every nonzero.
    pub negatives: usize,
    /// The first step, at most 1.
    pub step: f64,
    /// How fast steps shrink.
    pub decay: f64,
    /// Whether zeros are unknown entries rather than zeros to be fitted.
    pub observed_only: bool,
    /// The initial factors.
    pub start: Start,
}

impl Default for Sgd {
    fn default() -> Self {
        Sgd {
            iterations: 30,
            tolerance: 1e-4,
            regularization: 0.0,
            batch: 64,
            negatives: 4,
            step: 0.3,
            decay: 0.1,
            observed_only: false,
            start: Start::Svd,
        }
    }
}

/// Bytes that a step of a batch takes, for a few hundred columns.
const STEP_BYTES: u64 = 16 + 2 * 4 * 128;

impl Method for Sgd {
    fn check(&self, field: &str) -> Result<()> {
        not_negative(field, "tolerance", self.tolerance)?;
        not_negative(field, "regularization", self.regularization)?;
        not_negative(field, "decay", self.decay)?;
        at_least_one(field, "batch", self.batch)?;
        sensible_negatives(field, self.negatives)?;
        if self.step > 0.0 && self.step <= 1.0 {
            return Ok(());
        }
        Err(Error::config(
            format!("{field}.step"),
            format!("{} is not a number above 0 and up to 1", self.step),
        ))
    }

    fn is_scale_free(&self) -> bool {
        self.regularization == 0.0
    }

    fn largest(&self) -> f64 {
        WITH_ROOTS
    }

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let mut pair = Pair::start(s, self.start, task)?;
        let entries = Observed::of(s)?;
        if entries.norm == 0.0 {
            return Ok(nothing(s, task, self.measure(&entries)));
        }
        if self.start == Start::Random {
            // Random factors are scaled to the norm of S.
            let norm = pair.a.gram().inner(&pair.b.gram());
            let factor = (entries.norm / norm.max(1e-300)).powf(0.25);
            pair.a.scale_columns(&vec![factor; pair.a.cols()]);
            pair.b.scale_columns(&vec![factor; pair.b.cols()]);
        }
        let first = self.value(s, &entries, &pair);
        let mut best = Best::new(first, &pair);
        let squares = entries.rows.values().iter().map(|&s| f64::from(s).powi(2));
        let nonzeros = Chances::of(squares);
        let full = entries.rows.nnz() == s.rows() * s.cols();
        let no_zeros = self.observed_only || full;
        let name = "stochastic gradient descent";
        let descent = Descent::new(name, self.iterations, self.tolerance, task);
        let descent = descent.run(first, |iteration| {
            let epoch = iteration - 1;
            let (u, sigma, v) = pair.decompose()?;
            let inverse = |sigma: &f64| (1.0 / (sigma + self.regularization)) as f32;
            let mut pass = Epoch {
                options: self,
                entries: &entries,
                nonzeros: &nonzeros,
                negatives: if no_zeros { 0 } else { self.negatives },
                rate: self.step / (1.0 + self.decay * epoch as f64),
                precondition: sigma.iter().map(inverse).collect(),
                pair: Pair::balanced(u, &sigma, v),
            };
            pass.run(task.key.with("epoch", epoch as u64));
            pair = pass.pair;
            let loss = self.value(s, &entries, &pair);
            best.note(loss, &pair);
            Ok(loss)
        })?;
        let (found, measure) = (best.pair.decompose()?, self.measure(&entries));
        Ok(descent.finish(found, measure, |pair| self.value(s, &entries, &pair)))
    }

    fn keeps_entries(&self) -> bool {
        true
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let nonzeros = shape.entries;
        let steps = (self.batch as u64)
            .min(nonzeros)
            .saturating_mul(1 + self.negatives as u64);
        (nonzeros * (ENTRY_BYTES + 8)).saturating_add(steps.saturating_mul(STEP_BYTES))
    }
}

impl Sgd {
    /// The loss with its penalty, relative to ‖S‖².
    fn value(&self, s: &Operator, entries: &Observed, pair: &Pair) -> f64 {
        if self.observed_only {
            return entries.value(pair, self.regularization);
        }
        let (a, b) = (pair.a.gram(), pair.b.gram());
        let left = entries.norm - 2.0 * inner(&s.apply(&pair.b), &pair.a) + a.inner(&b);
        (left + penalty(self.regularization, [&a, &b])) / entries.norm
    }

    fn measure(&self, entries: &Observed) -> String {
        let all = "squared error and penalty relative to ‖S‖², all entries; ‖S‖² exact";
        if self.observed_only {
            entries.measure(self.regularization)
        } else {
            all.into()
        }
    }
}

/// Cumulative probabilities.
struct Chances(Vec<f64>);

impl Chances {
    /// Half uniform, half proportional to these.
    fn of(sizes: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let (count, total) = (sizes.len() as f64, sizes.clone().sum::<f64>());
        let mut sum = 0.0;
        let add = |size: f64| {
            sum += if total > 0.0 {
                0.5 / count + 0.5 * size / total
            } else {
                1.0 / count
            };
            sum
        };
        Chances(sizes.map(add).collect())
    }

    /// A position and its probability.
    fn pick(&self, bits: u64) -> (usize, f64) {
        let last = self.0.len() - 1;
        let point = unit(bits) * self.0[last];
        let at = self.0.partition_point(|&upto| upto <= point).min(last);
        let chance = self.0[at] - if at > 0 { self.0[at - 1] } else { 0.0 };
        (at, chance.max(0.25 / self.0.len() as f64))
    }
}

/// One pass.
struct Epoch<'a> {
    options: &'a Sgd,
    entries: &'a Observed,
    /// Of drawing each nonzero.
    nonzeros: &'a Chances,
    /// Zeros drawn for every nonzero.
    negatives: usize,
    rate: f64,
    precondition: Vec<f32>,
    pair: Pair,
}

/// The gradients of the entries of a batch with respect to the rows of both factors.
#[derive(Default)]
struct Batch {
    places: Vec<(usize, usize)>,
    left: Vec<f32>,
    right: Vec<f32>,
}

impl Epoch<'_> {
    fn run(&mut self, key: Key) {
        let (values, pattern) = (self.entries.rows.values(), self.entries.rows.pattern());
        let (count, size) = (pattern.nnz(), self.options.batch);
        // Zeros are drawn by the leverage of their row and column: the error of a zero is large if both are.
        let leverages = |x: &Block| Chances::of((0..x.rows()).map(|i| self.leverage(x.row(i))));
        let (rows, columns) = (leverages(&self.pair.a), leverages(&self.pair.b));
        let share = (self.negatives as f64 * count as f64).max(1.0);
        let (mut rng, mut batch) = (key.rng(), Batch::default());
        for start in (0..count).step_by(size) {
            for _ in start..(start + size).min(count) {
                let (at, chance) = self.nonzeros.pick(rng.next_u64());
                let i = pattern.offsets().partition_point(|&offset| offset <= at) - 1;
                let j = pattern.columns()[at] as usize;
                // The weights make the sum over an epoch unbiased.
                let weight = 1.0 / (count as f64 * chance);
                self.add_step((i, j), values[at], weight, &mut batch);
                for _ in 0..self.negatives {
                    let ((i, p), (j, q)) =
                        (rows.pick(rng.next_u64()), columns.pick(rng.next_u64()));
                    if pattern.row(i).binary_search(&(j as u32)).is_err() {
                        self.add_step((i, j), 0.0, 1.0 / (share * p * q), &mut batch);
                    }
                }
            }
            self.apply(&mut batch);
        }
        let shrink =
            |p: &f32| 1.0 / (1.0 + self.rate * self.options.regularization * f64::from(*p));
        let factors: Vec<f64> = self.precondition.iter().map(shrink).collect();
        self.pair.a.scale_columns(&factors);
        self.pair.b.scale_columns(&factors);
    }

    /// The squared length of a row in units of the columns.
    fn leverage(&self, x: &[f32]) -> f64 {
        x.iter()
            .zip(&self.precondition)
            .map(|(&x, &p)| f64::from(x) * f64::from(x) * f64::from(p))
            .sum()
    }

    /// The steps that an entry implies for both rows, implicitly damped.
    fn add_step(&self, (i, j): (usize, usize), s: f32, weight: f64, batch: &mut Batch) {
        let (a, b) = (self.pair.a.row(i), self.pair.b.row(j));
        let error = dot(a, b) - f64::from(s);
        let rate = self.rate * weight;
        let damped = rate / (1.0 + rate * (self.leverage(a) + self.leverage(b)));
        let scale = (damped * error) as f32;
        let along = |(&x, &p): (&f32, &f32)| scale * x * p;
        batch.places.push((i, j));
        for (to, x) in [(&mut batch.left, b), (&mut batch.right, a)] {
            to.extend(x.iter().zip(&self.precondition).map(along));
        }
    }

    fn apply(&mut self, batch: &mut Batch) {
        let width = self.precondition.len();
        let minus =
            |row: &mut [f32], by: &[f32]| row.iter_mut().zip(by).for_each(|(x, by)| *x -= by);
        for (at, (i, j)) in batch.places.drain(..).enumerate() {
            minus(self.pair.a.row_mut(i), &batch.left[at * width..][..width]);
            minus(self.pair.b.row_mut(j), &batch.right[at * width..][..width]);
        }
        batch.left.clear();
        batch.right.clear();
    }
}
