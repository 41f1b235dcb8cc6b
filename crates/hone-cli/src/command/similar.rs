//! `hone similar VECTORS --node ID`: the nodes most similar to a node, to several, or of every node.

use std::path::PathBuf;

use hone::Error;
use hone::graph::NodeIds;
use hone::store::{Embedding, Format};
use hone_explore::{Answer, By, Method, Neighbours, Search, Space, find_node};
use serde::{Deserialize, Serialize};

use crate::arguments::{ReplaceArgs, SeedArgs};
use crate::context::Context;
use crate::options::of_option;
use crate::repeat::{Record, Stages};
use crate::vectors::{self, VectorArgs};

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
    /// Write the rows that are compared, for a database: their plain Euclidean distance d ranks as this command does, and
    /// 1 - d²/2 is the similarity.
    #[arg(long)]
    prepared: bool,
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
    #[command(flatten)]
    seed: SeedArgs,
    /// File for the result: .tsv, .csv (also .gz, .zst), .parquet; with --all also .npy; with --prepared any of vectors; - is
    /// standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// With --prepared: format of the output, if the extension does not say it.
    #[arg(long, value_name = "FORMAT", value_parser = vectors::format(), requires = "prepared")]
    output_format: Option<Format>,
    #[command(flatten)]
    replace: ReplaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone similar karate.tsv --node 0
  hone similar vectors.npy --node alice --node bob --top 5 --by structure
  hone similar vectors.npy --positive king --positive woman --negative man
  hone similar vectors.npy --all -o neighbours.parquet --top 20
  hone similar vectors.npy --prepared -o rows.parquet
  hone similar -o neighbours.tsv --config neighbours.parquet.run.json

Columns called structure_… (of the preset `hone`) are compared by distance, all others by cosine; see docs/explore.md.
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prepared: bool,
    by: By,
    #[serde(flatten)]
    search: Search,
}

const COMMAND: &str = "similar";

impl Args {
    /// The choices of the command line over those of an earlier run; a query replaces all earlier ones.
    fn choices(&self, before: Choices) -> Result<Choices, Error> {
        let arithmetic = !self.positive.is_empty() || !self.negative.is_empty();
        let asked = [self.all, self.prepared, !self.node.is_empty(), arithmetic];
        let asked = asked.into_iter().filter(|&asked| asked).count();
        let mut now = before;
        if asked > 0 {
            now.node.clone_from(&self.node);
            now.positive.clone_from(&self.positive);
            now.negative.clone_from(&self.negative);
            now.all = self.all;
            now.prepared = self.prepared;
        }
        now.by = self.by.unwrap_or(now.by);
        now.search.top = self.top.map_or(now.search.top, |top| top as usize);
        now.search.search = self.search.unwrap_or(now.search.search);
        now.search.seed = self.seed.seed.unwrap_or(now.search.seed);
        let questions = [&now.node, &now.positive, &now.negative];
        let nothing = !now.all && !now.prepared && questions.iter().all(|ids| ids.is_empty());
        let (option, message) = if asked > 1 {
            let message =
                "give only one of --node, --positive (with --negative), --all and --prepared";
            ("--node", message)
        } else if nothing {
            let message = "give --node ID, --positive ID, --all or --prepared";
            ("--node", message)
        } else if now.prepared && self.top.is_some() {
            let message = "does not apply to --prepared, which writes every row";
            ("--top", message)
        } else if !now.all && (self.search.is_some() || self.seed.seed.is_some()) {
            let message = "only applies to --all; a single node is always compared with all others";
            (self.search.map_or("--seed", |_| "--search"), message)
        } else {
            return Ok(now);
        };
        Err(Error::config(option, message))
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (source, before) = args.vectors.resolve::<Choices>(COMMAND)?;
    let choices = args.choices(before.unwrap_or_default())?;
    if choices.all || choices.prepared {
        context.check_json(&args.output)?;
    }
    let outputs = match (choices.all, choices.prepared) {
        (true, _) => Neighbours::files(&args.output)?,
        (_, true) => Embedding::files(&args.output, args.output_format)?,
        _ => vec![args.output.clone()],
    };
    let files = source.files().write_recorded(&outputs, &args.output);
    let mut batch = files.check(args.replace.force)?;
    let mut stages = Stages::begin();
    let (ids, space, mut done) = source.open(choices.by, &choices, context)?;
    stages.end("read");
    let (output, progress) = (&args.output, context.progress());
    if choices.prepared {
        let rows = space.prepared(ids);
        rows.add_to(&mut batch, output, args.output_format)?;
    } else if choices.all {
        let found = choices.search.all(&space, progress)?;
        stages.end("search");
        vectors::note_recall(found.recall, context);
        done.recall = found.recall;
        found.add_to(&mut batch, output, &ids, progress)?;
    } else {
        let answers = ask(&choices, &ids, &space)?;
        stages.end("search");
        if context.json() && hone::output::is_stream(output) {
            let shown = answers.iter().map(|answer| shown(&ids, answer));
            return context.print_json(&shown.collect::<Vec<_>>());
        }
        Answer::add_all_to(&answers, &mut batch, output, &ids, progress)?;
    }
    context.progress_done();
    Record::new(COMMAND, None, &done, stages.done).add_to(&mut batch, output)?;
    batch.commit()?;
    context.print_record(output)
}

/// Answers queries about single nodes.
fn ask(choices: &Choices, ids: &NodeIds, space: &Space) -> Result<Vec<Answer>, Error> {
    let index = ids.index();
    let rows = |option: &str, names: &[String]| -> Result<Vec<u32>, Error> {
        let rows = names.iter().map(|name| find_node(ids, &index, name));
        let rows = rows.collect::<Result<_, _>>();
        rows.map_err(|error| of_option(error, option))
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
        let positive = rows("--positive", &choices.positive)?;
        let negative = rows("--negative", &choices.negative)?;
        let plus = choices.positive.iter().map(|id| format!("+{id}"));
        let minus = choices.negative.iter().map(|id| format!("-{id}"));
        let question: Vec<String> = plus.chain(minus).collect();
        return Ok(vec![nearest(question.join(" "), &positive, &negative)?]);
    }
    let rows = rows("--node", &choices.node)?;
    let asked = choices.node.iter().zip(rows);
    let answer = |(id, row): (&String, u32)| nearest(id.clone(), &[row], &[]);
    asked.map(answer).collect()
}

/// One answer as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    question: &'a str,
    nodes: Vec<ShownNode>,
}

#[derive(Serialize)]
struct ShownNode {
    id: String,
    similarity: f32,
}

fn shown<'a>(ids: &NodeIds, answer: &'a Answer) -> Shown<'a> {
    let nodes = answer.nodes.iter().map(|node| ShownNode {
        id: ids.get(node.row).to_string(),
        similarity: node.similarity,
    });
    Shown {
        question: &answer.question,
        nodes: nodes.collect(),
    }
}
