//! `hone significance INPUT`: motifs beside their counts in random graphs.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use hone::Error;
use hone::motif::{MotifSignificance, NullModel, Significance};
use hone::output::Existing;
use hone::record;

use crate::arguments::{ReplaceArgs, SeedArgs};
use crate::context::{Context, aligned, decimals};
use crate::files;
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
    /// File for the result: .tsv, .csv or .json; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    replace: ReplaceArgs,
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
  hone significance graph.tsv --directed -o motifs.tsv
  hone significance graph.tsv --directed --null-model degrees --json

Counted are the connected motifs of three nodes of a directed graph, of three and four nodes of an undirected one, as induced \
subgraphs and exactly. z is the distance from the mean of the random graphs in standard deviations, – where these all have \
the same number. p more and p fewer are how likely at least, and at most, as many are: (r + 1) / (n + 1), where r of n random \
graphs have them; q is the false discovery rate (Benjamini and Hochberg, over all motifs) of twice the smaller of both. The \
profile is z over the root of the sum of all squares, for each number of nodes.";

/// What is between the columns of a file; nothing for JSON.
fn separator(path: &Path) -> Result<Option<&'static str>, Error> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    match &*extension.to_lowercase() {
        "json" => Ok(None),
        "csv" => Ok(Some(",")),
        _ => files::check_extension(path, "a table of motifs", &["tsv", "csv", "json"])
            .map(|()| Some("\t")),
    }
}

/// All numbers in full, nothing where there is none.
fn table(found: &Significance, separator: &str) -> String {
    let head = [
        "motif", "count", "mean", "sd", "z", "p_more", "p_fewer", "q", "profile",
    ];
    let or_none =
        |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    let line = |of: &MotifSignificance| {
        let (motif, count) = (of.motif.to_owned(), of.count.to_string());
        let (mean, sd) = (of.mean.to_string(), of.sd.to_string());
        let p = [of.p_more, of.p_fewer, of.q].map(|p| p.to_string());
        let [more, fewer, q] = p;
        let (z, profile) = (or_none(of.z), or_none(of.profile));
        [motif, count, mean, sd, z, more, fewer, q, profile].join(separator) + "\n"
    };
    let lines = found.motifs.iter().map(line).collect::<String>();
    head.join(separator) + "\n" + &lines
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let source = args.input.source()?;
    let output = args.output.as_deref();
    let separator = output.map(separator).transpose()?;
    let files = source.files().write("--output", output);
    let mut batch = files.check(args.replace.force)?;
    if let Some(path) = output {
        context.check_json(path)?;
        record::check_without(path, Existing::replaced_if(args.replace.force))?;
    }
    let graph = source.open(false, context)?;
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
    if let (Some(path), Some(separator)) = (output, separator) {
        let text = match separator {
            Some(separator) => table(&found, separator),
            None => serde_json::to_string_pretty(&found)? + "\n",
        };
        files::add(&mut batch, path, text.as_bytes())?;
        files::note_written(&batch.commit()?, path, context);
    }
    if context.json() {
        return context.print_json(&found);
    }
    if output.is_some() {
        return Ok(());
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
