//! [`Table`]: named columns as a text file or a Parquet file, in ranges of rows.
//!
//! Columns are computed when they are written, a range at a time, so no table is ever in memory. Texts are
//! formatted by all threads and written in order. Numbers are the shortest text that reads back as the same
//! value. [`TableReader`] reads Parquet files.
//!
//! ```
//! use hone_io::output::{Batch, Existing};
//! use hone_io::store::table::{Column, Kind, Table, TableReader};
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("ranks.parquet");
//! let values = |_: usize, rows: std::ops::Range<usize>| Column::Integers(rows.map(|row| row as i64 + 1).collect());
//! let table = Table { columns: vec![("rank".into(), Kind::Integer)], rows: 3, values: &values };
//! let mut batch = Batch::new(Existing::Refuse);
//! table.add_to(&mut batch, &path, &hone_base::Silent)?;
//! batch.commit()?;
//! let read = TableReader::open(&path, hone_base::memory::Allowance::new(None))?;
//! assert_eq!(read.column("rank")?, Column::Integers(vec![1, 2, 3]));
//! # Ok::<(), hone_base::Error>(())
//! ```

use std::fmt::Write as _;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::text::compressed;
use crate::columnar::{ROW_GROUP, TableWriter};
use crate::error::{Error, Result};
use crate::graph::quoted;
use crate::output::{Batch, is_stream};
use crate::parallel;
use crate::progress::Progress;

pub use crate::columnar::{Column, Kind, Nullable, TableReader, is_decoding};

/// Rows formatted by one task.
const CHUNK: usize = 1 << 12;
/// Chunks held at once.
const WAVE: usize = 32;

/// The file layout of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Text with this separator.
    Text(char),
    /// An array without names; not of a [`Table`].
    Npy,
    /// A Parquet file.
    Parquet,
}

impl Layout {
    /// The layout that an extension names, seen through `.gz` and `.zst`; TSV for streams.
    pub fn of(path: impl AsRef<Path>) -> Result<Layout> {
        Layout::of_path(path.as_ref())
    }

    fn of_path(path: &Path) -> Result<Layout> {
        let lower = |path: &Path| {
            path.extension()
                .and_then(|e| e.to_str())
                .unwrap_or_default()
                .to_ascii_lowercase()
        };
        match lower(path).as_str() {
            "gz" | "zst" => match Layout::of_path(&path.with_extension(""))? {
                text @ Layout::Text(_) => Ok(text),
                _ => Err(Error::input(
                    path,
                    "only text formats can be compressed",
                    "drop the .gz or .zst",
                )),
            },
            "tsv" | "txt" => Ok(Layout::Text('\t')),
            "csv" => Ok(Layout::Text(',')),
            "npy" => Ok(Layout::Npy),
            "parquet" => Ok(Layout::Parquet),
            _ if is_stream(path) => Ok(Layout::Text('\t')),
            _ if path.is_dir() => Err(Error::input(
                path,
                "is a folder",
                "give the name of a file in it",
            )),
            "" => Err(unknown(
                path,
                "the name has no extension, which names the format",
            )),
            other => Err(unknown(
                path,
                &format!("a table cannot be written as `.{other}`"),
            )),
        }
    }
}

fn unknown(path: &Path, message: &str) -> Error {
    Error::input(
        path,
        message,
        "use .tsv, .csv (also .gz, .zst), .npy or .parquet",
    )
}

/// Columns that are computed when they are written.
pub struct Table<'a> {
    /// Names of the columns, and what they hold.
    pub columns: Vec<(String, Kind)>,
    /// Number of rows.
    pub rows: usize,
    /// The values of a column in a range of rows.
    pub values: &'a (dyn Fn(usize, Range<usize>) -> Column + Sync),
}

impl Table<'_> {
    /// Writes the table into a batch, as text or Parquet.
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.add_at(batch, path.as_ref(), progress)
    }

    fn add_at(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        let layout = Layout::of(path)?;
        let mut out = batch.begin(path)?;
        progress.stage("writing", self.rows as u64);
        match layout {
            Layout::Text(separator) => {
                compressed(path, &mut out, |out| {
                    self.text(separator, path, out, progress)
                })?;
            }
            Layout::Parquet => self.parquet(path, &mut out, progress)?,
            Layout::Npy => {
                return Err(Error::input(
                    path,
                    "a table with text columns cannot be written as `.npy`",
                    "use .tsv or .parquet",
                ));
            }
        }
        batch.add(out)
    }

    fn head(&self, separator: char) -> String {
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|(name, _)| quoted(name, separator))
            .collect();
        names.join(&separator.to_string()) + "\n"
    }

    fn lines(&self, separator: char, rows: Range<usize>) -> String {
        let columns: Vec<Column> = (0..self.columns.len())
            .map(|j| (self.values)(j, rows.clone()))
            .collect();
        let mut text = String::new();
        for at in 0..rows.len() {
            for (j, column) in columns.iter().enumerate() {
                if j > 0 {
                    text.push(separator);
                }
                // Writing to a text cannot fail.
                let _ = match column {
                    Column::Integers(values) => write!(text, "{}", values[at]),
                    Column::Counts(values) => write!(text, "{}", values[at]),
                    Column::Floats(values) => write!(text, "{}", values[at]),
                    Column::Texts(values) => write!(text, "{}", quoted(&values[at], separator)),
                };
            }
            text.push('\n');
        }
        text
    }

    fn text(
        &self,
        separator: char,
        path: &Path,
        out: &mut dyn Write,
        progress: &dyn Progress,
    ) -> Result<()> {
        let failed = |e| Error::io(path, e);
        out.write_all(self.head(separator).as_bytes())
            .map_err(failed)?;
        for wave in (0..self.rows).step_by(CHUNK * WAVE) {
            progress.check()?;
            let end = self.rows.min(wave + CHUNK * WAVE);
            let chunk =
                |rows: Range<usize>| self.lines(separator, wave + rows.start..wave + rows.end);
            for lines in parallel::stretches(end - wave, CHUNK, chunk) {
                out.write_all(lines.as_bytes()).map_err(failed)?;
            }
            progress.advance((end - wave) as u64);
        }
        Ok(())
    }

    fn parquet(
        &self,
        path: &Path,
        out: &mut (impl Write + Send),
        progress: &dyn Progress,
    ) -> Result<()> {
        let mut table = TableWriter::new(path, out, &self.columns)?;
        for start in (0..self.rows).step_by(ROW_GROUP) {
            progress.check()?;
            let rows = start..self.rows.min(start + ROW_GROUP);
            table.write(|j| (self.values)(j, rows.clone()))?;
            progress.advance(rows.len() as u64);
        }
        table.finish()
    }
}
