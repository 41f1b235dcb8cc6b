//! One subcommand per file.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod count;
pub(crate) mod draw;
pub(crate) mod embed;
pub(crate) mod eval;
pub(crate) mod features;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod layout;
pub(crate) mod man;
pub(crate) mod map;
pub(crate) mod roles;
pub(crate) mod similar;
pub(crate) mod solvers;
pub(crate) mod tune;
