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
    /// Also show the agreement in each orbit, and its geometric mean.
    #[arg(long)]
    orbits: bool,
    /// Call orbits by their numbers in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
}

const EXAMPLES: &str = "\
Examples:
  hone compare builtin:karate builtin:florentine
  hone compare builtin:karate builtin:florentine --orbits --numbers
  hone compare builtin:karate builtin:grid --json

The distance is 0 for graphs whose orbits are correlated alike; the agreement, a mean over the 15 node orbits, is 1 for equal \
distributions. JSON has the agreement in each orbit and the correlations too. Directions and weights are ignored.";

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
        comparison: Comparison::of(&orbits, args.numbers),
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
    let mut text = format!("{distances}\n{agreements}");
    if args.orbits {
        text += &format!("\n{}", by_orbit(&compared));
    }
    Ok(context.print(text)?)
}

/// The agreement of each pair: a line for each orbit, the last for the geometric mean.
fn by_orbit(compared: &Compared) -> String {
    let found = &compared.comparison;
    let pairs: Vec<(usize, usize)> = (0..compared.graphs.len())
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .collect();
    let line = |name: &str, cell: &dyn Fn(usize, usize) -> String| {
        let cells = pairs.iter().map(|&(a, b)| cell(a, b));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let graphs = &compared.graphs;
    let mut lines: Vec<Vec<String>> = vec![line("orbit", &|a, b| {
        format!("{} / {}", graphs[a], graphs[b])
    })];
    lines.extend(
        found
            .orbits
            .iter()
            .enumerate()
            .map(|(at, name)| line(name, &|a, b| format!("{:.4}", found.by_orbit[a][b][at]))),
    );
    lines.push(line("geometric mean", &|a, b| {
        format!("{:.4}", found.geometric[a][b])
    }));
    aligned(&lines, 1..pairs.len() + 1)
}
