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

use serde::{Deserialize, Serialize};

use super::bilinear::{Pair, Start, nothing, penalty};
use super::iterate::{Limits, Watch, not_negative, sensible_negatives};
use super::loss::{Divergence, Extremes};
use super::memory::Shape;
use super::method::{ALONE, Factors, Method, Task};
use super::observed::{add_outer, solve};
use super::sample::{Line, Looked, SAMPLE_BYTES};
use crate::dense::{Block, Norm};
use crate::error::Result;
use crate::operator::{Operator, in_chunks};
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

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        let looked = self.look(s, task)?;
        let facts = Facts::of(&looked, self.loss);
        if let Some(extremes) = facts.extremes {
            self.loss.check(&s.formula(), extremes, remedy(s))?;
        }
        let measure = format!(
            "mean {} divergence and penalty, {}",
            self.loss.name(),
            looked.describe()
        );
        if facts
            .extremes
            .is_none_or(|Extremes { least, most }| least == 0.0 && most == 0.0)
        {
            return Ok(nothing(s, task, measure));
        }
        let mut pair = self.start(s, &facts, task)?;
        let limits = Limits {
            iterations: self.iterations,
            tolerance: self.tolerance,
        };
        let mut watch = Watch::new("alternating Newton steps", limits, 0.0, task);
        let count = facts.weight.max(1.0);
        let value = |varying: f64, penalty: f64| (varying + facts.constant + penalty) / count;
        let start = self.half(&looked, false, &mut pair.a, &pair.b, false);
        watch.record(value(start, self.penalty(&pair)))?;
        while watch.goes_on()? {
            self.half(&looked, false, &mut pair.a, &pair.b, true);
            let varying = self.half(&looked, true, &mut pair.b, &pair.a, true);
            watch.record(value(varying, self.penalty(&pair)))?;
        }
        pair.finish(task, (watch, measure), |mut pair| {
            let penalty = self.penalty(&pair);
            let varying = self.half(&looked, false, &mut pair.a, &pair.b, false);
            value(varying, penalty)
        })
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

/// The remedy for negative entries.
fn remedy(s: &Operator) -> &'static str {
    if matches!(s, Operator::Dense(_)) {
        "use local.solver.method = nmf, or loss = gaussian"
    } else {
        "use psi = \"w\" or psi = \"p\""
    }
}

impl Bregman {
    /// The entries that are used.
    fn look<'a>(&self, s: &'a Operator, task: &Task) -> Result<Looked<'a>> {
        let few = s.rows().saturating_mul(s.cols()) <= EXACT;
        match self.entries {
            Entries::Exact => Ok(Looked::All(s)),
            Entries::Auto if few => Ok(Looked::All(s)),
            Entries::Auto | Entries::Sampled => {
                Looked::sample(s, self.negatives, task.key.with("zeros", 0))
            }
            Entries::Observed => Looked::nonzeros(s),
        }
    }

    fn penalty(&self, pair: &Pair) -> f64 {
        penalty(self.regularization, [&pair.a.gram(), &pair.b.gram()])
    }

    /// Φ⁻¹ of the mean entry everywhere, and small multiples of the leading singular vectors.
    fn start(&self, s: &Operator, facts: &Facts, task: &Task) -> Result<Pair> {
        let mut pair = Pair::start(s, Start::Svd, task)?;
        let width = pair.a.cols();
        if self.loss == Divergence::Gaussian || width == 0 {
            return Ok(pair);
        }
        let mean = match self.loss {
            Divergence::Bernoulli => facts.mean().min(0.999),
            _ => facts.mean(),
        };
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
        looked: &Looked,
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
                let mut reader = looked.reader(transpose);
                let mut sum = 0.0;
                for (at, row) in rows.chunks_exact_mut(width).enumerate() {
                    let line = reader.read(piece * CHUNK + at);
                    sum += Glm {
                        loss: self.loss,
                        lambda: self.regularization,
                        line,
                        other,
                    }
                    .improve(row, step);
                }
                sum
            },
        );
        pieces.into_iter().sum()
    }
}

/// The result of one pass over the entries.
struct Facts {
    weight: f64,
    sum: f64,
    constant: f64,
    extremes: Option<Extremes>,
}

impl Facts {
    fn of(looked: &Looked, loss: Divergence) -> Facts {
        let pieces = in_chunks(looked.rows(), CHUNK, |range| {
            let mut facts = Facts {
                weight: 0.0,
                sum: 0.0,
                constant: 0.0,
                extremes: None,
            };
            let mut reader = looked.reader(false);
            range.for_each(|i| facts.add(reader.read(i), loss));
            facts
        });
        let none = Facts {
            weight: 0.0,
            sum: 0.0,
            constant: 0.0,
            extremes: None,
        };
        pieces.into_iter().fold(none, |mut all, part| {
            all.weight += part.weight;
            all.sum += part.sum;
            all.constant += part.constant;
            if let Some(Extremes { least, most }) = part.extremes {
                all.widen(least);
                all.widen(most);
            }
            all
        })
    }

    fn add(&mut self, line: &Line, loss: Divergence) {
        for (_, s, weight) in line.iter() {
            self.widen(s);
            self.weight += weight;
            self.sum += weight * s;
            self.constant += weight * loss.constant(loss.clamp(s));
        }
    }

    fn widen(&mut self, s: f64) {
        let Extremes { least, most } = self.extremes.unwrap_or(Extremes { least: s, most: s });
        self.extremes = Some(Extremes {
            least: least.min(s),
            most: most.max(s),
        });
    }

    fn mean(&self) -> f64 {
        if self.weight > 0.0 {
            self.sum / self.weight
        } else {
            0.0
        }
    }
}

/// The generalised linear model of one row: Σ w D(s ‖ Φ(x·b)) + λ‖x‖².
struct Glm<'a> {
    loss: Divergence,
    lambda: f64,
    line: &'a Line,
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
        let term = |(j, s, weight): (u32, f64, f64)| {
            weight
                * self
                    .loss
                    .varying(self.loss.clamp(s), product(x, self.other.row(j as usize)))
        };
        penalty + self.line.iter().map(term).sum::<f64>()
    }

    /// H⁻¹ ∇, and what a step along its negative would gain if the loss were quadratic.
    fn newton(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let width = x.len();
        let (mut hessian, mut gradient) = (vec![0.0; width * width], vec![0.0; width]);
        for (j, s, weight) in self.line.iter() {
            let (s, b) = (self.loss.clamp(s), self.other.row(j as usize));
            let theta = product(x, b);
            let slope = weight * self.loss.gradient(s, theta);
            add_outer(
                &mut hessian,
                &mut gradient,
                b,
                weight * self.loss.curvature(s, theta),
                slope,
            );
        }
        for f in 0..width {
            hessian[f * width + f] += 2.0 * self.lambda;
            gradient[f] += 2.0 * self.lambda * x[f];
        }
        let mut direction = gradient.clone();
        solve(&mut hessian, &mut direction);
        let gain = 0.5
            * direction
                .iter()
                .zip(&gradient)
                .map(|(d, g)| d * g)
                .sum::<f64>();
        (direction, gain)
    }
}

fn product(x: &[f64], b: &[f32]) -> f64 {
    x.iter().zip(b).map(|(x, &b)| x * f64::from(b)).sum()
}
