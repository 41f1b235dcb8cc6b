//! Settings that are a value or a word: [`Dim`], [`FirstStep`], [`Weights`],
//! [`Direction`], [`Reverse`].
//!
//! Words stand for rules that depend on other settings, so that one choice can be changed on its own: half the
//! dimensions, one step less. The rules are here and in [`super::Config::resolved`].

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// A number of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub enum Dim {
    /// As many as the other settings imply: `"auto"`; see [`super::Config::resolved`].
    Auto,
    /// Exactly this many.
    Fixed(usize),
}

/// The first step that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub enum FirstStep {
    /// The last one alone, whatever their number: `"last"`.
    Last,
    /// This one; steps before it are left out.
    Fixed(usize),
}

impl FirstStep {
    /// The first of the steps 1..=`steps` that is kept; the last at most.
    pub fn of(self, steps: usize) -> usize {
        match self {
            FirstStep::Last => steps,
            FirstStep::Fixed(first) => first.min(steps),
        }
    }
}

/// Whether edge weights multiply the motif counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub enum Weights {
    /// Those that the graph was given with: `"auto"`.
    #[default]
    Auto,
    /// The same, and a note where the graph has none: `true`.
    Used,
    /// Never: `false`.
    Ignored,
}

/// What follows the name of a motif where its target factors are meant.
pub(crate) const TARGET: &str = ":target";
/// What follows the name of a motif in the name of its log window.
pub(crate) const LOG: &str = ":log";

/// How motif graphs use the direction of arcs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Direction {
    /// Whatever suits the graph: `keep` for directed graphs, with `reverse`, `degree` and motifs of features that go with
    /// it; see [`super::Config::of`].
    Auto,
    /// W_t holds an arc in its own direction only, as in the paper; target factors are placed next to the source
    /// factors, so that nodes without outgoing arcs are placed by their incoming ones.
    #[default]
    Keep,
    /// The same with the source factors alone, the U of eq. 13.
    Source,
    /// W_t holds an edge wherever there is an arc in either direction, with the sum of their weights.
    Ignore,
}

/// The weight of walking an arc against its direction, in addition to the arc itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Decimal", into = "Decimal")]
#[non_exhaustive]
pub enum Reverse {
    /// 0.5 where arcs keep their direction: `"auto"`.
    Auto,
    /// This weight, from 0 to 1.
    Weight(f64),
}

impl Reverse {
    /// The given weight; 0 if it is left to the graph.
    pub fn given(self) -> f64 {
        if let Reverse::Weight(weight) = self {
            weight
        } else {
            0.0
        }
    }
}

impl TryFrom<Decimal> for Reverse {
    type Error = &'static str;

    fn try_from(written: Decimal) -> Result<Self, Self::Error> {
        let number = written.number_or_auto("must be a number from 0 to 1 or \"auto\"")?;
        Ok(number.map_or(Reverse::Auto, Reverse::Weight))
    }
}

impl From<Reverse> for Decimal {
    fn from(reverse: Reverse) -> Self {
        match reverse {
            Reverse::Auto => Decimal::Word("auto".into()),
            Reverse::Weight(weight) => Decimal::Number(weight),
        }
    }
}

/// A number with decimals or a word, as written in a file; anything else is wrong.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Decimal {
    Number(f64),
    Word(String),
    #[serde(skip_serializing)]
    Other(IgnoredAny),
}

impl Decimal {
    /// A number, or nothing for `auto`; else what was expected.
    pub(super) fn number_or_auto(
        self,
        expected: &'static str,
    ) -> Result<Option<f64>, &'static str> {
        match self {
            Decimal::Number(number) => Ok(Some(number)),
            Decimal::Word(word) if word == "auto" => Ok(None),
            _ => Err(expected),
        }
    }
}

/// A number, true or false, or a word, as written in a file; anything else is wrong.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Written {
    Answer(bool),
    Number(usize),
    Word(String),
    #[serde(skip_serializing)]
    Other(IgnoredAny),
}

impl Written {
    /// The word, if it is one.
    fn word(&self) -> Option<&str> {
        if let Written::Word(word) = self {
            Some(word)
        } else {
            None
        }
    }

    /// A number, or nothing for `word`; else what was expected.
    pub(super) fn number_or(
        self,
        word: &str,
        expected: &'static str,
    ) -> Result<Option<usize>, &'static str> {
        match self {
            Written::Number(number) => Ok(Some(number)),
            other if other.word() == Some(word) => Ok(None),
            _ => Err(expected),
        }
    }
}

impl TryFrom<Written> for Dim {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let number = written.number_or("auto", "must be a number of columns or \"auto\"")?;
        Ok(number.map_or(Dim::Auto, Dim::Fixed))
    }
}

impl From<Dim> for Written {
    fn from(dim: Dim) -> Self {
        match dim {
            Dim::Auto => Written::Word("auto".into()),
            Dim::Fixed(dim) => Written::Number(dim),
        }
    }
}

impl TryFrom<Written> for FirstStep {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let number = written.number_or("last", "must be a step from 1 on or \"last\"")?;
        Ok(number.map_or(FirstStep::Last, FirstStep::Fixed))
    }
}

impl From<FirstStep> for Written {
    fn from(step: FirstStep) -> Self {
        match step {
            FirstStep::Last => Written::Word("last".into()),
            FirstStep::Fixed(step) => Written::Number(step),
        }
    }
}

impl TryFrom<Written> for Weights {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Answer(true) => Ok(Weights::Used),
            Written::Answer(false) => Ok(Weights::Ignored),
            other if other.word() == Some("auto") => Ok(Weights::Auto),
            _ => Err("must be true, false or \"auto\""),
        }
    }
}

impl From<Weights> for Written {
    fn from(weights: Weights) -> Self {
        match weights {
            Weights::Auto => Written::Word("auto".into()),
            Weights::Used => Written::Answer(true),
            Weights::Ignored => Written::Answer(false),
        }
    }
}
