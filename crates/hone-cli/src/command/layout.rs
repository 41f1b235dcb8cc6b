//! `hone layout VECTORS -o XY`: two coordinates per node.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use hone::store::Embedding;
use hone_explore::{By, Layout, LayoutMethod, Method};
use serde::{Deserialize, Serialize};

use crate::arguments::ReplaceArgs;
use crate::context::Context;
use crate::input::one_of;
use crate::repeat::{Record, Stages};
use crate::vectors::{self, VectorArgs};
use crate::{files, options};

/// Lay out an embedding in two dimensions: similar nodes close together.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    vectors: VectorArgs,
    /// File for the coordinates, columns x and y; the extension sets the format. `-` for standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    replace: ReplaceArgs,
    #[command(flatten)]
    layout: LayoutArgs,
}

/// How nodes are placed; shared with `map`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Layout")]
pub(crate) struct LayoutArgs {
    /// neighbours (each node near similar ones) or pca (the first two principal components, much faster)
    /// [default: neighbours].
    #[arg(long, value_name = "HOW", value_parser = method())]
    layout: Option<LayoutMethod>,
    /// Neighbours that attract each node [default: 15].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(2..=200))]
    neighbours: Option<u16>,
    /// Iterations of the layout [default: 400, or 200 beyond 50000 nodes].
    #[arg(id = "steps", long = "iterations", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    steps: Option<u16>,
    /// What is compared: all, proximity or structure [default: all].
    #[arg(long, value_name = "WHAT", value_parser = vectors::by())]
    by: Option<By>,
    /// How neighbours are found: exact, approximate, or auto: exact up to 20000 nodes [default: auto].
    #[arg(long, value_name = "HOW", value_parser = vectors::method())]
    search: Option<Method>,
    /// Seed of the layout [default: 0].
    #[arg(long = "layout-seed", value_name = "N")]
    seed: Option<u64>,
}

/// How nodes are placed: part of a record, where a later run finds it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Placing {
    pub(crate) by: By,
    pub(crate) layout: Layout,
}

impl LayoutArgs {
    /// These options over those of an earlier run.
    pub(crate) fn over(&self, Placing { by, layout }: Placing) -> Placing {
        Placing {
            by: self.by.unwrap_or(by),
            layout: Layout {
                layout: self.layout.unwrap_or(layout.layout),
                neighbours: self.neighbours.map_or(layout.neighbours, usize::from),
                steps: self.steps.map(usize::from).or(layout.steps),
                search: self.search.unwrap_or(layout.search),
                seed: self.seed.unwrap_or(layout.seed),
            },
        }
    }

    /// Notes options that have no effect on this kind of layout.
    pub(crate) fn note_idle(&self, placing: &Placing, context: &Context) {
        let pca = placing.layout.layout == LayoutMethod::Pca;
        let why = "principal components have neither neighbours nor iterations";
        let idle = [
            ("--neighbours", self.neighbours.is_some()),
            ("--iterations", self.steps.is_some()),
            ("--search", self.search.is_some()),
            ("--layout-seed", self.seed.is_some()),
        ];
        let idle = idle.into_iter().filter(|(_, given)| pca && *given);
        let idle = idle.map(|(option, _)| (option.to_owned(), why.to_owned()));
        options::note_idle(&idle.collect::<Vec<_>>(), context);
    }
}

fn method() -> impl TypedValueParser<Value = LayoutMethod> {
    one_of(LayoutMethod::NAMES, |name| name.parse().ok())
}

const EXAMPLES: &str = "\
Examples:
  hone layout vectors.npy -o xy.tsv
  hone layout vectors.npy -o xy.parquet --layout pca
  hone layout vectors.npy -o xy.csv --by structure --neighbours 30
  hone layout -o xy.npy --config xy.csv.run.json

The same vectors, options and seed give the same coordinates, whatever the number of threads.";

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (source, before) = args.vectors.resolve::<Placing>("layout")?;
    let placing = args.layout.over(before.unwrap_or_default());
    args.layout.note_idle(&placing, context);
    context.check_json(&args.output)?;
    let outputs = Embedding::files(&args.output, None)?;
    let files = source.files().write_recorded(&outputs, &args.output);
    let mut batch = files.check(args.replace.force)?;
    let mut stages = Stages::begin();
    let (ids, space, mut done) = source.open(placing.by, &placing, context)?;
    stages.end("read");
    let placed = placing.layout.place(&space, context.progress())?;
    vectors::note_recall(placed.recall(), context);
    done.recall = placed.recall();
    stages.end("layout");
    let coordinates = placed.embedding(ids);
    coordinates.add_to(&mut batch, &args.output, None)?;
    Record::new("layout", None, &done, stages.done).add_to(&mut batch, &args.output)?;
    context.progress_done();
    files::note_written(&batch.commit()?, &args.output, context);
    context.print_record(&args.output)
}
