//! [`Opened`]: a Parquet file that has passed its checks, and the one way to its columns; [`Data`]: its bytes. [`TableReader`]
//! reads whole columns.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{
    ChunkReader, FileReader, Length, SerializedFileReader, SerializedPageReader,
};
use parquet::schema::types::SchemaDescriptor;

use super::sound::{self, Checked, decoded};
use super::{Column, Nullable};
use crate::error::{Error, Result};
use crate::hashing::SeededMap;
use crate::memory::Allowance;

/// Bytes that a byte of the footer takes once it is understood, at most: a column without statistics has some fifty in the
/// file.
const FOOTER: u64 = 24;

/// Bytes that are taken between two looks at the memory that is held: a look costs more than a small column.
const WATCH: u64 = 1 << 20;

/// A file, or all of a stream: a table is read from its end.
#[derive(Clone)]
pub enum Data {
    /// A file.
    File(Arc<File>),
    /// All of a stream.
    Memory(Bytes),
}

impl Data {
    /// Opens a file; reads a stream, within the allowance.
    pub fn open(path: &Path, allowance: Allowance) -> Result<Self> {
        let wrong = |error| Error::io(path, error);
        if fs::metadata(path).map_err(wrong)?.is_file() {
            File::open(path).map_err(wrong).map(Data::from)
        } else {
            let check = |bytes: &[u8], _| match sound::may_begin(bytes) {
                true => Ok(()),
                false => Err(damaged(path, "it does not begin like one")),
            };
            allowance.read(path, 1, check).map(Data::from)
        }
    }
}

impl From<File> for Data {
    fn from(file: File) -> Self {
        Data::File(Arc::new(file))
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        Data::Memory(bytes.into())
    }
}

impl Length for Data {
    fn len(&self) -> u64 {
        match self {
            Data::File(file) => Length::len(&**file),
            Data::Memory(bytes) => Length::len(bytes),
        }
    }
}

impl ChunkReader for Data {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(match self {
            Data::File(file) => Box::new(file.get_read(start)?),
            Data::Memory(bytes) => Box::new(bytes.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        match self {
            Data::File(file) => file.get_bytes(start, length),
            Data::Memory(bytes) => bytes.get_bytes(start, length),
        }
    }
}

/// An open Parquet file.
pub struct Opened {
    path: PathBuf,
    data: Arc<Data>,
    /// Bytes of the file.
    size: u64,
    reader: SerializedFileReader<Data>,
    allowance: Allowance,
    /// Bytes taken since the last look.
    unseen: AtomicU64,
}

impl Opened {
    /// Checks the frame and the schema, then reads the footer.
    pub fn new(path: &Path, data: Data, allowance: Allowance) -> Result<Self> {
        let size = data.len();
        let wrong = |what: String| damaged(path, what);
        let footer = sound::check_footer(&data, size).map_err(wrong)?;
        allowance.check(path, footer.saturating_mul(FOOTER))?;
        let reader = decoded(|| SerializedFileReader::new(data.clone())).map_err(wrong)?;
        let (path, data, unseen) = (path.to_path_buf(), Arc::new(data), AtomicU64::new(0));
        let opened = Opened {
            path,
            data,
            size,
            reader,
            allowance,
            unseen,
        };
        let columns = opened.schema().num_columns();
        for group in opened.metadata().row_groups() {
            if group.num_columns() != columns || group.num_rows() < 0 {
                let what = format!(
                    "a group of {} rows and {} columns",
                    group.num_rows(),
                    group.num_columns()
                );
                return Err(opened.damaged(what));
            }
        }
        Ok(opened)
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &SchemaDescriptor {
        self.metadata().file_metadata().schema_descr()
    }

    /// Facts about each row group.
    pub fn groups(&self) -> &[RowGroupMetaData] {
        self.metadata().row_groups()
    }

    /// Rows of all groups.
    pub fn rows(&self) -> u64 {
        self.groups()
            .iter()
            .map(|group| group.num_rows().cast_unsigned())
            .fold(0, u64::saturating_add)
    }

    /// Rows of group `g`.
    pub fn rows_of(&self, g: usize) -> u64 {
        self.groups()[g].num_rows().cast_unsigned()
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Refuses to hold `more` bytes than may be held.
    pub fn check_memory(&self, more: u64) -> Result<()> {
        let unseen = self
            .unseen
            .fetch_add(more, Ordering::Relaxed)
            .saturating_add(more);
        if unseen < WATCH {
            return Ok(());
        }
        self.unseen.store(0, Ordering::Relaxed);
        self.allowance.check(&self.path, unseen)
    }

    /// The error for a damaged file.
    pub fn damaged(&self, what: impl std::fmt::Display) -> Error {
        damaged(&self.path, what)
    }

    /// Column `j` of group `g`, once its pages have been checked and there is room for all its values.
    pub fn column(&self, g: usize, j: usize) -> Result<ColumnReader> {
        let group = &self.groups()[g];
        let (chunk, rows) = (group.column(j), group.num_rows().cast_unsigned());
        let descriptor = chunk.column_descr_ptr();
        if descriptor.max_rep_level() == 0 && chunk.num_values() != group.num_rows() {
            let what = format!(
                "column `{}` has {} values in {rows} rows",
                descriptor.path(),
                chunk.num_values()
            );
            return Err(self.damaged(what));
        }
        let page =
            sound::check_pages(&*self.data, self.size, chunk).map_err(|what| self.damaged(what))?;
        // As it is decoded and as it is kept, with the levels of both.
        let value = if descriptor.physical_type() == Physical::BYTE_ARRAY {
            64
        } else {
            32
        };
        self.check_memory(rows.saturating_mul(value).saturating_add(page))?;
        // Not by way of the reader's groups: making one takes time for all its columns.
        let pages =
            decoded(|| SerializedPageReader::new(self.data.clone(), chunk, rows as usize, None));
        let pages = Checked {
            inner: Box::new(pages.map_err(|what| self.damaged(what))?),
            physical: descriptor.physical_type(),
            levels: descriptor.max_def_level(),
            left: chunk.num_values().cast_unsigned(),
        };
        decoded(|| Ok(get_column_reader(descriptor, Box::new(pages))))
            .map_err(|what| self.damaged(what))
    }
}

/// The error for a damaged file.
pub fn damaged(path: &Path, what: impl std::fmt::Display) -> Error {
    Error::input(
        path,
        format!("this is not a valid Parquet file: {what}"),
        "write or download it again",
    )
}

/// Values decoded at once.
const BATCH: usize = 1 << 16;

/// An open table.
pub struct TableReader {
    path: PathBuf,
    opened: Opened,
    names: Vec<String>,
    /// Where each name stands.
    places: SeededMap<String, usize>,
}

impl TableReader {
    /// Opens a Parquet file and reads its schema; reading columns takes no more memory than `allowance` has.
    pub fn open(path: &Path, allowance: Allowance) -> Result<Self> {
        let opened = Opened::new(path, Data::open(path, allowance)?, allowance)?;
        let names: Vec<String> = opened
            .schema()
            .columns()
            .iter()
            .map(|column| column.path().string())
            .collect();
        let mut places = SeededMap::default();
        for (j, name) in names.iter().enumerate() {
            if places.insert(name.clone(), j).is_some() {
                return Err(Error::input(
                    path,
                    format!("two columns are called `{name}`"),
                    "rename one of them",
                ));
            }
        }
        Ok(TableReader {
            path: path.to_path_buf(),
            opened,
            names,
            places,
        })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.opened.rows()
    }

    /// All values of the column called `name`; nulls are refused.
    pub fn column(&self, name: &str) -> Result<Column> {
        let Nullable { values, present } = self.nullable(name)?;
        match present {
            None => Ok(values),
            Some(present) => {
                let message = format!(
                    "column `{name}` has {} values in {} rows",
                    values.len(),
                    present.len()
                );
                Err(Error::input(
                    &self.path,
                    message,
                    "nulls are not supported: fill or drop them",
                ))
            }
        }
    }

    /// The column called `name`, which may have nulls but no lists.
    pub fn nullable(&self, name: &str) -> Result<Nullable> {
        let Some(&j) = self.places.get(name) else {
            let known = self
                .names
                .iter()
                .take(20)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            return Err(Error::input(
                &self.path,
                format!("no column `{name}`"),
                format!("the file has: {known}"),
            ));
        };
        if self.opened.schema().column(j).max_rep_level() > 0 {
            let message = format!("column `{name}` has lists");
            return Err(Error::input(
                &self.path,
                message,
                "lists are not supported: write one column per entry",
            ));
        }
        self.decode(name, j)
    }

    fn decode(&self, name: &str, j: usize) -> Result<Nullable> {
        let descriptor = self.opened.schema().column(j);
        let (mut parts, mut levels) = (Vec::new(), Vec::new());
        for (g, group) in self.opened.groups().iter().enumerate() {
            let rows = group.num_rows() as usize;
            let mut own = Vec::new();
            let part = self.part(
                name,
                self.opened.column(g, j)?,
                descriptor.converted_type(),
                &mut own,
            )?;
            if descriptor.max_def_level() == 0 {
                own = vec![0; part.len()];
            }
            let present = own
                .iter()
                .filter(|&&level| level == descriptor.max_def_level())
                .count();
            if own.len() != rows || present != part.len() {
                let what = format!("column `{name}` has {} values in {rows} rows", own.len());
                return Err(self.opened.damaged(what));
            }
            levels.extend(own.iter().map(|&level| level == descriptor.max_def_level()));
            parts.push(part);
        }
        let mut parts = parts.into_iter();
        let mut values = parts.next().unwrap_or_else(|| self.empty(j));
        if !parts.all(|part| values.append(part)) {
            return Err(self
                .opened
                .damaged(format!("column `{name}` changes its type")));
        }
        let present = (values.len() < levels.len()).then_some(levels);
        Ok(Nullable { values, present })
    }

    fn part(
        &self,
        name: &str,
        reader: ColumnReader,
        converted: ConvertedType,
        levels: &mut Vec<i16>,
    ) -> Result<Column> {
        Ok(match reader {
            ColumnReader::BoolColumnReader(r) => {
                let values = self.drain::<BoolType>(name, r, levels)?;
                Column::Integers(values.into_iter().map(i64::from).collect())
            }
            ColumnReader::Int64ColumnReader(r) => {
                let values = self.drain::<Int64Type>(name, r, levels)?;
                match converted {
                    ConvertedType::UINT_64 => {
                        Column::Counts(values.into_iter().map(i64::cast_unsigned).collect())
                    }
                    _ => Column::Integers(values),
                }
            }
            ColumnReader::Int32ColumnReader(r) => {
                let values = self.drain::<Int32Type>(name, r, levels)?.into_iter();
                match converted {
                    ConvertedType::UINT_32 => {
                        Column::Integers(values.map(|v| v.cast_unsigned().into()).collect())
                    }
                    _ => Column::Integers(values.map(i64::from).collect()),
                }
            }
            ColumnReader::FloatColumnReader(r) => {
                Column::Floats(self.drain::<FloatType>(name, r, levels)?)
            }
            ColumnReader::DoubleColumnReader(r) => {
                let values = self.drain::<DoubleType>(name, r, levels)?;
                Column::Floats(values.into_iter().map(|v| v as f32).collect())
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                self.texts(name, &self.drain::<ByteArrayType>(name, r, levels)?)?
            }
            _ => {
                let message = format!("column `{name}` has a type that is not supported");
                return Err(Error::input(
                    &self.path,
                    message,
                    "use integers, floats or text",
                ));
            }
        })
    }

    /// All non-null values of a column chunk without lists; `levels` gets the definition level of every row. Few bytes may
    /// stand for many values.
    fn drain<T: DataType>(
        &self,
        name: &str,
        mut reader: ColumnReaderImpl<T>,
        levels: &mut Vec<i16>,
    ) -> Result<Vec<T::T>> {
        let broken = |what: String| self.opened.damaged(format!("column `{name}`: {what}"));
        let batch = if size_of::<T::T>() > size_of::<u64>() {
            BATCH / 16
        } else {
            BATCH
        };
        let mut values = Vec::new();
        loop {
            self.opened
                .check_memory((batch * size_of::<T::T>()) as u64)?;
            let read = decoded(|| reader.read_records(batch, Some(levels), None, &mut values))
                .map_err(broken)?;
            if read.0 == 0 {
                return Ok(values);
            }
        }
    }

    /// Texts of their own; a dictionary may have made many of few bytes.
    fn texts(&self, name: &str, values: &[ByteArray]) -> Result<Column> {
        self.opened
            .check_memory(values.iter().map(|value| value.len() as u64 + 24).sum())?;
        let texts = values
            .iter()
            .map(|b| String::from_utf8(b.data().to_vec()))
            .collect::<Result<_, _>>();
        let message = || format!("column `{name}` has text that is not UTF-8");
        texts
            .map(Column::Texts)
            .map_err(|_| Error::input(&self.path, message(), "write the column as UTF-8"))
    }

    /// A column of no values, of the kind that the schema gives column `j`.
    fn empty(&self, j: usize) -> Column {
        match self.opened.schema().column(j).physical_type() {
            Physical::FLOAT | Physical::DOUBLE => Column::Floats(Vec::new()),
            Physical::BYTE_ARRAY => Column::Texts(Vec::new()),
            _ => Column::Integers(Vec::new()),
        }
    }
}
