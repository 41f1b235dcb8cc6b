//! Node labels: classification at several training shares, role recovery, clustering.
//!
//! One-vs-rest logistic regression on the vectors. A node with several labels is given as many
//! labels as it truly has, the highest scores first (the protocol of DeepWalk and its successors);
//! a node with one label gets the highest. Training sets of growing shares are nested. The penalty
//! is chosen by 3-fold cross-validation on the training nodes (at most 2000 of them) unless fixed.

use std::collections::BTreeMap;

use hone::dense::Block;
use hone::graph::Graph;
use hone::{Error, Result, parallel};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Setting;
use crate::cache::{fingerprint, graph_key};
use crate::classify::{self, Model, Stop, Task};
use crate::kmeans::kmeans;
use crate::labels::NodeLabels;
use crate::method::{Embedder, Method, file_of_seed};
use crate::metrics::{self, F1};
use crate::pairs::{Features, Scaler, Scaling};
use crate::random::Stream;
use crate::split::TrainGraph;
use crate::vectors;

/// How node labels are predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodesConfig {
    /// Shares of labelled nodes used for training, each a column of the table.
    pub shares: Vec<f64>,
    /// The penalty parameter; chosen by validation when absent.
    pub c: Option<f64>,
    /// Scale of features.
    pub scaling: Scaling,
    /// Whether vectors are also clustered by k-means and compared with the labels.
    pub cluster: bool,
}

impl NodesConfig {
    /// Node classification: 10 %, 50 % and 90 % of the nodes for training.
    pub fn classification() -> Self {
        NodesConfig {
            shares: vec![0.1, 0.5, 0.9],
            c: None,
            scaling: Scaling::Keep,
            cluster: false,
        }
    }

    /// Role recovery on the airport graphs: 80 % for training.
    pub fn roles() -> Self {
        NodesConfig {
            shares: vec![0.8],
            cluster: true,
            ..Self::classification()
        }
    }
}

/// The result of one method under one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodesCell {
    /// One score a training share.
    pub scores: Vec<NodeScore>,
    /// Normalised mutual information of k-means clusters and (first) labels, when requested; of several
    /// candidates the one chosen at the first share is clustered.
    pub nmi: Option<f64>,
    /// Seconds spent on embedding all candidates.
    #[serde(default)]
    pub seconds: f64,
    /// What a reader should know about the vectors.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl NodesCell {
    /// The candidates that validation chose, one per training share.
    pub(crate) fn winners(&self) -> Vec<String> {
        self.scores
            .iter()
            .map(|score| score.candidate.clone())
            .collect()
    }
}

/// Quality at one training share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeScore {
    /// F1 of all decisions; the accuracy when every node has one label.
    pub micro_f1: f64,
    /// Mean F1 of the labels.
    pub macro_f1: f64,
    /// Share of nodes whose labels are all right.
    pub accuracy: f64,
    /// The penalty used.
    pub c: f64,
    /// The options that were chosen.
    #[serde(default)]
    pub candidate: String,
}

const PENALTIES: [f64; 7] = [1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4];
const FOLDS: usize = 3;
const VALIDATION_NODES: usize = 2000;

/// All methods on one labelled graph under one seed; the cell of a method that failed is its error. Untrained pair scores are
/// refused.
pub fn nodes(
    graph: &Graph,
    labels: &NodeLabels,
    methods: &[Method],
    config: &NodesConfig,
    seed: u64,
    setting: Setting<'_>,
) -> Result<Vec<Result<NodesCell>>> {
    if let Some(share) = config.shares.iter().find(|s| !(**s > 0.0 && **s < 1.0)) {
        return Err(Error::config(
            "shares",
            format!("{share} is not between 0 and 1"),
        ));
    }
    if let Some(method) = methods.iter().find(|m| m.score.is_some()) {
        let message = format!("`{}` scores pairs of nodes and has no vectors", method.name);
        return Err(Error::config("methods", message));
    }
    let labelling = format!("{:?}", (&labels.names, &labels.nodes, &labels.of));
    let name = (graph_key(graph), fingerprint(&labelling));
    let train = TrainGraph::whole(graph.clone());
    let key = |method| {
        let embedders = Method::embedders(method);
        ("nodes", &name, config, PENALTIES, seed, embedders)
    };
    let bench = Bench {
        labels,
        config,
        seed,
    };
    let whole = || Ok(graph.clone());
    setting.cells(methods, seed, whole, key, |method| {
        Ok(bench.run(method, &train, setting))
    })
}

struct Bench<'a> {
    labels: &'a NodeLabels,
    config: &'a NodesConfig,
    seed: u64,
}

impl Bench<'_> {
    fn run(&self, method: &Method, train: &TrainGraph, setting: Setting<'_>) -> Result<NodesCell> {
        let (mut candidates, mut seconds, mut notes) = (Vec::new(), 0.0, Vec::new());
        for candidate in &method.candidates {
            let (z, taken) = setting.embed(method, candidate, train, self.seed)?;
            seconds += taken;
            notes.extend(z.notes);
            if let Embedder::File(path) = &candidate.1 {
                let path = file_of_seed(path, self.seed);
                notes.extend(vectors::note_other_graph(&path, train.graph()));
            }
            candidates.push((candidate.0.clone(), take_rows(&z.block, &self.labels.nodes)));
        }
        let order = self.order();
        // Larger shares often validate on the same nodes: their choices are made once.
        let mut choices = BTreeMap::new();
        let at_share = |&share: &f64| self.at_share(&candidates, &order, share, &mut choices);
        let scores: Vec<NodeScore> = self.config.shares.iter().map(at_share).collect();
        let nmi = scores.first().filter(|_| self.config.cluster).map(|score| {
            let chosen = candidates.iter().find(|c| c.0 == score.candidate);
            let (_, x) = chosen.expect("chosen among the candidates");
            let first: Vec<u32> = self.labels.of.iter().map(|l| l[0]).collect();
            metrics::nmi(&kmeans(x, self.labels.labels(), self.seed), &first)
        });
        Ok(NodesCell {
            scores,
            nmi,
            seconds,
            notes,
        })
    }

    /// Labelled nodes in random order, such that every head holds the labels in proportion.
    fn order(&self) -> Vec<u32> {
        let n = self.labels.of.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        Stream::new(self.seed, "label order", 0).shuffle(&mut order);
        let mut size = vec![0.0; self.labels.labels()];
        for labels in &self.labels.of {
            size[labels[0] as usize] += 1.0;
        }
        let mut seen = vec![0.0; size.len()];
        let place = |&i: &u32| {
            let label = self.labels.of[i as usize][0] as usize;
            seen[label] += 1.0;
            ((seen[label] - 0.5) / size[label], i)
        };
        let mut placed: Vec<(f64, u32)> = order.iter().map(place).collect();
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        placed.into_iter().map(|p| p.1).collect()
    }

    /// The score at a share; `choices` has the candidate and the penalty that were chosen, by the number of nodes they were
    /// validated on.
    fn at_share(
        &self,
        candidates: &[(String, Block)],
        order: &[u32],
        share: f64,
        choices: &mut BTreeMap<usize, (usize, f64)>,
    ) -> NodeScore {
        let count = ((share * order.len() as f64).round() as usize)
            .clamp(1, order.len().saturating_sub(1).max(1));
        let (train, test) = order.split_at(count);
        let validation = &train[..count.min(VALIDATION_NODES)];
        let (best, c) = *choices
            .entry(validation.len())
            .or_insert_with(|| self.choose(candidates, validation));
        let (name, x) = &candidates[best];
        let trial = self.trial(x, train, test);
        let guess = trial.decide(&trial.fit(c, &trial.zero(), Stop::default()));
        let truth = self.truth(test);
        let F1 { micro, macro_ } = metrics::f1(&truth, &guess, self.labels.labels());
        let accuracy = metrics::accuracy(&truth, &guess);
        NodeScore {
            micro_f1: micro,
            macro_f1: macro_,
            accuracy,
            c,
            candidate: name.clone(),
        }
    }

    fn truth(&self, rows: &[u32]) -> Vec<Vec<u32>> {
        let labels = |&i: &u32| self.labels.of[i as usize].clone();
        rows.iter().map(labels).collect()
    }

    /// The candidate and the penalty with the best micro F1 in cross-validation on the nodes `rows`.
    fn choose(&self, candidates: &[(String, Block)], rows: &[u32]) -> (usize, f64) {
        let penalties = self.config.c.map_or(PENALTIES.to_vec(), |c| vec![c]);
        if penalties.len() * candidates.len() == 1 {
            return (0, penalties[0]);
        }
        if rows.len() < 2 * FOLDS {
            return (0, self.config.c.unwrap_or(1.0));
        }
        let (mut best, mut choice) = (f64::NEG_INFINITY, (0, 1.0));
        for (candidate, (_, x)) in candidates.iter().enumerate() {
            for (&c, score) in penalties.iter().zip(self.validate(x, rows, &penalties)) {
                if score > best {
                    (best, choice) = (score, (candidate, c));
                }
            }
        }
        choice
    }

    /// Micro F1 in cross-validation under each penalty. The models of a fold are fitted as one path
    /// from small to large C, each starting where the last one ended; they are less exact than the
    /// final fit, which is enough to tell penalties a decade apart.
    fn validate(&self, x: &Block, rows: &[u32], penalties: &[f64]) -> Vec<f64> {
        let first = |&i: &u32| self.labels.of[i as usize][0];
        let class: Vec<u32> = rows.iter().map(first).collect();
        let fold = classify::folds(&class, FOLDS, self.seed);
        let rough = Stop {
            tolerance: 1e-3,
            iterations: 50,
        };
        let (mut truth, mut guesses) = (Vec::new(), vec![Vec::new(); penalties.len()]);
        for f in 0..FOLDS as u32 {
            let part = |held: bool| -> Vec<u32> {
                let part = rows.iter().zip(&fold).filter(|(_, g)| (**g == f) == held);
                part.map(|(&i, _)| i).collect()
            };
            let (fit, held) = (part(false), part(true));
            let trial = self.trial(x, &fit, &held);
            let mut models = trial.zero();
            for (&c, guess) in penalties.iter().zip(&mut guesses) {
                models = trial.fit(c, &models, rough);
                guess.extend(trial.decide(&models));
            }
            truth.extend(self.truth(&held));
        }
        guesses
            .iter()
            .map(|guess| metrics::f1(&truth, guess, self.labels.labels()).micro)
            .collect()
    }

    /// Vectors of the nodes `train` and `test`, scaled by what `train` alone tells.
    fn trial(&self, x: &Block, train: &[u32], test: &[u32]) -> Trial {
        let take = |rows: &[u32]| Features::single(take_rows(x, rows));
        let features = take(train);
        let scaler = Scaler::learn(&features, self.config.scaling);
        // Labels that the same nodes have get the same model: it is fitted once.
        let (mut classes, mut known) = (Vec::new(), FxHashMap::default());
        let class_of = |l: u32| {
            let has = |&i: &u32| self.labels.of[i as usize].binary_search(&l).is_ok();
            let class: Vec<bool> = train.iter().map(has).collect();
            *known.entry(class).or_insert_with_key(|class| {
                classes.push(class.clone());
                classes.len() - 1
            })
        };
        let class_of = (0..self.labels.labels() as u32).map(class_of).collect();
        Trial {
            train: scaler.apply(features),
            classes,
            class_of,
            held: scaler.apply(take(test)),
            counts: test
                .iter()
                .map(|&i| self.labels.of[i as usize].len())
                .collect(),
        }
    }
}

fn take_rows(x: &Block, rows: &[u32]) -> Block {
    let values = rows.iter().flat_map(|&i| x.row(i as usize));
    Block::from_vec(rows.len(), x.cols(), values.copied().collect())
}

/// One training set and the nodes to be labelled.
struct Trial {
    train: Block,
    /// Which training nodes have a label, for each set of them that some label has.
    classes: Vec<Vec<bool>>,
    /// The set of each label.
    class_of: Vec<usize>,
    held: Block,
    /// How many labels each held node has.
    counts: Vec<usize>,
}

impl Trial {
    /// Models that say nothing, one per set of nodes.
    fn zero(&self) -> Vec<Model> {
        vec![Model::zero(self.train.cols()); self.classes.len()]
    }

    /// One against the rest: a model per set of nodes, each from a start of its own.
    fn fit(&self, c: f64, start: &[Model], stop: Stop) -> Vec<Model> {
        let (x, rows) = (
            &self.train,
            (0..self.train.rows() as u32).collect::<Vec<_>>(),
        );
        parallel::map(self.classes.len(), |l| {
            let (y, rows) = (&self.classes[l], &rows);
            classify::fit(Task { x, y, rows }, c, &start[l], stop)
        })
    }

    /// Labels of the held nodes: as many as each has, those with the highest scores, ascending.
    fn decide(&self, models: &[Model]) -> Vec<Vec<u32>> {
        let highest = |(k, &count): (usize, &usize)| {
            let score = |model: &Model| model.score(self.held.row(k));
            let scores: Vec<f64> = models.iter().map(score).collect();
            let of_label = self.class_of.iter().map(|&class| scores[class]);
            let mut scored: Vec<(f64, u32)> = of_label.zip(0..).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let mut labels: Vec<u32> = scored[..count].iter().map(|s| s.1).collect();
            labels.sort_unstable();
            labels
        };
        self.counts.iter().enumerate().map(highest).collect()
    }
}
