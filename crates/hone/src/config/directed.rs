//! Directed motifs against the other choices.

use std::borrow::Cow;

use super::{Config, Direction, Reverse};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::matrix::Degree;
use crate::motif::triad::Occurrence;
use crate::motif::{Motif, MotifSet, Sample};

/// Refuses weights of reversed arcs beyond those of the arcs, directed motifs where directions are ignored, and subgraphs of
/// motifs that have no such counts.
pub(super) fn check(config: &Config) -> Result<()> {
    if !(0.0..=1.0).contains(&config.reverse.given()) {
        let message = format!(
            "{} is not between 0 and 1, nor \"auto\"",
            config.reverse.given()
        );
        return Err(Error::config("reverse", message));
    }
    let motifs = config.motifs.motifs();
    if let Some(motif) = config
        .counted_motifs()
        .iter()
        .find(|motif| motif.is_directed())
        && config.direction == Direction::Ignore
    {
        let message = format!(
            "`ignore` leaves no directions, and {motif} is a directed motif; use \"keep\", or other motifs"
        );
        return Err(Error::config("direction", message));
    }
    match motifs.iter().find(|motif| !motif.is_directed()) {
        Some(motif) if config.occurrence == Occurrence::Subgraph => Err(no_subgraphs(*motif)),
        _ => Ok(()),
    }
}

fn no_subgraphs(motif: Motif) -> Error {
    let message = format!(
        "subgraph counts are for graphs of directed motifs, and {motif} is not one; use motifs = \"triads\" (features of \
         structure count induced occurrences)"
    );
    Error::config("occurrence", message)
}

impl Config {
    /// The same configuration with `auto` resolved for a graph. If arcs keep their direction, they have half the weight
    /// when walked against it, degrees count arcs in both directions, and structure counts dyads and triads.
    pub fn of(&self, graph: &Graph) -> Cow<'_, Config> {
        let directed = graph.is_directed() && self.direction != Direction::Ignore;
        let mut config = Cow::Borrowed(self);
        if directed && self.direction == Direction::Auto {
            config.to_mut().direction = Direction::Keep;
        }
        if self.reverse == Reverse::Auto {
            config.to_mut().reverse = Reverse::Weight(if directed { 0.5 } else { 0.0 });
        }
        if self.degree == Degree::Auto {
            config.to_mut().degree = if directed { Degree::Total } else { Degree::Out };
        }
        if self.structure.motifs == MotifSet::Auto {
            config.to_mut().structure.motifs = if directed {
                MotifSet::Triads
            } else {
                MotifSet::Orbits
            };
        }
        config
    }

    /// The motifs that a run counts: those of matrices, and those of features.
    pub fn counted_motifs(&self) -> Vec<Motif> {
        let mut motifs = self.motifs.motifs();
        if self.structure.enabled {
            motifs.extend(self.structure.motifs.motifs());
        }
        motifs
    }

    /// Whether any of these counts can be an estimate: those of edges and of directed motifs are exact.
    pub(crate) fn estimates(&self) -> bool {
        self.sample != Sample::Exact
            && self
                .counted_motifs()
                .iter()
                .any(|motif| !motif.is_directed() && motif.name() != "edge")
    }
}
