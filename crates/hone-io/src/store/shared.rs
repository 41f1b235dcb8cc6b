//! [`RowPieces`]: vectors as a writer sees them, in pieces of rows, whoever holds them.
//!
//! A process that holds all rows lends them. If several processes hold them, they put together one piece after the other, which
//! process 0 writes: no process holds all of them. Or each writes its own as a file of a folder
//! ([`parts`](crate::output::parts)), which process 0 makes under a temporary name and puts in place.

use std::borrow::Cow;
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;

use super::{Embedding, Format, parquet};
use crate::columnar::{ROW_GROUP, rows_of_vectors};
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::output::parts::{check_target, part_name};
use crate::output::{Batch, Output, Temporary, Written};

/// Values in a piece, and in what processes exchange at a time.
pub(super) const PIECE: usize = 1 << 20;

impl Format {
    /// Rows in a piece; a piece of a Parquet table is a row group.
    pub(super) fn piece(self, columns: usize) -> usize {
        match self {
            Format::Parquet => ROW_GROUP,
            Format::ParquetVector => rows_of_vectors(columns),
            _ => (PIECE / columns.max(1)).max(1),
        }
    }
}

/// Rows that are written by one process, to be read once.
pub(super) struct RowPieces<'a> {
    embedding: &'a Embedding,
    /// Those that are written.
    range: Range<usize>,
    /// The processes that hold the rows together; none if all are here.
    writers: Option<&'a dyn Communicator>,
    /// Rows in a piece.
    piece: usize,
    /// The first row that was not read yet.
    next: Cell<usize>,
}

impl<'a> RowPieces<'a> {
    /// All rows, whoever holds them: all processes read them together.
    pub(super) fn all(
        embedding: &'a Embedding,
        format: Format,
        writers: &'a dyn Communicator,
    ) -> Self {
        let own = &embedding.own;
        RowPieces {
            embedding,
            range: 0..own.rows,
            writers: (!own.is_all()).then_some(writers),
            piece: format.piece(embedding.vectors.cols()),
            next: Cell::new(0),
        }
    }

    /// Some rows of this process.
    fn some(embedding: &'a Embedding, format: Format, range: Range<usize>) -> Self {
        RowPieces {
            embedding,
            writers: None,
            piece: format.piece(embedding.vectors.cols()),
            next: Cell::new(range.start),
            range,
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.range.len()
    }

    /// Number of columns.
    pub(super) fn cols(&self) -> usize {
        self.embedding.vectors.cols()
    }

    /// The ids of all rows, also of those that are not written.
    pub(super) fn ids(&self) -> &'a NodeIds {
        &self.embedding.ids
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> &'a [String] {
        &self.embedding.columns
    }

    /// Hands over the rows piece by piece, with their numbers.
    pub(super) fn each<E>(
        &self,
        mut take: impl FnMut(Range<usize>, &[f32]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        while self.next.get() < self.range.end {
            let start = self.next.get();
            let end = self.range.end.min(start.saturating_add(self.piece));
            self.next.set(end);
            take(start..end, &self.values(start..end))?;
        }
        Ok(())
    }

    /// Reads what was not read, for the other processes.
    pub(super) fn drain(&self) {
        let Ok(()) = self.each::<Infallible>(|_, _| Ok(()));
    }

    /// The values of a piece, in the process that writes.
    fn values(&self, piece: Range<usize>) -> Cow<'a, [f32]> {
        let Some(writers) = self.writers else {
            return Cow::Borrowed(self.held(piece));
        };
        let (mut values, step) = (Vec::new(), (PIECE / self.cols().max(1)).max(1));
        for start in piece.clone().step_by(step) {
            let held = self.held(start..piece.end.min(start + step));
            let parts = writers.gather_bytes(bytemuck::cast_slice(held));
            for part in parts.iter().filter(|_| writers.leads()) {
                let bytes = part.as_chunks().0.iter();
                values.extend(bytes.map(|&value| f32::from_le_bytes(value)));
            }
        }
        Cow::Owned(values)
    }

    /// Those of some rows that are here.
    fn held(&self, rows: Range<usize>) -> &'a [f32] {
        let own = &self.embedding.own.range;
        let start = rows.start.clamp(own.start, own.end);
        let end = rows.end.clamp(start, own.end);
        let here = start - own.start..end - own.start;
        self.embedding.vectors.rows_slice(here)
    }
}

/// Writes the rows of this process into a folder of Parquet files, of at most so many rows each, which process 0 adds to its
/// batch.
pub(super) fn write_parts(
    embedding: &Embedding,
    batch: &mut Batch,
    path: &Path,
    format: Format,
    rows_per_file: usize,
    writers: &dyn Communicator,
) -> Result<()> {
    if !matches!(format, Format::Parquet | Format::ParquetVector) {
        let message = "only a Parquet table can be a folder of parts";
        let remedy = "leave out the `/` at the end, or use .parquet";
        return Err(Error::input(path, message, remedy));
    }
    let target = path.components().as_path();
    let begun = match writers.leads() {
        true => check_target(target, batch.existing())
            .and_then(|()| Temporary::folder(target))
            .map(Some),
        false => Ok(None),
    };
    let folder = writers.agree(path, begun)?;
    let own = folder.as_ref().and_then(|folder| folder.path().file_name());
    let name = &writers.gather_bytes(own.unwrap_or_default().as_encoded_bytes())[0];
    // If all processes have all rows, one is enough. Each that writes has a file, if only one without rows.
    let range = embedding.own.range.clone();
    let parts = match writers.leads() || !embedding.own.is_all() {
        true => range.len().div_ceil(rows_per_file).max(1),
        false => 0,
    };
    let counts = writers.gather_bytes(&(parts as u64).to_le_bytes());
    let before = counts[..writers.rank()].iter();
    let before = before.filter_map(|count| Some(u64::from_le_bytes(*count.first_chunk()?)));
    let before = before.sum::<u64>() as usize;
    let write = || {
        let place = target.with_file_name(String::from_utf8_lossy(name).as_ref());
        if !place.is_dir() {
            let message =
                "this process does not see the folder that process 0 has made for the parts";
            let remedy =
                "write to a folder that all processes share, or to one file (no `/` at the end)";
            return Err(Error::input(target, message, remedy));
        }
        let part = |at: usize| {
            let start = range.start + at * rows_per_file.min(range.len());
            let rows = start..range.end.min(start.saturating_add(rows_per_file));
            let rows = RowPieces::some(embedding, format, rows);
            write_part(&rows, format, path, &place.join(part_name(before + at)))
        };
        (0..parts).map(part).collect::<Result<Vec<_>>>()
    };
    let own = writers.agree(path, if parts > 0 { write() } else { Ok(Vec::new()) })?;
    let all = writers.gather_bytes(&serde_json::to_vec(&own).expect("plain data"));
    if let Some(folder) = folder {
        let written = |own: &Vec<u8>| serde_json::from_slice::<Vec<Option<Written>>>(own).ok();
        let files = all.iter().filter_map(written).flatten().flatten().collect();
        let existing = batch.existing();
        batch.add_folder(folder, target.to_path_buf(), existing, files);
    }
    Ok(())
}

/// Writes a part; `path` is what the user calls the folder.
fn write_part(
    rows: &RowPieces,
    format: Format,
    path: &Path,
    part: &Path,
) -> Result<Option<Written>> {
    let failed = |e| Error::io(path, e);
    let mut out = Output::inside(part).map_err(failed)?;
    match format {
        Format::ParquetVector => parquet::write_vectors(rows, path, &mut out)?,
        _ => parquet::write(rows, path, &mut out)?,
    }
    let written = out.finish().map_err(failed)?;
    Ok(written.map(|(file, _)| file))
}
