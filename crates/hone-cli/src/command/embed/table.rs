//! [`TableArgs`]: how a table of node vectors is written.

use std::path::Path;

use hone::Error;
use hone::store::Format;

/// How a table of node vectors or features is made and written; shared by `embed` and `features`.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Format of the output, if the extension does not say it.
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) output_format: Option<Format>,
    /// Replace existing output files.
    #[arg(short, long)]
    pub(crate) force: bool,
}

impl TableArgs {
    /// The format that a table is written in.
    pub(crate) fn format(&self, output: &Path) -> Result<Format, Error> {
        self.output_format.map_or_else(|| Format::of(output), Ok)
    }
}

fn parse_format(text: &str) -> Result<Format, String> {
    let known = || Format::ALL.map(|(_, name)| name).join(", ");
    Format::from_name(text).ok_or_else(|| format!("use one of {}", known()))
}
