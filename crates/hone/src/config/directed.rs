//! Directed motifs against the other choices.

use super::{Config, Direction};
use crate::error::{Error, Result};
use crate::motif::Motif;
use crate::motif::triad::Occurrence;

/// Refuses directed motifs where directions are ignored, and subgraphs of motifs that have no such counts.
pub(super) fn check(config: &Config) -> Result<()> {
    let motifs = config.motifs.motifs();
    if let Some(motif) = motifs.iter().find(|motif| motif.is_directed())
        && config.direction == Direction::Ignore
    {
        let message =
            format!("`ignore` leaves no directions, and {motif} is a directed motif; use \"keep\", or other motifs");
        return Err(Error::config("direction", message));
    }
    match motifs.iter().find(|motif| !motif.is_directed()) {
        Some(motif) if config.occurrence == Occurrence::Subgraph => Err(no_subgraphs(*motif)),
        _ => Ok(()),
    }
}

fn no_subgraphs(motif: Motif) -> Error {
    let message = format!("subgraph counts exist for directed motifs, and {motif} is none; use motifs = \"triads\"");
    Error::config("occurrence", message)
}

impl Config {
    /// The motifs that a run counts: those of matrices, and those of features.
    pub fn counted_motifs(&self) -> Vec<Motif> {
        let mut motifs = self.motifs.motifs();
        if self.attributes.structure {
            motifs.extend(self.attributes.features.motifs.motifs());
        }
        motifs
    }
}
