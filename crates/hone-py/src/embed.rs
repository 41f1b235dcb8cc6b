//! Configurations, resolved by the library, and the embedding itself.

use std::path::PathBuf;
use std::sync::Arc;

use hone::attributes::{self, Given, Loaded, Table};
use hone::config::{DEFAULT_PRESET, Layers, PRESETS};
use hone::graph::NodeIds;
use hone::message::Message;
use hone::output::Existing;
use hone::{Config, Hone};
use hone_gpu::{Device, Opened};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::error::{Parameters, raise, refuse, unread};
use crate::graph::Graph;
use crate::memory;
use crate::model::Model;
use crate::work::run;

/// Names of all presets with what they stand for.
#[pyfunction]
pub(crate) fn presets() -> Vec<(&'static str, &'static str)> {
    PRESETS.to_vec()
}

/// The checked configuration, as JSON: a preset, below a file, below settings in order (JSON, an
/// object of dotted keys).
#[pyfunction]
pub(crate) fn resolve(preset: &str, file: Option<PathBuf>, settings: &str) -> PyResult<String> {
    // The default preset may not have been chosen by anybody: a file may say anything else.
    let mut layers = match file {
        Some(file) if preset == DEFAULT_PRESET => Layers::new()
            .preset(preset)
            .and_then(|layers| layers.file(file)),
        Some(file) => Layers::new().preset_and_file(preset, file),
        None => Layers::new().preset(preset),
    }
    .map_err(raise)?;
    let settings: Map<String, Value> = serde_json::from_str(settings).map_err(unread("config"))?;
    // A method replaces the options of another, so it comes before its own.
    let (methods, others): (Vec<_>, Vec<_>) = settings
        .into_iter()
        .partition(|(key, _)| key.ends_with(".method"));
    for (key, value) in methods.into_iter().chain(others) {
        let value =
            toml::Value::try_from(value).map_err(|error| refuse(&key, error.to_string()))?;
        layers = layers.set_value(&key, value).map_err(raise)?;
    }
    let config = layers.build().map_err(raise)?;
    serde_json::to_string(&config).map_err(|error| refuse("config", error.to_string()))
}

/// Settings that have no effect on the embedding of a graph, and why; `own` says that attributes are given beside it.
#[pyfunction]
pub(crate) fn idle(
    graph: &Bound<'_, Graph>,
    config: &str,
    own: bool,
) -> PyResult<Vec<(&'static str, String)>> {
    let (config, graph) = (parse(config)?, &graph.get().inner);
    Ok(config.unused(graph, own))
}

/// The number of bytes that `8G`, `512M` or the like stand for.
#[pyfunction]
pub(crate) fn parse_bytes(text: &str) -> PyResult<u64> {
    hone::memory::parse_bytes(text).ok_or_else(|| {
        refuse(
            "memory_limit",
            format!("`{text}` is not a size such as 8G or 8GB"),
        )
    })
}

pub(crate) fn parse(config: &str) -> PyResult<Config> {
    serde_json::from_str(config).map_err(unread("config"))
}

/// Columns of attributes with their names: an array of numbers, texts, or nodes and numbers where others are zero.
pub(crate) type Columns<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// Attributes from columns.
pub(crate) fn attributes_of(
    columns: Columns<'_>,
    table: &Table,
    ids: &NodeIds,
) -> PyResult<Loaded> {
    let column = |(name, values): (String, Bound<'_, PyAny>)| {
        let values = if let Ok(numbers) = values.extract::<PyReadonlyArray1<'_, f32>>() {
            Given::Numbers(numbers.as_array().to_vec())
        } else if let Ok((nodes, numbers)) =
            values.extract::<(PyReadonlyArray1<'_, u32>, PyReadonlyArray1<'_, f32>)>()
        {
            let (nodes, numbers) = (nodes.as_array(), numbers.as_array());
            Given::Sparse(nodes.iter().copied().zip(numbers.iter().copied()).collect())
        } else {
            Given::Texts(values.extract()?)
        };
        Ok((name, values))
    };
    let columns = columns.into_iter().map(column).collect::<PyResult<_>>()?;
    attributes::given(columns, table, ids).map_err(raise)
}

/// The method with attributes, and notes on them.
fn with_attributes(
    hone: Hone,
    (table, ids): (&Table, &NodeIds),
    attributes: Option<Columns<'_>>,
) -> PyResult<(Hone, Vec<String>)> {
    let Some(columns) = attributes else {
        return Ok((hone, Vec::new()));
    };
    let Loaded { attributes, facts } = attributes_of(columns, table, ids)?;
    Ok((hone.with_attributes(attributes), facts.notes))
}

/// Features of nodes, names of their columns, and the report as JSON.
type Features<'py> = (Bound<'py, PyArray2<f32>>, Vec<String>, String);

/// The features that an embedding with this configuration would be made of.
#[pyfunction]
#[pyo3(signature = (graph, config, jobs=0, memory=None, attributes=None, listener=None))]
pub(crate) fn features<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    config: &str,
    jobs: usize,
    memory: Option<u64>,
    attributes: Option<Columns<'py>>,
    listener: Option<Py<PyAny>>,
) -> PyResult<Features<'py>> {
    let config = parse(config)?;
    let table = config.attributes.table.clone();
    let mut hone = Hone::new(config).map_err(raise)?;
    if let Some(bytes) = memory {
        hone = hone.memory_limit(bytes);
    }
    let graph = graph.get().inner.clone();
    let (hone, notes) = with_attributes(hone, (&table, graph.ids()), attributes)?;
    let mut result = run(py, jobs, listener, move |progress| {
        hone.features(&graph, progress)
    })?;
    let notes = notes.into_iter().map(Message::from);
    result.report.notes.extend(notes);
    let report = result.report.said(&Parameters).to_json();
    Ok((
        memory::array(py, result.embedding.vectors)?,
        result.embedding.columns,
        report,
    ))
}

/// Vectors, names of their columns, the report as JSON, and a model or why there is none.
type Embedded<'py> = (
    Bound<'py, PyArray2<f32>>,
    Vec<String>,
    String,
    Option<Model>,
    Option<String>,
);

/// Embeds a graph. `attributes` are further columns with their names; `checkpoint` is a folder that the run
/// continues from, or begins in; `factors` a folder that the factors are written to; `device` where motif matrices are
/// factored. `model` asks for a model: true for one or an error before any work, nothing for one where settings and graph
/// allow it.
#[pyfunction]
#[pyo3(signature = (graph, config, jobs=0, memory=None, attributes=None, listener=None, checkpoint=None, factors=None, device=None, model=Some(false)))]
#[allow(clippy::too_many_arguments)] // Python calls it by name
pub(crate) fn embed<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    config: &str,
    jobs: usize,
    memory: Option<u64>,
    attributes: Option<Columns<'py>>,
    listener: Option<Py<PyAny>>,
    checkpoint: Option<PathBuf>,
    factors: Option<PathBuf>,
    device: Option<&str>,
    model: Option<bool>,
) -> PyResult<Embedded<'py>> {
    let config = parse(config)?;
    let opened = match device {
        None => Opened::for_graph(&config, &graph.get().inner),
        Some(name) => {
            let wrong = |known| refuse("device", format!("`{name}` is not {known}"));
            let device: Device = name.parse().map_err(wrong)?;
            device.open(&config).map_err(raise)?
        }
    };
    let note = opened.note.clone();
    let table = config.attributes.table.clone();
    let mut hone = opened.place(Hone::new(config).map_err(raise)?);
    if let Some(bytes) = memory {
        hone = hone.memory_limit(bytes);
    }
    if let Some(folder) = checkpoint {
        hone = hone.resume(folder);
    }
    if let Some(folder) = factors {
        hone = hone.factors(folder, Existing::Replace);
    }
    let Graph { inner, input, .. } = graph.get();
    let (hone, notes) = with_attributes(hone, (&table, inner.ids()), attributes)?;
    let (graph, input) = (inner.clone(), input.clone());
    let why_not = match model {
        Some(false) => None,
        _ => hone
            .check_model(&graph)
            .err()
            .map(|error| error.say(&Parameters)),
    };
    if let (Some(true), Some(why_not)) = (model, &why_not) {
        return Err(refuse("keep_model", why_not));
    }
    let model = model != Some(false) && why_not.is_none();
    let (mut result, model) = run(py, jobs, listener, move |progress| match model {
        true => hone
            .fit(&graph, progress)
            .map(|(run, model)| (run, Some(model))),
        false => hone.embed(&graph, progress).map(|run| (run, None)),
    })?;
    result.report.input = input;
    let notes = notes.into_iter().chain(note).map(Message::from);
    result.report.notes.extend(notes);
    let report = result.report.said(&Parameters).to_json();
    let model = model.map(|model| Model {
        inner: Arc::new(model),
    });
    Ok((
        memory::array(py, result.embedding.vectors)?,
        result.embedding.columns,
        report,
        model,
        why_not,
    ))
}
