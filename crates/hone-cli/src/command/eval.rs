//! `hone eval TASK`: evaluate embeddings by link prediction, node labels and roles.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::ops::Range;
use std::path::{Path, PathBuf};

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

use crate::arguments::{ReplaceArgs, SeedArgs};
use crate::context::Context;
use crate::exit::{self, Incomplete, Kept};
use crate::files::{self, Files, Use};
use crate::input::ReadArgs;

/// Evaluate embeddings: link prediction, node labels, roles.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, subcommand_value_name = "TASK", subcommand_help_heading = "Tasks")]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Task,
}

const EXAMPLES: &str = "\
Examples:
  hone eval link graph.tsv --methods hone-p,node2vec,degree --seeds 3
  hone eval link a.tsv b.tsv --operators mean,hadamard,mean+hadamard+l1 -o report.html
  hone eval nodes graph.tsv --labels labels.tsv --methods hone-p,deepwalk

Methods take options after a colon; validation chooses among several values:
  hone-p:steps=1|2|3|4   node2vec:p=0.5|2,q=1   grarep:steps=3   file:vectors.npy   file:z-{seed}.npy";

#[derive(Debug, Subcommand)]
enum Task {
    Link(LinkArgs),
    Split(SplitArgs),
    Nodes(NodesArgs),
    /// Role recovery: accuracy with 80 % of the nodes for training, stratified; NMI of clusters.
    #[command(after_help = nodes_examples("roles"))]
    Roles(Labelled),
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    match &args.task {
        Task::Link(args) => link(args, context),
        Task::Split(args) => write_split(args, context),
        Task::Nodes(args) => nodes(args, context),
        Task::Roles(args) => judge(args, NodesConfig::roles(), "Role recovery", context),
    }
}

/// Which methods are compared, how often, where finished results are stored, and what is written.
#[derive(Debug, clap::Args)]
struct BenchArgs {
    /// Methods, separated by commas (see `hone list methods`), with options after a colon; may be repeated [default: a
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
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    first_seed: u64,
    /// Save finished results in this folder; the same command continues an interrupted run from it.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Save the vectors of every method and seed in this folder, with ids, as GRAPH/METHOD-SEED.npz; manifest.json lists
    /// them.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Standardise every feature; by default relative scale is kept.
    #[arg(long)]
    standardize: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Files a report is written to, besides the tables on standard output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Also write the report to this file: .json (everything), .csv (one line per result), .md (tables), .html (a page with
    /// tables and plots) or .svg (the first figure); may be repeated.
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print one line per result as CSV instead of tables.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print Markdown instead of tables.
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    markdown: bool,
    #[command(flatten)]
    replace: ReplaceArgs,
}

impl BenchArgs {
    /// The methods that are named, or those of `default`, and the files of vectors.
    fn methods(&self, default: &str) -> Result<Vec<Method>> {
        let default = [default.to_owned()];
        let given = if self.methods.is_empty() {
            &default[..]
        } else {
            &self.methods
        };
        let mut methods = Method::parse_list(given, self.grid)?;
        for path in &self.embedding {
            methods.push(Method::parse(&format!("file:{}", path.display()))?);
        }
        let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        let twice = (1..names.len()).find(|&at| names[..at].contains(&names[at]));
        let message = match twice {
            _ if names.is_empty() => "none is named; `hone list methods` lists them".to_owned(),
            Some(twice) => format!("`{}` is named twice", names[twice]),
            None => return Ok(methods),
        };
        Err(Error::config("--methods", message))
    }

    fn seeds(&self) -> Range<u64> {
        self.first_seed..self.first_seed + self.seeds
    }

    fn scaling(&self) -> Scaling {
        match self.standardize {
            true => Scaling::Standardize,
            false => Scaling::Keep,
        }
    }

    /// Refuses, before the work, outputs that exist or are inputs; `inputs` are the files read.
    fn check_files(&self, inputs: Files) -> Result<()> {
        let named = self
            .methods
            .iter()
            .flat_map(|text| method::split_list(text));
        let paths = named.filter_map(|method| method.strip_prefix("file:").map(str::to_owned));
        let of_seeds = |path: String| {
            let seeds = self.seeds();
            seeds.map(move |seed| path.replace("{seed}", &seed.to_string()))
        };
        let saved = match self.output.replace.force {
            true => Use::Rewritten,
            false => Use::Filled,
        };
        let files = inputs
            .read_vectors("--embedding", &self.embedding)
            .read_vectors("--methods", paths.flat_map(of_seeds))
            .folder("--save", self.save.as_deref(), saved)
            .folder("--cache", self.cache.as_deref(), Use::Filled);
        let files = files.write("--output", &self.output.output);
        files.check(self.output.replace.force)?;
        self.output.files().map(drop)
    }

    /// Compares the methods, stores results and vectors, and writes the report that `experiment` makes.
    fn compare(
        &self,
        methods: &[Method],
        context: &Context,
        experiment: impl FnOnce(&Bench<'_>) -> Result<Report>,
    ) -> anyhow::Result<()> {
        let cache = match &self.cache {
            Some(folder) => {
                let cache = Cache::open(folder)?;
                exit::keep(Kept::Cells(folder.clone()));
                cache
            }
            None => {
                exit::could_save(
                    "start again with --cache DIR to be able to continue after an interruption",
                );
                Cache::none()
            }
        };
        let existing = Existing::replaced_if(self.output.replace.force);
        let save = self
            .save
            .as_deref()
            .map(|folder| Save::open(folder, existing));
        let save = save.transpose()?;
        let report = experiment(&Bench {
            methods,
            seeds: self.seeds(),
            search_once: self.search_once,
            cache: &cache,
            save: save.as_ref(),
            progress: context.progress(),
        })?;
        if let Some(save) = save {
            let (count, list) = (save.finish()?, save.manifest());
            let list = list.display();
            context.note(format_args!("{list} lists {count} files of vectors"));
        }
        self.output.write(&report, context)
    }
}

type Render = fn(&Report) -> String;

impl OutputArgs {
    /// The files asked for, and what is written to each.
    fn files(&self) -> Result<Vec<(&Path, Render)>> {
        let of = |path: &'_ PathBuf| -> Result<Render> {
            let extension = path.extension().unwrap_or_default();
            Ok(match &*extension.to_string_lossy().to_lowercase() {
                "json" => Report::json,
                "csv" => Report::csv,
                "md" => Report::markdown,
                "html" => Report::html,
                "svg" => Report::figure,
                _ => {
                    let message = "a report has no such format";
                    let remedy =
                        "use .json, .csv, .md, .html or .svg; --json prints to standard output";
                    return Err(Error::input(path, message, remedy));
                }
            })
        };
        let files = self.output.iter();
        files.map(|path| Ok((path.as_path(), of(path)?))).collect()
    }

    /// Prints the tables, or JSON, and writes the files. Fails at the end if the report lacks figures of some methods: a caller
    /// that looks at the exit code alone learns it.
    fn write(&self, report: &Report, context: &Context) -> anyhow::Result<()> {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if context.json() {
            context.print(report.json())?;
        } else if self.csv {
            context.print(report.csv())?;
        } else if self.markdown {
            context.print(report.markdown())?;
        } else if io::stdout().is_terminal() && !plain {
            context.print_styled(&report.text(true))?;
        } else {
            context.print(report.text(false))?;
        }
        let mut batch = Batch::new(Existing::replaced_if(self.replace.force));
        for (path, render) in self.files()? {
            if report.plots.is_empty() && path.extension().is_some_and(|end| end == "svg") {
                let path = path.display();
                context.note(format_args!("note: there is no figure to write to {path}"));
            } else {
                files::add(&mut batch, path, render(report).as_bytes())?;
            }
        }
        for path in batch.commit()? {
            context.note(format_args!("wrote {}", path.display()));
        }
        let failures = report.failures.iter();
        let names = failures.map(|failure| format!("{} on {}", failure.method, failure.graph));
        let names: Vec<String> = names.collect::<BTreeSet<_>>().into_iter().collect();
        if names.is_empty() {
            return Ok(());
        }
        let names = names.join(", ");
        let message = format!("no results of {names}; the reasons are below the tables");
        Err(Incomplete(message).into())
    }
}

/// Reads graphs that experiments can be run on, under the names they have in tables: those of their files, else their paths.
/// Says which methods do not use the weights that were requested.
fn open(
    inputs: &[String],
    read: &ReadArgs,
    methods: &[Method],
    context: &Context,
) -> anyhow::Result<Vec<Named>> {
    let mut graphs = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let source = read.source(input)?;
        let graph = source.open(true, context)?;
        if graph.edges() == 0 {
            let remedy = "nothing can be learnt from it";
            return Err(Error::input(input, "the graph has no edges", remedy).into());
        }
        if inputs[..at].contains(input) {
            return Err(Error::config("INPUT", format!("{input} is given twice")).into());
        }
        let name = source.name();
        graphs.push(Named { name, graph });
    }
    let names: Vec<String> = graphs.iter().map(|g| g.name.clone()).collect();
    for (graph, input) in graphs.iter_mut().zip(inputs) {
        if names.iter().filter(|name| **name == graph.name).count() > 1 {
            graph.name.clone_from(input);
        }
    }
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
    Ok(graphs)
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
    #[command(flatten)]
    bench: BenchArgs,
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

fn link(args: &LinkArgs, context: &Context) -> anyhow::Result<()> {
    let methods = args.bench.methods(match args.read.is_directed() {
        true => DIRECTED_METHODS,
        false => LINK_METHODS,
    })?;
    args.bench.check_files(args.read.files(&args.inputs))?;
    let graphs = open(&args.inputs, &args.read, &methods, context)?;
    let (operators, negatives) = args.choices(&graphs, context);
    let config = LinkConfig {
        removed: args.removed,
        protocol: args.protocol,
        operators,
        scaling: args.bench.scaling(),
        negatives,
        ..LinkConfig::default()
    };
    args.bench.compare(&methods, context, |bench| {
        bench.link_report(&graphs, &config)
    })
}

const EXAMPLE_OF_SPLIT: &str = "\
Vectors of another tool on the same split:
  hone embed DIR/train.tsv --node-list DIR/nodes.txt -o z-1.npy
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
    #[command(flatten)]
    seed: SeedArgs,
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
    #[command(flatten)]
    replace: ReplaceArgs,
}

fn write_split(args: &SplitArgs, context: &Context) -> anyhow::Result<()> {
    args.read
        .files([&args.input])
        .write("--output", split::files(&args.output))
        .check_places()?;
    let graph = open(std::slice::from_ref(&args.input), &args.read, &[], context)?;
    let graph = graph[0].graph.clone();
    let whole = GraphFacts::of(&graph);
    let removal = Removal {
        share: args.removed,
        negatives: args.negatives.unwrap_or_else(|| Negatives::usual(&graph)),
        seed: args.seed.seed.unwrap_or_default(),
        ..Removal::default()
    };
    let split = LinkSplit::of(graph, &removal)?;
    let existing = Existing::replaced_if(args.replace.force);
    split::write(&split, &whole, &removal, &args.output, existing)?;
    let (edges, pairs) = (split.train.graph().edges(), split.pairs.pairs.len());
    context.note(format_args!(
        "wrote {edges} training edges and {pairs} pairs"
    ));
    context.print_files(&split::files(&args.output))
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
    /// The penalty parameter C of the classifier [default: chosen by cross-validation].
    #[arg(long, value_name = "C", value_parser = positive)]
    penalty: Option<f64>,
    #[command(flatten)]
    bench: BenchArgs,
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
    config: NodesConfig,
    title: &str,
    context: &Context,
) -> anyhow::Result<()> {
    let config = NodesConfig {
        c: args.penalty,
        scaling: args.bench.scaling(),
        ..config
    };
    let methods = args.bench.methods(NODES_METHODS)?;
    let inputs = args.read.files([&args.input]);
    args.bench
        .check_files(inputs.read("--labels", [&args.labels]))?;
    let graphs = open(
        std::slice::from_ref(&args.input),
        &args.read,
        &methods,
        context,
    )?;
    let allowance = Allowance::new(args.read.memory);
    let labels = NodeLabels::read_within(&args.labels, &graphs[0].graph, allowance)?;
    args.bench.compare(&methods, context, |bench| {
        bench.nodes_report(&graphs[0], &labels, &config, title)
    })
}
