//! Norms of columns, the normalisation g of sec. 2.4, and signs.

use serde::{Deserialize, Serialize};

use super::{Block, by_lanes, chunk_rows};

/// The norm by which columns are divided (the function g, eq. 13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

impl Block {
    /// The norm of each column, in f64; ones for [`Norm::None`].
    pub fn column_norms(&self, norm: Norm) -> Vec<f64> {
        match norm {
            Norm::L2 => self.fold_columns(|sum, x| sum + x * x, |a, b| a + b).into_iter().map(f64::sqrt).collect(),
            Norm::L1 => self.fold_columns(|sum, x| sum + x.abs(), |a, b| a + b),
            Norm::Max => self.fold_columns(|most, x| most.max(x.abs()), f64::max),
            Norm::None => vec![1.0; self.cols()],
        }
    }

    /// The mean of each column; zeros when there is no row.
    pub fn column_means(&self) -> Vec<f64> {
        let rows = self.rows().max(1) as f64;
        self.fold_columns(|sum, x| sum + x, |a, b| a + b).into_iter().map(|sum| sum / rows).collect()
    }

    /// Divides each column by its norm; a zero column stays zero. Returns the norms.
    pub fn normalize_columns(&mut self, norm: Norm) -> Vec<f64> {
        let norms = self.column_norms(norm);
        if norm != Norm::None {
            let factors: Vec<f64> = norms.iter().map(|&n| if n > 0.0 { 1.0 / n } else { 0.0 }).collect();
            self.scale_columns(&factors);
        }
        norms
    }

    /// Multiplies column j by `factors[j]`, in f64.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        assert_eq!(factors.len(), self.cols(), "one factor a column");
        self.update_rows(|_, row| {
            row.iter_mut().zip(factors).for_each(|(value, factor)| *value = (f64::from(*value) * factor) as f32);
        });
    }

    /// The sign of each column's entry of largest absolute value (the topmost of equals); 1 for zero columns.
    pub fn column_signs(&self) -> Vec<f64> {
        let cols = self.cols();
        let lanes = by_lanes(self.rows(), chunk_rows(cols), |lane| {
            let mut extreme = vec![0.0f32; cols];
            for i in lane {
                extreme.iter_mut().zip(self.row(i)).for_each(|(most, &x)| larger(most, x));
            }
            extreme
        });
        let mut extreme = vec![0.0f32; cols];
        for lane in lanes {
            extreme.iter_mut().zip(lane).for_each(|(most, x)| larger(most, x));
        }
        extreme.into_iter().map(|most| if most < 0.0 { -1.0 } else { 1.0 }).collect()
    }

    fn fold_columns(&self, add: impl Fn(f64, f64) -> f64 + Sync, join: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let cols = self.cols();
        let lanes = by_lanes(self.rows(), chunk_rows(cols), |lane| {
            let mut folded = vec![0.0; cols];
            for i in lane {
                folded.iter_mut().zip(self.row(i)).for_each(|(to, &x)| *to = add(*to, f64::from(x)));
            }
            folded
        });
        lanes.into_iter().fold(vec![0.0; cols], |mut sum, lane| {
            sum.iter_mut().zip(lane).for_each(|(to, x)| *to = join(*to, x));
            sum
        })
    }
}

fn larger(most: &mut f32, x: f32) {
    if x.abs() > most.abs() {
        *most = x;
    }
}
