//! [`Shape`]: how local embeddings are normalised and scaled before they become columns of Y (sec. 2.4).

use std::path::Path;

use super::local::Local;
use crate::config::{self, Scale};
use crate::dense::{Block, Group, Norm, Panels};
use crate::error::Result;
use crate::factor::log_window::{Landmarks, View, community_weight};
use crate::factor::{Factors, not_finite};
use crate::space::{Fold, Host, Map, Space};

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

    /// Factors as columns of Y with the log window that they span, and the landmarks and the size of that. `keep` takes columns
    /// from where they are. Where memory is short, U is aside, and the window is put there while U is shaped.
    pub(super) fn shaped<S: Space>(
        &self,
        space: &S,
        factors: Factors<Vec<S::Tall>>,
        window: Option<View<S::Tall>>,
        aside: Option<&Path>,
        mut keep: impl FnMut(Vec<S::Tall>) -> Result<Group>,
    ) -> Result<(Local, Option<(Landmarks, f64)>)> {
        let Factors {
            mut u,
            sigma,
            mut v,
            info,
        } = factors;
        let mut window = window.map(|mut view| (self.shortened(space, &mut view.panels), view));
        if let (Some((_, view)), Some(folder)) = (&mut window, aside) {
            let mut panels = view.panels.iter_mut();
            panels.try_for_each(|panel| space.put_aside(panel, folder))?;
        }
        u.iter_mut().try_for_each(|panel| space.bring_back(panel))?;
        for side in [Some(&mut u), v.as_mut()].into_iter().flatten() {
            self.apply(space, side, &sigma)?;
        }
        let window = window.map(|(own, mut view)| {
            let size = size_of(own, view.weight * energy(space, &u));
            let group = match aside {
                Some(_) => keep(view.panels)?.scaled(size),
                None => {
                    let columns = view.panels.iter().map(|panel| space.shape(panel).1).sum();
                    space.map(&mut view.panels, &Map::Scale(&vec![size; columns]));
                    keep(view.panels)?
                }
            };
            Ok((group, (view.landmarks, size)))
        });
        let (window, landmarks) = window.transpose()?.unzip();
        let factors = Factors {
            u: keep(u)?,
            sigma,
            v: v.map(keep).transpose()?,
            info,
        };
        Ok((Local { factors, window }, landmarks))
    }

    /// The same for factors in the memory of this process, the only place for norms other than L2.
    pub fn shaped_here(
        &self,
        mut factors: Factors<Panels>,
        window: Option<View>,
        aside: Option<&Path>,
    ) -> Result<(Local, Option<(Landmarks, f64)>)> {
        let mut shape = *self;
        if !self.is_spatial() {
            shape.norm = Norm::None;
            factors.u.bring_back()?;
            factors = factors.map(|mut side| {
                side.normalize_columns(self.norm);
                side
            });
        }
        let keep = |panels: Vec<Block>| Ok(Group::panels(None, panels.into()));
        shape.shaped(&Host, factors.map(Vec::from), window, aside, keep)
    }

    /// The factors of columns of unit length: singular values relative to the largest, or a power of these. None if
    /// columns keep their length. A matrix has as many singular values as rows: further ones belong to columns of zeros.
    pub fn weights(&self, sigma: &[f64], rows: usize) -> Option<Vec<f64>> {
        let power = match self.scale {
            Scale::Unit => return None,
            Scale::Sigma => 1.0,
            Scale::Spectral => {
                let steps = self.steps as f64;
                (steps - 1.0 + self.community_weight(sigma, rows)?) / steps
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

    /// How clearly the spectrum shows communities, where that is the scale: [`community_weight`].
    pub fn community_weight(&self, sigma: &[f64], rows: usize) -> Option<f64> {
        let own = &sigma[..rows.min(sigma.len())];
        (self.scale == Scale::Spectral).then(|| community_weight(&self.of_one_step(own)))
    }

    /// Absolute values of the eigenvalues of one step.
    fn of_one_step(&self, sigma: &[f64]) -> Vec<f64> {
        sigma
            .iter()
            .map(|&sigma| sigma.max(0.0).powf(1.0 / self.steps as f64))
            .collect()
    }

    /// Whether a space has the norm: others need rows in the memory of this process.
    pub(super) fn is_spatial(&self) -> bool {
        matches!(self.norm, Norm::L2 | Norm::None)
    }

    /// Normalises and scales columns and rows as the settings say. Fails where an entry is not finite.
    fn apply<S: Space>(&self, space: &S, u: &mut [S::Tall], sigma: &[f64]) -> Result<()> {
        let lengths = space.fold(u, Fold::Length);
        if !lengths.iter().chain(sigma).all(|length| length.is_finite()) {
            return Err(not_finite());
        }
        if self.norm == Norm::L2 {
            let over = |length: f64| if length > 0.0 { 1.0 / length } else { 0.0 };
            let factors: Vec<f64> = lengths.into_iter().map(over).collect();
            space.map(u, &Map::Scale(&factors));
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
fn energy<S: Space>(space: &S, x: &[S::Tall]) -> f64 {
    space
        .fold(x, Fold::Length)
        .iter()
        .map(|length| length * length)
        .sum()
}
