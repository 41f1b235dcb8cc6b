//! The dense matrix of an operator, in f64, for operators small enough to be decomposed directly.
//!
//! Diagonals and sums are applied entry by entry. Powers are multiplied from the left by their base, whose zeros are
//! skipped: k products of a sparse matrix with a dense one. Cost: 8 bytes per entry, three times that for powers; as
//! many additions as reading all rows takes.

use super::{Diagonal, Operator, Scaled};
use crate::dense::Small;
use crate::parallel;

impl Operator {
    /// All entries, without rounding beyond that of leaves and diagonals.
    pub fn explicit(&self) -> Small {
        match self {
            Operator::Sparse(leaf) => {
                let mut out = Small::zeros(self.rows(), self.cols());
                for i in 0..self.rows() {
                    let (columns, values) = leaf.matrix.row(i);
                    columns
                        .iter()
                        .zip(values)
                        .for_each(|(&j, &value)| out.set(i, j as usize, f64::from(value)));
                }
                out
            }
            Operator::Dense(leaf) => {
                let block = leaf.columns.to_block();
                Small::from_fn(block.rows(), block.cols(), |i, j| {
                    f64::from(block.get(i, j))
                })
            }
            Operator::Scaled(scaled) => scaled.explicit(),
            Operator::Power(inner, k) => {
                let base = inner.explicit();
                (1..*k).fold(base.clone(), |power, _| times(&base, &power))
            }
            Operator::Sum(terms) => {
                let mut out = Small::zeros(self.rows(), self.cols());
                for (coefficient, term) in terms {
                    let term = term.explicit();
                    out.as_mut_slice()
                        .iter_mut()
                        .zip(term.as_slice())
                        .for_each(|(to, from)| *to += coefficient * from);
                }
                out
            }
        }
    }
}

impl Scaled {
    fn explicit(&self) -> Small {
        let mut out = self.inner.explicit();
        let at = |diagonal: &Option<Diagonal>, i: usize| {
            diagonal.as_ref().map_or(1.0, |d| f64::from(d.values()[i]))
        };
        for i in 0..out.rows() {
            let left = self.scale * at(&self.left, i);
            out.row_mut(i)
                .iter_mut()
                .enumerate()
                .for_each(|(j, value)| *value *= left * at(&self.right, j));
            if let Some(shift) = &self.shift {
                out.row_mut(i)[i] += f64::from(shift.values()[i]);
            }
        }
        out
    }
}

/// A B, row by row, without the zeros of A.
fn times(a: &Small, b: &Small) -> Small {
    let mut out = Small::zeros(a.rows(), b.cols());
    parallel::for_rows(out.as_mut_slice(), b.cols().max(1), |i, row| {
        for (k, &factor) in a
            .row(i)
            .iter()
            .enumerate()
            .filter(|(_, factor)| **factor != 0.0)
        {
            row.iter_mut()
                .zip(b.row(k))
                .for_each(|(to, &from)| *to += factor * from);
        }
    });
    out
}
