//! Whether the motif matrices are embedded one by one or all at once.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::tensor::Scaling;

/// How motif matrices become an embedding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Model {
    /// A local embedding per motif and step, then a global one: the paper's two stages.
    #[default]
    Separate,
    /// All at once, by a Tucker decomposition of the tensor they form.
    Tucker,
    /// All at once, by a CP decomposition of it.
    Cp,
}

/// Names of the models and what each does.
pub const MODELS: [(&str, &str); 3] = [
    (
        "separate",
        "A local embedding per motif and step, then a global one, each by a solver: the paper's two stages.",
    ),
    (
        "tucker",
        "All motif matrices at once: the Tucker decomposition of their tensor, by alternating SVDs.",
    ),
    (
        "cp",
        "All motif matrices at once: the CP decomposition of their tensor, by alternating least squares.",
    ),
];

/// Options of the joint models.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Joint {
    /// How slices are scaled, so that none dominates.
    pub slices: Scaling,
    /// Motif factors of `tucker`; less when there are fewer motifs and steps.
    pub motif_rank: usize,
    /// Maximum number of sweeps over all factors; 0 keeps the start, the higher-order SVD.
    pub iterations: usize,
    /// A sweep that lowers the relative loss by less is the last.
    pub tolerance: f64,
    /// Weight of the squared factors in the loss of `cp`.
    pub regularization: f64,
}

impl Default for Joint {
    fn default() -> Self {
        Joint {
            slices: Scaling::Frobenius,
            motif_rank: 8,
            iterations: 20,
            tolerance: 1e-4,
            regularization: 1e-5,
        }
    }
}

/// Features cannot be columns of Y, which does not exist here.
pub(crate) fn combine_before() -> Error {
    let message = "before makes features columns of the local embeddings, which a joint model does not have; use after";
    Error::config("features.combine", message)
}
