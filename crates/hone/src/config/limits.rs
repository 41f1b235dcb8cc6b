//! How large settings may be.

use super::choice::Dim;
use crate::error::{Error, Result};

/// The most steps K that are accepted.
pub const MAX_STEPS: usize = 16;
/// The largest weight, offset or rate that a setting may have: far beyond use, and far from overflow.
pub(super) const LARGEST: f64 = 1e12;
/// The largest power of a row's length that it is divided by.
pub(super) const MAX_POWER: f64 = 4.0;

/// The most columns of an embedding, or of a part of one, that are accepted.
pub const MAX_DIM: usize = 1 << 16;

/// Refuses an absurd number of columns.
pub(super) fn check_dim(field: &str, dim: Dim) -> Result<()> {
    match dim {
        Dim::Fixed(dim) if dim > MAX_DIM => Err(Error::config(
            field,
            format!("{dim} is more than {MAX_DIM}, the maximum"),
        )),
        _ => Ok(()),
    }
}
