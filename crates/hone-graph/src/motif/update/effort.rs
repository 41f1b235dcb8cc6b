//! Whether an update is less work than counting again.

use super::changes::Changes;
use crate::parallel;
use crate::sparse::Pattern;

/// Number of slots below which the graph is always updated: counting again would hardly take time either.
const SMALL: usize = 1 << 20;
/// There are few changes if there is less than one per this many slots: then the costs are not compared.
const MANY: usize = 400;
/// Steps of an update that take as long as one of Σ_e min(d_u, d_v) of a count.
const STEPS_PER_STEP: u64 = 4;
/// Steps of a count for each slot of a graph up to which it takes less than the passes of an update over all slots.
const LIGHT: u64 = 20;
/// One row in this many is sampled to find out.
const SAMPLED: usize = 61;

/// Whether counting a graph is so little work that nothing is gained by an update: Σ min(d_u, d_v) over its slots is small.
pub fn is_light(pattern: &Pattern) -> bool {
    let degree = |i: usize| pattern.range(i).len() as u64;
    let of = |i: usize| {
        pattern
            .row(i)
            .iter()
            .map(|&j| degree(j as usize).min(degree(i)))
            .sum::<u64>()
    };
    let rows = || (0..pattern.rows()).step_by(SAMPLED);
    pattern.nnz() > SMALL && rows().map(of).sum::<u64>() < LIGHT * rows().map(degree).sum::<u64>()
}

/// Whether an update walks so much more than a count that counting again is less work; few changes are never compared.
pub(super) fn is_more_than_counting(new: &Pattern, changes: &Changes) -> bool {
    if new.nnz() <= SMALL || changes.list.len() <= new.nnz() / MANY {
        return false;
    }
    let degree = |i: u32| new.range(i as usize).len() as u64;
    let least = |i: usize| {
        new.row(i)
            .iter()
            .map(|&j| degree(j).min(degree(i as u32)))
            .sum::<u64>()
            / 2
    };
    let counting: u64 =
        parallel::stretches(new.rows(), 1 << 12, |rows| rows.map(least).sum::<u64>())
            .iter()
            .sum();
    let walks = |i: u32| new.row(i as usize).iter().map(|&j| degree(j)).sum::<u64>();
    let walks: Vec<u64> = parallel::map(changes.nodes.len(), |at| walks(changes.nodes[at]));
    let of = |i: u32| changes.place(i).map_or(0, |place| walks[place]);
    let updating: u64 = changes
        .list
        .iter()
        .map(|change| of(change.u).min(of(change.v)))
        .sum();
    updating > STEPS_PER_STEP * counting
}
