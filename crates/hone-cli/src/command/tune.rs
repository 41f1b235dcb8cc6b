//! `hone tune GRAPH`: which settings suit a graph, measured on its own edges and labels.

use std::path::PathBuf;
use std::time::Duration;

use hone::graph::RecordedFile;
use hone::memory::Allowance;
use hone::{Error, record};
use hone_eval::labels::NodeLabels;
use hone_eval::stats::Summary;
use hone_eval::tune::{Goal, TuneOptions, Tuned};
use serde::{Deserialize, Serialize};

use crate::arguments::{ReplaceArgs, SeedArgs};
use crate::context::{Context, aligned};
use crate::exit::{self, Incomplete};
use crate::input::RepeatableArgs;
use crate::repeat::{Chosen, Record};
use crate::{files, next};

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
    #[arg(long, value_name = "WHAT", value_parser = goal)]
    goal: Option<Goal>,
    /// Candidates: presets with settings after a colon; the first is the default that others have to beat. May be repeated
    /// [default: hone, five variants of it, hone-p and hone-w].
    #[arg(long, value_name = "NAME")]
    candidate: Vec<String>,
    /// Dimensions of the vectors [default: those of the candidates].
    #[arg(id = "global.dim", long = "dim", value_name = "D")]
    dim: Option<usize>,
    /// Number of rounds, each of which hides different edges; fewer than 3 decide nothing [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: Option<u64>,
    /// Stop after this time (90s, 10m, 2h); of a round that is not complete then, finished candidates are kept.
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// Share of the edges that are hidden [default: 0.2].
    #[arg(long, value_name = "SHARE")]
    removed: Option<f64>,
    #[command(flatten)]
    seed: SeedArgs,
    #[command(flatten)]
    replace: ReplaceArgs,
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

fn goal(text: &str) -> Result<Goal, String> {
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

/// What was compared, and what came of it: part of a record.
#[derive(Serialize)]
struct Done<'a> {
    #[serde(flatten)]
    choices: &'a Choices,
    #[serde(flatten)]
    tuned: &'a Tuned,
}

impl Args {
    /// The choices of the command line over those of an earlier run.
    fn choices(&self) -> Result<(TuneOptions, Option<Chosen>), Error> {
        let earlier = self.input.earlier::<Choices>(COMMAND)?;
        let given = self.labels.as_deref();
        let labels = Chosen::new(given, earlier.as_ref(), |it| it.labels.as_ref())?;
        let before = earlier.map_or_else(TuneOptions::default, |it| it.choices.choices);
        let options = TuneOptions {
            candidates: match self.candidate.is_empty() {
                true => before.candidates,
                false => self.candidate.clone(),
            },
            dim: self.dim.or(before.dim),
            removed: self.removed.unwrap_or(before.removed),
            goal: self.goal.or(before.goal),
            rounds: self.rounds.unwrap_or(before.rounds),
            seed: self.seed.seed.unwrap_or(before.seed),
            ..before
        };
        Ok((options, labels))
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let streamed = args.output.as_deref().is_some_and(hone::output::is_stream);
    args.output
        .iter()
        .try_for_each(|path| context.check_json(path))?;
    let (mut options, labels) = args.choices()?;
    let (source, inputs) = args.input.resolve()?;
    let record_path = args.output.as_deref().and_then(record::path);
    let inputs = inputs.read("--labels", labels.as_ref().map(|labels| &labels.path));
    let outputs = inputs.write("--output", args.output.iter().chain(&record_path));
    outputs.check_places()?;
    if let Some(path) = &args.output {
        files::check_extension(path, "a file of settings", &["toml"])?;
    }
    let mut batch = outputs.check(args.replace.force)?;
    let facts = labels
        .as_ref()
        .map(|labels| labels.facts(source.changed, context));
    let facts = facts.transpose()?;
    let graph = source.open(true, context)?;
    let allowance = Allowance::new(source.memory);
    let labels = labels.map(|labels| NodeLabels::read_within(&labels.path, &graph, allowance));
    let labels = labels.transpose()?;
    match labels.as_ref().map_or(0, |labels| labels.unknown) {
        0 => (),
        1 => context.note("note: 1 labelled node is not in the graph and is ignored"),
        many => context.note(format_args!(
            "note: {many} labelled nodes are not in the graph and are ignored"
        )),
    }
    if args.time.is_none() {
        exit::could_save(
            "start again with --time, such as --time 10m, to stop in time and keep what is complete",
        );
    }
    let tuned = options.run(&graph, labels.as_ref(), args.time, context.progress())?;
    let tuned = tuned.said(context.names());
    context.progress_done();
    if tuned.rounds < options.rounds {
        let further = match tuned.partial {
            0 => String::new(),
            some => {
                let (all, next) = (tuned.rows.len(), tuned.rounds + 1);
                format!(", and {some} of {all} candidates of round {next}")
            }
        };
        context.note(format_args!(
            "note: completed {} of {} rounds in the given time{further}",
            tuned.rounds, options.rounds
        ));
    }
    let mut written = Vec::new();
    let nothing = tuned.rounds == 0;
    if let Some(path) = args.output.as_ref().filter(|_| !nothing) {
        // The same number of rounds gives the same result, whatever the time.
        options.rounds = tuned.rounds;
        let choices = Choices {
            choices: options,
            labels: facts,
        };
        let done = Done {
            choices: &choices,
            tuned: &tuned,
        };
        files::add(
            &mut batch,
            path,
            tuned.config.to_commented_toml().as_bytes(),
        )?;
        let of = Some((&source.input, &graph));
        Record::new(COMMAND, of, &done, Vec::new()).add_to(&mut batch, path)?;
        written = batch.commit()?;
    }
    match (context.json(), streamed) {
        (true, _) => context.print_json(&tuned)?,
        (false, true) => context.note(&tuned.verdict),
        (false, false) => context.print(table(&tuned))?,
    }
    if let Some(path) = args.output.as_ref().filter(|_| nothing) {
        let path = path.display();
        let message = format!("{path} is not written, since nothing was compared");
        return Err(Incomplete(message).into());
    }
    if let Some(path) = args.output.as_ref().filter(|_| !streamed) {
        files::note_written(&written, path, context);
        let (graph, reading) = (
            next::file(&source.input.path),
            next::reading(&source.input.options),
        );
        let settings = next::file(&path.display().to_string());
        context.note(format_args!(
            "next: hone embed {graph}{reading} -o vectors.npy --config {settings}"
        ));
    }
    let failed = tuned.rows.iter().filter(|row| row.failure.is_some());
    let names: Vec<&str> = failed.map(|row| row.name.as_str()).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(Incomplete(format!("no results of {}", names.join(", "))).into()),
    }
}

/// One line per candidate, and the verdict.
fn table(tuned: &Tuned) -> String {
    let default = &tuned.rows[0];
    let (links, labels) = (!default.links.is_empty(), !default.labels.is_empty());
    let mut head = vec!["candidate".to_owned()];
    head.extend(links.then(|| "links (AUC)".to_owned()));
    head.extend(labels.then(|| "labels (F1)".to_owned()));
    head.extend(["difference", "p", "seconds"].map(str::to_owned));
    let score = |values: &[f64]| match Summary::of(values) {
        Some(it) => format!("{:.3} ± {:.3}", it.mean, it.std),
        None => "–".to_owned(),
    };
    let mut lines = vec![head];
    let mut failures = String::new();
    for row in &tuned.rows {
        let error = row.error.map(|error| format!(" ± {error:.3}"));
        let error = error.unwrap_or_default();
        let difference = row.difference.map(|it| format!("{it:+.3}{error}"));
        let p = row.p.map(|p| format!("{p:.3}"));
        let mut line = vec![row.name.clone()];
        line.extend(links.then(|| score(&row.links)));
        line.extend(labels.then(|| score(&row.labels)));
        line.extend([difference, p].map(|cell| cell.unwrap_or_else(|| "–".into())));
        line.push(format!("{:.2}", row.seconds));
        lines.push(line);
        if let Some(reason) = &row.failure {
            failures += &format!("{} failed (–): {reason}\n", row.name);
        }
    }
    let table = aligned(&lines, 1..lines[0].len());
    let (name, level) = (&default.name, tuned.level);
    format!(
        "{table}\n{failures}Another candidate replaces {name} only if its p is below {level:.4}.\n{}\n",
        tuned.verdict
    )
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
