//! Where a report goes: tables on the terminal, and files in the formats requested.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use hone::Error;
use hone::output::{Batch, Existing};
use hone_eval::report::Report;

use crate::context::Context;
use crate::exit::Incomplete;
use crate::files::Files;

/// Files a report is written to, besides the tables on standard output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Write everything as JSON; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write one line per result as CSV; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write tables as Markdown; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write one HTML page with tables and plots.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the first figure as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
}

type Render = fn(&Report) -> String;

impl OutputArgs {
    fn files(&self) -> Vec<(&'static str, &PathBuf, Render)> {
        let all: [(&str, &Option<PathBuf>, Render); 5] = [
            ("--json", &self.json, Report::json),
            ("--csv", &self.csv, Report::csv),
            ("--markdown", &self.markdown, Report::markdown),
            ("--html", &self.html, Report::html),
            ("--svg", &self.svg, Report::figure),
        ];
        all.into_iter()
            .filter_map(|(option, path, render)| path.as_ref().map(|p| (option, p, render)))
            .collect()
    }

    /// Whether existing files may be replaced.
    pub(super) fn force(&self) -> bool {
        self.force
    }

    /// Refuses, before the work, outputs that exist or are inputs; `files` are the inputs of the run and its
    /// further outputs.
    pub(super) fn check(&self, files: Files) -> Result<(), Error> {
        let all = self
            .files()
            .into_iter()
            .fold(files, |files, (option, path, _)| {
                files.write(option, [path])
            });
        all.check(self.force).map(drop)
    }

    /// Prints the tables, or what was requested in their place, and writes the files. Fails at the end if the report lacks
    /// figures of some methods.
    pub(super) fn write(&self, report: &Report, context: &Context) -> anyhow::Result<()> {
        let mut batch = Batch::new(Existing::replaced_if(self.force));
        let files = self.files();
        let standard = |path: &Path| path.as_os_str() == "-";
        if !files.iter().any(|(_, path, _)| standard(path)) {
            if color() {
                context.print_styled(&report.text(true))?;
            } else {
                context.print(report.text(false))?;
            }
        }
        for (option, path, render) in files {
            if report.plots.is_empty() && option == "--svg" {
                context.note(format_args!(
                    "note: there is no figure to write to {}",
                    path.display()
                ));
                continue;
            }
            add(&mut batch, path, &render(report))?;
        }
        for path in batch.commit()?.iter().filter(|path| !standard(path)) {
            context.note(format_args!("wrote {}", path.display()));
        }
        complete(report)
    }
}

/// Whether tables on standard output are printed with styles.
fn color() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Fails if some methods failed: a caller that looks at the exit code alone learns that figures are missing.
fn complete(report: &Report) -> anyhow::Result<()> {
    let failures = report.failures.iter();
    let mut names: Vec<String> = failures
        .map(|f| format!("{} on {}", f.method, f.graph))
        .collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    let names = names.join(", ");
    let message = format!("no results of {names}; the reasons are below the tables");
    Err(Incomplete(message).into())
}

fn add(batch: &mut Batch, path: &Path, text: &str) -> Result<(), Error> {
    let mut output = batch.begin(path)?;
    output
        .write_all(text.as_bytes())
        .map_err(|e| output.error(e))?;
    batch.add(output)
}
