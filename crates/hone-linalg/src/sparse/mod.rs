//! Products of sparse matrices with tall blocks, exact and with rounded blocks.

mod multiply;
mod rounded;

pub use hone_base::sparse::{Csr, Diagonal, Indices, Pattern, RemoteValues, prefetch};
pub use multiply::{Fused, Multiply, Plus};
pub use rounded::Rounded;
