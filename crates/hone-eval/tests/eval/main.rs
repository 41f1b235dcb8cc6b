//! Measures, classifiers and tasks. One program: what all tests share is compiled and linked once.

mod learn;
mod tasks;
