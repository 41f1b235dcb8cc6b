//! Directed motifs against the other choices.

use std::borrow::Cow;

use super::{Config, Direction, Laziness};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::matrix::Degree;
use crate::motif::triad::Occurrence;
use crate::motif::{Motif, MotifSet, Sample};

/// Refuses weights of reversed arcs beyond those of the arcs, directed motifs where directions are ignored, and subgraphs of
/// motifs that have no such counts.
pub(super) fn check(config: &Config) -> Result<()> {
    if !(0.0..=1.0).contains(&config.reverse) {
        return Err(Error::config("reverse", format!("{} is not between 0 and 1", config.reverse)));
    }
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
    let message = format!("subgraph counts exist for directed motifs, and {motif} is not one; use motifs = \"triads\"");
    Error::config("occurrence", message)
}

impl Config {
    /// The same configuration with what `direction = "auto"` stands for in a directed graph, where no other choice was made:
    /// arcs keep their direction and are half as heavy when walked against it, degrees are of arcs both ways, and features
    /// count dyads and triads.
    #[must_use]
    pub fn for_directed(&self) -> Config {
        if self.direction != Direction::Auto {
            return self.clone();
        }
        let mut config = Config { direction: Direction::Keep, ..self.clone() };
        if config.reverse == 0.0 {
            config.reverse = 0.5;
        }
        if config.degree == Degree::Out {
            config.degree = Degree::Total;
        }
        // Few walks along arcs return or even go on: beside them those that stay would be most of what is seen.
        if config.laziness == Laziness::Auto {
            config.laziness = Laziness::Share(0.0);
        }
        // It is made of eigenvectors, which a matrix of arcs does not have.
        config.local.log_window.steps = 0;
        if config.structure.motifs == MotifSet::default() {
            config.structure.motifs = MotifSet::Triads;
        }
        config
    }

    /// The same for a graph: [`Config::for_directed`] where it is directed.
    pub(crate) fn of(&self, graph: &Graph) -> Cow<'_, Config> {
        if graph.is_directed() { Cow::Owned(self.for_directed()) } else { Cow::Borrowed(self) }
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
            && self.counted_motifs().iter().any(|motif| !motif.is_directed() && motif.name() != "edge")
    }
}
