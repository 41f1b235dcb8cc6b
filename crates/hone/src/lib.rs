//! Higher-order network embeddings: node vectors built from network motifs.

pub mod columnar;
pub mod dense;
pub mod error;
pub mod factor;
pub mod graph;
pub mod matrix;
pub mod memory;
pub mod motif;
pub mod operator;
pub mod output;
pub mod progress;
pub mod random;
pub mod sparse;
pub mod store;

pub use error::{Error, Result};
pub use progress::{Progress, Silent};
