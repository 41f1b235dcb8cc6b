//! `hone info INPUT`: the size and shape of a graph, or what a model holds.

use std::path::Path;

use hone::Model;
use hone::embed::{ViewFacts, ViewSide};
use hone::graph::{Degrees, Summary};
use hone::memory::Allowance;
use hone::motif::triad::{Occurrence, Triad, Triads};
use hone::motif::{Graphlet, Motif, count};
use hone::record;
use hone::store::{Embedding, Format};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};

use crate::context::{self, Context};
use crate::input::InputArgs;
use crate::vectors;

/// Show the size, degrees, components and motifs of a graph; describe vectors, or a model written by `hone embed --save-model`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Do not count motifs, which takes most of the time.
    #[arg(long)]
    no_motifs: bool,
    /// Call motifs by their numbers in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    summary: Summary,
    /// Induced occurrences of each graphlet, by name.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "by_name")]
    motifs: Option<Vec<(&'static str, u128)>>,
    /// Induced occurrences of each dyad and triad of a directed graph, by name.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "by_name")]
    triads: Option<Vec<(&'static str, u128)>>,
}

fn by_name<S: Serializer>(
    counts: &Option<Vec<(&'static str, u128)>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().flatten().copied())
}

const EXAMPLES: &str = "\
Examples:
  hone info builtin:karate
  hone info graph.tsv.gz --directed --weighted
  hone info table.parquet --source from --target to --json
  hone info graph.hone
  hone info vectors.npy
  zcat graph.tsv.gz | hone info -";

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let path = Path::new(&args.input.input);
    // What is left of a model may be too short to begin as one does.
    let named = path.extension().is_some_and(|end| end == "hone") && path.is_file();
    if named || Model::is_model(path) {
        let model = Model::read_within(path, Allowance::new(args.input.read.memory))?;
        return match context.json() {
            true => context.print_json(model.facts()),
            false => Ok(context.print(described(&model))?),
        };
    }
    if let Some(format) = vector_format(path) {
        let embedding = vectors::read(path, Some(format), args.input.read.memory)?;
        let facts = Vectors::of(&embedding, format);
        return match context.json() {
            true => context.print_json(&facts),
            false => Ok(context.print(facts.described())?),
        };
    }
    let graph = args.input.source()?.open(true, context)?;
    let mut report = Report {
        summary: Summary::of(&graph),
        motifs: None,
        triads: None,
    };
    if !args.no_motifs {
        let totals = count(&graph, context.progress())?.totals().graphlets;
        let called = |motif: Motif| motif.called(args.numbers);
        let names = Graphlet::ALL.map(Motif::Graphlet).into_iter().map(called);
        report.motifs = Some(names.zip(totals).collect());
        if graph.is_directed() {
            let triads = Triads::count(&graph, context.progress())?;
            let totals = triads.totals(Occurrence::Induced).triads;
            let names = Triad::ALL.map(Motif::Triad).into_iter().map(called);
            report.triads = Some(names.zip(totals).collect());
        }
    }
    match context.json() {
        true => context.print_json(&report),
        false => Ok(context.print(table(&report))?),
    }
}

/// The format of vectors, if a file has some: by its extension, or, where graphs have that too, by the record beside it.
fn vector_format(path: &Path) -> Option<Format> {
    #[derive(Deserialize)]
    struct OfVectors {
        #[serde(rename = "columns")]
        _columns: Vec<String>,
        #[serde(rename = "local")]
        _local: Vec<IgnoredAny>,
    }
    let format = Format::of(path).ok().filter(|_| path.exists())?;
    let of_graphs = matches!(format, Format::Tsv | Format::Csv | Format::Parquet);
    let is_recorded = || {
        let text = record::read(&record::path(path)?).ok()??;
        record::parse::<OfVectors>(&text).ok()
    };
    (!of_graphs || is_recorded().is_some()).then_some(format)
}

/// What vectors are.
#[derive(Serialize)]
struct Vectors {
    format: Format,
    nodes: usize,
    columns: usize,
    /// Columns by what they describe, as their names say.
    blocks: Vec<(&'static str, usize)>,
    zero_rows: usize,
    not_finite: usize,
    /// Of rows that are not zero.
    median_length: Option<f64>,
    /// The first ids.
    ids: Vec<String>,
}

impl Vectors {
    fn of(
        Embedding {
            ids,
            vectors,
            columns,
            ..
        }: &Embedding,
        format: Format,
    ) -> Vectors {
        const SHOWN: usize = 3;
        let kind = |name: &String| match name {
            _ if name.starts_with("structure_") => "structure",
            _ if name
                .strip_prefix('z')
                .is_some_and(|rest| rest.parse::<u32>().is_ok()) =>
            {
                "proximity"
            }
            _ => "other",
        };
        let count = |of: &'static str| (of, columns.iter().filter(|name| kind(name) == of).count());
        let blocks = ["proximity", "structure", "other"].map(count).into_iter();
        let square = |row: usize| -> f64 {
            let values = vectors.row(row).iter();
            values.map(|&value| f64::from(value).powi(2)).sum()
        };
        let lengths = (0..vectors.rows()).map(|row| square(row).sqrt());
        let mut lengths: Vec<f64> = lengths.filter(|length| *length != 0.0).collect();
        lengths.sort_by(f64::total_cmp);
        Vectors {
            format,
            nodes: vectors.rows(),
            columns: vectors.cols(),
            blocks: blocks.filter(|(_, count)| *count > 0).collect(),
            zero_rows: vectors.rows() - lengths.len(),
            not_finite: vectors
                .as_slice()
                .iter()
                .filter(|value| !value.is_finite())
                .count(),
            median_length: lengths.get(lengths.len() / 2).copied(),
            ids: ids.iter().take(SHOWN).map(|id| id.to_string()).collect(),
        }
    }

    fn described(&self) -> String {
        let blocks = self
            .blocks
            .iter()
            .map(|(name, count)| format!("{count} {name}"));
        let blocks = blocks.collect::<Vec<_>>().join(", ");
        let format = Format::ALL
            .iter()
            .find(|(format, _)| *format == self.format);
        let more = if self.nodes > self.ids.len() {
            ", …"
        } else {
            ""
        };
        aligned(&[
            ("vectors in", format.map_or("", |(_, name)| name).to_owned()),
            ("nodes", self.nodes.to_string()),
            ("columns", format!("{}: {blocks}", self.columns)),
            ("ids", format!("{}{more}", self.ids.join(", "))),
            ("zero rows", self.zero_rows.to_string()),
            ("not finite", self.not_finite.to_string()),
            (
                "median length",
                self.median_length.map_or("–".to_owned(), number),
            ),
        ])
    }
}

/// The description of a model.
fn described(model: &Model) -> String {
    let facts = model.facts();
    let blocks = facts.blocks.iter();
    let blocks = blocks.map(|block| format!("{} {}", block.count, block.kind()));
    let blocks = blocks.collect::<Vec<_>>().join(", ");
    let view = |view: &ViewFacts| {
        let side = match view.side {
            ViewSide::Both => "",
            ViewSide::Source => ", source",
            ViewSide::Target => ", target",
        };
        let s = if view.step == 1 { "" } else { "s" };
        format!("{}{side}, {} step{s}", view.motif, view.step)
    };
    let views: Vec<String> = facts.views.iter().map(view).collect();
    let graph = &facts.graph;
    let columns = format!("{}: {blocks}", facts.columns.len());
    aligned(&[
        ("model of", format!("hone {}", facts.version)),
        ("nodes", graph.nodes.to_string()),
        ("edges", graph.edges.to_string()),
        ("directed", yes_no(graph.directed)),
        ("weighted", yes_no(graph.weighted)),
        ("columns", columns),
        ("factors", views.join("; ")),
        ("seed", facts.config.seed.to_string()),
        ("fingerprint", facts.fingerprint.clone()),
        ("memory", hone::error::human_bytes(model.memory() as u64)),
    ])
}

fn table(report: &Report) -> String {
    let s = &report.summary;
    let mut rows = vec![
        ("nodes", s.nodes.to_string()),
        ("edges", s.edges.to_string()),
        ("directed", yes_no(s.directed)),
        ("weighted", yes_no(s.weighted)),
        ("density", number(s.density)),
        ("degree", degrees(&s.degree)),
    ];
    rows.extend(s.out_degree.as_ref().map(|d| ("out-degree", degrees(d))));
    rows.extend(s.in_degree.as_ref().map(|d| ("in-degree", degrees(d))));
    let plural = if s.largest_component == 1 { "" } else { "s" };
    let largest = format!("{} node{plural}", s.largest_component);
    rows.extend([
        ("isolated nodes", s.isolated.to_string()),
        ("components", s.components.to_string()),
        ("largest component", largest),
        ("self-loops dropped", s.dropped_self_loops.to_string()),
        ("duplicates merged", s.dropped_duplicates.to_string()),
    ]);
    // The edges are above already.
    let counts = report.motifs.iter().flatten().skip(1);
    let counts = counts.chain(report.triads.iter().flatten());
    let (found, absent): (Vec<_>, Vec<_>) = counts.partition(|(_, count)| *count > 0);
    rows.extend(found.iter().map(|(name, count)| (*name, count.to_string())));
    if !absent.is_empty() {
        let absent: Vec<&str> = absent.iter().map(|(name, _)| *name).collect();
        rows.push(("absent motifs", absent.join(", ")));
    }
    aligned(&rows)
}

fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// Names and values, one per line.
fn aligned(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| vec![(*name).to_owned(), value.clone()];
    context::aligned(&rows.iter().map(row).collect::<Vec<_>>(), 0..0)
}

fn degrees(d: &Degrees) -> String {
    let &Degrees {
        min,
        q25,
        median,
        q75,
        q99,
        max,
        mean,
    } = d;
    let mean = number(mean);
    format!("min {min}, quartiles {q25} {median} {q75}, 99% {q99}, max {max}, mean {mean}")
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
