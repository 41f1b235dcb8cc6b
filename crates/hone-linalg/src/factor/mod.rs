//! Low-rank factors of an operator, S ≈ U diag(sigma) Vᵀ: one solver per file (sec. 2.4, 2.5).
//!
//! Local embeddings factor a lazy S_t^(k), the global one the dense Y: the same call. A solver is a file with
//! its options and a line in the table below; the losses and constraints it supports are part of its options,
//! so that meaningless combinations cannot be requested.

pub mod als;
pub mod autoencoder;
mod bilinear;
pub mod bregman;
pub mod ccd;
pub mod communities;
pub mod exact;
mod iterate;
pub mod log_window;
pub mod loss;
pub mod memory;
mod method;
pub mod nmf;
mod observed;
mod pieces;
mod sample;
pub mod sgd;
mod subspace;
pub mod svd;
mod svd_options;

pub use bilinear::Start;
pub use method::not_finite;
pub use method::share_left;
pub use method::{Coded, Factors, Info, Loss, Task};

use serde::{Deserialize, Serialize};

use crate::dense::Panels;
use crate::error::{Error, Result};
use crate::operator::{Operator, SQUARABLE};
use memory::{Held, Shape};
use method::Method;

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
    /// A neural network that learns to reconstruct the rows of a matrix; for motif matrices of up to 32768 nodes.
}

impl Default for Solver {
    fn default() -> Self {
        Solver::Svd(svd::Svd::default())
    }
}

impl Solver {
    /// Refuses options out of range; `field` is the dotted name of the solver in the configuration.
    pub fn check(&self, field: &str) -> Result<()> {
        self.method().check(field)
    }

    /// Factors an operator.
    pub fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        Ok(self
            .factor_panels(s, task)?
            .finite()?
            .map(Panels::into_block))
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
        Ok(self
            .method()
            .factor_panels(s, &Task { rank, ..*task })?
            .widened(task.rank))
    }

    /// Columns in memory while a motif matrix is factored.
    pub fn holds(&self, shape: &Shape) -> Held {
        self.method().holds(shape)
    }

    /// Bytes in addition to [`holds`](Self::holds), or to a dense matrix.
    pub fn memory(&self, shape: &Shape) -> u64 {
        self.method().memory(shape)
    }

    /// Whether [`memory`](Self::memory) depends on the number of entries.
    pub fn keeps_entries(&self) -> bool {
        self.method().keeps_entries()
    }

    /// Blocks as wide as the rank, in addition to a dense matrix and its factors.
    pub fn dense_blocks(&self) -> u64 {
        self.method().dense_blocks()
    }

    /// Maximum number of rows of a motif matrix.
    pub fn most_rows(&self) -> usize {
        self.method().most_rows()
    }

    /// The refusal of a motif matrix with more rows.
    pub fn too_many(&self, rows: usize) -> Error {
        self.method().too_many(rows)
    }

    /// Whether U is a code of the rows of S instead of a linear factor: it may have more columns than S, and there is no V.
    pub fn is_code(&self) -> bool {
        self.method().is_code()
    }

    /// The unit of its work, `iterations` or `epochs`: the name of the option that limits it.
    pub fn passes(&self) -> &'static str {
        self.method().passes()
    }

    /// Whether a multiple of S has the same factors up to scale: no penalty, and a loss that does not depend
    /// on the scale.
    pub fn is_scale_free(&self) -> bool {
        self.method().is_scale_free()
    }

    /// Largest norm of S, as an exponent of 2, that the solver uses unscaled; beyond it, S is scaled for solvers that
    /// do not depend on the scale.
    pub fn largest(&self) -> f64 {
        if self.is_scale_free() {
            SQUARABLE
        } else {
            self.method().largest()
        }
    }

    /// The name in configurations.
    pub fn name(&self) -> &'static str {
        self.entry().0
    }

    /// The error model; Gaussian except for the solver that has a choice.
    pub fn loss(&self) -> loss::Divergence {
        match self {
            Solver::Bregman(options) => options.loss,
            _ => loss::Divergence::Gaussian,
        }
    }
}
