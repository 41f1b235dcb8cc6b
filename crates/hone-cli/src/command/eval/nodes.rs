//! `hone eval nodes` and `hone eval roles`.

use std::path::PathBuf;

use hone::Error;
use hone::memory::Allowance;
use hone_eval::labels::NodeLabels;
use hone_eval::task::NodesConfig;

use super::bench::{BenchArgs, note_ignored_weights, open};
use super::link::scaling;
use super::output::OutputArgs;
use crate::context::Context;
use crate::input::ReadArgs;

const METHODS: &str = "hone,hone-w,hone-p,node2vec,grarep,degree";

/// A labelled graph and the methods evaluated on it.
#[derive(Debug, clap::Args)]
struct Labelled {
    /// The graph: a file, or builtin:NAME.
    #[arg(value_name = "INPUT")]
    input: String,
    /// Labels, one node per line: the node, a tab, its labels separated by commas; or a .csv of nodes and labels.
    #[arg(long, value_name = "FILE")]
    labels: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    bench: BenchArgs,
    /// The penalty parameter C of the classifier [default: chosen by cross-validation].
    #[arg(long, value_name = "C", value_parser = positive)]
    penalty: Option<f64>,
    /// Standardise every feature; by default relative scale is kept.
    #[arg(long)]
    standardize: bool,
    #[command(flatten)]
    output: OutputArgs,
}

fn examples(task: &str) -> String {
    format!(
        "Examples:
  hone eval {task} graph.tsv --labels labels.tsv --methods hone,degree --seeds 3

Methods, if none are given: {METHODS}."
    )
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|c: &f64| *c > 0.0 && c.is_finite())
        .ok_or_else(|| "give a positive number".into())
}

/// Node classification: micro and macro F1 of one-vs-rest logistic regression.
#[derive(Debug, clap::Args)]
#[command(after_help = examples("nodes"))]
pub(crate) struct Args {
    #[command(flatten)]
    common: Labelled,
    /// Percentages of labelled nodes for training.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "10,50,90", help_heading = None)]
    train: Vec<f64>,
    /// Also cluster the vectors by k-means and compare with the labels (NMI).
    #[arg(long, help_heading = None)]
    cluster: bool,
}

/// Role recovery: accuracy with 80 % of the nodes for training, stratified; NMI of clusters.
#[derive(Debug, clap::Args)]
#[command(after_help = examples("roles"))]
pub(crate) struct RolesArgs {
    #[command(flatten)]
    common: Labelled,
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    for (at, share) in args.train.iter().enumerate() {
        if !(*share > 0.0 && *share < 100.0) {
            return Err(Error::config(
                "--train",
                format!("{share} is not a percentage above 0 and below 100"),
            )
            .into());
        }
        if args.train[..at].contains(share) {
            return Err(Error::config("--train", format!("{share} is given twice")).into());
        }
    }
    let shares = args.train.iter().map(|t| t / 100.0).collect();
    let config = NodesConfig {
        shares,
        cluster: args.cluster,
        ..NodesConfig::classification()
    };
    judge(&args.common, config, "Node classification", context)
}

pub(super) fn roles(args: &RolesArgs, context: &Context) -> anyhow::Result<()> {
    judge(&args.common, NodesConfig::roles(), "Role recovery", context)
}

fn judge(
    args: &Labelled,
    mut config: NodesConfig,
    title: &str,
    context: &Context,
) -> anyhow::Result<()> {
    (config.c, config.scaling) = (args.penalty, scaling(args.standardize));
    let methods = args.bench.methods(METHODS)?;
    let inputs = args
        .read
        .files([&args.input])
        .read("--labels", [&args.labels]);
    args.output
        .check(args.bench.files(inputs, args.output.force()))?;
    let named = open(&args.input, &args.read, context)?;
    note_ignored_weights(&methods, std::slice::from_ref(&named), context);
    let allowance = Allowance::new(args.read.memory());
    let labels = NodeLabels::read_within(&args.labels, &named.graph, allowance)?;
    let folders = args.bench.folders(args.output.force())?;
    let report = args
        .bench
        .bench(&methods, &folders, context.progress())
        .nodes_report(&named, &labels, &config, title)?;
    folders.finish(context)?;
    args.output.write(&report, context)
}
