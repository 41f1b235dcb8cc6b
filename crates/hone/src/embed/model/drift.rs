//! What the structure of all nodes gained together since the fit.
//!
//! Motif counts of a whole graph grow with its edges: 1 % more edges raise every count of a motif with m edges by about m %, and
//! with it the logarithms that structure columns are made of, by nearly the same amount for every node. Components of small
//! variance move by many of their standard deviations, and a classifier trained on the first vectors is lost. What all
//! nodes gained says nothing about any of them, and is taken away again: each column is moved by the median, over shared
//! nodes, of its change.
//!
//! A median, because it is exactly zero while fewer than half of the shared nodes changed: a few new nodes or edges move nobody
//! else. Cost: O(N) per column.

use super::Model;
use crate::dense::Block;
use crate::parallel;

impl Model {
    /// For each structure column the median of fit − now over the nodes that both have; zeros where there are none. `now` holds
    /// structure columns alone.
    pub(in crate::embed) fn drift(&self, now: &Block, of_fit: &[Option<u32>]) -> Vec<f32> {
        let first = self.z_columns();
        let shared: Vec<(usize, usize)> =
            of_fit.iter().enumerate().filter_map(|(i, model)| Some((i, (*model)? as usize))).collect();
        // By rows, as both lie in memory; then column by column.
        let mut changes: Vec<Vec<f32>> = (0..now.cols()).map(|_| Vec::with_capacity(shared.len())).collect();
        for (i, model) in shared {
            let fit = &self.vectors.row(model)[first..];
            changes.iter_mut().zip(fit.iter().zip(now.row(i))).for_each(|(to, (fit, now))| to.push(fit - now));
        }
        parallel::map_each(changes, |_, changes| lower_median(changes))
    }
}

/// The middle value, of two the lower; 0 of none.
fn lower_median(mut values: Vec<f32>) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::lower_median;

    #[test]
    fn medians() {
        assert_eq!(lower_median(vec![]), 0.0);
        assert_eq!(lower_median(vec![3.0, 1.0, 2.0, 9.0]), 2.0);
        assert_eq!(lower_median(vec![0.0, 5.0, 0.0, -7.0, 0.0]), 0.0);
    }
}
