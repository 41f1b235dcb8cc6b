//! Settings of the second view of a motif graph: factors of the logarithm of its window matrix.

use serde::{Deserialize, Serialize};

use super::{Config, Dim, Direction, MAX_STEPS, Model, Steps, check_dim};
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::matrix::{Accumulate, Order, Psi};

/// The logarithm of a window matrix, see [`crate::factor::log_window`].
///
/// It is made of eigenvectors of the normalised motif matrix. Where other settings ask for another matrix or solver there are
/// none, the view is left out, and a note says why. Arcs that keep their direction have none either.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LogWindow {
    /// T, the steps of the window; 0 for no such view.
    pub steps: usize,
    /// Columns of the view.
    pub dim: Dim,
    /// Its squared size beside that of the local embedding.
    pub weight: ViewWeight,
}

/// The squared size of a view beside that of the local embedding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WeightText", into = "WeightText")]
#[non_exhaustive]
pub enum ViewWeight {
    /// What the spectrum says, see [`crate::factor::communities::weight`].
    Auto,
    /// So many times.
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
            WeightText::Word(word) => Err(format!("a weight is a number or \"auto\", not {word:?}")),
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
        LogWindow { steps: 0, dim: Dim::Auto, weight: ViewWeight::Auto }
    }
}

impl LogWindow {
    /// Refuses values out of range.
    pub(super) fn check(&self) -> Result<()> {
        let refuse = |field: &str, message: String| Err(Error::config(format!("local.log-window.{field}"), message));
        check_dim("local.log-window.dim", self.dim)?;
        if self.dim == Dim::Fixed(0) {
            return refuse("dim", "must be at least 1; local.log-window.steps = 0 leaves the view out".into());
        }
        if let ViewWeight::Times(times) = self.weight
            && !(times.is_finite() && times > 0.0)
        {
            return refuse("weight", format!("{times} is not a positive number, nor \"auto\""));
        }
        if self.steps > MAX_STEPS {
            return refuse("steps", format!("{} is not between 0 and {MAX_STEPS}", self.steps));
        }
        Ok(())
    }
}

impl Config {
    /// Why the log-window view, if it is wanted, cannot be made. Arcs that keep their direction have none, whatever is wanted.
    pub(crate) fn without_log_window(&self, directed: bool) -> Option<&'static str> {
        let obstacles = [
            (self.psi != Psi::ANorm, "psi is not a-norm"),
            (self.order == Order::PsiOfPower, "order is psi-of-power"),
            (self.accumulate != Accumulate::None, "steps are accumulated"),
            (self.steps == Steps::Auto, "steps are automatic"),
            (self.model != Model::Separate, "the model is a joint one"),
            (!matches!(self.local.solver, Solver::Svd(_)), "the solver of local embeddings is not svd"),
            (directed && self.direction != Direction::Ignore, "the directions of arcs are kept"),
        ];
        let found = obstacles.into_iter().find(|(is, _)| *is).map(|(_, why)| why);
        found.filter(|_| self.local.log_window.steps > 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Layers;

    #[test]
    fn the_view_stands_aside_for_other_matrices_and_refuses_nonsense() {
        let with = |settings: &[(&'static str, &'static str)]| {
            let layers = Layers::new().preset("hone").expect("known").set("local.log-window.steps", "2").expect("set");
            settings.iter().fold(layers, |layers, (key, value)| layers.set(key, value).expect("set")).build()
        };
        let plain = with(&[]).expect("in range");
        assert_eq!((plain.log_window_columns(false), plain.without_log_window(false)), (56, None));
        assert!(plain.without_log_window(true).is_some());
        for (key, value) in [("psi", "p"), ("steps", "auto"), ("accumulate", "mean"), ("order", "psi-of-power")] {
            let config = with(&[(key, value)]).expect("in range");
            assert!(config.log_window_columns(false) == 0 && config.without_log_window(false).is_some(), "{key}");
        }
        for (key, value) in [("weight", "0"), ("weight", "nan"), ("dim", "0"), ("steps", "17")] {
            let key = ["local.log-window.weight", "local.log-window.dim", "local.log-window.steps"]
                .into_iter()
                .find(|name| name.ends_with(key))
                .expect("one of them");
            assert!(with(&[(key, value)]).expect_err("out of range").to_string().contains(key));
        }
    }
}
