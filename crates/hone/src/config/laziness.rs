//! [`Laziness`]: how often a walk stays at its node, given or left to the graph.

use serde::{Deserialize, Serialize};

use super::choice::{Decimal, Direction};
use crate::error::{Error, Result};
use crate::graph::Graph;

/// The largest share of steps in which a walk may stay.
const LAZIEST: f64 = 0.9;
/// The share where the graph is bipartite.
const OF_TWO_SIDES: f64 = 0.2;

/// The share of steps in which a walk stays at its node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Decimal", into = "Decimal")]
#[non_exhaustive]
pub enum Laziness {
    /// 0.2 where the graph is bipartite, else 0: the spectrum of such a graph is symmetric, and if λ and −λ have the
    /// same weight, products of vectors across the two sides cancel.
    Auto,
    /// This share.
    Share(f64),
}

impl TryFrom<Decimal> for Laziness {
    type Error = &'static str;

    fn try_from(written: Decimal) -> Result<Self, Self::Error> {
        Ok(written
            .number_or_auto("must be a number or \"auto\"")?
            .map_or(Laziness::Auto, Laziness::Share))
    }
}

impl From<Laziness> for Decimal {
    fn from(laziness: Laziness) -> Self {
        match laziness {
            Laziness::Auto => Decimal::Word("auto".into()),
            Laziness::Share(share) => Decimal::Number(share),
        }
    }
}

impl Laziness {
    /// Refuses a share out of range.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Laziness::Share(share) if !(0.0..=LAZIEST).contains(&share) => Err(Error::config(
                "laziness",
                format!("{share} is not between 0 and {LAZIEST}, nor \"auto\""),
            )),
            _ => Ok(()),
        }
    }

    /// The share that is given; 0 where it is left to the graph.
    pub(super) fn given(self) -> f64 {
        if let Laziness::Share(share) = self {
            share
        } else {
            0.0
        }
    }

    /// The share on a graph whose arcs are taken in this way.
    pub(super) fn on(self, graph: &Graph, direction: Direction) -> f64 {
        let symmetric = !graph.is_directed() || direction == Direction::Ignore;
        match self {
            Laziness::Auto if symmetric && graph.is_bipartite() => OF_TWO_SIDES,
            laziness => laziness.given(),
        }
    }
}
