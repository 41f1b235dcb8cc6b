//! Embeddings on disk, in every format of the library.

use std::io::Write;
use std::path::PathBuf;

use hone::communicator::SingleProcess;
use hone::graph::NodeIds;
use hone::output::{Batch, Existing};
use hone::record;
use hone::store::{Embedding, Format};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::error::{raise, refuse, unread};
use crate::graph::{RowIds, ids_to_python};
use crate::memory;
use crate::work::run;

fn format_of(name: Option<&str>) -> PyResult<Option<Format>> {
    let known = || Format::ALL.map(|(_, name)| name).join(", ");
    let find = |name| {
        Format::from_name(name)
            .ok_or_else(|| refuse("format", format!("`{name}` is not one of {}", known())))
    };
    name.map(find).transpose()
}

/// Ids (nothing for 0, 1, 2, …), vectors and names of their columns.
type Stored<'py> = (
    Option<Bound<'py, PyAny>>,
    Bound<'py, PyArray2<f32>>,
    Vec<String>,
);

/// Writes a file, whole or not at all.
#[pyfunction]
pub(crate) fn write(path: PathBuf, content: &[u8], overwrite: bool) -> PyResult<()> {
    let mut batch = Batch::new(Existing::replaced_if(overwrite));
    let mut out = batch.begin(&path).map_err(raise)?;
    out.write_all(content).map_err(|e| raise(out.error(e)))?;
    batch.add(out).map_err(raise)?;
    batch.commit().map(drop).map_err(raise)
}

/// Reads an embedding.
#[pyfunction]
#[pyo3(signature = (path, format=None))]
pub(crate) fn read_embedding<'py>(
    py: Python<'py>,
    path: PathBuf,
    format: Option<&str>,
) -> PyResult<Stored<'py>> {
    let format = format_of(format)?;
    let embedding = run(py, 0, None, move |_| {
        Embedding::read_within(&path, format, hone::memory::Allowance::new(None))
    })?;
    Ok((
        ids_to_python(py, &embedding.ids)?,
        memory::array(py, embedding.vectors)?,
        embedding.columns,
    ))
}

/// Writes an embedding, with the report of its run (JSON) beside it; returns the files.
#[pyfunction]
#[pyo3(signature = (path, ids, vectors, columns, format=None, overwrite=false, report=None, rows_per_file=None))]
#[allow(clippy::too_many_arguments)] // Python calls it by name
pub(crate) fn write_embedding(
    py: Python<'_>,
    path: PathBuf,
    ids: RowIds<'_>,
    vectors: PyReadonlyArray2<'_, f32>,
    columns: Vec<String>,
    format: Option<&str>,
    overwrite: bool,
    report: Option<&str>,
    rows_per_file: Option<usize>,
) -> PyResult<Vec<PathBuf>> {
    let format = format_of(format)?;
    let report = report.map(serde_json::from_str::<Map<String, Value>>);
    let report = report.transpose().map_err(unread("report"))?;
    let ids = NodeIds::from(ids);
    let block = memory::block(&vectors);
    let (rows, cols) = (block.rows(), block.cols());
    if (ids.len(), columns.len()) != (rows, cols) {
        let (ids, names) = (ids.len(), columns.len());
        let message = format!("{ids} ids and {names} names for {rows} rows and {cols} columns");
        return Err(refuse("embedding", message));
    }
    run(py, 0, None, move |_| {
        let embedding = Embedding::with_columns(ids, block, columns);
        let existing = Existing::replaced_if(overwrite);
        let add = |batch: &mut Batch| match rows_per_file {
            Some(rows) => embedding.add_parts(batch, &path, format, rows, &SingleProcess),
            None => embedding.add_to(batch, &path, format),
        };
        let Some(report) = report else {
            return record::without(&path, existing, add);
        };
        let mut batch = Batch::new(existing);
        add(&mut batch)?;
        record::add_to(&mut batch, &path, &report)?;
        batch.commit()
    })
}
