//! [`Sums`]: how often motifs occur in a whole graph.

use hone::motif::triad::{Occurrence, TriadTotals};
use hone::motif::{Counts, Motif, Totals};

/// The names of the columns.
pub(super) const TOTALS: [&str; 3] = ["motif", "occurrences", "sum_over_edges"];

/// Totals of motifs with and without directions.
pub(super) struct Sums {
    motifs: Vec<Motif>,
    edges: Totals,
    arcs: Option<TriadTotals>,
}

impl Sums {
    pub(super) fn of(counts: &Counts, motifs: Vec<Motif>, occurrence: Occurrence) -> Self {
        let arcs = counts.triads().map(|triads| triads.totals(occurrence));
        Sums {
            motifs,
            edges: counts.totals(),
            arcs,
        }
    }

    /// The table, with the names of its columns.
    pub(super) fn lines(&self) -> Vec<Vec<String>> {
        let line = |&motif: &Motif| {
            let (occurrences, weight) = self.of_motif(motif);
            vec![
                motif.to_string(),
                occurrences.to_string(),
                weight.to_string(),
            ]
        };
        let names = TOTALS.map(|name| name.replace('_', " ")).to_vec();
        std::iter::once(names)
            .chain(self.motifs.iter().map(line))
            .collect()
    }

    /// Occurrences of a motif, and the sum of its weights.
    fn of_motif(&self, motif: Motif) -> (u128, u128) {
        match (&self.arcs, motif.triad(), motif.graphlet()) {
            (Some(arcs), Some(triad), _) => (arcs.triads[triad.index()], arcs.weight(motif)),
            (_, _, Some(graphlet)) => (
                self.edges.graphlets[graphlet.index()],
                self.edges.weight(motif),
            ),
            _ => (0, 0),
        }
    }
}
