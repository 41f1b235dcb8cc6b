//! Settings for one graph: which of a handful of candidates is best on its own edges and labels.
//!
//! Each round hides some edges, embeds the rest with every candidate, and measures how well its vectors tell hidden edges from
//! pairs without one (AUC; of directed graphs half of these pairs are arcs turned around), and how well they predict labels where there are some (micro F1). The first candidate is the
//! default. A rival replaces it only if it is better by more than chance: a paired, two-sided t-test over the rounds, with the
//! variance that repeated splits of one data set need (Nadeau and Bengio, Machine Learning 52, 2003), and the level divided by
//! the number of rivals (Bonferroni).
//!
//! Cost: one embedding per candidate and round for links, one more for labels, and the fits of small linear models.

use std::time::{Duration, Instant};

use hone::config::{Config, PRESETS};
use hone::graph::Graph;
use hone::{Error, Progress, Result, spelling};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::labels::NodeLabels;
use crate::method::{Embedder, Kind, Method};
use crate::pairs::PairOperator;
use crate::split::Negatives;
use crate::stats::{self, LEVEL, Summary};
use crate::task::{LinkCell, LinkConfig, NodesCell, NodesConfig, Setting, link, nodes};

/// What is compared unless candidates are named: the default, more and less weight of structure, shorter and longer walks, rows
/// of equal length, and two presets of the paper.
pub const CANDIDATES: [&str; 8] = [
    "hone",
    "hone:features.weight=5",
    "hone:features.weight=80",
    "hone:steps=2",
    "hone:steps=5",
    "hone:local.row-power=1",
    "hone-p",
    "hone-w",
];

/// Pairs that the operator and the penalty are chosen on, at most: more take time and change nothing.
const SELECTED: f64 = 20_000.0;

/// Fewer labelled nodes cannot tell settings apart.
const LABELLED: usize = 20;

/// Fewer rounds cannot tell a difference from chance.
const ROUNDS: usize = 3;

/// Differences that vary less are taken to vary so much: scores over few nodes are coarse.
const LEAST_STD: f64 = 0.002;

/// Ways to join the vectors of a pair of an undirected graph; validation chooses among them. Directed graphs have the usual ones.
const OPERATORS: [&str; 3] = ["mean", "hadamard", "mean+hadamard+l1"];

/// What decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Hidden edges.
    Links,
    /// Labels.
    Labels,
    /// The mean of both.
    Both,
}

/// How candidates are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TuneOptions {
    /// Presets with settings, such as `hone:steps=2`; the first is the default that others have to beat.
    pub candidates: Vec<String>,
    /// Dimensions of the vectors; those of the candidates when absent.
    pub dim: Option<usize>,
    /// Share of the edges that are hidden.
    pub removed: f64,
    /// Share of the labelled nodes that train.
    pub share: f64,
    /// What decides: both where there are labels, else links.
    pub by: Option<By>,
    /// Number of rounds.
    pub rounds: u64,
    /// Seed of the first round; the next ones follow.
    pub first_seed: u64,
}

impl Default for TuneOptions {
    fn default() -> Self {
        let candidates = CANDIDATES.map(str::to_owned).to_vec();
        // Splits of other experiments begin at 1: what they measure has had no part in the choice.
        let first_seed = 100_001;
        TuneOptions {
            candidates,
            dim: None,
            removed: 0.2,
            share: 0.5,
            by: None,
            rounds: 5,
            first_seed,
        }
    }
}

/// How one candidate did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// As it was named.
    pub name: String,
    /// AUC on hidden edges, round by round; none where labels alone decide.
    pub links: Vec<f64>,
    /// Micro F1 on labels, round by round; none where links alone decide.
    pub labels: Vec<f64>,
    /// Seconds per embedding.
    pub seconds: f64,
    /// Mean difference from the first candidate; of the first candidate, nothing.
    pub difference: Option<f64>,
    /// Its standard error; nothing with one round.
    pub error: Option<f64>,
    /// Two-sided p-value of the difference; nothing with fewer than three rounds.
    pub p: Option<f64>,
    /// Why the candidate has no figures, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// One row per candidate, in the order they were given.
    pub rows: Vec<Row>,
    /// What decided.
    pub by: By,
    /// Rounds that were completed.
    pub rounds: u64,
    /// A rival needs a p-value below this.
    pub level: f64,
    /// The row with the highest mean.
    pub best: usize,
    /// The row that is chosen: the best of those that beat the first by more than chance, else the first.
    pub chosen: usize,
    /// The choice and its reason, in a sentence.
    pub verdict: String,
    /// The settings that are chosen.
    pub config: Config,
}

/// Score and seconds of each candidate, or why it has none.
type Scores = std::vec::IntoIter<Result<(f64, f64)>>;

/// The choice and its reason, in a sentence.
fn verdict(rows: &[Row], best: usize, chosen: usize, rounds: u64) -> String {
    let name = |row: usize| &rows[row].name;
    let size = |row: usize| {
        let error = rows[row]
            .error
            .map_or(String::new(), |error| format!(" ± {error:.3}"));
        format!("{:.3}{error}", rows[row].difference.unwrap_or_default())
    };
    if rounds == 0 {
        return format!(
            "{} stays: no round was completed in the given time",
            name(0)
        );
    }
    if chosen > 0 {
        return format!(
            "{} is chosen: better by {}, more than chance explains",
            name(chosen),
            size(chosen)
        );
    }
    if best == 0 {
        return format!("{} stays: no other candidate did better", name(0));
    }
    match rows[best].p {
        None => format!(
            "{} stays: {} leads by {}, but {rounds} round{} cannot tell this from chance",
            name(0),
            name(best),
            size(best),
            if rounds == 1 { "" } else { "s" }
        ),
        Some(_) => format!(
            "{} stays: {} leads by {}, which may be chance",
            name(0),
            name(best),
            size(best)
        ),
    }
}

/// Progress that also stops the work when the time is up.
struct Limited<'a> {
    progress: &'a dyn Progress,
    end: Option<Instant>,
}

impl Limited<'_> {
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

impl Progress for Limited<'_> {
    fn advance(&self, done: u64) {
        self.progress.advance(done);
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled() || self.is_over()
    }
}

impl TuneOptions {
    /// Compares the candidates, for at most `time`: a round that is not complete by then does not count. A candidate that fails is
    /// left out, unless it is the first one, which the others have to beat, or none of these is left.
    pub fn run(
        &self,
        graph: &Graph,
        labels: Option<&NodeLabels>,
        time: Option<Duration>,
        progress: &dyn Progress,
    ) -> Result<Tuned> {
        let (methods, by) = (self.methods()?, self.decided_by(labels)?);
        let last = self.first_seed.checked_add(self.rounds);
        let last =
            last.ok_or_else(|| Error::config("first_seed", "is too large for so many rounds"))?;
        let limited = Limited {
            progress,
            end: time.and_then(|time| Instant::now().checked_add(time)),
        };
        let mut rows: Vec<Row> = methods
            .iter()
            .map(|method| Row::new(&method.name))
            .collect();
        let tasks = if by == By::Both { 2 } else { 1 };
        progress.stage(
            "comparing candidates",
            self.rounds * tasks * methods.len() as u64,
        );
        let (mut rounds, mut first_failure) = (0, None);
        for seed in self.first_seed..last {
            let present: Vec<usize> = (0..rows.len())
                .filter(|&at| rows[at].failure.is_none())
                .collect();
            let left: Vec<Method> = present.iter().map(|&at| methods[at].clone()).collect();
            let links = || self.links(graph, &left, seed, &limited);
            let labelled = |labels| self.labels(graph, labels, &left, seed, &limited);
            let round = (|| {
                let links = (by != By::Labels).then(links).transpose()?;
                let labelled = labels
                    .filter(|_| by != By::Links)
                    .map(labelled)
                    .transpose()?;
                Ok([links, labelled])
            })();
            let [mut links, mut labelled] = match round {
                Err(Error::Interrupted) if limited.is_over() && !progress.cancelled() => break,
                other => other?,
            };
            let mut next = || -> Result<[Option<(f64, f64)>; 2]> {
                let links = links.as_mut().and_then(Iterator::next);
                let labelled = labelled.as_mut().and_then(Iterator::next);
                Ok([links.transpose()?, labelled.transpose()?])
            };
            for at in present {
                let row = &mut rows[at];
                match next() {
                    Ok([links, labelled]) => {
                        row.links.extend(links.map(|(score, _)| score));
                        row.labels.extend(labelled.map(|(score, _)| score));
                        let seconds = [links, labelled].into_iter().flatten();
                        row.seconds += seconds.map(|(_, time)| time).sum::<f64>() / tasks as f64;
                    }
                    Err(error) if at == 0 => return Err(error),
                    Err(error) => {
                        *row = Row {
                            failure: Some(error.to_string()),
                            ..Row::new(&row.name)
                        };
                        first_failure.get_or_insert(error);
                    }
                }
            }
            if rows[1..].iter().all(|row| row.failure.is_some()) {
                return Err(first_failure.expect("all rivals failed"));
            }
            rounds += 1;
        }
        Ok(self.judge(rows, &methods, by, rounds))
    }

    /// The candidates as methods, one configuration each.
    fn methods(&self) -> Result<Vec<Method>> {
        let mut methods: Vec<Method> = Vec::new();
        for text in &self.candidates {
            let preset = text
                .split_once(':')
                .map_or(text.as_str(), |(preset, _)| preset);
            if !PRESETS.iter().any(|known| known.0 == preset) {
                let hint = spelling::hint(preset, PRESETS.iter().map(|known| known.0));
                return Err(Error::config(
                    "candidates",
                    format!("`{preset}` is not a preset{hint}"),
                ));
            }
            let parsed = Method::parse(text).map_err(|error| match error {
                Error::Config { message, .. } => Error::config("candidates", message),
                other => other,
            })?;
            for (options, embedder) in parsed.candidates() {
                let name = if options.is_empty() {
                    preset.to_owned()
                } else {
                    format!("{preset}:{options}")
                };
                let Embedder::Hone(config) = embedder else {
                    unreachable!("a preset is a configuration")
                };
                let mut config = config.clone();
                config.global.dim = self.dim.unwrap_or(config.global.dim);
                config.check()?;
                methods.push(Method {
                    name,
                    kind: Kind::Vectors(vec![(String::new(), Embedder::Hone(config))]),
                });
            }
        }
        let twice = (1..methods.len()).find(|&at| {
            methods[..at]
                .iter()
                .any(|other| other.kind == methods[at].kind)
        });
        if let Some(at) = twice {
            return Err(Error::config(
                "candidates",
                format!("`{}` is given twice", methods[at].name),
            ));
        }
        let few = || {
            Error::config(
                "candidates",
                "give at least two: the first is the default, others have to beat it",
            )
        };
        if methods.len() < 2 {
            Err(few())
        } else {
            Ok(methods)
        }
    }

    fn decided_by(&self, labels: Option<&NodeLabels>) -> Result<By> {
        if self.rounds == 0 {
            return Err(Error::config("rounds", "must be at least 1"));
        }
        if let Some(few) = labels
            .map(|labels| labels.nodes.len())
            .filter(|&nodes| nodes < LABELLED)
        {
            let message = format!(
                "{few} labelled nodes cannot tell settings apart; give at least {LABELLED}"
            );
            return Err(Error::config("labels", message));
        }
        match (self.by, labels) {
            (Some(By::Labels | By::Both), None) => Err(Error::config(
                "by",
                "labels can decide only if there are some: give labels, or leave this out",
            )),
            (Some(By::Links), Some(_)) => Err(Error::config(
                "by",
                "links decide: leave out the labels, they have no effect",
            )),
            (Some(by), _) => Ok(by),
            (None, Some(_)) => Ok(By::Both),
            (None, None) => Ok(By::Links),
        }
    }

    /// How links are predicted: as `hone eval link` does it for directed graphs, against random pairs where no arc can be
    /// turned around.
    fn link_config(&self, graph: &Graph) -> Result<LinkConfig> {
        let operators = if graph.is_directed() {
            PairOperator::usual_directed()
        } else {
            OPERATORS
                .iter()
                .map(|text| text.parse())
                .collect::<Result<Vec<PairOperator>>>()?
        };
        let negatives = Negatives::usual(graph);
        let pairs = 2.0 * self.removed * graph.edges() as f64;
        let selection = LinkConfig::default()
            .selection
            .min(SELECTED / pairs.max(1.0));
        Ok(LinkConfig {
            removed: self.removed,
            operators,
            selection,
            negatives,
            ..LinkConfig::default()
        })
    }

    /// AUC and seconds of each candidate on one split.
    fn links(
        &self,
        graph: &Graph,
        methods: &[Method],
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Scores> {
        let config = self.link_config(graph)?;
        let cells = link(
            graph,
            methods,
            &config,
            seed,
            Setting::new(&Cache::none(), progress),
        )?;
        let scored = |cell: LinkCell| {
            let auc = cell.validated().map_or(0.5, |outcome| outcome.auc);
            (auc, cell.seconds)
        };
        let scores: Vec<_> = cells.into_iter().map(|cell| cell.map(scored)).collect();
        Ok(scores.into_iter())
    }

    /// Micro F1 and seconds of each candidate with one choice of training nodes.
    fn labels(
        &self,
        graph: &Graph,
        labels: &NodeLabels,
        methods: &[Method],
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Scores> {
        let config = NodesConfig {
            shares: vec![self.share],
            ..NodesConfig::classification()
        };
        let cells = nodes(
            graph,
            labels,
            methods,
            &config,
            seed,
            Setting::new(&Cache::none(), progress),
        )?;
        let scored = |cell: NodesCell| (cell.scores[0].micro_f1, cell.seconds);
        let scores: Vec<_> = cells.into_iter().map(|cell| cell.map(scored)).collect();
        Ok(scores.into_iter())
    }

    fn judge(&self, mut rows: Vec<Row>, methods: &[Method], by: By, rounds: u64) -> Tuned {
        let scores: Vec<Vec<f64>> = rows.iter().map(|row| row.scores(by)).collect();
        let mean = |row: usize| scores[row].iter().sum::<f64>() / scores[row].len().max(1) as f64;
        let best = (0..rows.len())
            .rev()
            .filter(|&row| rows[row].failure.is_none())
            .max_by(|&a, &b| mean(a).total_cmp(&mean(b)))
            .unwrap_or(0);
        let tested = match by {
            By::Links => self.removed / (1.0 - self.removed),
            By::Labels => (1.0 - self.share) / self.share,
            By::Both => (self.removed / (1.0 - self.removed)).max((1.0 - self.share) / self.share),
        };
        rows.iter_mut()
            .for_each(|row| row.seconds /= rounds.max(1) as f64);
        for (at, row) in rows.iter_mut().enumerate().skip(1) {
            let differences: Vec<f64> = scores[at]
                .iter()
                .zip(&scores[0])
                .map(|(own, first)| own - first)
                .collect();
            let Some(Summary { mean, std, count }) = Summary::of(&differences) else {
                continue;
            };
            let error = std.max(LEAST_STD) * (1.0 / count as f64 + tested).sqrt();
            row.difference = Some(mean);
            row.error = (count > 1).then_some(error);
            row.p = (count >= ROUNDS).then(|| stats::student_p(mean / error, count - 1));
        }
        let level = LEVEL / (rows.len() - 1) as f64;
        let sure = |&row: &usize| {
            rows[row].difference > Some(0.0) && rows[row].p.is_some_and(|p| p < level)
        };
        let chosen = (1..rows.len())
            .rev()
            .filter(sure)
            .max_by(|&a, &b| mean(a).total_cmp(&mean(b)))
            .unwrap_or(0);
        let verdict = verdict(&rows, best, chosen, rounds);
        Tuned {
            by,
            rounds,
            level,
            best,
            chosen,
            verdict,
            config: config_of(&methods[chosen]),
            rows,
        }
    }
}

impl Row {
    fn new(name: &str) -> Self {
        let (links, labels) = (Vec::new(), Vec::new());
        Row {
            name: name.to_owned(),
            links,
            labels,
            seconds: 0.0,
            difference: None,
            error: None,
            p: None,
            failure: None,
        }
    }

    /// What decides, round by round.
    fn scores(&self, by: By) -> Vec<f64> {
        match by {
            By::Links => self.links.clone(),
            By::Labels => self.labels.clone(),
            By::Both => self
                .links
                .iter()
                .zip(&self.labels)
                .map(|(links, labels)| 0.5 * (links + labels))
                .collect(),
        }
    }
}

fn config_of(method: &Method) -> Config {
    match &method.candidates()[0].1 {
        Embedder::Hone(config) => Config::clone(config),
        _ => unreachable!("candidates are presets of HONE"),
    }
}

#[cfg(test)]
mod tests;
