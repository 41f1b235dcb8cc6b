//! What a joint model did.

use serde::{Deserialize, Serialize};

use crate::tensor::{Descent, SliceNorm};

/// A joint embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JointFacts {
    /// Columns of Z that are not zero.
    pub rank: usize,
    /// ‖X − model‖² / ‖X‖² of the tensor X, with the penalty if there is one.
    pub residual: f64,
    /// How the iterations went.
    pub descent: Descent,
    /// Length of each column of Z.
    pub weights: Vec<f64>,
    /// Whether all motif graphs were in memory at once, not rebuilt for every visit.
    pub slices_held: bool,
    /// One entry per motif and step, with its row of the motif factors.
    pub slices: Vec<SliceFacts>,
    /// The core of a Tucker decomposition, one matrix per motif factor: left by right node factors, of which there are D, or as
    /// many as nodes. Absent for CP, and when it is very large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<Vec<Vec<Vec<f64>>>>,
}

/// One slice of the tensor, S_t^(k).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceFacts {
    /// Name of the motif.
    pub motif: String,
    /// k.
    pub step: usize,
    /// The matrix S_t^(k) as a formula.
    pub formula: String,
    /// Nodes that the motif touches.
    pub nodes: usize,
    /// Nonzeros of W_t.
    pub nonzeros: usize,
    /// Positions with the motif that are not among the nonzeros: their counts are below delta.
    #[serde(default)]
    pub below_delta: usize,
    /// The factor of S_t^(k) that keeps it in the range of f32; mostly 1.
    #[serde(default)]
    pub scale: f64,
    /// Its norm, and its factor.
    #[serde(flatten)]
    pub norm: SliceNorm,
    /// Its row of the motif factors.
    pub factors: Vec<f64>,
}
