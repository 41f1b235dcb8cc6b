//! Parquet tables of flat columns, the one door to the Parquet crate.
//!
//! Edge tables, counts, features and embeddings are all the same thing here: named columns of
//! integers, counts, floats or text, written and read in row groups. The crate's column interface
//! is used directly, so Arrow is not needed.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::error::{Error, Result};

/// Rows that fit one row group comfortably.
pub const ROW_GROUP: usize = 1 << 17;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Signed 64-bit integers.
    Integer,
    /// Unsigned 64-bit integers.
    Count,
    /// 32-bit floats.
    Float,
    /// UTF-8 text.
    Text,
}

/// Values of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// See [`Kind::Integer`].
    Integers(Vec<i64>),
    /// See [`Kind::Count`].
    Counts(Vec<u64>),
    /// See [`Kind::Float`].
    Floats(Vec<f32>),
    /// See [`Kind::Text`].
    Texts(Vec<String>),
}

/// A column in which values may be missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Nullable {
    /// The values that are there.
    pub values: Column,
    /// Whether each row has one; none when all have.
    pub present: Option<Vec<bool>>,
}

impl Column {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Column::Integers(v) => v.len(),
            Column::Counts(v) => v.len(),
            Column::Floats(v) => v.len(),
            Column::Texts(v) => v.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Writes a table row group by row group.
pub struct TableWriter<W: Write + Send> {
    path: PathBuf,
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a table with these columns; `path` is only named in errors.
    pub fn new(path: &Path, out: W, columns: &[(String, Kind)]) -> Result<Self> {
        let fields = columns.iter().map(|(name, kind)| field(name, *kind).map(Arc::new)).collect::<Result<_, _>>();
        let schema = fields.and_then(|fields| Type::group_type_builder("table").with_fields(fields).build());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .build();
        let writer = schema.and_then(|schema| SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)));
        Ok(TableWriter { path: path.to_path_buf(), writer: writer.map_err(|e| failed(path, &e))? })
    }

    /// Writes a row group: `column(j)` gives the values of column j, all of one length.
    ///
    /// # Panics
    /// When a column's kind is not the one announced.
    pub fn write(&mut self, mut column: impl FnMut(usize) -> Column) -> Result<()> {
        let path = &self.path;
        let mut group = self.writer.next_row_group().map_err(|e| failed(path, &e))?;
        let mut j = 0;
        while let Some(mut sink) = group.next_column().map_err(|e| failed(path, &e))? {
            put(&mut sink, column(j)).map_err(|e| failed(path, &e))?;
            sink.close().map_err(|e| failed(path, &e))?;
            j += 1;
        }
        group.close().map(drop).map_err(|e| failed(path, &e))
    }

    /// Writes the footer.
    pub fn finish(self) -> Result<()> {
        self.writer.close().map(drop).map_err(|e| failed(&self.path, &e))
    }
}

/// The error with its path; what the system said below the Parquet crate keeps its kind, so that a
/// closed pipe is still known as one.
fn failed(path: &Path, error: &ParquetError) -> Error {
    let kind = match error {
        ParquetError::External(cause) => cause.downcast_ref::<io::Error>().map(io::Error::kind),
        _ => None,
    };
    Error::io(path, io::Error::new(kind.unwrap_or(io::ErrorKind::Other), error.to_string()))
}

fn field(name: &str, kind: Kind) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Integer => (Physical::INT64, None),
        Kind::Count => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Float => (Physical::FLOAT, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()
}

fn put(sink: &mut SerializedColumnWriter<'_>, column: Column) -> Result<usize, ParquetError> {
    match column {
        Column::Integers(values) => sink.typed::<Int64Type>().write_batch(&values, None, None),
        Column::Counts(values) => {
            let bits: Vec<i64> = values.into_iter().map(u64::cast_signed).collect();
            sink.typed::<Int64Type>().write_batch(&bits, None, None)
        }
        Column::Floats(values) => sink.typed::<FloatType>().write_batch(&values, None, None),
        Column::Texts(values) => {
            let texts: Vec<ByteArray> = values.into_iter().map(|t| ByteArray::from(t.into_bytes())).collect();
            sink.typed::<ByteArrayType>().write_batch(&texts, None, None)
        }
    }
}

/// An open table.
pub struct TableReader {
    path: PathBuf,
    reader: SerializedFileReader<File>,
}

impl TableReader {
    /// Opens a Parquet file and reads its schema.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let reader = SerializedFileReader::new(file)
            .map_err(|e| Error::input(path, format!("not a readable Parquet file: {e}"), ""))?;
        Ok(TableReader { path: path.to_path_buf(), reader })
    }

    /// Names of the columns.
    pub fn columns(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        (0..schema.num_columns()).map(|j| schema.column(j).path().string()).collect()
    }

    /// All values of the column called `name`; nulls are refused.
    pub fn column(&self, name: &str) -> Result<Column> {
        let Nullable { values, present } = self.nullable(name)?;
        match present {
            None => Ok(values),
            Some(present) => {
                let message = format!("column `{name}` has {} values in {} rows", values.len(), present.len());
                Err(Error::input(&self.path, message, "nulls are not supported: fill or drop them"))
            }
        }
    }

    /// The column called `name`, which may have nulls but no lists.
    pub fn nullable(&self, name: &str) -> Result<Nullable> {
        let Some(j) = self.columns().iter().position(|c| c == name) else {
            let known = self.columns().join(", ");
            return Err(Error::input(&self.path, format!("no column `{name}`"), format!("the file has: {known}")));
        };
        let broken = |e: &ParquetError| Error::input(&self.path, format!("column `{name}` cannot be read: {e}"), "");
        let (mut parts, mut levels) = (Vec::new(), Vec::new());
        for g in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(g).map_err(|e| broken(&e))?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let descriptor = group.metadata().column(j).column_descr_ptr();
            if descriptor.max_rep_level() > 0 {
                let message = format!("column `{name}` has lists");
                return Err(Error::input(&self.path, message, "lists are not supported: write a column an entry"));
            }
            let reader = group.get_column_reader(j).map_err(|e| broken(&e))?;
            let mut own = Vec::new();
            let part = self.part(name, reader, descriptor.converted_type(), &mut own)?;
            if descriptor.max_def_level() == 0 {
                own = vec![0; part.len()];
            }
            let present = own.iter().filter(|&&level| level == descriptor.max_def_level()).count();
            if own.len() != rows || present != part.len() {
                let message = format!("column `{name}` has {} values in {rows} rows", own.len());
                return Err(Error::input(&self.path, message, "the file is damaged: write it again"));
            }
            levels.extend(own.iter().map(|&level| level == descriptor.max_def_level()));
            parts.push(part);
        }
        let values = self.join(name, self.empty(j), parts)?;
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
        let broken = |e: ParquetError| Error::input(&self.path, format!("column `{name}` cannot be read: {e}"), "");
        Ok(match reader {
            ColumnReader::BoolColumnReader(r) => {
                let values = drain::<BoolType>(r, levels).map_err(broken)?;
                Column::Integers(values.into_iter().map(i64::from).collect())
            }
            ColumnReader::Int64ColumnReader(r) => {
                let values = drain::<Int64Type>(r, levels).map_err(broken)?;
                match converted {
                    ConvertedType::UINT_64 => Column::Counts(values.into_iter().map(i64::cast_unsigned).collect()),
                    _ => Column::Integers(values),
                }
            }
            ColumnReader::Int32ColumnReader(r) => {
                let values = drain::<Int32Type>(r, levels).map_err(broken)?.into_iter();
                match converted {
                    ConvertedType::UINT_32 => Column::Integers(values.map(|v| v.cast_unsigned().into()).collect()),
                    _ => Column::Integers(values.map(i64::from).collect()),
                }
            }
            ColumnReader::FloatColumnReader(r) => Column::Floats(drain::<FloatType>(r, levels).map_err(broken)?),
            ColumnReader::DoubleColumnReader(r) => {
                let values = drain::<DoubleType>(r, levels).map_err(broken)?;
                Column::Floats(values.into_iter().map(|v| v as f32).collect())
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                let values = drain::<ByteArrayType>(r, levels).map_err(broken)?;
                let texts = values.into_iter().map(|b| String::from_utf8(b.data().to_vec())).collect::<Result<_, _>>();
                let invalid = |_| Error::input(&self.path, format!("column `{name}` has text that is not UTF-8"), "");
                Column::Texts(texts.map_err(invalid)?)
            }
            _ => {
                let message = format!("column `{name}` has a type that is not supported");
                return Err(Error::input(&self.path, message, "use integers, floats or text"));
            }
        })
    }

    /// A column of no values, of the kind that the schema gives column `j`.
    fn empty(&self, j: usize) -> Column {
        match self.reader.metadata().file_metadata().schema_descr().column(j).physical_type() {
            Physical::FLOAT | Physical::DOUBLE => Column::Floats(Vec::new()),
            Physical::BYTE_ARRAY => Column::Texts(Vec::new()),
            _ => Column::Integers(Vec::new()),
        }
    }

    fn join(&self, name: &str, empty: Column, parts: Vec<Column>) -> Result<Column> {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or(empty);
        for part in parts {
            match (&mut whole, part) {
                (Column::Integers(a), Column::Integers(b)) => a.extend(b),
                (Column::Counts(a), Column::Counts(b)) => a.extend(b),
                (Column::Floats(a), Column::Floats(b)) => a.extend(b),
                (Column::Texts(a), Column::Texts(b)) => a.extend(b),
                _ => return Err(Error::input(&self.path, format!("column `{name}` changes its type"), "")),
            }
        }
        Ok(whole)
    }
}

/// All non-null values of a column chunk without lists; `levels` gets the definition level of every row.
fn drain<T: DataType>(mut reader: ColumnReaderImpl<T>, levels: &mut Vec<i16>) -> Result<Vec<T::T>, ParquetError> {
    let mut values = Vec::new();
    loop {
        let read = reader.read_records(ROW_GROUP, Some(levels), None, &mut values)?;
        if read.0 == 0 {
            return Ok(values);
        }
    }
}
