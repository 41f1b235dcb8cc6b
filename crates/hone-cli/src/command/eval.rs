//! `hone eval TASK`: evaluate embeddings by link prediction, node labels and roles.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Subcommand;
use hone::graph::GraphFacts;
use hone::memory::Allowance;
use hone::output::{Batch, Existing};
use hone::{Error, Result};
use hone_eval::cache::Cache;
use hone_eval::experiment::{Bench, Named};
use hone_eval::labels::NodeLabels;
use hone_eval::method::{self, Method};
use hone_eval::pairs::{PairOperator, Scaling};
use hone_eval::report::Report;
use hone_eval::split::{self, LinkSplit, Negatives, Removal};
use hone_eval::task::{LinkConfig, NodesConfig, Protocol};
use hone_eval::vectors::Save;

use crate::context::Context;
use crate::exit::{self, Incomplete, Kept};
use crate::files::{Files, Use};
use crate::input::{ReadArgs, stem};
use crate::options::{Known, translated};

/// Evaluate embeddings: link prediction, node labels, roles.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, subcommand_value_name = "TASK", subcommand_help_heading = "Tasks")]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Task,
}

const EXAMPLES: &str = "\
Examples:
  hone eval list
  hone eval link graph.tsv --methods hone-p,node2vec,degree --seeds 3
  hone eval link a.tsv b.tsv --operators mean,hadamard,mean+hadamard+l1 --html report.html
  hone eval nodes graph.tsv --labels labels.tsv --methods hone-p,deepwalk

Methods take options after a colon; validation chooses among several values:
  hone-p:steps=1|2|3|4   node2vec:p=0.5|2,q=1   grarep:steps=3   file:vectors.npy   file:z-{seed}.npy";

#[derive(Debug, Subcommand)]
enum Task {
    Link(LinkArgs),
    Split(SplitArgs),
    Nodes(NodesArgs),
    Roles(RolesArgs),
    /// List all methods.
    List,
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    match &args.task {
        Task::Link(args) => link(args, context),
        Task::Split(args) => write_split(args, context),
        Task::Nodes(args) => nodes(args, context),
        Task::Roles(RolesArgs { labelled }) => {
            judge(labelled, NodesConfig::roles(), "Role recovery", context)
        }
        Task::List => {
            let all = method::registry();
            let width = all.iter().map(|m| m.0.len()).max().unwrap_or(0);
            let line = |(name, summary): &(String, String)| format!("{name:width$}  {summary}\n");
            let file = (
                "file:PATH".to_owned(),
                "vectors from a file: .npy .npz .tsv .csv .parquet .w2v .emb .safetensors"
                    .to_owned(),
            );
            context.print(all.iter().chain([&file]).map(line).collect::<String>())
        }
    }
}

/// Which methods are compared, how often, and where finished results are stored.
#[derive(Debug, clap::Args)]
struct BenchArgs {
    /// Methods, separated by commas (see `hone eval list`), with options after a colon; may be repeated [default: a
    /// selection for the task].
    #[arg(long, value_name = "NAMES")]
    methods: Vec<String>,
    /// Vectors from a file as a further method; may be repeated.
    #[arg(long, value_name = "FILE")]
    embedding: Vec<PathBuf>,
    /// Search the options the paper searches (steps of HONE and GraRep, p and q of node2vec).
    #[arg(long)]
    grid: bool,
    /// Search the options on one extra split per graph, which no table shows; each split then chooses among
    /// the winners.
    #[arg(long)]
    search_once: bool,
    /// Number of random seeds.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// The first seed. For a fair test, use seeds that were not used for any choice.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    first_seed: u64,
    /// Save finished results in this folder; the same command continues an interrupted run from it.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Save the vectors of every method and seed in this folder, with ids, as GRAPH/METHOD-SEED.npz; manifest.json lists
    /// them.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
}

/// Files a report is written to, besides the tables on standard output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Write everything as JSON; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write one line per result as CSV; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write tables as Markdown; - is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write one HTML page with tables and plots.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the first figure as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
}

impl BenchArgs {
    /// The methods that are named, or those of `default`, and the files of vectors.
    fn methods(&self, default: &str) -> anyhow::Result<Vec<Method>> {
        let refuse = |message: String| Err(Error::config("--methods", message).into());
        let given = match self.methods.is_empty() {
            true => vec![default.to_string()],
            false => self.methods.clone(),
        };
        let mut methods = Method::parse_list(&given, self.grid)
            .map_err(|error| translated(error, &[("methods", "--methods")]))?;
        for path in &self.embedding {
            methods.push(Method::parse(&format!("file:{}", path.display()))?);
        }
        let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        if names.is_empty() {
            return refuse("none is named; `hone eval list` lists them".to_owned());
        }
        match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            Some(twice) => refuse(format!("`{}` is named twice", names[twice])),
            None => Ok(methods),
        }
    }

    /// Refuses, before the work, outputs that exist or are inputs; `inputs` are the files read.
    fn check_files(&self, inputs: Files, output: &OutputArgs) -> Result<()> {
        let named = self
            .methods
            .iter()
            .flat_map(|text| method::split_list(text));
        let paths = named.filter_map(|method| method.strip_prefix("file:").map(str::to_owned));
        let seeds = self.first_seed..self.first_seed + self.seeds;
        let of_seeds = |path: String| {
            let seeds = seeds.clone();
            seeds.map(move |seed| path.replace("{seed}", &seed.to_string()))
        };
        let saved = if output.force {
            Use::Rewritten
        } else {
            Use::Filled
        };
        let mut files = inputs
            .read_vectors("--embedding", &self.embedding)
            .read_vectors("--methods", paths.flat_map(of_seeds))
            .folder("--save", self.save.as_deref(), saved)
            .folder("--cache", self.cache.as_deref(), Use::Filled);
        for (option, path, _) in output.files() {
            files = files.write(option, [path]);
        }
        files.check(output.force).map(drop)
    }

    /// Compares the methods, stores results and vectors, and writes the report that `experiment` makes.
    fn compare(
        &self,
        methods: &[Method],
        output: &OutputArgs,
        context: &Context,
        experiment: impl FnOnce(&Bench<'_>) -> Result<Report>,
    ) -> anyhow::Result<()> {
        let cache = self.cache.as_deref();
        let cache = cache.map_or(Ok(Cache::none()), Cache::open)?;
        match &self.cache {
            Some(folder) => exit::keep(Kept::Cells(folder.clone())),
            None => exit::could_save(
                "start again with --cache DIR to be able to continue after an interruption",
            ),
        }
        let existing = Existing::replaced_if(output.force);
        let save = self.save.as_deref();
        let save = save
            .map(|folder| Save::open(folder, existing))
            .transpose()?;
        let report = experiment(&Bench {
            methods,
            seeds: self.first_seed..self.first_seed + self.seeds,
            search_once: self.search_once,
            cache: &cache,
            save: save.as_ref(),
            progress: context.progress(),
        })?;
        if let Some(save) = save {
            let (count, list) = (save.finish()?, save.manifest());
            context.note(format_args!(
                "{} lists {count} files of vectors",
                list.display()
            ));
        }
        output.write(&report, context)
    }
}

type Render = fn(&Report) -> String;

impl OutputArgs {
    /// The files asked for: option, path, and what is written.
    fn files(&self) -> impl Iterator<Item = (&'static str, &PathBuf, Render)> {
        let all: [(&str, &Option<PathBuf>, Render); 5] = [
            ("--json", &self.json, Report::json),
            ("--csv", &self.csv, Report::csv),
            ("--markdown", &self.markdown, Report::markdown),
            ("--html", &self.html, Report::html),
            ("--svg", &self.svg, Report::figure),
        ];
        let given = all.into_iter();
        given.filter_map(|(option, path, render)| Some((option, path.as_ref()?, render)))
    }

    /// Prints the tables, or what was requested in their place, and writes the files. Fails at the end if the report lacks
    /// figures of some methods: a caller that looks at the exit code alone learns it.
    fn write(&self, report: &Report, context: &Context) -> anyhow::Result<()> {
        let is_standard = |path: &PathBuf| path.as_os_str() == "-";
        if !self.files().any(|(_, path, _)| is_standard(path)) {
            let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            if io::stdout().is_terminal() && !plain {
                context.print_styled(&report.text(true))?;
            } else {
                context.print(report.text(false))?;
            }
        }
        let mut batch = Batch::new(Existing::replaced_if(self.force));
        for (option, path, render) in self.files() {
            if report.plots.is_empty() && option == "--svg" {
                let path = path.display();
                context.note(format_args!("note: there is no figure to write to {path}"));
                continue;
            }
            let mut output = batch.begin(path)?;
            let written = output.write_all(render(report).as_bytes());
            written.map_err(|e| output.error(e))?;
            batch.add(output)?;
        }
        for path in batch.commit()?.iter().filter(|path| !is_standard(path)) {
            context.note(format_args!("wrote {}", path.display()));
        }
        let failures = report.failures.iter();
        let mut names: Vec<String> = failures
            .map(|f| format!("{} on {}", f.method, f.graph))
            .collect();
        names.sort();
        names.dedup();
        if names.is_empty() {
            return Ok(());
        }
        let names = names.join(", ");
        let message = format!("no results of {names}; the reasons are below the tables");
        Err(Incomplete(message).into())
    }
}

/// Says which methods do not use the weights that were requested.
fn note_ignored_weights(methods: &[Method], graphs: &[Named], context: &Context) {
    let is_blind = |method: &&Method| {
        let mut candidates = method.candidates.iter();
        !candidates.any(|(_, it)| it.uses_weights())
    };
    let blind = methods.iter().filter(is_blind);
    let names: Vec<&str> = blind.map(|method| method.name.as_str()).collect();
    if graphs.iter().any(|named| named.graph.weights().is_some()) && !names.is_empty() {
        let verb = if names.len() == 1 { "uses" } else { "use" };
        context.note(format_args!("note: {} {verb} no weights", names.join(", ")));
    }
}

/// Reads a graph that experiments can be run on, under the name it has in tables.
fn open(input: &str, how: &ReadArgs, context: &Context) -> anyhow::Result<Named> {
    let graph = how.open(input, context)?;
    if graph.edges() == 0 {
        let remedy = "nothing can be learnt from it";
        return Err(Error::input(input, "the graph has no edges", remedy).into());
    }
    Ok(Named {
        name: stem(input),
        graph,
    })
}

fn scaling(standardize: bool) -> Scaling {
    if standardize {
        Scaling::Standardize
    } else {
        Scaling::Keep
    }
}

const LINK_METHODS: &str = "hone,hone-w,hone-p,node2vec,grarep,degree,log-degree";
/// Those with vectors of sources and targets first.
const DIRECTED_METHODS: &str = "hone,hope,node2vec,grarep,degree";

/// Link prediction: distinguish removed edges from pairs without an edge.
#[derive(Debug, clap::Args)]
#[command(after_help = link_examples())]
struct LinkArgs {
    /// The graphs: files, or builtin:NAME.
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    bench: BenchArgs,
    /// How the vectors of a pair are combined: mean, hadamard, l1, l2, concat, difference, cross (first half
    /// of the source times second half of the target), outer (products of the first 16 entries of the source
    /// with the first 16 of the target), or several with + [default: mean, for directed graphs
    /// concat,cross,outer,concat+cross].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    operators: Vec<PairOperator>,
    /// Pairs without an edge: random, reversed (reversed removed arcs: which way does the arc go?), or mixed, half
    /// each [default: random, for directed graphs mixed].
    #[arg(long, value_name = "WHICH")]
    negatives: Option<Negatives>,
    /// Use of the labelled pairs: select10 (choose and fit on 10 %, test on 90 %), cv (choose on 10 %,
    /// 10-fold over the rest), train-graph (fit on remaining edges, test on removed ones).
    #[arg(long, value_name = "NAME", default_value = "select10")]
    protocol: Protocol,
    /// Share of edges that are removed.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    removed: f64,
    /// Standardise every feature; by default relative scale is kept.
    #[arg(long)]
    standardize: bool,
    #[command(flatten)]
    output: OutputArgs,
}

fn link_examples() -> String {
    format!(
        "Examples:
  hone eval link graph.tsv --methods hone,degree --seeds 3
  hone eval link graph.tsv --methods hone,node2vec --operators mean,hadamard,l1

Methods, if none are given: {LINK_METHODS}
(for directed graphs {DIRECTED_METHODS})."
    )
}

impl LinkArgs {
    /// Operators and pairs without an edge: those given, or what suits the graphs.
    fn choices(&self, graphs: &[Named], context: &Context) -> (Vec<PairOperator>, Negatives) {
        let directed = graphs.iter().all(|named| named.graph.is_directed());
        let operators = match directed {
            _ if !self.operators.is_empty() => self.operators.clone(),
            true => PairOperator::usual_directed(),
            false => PairOperator::usual(),
        };
        let is_mutual = |named: &&Named| Negatives::usual(&named.graph) == Negatives::Random;
        let mutual = graphs.iter().find(is_mutual);
        if let (true, None, Some(Named { name, .. })) = (directed, self.negatives, mutual) {
            context.note(format_args!(
                "note: every arc of {name} has its reverse, so none can be reversed: pairs without an arc are random"
            ));
        }
        let usual = mutual.map_or(Negatives::Mixed, |_| Negatives::Random);
        let negatives = self.negatives.unwrap_or(usual);
        // An undirected graph is refused if direction matters, for any operator.
        let direction_matters = directed && negatives != Negatives::Random;
        let blind = operators.iter().find(|operator| operator.is_symmetric());
        if let Some(operator) = blind.filter(|_| direction_matters) {
            context.note(format_args!(
                "note: {operator} is the same for a pair and its reverse: it cannot tell which way an arc goes; use concat, \
                 difference, cross or outer"
            ));
        }
        (operators, negatives)
    }
}

/// Settings and the options that give them.
const OPTIONS: &[Known] = &[
    ("directed", "--directed"),
    ("negatives", "--negatives"),
    ("operators", "--operators"),
    ("protocol", "--protocol"),
    ("removed", "--removed"),
];

/// An error of the library in terms of the command's options; it may begin with the name of one of several graphs.
fn in_options(error: Error) -> Error {
    if let Error::Config { field, message } = &error
        && let Some((graph, setting)) = field.rsplit_once(": ")
    {
        return match translated(Error::config(setting, message), OPTIONS) {
            Error::Config { field, message } => Error::config(format!("{graph}: {field}"), message),
            other => other,
        };
    }
    translated(error, OPTIONS)
}

fn link(args: &LinkArgs, context: &Context) -> anyhow::Result<()> {
    let methods = args.bench.methods(match args.read.is_directed() {
        true => DIRECTED_METHODS,
        false => LINK_METHODS,
    })?;
    let inputs = args.read.files(&args.inputs);
    args.bench.check_files(inputs, &args.output)?;
    let mut graphs = Vec::new();
    for (at, input) in args.inputs.iter().enumerate() {
        graphs.push(open(input, &args.read, context)?);
        if args.inputs[..at].contains(input) {
            return Err(Error::config("INPUT", format!("{input} is given twice")).into());
        }
    }
    // Graphs whose files have the same name are identified by their paths.
    let names: Vec<String> = graphs.iter().map(|g| g.name.clone()).collect();
    for (graph, input) in graphs.iter_mut().zip(&args.inputs) {
        if names.iter().filter(|name| **name == graph.name).count() > 1 {
            graph.name.clone_from(input);
        }
    }
    note_ignored_weights(&methods, &graphs, context);
    let (operators, negatives) = args.choices(&graphs, context);
    let config = LinkConfig {
        removed: args.removed,
        protocol: args.protocol,
        operators,
        scaling: scaling(args.standardize),
        negatives,
        ..LinkConfig::default()
    };
    args.bench
        .compare(&methods, &args.output, context, |bench| {
            bench.link_report(&graphs, &config).map_err(in_options)
        })
}

const EXAMPLE_OF_SPLIT: &str = "\
Vectors of another tool on the same split:
  hone embed DIR/train.tsv --nodes DIR/nodes.txt -o z-1.npy
  hone eval link INPUT --seeds 1 --methods file:z-{seed}.npy";

/// Write the training graph and the pairs of one link-prediction split, for other tools.
///
/// DIR/train.tsv contains the remaining edges (with --weighted their weights too), DIR/nodes.txt all node ids
/// (including nodes left without an edge), DIR/pairs.tsv the removed edges (label 1) and as many pairs without an edge
/// (label 0; for directed graphs half are reversed arcs), DIR/split.json a description of the split. Ids are quoted as
/// in other files of hone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE_OF_SPLIT)]
struct SplitArgs {
    /// The graph.
    #[arg(value_name = "INPUT")]
    input: String,
    #[command(flatten)]
    read: ReadArgs,
    /// Seed of the split.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Share of edges that are removed.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    removed: f64,
    /// Pairs without an edge: random, reversed (reversed removed arcs), or mixed, half each [default: random, for
    /// directed graphs mixed, as `hone eval link` has it].
    #[arg(long, value_name = "WHICH")]
    negatives: Option<Negatives>,
    /// Folder to write to; it is created if necessary.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
}

fn write_split(args: &SplitArgs, context: &Context) -> anyhow::Result<()> {
    args.read
        .files([&args.input])
        .write("--output", split::files(&args.output))
        .check_places()?;
    let graph = open(&args.input, &args.read, context)?.graph;
    let whole = GraphFacts::of(&graph);
    let removal = Removal {
        share: args.removed,
        negatives: args.negatives.unwrap_or_else(|| Negatives::usual(&graph)),
        seed: args.seed,
        ..Removal::default()
    };
    let split = LinkSplit::of(graph, &removal).map_err(in_options)?;
    let existing = Existing::replaced_if(args.force);
    split::write(&split, &whole, &removal, &args.output, existing)?;
    let (edges, pairs) = (split.train.graph().edges(), split.pairs.pairs.len());
    context.note(format_args!(
        "wrote {edges} training edges and {pairs} pairs"
    ));
    Ok(())
}

const NODES_METHODS: &str = "hone,hone-w,hone-p,node2vec,grarep,degree";

/// A labelled graph and the methods evaluated on it.
#[derive(Debug, clap::Args)]
struct Labelled {
    /// The graph: a file, or builtin:NAME.
    #[arg(value_name = "INPUT")]
    input: String,
    /// Labels, one node per line: the node, a tab, its labels separated by commas; or a .csv of nodes and labels.
    #[arg(long, value_name = "FILE")]
    labels: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    bench: BenchArgs,
    /// The penalty parameter C of the classifier [default: chosen by cross-validation].
    #[arg(long, value_name = "C", value_parser = positive)]
    penalty: Option<f64>,
    /// Standardise every feature; by default relative scale is kept.
    #[arg(long)]
    standardize: bool,
    #[command(flatten)]
    output: OutputArgs,
}

fn nodes_examples(task: &str) -> String {
    format!(
        "Examples:
  hone eval {task} graph.tsv --labels labels.tsv --methods hone,degree --seeds 3

Methods, if none are given: {NODES_METHODS}."
    )
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|c: &f64| *c > 0.0 && c.is_finite())
        .ok_or_else(|| "give a positive number".into())
}

/// Node classification: micro and macro F1 of one-vs-rest logistic regression.
#[derive(Debug, clap::Args)]
#[command(after_help = nodes_examples("nodes"))]
struct NodesArgs {
    #[command(flatten)]
    labelled: Labelled,
    /// Percentages of labelled nodes for training.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "10,50,90", help_heading = None)]
    train: Vec<f64>,
    /// Also cluster the vectors by k-means and compare with the labels (NMI).
    #[arg(long, help_heading = None)]
    cluster: bool,
}

/// Role recovery: accuracy with 80 % of the nodes for training, stratified; NMI of clusters.
#[derive(Debug, clap::Args)]
#[command(after_help = nodes_examples("roles"))]
struct RolesArgs {
    #[command(flatten)]
    labelled: Labelled,
}

fn nodes(args: &NodesArgs, context: &Context) -> anyhow::Result<()> {
    for (at, share) in args.train.iter().enumerate() {
        let wrong = if !(*share > 0.0 && *share < 100.0) {
            "is not a percentage above 0 and below 100"
        } else if args.train[..at].contains(share) {
            "is given twice"
        } else {
            continue;
        };
        return Err(Error::config("--train", format!("{share} {wrong}")).into());
    }
    let config = NodesConfig {
        shares: args.train.iter().map(|share| share / 100.0).collect(),
        cluster: args.cluster,
        ..NodesConfig::classification()
    };
    judge(&args.labelled, config, "Node classification", context)
}

fn judge(
    args: &Labelled,
    mut config: NodesConfig,
    title: &str,
    context: &Context,
) -> anyhow::Result<()> {
    (config.c, config.scaling) = (args.penalty, scaling(args.standardize));
    let methods = args.bench.methods(NODES_METHODS)?;
    let inputs = args.read.files([&args.input]);
    let inputs = inputs.read("--labels", [&args.labels]);
    args.bench.check_files(inputs, &args.output)?;
    let named = open(&args.input, &args.read, context)?;
    note_ignored_weights(&methods, std::slice::from_ref(&named), context);
    let allowance = Allowance::new(args.read.memory());
    let labels = NodeLabels::read_within(&args.labels, &named.graph, allowance)?;
    args.bench
        .compare(&methods, &args.output, context, |bench| {
            bench.nodes_report(&named, &labels, &config, title)
        })
}
