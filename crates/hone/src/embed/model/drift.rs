//! What the structure of all nodes gained together since the fit.
//!
//! Motif counts of a whole graph grow with its edges: 1 % more edges raise every count of a motif with m edges by about m %, and
//! with it the logarithms that structure columns are made of, by nearly the same amount for every node. Components of small
//! variance move by many of their standard deviations, and a classifier trained on the first vectors is lost. What all
//! nodes gained says nothing about any of them, and is taken away again: each column is moved by the median, over shared
//! nodes, of its change.
//!
//! A median, because it is exactly zero while fewer than half of the shared nodes changed: a few new nodes or edges move nobody
//! else. At most [`MOST`] shared nodes have a part in it, so that rows of few nodes need few counts; its error is that of a median
//! of so many, a fortieth of the standard deviation of the changes. They are chosen by their ids alone, and so are
//! the same in every order of nodes, and from one graph to the next. Cost: O(N), and O([`MOST`]) per column.

use super::Model;
use crate::error::Result;
use crate::parallel;

/// Shared nodes that the median is over.
pub(in crate::embed) const MOST: usize = 2048;

/// The shared nodes that the median is over, ascending, with their numbers in the model; `names` has a number for each id.
pub(in crate::embed) fn witnesses(of_fit: &[Option<u32>], names: &[u64]) -> Vec<(u32, u32)> {
    let shared = of_fit
        .iter()
        .zip(0..)
        .filter_map(|(model, i)| Some((i, (*model)?)));
    let mut chosen: Vec<(u32, u32)> = shared.collect();
    if chosen.len() > MOST {
        chosen.select_nth_unstable_by_key(MOST - 1, |&(i, _)| (names[i as usize], i));
        chosen.truncate(MOST);
        chosen.sort_unstable();
    }
    chosen
}

impl Model {
    /// For each structure column the median of fit − now over some shared nodes; zeros where there are none. `now` has the structure
    /// columns of a node.
    pub(in crate::embed) fn drift<'a>(
        &self,
        witnesses: &[(u32, u32)],
        now: impl Fn(u32) -> &'a [f32],
    ) -> Result<Vec<f32>> {
        let first = self.z_columns();
        let mut rows: Vec<u32> = witnesses.iter().map(|&(_, model)| model).collect();
        rows.sort_unstable();
        let fit = self.vectors.some(rows)?;
        let mut changes: Vec<Vec<f32>> = vec![Vec::new(); self.structure_columns()];
        for &(i, model) in witnesses {
            let pairs = fit.row(model)[first..].iter().zip(now(i));
            changes
                .iter_mut()
                .zip(pairs)
                .for_each(|(to, (fit, now))| to.push(fit - now));
        }
        Ok(parallel::map_each(changes, |_, changes| median(changes)))
    }
}

/// The middle value, of two their mean; 0 of none.
fn median(mut values: Vec<f32>) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    values.sort_unstable_by(f32::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(median(vec![3.0, 1.0, 2.0, 9.0]), 2.5);
        assert_eq!(median(vec![0.0, 5.0, 0.0, -7.0, 0.0]), 0.0);
        assert_eq!(median(vec![0.0, 5.0, 0.0, 0.0]), 0.0);
    }

    /// All shared nodes where they are few; the same ids in every order where they are many.
    #[test]
    fn witnesses_are_chosen_by_their_ids() {
        let few = [Some(4), None, Some(0)];
        assert_eq!(witnesses(&few, &[9, 1, 3]), [(0, 4), (2, 0)]);
        let nodes = 3 * MOST as u32;
        let name = |i: u32| crate::random::mix64(u64::from(i));
        let of_fit: Vec<Option<u32>> = (0..nodes).map(Some).collect();
        let names: Vec<u64> = (0..nodes).map(name).collect();
        let chosen = witnesses(&of_fit, &names);
        assert!(
            chosen.len() == MOST && chosen.is_sorted(),
            "{}",
            chosen.len()
        );
        let turned: Vec<u64> = names.iter().rev().copied().collect();
        let mut again: Vec<u32> = witnesses(&of_fit, &turned)
            .into_iter()
            .map(|(i, _)| nodes - 1 - i)
            .collect();
        again.sort_unstable();
        assert!(chosen.iter().map(|&(i, _)| i).eq(again));
    }
}
