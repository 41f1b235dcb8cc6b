//! `hone tune GRAPH`: which settings suit a graph, measured on its own edges and labels.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hone::graph::RecordedFile;
use hone::memory::Allowance;
use hone::output::Batch;
use hone::report::{GraphFacts, Input};
use hone::{Error, record};
use hone_eval::labels::NodeLabels;
use hone_eval::stats::Summary;
use hone_eval::tune::{By, Row, TuneOptions, Tuned};
use serde::{Deserialize, Serialize};

use crate::context::{Context, aligned};
use crate::exit::Incomplete;
use crate::input::RepeatableArgs;
use crate::options::{Known, translated};
use crate::repeat::{Chosen, Earlier};
use crate::{exit, files, next};

/// Find settings that suit a graph: hide some of its edges, and compare how well a handful of candidates predict them.
///
/// With --labels, predicting these counts as much as predicting edges. A candidate is chosen only if it beats the default by
/// more than chance.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: RepeatableArgs,
    /// File for the chosen settings: TOML, for `hone embed --config`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Labels of nodes: an id, a tab and its labels separated by commas, one node per line.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// What decides: links, labels or both [default: both with --labels, else links].
    #[arg(long, value_name = "WHAT", value_parser = by)]
    by: Option<By>,
    /// Candidates: presets with settings after a colon; the first is the default that others have to beat. May be repeated
    /// [default: hone, five variants of it, hone-p and hone-w].
    #[arg(long, value_name = "NAME")]
    candidate: Vec<String>,
    /// Dimensions of the vectors [default: those of the candidates].
    #[arg(long, value_name = "D")]
    dim: Option<usize>,
    /// Number of rounds, each of which hides different edges; fewer than 3 decide nothing [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: Option<u64>,
    /// Stop after this time, such as 90s, 10m or 2h: rounds that are complete by then count.
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// Share of the edges that are hidden [default: 0.2].
    #[arg(long, value_name = "SHARE")]
    removed: Option<f64>,
    /// Seed of the first round, far from those of `hone eval`, so that its splits are not used for the choice
    /// [default: 100001].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    first_seed: Option<u64>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Replace files that exist.
    #[arg(short, long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  hone tune graph.tsv -o best.toml
  hone embed graph.tsv -o vectors.npy --config best.toml
  hone tune graph.tsv --labels labels.tsv --time 10m
  hone tune graph.tsv --candidate hone --candidate hone:steps=2 --candidate hone:steps=4
  hone tune -o again.toml --config best.toml.run.json

docs/evaluation.md explains how candidates are compared, and when a difference counts as chance.";

const COMMAND: &str = "tune";

/// Settings and the options that give them.
const OPTIONS: &[Known] = &[
    ("candidates", "--candidate"),
    ("methods", "--candidate"),
    ("by", "--by"),
    ("removed", "--removed"),
    ("global.dim", "--dim"),
];

fn by(text: &str) -> Result<By, String> {
    serde_json::from_value(text.into()).map_err(|_| "give links, labels or both".to_owned())
}

fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "give a time such as 90s, 10m or 2h".to_owned();
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let seconds = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

/// What is compared, and how: part of a record, where a later run finds it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Choices {
    choices: TuneOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<RecordedFile>,
}

/// What is stored next to the chosen settings.
#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    command: &'static str,
    #[serde(flatten)]
    choices: &'a Choices,
    input: &'a Input,
    graph: GraphFacts,
    #[serde(flatten)]
    tuned: &'a Tuned,
}

impl Args {
    /// The choices of the command line over those of an earlier run.
    fn choices(&self) -> Result<(TuneOptions, Option<Chosen>), Error> {
        let earlier = self
            .input
            .config()
            .map(|path| Earlier::<Choices>::read(path, COMMAND))
            .transpose()?;
        let before = earlier
            .as_ref()
            .map(|earlier| earlier.choices.choices.clone())
            .unwrap_or_default();
        let labels = Chosen::new(self.labels.as_deref(), earlier.as_ref(), |it| {
            it.labels.as_ref()
        })?;
        let options = TuneOptions {
            candidates: if self.candidate.is_empty() {
                before.candidates
            } else {
                self.candidate.clone()
            },
            dim: self.dim.or(before.dim),
            removed: self.removed.unwrap_or(before.removed),
            by: self.by.or(before.by),
            rounds: self.rounds.unwrap_or(before.rounds),
            first_seed: self.first_seed.unwrap_or(before.first_seed),
            ..before
        };
        Ok((options, labels))
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let streamed = args.output.as_deref().is_some_and(hone::output::is_stream);
    if streamed && args.json {
        return Err(Error::config(
            "--json",
            "standard output has the settings; give --output a file",
        )
        .into());
    }
    let (options, labels) = args.choices()?;
    let (source, inputs) = args.input.resolve()?;
    let record_path = args.output.as_deref().and_then(record::path);
    let inputs = inputs.read("--labels", labels.as_ref().map(|labels| &labels.path));
    let outputs = inputs.write("--output", args.output.iter().chain(&record_path));
    outputs.check_places()?;
    args.output
        .as_deref()
        .map_or(Ok(()), |path| files::check_extension(path, &["toml"]))?;
    let batch = outputs.check(args.force)?;
    let facts = labels
        .as_ref()
        .map(|labels| labels.facts(source.changed, context))
        .transpose()?;
    let memory = args.input.memory();
    let graph = source.open(true, memory, context)?;
    let labels = labels
        .map(|labels| NodeLabels::read_within(&labels.path, &graph, Allowance::new(memory)))
        .transpose()?;
    note_unknown(labels.as_ref(), context);
    if args.time.is_none() {
        exit::could_save(
            "start again with --time, such as --time 10m, to stop after the rounds that are complete by then",
        );
    }
    let tuned = options.run(&graph, labels.as_ref(), args.time, context.progress());
    let tuned = tuned.map_err(|error| translated(error, OPTIONS))?;
    context.progress_done();
    if tuned.rounds < options.rounds {
        context.note(format_args!(
            "note: completed {} of {} rounds in the given time",
            tuned.rounds, options.rounds
        ));
    }
    let mut written = Vec::new();
    if let Some(path) = &args.output {
        // The same number of rounds gives the same result, whatever the time.
        let rounds = if tuned.rounds > 0 {
            tuned.rounds
        } else {
            options.rounds
        };
        let choices = Choices {
            choices: TuneOptions { rounds, ..options },
            labels: facts,
        };
        let (version, input) = (env!("CARGO_PKG_VERSION"), &source.input);
        let record = Record {
            version,
            command: COMMAND,
            choices: &choices,
            input,
            graph: GraphFacts::of(&graph),
            tuned: &tuned,
        };
        written = write(batch, path, &record)?;
    }
    show(args, &tuned, &source.input, &written, context)?;
    let failed = tuned.rows.iter().filter(|row| row.failure.is_some());
    let names: Vec<&str> = failed.map(|row| row.name.as_str()).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(Incomplete(format!("no results of {}", names.join(", "))).into()),
    }
}

/// Prints the comparison, and what to do with the files.
fn show(
    args: &Args,
    tuned: &Tuned,
    input: &Input,
    written: &[PathBuf],
    context: &Context,
) -> anyhow::Result<()> {
    let streamed = args.output.as_deref().is_some_and(hone::output::is_stream);
    match (args.json, streamed) {
        (true, _) => context.print_json(tuned)?,
        (false, true) => context.note(&tuned.verdict),
        (false, false) => context.print(table(tuned))?,
    }
    if let Some(path) = args.output.as_ref().filter(|_| !streamed) {
        files::note_written(written, path, context);
        let (graph, settings) = (
            next::file(&input.path),
            next::file(&path.display().to_string()),
        );
        let reading = next::reading(&input.options);
        context.note(format_args!(
            "next: hone embed {graph}{reading} -o vectors.npy --config {settings}"
        ));
    }
    Ok(())
}

/// Counts labels of nodes that are not in the graph.
fn note_unknown(labels: Option<&NodeLabels>, context: &Context) {
    match labels.map_or(0, |labels| labels.unknown) {
        0 => (),
        1 => context.note("note: 1 labelled node is not in the graph and is ignored"),
        many => context.note(format_args!(
            "note: {many} labelled nodes are not in the graph and are ignored"
        )),
    }
}

/// Writes the chosen settings, and the record of how they were chosen.
fn write(mut batch: Batch, path: &Path, record: &Record) -> anyhow::Result<Vec<PathBuf>> {
    let mut out = batch.begin(path)?;
    out.write_all(record.tuned.config.to_commented_toml().as_bytes())
        .map_err(|e| out.error(e))?;
    batch.add(out)?;
    record::add_to(&mut batch, path, record)?;
    Ok(batch.commit()?)
}

/// One line per candidate, and the verdict.
fn table(tuned: &Tuned) -> String {
    let mut head = vec!["candidate".to_owned()];
    let (links, labels) = (
        !tuned.rows[0].links.is_empty(),
        !tuned.rows[0].labels.is_empty(),
    );
    head.extend(links.then(|| "links (AUC)".to_owned()));
    head.extend(labels.then(|| "labels (F1)".to_owned()));
    head.extend(["difference", "p", "seconds"].map(str::to_owned));
    let score =
        |values: &[f64]| Summary::of(values).map(|it| format!("{:.3} ± {:.3}", it.mean, it.std));
    let line = |row: &Row| {
        let mut line = vec![row.name.clone()];
        let score = |values: &[f64]| score(values).unwrap_or_else(|| "–".into());
        line.extend(links.then(|| score(&row.links)));
        line.extend(labels.then(|| score(&row.labels)));
        let error = row
            .error
            .map_or(String::new(), |error| format!(" ± {error:.3}"));
        line.push(row.difference.map_or("–".into(), |difference| {
            format!("{difference:+.3}{error}")
        }));
        line.push(row.p.map_or("–".into(), |p| format!("{p:.3}")));
        line.push(format!("{:.2}", row.seconds));
        line
    };
    let lines: Vec<Vec<String>> = std::iter::once(head)
        .chain(tuned.rows.iter().map(line))
        .collect();
    let right: Vec<usize> = (1..lines[0].len()).collect();
    let level = format!(
        "Another candidate replaces {} only if its p is below {:.4}.",
        tuned.rows[0].name, tuned.level
    );
    let failures: String = tuned
        .rows
        .iter()
        .filter_map(|row| Some((&row.name, row.failure.as_ref()?)))
        .map(|(name, reason)| format!("{name} failed (–): {reason}\n"))
        .collect();
    let table = aligned(&lines, &right);
    format!("{table}\n{failures}{level}\n{}\n", tuned.verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5h"), Ok(Duration::from_secs(5400)));
        for wrong in ["", "s", "10", "-1m", "10 m", "1e400h", "nans", "5é"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
