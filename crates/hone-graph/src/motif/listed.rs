//! Weights of several motifs, arc by arc, from edge orbits or from triads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::counts::{Counts, Values};
use super::set::Motif;
use super::triad::Occurrence;
use crate::Graph;
use crate::error::{Error, Result};
use crate::parallel;

impl Counts {
    /// Refuses a motif that was not counted.
    pub fn check_counted(&self, motif: Motif) -> Result<()> {
        let there = if motif.is_directed() {
            self.triads.is_some()
        } else {
            !matches!(self.values, Values::Absent)
        };
        if there {
            return Ok(());
        }
        Err(Error::config(
            "motifs",
            format!("`{motif}` was not counted; count for a set of motifs that has it"),
        ))
    }

    /// Calls `f` with each (out-)neighbour of node `i` of `graph`, ascending, and the weights of `motifs` on the edge or
    /// arc there. Fails when a weight exceeds u64, or a motif was not counted.
    pub fn for_arcs(
        &self,
        graph: &Graph,
        i: u32,
        (motifs, occurrence): (&[Motif], Occurrence),
        mut f: impl FnMut(u32, &[u64]),
    ) -> Result<()> {
        motifs
            .iter()
            .try_for_each(|&motif| self.check_counted(motif))?;
        let mut orbits = motifs
            .iter()
            .any(|motif| !motif.is_directed())
            .then(|| self.row(i));
        let mut triads = self.triads().map(|triads| triads.around_row(i as usize));
        let mut weights = vec![0; motifs.len()];
        for &j in graph.neighbors(i) {
            // The arcs of a directed graph are some of the neighbours counted, in the same order.
            let orbits = orbits
                .as_mut()
                .and_then(|row| row.find(|&(other, _)| other == j));
            let around = triads.as_mut().and_then(Iterator::next);
            for (weight, &motif) in weights.iter_mut().zip(motifs) {
                let of_arc = around.filter(|_| motif.is_directed());
                let found = match of_arc {
                    Some((_, around)) => Some(around.sum(motif.arc_orbits(), occurrence)),
                    None => orbits.and_then(|(_, counts)| motif.weight(&counts)),
                };
                *weight = found.ok_or_else(|| too_large(motif, i, j))?;
            }
            f(j, &weights);
        }
        Ok(())
    }
}

impl Counts {
    /// How many nodes have an edge or arc with at least `least` occurrences of each motif, given the edges and outgoing
    /// arcs of some nodes.
    pub fn touched(
        &self,
        rows: &Range<usize>,
        motifs: &[Motif],
        least: impl Fn(Motif) -> u64,
    ) -> Vec<u64> {
        assert!(motifs.len() <= 64, "one bit per motif");
        let nodes = self.pattern().rows();
        let seen: Vec<AtomicU64> = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        let least: Vec<u64> = motifs.iter().map(|&motif| least(motif)).collect();
        let bit = |t: usize, there: bool| u64::from(there) << t;
        let undirected = motifs
            .iter()
            .enumerate()
            .fold(0, |all, (t, motif)| all | bit(t, !motif.is_directed()));
        let both = |i: usize| {
            let mut own = 0;
            for (_, orbits) in self.row(i as u32) {
                if own == undirected {
                    break;
                }
                for (t, motif) in motifs
                    .iter()
                    .enumerate()
                    .filter(|(_, motif)| !motif.is_directed())
                {
                    // A sum beyond u64 certainly reaches the threshold.
                    own |= bit(
                        t,
                        motif
                            .weight(&orbits)
                            .is_none_or(|weight| weight >= least[t]),
                    );
                }
            }
            for (j, around) in self
                .triads()
                .into_iter()
                .flat_map(|triads| triads.around_row(i))
            {
                let directed = motifs
                    .iter()
                    .enumerate()
                    .filter(|(_, motif)| motif.is_directed());
                // There are at least as many subgraphs as induced ones, and also where there are no induced
                // ones: an upper bound.
                let weight = |motif: &Motif| around.sum(motif.arc_orbits(), Occurrence::Subgraph);
                let arc =
                    directed.fold(0, |arc, (t, motif)| arc | bit(t, weight(motif) >= least[t]));
                seen[j as usize].fetch_or(arc, Relaxed);
                own |= arc;
            }
            seen[i].fetch_or(own, Relaxed);
        };
        parallel::stretches(rows.len(), 1 << 12, |part| {
            part.for_each(|k| both(rows.start + k));
        });
        (0..motifs.len())
            .map(|t| {
                seen.iter()
                    .filter(|seen| seen.load(Relaxed) >> t & 1 == 1)
                    .count() as u64
            })
            .collect()
    }
}

fn too_large(motif: Motif, i: u32, j: u32) -> Error {
    let message = format!("more than u64 holds on the edge between nodes {i} and {j}");
    Error::Numeric {
        stage: format!("counts of motif {motif}"),
        message,
    }
}
