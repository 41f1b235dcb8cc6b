//! `hone-tables`: the tables and figures of this project, which nobody needs to use hone.
//!
//! | subcommand | what it makes |
//! |---|---|
//! | `paper` | tables 1 to 3 of the paper, ours next to them, and which of its claims hold: `reports/results.md` |
//! | `runtime` | seconds of several methods on random graphs of growing size, in one process |
//! | `scaling` | time and memory of whole runs of `hone embed`, each a process of its own: `reports/performance.md` |
//! | `structure` | how near nodes are that a symmetry of the graph exchanges |

mod claims;
mod paper;
mod runtime;
mod scaling;
mod structure;

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use hone::Progress;
use hone::message::Message;
use hone_eval::report::Report;

/// The tables and figures of this project: the paper's experiments, run times, scaling.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Number of threads [default: one per core].
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    threads: usize,
}

#[derive(Debug, Subcommand)]
enum Command {
    Paper(paper::Args),
    Runtime(runtime::Args),
    Scaling(scaling::Args),
    Structure(structure::Args),
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Become(scaling::Become),
}

/// Files that a report is written to; existing ones are replaced.
#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// Everything as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Tables as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// One HTML page with tables and plots.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The first figure as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl OutputArgs {
    /// Prints the tables and writes the files.
    #[allow(clippy::print_stdout)]
    fn write(&self, report: &Report) -> anyhow::Result<()> {
        print!("{}", report.text(false));
        let write = |path: &Option<PathBuf>, render: fn(&Report) -> String| match path {
            Some(path) => {
                fs::write(path, render(report)).with_context(|| path.display().to_string())
            }
            None => Ok(()),
        };
        write(&self.json, Report::json)?;
        write(&self.markdown, Report::markdown)?;
        write(&self.html, Report::html)?;
        write(&self.svg, Report::figure)
    }
}

/// Stages and notes as lines on standard error.
struct Log;

impl Progress for Log {
    fn stage(&self, name: &str, total: u64) {
        eprintln!("{name}: {total}");
    }

    fn note(&self, message: &Message) {
        eprintln!("{message}");
    }
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    rayon::ThreadPoolBuilder::new()
        .num_threads(cli.threads)
        .build_global()?;
    match &cli.command {
        Command::Paper(args) => paper::run(args),
        Command::Runtime(args) => runtime::run(args),
        Command::Scaling(args) => scaling::run(args),
        Command::Structure(args) => structure::run(args),
        #[cfg(target_os = "linux")]
        Command::Become(other) => other.run(),
    }
}
