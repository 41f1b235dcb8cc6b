//! Options of the truncated SVD, and the thresholds below which values count as zero.

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Options of the truncated SVD.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Svd {
    /// Columns of the iterated block beyond the rank; they speed up convergence.
    pub oversampling: usize,
    /// Iterations stop when all residuals, relative to their singular values, are below this.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub iterations: Iterations,
    /// If iterations are few and the matrix is symmetric: degree of a Chebyshev polynomial of it that
    /// sharpens the space, at one product per degree; 0 for none.
    pub filter: usize,
}

impl Default for Svd {
    fn default() -> Self {
        Svd {
            oversampling: 8,
            tolerance: 1e-4,
            iterations: Iterations::Auto,
            filter: 0,
        }
    }
}

/// A number of iterations, or as many as are affordable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "IterationsText", into = "IterationsText")]
#[non_exhaustive]
pub enum Iterations {
    /// As many as about 4·10⁹ multiply-adds allow, between 2 and 400.
    #[default]
    Auto,
    /// That many, fewer only when the tolerance is met.
    AtMost(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum IterationsText {
    Count(usize),
    Word(String),
}

impl TryFrom<IterationsText> for Iterations {
    type Error = String;
    fn try_from(text: IterationsText) -> Result<Self, String> {
        match text {
            IterationsText::Count(count) => Ok(Iterations::AtMost(count)),
            IterationsText::Word(word) if word == "auto" => Ok(Iterations::Auto),
            IterationsText::Word(word) => {
                Err(format!("iterations are a number or \"auto\", not {word:?}"))
            }
        }
    }
}

impl From<Iterations> for IterationsText {
    fn from(iterations: Iterations) -> Self {
        match iterations {
            Iterations::Auto => IterationsText::Word("auto".into()),
            Iterations::AtMost(count) => IterationsText::Count(count),
        }
    }
}

/// Singular values below this fraction of the largest count as zero: rounding noise of f32 weights, degrees
/// and products.
pub(in crate::factor) const ZERO: f64 = 2e-6;

/// Rounding noise of f32 products, relative to the largest eigenvalue.
pub(in crate::factor) const NOISE: f64 = 3e-7;

/// Singular values that differ by less, relative to the largest, are the same.
const SAME: f64 = 1e-6;

/// Singular values up to this one count as zero, given the largest. Where `terms` of a sum cancel, rounding is relative to
/// their size.
pub(in crate::factor) fn floor(most: f64, terms: f64) -> f64 {
    (ZERO * most).max(NOISE * terms)
}

/// How many singular values come before a multiple one that the cut after `kept` of them divides.
pub(in crate::factor) fn multiple_from(sigma: &[f64], kept: usize, floor: f64) -> Option<usize> {
    let (last, next) = (*sigma.get(kept.checked_sub(1)?)?, *sigma.get(kept)?);
    let same = SAME * sigma[0];
    (next > floor && last - next <= same)
        .then(|| sigma.partition_point(|&sigma| sigma > last + same))
}
