//! `hone draw INPUT --motif NAME -o FIGURE.svg`: motif graphs as a picture.

use std::path::PathBuf;

use hone::output::Existing;
use hone::record;
use hone_explore::draw::Drawing;

use crate::arguments::ReplaceArgs;
use crate::context::Context;
use crate::files::{self, check_extension};
use crate::input::{InputArgs, note_idle_weights};

/// Draw motif graphs side by side in the same layout; the size of nodes and edges shows their counts.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The SVG file to write; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A motif (see `hone count --help`); may be repeated, one panel each.
    #[arg(long, value_name = "NAME", default_value = "edge")]
    motif: Vec<String>,
    /// Ignore edges with fewer occurrences than this.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    delta: u64,
    /// How many nodes to label with their ids, the largest first [default: all in a small graph].
    #[arg(id = "labels", long = "labelled", value_name = "N")]
    labelled: Option<usize>,
    /// Name of the graph in the caption [default: that of the file].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Call motifs by their numbers in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
    #[command(flatten)]
    replace: ReplaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone draw builtin:karate --motif triangle -o karate.svg
  hone draw ca-netscience.edges --motif edge --motif clique4 --motif path4 -o figure2.svg

The width of an edge shows how many occurrences of the motif contain it, the size of a node the sum over its edges. \
The layout is force-directed, computed from the graph, and the same for any number of threads. Graphs of more than \
100000 nodes or edges are refused.";

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    context.check_json(&args.output)?;
    let motifs = args.motif.join(",").parse()?;
    let drawing = Drawing {
        motifs,
        delta: args.delta,
        labels: args.labelled,
        title: args.title.clone(),
        numbers: args.numbers,
    };
    let source = args.input.source()?;
    let outputs = source.files().write("--output", [&args.output]);
    let mut batch = outputs.check(args.replace.force)?;
    check_extension(&args.output, "a drawing", &["svg"])?;
    record::check_without(&args.output, Existing::replaced_if(args.replace.force))?;
    let graph = source.open(false, context)?;
    note_idle_weights(&graph, context);
    let svg = drawing.svg(&graph, &source.name(), context.progress())?;
    context.progress_done();
    files::add(&mut batch, &args.output, svg.as_bytes())?;
    let written = batch.commit()?;
    files::note_written(&written, &args.output, context);
    context.print_files(&written)
}
