//! [`Shape`]: what local embeddings become before they are columns of Y (sec. 2.4).

use crate::config::{Local, Scale};
use crate::dense::{Group, Norm, Panels};
use crate::factor::Factors;

/// How columns and rows of a local embedding are scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// g, how the columns are normalised.
    pub norm: Norm,
    /// Whether each column then gets the weight of its singular value, relative to the largest.
    pub sigma: bool,
    /// Each row is divided by its length to this power.
    pub row_power: f64,
}

impl From<&Local> for Shape {
    fn from(local: &Local) -> Self {
        Shape { norm: local.norm, sigma: local.scale == Scale::Sigma, row_power: local.row_power }
    }
}

impl Shape {
    /// Brings the columns of U to the length and the rows to the size that the settings ask for.
    pub fn apply(&self, u: &mut Panels, sigma: &[f64]) {
        u.normalize_columns(self.norm);
        if self.sigma {
            u.scale_columns(&relative(sigma));
        }
        if self.row_power > 0.0 {
            u.update_rows(|row| shorten(row, self.row_power));
        }
    }

    /// Both sides of factors, shaped.
    pub fn of_factors(&self, found: Factors<Panels>) -> Factors<Group> {
        let sigma = found.sigma.clone();
        found.map(|mut side| {
            self.apply(&mut side, &sigma);
            Group::panels(None, side)
        })
    }
}

/// Singular values relative to the largest.
pub fn relative(sigma: &[f64]) -> Vec<f64> {
    let largest = sigma.first().copied().filter(|&largest| largest > 0.0).unwrap_or(1.0);
    sigma.iter().map(|sigma| sigma / largest).collect()
}

/// Divides a row by its length to a power.
pub(crate) fn shorten(row: &mut [f32], power: f64) {
    let length = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        let factor = length.powf(-power);
        row.iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
    }
}
