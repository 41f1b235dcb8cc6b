//! [`Laziness`]: how often a walk stays where it is, given or left to the graph.

use serde::{Deserialize, Serialize};

use super::{Config, Direction};
use crate::error::{Error, Result};
use crate::graph::Graph;

/// The largest share of steps in which a walk may stay.
const LAZIEST: f64 = 0.9;
/// The share where the graph is bipartite.
const OF_TWO_SIDES: f64 = 0.2;

/// The share of steps in which a walk stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub enum Laziness {
    /// 0.2 where the graph is bipartite, else 0: with every eigenvalue such a graph has its negative, and where both have the same
    /// weight, products of vectors across the two sides cancel.
    Auto,
    /// This share.
    Share(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Number(f64),
    Word(String),
}

impl TryFrom<Text> for Laziness {
    type Error = String;

    fn try_from(text: Text) -> Result<Self, String> {
        match text {
            Text::Number(share) => Ok(Laziness::Share(share)),
            Text::Word(word) if word == "auto" => Ok(Laziness::Auto),
            Text::Word(word) => Err(format!("laziness is a number or \"auto\", not {word:?}")),
        }
    }
}

impl From<Laziness> for Text {
    fn from(laziness: Laziness) -> Self {
        match laziness {
            Laziness::Auto => Text::Word("auto".into()),
            Laziness::Share(share) => Text::Number(share),
        }
    }
}

impl Laziness {
    /// Refuses a share out of range.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Laziness::Share(share) if !(0.0..=LAZIEST).contains(&share) => {
                Err(Error::config("laziness", format!("{share} is not between 0 and {LAZIEST}, nor \"auto\"")))
            }
            _ => Ok(()),
        }
    }

    /// The share that is given; 0 where it is left to the graph.
    pub(super) fn given(self) -> f64 {
        if let Laziness::Share(share) = self { share } else { 0.0 }
    }
}

impl Config {
    /// The laziness of walks on a graph.
    pub(crate) fn laziness_on(&self, graph: &Graph) -> f64 {
        let symmetric = !graph.is_directed() || self.direction == Direction::Ignore;
        match self.laziness {
            Laziness::Auto if symmetric && graph.is_bipartite() => OF_TWO_SIDES,
            laziness => laziness.given(),
        }
    }
}
