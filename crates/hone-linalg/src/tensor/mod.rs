//! Joint models: all k-step motif matrices as one tensor, N × N × (motifs · steps), factored at once
//! (sec. 2.5, which names the Tucker decomposition; Kolda, Bader 2009).
//!
//! A slice is a lazy matrix, only ever multiplied with tall blocks: no slice and no unfolding is formed,
//! and slices are visited one after the other, so that they need not all be in memory. What is
//! small (core, motif factors, Gram matrices) is f64. Sums are taken in the order of the slices and in
//! that of [`crate::dense`]: the same bits for any number of threads.

pub mod cp;
mod leading;
mod norm;
mod slice;
pub mod tucker;

pub use norm::Scaling;
pub use slice::{Slice, SliceNorm};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dense::{Block, Small};
use crate::error::{Error, Result};
use crate::factor::Task;
use crate::operator::{Operator, Scaled, Workspace};

/// Matrices of one tensor, given one after the other.
pub trait Slices {
    /// N.
    fn nodes(&self) -> usize;
    /// Number of slices.
    fn count(&self) -> usize;
    /// Passes on every slice, first to last.
    fn visit(&self, each: &mut dyn FnMut(&Slice) -> Result<()>) -> Result<()>;
}

/// Slices that are all in memory.
#[derive(Debug, Clone)]
pub struct Held {
    /// N.
    pub nodes: usize,
    /// The slices.
    pub slices: Vec<Slice>,
}

impl Slices for Held {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn count(&self) -> usize {
        self.slices.len()
    }

    fn visit(&self, each: &mut dyn FnMut(&Slice) -> Result<()>) -> Result<()> {
        self.slices.iter().try_for_each(each)
    }
}

/// Slices scaled to a common norm.
pub struct Tensor<'a> {
    slices: &'a dyn Slices,
    /// Original norm of each slice.
    pub norms: Vec<SliceNorm>,
}

/// How the iterations of a joint model went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Descent {
    /// Sweeps over all factors.
    pub iterations: usize,
    /// Whether the last sweep gained less than the tolerance.
    pub converged: bool,
    /// ‖X − model‖² / ‖X‖², at the start and after every sweep; with regularisation, its term included.
    pub losses: Vec<f64>,
}

/// When iterations end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Maximum number of sweeps.
    pub iterations: usize,
    /// A sweep that gains less, relative to ‖X‖², is the last.
    pub tolerance: f64,
}

impl<'a> Tensor<'a> {
    /// Measures all slices, and chooses their factors.
    pub fn new(slices: &'a dyn Slices, scaling: Scaling, task: &Task) -> Result<Self> {
        let mut norms = Vec::with_capacity(slices.count());
        slices.visit(&mut |slice| {
            task.progress.check()?;
            let key = task.key.with("norm", norms.len() as u64);
            norms.push(norm::measure(slice, scaling, &Task { key, ..*task })?);
            Ok(())
        })?;
        Ok(Tensor { slices, norms })
    }

    /// N.
    pub fn nodes(&self) -> usize {
        self.slices.nodes()
    }

    /// Number of slices.
    pub fn count(&self) -> usize {
        self.norms.len()
    }

    /// ‖X‖², of the slices as they are scaled.
    pub fn energy(&self) -> f64 {
        self.norms
            .iter()
            .map(|norm| (norm.frobenius * norm.factor).powi(2))
            .sum()
    }

    /// Passes on every nonzero slice, scaled, with its number.
    fn visit(&self, task: &Task, each: &mut dyn FnMut(usize, &Slice) -> Result<()>) -> Result<()> {
        let mut at = 0;
        self.slices.visit(&mut |slice| {
            task.progress.check()?;
            let (number, scale) = (at, self.norms[at].factor / slice.scale);
            at += 1;
            if scale == 0.0 {
                return Ok(());
            }
            let inner = Arc::new(slice.operator.clone());
            let operator = Operator::Scaled(Scaled {
                shift: None,
                scale,
                left: None,
                inner,
                right: None,
            });
            each(
                number,
                &Slice {
                    operator,
                    ..slice.clone()
                },
            )
        })
    }

    /// Whether every slice equals its transpose.
    fn is_symmetric(&self, task: &Task) -> Result<bool> {
        let mut symmetric = true;
        self.visit(task, &mut |_, slice| {
            symmetric &= slice.operator.is_symmetric();
            Ok(())
        })?;
        Ok(symmetric)
    }

    /// The leading `width` directions of rows (X_s X_sᵀ) and columns (X_sᵀ X_s), summed over the slices: the
    /// first two factors of the higher-order SVD.
    fn node_spaces(&self, width: usize, rounds: usize, task: &Task) -> Result<(Block, Block)> {
        let space = |transpose: bool| {
            let mut work = Workspace::default();
            let key = task.key.with("space", u64::from(transpose));
            leading::leading(self.nodes(), width, rounds, key, |q| {
                let mut sum = Block::zeros(q.rows(), q.cols());
                self.visit(task, &mut |_, slice| {
                    let inner = slice.times(q, !transpose, &mut work);
                    let mut outer = work.block(inner.rows(), inner.cols());
                    if transpose {
                        slice
                            .operator
                            .apply_transposed_into(&inner, &mut outer, &mut work);
                    } else {
                        slice.operator.apply_into(&inner, &mut outer, &mut work);
                    }
                    slice.change_rows(&mut sum, |i, row| {
                        row.iter_mut()
                            .zip(outer.row(i))
                            .for_each(|(to, x)| *to += x);
                    });
                    work.give(inner);
                    work.give(outer);
                    Ok(())
                })?;
                Ok(sum)
            })
        };
        let left = space(false)?;
        let right = if self.is_symmetric(task)? {
            left.clone()
        } else {
            space(true)?
        };
        Ok((left, right))
    }
}

impl Descent {
    fn start(loss: f64) -> Self {
        Descent {
            iterations: 0,
            converged: false,
            losses: vec![loss],
        }
    }

    /// Notes the loss after a sweep; whether it was the last.
    fn note(&mut self, loss: f64, limits: Limits, model: &str) -> Result<bool> {
        self.iterations += 1;
        if !loss.is_finite() {
            let message = "the loss is not finite; use fewer steps, scale the edge weights down, or use \
                           joint.slices = \"frobenius\"";
            return Err(Error::Numeric {
                stage: format!("joint embedding, {model}, sweep {}", self.iterations),
                message: message.into(),
            });
        }
        let before = self.losses.last().copied().unwrap_or(loss);
        self.losses.push(loss);
        self.converged = before - loss <= limits.tolerance;
        Ok(self.converged || self.iterations >= limits.iterations)
    }
}

/// The sum of the products of the entries.
fn inner(a: &Small, b: &Small) -> f64 {
    a.as_slice()
        .iter()
        .zip(b.as_slice())
        .map(|(a, b)| a * b)
        .sum()
}

/// to ← to + factor · from.
fn add(to: &mut Small, from: &Small, factor: f64) {
    to.as_mut_slice()
        .iter_mut()
        .zip(from.as_slice())
        .for_each(|(to, from)| *to += factor * from);
}
