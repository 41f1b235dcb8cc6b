//! How a graph is read, [`ReadOptions`], and how its file was understood, [`Reading`].
//!
//! The library never prints. What was assumed about a file is a value, [`ReadNote`]: the command shows it as a note, Python as
//! a warning, and the record of a run stores it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::message::{Message, message, set, setting};

/// How to read a graph; everything has a sensible default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The format; by default detected from the content and the extension.
    pub format: Option<InputFormat>,
    /// Keep the direction of edges. Formats that store an undirected edge once (symmetric Matrix
    /// Market, METIS) then give both arcs.
    pub directed: bool,
    /// Keep the weights. There must be some: a column called `weight`, the only one beside the ids, the third of a table without
    /// a header, or the one named by `weight`. Without this they are ignored and counted in [`crate::graph::Dropped`].
    pub weighted: bool,
    /// What separates the columns of an edge list: one character, `tab`, `space` (any run of
    /// spaces and tabs), `copy` (the text of PostgreSQL's COPY: tabs, no header, backslashes decoded), or two to eight
    /// symbols such as `::`. By default the first of tab, `|`, semicolon, comma, blanks and `::`
    /// that splits the most lines into equally many columns.
    pub delimiter: Option<String>,
    /// What begins comment lines of an edge list and of a node list, a character or `none`; by default `#` and `%`, at the head
    /// of the file only.
    pub comment: Option<String>,
    /// Whether the first line of an edge list names the columns. By default it does unless it has a number or an id that
    /// comes again, if a column has only numbers below it or all other lines have an id that comes again.
    pub header: Option<bool>,
    /// Column of the first node of an edge; by default the one called `source`, else the first.
    pub source: Option<Column>,
    /// Column of the second node of an edge; by default the one called `target`, else the second.
    pub target: Option<Column>,
    /// Column of the weight, which are then kept; by default see `weighted`.
    pub weight: Option<Column>,
    /// Whether the two columns of a table name nodes of two kinds, such as users and items, so that 1 in one of them is
    /// another node than 1 in the other. Ids then have the name of their column in front: `user:1` and `item:1`, or
    /// `source:1` and `target:1` where columns have no names. By default the same id is the same node.
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

impl FromStr for InputFormat {
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

impl ReadOptions {
    /// What comment lines begin with.
    pub(super) fn comments(&self) -> Result<Vec<u8>> {
        let Some(asked) = &self.comment else {
            return Ok(b"#%".to_vec());
        };
        match asked.as_bytes() {
            b"none" => Ok(Vec::new()),
            [mark] if mark.is_ascii_punctuation() && *mark != b'"' => Ok(vec![*mark]),
            _ => {
                let message = format!(
                    "`{asked}` cannot begin comments; give one of the characters #, %, !, /, … or none"
                );
                Err(Error::config("comment", message))
            }
        }
    }

    /// Whether weights are wanted.
    pub(super) fn keeps_weights(&self) -> bool {
        self.weighted || self.weight.is_some()
    }

    /// The first option that is given and says something about tables, or about those of text alone.
    pub(super) fn of_tables(&self, text: bool) -> Option<&'static str> {
        let given = [
            ("delimiter", self.delimiter.is_some()),
            // It applies to a node list too.
            (
                "comment",
                self.comment.is_some() && !(text && self.nodes.is_some()),
            ),
            ("header", self.header.is_some()),
            ("source", self.source.is_some()),
            ("target", self.target.is_some()),
            ("bipartite", self.bipartite.is_some()),
            ("nodes", self.nodes.is_some()),
        ];
        let mut given = given[..if text { 3 } else { 7 }].iter();
        given.find(|(_, given)| *given).map(|(name, _)| *name)
    }

    /// Fails for an option that files of this format have no use for.
    pub(super) fn refuse_idle(&self, format: InputFormat) -> Result<()> {
        match self.of_tables(format == InputFormat::Parquet) {
            None => Ok(()),
            Some(field) => {
                let message = format!("{format} files have no use for this option; leave it out");
                Err(Error::config(field, message))
            }
        }
    }
}

/// How a file was understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The file, as it was named.
    pub file: String,
    /// Its format.
    pub format: InputFormat,
    /// The columns of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<TableColumns>,
    /// What its owner should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ReadNote>,
}

/// The columns of a table, by position from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumns {
    /// What separates them, in words; absent for Parquet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Whether the first line names them; absent for Parquet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// How many there are.
    pub count: usize,
    /// The first node of an edge.
    pub source: usize,
    /// The second node of an edge.
    pub target: usize,
    /// The weight, where weights are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<usize>,
}

/// Something about the reading of a file that its owner should know: what was assumed, and which options change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadNote {
    /// Its kind, for programs: `reading` says how a table was read; `headers`, `missing-ids`, ….
    pub what: String,
    /// What was assumed, and which options of [`ReadOptions`] change it.
    #[serde(with = "message::text")]
    pub text: Message,
}

impl ReadNote {
    pub(super) fn new(what: &str, text: String) -> Self {
        let (what, text) = (what.to_owned(), text.into());
        ReadNote { what, text }
    }

    /// The same with options, each with the value to give it, which is empty for one to be chosen, and what they do.
    pub(super) fn with(mut self, options: &[(&str, &str)], effect: &str) -> Self {
        for (at, (name, value)) in options.iter().enumerate() {
            self.text.push(match at {
                0 => "; ",
                _ if at + 1 == options.len() => " and ",
                _ => ", ",
            });
            self.text.push(match *value {
                "" => setting(*name),
                value => set(*name, value),
            });
        }
        self.text.push(format!(" {effect}"));
        self
    }

    /// Whether it says how the rules for tables were applied, and nothing else.
    pub fn is_routine(&self) -> bool {
        self.what == "reading"
    }
}

/// A file as notes name it.
pub(super) fn file_name(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".into(),
        false => path.display().to_string(),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A line to show in a note, not too long.
pub(super) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    let mut out: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().count() > 60 {
        out.push('…');
    }
    out.replace("\\\"", "\"")
        .replace("\\'", "'")
        .replace("\\t", "\t")
}
