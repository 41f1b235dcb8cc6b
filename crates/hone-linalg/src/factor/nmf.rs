//! Non-negative factors by hierarchical alternating least squares (Cichocki, Phan 2009; Gillis, Glineur 2012).
//!
//! The descent of [`super::ccd`] with every coordinate kept at 0 or above: the projection is exact, and no step
//! increases the loss. It starts from the non-negative double SVD (Boutsidis, Gallopoulos 2008): of each pair of
//! singular vectors the positive or the negative parts, whichever weigh more, with zeros replaced by a small constant.
//! S need not be non-negative; negative entries are approximated by zero. Columns keep their signs and their meaning:
//! they are scaled to length one and sorted by weight, not rotated. Cost per iteration: 2 products and O(sweeps N b²).

use serde::{Deserialize, Serialize};

use super::ccd::Sweeps;
use super::pair::{Descent, Pair, Start, at_least_one, not_negative};
use super::{Factors, Method, Task, WITH_ROOTS};
use crate::dense::{Block, Norm, Panels};
use crate::error::Result;
use crate::operator::Operator;

/// Fraction of the mean entry that replaces a zero at the start.
const FILL: f64 = 0.01;

/// Options of non-negative factors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Nmf {
    /// Maximum number of iterations, each over all columns of both factors.
    pub iterations: usize,
    /// Iterations stop when the relative change of the loss is below this.
    pub tolerance: f64,
    /// Passes over the columns of a factor in each iteration.
    pub sweeps: usize,
    /// λ, the weight of the squared length of the factors.
    pub regularization: f64,
    /// The initial factors: the non-negative double SVD, or random ones.
    pub start: Start,
}

impl Default for Nmf {
    fn default() -> Self {
        Nmf {
            iterations: 200,
            tolerance: 1e-4,
            sweeps: 2,
            regularization: 0.0,
            start: Start::Svd,
        }
    }
}

impl Method for Nmf {
    fn check(&self, field: &str) -> Result<()> {
        not_negative(field, "tolerance", self.tolerance)?;
        not_negative(field, "regularization", self.regularization)?;
        at_least_one(field, "sweeps", self.sweeps)
    }

    fn is_scale_free(&self) -> bool {
        self.regularization == 0.0
    }

    fn largest(&self) -> f64 {
        WITH_ROOTS
    }

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let mut pair = Pair::start(s, self.start, task)?;
        match self.start {
            Start::Svd => nndsvd(&mut pair),
            Start::Random => {
                for block in [&mut pair.a, &mut pair.b] {
                    block.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.abs()));
                }
            }
        }
        let sweeps = Sweeps {
            count: self.sweeps,
            penalty: self.regularization,
            lowest: 0.0,
        };
        let name = "non-negative least squares";
        let descent = Descent::new(name, self.iterations, self.tolerance, task);
        sweeps.fit(s, pair, descent, |pair| Ok(pair.sorted()))
    }
}

/// Turns pairs of singular vectors, each times the root of its value, into non-negative ones.
fn nndsvd(pair: &mut Pair) {
    let parts = |block: &Block| {
        let of = |sign: f32| {
            let mut part = block.clone();
            part.update_rows(|_, row| row.iter_mut().for_each(|x| *x = (sign * *x).max(0.0)));
            part.column_norms(Norm::L2)
        };
        (of(1.0), of(-1.0))
    };
    let (a, b) = (parts(&pair.a), parts(&pair.b));
    // For each column the sign that is kept, and the factors of its parts: their product is
    // σ‖u⁺‖‖v⁺‖, divided evenly.
    let mut keep = Vec::new();
    for f in 0..pair.a.cols() {
        let (plus, minus) = (a.0[f] * b.0[f], a.1[f] * b.1[f]);
        let (sign, left, right) = if plus >= minus {
            (1.0, a.0[f], b.0[f])
        } else {
            (-1.0, a.1[f], b.1[f])
        };
        let even = (left * right).sqrt();
        let scale = |own: f64| if own > 0.0 { sign * even / own } else { 0.0 };
        keep.push((scale(left), scale(right)));
    }
    project(&mut pair.a, &keep.iter().map(|k| k.0).collect::<Vec<_>>());
    project(&mut pair.b, &keep.iter().map(|k| k.1).collect::<Vec<_>>());
}

/// max(0, factor · x) in each column, a small constant where nothing is left.
fn project(block: &mut Block, factors: &[f64]) {
    block.scale_columns(factors);
    block.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.max(0.0)));
    let means = block.column_means();
    block.update_rows(|_, row| {
        let filled = row.iter_mut().zip(&means).filter(|(x, _)| **x == 0.0);
        filled.for_each(|(x, mean)| *x = (FILL * mean) as f32);
    });
}
