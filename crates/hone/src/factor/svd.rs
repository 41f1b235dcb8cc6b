//! Truncated SVD of an operator by randomised block subspace iteration (Halko, Martinsson, Tropp 2011).
//!
//! V spans a guess of the leading right singular space, rank plus oversampling columns wide. One
//! iteration multiplies Y = S V, Z = Sᵀ Y and takes V = orth(Z); for symmetric S the first product
//! alone will do. At the end the eigenvectors E of the small YᵀY = E diag(sigma²) Eᵀ give
//! U = Y E diag(1/sigma) and V E. The residual ‖(I − V Vᵀ) Z e‖ / sigma² bounds the error of each
//! triplet. Powers of symmetric matrices share the vectors of their base; tall dense matrices are
//! solved exactly through their Gram matrix.
//! Cost: 2 products with S an iteration (1 if symmetric) and O(N b²).

use serde::{Deserialize, Serialize};

use super::{Factors, Info, Task};
use crate::dense::{Block, Columns, Small, orthonormalize};
use crate::error::{Error, Result};
use crate::operator::{Operator, Scaled, Workspace};

/// Options of the truncated SVD.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Svd {
    /// Columns of the iterated block beyond the rank; they speed up convergence.
    pub oversampling: usize,
    /// Iterations stop when all residuals, relative to their singular values, are below.
    pub tolerance: f64,
    /// How many iterations at most.
    pub iterations: Iterations,
}

impl Default for Svd {
    fn default() -> Self {
        Svd { oversampling: 8, tolerance: 1e-4, iterations: Iterations::Auto }
    }
}

impl Svd {
    /// Refuses values out of range; `field` is the name of this group of settings.
    pub(super) fn check(&self, field: &str) -> Result<()> {
        if self.tolerance.is_finite() && self.tolerance >= 0.0 {
            return Ok(());
        }
        Err(Error::config(format!("{field}.tolerance"), format!("{} is not a number ≥ 0", self.tolerance)))
    }
}

/// A number of iterations, or as many as are affordable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "IterationsText", into = "IterationsText")]
pub enum Iterations {
    /// What about 10⁹ multiply-adds allow, between 2 and 100.
    #[default]
    Auto,
    /// That many, fewer only when the tolerance is met.
    AtMost(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum IterationsText {
    Count(usize),
    Word(String),
}

impl TryFrom<IterationsText> for Iterations {
    type Error = String;
    fn try_from(text: IterationsText) -> Result<Self, String> {
        match text {
            IterationsText::Count(count) => Ok(Iterations::AtMost(count)),
            IterationsText::Word(word) if word == "auto" => Ok(Iterations::Auto),
            IterationsText::Word(word) => Err(format!("iterations are a number or \"auto\", not {word:?}")),
        }
    }
}

impl From<Iterations> for IterationsText {
    fn from(iterations: Iterations) -> Self {
        match iterations {
            Iterations::Auto => IterationsText::Word("auto".into()),
            Iterations::AtMost(count) => IterationsText::Count(count),
        }
    }
}

/// Multiply-adds spent on one factorisation when iterations are automatic.
const BUDGET: u64 = 1_000_000_000;

/// Singular values below this part of the largest are rounding noise of f32 products.
const ZERO: f64 = 2e-6;

/// The leading singular triplets of an operator.
pub fn svd(s: &Operator, options: &Svd, task: &Task) -> Result<Factors> {
    match s {
        Operator::Dense(leaf) => dense(leaf.columns(), task),
        Operator::Power(inner, k) if inner.is_symmetric() => {
            let mut found = svd(inner, options, task)?;
            found.sigma.iter_mut().for_each(|sigma| *sigma = sigma.powi(*k as i32));
            if k % 2 == 0 && task.right {
                found.v = Some(found.u.clone());
            }
            Ok(found)
        }
        Operator::Scaled(Scaled { shift: None, left: None, right: None, scale, inner }) if *scale != 0.0 => {
            let mut found = svd(inner, options, task)?;
            found.sigma.iter_mut().for_each(|sigma| *sigma *= scale.abs());
            if let Some(v) = found.v.as_mut().filter(|_| *scale < 0.0) {
                v.scale_columns(&vec![-1.0; task.rank]);
            }
            Ok(found)
        }
        _ => Iteration::new(s, options, task).run(),
    }
}

/// State of the iteration: V, and Y = S V.
struct Iteration<'a> {
    s: &'a Operator,
    options: &'a Svd,
    task: &'a Task<'a>,
    symmetric: bool,
    v: Block,
    y: Block,
    work: Workspace,
}

impl<'a> Iteration<'a> {
    fn new(s: &'a Operator, options: &'a Svd, task: &'a Task<'a>) -> Self {
        let width = (task.rank + options.oversampling).min(s.rows()).min(s.cols());
        let v = Block::random(s.cols(), width, task.key.with("sketch", 0));
        let y = Block::zeros(s.rows(), width);
        Iteration { s, options, task, symmetric: s.is_symmetric(), v, y, work: Workspace::default() }
    }

    fn limit(&self) -> usize {
        let products = if self.symmetric { 1 } else { 2 };
        let work = self.s.cost() * products * self.v.cols() as u64;
        match self.options.iterations {
            Iterations::Auto => (BUDGET / work.max(1)).clamp(2, 100) as usize,
            Iterations::AtMost(count) => count,
        }
    }

    fn run(mut self) -> Result<Factors> {
        let limit = self.limit();
        let mut info = Info { iterations: 0, residual: None, converged: false, rank: 0 };
        self.orthonormalize(0);
        let ritz = loop {
            self.task.progress.check()?;
            self.s.apply_into(&self.v, &mut self.y, &mut self.work);
            let ritz = Ritz::of(&self.y, self.task.rank)?;
            if ritz.rank == 0 || info.iterations == limit {
                info.converged |= ritz.rank == 0;
                break ritz;
            }
            let z = self.image();
            let residual = self.residual(&z, &ritz);
            info.residual = Some(residual);
            info.converged = residual <= self.options.tolerance;
            if info.converged {
                if self.symmetric {
                    self.y = z;
                }
                break ritz;
            }
            info.iterations += 1;
            let old = std::mem::replace(&mut self.v, z);
            self.work.give(old);
            self.orthonormalize(info.iterations);
        };
        info.rank = ritz.rank;
        self.finish(&ritz, info)
    }

    /// Sᵀ Y, or Y itself when S is symmetric.
    fn image(&mut self) -> Block {
        if self.symmetric {
            let spare = self.work.take(self.y.rows(), self.y.cols());
            return std::mem::replace(&mut self.y, spare);
        }
        let mut z = self.work.take(self.v.rows(), self.v.cols());
        self.s.apply_transposed_into(&self.y, &mut z, &mut self.work);
        z
    }

    /// Largest part of the images of the Ritz vectors outside the span of V, relative to the image.
    fn residual(&self, z: &Block, ritz: &Ritz) -> f64 {
        let wanted = ritz.vectors.columns(ritz.rank);
        let inside = self.v.cross(z).times(&wanted);
        let outside = difference(&z.times(&wanted), &self.v.times(&inside));
        let power = if self.symmetric { 1 } else { 2 };
        let norms = outside.column_norms(crate::dense::Norm::L2);
        norms.iter().zip(&ritz.sigma).map(|(norm, sigma)| norm / sigma.powi(power)).fold(0.0, f64::max)
    }

    /// V ← orth(V); columns that were lost are drawn anew, away from the others.
    fn orthonormalize(&mut self, round: usize) {
        let kept = orthonormalize(&mut self.v);
        if kept.iter().all(|&kept| kept) {
            return;
        }
        let fresh = Block::random(self.v.rows(), self.v.cols(), self.task.key.with("refill", round as u64));
        self.v.update_rows(|i, row| {
            let lost = row.iter_mut().zip(fresh.row(i)).zip(&kept).filter(|(_, kept)| !**kept);
            lost.for_each(|((value, &fresh), _)| *value = fresh);
        });
        orthonormalize(&mut self.v);
    }

    fn finish(self, ritz: &Ritz, info: Info) -> Result<Factors> {
        let rank = self.task.rank;
        let mut left = ritz.padded(rank);
        let inverse: Vec<f64> = (0..rank).map(|j| if j < ritz.rank { 1.0 / ritz.sigma[j] } else { 0.0 }).collect();
        left.scale_columns(&inverse);
        let mut u = self.y.times(&left);
        orthonormalize(&mut u);
        let signs = u.column_signs();
        u.scale_columns(&signs);
        let v = self.task.right.then(|| {
            let mut v = self.v.times(&ritz.padded(rank));
            v.scale_columns(&signs);
            v
        });
        let sigma = (0..rank).map(|j| if j < ritz.rank { ritz.sigma[j] } else { 0.0 }).collect();
        Ok(Factors { u, sigma, v, info })
    }
}

/// Singular values and right vectors of Y, in coordinates of V.
struct Ritz {
    sigma: Vec<f64>,
    vectors: Small,
    rank: usize,
}

impl Ritz {
    fn of(y: &Block, wanted: usize) -> Result<Ritz> {
        Ritz::of_gram(&y.gram(), wanted)
    }

    fn of_gram(gram: &Small, wanted: usize) -> Result<Ritz> {
        let eigen = gram.eigen()?;
        let sigma: Vec<f64> = eigen.values.iter().map(|&value| value.max(0.0).sqrt()).collect();
        let floor = sigma.first().map_or(0.0, |most| most * ZERO);
        let rank = sigma.iter().take(wanted).filter(|&&sigma| sigma > floor).count();
        Ok(Ritz { sigma, vectors: eigen.vectors, rank })
    }

    /// The leading vectors, zero columns beyond the rank.
    fn padded(&self, columns: usize) -> Small {
        Small::from_fn(self.vectors.rows(), columns, |i, j| if j < self.rank { self.vectors.get(i, j) } else { 0.0 })
    }
}

/// Exact SVD of a tall matrix through its Gram matrix: U = Y E diag(1/sigma), V = E.
fn dense(y: &Columns, task: &Task) -> Result<Factors> {
    let ritz = Ritz::of_gram(&y.gram(), task.rank)?;
    task.progress.check()?;
    let rank = task.rank;
    let mut right = ritz.padded(rank);
    let inverse: Vec<f64> = (0..rank).map(|j| if j < ritz.rank { 1.0 / ritz.sigma[j] } else { 0.0 }).collect();
    let mut left = right.clone();
    left.scale_columns(&inverse);
    let mut u = y.times(&left);
    let signs = u.column_signs();
    u.scale_columns(&signs);
    right.scale_columns(&signs);
    let v = task.right.then(|| {
        let values = right.as_slice().iter().map(|&value| value as f32).collect();
        Block::from_vec(right.rows(), rank, values)
    });
    let sigma = (0..rank).map(|j| if j < ritz.rank { ritz.sigma[j] } else { 0.0 }).collect();
    let info = Info { iterations: 0, residual: None, converged: true, rank: ritz.rank };
    Ok(Factors { u, sigma, v, info })
}

fn difference(a: &Block, b: &Block) -> Block {
    let mut out = a.clone();
    out.update_rows(|i, row| row.iter_mut().zip(b.row(i)).for_each(|(x, y)| *x -= y));
    out
}
