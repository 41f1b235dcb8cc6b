#![doc = include_str!("../README.md")]

pub mod dense;
pub mod factor;
pub mod matrix;
pub mod operator;
pub mod space;
pub mod sparse;
pub mod tensor;

pub use hone_base::{Error, Progress, Result, Silent, error, message, progress, random};
use hone_base::{clock, memory, parallel, storage};
