//! Structure columns of a placed graph: of all nodes, or of few, whose motifs alone are counted then.
//!
//! Columns of new nodes need the motif counts around these, and around some shared nodes that tell how much all columns
//! moved (`model/drift.rs`). Both ways give the same bits. Cost: a pass over features of the rows that are made.

use super::wanted::Wanted;
use crate::config::Form;
use crate::dense::{Block, Columns, Group, Small};
use crate::embed::components::bend_last;
use crate::embed::context::Context;
use crate::embed::model::Model;
use crate::error::{Error, Result};
use crate::features::NamedColumns;
use crate::graph::Graph;
use crate::motif::{Counts, Triangles};

/// Structure columns of some nodes, which ascend; or of all nodes.
pub(super) struct Made {
    columns: Block,
    nodes: Option<Vec<u32>>,
}

impl Made {
    /// The row of a node that there are columns of.
    fn row(&self, node: u32) -> usize {
        self.nodes.as_ref().map_or(node as usize, |nodes| {
            nodes.partition_point(|&other| other < node)
        })
    }
}

impl Model {
    /// The structure columns that were made already, or those of all nodes; nothing where the model has none. That of extremes
    /// is x still, the first component over its standard deviation.
    pub(super) fn structure_made(
        &self,
        run: &mut Context,
        few: Option<Made>,
        counts: Option<&Counts>,
    ) -> Result<Option<Made>> {
        let (None, Some(counts), true) = (&few, counts, self.structure.is_some()) else {
            return Ok(few);
        };
        let columns = run.time("structure", |run| {
            self.structure_of(run.config.structure.streamed(counts)?)
        })?;
        Ok(Some(Made {
            columns,
            nodes: None,
        }))
    }

    /// Those of new nodes and of shared ones; nothing where counting the motifs of the whole graph takes less. Triangles of nodes
    /// that are not next to these may be known.
    pub(super) fn structure_of_few(
        &self,
        run: &Context,
        graph: &Graph,
        (new, witnesses): (&[u32], &[(u32, u32)]),
        known: Triangles,
    ) -> Result<Option<Made>> {
        let mut nodes: Vec<u32> = new
            .iter()
            .copied()
            .chain(witnesses.iter().map(|&(i, _)| i))
            .collect();
        nodes.sort_unstable();
        let named = run
            .config
            .structure
            .of_nodes(graph.pattern(), &nodes, known, run.progress)?;
        let columns = named.map(|named| self.structure_of(named)).transpose()?;
        Ok(columns.map(|columns| Made {
            columns,
            nodes: Some(nodes),
        }))
    }

    fn structure_of(&self, named: NamedColumns) -> Result<Block> {
        let Some(matrix) = &self.structure else {
            return Ok(Block::zeros(named.columns.rows(), 0));
        };
        let (rows, width) = (named.columns.rows(), named.names.len() + 1);
        if width != matrix.rows() || named.names != self.facts().features {
            let message = "the model has other features than this version of hone computes; fit the model again";
            return Err(Error::config("like", message));
        }
        let mut groups = named.columns.into_groups();
        groups.push(Group::full(Block::from_vec(rows, 1, vec![1.0; rows])));
        let mut x = Columns::new(rows, groups).times(matrix);
        let mut scales = vec![self.scales.x; x.cols()];
        scales
            .last_mut()
            .into_iter()
            .filter(|_| self.extremes().is_some())
            .for_each(|last| *last = 1.0);
        x.scale_columns(&scales);
        x.update_rows(|_, row| row.iter_mut().for_each(|value| *value += 0.0));
        Ok(x)
    }

    /// Writes the structure columns of the wanted nodes, less what shared nodes gained together.
    pub(super) fn write_structure(
        &self,
        run: &mut Context,
        mut made: Made,
        (drifts, witnesses, wanted): (bool, &[(u32, u32)], &Wanted),
        out: &mut Block,
    ) -> Result<()> {
        let extremes = self.extremes();
        let mut drift = vec![0.0; made.columns.cols()];
        if drifts {
            drift = self.drift(witnesses, |i| made.columns.row(made.row(i)))?;
            drift
                .last_mut()
                .into_iter()
                .filter(|_| extremes.is_some())
                .for_each(|last| *last = 0.0);
            run.report
                .like
                .iter_mut()
                .for_each(|like| like.drift = drift.clone());
            made.columns.update_rows(|_, row| {
                row.iter_mut()
                    .zip(&drift)
                    .for_each(|(x, drift)| *x += drift);
            });
        }
        if let (Some(size), Some(matrix)) = (extremes, &self.structure) {
            self.bend(&mut made.columns, matrix, (size, drift[0]));
        }
        let first = out.cols() - made.columns.cols();
        out.update_rows(|k, row| {
            row[first..].copy_from_slice(made.columns.row(made.row(wanted.node(k))));
        });
        Ok(())
    }

    /// The size of the column of extremes, where there is one.
    fn extremes(&self) -> Option<f64> {
        let Form::Components(components) = self.facts().config.features.form else {
            return None;
        };
        components
            .has_extremes(self.structure_columns())
            .then_some(components.extremes)
    }

    /// Makes the column of extremes from x, the first component over its standard deviation, which all nodes moved by `drift`.
    fn bend(&self, columns: &mut Block, matrix: &Small, (size, drift): (f64, f32)) {
        let last = matrix.cols() - 1;
        // x is the first component times this, the offset aside.
        let largest = (0..matrix.rows() - 1)
            .max_by(|&a, &b| matrix.get(a, 0).abs().total_cmp(&matrix.get(b, 0).abs()));
        let ratio = largest
            .filter(|&k| matrix.get(k, 0) != 0.0)
            .map_or(0.0, |k| matrix.get(k, last) / matrix.get(k, 0));
        let shift = if self.scales.x != 0.0 {
            (f64::from(drift) * ratio / self.scales.x) as f32
        } else {
            0.0
        };
        columns.update_rows(|_, row| row[last] += shift);
        bend_last(columns, size);
        let scales: Vec<f64> = (0..=last)
            .map(|j| if j == last { self.scales.x } else { 1.0 })
            .collect();
        columns.scale_columns(&scales);
    }
}
