//! Structure columns of a placed graph: of all nodes, or of few, whose motifs alone are counted then; less what all shared nodes
//! gained together since the fit.
//!
//! Motif counts of a whole graph grow with its edges: 1 % more edges raise every count of a motif with m edges by about m %, and
//! with it the logarithms that structure columns are made of, by nearly the same amount for every node. Components of small
//! variance move by many of their standard deviations, and a classifier trained on the first vectors is lost. What all
//! nodes gained says nothing about any of them, and is taken away again: each column is moved by the median, over shared
//! nodes, of its change.
//!
//! A median, because it is exactly zero while fewer than half of the shared nodes changed: a few new nodes or edges move nobody
//! else. At most [`WITNESSES`] shared nodes have a part in it, so that rows of few nodes need few counts; its error is that of a
//! median of so many, a fortieth of the standard deviation of the changes. They are chosen by their ids alone, and so are
//! the same in every order of nodes, and from one graph to the next.
//!
//! Rows of all nodes and of few have the same bits. Cost: a pass over features of the rows that are made.

use super::Placement;
use crate::config::Form;
use crate::dense::{Block, Columns, Group, Small};
use crate::embed::components::bend_last;
use crate::embed::context::Context;
use crate::embed::model::{Model, Rows};
use crate::error::{Error, Result};
use crate::features::NamedColumns;
use crate::motif::Triangles;
use crate::parallel;

/// Shared nodes that the medians are over.
const WITNESSES: usize = 2048;

impl Placement<'_> {
    /// Columns of the wanted nodes and of witnesses; nothing where counting the motifs of the whole graph takes less. Triangles
    /// of nodes that are not next to these may be known.
    pub(super) fn structure_of_few(
        &self,
        run: &Context,
        witnesses: &[(u32, u32)],
        known: Triangles,
    ) -> Result<Option<Rows<'static>>> {
        let witnesses = witnesses.iter().map(|&(i, _)| i);
        let mut nodes: Vec<u32> = self.nodes.iter().copied().chain(witnesses).collect();
        nodes.sort_unstable();
        let (structure, pattern) = (&run.config.structure, self.graph.pattern());
        let named = structure.of_nodes(pattern, &nodes, known, run.progress)?;
        let columns = named.map(|named| structure_columns(self.model, named));
        Ok(columns
            .transpose()?
            .map(|columns| Rows::some(columns, nodes)))
    }

    /// Writes the structure columns of the wanted nodes, less what shared nodes gained together.
    pub(super) fn write_structure(
        &self,
        run: &mut Context,
        mut columns: Rows,
        witnesses: &[(u32, u32)],
        out: &mut Block,
    ) -> Result<()> {
        let extremes = extremes(self.model);
        let mut drift = vec![0.0; columns.cols()];
        if !self.like.structure_only {
            drift = self.drift(witnesses, &columns)?;
            if let (Some(last), Some(_)) = (drift.last_mut(), extremes) {
                *last = 0.0;
            }
            if let Some(like) = &mut run.report.like {
                like.drift = drift.clone();
            }
            columns.all_mut().update_rows(|_, row| {
                let pairs = row.iter_mut().zip(&drift);
                pairs.for_each(|(x, drift)| *x += drift);
            });
        }
        if let (Some(size), Some(matrix)) = (extremes, &self.model.structure) {
            let (columns, scale) = (columns.all_mut(), self.model.scales.x);
            make_extremes(columns, matrix, scale, size, drift[0]);
        }
        let first = out.cols() - columns.cols();
        out.update_rows(|k, row| row[first..].copy_from_slice(columns.row(self.nodes[k])));
        Ok(())
    }

    /// For each column the median of fit − now over the witnesses; zeros where there are none.
    fn drift(&self, witnesses: &[(u32, u32)], now: &Rows) -> Result<Vec<f32>> {
        let first = self.model.before_structure();
        let mut rows: Vec<u32> = witnesses.iter().map(|&(_, model)| model).collect();
        rows.sort_unstable();
        let fit = self.model.vectors.some(rows)?;
        let change = |j: usize| {
            let pairs = witnesses.iter();
            let changes = pairs.map(|&(i, model)| fit.row(model)[first + j] - now.row(i)[j]);
            median(changes.collect())
        };
        Ok(parallel::map(now.cols(), change))
    }
}

/// The shared nodes that the medians are over, ascending, with their numbers in the model; `names` has a number for each id.
pub(super) fn witnesses(mut shared: Vec<(u32, u32)>, names: &[u64]) -> Vec<(u32, u32)> {
    if shared.len() > WITNESSES {
        shared.select_nth_unstable_by_key(WITNESSES - 1, |&(i, _)| (names[i as usize], i));
        shared.truncate(WITNESSES);
        shared.sort_unstable();
    }
    shared
}

/// The structure columns of some features. That of extremes is x still, the first component over its standard deviation.
pub(super) fn structure_columns(model: &Model, named: NamedColumns) -> Result<Block> {
    let Some(matrix) = &model.structure else {
        return Ok(Block::zeros(named.columns.rows(), 0));
    };
    let (rows, width) = (named.columns.rows(), named.names.len() + 1);
    if width != matrix.rows() || named.names != model.facts().features {
        let message =
            "the model has other features than this version of hone computes; fit the model again";
        return Err(Error::config("model", message));
    }
    let mut groups = named.columns.into_groups();
    groups.push(Group::full(Block::from_vec(rows, 1, vec![1.0; rows])));
    let mut x = Columns::new(rows, groups).times(matrix);
    let mut scales = vec![model.scales.x; x.cols()];
    if let (Some(last), Some(_)) = (scales.last_mut(), extremes(model)) {
        *last = 1.0;
    }
    x.scale_columns(&scales);
    x.update_rows(|_, row| row.iter_mut().for_each(|value| *value += 0.0));
    Ok(x)
}

/// The size of the column of extremes, where there is one.
fn extremes(model: &Model) -> Option<f64> {
    let Form::Components(components) = model.facts().config.features.form else {
        return None;
    };
    let is = components.has_extremes(model.structure_columns());
    is.then_some(components.extremes)
}

/// Makes the column of extremes from x, the first component over its standard deviation, which all nodes moved by `drift`.
fn make_extremes(columns: &mut Block, matrix: &Small, scale: f64, size: f64, drift: f32) {
    let last = matrix.cols() - 1;
    // x is the first component times this, the offset aside.
    let largest = (0..matrix.rows() - 1)
        .max_by(|&a, &b| matrix.get(a, 0).abs().total_cmp(&matrix.get(b, 0).abs()));
    let ratio = largest
        .filter(|&k| matrix.get(k, 0) != 0.0)
        .map_or(0.0, |k| matrix.get(k, last) / matrix.get(k, 0));
    let shift = match scale != 0.0 {
        true => (f64::from(drift) * ratio / scale) as f32,
        false => 0.0,
    };
    columns.update_rows(|_, row| row[last] += shift);
    bend_last(columns, size);
    let mut scales = vec![1.0; last + 1];
    scales[last] = scale;
    columns.scale_columns(&scales);
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
        let few = vec![(0, 4), (2, 0)];
        assert_eq!(witnesses(few.clone(), &[9, 1, 3]), few);
        let nodes = 3 * WITNESSES as u32;
        let shared: Vec<(u32, u32)> = (0..nodes).zip(0..).collect();
        let names: Vec<u64> = (0..nodes)
            .map(|i| crate::random::mix64(u64::from(i)))
            .collect();
        let chosen = witnesses(shared.clone(), &names);
        assert!(chosen.len() == WITNESSES && chosen.is_sorted());
        let reversed: Vec<u64> = names.iter().rev().copied().collect();
        let again = witnesses(shared, &reversed).into_iter().rev();
        assert!(
            chosen
                .iter()
                .map(|&(i, _)| i)
                .eq(again.map(|(i, _)| nodes - 1 - i))
        );
    }
}
