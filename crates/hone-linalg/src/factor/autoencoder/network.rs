//! The network: layers, forward and backward passes, and Adam.
//!
//! Layer l maps a batch A_l (one example per row) to A_{l+1} = f(A_l W_l + b_l). With the loss
//! mean (A_last − A_0)² and Δ its derivative before f, dW_l = A_lᵀ Δ_l, db_l = Δ_lᵀ e and
//! Δ_{l−1} = (Δ_l W_lᵀ) ∘ f'(A_l): the derivative of every activation is a function of its value. Weights are f64,
//! examples f32, sums over examples f64.
//!
//! The weights before the first batch are random, or the SVD of Y. Let x V be the leading singular directions of a row. The
//! identity starts at W = V and Vᵀ, the optimum except for the offset. A unit whose input is scaled by its root mean square
//! over all rows is nearly linear: tanh(z) ≈ z and sigmoid(z) ≈ ½ + z/4, so W = V diag(s) with s_j = 1 / rms_j (½ / rms_j for
//! tanh) and a decoder that undoes slope, s and the ½ start close to the SVD as well. Tied weights leave no such freedom:
//! a² f'(0) = 1 gives W = aV. V comes from the Gram matrix of the training rows, so that held-out rows do not favour the start
//! over what is learnt (for very wide Y, from all rows, by iteration).

use std::borrow::Cow;

use super::{Activation, Autoencoder, Data};
use crate::dense::{Block, Small};
use crate::error::Result;
use crate::factor::Task;
use crate::factor::svd::{Svd, svd};
use crate::random::Key;

/// Singular values below this fraction of the largest give no direction to start from.
const ZERO: f64 = 1e-5;

/// Gram matrices of more columns take longer than iterations.
pub(super) const WIDEST: usize = 2048;

/// Decay of Adam's first moments.
const FIRST: f64 = 0.9;
/// Decay of Adam's second moments.
const SECOND: f64 = 0.999;
/// Keeps Adam's divisions finite.
const TINY: f64 = 1e-8;

/// An encoder and its decoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Network {
    pub(super) activation: Activation,
    /// Layers of the encoder; the decoder has as many.
    depth: usize,
    /// One matrix per layer, inputs × outputs, of the encoder alone if the decoder is tied to it; then a row of biases for each
    /// layer of both.
    pub(super) parameters: Vec<Small>,
}

/// Shapes of the parameters of a network, given the sizes of the encoder's layers.
fn shapes(sizes: &[usize], tied: bool) -> Vec<(usize, usize)> {
    let encoder = sizes.windows(2).map(|pair| (pair[0], pair[1]));
    let decoder = encoder.clone().rev().map(|(a, b)| (b, a));
    let layers: Vec<(usize, usize)> = encoder.clone().chain(decoder).collect();
    let weights = if tied { encoder.len() } else { layers.len() };
    let biases = layers.iter().map(|&(_, width)| (1, width));
    layers[..weights].iter().copied().chain(biases).collect()
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

impl Network {
    /// The network before the first batch, for `learnt` training rows; the rows `held` out are not used.
    pub(super) fn start(
        data: Data,
        held: &[u32],
        learnt: usize,
        options: &Autoencoder,
        task: &Task,
    ) -> Result<Network> {
        let cols = data.s.cols();
        let key = task.key.with("weights", 0);
        let mut network = Network::random(options, cols, task.rank, key);
        if !options.starts_from_svd() || cols == 0 || learnt == 0 {
            return Ok(network);
        }
        if cols <= WIDEST {
            let eigen = data.gram(held).eigen()?;
            let root = |value: &f64| (value.max(0.0) / learnt as f64).sqrt();
            let rms: Vec<f64> = eigen.values.iter().map(root).collect();
            network.set_directions(&eigen.vectors, &rms);
        } else {
            let leading = Task {
                rank: task.rank.min(cols),
                right: true,
                ..*task
            };
            let found = svd(data.s, &Svd::default(), &leading)?;
            let v = found.v.expect("the right factor was asked for");
            let root = ((held.len() + learnt) as f64).sqrt();
            let rms: Vec<f64> = found.sigma.iter().map(|x| x * data.scale / root).collect();
            network.set_directions(&Small::from(&v), &rms);
        }
        Ok(network)
    }

    /// Random weights, zero biases.
    fn random(options: &Autoencoder, columns: usize, code: usize, key: Key) -> Network {
        let sizes = options.sizes(columns, code);
        let (depth, shapes) = (sizes.len() - 1, shapes(&sizes, options.tied));
        let weights = shapes.len() - 2 * depth;
        let parameter = |(at, (a, b)): (usize, (usize, usize))| {
            if at >= weights {
                return Small::zeros(a, b);
            }
            let spread = match options.activation {
                Activation::Relu => (6.0 / a.max(1) as f64).sqrt(),
                _ => (6.0 / (a + b).max(1) as f64).sqrt(),
            };
            let drawn = Block::random(a, b, key.with("layer", at as u64));
            Small::from_fn(a, b, |i, j| spread * f64::from(drawn.get(i, j)))
        };
        Network {
            activation: options.activation,
            depth,
            parameters: shapes.into_iter().enumerate().map(parameter).collect(),
        }
    }

    /// Replaces the units for which there is a direction, a column of `vectors`, given the root mean square of the rows along
    /// each; the others stay random, with zero weight in the decoder.
    fn set_directions(&mut self, vectors: &Small, rms: &[f64]) {
        let floor = rms.first().map_or(0.0, |most| most * ZERO);
        let tied = self.weights() == self.depth;
        let [encoder, decoder @ .., biases] = &mut self.parameters[..] else {
            unreachable!("a network has an encoder and biases")
        };
        for j in 0..encoder.cols() {
            let rms = rms.get(j).copied().filter(|&rms| rms > floor);
            let (into, out, middle) = factors(self.activation, tied, rms.unwrap_or(1.0));
            for i in 0..encoder.rows() {
                let direction = rms.map_or(0.0, |_| vectors.get(i, j));
                if rms.is_some() || tied {
                    encoder.set(i, j, into * direction);
                }
                if !tied {
                    decoder[0].set(j, i, out * direction);
                }
                biases.row_mut(0)[i] -= middle * out * direction;
            }
        }
    }

    /// Number of layers.
    fn layers(&self) -> usize {
        2 * self.depth
    }

    /// Number of matrices of weights.
    fn weights(&self) -> usize {
        self.parameters.len() - self.layers()
    }

    fn weight(&self, layer: usize) -> Cow<'_, Small> {
        if layer < self.weights() {
            Cow::Borrowed(&self.parameters[layer])
        } else {
            Cow::Owned(self.parameters[self.layers() - 1 - layer].transposed())
        }
    }

    /// The output of one layer.
    fn step(&self, layer: usize, input: &Block) -> Block {
        let mut out = input.times(&self.weight(layer));
        let bias = self.parameters[self.weights() + layer].as_slice().iter();
        let bias: Vec<f32> = bias.map(|&b| b as f32).collect();
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
    pub(super) fn gradient(&self, batch: &Block, regularization: f64) -> (f64, Vec<Small>) {
        let mut outputs: Vec<Block> = Vec::with_capacity(self.layers());
        for layer in 0..self.layers() {
            outputs.push(self.step(layer, outputs.last().unwrap_or(batch)));
        }
        let mut delta = outputs.pop().expect("a network has layers");
        subtract(&mut delta, batch);
        let entries = (batch.rows() * batch.cols()).max(1) as f64;
        let loss = delta.squared_norm() / entries;
        delta.scale_columns(&vec![2.0 / entries; batch.cols()]);
        let mut gradient = zeros_like(&self.parameters);
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
        let weights = &self.parameters[..self.weights()];
        for (to, w) in gradient.iter_mut().zip(weights) {
            to.add_scaled(2.0 * regularization, w);
        }
        (loss, gradient)
    }

    /// Adds the contribution of one layer to the gradient.
    fn add_layer(&self, layer: usize, input: &Block, delta: &Block, gradient: &mut [Small]) {
        let (rows, means) = (delta.rows() as f64, delta.column_means());
        let biases = gradient[self.weights() + layer].as_mut_slice().iter_mut();
        biases.zip(means).for_each(|(to, mean)| *to = mean * rows);
        let own = input.cross(delta);
        if layer < self.weights() {
            gradient[layer].add(&own);
        } else {
            gradient[self.layers() - 1 - layer].add(&own.transposed());
        }
    }
}

/// The factors of V in the encoder and in the decoder, and the value of a unit without input.
fn factors(activation: Activation, tied: bool, rms: f64) -> (f64, f64, f64) {
    match (activation, tied) {
        (Activation::Sigmoid, true) => (2.0, 2.0, 0.5),
        (Activation::Sigmoid, false) => (1.0 / rms, 4.0 * rms, 0.5),
        (Activation::Tanh, false) => (0.5 / rms, 2.0 * rms, 0.0),
        _ => (1.0, 1.0, 0.0),
    }
}

/// a − b in place.
pub(super) fn subtract(a: &mut Block, b: &Block) {
    a.update_rows(|i, row| row.iter_mut().zip(b.row(i)).for_each(|(a, b)| *a -= b));
}

/// Zeros of the same shapes.
fn zeros_like(parameters: &[Small]) -> Vec<Small> {
    let zeros = parameters.iter().map(|p| Small::zeros(p.rows(), p.cols()));
    zeros.collect()
}

/// Adam: steps along the running mean of the gradient, divided by its running size.
pub(super) struct Adam {
    rate: f64,
    steps: i32,
    first: Vec<Small>,
    second: Vec<Small>,
}

impl Adam {
    pub(super) fn new(rate: f64, parameters: &[Small]) -> Self {
        Adam {
            rate,
            steps: 0,
            first: zeros_like(parameters),
            second: zeros_like(parameters),
        }
    }

    /// One step against a gradient.
    pub(super) fn step(&mut self, parameters: &mut [Small], gradient: &[Small]) {
        self.steps = self.steps.saturating_add(1);
        let (first, second) = (1.0 - FIRST.powi(self.steps), 1.0 - SECOND.powi(self.steps));
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((values, gradient), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            let (values, gradient) = (values.as_mut_slice(), gradient.as_slice());
            let (m, v) = (m.as_mut_slice(), v.as_mut_slice());
            for at in 0..values.len() {
                let g = gradient[at];
                m[at] = FIRST * m[at] + (1.0 - FIRST) * g;
                v[at] = SECOND * v[at] + (1.0 - SECOND) * g * g;
                values[at] -= self.rate * (m[at] / first) / ((v[at] / second).sqrt() + TINY);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Key;

    /// A network of arbitrary weights and biases.
    fn arbitrary(sizes: &[usize], activation: Activation, tied: bool, seed: u64) -> Network {
        let depth = sizes.len() - 1;
        let draw = |(at, (a, b)): (usize, (usize, usize))| {
            let drawn = Block::random(a, b, Key::new(seed).with("parameters", at as u64));
            let spread = if a == 1 { 0.5 } else { 1.0 };
            Small::from_fn(a, b, |i, j| spread * f64::from(drawn.get(i, j)))
        };
        let shapes = shapes(sizes, tied).into_iter().enumerate();
        Network {
            activation,
            depth,
            parameters: shapes.map(draw).collect(),
        }
    }

    /// Loss of one network on a batch, example by example, in f64.
    fn naive_loss(network: &Network, batch: &Block, regularization: f64) -> f64 {
        let (weights, biases) = network.parameters.split_at(network.weights());
        let layers = biases.len();
        let weight = |layer: usize, i: usize, j: usize| {
            if layer < weights.len() {
                weights[layer].get(i, j)
            } else {
                weights[layers - 1 - layer].get(j, i)
            }
        };
        let mut sum = 0.0;
        for row in 0..batch.rows() {
            let input: Vec<f64> = batch.row(row).iter().map(|&x| f64::from(x)).collect();
            let mut a = input.clone();
            for layer in 0..layers {
                let unit = |(j, bias): (usize, &f64)| {
                    let inputs = a.iter().enumerate();
                    bias + inputs.map(|(i, a)| a * weight(layer, i, j)).sum::<f64>()
                };
                let biases = biases[layer].as_slice().iter().enumerate();
                let z: Vec<f64> = biases.map(unit).collect();
                let f = |z: f64| match network.activation {
                    Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
                    Activation::Tanh => z.tanh(),
                    Activation::Relu => z.max(0.0),
                    Activation::Identity => z,
                };
                a = if layer + 1 == layers {
                    z
                } else {
                    z.into_iter().map(f).collect()
                };
            }
            sum += a
                .iter()
                .zip(&input)
                .map(|(a, x)| (a - x).powi(2))
                .sum::<f64>();
        }
        let squares: f64 = weights
            .iter()
            .flat_map(Small::as_slice)
            .map(|w| w * w)
            .sum();
        sum / (batch.rows() * batch.cols()) as f64 + regularization * squares
    }

    /// Every entry of a gradient against central differences of the naive loss. Networks compute in f32, and rounding grows with the
    /// loss.
    fn check_gradient(sizes: &[usize], activation: Activation, tied: bool, seed: u64) {
        const H: f64 = 1e-5;
        let network = arbitrary(sizes, activation, tied, seed);
        let batch = Block::random(7, sizes[0], Key::new(seed ^ 4));
        let (loss, gradient) = network.gradient(&batch, 0.01);
        let what = format!("{activation:?}, {sizes:?}, tied {tied}");
        assert!(
            (loss - naive_loss(&network, &batch, 0.0)).abs() < 1e-5 * (1.0 + loss),
            "{what}: loss {loss}"
        );
        for (which, own) in gradient.iter().enumerate() {
            for (at, found) in own.as_slice().iter().enumerate() {
                let moved = |h: f64| {
                    let mut moved = network.clone();
                    moved.parameters[which].as_mut_slice()[at] += h;
                    naive_loss(&moved, &batch, 0.01)
                };
                let truth = (moved(H) - moved(-H)) / (2.0 * H);
                assert!(
                    (found - truth).abs() < 2e-5 * (1.0 + loss + truth.abs()),
                    "{what}: parameter {which} {at} {found} {truth}"
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn gradients_agree_with_finite_differences(
            sizes in prop::collection::vec(1usize..7, 2..5), activation in 0usize..3, tied: bool, seed: u64
        ) {
            // At a kink of relu a difference says nothing.
            let smooth = [Activation::Sigmoid, Activation::Tanh, Activation::Identity][activation];
            check_gradient(&sizes, smooth, tied, seed);
        }
    }

    #[test]
    fn gradients_of_rectified_networks() {
        check_gradient(&[6, 5, 3], Activation::Relu, false, 3);
        check_gradient(&[4, 7, 5, 2], Activation::Relu, true, 3);
    }
}
