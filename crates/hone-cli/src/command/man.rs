//! `hone man [COMMAND]`: man pages, generated from the same definitions as `--help`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Command;
use clap_mangen::Man;
use hone::output::Existing;
use hone::{Error, output::Batch, spelling};

use crate::arguments::ReplaceArgs;
use crate::context::Context;

/// Print the man page of hone or of a subcommand, or write all man pages to a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The subcommand, such as embed or eval link [default: hone itself].
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Vec<String>,
    /// Write the pages of hone and of all subcommands to this folder, which must exist.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    replace: ReplaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone man embed > hone-embed.1
  hone man -o ~/.local/share/man/man1

Read a page with: man ./hone-embed.1";

/// `hone` is the whole command line.
pub(crate) fn run(args: &Args, hone: Command, context: &Context) -> anyhow::Result<()> {
    let mut all = hone.disable_help_subcommand(true);
    all.build();
    if let Some(folder) = &args.output {
        let mut batch = Batch::new(Existing::replaced_if(args.replace.force));
        write_pages(&all, folder, &mut batch)?;
        let written = batch.commit()?.len();
        context.note(format_args!(
            "wrote {written} man pages to {}",
            folder.display()
        ));
        return Ok(());
    }
    let mut command = &all;
    for name in &args.command {
        let inner = command.find_subcommand(name);
        let known = command.get_subcommands().map(Command::get_name);
        command = inner.ok_or_else(|| {
            Error::config(
                "COMMAND",
                format!(
                    "there is no subcommand `{name}`{}",
                    spelling::hint(name, known)
                ),
            )
        })?;
    }
    Ok(context.print(page(command)?)?)
}

/// Adds the pages of a command and of those below it.
fn write_pages(command: &Command, folder: &Path, batch: &mut Batch) -> anyhow::Result<()> {
    let mut output = batch.begin(&folder.join(format!("{}.1", name(command))))?;
    output
        .write_all(&page(command)?)
        .map_err(|error| output.error(error))?;
    batch.add(output)?;
    command
        .get_subcommands()
        .try_for_each(|inner| write_pages(inner, folder, batch))
}

/// `hone-eval-link`.
fn name(command: &Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command.clone())
        .source(concat!("hone ", env!("CARGO_PKG_VERSION")))
        .manual("HONE");
    man.render(&mut page)
        .map_err(|error| anyhow!("the page cannot be made: {error}"))?;
    Ok(page)
}
