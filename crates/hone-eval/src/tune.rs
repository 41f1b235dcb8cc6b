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
    let reason = match (&rows[best], rounds) {
        (_, 0) => "no round was completed in the given time".to_owned(),
        _ if chosen > 0 => {
            let (name, size) = (&rows[chosen].name, size(&rows[chosen]));
            return format!("{name} is chosen: better by {size}, more than chance explains");
        }
        _ if best == 0 => "no other candidate did better".to_owned(),
        (row, _) if row.p.is_none() => format!(
            "{leader} leads by {}, but {rounds} round{s} cannot tell this from chance",
            size(row)
        ),
        (row, _) => format!("{leader} leads by {}, which may be chance", size(row)),
    };
    format!("{first} stays: {reason}")
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
        let (none, link_config) = (Cache::none(), self.link_config(graph)?);
        let setting = Setting::new(&none, &limited);
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
        let tasks = if by == By::Both { 2 } else { 1 };
        let units = self.rounds * tasks * methods.len() as u64;
        progress.stage("comparing candidates", units);
        let mut rows: Vec<Row> = methods
            .iter()
            .map(|method| Row::new(&method.name))
            .collect();
        let (mut rounds, mut first_failure) = (0, None);
        for seed in self.first_seed..last {
            let present = |at: &usize| rows[*at].failure.is_none();
            let present: Vec<usize> = (0..rows.len()).filter(present).collect();
            let left: Vec<Method> = present.iter().map(|&at| methods[at].clone()).collect();
            let round = || {
                let links = (by != By::Labels).then(|| links(&left, seed)).transpose()?;
                let labels = labels.filter(|_| by != By::Links);
                let labelled = labels.map(|labels| labelled(labels, &left, seed));
                Ok([links, labelled.transpose()?].map(|scores| scores.map(Vec::into_iter)))
            };
            let mut scores = match round() {
                Err(Error::Interrupted) if limited.is_over() && !progress.cancelled() => break,
                other => other?,
            };
            for at in present {
                let row = &mut rows[at];
                match scores
                    .each_mut()
                    .map(|scores| scores.as_mut().and_then(Iterator::next).transpose())
                {
                    [Ok(links), Ok(labelled)] => {
                        row.links.extend(links.map(|(score, _)| score));
                        row.labels.extend(labelled.map(|(score, _)| score));
                        let seconds = [links, labelled].into_iter().flatten();
                        row.seconds += seconds.map(|(_, time)| time).sum::<f64>() / tasks as f64;
                    }
                    [Err(error), _] | [_, Err(error)] if at == 0 => return Err(error),
                    [Err(error), _] | [_, Err(error)] => {
                        let mut failed = Row::new(&row.name);
                        failed.failure = Some(error.to_string());
                        *row = failed;
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
            for (options, embedder) in parsed.candidates() {
                let name = match options.as_str() {
                    "" => preset.to_owned(),
                    _ => format!("{preset}:{options}"),
                };
                let Embedder::Hone(config) = embedder else {
                    unreachable!("a preset is a configuration")
                };
                let mut config = config.clone();
                config.global.dim = self.dim.unwrap_or(config.global.dim);
                config.check()?;
                let kind = Kind::Vectors(vec![(String::new(), Embedder::Hone(config))]);
                if methods.iter().any(|other| other.kind == kind) {
                    return refuse(format!("`{name}` is given twice"));
                }
                methods.push(Method { name, kind });
            }
        }
        if methods.len() < 2 {
            let few = "give at least two: the first is the default, others have to beat it";
            return refuse(few.to_owned());
        }
        Ok(methods)
    }

    fn decided_by(&self, labels: Option<&NodeLabels>) -> Result<By> {
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

    fn judge(&self, mut rows: Vec<Row>, methods: &[Method], by: By, rounds: u64) -> Tuned {
        let scores: Vec<Vec<f64>> = rows.iter().map(|row| row.scores(by)).collect();
        let mean = |row: usize| scores[row].iter().sum::<f64>() / scores[row].len().max(1) as f64;
        // The first of the highest.
        let highest = |among: &dyn Fn(&usize) -> bool| {
            let among = (0..scores.len()).rev().filter(among);
            among
                .max_by(|&a, &b| mean(a).total_cmp(&mean(b)))
                .unwrap_or(0)
        };
        let best = highest(&|&row| rows[row].failure.is_none());
        let links = self.removed / (1.0 - self.removed);
        let labels = (1.0 - self.share) / self.share;
        let tested = match by {
            By::Links => links,
            By::Labels => labels,
            By::Both => links.max(labels),
        };
        for (at, row) in rows.iter_mut().enumerate() {
            row.seconds /= rounds.max(1) as f64;
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
        let Embedder::Hone(config) = &methods[chosen].candidates()[0].1 else {
            unreachable!("candidates are presets of HONE")
        };
        Tuned {
            by,
            rounds,
            level,
            best,
            chosen,
            verdict: verdict(&rows, best, chosen, rounds),
            config: Config::clone(config),
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

#[cfg(test)]
mod tests {
    use hone::graph::GraphBuilder;

    use super::*;

    fn judged(scores: &[&[f64]]) -> Tuned {
        let options = TuneOptions {
            candidates: vec!["hone".into(), "hone-p".into(), "hone-w".into()],
            ..Default::default()
        };
        let methods = options.methods().expect("presets");
        let rows = scores.iter().zip(&methods);
        let rows = rows
            .map(|(links, m)| Row {
                links: links.to_vec(),
                ..Row::new(&m.name)
            })
            .collect();
        options.judge(rows, &methods, By::Links, scores[0].len() as u64)
    }

    #[test]
    fn a_clear_lead_is_taken_and_noise_is_not() {
        let first: &[f64] = &[0.80, 0.81, 0.79, 0.80, 0.82];
        let clear = judged(&[first, &[0.70; 5], &[0.850, 0.861, 0.841, 0.849, 0.870]]);
        assert_eq!((clear.best, clear.chosen), (2, 2));
        assert_eq!(clear.config, Config::preset("hone-w").expect("a preset"));
        assert!(
            clear
                .verdict
                .starts_with("hone-w is chosen: better by 0.050"),
            "{}",
            clear.verdict
        );
        let noise = judged(&[first, &[0.70; 5], &[0.85, 0.78, 0.83, 0.79, 0.83]]);
        assert_eq!((noise.best, noise.chosen), (2, 0));
        assert!(noise.verdict.contains("may be chance"), "{}", noise.verdict);
        let worse = judged(&[first, &[0.70; 5], &[0.75; 5]]);
        assert_eq!((worse.best, worse.chosen), (0, 0));
        for rounds in [1, 2] {
            let short = judged(&[&first[..rounds], &[0.7; 2][..rounds], &[0.9; 2][..rounds]]);
            assert_eq!((short.best, short.chosen), (2, 0));
            assert!(short.verdict.contains("cannot tell"), "{}", short.verdict);
        }
    }

    #[test]
    fn a_noisy_leader_does_not_hide_a_sure_one() {
        let sure = [0.845, 0.846, 0.844, 0.845, 0.846];
        let tuned = judged(&[&[0.8; 5], &sure, &[0.95, 0.75, 0.90, 0.80, 0.87]]);
        assert_eq!((tuned.best, tuned.chosen), (2, 1));
    }

    #[test]
    fn every_rival_makes_the_test_stricter() {
        // p lies between .025 and .05: enough against one rival, not against two.
        let (first, rival): ([f64; 5], _) = ([0.8; 5], [0.844, 0.824, 0.834, 0.854, 0.814]);
        let two = judged(&[&first, &[0.7; 5], &rival]);
        let p = two.rows[2].p.expect("five rounds");
        assert!(p > 0.025 && p < 0.05, "{p}");
        assert_eq!((two.level, two.chosen), (0.025, 0));
    }

    #[test]
    fn equal_scores_keep_the_default_and_no_spread_is_no_proof() {
        let tied = judged(&[&[0.8, 0.8], &[0.8, 0.8], &[0.8, 0.8]]);
        assert_eq!((tied.best, tied.chosen), (0, 0));
        let constant = judged(&[&[0.8; 3], &[0.7; 3], &[0.802; 3]]);
        assert_eq!(
            (constant.best, constant.chosen),
            (2, 0),
            "{:?}",
            constant.rows
        );
    }

    /// Rivals that differ by noise alone are chosen in few of many trials.
    #[test]
    fn noise_is_rarely_chosen() {
        let mut stream = crate::random::Stream::new(5, "noise", 0);
        let mut scores = || -> Vec<f64> {
            (0..5)
                .map(|_| 0.8 + 1e-4 * stream.below(200) as f64)
                .collect()
        };
        let chosen = (0..400)
            .filter(|_| judged(&[&scores(), &scores(), &scores()]).chosen > 0)
            .count();
        assert!(chosen < 20, "{chosen} of 400");
    }

    #[test]
    fn errors_are_those_of_repeated_splits() {
        let tuned = judged(&[&[0.8, 0.8, 0.8, 0.8], &[0.81, 0.83, 0.81, 0.83], &[0.7; 4]]);
        let (mean, error) = tuned.rows[1]
            .difference
            .zip(tuned.rows[1].error)
            .expect("a rival");
        // std² = 4/3 · 1e-4; 1/4 for four rounds, 1/4 for one edge hidden of each four that are left.
        assert!(
            (mean - 0.02).abs() < 1e-12 && (error - (4.0e-4f64 / 3.0 * 0.5).sqrt()).abs() < 1e-12
        );
    }

    #[test]
    fn slips_are_named() {
        let with = |candidates: &[&str]| {
            let candidates = candidates.iter().map(|&text| text.to_owned()).collect();
            TuneOptions {
                candidates,
                ..Default::default()
            }
            .methods()
            .expect_err("refused")
            .to_string()
        };
        for other in ["node2vec", "katz", "degrees", "file:x"] {
            assert!(
                with(&["hone", other]).contains("is not a preset; use one of hone, hone-w"),
                "{other}"
            );
        }
        assert!(with(&["hone"]).contains("at least two"));
        assert!(with(&["hone", "hone:step=3"]).starts_with("candidates: "));
        assert!(with(&["hone", "hone:steps=3"]).contains("`hone:steps=3` is given twice"));
        let labels = |nodes: u32| {
            let rows: Vec<_> = (0..nodes)
                .map(|i| (i, vec![["a", "b"][i as usize % 2]]))
                .collect();
            NodeLabels::new(&rows).expect("two labels")
        };
        let by = |by, nodes: Option<u32>| {
            TuneOptions {
                by,
                ..Default::default()
            }
            .decided_by(nodes.map(labels).as_ref())
        };
        assert!(by(Some(By::Labels), None).is_err() && by(Some(By::Labels), Some(20)).is_ok());
        assert!(by(Some(By::Links), Some(20)).is_err() && by(None, Some(19)).is_err());
        assert_eq!(
            (
                by(None, Some(20)).expect("labels"),
                by(None, None).expect("links")
            ),
            (By::Both, By::Links)
        );
    }

    /// Directed graphs are judged as `hone eval link --directed` judges them, by the direction of arcs too.
    #[test]
    fn directed_graphs_are_judged_by_directions() {
        let build = |directed, both: bool| {
            let arcs = (2..120u32).flat_map(|i| [(i, i / 2), (i, i * 7 % (i - 1)), (i, i / 3)]);
            let arcs = arcs
                .flat_map(|(u, v)| {
                    if both {
                        vec![(u, v), (v, u)]
                    } else {
                        vec![(u, v)]
                    }
                })
                .collect();
            let builder = if directed {
                GraphBuilder::directed(120)
            } else {
                GraphBuilder::undirected(120)
            };
            builder.edges(arcs).build().expect("in range")
        };
        let candidates = ["hone:dim=8", "hone:dim=4"].map(str::to_owned).to_vec();
        let options = TuneOptions {
            candidates,
            rounds: 1,
            ..Default::default()
        };
        let config = |graph: &Graph| options.link_config(graph).expect("operators are known");
        let graph = build(true, false);
        assert_eq!(
            (config(&graph).negatives, config(&graph).operators),
            (Negatives::Mixed, PairOperator::usual_directed())
        );
        let judged = |config: LinkConfig| {
            let (methods, seed) = (options.methods().expect("presets"), options.first_seed);
            let cells = link(
                &graph,
                &methods,
                &config,
                seed,
                Setting::new(&Cache::none(), &hone::Silent),
            )
            .expect("judged");
            cells
                .iter()
                .filter_map(|cell| cell.as_ref().expect("no method fails").validated())
                .map(|outcome| outcome.auc)
                .collect::<Vec<_>>()
        };
        let tuned = options
            .run(&graph, None, None, &hone::Silent)
            .expect("tuned");
        let found: Vec<f64> = tuned.rows.iter().map(|row| row.links[0]).collect();
        assert_eq!(found, judged(config(&graph)));
        assert_ne!(
            found,
            judged(LinkConfig {
                negatives: Negatives::Random,
                ..config(&graph)
            })
        );
        assert_eq!(
            config(&build(true, true)).negatives,
            Negatives::Random,
            "no arc can be turned around"
        );
        let plain = config(&build(false, false));
        assert_eq!(
            (plain.negatives, plain.operators.len()),
            (Negatives::Random, OPERATORS.len())
        );
    }
}
