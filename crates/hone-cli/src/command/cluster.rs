//! `hone cluster INPUT`: nodes that few occurrences of a motif leave.

use hone::cluster::MotifClusters;
use hone::graph::quoted_line;
use hone::motif::Motif;
use hone_explore::find_node;
use serde::Serialize;

use crate::context::Context;
use crate::input::{InputArgs, note_idle_weights};

/// Find a cluster that few occurrences of a motif leave: around a node, or the best cut of the graph.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The motif: a graphlet, or a directed triad in which all nodes are linked (M1 to M7).
    #[arg(
        id = "motifs",
        long = "motif",
        value_name = "NAME",
        default_value = "triangle"
    )]
    motif: String,
    /// The cluster around this node [default: the best cut of the largest component].
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    node: Option<String>,
    /// Call the motif by its number in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
}

const EXAMPLES: &str = "\
Examples:
  hone cluster builtin:karate
  hone cluster builtin:karate --node 33
  hone cluster graph.tsv --motif clique4 --json

The ids of the nodes go to standard output, one per line, as in a file of --node-list. The conductance is the weight of the motif \
between the cluster and the rest, over the smaller of their volumes; 0 if no occurrence leaves the cluster. Of motifs of four nodes \
it is a surrogate of the motif conductance, in which an occurrence that is cut in half counts 4/3 times.";

#[derive(Serialize)]
struct Found<'a> {
    motif: &'a str,
    conductance: f64,
    surrogate: bool,
    cut: f64,
    volume: f64,
    rest: f64,
    nodes: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let motif: Motif = args.motif.parse()?;
    let graph = args.input.source()?.open(false, context)?;
    note_idle_weights(&graph, context);
    let (ids, node) = (graph.ids(), args.node.as_deref());
    let node = node
        .map(|id| find_node(ids, &ids.index(), id))
        .transpose()?;
    let clusters = MotifClusters::new(&graph, motif, context.progress())?;
    let found = match node {
        Some(node) => clusters.local(node, context.progress())?,
        None => clusters.spectral(context.progress())?,
    };
    context.progress_done();
    let nodes = found.nodes.iter().map(|&node| ids.get(node).to_string());
    let found = Found {
        motif: motif.called(args.numbers),
        conductance: found.conductance,
        surrogate: found.surrogate,
        cut: found.cut,
        volume: found.volume,
        rest: found.rest,
        nodes: nodes.collect(),
    };
    if context.json() {
        return context.print_json(&found);
    }
    context.note(format_args!(
        "{} node{} with {} {:.4} in {}: {} of the volumes {} and {} is cut",
        found.nodes.len(),
        if found.nodes.len() == 1 { "" } else { "s" },
        if found.surrogate {
            "surrogate conductance (an occurrence cut in half counts 4/3)"
        } else {
            "conductance"
        },
        found.conductance,
        found.motif,
        found.cut,
        found.volume,
        found.rest
    ));
    let lines = found
        .nodes
        .iter()
        .map(|id| format!("{}\n", quoted_line(id)));
    Ok(context.print(lines.collect::<String>())?)
}
