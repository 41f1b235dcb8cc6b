//! Training, and the code of every row.
//!
//! The matrix, Y or a lazy S, is multiplied by a constant so that the mean square of its entries is 1. A learning rate
//! then means the same for every graph, and the loss is a share of the squared norm. Each epoch shuffles the rows;
//! after `patience` epochs without improvement, the best weights are used.

use rand_xoshiro::rand_core::Rng;

use super::network::{Adam, Network, energy, subtract};
use super::options::{Activation, Autoencoder};
use super::source::{Data, Source, rows_at_once};
use super::start;
use crate::dense::{Block, Columns, Norm};
use crate::error::{Error, Result};
use crate::factor::{Fit, Task};
use crate::operator::Operator;
use crate::random::Key;

/// The codes of all rows and their accuracy.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// Z, one row per row of Y; columns descend by length. In units of Y for the identity, else as the
    /// activation gives it.
    pub code: Block,
    /// The squared length of each column of the decoded code, in units of Y.
    pub reconstructed: Vec<f64>,
    /// ‖Y − decoded‖² / ‖Y‖²; 0 when Y is 0.
    pub residual: f64,
    /// How training went.
    pub fit: Fit,
}

/// Trains a network on Y and encodes every row.
pub fn encode(y: &Columns, options: &Autoencoder, task: &Task) -> Result<Encoding> {
    task.progress
        .stage("training the autoencoder", options.epochs as u64);
    encode_rows(Source::Dense(y), options, task, &mut |_| {
        task.progress.advance(1);
    })
}

/// Trains a network on the rows of a lazy matrix that are not zero, and encodes these; the others have a code of zeros.
pub fn encode_lazy(s: &Operator, options: &Autoencoder, task: &Task) -> Result<Encoding> {
    encode_rows(Source::Lazy(s), options, task, &mut |_| ())
}

/// Called after each epoch.
type OnEpoch<'a> = &'a mut dyn FnMut(usize);

fn encode_rows(
    source: Source,
    options: &Autoencoder,
    task: &Task,
    on_epoch: OnEpoch,
) -> Result<Encoding> {
    let (total, mut rows) = source.measure();
    if !total.is_finite() {
        return Err(not_finite("the matrix has entries that are not finite"));
    }
    let entries = (rows.len() * source.cols()) as f64;
    let scale = if total > 0.0 {
        (entries / total).sqrt()
    } else {
        1.0
    };
    let data = Data { source, scale };
    let coded = if total > 0.0 {
        rows.clone()
    } else {
        Vec::new()
    };
    shuffle(&mut rows, task.key.with("held-out", 0));
    let held_out = (rows.len() as f64 * options.held_out) as usize;
    let (held, learnt) = rows.split_at_mut(held_out);
    let mut network = start::network(data, held, learnt.len(), options, task)?;
    let fit = if total > 0.0 {
        train(&mut network, data, [held, learnt], options, task, on_epoch)?
    } else {
        Fit::nothing(scale)
    };
    finish(&network, data, &coded, total, fit, task)
}

impl Fit {
    /// Y is zero: there is nothing to learn.
    fn nothing(scale: f64) -> Self {
        let none = Vec::new;
        Fit {
            scale,
            epochs: 0,
            best: 0,
            converged: true,
            held_out_rows: 0,
            training_loss: none(),
            held_out_loss: none(),
        }
    }
}

/// Trains until nothing improves; leaves the best weights in the network.
fn train(
    network: &mut Network,
    data: Data,
    [held, learnt]: [&mut [u32]; 2],
    options: &Autoencoder,
    task: &Task,
    on_epoch: OnEpoch,
) -> Result<Fit> {
    let held: &[u32] = held;
    let mut adam = Adam::new(options.rate, &network.parameters);
    let mut fit = Fit {
        held_out_rows: held.len(),
        converged: false,
        ..Fit::nothing(data.scale)
    };
    let judge = |network: &Network, learnt: &[u32]| {
        error(network, data, if held.is_empty() { learnt } else { held })
    };
    let mut least = judge(network, learnt);
    fit.held_out_loss.push(least);
    let mut best = network.parameters.clone();
    let (mut mark, mut waited) = (least, 0);
    for epoch in 1..=options.epochs {
        shuffle(learnt, task.key.with("order", epoch as u64));
        let loss = pass(network, &mut adam, data, learnt, options, task)?;
        let judged = judge(network, learnt);
        if !(loss.is_finite() && judged.is_finite()) {
            let message = format!(
                "the loss of epoch {epoch} is not finite; lower the solver's rate ({})",
                options.rate
            );
            return Err(not_finite(&message));
        }
        fit.epochs = epoch;
        fit.training_loss.push(loss);
        fit.held_out_loss.push(judged);
        if judged < least {
            (least, best, fit.best) = (judged, network.parameters.clone(), epoch);
        }
        (mark, waited) = if judged < mark * (1.0 - options.tolerance) {
            (judged, 0)
        } else {
            (mark, waited + 1)
        };
        on_epoch(epoch);
        if waited == options.patience {
            fit.converged = true;
            break;
        }
    }
    network.parameters = best;
    Ok(fit)
}

/// One pass over the rows; the mean loss of its batches.
fn pass(
    network: &mut Network,
    adam: &mut Adam,
    data: Data,
    rows: &[u32],
    options: &Autoencoder,
    task: &Task,
) -> Result<f64> {
    let mut sum = 0.0;
    for rows in rows.chunks(options.batch) {
        task.progress.check()?;
        let batch = data.batch(|at| rows[at] as usize, rows.len());
        let (loss, gradient) = network.gradient(&batch, options.regularization);
        adam.step(&mut network.parameters, &gradient);
        sum += loss * rows.len() as f64;
    }
    Ok(sum / rows.len().max(1) as f64)
}

/// Mean squared error over some rows.
fn error(network: &Network, data: Data, rows: &[u32]) -> f64 {
    let mut sum = 0.0;
    for rows in rows.chunks(rows_at_once(data.source.cols())) {
        let batch = data.batch(|at| rows[at] as usize, rows.len());
        let mut decoded = network.decode(&network.code(&batch));
        subtract(&mut decoded, &batch);
        sum += energy(&decoded);
    }
    sum / (rows.len() * data.source.cols()).max(1) as f64
}

/// Encodes `rows`, in ascending order, and measures the decoding error; the code of other rows is zero.
fn finish(
    network: &Network,
    data: Data,
    rows: &[u32],
    total: f64,
    fit: Fit,
    task: &Task,
) -> Result<Encoding> {
    let (columns, units) = (data.source.cols(), task.rank);
    let mut code = Block::zeros(data.source.rows(), units);
    let (mut reconstructed, mut missed) = (vec![0.0; columns], 0.0);
    for rows in rows.chunks(rows_at_once(columns)) {
        task.progress.check()?;
        let batch = data.batch(|at| rows[at] as usize, rows.len());
        let own = network.code(&batch);
        rows.iter()
            .enumerate()
            .for_each(|(at, &i)| code.row_mut(i as usize).copy_from_slice(own.row(at)));
        let mut decoded = network.decode(&own);
        let norms = decoded.column_norms(Norm::L2);
        reconstructed
            .iter_mut()
            .zip(norms)
            .for_each(|(sum, norm)| *sum += (norm / data.scale).powi(2));
        subtract(&mut decoded, &batch);
        missed += energy(&decoded) / data.scale.powi(2);
    }
    sort(
        &mut code,
        if network.activation == Activation::Identity {
            1.0 / data.scale
        } else {
            1.0
        },
    );
    let residual = if total > 0.0 { missed / total } else { 0.0 };
    if !(residual.is_finite() && code.as_slice().iter().all(|x| x.is_finite())) {
        return Err(not_finite(
            "the code is not finite; lower the solver's rate",
        ));
    }
    Ok(Encoding {
        code,
        reconstructed,
        residual,
        fit,
    })
}

/// Sorts the columns, longest first, and multiplies them by a factor.
fn sort(code: &mut Block, factor: f64) {
    let norms = code.column_norms(Norm::L2);
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    code.update_rows(|_, row| {
        let from = row.to_vec();
        row.iter_mut()
            .zip(&order)
            .for_each(|(to, &j)| *to = (f64::from(from[j]) * factor) as f32);
    });
}

/// Fisher–Yates shuffle.
fn shuffle(rows: &mut [u32], key: Key) {
    let mut rng = key.rng();
    for last in (1..rows.len()).rev() {
        let other = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
        rows.swap(last, other as usize);
    }
}

fn not_finite(message: &str) -> Error {
    Error::Numeric {
        stage: "autoencoder".into(),
        message: message.into(),
    }
}
