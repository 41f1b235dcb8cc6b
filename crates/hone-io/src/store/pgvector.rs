//! Vectors for PostgreSQL: the data of `COPY table FROM STDIN`, as text or binary, with two columns: the id and a vector of the
//! extension pgvector.
//!
//! Text fits a column of type `vector` or `halfvec`, and ids of any type. Binary data has the types of the columns: a
//! `vector` (or a `halfvec`, 16-bit floats), and ids as `bigint` if all are integers, else as `text`. What the database would
//! refuse in the middle of a load is refused here: values that are not finite or do not fit, and too many columns.
//!
//! Binary data does not say what its columns are. Vectors are known by their length. Ids are text unless one of them cannot be
//! text in PostgreSQL (it has a zero byte, as integers below 2⁵⁶ have, or is not UTF-8); then they are integers of 2, 4 or 8
//! bytes.
//!
//! References: the manual's page of COPY; `vector_send` and `halfvec_send` of pgvector: the dimension and a zero, both 16
//! bits, then the values, all big-endian.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use half::f16;

use super::shared::{PIECE, RowPieces};
use super::text::{Records, in_chunks};
use super::{Embedding, Format, read_names};
use crate::dense::Block;
use crate::error::{Error, Result, unwrapped};
use crate::graph::read::LONGEST_LINE;
use crate::graph::read::lines::without_end;
use crate::graph::read::source::Source;
use crate::graph::{NodeId, NodeIds, copy};
use crate::memory::Allowance;
use crate::parallel;

/// What binary data begins with; flags and the length of further headers follow.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Flags that a reader must know, in the upper half.
const CRITICAL: u32 = 0xffff_0000;
/// Columns that a vector of the database has at most.
const MOST_COLUMNS: usize = 16_000;
/// Rows that are encoded by one task.
const ROWS: usize = 1 << 8;
/// Rows between two looks at the memory that is held.
const WATCH: usize = 1 << 13;

/// How wide the values of a vector are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Float {
    /// `vector`: 32 bits.
    Single,
    /// `halfvec`: 16 bits.
    Half,
}

impl Float {
    fn size(self) -> usize {
        match self {
            Float::Single => 4,
            Float::Half => 2,
        }
    }

    fn fits(self, value: f32) -> bool {
        match self {
            Float::Single => value.is_finite(),
            Float::Half => f16::from_f32(value).is_finite(),
        }
    }
}

/// Bytes that writing binary data takes: a piece of rows as it is encoded.
pub(super) fn memory(columns: u64) -> u64 {
    8 * columns.max(PIECE as u64)
}

/// Writes a line per row.
pub(super) fn write_text(rows: &RowPieces, path: &Path, out: &mut dyn Write) -> Result<()> {
    check(rows, path)?;
    let (ids, cols) = (rows.ids(), rows.cols());
    rows.each(|range, values| {
        check_values(Float::Single, ids, range.start, values, cols, path)?;
        let lines = in_chunks(range.len(), cols, out, |i, line| {
            let _ = match ids.get((range.start + i) as u32) {
                NodeId::Text(id) => write_to(line, format_args!("{}\t[", copy::escaped(id))),
                NodeId::Integer(id) => write_to(line, format_args!("{id}\t[")),
            };
            for (j, value) in values[i * cols..(i + 1) * cols].iter().enumerate() {
                let comma = if j > 0 { "," } else { "" };
                let _ = write_to(line, format_args!("{comma}{value:?}"));
            }
            line.push_str("]\n");
        });
        lines.map_err(|e| Error::io(path, e))
    })
}

fn write_to(line: &mut String, text: std::fmt::Arguments<'_>) -> std::fmt::Result {
    std::fmt::Write::write_fmt(line, text)
}

/// Writes a tuple per row, between a header and a trailer.
pub(super) fn write_binary(
    rows: &RowPieces,
    path: &Path,
    float: Float,
    out: &mut dyn Write,
) -> Result<()> {
    let failed = |e| Error::io(path, e);
    check(rows, path)?;
    let (ids, cols) = (rows.ids(), rows.cols());
    let head = [&SIGNATURE[..], &[0; 8]].concat();
    out.write_all(&head).map_err(failed)?;
    rows.each(|range, values| {
        check_values(float, ids, range.start, values, cols, path)?;
        let tuples = parallel::stretches(range.len(), ROWS, |part| {
            let mut tuples = Vec::with_capacity(part.len() * (32 + float.size() * cols));
            for i in part {
                let id = ids.get((range.start + i) as u32);
                tuple(&mut tuples, id, &values[i * cols..(i + 1) * cols], float);
            }
            tuples
        });
        let mut tuples = tuples.iter();
        tuples
            .try_for_each(|part| out.write_all(part))
            .map_err(failed)
    })?;
    out.write_all(&(-1i16).to_be_bytes()).map_err(failed)
}

/// Adds a row: the number of its fields, and each with its length in front.
fn tuple(to: &mut Vec<u8>, id: NodeId<'_>, values: &[f32], float: Float) {
    to.extend(2i16.to_be_bytes());
    match id {
        NodeId::Integer(id) => {
            to.extend(8i32.to_be_bytes());
            to.extend(id.to_be_bytes());
        }
        NodeId::Text(id) => {
            to.extend((id.len() as u32).to_be_bytes());
            to.extend(id.as_bytes());
        }
    }
    to.extend((4 + float.size() as u32 * values.len() as u32).to_be_bytes());
    to.extend((values.len() as u16).to_be_bytes());
    to.extend([0; 2]);
    for &value in values {
        match float {
            Float::Single => to.extend(value.to_be_bytes()),
            Float::Half => to.extend(f16::from_f32(value).to_be_bytes()),
        }
    }
}

/// Refuses what no table of the database can hold, whatever the values.
fn check(rows: &RowPieces, path: &Path) -> Result<()> {
    let cols = rows.cols();
    if cols == 0 || cols > MOST_COLUMNS {
        let message = format!("a vector of pgvector has 1 to {MOST_COLUMNS} columns, not {cols}");
        return Err(Error::input(path, message, "choose another format"));
    }
    let texts = (0..rows.ids().len() as u32).map_while(|i| match rows.ids().get(i) {
        NodeId::Text(id) => Some(id),
        NodeId::Integer(_) => None,
    });
    for id in texts {
        if id.contains('\0') || id.len() > LONGEST_LINE / 2 {
            let shown: String = id.chars().take(60).collect();
            let message = format!("node id {shown:?} has a zero byte, or more bytes than a line");
            return Err(Error::input(path, message, "choose .npz or .parquet"));
        }
    }
    Ok(())
}

fn check_values(
    float: Float,
    ids: &NodeIds,
    first: usize,
    values: &[f32],
    cols: usize,
    path: &Path,
) -> Result<()> {
    let Some(at) = values.iter().position(|&value| !float.fits(value)) else {
        return Ok(());
    };
    let (id, value) = (ids.get((first + at / cols) as u32), values[at]);
    let (kind, remedy) = match float {
        Float::Half if value.is_finite() => {
            ("halfvec", "choose pgcopy, for a column of type vector")
        }
        _ => ("vector", "replace such values"),
    };
    let message = format!("node `{id}` has the value {value}, which a {kind} cannot hold");
    Err(Error::input(path, message, remedy))
}

/// Reads the lines of `COPY (SELECT id, vector FROM table) TO STDOUT`; `lines` gets the number of each.
pub(super) fn read_text(
    path: &Path,
    allowance: Allowance,
    lines: &mut Vec<u64>,
) -> Result<Embedding> {
    let mut records = Records::open(path, Format::Pgvector, allowance)?;
    let (mut ids, mut values, mut cols, mut line) = (Vec::new(), Vec::new(), None, Vec::new());
    while records.next_alone(&mut line)? {
        let text = without_end(&line);
        if text == copy::END {
            break;
        }
        let shown = String::from_utf8_lossy(&text[..text.len().min(200)]);
        let wrong = |message: &str| records.wrong(&shown, message);
        let fields: Vec<&[u8]> = text.split(|&byte| byte == b'\t').collect();
        let &[id, vector] = fields.as_slice() else {
            let found = fields.len();
            let message = format!("expected an id, a tab and a vector, found {found} fields");
            return Err(wrong(&message));
        };
        for (field, what) in [(id, "id"), (vector, "vector")] {
            if field == copy::NULL {
                let remedy = "leave such rows out: WHERE … IS NOT NULL";
                let message = format!("a null (\\N) in place of the {what}");
                return Err(Error::input_at(
                    path,
                    records.first_line(),
                    text,
                    message,
                    remedy,
                ));
            }
        }
        let id = String::from_utf8(copy::unescaped(id).into_owned());
        ids.push(id.map_err(|_| wrong("text that is not valid UTF-8"))?);
        let before = values.len();
        numbers(vector, &mut values).map_err(|message| wrong(&message))?;
        let found = values.len() - before;
        let expected = *cols.get_or_insert(found);
        if found != expected {
            let message = format!("expected {expected} values, found {found}");
            return Err(wrong(&message));
        }
        lines.push(records.first_line());
        if ids.len().is_multiple_of(WATCH) {
            records.check_memory(0)?;
        }
    }
    let ids = NodeIds::from_texts(&ids);
    embedding(path, ids, values, cols.unwrap_or(0), allowance)
}

/// Adds the values of `[1,2.5,-3e-4]`.
fn numbers(vector: &[u8], to: &mut Vec<f32>) -> Result<(), String> {
    let text = std::str::from_utf8(vector).unwrap_or_default().trim();
    let inside = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or_else(|| "the second field is no vector, such as [1,2.5]".to_owned())?;
    for number in inside.split(',') {
        let value = number.trim().parse::<f32>();
        to.push(value.map_err(|_| format!("`{number}` is not a number"))?);
    }
    Ok(())
}

fn embedding(
    path: &Path,
    ids: NodeIds,
    values: Vec<f32>,
    cols: usize,
    allowance: Allowance,
) -> Result<Embedding> {
    allowance.check(path, 0)?;
    let columns = read_names(path, cols)?;
    let vectors = Block::from_vec(ids.len(), cols, values);
    Embedding::of_parts(path, ids, vectors, columns)
}

/// Reads binary data, with vectors of either kind.
pub(super) fn read_binary(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let mut data = Tuples {
        path,
        source: BufReader::with_capacity(1 << 16, Source::open(path, allowance)?),
        row: None,
    };
    data.header()?;
    let (mut ids, mut values, mut cols, mut field) = (Vec::new(), Vec::new(), None, Vec::new());
    while data.next()? {
        data.field(&mut field, "id", LONGEST_LINE)?;
        ids.push(field.clone());
        data.field(&mut field, "vector", 4 + 4 * MOST_COLUMNS)?;
        let before = values.len();
        let is_vector = decode(&field, &mut values);
        let found = values.len() - before;
        if !is_vector {
            return Err(data.wrong("the second field is no vector of pgvector"));
        }
        let expected = *cols.get_or_insert(found);
        if found != expected {
            return Err(data.wrong(format!("expected {expected} values, found {found}")));
        }
        if ids.len().is_multiple_of(WATCH) {
            allowance.check(path, 0)?;
        }
    }
    let ids = typed(&ids).ok_or_else(|| {
        let message = "the ids are neither text nor integers";
        Error::input(path, message, "select them as text: id::text")
    })?;
    embedding(path, ids, values, cols.unwrap_or(0), allowance)
}

/// Adds the values of a `vector` or `halfvec`; whether it is one.
fn decode(field: &[u8], to: &mut Vec<f32>) -> bool {
    let Some((&[high, low, 0, 0], body)) = field.split_first_chunk() else {
        return false;
    };
    let cols = usize::from(u16::from_be_bytes([high, low]));
    if cols == 0 {
        return false;
    }
    if body.len() == 4 * cols {
        to.extend(
            body.as_chunks()
                .0
                .iter()
                .map(|&value| f32::from_be_bytes(value)),
        );
    } else if body.len() == 2 * cols {
        let halves = body.as_chunks().0.iter();
        to.extend(halves.map(|&value| f16::from_be_bytes(value).to_f32()));
    }
    [2, 4].contains(&(body.len() / cols)) && body.len().is_multiple_of(cols)
}

/// The ids of all rows as what they are, as far as their bytes tell.
fn typed(ids: &[Vec<u8>]) -> Option<NodeIds> {
    let text = |id: &Vec<u8>| String::from_utf8(id.clone()).ok();
    let texts = ids
        .iter()
        .map(|id| text(id).filter(|id| !id.contains('\0')));
    if let Some(texts) = texts.collect::<Option<Vec<String>>>() {
        return Some(NodeIds::from_texts(&texts));
    }
    let integer = |id: &Vec<u8>| match *id.as_slice() {
        [a, b] => Some((2, i64::from(i16::from_be_bytes([a, b])))),
        [a, b, c, d] => Some((4, i64::from(i32::from_be_bytes([a, b, c, d])))),
        _ => Some((8, i64::from_be_bytes(id.as_slice().try_into().ok()?))),
    };
    let integers = ids.iter().map(integer).collect::<Option<Vec<_>>>()?;
    let width = integers.first()?.0;
    let all = integers.into_iter();
    let same = all.map(|(own, id)| (own == width).then_some(id));
    same.collect::<Option<Vec<i64>>>()
        .map(NodeIds::from_integers)
}

/// The rows of binary data, one after the other.
struct Tuples<'a> {
    path: &'a Path,
    source: BufReader<Source>,
    /// The row that is read, from 0; none in the header.
    row: Option<u64>,
}

impl Tuples<'_> {
    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        let message = match self.row {
            None => format!("not the binary data of COPY: {what}"),
            Some(row) => format!("row {row}, from 0: {what}"),
        };
        let remedy = "write it with COPY (SELECT id, vector FROM …) TO STDOUT WITH (FORMAT binary)";
        Error::input(self.path, message, remedy)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        match self.source.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.wrong("the data is truncated"),
            _ => unwrapped(self.path, error),
        }
    }

    fn header(&mut self) -> Result<()> {
        if self.bytes()? != *SIGNATURE {
            return Err(self.wrong("it does not begin with PGCOPY"));
        }
        if u32::from_be_bytes(self.bytes()?) & CRITICAL != 0 {
            return Err(self.wrong("it has flags that are not known"));
        }
        let more = u64::from(u32::from_be_bytes(self.bytes()?));
        let skipped = io::copy(&mut (&mut self.source).take(more), &mut io::sink());
        match skipped {
            Ok(skipped) if skipped == more => Ok(()),
            Ok(_) => Err(self.wrong("the data is truncated")),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Goes on to the next row; whether there is one.
    fn next(&mut self) -> Result<bool> {
        self.row = Some(self.row.map_or(0, |row| row + 1));
        match i16::from_be_bytes(self.bytes()?) {
            -1 => Ok(false),
            2 => Ok(true),
            found => Err(self.wrong(format!("{found} fields, not an id and a vector"))),
        }
    }

    /// Reads a field of at most `longest` bytes.
    fn field(&mut self, field: &mut Vec<u8>, what: &str, longest: usize) -> Result<()> {
        let length = i32::from_be_bytes(self.bytes()?);
        let Ok(length) = usize::try_from(length) else {
            return Err(self.wrong(format!("a null in place of the {what}")));
        };
        if length > longest {
            return Err(self.wrong(format!("{length} bytes are too many for the {what}")));
        }
        field.clear();
        let read = (&mut self.source).take(length as u64).read_to_end(field);
        match read {
            Ok(read) if read == length => Ok(()),
            Ok(_) => Err(self.wrong("the data is truncated")),
            Err(error) => Err(self.failed(error)),
        }
    }
}
