//! An autoencoder: Z is the code of a network that learns to reconstruct the rows of Y, U that of a network
//! for the rows of S.
//!
//! The encoder maps the columns of Y through `hidden` layers to a code of D units, the decoder mirrors
//! it; all layers but the last are followed by the activation, the last is linear, since Y has both
//! signs. Squared loss, Adam (Kingma, Ba 2015), mini-batches of shuffled rows, and early stopping
//! on held-out rows. Rows are read as needed: Y is never copied into one block.
//!
//! With the identity as activation this is the linear model Y ≈ ZH + offset, whose best solution the SVD gives (Baldi,
//! Hornik 1989); one-layer networks start from the SVD. Products are those of [`crate::dense`], divided by shape alone
//! and summed in order, so the result is the same for any number of threads. Rows of a lazy S are computed from walks as
//! needed, and a batch of them is dense; the input and output layers have one unit per node. Cost: six multiply-adds per
//! weight, row and epoch, which for S grows with N²: hence [`LARGEST_LAZY`]. Memory: one batch and six times the weights.
//!
//! The matrix is multiplied by a constant so that the mean square of its entries is 1. A learning rate then means the same
//! for every graph, and the loss is a share of the squared norm. Each epoch shuffles the rows; after `patience` epochs
//! without improvement, the best weights are used.

mod network;

pub use super::Fit;

use std::ops::Range;

use rand_xoshiro::rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::pair::{at_least_one, not_negative};
use super::{Coded, Factors, Held, Info, Loss, Method, OVERSAMPLING, Shape, Task};
use crate::dense::{Block, Norm, Panels, Small, gram_memory};
use crate::error::{Error, Result};
use crate::operator::{Operator, SQUARABLE};
use crate::parallel;
use crate::random::{Key, below};
use network::{Adam, Network};

/// Maximum number of rows of a lazy matrix.
pub const LARGEST_LAZY: usize = 1 << 15;

/// Maximum number of units of a layer.
const LARGEST_LAYER: usize = 1 << 20;

/// Rows read at once outside training.
const ROWS: usize = 4096;
/// Values read at once, unless a single row has more.
const VALUES: usize = 1 << 24;
/// Rows whose squares one task adds up.
const CHUNK: usize = 256;

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
    fn can_start_from_svd(&self) -> bool {
        self.hidden.is_empty() && self.activation != Activation::Relu
    }

    fn starts_from_svd(&self) -> bool {
        self.start != Start::Random && self.can_start_from_svd()
    }

    /// Units of every layer from the columns of Y to the code.
    fn sizes(&self, columns: usize, code: usize) -> Vec<usize> {
        [&[columns], &self.hidden[..], &[code]].concat()
    }
}

impl Method for Autoencoder {
    fn check(&self, field: &str) -> Result<()> {
        let refuse =
            |name: &str, message: String| Err(Error::config(format!("{field}.{name}"), message));
        let layers = 1..=LARGEST_LAYER;
        if let Some(units) = self.hidden.iter().find(|units| !layers.contains(*units)) {
            let message = format!("a layer has between 1 and {LARGEST_LAYER} units, not {units}");
            return refuse("hidden", message);
        }
        at_least_one(field, "batch", self.batch)?;
        at_least_one(field, "epochs", self.epochs)?;
        at_least_one(field, "patience", self.patience)?;
        if !(self.rate.is_finite() && self.rate > 0.0) {
            return refuse("rate", format!("{} is not a positive number", self.rate));
        }
        not_negative(field, "tolerance", self.tolerance)?;
        not_negative(field, "regularization", self.regularization)?;
        if !(0.0..=0.9).contains(&self.held_out) {
            let message = format!("{} is not a share between 0 and 0.9", self.held_out);
            return refuse("held-out", message);
        }
        if self.start == Start::Svd && !self.can_start_from_svd() {
            let message = "svd needs one hidden layer (hidden = []) and the activation sigmoid, tanh or identity; \
                           use auto or random";
            return refuse("start", message.into());
        }
        Ok(())
    }

    /// The rows are scaled before training.
    fn is_scale_free(&self) -> bool {
        true
    }

    fn largest(&self) -> f64 {
        SQUARABLE
    }

    /// Networks of many units start from a separate decomposition.
    fn holds(&self, shape: &Shape) -> Held {
        Held::basis(shape.rank + OVERSAMPLING, false)
    }

    /// Bytes that training takes in addition to Y, the code and blocks as wide as the code.
    fn memory(&self, shape: &Shape) -> u64 {
        let of = |columns: usize| {
            let sizes = self.sizes(columns, shape.rank as usize);
            let sizes: Vec<u64> = sizes.into_iter().map(|size| size as u64).collect();
            let weights: u64 = sizes.windows(2).map(|pair| pair[0] * pair[1]).sum();
            let units: u64 = sizes.iter().sum();
            let rows = self.batch.max(rows_at_once(columns)) as u64;
            let examples = rows.saturating_mul(2 * 4 * 2 * units);
            let mut bytes = (2 * 8 * 6 * weights).saturating_add(examples);
            if self.starts_from_svd() && columns <= network::WIDEST {
                // The Gram matrix and that of a batch.
                let sum = 8 * (columns * columns) as u64;
                bytes = bytes.saturating_add(gram_memory(rows_at_once(columns), columns) + sum);
            }
            bytes
        };
        let columns = shape.columns as usize;
        if shape.bound {
            // Narrow matrices start from a Gram matrix, wide ones do not.
            of(columns).max(of(columns.min(network::WIDEST)))
        } else {
            of(columns)
        }
    }

    fn dense_blocks(&self) -> u64 {
        0
    }

    fn most_rows(&self) -> usize {
        LARGEST_LAZY
    }

    /// Training on more would take N² steps too many.
    fn too_many(&self, rows: usize) -> Error {
        let message = format!(
            "autoencoder reads each row of a motif matrix as {rows} numbers, and at most {LARGEST_LAZY} nodes are feasible; use \
             svd here and global.solver.method = autoencoder, or motifs that touch fewer nodes"
        );
        Error::config("solver.method", message)
    }

    fn is_code(&self) -> bool {
        true
    }

    fn passes(&self) -> &'static str {
        "epochs"
    }

    /// The code of an operator's rows as factors: U has its columns scaled to length one, sigma their lengths. There is
    /// no V, since decoding is not linear; [`encode`] says how well the network does.
    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        if !matches!(s, Operator::Dense(_)) && s.rows() > LARGEST_LAZY {
            return Err(self.too_many(s.rows()));
        }
        let Encoding { code: mut u, coded } = encode(s, self, task)?;
        let sigma = u.normalize_columns(Norm::L2);
        let measure = "squared error of the rows held out, relative to that of zeros; at the start and after each epoch";
        let fit = &coded.fit;
        let info = Info {
            iterations: fit.epochs,
            converged: fit.converged,
            rank: sigma.iter().filter(|&&sigma| sigma > 0.0).count(),
            loss: Some(Loss {
                measure: measure.into(),
                values: fit.held_out_loss.clone(),
                returned: fit.held_out_loss.get(fit.best).copied(),
            }),
            code: Some(coded),
            ..Info::default()
        };
        Ok(Factors {
            u: u.into(),
            sigma,
            v: None,
            info,
        })
    }
}

/// Rows of this length that are read at once outside training.
fn rows_at_once(columns: usize) -> usize {
    ROWS.min(VALUES / columns.max(1)).max(1)
}

/// Rows of a matrix, scaled.
#[derive(Clone, Copy)]
struct Data<'a> {
    s: &'a Operator,
    scale: f64,
}

impl Data<'_> {
    /// Some rows as a batch.
    fn batch(&self, rows: &[u32]) -> Block {
        let mut batch = Block::zeros(rows.len(), self.s.cols());
        batch.update_rows(|at, row| {
            let i = rows[at] as usize;
            if let Operator::Dense(leaf) = self.s {
                leaf.columns().read_row(i, row);
            } else {
                let mut entries = Vec::new();
                self.s.read_rows().read(i, &mut entries);
                for (j, value) in entries {
                    row[j as usize] = value as f32;
                }
            }
            row.iter_mut()
                .for_each(|x| *x = (f64::from(*x) * self.scale) as f32);
        });
        batch
    }

    /// The Gram matrix of all scaled rows but those `held` out.
    fn gram(&self, held: &[u32]) -> Small {
        let at_once = rows_at_once(self.s.cols());
        let mut gram = Small::zeros(self.s.cols(), self.s.cols());
        if let Operator::Dense(leaf) = self.s {
            gram.add_scaled(self.scale * self.scale, &leaf.columns().gram());
        } else {
            let all: Vec<u32> = (0..self.s.rows() as u32).collect();
            for rows in all.chunks(at_once) {
                gram.add(&self.batch(rows).gram());
            }
        }
        for rows in held.chunks(at_once) {
            gram.add_scaled(-1.0, &self.batch(rows).gram());
        }
        gram
    }

    /// What a network misses of a batch.
    fn missed(&self, network: &Network, batch: &Block) -> Block {
        let mut decoded = network.decode(&network.code(batch));
        network::subtract(&mut decoded, batch);
        decoded
    }

    /// Mean squared error over some rows.
    fn error(&self, network: &Network, rows: &[u32]) -> f64 {
        let mut sum = 0.0;
        for rows in rows.chunks(rows_at_once(self.s.cols())) {
            sum += self.missed(network, &self.batch(rows)).squared_norm();
        }
        sum / (rows.len() * self.s.cols()).max(1) as f64
    }
}

/// The codes of all rows and their accuracy.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// Z, one row per row of Y; columns descend by length. In units of Y for the identity, else as the
    /// activation gives it.
    pub code: Block,
    /// How well the rows are reconstructed, and how training went.
    pub coded: Coded,
}

/// Trains a network on the rows of Y, or on those rows of a lazy matrix that are not zero, and encodes them; the others have a
/// code of zeros. A node that a motif does not touch has no code.
pub fn encode(s: &Operator, options: &Autoencoder, task: &Task) -> Result<Encoding> {
    let is_dense = matches!(s, Operator::Dense(_));
    if is_dense {
        let stage = "training the autoencoder";
        task.progress.stage(stage, options.epochs as u64);
    }
    let (total, mut rows) = squares(s);
    if !total.is_finite() {
        return Err(not_finite("the matrix has entries that are not finite"));
    }
    let entries = (rows.len() * s.cols()) as f64;
    let scale = if total > 0.0 {
        (entries / total).sqrt()
    } else {
        1.0
    };
    let data = Data { s, scale };
    let coded = if total > 0.0 {
        rows.clone()
    } else {
        Vec::new()
    };
    shuffle(&mut rows, task.key.with("held-out", 0));
    let held_out = (rows.len() as f64 * options.held_out) as usize;
    let (held, learnt) = rows.split_at_mut(held_out);
    let mut network = Network::start(data, held, learnt.len(), options, task)?;
    // If Y is zero, there is nothing to learn.
    let mut fit = Fit {
        scale,
        epochs: 0,
        best: 0,
        converged: true,
        held_out_rows: 0,
        training_loss: Vec::new(),
        held_out_loss: Vec::new(),
    };
    if total > 0.0 {
        (fit.held_out_rows, fit.converged) = (held.len(), false);
        train(&mut network, data, held, learnt, options, task, &mut fit)?;
    }
    finish(&network, data, &coded, total, fit, task)
}

/// The sum of all squares, and the rows used for training: all of a dense matrix, the nonzero ones of a lazy matrix.
fn squares(s: &Operator) -> (f64, Vec<u32>) {
    if let Operator::Dense(leaf) = s {
        let energy = leaf.columns().column_energy();
        return (energy.iter().sum(), (0..s.rows() as u32).collect());
    }
    let some = |range: Range<usize>| {
        let (mut rows, mut row) = (s.read_rows(), Vec::new());
        let square = |i: usize| {
            rows.read(i, &mut row);
            row.iter().map(|(_, value)| value * value).sum::<f64>()
        };
        range.map(square).collect::<Vec<f64>>()
    };
    let squares = parallel::stretches(s.rows(), CHUNK, some).concat();
    let nonzero = (0..).zip(&squares).filter(|(_, square)| **square != 0.0);
    let rows = nonzero.map(|(i, _)| i).collect();
    (squares.iter().sum(), rows)
}

/// Trains until nothing improves; leaves the best weights in the network.
fn train(
    network: &mut Network,
    data: Data,
    held: &[u32],
    learnt: &mut [u32],
    options: &Autoencoder,
    task: &Task,
    fit: &mut Fit,
) -> Result<()> {
    let mut adam = Adam::new(options.rate, &network.parameters);
    let judge = |network: &Network, learnt: &[u32]| {
        data.error(network, if held.is_empty() { learnt } else { held })
    };
    let mut least = judge(network, learnt);
    fit.held_out_loss.push(least);
    let mut best = network.parameters.clone();
    let (mut mark, mut waited) = (least, 0);
    for epoch in 1..=options.epochs {
        shuffle(learnt, task.key.with("order", epoch as u64));
        let mut sum = 0.0;
        for rows in learnt.chunks(options.batch) {
            task.progress.check()?;
            let (loss, gradient) = network.gradient(&data.batch(rows), options.regularization);
            adam.step(&mut network.parameters, &gradient);
            sum += loss * rows.len() as f64;
        }
        let loss = sum / learnt.len().max(1) as f64;
        let judged = judge(network, learnt);
        if !(loss.is_finite() && judged.is_finite()) {
            let rate = options.rate;
            return Err(not_finite(&format!(
                "the loss of epoch {epoch} is not finite; lower the solver's rate ({rate})"
            )));
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
        if matches!(data.s, Operator::Dense(_)) {
            task.progress.advance(1);
        }
        if waited == options.patience {
            fit.converged = true;
            break;
        }
    }
    network.parameters = best;
    Ok(())
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
    let columns = data.s.cols();
    let mut code = Block::zeros(data.s.rows(), task.rank);
    let (mut reconstructed, mut missed) = (vec![0.0; columns], 0.0);
    for rows in rows.chunks(rows_at_once(columns)) {
        task.progress.check()?;
        let batch = data.batch(rows);
        let own = network.code(&batch);
        for (at, &i) in rows.iter().enumerate() {
            code.row_mut(i as usize).copy_from_slice(own.row(at));
        }
        let mut decoded = network.decode(&own);
        let norms = decoded.column_norms(Norm::L2);
        for (sum, norm) in reconstructed.iter_mut().zip(norms) {
            *sum += (norm / data.scale).powi(2);
        }
        network::subtract(&mut decoded, &batch);
        missed += decoded.squared_norm() / data.scale.powi(2);
    }
    // The longest column first.
    let norms = code.column_norms(Norm::L2);
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    let mut code = code.select(&order);
    if network.activation == Activation::Identity {
        code.scale_columns(&vec![1.0 / data.scale; order.len()]);
    }
    let residual = if total > 0.0 { missed / total } else { 0.0 };
    if !(residual.is_finite() && code.as_slice().iter().all(|x| x.is_finite())) {
        let message = "the code is not finite; lower the solver's rate";
        return Err(not_finite(message));
    }
    Ok(Encoding {
        code,
        coded: Coded {
            reconstructed,
            residual,
            fit,
        },
    })
}

/// Fisher–Yates shuffle.
fn shuffle(rows: &mut [u32], key: Key) {
    let mut rng = key.rng();
    for last in (1..rows.len()).rev() {
        let other = below(rng.next_u64(), last as u64 + 1);
        rows.swap(last, other as usize);
    }
}

fn not_finite(message: &str) -> Error {
    Error::Numeric {
        stage: "autoencoder".into(),
        message: message.into(),
    }
}
