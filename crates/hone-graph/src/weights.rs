//! Which edge weights are accepted.

use crate::error::{Error, Result};
use crate::parallel;

/// Fails at the first weight that is negative or not finite.
pub(super) fn check_weights(weights: &[f32]) -> Result<()> {
    match parallel::first(weights.len(), |e| {
        !(weights[e].is_finite() && weights[e] >= 0.0)
    }) {
        Some(e) => Err(Error::config(
            "weights",
            format!(
                "weight {e} is {}; weights must be finite and ≥ 0",
                weights[e]
            ),
        )),
        None => Ok(()),
    }
}
