//! [`Shape`]: how local embeddings are normalised and scaled before they become columns of Y (sec. 2.4).

use crate::config::{Local, Scale};
use crate::dense::{Group, Norm, Panels};
use crate::factor::{Factors, communities};

/// How columns and rows of a local embedding are scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// g, how the columns are normalised.
    pub norm: Norm,
    /// The factor of each column after that.
    pub scale: Scale,
    /// K: the singular values are those of the K-th power.
    pub steps: usize,
    /// Each row is divided by its length to this power.
    pub row_power: f64,
}

impl Shape {
    /// As the settings say, for factors of K steps. Only powers of a symmetric matrix share its spectrum. A lazy walk
    /// has no small eigenvalues: a lower power would keep much of those that were zero.
    pub fn new(local: &Local, steps: usize, laziness: f64, symmetric: bool) -> Self {
        let spectral = local.scale == Scale::Spectral;
        let scale = if spectral && (!symmetric || laziness > 0.0) { Scale::Sigma } else { local.scale };
        Shape { norm: local.norm, scale, steps, row_power: local.row_power }
    }

    /// Normalises and scales the columns and rows of U as the settings say.
    pub fn apply(&self, u: &mut Panels, sigma: &[f64]) {
        u.normalize_columns(self.norm);
        if let Some(weights) = self.weights(sigma) {
            u.scale_columns(&weights);
        }
        if self.row_power > 0.0 {
            u.update_rows(|row| shorten(row, self.row_power));
        }
    }

    /// The factors of columns of unit length: singular values relative to the largest, or a power of these. None if
    /// columns keep their length.
    pub fn weights(&self, sigma: &[f64]) -> Option<Vec<f64>> {
        let power = match self.scale {
            Scale::Unit => return None,
            Scale::Sigma => 1.0,
            Scale::Spectral => {
                let steps = self.steps as f64;
                (steps - 1.0 + communities::weight(&self.of_one_step(sigma))) / steps
            }
        };
        let largest = sigma.first().copied().filter(|&largest| largest > 0.0).unwrap_or(1.0);
        Some(sigma.iter().map(|sigma| (sigma / largest).powf(power)).collect())
    }

    /// Absolute values of the eigenvalues of one step.
    fn of_one_step(&self, sigma: &[f64]) -> Vec<f64> {
        sigma.iter().map(|&sigma| sigma.max(0.0).powf(1.0 / self.steps as f64)).collect()
    }

    /// Both sides of factors, normalised and scaled.
    pub fn of_factors(&self, found: Factors<Panels>) -> Factors<Group> {
        let sigma = found.sigma.clone();
        found.map(|mut side| {
            self.apply(&mut side, &sigma);
            Group::panels(None, side)
        })
    }
}

/// Divides a row by its length to a power.
pub(crate) fn shorten(row: &mut [f32], power: f64) {
    let length = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        let factor = length.powf(-power);
        row.iter_mut().for_each(|x| *x = (f64::from(*x) * factor) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A spectrum that shows communities keeps the last power; one without them gets the power before.
    #[test]
    fn spectral_weights_are_those_of_the_last_two_steps() {
        let weights = |values: [f64; 6], laziness: f64| {
            let sigma = values.map(|value| (laziness + (1.0 - laziness) * value).powi(3));
            let local = Local { scale: Scale::Spectral, ..Local::default() };
            Shape::new(&local, 3, laziness, true).weights(&sigma).expect("a scale")
        };
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        close(weights([0.8, 0.7, 0.7, 0.6, 0.6, 0.6], 0.0)[5], (0.6f64 / 0.8).powi(3));
        close(weights([0.8, 0.2, 0.2, 0.2, 0.2, 0.2], 0.0)[5], (0.2f64 / 0.8).powf(2.02));
        close(weights([0.8, 0.4, 0.4, 0.4, 0.4, 0.4], 0.0)[5], 0.5f64.powf(2.0 + 0.8f64.powi(6)));
        close(weights([0.8, 0.4, 0.4, 0.4, 0.4, 0.4], 0.2)[5], (0.52f64 / 0.84).powi(3));
        let unit = Shape::new(&Local::default(), 3, 0.0, true).weights(&[2.0, 1.0]);
        assert_eq!(unit, None);
        let local = Local { scale: Scale::Spectral, ..Local::default() };
        assert_eq!(Shape::new(&local, 3, 0.0, false).weights(&[2.0, 1.0]), Some(vec![1.0, 0.5]));
    }
}
