//! The command `hone`, run as a user runs it. One program: what all tests share is compiled and linked once.

mod attributes;
mod choices;
mod command;
mod count;
mod embed;
mod eval;
mod explore;
mod files;
mod input;
mod scale;
#[path = "../../../hone/tests/library/skip.rs"]
mod skip;
mod statistics;
mod terminal;
