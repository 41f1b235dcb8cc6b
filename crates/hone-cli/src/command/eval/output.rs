//! Where a report goes: tables on the terminal, and files in the formats asked for.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use hone::Error;
use hone::output::Output;
use hone_eval::report::{Bold, Report};

use crate::context::Context;

/// Files a report is written to, besides the tables on standard output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write everything as JSON; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write one line a cell as CSV; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write tables as Markdown; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a page with tables and plots that needs nothing else.
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
    fn files(&self) -> Vec<(&PathBuf, Render)> {
        let all: [(&Option<PathBuf>, Render); 5] = [
            (&self.json, Report::json),
            (&self.csv, Report::csv),
            (&self.markdown, Report::markdown),
            (&self.html, Report::html),
            (&self.svg, Report::figure),
        ];
        all.into_iter().filter_map(|(path, render)| path.as_ref().map(|p| (p, render))).collect()
    }

    /// Finds out before the work that a file is in the way.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_with(&[])
    }

    /// The same with further files.
    pub(crate) fn check_with(&self, further: &[&PathBuf]) -> Result<(), Error> {
        let paths: Vec<&PathBuf> =
            self.files().into_iter().map(|(path, _)| path).chain(further.iter().copied()).collect();
        for (at, path) in paths.iter().enumerate() {
            if paths[..at].contains(path) {
                let message = format!("two outputs go to {}; give each a place of its own", path.display());
                return Err(Error::config("output", message));
            }
            if path.as_os_str() != "-" {
                Output::create(path, self.force)?;
            }
        }
        Ok(())
    }

    /// Writes a further file, which stands where [`OutputArgs::check_with`] found room for it.
    pub(super) fn write_further(&self, path: &Path, text: &str) -> Result<(), Error> {
        write_file(path, text, self.force)
    }

    /// Prints the tables, or what was asked for in their place, and writes the files.
    pub(crate) fn write(&self, report: &Report, context: &Context) -> anyhow::Result<()> {
        let files = self.files();
        if !files.iter().any(|(path, _)| path.as_os_str() == "-") {
            let color = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
            context.print(report.text(if color { Bold::Ansi } else { Bold::Never }))?;
        }
        for (path, render) in files {
            if report.plots.is_empty() && self.svg.as_ref() == Some(path) {
                context.note(format_args!("note: there is no figure to write to {}", path.display()));
                continue;
            }
            write_file(path, &render(report), self.force)?;
            if path.as_os_str() != "-" {
                context.note(format_args!("wrote {}", path.display()));
            }
        }
        Ok(())
    }
}

/// Writes a file whole or not at all.
pub(super) fn write_file(path: &Path, text: &str, force: bool) -> Result<(), Error> {
    let mut output = Output::create(path, force)?;
    output.write_all(text.as_bytes()).map_err(|e| Error::io(path, e))?;
    output.commit()
}
