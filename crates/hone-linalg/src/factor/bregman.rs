//! Factors under a Bregman divergence with its link, S ≈ Φ⟨A Bᵀ⟩, by alternating Newton steps (sec. 2.4).
//!
//! With B fixed, every row of A is a separate, convex generalised linear model: a damped Newton step, halved until
//! the loss falls, never increases Σ w D(s ‖ Φ(a·b)) + λ(‖A‖² + ‖B‖²). Then B is updated in the same way from the
//! columns.
//!
//! The loss needs entries, including zeros. `exact` reads the rows and columns of the lazy matrix one at a time, all N²
//! entries per iteration. `sampled` stores the nonzeros and, for each row, `negatives` zeros per nonzero, drawn once
//! and weighted so that they stand for all zeros of the row: the cost is linear in the number of edges. The loss is
//! that of the sample, unbiased at the start and optimistic later, since factors are fitted to it. `auto` is exact up
//! to [`EXACT`] entries. `observed` uses the nonzeros alone. The initial factors are a constant at the mean of the
//! entries plus small multiples of the singular vectors. Cost per iteration: O(b²) per entry used, and O(N b³).
//!
//! An entry s is compared with the mean m = Φ(θ), where θ is the product of the factors:
//!
//! | loss            | divergence D(s ‖ m)                          | Φ(θ)          | entries | θ     |
//! |-----------------|----------------------------------------------|---------------|---------|-------|
//! | `gaussian`      | (s − m)² / 2                                 | θ             | any     | any   |
//! | `poisson`       | s ln(s/m) − s + m (generalised KL)           | exp θ         | ≥ 0     | any   |
//! | `gamma-log`     | s/m − ln(s/m) − 1 (Itakura–Saito)            | exp θ         | > 0     | any   |
//! | `gamma-inverse` | the same                                     | 1/θ           | > 0     | > 0   |
//! | `bernoulli`     | s ln(s/m) + (1 − s) ln((1 − s)/(1 − m))      | 1/(1 + exp −θ)| [0, 1]  | any   |
//!
//! All are convex in θ, zero where s = m, and infinite where θ is out of range.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::entries::{Entry, EntrySet, SAMPLE_BYTES, add_outer, solve};
use super::pair::{Descent, Pair, Start, not_negative, nothing, penalty, sensible_negatives};
use super::{ALONE, Factors, Method, Shape, Task};
use crate::dense::{Block, Norm, Panels};
use crate::error::{Error, Result};
use crate::message::{Message, message, set};
use crate::operator::Operator;
use crate::parallel;

/// Number of entries up to which `auto` uses all of them.
pub const EXACT: usize = 1 << 20;

/// Rows per parallel task.
const CHUNK: usize = 32;

/// Maximum number of times that a step is halved.
const HALVINGS: usize = 24;

/// Relative gain of a row's loss below which no step is made.
const WORTH: f64 = 1e-11;

/// Scale of the singular vectors relative to the constant at the start.
const SMALL: f64 = 0.3;

/// Options of factors under a divergence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Bregman {
    /// The error model and its link.
    pub loss: Divergence,
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Iterations stop when the relative change of the loss is below this.
    pub tolerance: f64,
    /// λ, the weight of the squared length of the factors.
    pub regularization: f64,
    /// Which entries are used.
    pub entries: Entries,
    /// Zeros drawn for every nonzero of a row when entries are sampled.
    pub negatives: usize,
}

impl Default for Bregman {
    fn default() -> Self {
        Bregman {
            loss: Divergence::Gaussian,
            iterations: 50,
            tolerance: 1e-4,
            regularization: 0.01,
            entries: Entries::Auto,
            negatives: 5,
        }
    }
}

/// Which entries are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Entries {
    /// All up to a million of them, else a sample.
    #[default]
    Auto,
    /// All.
    Exact,
    /// The nonzeros and a weighted sample of the zeros.
    Sampled,
    /// The nonzeros alone: zeros are unknown.
    Observed,
}

impl Method for Bregman {
    fn check(&self, field: &str) -> Result<()> {
        not_negative(field, "tolerance", self.tolerance)?;
        not_negative(field, "regularization", self.regularization)?;
        sensible_negatives(field, self.negatives)
    }

    fn is_scale_free(&self) -> bool {
        false
    }

    fn largest(&self) -> f64 {
        ALONE
    }

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let few = s.rows().saturating_mul(s.cols()) <= EXACT;
        let entries = match self.entries {
            Entries::Exact => EntrySet::All(s),
            Entries::Auto if few => EntrySet::All(s),
            Entries::Auto | Entries::Sampled => {
                EntrySet::sample(s, self.negatives, task.key.with("zeros", 0))?
            }
            Entries::Observed => EntrySet::nonzeros(s)?,
        };
        let totals = Totals::of(&entries, self.loss);
        if totals.least <= totals.most {
            let remedy = if matches!(s, Operator::Dense(_)) {
                message![
                    "use ",
                    set("local.solver.method", "nmf"),
                    ", or ",
                    set("global.solver.loss", "gaussian")
                ]
            } else {
                message!["use ", set("psi", "w"), " or ", set("psi", "p")]
            };
            let (least, most) = (totals.least, totals.most);
            self.loss.check(&s.formula(), least, most, remedy)?;
        }
        let (name, described) = (self.loss.name(), entries.describe());
        let measure = format!("mean {name} divergence and penalty, {described}");
        if totals.least >= 0.0 && totals.most <= 0.0 {
            return Ok(nothing(s, task, measure));
        }
        let mut pair = self.start(s, &totals, task)?;
        let count = totals.weight.max(1.0);
        let value = |varying: f64, penalty: f64| (varying + totals.constant + penalty) / count;
        let varying = self.half(&entries, false, &mut pair.a, &pair.b, false);
        let first = value(varying, self.penalty(&pair));
        let name = "alternating Newton steps";
        let mut descent = Descent::new(name, self.iterations, self.tolerance, task);
        descent.unit = 0.0;
        let descent = descent.run(first, |_| {
            self.half(&entries, false, &mut pair.a, &pair.b, true);
            let varying = self.half(&entries, true, &mut pair.b, &pair.a, true);
            Ok(value(varying, self.penalty(&pair)))
        })?;
        let found = pair.decompose()?;
        drop(pair);
        Ok(descent.finish(found, measure, |mut pair| {
            let penalty = self.penalty(&pair);
            let varying = self.half(&entries, false, &mut pair.a, &pair.b, false);
            value(varying, penalty)
        }))
    }

    fn keeps_entries(&self) -> bool {
        true
    }

    fn memory(
        &self,
        &Shape {
            rows,
            columns,
            entries: nonzeros,
            ..
        }: &Shape,
    ) -> u64 {
        let all = rows.saturating_mul(columns);
        let exact = matches!(self.entries, Entries::Exact)
            || self.entries == Entries::Auto && all <= EXACT as u64;
        let negatives = if self.entries == Entries::Observed {
            0
        } else {
            self.negatives as u64
        };
        let kept = nonzeros
            .saturating_add((nonzeros + rows).saturating_mul(negatives))
            .min(all);
        if exact { 0 } else { kept * SAMPLE_BYTES }
    }
}

impl Bregman {
    fn penalty(&self, pair: &Pair) -> f64 {
        penalty(self.regularization, [&pair.a.gram(), &pair.b.gram()])
    }

    /// Φ⁻¹ of the mean entry everywhere, and small multiples of the leading singular vectors.
    fn start(&self, s: &Operator, totals: &Totals, task: &Task) -> Result<Pair> {
        let mut pair = Pair::start(s, Start::Svd, task)?;
        let width = pair.a.cols();
        if self.loss == Divergence::Gaussian || width == 0 {
            return Ok(pair);
        }
        let mut mean = if totals.weight > 0.0 {
            totals.sum / totals.weight
        } else {
            0.0
        };
        if self.loss == Divergence::Bernoulli {
            mean = mean.min(0.999);
        }
        let theta = self.loss.link(mean);
        let root = theta.abs().sqrt();
        // 1/θ is out of range unless θ is positive: nothing may be larger than the constant.
        let least = match self.loss {
            Divergence::GammaInverse => 0.0,
            _ => 0.1,
        };
        let small = SMALL * (theta.abs().max(least) / width as f64).sqrt();
        for (block, first) in [(&mut pair.a, root), (&mut pair.b, root * theta.signum())] {
            block.normalize_columns(Norm::Max);
            block.update_rows(|_, row| {
                row.rotate_right(1);
                row[0] = first as f32;
                row[1..].iter_mut().for_each(|x| *x *= small as f32);
            });
        }
        Ok(pair)
    }

    /// A Newton step on each row of X (or none), given the other factor; returns Σ w (D − constant) afterwards.
    fn half(
        &self,
        entries: &EntrySet,
        transpose: bool,
        x: &mut Block,
        other: &Block,
        step: bool,
    ) -> f64 {
        let width = x.cols();
        if width == 0 {
            return 0.0;
        }
        let pieces = parallel::map_each(
            x.as_mut_slice().chunks_mut(CHUNK * width).collect(),
            |piece, rows| {
                let mut reader = entries.reader(transpose);
                let mut sum = 0.0;
                for (at, row) in rows.chunks_exact_mut(width).enumerate() {
                    let model = Glm {
                        loss: self.loss,
                        lambda: self.regularization,
                        line: reader.read(piece * CHUNK + at),
                        other,
                    };
                    sum += model.improve(row, step);
                }
                sum
            },
        );
        pieces.into_iter().sum()
    }
}

/// Sums over the entries, and the least and the largest.
struct Totals {
    weight: f64,
    sum: f64,
    constant: f64,
    least: f64,
    most: f64,
}

impl Totals {
    fn of(entries: &EntrySet, loss: Divergence) -> Totals {
        let none = || Totals {
            weight: 0.0,
            sum: 0.0,
            constant: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        };
        let some = |range: Range<usize>| {
            let (mut totals, mut reader) = (none(), entries.reader(false));
            for i in range {
                for &(_, s, weight) in reader.read(i) {
                    totals.weight += weight;
                    totals.sum += weight * s;
                    totals.constant += weight * loss.constant(loss.clamp(s));
                    totals.least = totals.least.min(s);
                    totals.most = totals.most.max(s);
                }
            }
            totals
        };
        let pieces = parallel::stretches(entries.rows(), CHUNK, some);
        pieces.into_iter().fold(none(), |all, part| Totals {
            weight: all.weight + part.weight,
            sum: all.sum + part.sum,
            constant: all.constant + part.constant,
            least: all.least.min(part.least),
            most: all.most.max(part.most),
        })
    }
}

/// The generalised linear model of one row: Σ w D(s ‖ Φ(x·b)) + λ‖x‖².
struct Glm<'a> {
    loss: Divergence,
    lambda: f64,
    line: &'a [Entry],
    other: &'a Block,
}

impl Glm<'_> {
    /// Improves a row by a Newton step, if `step`; returns Σ w (D − constant).
    fn improve(&self, row: &mut [f32], step: bool) -> f64 {
        let mut x: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
        let mut best = self.value(&x);
        let direction = step
            .then(|| self.newton(&x))
            .filter(|(_, gain)| *gain > WORTH * best.abs());
        if let Some((direction, _)) = direction {
            let mut size = 1.0;
            for _ in 0..HALVINGS {
                let tried: Vec<f64> = x
                    .iter()
                    .zip(&direction)
                    .map(|(x, d)| f64::from((x - size * d) as f32))
                    .collect();
                let value = self.value(&tried);
                if value < best {
                    (x, best) = (tried, value);
                    break;
                }
                size *= 0.5;
            }
        }
        row.iter_mut().zip(&x).for_each(|(to, &x)| *to = x as f32);
        best - self.lambda * x.iter().map(|x| x * x).sum::<f64>()
    }

    fn value(&self, x: &[f64]) -> f64 {
        let penalty = self.lambda * x.iter().map(|x| x * x).sum::<f64>();
        let term = |&(j, s, weight): &Entry| {
            let theta = product(x, self.other.row(j as usize));
            weight * self.loss.varying(self.loss.clamp(s), theta)
        };
        penalty + self.line.iter().map(term).sum::<f64>()
    }

    /// H⁻¹ ∇, and what a step along its negative would gain if the loss were quadratic.
    fn newton(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let width = x.len();
        let (mut hessian, mut gradient) = (vec![0.0; width * width], vec![0.0; width]);
        for &(j, s, weight) in self.line {
            let (s, b) = (self.loss.clamp(s), self.other.row(j as usize));
            let theta = product(x, b);
            let slope = weight * self.loss.gradient(s, theta);
            let curvature = weight * self.loss.curvature(s, theta);
            add_outer(&mut hessian, &mut gradient, b, curvature, slope);
        }
        for f in 0..width {
            hessian[f * width + f] += 2.0 * self.lambda;
            gradient[f] += 2.0 * self.lambda * x[f];
        }
        let mut direction = gradient.clone();
        solve(&mut hessian, &mut direction);
        let along: f64 = direction.iter().zip(&gradient).map(|(d, g)| d * g).sum();
        (direction, 0.5 * along)
    }
}

fn product(x: &[f64], b: &[f32]) -> f64 {
    x.iter().zip(b).map(|(x, &b)| x * f64::from(b)).sum()
}

/// An error model and its link Φ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Divergence {
    /// Squared loss, identity link.
    #[default]
    Gaussian,
    /// Generalised Kullback–Leibler divergence, exponential link: counts.
    Poisson,
    /// Itakura–Saito divergence, exponential link: positive entries whose error grows with them.
    GammaLog,
    /// Itakura–Saito divergence, inverse link.
    GammaInverse,
    /// Logistic loss: probabilities, or presence and absence.
    Bernoulli,
}

/// Entries that rounding has pushed over 1 by no more than this count as 1.
const OVER: f64 = 1e-5;

/// x ln x, zero at zero.
fn entropy(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// ln(1 + exp θ) without overflow.
fn softplus(theta: f64) -> f64 {
    theta.max(0.0) + (-theta.abs()).exp().ln_1p()
}

impl Divergence {
    /// Φ(θ).
    pub fn mean(self, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => theta,
            Divergence::Poisson | Divergence::GammaLog => theta.exp(),
            Divergence::GammaInverse => theta.recip(),
            Divergence::Bernoulli => (1.0 + (-theta).exp()).recip(),
        }
    }

    /// Φ⁻¹(m).
    pub fn link(self, mean: f64) -> f64 {
        match self {
            Divergence::Gaussian => mean,
            Divergence::Poisson | Divergence::GammaLog => mean.ln(),
            Divergence::GammaInverse => mean.recip(),
            Divergence::Bernoulli => (mean / (1.0 - mean)).ln(),
        }
    }

    /// D(s ‖ Φ(θ)).
    pub fn value(self, s: f64, theta: f64) -> f64 {
        self.varying(s, theta) + self.constant(s)
    }

    /// The part of the divergence that depends on θ; infinite where θ is out of range.
    pub fn varying(self, s: f64, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => 0.5 * theta * theta - s * theta,
            Divergence::Poisson => theta.exp() - s * theta,
            Divergence::GammaLog => s * (-theta).exp() + theta,
            Divergence::GammaInverse if theta > 0.0 => s * theta - theta.ln(),
            Divergence::GammaInverse => f64::INFINITY,
            Divergence::Bernoulli => softplus(theta) - s * theta,
        }
    }

    /// The part of the divergence that does not depend on θ.
    pub fn constant(self, s: f64) -> f64 {
        match self {
            Divergence::Gaussian => 0.5 * s * s,
            Divergence::Poisson => entropy(s) - s,
            Divergence::GammaLog | Divergence::GammaInverse => -s.ln() - 1.0,
            Divergence::Bernoulli => entropy(s) + entropy(1.0 - s),
        }
    }

    /// The derivative of the divergence by θ.
    pub fn gradient(self, s: f64, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => theta - s,
            Divergence::Poisson => theta.exp() - s,
            Divergence::GammaLog => 1.0 - s * (-theta).exp(),
            Divergence::GammaInverse => s - theta.recip(),
            Divergence::Bernoulli => self.mean(theta) - s,
        }
    }

    /// The second derivative by θ, never negative.
    pub fn curvature(self, s: f64, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => 1.0,
            Divergence::Poisson => theta.exp(),
            Divergence::GammaLog => s * (-theta).exp(),
            Divergence::GammaInverse => theta.powi(-2),
            Divergence::Bernoulli => {
                let mean = self.mean(theta);
                mean * (1.0 - mean)
            }
        }
    }

    /// The entry clamped to the domain, in case rounding pushed it over the edge.
    pub fn clamp(self, s: f64) -> f64 {
        if self == Divergence::Bernoulli {
            s.min(1.0)
        } else {
            s
        }
    }

    /// The name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Divergence::Gaussian => "Gaussian",
            Divergence::Poisson => "Poisson",
            Divergence::GammaLog | Divergence::GammaInverse => "Gamma",
            Divergence::Bernoulli => "Bernoulli",
        }
    }

    /// Whether entries below zero are outside the domain.
    pub fn refuses_negative(self) -> bool {
        self != Divergence::Gaussian
    }

    /// Why negative entries of a matrix cannot be compared.
    pub fn negative(self, matrix: &str, remedy: Message) -> Message {
        let needs = match self {
            Divergence::Bernoulli => "entries between 0 and 1",
            Divergence::GammaLog | Divergence::GammaInverse => "positive entries",
            Divergence::Gaussian | Divergence::Poisson => "non-negative entries",
        };
        let name = self.name();
        message![
            format!("{name} needs {needs}: matrix {matrix} has negative ones; "),
            remedy
        ]
    }

    /// Refuses a matrix with such a least and largest entry, if outside the domain, naming it; `remedy` helps against negative ones.
    fn check(self, matrix: &str, least: f64, most: f64, remedy: Message) -> Result<()> {
        let gamma = matches!(self, Divergence::GammaLog | Divergence::GammaInverse);
        let message = if least < 0.0 && self.refuses_negative() {
            self.negative(matrix, remedy)
        } else if least == 0.0 && gamma {
            format!("Gamma needs positive entries: matrix {matrix} has zeros; let it fit observed entries alone").into()
        } else if most > 1.0 + OVER && self == Divergence::Bernoulli {
            message![
                format!(
                    "Bernoulli needs entries between 0 and 1: matrix {matrix} has larger ones; use "
                ),
                set("psi", "p")
            ]
        } else {
            return Ok(());
        };
        Err(Error::config("solver.loss", message))
    }
}
