//! The experiments, one a file.

mod link;
mod nodes;
mod runtime;
mod structure;

pub use link::{LinkCell, LinkConfig, Outcome, Protocol, link};
pub use nodes::{NodeScore, NodesCell, NodesConfig, nodes};
pub use runtime::{RuntimeConfig, Times, runtime};
pub use structure::{StructureCell, Symmetric, structure, symmetric_graphs};
