//! `hone completions SHELL`.

use clap::Command;
use clap_complete::Shell;

use crate::context::Context;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell to complete for.
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  hone completions bash > ~/.local/share/bash-completion/completions/hone
  hone completions zsh > \"${fpath[1]}/_hone\"
  hone completions fish > ~/.config/fish/completions/hone.fish";

/// `hone` is the whole command line.
pub(crate) fn run(args: &Args, hone: &mut Command, context: &Context) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, hone, "hone", &mut script);
    Ok(context.print(&script)?)
}
