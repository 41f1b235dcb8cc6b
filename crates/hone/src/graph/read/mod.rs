//! From a file to a [`Graph`]: one entry, [`read`], and one module per format.
//!
//! The content decides where it can ([`InputFormat::MatrixMarket`] and [`InputFormat::Parquet`]
//! begin with a banner, gzip and zstd with magic bytes), then the extension. Text is read in
//! blocks that are parsed in parallel ([`blocks`]); a line that cannot be right is an
//! [`Error::Input`] with its number, never skipped.

pub(crate) mod blocks;
mod columns;
pub(crate) mod comments;
pub(crate) mod delimiter;
mod edges;
pub(crate) mod fields;
mod first;
pub(crate) mod header;
mod join;
mod kinds;
pub(crate) mod layout;
mod metis;
pub(crate) mod mtx;
pub(crate) mod nodes;
mod parquet;
mod reading;
mod scan;
mod shapes;
mod sides;
pub(crate) mod source;
mod survey;
mod times;
mod vocabulary;
mod words;

use std::path::{Path, PathBuf};
use std::{fmt, str};

use serde::{Deserialize, Serialize};

use super::{BUILTIN_PREFIX, BUILTINS, Graph, GraphBuilder, NodeIds, builtin};
use crate::error::{Error, Result};
use crate::memory::{self, Allowance};
use crate::progress::Progress;
pub use comments::Comment;
use join::Joined;
pub(super) use join::{Ends, join};
pub use reading::{ReadNote, Reading, TableColumns};
pub use sides::are_two_kinds;
use source::Source;
pub use survey::Sizes;
pub use vocabulary::{ID_COLUMNS, WEIGHT_COLUMNS};

/// How to read a graph; everything has a sensible default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The format; by default detected from the content and the extension.
    pub format: Option<InputFormat>,
    /// Keep the direction of edges. Formats that store an undirected edge once (symmetric Matrix
    /// Market, METIS) then give both arcs.
    pub directed: bool,
    /// Keep the weights. There must be some: a column called `weight`, the third one, or the one
    /// named by `weight`. Without this they are ignored and counted in [`super::Dropped`].
    pub weighted: bool,
    /// What separates the columns of an edge list: one character, `tab`, `space` (any run of
    /// spaces and tabs), or two to eight symbols such as `::`. By default detected: tab, `|`, semicolon, comma, `::`, else spaces.
    pub delimiter: Option<String>,
    /// What begins comment lines of an edge list and of a node list. By default `#` and `%`: anywhere where
    /// blanks separate columns, else only before the first data line.
    pub comment: Option<Comment>,
    /// Whether the first line of an edge list names the columns; by default detected.
    pub header: Option<bool>,
    /// Column of the first node of an edge; by default `source` or the like, else the first.
    pub source: Option<Column>,
    /// Column of the second node of an edge; by default `target` or the like, else the second.
    pub target: Option<Column>,
    /// Column of the weight, which are then kept; by default `weight` or the like, else the third, unless it has times.
    pub weight: Option<Column>,
    /// Whether the two columns of a table name nodes of two kinds, such as users and items, so that 1 in one of them is
    /// another node than 1 in the other. Ids then have the name of their column in front: `user:1` and `item:1`, or
    /// `source:1` and `target:1` where columns have no names. By default the same id is the same node, with a note if the
    /// columns seem to be of two kinds.
    pub bipartite: Option<bool>,
    /// A file with one node id per line that fixes the order of the nodes and adds those without an
    /// edge. The whole line is the id, unless it is quoted.
    pub nodes: Option<PathBuf>,
    /// How many bytes this process may hold while it reads; by default what the machine has free. A file that needs
    /// more is refused.
    #[serde(skip)]
    pub memory: Option<u64>,
}

/// A column of a table, by name or by position from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Column {
    /// Position, from 0.
    Position(usize),
    /// Name in the header.
    Name(String),
}

impl From<&str> for Column {
    /// A number is a position, anything else a name.
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Column::Name(text.to_string()), Column::Position)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Position(position) => write!(f, "{position}"),
            Column::Name(name) => write!(f, "`{name}`"),
        }
    }
}

/// A file format that graphs are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum InputFormat {
    /// One edge per line: two ids and perhaps a weight, separated by spaces, tabs, commas, ….
    Edges,
    /// Matrix Market coordinate file, 1-based.
    #[serde(rename = "mtx")]
    MatrixMarket,
    /// Apache Parquet table with two id columns.
    Parquet,
    /// METIS adjacency: line i lists the neighbours of node i, 1-based.
    Metis,
}

impl InputFormat {
    /// Every format.
    pub const ALL: [InputFormat; 4] =
        [InputFormat::Edges, InputFormat::MatrixMarket, InputFormat::Parquet, InputFormat::Metis];

    /// The name used in options.
    pub fn name(self) -> &'static str {
        match self {
            InputFormat::Edges => "edges",
            InputFormat::MatrixMarket => "mtx",
            InputFormat::Parquet => "parquet",
            InputFormat::Metis => "metis",
        }
    }
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl str::FromStr for InputFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        InputFormat::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names: Vec<&str> = InputFormat::ALL.iter().map(|format| format.name()).collect();
            Error::config("format", format!("`{text}` is not one of {}", names.join(", ")))
        })
    }
}

/// Reads a graph from a file, from standard input when `input` is `-`, or takes a built-in one for
/// `builtin:NAME`; `.gz` and `.zst` are decompressed on the way.
///
/// Ids that are all integers come out in ascending order, other ids in order of first appearance;
/// a node list ([`ReadOptions::nodes`]) fixes the order. Matrix Market and METIS number their
/// nodes 1..N and keep those ids.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let file = folder.path().join("friends.csv");
/// std::fs::write(&file, "source,target\nann,bob\nbob,cid\n").unwrap();
/// let graph = hone::graph::read(&file, &Default::default(), &hone::Silent)?;
/// assert_eq!((graph.nodes(), graph.edges()), (3, 2));
/// assert_eq!(graph.ids().get(2).to_string(), "cid");
/// # Ok::<(), hone::Error>(())
/// ```
pub fn read(input: impl AsRef<Path>, options: &ReadOptions, progress: &dyn Progress) -> Result<Graph> {
    read_input(input.as_ref(), options, progress)
}

fn read_input(input: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Graph> {
    if let Some(name) = builtin_name(input) {
        return read_builtin(name, options);
    }
    let held = memory::resident().unwrap_or(0);
    read_file(input, options, progress).map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound && is_builtin(input) => {
            let known = input.display();
            let remedy = format!("check its name and folder; the built-in graph is `{BUILTIN_PREFIX}{known}`");
            Error::input(input, "no such file", remedy)
        }
        error => enough(error, held, input, options, progress),
    })
}

/// What follows the prefix of built-in graphs.
fn builtin_name(input: &Path) -> Option<&str> {
    input.to_str()?.strip_prefix(BUILTIN_PREFIX)
}

fn is_builtin(name: &Path) -> bool {
    BUILTINS.iter().any(|builtin| name == Path::new(builtin.0))
}

/// A refusal that names what is enough to read the whole file, where it can be looked through.
fn enough(error: Error, held: u64, input: &Path, options: &ReadOptions, progress: &dyn Progress) -> Error {
    match error {
        Error::Memory { stage, need, least, limit, remedy } => match sizes_of(input, options, progress) {
            Ok(Some(sizes)) => {
                let need = held.saturating_add(sizes.reading(options)).max(limit.saturating_add(1));
                Error::Memory { stage, need, least: true, limit, remedy }
            }
            _ => Error::Memory { stage, need, least, limit, remedy },
        },
        other => other,
    }
}

/// How large the graph of a file is, as these options have it, without holding it; nothing for standard input and built-in
/// graphs. Takes one pass over the file.
pub fn sizes(input: impl AsRef<Path>, options: &ReadOptions, progress: &dyn Progress) -> Result<Option<Sizes>> {
    sizes_of(input.as_ref(), options, progress)
}

fn sizes_of(input: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Option<Sizes>> {
    if input == Path::new("-") || builtin_name(input).is_some() {
        return Ok(None);
    }
    let mut source = Source::open(input, Allowance::new(options.memory))?.thrifty();
    let format = options.format.map_or_else(|| detect(&mut source), Ok)?;
    if format != InputFormat::Parquet {
        source.check_text("it needs at least one edge")?;
    }
    Ok(Some(match format {
        InputFormat::Edges => edges::sizes(source, options, progress)?,
        InputFormat::MatrixMarket | InputFormat::Metis => mtx::promised(&mut source)?,
        InputFormat::Parquet => parquet::sizes(source, options)?,
    }))
}

fn read_file(input: &Path, options: &ReadOptions, progress: &dyn Progress) -> Result<Graph> {
    let allowance = Allowance::new(options.memory);
    let mut source = Source::open(input, allowance)?;
    let format = match options.format {
        Some(format) => format,
        None => detect(&mut source)?,
    };
    if format != InputFormat::Parquet {
        source.check_text("it needs at least one edge")?;
    }
    let mut joined = match format {
        InputFormat::Edges => edges::read(source, options, progress)?,
        InputFormat::MatrixMarket => mtx::read(source, options, progress)?,
        InputFormat::Metis => metis::read(source, options, progress)?,
        InputFormat::Parquet => parquet::read(source, options, progress)?,
    };
    progress.check()?;
    let slot = if joined.weights.is_some() { 12 } else { 8 };
    // Every edge stands in two rows, or in one; a copy of it is sorted, and each node has an offset.
    let slots = if options.directed && !joined.symmetric { 1 } else { 2 } * joined.pairs.len() as u64;
    allowance.check(input, slots * slot + 8 * joined.ids.len() as u64)?;
    let (columns, notes) = (joined.columns.take(), std::mem::take(&mut joined.notes));
    let reading = Reading { file: input.display().to_string(), format, columns, notes };
    Ok(build(joined, options.directed)?.with_reading(reading))
}

/// A built-in graph, which is what it is: the options must not ask for anything else.
fn read_builtin(name: &str, options: &ReadOptions) -> Result<Graph> {
    let graph = builtin(name)?;
    let asked = [
        ("directed", options.directed && !graph.is_directed()),
        ("weighted", options.weighted && graph.weights().is_none()),
        ("nodes", options.nodes.is_some()),
        ("format", options.format.is_some()),
    ];
    match asked.iter().chain(&table_options(options)).find(|(_, contradicts)| *contradicts) {
        Some((field, _)) => {
            let message =
                format!("{BUILTIN_PREFIX}{name} is built in and cannot be read that way; leave the option out");
            Err(Error::config(*field, message))
        }
        None => Ok(graph),
    }
}

/// Hands what a reader found to the builder.
fn build(joined: Joined, directed: bool) -> Result<Graph> {
    let Joined { ids, mut pairs, mut weights, ignored_weights, symmetric, .. } = joined;
    if directed && symmetric {
        let loops_once = pairs.iter().filter(|(u, v)| u != v).map(|&(u, v)| (v, u)).collect::<Vec<_>>();
        if let Some(weights) = &mut weights {
            let more: Vec<f32> = pairs.iter().zip(&*weights).filter(|((u, v), _)| u != v).map(|(_, &w)| w).collect();
            weights.extend(more);
        }
        pairs.extend(loops_once);
    }
    let builder = if directed { GraphBuilder::directed(0) } else { GraphBuilder::undirected(0) };
    let builder = builder.ids(ids).edges(pairs).ignored_weights(ignored_weights);
    match weights {
        Some(weights) => builder.weights(weights).build(),
        None => builder.build(),
    }
}

/// The ids 1..=n.
fn one_based(n: u32) -> NodeIds {
    NodeIds::Integers((1..=i64::from(n)).collect())
}

/// Options that say something about text tables only.
fn text_options(options: &ReadOptions) -> [(&'static str, bool); 3] {
    [
        ("delimiter", options.delimiter.is_some()),
        ("comment", options.comment.is_some()),
        ("header", options.header.is_some()),
    ]
}

/// Options that say something about tables only.
fn table_options(options: &ReadOptions) -> [(&'static str, bool); 6] {
    let [delimiter, comment, header] = text_options(options);
    let (source, target) = (options.source.is_some(), options.target.is_some());
    [delimiter, comment, header, ("source", source), ("target", target), ("bipartite", options.bipartite.is_some())]
}

/// Fails for options of text given with a table that has no text.
fn refuse_text_options(options: &ReadOptions, format: InputFormat) -> Result<()> {
    match text_options(options)
        .iter()
        .find(|(field, given)| *given && (*field, options.nodes.is_some()) != ("comment", true))
    {
        Some((field, _)) => Err(Error::config(*field, format!("{format} files need no such option; leave it out"))),
        None => Ok(()),
    }
}

/// Fails for a node list or options of tables given with a format that has its own rules.
fn refuse_table_options(options: &ReadOptions, format: InputFormat) -> Result<()> {
    if options.nodes.is_some() {
        let message = format!("{format} files number their nodes themselves; leave the node list out");
        return Err(Error::config("nodes", message));
    }
    match table_options(options).iter().find(|(_, given)| *given) {
        Some((field, _)) => {
            Err(Error::config(*field, format!("{format} files have fixed rules for this; leave it out")))
        }
        None => Ok(()),
    }
}

/// Tells the format from the first bytes, else from the extension.
fn detect(source: &mut Source) -> Result<InputFormat> {
    source.fill(16)?;
    let head = source.ahead();
    if head.starts_with(b"PAR1") {
        return Ok(InputFormat::Parquet);
    }
    if head.len() >= 14 && head[..14].eq_ignore_ascii_case(b"%%MatrixMarket") {
        return Ok(InputFormat::MatrixMarket);
    }
    match extension(source.path()).as_deref() {
        Some("mtx") => Ok(InputFormat::MatrixMarket),
        Some("graph" | "metis") => Ok(InputFormat::Metis),
        Some("parquet" | "pq") => Ok(InputFormat::Parquet),
        Some("hone") => {
            let remedy = "give a graph; a model is no graph, but other graphs can be placed in its space";
            Err(Error::input(source.path(), "this looks like a model, by its extension", remedy))
        }
        Some(
            extension @ ("gml" | "graphml" | "gexf" | "json" | "jsonl" | "net" | "dot" | "gv" | "xml" | "npz" | "npy"
            | "mat" | "pkl" | "pickle" | "xlsx" | "xls" | "zip" | "tar" | "bz2" | "xz" | "lz4" | "7z"
            | "rar" | "feather" | "arrow" | "h5" | "hdf5" | "db" | "sqlite"),
        ) => {
            let message = format!("`.{extension}` files cannot be read");
            let remedy = "convert it to an edge list (two ids per line), Matrix Market, METIS or Parquet, plain or \
                          compressed with gzip or zstd; or name the format with the option `format` if the extension misleads";
            Err(Error::input(source.path(), message, remedy))
        }
        _ => Ok(InputFormat::Edges),
    }
}

/// The extension in lower case, that of the compression left out.
pub(crate) fn extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    match lower(path)?.as_str() {
        "gz" | "zst" | "zstd" | "bgz" => lower(Path::new(path.file_stem()?)),
        other => Some(other.to_string()),
    }
}
