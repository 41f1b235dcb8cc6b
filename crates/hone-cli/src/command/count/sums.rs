//! [`Sums`]: how often motifs occur in a whole graph.

use hone::motif::triad::{Occurrence, TriadTotals};
use hone::motif::{Counts, Motif, Totals};

/// Totals of motifs with and without directions.
pub(super) struct Sums {
    motifs: Vec<Motif>,
    edges: Totals,
    arcs: Option<TriadTotals>,
}

impl Sums {
    pub(super) fn of(counts: &Counts, motifs: Vec<Motif>, occurrence: Occurrence) -> Self {
        let arcs = counts.triads().map(|triads| triads.totals(occurrence));
        Sums { motifs, edges: counts.totals(), arcs }
    }

    /// The motifs.
    pub(super) fn motifs(&self) -> &[Motif] {
        &self.motifs
    }

    /// Occurrences of a motif, and the sum of its weights.
    pub(super) fn of_motif(&self, motif: Motif) -> (u128, u128) {
        match (&self.arcs, motif.triad(), motif.graphlet()) {
            (Some(arcs), Some(triad), _) => (arcs.triads[triad.index()], arcs.weight(motif)),
            (_, _, Some(graphlet)) => (self.edges.graphlets[graphlet.index()], self.edges.weight(motif)),
            _ => (0, 0),
        }
    }
}
