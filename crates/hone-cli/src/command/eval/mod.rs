//! `hone eval TASK`: evaluate embeddings by link prediction, node labels and roles.

mod bench;
mod link;
mod nodes;
mod output;

use clap::Subcommand;
use hone_eval::method;

use crate::context::Context;

/// Evaluate embeddings: link prediction, node labels, roles.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, subcommand_value_name = "TASK", subcommand_help_heading = "Tasks")]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Task,
}

const EXAMPLES: &str = "\
Examples:
  hone eval list
  hone eval link graph.tsv --methods hone-p,node2vec,degree --seeds 3
  hone eval link a.tsv b.tsv --operators mean,hadamard,mean+hadamard+l1 --html report.html
  hone eval nodes graph.tsv --labels labels.tsv --methods hone-p,deepwalk

Methods take options after a colon; validation chooses among several values:
  hone-p:steps=1|2|3|4   node2vec:p=0.5|2,q=1   grarep:steps=3   file:vectors.npy   file:z-{seed}.npy";

#[derive(Debug, Subcommand)]
enum Task {
    Link(link::Args),
    Split(link::SplitArgs),
    Nodes(nodes::Args),
    Roles(nodes::RolesArgs),
    /// List all methods.
    List,
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    match &args.task {
        Task::Link(args) => link::run(args, context),
        Task::Split(args) => link::split(args, context),
        Task::Nodes(args) => nodes::run(args, context),
        Task::Roles(args) => nodes::roles(args, context),
        Task::List => list(context),
    }
}

fn list(context: &Context) -> anyhow::Result<()> {
    let all = method::registry();
    let width = all.iter().map(|m| m.0.len()).max().unwrap_or(0);
    let lines: String = all
        .iter()
        .map(|(name, summary)| format!("{name:width$}  {summary}\n"))
        .collect();
    context.print(
        lines
            + &format!(
                "{:width$}  vectors from a file: .npy .npz .tsv .csv .parquet .w2v .emb .safetensors\n",
                "file:PATH"
            ),
    )
}
