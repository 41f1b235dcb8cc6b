//! `hone layout VECTORS -o XY`: two coordinates per node.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hone::graph::NodeIds;
use hone::record;
use hone::report::{Stage, Start};
use hone::store::{Embedding, Format};
use hone_explore::{By, Layout, LayoutMethod, Method, Space};
use serde::Serialize;

use crate::command::similar;
use crate::context::Context;
use crate::files::Files;

/// Lay an embedding out in two dimensions: similar nodes close together.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The vectors: a file that `hone embed` or another tool wrote (.tsv .csv .npy .npz .parquet .w2v .safetensors).
    #[arg(value_name = "VECTORS")]
    vectors: PathBuf,
    /// Where the coordinates go, columns x and y; the extension names the format. `-` for standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    layout: LayoutArgs,
    /// Format of the vectors, whatever their extension.
    #[arg(long, value_name = "FORMAT", value_parser = similar::format())]
    vectors_format: Option<Format>,
    /// Replace files that exist.
    #[arg(short, long)]
    force: bool,
}

/// How nodes are placed; shared with `map`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Layout")]
pub(crate) struct LayoutArgs {
    /// neighbours (each node near those it is similar to) or pca (two principal components, at once).
    #[arg(long, value_name = "HOW", default_value = "neighbours", value_parser = method())]
    layout: LayoutMethod,
    /// Neighbours that each node is drawn to.
    #[arg(long, value_name = "K", default_value_t = 15, value_parser = clap::value_parser!(u16).range(2..=200))]
    neighbours: u16,
    /// Steps of the layout [default: 400, beyond 50000 nodes 200].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    steps: Option<u16>,
    /// What is compared: all, proximity or structure.
    #[arg(long, value_name = "WHAT", default_value = "all", value_parser = similar::by())]
    pub(crate) by: By,
    /// How neighbours are found: exact, approximate, or auto: exact up to 100000 nodes.
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = similar::method())]
    search: Method,
    /// Seed of the layout.
    #[arg(long = "layout-seed", value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl LayoutArgs {
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            layout: self.layout,
            neighbours: self.neighbours.into(),
            steps: self.steps.map(usize::from),
            search: self.search,
            seed: self.seed,
        }
    }
}

fn method() -> impl TypedValueParser<Value = LayoutMethod> {
    PossibleValuesParser::new(LayoutMethod::ALL.map(|(_, name)| name))
        .map(|name| name.parse().expect("one of those listed"))
}

const EXAMPLES: &str = "\
Examples:
  hone layout vectors.npy -o xy.tsv
  hone layout vectors.npy -o xy.parquet --layout pca
  hone layout vectors.npy -o xy.csv --by structure --neighbours 30

The same vectors, options and seed give the same coordinates, whatever the number of threads.";

/// What is kept beside the coordinates.
#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    command: &'static str,
    vectors: &'a Path,
    by: By,
    layout: Layout,
    nodes: usize,
    /// Of an approximate search.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
    stages: Vec<Stage>,
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let outputs = Embedding::files(&args.output, None)?;
    let inputs = Files::default().read_vectors("VECTORS", [&args.vectors]);
    let mut batch = inputs.write("--output", outputs.iter().chain(&record::path(&args.output))).check(args.force)?;
    let layout = args.layout.layout();
    let start = Start::now();
    context.progress().stage("reading", 0);
    let (ids, space): (NodeIds, Space) = similar::open(&args.vectors, args.vectors_format, args.layout.by)?;
    let (read, start) = (Stage::since("read", &start), Start::now());
    let placed = layout.place(&space, context.progress())?;
    if let Some(recall) = placed.recall {
        context.note(format_args!(
            "note: neighbours are approximate: {:.1} % of the true ones, by a sample",
            100.0 * recall
        ));
    }
    let record = Record {
        version: env!("CARGO_PKG_VERSION"),
        command: "layout",
        vectors: &args.vectors,
        by: args.layout.by,
        layout,
        nodes: ids.len(),
        recall: placed.recall,
        stages: vec![read, Stage::since("layout", &start)],
    };
    placed.embedding(ids).add_to(&mut batch, &args.output, None)?;
    record::add_to(&mut batch, &args.output, &record)?;
    context.progress_done();
    batch.commit()?;
    Ok(())
}
