//! The weights before the first batch: random, or the SVD of Y.
//!
//! Let x V be the leading singular directions of a row. The identity starts at W = V and Vᵀ, the optimum
//! except for the offset. A unit whose input is scaled by its root mean square over all rows is nearly
//! linear: tanh(z) ≈ z and sigmoid(z) ≈ ½ + z/4, so W = V diag(s) with s_j = 1 / rms_j (½ / rms_j for tanh)
//! and a decoder that undoes slope, s and the ½ start close to the SVD as well. Tied weights
//! leave no such freedom: a² f'(0) = 1 gives W = aV. V comes from the Gram matrix of the training rows, so
//! that held-out rows do not favour the start over what is learnt (for very wide Y, from all rows, by
//! iteration).

use super::network::{Network, Parameters};
use super::options::{Activation, Autoencoder};
use super::source::{Data, Source, rows_at_once};
use crate::dense::{Block, Small, gram_memory};
use crate::error::Result;
use crate::factor::Task;
use crate::factor::svd::{Svd, svd};
use crate::operator::Operator;
use crate::random::Key;

/// Singular values below this fraction of the largest give no direction to start from.
const ZERO: f64 = 1e-5;

/// Gram matrices of more columns take longer than iterations.
pub(super) const WIDEST: usize = 2048;

/// Bytes of the Gram matrix of this many columns, that of a batch, and for decomposing it; none if directions are found
/// by iteration.
pub(super) fn memory(columns: usize) -> u64 {
    if columns > WIDEST {
        return 0;
    }
    // The sum over batches, in addition to the Gram matrix of one.
    gram_memory(rows_at_once(columns), columns) + 8 * (columns * columns) as u64
}

/// The network before the first batch, for `learnt` training rows; the rows `held` out are not used.
pub(super) fn network(
    data: Data,
    held: &[u32],
    learnt: usize,
    options: &Autoencoder,
    task: &Task,
) -> Result<Network> {
    let cols = data.source.cols();
    let mut network = random(options, cols, task.rank, task.key.with("weights", 0));
    if options.starts_from_svd() && cols > 0 && learnt > 0 {
        let wide = cols > WIDEST;
        let directions = if wide {
            by_iteration(data, held.len() + learnt, task)?
        } else {
            by_gram(data, held, learnt)?
        };
        from_svd(&mut network, &directions);
    }
    Ok(network)
}

/// Leading right singular vectors of scaled rows, and the root mean square of the rows along each.
struct Directions {
    vectors: Small,
    rms: Vec<f64>,
}

fn by_gram(data: Data, held: &[u32], learnt: usize) -> Result<Directions> {
    let eigen = data.gram(held).eigen()?;
    let rows = learnt as f64;
    let rms = eigen
        .values
        .iter()
        .map(|value| (value.max(0.0) / rows).sqrt())
        .collect();
    Ok(Directions {
        vectors: eigen.vectors,
        rms,
    })
}

fn by_iteration(data: Data, rows: usize, task: &Task) -> Result<Directions> {
    let rows = rows as f64;
    let leading = Task {
        rank: task.rank.min(data.source.cols()),
        right: true,
        ..*task
    };
    let found = match data.source {
        Source::Dense(y) => svd(&Operator::dense("Y", y.clone()), &Svd::default(), &leading)?,
        Source::Lazy(s) => svd(s, &Svd::default(), &leading)?,
    };
    let v = found.v.expect("the right factor was asked for");
    let vectors = Small::from_fn(v.rows(), v.cols(), |i, j| f64::from(v.get(i, j)));
    let rms = found
        .sigma
        .iter()
        .map(|sigma| sigma * data.scale / rows.sqrt())
        .collect();
    Ok(Directions { vectors, rms })
}

/// Random weights, zero biases.
fn random(options: &Autoencoder, columns: usize, code: usize, key: Key) -> Network {
    let sizes = options.sizes(columns, code);
    let mut pairs: Vec<(usize, usize)> = sizes.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let back: Vec<(usize, usize)> = pairs.iter().rev().map(|&(a, b)| (b, a)).collect();
    let depth = pairs.len();
    let widths: Vec<usize> = pairs.iter().chain(&back).map(|pair| pair.1).collect();
    if !options.tied {
        pairs.extend(back);
    }
    let weights = pairs.iter().enumerate().map(|(layer, &(a, b))| {
        let spread = match options.activation {
            Activation::Relu => (6.0 / a.max(1) as f64).sqrt(),
            _ => (6.0 / (a + b).max(1) as f64).sqrt(),
        };
        let drawn = Block::random(a, b, key.with("layer", layer as u64));
        Small::from_fn(a, b, |i, j| spread * f64::from(drawn.get(i, j)))
    });
    let parameters = Parameters {
        weights: weights.collect(),
        biases: widths.iter().map(|&width| vec![0.0; width]).collect(),
    };
    Network {
        activation: options.activation,
        depth,
        parameters,
    }
}

/// Replaces the units for which there is a direction; the others stay random, with zero weight in the decoder.
fn from_svd(network: &mut Network, directions: &Directions) {
    let Directions { vectors, rms } = directions;
    let floor = rms.first().map_or(0.0, |most| most * ZERO);
    let Parameters { weights, biases } = &mut network.parameters;
    let (encoder, decoders) = weights.split_first_mut().expect("an encoder has a layer");
    let tied = decoders.is_empty();
    for j in 0..encoder.cols() {
        let rms = rms.get(j).copied().filter(|&rms| rms > floor);
        let (into, out, middle) = factors(network.activation, tied, rms.unwrap_or(1.0));
        for i in 0..encoder.rows() {
            let direction = rms.map_or(0.0, |_| vectors.get(i, j));
            if rms.is_some() || tied {
                encoder.set(i, j, into * direction);
            }
            if let Some(decoder) = decoders.first_mut() {
                decoder.set(j, i, out * direction);
            }
            biases[1][i] -= middle * out * direction;
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
