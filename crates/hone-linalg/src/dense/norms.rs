//! Norms of columns, the normalisation g of sec. 2.4, and signs.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::lanes::{MOST, Own, by_lanes, chunk_rows};
use super::{Block, Stored};

/// The norm by which columns are divided (the function g, eq. 13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Norm {
    /// Euclidean length, as in the paper.
    #[default]
    L2,
    /// Sum of absolute values.
    L1,
    /// Largest absolute value.
    Max,
    /// Columns stay as they are.
    None,
}

/// The norm of each column, in f64; ones for [`Norm::None`].
pub(super) fn column_norms(x: &dyn Stored, norm: Norm) -> Vec<f64> {
    match norm {
        Norm::L2 => fold_columns(x, |sum, x| sum + x * x, |a, b| a + b)
            .into_iter()
            .map(f64::sqrt)
            .collect(),
        Norm::L1 => fold_columns(x, |sum, x| sum + x.abs(), |a, b| a + b),
        Norm::Max => fold_columns(x, |most, x| most.max(x.abs()), f64::max),
        Norm::None => vec![1.0; x.cols()],
    }
}

/// The mean of each column; zeros when there is no row.
pub(super) fn column_means(x: &dyn Stored) -> Vec<f64> {
    let rows = x.rows().max(1) as f64;
    fold_columns(x, |sum, x| sum + x, |a, b| a + b)
        .into_iter()
        .map(|sum| sum / rows)
        .collect()
}

fn fold_columns(
    x: &dyn Stored,
    add: impl Fn(f64, f64) -> f64 + Sync,
    join: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    let mut folded = vec![0.0; x.cols()];
    let join = |lane: Vec<f64>| {
        folded
            .iter_mut()
            .zip(lane)
            .for_each(|(to, x)| *to = join(*to, x));
    };
    fold_parts(x, &Own::all(x.rows()), add, join);
    folded
}

/// Folds of the columns of each lane present, in order.
fn fold_parts(
    x: &dyn Stored,
    own: &Own,
    add: impl Fn(f64, f64) -> f64 + Sync,
    join: impl FnMut(Vec<f64>),
) {
    let cols = x.cols();
    if cols == 0 {
        return;
    }
    let chunk = chunk_rows(cols);
    let lane = |lane: Range<usize>| {
        let (mut folded, mut buffer) = (vec![0.0; cols], Vec::new());
        for start in lane.clone().step_by(chunk) {
            let range = start - own.range.start..(start + chunk).min(lane.end) - own.range.start;
            for row in x.slice(range, &mut buffer).chunks_exact(cols) {
                folded
                    .iter_mut()
                    .zip(row)
                    .for_each(|(to, &x)| *to = add(*to, f64::from(x)));
            }
        }
        folded
    };
    by_lanes(own, MOST, lane, join);
}

impl Block {
    /// The norm of each column, in f64; ones for [`Norm::None`].
    pub fn column_norms(&self, norm: Norm) -> Vec<f64> {
        column_norms(self, norm)
    }

    /// The sum of all squares.
    pub fn squared_norm(&self) -> f64 {
        let norms = self.column_norms(Norm::L2);
        norms.iter().map(|norm| norm * norm).sum()
    }

    /// The mean of each column; zeros when there is no row.
    pub fn column_means(&self) -> Vec<f64> {
        column_means(self)
    }

    /// Divides each column by its norm; a zero column stays zero. Returns the norms.
    pub fn normalize_columns(&mut self, norm: Norm) -> Vec<f64> {
        let norms = self.column_norms(norm);
        if norm != Norm::None {
            let factors: Vec<f64> = norms
                .iter()
                .map(|&n| if n > 0.0 { 1.0 / n } else { 0.0 })
                .collect();
            self.scale_columns(&factors);
        }
        norms
    }

    /// The sum of the squares of all entries.
    pub fn energy(&self) -> f64 {
        let lengths = self.column_norms(Norm::L2);
        lengths.iter().map(|length| length * length).sum()
    }

    /// Multiplies column j by `factors[j]`, in f64.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.cols(), "one factor per column");
        self.update_rows(|_, row| {
            row.iter_mut()
                .zip(factors)
                .for_each(|(value, factor)| *value = (f64::from(*value) * factor) as f32);
        });
    }

    /// The entry of largest absolute value of each column, the first row in case of a tie; 0 for zero columns.
    pub fn column_extremes(&self) -> Vec<f64> {
        fold_columns(self, larger, larger)
    }

    /// The sign of each column's entry of largest absolute value (the first row in case of a tie); 1 for zero columns.
    pub fn column_signs(&self) -> Vec<f64> {
        self.column_extremes()
            .into_iter()
            .map(|most| if most < 0.0 { -1.0 } else { 1.0 })
            .collect()
    }

    /// Gives each column the sign that makes its entry of largest absolute value positive; returns the signs.
    pub fn normalize_signs(&mut self) -> Vec<f64> {
        let signs = self.column_signs();
        self.scale_columns(&signs);
        signs
    }

    /// Sums of squares of the columns, one list for each lane that the block has of a larger matrix.
    pub fn square_parts(&self, own: &Own, add: impl FnMut(Vec<f64>)) {
        fold_parts(self, own, |sum, x| sum + x * x, add);
    }
}

/// The one of larger absolute value, the first of equals.
pub(crate) fn larger(most: f64, x: f64) -> f64 {
    if x.abs() > most.abs() { x } else { most }
}
