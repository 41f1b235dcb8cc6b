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
        let path = path.as_ref();
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
    pub fn add_to(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        if Layout::of(path)? == Layout::Npy {
            return self.arrays(batch, path, progress);
        }
        let k = self.neighbours.k().max(1);
        let values = |rows: Range<usize>| {
            let of = |rows: Range<usize>| rows.map(|at| (at / k, at % k));
            let ids = of(rows.clone()).map(|(i, _)| i as u32);
            let ranks = of(rows.clone()).map(|(_, rank)| rank as i64 + 1);
            let neighbours = of(rows.clone()).map(|(i, rank)| self.neighbours.row(i)[rank]);
            let similar = of(rows).map(|(i, rank)| self.neighbours.similarities(i)[rank]);
            Ok(vec![
                Column::Nodes(ids.collect()),
                Column::Integers(ranks.collect()),
                Column::Nodes(neighbours.collect()),
                Column::Floats(similar.collect()),
            ])
        };
        let columns = [
            ("id", Kind::Node),
            ("rank", Kind::Integer),
            ("neighbour", Kind::Node),
            ("similarity", Kind::Float),
        ];
        let rows = self.neighbours.len() * self.neighbours.k();
        Table::new(self.ids, columns, rows, &values).add_to(batch, path, progress)
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
    pub fn add_to(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        let lines: Vec<(usize, usize)> = self
            .answers
            .iter()
            .enumerate()
            .flat_map(|(a, answer)| (0..answer.nodes.len()).map(move |r| (a, r)))
            .collect();
        let values = |rows: Range<usize>| {
            let lines = &lines[rows];
            let node = |&(a, r): &(usize, usize)| &self.answers[a].nodes[r];
            let question = |&(a, _): &(usize, usize)| self.answers[a].question.clone();
            Ok(vec![
                Column::Texts(lines.iter().map(question).collect()),
                Column::Integers(lines.iter().map(|&(_, r)| r as i64 + 1).collect()),
                Column::Nodes(lines.iter().map(|line| node(line).row).collect()),
                Column::Floats(lines.iter().map(|line| node(line).similarity).collect()),
            ])
        };
        let columns = [
            ("node", Kind::Text),
            ("rank", Kind::Integer),
            ("neighbour", Kind::Node),
            ("similarity", Kind::Float),
        ];
        Table::new(self.ids, columns, lines.len(), &values).add_to(batch, path, progress)
    }
}
