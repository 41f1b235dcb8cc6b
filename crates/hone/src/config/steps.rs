//! [`Steps`]: the number of steps K, given or chosen.

use serde::{Deserialize, Serialize};

/// The number of steps K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// As many of 1..=4 as bring new directions; see [`crate::embed`].
    Auto,
    /// Exactly this many.
    Fixed(usize),
}

impl Serialize for Steps {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Steps::Auto => serializer.serialize_str("auto"),
            Steps::Fixed(k) => serializer.serialize_u64(k as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Raw {
            Number(usize),
            Word(String),
        }
        match Raw::deserialize(deserializer) {
            Ok(Raw::Number(k)) => Ok(Steps::Fixed(k)),
            Ok(Raw::Word(word)) if word == "auto" => Ok(Steps::Auto),
            _ => Err(serde::de::Error::custom("steps must be a number from 1 to 16 or \"auto\"")),
        }
    }
}
