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
use safetensors::tensor::{Metadata, TensorInfo};
use serde_json::{Map, Value as Json, json};

use super::Embedding;
use super::shared::RowPieces;
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
    tensors: Vec<(String, TensorInfo, Cow<'a, [u8]>)>,
}

impl<'a> Writer<'a> {
    fn add<T: Value>(&mut self, name: &str, shape: Vec<usize>, values: Cow<'a, [T]>) {
        let bytes = match values {
            Cow::Borrowed(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
            Cow::Owned(values) => Cow::Owned(bytemuck::cast_slice(&values).to_vec()),
        };
        let last = self.tensors.last();
        let start = last.map_or(0, |(_, info, _)| info.data_offsets.1);
        let info = TensorInfo {
            dtype: T::TYPE,
            shape,
            data_offsets: (start, start + bytes.len()),
        };
        self.tensors.push((name.to_owned(), info, bytes));
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
        if let Some((name, _, bytes)) = self.tensors.last() {
            let sums: Vec<u32> = bytes.chunks(length.max(1)).map(crc32fast::hash).collect();
            self.values(&format!("{name}.sums"), sums);
        }
    }

    /// CRC-32 of each tensor.
    pub fn checksums(&self) -> BTreeMap<String, u32> {
        let tensors = self.tensors.iter();
        tensors
            .map(|(name, _, bytes)| (name.clone(), crc32fast::hash(bytes)))
            .collect()
    }

    /// Writes everything; the metadata stand first, in the order given.
    pub fn write(&self, metadata: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
        let described = self.tensors.iter().map(|(name, info, _)| (&**name, info));
        out.write_all(&header(metadata, described))?;
        let mut tensors = self.tensors.iter();
        tensors.try_for_each(|(_, _, bytes)| out.write_all(bytes))
    }
}

/// What comes before the values.
fn header<'a>(
    metadata: &[(&str, &str)],
    tensors: impl IntoIterator<Item = (&'a str, &'a TensorInfo)>,
) -> Vec<u8> {
    let entries = metadata
        .iter()
        .map(|(key, value)| format!("{}:{}", json!(key), json!(value)));
    let entries = entries.collect::<Vec<_>>().join(",");
    let tensors = tensors.into_iter();
    let described: Map<String, Json> = tensors
        .map(|(name, info)| (name.to_owned(), json!(info)))
        .collect();
    let separator = if described.is_empty() { "" } else { "," };
    let described = Json::from(described).to_string();
    let mut text = format!(
        "{{\"__metadata__\":{{{entries}}}{separator}{}",
        &described[1..]
    );
    let length = text.len().next_multiple_of(8);
    text.extend(std::iter::repeat_n(' ', length - text.len()));
    [&(length as u64).to_le_bytes(), text.as_bytes()].concat()
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
        Self::new(Place::Memory(bytes))
    }

    /// Reads the header of a file.
    pub fn open(file: &'a File) -> Checked<Self> {
        Self::new(Place::File(file))
    }

    fn new(place: Place<'a>) -> Checked<Self> {
        let (start, length) = place.start()?;
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
    /// Where the values of a file begin, by its first eight bytes, and the length of the file.
    fn start(self) -> Checked<(u64, u64)> {
        let length = match self {
            Place::Memory(all) => all.len() as u64,
            Place::File(file) => file.metadata().map_err(|e| e.to_string())?.len(),
        };
        let mut head = [0; 8];
        self.fill(0, &mut head)?;
        match header_end(head) {
            Some(start) if start <= length => Ok((start, length)),
            _ => Err("the length of its header is wrong".into()),
        }
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

/// Where the header of a file ends, by its first eight bytes.
fn header_end(head: [u8; 8]) -> Option<u64> {
    let end = u64::from_le_bytes(head).checked_add(8)?;
    (end <= LARGEST_HEADER).then_some(end)
}

/// Refuses values that are infinite or not a number.
pub fn finite<T: Copy + Into<f64>>(name: &str, values: &[T]) -> Checked<()> {
    match values.iter().all(|&value| value.into().is_finite()) {
        true => Ok(()),
        false => Err(format!("`{name}` has values that are not finite")),
    }
}

/// Writes an embedding.
pub(super) fn write(rows: &RowPieces, path: &Path, out: &mut dyn Write) -> Result<()> {
    let ids = rows.ids();
    let is_text = matches!(ids, NodeIds::Text { .. });
    text::check_ids(ids, path, |c| c == '\n' || c == '\r', "a line break")?;
    let length = |i| match ids.get(i) {
        NodeId::Text(id) => id.len() + 1,
        NodeId::Integer(_) => size_of::<i64>(),
    };
    let bytes: usize = (0..ids.len() as u32).map(length).sum();
    let values = size_of::<f32>() * rows.len() * rows.cols();
    let vectors = TensorInfo {
        dtype: Dtype::F32,
        shape: vec![rows.len(), rows.cols()],
        data_offsets: (0, values),
    };
    let names = TensorInfo {
        dtype: if is_text { Dtype::U8 } else { Dtype::I64 },
        shape: vec![if is_text { bytes } else { ids.len() }],
        data_offsets: (values, values + bytes),
    };
    let columns = json!(rows.names()).to_string();
    let metadata = [("columns", columns.as_str()), ("format", "hone")];
    let header = header(&metadata, [("embedding", &vectors), ("ids", &names)]);
    let failed = |e| Error::io(path, e);
    out.write_all(&header).map_err(failed)?;
    rows.each(|_, values| out.write_all(bytemuck::cast_slice(values)))
        .map_err(failed)?;
    if is_text {
        return text::id_lines(ids, path, out, |id| id.into());
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
    let is_file = file.metadata().map_err(failed)?.is_file();
    let may_begin = |bytes: &[u8], _| {
        // The length of its header, and a header.
        let begins = bytes
            .first_chunk()
            .is_some_and(|&head| header_end(head).is_some());
        match begins && bytes.get(8) == Some(&b'{') {
            true => Ok(()),
            false => Err(wrong("not a file of tensors, or truncated".into())),
        }
    };
    let stream = match is_file {
        true => Vec::new(),
        false => allowance.read(path, EACH, may_begin)?,
    };
    let place = match is_file {
        true => Place::File(&file),
        false => Place::Memory(&stream),
    };
    let (start, length) = place.start().map_err(wrong)?;
    allowance.check(path, length.saturating_add(start.saturating_mul(HEADER)))?;
    let tensors = Tensors::new(place).map_err(wrong)?;
    tensors.check_length().map_err(wrong)?;
    let [rows, cols] = tensors.matrix::<f32>("embedding").map_err(wrong)?;
    let vectors = tensors.values("embedding").map_err(wrong)?;
    let info = tensors.header.info("ids");
    let ids = if info.is_some_and(|ids| ids.dtype == Dtype::U8) {
        let bytes = tensors.values::<u8>("ids").map_err(wrong)?;
        allowance.check(path, bytes.len() as u64 * 16)?;
        let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
        NodeIds::from_texts(&text.lines().collect::<Vec<_>>())
    } else {
        NodeIds::from_integers(tensors.values("ids").map_err(wrong)?)
    };
    let vectors = Block::from_vec(rows, cols, vectors);
    let columns = tensors.metadata("columns").map(|columns| {
        let what = match serde_json::from_str::<Vec<String>>(columns) {
            Ok(names) if names.len() == cols => return Ok(names),
            Ok(names) => format!("has {} names for {cols} columns", names.len()),
            Err(e) => format!("is not a list of names ({e})"),
        };
        let remedy =
            "it is a JSON list of the names of all columns: write the file again, or leave it out";
        let message = format!("`columns` of the metadata {what}");
        Err(Error::input(path, message, remedy))
    });
    let columns = columns.transpose()?;
    Embedding::of_parts(path, ids, vectors, columns)
}
