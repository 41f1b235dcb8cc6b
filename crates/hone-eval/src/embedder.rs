//! [`Embedder`]: one way to give every node a vector, with all its options.

use std::path::{Path, PathBuf};

use hone::config::{Config, Weights};
use hone::{Error, Hone, Progress, Result, memory};
use serde::{Deserialize, Serialize};

use crate::baseline::{
    self, Degree, GraRep, GraphWave, Hope, Line, NetMf, Node2Vec, ProNe, RolX, Spectral,
};
use crate::foreign::{self, Vectors};
use crate::split::TrainGraph;

/// A method that gives every node a vector, with all its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Embedder {
    /// HONE; the seed of the configuration is replaced by that of the run.
    Hone(Box<Config>),
    /// DeepWalk and node2vec.
    Node2Vec(Node2Vec),
    /// LINE.
    Line(Line),
    /// GraRep.
    GraRep(GraRep),
    /// NetMF.
    NetMf(NetMf),
    /// ProNE.
    ProNe(ProNe),
    /// HOPE.
    Hope(Hope),
    /// RolX.
    RolX(RolX),
    /// GraphWave.
    GraphWave(GraphWave),
    /// Spectral embedding.
    Spectral(Spectral),
    /// Hand-made degree and triangle features.
    Degree(Degree),
    /// Random vectors.
    Random(Random),
    /// Vectors from a file, made elsewhere.
    File(PathBuf),
}

/// The file that holds the vectors of a seed: `{seed}` stands for its number.
pub(crate) fn file_of_seed(path: &Path, seed: u64) -> PathBuf {
    PathBuf::from(path.to_string_lossy().replace("{seed}", &seed.to_string()))
}

/// Options of random vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Random {
    /// Length of the vectors, D.
    pub dim: usize,
}

impl Default for Random {
    fn default() -> Self {
        Random { dim: 128 }
    }
}

impl Embedder {
    /// The vectors of all nodes of the training graph.
    pub fn embed(&self, train: &TrainGraph, seed: u64, progress: &dyn Progress) -> Result<Vectors> {
        let graph = train.graph();
        self.check()?;
        self.check_room(graph.nodes())?;
        let block = match self {
            Embedder::Hone(config) => {
                let config = Config {
                    seed,
                    ..Config::clone(config)
                };
                Ok(Hone::new(config)?.embed(graph, progress)?.embedding.vectors)
            }
            Embedder::Node2Vec(options) => options.embed(graph, seed, progress),
            Embedder::Line(options) => options.embed(graph, seed, progress),
            Embedder::GraRep(options) => options.embed(graph, seed, progress),
            Embedder::NetMf(options) => options.embed(graph, seed, progress),
            Embedder::ProNe(options) => options.embed(graph, seed, progress),
            Embedder::Hope(options) => options.embed(graph, seed, progress),
            Embedder::RolX(options) => options.embed(graph, seed, progress),
            Embedder::GraphWave(options) => options.embed(graph, progress),
            Embedder::Spectral(options) => options.embed(graph, seed),
            Embedder::Degree(options) => options.embed(graph),
            Embedder::Random(options) => Ok(baseline::random(graph.nodes(), options.dim, seed)),
            Embedder::File(path) => return foreign::read(file_of_seed(path, seed), graph),
        };
        Ok(Vectors {
            block: block?,
            notes: Vec::new(),
        })
    }
}

/// Bytes that vectors may take where the system does not report what is free.
const FAR_TOO_MUCH: u64 = 1 << 40;

impl Embedder {
    /// Whether the weights of edges matter to it.
    pub fn uses_weights(&self) -> bool {
        match self {
            Embedder::Hone(config) => config.weights != Weights::Ignored,
            Embedder::Degree(_) | Embedder::RolX(_) | Embedder::Random(_) => false,
            _ => true,
        }
    }

    /// Refuses options out of range.
    pub fn check(&self) -> Result<()> {
        match self {
            Embedder::Hone(config) => config.check(),
            Embedder::Node2Vec(options) => options.check(),
            Embedder::Line(options) => options.check(),
            Embedder::GraRep(options) => options.check(),
            Embedder::NetMf(options) => options.check(),
            Embedder::ProNe(options) => options.check(),
            Embedder::Hope(options) => options.check(),
            Embedder::RolX(options) => options.check(),
            Embedder::GraphWave(options) => options.check(),
            Embedder::Spectral(options) => options.check(),
            Embedder::Degree(options) => options.check(),
            Embedder::Random(options) => baseline::check_dim(options.dim),
            Embedder::File(_) => Ok(()),
        }
    }

    /// Refuses vectors that memory does not hold; HONE sees to its own.
    fn check_room(&self, nodes: usize) -> Result<()> {
        // Rows at work beside the result: contexts of skip-gram, the blocks of an eigensolver in f64.
        let padded = |dim: usize| dim.saturating_add(baseline::PAD - 1);
        let (dim, rows, pool) = match self {
            Embedder::Node2Vec(options) => (padded(options.dim), 3, options.pool_bytes()),
            Embedder::Line(options) => (padded(options.dim), 3, options.pool_bytes()),
            Embedder::GraRep(options) => (options.dim, 5, 0),
            Embedder::NetMf(options) => (options.dim.max(options.rank), 9, 0),
            Embedder::ProNe(options) => (options.dim, 7, 0),
            Embedder::Hope(options) => (options.dim, 7, 0),
            Embedder::RolX(options) => (options.dim, 5, 0),
            Embedder::GraphWave(options) => (options.dim(), 1, 0),
            Embedder::Spectral(options) => (options.dim, 9, 0),
            Embedder::Random(options) => (options.dim, 1, 0),
            Embedder::Hone(_) | Embedder::Degree(_) | Embedder::File(_) => return Ok(()),
        };
        let need = (nodes as u64)
            .saturating_mul(dim as u64)
            .saturating_mul(4 * rows)
            .saturating_add(pool);
        let limit = memory::available().unwrap_or(FAR_TOO_MUCH);
        if need > limit {
            let less = if pool > need / 2 {
                "`length`, `window` or `negatives`"
            } else {
                "`dim`"
            };
            let remedy = format!("give the method a smaller {less}");
            return Err(Error::Memory {
                stage: "the baseline".into(),
                need,
                least: false,
                limit,
                remedy,
            });
        }
        Ok(())
    }
}
