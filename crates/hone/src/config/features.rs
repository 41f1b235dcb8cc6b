//! How node features, from structure and from the user, are combined with the embedding.

use serde::{Deserialize, Serialize};

use super::choice::Dim;
use super::limits::{LARGEST, check_dim};
use crate::diffuse::Diffusion;
use crate::error::{Error, Result};
use crate::features::Origin;

/// How node features are used (sec. 2.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Features {
    /// How the columns are transformed first.
    pub form: Form,
    /// Where they are added.
    pub combine: Combine,
    /// Their scale relative to the embeddings.
    pub weight: Balance,
    /// How they are diffused over each motif graph.
    pub diffusion: Diffusion,
}

impl Default for Features {
    fn default() -> Self {
        Features {
            form: Form::Components(Components::default()),
            combine: Combine::After,
            weight: Balance::Times(20.0),
            diffusion: Diffusion::default(),
        }
    }
}

/// The scale of features relative to that of the embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BalanceText", into = "BalanceText")]
#[non_exhaustive]
pub enum Balance {
    /// As in the paper: each column keeps the length one that the normalisation gave it.
    Unit,
    /// The squared Frobenius norm is this many times that of the embeddings.
    Times(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a number or \"unit\"")]
enum BalanceText {
    Number(f64),
    Word(String),
}

impl TryFrom<BalanceText> for Balance {
    type Error = String;
    fn try_from(text: BalanceText) -> Result<Self, String> {
        match text {
            BalanceText::Number(times) => Ok(Balance::Times(times)),
            BalanceText::Word(word) if word == "unit" => Ok(Balance::Unit),
            BalanceText::Word(word) => {
                Err(format!("a weight is a number or \"unit\", not {word:?}"))
            }
        }
    }
}

impl From<Balance> for BalanceText {
    fn from(balance: Balance) -> Self {
        match balance {
            Balance::Unit => BalanceText::Word("unit".into()),
            Balance::Times(times) => BalanceText::Number(times),
        }
    }
}

/// How feature columns are transformed before they are added to the embedding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Form {
    /// They stay columns, normalised like those of the local embeddings.
    Columns,
    /// They are standardised and replaced by principal components.
    Components(Components),
}

/// Principal components of features, unscaled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Components {
    /// How many; 0 for none.
    pub dim: Dim,
    /// Columns that count motifs of s vertices are divided by this to the power s − 2.
    pub size_decay: f64,
    /// Columns that aggregate over neighbours are divided by this, once per level.
    pub level_decay: f64,
    /// Each component is shifted by this many of its standard deviations, so that products of two
    /// nodes' components contain their sum.
    pub offset: f64,
    /// The last column is x²/(1 + x²) of the standardised first component x, times this: how far a node is from the middle,
    /// on either side. 0 for a component instead; fewer than four columns are all components.
    pub extremes: f64,
}

impl Default for Components {
    fn default() -> Self {
        Components {
            dim: Dim::Auto,
            size_decay: 3.0,
            level_decay: 2.0,
            offset: 3.0,
            extremes: 1.0,
        }
    }
}

impl Components {
    /// Whether the last of this many columns is that of extremes.
    pub(crate) fn has_extremes(&self, dim: usize) -> bool {
        self.extremes > 0.0 && dim >= 4
    }

    /// What a column is multiplied by once it has unit variance.
    pub(crate) fn weight(&self, origin: &Origin) -> f64 {
        self.size_decay.powi(2 - origin.size().max(2) as i32)
            * self.level_decay.powi(-(origin.level as i32))
    }
}

/// Where features are added to the embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Combine {
    /// As further columns of Y, before the global stage.
    Before,
    /// Next to Z, after the global stage.
    After,
}

impl Features {
    pub(super) fn check(&self) -> Result<()> {
        let refuse =
            |field: &str, message: String| Err(Error::config(format!("features.{field}"), message));
        if let Balance::Times(times) = self.weight
            && !(times > 0.0 && times <= LARGEST)
        {
            return refuse(
                "weight",
                format!("{times} is not above 0 and at most {LARGEST}, nor \"unit\""),
            );
        }
        if let Form::Components(Components {
            dim,
            size_decay,
            level_decay,
            offset,
            extremes,
        }) = self.form
        {
            check_dim("features.form.components.dim", dim)?;
            for (name, decay) in [("size-decay", size_decay), ("level-decay", level_decay)] {
                if !(1.0 / LARGEST..=LARGEST).contains(&decay) {
                    let message = format!("{decay} is not between {} and {LARGEST}", 1.0 / LARGEST);
                    return refuse(&format!("form.components.{name}"), message);
                }
            }
            if !(-LARGEST..=LARGEST).contains(&offset) {
                return refuse(
                    "form.components.offset",
                    format!("{offset} is not between -{LARGEST} and {LARGEST}"),
                );
            }
            if !(0.0..=LARGEST).contains(&extremes) {
                return refuse(
                    "form.components.extremes",
                    format!("{extremes} is not between 0 and {LARGEST}"),
                );
            }
        }
        self.diffusion.check("features.diffusion")
    }
}
