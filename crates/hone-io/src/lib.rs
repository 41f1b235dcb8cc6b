//! File formats: graphs, attributes, vectors, counts, factors and models, and files that appear complete or not at all.

// Values are written as they are in memory; files are little-endian.
#[cfg(target_endian = "big")]
compile_error!("big-endian machines are not supported");

pub mod attributes;
pub mod columnar;
pub mod graph;
pub mod output;
pub mod record;
pub mod store;

use hone_base::{
    communicator, error, hashing, memory, message, parallel, progress, sparse, storage, terminal,
};
use hone_graph::motif;
use hone_linalg::dense;
