//! One subcommand per file.

pub(crate) mod cluster;
pub(crate) mod coefficients;
pub(crate) mod compare;
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
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod map;
pub(crate) mod place;
pub(crate) mod roles;
pub(crate) mod significance;
pub(crate) mod similar;
pub(crate) mod tune;
