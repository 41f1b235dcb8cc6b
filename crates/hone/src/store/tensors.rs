//! Named tensors in one file, as safetensors lays them out: a length, a JSON header, and the raw values.
//!
//! Written here directly, since the crate's own writer wants a file name or a copy in memory. Read with the crate, which
//! compares every size with the length of the file. Values are little-endian on every machine.

use std::collections::BTreeMap;
use std::io::{self, Write};

use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, json};

use crate::dense::{Block, Small};

/// The type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    F32,
    F64,
    I64,
    U64,
    U32,
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
pub(crate) enum Bytes<'a> {
    Lent(&'a [u8]),
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
pub(crate) struct Writer<'a> {
    tensors: Vec<(String, Kind, Vec<usize>, Bytes<'a>)>,
}

impl<'a> Writer<'a> {
    /// Adds a tensor; its bytes must be as many as its shape says.
    pub(crate) fn add(&mut self, name: &str, kind: Kind, shape: Vec<usize>, bytes: Bytes<'a>) {
        self.tensors.push((name.to_owned(), kind, shape, bytes));
    }

    /// Adds a block; on little-endian machines it is lent, not copied.
    pub(crate) fn block(&mut self, name: &str, block: &'a Block) {
        let bytes = if cfg!(target_endian = "little") {
            Bytes::Lent(bytemuck::cast_slice(block.as_slice()))
        } else {
            Bytes::Own(block.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect())
        };
        self.add(name, Kind::F32, vec![block.rows(), block.cols()], bytes);
    }

    /// Adds a small matrix.
    pub(crate) fn small(&mut self, name: &str, matrix: &Small) {
        let bytes = matrix.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, Kind::F64, vec![matrix.rows(), matrix.cols()], Bytes::Own(bytes));
    }

    /// Adds numbers.
    pub(crate) fn numbers(&mut self, name: &str, numbers: &[f64]) {
        let bytes = numbers.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, Kind::F64, vec![numbers.len()], Bytes::Own(bytes));
    }

    /// Adds words of 64 bits.
    pub(crate) fn words(&mut self, name: &str, words: &[u64]) {
        let bytes = words.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, Kind::U64, vec![words.len()], Bytes::Own(bytes));
    }

    /// Adds integers.
    pub(crate) fn integers(&mut self, name: &str, integers: &[i64]) {
        let bytes = integers.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, Kind::I64, vec![integers.len()], Bytes::Own(bytes));
    }

    /// Adds numbers of rows.
    pub(crate) fn rows(&mut self, name: &str, rows: &[u32]) {
        let bytes = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.add(name, Kind::U32, vec![rows.len()], Bytes::Own(bytes));
    }

    /// CRC-32 of each tensor.
    pub(crate) fn checksums(&self) -> BTreeMap<String, u32> {
        self.tensors.iter().map(|(name, _, _, bytes)| (name.clone(), crc32fast::hash(bytes.get()))).collect()
    }

    /// Writes everything; the metadata stand first, in the order given.
    pub(crate) fn write(&self, metadata: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
        let entries: Vec<String> =
            metadata.iter().map(|(key, value)| format!("{}:{}", json!(key), json!(value))).collect();
        let (mut described, mut at) = (Map::new(), 0);
        for (name, kind, shape, bytes) in &self.tensors {
            let end = at + bytes.get().len();
            let entry = json!({ "dtype": kind.name(), "shape": shape, "data_offsets": [at, end] });
            described.insert(name.clone(), entry);
            at = end;
        }
        let described = serde_json::Value::from(described).to_string();
        let rest = if self.tensors.is_empty() { "}" } else { &format!(",{}", &described[1..]) };
        let mut header = format!("{{\"__metadata__\":{{{}}}{rest}", entries.join(",")).into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(&header)?;
        self.tensors.iter().try_for_each(|(_, _, _, bytes)| out.write_all(bytes.get()))
    }
}

/// Tensors of a file in memory.
pub(crate) struct Tensors<'a> {
    tensors: SafeTensors<'a>,
    metadata: BTreeMap<String, String>,
}

impl<'a> Tensors<'a> {
    /// Reads the header; every size is compared with the bytes there are.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| e.to_string())?;
        let metadata = header
            .metadata()
            .as_ref()
            .map_or_else(BTreeMap::new, |all| all.iter().map(|(key, value)| (key.clone(), value.clone())).collect());
        Ok(Tensors { tensors, metadata })
    }

    /// A text of the metadata.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Whether there is a tensor of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// Compares every tensor with its checksum; there may be no other, and none may be missing.
    pub(crate) fn verify(&self, checksums: &BTreeMap<String, u32>) -> Result<(), String> {
        for (name, tensor) in self.tensors.tensors() {
            if checksums.get(&name) != Some(&crc32fast::hash(tensor.data())) {
                return Err(format!("`{name}` is damaged: its checksum is another"));
            }
        }
        match checksums.keys().find(|name| !self.has(name)) {
            Some(name) => Err(format!("`{name}` is missing")),
            None => Ok(()),
        }
    }

    /// The bytes of a tensor.
    pub(crate) fn bytes(&self, name: &str, kind: Kind) -> Result<&[u8], String> {
        Ok(self.typed(name, kind)?.1)
    }

    /// A matrix of two dimensions, of finite values.
    pub(crate) fn block(&self, name: &str) -> Result<Block, String> {
        let (shape, bytes) = self.typed(name, Kind::F32)?;
        let [rows, cols] = shape[..] else { return Err(format!("`{name}` has not two dimensions")) };
        let values: Vec<f32> = each(bytes, f32::from_le_bytes).collect();
        finite(name, values.iter().all(|value| value.is_finite()))?;
        Ok(Block::from_vec(rows, cols, values))
    }

    /// A small matrix of finite values.
    pub(crate) fn small(&self, name: &str) -> Result<Small, String> {
        let (shape, bytes) = self.typed(name, Kind::F64)?;
        let [rows, cols] = shape[..] else { return Err(format!("`{name}` has not two dimensions")) };
        let values: Vec<f64> = each(bytes, f64::from_le_bytes).collect();
        finite(name, values.iter().all(|value| value.is_finite()))?;
        Ok(Small::from_fn(rows, cols, |i, j| values[i * cols + j]))
    }

    /// Finite numbers.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let values: Vec<f64> = each(self.bytes(name, Kind::F64)?, f64::from_le_bytes).collect();
        finite(name, values.iter().all(|value| value.is_finite()))?;
        Ok(values)
    }

    /// Words of 64 bits.
    pub(crate) fn words(&self, name: &str) -> Result<Vec<u64>, String> {
        Ok(each(self.bytes(name, Kind::U64)?, u64::from_le_bytes).collect())
    }

    /// Integers.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>, String> {
        Ok(each(self.bytes(name, Kind::I64)?, i64::from_le_bytes).collect())
    }

    /// Numbers of rows.
    pub(crate) fn rows(&self, name: &str) -> Result<Vec<u32>, String> {
        Ok(each(self.bytes(name, Kind::U32)?, u32::from_le_bytes).collect())
    }

    fn typed(&self, name: &str, kind: Kind) -> Result<(Vec<usize>, &[u8]), String> {
        let tensor = self.tensors.tensor(name).map_err(|_| format!("there is no `{name}`"))?;
        if tensor.dtype() != kind.dtype() {
            return Err(format!("`{name}` has type {:?}, not {}", tensor.dtype(), kind.name()));
        }
        Ok((tensor.shape().to_vec(), tensor.data()))
    }
}

fn finite(name: &str, finite: bool) -> Result<(), String> {
    if finite { Ok(()) } else { Err(format!("`{name}` has values that are no numbers")) }
}

fn each<T, const N: usize>(bytes: &[u8], value: fn([u8; N]) -> T) -> impl Iterator<Item = T> {
    bytes.chunks_exact(N).map(move |piece| value(piece.try_into().expect("a value's bytes")))
}
