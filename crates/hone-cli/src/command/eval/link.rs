//! `hone eval link` and `hone eval split`.

use std::fmt::Write;
use std::path::PathBuf;

use hone::Error;
use hone_eval::experiment::Named;
use hone_eval::pairs::{PairOperator, Scaling};
use hone_eval::split::LinkSplit;
use hone_eval::task::{LinkConfig, Protocol};

use super::output::{OutputArgs, write_file};
use super::{BenchArgs, GraphArgs, note_ignored_weights};
use crate::context::Context;

const METHODS: &str = "hone,hone-w,hone-p,node2vec,grarep,degree,log-degree";

/// Link prediction: tell removed edges from pairs without an edge.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The graphs: files, or builtin:NAME.
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    graph: GraphArgs,
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
    let (methods, cache) = (args.bench.methods(METHODS)?, args.bench.cache()?);
    args.output.check(args.bench.files(args.graph.files(&args.inputs)))?;
    let open = |input: &String| args.graph.open(input, context);
    let mut graphs = args.inputs.iter().map(open).collect::<anyhow::Result<Vec<_>>>()?;
    name_apart(&mut graphs, &args.inputs)?;
    note_ignored_weights(&methods, &graphs, context);
    let config = LinkConfig {
        removed: args.removed,
        protocol: args.protocol,
        operators: args.operators.clone(),
        scaling: scaling(args.standardize),
        ..LinkConfig::default()
    };
    let report = args.bench.bench(&methods, &cache, context.progress()).link_report(&graphs, &config)?;
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
/// pairs without an edge (label 0).
/// Vectors made from train.tsv compete by `hone eval link INPUT --methods file:vectors.npy`.
#[derive(Debug, clap::Args)]
pub(crate) struct SplitArgs {
    /// The graph.
    #[arg(value_name = "INPUT")]
    input: String,
    #[command(flatten)]
    graph: GraphArgs,
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
    let graph = args.graph.open(&args.input, context)?.graph;
    let split = LinkSplit::new(graph, args.removed, false, args.seed)?;
    let train = split.train.graph();
    let id = |i: u32| train.ids().get(i);
    let (mut edges, mut nodes, mut pairs) = (String::new(), String::new(), String::from("source\ttarget\tlabel\n"));
    for u in 0..train.nodes() as u32 {
        let _ = writeln!(nodes, "{}", id(u));
        for k in train.pattern().range(u as usize) {
            let v = train.pattern().columns()[k];
            if train.is_directed() || u < v {
                let weight = train.weights().map(|weights| format!("\t{}", weights[k])).unwrap_or_default();
                let _ = writeln!(edges, "{}\t{}{weight}", id(u), id(v));
            }
        }
    }
    for (&(u, v), &edge) in split.pairs.pairs.iter().zip(&split.pairs.labels) {
        let _ = writeln!(pairs, "{}\t{}\t{}", id(u), id(v), u8::from(edge));
    }
    if args.output.is_file() {
        return Err(Error::config("--output", format!("{} is a file; give a folder", args.output.display())).into());
    }
    std::fs::create_dir_all(&args.output).map_err(|e| Error::io(&args.output, e))?;
    for (name, text) in [("train.tsv", edges), ("nodes.txt", nodes), ("pairs.tsv", pairs)] {
        write_file(&args.output.join(name), &text, args.force)?;
    }
    context.note(format_args!("wrote {} training edges and {} pairs", train.edges(), split.pairs.len()));
    Ok(())
}
