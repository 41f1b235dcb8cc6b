//! Linear algebra of tall matrices: dense blocks, sparse products, operators as expressions that are never formed, and
//! low-rank factors of them, from the truncated SVD to non-negative and tensor factorisations.
//!
//! All results are the same bits for any number of threads.

pub mod dense;
pub mod factor;
pub mod matrix;
pub mod operator;
pub mod space;
pub mod sparse;
pub mod tensor;

pub use hone_base::{Error, Progress, Result, Silent, error, progress, random};
use hone_base::{clock, memory, pages, parallel};
