//! [`Opened`]: a Parquet file that has passed its checks, and the one way to its columns.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;

use super::sound::{self, Checked};
use crate::error::{Error, Result};
use crate::memory::Allowance;

/// An open Parquet file.
pub(crate) struct Opened {
    path: PathBuf,
    file: File,
    /// Bytes of the file.
    size: u64,
    reader: SerializedFileReader<File>,
    allowance: Allowance,
}

impl Opened {
    /// Runs all work on a Parquet file: what the decoder does not expect is an error, never a panic.
    pub(crate) fn contained<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
        sound::contain(work).unwrap_or_else(|| Err(damaged(path, "a page cannot be decoded")))
    }

    /// Checks the frame and the schema, then reads the footer.
    pub(crate) fn new(path: &Path, file: File, allowance: Allowance) -> Result<Self> {
        let size = file.metadata().map_err(|error| Error::io(path, error))?.len();
        sound::check_footer(&file, size).map_err(|what| damaged(path, what))?;
        let clone = file.try_clone().map_err(|error| Error::io(path, error))?;
        let reader = SerializedFileReader::new(clone).map_err(|error| damaged(path, error))?;
        let opened = Opened { path: path.to_path_buf(), file, size, reader, allowance };
        let columns = opened.schema().num_columns();
        for group in opened.metadata().row_groups() {
            if group.num_columns() != columns || group.num_rows() < 0 {
                let what = format!("a group of {} rows and {} columns", group.num_rows(), group.num_columns());
                return Err(opened.damaged(what));
            }
        }
        Ok(opened)
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    pub(crate) fn schema(&self) -> &SchemaDescriptor {
        self.metadata().file_metadata().schema_descr()
    }

    pub(crate) fn groups(&self) -> &[RowGroupMetaData] {
        self.metadata().row_groups()
    }

    /// Rows of all groups.
    pub(crate) fn rows(&self) -> u64 {
        self.groups().iter().map(|group| group.num_rows().cast_unsigned()).fold(0, u64::saturating_add)
    }

    /// Bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Refuses to hold `more` bytes than may be held.
    pub(crate) fn check_memory(&self, more: u64) -> Result<()> {
        self.allowance.check(&self.path, more)
    }

    pub(crate) fn damaged(&self, what: impl std::fmt::Display) -> Error {
        damaged(&self.path, what)
    }

    /// Column `j` of group `g`, once its pages have been checked and there is room for all its values.
    pub(crate) fn column(&self, g: usize, j: usize) -> Result<ColumnReader> {
        let group = &self.groups()[g];
        let (chunk, rows) = (group.column(j), group.num_rows().cast_unsigned());
        let descriptor = chunk.column_descr_ptr();
        if descriptor.max_rep_level() == 0 && chunk.num_values() != group.num_rows() {
            let what = format!("column `{}` has {} values in {rows} rows", descriptor.path(), chunk.num_values());
            return Err(self.damaged(what));
        }
        let page = sound::check_pages(&self.file, self.size, chunk).map_err(|what| self.damaged(what))?;
        // As it is decoded and as it is kept, with the levels of both.
        let value = if descriptor.physical_type() == Physical::BYTE_ARRAY { 64 } else { 32 };
        self.check_memory(rows.saturating_mul(value).saturating_add(page))?;
        let pages = self.reader.get_row_group(g).and_then(|group| group.get_column_page_reader(j));
        let pages = Checked {
            inner: pages.map_err(|error| self.damaged(error))?,
            physical: descriptor.physical_type(),
            levels: descriptor.max_def_level(),
            left: chunk.num_values().cast_unsigned(),
        };
        Ok(get_column_reader(descriptor, Box::new(pages)))
    }
}

fn damaged(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::input(path, format!("this is not a sound Parquet file ({what})"), "write or download it again")
}
