//! Named tensors in one file, as safetensors lays them out: a length, a JSON header, and the raw values.
//!
//! Written here directly, since the crate's own writer wants a file name or a copy in memory. Read one by one, straight into
//! the memory where they stay: a file is never in memory twice. Values are little-endian on every machine.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use bytemuck::Pod;
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde_json::{Map, json};

use crate::dense::{Block, Small};

/// The most bytes of a header, with the length before it.
const LARGEST_HEADER: u64 = 100 << 20;

/// The type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
    /// Signed 64-bit integers.
    I64,
    /// Unsigned 64-bit integers.
    U64,
    /// Unsigned 32-bit integers.
    U32,
    /// Bytes.
    U8,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::F32 => "F32",
            Kind::F64 => "F64",
            Kind::I64 => "I64",
            Kind::U64 => "U64",
            Kind::U32 => "U32",
            Kind::U8 => "U8",
        }
    }

    fn dtype(self) -> Dtype {
        match self {
            Kind::F32 => Dtype::F32,
            Kind::F64 => Dtype::F64,
            Kind::I64 => Dtype::I64,
            Kind::U64 => Dtype::U64,
            Kind::U32 => Dtype::U32,
            Kind::U8 => Dtype::U8,
        }
    }
}

/// Values as bytes.
pub enum Bytes<'a> {
    /// Borrowed bytes.
    Lent(&'a [u8]),
    /// Owned bytes.
    Own(Vec<u8>),
}

impl Bytes<'_> {
    fn get(&self) -> &[u8] {
        match self {
            Bytes::Lent(bytes) => bytes,
            Bytes::Own(bytes) => bytes,
        }
    }
}

/// Tensors to be written.
#[derive(Default)]
pub struct Writer<'a> {
    tensors: Vec<(String, Kind, Vec<usize>, Bytes<'a>)>,
}

impl<'a> Writer<'a> {
    /// Adds a tensor; its bytes must be as many as its shape says.
    pub fn add(&mut self, name: &str, kind: Kind, shape: Vec<usize>, bytes: Bytes<'a>) {
        self.tensors.push((name.to_owned(), kind, shape, bytes));
    }

    /// Adds a block; on little-endian machines it is lent, not copied.
    pub fn block(&mut self, name: &str, block: &'a Block) {
        let bytes = if cfg!(target_endian = "little") {
            Bytes::Lent(bytemuck::cast_slice(block.as_slice()))
        } else {
            Bytes::Own(
                block
                    .as_slice()
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect(),
            )
        };
        self.add(name, Kind::F32, vec![block.rows(), block.cols()], bytes);
    }

    /// Adds a small matrix.
    pub fn small(&mut self, name: &str, matrix: &Small) {
        let bytes = matrix
            .as_slice()
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.add(
            name,
            Kind::F64,
            vec![matrix.rows(), matrix.cols()],
            Bytes::Own(bytes),
        );
    }

    /// Adds numbers.
    pub fn numbers(&mut self, name: &str, numbers: &[f64]) {
        let bytes = numbers
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.add(name, Kind::F64, vec![numbers.len()], Bytes::Own(bytes));
    }

    /// Adds words of 64 bits.
    pub fn words(&mut self, name: &str, words: &[u64]) {
        let bytes = words.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, Kind::U64, vec![words.len()], Bytes::Own(bytes));
    }

    /// Adds integers.
    pub fn integers(&mut self, name: &str, integers: &[i64]) {
        let bytes = integers
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.add(name, Kind::I64, vec![integers.len()], Bytes::Own(bytes));
    }

    /// Adds numbers of rows.
    pub fn rows(&mut self, name: &str, rows: &[u32]) {
        let bytes = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, Kind::U32, vec![rows.len()], Bytes::Own(bytes));
    }

    /// Adds the CRC-32 of every `length` bytes of the last tensor, as `NAME.sums`.
    pub fn sums(&mut self, length: usize) {
        let Some((name, _, _, bytes)) = self.tensors.last() else {
            return;
        };
        let (name, sums): (_, Vec<u32>) = (
            format!("{name}.sums"),
            bytes
                .get()
                .chunks(length.max(1))
                .map(crc32fast::hash)
                .collect(),
        );
        self.rows(&name, &sums);
    }

    /// CRC-32 of each tensor.
    pub fn checksums(&self) -> BTreeMap<String, u32> {
        self.tensors
            .iter()
            .map(|(name, _, _, bytes)| (name.clone(), crc32fast::hash(bytes.get())))
            .collect()
    }

    /// Writes everything; the metadata stand first, in the order given.
    pub fn write(&self, metadata: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
        let entries: Vec<String> = metadata
            .iter()
            .map(|(key, value)| format!("{}:{}", json!(key), json!(value)))
            .collect();
        let (mut described, mut at) = (Map::new(), 0);
        for (name, kind, shape, bytes) in &self.tensors {
            let end = at + bytes.get().len();
            let entry = json!({ "dtype": kind.name(), "shape": shape, "data_offsets": [at, end] });
            described.insert(name.clone(), entry);
            at = end;
        }
        let described = serde_json::Value::from(described).to_string();
        let rest = if self.tensors.is_empty() {
            "}"
        } else {
            &format!(",{}", &described[1..])
        };
        let mut header = format!("{{\"__metadata__\":{{{}}}{rest}", entries.join(",")).into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        self.tensors
            .iter()
            .try_for_each(|(_, _, _, bytes)| out.write_all(bytes.get()))
    }
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
enum Place<'a> {
    Memory(&'a [u8]),
    File(&'a File),
}

/// Tensors of a file, or of one in memory; each is read when it is requested, and compared with its checksum.
pub struct Tensors<'a> {
    place: Place<'a>,
    /// Where the values begin, and how many bytes they have.
    start: u64,
    length: u64,
    header: Metadata,
    checksums: BTreeMap<String, u32>,
}

impl<'a> Tensors<'a> {
    /// Reads the header of a file in memory.
    pub fn of(bytes: &'a [u8]) -> Result<Self, String> {
        let head = bytes.first_chunk().ok_or("it is too short")?;
        let start =
            usize::try_from(start(*head, bytes.len() as u64)?).map_err(|e| e.to_string())?;
        Self::new(Place::Memory(bytes), &bytes[8..start], bytes.len() as u64)
    }

    /// Reads the header of a file.
    pub fn open(file: &'a File) -> Result<Self, String> {
        let text = |e: io::Error| e.to_string();
        let length = file.metadata().map_err(text)?.len();
        let (mut head, mut reader) = ([0; 8], file);
        reader
            .seek(SeekFrom::Start(0))
            .and_then(|_| reader.read_exact(&mut head))
            .map_err(text)?;
        let mut header =
            vec![0; usize::try_from(start(head, length)? - 8).map_err(|e| e.to_string())?];
        reader.read_exact(&mut header).map_err(text)?;
        Self::new(Place::File(file), &header, length)
    }

    fn new(place: Place<'a>, header: &[u8], length: u64) -> Result<Self, String> {
        let start = 8 + header.len() as u64;
        let header: Metadata = serde_json::from_slice(header).map_err(|e| e.to_string())?;
        Ok(Tensors {
            place,
            start,
            length: length - start,
            header,
            checksums: BTreeMap::new(),
        })
    }

    /// A text of the metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.header
            .metadata()
            .as_ref()?
            .get(key)
            .map(String::as_str)
    }

    /// Whether there is a tensor of that name.
    pub fn has(&self, name: &str) -> bool {
        self.header.info(name).is_some()
    }

    /// Sets the checksum of every tensor; there may be no other, and none may be missing.
    pub fn expect(&mut self, checksums: BTreeMap<String, u32>) -> Result<(), String> {
        if self.header.data_len() as u64 != self.length {
            return Err(
                "its length is not the one in its header: it is truncated or damaged".into(),
            );
        }
        if let Some(name) = self
            .header
            .offset_keys()
            .iter()
            .find(|name| !checksums.contains_key(*name))
        {
            return Err(format!("`{name}` has no checksum"));
        }
        if let Some(name) = checksums.keys().find(|name| !self.has(name)) {
            return Err(format!("`{name}` is missing"));
        }
        self.checksums = checksums;
        Ok(())
    }

    /// A matrix of two dimensions, of finite values.
    pub fn block(&self, name: &str) -> Result<Block, String> {
        let (shape, values) = self.values::<f32>(name, Kind::F32)?;
        let [rows, cols] = shape[..] else {
            return Err(format!("`{name}` does not have two dimensions"));
        };
        finite(name, &values)?;
        Ok(Block::from_vec(rows, cols, values))
    }

    /// Where a matrix of 32-bit numbers lies, for those who read it themselves.
    pub fn located(&self, name: &str) -> Result<Located, String> {
        let (from, shape) = self.found::<f32>(name, Kind::F32)?;
        let [rows, cols] = shape[..] else {
            return Err(format!("`{name}` does not have two dimensions"));
        };
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
    pub fn small(&self, name: &str) -> Result<Small, String> {
        let (shape, values) = self.values::<f64>(name, Kind::F64)?;
        let [rows, cols] = shape[..] else {
            return Err(format!("`{name}` does not have two dimensions"));
        };
        finite(name, &values)?;
        Ok(Small::from_fn(rows, cols, |i, j| values[i * cols + j]))
    }

    /// Finite numbers.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let (_, values) = self.values::<f64>(name, Kind::F64)?;
        finite(name, &values)?;
        Ok(values)
    }

    /// Words of 64 bits.
    pub fn words(&self, name: &str) -> Result<Vec<u64>, String> {
        Ok(self.values(name, Kind::U64)?.1)
    }

    /// Integers.
    pub fn integers(&self, name: &str) -> Result<Vec<i64>, String> {
        Ok(self.values(name, Kind::I64)?.1)
    }

    /// Numbers of rows.
    pub fn rows(&self, name: &str) -> Result<Vec<u32>, String> {
        Ok(self.values(name, Kind::U32)?.1)
    }

    /// Bytes.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        Ok(self.values(name, Kind::U8)?.1)
    }

    /// Where a tensor begins, and its shape: what it says of its size is compared with the file.
    fn found<T: Pod>(&self, name: &str, kind: Kind) -> Result<(u64, &[usize]), String> {
        let tensor = self
            .header
            .info(name)
            .ok_or_else(|| format!("there is no `{name}`"))?;
        if tensor.dtype != kind.dtype() {
            return Err(format!(
                "`{name}` has type {:?}, not {}",
                tensor.dtype,
                kind.name()
            ));
        }
        let (from, to) = tensor.data_offsets;
        let count = tensor
            .shape
            .iter()
            .try_fold(1usize, |product, &size| product.checked_mul(size));
        let size = count.and_then(|count| count.checked_mul(size_of::<T>()));
        if to as u64 > self.length || from.checked_add(size.unwrap_or(usize::MAX)) != Some(to) {
            return Err(format!("`{name}` is outside the file"));
        }
        Ok((from as u64, &tensor.shape))
    }

    /// The shape and the values of a tensor, which is allocated when it is known to lie in the file.
    fn values<T: Pod>(&self, name: &str, kind: Kind) -> Result<(Vec<usize>, Vec<T>), String> {
        let (from, shape) = self.found::<T>(name, kind)?;
        let mut values = vec![T::zeroed(); shape.iter().product()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        self.fill(from, bytes)
            .map_err(|e| format!("`{name}`: {e}"))?;
        if self.checksums.get(name) != Some(&crc32fast::hash(bytes)) {
            return Err(format!("`{name}` is damaged: the checksum does not match"));
        }
        if cfg!(target_endian = "big") {
            bytes
                .chunks_exact_mut(size_of::<T>())
                .for_each(<[u8]>::reverse);
        }
        Ok((shape.to_vec(), values))
    }

    fn fill(&self, from: u64, bytes: &mut [u8]) -> io::Result<()> {
        let from = self.start + from;
        match self.place {
            Place::Memory(all) => bytes.copy_from_slice(&all[from as usize..][..bytes.len()]),
            Place::File(mut file) => {
                file.seek(SeekFrom::Start(from))?;
                file.read_exact(bytes)?;
            }
        }
        Ok(())
    }
}

/// Whether these can be the first bytes of a file: the length of its header, and a header.
pub fn may_begin(bytes: &[u8]) -> bool {
    let start = bytes.first_chunk().map(|head| start(*head, u64::MAX));
    start.is_some_and(|start| start.is_ok()) && bytes.get(8) == Some(&b'{')
}

/// Where the values of a file of some bytes begin, by its first eight.
fn start(head: [u8; 8], length: u64) -> Result<u64, String> {
    let start = u64::from_le_bytes(head)
        .checked_add(8)
        .filter(|start| *start <= length.min(LARGEST_HEADER));
    start.ok_or_else(|| "the length of its header is wrong".into())
}

/// Refuses values that are infinite or not a number.
pub fn finite<T: Copy + Into<f64>>(name: &str, values: &[T]) -> Result<(), String> {
    if values.iter().all(|&value| value.into().is_finite()) {
        Ok(())
    } else {
        Err(format!("`{name}` has values that are not finite"))
    }
}
