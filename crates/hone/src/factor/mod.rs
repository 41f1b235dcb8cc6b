//! Low-rank factors of an operator, S ≈ U diag(sigma) Vᵀ: one solver a file (sec. 2.4, 2.5).
//!
//! Local embeddings factor a lazy S_t^(k), the global one the dense Y: the same call.

pub mod autoencoder;
mod subspace;
pub mod svd;

use serde::{Deserialize, Serialize};

use crate::dense::Block;
use crate::error::Result;
use crate::operator::Operator;
use crate::progress::Progress;
use crate::random::Key;

/// How an operator is factored; each solver brings its own options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Solver {
    /// Truncated singular value decomposition: the best approximation in squared loss.
    Svd(svd::Svd),
    /// A network that learns to repeat the rows of a dense matrix; for the global stage.
    Autoencoder(autoencoder::Autoencoder),
}

impl Default for Solver {
    fn default() -> Self {
        Solver::Svd(svd::Svd::default())
    }
}

/// What a solver is asked for.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Columns of U.
    pub rank: usize,
    /// Whether V is wanted too.
    pub right: bool,
    /// Source of randomness.
    pub key: Key,
    /// Asked whether to stop, once an iteration.
    pub progress: &'a dyn Progress,
}

/// S ≈ U diag(sigma) Vᵀ.
#[derive(Debug, Clone)]
pub struct Factors {
    /// N × rank.
    pub u: Block,
    /// Weight of each column, descending: singular values for the SVD.
    pub sigma: Vec<f64>,
    /// Columns of S × rank, when asked for.
    pub v: Option<Block>,
    /// How it went.
    pub info: Info,
}

/// How a factorisation went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// Iterations done.
    pub iterations: usize,
    /// Last residual measured, relative to the singular value and the worst over the columns;
    /// absent when no iteration was left to measure it.
    pub residual: Option<f64>,
    /// Whether the tolerance was met.
    pub converged: bool,
    /// Columns of U that are not zero: less than asked for when S has fewer nonzero singular values.
    pub rank: usize,
}

impl Solver {
    /// Refuses options out of range; `field` is the dotted name of the solver in the configuration.
    pub fn check(&self, field: &str) -> Result<()> {
        match self {
            Solver::Svd(options) => options.check(field),
            Solver::Autoencoder(options) => options.check(field),
        }
    }

    /// Factors an operator.
    pub fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        match self {
            Solver::Svd(options) => svd::svd(s, options, task),
            Solver::Autoencoder(options) => autoencoder::factor(s, options, task),
        }
    }
}
