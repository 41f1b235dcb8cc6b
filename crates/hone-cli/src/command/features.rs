//! `hone features INPUT -o X`: motif counts of the nodes, aggregates over neighbours, and the user's
//! own attributes as one table, without an embedding.

use std::path::PathBuf;

use hone::config::{Config, Layers};
use hone::engine::Cpu;
use hone::graph::Graph;
use hone::report::{Stage, Start};
use hone::{Error, Hone, Silent};

use crate::command::embed::{AttributeArgs, TableArgs};
use crate::context::Context;
use crate::input::GraphArgs;
use crate::options::{self, Flag};

/// Write node features: motif counts, their aggregates over neighbours, attributes from a file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: GraphArgs,
    /// File for the features; the extension sets the format (.tsv .csv .parquet .npz .npy .w2v .emb .safetensors). `-` for
    /// standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    choices: FeatureArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone features builtin:karate
  hone features graph.tsv -o x.parquet --depth 2 --aggregates sum,mean
  hone features graph.tsv -o counts.csv --depth 0 --no-log --motifs triangle,clique4
  hone features graph.tsv -o x.npz --attributes people.csv --diffuse 2 --over edge,triangle
  hone features graph.tsv -o numbered.tsv --numbers
  hone features -o structure.parquet --config vectors.npy.run.json   the features of that embedding
  hone features -o x-again.parquet --config x.parquet.run.json

OUT.run.json, next to OUT, records the graph and how it was read, all settings and what was measured; --config repeats it.
Columns are named after their content: triangle_degree, mean_triangle_degree, max_sum_edge_degree, city=Rome, \
edge_k1_age (age, diffused one step over edges).";

/// What the features are; they are settings of the same configuration that embeddings use.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Features")]
struct FeatureArgs {
    /// Motifs that are counted: orbits, graphlets, or names separated by commas [default: orbits].
    #[arg(id = "structure.motifs", long = "motifs", value_name = "SET")]
    motifs: Option<String>,
    /// Aggregates over the neighbours: some of sum, mean, max, or none [default: sum,mean,max].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["sum", "mean", "max", "none"])]
    aggregates: Vec<String>,
    /// Levels of aggregation: 2 and more aggregate the aggregates, 0 writes the counts alone [default: 1].
    #[arg(id = "structure.depth", long = "depth", value_name = "N")]
    depth: Option<usize>,
    /// From level 2 on, drop columns whose correlation with an earlier one exceeds this [default: 0.999].
    #[arg(id = "structure.prune", long = "prune", value_name = "R")]
    prune: Option<f64>,
    /// Call motifs by their numbers in the literature (`hone list motifs --table`): E1_degree, not triangle_degree.
    #[arg(
        id = "structure.numbers",
        long = "numbers",
        overrides_with = "no_numbers"
    )]
    numbers: bool,
    #[arg(long, hide = true, overrides_with = "structure.numbers")]
    no_numbers: bool,
    /// Write log(1 + x) of the counts, the default; --no-log: the counts themselves.
    #[arg(id = "structure.log", long = "log", overrides_with = "no_log")]
    log: bool,
    #[arg(long, hide = true, overrides_with = "structure.log")]
    no_log: bool,
    /// Norm by which columns are divided: none, l2, l1 or max [default: none].
    #[arg(id = "local.norm", long = "norm", value_name = "NORM")]
    norm: Option<String>,
    /// Write motif features, the default; --no-structure: only those of --attributes.
    #[arg(
        id = "structure.enabled",
        long = "structure",
        overrides_with = "no_structure"
    )]
    structure: bool,
    #[arg(long, hide = true, overrides_with = "structure.enabled")]
    no_structure: bool,
    #[command(flatten)]
    attributes: AttributeArgs,
    /// Add the columns diffused over motif graphs, this many steps [default: 0].
    #[arg(id = "features.diffusion.steps", long = "diffuse", value_name = "K")]
    diffuse: Option<usize>,
    /// Motifs over whose graphs columns are diffused: orbits, graphlets, or names [default: edge].
    #[arg(id = "motifs", long = "over", value_name = "SET")]
    over: Option<String>,
    /// Matrix of the diffusion: w, p, l, l-norm, l-rw [default: p].
    #[arg(long, value_name = "PSI")]
    psi: Option<String>,
    /// Start from the settings of a TOML file, or of the OUT.run.json of an earlier run, which also names the graph.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Any setting by its dotted name; may be repeated, the last wins.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// What differs from the preset `hone-p` before any option.
const DEFAULTS: [(&str, &str); 5] = [
    ("structure.enabled", "true"),
    ("structure.motifs", "auto"),
    ("features.diffusion.steps", "0"),
    ("local.norm", "none"),
    ("motifs", "edge"),
];

impl FeatureArgs {
    /// Defaults or a file, flags and single settings, later ones on top.
    fn build(&self, context: &Context) -> Result<Config, Error> {
        let mut layers = Layers::new().preset("hone-p")?.set_all(DEFAULTS)?;
        if let Some(file) = &self.config {
            layers = layers.file(file)?;
        }
        options::lay(layers, &self.flags(context), &self.set)?.build()
    }

    /// The settings that options give. No aggregates are a depth of 0.
    fn flags(&self, context: &Context) -> Vec<Flag> {
        let mut flags = context.flags().to_vec();
        let mut give = |setting: &str, value: &str| {
            flags.push((setting.into(), "--aggregates".into(), value.into()));
        };
        let given = |name: &str| self.aggregates.iter().any(|given| given == name);
        if !self.aggregates.is_empty() {
            for name in ["sum", "mean", "max"] {
                give(&format!("structure.{name}"), &given(name).to_string());
            }
        }
        if given("none") && self.depth.is_none() {
            give("structure.depth", "0");
        }
        flags
    }

    /// Notes options that were given and have no effect on the features of this graph.
    fn note_idle(&self, config: &Config, graph: &Graph, context: &Context) {
        let mut idle = options::idle_of(
            &self.flags(context),
            &self.set,
            &config.unused_in_features(graph),
        );
        // No aggregates are a depth of 0.
        let none = self.aggregates.iter().any(|given| given == "none");
        idle.retain(|(option, _)| option != "--aggregates" || !none);
        options::note_idle(&idle, context);
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    context.check_json(&args.output)?;
    let choices = &args.choices;
    let config = choices.build(context)?;
    let source = args.input.resolve(choices.config.as_deref())?;
    let files = args.table.files(&args.output)?;
    let mut batch = source
        .files()
        .read("--config", &choices.config)
        .read_vectors("--attributes", &config.attributes.file)
        .write_recorded(&files, &args.output)
        .check(args.table.replace.force)?;
    source.check_attributes(config.attributes.file.as_deref(), context)?;
    let mut hone = Hone::new(config.clone())?.written_as(args.table.format(&args.output)?);
    if let Some(bytes) = source.memory {
        hone = hone.memory_limit(bytes);
    }
    let start = Start::now();
    let work = |graph: &Graph| {
        let hone = hone.clone().memory_limit(1);
        hone.features(graph, &Silent).map(drop)
    };
    let weights = config.features.diffusion.steps > 0;
    let graph = source.open_for(&work, weights, context)?;
    let read = Stage::since("read", &start);
    choices.note_idle(&config, &graph, context);
    let mut run = hone.features(&graph, context.progress())?;
    drop(graph);
    run.report.input = Some(source.input);
    run.report.stages.insert(0, read);
    run.report.work = start.work();
    args.table
        .write(&mut run, &args.output, &mut batch, &Cpu, None, context)?;
    batch.commit()?;
    context.progress_done();
    context.say_all(&run.report);
    if args.output.as_os_str() != "-" {
        let vectors = &run.embedding.vectors;
        let counted = |count, what| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        context.note(format_args!(
            "wrote {} × {} to {}",
            counted(vectors.rows(), "node"),
            counted(vectors.cols(), "feature"),
            args.output.display()
        ));
    }
    context.print_record(&args.output)
}
