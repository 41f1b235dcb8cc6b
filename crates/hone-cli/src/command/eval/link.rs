//! `hone eval link` and `hone eval split`.

use std::path::PathBuf;

use hone::Error;
use hone::graph::GraphFacts;
use hone_eval::experiment::Named;
use hone_eval::export::{self, Origin};
use hone_eval::pairs::{PairOperator, Scaling};
use hone_eval::split::LinkSplit;
use hone_eval::task::{LinkConfig, Protocol};

use super::output::OutputArgs;
use super::{BenchArgs, note_ignored_weights, open};
use crate::context::Context;
use crate::input::ReadArgs;

const METHODS: &str = "hone,hone-w,hone-p,node2vec,grarep,degree,log-degree";

/// Link prediction: tell removed edges from pairs without an edge.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The graphs: files, or builtin:NAME.
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    bench: BenchArgs,
    /// How the vectors of a pair are joined: mean, hadamard, l1, l2, concat, or several with +.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "mean")]
    operators: Vec<PairOperator>,
    /// Use of the labelled pairs: select10 (choose and fit on 10 %, test on 90 %), cv (choose on 10 %,
    /// 10-fold over the rest), train-graph (fit on remaining edges, test on removed ones).
    #[arg(long, value_name = "NAME", default_value = "select10")]
    protocol: Protocol,
    /// Share of edges that are removed.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    removed: f64,
    /// Standardise every feature; by default relative scale is kept.
    #[arg(long)]
    standardize: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn scaling(standardize: bool) -> Scaling {
    if standardize { Scaling::Standardize } else { Scaling::Keep }
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let methods = args.bench.methods(METHODS)?;
    args.output.check(args.bench.files(args.read.files(&args.inputs), args.output.force()))?;
    let mut graphs =
        args.inputs.iter().map(|input| open(input, &args.read, context)).collect::<anyhow::Result<Vec<_>>>()?;
    name_apart(&mut graphs, &args.inputs)?;
    note_ignored_weights(&methods, &graphs, context);
    let config = LinkConfig {
        removed: args.removed,
        protocol: args.protocol,
        operators: args.operators.clone(),
        scaling: scaling(args.standardize),
        ..LinkConfig::default()
    };
    let folders = args.bench.folders(args.output.force())?;
    let report = args.bench.bench(&methods, &folders, context.progress()).link_report(&graphs, &config)?;
    folders.finish(context)?;
    args.output.write(&report, context)
}

/// Graphs whose files have the same name are called by their paths.
fn name_apart(graphs: &mut [Named], inputs: &[String]) -> Result<(), Error> {
    if let Some(at) = (1..inputs.len()).find(|&at| inputs[..at].contains(&inputs[at])) {
        return Err(Error::config("INPUT", format!("{} is given twice", inputs[at])));
    }
    let names: Vec<String> = graphs.iter().map(|g| g.name.clone()).collect();
    for (graph, input) in graphs.iter_mut().zip(inputs) {
        if names.iter().filter(|name| **name == graph.name).count() > 1 {
            graph.name.clone_from(input);
        }
    }
    Ok(())
}

/// Write the training graph and the pairs of one link-prediction split, for other tools.
///
/// DIR/train.tsv holds the remaining edges (with --weighted their weights too), DIR/nodes.txt all node
/// ids (also of nodes left without an edge), DIR/pairs.tsv the removed edges (label 1) and as many
/// pairs without an edge (label 0), DIR/split.json what it was made of. Ids are quoted as in other files of hone.
///
/// Vectors made from it compete on the same split:
///   hone embed DIR/train.tsv --nodes DIR/nodes.txt -o z-1.npy
///   hone eval link INPUT --seeds 1 --methods file:z-{seed}.npy
#[derive(Debug, clap::Args)]
pub(crate) struct SplitArgs {
    /// The graph.
    #[arg(value_name = "INPUT")]
    input: String,
    #[command(flatten)]
    read: ReadArgs,
    /// Seed of the split.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Share of edges that are removed.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    removed: f64,
    /// Folder to write to; it is made when absent.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
}

pub(super) fn split(args: &SplitArgs, context: &Context) -> anyhow::Result<()> {
    args.read.files([&args.input]).write("--output", export::files(&args.output)).check_places()?;
    let graph = open(&args.input, &args.read, context)?.graph;
    let origin = Origin { graph: GraphFacts::of(&graph), removed: args.removed, seed: args.seed };
    let split = LinkSplit::new(graph, args.removed, false, args.seed)?;
    export::write(&split, &origin, &args.output, args.force)?;
    let (edges, pairs) = (split.train.graph().edges(), split.pairs.len());
    context.note(format_args!("wrote {edges} training edges and {pairs} pairs"));
    Ok(())
}
