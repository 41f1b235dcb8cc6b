//! How large an operator is, and a multiple of it whose square stays in the range of f32.
//!
//! An iteration on SᵀS needs ‖S‖² in f32, other work only ‖S‖. A bound from squares of entries, diagonals and exponents
//! costs one pass over the nonzeros and usually shows that no scaling is needed. If not, products with random signs
//! decide: the mean of ‖S x‖² is ‖S‖_F², which is no less than the square of the largest singular value.

use std::borrow::Cow;

use super::{Diagonal, Operator, Scaled};
use crate::dense::{Block, orthonormalize};
use crate::random::Key;
use crate::space::{Fold, Space, Workspace};

/// Largest norm (and with a minus the smallest), as an exponent of 2, whose square fits into f32 with room to spare.
pub const SQUARABLE: f64 = 60.0;

/// Random signs that are tried.
const SIGNS: usize = 4;

/// Random vectors that show which rows are zero.
const PROBES: u64 = 3;

/// What rounding of f32 entries and diagonals leaves of terms that cancel, relative to them.
const CANCELLED: f64 = 1e-6;

/// Additions that reading the rows for ‖S‖² may take.
const WALKS: f64 = 5e8;

/// Matrices of at most this many rows and columns are written out for ‖S‖², whatever their rows cost.
const SMALL: usize = 1024;

/// Random signs that measure what is outside Q.
const ENERGY_PROBES: usize = 32;

/// Largest exponent of a power of two that is a normal number in f32, up or down.
pub const STEEPEST: f64 = 126.0;

/// ‖S‖².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// The sum of squares.
    pub value: f64,
    /// Whether it is exact.
    pub exact: bool,
}

impl Operator {
    /// ‖S‖², the sum of all squared entries: from the rows if these are cheap to read, else from products.
    ///
    /// ‖S‖² = ‖SQ‖² + ‖S(I − QQᵀ)‖² for orthonormal Q. The first term takes one product and is exact; the second is the
    /// mean of ‖S g‖² over random signs g, taken outside Q (Hutch++: Meyer et al. 2021). The closer Q, which `leading`
    /// gives if it is needed, is to the leading right space, the smaller the variance.
    pub fn energy(&self, key: Key, leading: impl FnOnce() -> Block) -> Energy {
        let exact = |value| Energy { value, exact: true };
        if matches!(self, Operator::Dense(_)) || self.row_work() <= WALKS {
            return exact(self.squared_norm());
        }
        if self.rows().max(self.cols()) <= SMALL {
            return exact(self.explicit().as_slice().iter().map(|x| x * x).sum());
        }
        let mut q = leading();
        orthonormalize(&mut q);
        let mut signs = Block::random(self.cols(), ENERGY_PROBES, key.with("signs", 0));
        signs.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.signum()));
        let along = q.cross(&signs);
        signs.subtract_times(&q, &along);
        let outside = self.apply(&signs).squared_norm() / ENERGY_PROBES as f64;
        Energy {
            value: self.apply(&q).squared_norm() + outside,
            exact: false,
        }
    }

    /// A power of two c and c·S, for which products with SᵀS stay in range: 1 and S itself if they do anyway.
    pub(crate) fn squarable<S: Space>(&self, space: &S, key: Key) -> (f64, Cow<'_, Operator>) {
        if ((-SQUARABLE).exp2()..=SQUARABLE.exp2()).contains(&self.norm_bound()) {
            return (1.0, Cow::Borrowed(self));
        }
        let mut signs = Block::random(self.cols(), SIGNS, key.with("size", 0));
        signs.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.signum()));
        let x = space.import(&signs);
        let y = self.image(space, false, &x, &mut Workspace::default());
        let lengths = space.fold(&[y], Fold::Length).into_iter();
        let exponent = lengths.fold(0.0, f64::max).log2().ceil();
        if !exponent.is_finite() || exponent.abs() <= SQUARABLE {
            return (1.0, Cow::Borrowed(self));
        }
        let scale = (-exponent).clamp(-STEEPEST, STEEPEST).exp2();
        (scale, Cow::Owned(Operator::multiple(scale, self.clone())))
    }

    /// About the largest singular value that the matrix of absolute values of all terms has, if terms can cancel; else 0. Rounding
    /// is relative to it, not to what is left.
    pub(crate) fn terms(&self) -> f64 {
        if !self.cancels() {
            return 0.0;
        }
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let row_sums = self.times_vector(&vec![1.0; self.cols()], false, f64::abs);
        let back = self.times_vector(&row_sums, true, f64::abs);
        match length(&row_sums) {
            0.0 => 0.0,
            own => length(&back) / own,
        }
    }

    /// Whether terms can cancel. Leaves have no negative entries, or none that are added to others.
    fn cancels(&self) -> bool {
        match self {
            Operator::Sparse(_) | Operator::Dense(_) => false,
            Operator::Scaled(scaled) => {
                scaled.shift.is_some() && scaled.scale < 0.0 || scaled.inner.cancels()
            }
            Operator::Power(inner, _) => inner.cancels(),
            Operator::Product(left, right) => left.cancels() || right.cancels(),
            Operator::Sum(terms) => terms
                .iter()
                .any(|(factor, term)| *factor < 0.0 || term.cancels()),
        }
    }

    /// Which rows have entries but are zero, since their terms cancel but for rounding; none if there is no such row.
    /// Products with random vectors show it.
    pub(crate) fn cancelled_rows(&self) -> Option<Vec<bool>> {
        let mut cancelled = vec![true; self.rows()];
        for probe in 0..PROBES {
            let key = Key::new(0).with("probe", probe);
            let between = |j: usize| 1.0 + key.of_row(j as u64).bits(0) as f64 / 2f64.powi(64);
            let x: Vec<f64> = (0..self.cols()).map(between).collect();
            let left = self.times_vector(&x, false, |value| value);
            let terms = self.times_vector(&x, false, f64::abs);
            for ((cancelled, left), terms) in cancelled.iter_mut().zip(left).zip(terms) {
                *cancelled &= terms > 0.0 && left.abs() <= CANCELLED * terms;
            }
        }
        cancelled.contains(&true).then_some(cancelled)
    }

    /// S x, or Sᵀx, in f64, with factors and shifts as `of` changes them.
    pub(crate) fn times_vector(&self, x: &[f64], transpose: bool, of: fn(f64) -> f64) -> Vec<f64> {
        match self {
            Operator::Sparse(leaf) if transpose => leaf.transposed().times_vector(x),
            Operator::Sparse(leaf) => leaf.matrix().times_vector(x),
            Operator::Dense(_) => {
                let (mut rows, count) = match transpose {
                    true => (self.read_columns(), self.cols()),
                    false => (self.read_rows(), self.rows()),
                };
                let mut row = Vec::new();
                let sum = |i: usize| {
                    rows.read(i, &mut row);
                    row.iter().map(|(j, value)| value * x[*j as usize]).sum()
                };
                (0..count).map(sum).collect()
            }
            Operator::Scaled(scaled) => {
                let (left, right) = scaled.sides(transpose);
                let at = |diagonal: &Option<Diagonal>, i: usize| {
                    let value = diagonal.as_ref().map(|diagonal| diagonal.values()[i]);
                    value.map_or(1.0, |value| of(f64::from(value)))
                };
                let product = match right {
                    None => scaled.inner.times_vector(x, transpose, of),
                    Some(_) => {
                        let scaled_x = x.iter().enumerate().map(|(j, x)| at(right, j) * x);
                        let scaled_x: Vec<f64> = scaled_x.collect();
                        scaled.inner.times_vector(&scaled_x, transpose, of)
                    }
                };
                let shifted = |(i, product): (usize, f64)| {
                    let shift = scaled.shift.as_ref();
                    let shift = shift.map_or(0.0, |_| at(&scaled.shift, i) * x[i]);
                    shift + of(scaled.scale) * at(left, i) * product
                };
                product.into_iter().enumerate().map(shifted).collect()
            }
            Operator::Power(inner, k) => {
                (0..*k).fold(x.to_vec(), |x, _| inner.times_vector(&x, transpose, of))
            }
            Operator::Product(left, right) => {
                let (first, last) = match transpose {
                    true => (left, right),
                    false => (right, left),
                };
                last.times_vector(&first.times_vector(x, transpose, of), transpose, of)
            }
            Operator::Sum(terms) => {
                let mut sum = vec![0.0; if transpose { self.cols() } else { self.rows() }];
                for (factor, term) in terms {
                    let own = term.times_vector(x, transpose, of);
                    sum.iter_mut()
                        .zip(own)
                        .for_each(|(sum, own)| *sum += of(*factor) * own);
                }
                sum
            }
        }
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
            Operator::Product(left, right) => left.norm_bound() * right.norm_bound(),
            Operator::Sum(terms) => terms
                .iter()
                .map(|(factor, term)| factor.abs() * term.norm_bound())
                .sum(),
        }
    }
}
