//! The input of a solver ([`Task`]), its output ([`Factors`]), and its properties (`Method`).

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::memory::{DENSE_BLOCKS, Held, Shape};
use crate::dense::{Block, Panels};
use crate::error::{Error, Result};
use crate::operator::Operator;
use crate::progress::Progress;
use crate::random::Key;

/// What every solver's options can do.
pub(super) trait Method {
    /// Refuses options out of range; `field` is the dotted name of the solver in the configuration.
    fn check(&self, field: &str) -> Result<()>;

    /// Factors an operator.
    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors>;

    /// The same in panels, for solvers that compute them so.
    fn factor_panels(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        Ok(self.factor(s, task)?.map(Panels::from))
    }

    /// Whether a multiple of S has the same factors up to scale.
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
        message,
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
