//! `hone config`: prints the settings a run would use, with comments.

use crate::command::embed::ConfigArgs;
use crate::context::Context;

/// Print the settings as a commented TOML file, to be edited and given to `hone embed --config`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    choices: ConfigArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone config > run.toml
  hone config --preset hone-l --set local.dim=8";

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let config = args.choices.build(context)?;
    match context.json() {
        true => context.print_json(&config),
        false => Ok(context.print(config.to_commented_toml())?),
    }
}
