//! ‖S‖², the sum of all squared entries: from the rows where these are cheap to read, else from products.
//!
//! ‖S‖² = ‖SQ‖² + ‖S(I − QQᵀ)‖² for orthonormal Q. The first term takes one product and is exact; the second is the mean of
//! ‖S g‖² over random signs g, taken outside Q (Hutch++: Meyer et al. 2021). The nearer Q is to the leading right
//! space, the less is left to chance.
//! Cost: [`Operator::row_work`] additions, or products with the columns of Q and [`PROBES`] more.

use super::Operator;
use crate::dense::{Block, Norm, orthonormalize};
use crate::random::Key;

/// Additions that reading the rows may take.
const WALKS: f64 = 5e8;

/// Matrices of at most so many rows and columns are written out, whatever their rows cost.
const SMALL: usize = 1024;

/// Random signs that measure what is outside Q.
const PROBES: usize = 32;

/// ‖S‖².
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Energy {
    pub(crate) value: f64,
    /// Whether it is no estimate.
    pub(crate) exact: bool,
}

impl Operator {
    /// ‖S‖². Where it has to be estimated, `leading` gives columns near the leading right space.
    pub(crate) fn energy(&self, key: Key, leading: impl FnOnce() -> Block) -> Energy {
        let exact = |value| Energy { value, exact: true };
        if matches!(self, Operator::Dense(_)) || self.row_work() <= WALKS {
            return exact(self.squared_norm());
        }
        if self.rows().max(self.cols()) <= SMALL {
            return exact(self.explicit().as_slice().iter().map(|x| x * x).sum());
        }
        let mut q = leading();
        orthonormalize(&mut q);
        let mut signs = Block::random(self.cols(), PROBES, key.with("signs", 0));
        signs.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.signum()));
        let along = q.cross(&signs);
        signs.add_times(&q, &along, -1.0);
        let value = squares(&self.apply(&q)) + squares(&self.apply(&signs)) / PROBES as f64;
        Energy { value, exact: false }
    }
}

fn squares(block: &Block) -> f64 {
    block.column_norms(Norm::L2).iter().map(|norm| norm * norm).sum()
}
