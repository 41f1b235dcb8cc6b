//! The network: layers, forward and backward passes, and Adam.
//!
//! Layer l maps a batch A_l (one example per row) to A_{l+1} = f(A_l W_l + b_l). With the loss
//! mean (A_last − A_0)² and Δ its derivative before f, dW_l = A_lᵀ Δ_l, db_l = Δ_lᵀ e and
//! Δ_{l−1} = (Δ_l W_lᵀ) ∘ f'(A_l): the derivative of every activation is a function of its value. Weights are f64,
//! examples f32, sums over examples f64.

use std::borrow::Cow;

use super::options::Activation;
use crate::dense::{Block, Norm, Small};

/// Decay of Adam's first moments.
const FIRST: f64 = 0.9;
/// Decay of Adam's second moments.
const SECOND: f64 = 0.999;
/// Keeps Adam's divisions finite.
const TINY: f64 = 1e-8;

/// Weights and biases, or anything of their shape: gradients, moments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    /// One matrix per layer, inputs × outputs; of the encoder alone if the decoder is tied to it.
    pub(super) weights: Vec<Small>,
    /// One vector per layer, of encoder and decoder.
    pub(super) biases: Vec<Vec<f64>>,
}

/// An encoder and its decoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Network {
    pub(super) activation: Activation,
    /// Layers of the encoder; the decoder has as many.
    pub(super) depth: usize,
    pub(super) parameters: Parameters,
}

impl Activation {
    fn apply(self, x: f32) -> f32 {
        match self {
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Activation::Tanh => x.tanh(),
            Activation::Relu => x.max(0.0),
            Activation::Identity => x,
        }
    }

    /// The derivative where the value is `y`.
    fn slope(self, y: f32) -> f32 {
        match self {
            Activation::Sigmoid => y * (1.0 - y),
            Activation::Tanh => 1.0 - y * y,
            Activation::Relu => f32::from(u8::from(y > 0.0)),
            Activation::Identity => 1.0,
        }
    }
}

impl Parameters {
    /// Zeros of the same shape.
    fn zeros_like(&self) -> Self {
        let weights = self
            .weights
            .iter()
            .map(|w| Small::zeros(w.rows(), w.cols()))
            .collect();
        Parameters {
            weights,
            biases: self.biases.iter().map(|b| vec![0.0; b.len()]).collect(),
        }
    }

    /// All values as slices, in a fixed order.
    fn slices_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let weights = self.weights.iter_mut().map(Small::as_mut_slice);
        weights.chain(self.biases.iter_mut().map(Vec::as_mut_slice))
    }

    fn slices(&self) -> impl Iterator<Item = &[f64]> {
        self.weights
            .iter()
            .map(Small::as_slice)
            .chain(self.biases.iter().map(Vec::as_slice))
    }
}

impl Network {
    fn tied(&self) -> bool {
        self.parameters.weights.len() == self.depth
    }

    fn layers(&self) -> usize {
        2 * self.depth
    }

    fn weight(&self, layer: usize) -> Cow<'_, Small> {
        if layer < self.parameters.weights.len() {
            Cow::Borrowed(&self.parameters.weights[layer])
        } else {
            Cow::Owned(self.parameters.weights[self.layers() - 1 - layer].transposed())
        }
    }

    /// The output of one layer.
    fn step(&self, layer: usize, input: &Block) -> Block {
        let mut out = input.times(&self.weight(layer));
        let bias: Vec<f32> = self.parameters.biases[layer]
            .iter()
            .map(|&b| b as f32)
            .collect();
        let activation = if layer + 1 == self.layers() {
            Activation::Identity
        } else {
            self.activation
        };
        out.update_rows(|_, row| {
            row.iter_mut()
                .zip(&bias)
                .for_each(|(x, b)| *x = activation.apply(*x + b));
        });
        out
    }

    /// The code of a batch.
    pub(super) fn code(&self, batch: &Block) -> Block {
        let first = self.step(0, batch);
        (1..self.depth).fold(first, |a, layer| self.step(layer, &a))
    }

    /// Decodes a code.
    pub(super) fn decode(&self, code: &Block) -> Block {
        let first = self.step(self.depth, code);
        (self.depth + 1..self.layers()).fold(first, |a, layer| self.step(layer, &a))
    }

    /// Mean squared error of a batch, and the derivative of it plus `regularization` times the squared weights.
    pub(super) fn gradient(&self, batch: &Block, regularization: f64) -> (f64, Parameters) {
        let mut outputs: Vec<Block> = Vec::with_capacity(self.layers());
        for layer in 0..self.layers() {
            outputs.push(self.step(layer, outputs.last().unwrap_or(batch)));
        }
        let mut delta = outputs.pop().expect("a network has layers");
        subtract(&mut delta, batch);
        let entries = (batch.rows() * batch.cols()).max(1) as f64;
        let loss = energy(&delta) / entries;
        delta.scale_columns(&vec![2.0 / entries; batch.cols()]);
        let mut gradient = self.parameters.zeros_like();
        for layer in (0..self.layers()).rev() {
            let input = if layer == 0 {
                batch
            } else {
                &outputs[layer - 1]
            };
            self.add_layer(layer, input, &delta, &mut gradient);
            if layer > 0 {
                delta = delta.times(&self.weight(layer).transposed());
                let slope = |y| self.activation.slope(y);
                delta.update_rows(|i, row| {
                    row.iter_mut()
                        .zip(input.row(i))
                        .for_each(|(d, &y)| *d *= slope(y));
                });
            }
        }
        for (to, w) in gradient.weights.iter_mut().zip(&self.parameters.weights) {
            add(to.as_mut_slice(), w.as_slice(), 2.0 * regularization);
        }
        (loss, gradient)
    }

    /// Adds the contribution of one layer to the gradient.
    fn add_layer(&self, layer: usize, input: &Block, delta: &Block, gradient: &mut Parameters) {
        let (rows, means) = (delta.rows() as f64, delta.column_means());
        gradient.biases[layer] = means.into_iter().map(|mean| mean * rows).collect();
        let own = input.cross(delta);
        if self.tied() && layer >= self.depth {
            let shared = &mut gradient.weights[self.layers() - 1 - layer];
            add(shared.as_mut_slice(), own.transposed().as_slice(), 1.0);
        } else {
            add(gradient.weights[layer].as_mut_slice(), own.as_slice(), 1.0);
        }
    }
}

/// a − b in place.
pub(super) fn subtract(a: &mut Block, b: &Block) {
    a.update_rows(|i, row| row.iter_mut().zip(b.row(i)).for_each(|(a, b)| *a -= b));
}

/// The sum of the squares.
pub(super) fn energy(block: &Block) -> f64 {
    block
        .column_norms(Norm::L2)
        .iter()
        .map(|norm| norm * norm)
        .sum()
}

fn add(to: &mut [f64], from: &[f64], factor: f64) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to += factor * from);
}

/// Adam: steps along the running mean of the gradient, divided by its running size.
pub(super) struct Adam {
    rate: f64,
    steps: i32,
    first: Parameters,
    second: Parameters,
}

impl Adam {
    pub(super) fn new(rate: f64, parameters: &Parameters) -> Self {
        Adam {
            rate,
            steps: 0,
            first: parameters.zeros_like(),
            second: parameters.zeros_like(),
        }
    }

    /// One step against a gradient.
    pub(super) fn step(&mut self, parameters: &mut Parameters, gradient: &Parameters) {
        self.steps = self.steps.saturating_add(1);
        let (first, second) = (1.0 - FIRST.powi(self.steps), 1.0 - SECOND.powi(self.steps));
        let moments = self.first.slices_mut().zip(self.second.slices_mut());
        for ((values, gradient), (m, v)) in
            parameters.slices_mut().zip(gradient.slices()).zip(moments)
        {
            for at in 0..values.len() {
                let g = gradient[at];
                m[at] = FIRST * m[at] + (1.0 - FIRST) * g;
                v[at] = SECOND * v[at] + (1.0 - SECOND) * g * g;
                values[at] -= self.rate * (m[at] / first) / ((v[at] / second).sqrt() + TINY);
            }
        }
    }
}
