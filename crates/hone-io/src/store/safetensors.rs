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

use super::embedding::Embedding;
use super::rows::Rows;
use super::{npy, tensors, text};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::{NodeId, NodeIds};
use crate::memory::Allowance;

/// Copies of a file while it is read: all of it, and the values in it.
pub(super) const EACH: u64 = 2;
/// Bytes that a byte of the header takes while it is understood, at most.
const HEADER: u64 = 16;

pub(super) fn write(rows: &Rows, path: &Path, out: &mut dyn Write) -> Result<()> {
    let (ids, columns) = (rows.ids(), rows.names());
    let is_text = matches!(ids, NodeIds::Text { .. });
    text::check_plain_ids(ids, path)?;
    let (dtype, id_shape, id_bytes) = match (is_text, text_length(ids)) {
        (true, bytes) => ("U8", bytes, bytes),
        (false, _) => ("I64", ids.len(), 8 * ids.len()),
    };
    let split = size_of::<f32>() * rows.len() * rows.cols();
    let header = json!({
        "__metadata__": { "format": "hone", "columns": json!(columns).to_string() },
        "embedding": { "dtype": "F32", "shape": [rows.len(), rows.cols()], "data_offsets": [0, split] },
        "ids": { "dtype": dtype, "shape": [id_shape], "data_offsets": [split, split + id_bytes] },
    });
    let mut header = header.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    let begin = [&(header.len() as u64).to_le_bytes()[..], &header].concat();
    out.write_all(&begin)
        .and_then(|()| npy::write_rows(rows, out))
        .map_err(|e| Error::io(path, e))?;
    if is_text {
        return text::write_plain_ids(ids, path, out);
    }
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(|e| Error::io(path, e));
    (0..ids.len() as u32).try_for_each(|i| match ids.get(i) {
        NodeId::Integer(id) => put(&id.to_le_bytes()),
        NodeId::Text(_) => Ok(()),
    })
}

/// Bytes of all ids that are text, a line each.
fn text_length(ids: &NodeIds) -> usize {
    let length = |i| match ids.get(i) {
        NodeId::Text(id) => id.len() + 1,
        NodeId::Integer(_) => 0,
    };
    (0..ids.len() as u32).map(length).sum()
}

pub(super) fn read(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let wrong =
        |message: String| Error::input(path, message, "tensors `embedding` and `ids` are expected");
    // The file, its values, and what its header says: a tensor of no values has fifty bytes there.
    let check = |bytes: &[u8], _| match tensors::may_begin(bytes) {
        true => Ok(()),
        false => Err(wrong("not a file of tensors, or truncated".into())),
    };
    let bytes = allowance.read(path, EACH, check)?;
    let size = bytes.len() as u64;
    let header = bytes
        .first_chunk()
        .map_or(0, |&length| u64::from_le_bytes(length).min(size));
    allowance.check(path, size.saturating_add(header.saturating_mul(HEADER)))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|e| wrong(e.to_string()))?;
    let vectors = tensors
        .tensor("embedding")
        .map_err(|e| wrong(e.to_string()))?;
    let (&[rows, cols], Dtype::F32) = (vectors.shape(), vectors.dtype()) else {
        return Err(wrong(
            "`embedding` is not a two-dimensional float32 tensor".into(),
        ));
    };
    let values = vectors
        .data()
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let ids = tensors.tensor("ids").map_err(|e| wrong(e.to_string()))?;
    let ids = match ids.dtype() {
        Dtype::I64 => {
            let words = ids.data().chunks_exact(8);
            NodeIds::from_integers(
                words
                    .map(|b| i64::from_le_bytes(b.try_into().expect("eight bytes")))
                    .collect(),
            )
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
    Ok(match columns(&bytes, cols).map_err(wrong_columns(path))? {
        Some(columns) => Embedding::with_columns(ids, vectors, columns),
        None => Embedding::new(ids, vectors),
    })
}

fn wrong_columns(path: &Path) -> impl Fn(String) -> Error {
    move |what| {
        let remedy =
            "it is a JSON list of the names of all columns: write the file again, or leave it out";
        Error::input(path, format!("`columns` of the metadata {what}"), remedy)
    }
}

/// Names of the columns, where the metadata has some; what is wrong with them otherwise.
fn columns(bytes: &[u8], cols: usize) -> Result<Option<Vec<String>>, String> {
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|e| format!("cannot be read ({e})"))?;
    let Some(text) = header
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get("columns"))
    else {
        return Ok(None);
    };
    let names: Vec<String> =
        serde_json::from_str(text).map_err(|e| format!("is not a list of names ({e})"))?;
    if names.len() == cols {
        Ok(Some(names))
    } else {
        Err(format!("has {} names for {cols} columns", names.len()))
    }
}
