//! `hone compare GRAPH GRAPH…`: how alike graphs are, by the node orbits of their nodes.

use hone::motif::{Comparison, count};
use serde::Serialize;

use crate::context::{Context, aligned};
use crate::input::{ReadArgs, note_idle_weights};

/// Compare graphs of any sizes by graphlets: distance of graphlet correlations (GCD-11), agreement of graphlet degrees (GDDA).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The graphs, two or more: files, or builtin:NAME.
    #[arg(value_name = "GRAPH", required = true, num_args = 2..)]
    graphs: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone compare builtin:karate builtin:florentine
  hone compare builtin:karate builtin:grid --json

The distance is 0 for graphs whose orbits are correlated alike; the agreement, a mean over the 15 node orbits, is 1 for equal \
distributions. Directions and weights are ignored.";

#[derive(Serialize)]
struct Compared {
    graphs: Vec<String>,
    #[serde(flatten)]
    comparison: Comparison,
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (mut graphs, mut orbits) = (Vec::new(), Vec::new());
    for path in &args.graphs {
        let source = args.read.source(path)?;
        let graph = source.open(false, context)?;
        note_idle_weights(&graph, context);
        graphs.push(source.name());
        orbits.push(count(&graph, context.progress())?.node_orbits()?);
    }
    context.progress_done();
    let compared = Compared {
        comparison: Comparison::of(&orbits),
        graphs,
    };
    if context.json() {
        return context.print_json(&compared);
    }
    let table = |title: &str, numbers: &[Vec<f64>]| {
        let head = std::iter::once(title.to_owned()).chain(compared.graphs.iter().cloned());
        let rows = compared.graphs.iter().zip(numbers).map(|(name, row)| {
            let cells = row.iter().map(|number| format!("{number:.4}"));
            std::iter::once(name.clone()).chain(cells).collect()
        });
        let lines: Vec<Vec<String>> = std::iter::once(head.collect()).chain(rows).collect();
        aligned(&lines, 1..lines.len())
    };
    let distances = table("GCD-11", &compared.comparison.gcd11);
    let agreements = table("GDD agreement", &compared.comparison.agreement);
    Ok(context.print(format!("{distances}\n{agreements}"))?)
}
