//! [`TableReader`]: a Parquet file that has passed its checks, and the one way to its columns; [`Data`]: its bytes.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{
    ChunkReader, FileReader, Length, SerializedFileReader, SerializedPageReader,
};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::validate::{self, Checked, decoded};
use super::{Column, Nullable};
use crate::error::{Error, Result};
use crate::hashing::SeededSet;
use crate::memory::Allowance;
use crate::storage;

/// Bytes that a byte of the footer takes once it is understood, at most: a column without statistics has some fifty in the
/// file.
const FOOTER: u64 = 24;

/// Bytes that are taken between two looks at the memory that is held: a look costs more than a small column.
const WATCH: u64 = 1 << 20;

/// Values decoded at once.
const BATCH: usize = 1 << 16;

/// A file, or all of a stream: a table is read from its end.
#[derive(Clone)]
pub enum Data {
    /// A file.
    File(Arc<File>),
    /// One of many files, opened for each read: a process may hold some hundreds open.
    OfMany(Arc<OneOfMany>),
    /// All of a stream.
    Memory(Bytes),
}

/// A file, and what the system said of it first.
pub struct OneOfMany {
    path: PathBuf,
    before: fs::Metadata,
}

impl Data {
    /// Opens a file; reads a stream, within the allowance.
    pub fn open(path: &Path, allowance: Allowance) -> Result<Self> {
        let wrong = |error| Error::io(path, error);
        if fs::metadata(path).map_err(wrong)?.is_file() {
            return File::open(path).map_err(wrong).map(Data::from);
        }
        let check = |bytes: &[u8], _| match validate::may_begin(bytes) {
            true => Ok(()),
            false => Err(damaged(path, "it does not begin like one")),
        };
        allowance.read(path, 1, check).map(Data::from)
    }

    /// One of many files.
    pub fn of_many(path: &Path) -> Result<Self> {
        let before = fs::metadata(path).map_err(|error| Error::io(path, error))?;
        let path = path.to_path_buf();
        Ok(Data::OfMany(Arc::new(OneOfMany { path, before })))
    }

    /// Fails for one of many files that has another length or time than at first.
    pub fn check_unchanged(&self) -> Result<()> {
        let Data::OfMany(file) = self else {
            return Ok(());
        };
        let now = fs::metadata(&file.path).map_err(|error| Error::io(&file.path, error))?;
        unchanged(&file.path, &file.before, &now)
    }
}

/// Fails for a file that has another length or time than before: what was read is neither the old one nor the new one.
pub(crate) fn unchanged(path: &Path, before: &fs::Metadata, now: &fs::Metadata) -> Result<()> {
    if now.len() == before.len() && now.modified().ok() == before.modified().ok() {
        return Ok(());
    }
    let message = "the file changed while it was read";
    Err(Error::input(
        path,
        message,
        "run the command again once it is complete",
    ))
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
            Data::OfMany(file) => file.before.len(),
            Data::Memory(bytes) => Length::len(bytes),
        }
    }
}

/// A file from some place on: handles of one file share a position, so threads that read row groups cannot use it.
struct FileFrom {
    file: Arc<File>,
    at: u64,
}

impl Read for FileFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = storage::read_at(&self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl ChunkReader for Data {
    type T = Box<dyn Read>;

    fn get_read(&self, at: u64) -> ParquetResult<Self::T> {
        let file = match self {
            Data::File(file) => Arc::clone(file),
            Data::OfMany(file) => Arc::new(File::open(&file.path)?),
            Data::Memory(bytes) => return Ok(Box::new(bytes.get_read(at)?)),
        };
        Ok(Box::new(BufReader::new(FileFrom { file, at })))
    }

    fn get_bytes(&self, at: u64, length: usize) -> ParquetResult<Bytes> {
        if let Data::Memory(bytes) = self {
            return bytes.get_bytes(at, length);
        }
        if Length::len(self).saturating_sub(at) < length as u64 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let mut bytes = vec![0; length];
        self.get_read(at)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// The error for a damaged file.
pub fn damaged(path: &Path, what: impl std::fmt::Display) -> Error {
    let message = format!("this is not a valid Parquet file: {what}");
    Error::input(path, message, "write or download it again")
}

/// An open Parquet file.
pub struct TableReader {
    path: PathBuf,
    data: Arc<Data>,
    reader: SerializedFileReader<Data>,
    names: Vec<String>,
    allowance: Allowance,
    /// Bytes taken since the last look.
    unseen: AtomicU64,
}

impl TableReader {
    /// Opens a table whose columns have different names; reading columns takes no more memory than `allowance` has.
    pub fn open(path: &Path, allowance: Allowance) -> Result<Self> {
        let table = Self::new(path, Data::open(path, allowance)?, allowance)?;
        let mut seen = SeededSet::default();
        match table.names.iter().find(|name| !seen.insert(name.as_str())) {
            None => Ok(table),
            Some(twice) => {
                let message = format!("two columns are called `{twice}`");
                Err(Error::input(path, message, "rename one of them"))
            }
        }
    }

    /// Checks the frame and the schema of a file, then reads the footer.
    pub fn new(path: &Path, data: Data, allowance: Allowance) -> Result<Self> {
        let wrong = |what: String| damaged(path, what);
        let footer = validate::check_footer(&data).map_err(wrong)?;
        allowance.check(path, footer.saturating_mul(FOOTER))?;
        let reader = decoded(|| SerializedFileReader::new(data.clone())).map_err(wrong)?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        for group in metadata.row_groups() {
            let (rows, columns) = (group.num_rows(), group.num_columns());
            if columns != schema.num_columns() || rows < 0 {
                return Err(wrong(format!(
                    "a group of {rows} rows and {columns} columns"
                )));
            }
        }
        let names = schema.columns().iter();
        Ok(TableReader {
            path: path.to_path_buf(),
            names: names.map(|column| column.path().string()).collect(),
            data: Arc::new(data),
            reader,
            allowance,
            unseen: AtomicU64::new(0),
        })
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &SchemaDescriptor {
        self.reader.metadata().file_metadata().schema_descr()
    }

    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the metadata of the file has under a key.
    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        let all = self.reader.metadata().file_metadata().key_value_metadata();
        let found = all?.iter().find(|pair| pair.key == key)?;
        found.value.as_deref()
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.names
    }

    /// Facts about each row group.
    pub fn groups(&self) -> &[RowGroupMetaData] {
        self.reader.metadata().row_groups()
    }

    /// Rows of all groups.
    pub fn rows(&self) -> u64 {
        let groups = 0..self.groups().len();
        groups.fold(0, |rows, g| rows.saturating_add(self.rows_of(g)))
    }

    /// Rows of group `g`.
    pub fn rows_of(&self, g: usize) -> u64 {
        self.groups()[g].num_rows().cast_unsigned()
    }

    /// Fails if the table is one of many files, and is not what it was when it was opened.
    pub fn check_unchanged(&self) -> Result<()> {
        self.data.check_unchanged()
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.data.len()
    }

    /// Refuses to hold `more` bytes than may be held.
    pub fn check_memory(&self, more: u64) -> Result<()> {
        let before = self.unseen.fetch_add(more, Ordering::Relaxed);
        let unseen = before.saturating_add(more);
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
    pub fn column_of_group(&self, g: usize, j: usize) -> Result<ColumnReader> {
        let wrong = |what: String| self.damaged(what);
        let group = &self.groups()[g];
        let (chunk, rows) = (group.column(j), group.num_rows().cast_unsigned());
        let descriptor = chunk.column_descr_ptr();
        if descriptor.max_rep_level() == 0 && chunk.num_values() != group.num_rows() {
            let (name, values) = (descriptor.path(), chunk.num_values());
            return Err(wrong(format!(
                "column `{name}` has {values} values in {rows} rows"
            )));
        }
        let page = validate::check_pages(&*self.data, chunk).map_err(wrong)?;
        // As it is decoded and as it is kept, with the levels of both.
        let value = match descriptor.physical_type() {
            Physical::BYTE_ARRAY => 64,
            _ => 32,
        };
        let all = match descriptor.max_rep_level() {
            0 => rows.saturating_mul(value),
            // Lists are decoded a few at a time, but one may have all values: each with its levels.
            _ => chunk.num_values().cast_unsigned().saturating_mul(8),
        };
        self.check_memory(all.saturating_add(page))?;
        // Not by way of the reader's groups: making one takes time for all its columns.
        let pages =
            decoded(|| SerializedPageReader::new(self.data.clone(), chunk, rows as usize, None));
        let pages = Checked {
            inner: Box::new(pages.map_err(wrong)?),
            physical: descriptor.physical_type(),
            levels: descriptor.max_def_level(),
            repeated: descriptor.max_rep_level() > 0,
            left: chunk.num_values().cast_unsigned(),
        };
        decoded(|| Ok(get_column_reader(descriptor, Box::new(pages)))).map_err(wrong)
    }

    /// All values of the column called `name`; nulls are refused.
    pub fn column(&self, name: &str) -> Result<Column> {
        let Some(j) = self.names.iter().position(|known| known == name) else {
            let known: Vec<&str> = self.names.iter().take(20).map(String::as_str).collect();
            let remedy = format!("the file has: {}", known.join(", "));
            let message = format!("no column `{name}`");
            return Err(Error::input(&self.path, message, remedy));
        };
        self.column_at(j)
    }

    /// All values of column `j`; nulls are refused.
    pub fn column_at(&self, j: usize) -> Result<Column> {
        let Nullable { values, present } = self.nullable_at(j)?;
        let Some(present) = present else {
            return Ok(values);
        };
        let (name, values, rows) = (&self.names[j], values.len(), present.len());
        let message = format!("column `{name}` has {values} values in {rows} rows");
        let remedy = "nulls are not supported: fill or drop them";
        Err(Error::input(&self.path, message, remedy))
    }

    /// Column `j`, which may have nulls but no lists.
    pub fn nullable_at(&self, j: usize) -> Result<Nullable> {
        // What a table without rows has.
        let mut values = match self.schema().column(j).physical_type() {
            Physical::FLOAT | Physical::DOUBLE => Column::Floats(Vec::new()),
            Physical::BYTE_ARRAY => Column::Texts(Vec::new()),
            _ => Column::Integers(Vec::new()),
        };
        let mut present = Vec::new();
        for g in 0..self.groups().len() {
            let part = self.part(g, j)?;
            let all = || vec![true; self.rows_of(g) as usize];
            present.extend(part.present.unwrap_or_else(all));
            if g == 0 {
                values = part.values;
            } else if !values.append(part.values) {
                let name = &self.names[j];
                return Err(self.damaged(format!("column `{name}` changes its type")));
            }
        }
        let present = (values.len() < present.len()).then_some(present);
        Ok(Nullable { values, present })
    }

    /// Column `j` of group `g`, which may have nulls but no lists.
    pub fn part(&self, g: usize, j: usize) -> Result<Nullable> {
        let (name, rows, mut levels) = (&self.names[j], self.rows_of(g) as usize, Vec::new());
        let descriptor = self.schema().column(j);
        if descriptor.max_rep_level() > 0 {
            let message = format!("column `{name}` has lists");
            let remedy = "lists are not supported: write one column per entry";
            return Err(Error::input(&self.path, message, remedy));
        }
        let values = self.decode(name, g, j, is_unsigned(&descriptor), &mut levels)?;
        let most = descriptor.max_def_level();
        let present: Vec<bool> = match most {
            0 => vec![true; values.len()],
            _ => levels.iter().map(|&level| level == most).collect(),
        };
        let found = present.iter().filter(|&&present| present).count();
        if present.len() != rows || found != values.len() {
            let values = present.len();
            let what = format!("column `{name}` has {values} values in {rows} rows");
            return Err(self.damaged(what));
        }
        let present = (found < rows).then_some(present);
        Ok(Nullable { values, present })
    }

    /// Whether a group has a number in a column of 64-bit floats that is zero in 32 bits alone: the first row with one, and the
    /// number.
    pub fn vanishing(&self, g: usize, j: usize) -> Result<Option<(usize, f64)>> {
        let ColumnReader::DoubleColumnReader(reader) = self.column_of_group(g, j)? else {
            return Ok(None);
        };
        let values = self.drain::<DoubleType>(&self.names[j], reader, &mut Vec::new())?;
        let vanishes = |(_, value): &(usize, f64)| *value != 0.0 && *value as f32 == 0.0;
        Ok(values.into_iter().enumerate().find(vanishes))
    }

    /// Column `j`, called `name`, of group `g`.
    fn decode(
        &self,
        name: &str,
        g: usize,
        j: usize,
        unsigned: bool,
        levels: &mut Vec<i16>,
    ) -> Result<Column> {
        Ok(match self.column_of_group(g, j)? {
            ColumnReader::BoolColumnReader(r) => {
                let values = self.drain::<BoolType>(name, r, levels)?.into_iter();
                Column::Integers(values.map(i64::from).collect())
            }
            ColumnReader::Int64ColumnReader(r) => {
                let values = self.drain::<Int64Type>(name, r, levels)?;
                match unsigned {
                    true => Column::Counts(values.into_iter().map(i64::cast_unsigned).collect()),
                    false => Column::Integers(values),
                }
            }
            ColumnReader::Int32ColumnReader(r) => {
                let values = self.drain::<Int32Type>(name, r, levels)?.into_iter();
                Column::Integers(match unsigned {
                    true => values.map(|v| v.cast_unsigned().into()).collect(),
                    false => values.map(i64::from).collect(),
                })
            }
            ColumnReader::FloatColumnReader(r) => {
                Column::Floats(self.drain::<FloatType>(name, r, levels)?)
            }
            ColumnReader::DoubleColumnReader(r) => {
                let values = self.drain::<DoubleType>(name, r, levels)?.into_iter();
                Column::Floats(values.map(|v| v as f32).collect())
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                Column::Texts(self.texts(name, &self.drain::<ByteArrayType>(name, r, levels)?)?)
            }
            _ => {
                let message = format!("column `{name}` has a type that is not supported");
                let remedy = "use integers, floats or text";
                return Err(Error::input(&self.path, message, remedy));
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
        let batch = match size_of::<T::T>() > size_of::<u64>() {
            true => BATCH / 16,
            false => BATCH,
        };
        let mut values = Vec::new();
        loop {
            self.check_memory((batch * size_of::<T::T>()) as u64)?;
            let read = decoded(|| reader.read_records(batch, Some(levels), None, &mut values));
            let read = read.map_err(|what| self.damaged(format!("column `{name}`: {what}")))?;
            if read.0 == 0 {
                return Ok(values);
            }
        }
    }

    /// Texts of their own; a dictionary may have made many of few bytes.
    fn texts(&self, name: &str, values: &[ByteArray]) -> Result<Vec<String>> {
        let bytes = values.iter().map(|value| value.len() as u64 + 24);
        self.check_memory(bytes.sum())?;
        let text = |value: &ByteArray| String::from_utf8(value.data().to_vec());
        values
            .iter()
            .map(text)
            .collect::<Result<_, _>>()
            .map_err(|_| {
                let message = format!("column `{name}` has text that is not UTF-8");
                Error::input(&self.path, message, "write the column as UTF-8")
            })
    }
}

/// Whether the bits of an integer column mean an unsigned number.
fn is_unsigned(column: &ColumnDescriptor) -> bool {
    use ConvertedType as T;
    let unsigned = [T::UINT_8, T::UINT_16, T::UINT_32, T::UINT_64];
    let logical = matches!(column.logical_type_ref(), Some(LogicalType::Integer(integer)) if !integer.is_signed);
    logical || unsigned.contains(&column.converted_type())
}
