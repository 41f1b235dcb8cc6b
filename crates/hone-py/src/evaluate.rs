//! Link prediction and node labels by the experiments' own code, splits for anyone's, and settings that suit a graph.

use std::path::PathBuf;
use std::time::Duration;

use hone::Progress;
use hone::output::Existing;
use hone_eval::cache::Cache;
use hone_eval::labels::NodeLabels;
use hone_eval::method::{Embedder, Method, registry};
use hone_eval::pairs::{PairOperator, Scaling};
use hone_eval::split::{LabeledPairs, LinkSplit, Negatives, Removal};
use hone_eval::task::{
    LinkCell, LinkConfig, NodeScore, NodesCell, NodesConfig, Outcome, Setting, link, nodes,
};
use hone_eval::tune::{CANDIDATES, TuneOptions};
use hone_eval::vectors::Save;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::embed::parse;
use crate::error::{Parameters, raise, refuse, unread};
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
    fn scaling(&self) -> Scaling {
        match self.standardize {
            true => Scaling::Standardize,
            false => Scaling::Keep,
        }
    }

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
        Ok(LinkConfig {
            removed: self.removed,
            protocol: self.protocol.parse().map_err(raise)?,
            selection: self.selection,
            operators,
            scaling: self.scaling(),
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
    let contest = Contest::new(contestants, settings)?;
    run(py, jobs, listener, move |progress| {
        contest.run("link prediction", progress, |seed, setting| {
            let cells = link(&graph, &contest.methods, &config, seed, setting)?;
            let rows = |cell: LinkCell| {
                let outcomes = cell.outcomes.into_iter();
                let row = |outcome: Outcome| {
                    json!({ "operator": outcome.operator, "auc": outcome.auc,
                        "average_precision": outcome.average_precision, "validation": outcome.validation,
                        "candidate": outcome.candidate, "C": outcome.c, "seconds": cell.seconds, "notes": cell.notes })
                };
                outcomes.map(row).collect()
            };
            Ok(cells.into_iter().map(|cell| cell.map(rows)).collect())
        })
    })
}

/// The same for node labels, pairs of a node number and its labels.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place")]
pub(crate) fn evaluate_labels(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    labels: Vec<(u32, Vec<String>)>,
    contestants: Vec<(String, Option<String>)>,
    shares: Vec<f64>,
    settings: Settings,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (graph, labels) = (graph.get().inner.clone(), node_labels(&labels)?);
    let config = NodesConfig {
        shares,
        scaling: settings.scaling(),
        ..NodesConfig::classification()
    };
    let contest = Contest::new(contestants, settings)?;
    run(py, jobs, listener, move |progress| {
        contest.run("node labels", progress, |seed, setting| {
            let cells = nodes(&graph, &labels, &contest.methods, &config, seed, setting)?;
            let rows = |cell: NodesCell| {
                let scores = config.shares.iter().zip(cell.scores);
                let row = |(share, score): (&f64, NodeScore)| {
                    json!({ "share": share, "micro_f1": score.micro_f1, "macro_f1": score.macro_f1,
                        "accuracy": score.accuracy, "candidate": score.candidate, "C": score.c, "seconds": cell.seconds,
                        "notes": cell.notes })
                };
                scores.map(row).collect()
            };
            Ok(cells.into_iter().map(|cell| cell.map(rows)).collect())
        })
    })
}

/// Methods that are compared, and where what they did is kept.
struct Contest {
    methods: Vec<Method>,
    seeds: Vec<u64>,
    cache: Cache,
    save: Option<Save>,
}

/// What one method did under one seed, as rows.
type Outcomes = hone::Result<Vec<Value>>;

impl Contest {
    fn new(contestants: Vec<(String, Option<String>)>, settings: Settings) -> PyResult<Contest> {
        let methods = contestants.into_iter().map(|c| method(c, settings.grid));
        let save = settings.save.as_deref();
        let save = save.map(|folder| Save::open(folder, Existing::Refuse));
        Ok(Contest {
            methods: methods.collect::<PyResult<Vec<_>>>()?,
            cache: match &settings.cache {
                Some(folder) => Cache::open(folder).map_err(raise)?,
                None => Cache::none(),
            },
            save: save.transpose().map_err(raise)?,
            seeds: settings.seeds,
        })
    }

    /// The rows of all methods under all seeds, each with its method and seed; `cells` has those of one seed.
    fn run(
        &self,
        stage: &str,
        progress: &dyn Progress,
        cells: impl Fn(u64, Setting<'_>) -> hone::Result<Vec<Outcomes>>,
    ) -> hone::Result<String> {
        progress.stage(stage, (self.seeds.len() * self.methods.len()) as u64);
        let setting = Setting {
            cache: &self.cache,
            save: self.save.as_ref().map(|save| (save, "graph")),
            progress,
            partial: false,
        };
        let (mut rows, mut first, mut complete) = (Vec::new(), None, false);
        for &seed in &self.seeds {
            for (method, cell) in self.methods.iter().zip(cells(seed, setting)?) {
                let found = match cell {
                    Ok(found) => {
                        complete = true;
                        found
                    }
                    Err(error) => {
                        let failure = json!({ "failure": error.say(&Parameters) });
                        first.get_or_insert(error);
                        vec![failure]
                    }
                };
                for mut row in found {
                    row["method"] = json!(method.name);
                    row["seed"] = json!(seed);
                    rows.push(row);
                }
            }
        }
        if let Some(error) = first.filter(|_| !complete) {
            return Err(error);
        }
        if let Some(save) = &self.save {
            save.finish()?;
        }
        Ok(Value::Array(rows).to_string())
    }
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

fn node_labels(rows: &[(u32, Vec<String>)]) -> PyResult<NodeLabels> {
    let rows = rows.iter();
    let rows = rows.map(|(node, labels)| (*node, labels.iter().map(String::as_str).collect()));
    NodeLabels::new(&rows.collect::<Vec<(u32, Vec<&str>)>>())
        .map_err(|message| refuse("labels", message))
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
    let labels = labels.as_deref().map(node_labels).transpose()?;
    let graph = graph.get().inner.clone();
    let tuned = run(py, jobs, listener, move |progress| {
        options.run(&graph, labels.as_ref(), time, progress)
    })?;
    serde_json::to_string(&tuned.said(&Parameters))
        .map_err(|error| refuse("options", error.to_string()))
}
