//! Solvers of S ≈ A Bᵀ: initial factors, squared losses by traces, iterations, and the final basis.
//!
//! ‖S − A Bᵀ‖² = ‖S‖² − 2⟨S B, A⟩ + ⟨AᵀA, BᵀB⟩ needs one product and two small Gram matrices. ‖S‖² is the
//! same in all iterations ([`Operator::energy`]).
//!
//! A and B are only defined up to A M, B M⁻ᵀ. The factors returned are the singular value decomposition of
//! A Bᵀ, so that the columns of all solvers are comparable; non-negative factors keep their columns.

use serde::{Deserialize, Serialize};

use super::svd::{Iterations, Svd, svd};
use super::{Factors, Info, Loss, Task};
use crate::dense::{Block, Norm, Panels, Small, orthonormalize};
use crate::error::{Error, Result};
use crate::operator::{Energy, Operator};
use crate::parallel;

/// Iterations of the SVD that a solver starts from.
const WARM: usize = 2;

/// Eigenvalues of a Gram matrix below this fraction of the largest are rounding noise of f32 columns.
const ZERO: f64 = 1e-11;

/// Rounding noise of f32 products, relative to the sum of squares.
const NOISE: f64 = 1e-7;

/// The initial factors of a solver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Start {
    /// A singular value decomposition of few iterations (exact for a dense matrix).
    #[default]
    Svd,
    /// Random factors.
    Random,
}

/// When a solver stops, and its losses.
pub(super) struct Descent<'a> {
    pub(super) solver: &'static str,
    /// Maximum number of iterations.
    pub(super) iterations: usize,
    /// The relative change of the loss that counts as none.
    pub(super) tolerance: f64,
    /// What the loss is relative to; zero if there is only its initial value.
    pub(super) unit: f64,
    pub(super) task: &'a Task<'a>,
    /// The initial loss, then one per iteration.
    losses: Vec<f64>,
    converged: bool,
}

impl<'a> Descent<'a> {
    pub(super) fn new(
        solver: &'static str,
        iterations: usize,
        tolerance: f64,
        task: &'a Task<'a>,
    ) -> Self {
        Descent {
            solver,
            iterations,
            tolerance,
            unit: 1.0,
            task,
            losses: Vec::new(),
            converged: false,
        }
    }

    /// Improves factors until their loss changes no more; `improve` does one iteration, counted from 1, and returns the loss.
    pub(super) fn run(
        mut self,
        first: f64,
        mut improve: impl FnMut(usize) -> Result<f64>,
    ) -> Result<Self> {
        self.record(first)?;
        loop {
            self.task.progress.check()?;
            let iteration = self.losses.len();
            if self.converged || iteration > self.iterations {
                return Ok(self);
            }
            self.record(improve(iteration)?)?;
        }
    }

    fn record(&mut self, loss: f64) -> Result<()> {
        if !loss.is_finite() {
            let message = format!(
                "the loss is {loss} after iteration {}: scale the weights down, or raise the solver's regularization",
                self.losses.len()
            );
            return Err(Error::Numeric {
                stage: self.solver.into(),
                message: message.into(),
            });
        }
        if let Some(last) = self.losses.last() {
            self.converged = self.is_still((last - loss).abs(), loss);
        }
        self.losses.push(loss);
        Ok(())
    }

    /// Whether a change of the loss counts as none.
    fn is_still(&self, change: f64, loss: f64) -> bool {
        let scale = if self.unit > 0.0 {
            self.unit
        } else {
            self.losses[0].abs()
        };
        change <= self.tolerance * loss.abs() + NOISE * scale
    }

    /// The factors u diag(sigma) vᵀ, and how it went: `loss` is measured on them, as balanced factors U √Σ and V √Σ.
    pub(super) fn finish(
        self,
        (u, mut sigma, v): (Block, Vec<f64>, Block),
        measure: String,
        loss: impl FnOnce(Pair) -> f64,
    ) -> Factors<Panels> {
        let returned = loss(Pair::balanced(u.clone(), &sigma, v.clone()));
        let returned = Some(returned).filter(|loss| loss.is_finite());
        let least = self.losses.iter().copied().fold(f64::INFINITY, f64::min);
        let as_measured = |loss| self.is_still(loss - least, least);
        let info = Info {
            iterations: self.losses.len() - 1,
            converged: self.converged && returned.is_some_and(as_measured),
            rank: sigma.len(),
            loss: Some(Loss {
                measure,
                values: self.losses,
                returned,
            }),
            ..Info::default()
        };
        let rank = self.task.rank;
        sigma.resize(rank, 0.0);
        Factors {
            u: u.widened(rank).into(),
            sigma,
            v: self.task.right.then(|| v.widened(rank).into()),
            info,
        }
    }
}

/// S ≈ A Bᵀ.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) a: Block,
    pub(super) b: Block,
}

impl Pair {
    /// Initial factors, as wide as the rank and the shape allow.
    pub(super) fn start(s: &Operator, start: Start, task: &Task) -> Result<Pair> {
        let width = task.rank.min(s.rows()).min(s.cols());
        let key = task.key.with("start", 0);
        if start == Start::Random {
            let b = Block::random(s.cols(), width, key.with("right", 0));
            let a = Block::random(s.rows(), width, key.with("left", 0));
            return Ok(Pair { a, b });
        }
        let options = Svd {
            iterations: Iterations::AtMost(WARM),
            ..Svd::default()
        };
        let task = Task {
            rank: width,
            right: true,
            key,
            ..*task
        };
        let found = svd(s, &options, &task)?;
        let right = found.v.expect("asked for");
        Ok(Pair::balanced(found.u, &found.sigma, right))
    }

    /// U √Σ and V √Σ from U and V.
    pub(super) fn balanced(mut a: Block, sigma: &[f64], mut b: Block) -> Pair {
        let roots: Vec<f64> = sigma.iter().map(|sigma| sigma.sqrt()).collect();
        a.scale_columns(&roots);
        b.scale_columns(&roots);
        Pair { a, b }
    }

    /// The singular value decomposition of A Bᵀ: columns of length one, and as many weights as the rank.
    pub(super) fn decompose(&self) -> Result<(Block, Vec<f64>, Block)> {
        let [(left, left_root), (right, right_root)] =
            [basis(&self.a.gram())?, basis(&self.b.gram())?];
        let core = left_root.times(&right_root.transposed()).svd()?;
        let floor = core.sigma.first().map_or(0.0, |most| most * ZERO.sqrt());
        let kept = core.sigma.iter().filter(|&&sigma| sigma > floor).count();
        let mut u = self.a.times(&left.times(&core.u.columns(kept)));
        let mut v = self.b.times(&right.times(&core.v.columns(kept)));
        orthonormalize(&mut u);
        orthonormalize(&mut v);
        v.scale_columns(&u.normalize_signs());
        Ok((u, core.sigma[..kept].to_vec(), v))
    }

    /// The columns as they are, scaled to length one, the heaviest first; without those of zeros.
    pub(super) fn sorted(mut self) -> (Block, Vec<f64>, Block) {
        let left = self.a.normalize_columns(Norm::L2);
        let right = self.b.normalize_columns(Norm::L2);
        let weights: Vec<f64> = left.iter().zip(&right).map(|(a, b)| a * b).collect();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&i, &j| weights[j].total_cmp(&weights[i]));
        order.truncate(weights.iter().filter(|&&weight| weight > 0.0).count());
        let sigma = order.iter().map(|&j| weights[j]).collect();
        (self.a.select(&order), sigma, self.b.select(&order))
    }
}

/// The M that makes columns X orthonormal, X·M, and R with X = X·M·R, from their Gram matrix.
fn basis(gram: &Small) -> Result<(Small, Small)> {
    let eigen = gram.eigen()?;
    let floor = eigen.values.first().map_or(0.0, |most| most * ZERO);
    let kept = eigen.values.iter().filter(|&&value| value > floor).count();
    let roots: Vec<f64> = eigen.values[..kept].iter().map(|x| x.sqrt()).collect();
    let mut inverse = eigen.vectors.columns(kept);
    let mut root = inverse.clone();
    root.scale_columns(&roots);
    inverse.scale_columns(&roots.iter().map(|root| root.recip()).collect::<Vec<_>>());
    Ok((inverse, root.transposed()))
}

/// The factors with the least loss so far.
pub(super) struct Best {
    loss: f64,
    pub(super) pair: Pair,
}

impl Best {
    pub(super) fn new(loss: f64, pair: &Pair) -> Best {
        let pair = pair.clone();
        Best { loss, pair }
    }

    /// Keeps factors if they are better.
    pub(super) fn note(&mut self, loss: f64, pair: &Pair) {
        if loss < self.loss {
            *self = Best::new(loss, pair);
        }
    }
}

/// The squared loss on all entries, relative to ‖S‖².
impl Energy {
    /// (‖S − A Bᵀ‖² + penalty) / ‖S‖², given `image` = S B.
    pub(super) fn loss(
        &self,
        image: &Block,
        a: &Block,
        gram_a: &Small,
        gram_b: &Small,
        penalty: f64,
    ) -> f64 {
        if self.value == 0.0 {
            return 0.0;
        }
        let left = self.value - 2.0 * inner(image, a) + gram_a.inner(gram_b);
        (left + penalty) / self.value
    }

    /// The same, with the penalty of a solver for these Gram matrices.
    pub(super) fn loss_of(
        &self,
        s: &Operator,
        Pair { a, b }: Pair,
        penalty: impl FnOnce(&Small, &Small) -> f64,
    ) -> f64 {
        let (gram_a, gram_b) = (a.gram(), b.gram());
        let penalty = penalty(&gram_a, &gram_b);
        self.loss(&s.apply(&b), &a, &gram_a, &gram_b, penalty)
    }

    /// What [`Energy::loss`] measures.
    pub(super) fn measure(&self) -> String {
        let how = match self.exact {
            true => "exact",
            false => "estimated from random probes",
        };
        format!("squared error and penalty relative to ‖S‖², all entries; ‖S‖² {how}")
    }
}

/// λ (‖A‖² + ‖B‖²) from the Gram matrices.
pub(super) fn penalty(weight: f64, grams: [&Small; 2]) -> f64 {
    weight * grams.iter().map(|gram| trace(gram)).sum::<f64>()
}

pub(super) fn trace(gram: &Small) -> f64 {
    (0..gram.rows()).map(|j| gram.get(j, j)).sum()
}

/// f(G) for a Gram matrix G, zero in directions that are rounding noise.
fn function(gram: &Small, f: impl Fn(f64) -> f64) -> Result<Small> {
    let eigen = gram.eigen()?;
    let floor = eigen.values.first().map_or(0.0, |most| most * ZERO);
    Ok(eigen.function(|value| if value > floor { f(value) } else { 0.0 }))
}

/// (G + λ)⁻¹ for a Gram matrix G, zero in directions that are rounding noise.
pub(super) fn inverse(gram: &Small, weight: f64) -> Result<Small> {
    function(gram, |value| (value + weight).recip())
}

/// The orthonormal columns nearest to X (its polar factor); dependent directions become zero.
pub(super) fn nearest_orthonormal(mut x: Block) -> Result<Block> {
    // The second pass removes the f32 rounding of the first.
    for _ in 0..2 {
        x.transform(&function(&x.gram(), |value| value.sqrt().recip())?);
    }
    Ok(x)
}

/// Σ x y over all entries, in f64.
pub(super) fn inner(x: &Block, y: &Block) -> f64 {
    let pieces = parallel::stretches(x.as_slice().len(), 1 << 14, |range| {
        super::entries::dot(&x.as_slice()[range.clone()], &y.as_slice()[range])
    });
    pieces.into_iter().sum()
}

/// The factors of a zero matrix.
pub(super) fn nothing(s: &Operator, task: &Task, measure: String) -> Factors<Panels> {
    let loss = Some(Loss {
        measure,
        values: vec![0.0],
        returned: Some(0.0),
    });
    Factors {
        u: Block::zeros(s.rows(), task.rank).into(),
        sigma: vec![0.0; task.rank],
        v: task.right.then(|| Block::zeros(s.cols(), task.rank).into()),
        info: Info {
            converged: true,
            loss,
            ..Info::default()
        },
    }
}

/// Refuses a number that is negative or not finite.
pub(super) fn not_negative(field: &str, name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::config(
        format!("{field}.{name}"),
        format!("{value} is not a number ≥ 0"),
    ))
}

/// Refuses an absurdly large number.
pub(super) fn at_most(field: &str, name: &str, value: usize, most: usize) -> Result<()> {
    if value <= most {
        return Ok(());
    }
    Err(Error::config(
        format!("{field}.{name}"),
        format!("{value} is more than {most}, the maximum"),
    ))
}

/// Refuses an absurd number of zeros per nonzero.
pub(super) fn sensible_negatives(field: &str, value: usize) -> Result<()> {
    if (1..=1000).contains(&value) {
        return Ok(());
    }
    Err(Error::config(
        format!("{field}.negatives"),
        format!("{value} is not between 1 and 1000"),
    ))
}

/// Refuses zero.
pub(super) fn at_least_one(field: &str, name: &str, value: usize) -> Result<()> {
    if value > 0 {
        Ok(())
    } else {
        Err(Error::config(
            format!("{field}.{name}"),
            "must be at least 1",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    fn nearest(x: &Block) -> Block {
        nearest_orthonormal(x.clone()).expect("finite")
    }

    /// Of all orthonormal columns the polar factor Q is nearest to X: QᵀX is symmetric and has no negative eigenvalue.
    #[test]
    fn the_projection_on_orthonormal_columns_is_the_nearest() {
        let mut x = Block::random(60, 5, Key::new(2));
        x.scale_columns(&[1.0, 0.3, 5.0, 1e-2, 2.0]);
        let q = nearest(&x);
        let off = |a: &Small, b: &Small| {
            let pairs = a.as_slice().iter().zip(b.as_slice());
            pairs.fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
        };
        assert!(off(&q.gram(), &Small::identity(5)) < 1e-6);
        let cross = q.cross(&x);
        assert!(off(&cross, &cross.transposed()) < 1e-4, "QᵀX = {cross:?}");
        let values = cross.eigen().expect("symmetric").values;
        assert!(values.iter().all(|&value| value > -1e-6), "{values:?}");
        assert!(inner(&nearest(&q), &q) > 5.0 - 1e-5, "a projection");
    }

    #[test]
    fn dependent_columns_are_projected_as_far_as_they_go() {
        let mut x = Block::random(40, 4, Key::new(9));
        x.update_rows(|_, row| row[3] = row[0] + row[1]);
        let values = nearest(&x).gram().eigen().expect("symmetric").values;
        for (value, expected) in values.iter().zip([1.0, 1.0, 1.0, 0.0]) {
            assert!((value - expected).abs() < 1e-5, "{values:?}");
        }
    }
}
