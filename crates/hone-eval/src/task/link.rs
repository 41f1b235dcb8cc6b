//! Link prediction (sec. 4.2): tell removed edges from non-edges by the vectors of what is left.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Instant;

use hone::dense::Block;
use hone::graph::Graph;
use hone::parallel;
use hone::{Error, Result};
use serde::{Deserialize, Serialize};

use super::Setting;
use crate::baseline::Heuristic;
use crate::cache::graph_key;
use crate::classify::{self, Model, Stop, Task};
use crate::method::{Embedder, Method, file_of_seed};
use crate::metrics;
use crate::named;
use crate::pairs::{PairOperator, Scaler, Scaling};
use crate::split::{LabeledPairs, LinkSplit, Negatives, Removal, TrainGraph};
use crate::vectors;

/// What labelled pairs are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Protocol {
    /// Options and model are chosen and fitted on 10 % of the pairs, tested on the other 90 %.
    #[default]
    Select10,
    /// Options are chosen on 10 % of the pairs; 10-fold cross-validation over the other 90 %.
    Cv,
    /// The model is fitted on the remaining edges and as many non-edges, tested on all removed.
    TrainGraph,
}

impl FromStr for Protocol {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("protocol", text, "select10, cv, train-graph")
    }
}

/// How link prediction is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkConfig {
    /// Share of edges removed.
    pub removed: f64,
    /// Use of the labelled pairs.
    pub protocol: Protocol,
    /// Share of the pairs for the choice of options.
    pub selection: f64,
    /// Ways to join the vectors of a pair; each gives a table.
    pub operators: Vec<PairOperator>,
    /// Scale of features.
    pub scaling: Scaling,
    /// The pairs without an edge.
    #[serde(default)]
    pub negatives: Negatives,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            removed: 0.5,
            protocol: Protocol::Select10,
            selection: 0.1,
            operators: vec![PairOperator::mean()],
            scaling: Scaling::Keep,
            negatives: Negatives::Random,
        }
    }
}

/// The result of one method on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkCell {
    /// One outcome per operator; a single one for untrained scores.
    pub outcomes: Vec<Outcome>,
    /// Seconds spent on embedding all candidates.
    pub seconds: f64,
    /// What a reader should know about the vectors.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Quality under one operator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The operator; nothing for untrained scores.
    pub operator: Option<PairOperator>,
    /// Area under the ROC curve on the test pairs.
    pub auc: f64,
    /// Average precision on the test pairs.
    pub average_precision: f64,
    /// Mean AUC in the validation that chose options and penalty.
    pub validation: f64,
    /// The options that were chosen.
    pub candidate: String,
    /// The penalty that was chosen.
    pub c: f64,
}

impl LinkCell {
    /// The outcome under `operator`; of an untrained score, its only one.
    pub fn outcome(&self, operator: &PairOperator) -> Option<&Outcome> {
        self.outcomes
            .iter()
            .find(|o| o.operator.as_ref().is_none_or(|own| own == operator))
    }

    /// The candidates that validation chose: under the first operator, and under the best one.
    pub(crate) fn winners(&self) -> Vec<String> {
        let of = |outcome: &Outcome| outcome.candidate.clone();
        self.outcomes
            .first()
            .into_iter()
            .chain(self.validated())
            .map(of)
            .collect()
    }

    /// The outcome of the operator that did best in validation.
    pub fn validated(&self) -> Option<&Outcome> {
        self.outcomes
            .iter()
            .max_by(|a, b| a.validation.total_cmp(&b.validation))
    }
}

/// All methods on one split of one graph; `cells[m]` belongs to `methods[m]`, and is an error if that method failed. Cells that
/// the cache has are not computed again.
pub fn link(
    graph: &Graph,
    methods: &[Method],
    config: &LinkConfig,
    seed: u64,
    setting: Setting<'_>,
) -> Result<Vec<Result<LinkCell>>> {
    let name = graph_key(graph);
    let split = OnceCell::new(); // made when the first cell needs it
    let bench = || match split.get() {
        Some(bench) => Ok(bench),
        None => Bench::new(graph.clone(), config, seed).map(|bench| split.get_or_init(|| bench)),
    };
    let train = || Ok(bench()?.train.graph().clone());
    let key = |method| {
        let embedders = Method::embedders(method);
        ("link", (&name, config, seed, embedders, method.score))
    };
    setting.cells(methods, seed, train, key, |method| {
        let bench = bench()?;
        Ok(match method.score {
            Some(score) => bench.run_score(score),
            None => bench.run_vectors(graph, method, setting),
        })
    })
}

/// One split and how its pairs are used.
struct Bench<'a> {
    config: &'a LinkConfig,
    seed: u64,
    train: TrainGraph,
    /// Pairs on which options are chosen.
    select: LabeledPairs,
    /// Pairs on which the model is fitted; those of the choice when absent.
    fit: Option<LabeledPairs>,
    test: LabeledPairs,
}

impl<'a> Bench<'a> {
    fn new(graph: Graph, config: &'a LinkConfig, seed: u64) -> Result<Self> {
        if !(config.selection > 0.0 && config.selection < 1.0) {
            return Err(Error::config(
                "selection",
                format!("is {}; must be between 0 and 1", config.selection),
            ));
        }
        let remaining = config.protocol == Protocol::TrainGraph;
        let removal = Removal {
            share: config.removed,
            remaining,
            negatives: config.negatives,
            seed,
        };
        let split = LinkSplit::of(graph, &removal)?;
        let (select, fit, test) = match split.remaining {
            Some(fit) => (fit.divide(config.selection, seed).0, Some(fit), split.pairs),
            None => {
                let (select, test) = split.pairs.divide(config.selection, seed);
                (select, None, test)
            }
        };
        Ok(Bench {
            config,
            seed,
            train: split.train,
            select,
            fit,
            test,
        })
    }

    fn run_score(&self, score: Heuristic) -> Result<LinkCell> {
        let start = Instant::now();
        let scores = |pairs: &LabeledPairs| score.scores(self.train.graph(), &pairs.pairs);
        let validation = metrics::auc(&scores(&self.select)?, &self.select.labels);
        let (auc, average_precision) = match self.config.protocol {
            Protocol::Cv => self.mean_of_folds(|_, held| scores(held))?,
            _ => measure(&scores(&self.test)?, &self.test.labels)?,
        };
        let outcome = Outcome {
            auc,
            average_precision,
            validation: validation.unwrap_or(0.5),
            ..Outcome::default()
        };
        Ok(LinkCell {
            outcomes: vec![outcome],
            seconds: start.elapsed().as_secs_f64(),
            notes: Vec::new(),
        })
    }

    /// Keeps, an operator, the candidate with the best validation, and only its vectors. Files of vectors that have seen the removed
    /// edges are refused.
    fn run_vectors(
        &self,
        whole: &Graph,
        method: &Method,
        setting: Setting<'_>,
    ) -> Result<LinkCell> {
        let (train, seed) = (self.train.graph(), self.seed);
        let mut warnings = Vec::new();
        for (_, embedder) in &method.candidates {
            if let Embedder::File(path) = embedder {
                let path = file_of_seed(path, seed);
                warnings.extend(vectors::refuse_leak(&path, whole, train, seed)?);
            }
        }
        let operators = &self.config.operators;
        let mut best: Vec<Option<(Outcome, Rc<Block>)>> = vec![None; operators.len()];
        let (mut seconds, mut notes) = (0.0, Vec::new());
        for candidate in &method.candidates {
            let (made, taken) = setting.embed(method, candidate, &self.train, seed)?;
            seconds += taken;
            notes.extend(made.notes);
            let z = Rc::new(made.block);
            for (operator, best) in operators.iter().zip(&mut best) {
                let chosen = self.choose(&z, operator);
                if best
                    .as_ref()
                    .is_none_or(|best| chosen.score > best.0.validation)
                {
                    let outcome = Outcome {
                        operator: Some(operator.clone()),
                        validation: chosen.score,
                        candidate: candidate.0.clone(),
                        c: chosen.c,
                        ..Outcome::default()
                    };
                    *best = Some((outcome, Rc::clone(&z)));
                }
            }
        }
        let mut outcomes = Vec::new();
        for (mut outcome, z) in best.into_iter().flatten() {
            (outcome.auc, outcome.average_precision) = self.test(&z, &outcome)?;
            outcomes.push(outcome);
        }
        notes.extend(warnings);
        Ok(LinkCell {
            outcomes,
            seconds,
            notes,
        })
    }

    fn choose(&self, z: &Block, operator: &PairOperator) -> classify::Chosen {
        let features = operator.features(z, &self.select.pairs);
        let x = Scaler::learn(&features, self.config.scaling).apply(features);
        classify::choose(&x, &self.select.labels, self.seed)
    }

    fn test(&self, z: &Block, outcome: &Outcome) -> Result<(f64, f64)> {
        let operator = outcome.operator.as_ref().expect("vectors have operators");
        let scores = |fit: &LabeledPairs, test: &LabeledPairs| {
            self.scores(z, operator, fit, test, outcome.c)
        };
        if self.config.protocol == Protocol::Cv {
            return self.mean_of_folds(|rest, held| Ok(scores(rest, held)));
        }
        let fit = self.fit.as_ref().unwrap_or(&self.select);
        measure(&scores(fit, &self.test), &self.test.labels)
    }

    /// Mean over ten folds of the test pairs; `score` may learn from the other folds, given first.
    fn mean_of_folds(
        &self,
        score: impl Fn(&LabeledPairs, &LabeledPairs) -> Result<Vec<f64>>,
    ) -> Result<(f64, f64)> {
        const FOLDS: usize = 10;
        let class: Vec<u32> = self.test.labels.iter().map(|&l| u32::from(l)).collect();
        let fold = classify::folds(&class, FOLDS, self.seed);
        let (mut auc, mut precision) = (0.0, 0.0);
        for f in 0..FOLDS as u32 {
            let (held, rest): (Vec<u32>, Vec<u32>) =
                (0..class.len() as u32).partition(|&i| fold[i as usize] == f);
            let (held, rest) = (self.test.select(&held), self.test.select(&rest));
            let measured = measure(&score(&rest, &held)?, &held.labels)?;
            auc += measured.0 / FOLDS as f64;
            precision += measured.1 / FOLDS as f64;
        }
        Ok((auc, precision))
    }

    /// Scores of `test` by a model fitted on `fit`; features of test pairs are made in small parts.
    fn scores(
        &self,
        z: &Block,
        operator: &PairOperator,
        fit: &LabeledPairs,
        test: &LabeledPairs,
        c: f64,
    ) -> Vec<f64> {
        let features = operator.features(z, &fit.pairs);
        let scaler = Scaler::learn(&features, self.config.scaling);
        let x = scaler.apply(features);
        let rows: Vec<u32> = (0..fit.pairs.len() as u32).collect();
        let task = Task {
            x: &x,
            y: &fit.labels,
            rows: &rows,
        };
        let model = classify::fit(task, c, &Model::zero(x.cols()), Stop::default());
        let part = |range: Range<usize>| {
            model.scores(&scaler.apply(operator.features(z, &test.pairs[range])))
        };
        parallel::stretches(test.pairs.len(), 1024, part).concat()
    }
}

fn measure(scores: &[f64], labels: &[bool]) -> Result<(f64, f64)> {
    if scores.iter().any(|s| s.is_nan()) {
        return Err(Error::Numeric {
            stage: "link prediction".into(),
            message: "a score is not a number".into(),
        });
    }
    match (
        metrics::auc(scores, labels),
        metrics::average_precision(scores, labels),
    ) {
        (Some(auc), Some(precision)) => Ok((auc, precision)),
        _ => Err(Error::config(
            "graph",
            "too few edges: the test pairs hold a single class",
        )),
    }
}
