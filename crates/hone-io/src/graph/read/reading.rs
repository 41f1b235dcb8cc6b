//! [`Reading`]: how a file was interpreted, and what about that could be wrong.
//!
//! The library never prints. A reader returns its guesses as values; the command shows them as notes,
//! Python as warnings, and the record of a run stores them. Each says what was assumed and which option
//! changes it, in the terms of the front end ([`ReadNote::show`]).

use serde::{Deserialize, Serialize};

use super::options::InputFormat;

/// How a file was interpreted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The file, as it was named.
    pub file: String,
    /// Its format.
    pub format: InputFormat,
    /// The columns of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<TableColumns>,
    /// What was a guess, or left out.
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

/// Something about the reading of a file that its owner should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReadNote {
    /// The first line is taken for a header, but might be an edge.
    Header {
        /// The file.
        file: String,
        /// The line.
        line: String,
    },
    /// The first line is taken for an edge, but might be a header.
    NoHeader {
        /// The file.
        file: String,
        /// The line.
        line: String,
    },
    /// Something else could separate the columns.
    Delimiter {
        /// The file.
        file: String,
        /// A line of it.
        line: String,
        /// What is taken to separate columns, in words.
        cut: String,
        /// The value of the option `delimiter` for what else could.
        rival: String,
    },
    /// The ids of a column are decimal numbers, as weights are.
    DecimalIds {
        /// The file.
        file: String,
        /// Position from 0 of the column.
        column: usize,
        /// One of its values.
        example: String,
    },
    /// The same integers occur in two columns that seem to name nodes of two kinds, and became the same nodes.
    Merged {
        /// The file.
        file: String,
        /// Names of the columns.
        names: [String; 2],
        /// How many integers.
        ids: u64,
    },
    /// A node has a name that tables write where a value is missing.
    MissingIds {
        /// The file.
        file: String,
        /// The name.
        id: String,
        /// How many edges it has.
        edges: u64,
    },
    /// There are more columns than are used.
    Columns {
        /// The file.
        file: String,
        /// Positions from 0 of those that are used.
        used: Vec<usize>,
        /// Their names, where they have some.
        names: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// The weights are those of a column that no name or option says to have some.
    Weights {
        /// The file.
        file: String,
        /// Position from 0 of the column.
        column: usize,
        /// Its name.
        name: String,
    },
    /// Lines that are the header once more, or that of a further file, are left out.
    Headers {
        /// The file.
        file: String,
        /// How many.
        lines: u64,
        /// The first of them.
        line: String,
    },
    /// A line is taken for an edge, but might be the header of a further file.
    InnerHeader {
        /// The file.
        file: String,
        /// Both names.
        line: String,
    },
    /// A column without a name is taken for ids, but numbers the lines.
    Index {
        /// The file.
        file: String,
        /// Position from 0 of the column.
        column: usize,
        /// Positions from 0 of the columns that could be the ids instead.
        used: [usize; 2],
    },
    /// Lines that begin like comments are taken for data.
    CommentsRead {
        /// The file.
        file: String,
        /// How many.
        lines: u64,
        /// The first of them.
        example: String,
    },
    /// Lines that begin like comments are left out, but might be data.
    CommentsSkipped {
        /// The file.
        file: String,
        /// How many.
        lines: u64,
        /// The first of them.
        example: String,
    },
    /// The first line is taken for an edge, but looks like a comment.
    MaybeComment {
        /// The file.
        file: String,
        /// The line.
        line: String,
        /// The value of the option `comment` that skips it.
        mark: String,
    },
    /// The first line is taken for an edge, but could be the numbers of nodes and edges.
    MaybeSizes {
        /// The file.
        file: String,
        /// The line.
        line: String,
        /// Lines that follow.
        lines: u64,
    },
    /// The lines are read as edges, but could be the rows of a matrix.
    MaybeMatrix {
        /// The file.
        file: String,
        /// Its lines, and its columns.
        size: usize,
    },
    /// Lines end with what looks like a comment, and are read whole.
    Trailing {
        /// The file.
        file: String,
        /// The first of them.
        line: String,
    },
    /// The first line of a node list is taken for its header.
    ListHeader {
        /// The file.
        file: String,
        /// The line.
        line: String,
    },
    /// The first line of a node list is taken for an id, but might be a header.
    ListNoHeader {
        /// The file.
        file: String,
        /// The line.
        line: String,
    },
    /// A line at the beginning of a node list is taken for a comment, but might be an id.
    ListComment {
        /// The file.
        file: String,
        /// The line.
        line: String,
    },
    /// A node list is taken for a table of several columns.
    ListTable {
        /// The file.
        file: String,
        /// Name of the column that has the ids.
        column: String,
    },
}

impl ReadNote {
    /// The file it is about, in words.
    pub(super) fn file(&self) -> &str {
        let (ReadNote::Header { file, .. }
        | ReadNote::NoHeader { file, .. }
        | ReadNote::Delimiter { file, .. }
        | ReadNote::DecimalIds { file, .. }
        | ReadNote::Merged { file, .. }
        | ReadNote::MissingIds { file, .. }
        | ReadNote::Columns { file, .. }
        | ReadNote::Weights { file, .. }
        | ReadNote::Headers { file, .. }
        | ReadNote::InnerHeader { file, .. }
        | ReadNote::Index { file, .. }
        | ReadNote::CommentsRead { file, .. }
        | ReadNote::CommentsSkipped { file, .. }
        | ReadNote::MaybeComment { file, .. }
        | ReadNote::MaybeSizes { file, .. }
        | ReadNote::MaybeMatrix { file, .. }
        | ReadNote::Trailing { file, .. }
        | ReadNote::ListHeader { file, .. }
        | ReadNote::ListNoHeader { file, .. }
        | ReadNote::ListComment { file, .. }
        | ReadNote::ListTable { file, .. }) = self;
        if file == "-" { "standard input" } else { file }
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
