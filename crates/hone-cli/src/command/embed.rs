//! `hone embed INPUT -o OUT`: a graph in, node vectors out.

mod args;
mod choices;
mod like;
mod summary;
mod table;

pub(crate) use args::Args;
pub(crate) use choices::{AttributeArgs, ConfigArgs, OPTIONS};
pub(crate) use table::TableArgs;

use hone::config::{Config, Weights};
use hone::graph::Graph;
use hone::output::{Batch, Existing};
use hone::report::{Report, Stage, Start};
use hone::store::Embedding;
use hone::store::factors::check_target;
use hone::{Error, Hone, Model, Run, Silent, record};
use hone_gpu::{Device, Opened};

use crate::context::Context;
use crate::files::Use;
use crate::options;
use like::Asked;
use summary::note_summary;

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    if let Some(asked) = Asked::of(args)? {
        return like::run(args, &asked, context);
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
    let mut batch = args
        .scale
        .folders(outputs)
        .check_by(leads, args.table.force)?;
    source.check_attributes(config.attributes.file.as_deref(), context)?;
    args.factors.as_deref().map_or(Ok(()), |to| {
        check_target(to, Existing::replaced_if(args.table.force))
    })?;
    let format = args.table.format(&args.output)?;
    let alone = Hone::new(config.clone())?.written_as(format);
    let (hone, note) = placed(args.device, &config, alone.clone(), context)?;
    let memory = context.memory(args.input.memory());
    let start = Start::now();
    let work = |graph: &Graph| {
        alone
            .clone()
            .memory_limit(1)
            .embed(graph, &Silent)
            .map(drop)
    };
    let graph = source.open_for(&work, true, memory, context)?;
    let read = Stage::since("read", &start);
    args.choices.note_idle(&config, &graph, context);
    let chosen = args.device.is_some() || context.team().is_some();
    let hone = if chosen {
        hone
    } else {
        Opened::for_graph(&config, &graph).place(hone)
    };
    let hone = args.lay(hone, memory);
    let (run, model) = work_on(&hone, &mut batch, &graph, args.model.is_some(), context)
        .map_err(|error| options::translated(error, OPTIONS))?;
    drop(graph);
    let Run {
        embedding,
        mut report,
    } = run;
    report.notes.extend(note);
    report.input = Some(source.input);
    report.stages.insert(0, read);
    report.work = start.work();
    write(args, batch, &embedding, model, report, context)
}

impl Args {
    /// What the options say about memory and further outputs.
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

/// Writes vectors, model and record, all or none, and prints what was done. Every process writes the vectors that it has,
/// one of them all else.
fn write(
    args: &Args,
    mut batch: Batch,
    embedding: &Embedding,
    model: Option<Model>,
    mut report: Report,
    context: &Context,
) -> anyhow::Result<()> {
    context.progress().stage("writing", 0);
    let (engine, format) = (context.engine(), args.table.output_format);
    report.time("write", |_| {
        embedding.add_shared(&mut batch, &args.output, format, engine.writers())
    })?;
    let describe = || {
        if let (Some(model), Some(path)) = (model, &args.model) {
            report.time("write model", |_| model.add_to(&mut batch, path))?;
        }
        record::add_to(&mut batch, &args.output, &report)
    };
    let described = if engine.leads() { describe() } else { Ok(()) };
    engine.writers().agree(&args.output, described)?;
    if !engine.leads() {
        return Ok(());
    }
    let written = batch.commit()?;
    context.progress_done();
    note_summary(&report, &written, &args.output, context);
    if let Some(folder) = &args.scale.checkpoint {
        context.note(format_args!(
            "note: the run is complete; the checkpoint {} can be removed",
            folder.display()
        ));
    }
    Ok(())
}

/// The method on the device that was chosen, if one was, and a note about it.
fn placed(
    device: Option<Device>,
    config: &Config,
    hone: Hone,
    context: &Context,
) -> Result<(Hone, Option<String>), Error> {
    let Some(engine) = context.team() else {
        let Some(device) = device else {
            return Ok((hone, None));
        };
        let device = device
            .open(config)
            .map_err(|error| options::translated(error, OPTIONS))?;
        let note = device.note.clone();
        return Ok((device.place(hone), note));
    };
    if device.is_some() {
        let message = "jobs under MPI work on CPUs only; leave the option out, or use `hone embed`";
        return Err(Error::config("--device", message));
    }
    Ok((hone.on_shared(engine.clone()), None))
}

/// Embeds the graph, with a model if requested.
fn work_on(
    hone: &Hone,
    batch: &mut Batch,
    graph: &Graph,
    model: bool,
    context: &Context,
) -> Result<(Run, Option<Model>), Error> {
    if model {
        return hone
            .fit_into(batch, graph, context.progress())
            .map(|(run, model)| (run, Some(model)));
    }
    Ok((hone.embed_into(batch, graph, context.progress())?, None))
}
