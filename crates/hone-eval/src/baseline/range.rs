//! Ranges of the baselines' options: what is outside is refused when a method is named, before anything is allocated.
//!
//! The ends are far beyond what the literature uses, and small enough that no product of two of them overflows.

use std::fmt::Display;
use std::ops::RangeInclusive;

use hone::{Error, Result};

/// Columns of vectors, as of HONE's own.
pub(super) const DIM: RangeInclusive<usize> = 1..=65_536;
/// Walks of a node.
pub(super) const WALKS: RangeInclusive<usize> = 1..=100_000;
/// Nodes of a walk; one alone has no pairs.
pub(super) const LENGTH: RangeInclusive<usize> = 2..=100_000;
/// Distance of the nodes of a pair on a walk.
pub(super) const WINDOW: RangeInclusive<usize> = 1..=10_000;
/// Random pairs beside each true one.
pub(super) const NEGATIVES: RangeInclusive<usize> = 1..=1000;
/// Passes over all walks.
pub(super) const EPOCHS: RangeInclusive<usize> = 1..=10_000;
/// Samples of edges.
pub(super) const SAMPLES: RangeInclusive<u64> = 1..=1_000_000_000_000;
/// Steps of a transition matrix.
pub(super) const STEPS: RangeInclusive<usize> = 1..=16;
/// Factors of learning rates and of the bias of walks.
pub(super) const FACTOR: RangeInclusive<f64> = 1e-9..=1e9;

/// Refuses a value out of its range, by name.
pub(super) fn check<T: PartialOrd + Display + Copy>(
    field: &str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::config(
        field,
        format!(
            "is {value}; must be from {} to {}",
            range.start(),
            range.end()
        ),
    ))
}
