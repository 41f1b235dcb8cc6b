//! [`ReadOptions`]: how a graph is read, and which options a format has no use for.

use std::path::PathBuf;
use std::{fmt, str};

use serde::{Deserialize, Serialize};

use super::comments::Comment;
use crate::error::{Error, Result};

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
    /// named by `weight`. Without this they are ignored and counted in [`crate::graph::Dropped`].
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
        text.parse()
            .map_or_else(|_| Column::Name(text.to_string()), Column::Position)
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
    pub const ALL: [InputFormat; 4] = [
        InputFormat::Edges,
        InputFormat::MatrixMarket,
        InputFormat::Parquet,
        InputFormat::Metis,
    ];

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
        InputFormat::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| {
                let names: Vec<&str> = InputFormat::ALL
                    .iter()
                    .map(|format| format.name())
                    .collect();
                Error::config(
                    "format",
                    format!("`{text}` is not one of {}", names.join(", ")),
                )
            })
    }
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
pub(super) fn table_options(options: &ReadOptions) -> [(&'static str, bool); 6] {
    let [delimiter, comment, header] = text_options(options);
    let (source, target) = (options.source.is_some(), options.target.is_some());
    [
        delimiter,
        comment,
        header,
        ("source", source),
        ("target", target),
        ("bipartite", options.bipartite.is_some()),
    ]
}

/// Fails for options of text given with a table that has no text.
pub(super) fn refuse_text_options(options: &ReadOptions, format: InputFormat) -> Result<()> {
    match text_options(options)
        .iter()
        .find(|(field, given)| *given && (*field, options.nodes.is_some()) != ("comment", true))
    {
        Some((field, _)) => Err(Error::config(
            *field,
            format!("{format} files need no such option; leave it out"),
        )),
        None => Ok(()),
    }
}

/// Fails for a node list or options of tables given with a format that has its own rules.
pub(super) fn refuse_table_options(options: &ReadOptions, format: InputFormat) -> Result<()> {
    if options.nodes.is_some() {
        let message =
            format!("{format} files number their nodes themselves; leave the node list out");
        return Err(Error::config("nodes", message));
    }
    match table_options(options).iter().find(|(_, given)| *given) {
        Some((field, _)) => Err(Error::config(
            *field,
            format!("{format} files have fixed rules for this; leave it out"),
        )),
        None => Ok(()),
    }
}
