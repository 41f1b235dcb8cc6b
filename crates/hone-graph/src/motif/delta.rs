//! [`Delta`]: how many occurrences of a motif an edge needs to be in its graph, for all motifs or per motif.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::set::{Motif, MotifSet};
use crate::error::{Error, Result};

/// The threshold of sec. 2.2: a number for all motifs, or numbers by motif (1 for those not named).
///
/// ```
/// use hone_graph::motif::Delta;
/// let delta: Delta = "triangle=3,clique4=2".parse()?;
/// assert_eq!((delta.of("triangle".parse()?), delta.of("edge".parse()?)), (3, 1));
/// # Ok::<(), hone_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// The same for all motifs.
    All(u64),
    /// By name of the motif.
    ByMotif(BTreeMap<String, u64>),
}

impl Default for Delta {
    fn default() -> Self {
        Delta::All(1)
    }
}

impl Delta {
    /// That of one motif.
    pub fn of(&self, motif: Motif) -> u64 {
        match self {
            Delta::All(delta) => *delta,
            Delta::ByMotif(deltas) => deltas.get(motif.name()).copied().unwrap_or(1),
        }
    }

    /// Fails on thresholds of 0, and on motifs that are not among those used.
    pub fn check(&self, motifs: &MotifSet) -> Result<()> {
        let zero = |field: &str| {
            Error::config(
                field,
                "must be at least 1: an edge without the motif is never in W_t",
            )
        };
        match self {
            Delta::All(0) => Err(zero("delta")),
            Delta::All(_) => Ok(()),
            Delta::ByMotif(deltas) => {
                let used = motifs.motifs();
                deltas.iter().try_for_each(|(name, delta)| {
                    if !used.iter().any(|motif| motif.name() == name) {
                        name.parse::<Motif>().map_err(|unknown| at(name, unknown))?;
                        let message = format!(
                            "`{name}` is not among the motifs used ({motifs}); name them one by one in the setting \
                             `motifs`, with it among them, or leave it out here"
                        );
                        return Err(Error::config(format!("delta.{name}"), message));
                    }
                    if *delta == 0 { Err(zero(&format!("delta.{name}"))) } else { Ok(()) }
                })
            }
        }
    }
}

/// The canonical name of a motif: `030T` for `M5`.
fn canonical(name: &str) -> String {
    name.parse::<Motif>()
        .map_or_else(|_| name.to_owned(), |motif| motif.name().to_owned())
}

/// An error about a motif, at its name here.
fn at(name: &str, error: Error) -> Error {
    match error {
        Error::Config { message, .. } => Error::config(format!("delta.{name}"), message),
        other => other,
    }
}

impl FromStr for Delta {
    type Err = Error;

    /// `3`, or `triangle=3,clique4=2`.
    fn from_str(text: &str) -> Result<Delta> {
        let wrong = |part: &str| {
            let message = format!(
                "`{part}` is neither a whole number nor MOTIF=NUMBER, such as triangle=3,clique4=2"
            );
            Error::config("delta", message)
        };
        if let Ok(delta) = text.trim().parse() {
            return Ok(Delta::All(delta));
        }
        let mut deltas = BTreeMap::new();
        for part in text.split(',').map(str::trim) {
            let (name, delta) = part.split_once('=').ok_or_else(|| wrong(part))?;
            let delta = delta.trim().parse().map_err(|_| wrong(part))?;
            if deltas.insert(canonical(name.trim()), delta).is_some() {
                return Err(Error::config(
                    "delta",
                    format!("`{}` is named twice", name.trim()),
                ));
            }
        }
        Ok(Delta::ByMotif(deltas))
    }
}

impl Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delta::All(delta) => delta.fmt(f),
            Delta::ByMotif(deltas) => {
                let parts: Vec<String> = deltas
                    .iter()
                    .map(|(name, delta)| format!("{name}={delta}"))
                    .collect();
                f.write_str(&parts.join(","))
            }
        }
    }
}

impl Serialize for Delta {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Delta::All(delta) => serializer.serialize_u64(*delta),
            Delta::ByMotif(deltas) => deltas.serialize(serializer),
        }
    }
}

/// The shapes it may take in a configuration.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a whole number, or a number for each motif such as { triangle = 3 }"
)]
enum Written {
    Number(u64),
    Text(String),
    ByMotif(BTreeMap<String, u64>),
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Delta, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(delta) => Ok(Delta::All(delta)),
            Written::ByMotif(deltas) => Ok(Delta::ByMotif(
                deltas
                    .into_iter()
                    .map(|(name, delta)| (canonical(&name), delta))
                    .collect(),
            )),
            Written::Text(text) => text.parse().map_err(|error| match error {
                Error::Config { message, .. } => serde::de::Error::custom(message),
                other => serde::de::Error::custom(other),
            }),
        }
    }
}
