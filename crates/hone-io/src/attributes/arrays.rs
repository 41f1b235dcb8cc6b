//! Attributes from arrays: NumPy files, and the archives that `hone features` and `hone embed` write.

use super::columns::{Refusal, Values};
use super::request::{Format, Raw, Request};
use crate::dense::Block;
use crate::error::Result;
use crate::graph::NodeIds;
use crate::graph::read::source::Source;
use crate::store::{self, Embedding};

/// Reads a `.npy` array: rows in node order, or of the ids in `NAME.ids.txt`; columns named by `NAME.npy.columns.txt`.
pub(super) fn read_npy(mut source: Source, request: &Request) -> Result<Raw> {
    let (block, ids) = store::read_npy_array(request.path, &mut source, request.allowance)?;
    let numbered = request.numbered(block.cols() as u64)?;
    let names = store::names::read(request.path, block.cols())?.unwrap_or(numbered);
    columns(&block, &names, ids.as_ref(), request)
}

/// Reads an archive with ids.
pub(super) fn read_embedding(format: Format, request: &Request) -> Result<Raw> {
    let format = if format == Format::Npz {
        store::Format::Npz
    } else {
        store::Format::Safetensors
    };
    let Embedding {
        ids,
        vectors,
        columns: names,
        ..
    } = Embedding::read_within(request.path, Some(format), request.allowance)?;
    columns(&vectors, &names, Some(&ids), request)
}

/// The columns of a block; NaN is a missing number.
fn columns(
    block: &Block,
    names: &[String],
    ids: Option<&NodeIds>,
    request: &Request,
) -> Result<Raw> {
    request.refuse_categories()?;
    if names.is_empty() {
        return Err(request.fail("the array has no columns", "give at least one attribute"));
    }
    if ids.is_none() {
        request.check_rows(block.rows() as u64)?;
    }
    if let Some(at) = block
        .as_slice()
        .iter()
        .position(|value| value.is_infinite())
    {
        let (row, column) = (at / block.cols(), at % block.cols());
        let (message, remedy) = Refusal::Infinite.explain(&names[column]);
        return Err(request.fail(format!("row {row} (from 0): {message}"), remedy));
    }
    let used = request.used(names, None)?;
    let places = ids.map(|ids| Rows::of(ids, request));
    let kept: Vec<usize> = places
        .as_ref()
        .map_or_else(|| (0..block.rows()).collect(), |rows| rows.kept.clone());
    let column =
        |&j: &usize| Values::Numbers(kept.iter().map(|&row| block.row(row)[j] + 0.0).collect());
    let (unknown, example) = places
        .as_ref()
        .map_or((0, None), |rows| (rows.unknown, rows.example.clone()));
    Ok(Raw {
        columns: used.iter().map(column).collect(),
        names: used.iter().map(|&j| names[j].clone()).collect(),
        nodes: places.map(|rows| rows.nodes),
        lines: None,
        rows: block.rows() as u64,
        unknown,
        example,
    })
}

/// Which rows belong to which nodes.
pub(super) struct Rows {
    /// Rows of nodes of the graph.
    pub(super) kept: Vec<usize>,
    /// Their nodes.
    pub(super) nodes: Vec<u32>,
    pub(super) unknown: u64,
    pub(super) example: Option<String>,
}

impl Rows {
    /// Looks the ids of all rows up.
    pub(super) fn of(ids: &NodeIds, request: &Request) -> Rows {
        let index = request.ids.index();
        let mut rows = Rows {
            kept: Vec::new(),
            nodes: Vec::new(),
            unknown: 0,
            example: None,
        };
        for (row, id) in ids.iter().enumerate() {
            let id = id.to_string();
            match index.find(&id) {
                Some(node) => {
                    rows.kept.push(row);
                    rows.nodes.push(node);
                }
                None => {
                    rows.unknown += 1;
                    rows.example.get_or_insert(id);
                }
            }
        }
        rows
    }
}
