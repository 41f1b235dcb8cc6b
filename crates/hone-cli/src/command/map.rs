//! `hone map GRAPH -o MAP.html`: the graph as an interactive page.

use std::io::Write;
use std::path::{Path, PathBuf};

use hone::graph::{Graph, NodeIds, RecordedFile};
use hone::output::Batch;
use hone::report::{GraphFacts, Input, Stage, Start};
use hone::store::{Embedding, Format};
use hone::{Config, Error, Hone, record};
use hone_explore::{
    Colour, Map, Method, Placed, RoleOptions, Roles, Search, Space, read_attributes, read_labels,
};
use serde::{Deserialize, Serialize};

use crate::command::layout::{LayoutArgs, Placing, note_recall};
use crate::context::Context;
use crate::files::{Files, check_extension};
use crate::input::RepeatableArgs;
use crate::reading::note_idle_weights;
use crate::repeat::{Changed, Chosen, Earlier};
use crate::vectors;

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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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

/// What is stored next to a map.
#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    command: &'static str,
    input: &'a Input,
    graph: GraphFacts,
    #[serde(flatten)]
    choices: &'a Choices,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
    stages: Vec<Stage>,
}

/// Files besides the graph.
struct Beside {
    vectors: Option<Chosen>,
    labels: Option<Chosen>,
    attributes: Option<Chosen>,
    /// What the process may hold.
    memory: Option<u64>,
}

impl Args {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.output.iter().chain(&self.svg).chain(&self.png)
    }

    /// The choices of the command line over those of an earlier run, and the files they name.
    fn choices(&self) -> Result<(Choices, Beside), Error> {
        let earlier = self
            .input
            .config()
            .map(|path| Earlier::<Choices>::read(path, COMMAND))
            .transpose()?;
        let before = earlier
            .as_ref()
            .map(|earlier| earlier.choices.clone())
            .unwrap_or_default();
        let beside = Beside {
            vectors: Chosen::new(self.vectors.as_deref(), earlier.as_ref(), |it| {
                it.vectors.as_ref()
            })?,
            labels: Chosen::new(self.labels.as_deref(), earlier.as_ref(), |it| {
                it.labels.as_ref()
            })?,
            attributes: Chosen::new(self.attributes.as_deref(), earlier.as_ref(), |it| {
                it.attributes.as_ref()
            })?,
            memory: self.input.memory(),
        };
        let placing = self.layout.over(before.placing);
        placing.layout.check()?;
        let then = before.vectors_format.filter(|_| self.vectors.is_none());
        let (vectors_format, title) = (
            self.vectors_format.or(then),
            self.title.clone().or(before.title),
        );
        // Notes about files are printed when they are read.
        Ok((
            Choices {
                vectors_format,
                title,
                placing,
                ..Choices::default()
            },
            beside,
        ))
    }
}

impl Beside {
    fn paths(chosen: &Option<Chosen>) -> Option<&PathBuf> {
        chosen.as_ref().map(|chosen| &chosen.path)
    }

    /// Adds these files to those that are read.
    fn files(&self, inputs: Files) -> Files {
        let inputs = inputs.read("--labels", Self::paths(&self.labels));
        let inputs = inputs.read("--attributes", Self::paths(&self.attributes));
        inputs.read_vectors("--vectors", Self::paths(&self.vectors))
    }

    /// Adds what a record says about the files to the choices; refuses files that differ from an earlier record.
    fn describe(
        &self,
        choices: &mut Choices,
        changed: Changed,
        context: &Context,
    ) -> Result<(), Error> {
        let facts = |chosen: &Option<Chosen>| {
            chosen
                .as_ref()
                .map(|it| it.facts(changed, context))
                .transpose()
        };
        choices.vectors = facts(&self.vectors)?;
        choices.labels = facts(&self.labels)?;
        choices.attributes = facts(&self.attributes)?;
        Ok(())
    }

    /// The vectors of the file, in the graph's node order, or new ones.
    fn embedding(
        &self,
        graph: &Graph,
        format: Option<Format>,
        context: &Context,
    ) -> anyhow::Result<Embedding> {
        let Some(path) = Self::paths(&self.vectors) else {
            let hone = Hone::new(Config::default())?;
            let hone = self
                .memory
                .map_or_else(|| hone.clone(), |bytes| hone.clone().memory_limit(bytes));
            return Ok(hone.embed(graph, context.progress())?.embedding);
        };
        let read = vectors::read(path, format, self.memory)?;
        vectors::note_no_names(path, format, context);
        let index = read.ids.index();
        let row = |node: u32| {
            let id = graph.ids().get(node).to_string();
            index.find(&id).ok_or_else(|| {
                let remedy =
                    "give vectors of this graph, or the graph of the vectors; --nodes adds nodes without an edge";
                Error::input(path, format!("there is no vector of node `{id}`"), remedy)
            })
        };
        let rows: Vec<u32> = (0..graph.nodes() as u32)
            .map(row)
            .collect::<Result<_, _>>()?;
        if let Some(surplus) = read
            .ids
            .len()
            .checked_sub(rows.len())
            .filter(|&surplus| surplus > 0)
        {
            let (all, file) = (read.ids.len(), path.display());
            let belong = if surplus == 1 {
                "belongs to a node that is"
            } else {
                "belong to nodes that are"
            };
            context.note(format_args!(
                "note: {surplus} of {all} vectors in {file} {belong} not in this graph; check that the file is of this graph"
            ));
        }
        let mut vectors = hone::dense::Block::zeros(rows.len(), read.vectors.cols());
        vectors.update_rows(|i, to| to.copy_from_slice(read.vectors.row(rows[i] as usize)));
        Ok(Embedding::with_columns(
            graph.ids().clone(),
            vectors,
            read.columns.clone(),
        ))
    }

    fn colours(
        &self,
        graph: &Graph,
        memory: Option<u64>,
        context: &Context,
    ) -> anyhow::Result<Vec<Colour>> {
        type Reader = fn(
            PathBuf,
            &NodeIds,
            Option<u64>,
            &dyn hone::Progress,
        ) -> hone::Result<(Vec<Colour>, Vec<String>)>;
        let mut colours = Vec::new();
        let files: [(&Option<Chosen>, Reader); 2] = [
            (&self.labels, read_labels),
            (&self.attributes, read_attributes),
        ];
        for (chosen, read) in files {
            let Some(file) = Self::paths(chosen) else {
                continue;
            };
            let read = read(file.to_path_buf(), graph.ids(), memory, context.progress());
            let (found, notes) = read.map_err(without_id_option)?;
            notes
                .iter()
                .for_each(|note| context.note(format_args!("note: {note}")));
            colours.extend(found);
        }
        Ok(colours)
    }
}

/// An error about a table in terms of this command, which finds the column of the ids by itself.
fn without_id_option(error: Error) -> Error {
    let own = "put the ids into the first column, or into one called id";
    match error {
        Error::Input {
            path,
            line,
            text,
            message,
            remedy,
        } => {
            let remedy = remedy.replace("name the id column with attributes.table.id", own);
            Error::Input {
                path,
                line,
                text,
                message,
                remedy,
            }
        }
        other => other,
    }
}

impl Args {
    /// The outputs, if they may be written.
    fn check(&self, inputs: Files, record: Option<&Path>) -> Result<Batch, Error> {
        if self.files().next().is_none() {
            return Err(Error::config(
                "--output",
                "nothing to write; give a page (-o map.html) or a picture (--svg, --png)",
            ));
        }
        self.check_extensions()?;
        let outputs = inputs.write("--output", self.output.as_deref().into_iter().chain(record));
        outputs
            .write("--svg", &self.svg)
            .write("--png", &self.png)
            .check(self.force)
    }

    /// Refuses file names whose extension does not match the content.
    fn check_extensions(&self) -> Result<(), Error> {
        let pages = [
            (&self.output, &["html", "htm"][..]),
            (&self.svg, &["svg"]),
            (&self.png, &["png"]),
        ];
        let mut given = pages
            .into_iter()
            .filter_map(|(path, known)| Some((path.as_ref()?, known)));
        given.try_for_each(|(path, known)| check_extension(path, known))
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (mut choices, beside) = args.choices()?;
    args.layout.note_idle(&choices.placing, context);
    let (source, inputs) = args.input.resolve()?;
    let inputs = beside.files(inputs);
    // The record is next to the page, else next to a picture.
    let main = args.files().next().cloned();
    let mut batch = args.check(inputs, main.as_deref().and_then(record::path).as_deref())?;
    let start = Start::now();
    beside.describe(&mut choices, source.changed, context)?;
    // Weights affect the vectors that are computed here.
    let weights = beside.vectors.is_none();
    let graph = source.open(weights, args.input.memory(), context)?;
    if !weights {
        note_idle_weights(&graph, context);
    }
    let colours = beside.colours(&graph, args.input.memory(), context)?;
    let mut stages = vec![Stage::since("read", &start)];
    let (placed, roles) = place_and_find(&choices, &beside, &graph, &mut stages, context)?;
    let map = Map {
        graph: &graph,
        title: choices.title.clone().unwrap_or_else(|| source.name()),
        positions: &placed.positions,
        roles: &roles,
        neighbours: placed.neighbours.as_ref(),
        colours,
    };
    write(args, &map, &mut batch, context)?;
    let record = Record {
        version: env!("CARGO_PKG_VERSION"),
        command: COMMAND,
        input: &source.input,
        graph: GraphFacts::of(&graph),
        choices: &choices,
        recall: placed.recall,
        stages,
    };
    if let Some(path) = &main {
        record::add_to(&mut batch, path, &record)?;
    }
    context.progress_done();
    batch.commit()?;
    for file in args.files().filter(|file| !hone::output::is_stream(file)) {
        context.note(format_args!("wrote {}", file.display()));
    }
    Ok(())
}

/// The positions of all nodes with their neighbours, and the roles.
fn place_and_find(
    choices: &Choices,
    beside: &Beside,
    graph: &Graph,
    stages: &mut Vec<Stage>,
    context: &Context,
) -> anyhow::Result<(Placed, Roles)> {
    let start = Start::now();
    let Placing { by, layout } = choices.placing;
    let space = Space::of(
        &beside.embedding(graph, choices.vectors_format, context)?,
        by,
    )?;
    stages.push(Stage::since("vectors", &start));
    let start = Start::now();
    let mut placed = layout.place(&space, context.progress())?;
    if placed.neighbours.is_none() {
        let found = Search {
            top: 10,
            search: Method::Auto,
            seed: 0,
        }
        .all(&space, context.progress())?;
        (placed.neighbours, placed.recall) = (Some(found.neighbours), found.recall);
    }
    drop(space);
    note_recall(placed.recall, context);
    stages.push(Stage::since("layout", &start));
    let start = Start::now();
    let roles = RoleOptions::default().find(graph, context.progress())?;
    stages.push(Stage::since("roles", &start));
    Ok((placed, roles))
}

fn write(args: &Args, map: &Map<'_>, batch: &mut Batch, context: &Context) -> anyhow::Result<()> {
    let mut add = |path: &Path, bytes: &[u8]| -> Result<(), Error> {
        let mut out = batch.begin(path)?;
        out.write_all(bytes).map_err(|e| out.error(e))?;
        batch.add(out)
    };
    if let Some(path) = &args.output {
        add(path, map.html(context.progress())?.as_bytes())?;
    }
    if let Some(path) = &args.svg {
        add(path, map.svg()?.as_bytes())?;
    }
    if let Some(path) = &args.png {
        add(path, &map.png(PIXELS)?)?;
    }
    Ok(())
}
