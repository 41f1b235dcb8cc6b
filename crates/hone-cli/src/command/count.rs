//! `hone count INPUT`: motif counts of every edge, of every node, or of the whole graph.

mod update;

use std::path::PathBuf;

use clap::ValueEnum;
use hone::engine::{Counting, Cpu, Engine};
use hone::graph::Graph;
use hone::memory::Allowance;
use hone::message::{message, setting};
use hone::motif::triad::Occurrence;
use hone::motif::{Counts, Motif, MotifSet, Sample, Sampled, node_orbits_called};
use hone::output::{Batch, is_stream};
use hone::store::{CountTable, CountsBy};
use hone::{Error, Progress, Silent, memory};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::{ReplaceArgs, SampleArgs};
use crate::context::{Context, aligned};
use crate::files;
use crate::input::{RepeatableArgs, note_idle_weights};
use crate::options;
use crate::repeat::{Record, Stages};
use update::{Update, UpdateArgs, Updated};

/// Count motifs: graphlets of 2 to 4 nodes, of every edge, of every node, or of the whole graph.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: RepeatableArgs,
    /// File to write: .tsv, .txt, .csv (also .gz, .zst), .npy (ids in a file next to it) or .parquet; totals .tsv or .csv;
    /// - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// What a line of the result stands for [default: edge].
    #[arg(long, value_enum)]
    per: Option<By>,
    /// Motifs to count, by edge or in total: all, graphlets, size3, for directed graphs triads or triad-orbits, or a list of
    /// names [default: all].
    #[arg(long, value_name = "SET")]
    motifs: Option<MotifSet>,
    /// Leave out motifs with more nodes than this.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=4))]
    motif_size: Option<u8>,
    /// Call motifs by their numbers in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
    /// For directed motifs: count all triads that contain the motif, not only induced ones.
    #[arg(long)]
    subgraph: bool,
    #[command(flatten)]
    sample: SampleArgs,
    #[command(flatten)]
    update: UpdateArgs,
    #[command(flatten)]
    replace: ReplaceArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum By {
    /// Each edge: how many occurrences of the motif contain it.
    #[default]
    Edge,
    /// Each node: its counts in the 15 node orbits, in ORCA's order.
    Node,
    /// The whole graph: the number of occurrences.
    Total,
}

const COMMAND: &str = "count";

/// The names of the columns of totals.
const TOTALS: [&str; 3] = ["motif", "occurrences", "edges_in_position"];

const EXAMPLES: &str = "\
Examples:
  hone count builtin:karate --per total
  hone count graph.tsv -o counts.tsv
  hone count graph.tsv -o clique-counts.parquet --motifs triangle,diamond,clique4
  hone count graph.tsv -o nodes.npy --per node
  hone count hubs.tsv -o counts.parquet --sample cap=64
  hone count graph.tsv --directed --motifs triads --per total
  hone count graph.tsv --directed -o arcs.parquet --motifs triad-orbits
  hone count graph.tsv -o new.parquet --update counts.tsv --add added.tsv --remove removed.tsv
  hone count -o counts-again.parquet --config counts.parquet.run.json

OUT.run.json, next to OUT, records what was counted, of which graph, and whether it was estimated; --config repeats it.
Occurrences are induced subgraphs. Edge weights are ignored, and so are directions, except \
for directed motifs: by edge a pair of opposite edges has two lines, in total it counts once. In total,\n\
`edges in position` counts the edges that are in this position of an occurrence, once for each.
Sets: all (or orbits), graphlets, size2, size3, size4, or names or numbers separated by commas (`hone list motifs --table`):
  edge path3 triangle path4-end path4-mid star4 cycle4 tailed-tail tailed-near tailed-far
  diamond-chord diamond-rim clique4, and the whole graphlets path4 tailed-triangle diamond
Directed motifs: triads, triad-orbits (positions of an arc in them), or names:
  one-way mutual 021D 021U 021C 111D 111U 030T 030C 201 120D 120U 120C 210 300, also as M1 to M13";

/// What is counted: part of a record, where a later run finds it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Choices {
    by: By,
    motifs: MotifSet,
    sample: Sample,
    seed: u64,
    #[serde(default)]
    occurrence: Occurrence,
    #[serde(default)]
    numbers: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    update: Option<Update>,
}

impl Choices {
    /// Refuses subgraphs of motifs that have no such counts, and updates of what is not exact or has directions.
    fn check(&self) -> Result<(), Error> {
        let motifs = self.motifs.motifs();
        let undirected = motifs.iter().find(|motif| !motif.is_directed());
        if let (Some(motif), Occurrence::Subgraph) = (undirected, self.occurrence) {
            let message = format!(
                "subgraph counts exist for directed motifs, and {motif} is not one; use --motifs triads"
            );
            return Err(Error::config("--subgraph", message));
        }
        if self.update.is_some() && self.sample != Sample::Exact {
            let message = "an update is exact; leave one of --sample and --update out";
            return Err(Error::config("--sample", message));
        }
        let directed = motifs.iter().find(|motif| motif.is_directed());
        if let (Some(motif), Some(_)) = (directed, &self.update) {
            let message = format!(
                "counts of directed motifs such as {motif} cannot be updated; count the changed graph"
            );
            return Err(Error::config("--update", message));
        }
        Ok(())
    }

    /// The names of the columns of counts, or of totals.
    fn columns(&self) -> Vec<&'static str> {
        match self.by {
            By::Edge => {
                let motifs = self.motifs.motifs().into_iter();
                motifs.map(|motif| motif.called(self.numbers)).collect()
            }
            By::Node => node_orbits_called(self.numbers).to_vec(),
            By::Total => TOTALS.to_vec(),
        }
    }

    /// Counts, if there is enough memory for this and for the table that follows.
    fn count(
        &self,
        graph: &Graph,
        engine: &dyn Engine,
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts, Error> {
        let table = |by| CountTable::memory(graph, by, self.columns().len());
        let (motifs, writing) = match self.by {
            By::Edge => (self.motifs.motifs(), table(CountsBy::Edge)),
            By::Node => (Vec::new(), table(CountsBy::Node)),
            By::Total => (self.motifs.motifs(), 0),
        };
        let before = memory::resident().unwrap_or(0);
        let how = Counting {
            motifs: &motifs,
            sample: &self.sample,
            seed: self.seed,
            allowance,
            progress,
        };
        let counts = engine.count(graph, how).map_err(|mut error| {
            if let Error::Memory { need, .. } = &mut error {
                *need = need.saturating_add(writing);
            }
            error
        })?;
        // Memory freed by counting is available for the table.
        let held = before
            .saturating_add(counts.bytes() as u64)
            .saturating_add(writing);
        let more = held.saturating_sub(memory::resident().unwrap_or(0));
        let remedy = message!["choose fewer motifs, or raise ", setting("memory_limit")];
        allowance.check_work("writing counts", more, remedy)?;
        Ok(counts)
    }
}

/// What a run did: part of its record.
#[derive(Debug, Serialize)]
struct Counted<'a> {
    #[serde(flatten)]
    choices: &'a Choices,
    /// Columns of counts, or of totals.
    columns: Vec<&'static str>,
    /// Whether every count is exact.
    exact: bool,
    /// What was estimated, or would have been if some nodes had more neighbours than the cap.
    sampled: Option<&'a Sampled>,
    /// The changed graph, where counts were updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Updated>,
}

impl Args {
    /// The choices of the command line over those of the record, if there is one.
    fn choices(&self, context: &Context) -> Result<Choices, Error> {
        let mut before = Choices::default();
        if let Some(earlier) = self.input.earlier::<Choices>(COMMAND)? {
            let update = earlier.choices.update.as_ref();
            let update = update.map(|update| update.located(&earlier)).transpose()?;
            before = earlier.choices;
            before.update = update;
        }
        let by = self.per.unwrap_or(before.by);
        let given = self.motifs.is_some() || self.motif_size.is_some();
        let mut motifs = match given || by != By::Node {
            true => self.motifs.clone().unwrap_or(before.motifs),
            false => MotifSet::default(),
        };
        if let Some(size) = self.motif_size {
            motifs = motifs.at_most(size.into());
        }
        motifs.check()?;
        if by == By::Node && (motifs != MotifSet::default() || self.motif_size.is_some()) {
            let message = "only applies to --per edge and --per total; --per node always counts all 15 node orbits";
            let option = self.motif_size.map_or("--motifs", |_| "--motif-size");
            return Err(Error::config(option, message));
        }
        let choices = Choices {
            by,
            motifs,
            sample: self.sample.sample.unwrap_or(before.sample),
            seed: self.sample.seed.seed.unwrap_or(before.seed),
            occurrence: match context.said("subgraph") {
                Some(true) => Occurrence::Subgraph,
                Some(false) => Occurrence::Induced,
                None => before.occurrence,
            },
            numbers: context.said("numbers").unwrap_or(before.numbers),
            update: self.update.over(before.update)?,
        };
        choices.check()?;
        Ok(choices)
    }

    /// The files that the counts are written to.
    fn files(&self, by: By) -> Result<Vec<PathBuf>, Error> {
        match by {
            By::Edge => CountTable::files(&self.output, CountsBy::Edge),
            By::Node => CountTable::files(&self.output, CountsBy::Node),
            By::Total => self.separator().map(|_| vec![self.output.clone()]),
        }
    }

    /// The separator between columns of totals.
    fn separator(&self) -> Result<&'static str, Error> {
        let extension = self.output.extension().unwrap_or_default();
        let message = match &*extension.to_string_lossy().to_lowercase() {
            "tsv" | "txt" => return Ok("\t"),
            "csv" => return Ok(","),
            "" if is_stream(&self.output) => return Ok("\t"),
            "" => "the name has no extension, which names the format of totals".to_owned(),
            other => format!("no format of totals has the extension `.{other}`"),
        };
        let remedy = "--per total writes .tsv or .csv, or to standard output (-)";
        Err(Error::input(&self.output, message, remedy))
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (choices, (source, mut inputs)) = (args.choices(context)?, args.input.resolve()?);
    let files = args.files(choices.by)?;
    if choices.by != By::Total {
        context.check_json(&args.output)?;
    }
    if let Some(update) = &choices.update {
        inputs = update.files(inputs);
    }
    let engine = context.engine();
    let outputs = inputs.write_recorded(&files, &args.output);
    let mut batch = outputs.check_by(engine.leads(), args.replace.force)?;
    let mut stages = Stages::begin();
    let least = Allowance::new(Some(1));
    let work = |graph: &Graph| choices.count(graph, &Cpu, least, &Silent).map(drop);
    let read = source.open_for(&work, false, context)?;
    note_idle_weights(&read, context);
    let motifs = choices.motifs.motifs();
    if read.is_directed() && !motifs.iter().any(|motif| motif.is_directed()) {
        context.note("note: these motifs ignore the directions of arcs; --motifs triads counts directed ones; per node: hone features --directed --motifs triads");
    }
    if args.sample.seed.seed.is_some() && choices.sample == Sample::Exact {
        let why = "exact counts are not random";
        options::note_idle(&[("--seed".into(), why.into())], context);
    }
    stages.end("read");
    let (graph, counts, changed) = match &choices.update {
        Some(update) => {
            let (graph, counts, changed) = update.run(&source, &read, context)?;
            (graph, counts, Some(changed))
        }
        None => {
            let allowance = Allowance::new(context.memory(source.memory));
            let counts = choices.count(&read, engine, allowance, context.progress())?;
            (read.clone(), counts, None)
        }
    };
    stages.end("count");
    let write = || {
        let sampled = counts.sampled();
        if let Some(sampled) = sampled {
            context.note(format_args!("note: {sampled}"));
        } else if choices.sample != Sample::Exact {
            context.note("note: motifs were counted exactly: no estimate meets the target, or no node is large enough");
        }
        let mut table = |table: CountTable<'_>| {
            table
                .with_numbers(choices.numbers)
                .add_to(&mut batch, &args.output, context.progress())
        };
        match choices.by {
            By::Edge => {
                let occurrence = choices.occurrence;
                table(CountTable::edges(&graph, &counts, &motifs, occurrence))?;
            }
            By::Node => table(CountTable::nodes(&graph, &counts, &counts.node_orbits()?))?,
            By::Total => {
                let lines = totals(&graph, &counts, &choices);
                write_totals(args, &mut batch, context, &lines)?;
            }
        }
        stages.end("write");
        let counted = Counted {
            choices: &choices,
            columns: choices.columns(),
            exact: sampled.is_none_or(|sampled| sampled.nodes == 0),
            sampled,
            changed,
        };
        let of = Some((&source.input, &read));
        Record::new(COMMAND, of, &counted, stages.done).add_to(&mut batch, &args.output)
    };
    let written = if engine.leads() { write() } else { Ok(()) };
    engine.communicator().agree(&args.output, written)?;
    if !engine.leads() {
        return Ok(());
    }
    batch.commit()?;
    if !is_stream(&args.output) {
        let names = files.iter().map(|file| file.display().to_string());
        let names: Vec<String> = names.collect();
        context.note(format_args!("wrote {}", names.join(" and ")));
    }
    context.print_record(&args.output)
}

/// How often the motifs occur in the whole graph, and how many edges these occurrences have in the position. The set of all triads is
/// complete: it has those that are not connected.
fn totals(graph: &Graph, counts: &Counts, choices: &Choices) -> Vec<Vec<String>> {
    let (motifs, occurrence) = (choices.motifs.motifs(), choices.occurrence);
    let arcs = counts.triads().map(|triads| triads.totals(occurrence));
    let edges = counts.totals();
    let of = |motif: Motif| match (&arcs, motif.triad(), motif.graphlet()) {
        (Some(arcs), Some(triad), _) => (arcs.triads[triad.index()], arcs.weight(motif)),
        (_, _, Some(graphlet)) => (edges.graphlets[graphlet.index()], edges.weight(motif)),
        _ => (0, 0),
    };
    let line = |name: &str, (occurrences, weight): (u128, u128)| {
        vec![name.to_owned(), occurrences.to_string(), weight.to_string()]
    };
    let mut lines = vec![TOTALS.map(|name| name.replace('_', " ")).to_vec()];
    lines.extend(
        motifs
            .iter()
            .map(|&motif| line(motif.called(choices.numbers), of(motif))),
    );
    let whole = choices.motifs == MotifSet::Triads && occurrence == Occurrence::Induced;
    if let Some(arcs) = arcs.filter(|_| whole) {
        let unconnected = arcs.census(graph.nodes()).into_iter().take(3);
        let unconnected = (0..).zip(unconnected);
        lines.extend(unconnected.map(|(arcs, (name, sets))| line(name, (sets, arcs * sets))));
    }
    lines
}

fn write_totals(
    args: &Args,
    batch: &mut Batch,
    context: &Context,
    lines: &[Vec<String>],
) -> Result<(), Error> {
    if args.output.as_os_str() == "-" && context.json() {
        let rows = lines[1..].iter();
        let row = |row: &Vec<String>| {
            let number = |at: usize| row[at].parse::<serde_json::Number>().ok();
            json!({ TOTALS[0]: row[0], TOTALS[1]: number(1), TOTALS[2]: number(2) })
        };
        let text = serde_json::to_string_pretty(&rows.map(row).collect::<Vec<_>>());
        return context.print(text.expect("plain data") + "\n");
    }
    if args.output.as_os_str() == "-" {
        return context.print(aligned(lines, 1..3));
    }
    let separator = args.separator()?;
    let line = |line: &Vec<String>| line.join(separator).replace(' ', "_") + "\n";
    let text: String = lines.iter().map(line).collect();
    files::add(batch, &args.output, text.as_bytes())
}
