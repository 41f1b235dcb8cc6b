//! Parquet tables of flat columns, of vectors and of points, the only user of the Parquet crate.
//!
//! Edge tables, counts, features and embeddings are all the same thing here: named columns of
//! integers, counts, floats or text, written and read in row groups. The crate's column interface
//! is used directly, so Arrow is not needed. What is read is checked first (`validate`): a damaged file, or one that
//! would exceed the memory limit, is an error. Streams are read into memory: a table is read from its end.

mod points;
mod reader;
mod validate;
mod vectors;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use hone_graph::{NodeId, NodeIds};

use crate::error::{Error, Result};

pub use points::{Near, points};
pub(crate) use reader::unchanged;
pub use reader::{Data, OneOfMany, TableReader, damaged};
pub use validate::{BEGINNING, LONGEST_HEADER, decoded, is_decoding, may_begin};
pub use vectors::{VectorWriter, group as rows_of_vectors};

/// Rows that fit one row group comfortably.
pub const ROW_GROUP: usize = 1 << 17;

/// Tables of more columns have no statistics of them: these would take more than the values, in the file and in memory.
const NARROW: usize = 1 << 8;
/// Bytes that a writer keeps per column, and per column and row group, to the end: the schema and the footer.
const COLUMN: u64 = 1024;
const COLUMN_OF_GROUP: u64 = 768;

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
    /// Ids of nodes.
    Node,
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
    /// See [`Kind::Node`]: their numbers. Only for writing; read are integers or texts.
    Nodes(Vec<u32>),
}

impl Default for Column {
    fn default() -> Self {
        Column::Nodes(Vec::new())
    }
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
            Column::Nodes(v) => v.len(),
        }
    }

    /// Adds the values of another column of the same kind; whether it is one.
    pub fn append(&mut self, next: Column) -> bool {
        match (self, next) {
            (Column::Integers(a), Column::Integers(b)) => a.extend(b),
            (Column::Counts(a), Column::Counts(b)) => a.extend(b),
            (Column::Floats(a), Column::Floats(b)) => a.extend(b),
            (Column::Texts(a), Column::Texts(b)) => a.extend(b),
            (Column::Nodes(a), Column::Nodes(b)) => a.extend(b),
            _ => return false,
        }
        true
    }

    /// The values as ids, if they are integers or text.
    pub fn into_ids(self) -> Option<NodeIds> {
        match self {
            Column::Integers(ids) => Some(NodeIds::from_integers(ids)),
            Column::Counts(ids) => {
                let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
                Some(NodeIds::from_texts(&ids))
            }
            Column::Texts(ids) => Some(NodeIds::from_texts(&ids)),
            Column::Floats(_) | Column::Nodes(_) => None,
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Writes a table row group by row group.
pub struct TableWriter<'a, W: Write + Send> {
    path: PathBuf,
    ids: &'a NodeIds,
    writer: SerializedFileWriter<W>,
}

impl<'a, W: Write + Send> TableWriter<'a, W> {
    /// Starts a table with these columns, of nodes with these ids; `path` is only named in errors.
    pub fn new(path: &Path, out: W, columns: &[(String, Kind)], ids: &'a NodeIds) -> Result<Self> {
        let fields = columns.iter();
        let fields = fields.map(|(name, kind)| field(name, *kind, ids).map(Arc::new));
        let schema = fields.collect::<Result<_, _>>().and_then(|fields| {
            let table = Type::group_type_builder("table").with_fields(fields);
            table.build()
        });
        let statistics = match columns.len() > NARROW {
            true => EnabledStatistics::None,
            false => EnabledStatistics::Page,
        };
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .set_statistics_enabled(statistics)
            .set_offset_index_disabled(columns.len() > NARROW)
            .build();
        let writer = schema.and_then(|schema| {
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
        });
        Ok(TableWriter {
            path: path.to_path_buf(),
            ids,
            writer: writer.map_err(|e| failed(path, &e))?,
        })
    }

    /// Bytes that writing a table of this many rows and columns takes, in addition to the values.
    pub fn memory(rows: u64, columns: u64) -> u64 {
        let group = rows.min(ROW_GROUP as u64);
        let held =
            COLUMN.saturating_add(COLUMN_OF_GROUP.saturating_mul(rows.div_ceil(ROW_GROUP as u64)));
        // A column of a group as it is copied, encoded and compressed.
        columns.saturating_mul(held).saturating_add(32 * group)
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
            put(&mut sink, column(j), self.ids).map_err(|e| failed(path, &e))?;
            sink.close().map_err(|e| failed(path, &e))?;
            j += 1;
        }
        group.close().map(drop).map_err(|e| failed(path, &e))
    }

    /// Writes the footer.
    pub fn finish(self) -> Result<()> {
        let closed = self.writer.close();
        closed.map(drop).map_err(|e| failed(&self.path, &e))
    }
}

/// The error with its path; what the system said below the Parquet crate keeps its kind, so that a
/// closed pipe is still known as one.
fn failed(path: &Path, error: &ParquetError) -> Error {
    let kind = match error {
        ParquetError::External(cause) => cause.downcast_ref::<io::Error>().map(io::Error::kind),
        _ => None,
    };
    let kind = kind.unwrap_or(io::ErrorKind::Other);
    Error::io(path, io::Error::new(kind, error.to_string()))
}

fn field(name: &str, kind: Kind, ids: &NodeIds) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        Kind::Node if !matches!(ids, NodeIds::Text { .. }) => (Physical::INT64, None),
        Kind::Integer => (Physical::INT64, None),
        Kind::Count => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Float => (Physical::FLOAT, None),
        Kind::Text | Kind::Node => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()
}

fn put(
    sink: &mut SerializedColumnWriter<'_>,
    column: Column,
    ids: &NodeIds,
) -> Result<usize, ParquetError> {
    match column {
        Column::Nodes(nodes) => {
            let integer = |id| match id {
                NodeId::Integer(id) => Some(id),
                NodeId::Text(_) => None,
            };
            let named = nodes.iter().map(|&node| ids.get(node));
            let named = match ids {
                NodeIds::Text { .. } => Column::Texts(named.map(|id| id.to_string()).collect()),
                _ => Column::Integers(named.filter_map(integer).collect()),
            };
            put(sink, named, ids)
        }
        Column::Integers(values) => sink.typed::<Int64Type>().write_batch(&values, None, None),
        Column::Counts(values) => {
            let bits: Vec<i64> = values.into_iter().map(u64::cast_signed).collect();
            sink.typed::<Int64Type>().write_batch(&bits, None, None)
        }
        Column::Floats(values) => sink.typed::<FloatType>().write_batch(&values, None, None),
        Column::Texts(values) => {
            let texts: Vec<ByteArray> = values
                .into_iter()
                .map(|t| ByteArray::from(t.into_bytes()))
                .collect();
            sink.typed::<ByteArrayType>()
                .write_batch(&texts, None, None)
        }
    }
}
