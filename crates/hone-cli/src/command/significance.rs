//! `hone significance INPUT`: motifs beside their counts in random graphs.

use clap::builder::TypedValueParser;
use hone::motif::{NullModel, Significance};

use crate::arguments::SeedArgs;
use crate::context::{Context, aligned, decimals};
use crate::input::{InputArgs, note_idle_weights, one_of};

/// Compare how often motifs occur with random graphs: z-scores, p-values and the significance profile.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// How many random graphs.
    #[arg(long, value_name = "N", default_value_t = 100)]
    random: usize,
    /// What random graphs keep: degrees, reciprocity (also the mutual arcs of each node), configuration (degrees, less loops and
    /// repeated edges) or er (the number of edges) [default: degrees, of directed graphs reciprocity].
    #[arg(long, value_name = "MODEL", value_parser = null_model())]
    null_model: Option<NullModel>,
    #[command(flatten)]
    seed: SeedArgs,
    /// Call motifs by their numbers in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
}

fn null_model() -> impl TypedValueParser<Value = NullModel> {
    one_of(NullModel::ALL.map(|known| known.1), |name| {
        name.parse().ok()
    })
}

const EXAMPLES: &str = "\
Examples:
  hone significance builtin:karate
  hone significance graph.tsv --random 100 --seed 1
  hone significance graph.tsv --directed
  hone significance graph.tsv --directed --null-model degrees --json

Counted are the connected motifs of three nodes of a directed graph, of three and four nodes of an undirected one, as induced \
subgraphs and exactly. z is the distance from the mean of the random graphs in standard deviations, – where these all have \
the same number. p more and p fewer are how likely at least, and at most, as many are: (r + 1) / (n + 1), where r of n random \
graphs have them; q is the false discovery rate (Benjamini and Hochberg, over all motifs) of twice the smaller of both. The \
profile is z over the root of the sum of all squares, for each number of nodes.";

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let graph = args.input.source()?.open(false, context)?;
    note_idle_weights(&graph, context);
    let progress = context.progress();
    let mut found = Significance::of(
        &graph,
        args.null_model,
        args.random,
        args.seed.seed.unwrap_or_default(),
        progress,
    )?;
    if args.numbers {
        found = found.numbered();
    }
    context.progress_done();
    if let Some(switching) = found.switching {
        let edges = graph.edges().max(1) as f64;
        let [now, later] = switching.in_place.map(|share| 100.0 * share);
        context.note(format_args!(
            "{}: each random graph takes {:.0} attempts to switch per edge, of which {:.1} % succeed; {now:.1} % of the edges are \
             then in place ({later:.1} % after twice as many)",
            if switching.mixed { "note" } else { "warning: the switches have not mixed" },
            switching.attempts as f64 / edges,
            100.0 * switching.succeeded,
        ));
    }
    if context.json() {
        return context.print_json(&found);
    }
    let head = [
        "motif", "count", "mean", "sd", "z", "p more", "p fewer", "q", "profile",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(found.motifs.iter().map(|of| {
        vec![
            of.motif.to_owned(),
            of.count.to_string(),
            format!("{:.2}", of.mean),
            format!("{:.2}", of.sd),
            decimals(of.z, 2),
            format!("{:.4}", of.p_more),
            format!("{:.4}", of.p_fewer),
            format!("{:.4}", of.q),
            decimals(of.profile, 3),
        ]
    }));
    Ok(context.print(aligned(&lines, 1..9))?)
}
