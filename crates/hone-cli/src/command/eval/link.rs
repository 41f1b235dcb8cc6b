//! `hone eval link` and `hone eval split`.

use std::path::PathBuf;

use hone::Error;
use hone::graph::GraphFacts;
use hone::output::Existing;
use hone_eval::experiment::Named;
use hone_eval::pairs::{PairOperator, Scaling};
use hone_eval::split::{self, LinkSplit, Negatives, Removal};
use hone_eval::task::{LinkConfig, Protocol};

use super::bench::{BenchArgs, note_ignored_weights, open};
use super::output::OutputArgs;
use crate::context::Context;
use crate::input::ReadArgs;
use crate::options::{Known, translated};

const METHODS: &str = "hone,hone-w,hone-p,node2vec,grarep,degree,log-degree";
/// Those with vectors of sources and targets first.
const DIRECTED: &str = "hone,hope,node2vec,grarep,degree";

/// Link prediction: distinguish removed edges from pairs without an edge.
#[derive(Debug, clap::Args)]
#[command(after_help = examples())]
pub(crate) struct Args {
    /// The graphs: files, or builtin:NAME.
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    bench: BenchArgs,
    /// How the vectors of a pair are combined: mean, hadamard, l1, l2, concat, difference, cross (first half
    /// of the source times second half of the target), outer (products of the first 16 entries of the source
    /// with the first 16 of the target), or several with + [default: mean, for directed graphs
    /// concat,cross,outer,concat+cross].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    operators: Vec<PairOperator>,
    /// Pairs without an edge: random, reversed (reversed removed arcs: which way does the arc go?), or mixed, half
    /// each [default: random, for directed graphs mixed].
    #[arg(long, value_name = "WHICH")]
    negatives: Option<Negatives>,
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

fn examples() -> String {
    format!(
        "Examples:
  hone eval link graph.tsv --methods hone,degree --seeds 3
  hone eval link graph.tsv --methods hone,node2vec --operators mean,hadamard,l1

Methods, if none are given: {METHODS}
(for directed graphs {DIRECTED})."
    )
}

impl Args {
    /// Operators and pairs without an edge: those given, or what suits the graphs.
    fn choices(&self, graphs: &[Named], context: &Context) -> (Vec<PairOperator>, Negatives) {
        let directed = graphs.iter().all(|named| named.graph.is_directed());
        let given = !self.operators.is_empty();
        let operators = match directed {
            _ if given => self.operators.clone(),
            true => PairOperator::usual_directed(),
            false => PairOperator::usual(),
        };
        let mutual = graphs
            .iter()
            .find(|named| Negatives::usual(&named.graph) == Negatives::Random);
        let usual = if mutual.is_none() {
            Negatives::Mixed
        } else {
            Negatives::Random
        };
        if let (true, None, Some(Named { name, .. })) = (directed, self.negatives, mutual) {
            context.note(format_args!(
                "note: every arc of {name} has its reverse, so none can be reversed: pairs without an arc are random"
            ));
        }
        let negatives = self.negatives.unwrap_or(usual);
        // An undirected graph is refused if direction matters, for any operator.
        let blind = |operator: &&PairOperator| {
            directed && operator.is_symmetric() && negatives != Negatives::Random
        };
        if let Some(operator) = operators.iter().find(blind) {
            context.note(format_args!(
                "note: {operator} is the same for a pair and its reverse: it cannot tell which way an arc goes; use concat, \
                 difference, cross or outer"
            ));
        }
        (operators, negatives)
    }
}

/// Settings and the options that give them.
const OPTIONS: &[Known] = &[
    ("directed", "--directed"),
    ("negatives", "--negatives"),
    ("operators", "--operators"),
    ("protocol", "--protocol"),
    ("removed", "--removed"),
];

/// An error of the library in terms of the command's options; it may begin with the name of one of several graphs.
fn in_options(error: Error) -> Error {
    match error {
        Error::Config { field, message } => match field.rsplit_once(": ") {
            Some((graph, setting)) => match translated(Error::config(setting, message), OPTIONS) {
                Error::Config { field, message } => Error::Config {
                    field: format!("{graph}: {field}"),
                    message,
                },
                other => other,
            },
            None => translated(Error::Config { field, message }, OPTIONS),
        },
        other => translated(other, OPTIONS),
    }
}

pub(super) fn scaling(standardize: bool) -> Scaling {
    if standardize {
        Scaling::Standardize
    } else {
        Scaling::Keep
    }
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let methods = args.bench.methods(if args.read.is_directed() {
        DIRECTED
    } else {
        METHODS
    })?;
    args.output.check(
        args.bench
            .files(args.read.files(&args.inputs), args.output.force()),
    )?;
    let mut graphs = args
        .inputs
        .iter()
        .map(|input| open(input, &args.read, context))
        .collect::<anyhow::Result<Vec<_>>>()?;
    name_apart(&mut graphs, &args.inputs)?;
    note_ignored_weights(&methods, &graphs, context);
    let (operators, negatives) = args.choices(&graphs, context);
    let config = LinkConfig {
        removed: args.removed,
        protocol: args.protocol,
        operators,
        scaling: scaling(args.standardize),
        negatives,
        ..LinkConfig::default()
    };
    let folders = args.bench.folders(args.output.force())?;
    let report = args
        .bench
        .bench(&methods, &folders, context.progress())
        .link_report(&graphs, &config);
    let report = report.map_err(in_options)?;
    folders.finish(context)?;
    args.output.write(&report, context)
}

/// Graphs whose files have the same name are identified by their paths.
fn name_apart(graphs: &mut [Named], inputs: &[String]) -> Result<(), Error> {
    if let Some(at) = (1..inputs.len()).find(|&at| inputs[..at].contains(&inputs[at])) {
        return Err(Error::config(
            "INPUT",
            format!("{} is given twice", inputs[at]),
        ));
    }
    let names: Vec<String> = graphs.iter().map(|g| g.name.clone()).collect();
    for (graph, input) in graphs.iter_mut().zip(inputs) {
        if names.iter().filter(|name| **name == graph.name).count() > 1 {
            graph.name.clone_from(input);
        }
    }
    Ok(())
}

const EXAMPLE_OF_SPLIT: &str = "\
Vectors of another tool on the same split:
  hone embed DIR/train.tsv --nodes DIR/nodes.txt -o z-1.npy
  hone eval link INPUT --seeds 1 --methods file:z-{seed}.npy";

/// Write the training graph and the pairs of one link-prediction split, for other tools.
///
/// DIR/train.tsv contains the remaining edges (with --weighted their weights too), DIR/nodes.txt all node ids
/// (including nodes left without an edge), DIR/pairs.tsv the removed edges (label 1) and as many pairs without an edge
/// (label 0; for directed graphs half are reversed arcs), DIR/split.json a description of the split. Ids are quoted as
/// in other files of hone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE_OF_SPLIT)]
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
    /// Pairs without an edge: random, reversed (reversed removed arcs), or mixed, half each [default: random, for
    /// directed graphs mixed, as `hone eval link` has it].
    #[arg(long, value_name = "WHICH")]
    negatives: Option<Negatives>,
    /// Folder to write to; it is created if necessary.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
}

pub(super) fn split(args: &SplitArgs, context: &Context) -> anyhow::Result<()> {
    args.read
        .files([&args.input])
        .write("--output", split::files(&args.output))
        .check_places()?;
    let graph = open(&args.input, &args.read, context)?.graph;
    let negatives = args.negatives.unwrap_or_else(|| Negatives::usual(&graph));
    let whole = GraphFacts::of(&graph);
    let removal = Removal {
        share: args.removed,
        negatives,
        seed: args.seed,
        ..Removal::default()
    };
    let split = LinkSplit::of(graph, &removal).map_err(in_options)?;
    let existing = Existing::replaced_if(args.force);
    split::write(&split, &whole, &removal, &args.output, existing)?;
    let (edges, pairs) = (split.train.graph().edges(), split.pairs.pairs.len());
    context.note(format_args!(
        "wrote {edges} training edges and {pairs} pairs"
    ));
    Ok(())
}
