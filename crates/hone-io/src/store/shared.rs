//! [`Rows`]: vectors as a writer sees them, in pieces of rows, whoever holds them.
//!
//! A process that holds all rows lends them. If several processes hold them, process 0 receives one piece at a time
//! from their owners, and the others send theirs: no process holds all of them. Or each writes its own as a file of a folder
//! ([`parts`](crate::output::parts)), which process 0 makes under a temporary name and puts in place.

use std::borrow::Cow;
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;

use super::{Embedding, Format, parquet};
use crate::columnar::ROW_GROUP;
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::output::parts::{check_target, part_name};
use crate::output::{Batch, Output, Temporary, Written};

/// Values in a piece.
const PIECE: usize = 1 << 20;

impl Format {
    /// Rows in a piece; a piece of a Parquet table is a row group.
    pub(super) fn piece(self, columns: usize) -> usize {
        if self == Format::Parquet {
            ROW_GROUP
        } else {
            (PIECE / columns.max(1)).max(1)
        }
    }
}

/// Rows that are written by one process, to be read once.
pub(super) struct Rows<'a> {
    embedding: &'a Embedding,
    /// Those that are written.
    range: Range<usize>,
    /// The processes, and the rows that each of them holds; none if all rows are here.
    owners: Option<(&'a dyn Communicator, Vec<Range<usize>>)>,
    /// Rows in a piece.
    piece: usize,
    /// The first row that was not read yet.
    next: Cell<usize>,
}

impl<'a> Rows<'a> {
    /// All rows, for process 0, and what the others send.
    pub(super) fn all(
        embedding: &'a Embedding,
        format: Format,
        writers: &'a dyn Communicator,
    ) -> Self {
        let own = &embedding.own;
        let owners = (!own.is_all()).then(|| {
            let bytes = serde_json::to_vec(&own.range).expect("plain data");
            let all = writers.gather_bytes(&bytes).into_iter();
            let range = |bytes: Vec<u8>| serde_json::from_slice(&bytes).expect("a range");
            (writers, all.map(range).collect())
        });
        Self::of(embedding, 0..own.rows, owners, format)
    }

    /// The rows of this process.
    pub(super) fn own(embedding: &'a Embedding, format: Format) -> Self {
        Self::of(embedding, embedding.own.range.clone(), None, format)
    }

    fn of(
        embedding: &'a Embedding,
        range: Range<usize>,
        owners: Option<(&'a dyn Communicator, Vec<Range<usize>>)>,
        format: Format,
    ) -> Self {
        Rows {
            embedding,
            owners,
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
        while let Some(piece) = self.step() {
            let values = self.values(&piece);
            take(piece, &values)?;
        }
        Ok(())
    }

    /// Receives what was not read: other processes wait until all their rows are taken.
    pub(super) fn drain(&self) {
        let Ok(()) = self.each::<Infallible>(|_, _| Ok(()));
    }

    /// Sends the rows of this process to process 0, which reads all.
    pub(super) fn send(&self) {
        let Some((writers, _)) = &self.owners else {
            return;
        };
        while let Some(piece) = self.step() {
            let part = common(&piece, &self.embedding.own.range);
            if !part.is_empty() {
                writers.send(self.held(&part));
            }
        }
    }

    /// The next piece.
    fn step(&self) -> Option<Range<usize>> {
        let start = self.next.get();
        let end = self.range.end.min(start.saturating_add(self.piece));
        self.next.set(end);
        (start < end).then_some(start..end)
    }

    /// Rows that this process holds.
    fn held(&self, rows: &Range<usize>) -> &'a [f32] {
        let first = self.embedding.own.range.start;
        self.embedding
            .vectors
            .rows_slice(rows.start - first..rows.end - first)
    }

    /// The values of a piece, received from their owners where they are elsewhere.
    fn values(&self, piece: &Range<usize>) -> Cow<'a, [f32]> {
        let own = &self.embedding.own.range;
        let Some((writers, owners)) = &self.owners else {
            return Cow::Borrowed(self.held(piece));
        };
        if common(piece, own) == *piece {
            return Cow::Borrowed(self.held(piece));
        }
        let cols = self.cols();
        let mut values = vec![0.0; piece.len() * cols];
        for (rank, range) in owners.iter().enumerate() {
            let part = common(piece, range);
            let [start, end] = [part.start, part.end].map(|row| (row - piece.start) * cols);
            let to = &mut values[start..end];
            match rank == writers.rank() {
                _ if part.is_empty() => {}
                true => to.copy_from_slice(self.held(&part)),
                false => writers.receive(rank, to),
            }
        }
        Cow::Owned(values)
    }
}

/// What two ranges have in common: within the first, empty if there is nothing.
fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = b.start.clamp(a.start, a.end);
    start..b.end.clamp(start, a.end)
}

/// Writes the rows of this process into a folder of Parquet files, which process 0 adds to its batch.
pub(super) fn write_parts(
    embedding: &Embedding,
    batch: &mut Batch,
    path: &Path,
    format: Format,
    writers: &dyn Communicator,
) -> Result<()> {
    if format != Format::Parquet {
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
    // If all processes have all rows, one is enough.
    let writes = writers.leads() || !embedding.own.is_all();
    let write = || {
        let place = target.with_file_name(String::from_utf8_lossy(name).as_ref());
        if !place.is_dir() {
            let message =
                "this process does not see the folder that process 0 has made for the parts";
            let remedy =
                "write to a folder that all processes share, or to one file (no `/` at the end)";
            return Err(Error::input(target, message, remedy));
        }
        write_part(embedding, path, &place.join(part_name(writers.rank())))
    };
    let part = writers.agree(path, if writes { write() } else { Ok(None) })?;
    let parts = writers.gather_bytes(&serde_json::to_vec(&part).expect("plain data"));
    if let Some(folder) = folder {
        let written = |part: &Vec<u8>| serde_json::from_slice::<Option<Written>>(part).ok()?;
        let files = parts.iter().filter_map(written).collect();
        let existing = batch.existing();
        batch.add_folder(folder, target.to_path_buf(), existing, files);
    }
    Ok(())
}

/// Writes a part; `path` is what the user calls the folder.
fn write_part(embedding: &Embedding, path: &Path, part: &Path) -> Result<Option<Written>> {
    let failed = |e| Error::io(path, e);
    let mut out = Output::inside(part).map_err(failed)?;
    parquet::write(&Rows::own(embedding, Format::Parquet), path, &mut out)?;
    let written = out.finish().map_err(failed)?;
    Ok(written.map(|(file, _)| file))
}
