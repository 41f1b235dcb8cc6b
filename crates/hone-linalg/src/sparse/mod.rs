//! Products of sparse matrices with tall blocks, exact and with rounded blocks.

mod multiply;
mod rounded;

pub use hone_base::sparse::{Csr, Diagonal, Elsewhere, Indices, Pattern, prefetch};
pub use multiply::{Fused, Multiply, Plus};
pub use rounded::Rounded;
