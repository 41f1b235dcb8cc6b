//! `hone similar VECTORS --node ID`: the nodes most similar to a node, to several, or of every node.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hone::graph::NodeIds;
use hone::output::Batch;
use hone::report::{Stage, Start};
use hone::store::{Embedding, Format};
use hone::{Error, record};
use hone_explore::{Answer, AnswerTable, By, Method, Neighbour, NeighbourTable, Search, Space, find_node};
use serde::Serialize;

use crate::context::Context;
use crate::files::Files;

/// Find similar nodes in an embedding: those nearest to a node, or the neighbours of every node.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The vectors: a file that `hone embed` or another tool wrote (.tsv .csv .npy .npz .parquet .w2v .safetensors).
    #[arg(value_name = "VECTORS")]
    vectors: PathBuf,
    /// A node to find neighbours of; may be repeated, and each gets its own list.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    node: Vec<String>,
    /// A node that the results should be like; may be repeated, and all give one list.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    positive: Vec<String>,
    /// A node that the results should not be like; may be repeated.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    negative: Vec<String>,
    /// The neighbours of every node.
    #[arg(long)]
    all: bool,
    /// How many similar nodes.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    top: u32,
    /// What is compared: all, proximity (the same part of the graph) or structure (the same surroundings).
    #[arg(long, value_name = "WHAT", default_value = "all", value_parser = by())]
    by: By,
    /// With --all: exact, approximate, or auto: exact up to 100000 nodes.
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = method(), requires = "all")]
    search: Method,
    /// Seed of the approximate search.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "all")]
    seed: u64,
    /// Where the result goes: .tsv, .csv (also .gz, .zst), .parquet; with --all also .npy; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Print JSON instead of lines.
    #[arg(long, conflicts_with_all = ["all", "output"])]
    json: bool,
    /// Format of the vectors, whatever their extension.
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    vectors_format: Option<Format>,
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

Columns called structure.… (of the preset `hone`) are compared by distance, all others by cosine; see docs/explore.md.
Searches are exact; only --all beyond 100000 nodes is approximate, and says how many of the true neighbours it found.";

pub(crate) fn by() -> impl TypedValueParser<Value = By> {
    PossibleValuesParser::new(By::ALL.map(|(_, name)| name)).map(|name| name.parse().expect("one of those listed"))
}

pub(crate) fn method() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.map(|(_, name)| name)).map(|name| name.parse().expect("one of those listed"))
}

pub(crate) fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(|(_, name)| name))
        .map(|name| Format::from_name(&name).expect("one of those listed"))
}

/// What is kept beside a file of neighbours.
#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    command: &'static str,
    vectors: &'a Path,
    by: By,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Search>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<&'a str>,
    top: u32,
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
    similarity: f64,
}

impl Args {
    /// Refuses questions that contradict each other, and none at all.
    fn check(&self) -> Result<(), Error> {
        let arithmetic = !self.positive.is_empty() || !self.negative.is_empty();
        let asked = [self.all, !self.node.is_empty(), arithmetic].into_iter().filter(|&asked| asked).count();
        match asked {
            1 => Ok(()),
            0 => Err(Error::config("--node", "nothing is asked; name a node, or use --positive or --all")),
            _ => Err(Error::config("--node", "give one of --node, --positive with --negative, and --all")),
        }
    }

    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        if self.all { NeighbourTable::files(&self.output) } else { Ok(vec![self.output.clone()]) }
    }

    fn search(&self) -> Search {
        Search { top: self.top as usize, search: self.search, seed: self.seed }
    }
}

/// Ids and prepared vectors of a file; the vectors as they were read are dropped.
pub(crate) fn open(path: &Path, format: Option<Format>, by: By) -> Result<(NodeIds, Space), Error> {
    let embedding = Embedding::read_within(path, format, hone::memory::Allowance::new(None))?;
    let space = Space::of(&embedding, by).map_err(|error| match error {
        Error::Config { field, message } if field == "vectors" => Error::input(path, message, "write the vectors anew"),
        Error::Config { field, message } => Error::config(format!("--{field}"), message),
        other => other,
    })?;
    Ok((embedding.ids, space))
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    args.check()?;
    let inputs = Files::default().read_vectors("VECTORS", [&args.vectors]);
    let outputs = args.files()?;
    let mut batch = inputs.write("--output", outputs.iter().chain(&record::path(&args.output))).check(args.force)?;
    let start = Start::now();
    context.progress().stage("reading", 0);
    let (ids, space) = open(&args.vectors, args.vectors_format, args.by)?;
    let mut stages = vec![Stage::since("read", &start)];
    let start = Start::now();
    let mut record = Record {
        version: env!("CARGO_PKG_VERSION"),
        command: "similar",
        vectors: &args.vectors,
        by: args.by,
        search: args.all.then(|| args.search()),
        questions: Vec::new(),
        top: args.top,
        nodes: ids.len(),
        recall: None,
        stages: Vec::new(),
    };
    let answers;
    if args.all {
        let found = args.search().all(&space, context.progress())?;
        stages.push(Stage::since("search", &start));
        if let Some(recall) = found.recall {
            context.note(format_args!(
                "note: approximate: found {:.1} % of the true neighbours, by a sample",
                100.0 * recall
            ));
        }
        record.recall = found.recall;
        NeighbourTable::new(&ids, &found.neighbours).add_to(&mut batch, &args.output, context.progress())?;
    } else {
        answers = ask(args, &ids, &space)?;
        stages.push(Stage::since("search", &start));
        if args.json {
            return context.print(json(&ids, &answers)?);
        }
        record.questions = answers.iter().map(|answer| answer.question.as_str()).collect();
        AnswerTable::new(&ids, &answers).add_to(&mut batch, &args.output, context.progress())?;
    }
    record.stages = stages;
    context.progress_done();
    finish(batch, args, &record)
}

fn finish(mut batch: Batch, args: &Args, record: &Record<'_>) -> anyhow::Result<()> {
    record::add_to(&mut batch, &args.output, record)?;
    batch.commit()?;
    Ok(())
}

/// Finds what is asked of single nodes.
fn ask(args: &Args, ids: &NodeIds, space: &Space) -> Result<Vec<Answer>, Error> {
    let index = ids.index();
    let rows = |option: &str, names: &[String]| -> Result<Vec<u32>, Error> {
        let found = names.iter().map(|name| find_node(ids, &index, name)).collect::<Result<_, _>>();
        found.map_err(|error| match error {
            Error::Config { message, .. } => Error::config(option, message),
            other => other,
        })
    };
    let nearest = |question: String, positive: &[u32], negative: &[u32]| -> Result<Answer, Error> {
        let query = space.query(positive, negative)?;
        let asked = [positive, negative].concat();
        Ok(Answer { question, nodes: space.nearest(&query, &asked, args.top as usize) })
    };
    if args.node.is_empty() {
        let (positive, negative) = (rows("--positive", &args.positive)?, rows("--negative", &args.negative)?);
        let plus = args.positive.iter().map(|id| format!("+{id}"));
        let question: Vec<String> = plus.chain(args.negative.iter().map(|id| format!("-{id}"))).collect();
        return Ok(vec![nearest(question.join(" "), &positive, &negative)?]);
    }
    let rows = rows("--node", &args.node)?;
    args.node.iter().zip(rows).map(|(id, row)| nearest(id.clone(), &[row], &[])).collect()
}

fn json(ids: &NodeIds, answers: &[Answer]) -> anyhow::Result<String> {
    let node = |node: &Neighbour| ShownNode { id: ids.get(node.row).to_string(), similarity: node.similarity };
    let shown =
        |answer: &Answer| Shown { question: answer.question.clone(), nodes: answer.nodes.iter().map(node).collect() };
    Ok(serde_json::to_string_pretty(&answers.iter().map(shown).collect::<Vec<_>>())? + "\n")
}
