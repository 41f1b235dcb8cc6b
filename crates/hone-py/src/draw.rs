//! Pictures of motif graphs.

use hone_explore::draw::Drawing;
use pyo3::prelude::*;

use crate::error::unread;
use crate::graph::Graph;
use crate::work::run;

/// The text of an SVG file; `drawing` is JSON of the library's own settings.
#[pyfunction]
#[pyo3(signature = (graph, drawing, name, jobs=0, listener=None))]
pub(crate) fn draw(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    drawing: &str,
    name: String,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let drawing: Drawing = serde_json::from_str(drawing).map_err(unread("drawing"))?;
    let graph = graph.get().inner.clone();
    run(py, jobs, listener, move |progress| {
        drawing.svg(&graph, &name, progress)
    })
}
