//! Low-rank factors of an operator, S ≈ U diag(sigma) Vᵀ: one solver per file (sec. 2.4, 2.5).
//!
//! Local embeddings factor a lazy S_t^(k), the global one the dense Y: the same call. A solver is a file with
//! its options and a line in the table below; which loss and which constraints it can keep is written in its
//! options, so that pairs that make no sense cannot be requested.

pub mod als;
pub mod autoencoder;
mod bilinear;
pub mod bregman;
pub mod ccd;
pub(crate) mod exact;
mod iterate;
pub mod log_window;
pub mod loss;
pub(crate) mod memory;
pub mod nmf;
mod observed;
mod sample;
pub mod sgd;
mod subspace;
pub mod svd;
mod svd_options;

pub use bilinear::Start;

use serde::{Deserialize, Serialize};

use crate::dense::{Block, Panels};
use crate::error::{Error, Result};
use crate::operator::{Operator, SQUARABLE};
use crate::progress::Progress;
use crate::random::Key;
use memory::{DENSE_BLOCKS, Held, Shape};

/// What every solver's options can do.
trait Method {
    /// Refuses options out of range; `field` is the dotted name of the solver in the configuration.
    fn check(&self, field: &str) -> Result<()>;

    /// Factors an operator.
    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors>;

    /// The same in panels, for solvers that find them so.
    fn factor_panels(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        Ok(self.factor(s, task)?.map(Panels::from))
    }

    /// Whether a multiple of S has the same factors, but for their size.
    fn is_scale_free(&self) -> bool;

    /// Largest norm of S, as an exponent of 2, for which nothing that the solver computes in f32 leaves its range.
    fn largest(&self) -> f64;

    /// Columns that are held while a motif matrix is factored.
    fn holds(&self, shape: &Shape) -> Held {
        Held::improving(shape.rank)
    }

    /// Bytes held beside what [`holds`](Self::holds) says, or beside a dense matrix.
    fn memory(&self, _shape: &Shape) -> u64 {
        0
    }

    /// Whether the number of entries counts for [`memory`](Self::memory).
    fn keeps_entries(&self) -> bool {
        false
    }

    /// Blocks as wide as the rank that are held beside a dense matrix and its factors.
    fn dense_blocks(&self) -> u64 {
        DENSE_BLOCKS
    }

    /// Rows that a motif matrix may have.
    fn most_rows(&self) -> usize {
        usize::MAX
    }

    /// The refusal of a motif matrix with more rows.
    fn too_many(&self, rows: usize) -> Error {
        Error::config("solver.method", format!("a matrix of {rows} rows is too large for this solver; use svd"))
    }

    /// Whether U is a code of the rows of S instead of a linear factor: it may have more columns than S, and there is no V.
    fn is_code(&self) -> bool {
        false
    }

    /// What its work is counted in: the name of the option that bounds it.
    fn passes(&self) -> &'static str {
        "iterations"
    }
}

/// The one table of solvers: name in configurations, options, and a line that says what it does.
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

        impl Solver {
            fn method(&self) -> &dyn Method {
                match self {
                    $(Solver::$variant(options) => options,)+
                }
            }

            fn entry(&self) -> (&'static str, &'static str) {
                match self {
                    $(Solver::$variant(_) => ($name, concat!($($line),+)),)+
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
    /// A network that learns to repeat the rows of a matrix; for motif matrices of up to 32768 nodes.
}

impl Default for Solver {
    fn default() -> Self {
        Solver::Svd(svd::Svd::default())
    }
}

/// What is requested of a solver.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Columns of U.
    pub rank: usize,
    /// Whether V is wanted too.
    pub right: bool,
    /// Source of randomness.
    pub key: Key,
    /// Asked whether to stop, once per iteration.
    pub progress: &'a dyn Progress,
}

/// S ≈ U diag(sigma) Vᵀ, or link(S) where the loss has one.
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
    /// The same factors, kept otherwise.
    pub fn map<O>(self, change: impl Fn(T) -> O) -> Factors<O> {
        Factors { u: change(self.u), sigma: self.sigma, v: self.v.map(change), info: self.info }
    }
}

impl Factors<Panels> {
    /// The factors, or an error where one of them is not finite.
    pub fn finite(self) -> Result<Self> {
        let sigma = self.sigma.iter().all(|x| x.is_finite());
        if sigma && self.u.is_finite() && self.v.as_ref().is_none_or(Panels::is_finite) {
            return Ok(self);
        }
        let message = "factors are not finite: scale the weights down, or raise the solver's regularization";
        Err(Error::Numeric { stage: "factors".into(), message: message.into() })
    }

    /// With zero columns up to `rank`.
    fn widened(mut self, rank: usize) -> Self {
        self.sigma.resize(rank.max(self.sigma.len()), 0.0);
        self.map(|side| side.widened(rank))
    }
}

/// How a factorisation went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// Iterations done.
    pub iterations: usize,
    /// Last residual measured, relative to the singular value and beyond rounding: the worst over the columns, or over four of
    /// them after few iterations with a symmetric matrix. Absent when no iteration was left to measure it, or the solver has
    /// none.
    pub residual: Option<f64>,
    /// Whether the tolerance was met.
    pub converged: bool,
    /// Columns of U that are not zero: less than requested when S has fewer nonzero singular values.
    pub rank: usize,
    /// The base of a power of a symmetric matrix, by its formula. Its vectors are those of S, and `residual`, `converged`
    /// and `rank` are of its decomposition: singular values of S far below rounding are known from it, and kept.
    pub base: Option<String>,
    /// The loss, where the solver follows it.
    pub loss: Option<Loss>,
    /// What is known of a code; absent for linear factors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Coded>,
}

/// What is known of a code that a network has learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coded {
    /// Squared length of each column of S as the network repeats it.
    pub reconstructed: Vec<f64>,
    /// What it does not repeat of S, as a part of its squared size.
    pub residual: f64,
    /// How the network was trained.
    pub fit: autoencoder::Fit,
}

/// The loss of a factorisation, iteration by iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// What is measured, on which entries, and whether any of it is estimated.
    pub measure: String,
    /// That of the start, then one value per iteration.
    pub values: Vec<f64>,
}

/// Largest norm of S, as an exponent of 2, for factors A and B of the size of its root: S·B stays in the range of f32.
const WITH_ROOTS: f64 = 72.0;

/// The same where S alone has to stay in range.
const ALONE: f64 = 120.0;

/// What rounding in f32 can make of a loss that is zero.
const ROUNDING: f64 = 1e-4;

/// `left` as a part of `whole`. Less than nothing is rounding, or a mistake: then all else that was found is wrong, too.
pub(crate) fn share_left(left: f64, whole: f64) -> Result<f64> {
    let share = if whole > 0.0 { left / whole } else { 0.0 };
    // Written so that NaN is a mistake.
    if share >= -ROUNDING {
        return Ok(share.max(0.0));
    }
    let message = format!(
        "the factors found are larger than the matrix (a loss of {share:e}): the decomposition is wrong; please report it \
         with the graph and settings"
    );
    Err(Error::Numeric { stage: "factors".into(), message })
}

impl Solver {
    /// Refuses options out of range; `field` is the dotted name of the solver in the configuration.
    pub fn check(&self, field: &str) -> Result<()> {
        self.method().check(field)
    }

    /// Factors an operator.
    pub fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        Ok(self.factor_panels(s, task)?.finite()?.map(Panels::into_block))
    }

    /// Factors an operator; wide factors are panels side by side, so that no second copy of them is needed. Whether they are
    /// finite is the caller's to check.
    pub fn factor_panels(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        // Columns beyond the shape of S are zero; only a code may have more.
        let most = if self.is_code() { usize::MAX } else { s.rows().min(s.cols()) };
        let rank = task.rank.min(most.max(1));
        Ok(self.method().factor_panels(s, &Task { rank, ..*task })?.widened(task.rank))
    }

    /// Columns that are held while a motif matrix is factored.
    pub(crate) fn holds(&self, shape: &Shape) -> Held {
        self.method().holds(shape)
    }

    /// Bytes held beside what [`holds`](Self::holds) says, or beside a dense matrix.
    pub(crate) fn memory(&self, shape: &Shape) -> u64 {
        self.method().memory(shape)
    }

    /// Whether the number of entries counts for [`memory`](Self::memory).
    pub(crate) fn keeps_entries(&self) -> bool {
        self.method().keeps_entries()
    }

    /// Blocks as wide as the rank that are held beside a dense matrix and its factors.
    pub(crate) fn dense_blocks(&self) -> u64 {
        self.method().dense_blocks()
    }

    /// Rows that a motif matrix may have.
    pub(crate) fn most_rows(&self) -> usize {
        self.method().most_rows()
    }

    /// The refusal of a motif matrix with more rows.
    pub(crate) fn too_many(&self, rows: usize) -> Error {
        self.method().too_many(rows)
    }

    /// Whether U is a code of the rows of S instead of a linear factor: it may have more columns than S, and there is no V.
    pub fn is_code(&self) -> bool {
        self.method().is_code()
    }

    /// What its work is counted in, `iterations` or `epochs`: the name of the option that bounds it.
    pub fn passes(&self) -> &'static str {
        self.method().passes()
    }

    /// Whether a multiple of S has the same factors, but for their size: no penalty, and no loss with another opinion.
    pub fn is_scale_free(&self) -> bool {
        self.method().is_scale_free()
    }

    /// Largest norm of S, as an exponent of 2, that the solver takes as it is; for those that do not mind a multiple, the
    /// one up to which they are given none.
    pub fn largest(&self) -> f64 {
        if self.is_scale_free() { SQUARABLE } else { self.method().largest() }
    }

    /// The name in configurations.
    pub fn name(&self) -> &'static str {
        self.entry().0
    }

    /// The error model; Gaussian but for the solver that has a choice.
    pub fn loss(&self) -> loss::Divergence {
        match self {
            Solver::Bregman(options) => options.loss,
            _ => loss::Divergence::Gaussian,
        }
    }
}
