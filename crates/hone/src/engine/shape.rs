//! [`Shape`]: how local embeddings are normalised and scaled before they become columns of Y (sec. 2.4).

use std::path::Path;

use super::local::Local;
use crate::config::{self, Scale};
use crate::dense::{Group, Norm, Panels};
use crate::error::Result;
use crate::factor::log_window::{Landmarks, View, community_weight};
use crate::factor::{Factors, not_finite};
use crate::space::{Fold, Host, Map, Space, shorten};

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
    pub fn new(local: &config::Local, steps: usize, laziness: f64, symmetric: bool) -> Self {
        let spectral = local.scale == Scale::Spectral;
        let scale = if spectral && (!symmetric || laziness > 0.0) {
            Scale::Sigma
        } else {
            local.scale
        };
        Shape {
            norm: local.norm,
            scale,
            steps,
            row_power: local.row_power,
        }
    }

    /// Factors in the memory of this process as columns of Y, with the log window that they span and its landmarks and size.
    /// Where memory is short, U is aside, and the window is put there while U is shaped.
    pub fn shaped(
        &self,
        factors: Factors<Panels>,
        window: Option<View>,
        aside: Option<&Path>,
    ) -> Result<(Local, Option<(Landmarks, f64)>)> {
        let Factors {
            mut u,
            sigma,
            mut v,
            info,
        } = factors;
        let window = window.map(|mut view| {
            let own = self.shortened(&Host, &mut view.panels);
            let mut panels = Panels::from(view.panels);
            aside.map_or(Ok(()), |folder| panels.put_aside(folder))?;
            Ok((panels, view.weight, own, view.landmarks))
        });
        let window = window.transpose()?;
        u.bring_back()?;
        self.apply(&mut u, &sigma);
        v.iter_mut().for_each(|v| self.apply(v, &sigma));
        let (window, landmarks) = window
            .map(|(panels, weight, own, landmarks)| {
                let size = size_of(own, weight * energy(&Host, u.as_slice()));
                let group = Group::panels(None, panels).scaled(size);
                (group, (landmarks, size))
            })
            .unzip();
        let columns = |panels| Group::panels(None, panels);
        let factors = Factors { u, sigma, v, info }.map(columns);
        Ok((Local { factors, window }, landmarks))
    }

    /// Normalises and scales the columns and rows of U as the settings say.
    pub fn apply(&self, u: &mut Panels, sigma: &[f64]) {
        u.normalize_columns(self.norm);
        if let Some(weights) = self.weights(sigma, u.rows()) {
            u.scale_columns(&weights);
        }
        if self.row_power > 0.0 {
            u.update_rows(|row| shorten(row, self.row_power));
        }
    }

    /// The factors of columns of unit length: singular values relative to the largest, or a power of these. None if
    /// columns keep their length. A matrix has as many singular values as rows: further ones belong to columns of zeros.
    pub fn weights(&self, sigma: &[f64], rows: usize) -> Option<Vec<f64>> {
        let power = match self.scale {
            Scale::Unit => return None,
            Scale::Sigma => 1.0,
            Scale::Spectral => {
                let steps = self.steps as f64;
                let own = &sigma[..rows.min(sigma.len())];
                (steps - 1.0 + community_weight(&self.of_one_step(own))) / steps
            }
        };
        let largest = sigma
            .first()
            .copied()
            .filter(|&largest| largest > 0.0)
            .unwrap_or(1.0);
        Some(
            sigma
                .iter()
                .map(|sigma| (sigma / largest).powf(power))
                .collect(),
        )
    }

    /// Absolute values of the eigenvalues of one step.
    fn of_one_step(&self, sigma: &[f64]) -> Vec<f64> {
        sigma
            .iter()
            .map(|&sigma| sigma.max(0.0).powf(1.0 / self.steps as f64))
            .collect()
    }

    /// Whether [`Shape::apply_in`] can do it: other norms need rows in the memory of this process.
    pub fn is_spatial(&self) -> bool {
        matches!(self.norm, Norm::L2 | Norm::None)
    }

    /// The same as [`Shape::apply`], wherever the columns are. Fails where an entry is not finite.
    ///
    /// # Panics
    /// When the shape is not [spatial](Shape::is_spatial).
    pub fn apply_in<S: Space>(&self, space: &S, u: &mut [S::Tall], sigma: &[f64]) -> Result<()> {
        assert!(self.is_spatial(), "a norm that no space has");
        let lengths = space.fold(u, Fold::Length);
        if !lengths.iter().chain(sigma).all(|length| length.is_finite()) {
            return Err(not_finite());
        }
        if self.norm == Norm::L2 {
            let over = |length: f64| if length > 0.0 { 1.0 / length } else { 0.0 };
            space.map(
                u,
                &Map::Scale(&lengths.into_iter().map(over).collect::<Vec<_>>()),
            );
        }
        let rows = u.first().map_or(0, |panel| space.shape(panel).0);
        if let Some(weights) = self.weights(sigma, rows) {
            space.map(u, &Map::Scale(&weights));
        }
        if self.row_power > 0.0 {
            space.map(u, &Map::Shorten(self.row_power));
        }
        Ok(())
    }

    /// Brings the rows of a log window to the size that the settings ask for, and all of it to `energy`, the sum of squares.
    pub fn apply_to_window<S: Space>(&self, space: &S, view: &mut [S::Tall], energy: f64) {
        let size = size_of(self.shortened(space, view), energy);
        let columns = view.iter().map(|panel| space.shape(panel).1).sum();
        space.map(view, &Map::Scale(&vec![size; columns]));
    }

    /// Brings the rows of a log window to the size that the settings ask for, and returns its sum of squares.
    fn shortened<S: Space>(&self, space: &S, view: &mut [S::Tall]) -> f64 {
        if self.row_power > 0.0 {
            space.map(view, &Map::Shorten(self.row_power));
        }
        energy(space, view)
    }
}

/// The factor that brings a sum of squares to another.
fn size_of(own: f64, energy: f64) -> f64 {
    if own > 0.0 {
        (energy / own).sqrt()
    } else {
        0.0
    }
}

/// The sum of all squares.
pub fn energy<S: Space>(space: &S, x: &[S::Tall]) -> f64 {
    space
        .fold(x, Fold::Length)
        .iter()
        .map(|length| length * length)
        .sum()
}
