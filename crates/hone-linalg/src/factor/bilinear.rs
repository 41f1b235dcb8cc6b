//! Common code of solvers of S ≈ A Bᵀ in squared loss: initial factors, the loss by traces, and the final basis.
//!
//! ‖S − A Bᵀ‖² = ‖S‖² − 2⟨S B, A⟩ + ⟨AᵀA, BᵀB⟩ needs one product and two small Gram matrices. ‖S‖² is the
//! same in all iterations ([`Operator::energy`]).
//!
//! A and B are only defined up to A M, B M⁻ᵀ. The factors returned are the singular value decomposition of
//! A Bᵀ, so that the columns of all solvers are comparable; non-negative factors keep their columns.

use serde::{Deserialize, Serialize};

use super::iterate::Watch;
use super::method::{Factors, Info, Loss, Task};
use super::svd::{Iterations, Svd, svd};
use crate::dense::{Block, Norm, Small, orthonormalize};
use crate::error::Result;
use crate::operator::{Energy, Operator, in_chunks};

/// Iterations of the SVD that a solver starts from.
const WARM: usize = 2;

/// Eigenvalues of a Gram matrix below this fraction of the largest are rounding noise of f32 columns.
const ZERO: f64 = 1e-11;

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

/// S ≈ A Bᵀ.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) a: Block,
    pub(super) b: Block,
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
pub(super) struct Squared(Energy);

impl Pair {
    /// Initial factors, as wide as the rank and the shape allow.
    pub(super) fn start(s: &Operator, start: Start, task: &Task) -> Result<Pair> {
        let width = task.rank.min(s.rows()).min(s.cols());
        let key = task.key.with("start", 0);
        if start == Start::Random {
            let b = Block::random(s.cols(), width, key.with("right", 0));
            return Ok(Pair {
                a: Block::random(s.rows(), width, key.with("left", 0)),
                b,
            });
        }
        let options = Svd {
            iterations: Iterations::AtMost(WARM),
            ..Svd::default()
        };
        let found = svd(
            s,
            &options,
            &Task {
                rank: width,
                right: true,
                key,
                ..*task
            },
        )?;
        let right = found.v.expect("asked for");
        Ok(balanced(found.u, &found.sigma, right))
    }

    /// The singular value decomposition of A Bᵀ: columns of length one, weights, and the rank.
    pub(super) fn decompose(&self) -> Result<(Block, Vec<f64>, Block)> {
        let (left, right) = (Basis::of(&self.a.gram())?, Basis::of(&self.b.gram())?);
        let core = left.root.times(&right.root.transposed()).svd()?;
        let floor = core.sigma.first().map_or(0.0, |most| most * ZERO.sqrt());
        let kept = core.sigma.iter().filter(|&&sigma| sigma > floor).count();
        let mut u = self.a.times(&left.inverse.times(&core.u.columns(kept)));
        let mut v = self.b.times(&right.inverse.times(&core.v.columns(kept)));
        orthonormalize(&mut u);
        orthonormalize(&mut v);
        let signs = u.column_signs();
        u.scale_columns(&signs);
        v.scale_columns(&signs);
        Ok((u, core.sigma[..kept].to_vec(), v))
    }

    /// Factors in the basis of singular vectors, and how it went: `loss` is measured on what is returned, as balanced
    /// factors U √Σ and V √Σ.
    pub(super) fn finish(
        self,
        task: &Task,
        (watch, measure): (Watch, String),
        loss: impl FnOnce(Pair) -> f64,
    ) -> Result<Factors> {
        let (u, mut sigma, v) = self.decompose()?;
        drop(self);
        let rank = sigma.len();
        let info = watch.info(rank, measure, loss(balanced(u.clone(), &sigma, v.clone())));
        sigma.resize(task.rank, 0.0);
        let v = task.right.then(|| v.widened(task.rank));
        Ok(Factors {
            u: u.widened(task.rank),
            sigma,
            v,
            info,
        })
    }

    /// The same with the columns as they are, scaled to length one, the heaviest first.
    pub(super) fn finish_as_is(
        mut self,
        task: &Task,
        (watch, measure): (Watch, String),
        loss: impl FnOnce(Pair) -> f64,
    ) -> Factors {
        let (left, right) = (
            self.a.normalize_columns(Norm::L2),
            self.b.normalize_columns(Norm::L2),
        );
        let weights: Vec<f64> = left.iter().zip(&right).map(|(a, b)| a * b).collect();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&i, &j| weights[j].total_cmp(&weights[i]));
        let rank = weights.iter().filter(|&&weight| weight > 0.0).count();
        let pick = |block: &Block| {
            let mut out = Block::zeros(block.rows(), rank);
            let from = &order[..rank];
            out.update_rows(|i, row| {
                row.iter_mut()
                    .zip(from)
                    .for_each(|(to, &j)| *to = block.get(i, j));
            });
            out
        };
        let mut sigma: Vec<f64> = order[..rank].iter().map(|&j| weights[j]).collect();
        let (u, v) = (pick(&self.a), pick(&self.b));
        drop(self);
        let info = watch.info(rank, measure, loss(balanced(u.clone(), &sigma, v.clone())));
        sigma.resize(task.rank, 0.0);
        Factors {
            u: u.widened(task.rank),
            sigma,
            v: task.right.then(|| v.widened(task.rank)),
            info,
        }
    }
}

/// U √Σ and V √Σ from U and V.
pub(super) fn balanced(mut a: Block, sigma: &[f64], mut b: Block) -> Pair {
    let roots: Vec<f64> = sigma.iter().map(|sigma| sigma.sqrt()).collect();
    a.scale_columns(&roots);
    b.scale_columns(&roots);
    Pair { a, b }
}

/// An orthonormal basis X·inverse of columns X from their Gram matrix, with X = basis·root.
struct Basis {
    inverse: Small,
    root: Small,
}

impl Basis {
    fn of(gram: &Small) -> Result<Basis> {
        let eigen = gram.eigen()?;
        let floor = eigen.values.first().map_or(0.0, |most| most * ZERO);
        let kept = eigen.values.iter().filter(|&&value| value > floor).count();
        let mut inverse = eigen.vectors.columns(kept);
        let mut root = inverse.clone();
        root.scale_columns(
            &eigen.values[..kept]
                .iter()
                .map(|value| value.sqrt())
                .collect::<Vec<_>>(),
        );
        inverse.scale_columns(
            &eigen.values[..kept]
                .iter()
                .map(|value| value.sqrt().recip())
                .collect::<Vec<_>>(),
        );
        Ok(Basis {
            inverse,
            root: root.transposed(),
        })
    }
}

impl Squared {
    /// Finds ‖S‖²; the columns of `right` are near the leading right space.
    pub(super) fn of(s: &Operator, right: &Block, task: &Task) -> Squared {
        Squared(s.energy(task.key, || right.clone()))
    }

    /// Whether S is zero.
    pub(super) fn is_zero(&self) -> bool {
        self.0.value == 0.0
    }

    /// (‖S − A Bᵀ‖² + penalty) / ‖S‖², given `image` = S B.
    pub(super) fn value(
        &self,
        image: &Block,
        a: &Block,
        gram_a: &Small,
        gram_b: &Small,
        penalty: f64,
    ) -> f64 {
        if self.0.value == 0.0 {
            return 0.0;
        }
        let left = self.0.value - 2.0 * inner(image, a) + entrywise(gram_a, gram_b);
        (left + penalty) / self.0.value
    }

    /// The same, with the penalty of a solver for these Gram matrices.
    pub(super) fn of_pair(
        &self,
        s: &Operator,
        Pair { a, b }: Pair,
        penalty: impl FnOnce(&Small, &Small) -> f64,
    ) -> f64 {
        let (gram_a, gram_b) = (a.gram(), b.gram());
        let penalty = penalty(&gram_a, &gram_b);
        self.value(&s.apply(&b), &a, &gram_a, &gram_b, penalty)
    }

    /// What [`Squared::value`] measures.
    pub(super) fn measure(&self) -> String {
        let how = if self.0.exact {
            "exact"
        } else {
            "estimated from random probes"
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

/// (G + λ)⁻¹ for a Gram matrix G, zero in directions that are rounding noise.
pub(super) fn inverse(gram: &Small, weight: f64) -> Result<Small> {
    let eigen = gram.eigen()?;
    let floor = eigen.values.first().map_or(0.0, |most| most * ZERO);
    let inverse: Vec<f64> = eigen
        .values
        .iter()
        .map(|&value| {
            if value > floor {
                (value + weight).recip()
            } else {
                0.0
            }
        })
        .collect();
    let mut scaled = eigen.vectors.clone();
    scaled.scale_columns(&inverse);
    Ok(scaled.times(&eigen.vectors.transposed()))
}

/// The orthonormal columns nearest to X (its polar factor); dependent directions become zero.
pub(super) fn nearest_orthonormal(mut x: Block) -> Result<Block> {
    // The second pass removes the f32 rounding of the first.
    for _ in 0..2 {
        let eigen = x.gram().eigen()?;
        let floor = eigen.values.first().map_or(0.0, |most| most * ZERO);
        let root: Vec<f64> = eigen
            .values
            .iter()
            .map(|&value| {
                if value > floor {
                    value.sqrt().recip()
                } else {
                    0.0
                }
            })
            .collect();
        let mut scaled = eigen.vectors.clone();
        scaled.scale_columns(&root);
        x.transform(&scaled.times(&eigen.vectors.transposed()));
    }
    Ok(x)
}

/// ⟨AᵀA, BᵀB⟩ = ‖A Bᵀ‖² from the Gram matrices.
pub(super) fn entrywise(gram_a: &Small, gram_b: &Small) -> f64 {
    let pairs = gram_a.as_slice().iter().zip(gram_b.as_slice());
    pairs.map(|(a, b)| a * b).sum()
}

/// Σ x y over all entries, in f64.
pub(super) fn inner(x: &Block, y: &Block) -> f64 {
    let pieces = in_chunks(x.as_slice().len(), 1 << 14, |range| {
        let pairs = x.as_slice()[range.clone()].iter().zip(&y.as_slice()[range]);
        pairs
            .map(|(&x, &y)| f64::from(x) * f64::from(y))
            .sum::<f64>()
    });
    pieces.into_iter().sum()
}

/// The factors of a zero matrix.
pub(super) fn nothing(s: &Operator, task: &Task, measure: String) -> Factors {
    let loss = Some(Loss {
        measure,
        values: vec![0.0],
        returned: Some(0.0),
    });
    Factors {
        u: Block::zeros(s.rows(), task.rank),
        sigma: vec![0.0; task.rank],
        v: task.right.then(|| Block::zeros(s.cols(), task.rank)),
        info: Info {
            converged: true,
            loss,
            ..Info::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    /// Of all orthonormal columns the polar factor Q is nearest to X: QᵀX is symmetric and has no negative eigenvalue.
    #[test]
    fn the_projection_on_orthonormal_columns_is_the_nearest() {
        let mut x = Block::random(60, 5, Key::new(2));
        x.scale_columns(&[1.0, 0.3, 5.0, 1e-2, 2.0]);
        let q = nearest_orthonormal(x.clone()).expect("finite");
        let (gram, cross) = (q.gram(), q.cross(&x));
        for i in 0..5 {
            for j in 0..5 {
                assert!(
                    (gram.get(i, j) - f64::from(u8::from(i == j))).abs() < 1e-6,
                    "QᵀQ = {gram:?}"
                );
                assert!(
                    (cross.get(i, j) - cross.get(j, i)).abs() < 1e-4,
                    "QᵀX = {cross:?}"
                );
            }
        }
        assert!(
            cross
                .eigen()
                .expect("symmetric")
                .values
                .iter()
                .all(|&value| value > -1e-6)
        );
        let again = nearest_orthonormal(q.clone()).expect("finite");
        assert!(
            inner(&again, &q) > 5.0 - 1e-5,
            "a projection leaves what it has projected"
        );
    }

    #[test]
    fn dependent_columns_are_projected_as_far_as_they_go() {
        let mut x = Block::random(40, 4, Key::new(9));
        x.update_rows(|_, row| row[3] = row[0] + row[1]);
        let q = nearest_orthonormal(x).expect("finite");
        let values = q.gram().eigen().expect("symmetric").values;
        let expected = [1.0, 1.0, 1.0, 0.0];
        assert!(
            values
                .iter()
                .zip(expected)
                .all(|(value, e)| (value - e).abs() < 1e-5),
            "{values:?}"
        );
    }
}
