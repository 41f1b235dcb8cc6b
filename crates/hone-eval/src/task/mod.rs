//! The experiments, one a file.

mod link;

pub use link::{LinkCell, LinkConfig, Outcome, Protocol, link};
