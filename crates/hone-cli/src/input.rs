//! [`InputArgs`]: the graph a command works on, and how to read it.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use hone::graph::{Column, Comment, Graph, InputFormat, ReadOptions, read};

use crate::context::Context;
use crate::files::Files;

/// The input graph; flatten this into the `Args` of any command that reads one.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The graph: a file, - for standard input, or builtin:NAME (karate, florentine, petersen, …).
    ///
    /// Edge lists, Matrix Market, Parquet and METIS files, plain or with .gz or .zst, are recognised
    /// by content and extension.
    #[arg(value_name = "INPUT")]
    input: String,
    /// Format of the input, whatever its extension.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = HEADING)]
    input_format: Option<InputFormat>,
    /// Keep the direction of edges.
    #[arg(long, help_heading = HEADING)]
    directed: bool,
    /// Keep the weights of edges, and make them count.
    #[arg(long, help_heading = HEADING)]
    weighted: bool,
    /// What separates columns: a character, tab or space [default: auto-detected].
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = HEADING)]
    delimiter: Option<char>,
    /// What begins comment lines: a character, or none [default: # and %, but after the first edge of a
    /// file with commas or the like, such a line is an edge].
    #[arg(long, value_name = "CHAR|none", value_parser = comment, help_heading = HEADING)]
    comment: Option<Comment>,
    /// Whether the first line names the columns [default: auto-detected].
    #[arg(long, value_name = "YES|NO", help_heading = HEADING)]
    header: Option<Answer>,
    /// Column of the first node of an edge: a name, or a position from 0.
    #[arg(long, value_name = "COLUMN", value_parser = column, help_heading = HEADING)]
    source: Option<Column>,
    /// Column of the second node of an edge: a name, or a position from 0.
    #[arg(long, value_name = "COLUMN", value_parser = column, help_heading = HEADING)]
    target: Option<Column>,
    /// Column of the weight: a name, or a position from 0; implies --weighted.
    #[arg(long, value_name = "COLUMN", value_parser = column, help_heading = HEADING)]
    weight: Option<Column>,
    /// A file with one node id per line: fixes the order of nodes and adds those without an edge.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    nodes: Option<PathBuf>,
}

const HEADING: &str = "Input options";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Yes,
    No,
}

impl InputArgs {
    /// The files that are read.
    pub(crate) fn files(&self) -> Files {
        Files::default().read("INPUT", [&self.input]).read("--nodes", &self.nodes)
    }

    /// Reads the graph, and notes on standard error what was a guess and what was dropped on the way.
    pub(crate) fn open(&self, context: &Context) -> anyhow::Result<Graph> {
        self.open_for(true, context)
    }

    /// The same for work that may have no use for weights: then no note recommends to keep them.
    pub(crate) fn open_for(&self, weights: bool, context: &Context) -> anyhow::Result<Graph> {
        let graph = read(&self.input, &self.options(), context.progress())?;
        note_dropped(&graph, weights, context);
        Ok(graph)
    }

    /// What the library calls these options.
    fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.input_format,
            directed: self.directed,
            weighted: self.weighted || self.weight.is_some(),
            delimiter: self.delimiter,
            comment: self.comment,
            header: self.header.map(|answer| answer == Answer::Yes),
            source: self.source.clone(),
            target: self.target.clone(),
            weight: self.weight.clone(),
            nodes: self.nodes.clone(),
        }
    }
}

/// Notes what was a guess when the graph was read, with the option that decides, and what was left out.
pub(crate) fn note_dropped(graph: &Graph, weights: bool, context: &Context) {
    let option = |name: &str, value: &str| match value {
        "" => format!("--{name}"),
        _ => format!("--{name} {}", shell_word(value)),
    };
    for note in graph.reading().iter().flat_map(|reading| &reading.notes) {
        context.note(format_args!("note: {}", note.show(&option)));
    }
    let dropped = graph.dropped();
    if !dropped.is_empty() {
        let remedy = match (dropped.weights > 0, weights) {
            (true, true) => " (--weighted keeps weights, and makes them count)",
            (true, false) => " (weights play no part here)",
            (false, _) => "",
        };
        context.note(format_args!("note: {dropped}{remedy}"));
    }
}

fn formats() -> impl TypedValueParser<Value = InputFormat> {
    PossibleValuesParser::new(InputFormat::ALL.map(InputFormat::name))
        .map(|name| name.parse().expect("one of the names just listed"))
}

/// A value as it can be typed into a shell.
fn shell_word(value: &str) -> String {
    if value.chars().all(|c| c.is_ascii_alphanumeric() || c == '%') { value.into() } else { format!("'{value}'") }
}

fn comment(text: &str) -> Result<Comment, String> {
    text.parse().map_err(|_| format!("`{text}` cannot begin comments; give a character such as # or %, or none"))
}

fn column(text: &str) -> Result<Column, String> {
    if text.is_empty() { Err("give a name or a position from 0".into()) } else { Ok(text.into()) }
}

fn delimiter(text: &str) -> Result<char, String> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        ("space", ..) => Ok(' '),
        (_, Some(one), None) => Ok(one),
        _ => Err("give one character, tab or space".into()),
    }
}
