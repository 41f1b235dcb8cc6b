//! Co-occurrence weights against the other choices.

use super::{Config, Weights};
use crate::error::{Error, Result};
use crate::motif::{Pairs, Sample, pairs};

/// Refuses what co-occurrences cannot be counted for: estimates, edge weights, single orbits.
pub(super) fn check(config: &Config) -> Result<()> {
    if config.pairs == Pairs::Edges {
        return Ok(());
    }
    if config.sample != Sample::Exact {
        return Err(pairs::estimated());
    }
    if config.weights == Weights::Used {
        let message = "occurrences include pairs without an edge, which have no edge weight to multiply with; use \
                       weights = false";
        return Err(Error::config("pairs", message));
    }
    config
        .motifs
        .motifs()
        .into_iter()
        .try_for_each(pairs::check_motif)
}
