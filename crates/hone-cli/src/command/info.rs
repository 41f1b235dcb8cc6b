//! `hone info INPUT`: the size and shape of a graph, or what a model holds.

use std::fmt::Write;
use std::path::Path;

use hone::Model;
use hone::embed::{ViewFacts, ViewSide};
use hone::graph::{Degrees, Summary};
use hone::memory::Allowance;
use hone::motif::triad::{Occurrence, Triad, Triads};
use hone::motif::{Graphlet, count};
use serde::{Serialize, Serializer};

use crate::context::Context;
use crate::input::InputArgs;

/// Show the size, degrees, components and motifs of a graph, or describe a model written by `hone embed --model`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Do not count motifs, which takes most of the time.
    #[arg(long)]
    no_motifs: bool,
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    summary: Summary,
    /// Induced occurrences of each graphlet, by name.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "by_name")]
    motifs: Option<[u128; Graphlet::COUNT]>,
    /// Induced occurrences of each dyad and triad of a directed graph, by name.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "triads_by_name"
    )]
    triads: Option<[u128; Triad::COUNT]>,
}

fn triads_by_name<S: Serializer>(
    triads: &Option<[u128; Triad::COUNT]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let named = triads.iter().flatten().zip(Triad::ALL);
    serializer.collect_map(named.map(|(count, triad)| (triad.name(), count)))
}

fn by_name<S: Serializer>(
    motifs: &Option<[u128; Graphlet::COUNT]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let named = motifs.iter().flatten().zip(Graphlet::ALL);
    serializer.collect_map(named.map(|(count, graphlet)| (graphlet.name(), count)))
}

const EXAMPLES: &str = "\
Examples:
  hone info builtin:karate
  hone info graph.tsv.gz --directed --weighted
  hone info table.parquet --source from --target to --json
  hone info graph.hone
  zcat graph.tsv.gz | hone info -";

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let path = Path::new(args.input.path());
    // What is left of a model may be too short to begin as one does.
    let named = path.extension().is_some_and(|end| end == "hone") && path.is_file();
    if named || Model::is_model(path) {
        return show_model(
            &Model::read_within(path, Allowance::new(args.input.memory()))?,
            args.json,
            context,
        );
    }
    let graph = args.input.open(context)?;
    let summary = Summary::of(&graph);
    let totals = (!args.no_motifs)
        .then(|| count(&graph, context.progress()))
        .transpose()?;
    let triads =
        (graph.is_directed() && !args.no_motifs).then(|| Triads::count(&graph, context.progress()));
    let triads = triads
        .transpose()?
        .map(|triads| triads.totals(Occurrence::Induced).triads);
    let report = Report {
        summary,
        motifs: totals.map(|counts| counts.totals().graphlets),
        triads,
    };
    if args.json {
        return context.print_json(&report);
    }
    context.print(table(&report))
}

/// The description of a model.
fn show_model(model: &Model, json: bool, context: &Context) -> anyhow::Result<()> {
    let facts = model.facts();
    if json {
        return context.print_json(facts);
    }
    let blocks = facts
        .blocks
        .iter()
        .map(|block| format!("{} {}", block.count, block.kind()));
    let side = |view: &ViewFacts| match view.side {
        ViewSide::Both => "",
        ViewSide::Source => ", source",
        ViewSide::Target => ", target",
    };
    let steps = |step: usize| {
        if step == 1 {
            "1 step".to_owned()
        } else {
            format!("{step} steps")
        }
    };
    let views = facts
        .views
        .iter()
        .map(|view| format!("{}{}, {}", view.motif, side(view), steps(view.step)));
    let (graph, yes_no) = (&facts.graph, |yes| if yes { "yes" } else { "no" });
    let text = aligned(&[
        ("model of", format!("hone {}", facts.version)),
        ("nodes", graph.nodes.to_string()),
        ("edges", graph.edges.to_string()),
        ("directed", yes_no(graph.directed).into()),
        ("weighted", yes_no(graph.weighted).into()),
        (
            "columns",
            format!(
                "{}: {}",
                facts.columns.len(),
                blocks.collect::<Vec<_>>().join(", ")
            ),
        ),
        ("factors", views.collect::<Vec<_>>().join("; ")),
        ("seed", facts.config.seed.to_string()),
        ("fingerprint", facts.fingerprint.clone()),
        ("memory", hone::error::human_bytes(model.memory() as u64)),
    ]);
    context.print(text.as_bytes())
}

fn table(
    Report {
        summary: s,
        motifs,
        triads,
    }: &Report,
) -> String {
    let yes_no = |yes| if yes { "yes" } else { "no" };
    let mut rows = vec![
        ("nodes", s.nodes.to_string()),
        ("edges", s.edges.to_string()),
        ("directed", yes_no(s.directed).into()),
        ("weighted", yes_no(s.weighted).into()),
        ("density", number(s.density)),
        ("degree", degrees(&s.degree)),
    ];
    rows.extend(s.out_degree.as_ref().map(|d| ("out-degree", degrees(d))));
    rows.extend(s.in_degree.as_ref().map(|d| ("in-degree", degrees(d))));
    rows.extend([
        ("isolated nodes", s.isolated.to_string()),
        ("components", s.components.to_string()),
        (
            "largest component",
            format!(
                "{} node{}",
                s.largest_component,
                if s.largest_component == 1 { "" } else { "s" }
            ),
        ),
        ("self-loops dropped", s.dropped_self_loops.to_string()),
        ("duplicates dropped", s.dropped_duplicates.to_string()),
    ]);
    // The edges are above already.
    let motifs = motifs.iter().flatten().zip(Graphlet::ALL).skip(1);
    let triads = triads.iter().flatten().zip(Triad::ALL);
    let counts: Vec<_> = motifs
        .map(|(count, graphlet)| (graphlet.name(), count))
        .chain(triads.map(|(count, triad)| (triad.name(), count)))
        .collect();
    rows.extend(
        counts
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(name, count)| (*name, count.to_string())),
    );
    let absent: Vec<&str> = counts
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(name, _)| *name)
        .collect();
    if !absent.is_empty() {
        rows.push(("absent motifs", absent.join(", ")));
    }
    aligned(&rows)
}

/// Names and values, one per line.
fn aligned(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    rows.iter().fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "{name:width$}  {value}");
        out
    })
}

fn degrees(d: &Degrees) -> String {
    format!(
        "min {}, quartiles {} {} {}, 99% {}, max {}, mean {}",
        d.min,
        d.q25,
        d.median,
        d.q75,
        d.q99,
        d.max,
        number(d.mean)
    )
}

/// Four significant digits, without an exponent unless the number is tiny.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value < 1e-4 {
        return format!("{value:.3e}");
    }
    let digits = (3 - value.log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 4.588_235, 0.139_037, 0.000_021_3, 12_345.6, 1.0].map(number);
        assert_eq!(
            shown,
            ["0", "4.588", "0.1390", "2.130e-5", "12346", "1.000"]
        );
    }
}
