//! `hone similar VECTORS --node ID`: the nodes most similar to a node, to several, or of every node.

use std::path::PathBuf;

use hone::graph::NodeIds;
use hone::output::Batch;
use hone::report::{Stage, Start};
use hone::{Error, record};
use hone_explore::{
    Answer, AnswerTable, By, Method, Neighbour, NeighbourTable, Search, Space, find_node,
};
use serde::{Deserialize, Serialize};

use crate::command::layout::note_recall;
use crate::context::Context;
use crate::vectors::{self, RecordedVectors, VectorArgs};

/// Find similar nodes in an embedding: those nearest to a node, or the neighbours of every node.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    vectors: VectorArgs,
    /// A node to find neighbours of; may be repeated, and each gets its own list.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    node: Vec<String>,
    /// A node that the results should be similar to; may be repeated, for one common list.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    positive: Vec<String>,
    /// A node that the results should be dissimilar to; may be repeated.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    negative: Vec<String>,
    /// Find the neighbours of every node.
    #[arg(long)]
    all: bool,
    /// Number of similar nodes [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    top: Option<u32>,
    /// What is compared: all, proximity (the same part of the graph) or structure (a similar neighbourhood)
    /// [default: all].
    #[arg(long, value_name = "WHAT", value_parser = vectors::by())]
    by: Option<By>,
    /// With --all: exact, approximate, or auto: exact up to 100000 nodes [default: auto].
    #[arg(long, value_name = "HOW", value_parser = vectors::method())]
    search: Option<Method>,
    /// Seed of the approximate search [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// File for the result: .tsv, .csv (also .gz, .zst), .parquet; with --all also .npy; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Print JSON instead of lines.
    #[arg(long, conflicts_with_all = ["all", "output"])]
    json: bool,
    /// Replace files that exist.
    #[arg(short, long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  hone similar karate.tsv --node 0
  hone similar vectors.npy --node alice --node bob --top 5 --by structure
  hone similar vectors.npy --positive king --positive woman --negative man
  hone similar vectors.npy --all -o neighbours.parquet --top 20
  hone similar -o neighbours.tsv --config neighbours.parquet.run.json

Columns called structure.… (of the preset `hone`) are compared by distance, all others by cosine; see docs/explore.md.
Searches are exact; only --all beyond 100000 nodes is approximate, and says how many of the true neighbours it found.";

/// The query: part of a record, where a later run finds it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Choices {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    node: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    positive: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    negative: Vec<String>,
    all: bool,
    by: By,
    #[serde(flatten)]
    search: Search,
}

/// What is stored next to a file of neighbours.
#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    command: &'static str,
    #[serde(flatten)]
    vectors: RecordedVectors,
    #[serde(flatten)]
    choices: &'a Choices,
    nodes: usize,
    /// Of an approximate search.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
    stages: Vec<Stage>,
}

/// One answer as JSON.
#[derive(Serialize)]
struct Shown {
    question: String,
    nodes: Vec<ShownNode>,
}

#[derive(Serialize)]
struct ShownNode {
    id: String,
    similarity: f32,
}

const COMMAND: &str = "similar";

impl Args {
    /// The choices of the command line over those of an earlier run; a query replaces all earlier ones.
    fn choices(&self, before: Choices) -> Result<Choices, Error> {
        let arithmetic = !self.positive.is_empty() || !self.negative.is_empty();
        let asked = [self.all, !self.node.is_empty(), arithmetic]
            .into_iter()
            .filter(|&asked| asked)
            .count();
        let mut now = before;
        if asked > 0 {
            let [node, positive, negative] =
                [&self.node, &self.positive, &self.negative].map(Clone::clone);
            now = Choices {
                node,
                positive,
                negative,
                all: self.all,
                ..now
            };
        }
        now.by = self.by.unwrap_or(now.by);
        now.search.top = self.top.map_or(now.search.top, |top| top as usize);
        now.search.search = self.search.unwrap_or(now.search.search);
        now.search.seed = self.seed.unwrap_or(now.search.seed);
        let questions =
            !now.node.is_empty() || !now.positive.is_empty() || !now.negative.is_empty();
        match asked {
            2.. => Err(Error::config(
                "--node",
                "give only one of --node, --positive (with --negative) and --all",
            )),
            _ if !questions && !now.all => Err(Error::config(
                "--node",
                "say what to look for: --node ID, --positive ID or --all",
            )),
            _ if !now.all && (self.search.is_some() || self.seed.is_some()) => {
                let option = if self.search.is_some() {
                    "--search"
                } else {
                    "--seed"
                };
                Err(Error::config(
                    option,
                    "only applies to --all; a single node is always compared with all others",
                ))
            }
            _ if now.all && self.json => Err(Error::config(
                "--json",
                "only applies to single nodes; --all writes a table to --output",
            )),
            _ => Ok(now),
        }
    }

    fn files(&self, all: bool) -> Result<Vec<PathBuf>, Error> {
        if all {
            NeighbourTable::files(&self.output)
        } else {
            Ok(vec![self.output.clone()])
        }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (source, before) = args.vectors.resolve::<Choices>(COMMAND)?;
    let choices = args.choices(before.unwrap_or_default())?;
    let outputs = args.files(choices.all)?;
    let outputs = source.files().write(
        "--output",
        outputs.iter().chain(&record::path(&args.output)),
    );
    let mut batch = outputs.check(args.force)?;
    let start = Start::now();
    context.progress().stage("reading", 0);
    let vectors = source.facts(context)?;
    let (ids, space) = source.open(choices.by, context)?;
    let (read, start) = (Stage::since("read", &start), Start::now());
    let (version, nodes) = (env!("CARGO_PKG_VERSION"), ids.len());
    let mut record = Record {
        version,
        command: COMMAND,
        vectors,
        choices: &choices,
        nodes,
        recall: None,
        stages: Vec::new(),
    };
    if choices.all {
        let found = choices.search.all(&space, context.progress())?;
        record.stages = vec![read, Stage::since("search", &start)];
        note_recall(found.recall, context);
        record.recall = found.recall;
        NeighbourTable::new(&ids, &found.neighbours).add_to(
            &mut batch,
            &args.output,
            context.progress(),
        )?;
    } else {
        let answers = ask(&choices, &ids, &space)?;
        record.stages = vec![read, Stage::since("search", &start)];
        if args.json {
            return context.print_json(&shown(&ids, &answers));
        }
        AnswerTable::new(&ids, &answers).add_to(&mut batch, &args.output, context.progress())?;
    }
    context.progress_done();
    finish(batch, args, &record)
}

fn finish(mut batch: Batch, args: &Args, record: &Record<'_>) -> anyhow::Result<()> {
    record::add_to(&mut batch, &args.output, record)?;
    batch.commit()?;
    Ok(())
}

/// Answers queries about single nodes.
fn ask(choices: &Choices, ids: &NodeIds, space: &Space) -> Result<Vec<Answer>, Error> {
    let index = ids.index();
    let rows = |option: &str, names: &[String]| -> Result<Vec<u32>, Error> {
        let found = names
            .iter()
            .map(|name| find_node(ids, &index, name))
            .collect::<Result<_, _>>();
        found.map_err(|error| match error {
            Error::Config { message, .. } => Error::config(option, message),
            other => other,
        })
    };
    let nearest = |question: String, positive: &[u32], negative: &[u32]| -> Result<Answer, Error> {
        let query = space.query(positive, negative)?;
        let asked = [positive, negative].concat();
        Ok(Answer {
            question,
            nodes: space.nearest(&query, &asked, choices.search.top),
        })
    };
    if choices.node.is_empty() {
        let (positive, negative) = (
            rows("--positive", &choices.positive)?,
            rows("--negative", &choices.negative)?,
        );
        let plus = choices.positive.iter().map(|id| format!("+{id}"));
        let question: Vec<String> = plus
            .chain(choices.negative.iter().map(|id| format!("-{id}")))
            .collect();
        return Ok(vec![nearest(question.join(" "), &positive, &negative)?]);
    }
    let rows = rows("--node", &choices.node)?;
    choices
        .node
        .iter()
        .zip(rows)
        .map(|(id, row)| nearest(id.clone(), &[row], &[]))
        .collect()
}

fn shown(ids: &NodeIds, answers: &[Answer]) -> Vec<Shown> {
    let node = |node: &Neighbour| ShownNode {
        id: ids.get(node.row).to_string(),
        similarity: node.similarity,
    };
    let shown = |answer: &Answer| Shown {
        question: answer.question.clone(),
        nodes: answer.nodes.iter().map(node).collect(),
    };
    answers.iter().map(shown).collect()
}
