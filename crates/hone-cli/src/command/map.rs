//! `hone map GRAPH -o MAP.html`: the graph as an interactive page.

use std::path::{Path, PathBuf};

use hone::dense::Block;
use hone::graph::{Graph, RecordedFile};
use hone::output::Batch;
use hone::store::{Embedding, Format};
use hone::{Config, Error, Hone, record};
use hone_explore::{Colour, Map, RoleOptions, Search, Space, read_attributes, read_labels};
use serde::{Deserialize, Serialize};

use crate::command::layout::{LayoutArgs, Placing};
use crate::context::Context;
use crate::files::{self, Files, check_extension};
use crate::input::{RepeatableArgs, note_idle_weights};
use crate::repeat::{Chosen, Record, Stages};
use crate::vectors::{self, note_recall};

/// Make a map: one HTML file with all nodes, their roles, motifs and neighbours, that works offline.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: RepeatableArgs,
    /// The page to write, .html; may be left out if --svg or --png is given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Vectors of the nodes [default: computed with the preset `hone`].
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Format of the vectors, whatever their extension.
    #[arg(long, value_name = "FORMAT", value_parser = vectors::format(), requires = "vectors")]
    vectors_format: Option<Format>,
    /// Labels to colour nodes by: a table of ids and labels (.tsv, .csv).
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Attributes to colour nodes by: a table with an id column, or an array in node order.
    #[arg(long, value_name = "FILE")]
    attributes: Option<PathBuf>,
    /// Title of the map [default: the name of the file].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Write a picture for papers, as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write a picture as PNG, 2400 pixels wide.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// Replace files that exist.
    #[arg(short, long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  hone map builtin:karate -o karate.html
  hone map graph.tsv -o map.html --labels labels.tsv --attributes people.csv
  hone map graph.tsv -o pca.html --vectors vectors.npy --layout pca
  hone map graph.tsv --svg figure.svg --png figure.png
  hone map -o again.html --config map.html.run.json

The page needs only a browser: pan and zoom, colour by role, degree, motif, label or attribute, click nodes, find \
them by id, select with box or lasso. Pictures are coloured by the first label, else by role.";

/// Width of a PNG in pixels.
const PIXELS: usize = 2400;

const COMMAND: &str = "map";

/// What a map is made of besides the graph: part of a record, where a later run finds it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Choices {
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors: Option<RecordedFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors_format: Option<Format>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<RecordedFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<RecordedFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(flatten)]
    placing: Placing,
}

/// What a run did: part of its record.
#[derive(Serialize)]
struct Done<'a> {
    #[serde(flatten)]
    choices: &'a Choices,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
}

/// Files besides the graph.
struct Beside {
    vectors: Option<Chosen>,
    labels: Option<Chosen>,
    attributes: Option<Chosen>,
}

fn path(chosen: &Option<Chosen>) -> Option<&PathBuf> {
    chosen.as_ref().map(|chosen| &chosen.path)
}

impl Args {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.output.iter().chain(&self.svg).chain(&self.png)
    }

    /// The choices of the command line over those of an earlier run, and the files they name.
    fn choices(&self) -> Result<(Choices, Beside), Error> {
        let earlier = self.input.earlier::<Choices>(COMMAND)?;
        type Named = fn(&Choices) -> Option<&RecordedFile>;
        let chosen = |given: &Option<PathBuf>, named: Named| {
            Chosen::new(given.as_deref(), earlier.as_ref(), named)
        };
        let beside = Beside {
            vectors: chosen(&self.vectors, |it| it.vectors.as_ref())?,
            labels: chosen(&self.labels, |it| it.labels.as_ref())?,
            attributes: chosen(&self.attributes, |it| it.attributes.as_ref())?,
        };
        let before = earlier.map(|it| it.choices).unwrap_or_default();
        let placing = self.layout.over(before.placing);
        placing.layout.check()?;
        let then = before.vectors_format.filter(|_| self.vectors.is_none());
        let choices = Choices {
            vectors_format: self.vectors_format.or(then),
            title: self.title.clone().or(before.title),
            placing,
            // Notes about files are printed when they are read.
            ..Choices::default()
        };
        Ok((choices, beside))
    }

    /// The outputs, if they may be written.
    fn check(&self, inputs: Files, record: Option<&Path>) -> Result<Batch, Error> {
        if self.files().next().is_none() {
            let message = "nothing to write; give a page (-o map.html) or a picture (--svg, --png)";
            return Err(Error::config("--output", message));
        }
        let pages = [
            (&self.output, &["html", "htm"][..]),
            (&self.svg, &["svg"]),
            (&self.png, &["png"]),
        ];
        for (path, known) in pages {
            path.iter()
                .try_for_each(|path| check_extension(path, known))?;
        }
        let outputs = inputs.write("--output", self.output.as_deref().into_iter().chain(record));
        let outputs = outputs.write("--svg", &self.svg).write("--png", &self.png);
        outputs.check(self.force)
    }
}

/// The vectors of a file, in the graph's node order.
fn read_vectors(
    path: &Path,
    format: Option<Format>,
    graph: &Graph,
    memory: Option<u64>,
    context: &Context,
) -> Result<Embedding, Error> {
    let read = vectors::read(path, format, memory)?;
    vectors::note_no_names(path, format, context);
    let index = read.ids.index();
    let row = |node: u32| {
        let id = graph.ids().get(node).to_string();
        index.find(&id).ok_or_else(|| {
            let remedy =
                "give vectors of this graph, or the graph of the vectors; --node-list adds nodes without an edge";
            Error::input(path, format!("there is no vector of node `{id}`"), remedy)
        })
    };
    let rows = (0..graph.nodes() as u32).map(row);
    let rows: Vec<u32> = rows.collect::<Result<_, _>>()?;
    let (all, file) = (read.ids.len(), path.display());
    let surplus = all.saturating_sub(rows.len());
    if surplus > 0 {
        let belong = match surplus {
            1 => "belongs to a node that is",
            _ => "belong to nodes that are",
        };
        context.note(format_args!(
            "note: {surplus} of {all} vectors in {file} {belong} not in this graph; check that the file is of this graph"
        ));
    }
    let mut vectors = Block::zeros(rows.len(), read.vectors.cols());
    vectors.update_rows(|i, to| to.copy_from_slice(read.vectors.row(rows[i] as usize)));
    let ids = graph.ids().clone();
    Ok(Embedding::with_columns(ids, vectors, read.columns))
}

/// What nodes can be coloured by.
fn colours(
    beside: &Beside,
    graph: &Graph,
    memory: Option<u64>,
    context: &Context,
) -> Result<Vec<Colour>, Error> {
    let mut colours = Vec::new();
    for (chosen, labels) in [(&beside.labels, true), (&beside.attributes, false)] {
        let Some(file) = path(chosen) else {
            continue;
        };
        let read = if labels { read_labels } else { read_attributes };
        let read = read(file, graph.ids(), memory, context.progress());
        let (found, notes) = read.map_err(|mut error| {
            // This command finds the column of the ids by itself.
            if let Error::Input { remedy, .. } = &mut error
                && remedy.names("attributes.table.id")
            {
                *remedy = "put the ids into the first column, or into one called id".into();
            }
            error
        })?;
        for note in notes {
            context.note(format_args!("note: {note}"));
        }
        colours.extend(found);
    }
    Ok(colours)
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (mut choices, beside) = args.choices()?;
    args.layout.note_idle(&choices.placing, context);
    let (source, inputs) = args.input.resolve()?;
    let inputs = inputs.read("--labels", path(&beside.labels));
    let inputs = inputs.read("--attributes", path(&beside.attributes));
    let inputs = inputs.read_vectors("--vectors", path(&beside.vectors));
    // The record is next to the page, else next to a picture.
    let main = args.files().next().cloned();
    let mut batch = args.check(inputs, main.as_deref().and_then(record::path).as_deref())?;
    let mut stages = Stages::begin();
    let facts = |chosen: &Option<Chosen>| {
        let facts = chosen.as_ref().map(|it| it.facts(source.changed, context));
        facts.transpose()
    };
    choices.vectors = facts(&beside.vectors)?;
    choices.labels = facts(&beside.labels)?;
    choices.attributes = facts(&beside.attributes)?;
    // Weights affect the vectors that are computed here.
    let weights = beside.vectors.is_none();
    let graph = source.open(weights, context)?;
    if !weights {
        note_idle_weights(&graph, context);
    }
    let memory = source.memory;
    let colours = colours(&beside, &graph, memory, context)?;
    stages.end("read");
    let progress = context.progress();
    let embedding = match path(&beside.vectors) {
        Some(path) => read_vectors(path, choices.vectors_format, &graph, memory, context)?,
        None => {
            let mut hone = Hone::new(Config::default())?;
            if let Some(bytes) = memory {
                hone = hone.memory_limit(bytes);
            }
            hone.embed(&graph, progress)?.embedding
        }
    };
    let Placing { by, layout } = choices.placing;
    let space = Space::of(&embedding, by)?;
    drop(embedding);
    stages.end("vectors");
    let mut placed = layout.place(&space, progress)?;
    if placed.neighbours.is_none() {
        placed.neighbours = Some(Search::default().all(&space, progress)?);
    }
    drop(space);
    note_recall(placed.recall(), context);
    stages.end("layout");
    let roles = RoleOptions::default().find(&graph, progress)?;
    stages.end("roles");
    let map = Map {
        graph: &graph,
        title: choices.title.clone().unwrap_or_else(|| source.name()),
        positions: &placed.positions,
        roles: &roles,
        neighbours: placed.neighbours.as_ref(),
        colours,
    };
    if let Some(path) = &args.output {
        files::add(&mut batch, path, map.html(progress)?.as_bytes())?;
    }
    if let Some(path) = &args.svg {
        files::add(&mut batch, path, map.svg()?.as_bytes())?;
    }
    if let Some(path) = &args.png {
        files::add(&mut batch, path, &map.png(PIXELS)?)?;
    }
    if let Some(path) = &main {
        let done = Done {
            choices: &choices,
            recall: placed.recall(),
        };
        let of = Some((&source.input, &graph));
        Record::new(COMMAND, of, &done, stages.done).add_to(&mut batch, path)?;
    }
    context.progress_done();
    batch.commit()?;
    for file in args.files().filter(|file| !hone::output::is_stream(file)) {
        context.note(format_args!("wrote {}", file.display()));
    }
    Ok(())
}
