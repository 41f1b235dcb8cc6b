//! Statistics of motifs: census, coefficients, significance, comparisons of graphs, clusters. What is no array is JSON of the
//! library's own types.

use hone::cluster::MotifClusters;
use hone::motif::triad::{Occurrence, Triads};
use hone::motif::{self, COEFFICIENTS, Comparison, Motif, NullModel, Significance};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::{raise, refuse};
use crate::graph::Graph;
use crate::work::run;

fn json(result: &impl Serialize) -> PyResult<String> {
    let text = serde_json::to_string(result);
    text.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Names, numbers and drawings of all motifs.
#[pyfunction]
pub(crate) fn motif_catalogue() -> PyResult<String> {
    json(&motif::catalogue())
}

/// How many sets of three nodes are of each of the 16 classes.
#[pyfunction]
#[pyo3(signature = (graph, jobs=0, listener=None))]
pub(crate) fn triad_census(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let graph = graph.get().inner.clone();
    if !graph.is_directed() {
        let message = "a census of triads is of directed graphs, and this one is undirected";
        return Err(refuse("graph", message));
    }
    let census = run(py, jobs, listener, move |progress| {
        let totals = Triads::count(&graph, progress)?.totals(Occurrence::Induced);
        Ok(totals.census(graph.nodes()))
    })?;
    json(&census)
}

/// Coefficients of each node, and of the graph.
#[pyfunction]
#[pyo3(signature = (graph, jobs=0, listener=None))]
pub(crate) fn coefficients<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyArray2<f64>>, String)> {
    let graph = graph.get().inner.clone();
    let found = run(py, jobs, listener, move |progress| {
        motif::count(&graph, progress)?.coefficients()
    })?;
    let shape = [found.nodes.len(), COEFFICIENTS.len()];
    let nodes = found.nodes.concat().into_pyarray(py).reshape(shape)?;
    Ok((nodes, json(&found.graph)?))
}

/// Motifs beside their counts in random graphs of a model, by a seed; called by name or by number.
#[pyfunction]
#[pyo3(signature = (graph, random, how, jobs=0, listener=None))]
pub(crate) fn significance(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    random: usize,
    how: (Option<String>, u64, bool),
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (model, seed, numbers) = how;
    let model = model.as_deref().map(str::parse::<NullModel>);
    let model = model.transpose().map_err(raise)?;
    let graph = graph.get().inner.clone();
    let found = run(py, jobs, listener, move |progress| {
        Significance::of(&graph, model, random, seed, progress)
    })?;
    json(&if numbers { found.numbered() } else { found })
}

/// Graphs compared pair by pair.
#[pyfunction]
#[pyo3(signature = (graphs, numbers=false, jobs=0, listener=None))]
pub(crate) fn compare(
    py: Python<'_>,
    graphs: Vec<Bound<'_, Graph>>,
    numbers: bool,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let graphs = graphs.into_iter().map(|graph| graph.get().inner.clone());
    let graphs: Vec<_> = graphs.collect();
    let found = run(py, jobs, listener, move |progress| {
        let orbits = graphs
            .iter()
            .map(|graph| motif::count(graph, progress)?.node_orbits());
        let orbits = orbits.collect::<hone::Result<Vec<_>>>()?;
        Ok(Comparison::of(&orbits, numbers))
    })?;
    json(&found)
}

/// The cluster around a node, or the best cut of the graph.
#[pyfunction]
#[pyo3(signature = (graph, motif, node=None, jobs=0, listener=None))]
pub(crate) fn motif_cluster(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    motif: &str,
    node: Option<u32>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (motif, graph): (Motif, _) = (motif.parse().map_err(raise)?, graph.get().inner.clone());
    let found = run(py, jobs, listener, move |progress| {
        let clusters = MotifClusters::new(&graph, motif, progress)?;
        match node {
            Some(node) => clusters.local(node, progress),
            None => clusters.spectral(progress),
        }
    })?;
    json(&found)
}
