//! How a graph was placed in the space of a model.

use serde::{Deserialize, Serialize};

/// What became of the nodes of a graph that was embedded like an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Likeness {
    /// The file of the model, where it was read from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether only structure columns were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub structure_only: bool,
    /// Whether only new nodes were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_only: bool,
    /// Fingerprint of the graph of the model.
    pub fingerprint: String,
    /// Whether this is the very graph of the model.
    pub same: bool,
    /// Nodes that the model has.
    pub shared: usize,
    /// Nodes that it does not have.
    pub new: usize,
    /// Nodes that keep their proximity columns, bit for bit.
    pub kept: usize,
    /// One entry per local embedding; empty where no proximity was computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<Fitting>,
    /// What was added to each structure column, so that the median change of shared nodes (of at most 2048 of them) is zero;
    /// empty with structure alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<f32>,
}

/// How the factors of one local embedding fit the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fitting {
    /// Name of the motif.
    pub motif: String,
    /// K.
    pub step: usize,
    /// Nodes of the model whose edges to other nodes of it changed.
    pub changed: usize,
    /// ‖A X − X C‖ / ‖X C‖ of the factors of the model on the graph of now; absent when no edge changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// Iterations that refined the factors; 0 where those of the model were kept.
    pub iterations: usize,
    /// ‖s X Q − X₀‖ / ‖X₀‖ after refined factors were rotated onto those of the model, s being the best size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<f64>,
}

impl Fitting {
    /// Nothing is known yet.
    pub(crate) fn new(motif: &str, step: usize) -> Self {
        Fitting {
            motif: motif.to_owned(),
            step,
            changed: 0,
            residual: None,
            iterations: 0,
            rotation: None,
        }
    }
}
