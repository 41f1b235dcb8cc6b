//! `hone map GRAPH -o MAP.html`: the graph as an interactive page, as a picture, or as a table of points.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use hone::dense::Block;
use hone::graph::{Graph, RecordedFile};
use hone::output::Batch;
use hone::store::{Embedding, Format};
use hone::{Config, Error, Hone, record};
use hone_explore::{
    Colour, Map, Palette, RoleOptions, Scale, Space, Style, read_attributes, read_labels,
};
use serde::{Deserialize, Serialize};

use crate::arguments::ReplaceArgs;
use crate::command::layout::{LayoutArgs, Placing};
use crate::context::Context;
use crate::files::{self, Files, check_extension};
use crate::input::{RepeatableArgs, note_idle_weights, one_of};
use crate::repeat::{Chosen, Record, Stages};
use crate::vectors::{self, note_recall};

/// Make a map: one HTML file with all nodes, their roles, motifs and neighbours, that works offline.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: RepeatableArgs,
    /// What to write: a page (.html), a picture (.svg, .png) or a table of points (.parquet); may be repeated.
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
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
    /// Call motifs by their numbers in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
    #[command(flatten)]
    style: StyleArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    replace: ReplaceArgs,
}

/// How a map looks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Colours")]
struct StyleArgs {
    /// What nodes are coloured by: role, degree, \"motif: NAME\" (or its number), a label or an attribute [default: the first label, else
    /// role].
    #[arg(long, value_name = "NAME")]
    colour: Option<String>,
    /// Colours of groups: distinct, okabe-ito or muted [default: distinct].
    #[arg(long, value_name = "NAME", value_parser = one_of::<Palette>(Palette::NAMES, |name| name.parse().ok()))]
    palette: Option<Palette>,
    /// How colours follow from numbers: linear, log, or auto: log where they are skewed [default: auto].
    #[arg(long, value_name = "HOW", value_parser = one_of::<Scale>(Scale::NAMES, |name| name.parse().ok()))]
    scale: Option<Scale>,
    /// Size of the points, as a multiple of the usual one [default: 1].
    #[arg(long, value_name = "FACTOR")]
    point_size: Option<f32>,
    /// Write no names of groups on the map.
    #[arg(long)]
    no_names: bool,
    /// Give groups shapes besides colours.
    #[arg(long)]
    shapes: bool,
}

impl StyleArgs {
    /// These options over those of an earlier run.
    fn over(&self, before: Style, context: &Context) -> Style {
        Style {
            colour: self.colour.clone().or(before.colour),
            palette: self.palette.unwrap_or(before.palette),
            scale: self.scale.unwrap_or(before.scale),
            point_size: self.point_size.unwrap_or(before.point_size),
            names: context.said("names").unwrap_or(before.names),
            shapes: context.said("shapes").unwrap_or(before.shapes),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  hone map builtin:karate -o karate.html
  hone map graph.tsv -o map.html --labels labels.tsv --attributes people.csv
  hone map graph.tsv -o pca.html --vectors vectors.npy --layout pca
  hone map graph.tsv -o figure.svg -o figure.png --by structure --shapes
  hone map graph.tsv -o degrees.png --colour degree --point-size 1.5
  hone map graph.tsv -o points.parquet
  hone map -o again.html --config map.html.run.json

The page needs only a browser: pan and zoom, switch between proximity and structure, colour by role, degree, motif, \
label or attribute, click nodes, find them by id, select with box or lasso. Pictures show what the page shows at first. \
Points are as Embedding Atlas reads them: embedding-atlas points.parquet --x x --y y --neighbors neighbors";

/// Width of a PNG in pixels.
const PIXELS: u32 = 2400;

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
    numbers: bool,
    #[serde(flatten)]
    placing: Placing,
    style: Style,
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
    /// The choices of the command line over those of an earlier run, and the files they name.
    fn choices(&self, context: &Context) -> Result<(Choices, Beside), Error> {
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
        let style = self.style.over(before.style, context);
        style.check()?;
        let then = before.vectors_format.filter(|_| self.vectors.is_none());
        let choices = Choices {
            vectors_format: self.vectors_format.or(then),
            title: self.title.clone().or(before.title),
            numbers: context.said("numbers").unwrap_or(before.numbers),
            placing,
            style,
            // Notes about files are printed when they are read.
            ..Choices::default()
        };
        Ok((choices, beside))
    }

    /// The outputs, if they may be written.
    fn check(&self, inputs: Files, record: Option<&Path>) -> Result<Batch, Error> {
        if self.output.is_empty() {
            let message = "nothing to write; give a page (-o map.html), a picture (-o map.svg, -o map.png) or points (-o points.parquet)";
            return Err(Error::config("--output", message));
        }
        for path in &self.output {
            check_extension(path, &["html", "svg", "png", "parquet", "htm"])?;
        }
        let outputs = inputs.write(
            "--output",
            self.output.iter().map(PathBuf::as_path).chain(record),
        );
        outputs.check(self.replace.force)
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
    let (mut choices, beside) = args.choices(context)?;
    args.layout.note_idle(&choices.placing, context);
    let (source, inputs) = args.input.resolve()?;
    let inputs = inputs.read("--labels", path(&beside.labels));
    let inputs = inputs.read("--attributes", path(&beside.attributes));
    let inputs = inputs.read_vectors("--vectors", path(&beside.vectors));
    // The record is next to the first.
    let main = args.output.first();
    args.output
        .iter()
        .try_for_each(|path| context.check_json(path))?;
    let mut batch = args.check(inputs, main.and_then(|path| record::path(path)).as_deref())?;
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
    let mut spaces = vec![Space::of(&embedding, by)?];
    if let Some(by) = spaces[0].beside() {
        spaces.push(Space::of(&embedding, by)?);
    }
    drop(embedding);
    stages.end("vectors");
    let layouts = layout.of_map(&spaces, progress)?;
    drop(spaces);
    let recall = layouts[0].1.recall();
    note_recall(recall, context);
    stages.end("layout");
    let roles = RoleOptions {
        numbers: choices.numbers,
        ..RoleOptions::default()
    };
    let roles = roles.find(&graph, progress)?;
    stages.end("roles");
    let map = Map {
        graph: &graph,
        title: choices.title.clone().unwrap_or_else(|| source.name()),
        layouts: &layouts,
        roles: &roles,
        colours,
        style: choices.style.clone(),
    };
    for path in &args.output {
        let kind = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let content = match kind.to_ascii_lowercase().as_str() {
            "svg" => map.svg()?.into_bytes(),
            "png" => map.png(PIXELS)?,
            "parquet" => map.points()?,
            _ => map.html(progress)?.into_bytes(),
        };
        files::add(&mut batch, path, &content)?;
    }
    if let Some(path) = main {
        let done = Done {
            choices: &choices,
            recall,
        };
        let of = Some((&source.input, &graph));
        Record::new(COMMAND, of, &done, stages.done).add_to(&mut batch, path)?;
    }
    context.progress_done();
    batch.commit()?;
    for file in args
        .output
        .iter()
        .filter(|file| !hone::output::is_stream(file))
    {
        context.note(format_args!("wrote {}", file.display()));
    }
    main.map_or(Ok(()), |path| context.print_record(path))
}
