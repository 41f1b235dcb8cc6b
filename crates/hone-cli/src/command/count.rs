//! `hone count INPUT`: motif counts of every edge, of every node, or of the whole graph.

mod sums;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hone::engine::{Counting, Cpu, Engine};
use hone::graph::Graph;
use hone::memory::Allowance;
use hone::motif::triad::Occurrence;
use hone::motif::{Counts, MotifSet, NODE_ORBITS, Sample, Sampled};
use hone::output::{Batch, is_stream};
use hone::report::{GraphFacts, Input, Stage, Start};
use hone::store::{CountTable, CountsBy};
use hone::{Error, Progress, Silent, memory, record};
use serde::{Deserialize, Serialize};

use crate::aligned::aligned;
use crate::context::Context;
use crate::idle;
use crate::input::RepeatableArgs;
use crate::options::translated;
use crate::reading::note_idle_weights;
use crate::source::GraphSource;
use crate::update::{Update, UpdateArgs, Updated};
use sums::{Sums, TOTALS};

/// Count the motifs (graphlets of 2 to 4 nodes) that edges and nodes take part in.
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
    by: Option<By>,
    /// Motifs to count, by edge or in total: all, graphlets, size3, for directed graphs triads or triad-orbits, or a list of
    /// names [default: all].
    #[arg(long, value_name = "SET")]
    motifs: Option<MotifSet>,
    /// Leave out motifs with more nodes than this.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=4))]
    motif_size: Option<u8>,
    /// For directed motifs: count all triads that contain the motif, not only induced ones.
    #[arg(long)]
    subgraph: bool,
    /// Estimate the counts from at most cap=64 (4 to 1024) neighbours per node, or with error=0.1,confidence=0.95,
    /// which tries several caps: for graphs with hubs that take minutes to count [default: exact].
    #[arg(long, value_name = "HOW")]
    sample: Option<Sample>,
    /// Seed of the estimates [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    update: UpdateArgs,
    /// Replace the file if it exists.
    #[arg(short, long)]
    force: bool,
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

const EXAMPLES: &str = "\
Examples:
  hone count builtin:karate --by total
  hone count graph.tsv -o counts.tsv
  hone count graph.tsv -o clique-counts.parquet --motifs triangle,diamond,clique4
  hone count graph.tsv -o nodes.npy --by node
  hone count hubs.tsv -o counts.parquet --sample cap=64
  hone count graph.tsv --directed --motifs triads --by total
  hone count graph.tsv --directed -o arcs.parquet --motifs triad-orbits
  hone count graph.tsv -o new.parquet --update counts.tsv --add added.tsv --remove removed.tsv
  hone count -o counts-again.parquet --config counts.parquet.run.json

OUT.run.json, next to OUT, records what was counted, of which graph, and whether it was estimated; --config repeats it.
Occurrences are induced subgraphs. Edge weights are ignored, and so are directions, except \
for directed motifs: by edge a pair of opposite edges has two lines, in total it counts once.
Sets: all (or orbits), graphlets, size2, size3, size4, or names separated by commas:
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    update: Option<Update>,
}

/// Where the files of a record are.
#[derive(Deserialize)]
struct Place {
    folder: Option<PathBuf>,
}

impl Choices {
    /// Refuses updates of what is not exact or has directions.
    fn check_update(&self) -> Result<(), Error> {
        if self.update.is_none() {
            return Ok(());
        }
        if self.sample != Sample::Exact {
            return Err(Error::config(
                "--sample",
                "an update is exact; leave one of --sample and --update out",
            ));
        }
        match self
            .motifs
            .motifs()
            .into_iter()
            .find(|motif| motif.is_directed())
        {
            None => Ok(()),
            Some(motif) => {
                let message = format!(
                    "counts of directed motifs such as {motif} cannot be updated; count the changed graph"
                );
                Err(Error::config("--update", message))
            }
        }
    }

    /// Refuses subgraphs of motifs that have no such counts.
    fn check_occurrence(&self) -> Result<(), Error> {
        let other = self
            .motifs
            .motifs()
            .into_iter()
            .find(|motif| !motif.is_directed());
        match other.filter(|_| self.occurrence == Occurrence::Subgraph) {
            None => Ok(()),
            Some(motif) => {
                let message = format!(
                    "subgraph counts exist for directed motifs, and {motif} is not one; use --motifs triads"
                );
                Err(Error::config("--subgraph", message))
            }
        }
    }

    /// Those of a record.
    fn read(path: &Path) -> Result<Self, Error> {
        let text = record::read(path)?
            .ok_or_else(|| Error::io(path, std::io::ErrorKind::NotFound.into()))?;
        let wrong = |e: String| {
            Error::input(
                path,
                format!("not the record of `hone count`: {e}"),
                "give the OUT.run.json next to the counts",
            )
        };
        let mut choices: Choices = record::parse(&text).map_err(wrong)?;
        if let Some(update) = choices.update.take() {
            let Place { folder } = record::parse(&text).map_err(wrong)?;
            choices.update = Some(update.located(path, folder.as_deref())?);
        }
        Ok(choices)
    }

    fn columns(&self) -> Vec<&'static str> {
        match self.by {
            By::Edge => self
                .motifs
                .motifs()
                .iter()
                .map(|motif| motif.name())
                .collect(),
            By::Node => NODE_ORBITS.to_vec(),
            By::Total => TOTALS.to_vec(),
        }
    }
}

/// What a run did; written next to its output.
#[derive(Debug, Serialize)]
struct Record<'a> {
    version: &'a str,
    #[serde(flatten)]
    choices: &'a Choices,
    /// Columns of counts, or of totals.
    columns: Vec<&'static str>,
    input: &'a Input,
    graph: GraphFacts,
    /// Whether every count is exact.
    exact: bool,
    /// What was estimated, or would have been if some nodes had more neighbours than the cap.
    sampled: Option<&'a Sampled>,
    /// The changed graph, where counts were updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Updated>,
    stages: Vec<Stage>,
}

impl Args {
    /// The choices of the record, if there is one, below those of the command line.
    fn choices(&self) -> Result<Choices, Error> {
        let before = self
            .input
            .config()
            .map(Choices::read)
            .transpose()?
            .unwrap_or_default();
        let by = self.by.unwrap_or(before.by);
        let given = self.motifs.is_some() || self.motif_size.is_some();
        let motifs = if given || by != By::Node {
            before.motifs
        } else {
            MotifSet::default()
        };
        let motifs = self.motifs.clone().unwrap_or(motifs);
        let motifs = self
            .motif_size
            .map_or(motifs.clone(), |size| motifs.at_most(size.into()));
        motifs
            .check()
            .map_err(|error| translated(error, &[("motifs", "--motifs")]))?;
        if by == By::Node && (motifs != MotifSet::default() || self.motif_size.is_some()) {
            let message = "only applies to --by edge and --by total; --by node always counts all 15 node orbits";
            let option = if self.motif_size.is_some() {
                "--motif-size"
            } else {
                "--motifs"
            };
            return Err(Error::config(option, message));
        }
        let (sample, seed) = (
            self.sample.unwrap_or(before.sample),
            self.seed.unwrap_or(before.seed),
        );
        let occurrence = if self.subgraph {
            Occurrence::Subgraph
        } else {
            before.occurrence
        };
        let choices = Choices {
            by,
            motifs,
            sample,
            seed,
            occurrence,
            update: self.update.over(before.update)?,
        };
        choices.check_occurrence()?;
        choices.check_update()?;
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
        let extension = self
            .output
            .extension()
            .map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("tsv" | "txt") => Ok("\t"),
            Some("csv") => Ok(","),
            None if is_stream(&self.output) => Ok("\t"),
            _ => {
                let message = extension.map_or_else(
                    || "the name has no extension, which names the format of totals".to_owned(),
                    |extension| format!("no format of totals has the extension `.{extension}`"),
                );
                Err(Error::input(
                    &self.output,
                    message,
                    "--by total writes .tsv or .csv, or to standard output (-)",
                ))
            }
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (choices, (source, inputs)) = (args.choices()?, args.input.resolve()?);
    let files = args.files(choices.by)?;
    let inputs = choices
        .update
        .iter()
        .fold(inputs, |inputs, update| update.files(inputs));
    let outputs = inputs.write("--output", files.iter().chain(&record::path(&args.output)));
    let engine = context.engine();
    let mut batch = outputs.check_by(engine.leads(), args.force)?;
    let start = Start::now();
    let work =
        |graph: &Graph| count(&choices, graph, (&Cpu, Allowance::new(Some(1))), &Silent).map(drop);
    let graph = source.open_for(&work, false, context.memory(args.input.memory()), context)?;
    note_idle_weights(&graph, context);
    if graph.is_directed()
        && !choices
            .motifs
            .motifs()
            .iter()
            .any(|motif| motif.is_directed())
    {
        context.note("note: these motifs ignore the directions of arcs; --motifs triads counts directed ones");
    }
    if args.seed.is_some() && choices.sample == Sample::Exact {
        idle::note(
            &[("--seed".into(), "exact counts are not random".into())],
            context,
        );
    }
    let facts = GraphFacts::of(&graph);
    let (read, start) = (Stage::since("read", &start), Start::now());
    let (graph, counts, changed) = counted(args, &choices, (&source, graph), context)?;
    let (counted, start) = (Stage::since("count", &start), Start::now());
    let write = || {
        tell(&choices, &counts, context);
        write(args, &choices, (&graph, &counts), &mut batch, context)?;
        let stages = vec![read, counted, Stage::since("write", &start)];
        record::add_to(
            &mut batch,
            &args.output,
            &describe(&choices, &source, (facts, changed), &counts, stages),
        )
    };
    let written = if engine.leads() { write() } else { Ok(()) };
    engine.writers().agree(&args.output, written)?;
    if !engine.leads() {
        return Ok(());
    }
    batch.commit()?;
    if !is_stream(&args.output) {
        let names: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        context.note(format_args!("wrote {}", names.join(" and ")));
    }
    Ok(())
}

/// The graph of the output, its counts, and what changed.
fn counted(
    args: &Args,
    choices: &Choices,
    (source, graph): (&GraphSource, Graph),
    context: &Context,
) -> anyhow::Result<(Graph, Counts, Option<Updated>)> {
    let memory = context.memory(args.input.memory());
    if let Some(update) = &choices.update {
        let (graph, counts, changed) = update.run((source, &graph), memory, context)?;
        return Ok((graph, counts, Some(changed)));
    }
    let place = (context.engine(), Allowance::new(memory));
    let counts = count(choices, &graph, place, context.progress());
    let counts = counts.map_err(|error| {
        translated(
            error,
            &[
                ("sample", "--sample"),
                ("motifs", "--motifs"),
                ("directed", "--directed"),
            ],
        )
    })?;
    Ok((graph, counts, None))
}

/// Writes the table into the batch.
fn write(
    args: &Args,
    choices: &Choices,
    (graph, counts): (&Graph, &Counts),
    batch: &mut Batch,
    context: &Context,
) -> Result<(), Error> {
    let motifs = choices.motifs.motifs();
    let mut write = |table: CountTable<'_>| table.add_to(batch, &args.output, context.progress());
    match choices.by {
        By::Edge => {
            write(CountTable::edges(graph, counts, &motifs).with_occurrence(choices.occurrence))?;
        }
        By::Node => write(CountTable::nodes(graph, counts, &counts.node_orbits()?))?,
        By::Total => print_totals(
            args,
            batch,
            context,
            &Sums::of(counts, motifs, choices.occurrence),
        )?,
    }
    Ok(())
}

/// Counts, if there is enough memory for this and for the table that follows.
fn count(
    choices: &Choices,
    graph: &Graph,
    (engine, allowance): (&dyn Engine, Allowance),
    progress: &dyn Progress,
) -> Result<Counts, Error> {
    let writing = match choices.by {
        By::Edge => CountTable::memory(graph, CountsBy::Edge, choices.columns().len()),
        By::Node => CountTable::memory(graph, CountsBy::Node, choices.columns().len()),
        By::Total => 0,
    };
    let before = memory::resident().unwrap_or(0);
    let both = |error: Error| match error {
        Error::Memory {
            stage,
            need,
            least,
            limit,
            remedy,
        } => Error::Memory {
            stage,
            need: need.saturating_add(writing),
            least,
            limit,
            remedy,
        },
        other => other,
    };
    let motifs = if choices.by == By::Node {
        Vec::new()
    } else {
        choices.motifs.motifs()
    };
    let how = Counting {
        motifs: &motifs,
        sample: &choices.sample,
        seed: choices.seed,
        allowance,
        progress,
    };
    let counts = engine.count(graph, how).map_err(both)?;
    // Memory freed by counting is available for the table.
    let held = before
        .saturating_add(counts.bytes() as u64)
        .saturating_add(writing);
    let more = held.saturating_sub(memory::resident().unwrap_or(0));
    allowance.check_work(
        "writing counts",
        more,
        "choose fewer motifs, or raise the memory limit",
    )?;
    Ok(counts)
}

fn describe<'a>(
    choices: &'a Choices,
    source: &'a GraphSource,
    (graph, changed): (GraphFacts, Option<Updated>),
    counts: &'a Counts,
    stages: Vec<Stage>,
) -> Record<'a> {
    let sampled = counts.sampled();
    Record {
        version: env!("CARGO_PKG_VERSION"),
        choices,
        columns: choices.columns(),
        input: &source.input,
        graph,
        exact: sampled.is_none_or(|sampled| sampled.nodes == 0),
        sampled,
        changed,
        stages,
    }
}

/// Notes on what may surprise.
fn tell(choices: &Choices, counts: &Counts, context: &Context) {
    if let Some(sampled) = counts.sampled() {
        context.note(format_args!("note: {sampled}"));
    } else if choices.sample != Sample::Exact {
        context.note("note: motifs were counted exactly: no estimate meets the target, or no node is large enough");
    }
}

fn print_totals(
    args: &Args,
    batch: &mut Batch,
    context: &Context,
    sums: &Sums,
) -> Result<(), Error> {
    let lines = sums.lines();
    if args.output.as_os_str() == "-" {
        return context.try_print(aligned(&lines, &[1, 2]));
    }
    let separator = args.separator()?;
    let text: String = lines
        .iter()
        .map(|line| line.join(separator).replace(' ', "_") + "\n")
        .collect();
    let mut out = batch.begin(&args.output)?;
    out.write_all(text.as_bytes()).map_err(|e| out.error(e))?;
    batch.add(out)
}
