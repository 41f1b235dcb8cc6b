//! Settings that are a value or a word: [`Dim`], [`FirstStep`], [`Weights`], [`Direction`].
//!
//! Words stand for rules that depend on other settings, so that one choice can be changed alone: half the dimensions, one
//! step less. The rules are here and in [`super::Config::resolved`].

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dim {
    /// As many as the other settings ask for: `"auto"`; see [`super::Config::resolved`].
    Auto,
    /// Exactly this many.
    Fixed(usize),
}

/// The first step that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Weights {
    /// Those that the graph was given with: `"auto"`.
    #[default]
    Auto,
    /// The same, and a note where the graph has none: `true`.
    Used,
    /// Never: `false`.
    Ignored,
}

/// What becomes of the direction of arcs in motif graphs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// W_t holds an arc in its own direction only, as in the paper.
    #[default]
    Keep,
    /// W_t holds an edge wherever there is an arc in either direction, with the sum of their weights.
    Ignore,
}

/// A number, true or false, or a word, as written in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Answer(bool),
    Number(usize),
    Word(String),
}

impl Written {
    fn read<'de, D: Deserializer<'de>>(deserializer: D, expected: &str) -> Result<Written, D::Error> {
        Written::deserialize(deserializer).map_err(|_| wrong(expected))
    }
}

fn wrong<E: serde::de::Error>(expected: &str) -> E {
    E::custom(format!("must be {expected}"))
}

const DIM: &str = "a number of columns or \"auto\"";

impl<'de> Deserialize<'de> for Dim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::read(deserializer, DIM)? {
            Written::Number(dim) => Ok(Dim::Fixed(dim)),
            Written::Word(word) if word == "auto" => Ok(Dim::Auto),
            _ => Err(wrong(DIM)),
        }
    }
}

impl Serialize for Dim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Dim::Auto => serializer.serialize_str("auto"),
            Dim::Fixed(dim) => serializer.serialize_u64(dim as u64),
        }
    }
}

const FIRST_STEP: &str = "a step from 1 on or \"last\"";

impl<'de> Deserialize<'de> for FirstStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::read(deserializer, FIRST_STEP)? {
            Written::Number(step) => Ok(FirstStep::Fixed(step)),
            Written::Word(word) if word == "last" => Ok(FirstStep::Last),
            _ => Err(wrong(FIRST_STEP)),
        }
    }
}

impl Serialize for FirstStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            FirstStep::Last => serializer.serialize_str("last"),
            FirstStep::Fixed(step) => serializer.serialize_u64(step as u64),
        }
    }
}

const WEIGHTS: &str = "true, false or \"auto\"";

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::read(deserializer, WEIGHTS)? {
            Written::Answer(true) => Ok(Weights::Used),
            Written::Answer(false) => Ok(Weights::Ignored),
            Written::Word(word) if word == "auto" => Ok(Weights::Auto),
            _ => Err(wrong(WEIGHTS)),
        }
    }
}

impl Serialize for Weights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Weights::Auto => serializer.serialize_str("auto"),
            Weights::Used => serializer.serialize_bool(true),
            Weights::Ignored => serializer.serialize_bool(false),
        }
    }
}
