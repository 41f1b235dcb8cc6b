//! `hone map GRAPH -o MAP.html`: the graph as a page to look around in.

use std::io::Write;
use std::path::{Path, PathBuf};

use hone::graph::Graph;
use hone::output::Batch;
use hone::report::{GraphFacts, Input, Stage, Start};
use hone::store::{Embedding, Format};
use hone::{Config, Error, Hone, Run, record};
use hone_explore::{By, Colour, Layout, Map, Method, RoleOptions, Search, Space, read_attributes, read_labels};
use serde::Serialize;

use crate::command::layout::LayoutArgs;
use crate::command::similar;
use crate::context::Context;
use crate::input::InputArgs;

/// Make a map: one HTML file with all nodes, their roles, motifs and neighbours, that opens without a network.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// The page to write.
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["svg", "png"])]
    output: Option<PathBuf>,
    /// Vectors of the nodes [default: made now, with the preset `hone`].
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Format of the vectors, whatever their extension.
    #[arg(long, value_name = "FORMAT", value_parser = similar::format(), requires = "vectors")]
    vectors_format: Option<Format>,
    /// Labels to colour nodes by: a table of ids and labels.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Attributes to colour nodes by: a table with an id column, or an array in node order.
    #[arg(long, value_name = "FILE")]
    attributes: Option<PathBuf>,
    /// What the map is called [default: the name of the file].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Also a picture for papers, as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Also a picture as PNG, 2400 pixels wide.
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
  hone map graph.tsv -o map.html --vectors vectors.npy --layout pca
  hone map graph.tsv --svg figure.svg --png figure.png

The page needs nothing but a browser: move and zoom, colour by role, degree, motif, label or attribute, click nodes, find
them by id, select with box or lasso. Pictures are coloured by the first label, else by role.";

/// Width of a PNG in pixels.
const PIXELS: usize = 2400;

/// What is kept beside a map.
#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    command: &'static str,
    input: &'a Input,
    graph: GraphFacts,
    vectors: Option<&'a Path>,
    labels: Option<&'a Path>,
    attributes: Option<&'a Path>,
    by: By,
    layout: Layout,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
    stages: Vec<Stage>,
}

impl Args {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.output.iter().chain(&self.svg).chain(&self.png)
    }

    /// The vectors of the file, in the graph's node order, or new ones.
    fn embedding(&self, graph: &Graph, context: &Context) -> anyhow::Result<Embedding> {
        let Some(path) = &self.vectors else {
            let Run { embedding, .. } = Hone::new(Config::preset("hone")?)?.embed(graph, context.progress())?;
            return Ok(embedding);
        };
        let read = Embedding::read_within(path, self.vectors_format, hone::memory::Allowance::new(None))?;
        let index = read.ids.index();
        let row = |node: u32| {
            let id = graph.ids().get(node).to_string();
            index.find(&id).ok_or_else(|| {
                let remedy = "embed this graph, or give the graph of the vectors (isolated nodes: --nodes)";
                Error::input(path, format!("no vector of node `{id}`"), remedy)
            })
        };
        let rows: Vec<u32> = (0..graph.nodes() as u32).map(row).collect::<Result<_, _>>()?;
        let mut vectors = hone::dense::Block::zeros(rows.len(), read.vectors.cols());
        vectors.update_rows(|i, to| to.copy_from_slice(read.vectors.row(rows[i] as usize)));
        Ok(Embedding::with_columns(graph.ids().clone(), vectors, read.columns.clone()))
    }

    fn colours(&self, graph: &Graph, context: &Context) -> anyhow::Result<Vec<Colour>> {
        type Reader = fn(&str, &hone::graph::NodeIds, &dyn hone::Progress) -> hone::Result<(Vec<Colour>, Vec<String>)>;
        let mut colours = Vec::new();
        let files: [(&Option<PathBuf>, Reader); 2] = [(&self.labels, read_labels), (&self.attributes, read_attributes)];
        for (file, read) in files {
            let Some(file) = file else { continue };
            let name =
                file.to_str().ok_or_else(|| Error::input(file, "the path is not valid UTF-8", "rename the file"))?;
            let (found, notes) = read(name, graph.ids(), context.progress())?;
            notes.iter().for_each(|note| context.note(format_args!("note: {note}")));
            colours.extend(found);
        }
        Ok(colours)
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let layout = args.layout.layout();
    layout.check()?;
    let inputs = args.input.files().read("--labels", &args.labels).read("--attributes", &args.attributes);
    let inputs = inputs.read_vectors("--vectors", &args.vectors);
    let records = args.output.as_deref().and_then(record::path);
    let outputs = inputs.write("--output", args.output.iter().chain(&records));
    let outputs = outputs.write("--svg", &args.svg).write("--png", &args.png);
    let mut batch = outputs.check(args.force)?;
    let start = Start::now();
    let graph = args.input.open(context)?;
    let colours = args.colours(&graph, context)?;
    let mut stages = vec![Stage::since("read", &start)];
    let start = Start::now();
    let embedding = args.embedding(&graph, context)?;
    let space = Space::of(&embedding, args.layout.by)?;
    drop(embedding);
    stages.push(Stage::since("vectors", &start));
    let start = Start::now();
    let mut placed = layout.place(&space, context.progress())?;
    if placed.neighbours.is_none() {
        let found = Search { top: 10, search: Method::Auto, seed: 0 }.all(&space, context.progress())?;
        (placed.neighbours, placed.recall) = (Some(found.neighbours), found.recall);
    }
    drop(space);
    stages.push(Stage::since("layout", &start));
    let start = Start::now();
    let roles = RoleOptions::default().find(&graph, context.progress())?;
    stages.push(Stage::since("roles", &start));
    let map = Map {
        graph: &graph,
        title: args.title.clone().unwrap_or_else(|| args.input.name()),
        positions: &placed.positions,
        roles: &roles,
        neighbours: placed.neighbours.as_ref(),
        colours,
    };
    write(args, &map, &mut batch, context)?;
    let record = Record {
        version: env!("CARGO_PKG_VERSION"),
        command: "map",
        input: &args.input.input()?,
        graph: GraphFacts::of(&graph),
        vectors: args.vectors.as_deref(),
        labels: args.labels.as_deref(),
        attributes: args.attributes.as_deref(),
        by: args.layout.by,
        layout,
        recall: placed.recall,
        stages,
    };
    if let Some(path) = &args.output {
        record::add_to(&mut batch, path, &record)?;
    }
    context.progress_done();
    batch.commit()?;
    for file in args.files().filter(|file| !hone::output::is_stream(file)) {
        context.note(format_args!("wrote {}", file.display()));
    }
    Ok(())
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
