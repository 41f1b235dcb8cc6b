//! Commands that this build leaves out: whatever they are given, they say how to have them.

use std::ffi::OsString;

use hone::Error;

/// A command that this build leaves out.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// What the command would be given.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

/// Says which feature brings these commands.
pub(crate) fn run(commands: &str, feature: &str) -> anyhow::Result<()> {
    let message = format!(
        "this build of hone leaves out {commands}; build it with `--features {feature}`, or with all there is: \
         cargo install --path crates/hone-cli"
    );
    Err(Error::config("COMMAND", message).into())
}
