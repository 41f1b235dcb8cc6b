//! Motif counts of the fit, which a model keeps while it is in memory: those of a graph that changed follow from them.
//!
//! A graph whose first nodes are those of the fit in the same order, with or without new ones behind them, differs from that
//! of the fit by edges that are found row by row; its counts are then updated ([`Counts::update`]), which touches what
//! changed and gives the same counts. Any other graph is counted, and so are graphs for which that is less work. A file has no counts of edges: with
//! them goes the adjacency of the fit, which a model does not give away.

use std::sync::Arc;

use crate::error::Result;
use crate::graph::Graph;
use crate::memory::Allowance;
use crate::motif::Counts;
use crate::motif::update::is_light;
use crate::parallel;
use crate::progress::Progress;
use crate::sparse::Pattern;

/// Exact counts of the fit without directions, if there are any. They make no other model: two models are the same with them
/// and without.
#[derive(Debug, Clone, Default)]
pub(in crate::embed) struct Kept(Option<Arc<Counts>>);

impl PartialEq for Kept {
    fn eq(&self, _: &Kept) -> bool {
        true
    }
}

/// Edges of a graph, from their smaller nodes.
type Edges = Vec<(u32, u32)>;

/// Rows that are compared by one task.
const ROWS: usize = 1 << 14;

impl Kept {
    pub(super) fn of(counts: &Arc<Counts>) -> Kept {
        Kept(
            Some(counts)
                .filter(|counts| counts.are_exact() && counts.triads().is_none())
                .cloned(),
        )
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let pattern = |pattern: &Pattern| 8 * pattern.offsets().len() + 4 * pattern.nnz();
        self.0
            .as_ref()
            .map_or(0, |counts| counts.bytes() + pattern(counts.pattern()))
    }

    /// The counts that those of a graph follow from; `of_fit` has, for each node of the graph, its number in the model.
    pub(in crate::embed) fn before(
        &self,
        graph: &Graph,
        of_fit: &[Option<u32>],
    ) -> Option<&Counts> {
        let counts = self
            .0
            .as_deref()
            .filter(|_| !graph.is_directed() && !is_light(graph.pattern()))?;
        let before = counts.pattern().rows();
        let stays = |(i, model): (usize, &Option<u32>)| *model == (i < before).then_some(i as u32);
        // Nodes that edges do not tell of are no change of counts.
        let told = graph.nodes() == before
            || graph.nodes() > before && graph.degree(graph.nodes() as u32 - 1) > 0;
        (told && of_fit.iter().enumerate().all(stays)).then_some(counts)
    }
}

/// Counts of a graph from those before.
pub(in crate::embed) fn updated(
    before: &Counts,
    graph: &Graph,
    allowance: Allowance,
    progress: &dyn Progress,
) -> Result<Counts> {
    let (added, removed) = changes(before.pattern(), graph.pattern());
    Ok(before
        .update_within(&added, &removed, allowance, progress)?
        .on(graph.pattern()))
}

/// Edges that a pattern has and another one had not, and the other way round.
fn changes(old: &Pattern, new: &Pattern) -> (Edges, Edges) {
    let found = parallel::stretches(new.rows(), ROWS, |rows| {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for i in rows {
            let was: &[u32] = if i < old.rows() { old.row(i) } else { &[] };
            if was != new.row(i) {
                compare(i as u32, was, new.row(i), &mut added, &mut removed);
            }
        }
        (added, removed)
    });
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for (mut more, mut fewer) in found {
        added.append(&mut more);
        removed.append(&mut fewer);
    }
    (added, removed)
}

/// What one of two rows has alone, of nodes behind its own.
fn compare(i: u32, mut old: &[u32], mut new: &[u32], added: &mut Edges, removed: &mut Edges) {
    loop {
        let (was, is) = (old.first().copied(), new.first().copied());
        let Some(next) = was.into_iter().chain(is).min() else {
            return;
        };
        if next > i && was != is {
            if is == Some(next) {
                added.push((i, next));
            } else {
                removed.push((i, next));
            }
        }
        old = &old[usize::from(was == Some(next))..];
        new = &new[usize::from(is == Some(next))..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_compared() {
        let old = Pattern::new(vec![0, 2, 4, 6, 8], vec![1, 3, 0, 2, 1, 3, 0, 2], 4);
        let new = Pattern::new(vec![0, 2, 3, 5, 7, 8], vec![2, 3, 4, 0, 3, 0, 2, 1], 5);
        assert_eq!(
            changes(&old, &new),
            (vec![(0, 2), (1, 4)], vec![(0, 1), (1, 2)])
        );
    }
}
