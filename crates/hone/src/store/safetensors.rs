//! Embeddings as safetensors: tensor `embedding`, and the ids as tensor `ids` (int64) or, for text
//! ids, as the UTF-8 tensor `ids` with one id per line. The names of the columns are a JSON list in the metadata, under
//! `columns`.
//!
//! The file is a length, a JSON header and the raw tensors; written here directly because the
//! crate's own writer wants a file name or a copy in memory. Read with the crate, which checks
//! everything.

use std::io::Write;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use serde_json::json;

use super::{Embedding, text};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::{NodeId, NodeIds};
use crate::memory::Allowance;

pub(super) fn write(embedding: &Embedding, path: &Path, out: &mut dyn Write) -> Result<()> {
    let Embedding { ids, vectors, columns } = embedding;
    let (dtype, id_bytes) = id_bytes(ids, path)?;
    let id_shape = if dtype == "I64" { ids.len() } else { id_bytes.len() };
    let split = size_of_val(vectors.as_slice());
    let header = json!({
        "__metadata__": { "format": "hone", "columns": json!(columns).to_string() },
        "embedding": { "dtype": "F32", "shape": [vectors.rows(), vectors.cols()], "data_offsets": [0, split] },
        "ids": { "dtype": dtype, "shape": [id_shape], "data_offsets": [split, split + id_bytes.len()] },
    });
    let mut header = header.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(|e| Error::io(path, e));
    put(&(header.len() as u64).to_le_bytes())?;
    put(&header)?;
    if cfg!(target_endian = "little") {
        put(bytemuck::cast_slice(vectors.as_slice()))?;
    } else {
        vectors.as_slice().iter().try_for_each(|v| put(&v.to_le_bytes()))?;
    }
    put(&id_bytes)
}

fn id_bytes(ids: &NodeIds, path: &Path) -> Result<(&'static str, Vec<u8>)> {
    let mut bytes = Vec::new();
    if matches!(ids, NodeIds::Text { .. }) {
        text::write_plain_ids(ids, path, &mut bytes)?;
        return Ok(("U8", bytes));
    }
    for i in 0..ids.len() as u32 {
        if let NodeId::Integer(id) = ids.get(i) {
            bytes.extend_from_slice(&id.to_le_bytes());
        }
    }
    Ok(("I64", bytes))
}

pub(super) fn read(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let wrong = |message: String| Error::input(path, message, "tensors `embedding` and `ids` are expected");
    // The file, the values, and ids as text: a line of two bytes is an id of thirty.
    let size = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
    allowance.check(path, size.saturating_mul(2))?;
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|e| wrong(e.to_string()))?;
    let vectors = tensors.tensor("embedding").map_err(|e| wrong(e.to_string()))?;
    let (&[rows, cols], Dtype::F32) = (vectors.shape(), vectors.dtype()) else {
        return Err(wrong("`embedding` is not a two-dimensional float32 tensor".into()));
    };
    let values = vectors.data().chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let ids = tensors.tensor("ids").map_err(|e| wrong(e.to_string()))?;
    let ids = match ids.dtype() {
        Dtype::I64 => {
            let words = ids.data().chunks_exact(8);
            NodeIds::from_integers(words.map(|b| i64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
        }
        Dtype::U8 => {
            allowance.check(path, ids.data().len() as u64 * 16)?;
            let text = std::str::from_utf8(ids.data()).map_err(|e| wrong(e.to_string()))?;
            NodeIds::from_texts(&text.lines().collect::<Vec<_>>())
        }
        other => return Err(wrong(format!("`ids` has type {other:?}"))),
    };
    if ids.len() != rows {
        return Err(wrong(format!("{} ids for {rows} rows", ids.len())));
    }
    let vectors = Block::from_vec(rows, cols, values);
    Ok(match columns(&bytes, cols) {
        Some(columns) => Embedding::with_columns(ids, vectors, columns),
        None => Embedding::new(ids, vectors),
    })
}

/// Names of the columns, where the metadata has as many.
fn columns(bytes: &[u8], cols: usize) -> Option<Vec<String>> {
    let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
    let names: Vec<String> = serde_json::from_str(header.metadata().as_ref()?.get("columns")?).ok()?;
    (names.len() == cols).then_some(names)
}
