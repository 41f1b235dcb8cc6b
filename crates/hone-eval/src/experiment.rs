//! From graphs, methods and seeds to a report: the loops around the tasks.

use std::ops::Range;

use hone::graph::Graph;
use hone::{Error, Progress, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::compare::Scores;
use crate::labels::NodeLabels;
use crate::method::Method;
use crate::pairs::PairOperator;
use crate::report::{Failure, Report, SEEDS, Table};
use crate::task::{
    LinkCell, LinkConfig, NodeScore, NodesCell, NodesConfig, Outcome, Setting, link, nodes,
};
use crate::vectors::Save;

/// A graph and the name it has in tables.
#[derive(Debug, Clone)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The graph.
    pub graph: Graph,
}

/// What every experiment needs.
pub struct Bench<'a> {
    /// The methods.
    pub methods: &'a [Method],
    /// The random seeds: each is a split, and what methods draw.
    pub seeds: Range<u64>,
    /// Whether options are searched on one split per graph, whose seed comes just before the first and which no table shows, instead
    /// of on every split. A grid costs one embedding per candidate and split: 250 trainings of node2vec for 25 pairs (p, q) and ten
    /// seeds. The paper, and node2vec before it, search once per graph. Each split of the tables then chooses among the candidates that
    /// won there.
    pub search_once: bool,
    /// Finished cells.
    pub cache: &'a Cache,
    /// Where vectors are saved, if requested.
    pub save: Option<&'a Save>,
    /// Receives progress.
    pub progress: &'a dyn Progress,
}

/// The cells of a graph, `[seed][method]`; none where the method failed.
type Cells<T> = Vec<Vec<Option<T>>>;

/// All cells of a link-prediction experiment.
#[derive(Debug, Clone)]
pub struct LinkResults {
    methods: Vec<String>,
    graphs: Vec<String>,
    first_seed: u64,
    cells: Vec<Cells<LinkCell>>,
    notes: Vec<String>,
    /// Methods that failed.
    pub failures: Vec<Failure>,
    /// Options of methods that had several to choose from.
    searched: Vec<String>,
}

impl LinkResults {
    /// A value of the outcome that `pick` takes from every cell, and what validation chose for it.
    fn scores<'a>(
        &'a self,
        pick: impl Fn(&'a LinkCell) -> Option<&'a Outcome>,
        value: impl Fn(&Outcome) -> (f64, String),
    ) -> Scores {
        Scores::of_cells(&self.methods, &self.graphs, |m, g| {
            of_method(&self.cells[g], m, |cell| pick(cell).map(&value))
        })
    }

    /// The options that were chosen, where there were several.
    fn candidate(&self, outcome: &Outcome) -> String {
        match self.searched.contains(&outcome.candidate) {
            true => outcome.candidate.clone(),
            false => String::new(),
        }
    }

    /// Every result, with the options and the penalty that validation chose.
    pub fn runs(&self) -> Vec<Value> {
        let mut runs = Vec::new();
        for (graph, cells) in self.graphs.iter().zip(&self.cells) {
            runs.extend(runs_of(cells, self.first_seed, &self.methods, |cell| {
                json!({"graph": graph, "embedding seconds": cell.seconds, "results": cell.outcomes})
            }));
        }
        runs
    }

    /// AUC under one operator.
    pub fn auc(&self, operator: &PairOperator) -> Scores {
        self.scores(
            |cell| cell.outcome(operator),
            |outcome| (outcome.auc, self.candidate(outcome)),
        )
    }

    /// Average precision under one operator.
    pub fn average_precision(&self, operator: &PairOperator) -> Scores {
        self.scores(
            |cell| cell.outcome(operator),
            |outcome| (outcome.average_precision, self.candidate(outcome)),
        )
    }

    /// AUC under the operator that validation chose, seed by seed.
    pub fn validated(&self) -> Scores {
        self.scores(LinkCell::validated, |outcome| {
            let operator = outcome.operator.as_ref().map(ToString::to_string);
            let choice = format!(
                "{} {}",
                operator.unwrap_or_default(),
                self.candidate(outcome)
            );
            (outcome.auc, choice.trim().to_string())
        })
    }
}

impl Bench<'_> {
    fn names(&self) -> Vec<String> {
        self.methods.iter().map(|m| m.name.clone()).collect()
    }

    /// Adds notes for the reader of the results, each once, and returns them.
    fn tell<'b>(&self, notes: impl Iterator<Item = &'b String>) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for note in notes {
            if !told.contains(note) {
                self.progress.note(&note.into());
                told.push(note.clone());
            }
        }
        told
    }

    /// The cells of all seeds of a graph. `run` gives those of some methods under a seed, `winners` the candidates that won in a cell.
    fn cells<T>(
        &self,
        graph: &str,
        failures: &mut Failures,
        run: impl Fn(&[Method], u64, Setting<'_>) -> Result<Vec<Result<T>>>,
        winners: impl Fn(&T) -> Vec<String>,
    ) -> Result<Cells<T>> {
        let several = |method: &&Method| method.candidates.len() > 1;
        let searched: Vec<Method> = match self.search_once {
            true => self.methods.iter().filter(several).cloned().collect(),
            false => Vec::new(),
        };
        let seeds = self.seeds.end.saturating_sub(self.seeds.start);
        let units = seeds * self.methods.len() as u64 + searched.len() as u64;
        self.progress.stage(graph, units);
        let mut setting = Setting::new(self.cache, self.progress);
        let mut methods = self.methods.to_vec();
        if !searched.is_empty() {
            let cells = run(&searched, self.search_seed(), setting)?;
            for (method, cell) in searched.iter().zip(cells) {
                let won = cell.as_ref().map(&winners).unwrap_or_default();
                let narrowed = methods.iter_mut().find(|other| *other == method);
                // A method that failed keeps all its candidates.
                if let Some(method) = narrowed
                    && !won.is_empty()
                {
                    method
                        .candidates
                        .retain(|candidate| won.contains(&candidate.0));
                }
            }
        }
        setting.save = self.save.map(|save| (save, graph));
        let of_seed = |seed| {
            let cells = run(&methods, seed, setting).map_err(|error| about(graph, error))?;
            let kept = |(method, cell): (&Method, Result<T>)| {
                cell.map_err(|error| failures.add(&method.name, graph, seed, error))
                    .ok()
            };
            Ok(self.methods.iter().zip(cells).map(kept).collect())
        };
        self.seeds.clone().map(of_seed).collect()
    }

    /// The split that options are searched on once: the one before those that are measured, or after them where there is none.
    fn search_seed(&self) -> u64 {
        let before = self.seeds.start.checked_sub(1);
        before.unwrap_or(self.seeds.end)
    }

    fn settings(&self, more: Vec<(&str, String)>) -> Vec<(String, String)> {
        let (first, last) = (self.seeds.start, self.seeds.end.saturating_sub(1));
        let seeds = match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        };
        let single = |method: &Method| method.candidates.len() < 2;
        let searched = match self.search_once {
            _ if self.methods.iter().all(single) => "none".to_string(),
            false => "on every split".to_string(),
            true => {
                let seed = self.search_seed();
                format!("once per graph, on the split of seed {seed}")
            }
        };
        let methods: Vec<String> = self.methods.iter().map(Method::describe).collect();
        let own = [
            ("methods", methods.join(" ")),
            (SEEDS, seeds),
            ("options searched", searched),
            ("version", env!("CARGO_PKG_VERSION").to_string()),
        ];
        let all = own.into_iter().chain(more);
        all.map(|(key, value)| (key.to_string(), value)).collect()
    }

    /// Link prediction on every graph and seed.
    pub fn link(&self, graphs: &[Named], config: &LinkConfig) -> Result<LinkResults> {
        let (mut cells, mut failures) = (Vec::new(), Failures::default());
        for named in graphs {
            let run = |methods: &[Method], seed, setting: Setting<'_>| {
                link(&named.graph, methods, config, seed, setting)
            };
            cells.push(self.cells(&named.name, &mut failures, run, LinkCell::winners)?);
        }
        let all = || cells.iter().flatten().flatten().flatten();
        let failures = failures.unless_nothing_is_left(all().count())?;
        let failed = failure_notes(&failures);
        let notes = self.tell(failed.iter().chain(all().flat_map(|cell| &cell.notes)));
        let several = self.methods.iter().map(|method| &method.candidates);
        let searched = several.filter(|candidates| candidates.len() > 1).flatten();
        Ok(LinkResults {
            methods: self.names(),
            graphs: graphs.iter().map(|g| g.name.clone()).collect(),
            first_seed: self.seeds.start,
            searched: searched.map(|candidate| candidate.0.clone()).collect(),
            cells,
            notes,
            failures,
        })
    }

    /// Link prediction as a report: AUC and average precision per operator, gains, significance.
    pub fn link_report(&self, graphs: &[Named], config: &LinkConfig) -> Result<Report> {
        let results = self.link(graphs, config)?;
        let (mut tables, mut plots) = (Vec::new(), Vec::new());
        for operator in &config.operators {
            let (auc, title) = (results.auc(operator), format!("AUC, {operator} operator"));
            tables.push(auc.table(&title));
            plots.push(auc.plot(&title, ["", "AUC"]));
            let precision = results.average_precision(operator);
            tables.push(precision.table(&format!("Average precision, {operator} operator")));
        }
        let (last, what) = if config.operators.len() > 1 {
            let best = results.validated();
            tables.push(best.table("AUC, operator chosen by validation"));
            (best, "operator chosen by validation".to_string())
        } else {
            let operator = &config.operators[0];
            (results.auc(operator), format!("{operator} operator"))
        };
        let failed = failure_notes(&results.failures);
        let others = tables[1..].iter_mut();
        others.for_each(|table| table.notes.extend(failed.clone()));
        tables[0].notes.extend(results.notes.clone());
        tables.extend(self.comparisons(&last, &what));
        Ok(Report {
            title: "Link prediction".into(),
            settings: self.link_settings(config),
            tables,
            plots,
            runs: results.runs(),
            failures: results.failures,
        })
    }

    /// What a link-prediction experiment was run with.
    pub fn link_settings(&self, config: &LinkConfig) -> Vec<(String, String)> {
        self.settings(vec![
            ("protocol", name_of(&config.protocol)),
            ("removed edges", config.removed.to_string()),
            ("share of pairs for selection", config.selection.to_string()),
            ("scaling of features", name_of(&config.scaling)),
            ("pairs without an edge", name_of(&config.negatives)),
        ])
    }

    /// Gains and p-values of HONE's variants over all else; of all over all without HONE.
    pub fn comparisons(&self, scores: &Scores, what: &str) -> Vec<Table> {
        let title = format!("Mean gain in AUC of the row over the column, {what}");
        let all: Vec<usize> = (0..scores.methods.len()).collect();
        let (hone, rest) = own_and_others(scores);
        if !hone.is_empty() && !rest.is_empty() {
            let significance = scores.significance(&format!("AUC, {what}"), &hone, &rest);
            vec![scores.gains(&title, &hone, &rest), significance]
        } else if all.len() > 1 {
            vec![scores.gains(&title, &all, &all)]
        } else {
            Vec::new()
        }
    }

    /// Node labels: one table per graph and measure, one column per training share.
    pub fn nodes_report(
        &self,
        named: &Named,
        labels: &NodeLabels,
        config: &NodesConfig,
        title: &str,
    ) -> Result<Report> {
        let name = &named.name;
        let run = |methods: &[Method], seed, setting: Setting<'_>| {
            nodes(&named.graph, labels, methods, config, seed, setting)
        };
        let mut failures = Failures::default();
        let cells = self.cells(name, &mut failures, run, NodesCell::winners)?;
        let all = || cells.iter().flatten().flatten();
        let failures = failures.unless_nothing_is_left(all().count())?;
        let (methods, shares) = (self.names(), config.shares.iter());
        let columns: Vec<String> = shares
            .map(|share| format!("{} %", (1e8 * share).round() / 1e6))
            .collect();
        let scores = |value: fn(&NodeScore) -> f64| {
            Scores::of_cells(&methods, &columns, |m, share| {
                of_method(&cells, m, |cell| {
                    let score = &cell.scores[share];
                    let several = self.methods[m].candidates.len() > 1;
                    let chosen = several.then(|| score.candidate.clone());
                    Some((value(score), chosen.unwrap_or_default()))
                })
            })
        };
        let first = match labels.is_multi() {
            true => "micro F1",
            false => "accuracy (micro F1)",
        };
        let micro = scores(|score| score.micro_f1);
        let macro_f1 = scores(|score| score.macro_f1);
        let micro_title = format!("{name}: {first}");
        let mut tables = vec![
            micro.unranked(&micro_title),
            macro_f1.unranked(&format!("{name}: macro F1")),
        ];
        if config.cluster {
            let nmi = Scores::of_cells(&methods, &["NMI".to_string()], |m, _| {
                of_method(&cells, m, |cell| Some((cell.nmi?, String::new())))
            });
            tables.push(nmi.unranked(&format!("{name}: NMI of k-means clusters and labels")));
        }
        let (own, others) = own_and_others(&micro);
        let all_methods: Vec<usize> = (0..methods.len()).collect();
        let (own, others) = match own.is_empty() || others.is_empty() {
            true => (&all_methods, &all_methods),
            false => (&own, &others),
        };
        let gains = format!("{name}: gain in {first}");
        let gains = (methods.len() > 1).then(|| micro.gains_of_splits(&gains, own, others));
        let mut notes = Vec::new();
        if labels.is_multi() {
            let count: usize = labels.of.iter().map(Vec::len).sum();
            notes.push(format!(
                "The classifier is given the number of labels of each node ({:.1} on average), and ranks labels.",
                count as f64 / labels.nodes.len().max(1) as f64
            ));
        }
        match labels.unknown {
            0 => (),
            1 => notes.push("1 labelled node is not in the graph and was left out.".to_string()),
            many => notes.push(format!(
                "{many} labelled nodes are not in the graph and were left out."
            )),
        }
        let (labelled, total) = (labels.nodes.len(), named.graph.nodes());
        if 2 * labelled < total {
            notes.push(format!(
                "Only {labelled} of {total} nodes have a label; the others are not used. If you expected more labels, check that \
                 the ids match."
            ));
        }
        let failed = failure_notes(&failures);
        notes.extend(self.tell(failed.iter().chain(all().flat_map(|cell| &cell.notes))));
        tables
            .iter_mut()
            .for_each(|table| table.notes.extend(notes.clone()));
        tables.extend(gains);
        let penalty = config.c.map(|c| c.to_string());
        let penalty = penalty.unwrap_or_else(|| "chosen by validation".to_string());
        let axes = ["nodes for training", first];
        let several = columns.len() > 1;
        let plots = several.then(|| micro.plot(&micro_title, axes));
        let runs = runs_of(
            &cells,
            self.seeds.start,
            &methods,
            |cell| json!({"graph": name, "nmi": cell.nmi, "training shares": config.shares, "results": cell.scores}),
        );
        Ok(Report {
            title: title.to_string(),
            settings: self.settings(vec![
                ("penalty C", penalty),
                ("labels", labels.labels().to_string()),
            ]),
            tables,
            plots: plots.into_iter().collect(),
            runs: runs.collect(),
            failures,
        })
    }
}

/// HONE's variants, and the other methods.
fn own_and_others(scores: &Scores) -> (Vec<usize>, Vec<usize>) {
    let all = 0..scores.methods.len();
    all.partition(|&m| scores.methods[m].starts_with("hone"))
}

/// Methods that failed, and the first error.
#[derive(Default)]
struct Failures {
    all: Vec<Failure>,
    first: Option<Error>,
}

impl Failures {
    fn add(&mut self, method: &str, graph: &str, seed: u64, error: Error) {
        self.all.push(Failure {
            method: method.to_string(),
            graph: graph.to_string(),
            seed,
            reason: error.to_string(),
        });
        self.first.get_or_insert(about(graph, error));
    }

    /// What failed, if some cells are left, else the first error.
    fn unless_nothing_is_left(self, left: usize) -> Result<Vec<Failure>> {
        match self.first {
            Some(error) if left == 0 => Err(error),
            _ => Ok(self.all),
        }
    }
}

/// Why cells are missing, a note per graph and method.
pub fn failure_notes(failures: &[Failure]) -> Vec<String> {
    let mut sorted: Vec<&Failure> = failures.iter().collect();
    sorted.sort_by_key(|failure| (&failure.graph, &failure.method, failure.seed));
    sorted.dedup_by(|a, b| (&a.graph, &a.method) == (&b.graph, &b.method));
    sorted.into_iter().map(Failure::note).collect()
}

/// A value of each cell of a method, seed by seed; none if it failed under one of them.
fn of_method<'a, T, V>(
    cells: &'a Cells<T>,
    method: usize,
    value: impl Fn(&'a T) -> Option<V>,
) -> Vec<V> {
    let all: Option<Vec<&T>> = cells.iter().map(|cells| cells[method].as_ref()).collect();
    let values = all.unwrap_or_default().into_iter().map(value);
    values.collect::<Option<_>>().unwrap_or_default()
}

/// The cells as objects with their method and seed.
fn runs_of<'a, T>(
    cells: &'a Cells<T>,
    first_seed: u64,
    methods: &'a [String],
    value: impl Fn(&'a T) -> Value + Copy,
) -> impl Iterator<Item = Value> {
    (first_seed..).zip(cells).flat_map(move |(seed, cells)| {
        methods.iter().zip(cells).filter_map(move |(method, cell)| {
            let mut run = value(cell.as_ref()?);
            run["method"] = json!(method);
            run["seed"] = json!(seed);
            Some(run)
        })
    })
}

/// The name a value has in files.
fn name_of(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    let name = value.as_ref().and_then(Value::as_str);
    name.unwrap_or_default().to_string()
}

/// An error of settings that one graph of several does not bear.
fn about(graph: &str, error: Error) -> Error {
    match error {
        Error::Config { field, message } => {
            Error::config(field, message.and(format!(" (graph {graph})")))
        }
        other => other,
    }
}
