//! The foundation through its public interface.

mod hashing;
mod memory;
mod message;
mod parallel;
mod sparse;
mod storage;
mod terminal;
mod words;
