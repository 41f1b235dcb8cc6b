//! Link prediction by the experiments' own code, its splits for anyone's, and settings that suit a graph.

use std::path::PathBuf;
use std::time::Duration;

use hone::output::Existing;
use hone_eval::cache::Cache;
use hone_eval::labels::NodeLabels;
use hone_eval::method::{Embedder, Method, registry};
use hone_eval::pairs::{PairOperator, Scaling};
use hone_eval::split::{LabeledPairs, LinkSplit, Negatives, Removal};
use hone_eval::task::{LinkConfig, Setting, link};
use hone_eval::tune::{CANDIDATES, TuneOptions};
use hone_eval::vectors::Save;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::json;

use crate::embed::parse;
use crate::error::{raise, refuse, unread};
use crate::graph::Graph;
use crate::work::run;

/// Name and one-line description of every contestant.
#[pyfunction]
pub(crate) fn methods() -> Vec<(String, String)> {
    registry()
}

/// A contestant: by name with options, or a name and a configuration (JSON).
fn method((name, config): (String, Option<String>), grid: bool) -> PyResult<Method> {
    match config {
        None => Method::parse_searched(&name, grid).map_err(raise),
        Some(config) => {
            let embedder = Embedder::Hone(Box::new(parse(&config)?));
            Ok(Method {
                name,
                candidates: vec![(String::new(), embedder)],
                score: None,
            })
        }
    }
}

/// Settings of the experiment, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    seeds: Vec<u64>,
    removed: f64,
    selection: f64,
    protocol: String,
    operators: Option<Vec<String>>,
    negatives: Option<String>,
    standardize: bool,
    grid: bool,
    cache: Option<PathBuf>,
    save: Option<PathBuf>,
}

impl Settings {
    /// What was not chosen is what suits the graph.
    fn link(&self, graph: &hone::graph::Graph) -> PyResult<LinkConfig> {
        let operators = match &self.operators {
            Some(texts) => {
                let parsed = texts.iter().map(|text| text.parse());
                parsed.collect::<hone::Result<_>>().map_err(raise)?
            }
            None if graph.is_directed() => PairOperator::usual_directed(),
            None => PairOperator::usual(),
        };
        if operators.is_empty() {
            return Err(refuse("operators", "there must be at least one"));
        }
        let scaling = match self.standardize {
            true => Scaling::Standardize,
            false => Scaling::Keep,
        };
        Ok(LinkConfig {
            removed: self.removed,
            protocol: self.protocol.parse().map_err(raise)?,
            selection: self.selection,
            operators,
            scaling,
            negatives: negatives(self.negatives.as_deref(), graph)?,
        })
    }
}

/// The pairs without an edge that were chosen, else those that suit the graph.
fn negatives(chosen: Option<&str>, graph: &hone::graph::Graph) -> PyResult<Negatives> {
    match chosen {
        Some(text) => text.parse().map_err(raise),
        None => Ok(Negatives::usual(graph)),
    }
}

/// Every outcome as a JSON object of its own, in a list; of a method that failed, the reason. The first error, if all failed.
#[pyfunction]
pub(crate) fn evaluate_link(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    contestants: Vec<(String, Option<String>)>,
    settings: Settings,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let graph = graph.get().inner.clone();
    let config = settings.link(&graph)?;
    let methods = contestants.into_iter().map(|c| method(c, settings.grid));
    let methods = methods.collect::<PyResult<Vec<_>>>()?;
    let cache = match &settings.cache {
        Some(folder) => Cache::open(folder).map_err(raise)?,
        None => Cache::none(),
    };
    let save = settings.save.as_deref();
    let save = save.map(|folder| Save::open(folder, Existing::Refuse));
    let save = save.transpose().map_err(raise)?;
    let rows = run(py, jobs, listener, move |progress| {
        progress.stage(
            "link prediction",
            (settings.seeds.len() * methods.len()) as u64,
        );
        let (mut rows, mut first, mut complete) = (Vec::new(), None, false);
        let setting = Setting {
            cache: &cache,
            save: save.as_ref().map(|save| (save, "graph")),
            progress,
        };
        for &seed in &settings.seeds {
            let cells = link(&graph, &methods, &config, seed, setting)?;
            for (method, cell) in methods.iter().zip(cells) {
                let cell = match cell {
                    Ok(cell) => cell,
                    Err(error) => {
                        let reason = error.to_string();
                        rows.push(
                            json!({ "method": method.name, "seed": seed, "failure": reason }),
                        );
                        first.get_or_insert(error);
                        continue;
                    }
                };
                complete = true;
                rows.extend(cell.outcomes.into_iter().map(|outcome| {
                    json!({ "method": method.name, "seed": seed, "operator": outcome.operator, "auc": outcome.auc,
                        "average_precision": outcome.average_precision, "validation": outcome.validation,
                        "candidate": outcome.candidate, "C": outcome.c, "seconds": cell.seconds, "notes": cell.notes })
                }));
            }
        }
        if let Some(error) = first.filter(|_| !complete) {
            return Err(error);
        }
        if let Some(save) = &save {
            save.finish()?;
        }
        Ok(rows)
    })?;
    Ok(serde_json::Value::Array(rows).to_string())
}

/// Pairs of node numbers with their labels.
type Pairs<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray1<bool>>);

fn pairs_to_python<'py>(py: Python<'py>, pairs: LabeledPairs) -> PyResult<Pairs<'py>> {
    let rows = pairs.pairs.len();
    let flat: Vec<i64> = pairs
        .pairs
        .iter()
        .flat_map(|&(u, v)| [i64::from(u), i64::from(v)])
        .collect();
    Ok((
        flat.into_pyarray(py).reshape([rows, 2])?,
        pairs.labels.into_pyarray(py),
    ))
}

/// A graph with edges removed; the pairs to choose and fit on; the pairs to test on.
#[pyfunction]
pub(crate) fn link_split<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    removed: f64,
    selection: f64,
    negatives: Option<&str>,
    seed: u64,
) -> PyResult<(Graph, Pairs<'py>, Pairs<'py>)> {
    if !(selection > 0.0 && selection < 1.0) {
        return Err(refuse(
            "selection",
            format!("is {selection}; must be between 0 and 1"),
        ));
    }
    let whole = graph.get().inner.clone();
    let negatives = self::negatives(negatives, &whole)?;
    let (train, select, test) = run(py, 0, None, move |_| {
        let removal = Removal {
            share: removed,
            negatives,
            seed,
            ..Removal::default()
        };
        let split = LinkSplit::of(whole, &removal)?;
        let (select, test) = split.pairs.divide(selection, seed);
        Ok((split.train.graph().clone(), select, test))
    })?;
    Ok((
        train.into(),
        pairs_to_python(py, select)?,
        pairs_to_python(py, test)?,
    ))
}

/// What is compared unless candidates are named.
#[pyfunction]
pub(crate) fn tuned_candidates() -> Vec<&'static str> {
    CANDIDATES.to_vec()
}

/// Candidates compared on a graph, as JSON; `options` are JSON too, `labels` pairs of a node number and its labels.
#[pyfunction]
pub(crate) fn tune(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    options: &str,
    labels: Option<Vec<(u32, Vec<String>)>>,
    seconds: Option<f64>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options: TuneOptions = serde_json::from_str(options).map_err(unread("options"))?;
    let time = seconds.map(Duration::try_from_secs_f64).transpose();
    let time = time.map_err(|error| refuse("time_limit", error.to_string()))?;
    let labels = labels.map(|rows| {
        let rows = rows.iter();
        let rows = rows.map(|(node, labels)| (*node, labels.iter().map(String::as_str).collect()));
        NodeLabels::new(&rows.collect::<Vec<(u32, Vec<&str>)>>())
    });
    let labels = labels.transpose();
    let labels = labels.map_err(|message| refuse("labels", message))?;
    let graph = graph.get().inner.clone();
    let tuned = run(py, jobs, listener, move |progress| {
        options.run(&graph, labels.as_ref(), time, progress)
    })?;
    serde_json::to_string(&tuned).map_err(|error| refuse("options", error.to_string()))
}
