//! Higher-order network embeddings: node vectors built from network motifs.
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
//! | 2.2, fig. 2 | pictures of motif graphs | [`draw::Drawing`] |
//! | 4.3 | node features from motif counts | [`features::Structure`] |
//!
//! Dependencies, strictly downward: [`memory`] < [`output`] < [`record`]; [`sparse`], [`peers`] < [`graph`] < [`motif`] <
//! [`features`], [`draw`]; [`sparse`] < [`space`] < [`operator`] < [`matrix`], [`factor`] < [`tensor`]; [`store`] <
//! [`attributes`]; [`matrix`] < [`diffuse`] < [`config`] < [`report`]; all < [`engine`] < [`embed`]. The lowest layer
//! ([`error`], [`progress`], [`random`], [`dense`]) is the crate `hone-base`.

pub mod attributes;
mod columnar;
pub mod config;
pub mod diffuse;
pub mod draw;
pub mod embed;
pub mod engine;
pub mod factor;
pub mod features;
pub mod graph;
pub mod matrix;
pub mod memory;
pub mod motif;
pub mod operator;
pub mod output;
pub mod peers;
pub mod record;
pub mod report;
pub mod space;
pub mod sparse;
pub mod store;
pub mod tensor;

pub use config::Config;
#[doc(hidden)]
pub use embed::Shortage;
pub use embed::{Hone, Like, Model, Run};
pub use hone_base::{Error, Progress, Result, Silent, dense, error, progress, random};
// Parallel loops, maps with a seed and misspelt names are for the other crates of this project; where time goes and memory on huge pages for this one.
pub(crate) use hone_base::{aside, clock, pages};
#[doc(hidden)]
pub use hone_base::{hashing, parallel, spelling};
