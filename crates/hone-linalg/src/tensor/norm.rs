//! The norm of a slice, and its factor, so that none dominates.
//!
//! The Frobenius norm is exact where entries are cheap to read and for small matrices, else estimated from products
//! (`operator/norm.rs`).

use serde::{Deserialize, Serialize};

use super::slice::{Slice, SliceNorm};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::factor::Task;
use crate::factor::svd::{Svd, svd};
use crate::operator::Energy;

/// How slices are scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scaling {
    /// Frobenius norm 1: every motif and step has the same part in the loss.
    #[default]
    Frobenius,
    /// Largest singular value 1: slices of many equal directions weigh more than those of few.
    Spectral,
    /// Not at all: frequent motifs dominate if the matrix is not normalised.
    None,
}

/// Directions that are measured exactly.
const DIRECTIONS: usize = 16;

/// Measures a slice.
pub(super) fn measure(slice: &Slice, scaling: Scaling, task: &Task) -> Result<SliceNorm> {
    let s = &slice.operator;
    let start = || Block::random(s.cols(), DIRECTIONS, task.key.with("directions", 0));
    let Energy {
        value: energy,
        exact,
    } = s.energy(task.key, || s.apply_transposed(&s.apply(&start())));
    let frobenius = energy.sqrt();
    let size = match scaling {
        _ if energy == 0.0 => 0.0,
        Scaling::Frobenius => frobenius,
        Scaling::Spectral => {
            svd(
                s,
                &Svd::default(),
                &Task {
                    rank: 1,
                    right: false,
                    ..*task
                },
            )?
            .sigma[0]
        }
        Scaling::None => slice.scale,
    };
    let (inverse, frobenius) = (
        if size == 0.0 { 0.0 } else { 1.0 / size },
        frobenius / slice.scale,
    );
    let factor = inverse * slice.scale;
    let in_range =
        (inverse as f32).is_finite() && (size == 0.0 || (inverse as f32 > 0.0 && factor > 0.0));
    if frobenius.is_finite() && factor.is_finite() && in_range {
        return Ok(SliceNorm {
            frobenius,
            exact,
            factor,
        });
    }
    let message = format!(
        "its norm, {frobenius:e}, is beyond 32-bit floating point; use fewer steps, or scale the edge weights"
    );
    Err(Error::Numeric {
        stage: format!("joint embedding, {}", slice.name),
        message,
    })
}
