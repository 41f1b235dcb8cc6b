//! Low-rank factors of an operator, S ≈ U diag(sigma) Vᵀ: one solver per file (sec. 2.4, 2.5).
//!
//! Local embeddings factor a lazy S_t^(k), the global one the dense Y: the same call. A solver is a file with
//! its options and a line in the table below; the losses and constraints it supports are part of its options,
//! so that meaningless combinations cannot be requested.

pub mod als;
pub mod autoencoder;
pub mod bregman;
pub mod ccd;
mod entries;
pub mod exact;
pub mod log_window;
pub mod nmf;
mod pair;
pub mod sgd;
mod subspace;
pub mod svd;

pub use bregman::Divergence;
pub use pair::Start;

use std::ops::Deref;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::dense::{Block, Panels};
use crate::error::{Error, Result};
use crate::operator::{Operator, SQUARABLE};
use crate::progress::Progress;
use crate::random::Key;
use crate::space::PANEL;

/// The table of solvers: name in configurations, options, and a one-line description.
macro_rules! solvers {
    ($($name:literal, $variant:ident($options:ty): $(#[doc = $line:literal])+)+) => {
        /// How an operator is factored; each solver brings its own options.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "method")]
        #[non_exhaustive]
        pub enum Solver {
            $($(#[doc = $line])+ #[serde(rename = $name)] $variant($options),)+
        }

        /// Names of the solvers and what each does.
        pub const SOLVERS: &[(&str, &str)] = &[$(($name, concat!($($line),+).trim_ascii()),)+];

        /// A solver has the properties of its method.
        impl Deref for Solver {
            type Target = dyn Method;

            fn deref(&self) -> &(dyn Method + 'static) {
                match self {
                    $(Solver::$variant(options) => options,)+
                }
            }
        }

        impl Solver {
            /// The name in configurations.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Solver::$variant(_) => $name,)+
                }
            }
        }
    };
}

solvers! {
    "svd", Svd(svd::Svd):
    /// Truncated singular value decomposition: the best approximation in squared loss.
    "als", Als(als::Als):
    /// Alternating least squares: squared loss, L2 penalty, orthogonal factors, observed entries only.
    "ccd", Ccd(ccd::Ccd):
    /// Cyclic coordinate descent, the paper's choice: squared loss, L2 penalty, observed entries only.
    "sgd", Sgd(sgd::Sgd):
    /// Stochastic gradient descent on sampled entries: squared loss, L2 penalty, observed entries only.
    "nmf", Nmf(nmf::Nmf):
    /// Non-negative factors by hierarchical alternating least squares: squared loss, L2 penalty.
    "bregman", Bregman(bregman::Bregman):
    /// Gaussian, Poisson, Gamma or Bernoulli divergence with its link, by alternating Newton steps.
    "autoencoder", Autoencoder(autoencoder::Autoencoder):
    /// A neural network that learns to reconstruct the rows of a matrix; for motif matrices of up to 32768 nodes.
}

impl Default for Solver {
    fn default() -> Self {
        Solver::Svd(svd::Svd::default())
    }
}

impl Solver {
    /// Factors an operator.
    pub fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        let found = self.factor_panels(s, task)?.finite()?;
        Ok(found.map(Panels::into_block))
    }

    /// Factors an operator; wide factors are panels side by side, so that no second copy of them is needed. The caller
    /// has to check whether they are finite.
    pub fn factor_panels(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        // Columns beyond the shape of S are zero; only a code may have more.
        let most = if self.is_code() {
            usize::MAX
        } else {
            s.rows().min(s.cols())
        };
        let rank = task.rank.min(most.max(1));
        let found = (**self).factor(s, &Task { rank, ..*task })?;
        Ok(found.widened(task.rank))
    }

    /// Largest norm of S, as an exponent of 2, that the solver uses unscaled; beyond it, S is scaled for solvers that
    /// do not depend on the scale.
    pub fn largest(&self) -> f64 {
        if self.is_scale_free() {
            SQUARABLE
        } else {
            (**self).largest()
        }
    }

    /// The error model; Gaussian except for the solver that has a choice.
    pub fn loss(&self) -> Divergence {
        match self {
            Solver::Bregman(options) => options.loss,
            _ => Divergence::Gaussian,
        }
    }
}

/// What every solver's options can do.
pub trait Method {
    /// Refuses options out of range; `field` is the dotted name of the solver in the configuration.
    fn check(&self, field: &str) -> Result<()>;

    /// Factors an operator.
    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>>;

    /// Whether a multiple of S has the same factors up to scale: no penalty, and a loss that does not depend
    /// on the scale.
    fn is_scale_free(&self) -> bool;

    /// Largest norm of S, as an exponent of 2, for which all f32 values of the solver stay in range.
    fn largest(&self) -> f64;

    /// Columns in memory while a motif matrix is factored.
    fn holds(&self, shape: &Shape) -> Held {
        Held::improving(shape.rank)
    }

    /// Bytes in addition to [`holds`](Self::holds), or to a dense matrix.
    fn memory(&self, _shape: &Shape) -> u64 {
        0
    }

    /// Whether [`memory`](Self::memory) depends on the number of entries.
    fn keeps_entries(&self) -> bool {
        false
    }

    /// Blocks as wide as the rank, in addition to a dense matrix and its factors.
    fn dense_blocks(&self) -> u64 {
        DENSE_BLOCKS
    }

    /// Maximum number of rows of a motif matrix.
    fn most_rows(&self) -> usize {
        usize::MAX
    }

    /// The refusal of a motif matrix with more rows.
    fn too_many(&self, rows: usize) -> Error {
        Error::config(
            "solver.method",
            format!("a matrix of {rows} rows is too large for this solver; use svd"),
        )
    }

    /// Whether U is a code of the rows of S instead of a linear factor: it may have more columns than S, and there is no V.
    fn is_code(&self) -> bool {
        false
    }

    /// The unit of its work: the name of the option that limits it.
    fn passes(&self) -> &'static str {
        "iterations"
    }
}

/// What is requested of a solver.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Columns of U.
    pub rank: usize,
    /// Whether V is requested too.
    pub right: bool,
    /// Source of randomness.
    pub key: Key,
    /// Asked whether to stop, once per iteration.
    pub progress: &'a dyn Progress,
    /// If memory is short, the folder for temporary files that hold tall matrices while others are worked on.
    pub aside: Option<&'a Path>,
}

/// S ≈ U diag(sigma) Vᵀ, or link(S) if the loss has a link function.
#[derive(Debug, Clone)]
pub struct Factors<T = Block> {
    /// N × rank, columns of length one (or zero).
    pub u: T,
    /// Weight of each column, descending: singular values for the SVD.
    pub sigma: Vec<f64>,
    /// Columns of S × rank, when requested.
    pub v: Option<T>,
    /// How it went.
    pub info: Info,
}

impl<T> Factors<T> {
    /// The same factors, stored differently.
    pub fn map<O>(self, change: impl Fn(T) -> O) -> Factors<O> {
        Factors {
            u: change(self.u),
            sigma: self.sigma,
            v: self.v.map(change),
            info: self.info,
        }
    }
}

/// Says that factors are not finite, and what helps.
pub fn not_finite() -> Error {
    let message =
        "factors are not finite: scale the weights down, or raise the solver's regularization";
    Error::Numeric {
        stage: "factors".into(),
        message: message.into(),
    }
}

impl Factors<Panels> {
    /// The factors, or an error if one of them is not finite.
    pub fn finite(self) -> Result<Self> {
        let sigma = self.sigma.iter().all(|x| x.is_finite());
        if sigma && self.u.is_finite() && self.v.as_ref().is_none_or(Panels::is_finite) {
            return Ok(self);
        }
        Err(not_finite())
    }

    /// With zero columns up to `rank`.
    pub(super) fn widened(mut self, rank: usize) -> Self {
        self.sigma.resize(rank.max(self.sigma.len()), 0.0);
        self.map(|side| side.widened(rank))
    }
}

/// How a factorisation went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// Iterations done.
    pub iterations: usize,
    /// The largest residual of all triplets, ‖S v − σ u‖ or ‖Sᵀu − σ v‖ relative to σ, of the vectors that are returned; if V is
    /// not wanted, with the v that fits best. Absent if the solver has none.
    pub residual: Option<f64>,
    /// Whether the tolerance was met.
    pub converged: bool,
    /// Columns of U that are not zero: less than requested when S has fewer nonzero singular values.
    pub rank: usize,
    /// If the last singular value is multiple and not all of its vectors are among the columns: the number of columns before
    /// it. Which of its vectors are found depends on rounding, the key and the order of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple_from: Option<usize>,
    /// The base of a power of a symmetric matrix, by its formula. Its vectors are those of S, and `residual`,
    /// `converged` and `rank` refer to its decomposition: singular values of S far below rounding are known from it,
    /// and kept.
    pub base: Option<String>,
    /// The loss, if the solver tracks it.
    pub loss: Option<Loss>,
    /// Statistics of a code; absent for linear factors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Coded>,
}

/// Statistics of a code that a network has learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coded {
    /// Squared length of each column of the reconstruction of S.
    pub reconstructed: Vec<f64>,
    /// The squared error of the reconstruction, relative to ‖S‖².
    pub residual: f64,
    /// How the network was trained.
    pub fit: Fit,
}

/// The loss of a factorisation, iteration by iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// What is measured, on which entries, and whether any of it is estimated.
    pub measure: String,
    /// The initial value, then one per iteration.
    pub values: Vec<f64>,
    /// That of the factors that are returned, measured on them in their final basis; absent if rounding took them out of the
    /// range of a link.
    #[serde(default)]
    pub returned: Option<f64>,
}

/// Largest norm of S, as an exponent of 2, for factors A and B as large as its square root: S·B stays in the
/// range of f32.
pub(super) const WITH_ROOTS: f64 = 72.0;

/// The same if only S has to stay in range.
pub(super) const ALONE: f64 = 120.0;

/// What rounding in f32 can make of a loss that is zero.
const ROUNDING: f64 = 1e-4;

/// `left` as a fraction of `whole`. A negative value is rounding, or a mistake: then all other results are wrong, too.
pub fn share_left(left: f64, whole: f64) -> Result<f64> {
    let share = if whole > 0.0 { left / whole } else { 0.0 };
    // Written so that NaN counts as a mistake.
    if share >= -ROUNDING {
        return Ok(share.max(0.0));
    }
    let message = format!(
        "the factors found are larger than the matrix (a loss of {share:e}): the decomposition is wrong; please report it \
         with the graph and settings"
    );
    Err(Error::Numeric {
        stage: "factors".into(),
        message: message.into(),
    })
}

/// How training went; losses are mean squared errors relative to the mean square of Y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// What Y was multiplied with.
    pub scale: f64,
    /// Epochs done.
    pub epochs: usize,
    /// The epoch whose weights were used, from 1; 0 for the initial weights.
    pub best: usize,
    /// Whether training stopped early, for lack of improvement.
    pub converged: bool,
    /// Rows held out; if 0, improvement is measured on the training rows.
    pub held_out_rows: usize,
    /// Mean over the batches of each epoch, during training.
    pub training_loss: Vec<f64>,
    /// The loss by which improvement was measured, at the start and after each epoch.
    pub held_out_loss: Vec<f64>,
}

/// Blocks as wide as a factorisation in memory at once: few if iterations are expensive, more if a Krylov basis is
/// kept.
pub const WORK_BLOCKS: u64 = 5;
pub(super) const KRYLOV_BLOCKS: u64 = 9;
/// Those of the second basis of a matrix that is not symmetric.
pub(super) const LEFT_BLOCKS: u64 = 3;
/// Additional ones of solvers that improve initial factors.
const MORE_BLOCKS: u64 = 2;
/// Panels in addition to the one block of a filter.
const PANELS: u64 = 2;
/// Columns in addition to a block in files, once its products are done.
const BESIDE: u64 = 8;
/// Columns beyond the rank that a solver works with, unless it has an option for it.
pub const OVERSAMPLING: u64 = 8;
/// Blocks in addition to a dense matrix and its factors, of solvers that improve initial factors.
pub(super) const DENSE_BLOCKS: u64 = WORK_BLOCKS + MORE_BLOCKS - 1;

/// Upper bounds on the matrix to be factored.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Rows of the matrix.
    pub rows: u64,
    /// Columns of the matrix.
    pub columns: u64,
    /// Whether there may be fewer rows and columns.
    pub bound: bool,
    /// Entries that are not zero.
    pub entries: u64,
    /// Whether the matrix is symmetric.
    pub symmetric: bool,
    /// Columns of the factors.
    pub rank: u64,
}

/// Columns as tall as the matrix in memory at once.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Columns of one block.
    pub width: u64,
    /// Columns of all blocks.
    pub columns: u64,
    /// Whether the result is one of them; then there is a copy of the values of the matrix.
    pub in_place: bool,
}

impl Held {
    /// Some blocks of one width.
    pub(super) fn blocks(width: u64, blocks: u64) -> Self {
        Held {
            width,
            columns: width * blocks,
            in_place: false,
        }
    }

    /// Columns in memory if panels wait in files: all of them, and some of the last panel once more, while they are
    /// orthonormalised; one panel, its image and the buffers of the product, while they are multiplied.
    pub fn columns_in_files(&self, rank: u64) -> u64 {
        let panel = PANEL as u64;
        (self.width + BESIDE.max(rank % panel)).max(3 * self.width.min(panel))
    }

    /// Those of a Krylov basis.
    pub(super) fn basis(width: u64, symmetric: bool) -> Self {
        Held::blocks(
            width,
            if symmetric {
                KRYLOV_BLOCKS
            } else {
                KRYLOV_BLOCKS + LEFT_BLOCKS
            },
        )
    }

    /// Those of solvers that improve initial factors.
    pub(super) fn improving(rank: u64) -> Self {
        Held::blocks(rank + OVERSAMPLING, WORK_BLOCKS + MORE_BLOCKS)
    }

    /// The one block of a filter, which becomes the result.
    pub(super) fn filtered(width: u64) -> Self {
        Held {
            width,
            columns: width + PANELS * width.min(PANEL as u64),
            in_place: true,
        }
    }
}
