//! Settings for one graph: which of a handful of candidates is best on its own edges and labels.
//!
//! Each round hides some edges, embeds the rest with every candidate, and measures how well its vectors tell hidden edges from
//! pairs without one (AUC), and how well they predict labels where there are some (micro F1). The first candidate is the
//! default. Another is chosen only if it is better by more than chance: a paired t-test over the rounds, with the variance
//! that repeated splits of one data set need (Nadeau and Bengio, Machine Learning 52, 2003), and the level divided by the number
//! of rivals (Bonferroni).
//!
//! Cost: one embedding per candidate and round for links, one more for labels, and the fits of small linear models.

use std::time::{Duration, Instant};

use hone::config::Config;
use hone::graph::Graph;
use hone::{Error, Progress, Result};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::embedder::Embedder;
use crate::labels::NodeLabels;
use crate::method::{Kind, Method};
use crate::pairs::PairOperator;
use crate::stats::{self, LEVEL, Summary};
use crate::task::{LinkConfig, NodesConfig, Setting, link, nodes};

/// What is compared unless candidates are named: the default, more and less weight of structure, shorter and longer walks, rows
/// of equal length, and two presets of the paper.
pub const CANDIDATES: [&str; 8] = [
    "hone",
    "hone:attributes.weight=5",
    "hone:attributes.weight=80",
    "hone:steps=2",
    "hone:steps=5",
    "hone:local.row-power=1",
    "hone-p",
    "hone-w",
];

/// Ways to join the vectors of a pair; validation chooses among them.
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
        TuneOptions { candidates, dim: None, removed: 0.2, share: 0.5, by: None, rounds: 5, first_seed: 1 }
    }
}

/// How one candidate did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// As it was named.
    pub name: String,
    /// AUC on hidden edges, round by round; none where labels decide.
    pub links: Vec<f64>,
    /// Micro F1 on labels, round by round; none without labels.
    pub labels: Vec<f64>,
    /// Seconds per embedding.
    pub seconds: f64,
    /// Mean difference from the first candidate; of the first candidate, nothing.
    pub difference: Option<f64>,
    /// Its standard error; nothing with one round.
    pub error: Option<f64>,
    /// Two-sided p-value of the difference; nothing with one round.
    pub p: Option<f64>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// One row per candidate, in the order they were given.
    pub rows: Vec<Row>,
    /// What decided.
    pub by: By,
    /// Rounds that were run.
    pub rounds: u64,
    /// The row with the highest mean.
    pub best: usize,
    /// The row that is chosen: the best if it beats the first by more than chance, else the first.
    pub chosen: usize,
    /// Its settings.
    pub config: Config,
}

impl Tuned {
    /// The choice and its reason, in a sentence.
    pub fn verdict(&self) -> String {
        let [default, best] = [&self.rows[0], &self.rows[self.best]];
        let Some(difference) = best.difference else {
            return format!("{} stays: no other candidate did better", default.name);
        };
        let lead = format!("{} leads by {difference:.3}", best.name);
        match best.error {
            None => format!("{} stays: {lead}, but one round cannot tell that from chance", default.name),
            Some(error) if self.chosen == self.best => {
                format!("{} is chosen: better by {difference:.3} ± {error:.3}, more than chance explains", best.name)
            }
            Some(error) => format!("{} stays: {lead} ± {error:.3}, which may be chance", default.name),
        }
    }
}

impl TuneOptions {
    /// Compares the candidates. No round is begun that would end after `time`, measured by the longest so far; the first one
    /// always is.
    pub fn run(
        &self,
        graph: &Graph,
        labels: Option<&NodeLabels>,
        time: Option<Duration>,
        progress: &dyn Progress,
    ) -> Result<Tuned> {
        let (methods, by) = (self.methods()?, self.decided_by(labels.is_some())?);
        let mut rows: Vec<Row> = methods.iter().map(|method| Row::new(&method.name)).collect();
        let (start, mut longest, mut rounds) = (Instant::now(), Duration::ZERO, 0);
        let tasks = u64::from(by != By::Labels) + u64::from(labels.is_some());
        progress.stage("candidates", self.rounds * tasks * methods.len() as u64);
        for seed in self.first_seed..self.first_seed + self.rounds {
            if rounds > 0 && time.is_some_and(|time| start.elapsed() + longest > time) {
                break;
            }
            let begun = Instant::now();
            self.round(&mut rows, &methods, (graph, labels), seed, progress)?;
            (longest, rounds) = (longest.max(begun.elapsed()), rounds + 1);
        }
        Ok(self.judge(rows, &methods, by, rounds))
    }

    /// The candidates as methods, one configuration each.
    fn methods(&self) -> Result<Vec<Method>> {
        let mut methods: Vec<Method> = Vec::new();
        for text in &self.candidates {
            for (options, embedder) in Method::parse(text, false)?.candidates() {
                let preset = text.split_once(':').map_or(text.as_str(), |(preset, _)| preset);
                let name = if options.is_empty() { preset.to_owned() } else { format!("{preset}:{options}") };
                let Embedder::Hone(config) = embedder else {
                    return Err(Error::config("candidates", format!("`{name}` is not one of HONE's presets")));
                };
                let mut config = config.clone();
                config.global.dim = self.dim.unwrap_or(config.global.dim);
                config.check()?;
                methods.push(Method { name, kind: Kind::Vectors(vec![(String::new(), Embedder::Hone(config))]) });
            }
        }
        let twice = (1..methods.len()).find(|&at| methods[..at].iter().any(|other| other.kind == methods[at].kind));
        if let Some(at) = twice {
            return Err(Error::config("candidates", format!("`{}` is given twice", methods[at].name)));
        }
        let few = || Error::config("candidates", "give at least two: the first is the default, others have to beat it");
        if methods.len() < 2 { Err(few()) } else { Ok(methods) }
    }

    fn decided_by(&self, labelled: bool) -> Result<By> {
        if self.rounds == 0 {
            return Err(Error::config("rounds", "must be at least 1"));
        }
        match self.by {
            Some(By::Labels | By::Both) if !labelled => Err(Error::config("by", "labels decide, and there are none")),
            Some(by) => Ok(by),
            None if labelled => Ok(By::Both),
            None => Ok(By::Links),
        }
    }

    fn round(
        &self,
        rows: &mut [Row],
        methods: &[Method],
        (graph, labels): (&Graph, Option<&NodeLabels>),
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<()> {
        let cache = Cache::none();
        let setting = Setting::new(&cache, progress);
        if self.by != Some(By::Labels) {
            let operators = OPERATORS.iter().map(|text| text.parse()).collect::<Result<Vec<PairOperator>>>()?;
            let config = LinkConfig { removed: self.removed, operators, ..LinkConfig::default() };
            for (row, cell) in rows.iter_mut().zip(link(graph, methods, &config, seed, setting)?) {
                row.links.extend(cell.validated().map(|outcome| outcome.auc));
                row.seconds += cell.seconds;
            }
        }
        if let Some(labels) = labels {
            let config = NodesConfig { shares: vec![self.share], ..NodesConfig::classification() };
            let begun = Instant::now();
            for (row, cell) in rows.iter_mut().zip(nodes(graph, labels, methods, &config, seed, setting)?) {
                row.labels.extend(cell.scores.iter().map(|score| score.micro_f1));
            }
            if self.by == Some(By::Labels) {
                let each = begun.elapsed().as_secs_f64() / methods.len() as f64;
                rows.iter_mut().for_each(|row| row.seconds += each);
            }
        }
        Ok(())
    }

    fn judge(&self, mut rows: Vec<Row>, methods: &[Method], by: By, rounds: u64) -> Tuned {
        let scores: Vec<Vec<f64>> = rows.iter().map(|row| row.scores(by)).collect();
        let mean = |row: usize| scores[row].iter().sum::<f64>() / scores[row].len().max(1) as f64;
        let best = (0..rows.len()).rev().max_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0);
        let tested = match by {
            By::Links => self.removed / (1.0 - self.removed),
            By::Labels => (1.0 - self.share) / self.share,
            By::Both => (self.removed / (1.0 - self.removed)).max((1.0 - self.share) / self.share),
        };
        rows.iter_mut().for_each(|row| row.seconds /= rounds as f64);
        for (at, row) in rows.iter_mut().enumerate().skip(1) {
            let differences: Vec<f64> = scores[at].iter().zip(&scores[0]).map(|(own, first)| own - first).collect();
            let Some(Summary { mean, std, count }) = Summary::of(&differences) else { continue };
            let error = std * (1.0 / count as f64 + tested).sqrt();
            row.difference = Some(mean);
            row.error = (count > 1).then_some(error);
            row.p = row.error.map(|error| stats::student_p(mean / error, count - 1));
        }
        let level = LEVEL / (rows.len() - 1) as f64;
        let sure = best > 0 && rows[best].p.is_some_and(|p| p < level);
        let chosen = if sure { best } else { 0 };
        Tuned { by, rounds, best, chosen, config: config_of(&methods[chosen]), rows }
    }
}

impl Row {
    fn new(name: &str) -> Self {
        let (links, labels) = (Vec::new(), Vec::new());
        Row { name: name.to_owned(), links, labels, seconds: 0.0, difference: None, error: None, p: None }
    }

    /// What decides, round by round.
    fn scores(&self, by: By) -> Vec<f64> {
        match by {
            By::Links => self.links.clone(),
            By::Labels => self.labels.clone(),
            By::Both => self.links.iter().zip(&self.labels).map(|(links, labels)| 0.5 * (links + labels)).collect(),
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
mod tests {
    use super::*;

    fn judged(scores: &[&[f64]]) -> Tuned {
        let options =
            TuneOptions { candidates: vec!["hone".into(), "hone-p".into(), "hone-w".into()], ..Default::default() };
        let methods = options.methods().expect("presets");
        let rows = scores.iter().zip(&methods);
        let rows = rows.map(|(links, m)| Row { links: links.to_vec(), ..Row::new(&m.name) }).collect();
        options.judge(rows, &methods, By::Links, scores[0].len() as u64)
    }

    #[test]
    fn a_clear_lead_is_taken_and_noise_is_not() {
        let first: &[f64] = &[0.80, 0.81, 0.79, 0.80, 0.82];
        let clear = judged(&[first, &[0.70; 5], &[0.850, 0.861, 0.841, 0.849, 0.870]]);
        assert_eq!((clear.best, clear.chosen), (2, 2));
        assert_eq!(clear.config, Config::preset("hone-w").expect("a preset"));
        assert!(clear.verdict().starts_with("hone-w is chosen: better by 0.050"), "{}", clear.verdict());
        let noise = judged(&[first, &[0.70; 5], &[0.85, 0.78, 0.83, 0.79, 0.83]]);
        assert_eq!((noise.best, noise.chosen), (2, 0));
        assert!(noise.verdict().contains("may be chance"), "{}", noise.verdict());
        let worse = judged(&[first, &[0.70; 5], &[0.75; 5]]);
        assert_eq!((worse.best, worse.chosen), (0, 0));
        let once = judged(&[&[0.8], &[0.7], &[0.9]]);
        assert_eq!((once.best, once.chosen), (2, 0));
        assert!(once.verdict().contains("one round"), "{}", once.verdict());
    }

    #[test]
    fn equal_scores_keep_the_default() {
        let tied = judged(&[&[0.8, 0.8], &[0.8, 0.8], &[0.8, 0.8]]);
        assert_eq!((tied.best, tied.chosen), (0, 0));
    }

    #[test]
    fn errors_are_those_of_repeated_splits() {
        let tuned = judged(&[&[0.8, 0.8, 0.8, 0.8], &[0.81, 0.83, 0.81, 0.83], &[0.7; 4]]);
        let (mean, error) = tuned.rows[1].difference.zip(tuned.rows[1].error).expect("a rival");
        // std² = 4/3 · 1e-4; 1/4 for four rounds, 1/4 for one edge hidden of each four that are left.
        assert!((mean - 0.02).abs() < 1e-12 && (error - (4.0e-4f64 / 3.0 * 0.5).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn slips_are_named() {
        let with = |candidates: &[&str]| {
            let candidates = candidates.iter().map(|&text| text.to_owned()).collect();
            TuneOptions { candidates, ..Default::default() }.methods().expect_err("refused").to_string()
        };
        assert!(with(&["hone", "node2vec"]).contains("`node2vec` is not one of HONE's presets"));
        assert!(with(&["hone", "degrees"]).contains("`degrees` is unknown"));
        assert!(with(&["hone"]).contains("at least two"));
        assert!(with(&["hone", "hone:steps=3"]).contains("`hone:steps=3` is given twice"));
        let labels = TuneOptions { by: Some(By::Labels), ..Default::default() };
        assert!(labels.decided_by(false).is_err() && labels.decided_by(true).is_ok());
        assert_eq!(TuneOptions::default().decided_by(true).expect("labels"), By::Both);
    }
}
