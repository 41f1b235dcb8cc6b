//! `hone embed INPUT -o OUT --like MODEL`: a graph in the space of an earlier one.

use std::path::PathBuf;

use hone::engine::Cpu;
use hone::memory::Allowance;
use hone::report::{Stage, Start};
use hone::store::Embedding;
use hone::{Error, Like, Model, record};

use super::Args;
use super::summary::note_summary;
use crate::context::Context;
use crate::repeat::{self, Alike, Changed};

/// A model, and what to do with it.
pub(super) struct Asked {
    model: PathBuf,
    structure_only: bool,
    new_only: bool,
    /// The record of the run that is repeated, and what it says.
    repeated: Option<(PathBuf, Alike)>,
}

impl Asked {
    /// What the options request, or the record that is repeated; nothing for an embedding with its own settings.
    pub(super) fn of(args: &Args) -> Result<Option<Asked>, Error> {
        let given = args.choices.given();
        if let Some(model) = &args.like.like {
            if let Some(option) = given {
                let message = "all settings are those of the model of --like; leave it out";
                return Err(Error::config(option, message));
            }
            return Ok(Some(Asked {
                model: model.clone(),
                structure_only: args.like.structure_only,
                new_only: args.like.new_only,
                repeated: None,
            }));
        }
        let record = args.choices.config.as_ref();
        let Some((record, alike)) = record.and_then(|path| Some((path, repeat::alike(path)?)))
        else {
            return Ok(None);
        };
        if given.is_some() || args.model.is_some() || args.factors.is_some() {
            let message = "it is the record of an embedding like a model, which has the settings; leave out all others";
            return Err(Error::config("--config", message));
        }
        let named = alike.like.model.as_deref().ok_or_else(|| {
            let message = "it is the record of an embedding like a model that was in no file";
            let remedy = "give the graph and --like MODEL, without --config";
            Error::input(record, message, remedy)
        })?;
        Ok(Some(Asked {
            model: record::locate(record, alike.folder.as_deref(), named)?.into(),
            structure_only: alike.like.structure_only,
            new_only: alike.like.new_only,
            repeated: Some((record.clone(), alike)),
        }))
    }

    /// Refuses or notes a model other than that of the record.
    fn compare(&self, fit: &Model, changed: Changed, context: &Context) -> Result<(), Error> {
        let Some((record, Alike { like, config, .. })) = &self.repeated else {
            return Ok(());
        };
        let facts = fit.facts();
        let same = serde_json::to_value(&facts.config).is_ok_and(|now| now == *config);
        let how = match (like.fingerprint == facts.fingerprint, same) {
            (true, true) => return Ok(()),
            (true, false) => "it has other settings",
            (false, _) => "it was fitted to another graph",
        };
        let message = format!("not the model of {}: {how}", record.display());
        changed.differs(&self.model.to_string_lossy(), message, context)
    }
}

pub(super) fn run(args: &Args, asked: &Asked, context: &Context) -> anyhow::Result<()> {
    for (option, given) in [
        ("--checkpoint", args.scale.checkpoint.is_some()),
        ("--temp-dir", args.scale.temp_dir.is_some()),
        ("--device", args.device.is_some()),
    ] {
        if given {
            return Err(Error::config(option, "has no effect with --like; leave it out").into());
        }
    }
    let model = asked.model.as_path();
    let files = Embedding::files(&args.output, args.table.output_format)?;
    let record = asked.repeated.as_ref().map(|(record, _)| record.as_path());
    let source = args.input.resolve(record)?;
    let inputs = source.files().read("--like", [model]);
    let inputs = inputs.read("--config", record);
    let outputs = inputs.write_recorded(&files, &args.output);
    let leads = context.engine().leads();
    let mut batch = outputs.check_by(leads, args.table.force)?;
    let memory = context.memory(source.memory);
    let start = Start::now();
    let allowance = Allowance::new(memory);
    let fit = if asked.new_only {
        Model::open_within(model, allowance)
    } else {
        Model::read_within(model, allowance)
    }?;
    asked.compare(&fit, source.changed, context)?;
    let opened = Stage::since("read model", &start);
    let reading = Start::now();
    let graph = source.open(true, context)?;
    let read = Stage::since("read", &reading);
    let like = Like {
        structure_only: asked.structure_only,
        new_only: asked.new_only,
        memory_limit: memory,
    };
    let mut run = fit.embed(&graph, &like, context.progress())?;
    context.engine().meet();
    if !leads {
        return Ok(());
    }
    drop((graph, fit));
    let report = &mut run.report;
    report.input = Some(source.input);
    report.stages.splice(0..0, [opened, read]);
    if let Some(like) = &mut report.like {
        like.model = Some(model.display().to_string());
    }
    report.work = start.work();
    args.table
        .write(&mut run, &args.output, &mut batch, &Cpu, None, context)?;
    let report = run.report;
    let paths = batch.commit()?;
    context.progress_done();
    if let Some(like) = report.like.as_ref().filter(|_| !asked.structure_only) {
        let (shared, new, kept) = (like.shared, like.new, like.kept);
        let of = model.display();
        let written = match asked.new_only {
            true => "; only new nodes are written",
            false => "",
        };
        context.note(format_args!(
            "nodes: {shared} in {of} ({kept} with unchanged proximity columns), {new} new{written}"
        ));
    }
    note_summary(&report, &paths, &args.output, context);
    Ok(())
}
