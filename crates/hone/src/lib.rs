//! Higher-order network embeddings: node vectors in which edges shape proximity and motifs shape structure.
//!
//! ```
//! use hone::{Config, Hone, Silent, graph};
//! let graph = graph::builtin("karate")?;
//! let run = Hone::new(Config::default())?.embed(&graph, &Silent)?;
//! let vector = run.embedding.vectors.row(0);
//! assert_eq!(vector.len(), 128);
//! # Ok::<(), hone::Error>(())
//! ```
//!
//! The modules read like the paper (*HONE: Higher-Order Network Embeddings*, Rossi et al. 2018):
//!
//! | section | what | where |
//! |---|---|---|
//! | 2.1 | motifs: graphlets and edge orbits | [`motif::Orbit`], [`motif::Graphlet`], [`motif::MotifSet`] |
//! | 2.2 | weighted motif graphs W_t | [`motif::count`], [`motif::Counts::motif_graph`] |
//! | 2.3 | motif matrix functions Ψ | [`matrix::Psi`], [`matrix::MotifMatrix`] |
//! | 2.4 | k-step matrices, never formed | [`operator::Operator`] |
//! | 2.4 | local embeddings S ≈ Φ⟨UV⟩ | [`factor::Solver`] |
//! | 2.5 | global embedding Y ≈ ZH | [`Hone`] |
//! | 2.5 | all motif matrices as one tensor | [`tensor`] |
//! | 2.6 | attributes of the user | [`attributes::read`] |
//! | 2.6 | attribute diffusion | [`diffuse::Diffusion`] |
//! | 2.7 | accumulation | [`matrix::Accumulate`] |
//! | 4.3 | node features from motif counts | [`features::Structure`] |
//!
//! Graphs and motifs ([`graph`], [`motif`]), linear algebra ([`dense`] to [`tensor`]) and file formats ([`attributes`],
//! [`output`], [`record`], [`store`]) are crates of their own, which are re-exported here. The method is [`config`] <
//! [`features`], [`diffuse`] < [`report`] < [`engine`] < [`embed`].

pub mod cluster;
pub mod config;
pub mod diffuse;
pub mod embed;
pub mod engine;
pub mod features;

pub mod report;

pub use config::Config;
#[doc(hidden)]
pub use embed::Shortage;
pub use embed::{Hone, Like, Model, Run};
pub use hone_base::{
    Error, Progress, Result, Silent, communicator, error, memory, message, progress, random,
};
pub use hone_graph::motif;
pub use hone_io::{attributes, graph, output, record, store};
pub use hone_linalg::{dense, factor, matrix, operator, space, sparse, tensor};
// Parallel loops, maps with a seed and misspelt names are for the other crates of this project; where time goes and memory on huge pages for this one.
use hone_base::{clock, storage};
#[doc(hidden)]
pub use hone_base::{hashing, manual, parallel, spelling, terminal};
