//! Named tensors in one file, as safetensors lays them out: a length, a JSON header, and the raw values.
//!
//! Written here directly, since the crate's own writer wants a file name or a copy in memory. Read one by one, straight into
//! the memory where they stay: a file is never in memory twice. Values are little-endian.
//!
//! Embeddings are a tensor `embedding`, and the ids as tensor `ids`: int64 or, for text, UTF-8 with one id per line. The
//! names of the columns are a JSON list in the metadata, under `columns`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use bytemuck::Pod;
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde_json::{Map, Value as Json, json};

use super::Embedding;
use super::shared::Rows;
use super::text;
use crate::dense::{Block, Small};
use crate::error::{Error, Result};
use crate::graph::{NodeId, NodeIds};
use crate::memory::Allowance;

/// The most bytes of a header, with the length before it.
const LARGEST_HEADER: u64 = 100 << 20;
/// Copies of a stream while it is read: all of it, and the values in it.
pub(super) const EACH: u64 = 2;
/// Bytes that a byte of the header takes while it is understood, at most: a tensor of no values has fifty bytes there.
const HEADER: u64 = 16;

/// A number that tensors are made of.
pub trait Value: Pod {
    /// How its type is called.
    const TYPE: Dtype;
}

macro_rules! values {
    ($($value:ty: $name:ident),*) => {
        $(impl Value for $value {
            const TYPE: Dtype = Dtype::$name;
        })*
    };
}

values!(f32: F32, f64: F64, i64: I64, u64: U64, u32: U32, u8: U8);

/// Tensors to be written.
#[derive(Default)]
pub struct Writer<'a> {
    tensors: Vec<(Shape, Cow<'a, [u8]>)>,
}

/// What the header says about a tensor.
struct Shape {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: usize,
}

impl<'a> Writer<'a> {
    fn add<T: Value>(&mut self, name: &str, shape: Vec<usize>, values: Cow<'a, [T]>) {
        let bytes = match values {
            Cow::Borrowed(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
            Cow::Owned(values) => Cow::Owned(bytemuck::cast_slice(&values).to_vec()),
        };
        let shape = Shape {
            name: name.to_owned(),
            dtype: T::TYPE,
            shape,
            bytes: bytes.len(),
        };
        self.tensors.push((shape, bytes));
    }

    /// Adds numbers.
    pub fn values<T: Value>(&mut self, name: &str, values: impl Into<Cow<'a, [T]>>) {
        let values = values.into();
        self.add(name, vec![values.len()], values);
    }

    /// Adds a block.
    pub fn block(&mut self, name: &str, block: &'a Block) {
        let shape = vec![block.rows(), block.cols()];
        self.add(name, shape, block.as_slice().into());
    }

    /// Adds a small matrix.
    pub fn small(&mut self, name: &str, matrix: &'a Small) {
        let shape = vec![matrix.rows(), matrix.cols()];
        self.add(name, shape, matrix.as_slice().into());
    }

    /// Adds the CRC-32 of every `length` bytes of the last tensor, as `NAME.sums`.
    pub fn sums(&mut self, length: usize) {
        let Some((Shape { name, .. }, bytes)) = self.tensors.last() else {
            return;
        };
        let sums: Vec<u32> = bytes.chunks(length.max(1)).map(crc32fast::hash).collect();
        self.values(&format!("{name}.sums"), sums);
    }

    /// CRC-32 of each tensor.
    pub fn checksums(&self) -> BTreeMap<String, u32> {
        let sum =
            |(shape, bytes): &(Shape, Cow<[u8]>)| (shape.name.clone(), crc32fast::hash(bytes));
        self.tensors.iter().map(sum).collect()
    }

    /// Writes everything; the metadata stand first, in the order given.
    pub fn write(&self, metadata: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&header(
            metadata,
            self.tensors.iter().map(|(shape, _)| shape),
        ))?;
        let mut values = self.tensors.iter();
        values.try_for_each(|(_, bytes)| out.write_all(bytes))
    }
}

/// What comes before the values.
fn header<'a>(metadata: &[(&str, &str)], tensors: impl IntoIterator<Item = &'a Shape>) -> Vec<u8> {
    let entries = metadata
        .iter()
        .map(|(key, value)| format!("{}:{}", json!(key), json!(value)));
    let entries = entries.collect::<Vec<_>>().join(",");
    let (mut described, mut at) = (Map::new(), 0);
    for Shape {
        name,
        dtype,
        shape,
        bytes,
    } in tensors
    {
        let end = at + bytes;
        let entry = json!({ "dtype": dtype, "shape": shape, "data_offsets": [at, end] });
        described.insert(name.clone(), entry);
        at = end;
    }
    let separator = if described.is_empty() { "" } else { "," };
    let described = Json::from(described).to_string();
    let mut text = format!(
        "{{\"__metadata__\":{{{entries}}}{separator}{}",
        &described[1..]
    );
    text.extend(std::iter::repeat_n(
        ' ',
        text.len().next_multiple_of(8) - text.len(),
    ));
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

/// A matrix in a file: where its values begin, and its shape.
#[derive(Debug, Clone, Copy)]
pub struct Located {
    /// Where it begins in the file.
    pub start: u64,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
}

/// Where tensors are read from.
#[derive(Clone, Copy)]
enum Place<'a> {
    Memory(&'a [u8]),
    File(&'a File),
}

/// Tensors of a file, or of one in memory; each is read when it is requested, and compared with its checksum where
/// checksums are [expected](Tensors::expect).
pub struct Tensors<'a> {
    place: Place<'a>,
    /// Where the values begin, and how many bytes they have.
    start: u64,
    length: u64,
    header: Metadata,
    checksums: Option<BTreeMap<String, u32>>,
}

type Checked<T> = std::result::Result<T, String>;

impl<'a> Tensors<'a> {
    /// Reads the header of a file in memory.
    pub fn of(bytes: &'a [u8]) -> Checked<Self> {
        let (place, length) = (Place::Memory(bytes), bytes.len() as u64);
        Self::new(place, place.start(length)?, length)
    }

    /// Reads the header of a file.
    pub fn open(file: &'a File) -> Checked<Self> {
        let length = file.metadata().map_err(|e| e.to_string())?.len();
        let place = Place::File(file);
        Self::new(place, place.start(length)?, length)
    }

    fn new(place: Place<'a>, start: u64, length: u64) -> Checked<Self> {
        let mut header = vec![0; start as usize - 8];
        place.fill(8, &mut header)?;
        Ok(Tensors {
            place,
            start,
            length: length - start,
            header: serde_json::from_slice(&header).map_err(|e| e.to_string())?,
            checksums: None,
        })
    }

    /// A text of the metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        let metadata = self.header.metadata().as_ref()?;
        metadata.get(key).map(String::as_str)
    }

    /// Whether there is a tensor of that name.
    pub fn has(&self, name: &str) -> bool {
        self.header.info(name).is_some()
    }

    fn check_length(&self) -> Checked<()> {
        match self.header.data_len() as u64 == self.length {
            true => Ok(()),
            false => {
                Err("its length is not the one in its header: it is truncated or damaged".into())
            }
        }
    }

    /// Sets the checksum of every tensor; there may be no other, and none may be missing.
    pub fn expect(&mut self, checksums: BTreeMap<String, u32>) -> Checked<()> {
        self.check_length()?;
        let names = self.header.offset_keys();
        if let Some(name) = names.iter().find(|name| !checksums.contains_key(*name)) {
            return Err(format!("`{name}` has no checksum"));
        }
        if let Some(name) = checksums.keys().find(|name| !self.has(name)) {
            return Err(format!("`{name}` is missing"));
        }
        self.checksums = Some(checksums);
        Ok(())
    }

    /// A matrix of two dimensions, of finite values.
    pub fn block(&self, name: &str) -> Checked<Block> {
        let [rows, cols] = self.matrix::<f32>(name)?;
        let values = self.values::<f32>(name)?;
        finite(name, &values)?;
        Ok(Block::from_vec(rows, cols, values))
    }

    /// Where a matrix of 32-bit numbers lies, for those who read it themselves.
    pub fn located(&self, name: &str) -> Checked<Located> {
        let ([rows, cols], (from, _)) = (self.matrix::<f32>(name)?, self.found::<f32>(name)?);
        if rows.max(cols) > u32::MAX as usize {
            return Err(format!("`{name}` has too many rows or columns"));
        }
        Ok(Located {
            start: self.start + from,
            rows,
            cols,
        })
    }

    /// A small matrix of finite values.
    pub fn small(&self, name: &str) -> Checked<Small> {
        let [rows, cols] = self.matrix::<f64>(name)?;
        let values = self.numbers(name)?;
        Ok(Small::from_fn(rows, cols, |i, j| values[i * cols + j]))
    }

    /// Finite numbers.
    pub fn numbers(&self, name: &str) -> Checked<Vec<f64>> {
        let values = self.values::<f64>(name)?;
        finite(name, &values)?;
        Ok(values)
    }

    /// All values of a tensor, which is allocated when it is known to lie in the file.
    pub fn values<T: Value>(&self, name: &str) -> Checked<Vec<T>> {
        let (from, shape) = self.found::<T>(name)?;
        let mut values = vec![T::zeroed(); shape.iter().product()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        self.place
            .fill(self.start + from, bytes)
            .map_err(|e| format!("`{name}`: {e}"))?;
        match &self.checksums {
            Some(sums) if sums.get(name) != Some(&crc32fast::hash(bytes)) => {
                Err(format!("`{name}` is damaged: the checksum does not match"))
            }
            _ => Ok(values),
        }
    }

    /// Rows and columns of a tensor.
    fn matrix<T: Value>(&self, name: &str) -> Checked<[usize; 2]> {
        let (_, shape) = self.found::<T>(name)?;
        shape
            .try_into()
            .map_err(|_| format!("`{name}` does not have two dimensions"))
    }

    /// Where a tensor begins, and its shape: what it says of its size is compared with the file.
    fn found<T: Value>(&self, name: &str) -> Checked<(u64, &[usize])> {
        let tensor = self
            .header
            .info(name)
            .ok_or_else(|| format!("there is no `{name}`"))?;
        if tensor.dtype != T::TYPE {
            let (is, not) = (tensor.dtype, T::TYPE);
            return Err(format!("`{name}` has type {is:?}, not {not:?}"));
        }
        let (from, to) = tensor.data_offsets;
        let mut sizes = tensor.shape.iter();
        let size = sizes.try_fold(size_of::<T>(), |product, &size| product.checked_mul(size));
        if to as u64 > self.length || from.checked_add(size.unwrap_or(usize::MAX)) != Some(to) {
            return Err(format!("`{name}` is outside the file"));
        }
        Ok((from as u64, &tensor.shape))
    }
}

impl Place<'_> {
    /// Where the values of a file of some bytes begin, by its first eight.
    fn start(self, length: u64) -> Checked<u64> {
        let mut head = [0; 8];
        self.fill(0, &mut head)?;
        let start = u64::from_le_bytes(head)
            .checked_add(8)
            .filter(|&start| start <= length.min(LARGEST_HEADER));
        start.ok_or_else(|| "the length of its header is wrong".into())
    }

    fn fill(self, from: u64, bytes: &mut [u8]) -> Checked<()> {
        let done = match self {
            Place::Memory(all) => all
                .get(from as usize..)
                .unwrap_or_default()
                .read_exact(bytes),
            Place::File(mut file) => file
                .seek(SeekFrom::Start(from))
                .and_then(|_| file.read_exact(bytes)),
        };
        done.map_err(|e| e.to_string())
    }
}

/// Refuses values that are infinite or not a number.
pub fn finite<T: Copy + Into<f64>>(name: &str, values: &[T]) -> Checked<()> {
    match values.iter().all(|&value| value.into().is_finite()) {
        true => Ok(()),
        false => Err(format!("`{name}` has values that are not finite")),
    }
}

/// Whether these can be the first bytes of a file: the length of its header, and a header.
pub fn may_begin(bytes: &[u8]) -> bool {
    let start = Place::Memory(bytes).start(u64::MAX);
    start.is_ok() && bytes.get(8) == Some(&b'{')
}

/// Writes an embedding.
pub(super) fn write(rows: &Rows, path: &Path, out: &mut dyn Write) -> Result<()> {
    let ids = rows.ids();
    text::check_ids(ids, path, |c| c == '\n' || c == '\r', "a line break")?;
    let length = |i| match ids.get(i) {
        NodeId::Text(id) => id.len() + 1,
        NodeId::Integer(_) => size_of::<i64>(),
    };
    let bytes = (0..ids.len() as u32).map(length).sum();
    let (dtype, count) = match ids {
        NodeIds::Text { .. } => (Dtype::U8, bytes),
        _ => (Dtype::I64, ids.len()),
    };
    let tensor = |name: &str, dtype, shape, bytes| Shape {
        name: name.into(),
        dtype,
        shape,
        bytes,
    };
    let shape = vec![rows.len(), rows.cols()];
    let values = size_of::<f32>() * rows.len() * rows.cols();
    let tensors = [
        tensor("embedding", Dtype::F32, shape, values),
        tensor("ids", dtype, vec![count], bytes),
    ];
    let columns = json!(rows.names()).to_string();
    let metadata = [("columns", columns.as_str()), ("format", "hone")];
    let failed = |e| Error::io(path, e);
    out.write_all(&header(&metadata, &tensors))
        .map_err(failed)?;
    rows.each(|_, values| out.write_all(bytemuck::cast_slice(values)))
        .map_err(failed)?;
    if let NodeIds::Text { .. } = ids {
        return text::write_plain_ids(ids, path, out);
    }
    (0..ids.len() as u32).try_for_each(|i| match ids.get(i) {
        NodeId::Integer(id) => out.write_all(&id.to_le_bytes()).map_err(failed),
        NodeId::Text(_) => Ok(()),
    })
}

/// Reads an embedding.
pub(super) fn read(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let failed = |e| Error::io(path, e);
    let wrong =
        |message: String| Error::input(path, message, "tensors `embedding` and `ids` are expected");
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    let stream = match found.is_file() {
        true => Vec::new(),
        false => allowance.read(path, EACH, |bytes, _| match may_begin(bytes) {
            true => Ok(()),
            false => Err(wrong("not a file of tensors, or truncated".into())),
        })?,
    };
    let (place, length) = match found.is_file() {
        true => (Place::File(&file), found.len()),
        false => (Place::Memory(&stream), stream.len() as u64),
    };
    let start = place.start(length).map_err(wrong)?;
    allowance.check(path, length.saturating_add(start.saturating_mul(HEADER)))?;
    let tensors = Tensors::new(place, start, length).map_err(wrong)?;
    tensors.check_length().map_err(wrong)?;
    let ids = tensors.header.info("ids");
    let texts = ids.is_some_and(|ids| ids.dtype == Dtype::U8);
    let [rows, cols] = tensors.matrix::<f32>("embedding").map_err(wrong)?;
    let vectors = tensors.values("embedding").map_err(wrong)?;
    let ids = if texts {
        let bytes = tensors.values::<u8>("ids").map_err(wrong)?;
        allowance.check(path, bytes.len() as u64 * 16)?;
        let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
        NodeIds::from_texts(&text.lines().collect::<Vec<_>>())
    } else {
        NodeIds::from_integers(tensors.values("ids").map_err(wrong)?)
    };
    if ids.len() != rows {
        return Err(wrong(format!("{} ids for {rows} rows", ids.len())));
    }
    let vectors = Block::from_vec(rows, cols, vectors);
    let Some(columns) = tensors.metadata("columns") else {
        return Ok(Embedding::new(ids, vectors));
    };
    let columns = match serde_json::from_str::<Vec<String>>(columns) {
        Ok(names) if names.len() == cols => Ok(names),
        Ok(names) => Err(format!("has {} names for {cols} columns", names.len())),
        Err(e) => Err(format!("is not a list of names ({e})")),
    };
    let columns = columns.map_err(|what| {
        let remedy =
            "it is a JSON list of the names of all columns: write the file again, or leave it out";
        Error::input(path, format!("`columns` of the metadata {what}"), remedy)
    })?;
    Ok(Embedding::with_columns(ids, vectors, columns))
}
