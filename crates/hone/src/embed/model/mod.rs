//! [`Model`]: what is kept of a fit, so that other graphs get vectors in the same space.
//!
//! A *view* is one local embedding of the fit: the leading factors of S = B^K with B = ℓI + (1−ℓ)A, ℓ being the laziness and
//! A = (D+τ)^-½ W (D+τ)^-½ the normalised matrix of a motif graph. Kept are its left factors X, the matrix C = Xᵀ A X
//! (A X ≈ X C, so B X ≈ X L with L = ℓI + (1−ℓ)C) and an orthogonal matrix Q with X L^K Q = U Σ^K. Everything else follows
//! from these three, for nodes of the fit and for others:
//!
//! * a node of the fit whose edges did not change keeps its vector, bit for bit;
//! * any other row s of S has the factors s V, where V = X Q in the basis of the fit (`place/rows`);
//! * factors that no longer fit are refined from the old ones and rotated back onto the nodes that both graphs have
//!   (`place/refine`): orthogonal Procrustes (Schönemann 1966);
//! * a log window is a function of the row s V and of the degree: X = (S V) Qᵀ L^-K, and L^-K goes into the landmarks.
//!
//! Structure columns are a fixed function of motif counts: the means, scales and components of the fit, less what all shared
//! nodes gained together (`place/structure`). What the local embedding does beyond (weights of columns, length of rows, the
//! rotation of the global stage, sizes) is the same for every row, and kept as numbers.
//!
//! That algebra needs a symmetric matrix whose power is taken last. `support` says by name which settings have it; the
//! preset `hone` does. A directed graph has a view for each side of its factors, made of other products (`fit`).
//!
//! Profiles of attributes are a fixed function of the attributes, which are kept for nodes of the fit as rows of X V, and of the
//! graph that is placed (`profiles`).
//!
//! Cost: a fit takes one more product with A for C. Placing n new nodes takes O(edges of these) products of the width of a
//! view; structure columns take the motif counts of the graph, which are updated from those of the fit or made.

mod file;
mod fit;
mod matching;
mod support;
mod tall;

pub(super) use fit::{Draft, degrees, keep_factors, normalized, product, relative_residual, root};
pub(super) use matching::{marks, names, neighbours, node, numbers};
pub(super) use support::{check as check_support, check_directed};
pub(super) use tall::{Rows, Tall};

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::profiles::Profiles;
use crate::config::Config;
use crate::dense::{Block, Small};
use crate::error::Result;
use crate::factor::log_window::Landmarks;
use crate::graph::{GraphFacts, NodeIds};
use crate::motif::{Counts, Motif};
use crate::report::ColumnBlock;

/// A fit that others can be placed in: made by [`Hone::fit`](super::Hone::fit), kept in a file.
///
/// ```
/// use hone::{Config, Hone, Like, Silent, graph};
/// let karate = graph::builtin("karate")?;
/// let (fit, model) = Hone::new(Config::default())?.fit(&karate, &Silent)?;
/// let again = model.embed(&karate, &Like::default(), &Silent)?;
/// assert_eq!(fit.embedding, again.embedding, "the same graph has the same vectors");
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    facts: ModelFacts,
    ids: NodeIds,
    pub(super) vectors: Tall,
    pub(super) views: Vec<View>,
    /// What Y is multiplied with to give Z; nothing where Y is the result.
    pub(super) h: Option<Block>,
    /// What features and a column of ones are multiplied with; nothing where there is no structure.
    pub(super) structure: Option<Small>,
    pub(super) scales: Scales,
    /// What makes columns of attributes; nothing where there are none.
    pub(super) profiles: Option<KnownProfiles>,
    /// Triangles of each node of the fit; nothing where motifs of undirected edges were not counted.
    pub(super) triangles: Option<Vec<u64>>,
    /// Exact counts without directions, while the model is in memory. A file has none: with them goes the adjacency of the fit,
    /// which a model does not give away.
    pub(super) counts: Option<Arc<Counts>>,
}

/// Whether both place nodes alike, with motif counts or without.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.facts == other.facts
            && self.ids == other.ids
            && self.vectors == other.vectors
            && self.views == other.views
            && self.h == other.h
            && self.structure == other.structure
            && self.scales == other.scales
            && self.profiles == other.profiles
            && self.triangles == other.triangles
    }
}

/// What a model says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// Version of the library that made it.
    pub version: String,
    /// Every choice of the fit.
    pub config: Config,
    /// The graph of the fit.
    pub graph: GraphFacts,
    /// Its [fingerprint](crate::graph::Graph::fingerprint).
    pub fingerprint: String,
    /// Name of each column.
    pub columns: Vec<String>,
    /// Which columns belong together.
    pub blocks: Vec<ColumnBlock>,
    /// Names of the features that structure columns are made of.
    pub features: Vec<String>,
    /// The local embeddings.
    pub views: Vec<ViewFacts>,
}

/// A local embedding of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewFacts {
    /// Name of the motif.
    pub motif: String,
    /// K, the power that is factored.
    pub step: usize,
    /// Which factors they are.
    #[serde(default)]
    pub side: ViewSide,
    /// The share of steps in which walks stay.
    #[serde(default)]
    pub laziness: f64,
}

/// Which factors of a matrix a local embedding has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewSide {
    /// Those of a symmetric matrix.
    #[default]
    Both,
    /// U: where arcs lead.
    Source,
    /// V: where arcs come from.
    Target,
}

/// What makes profiles of nodes, and what the attributes of those of the fit are then: the rows of X V.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KnownProfiles {
    pub(super) profiles: Profiles,
    pub(super) rows: Tall,
}

/// What Z and columns of features are multiplied with in the last stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scales {
    pub(super) z: f64,
    pub(super) attributes: f64,
    pub(super) x: f64,
}

impl Default for Scales {
    fn default() -> Self {
        Scales {
            z: 1.0,
            attributes: 1.0,
            x: 1.0,
        }
    }
}

/// One local embedding: what rows of S are multiplied with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct View {
    pub(super) motif: Motif,
    pub(super) step: usize,
    pub(super) side: ViewSide,
    /// Numbers of the nodes that are the rows, ascending; nothing for all nodes.
    nodes: Option<Vec<u32>>,
    /// X, one row per node; for one side what its rows of A are multiplied with.
    pub(super) x: Tall,
    pub(super) basis: Basis,
    /// Motif degree of each node; that of arcs both ways, for one side.
    pub(super) degrees: Vec<f64>,
    /// A number for the neighbours of each node and the weights of the edges to them; see [`matching`].
    pub(super) marks: Vec<u64>,
    /// What each column of s V is multiplied with.
    pub(super) weights: Vec<f64>,
    /// τ, which is added to every degree.
    pub(super) tau: f64,
    /// ‖A X − X C‖ / ‖X C‖.
    pub(super) residual: f64,
    /// The log window beside it, where there is one.
    pub(super) log: Option<Log>,
}

/// The log window of a view, as a function of rows of S.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Log {
    /// Landmarks in the basis of rows s V.
    pub(super) landmarks: Landmarks,
    /// What rows are multiplied with in the end.
    pub(super) size: f64,
}

/// C and Q, for one side R and I, and the share of steps in which a walk stays.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Basis {
    pub(super) c: Small,
    pub(super) q: Small,
    pub(super) laziness: f64,
}

impl Model {
    /// What it says of itself.
    pub fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    /// Ids of the nodes of the fit.
    pub fn ids(&self) -> &NodeIds {
        &self.ids
    }

    /// The vectors of the fit; read from the file where the model was [opened](Model::open) only.
    pub fn vectors(&self) -> Result<Cow<'_, Block>> {
        self.vectors.whole()
    }

    /// Columns of attributes, which come between those of proximity and of structure.
    pub(super) fn attribute_columns(&self) -> usize {
        self.profiles
            .as_ref()
            .map_or(0, |known| known.profiles.cols())
    }

    /// Columns of structure, which come last.
    pub(super) fn structure_columns(&self) -> usize {
        self.structure.as_ref().map_or(0, Small::cols)
    }

    /// Columns before those of structure.
    pub(super) fn before_structure(&self) -> usize {
        self.vectors.cols() - self.structure_columns()
    }

    /// Columns of proximity, which come first.
    pub(super) fn z_columns(&self) -> usize {
        self.before_structure() - self.attribute_columns()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let view = |view: &View| {
            view.x.memory() + 16 * view.degrees.len() + 16 * view.basis.c.as_slice().len()
        };
        let ids = match &self.ids {
            NodeIds::Sequential(_) => 0,
            NodeIds::Integers(ids) => 8 * ids.len(),
            NodeIds::Text { offsets, bytes } => 8 * offsets.len() + bytes.len(),
        };
        let counts = |counts: &Arc<Counts>| {
            let pattern = counts.pattern();
            counts.bytes() + 8 * pattern.offsets().len() + 4 * pattern.nnz()
        };
        let views: usize = self.views.iter().map(view).sum();
        self.vectors.memory()
            + self.counts.as_ref().map_or(0, counts)
            + self.triangles.as_ref().map_or(0, |of| 8 * of.len())
            + self
                .profiles
                .as_ref()
                .map_or(0, |known| known.rows.memory())
            + ids
            + views
    }

    /// Whether it is of a directed graph, whose arcs count.
    pub(super) fn is_of_arcs(&self) -> bool {
        self.views.iter().any(|view| view.side != ViewSide::Both)
    }
}

impl View {
    /// Columns that it gives to Y.
    fn cols(&self) -> usize {
        self.x.cols() + self.log.as_ref().map_or(0, |log| log.landmarks.turn.cols())
    }

    /// The row of a node of the fit.
    pub(super) fn row_of(&self, node: u32) -> Option<usize> {
        match &self.nodes {
            None => Some(node as usize),
            Some(nodes) => nodes.binary_search(&node).ok(),
        }
    }
}

impl Basis {
    /// L = ℓI + (1−ℓ)C, one step.
    pub(super) fn step(&self) -> Small {
        let stays = |i: usize, j: usize| if i == j { self.laziness } else { 0.0 };
        Small::from_fn(self.c.rows(), self.c.cols(), |i, j| {
            stays(i, j) + (1.0 - self.laziness) * self.c.get(i, j)
        })
    }

    /// L to a power.
    pub(super) fn power(&self, k: usize) -> Small {
        let step = self.step();
        (0..k).fold(Small::identity(step.rows()), |power, _| power.times(&step))
    }
}
