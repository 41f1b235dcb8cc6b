//! The foundation of hone: errors, progress, keyed random streams, parallel loops, memory, sparse rows, storage of long runs of
//! values, and processes that work together. Use it through the crates above, which re-export what their users need.

// For the other crates of this project; nothing that a user of the library needs.
#[doc(hidden)]
pub mod clock;
pub mod communicator;
pub mod error;
#[doc(hidden)]
pub mod hashing;
#[doc(hidden)]
pub mod manual;
#[doc(hidden)]
pub mod memory;
pub mod message;
#[doc(hidden)]
pub mod parallel;
pub mod progress;
pub mod random;
pub mod settings;
pub mod sparse;
#[doc(hidden)]
pub mod spelling;
#[doc(hidden)]
pub mod storage;
#[doc(hidden)]
pub mod terminal;

pub use error::{Error, Result};
pub use progress::{Progress, Silent};
