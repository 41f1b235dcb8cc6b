//! One subcommand per file.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod count;
#[cfg(feature = "explore")]
pub(crate) mod draw;
pub(crate) mod embed;
#[cfg(feature = "eval")]
pub(crate) mod eval;
pub(crate) mod features;
pub(crate) mod generate;
pub(crate) mod info;
#[cfg(feature = "explore")]
pub(crate) mod layout;
#[cfg(not(all(feature = "eval", feature = "explore")))]
pub(crate) mod left_out;
pub(crate) mod man;
#[cfg(feature = "explore")]
pub(crate) mod map;
#[cfg(feature = "explore")]
pub(crate) mod roles;
#[cfg(feature = "explore")]
pub(crate) mod similar;
pub(crate) mod solvers;
#[cfg(feature = "eval")]
pub(crate) mod tune;
