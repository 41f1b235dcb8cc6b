//! The foundation of hone: errors, progress, clocks, memory, keyed randomness and dense blocks.
//!
//! It is a separate crate because it alone calls the dense linear algebra library, whose generic code is slow
//! to compile: changes above it do not compile that code again. Use it through the crate `hone`, which re-exports what
//! its users need.

// For the other crates of this project; nothing that a user of the library needs.
#[doc(hidden)]
pub mod clock;
pub mod communicator;
pub mod error;
#[doc(hidden)]
pub mod hashing;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod parallel;
pub mod progress;
pub mod random;
pub mod sparse;
#[doc(hidden)]
pub mod spelling;
#[doc(hidden)]
pub mod storage;
#[doc(hidden)]
pub mod terminal;

pub use error::{Error, Result};
pub use progress::{Progress, Silent};
