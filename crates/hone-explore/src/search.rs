//! [`Search`]: the neighbours of every row, exact if that is cheap, else approximate with a measured recall.

use std::str::FromStr;

use hone::parallel;
use hone::{Error, Progress, Result};
use serde::{Deserialize, Serialize};

use crate::neighbours::Neighbours;
use crate::space::Space;
use crate::{descent, exact};

/// Up to this many rows [`Method::Auto`] compares all pairs.
pub const EXACT_LIMIT: usize = 100_000;
/// Rows whose exact neighbours the recall is measured with.
const SAMPLE: usize = 1000;
/// Similarities this close are equal in single precision.
const ROUNDING: f64 = 1e-6;

/// How the neighbours of all rows are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Exact up to [`EXACT_LIMIT`] rows, else approximate.
    #[default]
    Auto,
    /// All pairs are compared.
    Exact,
    /// Random trees, then neighbours of neighbours.
    Approximate,
}

impl Method {
    /// All, with their names.
    pub const ALL: [(Method, &'static str); 3] = [
        (Method::Auto, "auto"),
        (Method::Exact, "exact"),
        (Method::Approximate, "approximate"),
    ];
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Method> {
        let found = Method::ALL
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(method, _)| *method);
        found.ok_or_else(|| {
            Error::config(
                "search",
                format!("`{name}` is not one of auto, exact, approximate"),
            )
        })
    }
}

/// A search for the neighbours of all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Search {
    /// How many neighbours each row gets.
    pub top: usize,
    /// How they are found.
    pub search: Method,
    /// Seed of the random trees.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Search {
            top: 10,
            search: Method::Auto,
            seed: 0,
        }
    }
}

/// The neighbours of all rows, and how sure they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The neighbours.
    pub neighbours: Neighbours,
    /// The share of true neighbours that an approximate search found, on a sample; none if it was exact.
    pub recall: Option<f64>,
}

impl Search {
    /// The neighbours of every row of a space.
    pub fn all(&self, space: &Space, progress: &dyn Progress) -> Result<Found> {
        let exact = match self.search {
            Method::Auto => space.len() <= EXACT_LIMIT,
            method => method == Method::Exact,
        };
        if exact {
            return Ok(Found {
                neighbours: exact::all(space, self.top, progress)?,
                recall: None,
            });
        }
        let neighbours = descent::all(space, self.top, self.seed, progress)?;
        let recall = recall(space, &neighbours, progress)?;
        Ok(Found {
            neighbours,
            recall: Some(recall),
        })
    }
}

/// The part of the true neighbours of evenly spaced rows that were found. A row as similar as the last true neighbour is
/// one too.
fn recall(space: &Space, found: &Neighbours, progress: &dyn Progress) -> Result<f64> {
    let (n, k) = (space.len(), found.k());
    if k == 0 {
        return Ok(1.0);
    }
    let count = SAMPLE.min(n);
    progress.stage("measuring the recall", count as u64);
    let row = |sample: usize| -> Result<usize> {
        progress.check()?;
        let i = sample * n / count;
        let exact = space.nearest_of(i..i + 1, k);
        let least = exact[0]
            .last()
            .map_or(f64::NEG_INFINITY, |last| f64::from(last.similarity))
            - ROUNDING;
        progress.advance(1);
        Ok(found
            .similarities(i)
            .iter()
            .filter(|&&similarity| f64::from(similarity) >= least)
            .count())
    };
    let hits: Vec<usize> = parallel::map(count, row)
        .into_iter()
        .collect::<Result<_>>()?;
    Ok(hits.into_iter().sum::<usize>() as f64 / (count * k) as f64)
}
