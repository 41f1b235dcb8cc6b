//! [`Table`]: named columns as a text file or a Parquet file.
//!
//! Columns are computed in pieces of rows when they are written, a few pieces at a time by all threads, so no table is
//! ever in memory. Numbers are the shortest text that reads back as the same value. [`TableReader`] reads Parquet files.
//!
//! ```
//! use hone_io::output::{Batch, Existing};
//! use hone_io::store::table::{Column, Kind, Table, TableReader};
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("ranks.parquet");
//! let ids = hone_io::graph::NodeIds::from_texts(&["a", "b", "c"]);
//! let values = |rows: std::ops::Range<usize>| {
//!     let ranks = rows.clone().map(|row| row as i64 + 1).collect();
//!     Ok(vec![Column::Nodes(rows.map(|row| row as u32).collect()), Column::Integers(ranks)])
//! };
//! let table = Table::new(&ids, [("id", Kind::Node), ("rank", Kind::Integer)], 3, &values);
//! let mut batch = Batch::new(Existing::Refuse);
//! table.add_to(&mut batch, &path, &hone_base::Silent)?;
//! batch.commit()?;
//! let read = TableReader::open(&path, hone_base::memory::Allowance::new(None))?;
//! assert_eq!(read.column("rank")?, Column::Integers(vec![1, 2, 3]));
//! # Ok::<(), hone_base::Error>(())
//! ```

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::text::{compressed, separator};
use super::{Format, extension, extension_error, not_text};
use crate::columnar::TableWriter;
use crate::error::{Error, Result};
use crate::graph::{NodeId, NodeIds, quoted};
use crate::output::{Batch, is_stream};
use crate::parallel;
use crate::progress::Progress;

pub use crate::columnar::{Column, Kind, Near, Nullable, TableReader, is_decoding, points};

/// Rows of a piece, and pieces held at once, a row group in Parquet.
const PIECE: usize = 1 << 12;
const WAVE: usize = 32;

/// The format of a table by the extension of its file, seen through `.gz` and `.zst`; TSV for streams.
pub fn format_of(path: &Path) -> Result<Format> {
    let (extension, compressed) = extension(path);
    let format = match extension.as_str() {
        "tsv" | "txt" => Format::Tsv,
        "csv" => Format::Csv,
        "npy" => Format::Npy,
        "parquet" => Format::Parquet,
        _ if is_stream(path) => Format::Tsv,
        other => {
            let message = format!("a table cannot be written as `.{other}`");
            let remedy = "use .tsv, .csv (also .gz, .zst), .npy or .parquet";
            return Err(extension_error(path, other, &message, remedy));
        }
    };
    match format {
        Format::Npy | Format::Parquet if compressed => Err(not_text(path)),
        _ => Ok(format),
    }
}

/// Columns that are computed when they are written.
pub struct Table<'a> {
    /// What [`Column::Nodes`] are called.
    pub(super) ids: &'a NodeIds,
    /// Names of the columns, and what they hold.
    pub(super) columns: Vec<(String, Kind)>,
    /// What a piece is computed of: rows, or whatever rows come from.
    pub(super) pieces: Vec<Range<usize>>,
    /// Pieces held at once.
    pub(super) wave: usize,
    /// All columns of a piece.
    pub(super) values: &'a (dyn Fn(Range<usize>) -> Result<Vec<Column>> + Sync),
}

impl<'a> Table<'a> {
    /// A table of this many rows: `values` are all columns in a range of them.
    pub fn new<N: Into<String>>(
        ids: &'a NodeIds,
        columns: impl IntoIterator<Item = (N, Kind)>,
        rows: usize,
        values: &'a (dyn Fn(Range<usize>) -> Result<Vec<Column>> + Sync),
    ) -> Self {
        let columns = columns.into_iter().map(|(name, kind)| (name.into(), kind));
        let piece = |start| start..rows.min(start + PIECE);
        Table {
            ids,
            columns: columns.collect(),
            pieces: (0..rows).step_by(PIECE).map(piece).collect(),
            wave: WAVE,
            values,
        }
    }

    /// Writes the table into a batch, as text or Parquet.
    pub fn add_to(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        let format = format_of(path)?;
        let mut out = batch.begin(path)?;
        let total = self.pieces.last().map_or(0, |last| last.end as u64);
        progress.stage("writing", total);
        match format {
            Format::Parquet => self.parquet(path, &mut out, progress)?,
            Format::Npy => {
                let message = "a table with text columns cannot be written as `.npy`";
                return Err(Error::input(path, message, "use .tsv or .parquet"));
            }
            text => compressed(path, &mut out, |out| {
                self.text(separator(text), path, out, progress)
            })?,
        }
        batch.add(out)
    }

    fn text(
        &self,
        separator: char,
        path: &Path,
        out: &mut dyn Write,
        progress: &dyn Progress,
    ) -> Result<()> {
        let failed = |e| Error::io(path, e);
        let names = self.columns.iter().map(|(name, _)| quoted(name, separator));
        let head = names.collect::<Vec<_>>().join(&separator.to_string()) + "\n";
        out.write_all(head.as_bytes()).map_err(failed)?;
        let lines = |columns: Vec<Column>| self.lines(separator, &columns);
        self.waves(progress, lines, |pieces| {
            let mut pieces = pieces.iter();
            pieces.try_for_each(|lines| out.write_all(lines).map_err(failed))
        })
    }

    pub(super) fn lines(&self, separator: char, columns: &[Column]) -> Vec<u8> {
        let rows = columns.first().map_or(0, Column::len);
        let mut text = Vec::with_capacity(rows * (4 + 4 * columns.len()));
        let mut digits = itoa::Buffer::new();
        for row in 0..rows {
            for (j, column) in columns.iter().enumerate() {
                if j > 0 {
                    text.push(separator as u8);
                }
                match column {
                    Column::Integers(values) => text.extend(digits.format(values[row]).bytes()),
                    Column::Counts(values) => text.extend(digits.format(values[row]).bytes()),
                    Column::Floats(values) => {
                        let _ = write!(text, "{}", values[row]);
                    }
                    Column::Texts(values) => text.extend(quoted(&values[row], separator).bytes()),
                    Column::Nodes(nodes) => match self.ids.get(nodes[row]) {
                        NodeId::Integer(id) => text.extend(digits.format(id).bytes()),
                        NodeId::Text(id) => text.extend(quoted(id, separator).bytes()),
                    },
                }
            }
            text.push(b'\n');
        }
        text
    }

    fn parquet(
        &self,
        path: &Path,
        out: &mut (impl Write + Send),
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut table = TableWriter::new(path, out, &self.columns, self.ids)?;
        let whole = |columns| columns;
        self.waves(progress, whole, |mut pieces: Vec<Vec<Column>>| {
            if pieces.iter().all(|columns| columns[0].is_empty()) {
                return Ok(());
            }
            table.write(|j| {
                let mut parts = pieces
                    .iter_mut()
                    .map(|columns| std::mem::take(&mut columns[j]));
                let mut whole = parts.next().unwrap_or_default();
                parts.for_each(|part| assert!(whole.append(part), "columns keep their kind"));
                whole
            })
        })?;
        table.finish()
    }

    /// Computes pieces in parallel and passes them on in order, a wave at a time.
    pub(super) fn waves<T: Send>(
        &self,
        progress: &dyn Progress,
        piece: impl Fn(Vec<Column>) -> T + Sync,
        mut sink: impl FnMut(Vec<T>) -> Result<()>,
    ) -> Result<()> {
        for wave in self.pieces.chunks(self.wave) {
            progress.check()?;
            let made = parallel::map(wave.len(), |at| (self.values)(wave[at].clone()).map(&piece));
            sink(made.into_iter().collect::<Result<_>>()?)?;
            progress.advance(wave.iter().map(|piece| piece.len() as u64).sum());
        }
        Ok(())
    }
}
