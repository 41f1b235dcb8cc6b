//! `hone embed INPUT -o OUT`: a graph in, node vectors out.

mod choices;
mod summary;

pub(crate) use choices::{AttributeArgs, ConfigArgs};
pub(crate) use summary::note_summary;

use std::path::{Path, PathBuf};

use hone::config::{Auto, Config};
use hone::engine::Engine;
use hone::graph::Graph;
use hone::message::{Message, setting};
use hone::output::parts::is_folder;
use hone::output::{Batch, Existing};
use hone::report::{Stage, Start};
use hone::store::factors::check_target;
use hone::store::{Embedding, Format};
use hone::{Error, Hone, Model, Run, Silent, record};
use hone_gpu::{Device, Opened};

use crate::arguments::ReplaceArgs;
use crate::context::Context;
use crate::exit::{self, Kept};
use crate::files::Use;
use crate::input::GraphArgs;

/// Embed a graph: one vector per node; edges shape proximity, motifs shape structure.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: GraphArgs,
    /// File for the vectors; the extension sets the format (.tsv .csv .npy .npz .parquet .w2v .emb .safetensors
    /// .pgvector .pgcopy). `-` for standard output; `NAME/` for a folder of Parquet files.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Also write all matrix factors to this folder, as .npy files with a manifest: U, Σ and V of each motif matrix, Z
    /// and H of the global factorisation (docs/formats.md).
    #[arg(long, value_name = "DIR")]
    factors: Option<PathBuf>,
    /// Also write a model to this file, in whose space `hone place` places other graphs (preset hone); `hone info FILE`
    /// describes it.
    #[arg(long, value_name = "FILE")]
    save_model: Option<PathBuf>,
    /// Where to count motifs and embed: cpu, cuda, cuda:N, or auto for a GPU if there is one [default: a GPU
    /// for graphs of at least a million edges if there is one, else cpu; docs/gpu.md].
    #[arg(long, value_name = "DEVICE")]
    device: Option<Device>,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    scale: ScaleArgs,
    #[command(flatten)]
    choices: ConfigArgs,
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
  hone embed graph.tsv -o first.npy --save-model graph.hone
  hone embed -o again.npy --config vectors.npy.run.json

OUT.run.json, next to OUT, records the graph and how it was read, all settings, the seed and what was measured.
--config OUT.run.json repeats the run bit for bit, and refuses a graph that has changed.";

/// Runs that exceed the memory or take long.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Large graphs")]
struct ScaleArgs {
    /// Folder for temporary files, for what does not fit into --memory [default: that of the output].
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
    /// Save finished stages in this folder, so that --resume can continue an interrupted run.
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint; the result is the same, bit for bit.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

impl ScaleArgs {
    /// The method with these folders; temporary files are beside the output unless it is a stream.
    fn lay(&self, mut hone: Hone, output: &Path) -> Hone {
        let is_file = is_folder(output) || output.is_file() || !output.exists();
        let beside = output.parent();
        let beside = beside.filter(|_| output.as_os_str() != "-" && is_file);
        let beside = beside.map(|folder| match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        });
        if let Some(folder) = self.temp_dir.as_deref().or(beside) {
            hone = hone.temp_dir(folder);
        }
        let Some(folder) = &self.checkpoint else {
            exit::could_save(
                "start again with --checkpoint DIR to be able to continue after an interruption",
            );
            return hone;
        };
        exit::keep(Kept::Stages(folder.clone()));
        match self.resume {
            true => hone.resume(folder),
            false => hone.checkpoint(folder),
        }
    }
}

/// How a table of node vectors or features is made and written; shared by `embed` and `features`.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Format of the output, if the extension does not say it.
    #[arg(long, alias = "format", value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) output_format: Option<Format>,
    /// For a folder of Parquet files, -o NAME/: rows of each file, at most [default: all, or those of a process].
    #[arg(long, value_name = "ROWS")]
    rows_per_file: Option<usize>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
}

impl TableArgs {
    /// The format that a table is written in.
    pub(crate) fn format(&self, output: &Path) -> Result<Format, Error> {
        self.output_format.map_or_else(|| Format::of(output), Ok)
    }

    /// The files that a table is written to, the main one first.
    pub(crate) fn files(&self, output: &Path) -> Result<Vec<PathBuf>, Error> {
        if let Some(rows) = self.rows_per_file {
            Embedding::check_parts(output, rows)?;
        }
        let files = Embedding::files(output, self.output_format);
        files.map_err(|mut error| {
            let is_open = self.output_format.is_none() && Format::of(output).is_err();
            if let Error::Input { remedy, .. } = &mut error
                && is_open
            {
                remedy.push(", or name the format with ");
                remedy.push(setting("output_format"));
            }
            error
        })
    }

    /// Adds the table of a run, a model if there is one, and the record to a batch. Every process writes the rows that it
    /// has, one of them all else.
    pub(crate) fn write(
        &self,
        Run { embedding, report }: &mut Run,
        output: &Path,
        batch: &mut Batch,
        engine: &dyn Engine,
        model: Option<(&Path, Model)>,
        context: &Context,
    ) -> Result<(), Error> {
        context.progress().stage("writing", 0);
        report.time("write", |_| {
            let (format, writers) = (self.output_format, engine.communicator());
            match self.rows_per_file {
                Some(rows) => embedding.add_parts(batch, output, format, rows, writers),
                None => embedding.add_shared(batch, output, format, writers),
            }
        })?;
        let describe = || {
            if let Some((path, model)) = model {
                report.time("write model", |_| model.add_to(batch, path))?;
            }
            record::add_to(batch, output, report)
        };
        let described = if engine.leads() { describe() } else { Ok(()) };
        engine.communicator().agree(output, described)
    }
}

fn parse_format(text: &str) -> Result<Format, String> {
    let known = || Format::ALL.map(|(_, name)| name).join(", ");
    Format::from_name(text).ok_or_else(|| format!("use one of {}", known()))
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let config = args.choices.build(context)?;
    context.check_json(&args.output)?;
    let existing = Existing::replaced_if(args.table.replace.force);
    let files = args.table.files(&args.output)?;
    let mut source = args.input.resolve(args.choices.config.as_deref())?;
    source.input.options.weighted |=
        config.weights == Auto::Given(true) && args.input.keeps_weights();
    let engine = context.engine();
    let mut batch = args
        .choices
        .files(source.files(), &config)
        .write_recorded(&files, &args.output)
        .write("--save-model", &args.save_model)
        .folder("--factors", args.factors.as_deref(), Use::Replaced)
        .folder("--checkpoint", args.scale.checkpoint.as_deref(), Use::Kept)
        .folder("--temp-dir", args.scale.temp_dir.as_deref(), Use::Kept)
        .check_by(engine.leads(), args.table.replace.force)?;
    source.check_attributes(config.attributes.file.as_deref(), context)?;
    if let Some(folder) = &args.factors {
        check_target(folder, existing)?;
    }
    let alone = Hone::new(config.clone())?.written_as(args.table.format(&args.output)?);
    let (mut hone, note) = placed(args.device, &config, alone.clone(), context)?;
    let memory = context.memory(source.memory);
    let start = Start::now();
    let work = |graph: &Graph| {
        let hone = alone.clone().memory_limit(1);
        hone.embed(graph, &Silent).map(drop)
    };
    let graph = source.open_for(&work, true, context)?;
    let read = Stage::since("read", &start);
    args.choices.note_idle(&config, &graph, context);
    if args.device.is_none() && context.team().is_none() {
        hone = Opened::for_graph(&config, &graph).place(hone);
    }
    if let Some(bytes) = memory {
        hone = hone.memory_limit(bytes);
    }
    if let Some(folder) = &args.factors {
        hone = hone.factors(folder, existing);
    }
    hone = args.scale.lay(hone, &args.output);
    let progress = context.progress();
    let (mut run, model) = match &args.save_model {
        Some(path) => {
            let (run, model) = hone.fit_into(&mut batch, &graph, progress)?;
            (run, Some((path.as_path(), model)))
        }
        None => (hone.embed_into(&mut batch, &graph, progress)?, None),
    };
    drop(graph);
    run.report.notes.extend(note.map(Message::from));
    run.report.input = Some(source.input);
    run.report.stages.insert(0, read);
    run.report.work = start.work();
    args.table
        .write(&mut run, &args.output, &mut batch, engine, model, context)?;
    if !engine.leads() {
        return Ok(());
    }
    let written = batch.commit()?;
    context.progress_done();
    note_summary(&run.report, &written, &args.output, context);
    if let Some(folder) = &args.scale.checkpoint {
        let folder = folder.display();
        context.note(format_args!(
            "note: the run is complete; the checkpoint {folder} can be removed"
        ));
    }
    context.print_record(&args.output)
}

/// The method on the device that was chosen, if one was, and a note about it.
fn placed(
    device: Option<Device>,
    config: &Config,
    hone: Hone,
    context: &Context,
) -> Result<(Hone, Option<String>), Error> {
    match (context.team(), device) {
        (Some(_), Some(_)) => {
            let message =
                "jobs under MPI work on CPUs only; leave the option out, or use `hone embed`";
            Err(Error::config("--device", message))
        }
        (Some(engine), None) => Ok((hone.on_shared(engine.clone()), None)),
        (None, None) => Ok((hone, None)),
        (None, Some(device)) => {
            let device = device.open(config)?;
            let note = device.note.clone();
            Ok((device.place(hone), note))
        }
    }
}
