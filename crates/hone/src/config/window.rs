//! Settings of the second view of a motif graph: factors of the logarithm of its window matrix.

use serde::{Deserialize, Serialize};

use super::choice::Dim;
use super::limits::{MAX_STEPS, check_dim};
use crate::error::{Error, Result};

/// The logarithm of a window matrix, see [`crate::factor::log_window`].
///
/// It is computed from eigenvectors of the normalised motif matrix. If other settings need another matrix or solver,
/// the view is left out, and a note says why. There is none if arcs keep their direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LogWindow {
    /// T, the steps of the window; 0 for no such view.
    pub steps: usize,
    /// Columns of the view.
    pub dim: Dim,
    /// Its squared norm relative to that of the local embedding.
    pub weight: ViewWeight,
}

/// The squared norm of a view relative to that of the local embedding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WeightText", into = "WeightText")]
#[non_exhaustive]
pub enum ViewWeight {
    /// Derived from the spectrum, see [`crate::factor::log_window::community_weight`].
    Auto,
    /// This many times.
    Times(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a number or \"auto\"")]
enum WeightText {
    Number(f64),
    Word(String),
}

impl TryFrom<WeightText> for ViewWeight {
    type Error = String;
    fn try_from(text: WeightText) -> Result<Self, String> {
        match text {
            WeightText::Number(times) => Ok(ViewWeight::Times(times)),
            WeightText::Word(word) if word == "auto" => Ok(ViewWeight::Auto),
            WeightText::Word(word) => {
                Err(format!("a weight is a number or \"auto\", not {word:?}"))
            }
        }
    }
}

impl From<ViewWeight> for WeightText {
    fn from(weight: ViewWeight) -> Self {
        match weight {
            ViewWeight::Auto => WeightText::Word("auto".into()),
            ViewWeight::Times(times) => WeightText::Number(times),
        }
    }
}

impl Default for LogWindow {
    fn default() -> Self {
        LogWindow {
            steps: 2,
            dim: Dim::Auto,
            weight: ViewWeight::Auto,
        }
    }
}

impl LogWindow {
    /// Refuses values out of range.
    pub(super) fn check(&self) -> Result<()> {
        let refuse = |field: &str, message: String| {
            Err(Error::config(format!("local.log-window.{field}"), message))
        };
        check_dim("local.log-window.dim", self.dim)?;
        if self.dim == Dim::Fixed(0) {
            return refuse(
                "dim",
                "must be at least 1; local.log-window.steps = 0 leaves the view out".into(),
            );
        }
        if let ViewWeight::Times(times) = self.weight
            && !(times.is_finite() && times > 0.0)
        {
            return refuse(
                "weight",
                format!("{times} is not a positive number, nor \"auto\""),
            );
        }
        if self.steps > MAX_STEPS {
            return refuse(
                "steps",
                format!("{} is not between 0 and {MAX_STEPS}", self.steps),
            );
        }
        Ok(())
    }
}
