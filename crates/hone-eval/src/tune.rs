//! Settings for one graph: which of a handful of candidates is best on its own edges and labels.
//!
//! Each round hides some edges, embeds the rest with every candidate, and measures how well its vectors tell hidden edges from
//! pairs without one (AUC; of directed graphs half of these pairs are arcs turned around), and how well they predict labels where there are some (micro F1). The first candidate is the
//! default. A rival replaces it only if it is better by more than chance: a paired, two-sided t-test over the rounds, with the
//! variance that repeated splits of one data set need (Nadeau and Bengio, Machine Learning 52, 2003), and the level divided by
//! the number of rivals (Bonferroni).
//!
//! Cost: one embedding per candidate and round for links, one more for labels, and the fits of small linear models.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use hone::config::{Config, PRESETS};
use hone::graph::Graph;
use hone::message::{Message, Naming, message, setting, text};
use hone::{Error, Progress, Result, spelling};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::labels::NodeLabels;
use crate::method::{Embedder, Method};
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

/// The split of the first round for the seed 0. Those of evaluations begin at their own seed: what they measure has had no part in
/// the choice.
pub const FIRST: u64 = 100_001;

/// Fewer rounds cannot tell a difference from chance.
const ROUNDS: usize = 3;

/// Seconds from which on it is said how many rounds are complete.
const LONG: f64 = 5.0;

/// Differences that vary less are taken to vary so much: scores over few nodes are coarse.
const LEAST_STD: f64 = 0.002;

/// Ways to join the vectors of a pair of an undirected graph; validation chooses among them. Directed graphs have the usual ones.
const OPERATORS: [&str; 3] = ["mean", "hadamard", "mean+hadamard+l1"];

/// What decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
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
    #[serde(alias = "by")]
    pub goal: Option<Goal>,
    /// Number of rounds.
    pub rounds: u64,
    /// Seed: round by round the edges are hidden that an evaluation does not hide.
    pub seed: u64,
}

impl Default for TuneOptions {
    fn default() -> Self {
        let candidates = CANDIDATES.map(str::to_owned).to_vec();
        TuneOptions {
            candidates,
            dim: None,
            removed: 0.2,
            share: 0.5,
            goal: None,
            rounds: 5,
            seed: 0,
        }
    }
}

/// How one candidate did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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
    pub goal: Goal,
    /// Rounds that were completed.
    pub rounds: u64,
    /// Candidates that were complete when the round after these was interrupted: their scores in it are the last of their rows, and
    /// decide nothing.
    pub partial: u64,
    /// A rival needs a p-value below this.
    pub level: f64,
    /// The row with the highest mean.
    pub best: usize,
    /// The row that is chosen: the best of those that beat the first by more than chance, else the first.
    pub chosen: usize,
    /// The choice and its reason, in a sentence.
    #[serde(with = "text")]
    pub verdict: Message,
    /// The settings that are chosen.
    pub config: Config,
}

/// Score and seconds of each candidate, or why it has none.
type Scores = Vec<Result<(f64, f64)>>;

/// The choice and its reason, in a sentence.
fn verdict(rows: &[Row], best: usize, chosen: usize, rounds: u64) -> String {
    let size = |row: &Row| {
        let difference = row.difference.unwrap_or_default();
        match row.error {
            Some(error) => format!("{difference:.3} ± {error:.3}"),
            None => format!("{difference:.3}"),
        }
    };
    let (first, leader) = (&rows[0].name, &rows[best].name);
    let s = if rounds == 1 { "" } else { "s" };
    let reason = match &rows[best] {
        _ if chosen > 0 => {
            let (name, size) = (&rows[chosen].name, size(&rows[chosen]));
            return format!("{name} is chosen: better by {size}, more than chance explains");
        }
        _ if best == 0 => "no other candidate did better".to_owned(),
        row if row.p.is_none() => format!(
            "{leader} leads by {}, but {rounds} round{s} cannot tell this from chance",
            size(row)
        ),
        row => format!("{leader} leads by {}, which may be chance", size(row)),
    };
    format!("{first} stays: {reason}")
}

/// What stands in its place where the time was over before any round was complete.
fn nothing(first: &str, time: Duration, suggested: Duration) -> Message {
    message![
        format!(
            "no round finished in {}, so nothing was compared; {first} stays. Try {} (",
            spelled(time),
            spelled(suggested)
        ),
        setting("time_limit"),
        ") or fewer candidates (",
        setting("candidates"),
        ")"
    ]
}

/// A time as options give it: `90s`, `10m`, `2h`.
fn spelled(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        _ if time.subsec_nanos() > 0 => format!("{}s", time.as_secs_f64()),
        0 => "0s".to_owned(),
        _ if seconds.is_multiple_of(3600) => format!("{}h", seconds / 3600),
        _ if seconds.is_multiple_of(60) => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

/// Progress that also stops the work when the time is up, and says after the first candidate how long all will take.
struct Limited<'a> {
    progress: &'a dyn Progress,
    end: Option<Instant>,
    began: Instant,
    rounds: u64,
    /// Steps of all rounds.
    units: u64,
    /// Steps that are done.
    done: AtomicU64,
}

impl Limited<'_> {
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// A time in which enough rounds would be complete, given what was done in the time that is over.
    fn suggested(&self, time: Duration) -> Duration {
        let steps = self.units * self.rounds.min(ROUNDS as u64) / self.rounds;
        let done = self.done.load(Relaxed).max(1) as f64;
        let seconds = 1.5 * time.as_secs_f64().max(1.0) * steps as f64 / done;
        let seconds = if seconds > 99.0 {
            60.0 * (seconds / 60.0).ceil()
        } else {
            seconds.ceil()
        };
        Duration::try_from_secs_f64(seconds).unwrap_or(time)
    }
}

impl Progress for Limited<'_> {
    fn advance(&self, done: u64) {
        self.progress.advance(done);
        if self.done.fetch_add(done, Relaxed) == 0 {
            let all = self.began.elapsed().as_secs_f64() * self.units as f64;
            let (rounds, digits) = (self.rounds, usize::from(all < 10.0));
            let s = if rounds == 1 { "" } else { "s" };
            let text = format!(
                "{rounds} round{s} take{} about {all:.digits$} s, judging by the first candidate",
                if rounds == 1 { "s" } else { "" }
            );
            self.progress.note(&text.into());
        }
    }

    fn cancelled(&self) -> bool {
        self.progress.cancelled() || self.is_over()
    }
}

impl TuneOptions {
    /// Compares the candidates, for at most `time`; of a round that is not complete by then the candidates that are have their scores. A candidate that fails is
    /// left out, unless it is the first one, which the others have to beat, or none of these is left.
    pub fn run(
        &self,
        graph: &Graph,
        labels: Option<&NodeLabels>,
        time: Option<Duration>,
        progress: &dyn Progress,
    ) -> Result<Tuned> {
        let (methods, goal) = (self.methods()?, self.decided_by(labels)?);
        let first = self.seed.checked_add(FIRST);
        let last = first.and_then(|first| first.checked_add(self.rounds));
        let last = last.ok_or_else(|| Error::config("seed", "is too large for so many rounds"))?;
        let tasks = if goal == Goal::Both { 2 } else { 1 };
        let units = self.rounds * tasks * methods.len() as u64;
        let began = Instant::now();
        let limited = Limited {
            progress,
            end: time.and_then(|time| began.checked_add(time)),
            began,
            rounds: self.rounds,
            units,
            done: AtomicU64::new(0),
        };
        let (none, link_config) = (Cache::none(), self.link_config(graph)?);
        let setting = Setting {
            partial: true,
            ..Setting::new(&none, &limited)
        };
        let nodes_config = NodesConfig {
            shares: vec![self.share],
            ..NodesConfig::classification()
        };
        let links = |methods: &[Method], seed| -> Result<Scores> {
            let scored = |cell: LinkCell| {
                let auc = cell.validated().map_or(0.5, |outcome| outcome.auc);
                (auc, cell.seconds)
            };
            let cells = link(graph, methods, &link_config, seed, setting)?.into_iter();
            Ok(cells.map(|cell| cell.map(scored)).collect())
        };
        let labelled = |labels, methods: &[Method], seed| -> Result<Scores> {
            let scored = |cell: NodesCell| (cell.scores[0].micro_f1, cell.seconds);
            let cells = nodes(graph, labels, methods, &nodes_config, seed, setting)?.into_iter();
            Ok(cells.map(|cell| cell.map(scored)).collect())
        };
        progress.stage("comparing candidates", units);
        let row = |method: &Method| Row {
            name: method.name.clone(),
            ..Row::default()
        };
        let mut rows: Vec<Row> = methods.iter().map(row).collect();
        let (mut rounds, mut partial, mut first_failure) = (0, 0, None);
        for seed in self.seed + FIRST..last {
            let present = |at: &usize| rows[*at].failure.is_none();
            let present: Vec<usize> = (0..rows.len()).filter(present).collect();
            let left: Vec<Method> = present.iter().map(|&at| methods[at].clone()).collect();
            let round = || {
                let links = (goal != Goal::Labels)
                    .then(|| links(&left, seed))
                    .transpose()?;
                // Labels are of use where links are known.
                let is_complete = |links: &Scores| !is_interrupted(links);
                let go_on = links.as_ref().is_none_or(is_complete);
                let labels = labels.filter(|_| goal != Goal::Links && go_on);
                let labelled = labels.map(|labels| labelled(labels, &left, seed));
                Ok([links, labelled.transpose()?])
            };
            let scores = match round() {
                Err(Error::Interrupted) => [Some(Vec::new()), None],
                other => other?,
            };
            let complete = scores
                .iter()
                .flatten()
                .all(|scores| !is_interrupted(scores));
            let complete = complete && scores.iter().flatten().all(|of| of.len() == present.len());
            if !complete {
                progress.check()?;
            }
            let mut scores = scores.map(|scores| scores.map(Vec::into_iter));
            for at in present {
                let row = &mut rows[at];
                match scores
                    .each_mut()
                    .map(|scores| scores.as_mut().and_then(Iterator::next).transpose())
                {
                    [Err(Error::Interrupted), _] | [_, Err(Error::Interrupted)] => {}
                    [Ok(links), Ok(labelled)] => {
                        let full =
                            u64::from(links.is_some()) + u64::from(labelled.is_some()) == tasks;
                        partial += u64::from(!complete && full);
                        row.links.extend(links.map(|(score, _)| score));
                        row.labels.extend(labelled.map(|(score, _)| score));
                        let seconds = [links, labelled].into_iter().flatten();
                        row.seconds += seconds.map(|(_, time)| time).sum::<f64>() / tasks as f64;
                    }
                    [Err(error), _] | [_, Err(error)] if at == 0 => return Err(error),
                    [Err(error), _] | [_, Err(error)] => {
                        *row = Row {
                            name: row.name.clone(),
                            failure: Some(error.to_string()),
                            ..Row::default()
                        };
                        first_failure.get_or_insert(error);
                    }
                }
            }
            if !complete {
                break;
            }
            if rows[1..].iter().all(|row| row.failure.is_some()) {
                return Err(first_failure.expect("all rivals failed"));
            }
            rounds += 1;
            let seconds = began.elapsed().as_secs_f64();
            if seconds > LONG {
                let all = self.rounds;
                let text = format!("round {rounds} of {all} is complete after {seconds:.0} s");
                progress.note(&text.into());
            }
        }
        let mut tuned = self.judge(rows, goal, rounds)?;
        tuned.partial = partial;
        if let (0, Some(time)) = (rounds, time) {
            let first = &tuned.rows[0].name;
            tuned.verdict = nothing(first, time, limited.suggested(time));
        }
        Ok(tuned)
    }

    /// The candidates as methods, one configuration each.
    fn methods(&self) -> Result<Vec<Method>> {
        let refuse = |message: String| Err(Error::config("candidates", message));
        let mut methods: Vec<Method> = Vec::new();
        for text in &self.candidates {
            let preset = text.split(':').next().unwrap_or_default();
            if !PRESETS.iter().any(|known| known.0 == preset) {
                let hint = spelling::hint(preset, PRESETS.iter().map(|known| known.0));
                return refuse(format!("`{preset}` is not a preset{hint}"));
            }
            let parsed = Method::parse(text).map_err(|error| match error {
                Error::Config { message, .. } => Error::config("candidates", message),
                other => other,
            })?;
            for (options, embedder) in parsed.candidates {
                let name = match options.as_str() {
                    "" => preset.to_owned(),
                    _ => format!("{preset}:{options}"),
                };
                let Embedder::Hone(mut config) = embedder else {
                    unreachable!("a preset is a configuration")
                };
                config.global.dim = self.dim.unwrap_or(config.global.dim);
                config.check()?;
                let candidates = vec![(String::new(), Embedder::Hone(config))];
                if methods.iter().any(|other| other.candidates == candidates) {
                    return refuse(format!("`{name}` is given twice"));
                }
                methods.push(Method {
                    name,
                    candidates,
                    score: None,
                });
            }
        }
        if methods.len() < 2 {
            let few = "give at least two: the first is the default, others have to beat it";
            return refuse(few.to_owned());
        }
        Ok(methods)
    }

    fn decided_by(&self, labels: Option<&NodeLabels>) -> Result<Goal> {
        if self.rounds == 0 {
            return Err(Error::config("rounds", "must be at least 1"));
        }
        let nodes = labels.map_or(LABELLED, |labels| labels.nodes.len());
        if nodes < LABELLED {
            let message = format!(
                "{nodes} labelled nodes cannot tell settings apart; give at least {LABELLED}"
            );
            return Err(Error::config("labels", message));
        }
        match (self.goal, labels) {
            (Some(Goal::Labels | Goal::Both), None) => Err(Error::config(
                "goal",
                "labels can decide only if there are some: give labels, or leave this out",
            )),
            (Some(Goal::Links), Some(_)) => Err(Error::config(
                "goal",
                "links decide: leave out the labels, they have no effect",
            )),
            (Some(goal), _) => Ok(goal),
            (None, Some(_)) => Ok(Goal::Both),
            (None, None) => Ok(Goal::Links),
        }
    }

    /// How links are predicted: as `hone eval link` does it for directed graphs, against random pairs where no arc can be
    /// turned around.
    fn link_config(&self, graph: &Graph) -> Result<LinkConfig> {
        let parsed = OPERATORS.iter().map(|text| text.parse());
        let operators = match graph.is_directed() {
            true => PairOperator::usual_directed(),
            false => parsed.collect::<Result<_>>()?,
        };
        let (pairs, usual) = (
            2.0 * self.removed * graph.edges() as f64,
            LinkConfig::default(),
        );
        Ok(LinkConfig {
            removed: self.removed,
            operators,
            selection: usual.selection.min(SELECTED / pairs.max(1.0)),
            negatives: Negatives::usual(graph),
            ..usual
        })
    }

    /// Which candidate is chosen after so many rounds, given the scores and the seconds that all rounds took together, a row per
    /// candidate.
    pub fn judge(&self, mut rows: Vec<Row>, goal: Goal, rounds: u64) -> Result<Tuned> {
        // A round that is not complete is shown and decides nothing: repeated without it, the choice is the same.
        let complete = |row: &Row| {
            let mut scores = row.scores(goal);
            scores.truncate(rounds as usize);
            scores
        };
        let scores: Vec<Vec<f64>> = rows.iter().map(complete).collect();
        let mean = |row: usize| scores[row].iter().sum::<f64>() / scores[row].len().max(1) as f64;
        // The first of the highest.
        let highest = |among: &dyn Fn(&usize) -> bool| {
            let among = (0..scores.len()).rev().filter(among);
            let best = among.max_by(|&a, &b| mean(a).total_cmp(&mean(b)));
            best.unwrap_or(0)
        };
        let best = highest(&|&row| rows[row].failure.is_none());
        let links = self.removed / (1.0 - self.removed);
        let labels = (1.0 - self.share) / self.share;
        let tested = match goal {
            Goal::Links => links,
            Goal::Labels => labels,
            Goal::Both => links.max(labels),
        };
        for (at, row) in rows.iter_mut().enumerate() {
            row.seconds /= row.rounds().max(1) as f64;
            let pairs = scores[at].iter().zip(&scores[0]);
            let differences: Vec<f64> = pairs.map(|(own, first)| own - first).collect();
            let summary = Summary::of(&differences).filter(|_| at > 0);
            let Some(Summary { mean, std, count }) = summary else {
                continue;
            };
            let error = std.max(LEAST_STD) * (1.0 / count as f64 + tested).sqrt();
            row.difference = Some(mean);
            row.error = (count > 1).then_some(error);
            row.p = (count >= ROUNDS).then(|| stats::student_p(mean / error, count - 1));
        }
        let level = LEVEL / (rows.len() - 1) as f64;
        let chosen = highest(&|&row| {
            let Row { difference, p, .. } = rows[row];
            difference > Some(0.0) && p.is_some_and(|p| p < level)
        });
        let methods = self.methods()?;
        let Embedder::Hone(config) = &methods[chosen].candidates[0].1 else {
            unreachable!("candidates are presets of HONE")
        };
        Ok(Tuned {
            goal,
            rounds,
            level,
            best,
            chosen,
            partial: 0,
            verdict: verdict(&rows, best, chosen, rounds).into(),
            config: Config::clone(config),
            rows,
        })
    }
}

impl Tuned {
    /// The same with a verdict in which settings have these names.
    pub fn said(mut self, names: &dyn Naming) -> Self {
        self.verdict = self.verdict.say(names).into();
        self
    }
}

/// Whether some of these have no score because the work was interrupted.
fn is_interrupted(scores: &Scores) -> bool {
    let mut scores = scores.iter();
    scores.any(|score| matches!(score, Err(Error::Interrupted)))
}

impl Row {
    /// Rounds that it has scores of.
    fn rounds(&self) -> usize {
        self.links.len().max(self.labels.len())
    }

    /// What decides, round by round.
    fn scores(&self, goal: Goal) -> Vec<f64> {
        match goal {
            Goal::Links => self.links.clone(),
            Goal::Labels => self.labels.clone(),
            Goal::Both => {
                let both = self.links.iter().zip(&self.labels);
                both.map(|(links, labels)| 0.5 * (links + labels)).collect()
            }
        }
    }
}
