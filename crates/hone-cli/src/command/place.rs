//! `hone place GRAPH --model MODEL -o OUT`: a graph in the space of an earlier one.

use std::path::{Path, PathBuf};

use hone::attributes::Loaded;
use hone::engine::Cpu;
use hone::memory::Allowance;
use hone::message::Message;
use hone::report::{Stage, Start};
use hone::{Error, Like, Model};

use crate::command::embed::{TableArgs, note_summary};
use crate::context::Context;
use crate::files::Files;
use crate::input::{GraphSource, RepeatableArgs};
use crate::repeat::{Changed, Placed};

/// Place a graph in the space of a model: nodes are matched by id, new ones are placed by their edges.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("input", |input| input.required_unless_present("added")))]
pub(crate) struct Args {
    #[command(flatten)]
    input: RepeatableArgs,
    /// The model, which `hone embed --save-model` wrote; all settings are its own.
    #[arg(long, value_name = "FILE", required_unless_present = "config")]
    model: Option<PathBuf>,
    /// Edges of new nodes, in any graph format: they are added to INPUT; without INPUT only new nodes are placed, by their edges to
    /// nodes of the model, and get their proximity columns.
    #[arg(id = "added", long = "add", value_name = "FILE")]
    add: Option<PathBuf>,
    /// Attributes of nodes of this graph, read like those of the model: of new nodes, and of others that have changed.
    #[arg(long, value_name = "FILE")]
    attributes: Option<String>,
    /// File for the vectors; the extension sets the format (.tsv .csv .npy .npz .parquet .w2v .emb .safetensors). `-`
    /// for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write only the structure columns, which are comparable even between graphs without common nodes.
    #[arg(long)]
    structure_only: bool,
    /// Write the rows of new nodes only, those that the model does not have: the same vectors, at a fraction of the cost.
    #[arg(long)]
    new_only: bool,
    #[command(flatten)]
    table: TableArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone place graph.tsv --model graph.hone -o placed.npy
  hone place graph.tsv --model graph.hone -o new.npy --new-only
  hone place --add new.tsv --model graph.hone -o new.npy
  hone place graph.tsv --model people.hone --attributes people.csv -o people.npy
  hone place -o again.npy --config placed.npy.run.json

Give the whole new graph; or with --add the edges of new nodes, for their proximity columns. Use the model of the first
day throughout: placing each day in a model of the day before would accumulate errors.";

impl Args {
    /// The model, and which columns and rows are written: of the command line, else of the record of an earlier run.
    fn choices(
        &self,
        earlier: Option<&Placed>,
        context: &Context,
    ) -> Result<(PathBuf, bool, bool), Error> {
        let like = earlier.map(|placed| &placed.facts.like);
        let model = match (&self.model, earlier) {
            (Some(model), _) => model.clone(),
            (None, Some(placed)) => placed.model()?,
            (None, None) => unreachable!("the parser asks for one of the two"),
        };
        let structure_only = context.said("structure-only");
        let new_only = context.said("new-only");
        Ok((
            model,
            structure_only.unwrap_or(like.is_some_and(|like| like.structure_only)),
            new_only.unwrap_or(like.is_some_and(|like| like.new_only)),
        ))
    }

    /// The graph, and whether it is new edges alone.
    fn source(&self, earlier: Option<&Placed>) -> Result<(GraphSource, Files, bool), Error> {
        let before = earlier.map_or(self.add.is_some(), |placed| placed.facts.like.added_only);
        let added_only = before && !self.input.names_graph();
        if added_only {
            let (source, inputs) = self.input.resolve_or(self.add.as_deref())?;
            return Ok((source, inputs, true));
        }
        let (mut source, inputs) = self.input.resolve()?;
        source.added = match (&self.add, earlier) {
            (None, Some(placed)) => placed.added()?,
            (given, _) => given.clone(),
        };
        let inputs = inputs.read("--add", &source.added);
        Ok((source, inputs, false))
    }
}

/// Refuses or notes a model other than that of the record.
fn compare(
    fit: &Model,
    (path, placed): (&Path, &Placed),
    changed: Changed,
    context: &Context,
) -> Result<(), Error> {
    let (facts, then) = (fit.facts(), &placed.facts);
    let same = serde_json::to_value(&facts.config).is_ok_and(|now| now == then.config);
    let how = match (then.like.fingerprint == facts.fingerprint, same) {
        (true, true) => return Ok(()),
        (true, false) => "it has other settings",
        (false, _) => "it was fitted to another graph",
    };
    let message = format!("not the model of {}: {how}", placed.record.display());
    changed.differs(&path.to_string_lossy(), message, context)
}

/// Reads the graph with directions and weights if the model's was, unless the command line says otherwise.
fn read_as(fit: &Model, source: &mut GraphSource, context: &Context) {
    let (graph, options) = (&fit.facts().graph, &mut source.input.options);
    let flags = [
        ("directed", graph.directed, &mut options.directed),
        ("weighted", graph.weighted, &mut options.weighted),
    ];
    let mut taken = Vec::new();
    for (name, of_model, now) in flags {
        if of_model && !*now && context.said(name).is_none() {
            *now = true;
            taken.push(format!("--{name}"));
        }
    }
    if !taken.is_empty() {
        let taken = taken.join(" and ");
        context.note(format_args!(
            "note: read with {taken}, as the graph of the model was"
        ));
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let earlier = args.input.config.as_deref().map(Placed::read).transpose()?;
    let (model, structure_only, new_only) = args.choices(earlier.as_ref(), context)?;
    context.check_json(&args.output)?;
    let files = args.table.files(&args.output)?;
    let attributes = match (&args.attributes, &earlier) {
        (None, Some(earlier)) => earlier.attributes()?,
        (given, _) => given.clone(),
    };
    let (mut source, inputs, added_only) = args.source(earlier.as_ref())?;
    let outputs = inputs.read("--model", [&model]);
    let outputs = outputs.read_vectors("--attributes", &attributes);
    let outputs = outputs.write_recorded(&files, &args.output);
    let leads = context.engine().leads();
    let mut batch = outputs.check_by(leads, args.table.replace.force)?;
    let memory = context.memory(source.memory);
    let start = Start::now();
    let allowance = Allowance::new(memory);
    let fit = match new_only || added_only {
        true => Model::open_within(&model, allowance),
        false => Model::read_within(&model, allowance),
    }?;
    if let Some(earlier) = &earlier {
        compare(&fit, (&model, earlier), source.changed, context)?;
    }
    if earlier.is_none() {
        read_as(&fit, &mut source, context);
    }
    source.check_attributes(attributes.as_deref(), context)?;
    let opened = Stage::since("read model", &start);
    let reading = Start::now();
    let graph = source.open(true, context)?;
    let read = Stage::since("read", &reading);
    let read_attributes = |file| fit.read_attributes(file, &graph, memory, context.progress());
    let attributes = attributes.as_ref().map(read_attributes).transpose()?;
    let like = Like {
        attributes: attributes.as_ref().map(|loaded| &loaded.attributes),
        structure_only,
        new_only,
        added_only,
        memory_limit: memory,
    };
    let mut run = fit.embed(&graph, &like, context.progress())?;
    context.engine().meet();
    if !leads {
        return Ok(());
    }
    drop((graph, fit));
    let report = &mut run.report;
    if let Some(Loaded { facts, .. }) = attributes {
        let notes = facts.notes.iter().map(Message::from);
        report.notes.splice(0..0, notes);
        report.attributes = Some(facts);
    }
    report.input = Some(source.input);
    report.stages.splice(0..0, [opened, read]);
    if let Some(like) = &mut report.like {
        like.model = Some(model.display().to_string());
        like.added = source.added.map(|path| path.display().to_string());
    }
    report.work = start.work();
    args.table
        .write(&mut run, &args.output, &mut batch, &Cpu, None, context)?;
    let report = run.report;
    let paths = batch.commit()?;
    context.progress_done();
    if let Some(like) = report.like.as_ref().filter(|_| !structure_only) {
        let (shared, new, kept) = (like.shared, like.new, like.kept);
        let of = model.display();
        let written = match new_only || added_only {
            true => "; only new nodes are written",
            false => "",
        };
        let unchanged = match added_only {
            true => String::new(),
            false => format!(" ({kept} with unchanged proximity columns)"),
        };
        context.note(format_args!(
            "nodes: {shared} in {of}{unchanged}, {new} new{written}"
        ));
    }
    note_summary(&report, &paths, &args.output, context);
    context.print_record(&args.output)
}
