//! ‖S‖², the sum of all squared entries: from the rows if these are cheap to read, else from products.
//!
//! ‖S‖² = ‖SQ‖² + ‖S(I − QQᵀ)‖² for orthonormal Q. The first term takes one product and is exact; the second is the
//! mean of ‖S g‖² over random signs g, taken outside Q (Hutch++: Meyer et al. 2021). The closer Q is to the leading
//! right space, the smaller the variance. Cost: [`Operator::row_work`] additions, or products with the columns of Q and
//! [`PROBES`] more.

use super::Operator;
use crate::dense::{Block, Norm, orthonormalize};
use crate::random::Key;

/// Additions that reading the rows may take.
const WALKS: f64 = 5e8;

/// Matrices of at most this many rows and columns are written out, whatever their rows cost.
const SMALL: usize = 1024;

/// Random signs that measure what is outside Q.
const PROBES: usize = 32;

/// ‖S‖².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// The sum of squares.
    pub value: f64,
    /// Whether it is exact.
    pub exact: bool,
}

impl Operator {
    /// ‖S‖². If it has to be estimated, `leading` gives columns near the leading right space.
    pub fn energy(&self, key: Key, leading: impl FnOnce() -> Block) -> Energy {
        let exact = |value| Energy { value, exact: true };
        if matches!(self, Operator::Dense(_)) || self.row_work() <= WALKS {
            return exact(self.squared_norm());
        }
        if self.rows().max(self.cols()) <= SMALL {
            return exact(self.explicit().as_slice().iter().map(|x| x * x).sum());
        }
        Energy {
            value: self.estimated_energy(key, leading()),
            exact: false,
        }
    }

    /// ‖S‖² from products with `q`, whose columns are near the leading right space, and random signs.
    fn estimated_energy(&self, key: Key, mut q: Block) -> f64 {
        orthonormalize(&mut q);
        let mut signs = Block::random(self.cols(), PROBES, key.with("signs", 0));
        signs.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.signum()));
        let along = q.cross(&signs);
        signs.add_times(&q, &along, -1.0);
        squares(&self.apply(&q)) + squares(&self.apply(&signs)) / PROBES as f64
    }
}

fn squares(block: &Block) -> f64 {
    block
        .column_norms(Norm::L2)
        .iter()
        .map(|norm| norm * norm)
        .sum()
}
