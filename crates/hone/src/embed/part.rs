//! [`Part`]: some columns of Y, in memory or in a file.
//!
//! Temporary files have no name: the system removes them when the run ends, however it ends. With a checkpoint, its
//! files are used instead.

mod file;

use std::path::Path;
use std::sync::Arc;

use super::checkpoint::{AGAIN, Checkpoint};
use super::context::Context;
use super::plan::Files;
use crate::dense::{Block, Columns, Group};
use crate::error::{Error, Result};
use crate::report::LocalFacts;

/// Parts below this many bytes are not worth a file.
const SMALL: usize = 1 << 18;

/// What some columns stand for: a motif (or attributes) and a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) step: usize,
    /// Names of the columns; numbers if there are none.
    pub(super) columns: Arc<[String]>,
    /// Number of columns.
    pub(super) width: usize,
}

impl Label {
    /// Columns with numbers.
    pub(super) fn numbered(name: impl Into<String>, step: usize, width: usize) -> Self {
        let (name, columns) = (name.into(), Arc::default());
        Label {
            name,
            step,
            columns,
            width,
        }
    }

    /// `edge_k1_0`, `edge_k1_1`, …, or the names of the columns instead of numbers; without a step `z0`, `structure_pc0`.
    pub(super) fn column_names(&self) -> impl Iterator<Item = String> {
        let (name, step) = (self.plain_name(), self.step);
        (0..self.width).map(move |j| match (self.columns.get(j), step) {
            (Some(column), 0) => format!("{name}_{column}"),
            (None, 0) => format!("{name}{j}"),
            (Some(column), step) => format!("{name}_k{step}_{column}"),
            (None, step) => format!("{name}_k{step}_{j}"),
        })
    }

    /// The names of the columns alone: `pc0`, or `attributes0` where they have numbers.
    pub(super) fn own_names(&self) -> impl Iterator<Item = String> {
        let name = self.name.split(':').next().unwrap_or_default();
        (0..self.width).map(move |j| match self.columns.get(j) {
            Some(column) => column.clone(),
            None => format!("{name}{j}"),
        })
    }

    /// Its file in a checkpoint: `structure:edge` at step 2 is `structure-edge.k2.part`.
    fn file(&self) -> String {
        format!("{}.k{}.part", self.plain_name(), self.step)
    }

    fn plain_name(&self) -> String {
        self.name.replace(':', "-")
    }
}

/// Some columns of Y.
pub(super) struct Part {
    pub(super) label: Label,
    pub(super) group: Group,
}

impl Part {
    /// The same times a factor.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Part {
            group: self.group.scaled(factor),
            ..self
        }
    }
}

/// Puts labels back on their columns.
pub(super) fn labelled(labels: Vec<Label>, columns: Columns) -> Vec<Part> {
    let parts = labels.into_iter().zip(columns.into_groups());
    parts.map(|(label, group)| Part { label, group }).collect()
}

impl Context<'_> {
    /// Parts side by side as one matrix, of which this process holds some rows; and what they stand for.
    pub(super) fn joined(&self, parts: Vec<Part>) -> (Vec<Label>, Columns) {
        let own = parts.into_iter().map(|part| self.own_rows(part));
        let (labels, groups) = own.map(|part| (part.label, part.group)).unzip();
        (labels, Columns::part(self.own.clone(), groups))
    }

    /// The rows of a part that this process holds.
    pub(super) fn own_rows(&self, part: Part) -> Part {
        if self.own.is_all() || part.group.is_part() {
            return part;
        }
        Part {
            group: part.group.part(&self.own.range),
            ..part
        }
    }

    /// Z as a part, given the rows that this process holds.
    pub(super) fn part_of_z(&self, z: Block) -> Part {
        let label = Label::numbered("z", 0, z.cols());
        let group = if self.own.is_all() {
            Group::full(z)
        } else {
            let lengths = self.engine.lengths(&z, &self.own);
            Group::own_rows(z.into(), self.own.rows, lengths)
        };
        Part { label, group }
    }

    /// Keeps a finished part: the rows of this process, and all rows in the checkpoint if there is one.
    pub(super) fn keep(&mut self, part: Part, facts: Option<&LocalFacts>) -> Result<Part> {
        let bytes = 4 * part.group.stored_rows() * part.group.cols();
        let in_memory = self.stays(&part.group, bytes);
        if let Some(checkpoint) = self.checkpoint.as_mut().filter(|of| of.saves()) {
            let name = part.label.file();
            checkpoint.save(&name, |out| file::write(&part, facts, out))?;
            if !in_memory {
                drop(part);
                let read = |file, path: &Path| file::read(file, path, false);
                let (part, _) = checkpoint.open(&name, read)?;
                return Ok(self.own_rows(part));
            }
        }
        let part = self.own_rows(part);
        if in_memory {
            Ok(part)
        } else {
            self.in_file(part)
        }
    }

    /// A part whose values are in a temporary file.
    pub(super) fn in_file(&self, part: Part) -> Result<Part> {
        Ok(Part {
            group: part.group.in_file(&self.temp_folder)?,
            ..part
        })
    }

    /// Whether parts with these labels are there from an earlier run.
    pub(super) fn is_cached(&self, labels: &[Label]) -> bool {
        let has = |of: &Checkpoint| labels.iter().all(|label| of.has(&label.file()));
        self.checkpoint.as_ref().is_some_and(has)
    }

    /// Parts of an earlier run with these labels, all of them or none; and their statistics, if they have such.
    pub(super) fn cached(
        &self,
        labels: &[Label],
        with_facts: bool,
    ) -> Result<Option<(Vec<Part>, Option<LocalFacts>)>> {
        let Some(checkpoint) = self.checkpoint.as_ref().filter(|_| self.is_cached(labels)) else {
            return Ok(None);
        };
        let (mut parts, mut facts, nodes) = (Vec::new(), None, self.own.rows);
        for label in labels {
            let part = checkpoint.open(&label.file(), |file, path| {
                let (part, found) = file::read(file, path, self.files == Files::Nothing)?;
                let rows = match part.group.rows() {
                    Some(rows) => rows.last().is_none_or(|&last| (last as usize) < nodes),
                    None => part.group.stored_rows() == nodes,
                };
                if rows && part.label == *label && found.is_some() == with_facts {
                    facts = found;
                    return Ok(part);
                }
                let Label {
                    name, step, width, ..
                } = label;
                let message =
                    format!("is not {name} at step {step}, {width} columns of {nodes} nodes");
                Err(Error::input(path, message, AGAIN))
            })?;
            parts.push(self.own_rows(part));
        }
        Ok(Some((parts, facts)))
    }

    /// Whether values stay where they are: small ones do, and those in a file or on a device, which take no memory of this
    /// process.
    fn stays(&self, group: &Group, bytes: usize) -> bool {
        let numbers = 4 * group.rows().map_or(0, <[u32]>::len);
        let elsewhere = group.block().is_none() && group.memory() == numbers;
        self.files == Files::Nothing || bytes < SMALL || elsewhere
    }
}
