//! From graphs, methods and seeds to a report: the loops around the tasks.

use std::ops::Range;

use hone::graph::Graph;
use hone::{Error, Progress, Result};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cache::Cache;
use crate::choices;
use crate::compare::Scores;
use crate::labels::NodeLabels;
use crate::link_results::LinkResults;
use crate::method::Method;
use crate::report::{Best, Failure, Plot, Report, SEEDS, Style, Table};
use crate::save::Save;
use crate::search::Search;
use crate::stats::Summary;
use crate::task::{
    LinkCell, LinkConfig, NodeScore, NodesCell, NodesConfig, Setting, Symmetric, link, nodes,
    structure,
};

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
    /// On which splits options are searched.
    pub search: Search,
    /// Finished cells.
    pub cache: &'a Cache,
    /// Where vectors are saved, if requested.
    pub save: Option<&'a Save>,
    /// Receives progress.
    pub progress: &'a dyn Progress,
}

impl Bench<'_> {
    fn names(&self) -> Vec<String> {
        self.methods.iter().map(|m| m.name.clone()).collect()
    }

    fn setting<'b>(&'b self, graph: &'b str) -> Setting<'b> {
        Setting {
            cache: self.cache,
            save: self.save.map(|save| (save, graph)),
            progress: self.progress,
        }
    }

    /// The setting of a search whose split is in no table: its vectors are not saved.
    fn aside(&self) -> Setting<'_> {
        Setting {
            cache: self.cache,
            save: None,
            progress: self.progress,
        }
    }

    /// Adds a note for the reader of the results, once, and returns it.
    fn tell<'b>(&self, notes: impl Iterator<Item = &'b String>) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for note in notes {
            if !told.contains(note) {
                self.progress.note(note);
                told.push(note.clone());
            }
        }
        told
    }

    /// The cells of all seeds of a graph, `cells[seed][method]`; none where the method failed.
    fn cells<T>(
        &self,
        graph: &str,
        failed: &mut Failed,
        run: impl Fn(u64) -> Result<Vec<Result<T>>>,
    ) -> Result<Vec<Vec<Option<T>>>> {
        let mut kept = |seed: u64, method: &Method, cell: Result<T>| {
            let error = match cell {
                Ok(cell) => return Some(cell),
                Err(error) => error,
            };
            failed.failures.push(Failure {
                method: method.name.clone(),
                graph: graph.to_string(),
                seed,
                reason: error.to_string(),
            });
            failed.first.get_or_insert(about(graph, error));
            None
        };
        let mut of_seed = |seed: u64| {
            let cells = run(seed).map_err(|error| about(graph, error))?;
            let cells = self.methods.iter().zip(cells);
            Ok(cells
                .map(|(method, cell)| kept(seed, method, cell))
                .collect())
        };
        self.seeds.clone().map(&mut of_seed).collect()
    }

    /// A stage whose units are cells.
    fn stage(&self, name: &str) {
        let cells = self.seeds.end.saturating_sub(self.seeds.start) * self.methods.len() as u64;
        let searched = match self.search {
            Search::Every => 0,
            Search::Once => self
                .methods
                .iter()
                .filter(|method| method.candidates().len() > 1)
                .count() as u64,
        };
        self.progress.stage(name, cells + searched);
    }

    fn seed_names(&self) -> String {
        let (first, last) = (self.seeds.start, self.seeds.end.saturating_sub(1));
        if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        }
    }

    fn searched(&self) -> String {
        match self.search {
            _ if self
                .methods
                .iter()
                .all(|method| method.candidates().len() < 2) =>
            {
                "none".to_string()
            }
            Search::Every => "on every split".to_string(),
            Search::Once => format!(
                "once per graph, on the split of seed {}",
                self.seeds.start.saturating_sub(1)
            ),
        }
    }

    fn settings(&self, more: Vec<(&str, String)>) -> Vec<(String, String)> {
        let mut all = vec![
            (
                "methods".to_string(),
                self.methods
                    .iter()
                    .map(Method::describe)
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            (SEEDS.to_string(), self.seed_names()),
            ("options searched".to_string(), self.searched()),
            ("version".to_string(), env!("CARGO_PKG_VERSION").to_string()),
        ];
        all.extend(more.into_iter().map(|(k, v)| (k.to_string(), v)));
        all
    }

    /// Link prediction on every graph and seed.
    pub fn link(&self, graphs: &[Named], config: &LinkConfig) -> Result<LinkResults> {
        let (mut cells, mut failed) = (Vec::new(), Failed::default());
        for named in graphs {
            self.stage(&named.name);
            let methods = self
                .search
                .narrow(self.methods, self.seeds.start, |several, seed| {
                    let cells = link(&named.graph, several, config, seed, self.aside())?;
                    Ok(winners(&cells, LinkCell::winners))
                })?;
            let run = |seed| {
                link(
                    &named.graph,
                    &methods,
                    config,
                    seed,
                    self.setting(&named.name),
                )
            };
            cells.push(self.cells(&named.name, &mut failed, run)?);
        }
        let all = || cells.iter().flatten().flatten().flatten();
        let failures = failed.unless_nothing_is_left(all().count())?;
        let failure_notes = failure_notes(&failures);
        let notes = self.tell(
            failure_notes
                .iter()
                .chain(all().flat_map(|cell| &cell.notes)),
        );
        let graphs = graphs.iter().map(|g| g.name.clone()).collect();
        let several = self
            .methods
            .iter()
            .map(Method::candidates)
            .filter(|candidates| candidates.len() > 1);
        let searched = several
            .flatten()
            .map(|candidate| candidate.0.clone())
            .collect();
        let (methods, first_seed) = (self.names(), self.seeds.start);
        Ok(LinkResults {
            methods,
            graphs,
            first_seed,
            cells,
            notes,
            failures,
            searched,
        })
    }

    /// Link prediction as a report: AUC and average precision per operator, gains, significance.
    pub fn link_report(&self, graphs: &[Named], config: &LinkConfig) -> Result<Report> {
        let results = self.link(graphs, config)?;
        let mut tables = Vec::new();
        let mut plots = Vec::new();
        for operator in &config.operators {
            let auc = results.auc(operator);
            tables.push(auc.table(&format!("AUC, {operator} operator")));
            plots.push(plot_scores(&auc, &format!("AUC, {operator} operator")));
            tables.push(
                results
                    .average_precision(operator)
                    .table(&format!("Average precision, {operator} operator")),
            );
        }
        let (last, what) = if config.operators.len() > 1 {
            let best = results.validated();
            tables.push(best.table("AUC, operator chosen by validation"));
            (best, "operator chosen by validation".to_string())
        } else {
            (
                results.auc(&config.operators[0]),
                format!("{} operator", config.operators[0]),
            )
        };
        let failed = failure_notes(&results.failures);
        let others = tables[1..].iter_mut();
        others.for_each(|table| table.notes.extend(failed.clone()));
        tables[0].notes.extend(results.notes.clone());
        tables.extend(self.comparisons(&last, &what));
        let settings = self.link_settings(config);
        Ok(Report {
            title: "Link prediction".into(),
            settings,
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
        let (hone, rest): (Vec<usize>, Vec<usize>) =
            (0..scores.methods.len()).partition(|&m| scores.methods[m].starts_with("hone"));
        match (hone.is_empty(), rest.is_empty()) {
            (false, false) => {
                vec![
                    scores.gains(&title, &hone, &rest),
                    scores.significance(&format!("AUC, {what}"), &hone, &rest),
                ]
            }
            _ if scores.methods.len() > 1 => {
                let all: Vec<usize> = (0..scores.methods.len()).collect();
                vec![scores.gains(&title, &all, &all)]
            }
            _ => Vec::new(),
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
        self.stage(&named.name);
        let methods = self
            .search
            .narrow(self.methods, self.seeds.start, |several, seed| {
                let cells = nodes(&named.graph, labels, several, config, seed, self.aside())?;
                Ok(winners(&cells, NodesCell::winners))
            })?;
        let run = |seed| {
            nodes(
                &named.graph,
                labels,
                &methods,
                config,
                seed,
                self.setting(&named.name),
            )
        };
        let mut failed = Failed::default();
        let cells = self.cells(&named.name, &mut failed, run)?;
        let all = || cells.iter().flatten().flatten();
        let failures = failed.unless_nothing_is_left(all().count())?;
        let columns: Vec<String> = config
            .shares
            .iter()
            .map(|s| format!("{} %", (1e8 * s).round() / 1e6))
            .collect();
        let table = |what: &str, value: &dyn Fn(&NodeScore) -> f64| {
            let mut table = Table::new(format!("{}: {what}", named.name), columns.clone());
            for (m, method) in self.methods.iter().enumerate() {
                let cell = |share: usize| {
                    let values = of_method(&cells, m).map(|cell| value(&cell.scores[share]));
                    Summary::of(&values.collect::<Vec<_>>())
                };
                table.rows.push((
                    method.name.clone(),
                    (0..config.shares.len()).map(cell).collect(),
                ));
            }
            table.chosen = self.chosen_options(&cells);
            table
        };
        let first = if labels.is_multi() {
            "micro F1"
        } else {
            "accuracy (micro F1)"
        };
        let mut tables = vec![
            table(first, &|score| score.micro_f1),
            table("macro F1", &|score| score.macro_f1),
        ];
        if config.cluster {
            tables.push(self.clusters(&named.name, &cells));
        }
        if labels.unknown > 0 {
            let (count, (are, were)) = (
                labels.unknown,
                if labels.unknown == 1 {
                    ("node is", "was")
                } else {
                    ("nodes are", "were")
                },
            );
            let note = format!("{count} labelled {are} not in the graph and {were} left out.");
            tables.iter_mut().for_each(|t| t.notes.push(note.clone()));
        }
        let (labelled, total) = (labels.nodes.len(), named.graph.nodes());
        if 2 * labelled < total {
            let note = format!(
                "Only {labelled} of {total} nodes have a label; the others are used neither to train nor to test. If more \
                 should have one, check that the labels belong to this graph."
            );
            tables.iter_mut().for_each(|t| t.notes.push(note.clone()));
        }
        let failure_notes = failure_notes(&failures);
        let notes = self.tell(
            failure_notes
                .iter()
                .chain(all().flat_map(|cell| &cell.notes)),
        );
        tables
            .iter_mut()
            .for_each(|t| t.notes.extend(notes.clone()));
        let penalty = config
            .c
            .map_or("chosen by validation".to_string(), |c| c.to_string());
        let settings = self.settings(vec![
            ("penalty C", penalty),
            ("labels", labels.labels().to_string()),
        ]);
        let plots = if columns.len() > 1 {
            vec![plot_table(&tables[0], first)]
        } else {
            Vec::new()
        };
        let runs = self.node_runs(&named.name, &config.shares, &cells);
        Ok(Report {
            title: title.to_string(),
            settings,
            tables,
            plots,
            runs,
            failures,
        })
    }

    /// What validation chose for methods of several candidates, a text per training share.
    fn chosen_options(&self, cells: &[Vec<Option<NodesCell>>]) -> Vec<(String, Vec<String>)> {
        let several = self
            .methods
            .iter()
            .enumerate()
            .filter(|(_, method)| method.candidates().len() > 1);
        let of = |(m, method): (usize, &Method)| {
            let shares = of_method(cells, m).map(|cell| cell.scores.len()).max();
            let shares = shares.unwrap_or(0);
            let at = |k: usize| {
                of_method(cells, m)
                    .map(|cell| cell.scores[k].candidate.as_str())
                    .collect::<Vec<_>>()
            };
            (
                method.name.clone(),
                (0..shares).map(|k| choices::in_words(&at(k))).collect(),
            )
        };
        several.map(of).collect()
    }

    fn clusters(&self, graph: &str, cells: &[Vec<Option<NodesCell>>]) -> Table {
        let mut table = Table::new(
            format!("{graph}: NMI of k-means clusters and labels"),
            vec!["NMI".into()],
        );
        for (m, method) in self.methods.iter().enumerate() {
            let values: Vec<f64> = of_method(cells, m).filter_map(|cell| cell.nmi).collect();
            table
                .rows
                .push((method.name.clone(), vec![Summary::of(&values)]));
        }
        table
    }

    fn node_runs(
        &self,
        graph: &str,
        shares: &[f64],
        cells: &[Vec<Option<NodesCell>>],
    ) -> Vec<Value> {
        let mut runs = Vec::new();
        for (seed, cells) in self.seeds.clone().zip(cells) {
            for (method, cell) in self.methods.iter().zip(cells) {
                let Some(cell) = cell else { continue };
                runs.push(
                    json!({"graph": graph, "method": method.name, "seed": seed, "nmi": cell.nmi,
                    "training shares": shares, "results": cell.scores}),
                );
            }
        }
        runs
    }

    /// Structural equivalence on graphs whose symmetries are known.
    pub fn structure_report(&self, graphs: &[Symmetric]) -> Result<Report> {
        let mut plain = Table::new(
            "Distance between equivalent nodes over that between any nodes",
            graphs.iter().map(|g| g.name.to_string()).collect(),
        );
        (plain.best, plain.style) = (Best::Lowest, Style::Decimals(4));
        plain.rows = self.names().into_iter().map(|n| (n, Vec::new())).collect();
        let mut absolute = Table {
            title: format!("{}, of absolute values", plain.title),
            ..plain.clone()
        };
        for graph in graphs {
            let run = |seed| structure(graph, self.methods, seed, self.setting(graph.name));
            let cells = self.seeds.clone().map(run).collect::<Result<Vec<_>>>()?;
            for m in 0..self.methods.len() {
                let summary = |f: &dyn Fn(usize) -> f64| {
                    Summary::of(&(0..cells.len()).map(f).collect::<Vec<_>>())
                };
                plain.rows[m].1.push(summary(&|s| cells[s][m].plain));
                absolute.rows[m].1.push(summary(&|s| cells[s][m].absolute));
            }
        }
        let (settings, tables) = (self.settings(Vec::new()), vec![plain, absolute]);
        Ok(Report {
            title: "Structural equivalence".into(),
            settings,
            tables,
            ..Report::default()
        })
    }
}

/// Methods that failed, and the first error.
#[derive(Default)]
struct Failed {
    failures: Vec<Failure>,
    first: Option<Error>,
}

impl Failed {
    /// What failed, if some cells are left, else the first error.
    fn unless_nothing_is_left(self, left: usize) -> Result<Vec<Failure>> {
        match self.first {
            Some(error) if left == 0 => Err(error),
            _ => Ok(self.failures),
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

/// What won in each cell; nothing where the method failed.
fn winners<T>(cells: &[Result<T>], of: impl Fn(&T) -> Vec<String>) -> Vec<Vec<String>> {
    let won = |cell: &Result<T>| cell.as_ref().map(&of).unwrap_or_default();
    cells.iter().map(won).collect()
}

/// The cells of a method under all seeds; none if it failed under one of them.
fn of_method<T>(cells: &[Vec<Option<T>>], method: usize) -> impl Iterator<Item = &T> {
    let all: Option<Vec<&T>> = cells.iter().map(|cells| cells[method].as_ref()).collect();
    all.unwrap_or_default().into_iter()
}

/// One line per method over the graphs.
pub fn plot_scores(scores: &Scores, title: &str) -> Plot {
    let line = |values: &Vec<Vec<f64>>| {
        let mean = |(g, seeds): (usize, &Vec<f64>)| Summary::of(seeds).map(|s| (g as f64, s.mean));
        values.iter().enumerate().filter_map(mean).collect()
    };
    let lines = scores
        .methods
        .iter()
        .zip(&scores.values)
        .map(|(m, v)| (m.clone(), line(v)))
        .collect();
    let axes = (String::new(), "AUC".to_string());
    Plot {
        title: title.to_string(),
        axes,
        log: (false, false),
        ticks: scores.graphs.clone(),
        lines,
    }
}

/// One line per row over the columns of a table.
fn plot_table(table: &Table, vertical: &str) -> Plot {
    let line = |cells: &Vec<Option<Summary>>| {
        cells
            .iter()
            .enumerate()
            .filter_map(|(k, cell)| cell.map(|s| (k as f64, s.mean)))
            .collect()
    };
    let lines = table
        .rows
        .iter()
        .map(|(name, cells)| (name.clone(), line(cells)))
        .collect();
    let axes = ("nodes for training".to_string(), vertical.to_string());
    Plot {
        title: table.title.clone(),
        axes,
        log: (false, false),
        ticks: table.columns.clone(),
        lines,
    }
}

/// The name a value has in files.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|v| v.as_str().map(str::to_string))
        .unwrap_or_default()
}

/// An error of settings that one graph of several does not bear.
fn about(graph: &str, error: Error) -> Error {
    match error {
        Error::Config { field, message } => Error::Config {
            field: format!("{graph}: {field}"),
            message,
        },
        other => other,
    }
}
