//! [`Report`]: what a run did, stored next to its output so that it can be repeated and explained.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::attributes::Facts;
use crate::clock::{self, Total};
use crate::config::{Config, LOG, TARGET};
use crate::factor::Loss;
use crate::factor::autoencoder::Fit;
pub use crate::graph::{GraphFacts, Input, Recorded};
use crate::memory;
use crate::message::{self, Message, Naming};
use crate::motif::Sampled;
use crate::tensor::{Descent, SliceNorm};

/// Everything about a run. Its `config` repeats the run bit for bit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of the library.
    pub version: String,
    /// Where the work was done: `cpu`, or the name of another engine.
    #[serde(default = "cpu")]
    pub engine: String,
    /// Every choice of the run; the seed is in it.
    pub config: Config,
    /// Where the graph was read, and how; absent where it was made in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// The graph that was embedded.
    pub graph: GraphFacts,
    /// The file of attributes, if there was one.
    #[serde(default)]
    pub attributes: Option<Facts>,
    /// Wall-clock seconds and memory, stage by stage.
    pub stages: Vec<Stage>,
    /// The kinds of work within the stages.
    #[serde(default)]
    pub work: Vec<Done>,
    /// What was estimated of the motif counts; absent when they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// Bytes expected at the peak before the work began.
    pub memory_estimate: u64,
    /// What was planned to stay in memory and what in files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<MemoryPlan>,
    /// One entry per motif and step, in the order of the columns of Y: by step, then by motif.
    pub local: Vec<LocalFacts>,
    /// What the global stage found; absent when the local embeddings are the output.
    pub global: Option<GlobalFacts>,
    /// What a joint model found, instead of local and global embeddings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<JointFacts>,
    /// How concentrated the global embedding is in its leading directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proximity: Option<Proximity>,
    /// What the components of node features capture, if the embedding has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<Structure>,
    /// How the graph was placed in the space of a model; absent for a fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<Likeness>,
    /// How K was chosen, when it was chosen automatically.
    pub automatic_steps: Option<AutomaticSteps>,
    /// Share of each motif and step in Z (in Y where that is the output); sums to 1 unless it is zero.
    pub importance: Vec<Importance>,
    /// Name of each column of the result.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Which columns of the result belong together.
    #[serde(default)]
    pub blocks: Vec<ColumnBlock>,
    /// What may make the result differ from what was intended: vectors of zeros, weights that vanish,
    /// iterations stopped early.
    #[serde(default, with = "message::texts")]
    pub warnings: Vec<Message>,
    /// Other things a reader should know: absent motifs, missing ranks, choices that the graph decided.
    #[serde(with = "message::texts")]
    pub notes: Vec<Message>,
}

/// The memory plan of a run, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// The limit, if there is one.
    pub limit: Option<u64>,
    /// In use when the plan was made: graph and counts.
    pub resident: u64,
    /// Expected peak while local embeddings are computed.
    pub local: u64,
    /// Expected peak of the global stage.
    pub global: u64,
    /// Local embeddings kept in memory, at most.
    pub held: u64,
    /// Local embeddings kept in files.
    pub spilled: u64,
    /// Whether memory is so short that factors are moved to files while others are computed.
    #[serde(default)]
    pub aside: bool,
}

/// Cost of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Name of the stage.
    pub name: String,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Seconds of processor time of all threads, where the system reports it.
    #[serde(default)]
    pub processor_seconds: Option<f64>,
    /// The most bytes the process had held by its end, where the system reports it.
    pub peak_memory: Option<u64>,
}

impl Stage {
    /// A stage that began at `start` and ends now.
    pub fn since(name: &str, start: &Start) -> Self {
        let processor = memory::processor_seconds()
            .zip(start.processor)
            .map(|(now, then)| now - then);
        Stage {
            name: name.to_owned(),
            seconds: start.wall.elapsed().as_secs_f64(),
            processor_seconds: processor,
            peak_memory: memory::peak(),
        }
    }
}

/// When a stage began, and what had been done by then.
#[derive(Debug, Clone)]
pub struct Start {
    wall: Instant,
    processor: Option<f64>,
    totals: Vec<Total>,
}

impl Start {
    /// Now.
    pub fn now() -> Self {
        Start {
            wall: Instant::now(),
            processor: memory::processor_seconds(),
            totals: clock::totals().to_vec(),
        }
    }

    /// The kinds of work done since, by this whole process.
    pub fn work(&self) -> Vec<Done> {
        let done = |((&(_, name), now), then): ((&(clock::Work, &str), Total), &Total)| Done {
            name: name.to_owned(),
            seconds: now.seconds - then.seconds,
            calls: now.calls - then.calls,
            bytes: now.bytes - then.bytes,
        };
        clock::Work::ALL
            .iter()
            .zip(clock::totals())
            .zip(&self.totals)
            .map(done)
            .collect()
    }
}

/// What one kind of work took, over all stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// Name of the kind, as in [`clock::Work::ALL`].
    pub name: String,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// How often.
    pub calls: u64,
    /// Bytes moved, as estimated from shapes.
    pub bytes: u64,
}

/// One local embedding U_t^(k).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalFacts {
    /// Name of the motif.
    pub motif: String,
    /// k.
    pub step: usize,
    /// The matrix S_t^(k) as a formula.
    pub formula: String,
    /// Nodes that the motif touches.
    pub nodes: usize,
    /// Nonzeros of W_t.
    pub nonzeros: usize,
    /// The factor of S_t^(k) that keeps it in the range of f32; 1 except for enormous counts.
    pub scale: f64,
    /// Positions with the motif that are not among the nonzeros: their counts are below delta.
    #[serde(default)]
    pub below_delta: usize,
    /// Leading singular values of S_t^(k) times `scale`, or the weights of the columns that another solver found.
    pub singular_values: Vec<f64>,
    /// How clearly these show communities, from 0.02 to 1; absent where columns are not scaled by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub community_weight: Option<f64>,
    /// Columns that are not zero.
    pub rank: usize,
    /// Where S_t^(k) is a power of a symmetric matrix, that matrix as a formula: the two have the same singular vectors, so
    /// it was decomposed instead, and `rank`, `iterations`, `residual` and `converged` are of its decomposition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Iterations of the solver.
    pub iterations: usize,
    /// The largest residual of all singular triplets, each relative to its singular value; absent for other solvers.
    pub residual: Option<f64>,
    /// Whether the tolerance was reached.
    pub converged: bool,
    /// If the columns have only some vectors of a multiple singular value: the number of columns before these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiple_from: Option<usize>,
    /// The loss, iteration by iteration, of solvers that follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
}

/// The global embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GlobalFacts {
    /// Columns of Y.
    pub columns: usize,
    /// Columns of Z that are not zero.
    pub rank: usize,
    /// Singular values of Y that Z keeps, or the weights of the columns that another solver found (lengths of the
    /// columns of Z for an autoencoder).
    pub singular_values: Vec<f64>,
    /// ‖Y − ZH‖² / ‖Y‖²; a solver with a link other than the identity does not aim at it, see its loss.
    pub residual: f64,
    /// Iterations (epochs) of the solver.
    #[serde(default)]
    pub iterations: usize,
    /// Whether the tolerance was reached.
    #[serde(default)]
    pub converged: bool,
    /// The loss, iteration by iteration, of solvers that follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// How an autoencoder was trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoencoder: Option<Fit>,
}

/// A joint embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JointFacts {
    /// Columns of Z that are not zero.
    pub rank: usize,
    /// ‖X − model‖² / ‖X‖² of the tensor X, with the penalty if there is one.
    pub residual: f64,
    /// How the iterations went.
    pub descent: Descent,
    /// Length of each column of Z.
    pub weights: Vec<f64>,
    /// Whether all motif graphs were in memory at once, not rebuilt for every visit.
    pub slices_held: bool,
    /// One entry per motif and step, with its row of the motif factors.
    pub slices: Vec<SliceFacts>,
    /// The core of a Tucker decomposition, one matrix per motif factor: left by right node factors, of which there are D, or as
    /// many as nodes. Absent for CP, and when it is very large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<Vec<Vec<Vec<f64>>>>,
}

/// One slice of the tensor, S_t^(k).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceFacts {
    /// Name of the motif.
    pub motif: String,
    /// k.
    pub step: usize,
    /// The matrix S_t^(k) as a formula.
    pub formula: String,
    /// Nodes that the motif touches.
    pub nodes: usize,
    /// Nonzeros of W_t.
    pub nonzeros: usize,
    /// Positions with the motif that are not among the nonzeros: their counts are below delta.
    #[serde(default)]
    pub below_delta: usize,
    /// The factor of S_t^(k) that keeps it in the range of f32; mostly 1.
    #[serde(default)]
    pub scale: f64,
    /// Its norm, and its factor.
    #[serde(flatten)]
    pub norm: SliceNorm,
    /// Its row of the motif factors.
    pub factors: Vec<f64>,
}

/// How concentrated Z is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Proximity {
    /// Columns of Z that are not zero.
    pub directions: usize,
    /// The number of leading ones in the sum: 10, or all if there are fewer.
    pub leading: usize,
    /// Their share in the squared norm of Z.
    pub share: f64,
}

impl Proximity {
    /// That of columns with these singular values, the largest first.
    pub fn of(singular_values: &[f64]) -> Option<Self> {
        let energy = |count: usize| {
            singular_values
                .iter()
                .take(count)
                .map(|sigma| sigma * sigma)
                .sum::<f64>()
        };
        let directions = singular_values.iter().filter(|&&sigma| sigma > 0.0).count();
        let leading = directions.min(10);
        (directions > 0).then(|| Proximity {
            directions,
            leading,
            share: energy(leading) / energy(directions),
        })
    }
}

/// What principal components of node features capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Features that differ between nodes.
    pub features: usize,
    /// Components that are not zero.
    pub components: usize,
    /// Part of the variance of the features in each of them.
    pub explained: Vec<f64>,
    /// Which features the first of them follow.
    #[serde(default)]
    pub dimensions: Vec<Dimension>,
    /// Share of each motif in the components: their parts of the variance, divided among the features by squared
    /// correlation. The largest first; sums to 1.
    pub motifs: Vec<MotifShare>,
}

/// The features at both ends of a component: its column rises with one and falls with the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    /// The feature with the largest correlation.
    pub most: Loading,
    /// The feature with the smallest, which is negative if the component contrasts the two.
    pub least: Loading,
}

/// A feature and its correlation with the column of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loading {
    /// Name of the feature, as in `hone features`; `attributes_NAME` for an attribute of the user.
    pub feature: String,
    /// Between -1 and 1.
    pub correlation: f64,
}

/// The share of one motif.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MotifShare {
    /// Name of the motif; `attributes` for columns that count none.
    pub motif: String,
    /// Between 0 and 1.
    pub share: f64,
}

/// How K was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutomaticSteps {
    /// The K that was kept.
    pub steps: usize,
    /// Part of the energy of each step that lies outside the steps before it; 1 for the first.
    pub novelty: Vec<f64>,
}

/// The part of a motif and step in the embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// Name of the motif.
    pub motif: String,
    /// k.
    pub step: usize,
    /// Between 0 and 1.
    pub share: f64,
}

impl Importance {
    /// Shares of parts, each of a motif and a step, in the sum of the energies of all their columns.
    pub(crate) fn shares<'a>(
        parts: impl Iterator<Item = ((&'a str, usize), &'a [f64])> + Clone,
    ) -> Vec<Self> {
        let total: f64 = parts.clone().flat_map(|(_, energies)| energies).sum();
        let share = |((motif, step), energies): ((&str, usize), &[f64])| Importance {
            motif: motif.to_owned(),
            step,
            share: match energies.iter().sum::<f64>() {
                sum if total > 0.0 => sum / total,
                _ => 0.0,
            },
        };
        parts.map(share).collect()
    }
}

/// What became of the nodes of a graph that was embedded like an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Likeness {
    /// The file of the model, where it was read from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether only structure columns were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub structure_only: bool,
    /// Whether only new nodes were asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_only: bool,
    /// Whether the graph has only what was added to that of the model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added_only: bool,
    /// The file of edges that were added to the graph that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<String>,
    /// Fingerprint of the graph of the model.
    pub fingerprint: String,
    /// Whether this is the very graph of the model.
    pub same: bool,
    /// Nodes that the model has.
    pub shared: usize,
    /// Nodes that it does not have.
    pub new: usize,
    /// Nodes that keep their proximity columns, bit for bit.
    pub kept: usize,
    /// One entry per local embedding; empty where no proximity was computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<Fitting>,
    /// What was added to each structure column, so that the median change of shared nodes (of at most 2048 of them) is zero;
    /// empty with structure alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<f32>,
}

/// How the factors of one local embedding fit the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fitting {
    /// Name of the motif.
    pub motif: String,
    /// K.
    pub step: usize,
    /// Nodes of the model whose edges to other nodes of it changed.
    pub changed: usize,
    /// ‖A X − X C‖ / ‖X C‖ of the factors of the model on the graph of now; absent when no edge changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// Iterations that refined the factors; 0 where those of the model were kept.
    pub iterations: usize,
    /// ‖s X Q − X₀‖ / ‖X₀‖ after refined factors were rotated onto those of the model, s being the best size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<f64>,
}

impl Fitting {
    /// Nothing is known yet.
    pub(crate) fn new(motif: &str, step: usize) -> Self {
        Fitting {
            motif: motif.to_owned(),
            step,
            changed: 0,
            residual: None,
            iterations: 0,
            rotation: None,
        }
    }
}

/// Neighbouring columns of a result that have one origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnBlock {
    /// `z` for Z, a motif for a local embedding; for node features `structure`, `attributes` (of the user) or
    /// `features` (both), with `:MOTIF` behind it where they are diffused.
    pub name: String,
    /// k; 0 for what has no step.
    pub step: usize,
    /// Number of the first column, from 0.
    pub first: usize,
    /// Number of columns.
    pub count: usize,
}

impl ColumnBlock {
    /// What its columns describe: `proximity` for Z, else the name.
    pub fn kind(&self) -> &str {
        if self.name == "z" {
            "proximity"
        } else {
            &self.name
        }
    }
}

fn cpu() -> String {
    "cpu".into()
}

impl Report {
    /// The report of a run that has not begun.
    pub(crate) fn new(engine: &str, config: &Config, graph: GraphFacts) -> Self {
        Report {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine.to_owned(),
            config: config.clone(),
            graph,
            ..Report::default()
        }
    }

    /// The same with warnings and notes in which settings have these names.
    pub fn said(mut self, names: &dyn Naming) -> Self {
        for text in self.warnings.iter_mut().chain(&mut self.notes) {
            *text = text.say(names).into();
        }
        self
    }

    /// Shares summed over the steps, most important motif first.
    pub fn motif_importance(&self) -> Vec<(String, f64)> {
        let mut sums: Vec<(String, f64)> = Vec::new();
        for entry in &self.importance {
            let own = entry.motif.trim_end_matches(TARGET).trim_end_matches(LOG);
            match sums.iter_mut().find(|(motif, _)| motif == own) {
                Some((_, sum)) => *sum += entry.share,
                None => sums.push((own.to_owned(), entry.share)),
            }
        }
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums
    }

    /// The report as indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data")
    }

    /// Runs `work` as a stage and notes its cost.
    pub fn time<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Start::now();
        let result = work(self);
        self.stages.push(Stage::since(name, &start));
        result
    }
}
