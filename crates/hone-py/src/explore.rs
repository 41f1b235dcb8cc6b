//! Similar nodes, roles, layouts and maps: vectors prepared once, then asked.

use std::sync::Arc;

use hone::graph::{Graph as Inner, NodeIds};
use hone::store::Embedding;
use hone_explore::{By, Colour, Layout, Map, Method, RoleOptions, Search, Style};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{raise, refuse, unread};
use crate::graph::{Graph, RowIds};
use crate::memory;
use crate::work::{run, run_short};

/// Vectors prepared for one meaning of similarity.
#[pyclass(module = "hone_embed._native", frozen)]
pub(crate) struct Space {
    inner: Arc<hone_explore::Space>,
}

/// Rows and the names of their columns.
type Prepared<'py> = (Bound<'py, PyArray2<f32>>, Vec<String>);
/// Rows and their similarities.
type Nearest<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);
/// The same, one row per node, and the recall of an approximate search.
type AllNeighbours<'py> = (
    Bound<'py, PyArray2<i64>>,
    Bound<'py, PyArray2<f32>>,
    Option<f64>,
);

#[pymethods]
impl Space {
    /// Prepares the rows of an array whose columns have these names.
    #[new]
    fn new(
        py: Python<'_>,
        ids: Option<RowIds<'_>>,
        vectors: PyReadonlyArray2<'_, f32>,
        columns: Vec<String>,
        by: &str,
    ) -> PyResult<Self> {
        let by: By = by.parse().map_err(raise)?;
        let block = memory::block(&vectors);
        let ids = ids.map_or(NodeIds::Sequential(block.rows()), NodeIds::from);
        let embedding = Embedding::with_columns(ids, block, columns);
        let prepared = run(py, 0, None, move |_| {
            hone_explore::Space::of(&embedding, by)
        })?;
        Ok(Space {
            inner: prepared.into(),
        })
    }

    /// What else a map of these vectors shows, if anything.
    fn beside(&self) -> Option<String> {
        let by = serde_json::to_value(self.inner.beside()?).expect("plain data");
        by.as_str().map(str::to_owned)
    }

    /// The rows that are compared, and the names of their columns.
    fn prepared<'py>(&self, py: Python<'py>) -> PyResult<Prepared<'py>> {
        let space = self.inner.clone();
        let rows = run(py, 0, None, move |_| {
            Ok(space.prepared(NodeIds::Sequential(space.len())))
        })?;
        Ok((memory::array(py, rows.vectors)?, rows.columns))
    }

    /// The rows most similar to what the positive rows have and the negative ones do not, and how similar they are.
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        positive: PyReadonlyArray1<'py, u32>,
        negative: PyReadonlyArray1<'py, u32>,
        top: usize,
    ) -> PyResult<Nearest<'py>> {
        let (positive, negative) = (positive.as_array().to_vec(), negative.as_array().to_vec());
        let query = self.inner.query(&positive, &negative).map_err(raise)?;
        let found = run_short(py, 0, || {
            self.inner
                .nearest(&query, &[positive, negative].concat(), top)
        })?;
        let rows: Vec<i64> = found.iter().map(|node| i64::from(node.row)).collect();
        let similarities: Vec<f64> = found.iter().map(|node| node.similarity.into()).collect();
        Ok((rows.into_pyarray(py), similarities.into_pyarray(py)))
    }

    /// The neighbours of every row.
    #[pyo3(signature = (top, search, seed, jobs=0, listener=None))]
    fn all<'py>(
        &self,
        py: Python<'py>,
        top: usize,
        search: &str,
        seed: u64,
        jobs: usize,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<AllNeighbours<'py>> {
        let search = Search {
            top,
            search: search.parse::<Method>().map_err(raise)?,
            seed,
        };
        let space = self.inner.clone();
        let neighbours = run(py, jobs, listener, move |progress| {
            search.all(&space, progress)
        })?;
        let (mut rows, mut similarities) = (Vec::new(), Vec::new());
        for i in 0..neighbours.len() {
            rows.extend(neighbours.row(i).iter().map(|near| i64::from(near.row)));
            similarities.extend(neighbours.row(i).iter().map(|near| near.similarity));
        }
        let shape = [self.inner.len(), neighbours.k()];
        Ok((
            rows.into_pyarray(py).reshape(shape)?,
            similarities.into_pyarray(py).reshape(shape)?,
            neighbours.recall,
        ))
    }

    /// Two coordinates per row; `layout` is JSON of the library's own settings.
    #[pyo3(signature = (layout, jobs=0, listener=None))]
    fn layout<'py>(
        &self,
        py: Python<'py>,
        layout: &str,
        jobs: usize,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (layout, space) = (parse_layout(layout)?, self.inner.clone());
        let placed = run(py, jobs, listener, move |progress| {
            layout.place(&space, progress)
        })?;
        memory::array(py, placed.positions)
    }
}

fn parse_layout(layout: &str) -> PyResult<Layout> {
    serde_json::from_str(layout).map_err(unread("layout"))
}

/// The roles of a graph.
#[pyclass(module = "hone_embed._native", frozen)]
pub(crate) struct Roles {
    inner: hone_explore::Roles,
    graph: Inner,
}

#[pymethods]
impl Roles {
    /// Finds roles; `options` is JSON of the library's own settings.
    #[new]
    #[pyo3(signature = (graph, options, jobs=0, listener=None))]
    fn new(
        py: Python<'_>,
        graph: &Bound<'_, Graph>,
        options: &str,
        jobs: usize,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let options: RoleOptions = serde_json::from_str(options).map_err(unread("roles"))?;
        let graph = graph.get().inner.clone();
        let copy = graph.clone();
        let inner = run(py, jobs, listener, move |progress| {
            options.find(&copy, progress)
        })?;
        Ok(Roles { inner, graph })
    }

    /// The role of every node.
    fn assignments<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.inner
            .assignments()
            .iter()
            .map(|&role| i64::from(role))
            .collect::<Vec<i64>>()
            .into_pyarray(py)
    }

    /// One row per node, one column per role; rows sum to one.
    fn memberships<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (n, k) = (self.inner.nodes(), self.inner.roles.len());
        let all: Vec<f32> = (0..n as u32)
            .flat_map(|node| self.inner.memberships(node))
            .copied()
            .collect();
        all.into_pyarray(py).reshape([n, k])
    }

    /// What the roles are and how they are linked, as JSON.
    fn describe(&self) -> String {
        json!({ "roles": self.inner.roles, "affinity": self.inner.affinity }).to_string()
    }

    /// Why a node has its role, as JSON.
    fn explain(&self, node: u32, id: &str) -> PyResult<String> {
        if node as usize >= self.inner.nodes() {
            return Err(refuse(
                "node",
                format!("row {node} of {}", self.inner.nodes()),
            ));
        }
        Ok(serde_json::to_string(&self.inner.explain(node, id)).expect("plain data"))
    }

    /// A map with these roles, laid out in these spaces: HTML, SVG, PNG or points in Parquet; `colours` are names with categories (and their
    /// names) or numbers, NaN where there is none; `layout` and `style` are JSON of the library's own settings.
    #[pyo3(signature = (spaces, layout, title, colours, style, kind, jobs=0, listener=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "called by keyword, from one place"
    )]
    fn map(
        slf: Bound<'_, Self>,
        py: Python<'_>,
        spaces: Vec<Py<Space>>,
        layout: &str,
        title: String,
        colours: Vec<(String, Option<Vec<String>>, Vec<f32>)>,
        style: &str,
        kind: &str,
        jobs: usize,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<Vec<u8>> {
        let (layout, kind) = (parse_layout(layout)?, kind.to_owned());
        let style: Style = serde_json::from_str(style).map_err(unread("style"))?;
        let spaces = spaces.into_iter().map(|it| it.get().inner.clone());
        let spaces: Vec<_> = spaces.collect();
        let (roles, graph) = (slf.get().inner.clone(), slf.get().graph.clone());
        let colours = colours.into_iter().map(colour).collect();
        run(py, jobs, listener, move |progress| {
            let map = Map {
                graph: &graph,
                title,
                layouts: &layout.of_map(&spaces, progress)?,
                roles: &roles,
                colours,
                style,
            };
            match kind.as_str() {
                "svg" => map.svg().map(String::into_bytes),
                "png" => map.png(2400),
                "parquet" => map.points(),
                _ => map.html(progress).map(String::into_bytes),
            }
        })
    }
}

fn colour((name, names, values): (String, Option<Vec<String>>, Vec<f32>)) -> Colour {
    match names {
        Some(names) => Colour::Categories {
            name,
            names,
            of: values.into_iter().map(category).collect(),
        },
        None => Colour::Numbers { name, values },
    }
}

/// The place of a name; NaN where there is none.
fn category(value: f32) -> u16 {
    if value.is_nan() {
        Colour::NONE
    } else {
        value as u16
    }
}

/// Up to three known ids that are close to one that is not known.
#[pyfunction]
pub(crate) fn suggest(ids: Vec<String>, wanted: &str) -> Vec<String> {
    hone_explore::suggest(&NodeIds::from_texts(&ids), wanted)
}
