//! Measures, classifiers, baselines and tasks. One program: what all tests share is compiled and linked once.

#![allow(clippy::unwrap_used)]

mod baselines;
mod cache;
mod labels;
mod learn;
mod methods;
mod pairs;
mod report;
mod split;
mod stats;
mod tasks;
mod tune;
