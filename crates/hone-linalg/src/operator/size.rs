//! How large an operator is, and a multiple of it whose square stays in the range of f32.
//!
//! An iteration on SᵀS needs ‖S‖² in f32, other work only ‖S‖. A bound from squares of entries, diagonals and exponents
//! costs one pass over the nonzeros and usually shows that no scaling is needed. If not, products with random signs
//! decide: the mean of ‖S x‖² is ‖S‖_F², which is no less than the square of the largest singular value.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Diagonal, Operator, Product, Scaled};
use crate::dense::Block;
use crate::random::Key;
use crate::space::{Fold, Space, Workspace};
use crate::sparse::Fused;

/// Largest norm (and with a minus the smallest), as an exponent of 2, whose square fits into f32 with room to spare.
pub const SQUARABLE: f64 = 60.0;

/// Random signs that are tried.
const SIGNS: usize = 4;

/// Largest exponent of a power of two that is a normal number in f32, up or down.
pub const STEEPEST: f64 = 126.0;

impl Operator {
    /// A power of two c and c·S, for which products with SᵀS stay in range: 1 and S itself if they do anyway.
    pub fn squarable<S: Space>(&self, space: &S, key: Key) -> (f64, Cow<'_, Operator>) {
        if ((-SQUARABLE).exp2()..=SQUARABLE.exp2()).contains(&self.norm_bound()) {
            return (1.0, Cow::Borrowed(self));
        }
        let mut signs = Block::random(self.cols(), SIGNS, key.with("size", 0));
        signs.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.signum()));
        let (x, mut y) = (space.import(&signs), space.zeros(self.rows(), SIGNS));
        let work = &mut Workspace::default();
        self.product(
            false,
            Product {
                space,
                x: &x,
                y: &mut y,
                then: Fused::default(),
                work,
            },
        );
        let exponent = space
            .fold(&[y], Fold::Length)
            .into_iter()
            .fold(0.0, f64::max)
            .log2()
            .ceil();
        if !exponent.is_finite() || exponent.abs() <= SQUARABLE {
            return (1.0, Cow::Borrowed(self));
        }
        let scale = (-exponent).clamp(-STEEPEST, STEEPEST).exp2();
        let inner = Arc::new(self.clone());
        (
            scale,
            Cow::Owned(Operator::Scaled(Scaled {
                shift: None,
                scale,
                left: None,
                inner,
                right: None,
            })),
        )
    }

    /// At least the largest singular value; far more if diagonals and entries cancel.
    fn norm_bound(&self) -> f64 {
        let most = |diagonal: &Option<Diagonal>, absent: f64| {
            diagonal.as_ref().map_or(absent, Diagonal::largest)
        };
        match self {
            Operator::Sparse(leaf) => leaf.matrix().squares().sqrt(),
            Operator::Dense(leaf) => leaf.columns().column_energy().iter().sum::<f64>().sqrt(),
            Operator::Scaled(Scaled {
                shift,
                scale,
                left,
                inner,
                right,
            }) => {
                most(shift, 0.0)
                    + scale.abs() * most(left, 1.0) * most(right, 1.0) * inner.norm_bound()
            }
            Operator::Power(inner, k) => inner.norm_bound().powi(*k as i32),
            Operator::Sum(terms) => terms
                .iter()
                .map(|(factor, term)| factor.abs() * term.norm_bound())
                .sum(),
        }
    }
}
