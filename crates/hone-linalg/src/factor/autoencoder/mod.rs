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
//! and summed in order, so the result is the same for any number of threads. Rows of a lazy S are also computed as
//! needed (`source`); its input and output layers have one unit per node. Cost: six multiply-adds per weight, row and
//! epoch, which for S grows with N²: hence [`LARGEST_LAZY`]. Memory: one batch and six times the weights.

mod network;
mod options;
mod source;
mod start;
mod train;

pub use options::{Activation, Autoencoder, Start};
pub use train::{Encoding, encode, encode_lazy};

pub use super::Fit;
use super::{Coded, Factors, Held, Info, Loss, Method, OVERSAMPLING, Shape, Task};
use crate::dense::Norm;
use crate::error::{Error, Result};
use crate::operator::{Operator, SQUARABLE};

/// Maximum number of rows of a lazy matrix.
pub const LARGEST_LAZY: usize = 1 << 15;

/// Maximum number of units of a layer.
const LARGEST_LAYER: usize = 1 << 20;

impl Method for Autoencoder {
    fn check(&self, field: &str) -> Result<()> {
        let refuse =
            |name: &str, message: String| Err(Error::config(format!("{field}.{name}"), message));
        if let Some(units) = self
            .hidden
            .iter()
            .find(|units| !(1..=LARGEST_LAYER).contains(*units))
        {
            return refuse(
                "hidden",
                format!("a layer has between 1 and {LARGEST_LAYER} units, not {units}"),
            );
        }
        for (name, value) in [
            ("batch", self.batch),
            ("epochs", self.epochs),
            ("patience", self.patience),
        ] {
            if value == 0 {
                return refuse(name, "must be at least 1".into());
            }
        }
        if !(self.rate.is_finite() && self.rate > 0.0) {
            return refuse("rate", format!("{} is not a positive number", self.rate));
        }
        for (name, value) in [
            ("tolerance", self.tolerance),
            ("regularization", self.regularization),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(name, format!("{value} is not a number ≥ 0"));
            }
        }
        if !(0.0..=0.9).contains(&self.held_out) {
            return refuse(
                "held-out",
                format!("{} is not a share between 0 and 0.9", self.held_out),
            );
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

    fn memory(&self, shape: &Shape) -> u64 {
        let (columns, code) = (shape.columns as usize, shape.rank as usize);
        if shape.bound {
            self.memory_up_to(columns, code)
        } else {
            self.memory_for(columns, code)
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
    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        let Encoding {
            code: mut u,
            reconstructed,
            residual,
            fit,
        } = match s {
            Operator::Dense(leaf) => encode(leaf.columns(), self, task)?,
            lazy if lazy.rows() > LARGEST_LAZY => return Err(self.too_many(lazy.rows())),
            lazy => encode_lazy(lazy, self, task)?,
        };
        let sigma = u.normalize_columns(Norm::L2);
        let rank = sigma.iter().filter(|&&sigma| sigma > 0.0).count();
        let measure = "squared error of the rows held out, relative to that of zeros; at the start and after each epoch";
        let loss = Some(Loss {
            measure: measure.into(),
            values: fit.held_out_loss.clone(),
            returned: fit.held_out_loss.get(fit.best).copied(),
        });
        let (iterations, converged) = (fit.epochs, fit.converged);
        let code = Some(Coded {
            reconstructed,
            residual,
            fit,
        });
        let info = Info {
            iterations,
            converged,
            rank,
            loss,
            code,
            ..Info::default()
        };
        Ok(Factors {
            u,
            sigma,
            v: None,
            info,
        })
    }
}

impl Autoencoder {
    /// Bytes that training takes in addition to Y, the code and blocks as wide as the code, for this many columns of Y
    /// and units of code.
    fn memory_for(&self, columns: usize, code: usize) -> u64 {
        let sizes: Vec<u64> = self
            .sizes(columns, code)
            .iter()
            .map(|&size| size as u64)
            .collect();
        let weights: u64 = sizes.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let units: u64 = sizes.iter().sum();
        let rows = self.batch.max(source::rows_at_once(columns)) as u64;
        let training = (2 * 8 * 6 * weights).saturating_add(rows.saturating_mul(2 * 4 * 2 * units));
        training.saturating_add(if self.starts_from_svd() {
            start::memory(columns)
        } else {
            0
        })
    }

    /// The same for any number of columns up to `columns`: narrow matrices start from a Gram matrix, wide ones do not.
    fn memory_up_to(&self, columns: usize, code: usize) -> u64 {
        self.memory_for(columns, code)
            .max(self.memory_for(columns.min(start::WIDEST), code))
    }
}
