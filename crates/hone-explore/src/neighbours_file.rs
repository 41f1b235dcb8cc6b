//! [`NeighbourTable`]: the neighbours of all nodes on disk.
//!
//! | extension | content |
//! |---|---|
//! | `.tsv`, `.csv` (also `.gz`, `.zst`) | header `id rank neighbour similarity`, one line per node and neighbour |
//! | `.parquet` | the same columns |
//! | `.npy` | int64, one row per node: the row numbers of its neighbours; ids in `NAME.ids.txt`, float32 similarities in `NAME.similarity.npy` |

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hone::graph::NodeIds;
use hone::output::{Batch, Existing, Output};
use hone::record;
use hone::store::table::{Column, Kind, Layout, Table};
use hone::store::{write_ids, write_npy_header};
use hone::{Error, Progress, Result};

use crate::neighbours::{Neighbour, Neighbours};

/// Values written at a time.
const PIECE: usize = 1 << 16;

/// Neighbours with the names of their rows, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct NeighbourTable<'a> {
    ids: &'a NodeIds,
    neighbours: &'a Neighbours,
}

impl<'a> NeighbourTable<'a> {
    /// The neighbours of rows with these names.
    pub fn new(ids: &'a NodeIds, neighbours: &'a Neighbours) -> Self {
        NeighbourTable { ids, neighbours }
    }

    /// The files that a table takes, the main one first. Fails when the extension names no format.
    pub fn files(path: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
        Self::files_at(path.as_ref())
    }

    fn files_at(path: &Path) -> Result<Vec<PathBuf>> {
        let mut files = vec![path.to_path_buf()];
        if Layout::of(path)? == Layout::Npy {
            files.extend([
                path.with_extension("ids.txt"),
                path.with_extension("similarity.npy"),
            ]);
        }
        Ok(files)
    }

    /// Writes the table, all files of it or none; returns them.
    pub fn write(
        &self,
        path: impl AsRef<Path>,
        existing: Existing,
        progress: &dyn Progress,
    ) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        record::without(path, existing, |batch| self.add_to(batch, path, progress))
    }

    /// Writes the table into a batch, where further files may join it.
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.add_to_at(batch, path.as_ref(), progress)
    }

    fn add_to_at(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        if Layout::of(path)? == Layout::Npy {
            return self.arrays(batch, path, progress);
        }
        let kind = if matches!(self.ids, NodeIds::Text { .. }) {
            Kind::Text
        } else {
            Kind::Integer
        };
        let named = |name: &str, kind| (name.to_owned(), kind);
        let columns = vec![
            named("id", kind),
            named("rank", Kind::Integer),
            named("neighbour", kind),
            named("similarity", Kind::Float),
        ];
        let rows = self.neighbours.len() * self.neighbours.k();
        Table {
            columns,
            rows,
            values: &|j, range| self.column(j, range),
        }
        .add_to(batch, path, progress)
    }

    fn column(&self, j: usize, range: Range<usize>) -> Column {
        let k = self.neighbours.k().max(1);
        let neighbour = |at: usize| self.neighbours.row(at / k)[at % k];
        match j {
            0 => id_column(self.ids, range.map(|at| (at / k) as u32)),
            1 => Column::Integers(range.map(|at| (at % k + 1) as i64).collect()),
            2 => id_column(self.ids, range.map(neighbour)),
            _ => Column::Floats(
                range
                    .map(|at| self.neighbours.similarities(at / k)[at % k])
                    .collect(),
            ),
        }
    }

    fn arrays(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        let files = Self::files(path)?;
        let (n, k) = (self.ids.len(), self.neighbours.k());
        progress.stage("writing", 2 * n as u64);
        let mut out = batch.begin(&files[0])?;
        write_npy_header("<i8", &[n, k], &mut out).map_err(|e| out.error(e))?;
        self.pieces(&mut out, progress, |i, bytes| {
            self.neighbours
                .row(i)
                .iter()
                .for_each(|&row| bytes.extend(i64::from(row).to_le_bytes()));
        })?;
        batch.add(out)?;
        let mut ids = batch.begin(&files[1])?;
        write_ids(self.ids, &files[1], &mut ids)?;
        batch.add(ids)?;
        let mut out = batch.begin(&files[2])?;
        write_npy_header("<f4", &[n, k], &mut out).map_err(|e| out.error(e))?;
        self.pieces(&mut out, progress, |i, bytes| {
            self.neighbours
                .similarities(i)
                .iter()
                .for_each(|value| bytes.extend(value.to_le_bytes()));
        })?;
        batch.add(out)
    }

    fn pieces(
        &self,
        out: &mut Output,
        progress: &dyn Progress,
        row: impl Fn(usize, &mut Vec<u8>),
    ) -> Result<()> {
        let step = (PIECE / self.neighbours.k().max(1)).max(1);
        for start in (0..self.neighbours.len()).step_by(step) {
            progress.check()?;
            let end = self.neighbours.len().min(start + step);
            let mut bytes = Vec::new();
            (start..end).for_each(|i| row(i, &mut bytes));
            out.write_all(&bytes)
                .map_err(|e| Error::io(out.path(), e))?;
            progress.advance((end - start) as u64);
        }
        Ok(())
    }
}

/// The ids of some rows as a column.
pub(crate) fn id_column(ids: &NodeIds, rows: impl Iterator<Item = u32>) -> Column {
    match ids {
        NodeIds::Sequential(_) => Column::Integers(rows.map(i64::from).collect()),
        NodeIds::Integers(ids) => Column::Integers(rows.map(|row| ids[row as usize]).collect()),
        NodeIds::Text { .. } => Column::Texts(rows.map(|row| ids.get(row).to_string()).collect()),
    }
}

/// A question and the nodes that answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What was requested: an id, or ids with signs.
    pub question: String,
    /// The most similar nodes, best first.
    pub nodes: Vec<Neighbour>,
}

/// Answers to several questions as a table with the columns `node`, `rank`, `neighbour` and `similarity`.
#[derive(Debug, Clone, Copy)]
pub struct AnswerTable<'a> {
    ids: &'a NodeIds,
    answers: &'a [Answer],
}

impl<'a> AnswerTable<'a> {
    /// Answers with nodes of these names.
    pub fn new(ids: &'a NodeIds, answers: &'a [Answer]) -> Self {
        AnswerTable { ids, answers }
    }

    /// Writes the table, as text or Parquet, into a batch.
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.add_to_at(batch, path.as_ref(), progress)
    }

    fn add_to_at(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        let lines: Vec<(usize, usize)> = self
            .answers
            .iter()
            .enumerate()
            .flat_map(|(a, answer)| (0..answer.nodes.len()).map(move |r| (a, r)))
            .collect();
        let kind = if matches!(self.ids, NodeIds::Text { .. }) {
            Kind::Text
        } else {
            Kind::Integer
        };
        let named = |name: &str, kind| (name.to_owned(), kind);
        let columns = vec![
            named("node", Kind::Text),
            named("rank", Kind::Integer),
            named("neighbour", kind),
            named("similarity", Kind::Float),
        ];
        let node = |&(a, r): &(usize, usize)| self.answers[a].nodes[r];
        let values = |j: usize, range: Range<usize>| {
            let lines = lines[range].iter();
            match j {
                0 => Column::Texts(
                    lines
                        .map(|&(a, _)| self.answers[a].question.clone())
                        .collect(),
                ),
                1 => Column::Integers(lines.map(|&(_, r)| r as i64 + 1).collect()),
                2 => id_column(self.ids, lines.map(|line| node(line).row)),
                _ => Column::Floats(lines.map(|line| node(line).similarity).collect()),
            }
        };
        Table {
            columns,
            rows: lines.len(),
            values: &values,
        }
        .add_to(batch, path, progress)
    }
}
