//! Tables with one column of vectors: a list of floats, of one length in all rows.
//!
//! Parquet has lists, and no lists of a fixed length. A schema of Arrow in the metadata says that the length is fixed, so
//! pyarrow and Polars read a `FixedSizeList<float32>`; other readers see a list. The schema is a message of Arrow's IPC format,
//! which is written here byte by byte (`Flat`). The names of the columns of the vectors are in the metadata too, as a
//! JSON list. Any list of floats is read, whoever wrote it and whatever the levels between it and its values are called.
//!
//! References: the specifications of Parquet (logical types, "Lists"), Arrow (`Message.fbs`, `Schema.fbs`) and FlatBuffers.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Type as Physical;
use parquet::basic::{Compression, Encoding};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::points::list;
use super::reader::TableReader;
use super::validate::decoded;
use super::{Column, Kind, failed, field, put};
use crate::error::{Error, Result};
use hone_graph::NodeIds;

/// What the column is called.
const VECTOR: &str = "vector";
/// Where the metadata has the names of the columns of the vectors.
const NAMES: &str = "hone.columns";
const ARROW: &str = "ARROW:schema";
/// Values of a row group: its pages are in memory until it is complete.
const GROUP: usize = 1 << 22;
/// Values that are encoded or decoded at a time.
const BATCH: usize = 1 << 16;

/// Rows of a row group of vectors with this many columns.
pub fn group(columns: usize) -> usize {
    (GROUP / columns.max(1)).clamp(1, super::ROW_GROUP)
}

/// Writes ids and vectors row group by row group.
pub struct VectorWriter<'a, W: Write + Send> {
    path: PathBuf,
    ids: &'a NodeIds,
    width: usize,
    writer: SerializedFileWriter<W>,
}

impl<'a, W: Write + Send> VectorWriter<'a, W> {
    /// Starts a table of vectors whose columns have these names, of nodes with these ids; `path` is only named in errors.
    pub fn new(path: &Path, out: W, names: &[String], ids: &'a NodeIds) -> Result<Self> {
        let width = names.len();
        let is_text = matches!(ids, NodeIds::Text { .. });
        let list = serde_json::to_string(names).unwrap_or_default();
        let metadata = vec![
            KeyValue::new(ARROW.to_owned(), arrow_schema(is_text, width)),
            KeyValue::new(NAMES.to_owned(), list),
        ];
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_column_statistics_enabled(
                vec![VECTOR.to_owned(), "list".to_owned(), "element".to_owned()].into(),
                EnabledStatistics::None,
            )
            .set_key_value_metadata(Some(metadata))
            .build();
        let writer = schema(ids).and_then(|schema| {
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
        });
        Ok(VectorWriter {
            path: path.to_path_buf(),
            ids,
            width,
            writer: writer.map_err(|e| failed(path, &e))?,
        })
    }

    /// Bytes that writing this many vectors takes, in addition to them.
    pub fn memory(rows: u64, columns: u64) -> u64 {
        let group = rows.min(group(usize::try_from(columns).unwrap_or(usize::MAX)) as u64);
        // Pages, those of one group among them twice while they are written, and the ids.
        let pages = 8u64.saturating_mul(group.saturating_mul(columns));
        pages.saturating_add(64 * group).saturating_add(1 << 10)
    }

    /// Writes a row group: these rows with these values.
    pub fn write(&mut self, rows: Range<usize>, values: &[f32]) -> Result<()> {
        let (width, count) = (self.width, rows.len());
        let ids = self.ids;
        let write = || -> Result<(), ParquetError> {
            let mut group = self.writer.next_row_group()?;
            if let Some(mut sink) = group.next_column()? {
                let nodes = Column::Nodes(rows.map(|row| row as u32).collect());
                put(&mut sink, nodes, ids)?;
                sink.close()?;
            }
            if let Some(mut sink) = group.next_column()? {
                // An empty list has one level and no value.
                let (levels, batch) = (width.max(1), (BATCH / width.max(1)).clamp(1, count.max(1)));
                let defined = vec![i16::from(width > 0); batch * levels];
                let repeated: Vec<i16> = (0..batch * levels)
                    .map(|level| i16::from(level % levels > 0))
                    .collect();
                for start in (0..count).step_by(batch) {
                    let end = count.min(start + batch);
                    let some = (end - start) * levels;
                    sink.typed::<FloatType>().write_batch(
                        &values[start * width..end * width],
                        Some(&defined[..some]),
                        Some(&repeated[..some]),
                    )?;
                }
                sink.close()?;
            }
            group.close().map(drop)
        };
        write().map_err(|e| failed(&self.path, &e))
    }

    /// Writes the footer.
    pub fn finish(self) -> Result<()> {
        let closed = self.writer.close();
        closed.map(drop).map_err(|e| failed(&self.path, &e))
    }
}

/// `id`, and a list.
fn schema(ids: &NodeIds) -> Result<Type, ParquetError> {
    let (id, vector) = (
        field("id", Kind::Node, ids)?,
        list(VECTOR, Physical::FLOAT)?,
    );
    Type::group_type_builder("table")
        .with_fields(vec![Arc::new(id), Arc::new(vector)])
        .build()
}

impl TableReader {
    /// Whether column `j` has lists of floats.
    pub fn is_vectors(&self, j: usize) -> bool {
        let column = self.schema().column(j);
        let is_float = matches!(column.physical_type(), Physical::FLOAT | Physical::DOUBLE);
        column.max_rep_level() == 1 && is_float
    }

    /// The names of the columns of the vectors, where the metadata has them.
    pub fn vector_names(&self) -> Result<Option<Vec<String>>> {
        let Some(list) = self.metadata(NAMES) else {
            return Ok(None);
        };
        serde_json::from_str(list).map(Some).map_err(|_| {
            let message = format!("`{NAMES}` of the metadata is not a JSON list of names");
            Error::input(self.path(), message, "write the file again")
        })
    }

    /// Adds the vectors of group `g`, in column `j`, to `values`; `before` is the number of rows of earlier groups. All have as
    /// many values as the first, which is `width` once it is known.
    pub fn add_vectors(
        &self,
        g: usize,
        j: usize,
        before: u64,
        width: &mut Option<usize>,
        values: &mut Vec<f32>,
    ) -> Result<()> {
        match self.column_of_group(g, j)? {
            ColumnReader::FloatColumnReader(reader) => {
                self.add_lists(reader, [g, j], before, width, values, |value| value)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.add_lists(reader, [g, j], before, width, values, |value| value as f32)
            }
            _ => Err(self.damaged(format!("column `{}` changes its type", self.columns()[j]))),
        }
    }

    fn add_lists<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        [g, j]: [usize; 2],
        before: u64,
        width: &mut Option<usize>,
        values: &mut Vec<f32>,
        narrow: impl Fn(T::T) -> f32,
    ) -> Result<()> {
        let column = self.schema().column(j);
        let whole = column.max_def_level();
        // One level below a value: a null in its place, if that may be one.
        let null = whole - i16::from(column.self_type().is_optional());
        let name = column.path().parts().first().cloned().unwrap_or_default();
        let wrong = |row: u64, what: String, remedy: &str| {
            let message = format!("row {row}, in row group {g}, has {what} in column `{name}`");
            Err(Error::input(self.path(), message, remedy))
        };
        let nulls = "nulls are not supported: fill or drop them";
        let (mut row, mut read) = (before, Vec::new());
        let (mut defined, mut repeated) = (Vec::new(), Vec::new());
        loop {
            read.clear();
            defined.clear();
            repeated.clear();
            let most = (BATCH / width.unwrap_or(1 << 10).max(1)).max(1);
            let records = decoded(|| {
                reader.read_records(most, Some(&mut defined), Some(&mut repeated), &mut read)
            });
            let records =
                records.map_err(|what| self.damaged(format!("column `{name}`: {what}")))?;
            if records.0 == 0 {
                break;
            }
            let mut at = 0;
            while at < defined.len() {
                let rest = repeated[at + 1..].iter();
                let levels = 1 + rest.take_while(|&&level| level > 0).count();
                let own = &defined[at..at + levels];
                match own.iter().copied().find(|&level| level < whole) {
                    Some(level) if level >= null => {
                        return wrong(row, "a null among the values".into(), nulls);
                    }
                    // An empty list is one level above none.
                    Some(level) if level + 1 < null => {
                        return wrong(row, "no vector".into(), "drop such rows");
                    }
                    _ => {}
                }
                let found = if own[0] < whole { 0 } else { levels };
                let expected = *width.get_or_insert(found);
                if found != expected {
                    let what = format!("{found} values where {expected} are expected");
                    return wrong(row, what, "vectors of one table are of one length");
                }
                (at, row) = (at + levels, row + 1);
            }
            self.check_memory(8 * read.len() as u64)?;
            values.extend(read.drain(..).map(&narrow));
        }
        let (found, rows) = (row - before, self.rows_of(g));
        if found != rows {
            let what = format!("column `{name}` has {found} values in {rows} rows");
            return Err(self.damaged(what));
        }
        Ok(())
    }
}

/// The schema of the table in Arrow's terms, as a message in base64.
fn arrow_schema(text: bool, width: usize) -> String {
    // The place of the first table stands in front.
    let mut flat = Flat(vec![0; 4]);
    // Message: version 5, a schema.
    let message = flat.table(&[Slot::Short(4), Slot::Byte(1), Slot::Place]);
    flat.point(0, message.0);
    // Schema: little-endian, fields.
    let schema = flat.table(&[Slot::None, Slot::Place]);
    flat.point(message.1[0], schema.0);
    let fields = flat.places(2);
    flat.point(schema.1[0], fields.0);
    let id = match text {
        true => flat.field("id", 5, &[]),
        false => flat.field("id", 2, &[Slot::Int(64), Slot::Byte(1)]),
    };
    flat.point(fields.1[0], id.0);
    flat.children(id.1, 0);
    let vector = flat.field(VECTOR, 16, &[Slot::Int(width as u32)]);
    flat.point(fields.1[1], vector.0);
    let inner = flat.children(vector.1, 1);
    // Of single precision.
    let element = flat.field("element", 3, &[Slot::Short(1)]);
    flat.point(inner[0], element.0);
    flat.children(element.1, 0);
    let body = flat.0;
    let padded = body.len().next_multiple_of(8);
    let mut bytes = vec![0xff; 4];
    bytes.extend((padded as u32).to_le_bytes());
    bytes.extend(body);
    bytes.resize(8 + padded, 0);
    base64(&bytes)
}

/// What a field of a table of a FlatBuffer holds.
#[derive(Clone, Copy)]
enum Slot {
    /// The default.
    None,
    Byte(u8),
    Short(u16),
    Int(u32),
    /// The place of something that follows.
    Place,
}

impl Slot {
    fn bytes(self) -> Vec<u8> {
        match self {
            Slot::None => Vec::new(),
            Slot::Byte(value) => vec![value],
            Slot::Short(value) => value.to_le_bytes().to_vec(),
            Slot::Int(value) => value.to_le_bytes().to_vec(),
            Slot::Place => vec![0; 4],
        }
    }
}

/// A FlatBuffer, written front to back: what refers to something stands before it, and is told the place when that is known.
struct Flat(Vec<u8>);

impl Flat {
    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    /// Adds a table; returns its place, and those of its references.
    fn table(&mut self, slots: &[Slot]) -> (usize, Vec<usize>) {
        let (mut body, mut offsets, mut places) = (vec![0; 4], Vec::new(), Vec::new());
        for slot in slots {
            let bytes = slot.bytes();
            body.resize(body.len().next_multiple_of(bytes.len().max(1)), 0);
            let is_there = !bytes.is_empty();
            offsets.push(if is_there { body.len() as u16 } else { 0 });
            if let Slot::Place = slot {
                places.push(body.len());
            }
            body.extend(bytes);
        }
        let head = 4 + 2 * offsets.len();
        // The table is aligned, its description in front of it need not be.
        self.align();
        self.0
            .resize((self.0.len() + head).next_multiple_of(4) - head, 0);
        self.0.extend((head as u16).to_le_bytes());
        self.0.extend((body.len() as u16).to_le_bytes());
        for offset in offsets {
            self.0.extend(offset.to_le_bytes());
        }
        let table = self.0.len();
        body[..4].copy_from_slice(&(head as u32).to_le_bytes());
        self.0.extend(body);
        (
            table,
            places.into_iter().map(|place| table + place).collect(),
        )
    }

    /// Adds a field of a schema: its name, no nulls, its type, and children to come.
    fn field(&mut self, name: &str, kind: u8, facts: &[Slot]) -> (usize, usize) {
        let slots = [
            Slot::Place,
            Slot::None,
            Slot::Byte(kind),
            Slot::Place,
            Slot::None,
            Slot::Place,
        ];
        let (field, places) = self.table(&slots);
        self.align();
        let text = self.0.len();
        self.0.extend((name.len() as u32).to_le_bytes());
        self.0.extend(name.as_bytes());
        self.0.push(0);
        self.point(places[0], text);
        let kind = self.table(facts);
        self.point(places[1], kind.0);
        (field, places[2])
    }

    /// Adds a list of references; returns its place and theirs.
    fn places(&mut self, count: usize) -> (usize, Vec<usize>) {
        self.align();
        let list = self.0.len();
        self.0.extend((count as u32).to_le_bytes());
        self.0.resize(list + 4 + 4 * count, 0);
        (list, (0..count).map(|at| list + 4 + 4 * at).collect())
    }

    /// Adds the list that a reference is to.
    fn children(&mut self, from: usize, count: usize) -> Vec<usize> {
        let (list, places) = self.places(count);
        self.point(from, list);
        places
    }

    fn point(&mut self, from: usize, to: usize) {
        let way = ((to - from) as u32).to_le_bytes();
        self.0[from..from + 4].copy_from_slice(&way);
    }
}

/// Bytes as text in base64 (RFC 4648), padded.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            text.push(match digit <= three.len() {
                true => char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4648.
    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }
}
