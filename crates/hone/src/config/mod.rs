//! [`Config`]: every choice of the method in one plain, serialisable struct.
//!
//! The same struct serves the library, the command (`--config`, `--set`, flags) and Python. Unknown
//! keys are refused by name; [`Config::check`] refuses values out of range, naming the field.
//!
//! Layers are merged as tables before they become a `Config`: preset, file, single settings; later
//! ones win. See [`Layers`].

mod attributes;
mod checks;
mod choice;
mod comments;
mod directed;
mod domain;
mod extent;
mod features;
mod idle;
mod joint;
mod layers;
mod laziness;
mod limits;
mod moved;
mod obstacles;
mod pairs;
mod preset;
mod share;
mod steps;
mod window;
mod with;

pub use attributes::Attributes;
pub use choice::{Dim, Direction, FirstStep, Reverse, Weights};
pub(crate) use choice::{LOG, TARGET};
pub use features::{Balance, Combine, Components, Features, Form};
pub use idle::Idle;
pub(crate) use joint::combine_before;
pub use joint::{Joint, MODELS, Model};
pub use layers::{Layers, solver_settings};
pub use laziness::Laziness;
pub use limits::{MAX_DIM, MAX_STEPS};
pub use preset::{DEFAULT_PRESET, PRESETS};
pub use steps::Steps;
pub use window::{LogWindow, ViewWeight};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dense::Norm;
use crate::factor::Solver;
use crate::factor::svd::Svd;
use crate::features::Structure;
use crate::graph::Graph;
use crate::matrix::{Accumulate, Degree, MotifMatrix, Order, Psi};
use crate::motif::triad::Occurrence;
use crate::motif::{Delta, Motif, MotifSet, Orbit, Pairs, Sample};

/// Every choice of the method. `Config::default()` is the preset `hone`, as for the command and for Python; what a file leaves
/// out is as there.
///
/// ```
/// use hone::{Config, matrix::Psi};
/// let mine = Config { seed: 7, psi: Psi::P, ..Config::preset("hone-p")? };
/// assert_ne!(mine, Config::default());
/// assert_eq!(Config::default(), Config::preset("hone")?);
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Config {
    /// Seed of every random number; the same seed gives the same bits for any number of threads.
    pub seed: u64,
    /// The motifs H (sec. 2.1).
    pub motifs: MotifSet,
    /// Whether motifs are counted exactly or estimated from a sample of the neighbours (sec. 3.1).
    pub sample: Sample,
    /// Edges with fewer than delta occurrences of a motif are left out of its W_t (sec. 2.2).
    pub delta: Delta,
    /// Whether W_t is of adjacent nodes, or of all that share an occurrence.
    pub pairs: Pairs,
    /// What counts as an occurrence of a directed motif.
    pub occurrence: Occurrence,
    /// Whether edge weights multiply the motif counts.
    pub weights: Weights,
    /// The motif matrix function Psi (sec. 2.3).
    pub psi: Psi,
    /// Psi of the power, or the power of Psi (sec. 2.4).
    pub order: Order,
    /// Whether motif graphs of directed graphs keep the direction of arcs.
    pub direction: Direction,
    /// The weight of an arc that is walked against its direction; 0 in the paper.
    pub reverse: Reverse,
    /// Which motif degree is used on directed graphs.
    pub degree: Degree,
    /// The number of steps K.
    pub steps: Steps,
    /// The first step that is kept; 1 in the paper.
    pub first_step: FirstStep,
    /// Whether each step is used alone or accumulates the steps before it (sec. 2.7).
    pub accumulate: Accumulate,
    /// Added to motif degrees before they are divided by, in multiples of their mean; 0 in the paper.
    pub regularize: f64,
    /// The share of steps in which a walk stays at its node, for psi = p and a-norm; 0 in the paper.
    pub laziness: Laziness,
    /// Whether motif matrices are embedded one by one or all at once.
    pub model: Model,
    /// Local embeddings, one per motif and step (sec. 2.4).
    pub local: Local,
    /// The global embedding (sec. 2.5).
    pub global: Global,
    /// The joint models, which replace both.
    pub joint: Joint,
    /// Node features from motif counts (sec. 4.3).
    pub structure: Structure,
    /// Node attributes of the user (sec. 2.6).
    pub attributes: Attributes,
    /// How both are combined with the embedding.
    pub features: Features,
}

/// The preset `hone`; docs/quality.md says how it was chosen and how well it performs.
impl Default for Config {
    fn default() -> Self {
        Config {
            seed: 0,
            motifs: MotifSet::List(vec![Motif::Orbit(Orbit::Edge)]),
            sample: Sample::default(),
            delta: Delta::default(),
            pairs: Pairs::Edges,
            occurrence: Occurrence::Induced,
            weights: Weights::Auto,
            psi: Psi::ANorm,
            order: Order::Auto,
            direction: Direction::Auto,
            reverse: Reverse::Auto,
            degree: Degree::Auto,
            steps: Steps::Fixed(3),
            first_step: FirstStep::Last,
            accumulate: Accumulate::None,
            regularize: 0.5,
            laziness: Laziness::Auto,
            model: Model::Separate,
            local: Local::default(),
            global: Global::default(),
            joint: Joint::default(),
            structure: Structure::default(),
            attributes: Attributes::default(),
            features: Features::default(),
        }
    }
}

/// Local embeddings: S_t^(k) ≈ U V, one per motif and step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Local {
    /// D_l, columns of each U_t^(k).
    pub dim: Dim,
    /// g, how the columns of U are normalised.
    pub norm: Norm,
    /// Whether each column then gets the weight of its singular value.
    pub scale: Scale,
    /// Each row is divided by its length to this power: 0 in the paper, 1 for rows of length one.
    pub row_power: f64,
    /// A second view: factors of the logarithm of the window matrix.
    pub log_window: LogWindow,
    /// How the factors are found.
    pub solver: Solver,
}

impl Default for Local {
    fn default() -> Self {
        Local {
            dim: Dim::Auto,
            norm: Norm::L2,
            scale: Scale::Spectral,
            row_power: 0.5,
            log_window: LogWindow::default(),
            solver: Solver::Svd(Svd {
                oversampling: 16,
                filter: 8,
                ..Svd::default()
            }),
        }
    }
}

/// The weight of the columns of a local embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scale {
    /// No scaling after the norm.
    Unit,
    /// Times the singular value, relative to the largest: U Σ instead of U.
    Sigma,
    /// Times a power of it: after K steps that of K − 1 steps or more, up to K the more the spectrum shows communities
    /// ([`community_weight`](crate::factor::log_window::community_weight)). Factors of directed graphs are as with `Sigma`.
    Spectral,
}

/// The global embedding: Y ≈ Z H.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Global {
    /// D, columns of the result, including components of attributes that are added after the global
    /// stage.
    pub dim: usize,
    /// What is returned: Z, or the concatenated local embeddings Y.
    pub output: Output,
    /// How Z and H are found.
    pub solver: Solver,
}

impl Default for Global {
    fn default() -> Self {
        Global {
            dim: 128,
            output: Output::Global,
            solver: Solver::default(),
        }
    }
}

/// What an embedding run returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Output {
    /// Z, the global embedding.
    Global,
    /// Y, the local embeddings side by side.
    Local,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Output::Global => "global",
            Output::Local => "local",
        })
    }
}

impl Config {
    /// Whether nodes have features: of structure, or attributes of a file.
    pub fn has_features(&self) -> bool {
        self.structure.enabled || self.attributes.file.is_some()
    }

    /// The choices that lead from W_t to S_t^(k).
    pub fn matrix(&self) -> MotifMatrix {
        let Config {
            psi,
            order,
            degree,
            accumulate,
            regularize,
            laziness,
            ..
        } = *self;
        MotifMatrix {
            psi,
            order,
            degree,
            accumulate,
            regularize,
            laziness: laziness.given(),
        }
    }

    /// The laziness of walks on a graph.
    pub(crate) fn laziness_on(&self, graph: &Graph) -> f64 {
        self.laziness.on(graph, self.direction)
    }

    /// The configuration as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a Config is a table of plain values")
    }
}
