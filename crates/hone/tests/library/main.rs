//! The library through its public interface. One program: what all tests share is compiled and linked once.

mod attribute_files;
mod attributes;
mod columns;
mod dense;
mod divergences;
mod embed;
mod engine;
mod entries;
mod features;
mod laws;
mod mangled;
mod matrix;
mod naive;
mod operator;
mod output;
mod peers;
mod readers;
mod scale;
mod shared;
mod skip;
mod solvers;
mod space;
mod squared;
mod store;
mod svd;
mod tensor;
