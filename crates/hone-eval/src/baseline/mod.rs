//! The embeddings and scores HONE is compared with, one a file.

mod alias;
mod line;
mod node2vec;
mod skipgram;
mod walk;

pub use line::{Line, Order};
pub use node2vec::Node2Vec;
