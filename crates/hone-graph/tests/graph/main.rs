//! Graphs and motif counts through the public interface, against slow truths that share no code with them.

mod arcs;
mod builder;
mod edits;
mod generate;
mod ids;
mod motif;
mod shape;
#[path = "../../../hone/tests/library/skip.rs"]
mod skip;
