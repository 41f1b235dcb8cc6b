//! [`Config`]: every choice of the method in one plain, serialisable struct.
//!
//! The same struct serves the library, the command (`--config`, `--set`, flags) and Python. A setting is one field here: its
//! comment is what users read on the page of settings, next to it are its default and its range. Unknown keys are refused by
//! name; [`Config::check`] refuses values out of range and choices that exclude each other.
//!
//! Layers are merged as tables before they become a `Config`: preset, file, single settings; later ones win. See [`Layers`].

mod automatic;
mod checks;
mod comments;
mod layers;
mod preset;
mod unused;

pub(crate) use checks::combine_before;
pub use hone_base::settings::Auto;
pub use layers::{Layers, solver_settings};
pub use preset::{DEFAULT_PRESET, PRESETS};
pub use unused::Unused;

use std::fmt;

use hone_base::settings;
use hone_base::settings::{LARGEST, Number, SMALLEST};
use serde::{Deserialize, Serialize};

use crate::attributes::Table;
use crate::dense::Norm;
use crate::diffuse::Diffusion;
use crate::factor::Solver;
use crate::factor::svd::Svd;
use crate::features::{Origin, Structure};
use crate::matrix::{Accumulate, Degree, MotifMatrix, Order, Psi};
use crate::motif::triad::Occurrence;
use crate::motif::{Delta, Motif, MotifSet, Orbit, Pairs, Sample};
use crate::tensor::Scaling;

/// The most steps K that are accepted.
pub const MAX_STEPS: usize = 16;
/// The most columns of an embedding, or of a part of one, that are accepted.
pub const MAX_DIM: usize = 1 << 16;

/// What follows the name of a motif where its target factors are meant.
pub(crate) const TARGET: &str = ":target";
/// What follows the name of a motif in the name of its log window.
pub(crate) const LOG: &str = ":log";

settings! {
    /// Every choice of the method. `Config::default()` is the preset `hone`, as for the command and for Python; what a file
    /// leaves out is as there. docs/quality.md says how it was chosen and how well it performs.
    ///
    /// ```
    /// use hone::{Config, matrix::Psi};
    /// let mine = Config { seed: 7, psi: Psi::P, ..Config::preset("hone-p")? };
    /// assert_ne!(mine, Config::default());
    /// assert_eq!(Config::default(), Config::preset("hone")?);
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub struct Config {
        /// Seed of all random numbers: the same seed gives bit-identical results for any number of threads.
        pub seed: u64 = 0,
        /// "all" (13 edge orbits), "graphlets" (9), "triads" or "triad-orbits" (directed graphs), or a list of names.
        pub motifs: MotifSet = MotifSet::List(vec![Motif::Orbit(Orbit::Edge)]),
        /// exact, or estimates from at most cap=64 neighbours, or with error=0.1,confidence=0.95.
        pub sample: Sample = Sample::default(),
        /// Edges with fewer occurrences of a motif are left out of its motif graph; also per motif: { triangle = 3 }.
        pub delta: Delta = Delta::default(),
        /// Pairs linked in a motif graph: edges, or occurrences (all pairs that share one, adjacent or not).
        pub pairs: Pairs = Pairs::Edges,
        /// Directed motifs: induced, or subgraph (all triads that contain the motif).
        pub occurrence: Occurrence = Occurrence::Induced,
        /// Edge weights multiply the motif counts: auto (if the graph has weights), true or false.
        pub weights: Auto<bool> = Auto::Auto,
        /// Motif matrix: w, p (transition), l (Laplacian), l-norm (normalised), l-rw (random walk), a-norm (I − l-norm).
        pub psi: Psi = Psi::ANorm,
        /// psi-of-power: Psi(W^k); power-of-psi: Psi(W)^k; auto: the latter for p and a-norm, else the former.
        pub order: Order = Order::Auto,
        /// Arcs of directed graphs: auto, keep (vectors of sources and of targets side by side), source, or ignore.
        pub direction: Direction = Direction::Auto,
        /// Weight of arcs against their direction, from 0 (the paper) to 1, or "auto": 0.5 if arcs keep their direction.
        #[range(0.0..=1.0)]
        pub reverse: Auto<f64> = Auto::Auto,
        /// Motif degree of directed graphs: out, in, total, or auto (total if arcs keep their direction).
        pub degree: Degree = Degree::Auto,
        /// Number of steps, K in the paper: 1 to 16, or "auto".
        #[range(1..=MAX_STEPS)]
        pub steps: Auto<usize> = Auto::Given(3),
        /// The first step that is used (1 in the paper), or "last": the last alone.
        #[range(1..=MAX_STEPS)]
        pub first_step: FirstStep = FirstStep::Last,
        /// none, mean (of steps 1..k), or { decay = alpha }.
        pub accumulate: Accumulate = Accumulate::None,
        /// Added to motif degrees before dividing by them, in multiples of their mean; 0 in the paper.
        #[range(0.0..=LARGEST)]
        pub regularize: f64 = 0.5,
        /// Share of steps in which a walk stays, for psi = p and a-norm: 0 (the paper) to 0.9, or "auto": 0.2 if the graph is
        /// bipartite.
        #[range(0.0..=0.9)]
        pub laziness: Auto<f64> = Auto::Auto,
        /// separate: local embeddings, then a global one; tucker or cp: all motif matrices at once, as a tensor.
        pub model: Model = Model::Separate,
        /// Local embeddings, one per motif and step: each motif matrix S is factored, S ≈ U V.
        pub local: Local = Local::default(),
        /// The global embedding: Y, all local embeddings side by side, is factored, Y ≈ Z H.
        pub global: Global = Global::default(),
        /// The tensor of all motif matrices, for model = tucker or cp; its vectors have global.dim dimensions.
        pub joint: Joint = Joint::default(),
        /// Structure: node features from motif counts.
        pub structure: Structure = Structure::default(),
        /// Node attributes of the user.
        pub attributes: Attributes = Attributes::default(),
        /// How node features, both structure and attributes, are combined with the embedding.
        pub features: Features = Features::default(),
    }
}

settings! {
    /// Local embeddings: S_t^(k) ≈ U V, one per motif and step.
    pub struct Local {
        /// Columns of each local embedding, or "auto": 16, more if global.dim needs more.
        #[range(1..=MAX_DIM)]
        pub dim: Auto<usize> = Auto::Auto,
        /// How columns are normalised: l2, l1, max or none.
        pub norm: Norm = Norm::L2,
        /// unit: none; sigma: by the singular value; spectral: by a power of it, lower if the spectrum shows no communities.
        pub scale: Scale = Scale::Spectral,
        /// Each row is divided by its length to this power; 0 in the paper.
        #[range(0.0..=4.0)]
        pub row_power: f64 = 0.5,
        /// A second view of each motif: factors of the logarithm of a window matrix.
        pub log_window: LogWindow = LogWindow::default(),
        /// How the factors are computed; `hone list solvers` lists the methods, docs/solvers.md their options.
        pub solver: Solver = Solver::Svd(Svd { oversampling: 16, filter: 8, ..Svd::default() }),
    }
}

settings! {
    /// The logarithm of a window matrix, see [`crate::factor::log_window`].
    ///
    /// It is computed from eigenvectors of the normalised motif matrix. If other settings need another matrix or solver,
    /// the view is left out, and a note says why. There is none if arcs keep their direction.
    #[derive(Copy)]
    pub struct LogWindow {
        /// Steps of the window; 0 for no second view.
        #[range(0..=MAX_STEPS)]
        pub steps: usize = 2,
        /// Columns of the view, or "auto": half of the columns of Z per motif.
        #[range(1..=MAX_DIM)]
        pub dim: Auto<usize> = Auto::Auto,
        /// Squared norm relative to that of the local embedding, or "auto": larger the more clearly the spectrum shows
        /// communities.
        #[range(SMALLEST..=LARGEST)]
        pub weight: Auto<f64> = Auto::Auto,
    }
}

settings! {
    /// The global embedding: Y ≈ Z H.
    pub struct Global {
        /// Dimensions of the vectors.
        #[range(1..=MAX_DIM)]
        pub dim: usize = 128,
        /// Vectors to return: global (Z), or local (Y, all local embeddings side by side).
        pub output: Output = Output::Global,
        /// How Z and H are computed: the same methods, or autoencoder.
        pub solver: Solver = Solver::default(),
    }
}

settings! {
    /// Options of the joint models.
    #[derive(Copy)]
    pub struct Joint {
        /// How each matrix is scaled: frobenius (norm 1), spectral (largest singular value 1) or none.
        pub slices: Scaling = Scaling::Frobenius,
        /// Motif factors of tucker; cp has one per dimension.
        #[range(1..=MAX_DIM)]
        pub motif_rank: usize = 8,
        /// Maximum number of sweeps; 0 keeps the start, the higher-order SVD.
        pub iterations: usize = 20,
        /// Stop after a sweep that lowers the relative loss by less than this.
        #[range(0.0..=LARGEST)]
        pub tolerance: f64 = 1e-4,
        /// Weight of the squared factors in the loss of cp.
        #[range(0.0..=LARGEST)]
        pub regularization: f64 = 1e-5,
    }
}

settings! {
    /// Node attributes of the user (sec. 2.6): columns of their own, unless features.form = "columns".
    pub struct Attributes {
        /// The file that has them; see [`crate::attributes`].
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String> = None,
        /// Columns of the attributes in the result, or "auto": at most half of global.dim.
        #[range(1..=MAX_DIM)]
        pub dim: Auto<usize> = Auto::Auto,
        /// Squared norm of these columns relative to that of proximity.
        #[range(SMALLEST..=LARGEST)]
        pub weight: f64 = 4.0,
        /// Squared norm of words relative to that of numbers and categories, where there are both.
        #[range(SMALLEST..=LARGEST)]
        pub words: f64 = 1.0,
        /// Attributes are averaged over walks of up to this many steps; 0: those of the node alone.
        #[range(0..=MAX_STEPS)]
        pub steps: usize = 4,
        /// How a table of attributes is read; attributes.file = "FILE" names it.
        pub table: Table = Table::default(),
    }
}

settings! {
    /// How node features are used (sec. 2.6).
    pub struct Features {
        /// columns, or { components = { dim, size-decay, level-decay, offset, extremes } }; dim = "auto": one column in 8, 16 at
        /// most.
        pub form: Form = Form::Components(Components::default()),
        /// before: next to the local embeddings; after: next to the global embedding.
        pub combine: Combine = Combine::After,
        /// Squared norm relative to that of the columns next to them; a quarter of it with directed motifs; "unit": no scaling;
        /// "auto": 20, or down to 2 the more clearly the spectrum shows communities; 1 next to columns of attributes.
        #[range(SMALLEST..=LARGEST)]
        pub weight: Balance = Balance::Auto,
        /// How features are diffused over each motif graph.
        pub diffusion: Diffusion = Diffusion::default(),
    }
}

settings! {
    /// Principal components of features, unscaled.
    #[derive(Copy)]
    pub struct Components {
        /// Number of components, or "auto": one column in 8, 16 at most.
        #[range(0..=MAX_DIM)]
        pub dim: Auto<usize> = Auto::Auto,
        /// Counts of motifs with s nodes are divided by this to the power s − 2.
        #[range(SMALLEST..=LARGEST)]
        pub size_decay: f64 = 3.0,
        /// Aggregates over neighbours are divided by this, once per level.
        #[range(SMALLEST..=LARGEST)]
        pub level_decay: f64 = 2.0,
        /// Added to each component, in standard deviations.
        #[range(-LARGEST..=LARGEST)]
        pub offset: f64 = 3.0,
        /// Scale of the last column, x²/(1 + x²) of the first component x; 0 for none.
        #[range(0.0..=LARGEST)]
        pub extremes: f64 = 1.0,
    }
}

/// The first step that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    expecting = "must be a step from 1 on or \"last\""
)]
#[non_exhaustive]
pub enum FirstStep {
    /// The last one alone, whatever their number: `"last"`.
    Last,
    /// This one; steps before it are left out.
    #[serde(untagged)]
    Fixed(usize),
}

impl FirstStep {
    /// The first of the steps 1..=`steps` that is kept; the last at most.
    pub fn of(self, steps: usize) -> usize {
        self.number().map_or(steps, |first| first.min(steps))
    }
}

impl Number<usize> for FirstStep {
    const OR: &'static str = ", nor \"last\"";
    fn number(&self) -> Option<usize> {
        match *self {
            FirstStep::Last => None,
            FirstStep::Fixed(first) => Some(first),
        }
    }
}

/// How motif graphs use the direction of arcs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Direction {
    /// Whatever suits the graph: `keep` for directed graphs, with `reverse`, `degree` and motifs of features that go with
    /// it; see [`Config::of`].
    Auto,
    /// W_t holds an arc in its own direction only, as in the paper; target factors are placed next to the source
    /// factors, so that nodes without outgoing arcs are placed by their incoming ones.
    #[default]
    Keep,
    /// The same with the source factors alone, the U of eq. 13.
    Source,
    /// W_t holds an edge wherever there is an arc in either direction, with the sum of their weights.
    Ignore,
}

/// How motif matrices become an embedding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Model {
    /// A local embedding per motif and step, then a global one: the paper's two stages.
    #[default]
    Separate,
    /// All at once, by a Tucker decomposition of the tensor they form.
    Tucker,
    /// All at once, by a CP decomposition of it.
    Cp,
}

/// Names of the models and what each does.
pub const MODELS: [(&str, &str); 3] = [
    (
        "separate",
        "A local embedding per motif and step, then a global one, each by a solver: the paper's two stages.",
    ),
    (
        "tucker",
        "All motif matrices at once: the Tucker decomposition of their tensor, by alternating SVDs.",
    ),
    (
        "cp",
        "All motif matrices at once: the CP decomposition of their tensor, by alternating least squares.",
    ),
];

impl Model {
    /// The name in configurations.
    pub fn name(self) -> &'static str {
        MODELS[self as usize].0
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

/// The scale of features relative to that of the embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    expecting = "a weight is a number, \"unit\" or \"auto\""
)]
#[non_exhaustive]
pub enum Balance {
    /// 20 times that of the embeddings, or as much as that of embeddings and attributes together.
    Auto,
    /// As in the paper: each column keeps the length one that the normalisation gave it.
    Unit,
    /// The squared Frobenius norm is this many times that of the embeddings.
    #[serde(untagged)]
    Times(f64),
}

impl Number<f64> for Balance {
    const OR: &'static str = ", nor \"unit\" or \"auto\"";
    fn number(&self) -> Option<f64> {
        match *self {
            Balance::Unit | Balance::Auto => None,
            Balance::Times(times) => Some(times),
        }
    }
}

/// How feature columns are transformed before they are added to the embedding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Form {
    /// They stay columns, normalised like those of the local embeddings.
    Columns,
    /// They are standardised and replaced by principal components.
    Components(Components),
}

impl Components {
    /// Whether the last of this many columns is that of extremes; fewer than four are all components.
    pub(crate) fn has_extremes(&self, dim: usize) -> bool {
        self.extremes > 0.0 && dim >= 4
    }

    /// What a column is multiplied by once it has unit variance.
    pub(crate) fn weight(&self, origin: &Origin) -> f64 {
        self.size_decay.powi(2 - origin.size().max(2) as i32)
            * self.level_decay.powi(-(origin.level as i32))
    }
}

/// Where features are added to the embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Combine {
    /// As further columns of Y, before the global stage.
    Before,
    /// Next to Z, after the global stage.
    After,
}

impl Config {
    /// The same with vectors of another length, `global.dim`.
    #[must_use]
    pub fn with_dim(mut self, dim: usize) -> Self {
        self.global.dim = dim;
        self
    }

    /// Whether nodes have features: of structure, or attributes of a file.
    pub fn has_features(&self) -> bool {
        self.structure.enabled || self.attributes.file.is_some()
    }

    /// Whether edge weights are used, if there are any.
    pub(crate) fn uses_weights(&self) -> bool {
        self.weights != Auto::Given(false) && self.pairs == Pairs::Edges
    }

    /// The motifs that a run counts: those of matrices, and those of features.
    pub fn counted_motifs(&self) -> Vec<Motif> {
        let mut motifs = self.motifs.motifs();
        if self.structure.enabled {
            motifs.extend(self.structure.motifs.motifs());
        }
        motifs
    }

    /// Whether any of these counts can be an estimate: those of edges and of directed motifs are exact.
    pub(crate) fn estimates(&self) -> bool {
        let can_be = |motif: &Motif| !motif.is_directed() && motif.name() != "edge";
        self.sample != Sample::Exact && self.counted_motifs().iter().any(can_be)
    }

    /// The choices that lead from W_t to S_t^(k).
    pub fn matrix(&self) -> MotifMatrix {
        MotifMatrix {
            psi: self.psi,
            order: self.order,
            degree: self.degree,
            accumulate: self.accumulate,
            regularize: self.regularize,
            laziness: self.laziness.or(0.0),
        }
    }

    /// The configuration as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a Config is a table of plain values")
    }
}
