//! One subcommand a file.

pub(crate) mod completions;
pub(crate) mod info;
