//! Sparse matrices in compressed rows: [`Pattern`] (positions) and [`Csr`] (positions and values).
//!
//! Many matrices of the method share one pattern (all W_t share the graph's), so the pattern is
//! reference-counted and stored separately from the values.

mod csr;
mod diagonal;
mod pattern;
mod prefetch;

pub use csr::{Csr, RemoteValues};
pub use diagonal::Diagonal;
pub use pattern::{Indices, Pattern};
pub use prefetch::prefetch;
