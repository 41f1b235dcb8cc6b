//! Everyday settings, typed: each takes a configuration and returns it with one choice changed.
//!
//! [`Layers`](super::Layers) does the same with texts, for files and command lines; all other settings are public fields.

use super::{Config, Dim, Steps, Weights};
use crate::factor::Solver;
use crate::matrix::Psi;
use crate::motif::{MotifSet, Sample};

/// ```
/// use hone::{Config, Hone, Silent, config::Steps, graph, matrix::Psi, motif::MotifSet};
/// let config = Config::preset("hone-p")?
///     .with_seed(7)
///     .with_dim(32)
///     .with_psi(Psi::LNorm)
///     .with_steps(Steps::Fixed(3))
///     .with_motifs(MotifSet::List(vec!["edge".parse()?, "triangle".parse()?]));
/// let run = Hone::new(config)?.embed(&graph::builtin("karate")?, &Silent)?;
/// assert_eq!(run.embedding.vectors.cols(), 32);
/// # Ok::<(), hone::Error>(())
/// ```
impl Config {
    /// Seed of every random number.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// D, columns of the embedding.
    #[must_use]
    pub fn with_dim(mut self, dim: usize) -> Self {
        self.global.dim = dim;
        self
    }

    /// D_l, columns of each local embedding.
    #[must_use]
    pub fn with_local_dim(mut self, dim: usize) -> Self {
        self.local.dim = Dim::Fixed(dim);
        self
    }

    /// The motifs.
    #[must_use]
    pub fn with_motifs(mut self, motifs: MotifSet) -> Self {
        self.motifs = motifs;
        self
    }

    /// Whether motifs are counted exactly or estimated.
    #[must_use]
    pub fn with_sample(mut self, sample: Sample) -> Self {
        self.sample = sample;
        self
    }

    /// The motif matrix function.
    #[must_use]
    pub fn with_psi(mut self, psi: Psi) -> Self {
        self.psi = psi;
        self
    }

    /// The number of steps K.
    #[must_use]
    pub fn with_steps(mut self, steps: Steps) -> Self {
        self.steps = steps;
        self
    }

    /// How local factors are found.
    #[must_use]
    pub fn with_solver(mut self, solver: Solver) -> Self {
        self.local.solver = solver;
        self
    }

    /// Whether edge weights count.
    #[must_use]
    pub fn with_weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }
}
