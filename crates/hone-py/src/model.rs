//! Models: what places other graphs in the space of a fit.

use std::path::PathBuf;
use std::sync::Arc;

use hone::Like;
use hone::output::Existing;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::embed::{Columns, attributes_of};
use crate::error::{Parameters, raise, refuse};
use crate::graph::{Graph, ids_to_python};
use crate::memory;
use crate::work::run;

/// A model of the library.
#[pyclass(frozen, module = "hone_embed._native")]
pub(crate) struct Model {
    pub(crate) inner: Arc<hone::Model>,
}

/// Vectors, the node of each row, names of their columns, and the report as JSON.
type Placed<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<u32>>,
    Vec<String>,
    String,
);

#[pymethods]
impl Model {
    /// Reads a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let inner = run(py, 0, None, move |_| hone::Model::read(&path))?;
        Ok(Model {
            inner: Arc::new(inner),
        })
    }

    /// The model that `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Model> {
        let inner = hone::Model::from_bytes(bytes, "pickled model").map_err(raise)?;
        Ok(Model {
            inner: Arc::new(inner),
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.inner
            .write_to(&mut bytes)
            .map_err(|error| refuse("model", error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// How pickle takes it.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((
            py.get_type::<Model>().getattr("from_bytes")?,
            (self.to_bytes(py)?,),
        ))
    }

    /// Writes a file.
    #[pyo3(signature = (path, overwrite=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        let inner = self.inner.clone();
        run(py, 0, None, move |_| {
            inner.write(&path, Existing::replaced_if(overwrite))
        })
    }

    /// What it says of itself, as JSON.
    fn facts(&self) -> PyResult<String> {
        serde_json::to_string(self.inner.facts())
            .map_err(|error| refuse("model", error.to_string()))
    }

    /// Ids of the nodes of the fit; nothing for 0, 1, 2, …
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        ids_to_python(py, self.inner.ids())
    }

    /// The vectors of the fit.
    fn vectors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        memory::array(py, self.inner.vectors().map_err(raise)?.into_owned())
    }

    /// Places a graph.
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    #[pyo3(signature = (graph, structure_only=false, new_only=false, added_only=false, attributes=None, jobs=0, memory=None, listener=None))]
    fn embed<'py>(
        &self,
        py: Python<'py>,
        graph: &Bound<'py, Graph>,
        structure_only: bool,
        new_only: bool,
        added_only: bool,
        attributes: Option<Columns<'py>>,
        jobs: usize,
        memory: Option<u64>,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<Placed<'py>> {
        let Graph { inner, input, .. } = graph.get();
        let (graph, input, model) = (inner.clone(), input.clone(), self.inner.clone());
        let placed = graph.clone();
        let table = &model.facts().config.attributes.table;
        let attributes = attributes
            .map(|columns| attributes_of(columns, table, graph.ids()))
            .transpose()?;
        let mut result = run(py, jobs, listener, move |progress| {
            let like = Like {
                attributes: attributes.as_ref().map(|loaded| &loaded.attributes),
                structure_only,
                new_only,
                added_only,
                memory_limit: memory,
            };
            model.embed(&graph, &like, progress)
        })?;
        result.report.input = input;
        let report = result.report.said(&Parameters).to_json();
        let nodes: Vec<u32> = match new_only || added_only {
            true => {
                let (index, ids) = (placed.ids().index(), result.embedding.ids.iter());
                ids.filter_map(|id| index.find(&id.to_string())).collect()
            }
            false => (0..placed.nodes() as u32).collect(),
        };
        let nodes = PyArray1::from_vec(py, nodes);
        Ok((
            memory::array(py, result.embedding.vectors)?,
            nodes,
            result.embedding.columns,
            report,
        ))
    }
}
