//! [`Graph`]: the library's graph as a Python object, and the ways to make one.

use std::path::PathBuf;
use std::sync::Arc;

use hone::Progress;
use hone::graph::{
    Generator, Graph as Inner, GraphBuilder, Input, NodeIds, Orientation, ReadNote, ReadOptions,
    Recorded,
};
use hone::parallel;
use numpy::ndarray::ArrayView1;
use numpy::{AllowTypeChange, IntoPyArray, PyArray1, PyArrayLike1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rayon::prelude::*;

use crate::error::{Parameters, raise, refuse, unread};
use crate::memory::lent;
use crate::work::{run, run_borrowed};

/// An immutable graph; made by the functions of this module.
#[pyclass(module = "hone_embed._native", frozen)]
pub(crate) struct Graph {
    pub(crate) inner: Inner,
    /// Where it was read, and how; nothing for what was made in memory.
    pub(crate) input: Option<Input>,
    /// What the rules for tables decided, where they did.
    reading: Option<String>,
}

impl From<Inner> for Graph {
    fn from(inner: Inner) -> Self {
        let notes = hone::graph::reading(&inner).map_or(&[][..], |reading| &reading.notes);
        let reading = notes.iter().find(|note| note.is_routine()).map(shown);
        Graph {
            inner,
            input: None,
            reading,
        }
    }
}

/// Integers of any kind; NumPy converts those that are not int64.
type Integers<'py> = PyArrayLike1<'py, i64, AllowTypeChange>;

/// All values as `T`; the first that does not fit is an error about `field`.
fn narrowed<T: TryFrom<i64> + Send>(
    values: &ArrayView1<'_, i64>,
    field: &str,
) -> hone::Result<Vec<T>> {
    let fit = |i: usize| T::try_from(values[i]).ok();
    if let Some(i) = parallel::first(values.len(), |i| fit(i).is_none()) {
        let message = format!("value {i} is {}, which is out of range", values[i]);
        return Err(hone::Error::config(field, message));
    }
    let positions = (0..values.len()).into_par_iter().with_min_len(1 << 12);
    Ok(positions
        .map(|i| fit(i).expect("looked at above"))
        .collect())
}

/// What arcs mean: as the caller says, else what they look like.
fn orientation(directed: Option<bool>) -> Orientation {
    directed.map_or(Orientation::Detect, Orientation::directed_if)
}

/// Undirected unless the caller says otherwise.
fn build(
    directed: bool,
    ids: NodeIds,
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
) -> hone::Result<Inner> {
    let builder = match directed {
        true => GraphBuilder::directed(0),
        false => GraphBuilder::undirected(0),
    };
    let builder = builder.ids(ids).edges(edges);
    match weights {
        Some(weights) => builder.weights(weights).build(),
        None => builder.build(),
    }
}

fn weights_of(weights: Option<PyReadonlyArray1<'_, f32>>) -> Option<Vec<f32>> {
    weights.map(|weights| weights.as_array().to_vec())
}

fn check_lengths(sources: usize, targets: usize) -> PyResult<()> {
    match sources == targets {
        true => Ok(()),
        false => {
            let message = format!("{sources} sources and {targets} targets");
            Err(refuse("edges", message))
        }
    }
}

#[pymethods]
impl Graph {
    /// From a matrix in compressed rows; int32 column numbers are used where they lie.
    #[staticmethod]
    #[pyo3(signature = (indptr, indices, weights=None, directed=None))]
    fn from_csr(
        py: Python<'_>,
        indptr: Integers<'_>,
        indices: &Bound<'_, PyAny>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        directed: Option<bool>,
    ) -> PyResult<Self> {
        let offsets = indptr.as_array();
        let ids = NodeIds::Sequential(offsets.len().saturating_sub(1));
        let columns = match indices.extract::<PyReadonlyArray1<'_, i32>>() {
            Ok(narrow) => lent(&narrow)?,
            Err(_) => {
                let wide: Integers<'_> = indices.extract()?;
                let wide = wide.as_array();
                run_borrowed(py, || narrowed::<u32>(&wide, "indices"))?.into()
            }
        };
        let weights = weights.as_ref().map(PyReadonlyArray1::as_array);
        run_borrowed(py, move || {
            let offsets = narrowed(&offsets, "indptr")?;
            let weights = weights.map(|weights| weights.iter().copied().collect::<Arc<[f32]>>());
            Ok(Inner::from_arcs(offsets, columns, weights, orientation(directed), ids)?.into())
        })
    }

    /// From edges between node numbers; without `directed` they are arcs, and the graph is undirected
    /// when each has its reverse. With `arcs`, both directions of an edge are the same edge.
    #[staticmethod]
    #[pyo3(signature = (nodes, sources, targets, weights=None, directed=None, arcs=false))]
    fn from_edges(
        py: Python<'_>,
        nodes: usize,
        sources: Integers<'_>,
        targets: Integers<'_>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        directed: Option<bool>,
        arcs: bool,
    ) -> PyResult<Self> {
        let (sources, targets) = (sources.as_array(), targets.as_array());
        check_lengths(sources.len(), targets.len())?;
        let (ids, weights) = (NodeIds::Sequential(nodes), weights_of(weights));
        run_borrowed(py, move || {
            let sources: Vec<u32> = narrowed(&sources, "source")?;
            let edges = sources.into_iter().zip(narrowed(&targets, "target")?);
            let directed_edges = arcs || directed.unwrap_or(true);
            let graph = build(directed_edges, ids, edges.collect(), weights)?;
            Ok(graph.with_orientation(orientation(directed)).into())
        })
    }

    /// From edges between integer ids; nodes come in ascending order.
    #[staticmethod]
    #[pyo3(signature = (sources, targets, weights=None, directed=false))]
    fn from_integers(
        py: Python<'_>,
        sources: Integers<'_>,
        targets: Integers<'_>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        directed: bool,
    ) -> PyResult<Self> {
        let (sources, targets) = (sources.as_array(), targets.as_array());
        check_lengths(sources.len(), targets.len())?;
        let weights = weights_of(weights);
        run_borrowed(py, move || {
            let (ids, edges) =
                NodeIds::number_integers(sources.len(), |e| (sources[e], targets[e]))?;
            Ok(build(directed, ids, edges, weights)?.into())
        })
    }

    /// From edges between names; nodes come in order of first appearance.
    #[staticmethod]
    #[pyo3(signature = (sources, targets, weights=None, directed=false))]
    fn from_texts(
        py: Python<'_>,
        sources: Vec<String>,
        targets: Vec<String>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        directed: bool,
    ) -> PyResult<Self> {
        check_lengths(sources.len(), targets.len())?;
        let weights = weights_of(weights);
        run_borrowed(py, move || {
            let targets = targets.iter().map(String::as_str);
            let named = sources.iter().map(String::as_str).zip(targets);
            let (ids, edges) = NodeIds::number_texts(named)?;
            Ok(build(directed, ids, edges, weights)?.into())
        })
    }

    /// Number of nodes.
    #[getter]
    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    /// Number of edges.
    #[getter]
    fn edges(&self) -> usize {
        self.inner.edges()
    }

    /// Whether arcs have a direction.
    #[getter]
    fn directed(&self) -> bool {
        self.inner.is_directed()
    }

    /// Whether edges have weights.
    #[getter]
    fn weighted(&self) -> bool {
        self.inner.weights().is_some()
    }

    /// Self-loops, duplicates and weights that were dropped.
    #[getter]
    fn dropped(&self) -> (u64, u64, u64) {
        let dropped = self.inner.dropped();
        (dropped.self_loops, dropped.duplicates, dropped.weights)
    }

    /// The same graph, which says that it was made without this many weights that its source has.
    fn without_weights(&self, count: u64) -> Self {
        Graph {
            inner: self.inner.clone().without_weights_of_source(count),
            input: self.input.clone(),
            reading: self.reading.clone(),
        }
    }

    /// How the file or table was read, and the parameters that decide otherwise.
    #[getter]
    fn reading(&self) -> Option<&str> {
        self.reading.as_deref()
    }

    /// The same graph, which says how the table was read that it was made of.
    fn read_as(&self, reading: String) -> Self {
        Graph {
            inner: self.inner.clone(),
            input: self.input.clone(),
            reading: Some(reading),
        }
    }

    /// What the owner of the file should know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let notes = hone::graph::reading(&self.inner).map_or(&[][..], |reading| &reading.notes);
        let notes = notes.iter().filter(|note| !note.is_routine());
        notes.map(shown).collect()
    }

    /// Nothing for ids 0, 1, 2, …; an int64 array, or a list of text.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        ids_to_python(py, self.inner.ids())
    }

    /// The same graph with other ids.
    fn with_ids(&self, ids: RowIds<'_>) -> PyResult<Self> {
        Ok(self
            .inner
            .clone()
            .with_ids(ids.into())
            .map_err(raise)?
            .into())
    }

    /// Copies of `indptr` (int64), `indices` (int32 when they fit, else int64) and the weights.
    fn csr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pattern = self.inner.pattern();
        let indptr: Vec<i64> = pattern.offsets().iter().map(|&o| o as i64).collect();
        let fits = i32::try_from(self.inner.nodes().max(pattern.nnz())).is_ok();
        let columns = pattern.columns().iter();
        let indices = match fits {
            true => {
                let narrow: Vec<i32> = columns.map(|&j| j as i32).collect();
                narrow.into_pyarray(py).into_any()
            }
            false => {
                let wide: Vec<i64> = columns.map(|&j| i64::from(j)).collect();
                wide.into_pyarray(py).into_any()
            }
        };
        let weights = self.inner.weights();
        let weights = weights.map(|weights| PyArray1::from_slice(py, weights));
        (indptr.into_pyarray(py), indices, weights).into_pyobject(py)
    }

    /// Where the column numbers lie in memory.
    fn address(&self) -> usize {
        self.inner.pattern().columns().as_ptr().addr()
    }

    /// A name for the content: ids, direction, adjacency and weights.
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        run_borrowed(py, || Ok(self.inner.fingerprint()))
    }
}

/// Where the rows of an adjacency begin, and the nodes in them.
type Adjacency<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>);

/// The rows of an adjacency, dictionaries by node; `number` has the number of each node, unless nodes equal their numbers.
#[pyfunction]
pub(crate) fn adjacency<'py>(
    py: Python<'py>,
    rows: Vec<Bound<'py, PyAny>>,
    number: Option<&Bound<'py, PyDict>>,
) -> PyResult<Adjacency<'py>> {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    let missing = |node: &Bound<'_, PyAny>| PyKeyError::new_err(node.clone().unbind());
    let mut add = |node: Bound<'py, PyAny>| {
        let number: i32 = match number {
            Some(number) => {
                let found = number.get_item(&node)?;
                found.ok_or_else(|| missing(&node))?.extract()?
            }
            // What equals a number need not be an integer.
            None => match node.extract() {
                Ok(number) => number,
                Err(_) => node.extract::<f64>()? as i32,
            },
        };
        columns.push(number);
        PyResult::Ok(columns.len() as i64)
    };
    for row in &rows {
        let mut end = offsets[offsets.len() - 1];
        // A list of keys is made in one go; values, which lie all over the memory, are not touched.
        match row.cast::<PyDict>() {
            Ok(row) => {
                for node in row.keys() {
                    end = add(node)?;
                }
            }
            Err(_) => {
                for node in row.try_iter()? {
                    end = add(node?)?;
                }
            }
        }
        offsets.push(end);
    }
    Ok((offsets.into_pyarray(py), columns.into_pyarray(py)))
}

/// Ids as Python gives them.
#[derive(FromPyObject)]
pub(crate) enum RowIds<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Texts(Vec<String>),
}

impl From<RowIds<'_>> for NodeIds {
    fn from(ids: RowIds<'_>) -> Self {
        match ids {
            RowIds::Integers(ids) => NodeIds::from_integers(ids.as_array().to_vec()),
            RowIds::Texts(ids) => NodeIds::from_texts(&ids),
        }
    }
}

/// Ids as Python gets them.
pub(crate) fn ids_to_python<'py>(
    py: Python<'py>,
    ids: &NodeIds,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match ids {
        NodeIds::Sequential(_) => None,
        NodeIds::Integers(ids) => Some(PyArray1::from_slice(py, ids).into_any()),
        NodeIds::Text { .. } => {
            let texts: Vec<String> = ids.iter().map(|id| id.to_string()).collect();
            Some(texts.into_pyobject(py)?.into_any())
        }
    })
}

/// Reads a graph from a file or takes a built-in one; `options` is JSON.
#[pyfunction]
pub(crate) fn read(
    py: Python<'_>,
    path: String,
    options: &str,
    listener: Option<Py<PyAny>>,
) -> PyResult<Graph> {
    let options: ReadOptions = serde_json::from_str(options).map_err(unread("options"))?;
    run(py, 0, listener, move |progress| {
        read_input(Input { path, options }, progress)
    })
}

fn read_input(input: Input, progress: &dyn Progress) -> hone::Result<Graph> {
    let inner = hone::graph::read(&input.path, &input.options, progress)?;
    Ok(Graph {
        input: Some(input),
        ..inner.into()
    })
}

/// Reads the graph of an earlier run from where its record says; also how it differs from what it was then.
#[pyfunction]
pub(crate) fn read_recorded(
    py: Python<'_>,
    record: PathBuf,
    listener: Option<Py<PyAny>>,
) -> PyResult<(Graph, Option<String>)> {
    run(py, 0, listener, move |progress| {
        let recorded = Recorded::read(&record)?;
        let input = recorded
            .as_ref()
            .map(|recorded| recorded.located_input(&record))
            .transpose()?
            .flatten();
        let (recorded, input) = recorded.zip(input).ok_or_else(|| {
            let remedy = "give the OUT.run.json of a run whose graph was a file";
            hone::Error::input(&record, "names no graph", remedy)
        })?;
        let graph = read_input(input, progress)?;
        let difference = recorded.difference(&graph.inner);
        Ok((graph, difference))
    })
}

/// How a file of attributes differs from the one in the record of a run, if that is known.
#[pyfunction]
pub(crate) fn attributes_difference(record: PathBuf, file: PathBuf) -> PyResult<Option<String>> {
    let recorded = Recorded::read(record)
        .map_err(raise)?
        .and_then(|recorded| recorded.attributes);
    let Some(recorded) = recorded else {
        return Ok(None);
    };
    Ok(recorded.difference(&hone::attributes::content(file).map_err(raise)?))
}

/// Draws a graph; `model` is JSON.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    model: &str,
    seed: u64,
    listener: Option<Py<PyAny>>,
) -> PyResult<Graph> {
    let model: Generator = serde_json::from_str(model).map_err(unread("model"))?;
    model.check().map_err(raise)?;
    run(py, 0, listener, move |progress| {
        Ok(model.graph(seed, progress)?.into())
    })
}

/// What [`table_columns`] returns.
type TableColumns = (usize, usize, Option<usize>, bool, String);

/// Positions of the ids and, if they are kept, of the weights among the columns of a table, by its names, if it has some, and
/// its first rows; whether weights are not kept, and what was decided. `options` is JSON.
#[pyfunction]
pub(crate) fn table_columns(
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    options: &str,
) -> PyResult<TableColumns> {
    let options: ReadOptions = serde_json::from_str(options).map_err(unread("options"))?;
    let (columns, ignored, note) =
        hone::graph::table_columns(&names, &rows, &options).map_err(raise)?;
    Ok((
        columns.source,
        columns.target,
        columns.weight,
        ignored,
        shown(&note),
    ))
}

/// A note about reading, with the names that options have in Python.
fn shown(note: &ReadNote) -> String {
    note.text.say(&Parameters)
}
