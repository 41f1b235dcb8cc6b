//! [`Autoencoder`]: its options, and the resulting shape of the network.

use serde::{Deserialize, Serialize};

/// Options of the autoencoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Autoencoder {
    /// Sizes of the layers between the columns of Y and the code; none for a network of one hidden layer.
    pub hidden: Vec<usize>,
    /// The activation after every layer but the last.
    pub activation: Activation,
    /// Whether the decoder's weights are the encoder's, transposed.
    pub tied: bool,
    /// The initial weights.
    pub start: Start,
    /// Step length of Adam.
    pub rate: f64,
    /// Rows in a batch.
    pub batch: usize,
    /// Maximum number of passes over Y.
    pub epochs: usize,
    /// Passes without an improvement after which training stops.
    pub patience: usize,
    /// Smallest relative decrease of the loss that counts as an improvement.
    pub tolerance: f64,
    /// Share of rows that are held out to measure improvement.
    pub held_out: f64,
    /// Weight of the squared weights in the loss.
    pub regularization: f64,
}

impl Default for Autoencoder {
    fn default() -> Self {
        Autoencoder {
            hidden: Vec::new(),
            activation: Activation::Sigmoid,
            tied: false,
            start: Start::Auto,
            rate: 1e-3,
            batch: 64,
            epochs: 200,
            patience: 10,
            tolerance: 1e-4,
            held_out: 0.1,
            regularization: 0.0,
        }
    }
}

/// The function applied after a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Activation {
    /// 1 / (1 + exp(−x)), as in the paper.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// max(x, 0).
    Relu,
    /// x: a linear network.
    Identity,
}

/// The initial weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Start {
    /// The SVD where possible: one hidden layer, and an activation with a nearly linear range.
    Auto,
    /// The singular vectors of Y, scaled so that activations stay in their nearly linear range.
    Svd,
    /// Random weights (Glorot, Bengio 2010; He et al. 2015 for relu).
    Random,
}

impl Autoencoder {
    pub(super) fn can_start_from_svd(&self) -> bool {
        self.hidden.is_empty() && self.activation != Activation::Relu
    }

    pub(super) fn starts_from_svd(&self) -> bool {
        self.start != Start::Random && self.can_start_from_svd()
    }

    /// Units of every layer from the columns of Y to the code.
    pub(super) fn sizes(&self, columns: usize, code: usize) -> Vec<usize> {
        [&[columns], &self.hidden[..], &[code]].concat()
    }
}
