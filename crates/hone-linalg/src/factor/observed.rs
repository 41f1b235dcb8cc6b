//! The nonzeros of an operator, stored by rows and by columns, for solvers that use entries.
//!
//! They are read from the rows of the expression, so that k-step matrices work too, as far as their nonzeros fit
//! the memory. Cost: 16 bytes per nonzero, and the walks of `Operator::row_work`.

use super::bilinear::{Pair, penalty};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::memory;
use crate::operator::{Operator, in_chunks};
use crate::sparse::Csr;

/// Bytes per nonzero, by rows and by columns.
pub(super) const ENTRY_BYTES: u64 = 16;

/// Rows per parallel task.
const CHUNK: usize = 256;

/// The least λ, relative to a typical entry.
const LEAST: f64 = 1e-4;

/// Pivots below this fraction of the largest diagonal entry: the coordinate is not determined by the entries.
const ZERO: f64 = 1e-10;

/// The nonzeros of a matrix.
pub(super) struct Observed {
    pub(super) rows: Csr,
    pub(super) columns: Csr,
    /// The sum of their squares.
    pub(super) norm: f64,
}

impl Observed {
    /// Reads the nonzeros; refuses more than fit into memory. An embedding has checked this with its plan before, for
    /// the largest possible number ([`Solver::memory`](super::Solver::memory)), so that its limit is kept.
    pub(super) fn of(s: &Operator) -> Result<Observed> {
        let limit = memory::available().unwrap_or(u64::MAX);
        let Some(rows) = s.entries((limit / ENTRY_BYTES) as usize) else {
            return Err(Error::Memory {
                stage: format!("keeping the nonzeros of {}", s.formula()),
                need: (s.row_work() * ENTRY_BYTES as f64) as u64,
                least: false,
                limit,
                remedy: "use fewer steps, or a solver that needs products only (svd, or als and ccd without \
                         observed-only)"
                    .into(),
            });
        };
        let columns = rows.transposed();
        let norm = rows.values().iter().map(|&x| f64::from(x).powi(2)).sum();
        Ok(Observed {
            rows,
            columns,
            norm,
        })
    }

    /// The λ that is used where another is asked for. With less, rows that have fewer entries than there are columns have no
    /// best factors, or only enormous ones that cancel.
    pub(super) fn weight(&self, asked: f64) -> f64 {
        let typical = (self.norm / self.rows.nnz().max(1) as f64).sqrt();
        asked.max(LEAST * typical)
    }

    /// (Σ (s − a·b)² + λ(‖A‖² + ‖B‖²)) / Σ s² over the nonzeros.
    pub(super) fn value(&self, pair: &Pair, weight: f64) -> f64 {
        let pieces = in_chunks(self.rows.rows(), CHUNK, |range| {
            let mut sum = 0.0;
            for i in range {
                let (columns, values) = self.rows.row(i);
                for (&j, &s) in columns.iter().zip(values) {
                    sum += (f64::from(s) - dot(pair.a.row(i), pair.b.row(j as usize))).powi(2);
                }
            }
            sum
        });
        let sum: f64 = pieces.into_iter().sum();
        if self.norm == 0.0 {
            return 0.0;
        }
        let penalty = penalty(weight, [&pair.a.gram(), &pair.b.gram()]);
        (sum + penalty) / self.norm
    }

    /// What [`Observed::value`] measures.
    pub(super) fn measure(&self, weight: f64) -> String {
        format!(
            "squared error and penalty (λ = {weight:.3e}) relative to ‖S‖², on the {} nonzeros only; exact",
            self.rows.nnz()
        )
    }
}

/// Each row of X by least squares with penalty λ‖x‖² on its own entries, given the other factor.
pub(super) fn least_squares(entries: &Csr, x: &mut Block, other: &Block, weight: f64) {
    let width = x.cols();
    x.update_rows(|i, row| {
        let (columns, values) = entries.row(i);
        let (mut gram, mut right) = (vec![0.0; width * width], vec![0.0; width]);
        for (&j, &s) in columns.iter().zip(values) {
            add_outer(
                &mut gram,
                &mut right,
                other.row(j as usize),
                1.0,
                f64::from(s),
            );
        }
        (0..width).for_each(|f| gram[f * width + f] += weight);
        solve(&mut gram, &mut right);
        row.iter_mut()
            .zip(&right)
            .for_each(|(to, &x)| *to = x as f32);
    });
}

/// Adds weight·b bᵀ to the lower half of `gram`, and value·b to `right`.
pub(super) fn add_outer(gram: &mut [f64], right: &mut [f64], b: &[f32], weight: f64, value: f64) {
    let width = b.len();
    for f in 0..width {
        let scaled = weight * f64::from(b[f]);
        right[f] += value * f64::from(b[f]);
        gram[f * width..][..=f]
            .iter_mut()
            .zip(b)
            .for_each(|(to, &b)| *to += scaled * f64::from(b));
    }
}

/// Solves G x = y in place by Cholesky's method, from the lower half of G (which is lost); coordinates that G
/// does not determine become zero.
pub(super) fn solve(gram: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    let floor = ZERO * (0..n).map(|f| gram[f * n + f]).fold(0.0, f64::max);
    for f in 0..n {
        for g in 0..=f {
            let known: f64 = (0..g).map(|h| gram[f * n + h] * gram[g * n + h]).sum();
            let rest = gram[f * n + g] - known;
            gram[f * n + g] = match (f == g, gram[g * n + g]) {
                (true, _) if rest > floor => rest.sqrt(),
                (true, _) => 0.0,
                (false, pivot) if pivot > 0.0 => rest / pivot,
                (false, _) => 0.0,
            };
        }
    }
    let divide = |value: f64, pivot: f64| if pivot > 0.0 { value / pivot } else { 0.0 };
    for f in 0..n {
        let known: f64 = (0..f).map(|g| gram[f * n + g] * right[g]).sum();
        right[f] = divide(right[f] - known, gram[f * n + f]);
    }
    for f in (0..n).rev() {
        let known: f64 = (f + 1..n).map(|g| gram[g * n + f] * right[g]).sum();
        right[f] = divide(right[f] - known, gram[f * n + f]);
    }
}

pub(super) fn dot(x: &[f32], y: &[f32]) -> f64 {
    x.iter()
        .zip(y)
        .map(|(&x, &y)| f64::from(x) * f64::from(y))
        .sum()
}
