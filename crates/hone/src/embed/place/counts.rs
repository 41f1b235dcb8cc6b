//! Motif counts of a placed graph: those of the fit, updated by what changed, where a model has them.
//!
//! A graph whose first nodes are those of the fit in the same order, with or without new ones behind them, differs from that
//! of the fit by edges that are found row by row; its counts are then updated ([`Counts::update`]), which touches what
//! changed and gives the same counts. Any other graph is counted, and so are graphs for which that is less work.

use super::Placement;
use crate::embed::context::Context;
use crate::embed::counts;
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::motif::Counts;
use crate::motif::update::is_light;
use crate::parallel;
use crate::sparse::Pattern;

/// Edges of a graph, from their smaller nodes.
type Edges = Vec<(u32, u32)>;

/// Rows that are compared by one task.
const ROWS: usize = 1 << 14;

impl Placement<'_> {
    /// Motif counts of the graph.
    pub(super) fn count(&self, run: &mut Context) -> Result<Counts> {
        let pattern = self.graph.pattern();
        let Some(before) = self
            .model
            .counts
            .as_deref()
            .filter(|before| self.follows(before))
        else {
            return counts::count(run, self.graph);
        };
        let (allowance, progress) = (Allowance::new(run.memory_limit), run.progress);
        let updated = run.time("count", |_| {
            let (added, removed) = changes(before.pattern(), pattern);
            before.update_within(&added, &removed, allowance, progress)
        });
        match updated {
            // Counting again takes less memory.
            Err(Error::Memory { .. }) => counts::count(run, self.graph),
            updated => Ok(updated?.on(pattern)),
        }
    }

    /// Whether counts of the graph are worth making from those of the fit.
    fn follows(&self, before: &Counts) -> bool {
        let (graph, before) = (self.graph, before.pattern().rows());
        let stays = |(i, model): (usize, &Option<u32>)| *model == (i < before).then_some(i as u32);
        // Nodes that edges do not tell of are no change of counts.
        let told = graph.nodes() == before
            || graph.nodes() > before && graph.degree(graph.nodes() as u32 - 1) > 0;
        !graph.is_directed()
            && !is_light(graph.pattern())
            && told
            && self.of_fit.iter().enumerate().all(stays)
    }
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
