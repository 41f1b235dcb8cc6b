//! Commands that this build leaves out: with any arguments, they say how to build with them.

use std::ffi::OsString;

use hone::Error;

/// A command that this build leaves out.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The arguments of the command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Says which feature adds these commands.
pub(crate) fn run(commands: &str, feature: &str) -> anyhow::Result<()> {
    let message = format!(
        "this build of hone leaves out {commands}; build it with `--features {feature}`, or with everything: \
         cargo install --path crates/hone-cli"
    );
    Err(Error::config("COMMAND", message).into())
}
