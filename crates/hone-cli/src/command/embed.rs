//! `hone embed INPUT -o OUT`: a graph in, node vectors out.

mod like;
mod summary;
mod table;

pub(crate) use table::TableArgs;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hone::config::{Config, Layers, Output as OutputKind, Weights, solver_settings};
use hone::graph::Graph;
use hone::motif::{Delta, Sample};
use hone::output::{Batch, Existing};
use hone::report::{Report, Stage, Start};
use hone::store::Embedding;
use hone::store::factors::check_target;
use hone::{Error, Hone, Model, Run, Silent, record};
use hone_gpu::Device;

use crate::context::Context;
use crate::exit::{self, Kept};
use crate::files::{Files, Use};
use crate::idle;
use crate::input::GraphArgs;
use crate::options::{self, Known};
use crate::repeat;
use crate::settings::{self, Flag};
use summary::summary;

/// Embed a graph: one vector per node, built from network motifs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: GraphArgs,
    /// Where the vectors go; the extension names the format (.tsv .csv .npy .npz .parquet .w2v .safetensors). `-`
    /// for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Also write all factors to this folder, as .npy files with a manifest: U, Σ and V of each motif matrix, Z and H of the
    /// whole (docs/paper.md explains the letters).
    #[arg(long, value_name = "DIR")]
    factors: Option<PathBuf>,
    /// Also write what places other graphs in the same space to this file (preset hone): see --like, and `hone info FILE`.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Where motif matrices are factored: cpu, cuda, cuda:N, or auto for a GPU where there is one (docs/gpu.md).
    #[arg(long, value_name = "DEVICE", default_value_t)]
    device: Device,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    like: like::LikeArgs,
    #[command(flatten)]
    scale: ScaleArgs,
    #[command(flatten)]
    choices: ConfigArgs,
}

/// Work that is larger than memory, or takes long.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Large graphs")]
struct ScaleArgs {
    /// Folder of temporary files, for what does not fit into --memory [default: that of the output].
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
    /// Save finished stages in a folder, so that --resume can continue a run that was interrupted.
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint; the result is the same, bit for bit.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

impl ScaleArgs {
    /// Adds the folders that are written to.
    fn folders(&self, files: Files) -> Files {
        let files = files.folder("--checkpoint", self.checkpoint.as_deref(), Use::Kept);
        files.folder("--temp-dir", self.temp_dir.as_deref(), Use::Kept)
    }

    fn lay(&self, mut hone: Hone, output: &Path) -> Hone {
        let beside = || output.parent().filter(|_| output.as_os_str() != "-" && (output.is_file() || !output.exists()));
        let beside = || beside().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        if let Some(folder) = self.temp_dir.as_deref().or_else(beside) {
            hone = hone.temp_dir(folder);
        }
        match &self.checkpoint {
            Some(folder) => {
                exit::keep(Kept::Stages(folder.clone()));
                if self.resume { hone.resume(folder) } else { hone.checkpoint(folder) }
            }
            None => {
                exit::could_save();
                hone
            }
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  hone embed builtin:karate -o karate.tsv
  hone embed graph.tsv -o vectors.npy
  hone embed graph.tsv.gz -o w.npy --preset hone-w --dim 64
  hone embed graph.mtx -o cliques.parquet --motifs edge,triangle,clique4 --steps auto
  hone embed graph.tsv -o people.npy --preset hone-p+x --attributes people.csv
  hone embed graph.tsv -o p.npy --preset hone-p --factors factors
  hone embed graph.tsv -o gpu.npy --device auto
  hone embed graph.tsv -o first.npy --model graph.hone
  hone embed graph.tsv -o next.npy --like graph.hone
  hone embed -o again.npy --config vectors.npy.run.json

OUT.run.json, next to OUT, records the graph and how it was read, all settings, the seed and what was measured.
--config OUT.run.json repeats the run bit for bit, and refuses a graph that has changed.";

/// Settings that have an option of their own.
pub(crate) const OPTIONS: &[Known] = &[
    ("preset", "--preset"),
    ("global.dim", "--dim"),
    ("local.dim", "--local-dim"),
    ("steps", "--steps"),
    ("motifs", "--motifs"),
    ("directed", "--directed"),
    ("sample", "--sample"),
    ("delta", "--delta"),
    ("seed", "--seed"),
    ("pairs", "--pairs"),
    ("local.solver.method", "--solver"),
    ("global.solver.method", "--solver"),
    ("global.output", "--vectors"),
    ("attributes.file", "--attributes"),
    ("attributes.table.id", "--attribute-id"),
    ("like", "--like"),
    ("structure-only", "--structure-only"),
    ("weights", "--weighted"),
    options::OTHERS,
];

/// What an embedding starts from when no other preset is named.
const DEFAULT_PRESET: &str = "hone";

/// The choices of the method; shared by `embed` and `config`.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct ConfigArgs {
    /// Start from a named variant: hone (the default), or the paper's hone-w, hone-p, hone-l, hone-l-norm, hone-l-rw,
    /// each also with +x for diffused motif features.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Read settings from a TOML file, or repeat an earlier run: its OUT.run.json, which also names the graph; with
    /// --preset, the two may not contradict each other.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Dimensions of the vectors. With the preset hone, one in eight (at most 16) is for structure.
    #[arg(long, value_name = "D")]
    dim: Option<usize>,
    /// Dimensions of each local embedding, of which there is one per motif and step [default: 16, more where --dim needs
    /// more].
    #[arg(long, value_name = "D")]
    local_dim: Option<String>,
    /// Number of steps along the edges of each motif graph, or auto.
    #[arg(long, value_name = "K")]
    steps: Option<String>,
    /// Motifs: orbits, graphlets, or names separated by commas (see `hone count --help`).
    #[arg(long, value_name = "SET")]
    motifs: Option<String>,
    /// Leave out motifs of more nodes than this.
    #[arg(long, value_name = "2-4", value_parser = clap::value_parser!(u8).range(2..=4))]
    motif_size: Option<u8>,
    /// Estimate motif counts: from at most cap=64 neighbours of a node, or with error=0.1,confidence=0.95.
    #[arg(long, value_name = "HOW")]
    sample: Option<Sample>,
    /// Leave out edges with fewer occurrences of a motif than this; also by motif: triangle=3,clique4=2.
    #[arg(long, value_name = "COUNT")]
    delta: Option<Delta>,
    /// Pairs of nodes that a motif graph links: edges, or occurrences (all pairs that share an occurrence of the graphlet,
    /// adjacent or not).
    #[arg(long, value_name = "WHICH", value_parser = ["edges", "occurrences"])]
    pairs: Option<String>,
    /// Solver of the matrix factorisations, in both stages (autoencoder: in the global one); `hone solvers` lists them.
    #[arg(long, value_name = "NAME")]
    solver: Option<String>,
    #[command(flatten)]
    attributes: AttributeArgs,
    /// Which vectors to write: global, or local (all local embeddings side by side).
    #[arg(long, value_enum, value_name = "WHICH")]
    vectors: Option<Vectors>,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Any setting by its dotted name; may be repeated, the last wins.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// The user's own attributes; shared by every command that uses them.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct AttributeArgs {
    /// Attributes of the nodes: .csv, .tsv or .parquet with an id column, or .npy, .mtx or .svm in node order.
    #[arg(long, value_name = "FILE")]
    attributes: Option<String>,
    /// Column of the node ids in that file: a name, or a position from 0 [default: id, node, …, else the first].
    #[arg(long, value_name = "COLUMN")]
    attribute_id: Option<String>,
}

impl AttributeArgs {
    /// The settings that it gives.
    pub(crate) fn flags(&self) -> [Flag; 2] {
        // Quoted, so that whatever it is called is text and no TOML value.
        let text = |text: &String| serde_json::Value::from(text.as_str()).to_string();
        let id = self.attribute_id.as_ref().map(|id| id.parse::<u32>().map_or_else(|_| text(id), |at| at.to_string()));
        [("attributes.file", self.attributes.as_ref().map(text)), ("attributes.table.id", id)]
    }
}

/// Which vectors are returned.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Vectors {
    Global,
    Local,
}

impl ConfigArgs {
    /// Adds the files that these choices name.
    fn files(&self, files: Files, config: &Config) -> Files {
        files.read("--config", &self.config).read_vectors("--attributes", &config.attributes.file)
    }

    /// Preset, file, flags and single settings, later ones on top.
    pub(crate) fn build(&self) -> Result<Config, Error> {
        self.lay().map_err(|error| options::translated(error, OPTIONS))
    }

    /// The settings that options give.
    fn flags(&self) -> Vec<Flag> {
        let vectors = self.vectors.map(|vectors| match vectors {
            Vectors::Global => OutputKind::Global.to_string(),
            Vectors::Local => OutputKind::Local.to_string(),
        });
        let flags = [
            ("global.dim", self.dim.map(|v| v.to_string())),
            ("local.dim", self.local_dim.clone()),
            ("steps", self.steps.clone()),
            ("motifs", self.motifs.clone()),
            ("sample", self.sample.map(|v| v.to_string())),
            ("delta", self.delta.as_ref().map(ToString::to_string)),
            ("pairs", self.pairs.clone()),
            ("global.output", vectors),
            ("seed", self.seed.map(|v| v.to_string())),
        ];
        let solvers =
            self.solver.iter().flat_map(|name| solver_settings(name).iter().map(|key| (*key, Some(name.clone()))));
        flags.into_iter().chain(solvers).chain(self.attributes.flags()).collect()
    }

    /// Notes options that were given and have no effect on the embedding of this graph.
    fn note_idle(&self, config: &Config, graph: &Graph, context: &Context) {
        let mut found = idle::given(&self.flags(), &self.set, OPTIONS, &config.idle(graph, false));
        let motifs = self.motif_size.and_then(|_| Some((self.lay_all().ok()?.motifs, config.motifs.clone())));
        if let Some((all, kept)) = motifs
            && all.motifs() == kept.motifs()
        {
            found.push(("--motif-size".into(), format!("no motif of {all} is larger")));
        }
        idle::note(&found, context);
    }

    fn lay(&self) -> Result<Config, Error> {
        let mut config = self.lay_all()?;
        if let Some(size) = self.motif_size {
            config.motifs = config.motifs.at_most(size.into());
            config.check()?;
        }
        Ok(config)
    }

    /// With motifs of any size.
    fn lay_all(&self) -> Result<Config, Error> {
        self.config.as_deref().map_or(Ok(()), repeat::refuse_others)?;
        let layers = match (&self.preset, &self.config) {
            (Some(preset), Some(file)) => Layers::new().preset_and_file(preset, file)?,
            (None, Some(file)) => Layers::new().preset(DEFAULT_PRESET)?.file(file)?,
            (preset, None) => Layers::new().preset(preset.as_deref().unwrap_or(DEFAULT_PRESET))?,
        };
        settings::lay(layers, &self.flags(), &self.set, OPTIONS)?.build()
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    if let Some(model) = &args.like.like {
        return like::run(args, model, context);
    }
    let config = args.choices.build()?;
    let files = Embedding::files(&args.output, args.table.output_format)?;
    let mut source = args.input.resolve(args.choices.config.as_deref())?;
    source.input.options.weighted |= config.weights == Weights::Used && args.input.keeps_weights();
    let inputs = args.choices.files(source.files(), &config);
    let outputs = inputs.write("--output", files.iter().chain(&record::path(&args.output)));
    let outputs = outputs.write("--model", &args.model);
    let outputs = outputs.folder("--factors", args.factors.as_deref(), Use::Replaced);
    let leads = context.engine().leads();
    let mut batch = args.scale.folders(outputs).check_by(leads, args.table.force)?;
    source.check_attributes(config.attributes.file.as_deref(), context)?;
    args.factors.as_deref().map_or(Ok(()), |to| check_target(to, Existing::replaced_if(args.table.force)))?;
    let format = args.table.format(&args.output)?;
    let alone = Hone::new(config.clone())?.written_as(format);
    let (hone, note) = placed(args.device, &config, alone.clone(), context)?;
    let memory = context.memory(args.input.memory());
    let hone = args.lay(hone, memory);
    let start = Start::now();
    let work = |graph: &Graph| alone.clone().memory_limit(1).embed(graph, &Silent).map(drop);
    let graph = source.open_for(&work, true, memory, context)?;
    let read = Stage::since("read", &start);
    args.choices.note_idle(&config, &graph, context);
    let (run, model) = work_on(&hone, &mut batch, &graph, args.model.is_some(), context)
        .map_err(|error| options::translated(error, OPTIONS))?;
    if !leads {
        context.engine().meet();
        return Ok(());
    }
    drop(graph);
    let Run { embedding, mut report } = run;
    report.notes.extend(note);
    report.input = Some(source.input);
    report.stages.insert(0, read);
    report.work = start.work();
    write(args, batch, &embedding, model, report, context)
}

impl Args {
    /// What the options say of memory and of further outputs.
    fn lay(&self, mut hone: Hone, memory: Option<u64>) -> Hone {
        if let Some(bytes) = memory {
            hone = hone.memory_limit(bytes);
        }
        if let Some(folder) = &self.factors {
            hone = hone.factors(folder, Existing::replaced_if(self.table.force));
        }
        self.scale.lay(hone, &self.output)
    }
}

/// Writes vectors, model and record, all or none, and prints what was done.
fn write(
    args: &Args,
    mut batch: Batch,
    embedding: &Embedding,
    model: Option<Model>,
    mut report: Report,
    context: &Context,
) -> anyhow::Result<()> {
    context.progress().stage("writing", 0);
    report.time("write", |_| embedding.add_to(&mut batch, &args.output, args.table.output_format))?;
    if let (Some(model), Some(path)) = (model, &args.model) {
        report.time("write model", |_| model.add_to(&mut batch, path))?;
    }
    record::add_to(&mut batch, &args.output, &report)?;
    context.engine().meet();
    batch.commit()?;
    context.progress_done();
    context.note(summary(&report));
    Ok(())
}

/// The method where the work is done, and a note on it.
fn placed(device: Device, config: &Config, hone: Hone, context: &Context) -> Result<(Hone, Option<String>), Error> {
    let Some(engine) = context.team() else {
        let device = device.open(config).map_err(|error| options::translated(error, OPTIONS))?;
        let note = device.note.clone();
        return Ok((device.place(hone), note));
    };
    if device != Device::default() {
        let message = format!("{} works on processors; leave the device out, or use `hone embed`", engine.name());
        return Err(Error::config("--device", message));
    }
    Ok((hone.on_shared(engine.clone()), None))
}

/// Embeds the graph, with a model where one is wanted.
fn work_on(
    hone: &Hone,
    batch: &mut Batch,
    graph: &Graph,
    model: bool,
    context: &Context,
) -> Result<(Run, Option<Model>), Error> {
    if model {
        return hone.fit_into(batch, graph, context.progress()).map(|(run, model)| (run, Some(model)));
    }
    Ok((hone.embed_into(batch, graph, context.progress())?, None))
}
