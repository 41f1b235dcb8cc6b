//! The graph that a command works on: how it is read, compared with the record of an earlier run, and what is noted.
//!
//! [`InputArgs`] are the options; [`GraphArgs`] those of a command that can repeat an earlier run, [`GraphSource`] what is
//! read then.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use hone::attributes::content;
use hone::graph::{
    Column, Comment, Division, Graph, GraphBuilder, Input, InputFormat, ReadOptions, Recorded,
    read_divided, reading, sizes,
};
use hone::output::is_stream;
use hone::{Error, Silent, memory, record};

use crate::context::Context;
use crate::files::Files;
use crate::options::{Known, translated};
use crate::repeat::{Changed, note_version};

/// The input graph; flatten this into the `Args` of any command that reads one.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The graph: a file, - for standard input, or builtin:NAME (karate, florentine, petersen, …).
    ///
    /// Edge lists, Matrix Market, Parquet and METIS files, plain or with .gz or .zst, are recognised
    /// by content and extension.
    #[arg(value_name = "INPUT")]
    input: String,
    #[command(flatten)]
    read: ReadArgs,
}

/// The graph of a command that takes it, and how to read it, from the record of an earlier run if `--config` names one.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    /// The graph: a file, - for standard input, or builtin:NAME (karate, florentine, petersen, …). With --config
    /// OUT.run.json it may be left out: it is the graph of that run.
    ///
    /// Edge lists, Matrix Market, Parquet and METIS files, plain or with .gz or .zst, are recognised
    /// by content and extension.
    #[arg(value_name = "INPUT", required_unless_present = "config")]
    input: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
    /// What to do if the graph, or the file of --attributes, differs from that of --config OUT.run.json
    /// [default: refuse].
    #[arg(long, alias = "changed-graph", value_enum, value_name = "WHAT", requires = "config", help_heading = HEADING)]
    changed: Option<Changed>,
}

/// The same for a command whose choices are all in its record, and in no configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct RepeatableArgs {
    #[command(flatten)]
    graph: GraphArgs,
    /// Repeat an earlier run: its OUT.run.json, with the graph and all choices; other options override these.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl RepeatableArgs {
    /// The record of the run that is repeated.
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Memory limit of the process.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.graph.memory()
    }

    /// Determines what is read and how, and lists the files.
    pub(crate) fn resolve(&self) -> Result<(GraphSource, Files), Error> {
        let source = self.graph.resolve(self.config())?;
        let files = source.files().read("--config", &self.config);
        Ok((source, files))
    }
}

/// How a graph is read; flatten this where there are several, or where the graph has an argument of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of the input, whatever its extension.
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = HEADING)]
    input_format: Option<InputFormat>,
    /// Keep the direction of edges; --directed=no drops it.
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, require_equals = true, default_missing_value = "yes", help_heading = HEADING)]
    directed: Option<Answer>,
    /// Use edge weights; --weighted=no ignores them.
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, require_equals = true, default_missing_value = "yes", help_heading = HEADING)]
    weighted: Option<Answer>,
    /// What separates columns: a character, tab, space, or symbols such as :: [default: auto-detected].
    #[arg(long, value_name = "CHAR", allow_hyphen_values = true, help_heading = HEADING)]
    delimiter: Option<String>,
    /// Start of comment lines: a character, or none. By default # and %; in files with a delimiter only before the first edge.
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
    /// The two columns name nodes of two kinds, such as users and items: user 1 and item 1 differ. Ids
    /// are prefixed with the name of their column (user:1, item:1); --bipartite=no: all are of one
    /// kind.
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, require_equals = true, default_missing_value = "yes", help_heading = HEADING)]
    bipartite: Option<Answer>,
    /// A file with one node id per line: fixes the order of nodes and adds those without an edge.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    nodes: Option<PathBuf>,
    /// Memory limit, such as 8G (8 GiB) or 8GB. A file that does not fit is refused; `embed`, `features` and `count`
    /// plan all work within it, and `embed` moves what does not fit to temporary files [default: what the machine has
    /// free].
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, help_heading = HEADING)]
    memory: Option<u64>,
}

const HEADING: &str = "Input options";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Yes,
    No,
}

impl Answer {
    fn is_yes(self) -> bool {
        self == Answer::Yes
    }
}

impl InputArgs {
    /// Memory limit of the process.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.read.memory
    }

    /// The graph as it was named.
    pub(crate) fn path(&self) -> &str {
        &self.input
    }

    /// What the graph is called: `soc-wiki-Vote` for `dir/soc-wiki-Vote.edges.gz`.
    pub(crate) fn name(&self) -> String {
        stem(&self.input)
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> Files {
        self.read.files([&self.input])
    }

    /// Reads the graph, and notes on standard error what was a guess and what was dropped on the way.
    pub(crate) fn open(&self, context: &Context) -> anyhow::Result<Graph> {
        self.read.open(&self.input, context)
    }

    /// The same for work that does not use weights: no note recommends keeping them.
    pub(crate) fn open_without_weights(&self, context: &Context) -> anyhow::Result<Graph> {
        let graph = open(&self.input, &self.read.options()?, false, context)?;
        note_idle_weights(&graph, context);
        Ok(graph)
    }
}

impl ReadArgs {
    /// Reads a graph, and notes on standard error what was dropped on the way.
    pub(crate) fn open(&self, input: &str, context: &Context) -> anyhow::Result<Graph> {
        open(input, &self.options()?, true, context)
    }

    /// These options, of a graph that no record names.
    fn options(&self) -> Result<ReadOptions, Error> {
        Ok(ReadOptions {
            memory: self.memory,
            ..self.over(ReadOptions::default())?
        })
    }

    /// The files that are read for these graphs.
    pub(crate) fn files<P: AsRef<Path>>(&self, inputs: impl IntoIterator<Item = P>) -> Files {
        let files = Files::default().read("INPUT", inputs);
        files.read("--nodes", &self.nodes)
    }

    /// Memory limit of the process.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Whether the direction of edges is requested.
    pub(crate) fn is_directed(&self) -> bool {
        self.directed.is_some_and(Answer::is_yes)
    }

    /// These options on top of others.
    fn over(&self, below: ReadOptions) -> Result<ReadOptions, Error> {
        let kept = self.weighted.is_none_or(Answer::is_yes);
        if self.weight.is_some() && !kept {
            let message = "--weight names a column of weights and --weighted=no drops them; leave one of the two out";
            return Err(Error::config("--weighted", message));
        }
        Ok(ReadOptions {
            format: self.input_format.or(below.format),
            directed: self.directed.map_or(below.directed, Answer::is_yes),
            weighted: self.weight.is_some() || self.weighted.map_or(below.weighted, Answer::is_yes),
            delimiter: self.delimiter.clone().or(below.delimiter),
            comment: self.comment.or(below.comment),
            header: self.header.map(Answer::is_yes).or(below.header),
            source: self.source.clone().or(below.source),
            target: self.target.clone().or(below.target),
            weight: self.weight.clone().or(below.weight.filter(|_| kept)),
            bipartite: self.bipartite.map(Answer::is_yes).or(below.bipartite),
            nodes: self.nodes.clone().or(below.nodes),
            memory: below.memory,
        })
    }
}

impl GraphArgs {
    /// Whether the command line leaves weights in the graph, where a setting asks for them.
    pub(crate) fn keeps_weights(&self) -> bool {
        self.read.weighted.is_none_or(Answer::is_yes)
    }

    /// Memory limit of the process.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.read.memory
    }

    /// Determines what is read and how: the options of the command line over those of the record `config`, whose files are
    /// looked for where the command line does not replace them.
    pub(crate) fn resolve(&self, config: Option<&Path>) -> Result<GraphSource, Error> {
        let recorded = config.map(Recorded::read).transpose()?.flatten();
        let recorded = config.map(Path::to_path_buf).zip(recorded);
        let then = recorded.as_ref().and_then(|(record, recorded)| {
            let input = recorded.input.clone()?;
            Some((input, move |named: &str| recorded.locate(record, named)))
        });
        let (mut path, mut before) = (self.input.clone(), ReadOptions::default());
        if let Some((input, locate)) = then {
            before = input.options;
            if path.is_none() {
                path = Some(locate(&input.path)?);
            }
            let nodes = before.nodes.as_mut().filter(|_| self.read.nodes.is_none());
            if let Some(nodes) = nodes
                && let Some(named) = nodes.to_str()
            {
                *nodes = locate(named)?.into();
            }
        }
        let path = path.ok_or_else(|| {
            let shown = config.unwrap_or(Path::new("")).display();
            let message = format!("{shown} names no graph; give one, such as graph.tsv");
            Error::config("INPUT", message)
        })?;
        let options = self.read.over(before.clone())?;
        Ok(GraphSource {
            otherwise: recorded.is_some() && options != before,
            input: Input { path, options },
            recorded,
            changed: self.changed.unwrap_or_default(),
        })
    }
}

fn formats() -> impl TypedValueParser<Value = InputFormat> {
    PossibleValuesParser::new(InputFormat::ALL.map(InputFormat::name))
        .map(|name| name.parse().expect("one of the names just listed"))
}

/// A size of memory.
pub(crate) fn parse_memory(text: &str) -> Result<u64, String> {
    memory::parse_bytes(text).ok_or_else(|| "give a size such as 8G (8 GiB), 512M or 8GB".into())
}

fn comment(text: &str) -> Result<Comment, String> {
    text.parse().map_err(|_| {
        format!("`{text}` cannot begin comments; give a character such as # or %, or none")
    })
}

fn column(text: &str) -> Result<Column, String> {
    if text.is_empty() {
        Err("give a name or a position from 0".into())
    } else {
        Ok(text.into())
    }
}

/// Settings of readers and the options that give them.
const OPTIONS: &[Known] = &[
    ("bipartite", "--bipartite"),
    ("comment", "--comment"),
    ("delimiter", "--delimiter"),
    ("directed", "--directed"),
    ("format", "--input-format"),
    ("header", "--header"),
    ("nodes", "--nodes"),
    ("source", "--source"),
    ("target", "--target"),
    ("weight", "--weight"),
    ("weighted", "--weighted"),
    ("weights", "--weighted"),
];

/// A graph that is about to be read, and the record that it should agree with.
#[derive(Debug)]
pub(crate) struct GraphSource {
    /// Where and how; for the record of this run.
    pub(crate) input: Input,
    /// The file of the record, and what it says.
    recorded: Option<(PathBuf, Recorded)>,
    /// Whether the command line reads it with other options than the record.
    otherwise: bool,
    /// What becomes of inputs that are not as recorded.
    pub(crate) changed: Changed,
}

impl GraphSource {
    /// What the graph is called.
    pub(crate) fn name(&self) -> String {
        stem(&self.input.path)
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> Files {
        let files = Files::default().read("INPUT", [&self.input.path]);
        files.read("--nodes", &self.input.options.nodes)
    }

    /// Reads the graph, notes what was dropped on the way, and compares it with the record. Work that does not use
    /// `weights` gets no note that recommends keeping them. The process may hold `memory` bytes; by default what the
    /// machine has free.
    pub(crate) fn open(
        &self,
        weights: bool,
        memory: Option<u64>,
        context: &Context,
    ) -> anyhow::Result<Graph> {
        let Input { path, options } = &self.input;
        if context.engine().processes() > 1 && is_stream(path.as_ref()) {
            let message = format!("several processes cannot read {path}; give a file");
            return Err(Error::config("INPUT", message).into());
        }
        let mut options = options.clone();
        options.memory = memory;
        let graph = open(path, &options, weights, context);
        let graph = graph.map_err(|error| self.named_by_record(error))?;
        let Some((file, recorded)) = &self.recorded else {
            return Ok(graph);
        };
        note_version(file, context)?;
        if let Some(how) = recorded.difference(&graph) {
            let how = format!("not the graph of {}: {how}", file.display());
            if self.otherwise {
                context.note(format_args!(
                    "note: {path}: {how}; the command line reads it with other options, so a file that has changed since                      would not be noticed"
                ));
            } else {
                self.changed.differs(path, how, context)?;
            }
        }
        Ok(graph)
    }

    /// The same for `work` that plans its memory: if the graph does not fit, the refusal names a limit that is
    /// enough for both.
    pub(crate) fn open_for(
        &self,
        work: Work,
        weights: bool,
        memory: Option<u64>,
        context: &Context,
    ) -> anyhow::Result<Graph> {
        let graph = self.open(weights, memory, context);
        graph.map_err(|mut error| {
            if let Some(Error::Memory {
                stage,
                need,
                least,
                limit,
                remedy,
            }) = error.downcast_mut()
            {
                let more = foreseen(&self.input, *limit, work);
                *least = more.is_none();
                if let Some(more) = more {
                    stage.push_str(", with the work that follows,");
                    *need = more.max(*need);
                    *remedy = "raise the memory limit, or give a smaller graph".into();
                }
            }
            error
        })
    }

    /// Says of an option that the graph refuses whether it comes from the record.
    fn named_by_record(&self, mut error: anyhow::Error) -> anyhow::Error {
        if let Some((file, Recorded { input: Some(_), .. })) = &self.recorded
            && let Some(Error::Config { field, message }) = error.downcast_mut()
        {
            let remedy = match field.as_str() {
                "--directed" | "--weighted" => format!("; {field}=no takes that back"),
                _ => String::new(),
            };
            let record = file.display();
            *message += &format!(" (other options are those of {record}{remedy})");
        }
        error
    }

    /// Compares a file of attributes with the record.
    pub(crate) fn check_attributes(
        &self,
        attributes: Option<&str>,
        context: &Context,
    ) -> Result<(), Error> {
        let (Some(path), Some((file, recorded))) = (attributes, &self.recorded) else {
            return Ok(());
        };
        let Some(then) = &recorded.attributes else {
            return Ok(());
        };
        if path == then.file && !Path::new(path).exists() {
            record::locate(file, recorded.folder.as_deref(), path)?;
        }
        match then.difference(&content(path)?) {
            Some(how) => {
                let message = format!("not the attributes of {}: {how}", file.display());
                self.changed.differs(path, message, context)
            }
            None => Ok(()),
        }
    }
}

/// Reads a graph, together with the other processes if there are some, and notes what was dropped on the way; work that
/// does not use `weights` gets no note that recommends keeping them.
fn open(
    input: &str,
    options: &ReadOptions,
    weights: bool,
    context: &Context,
) -> anyhow::Result<Graph> {
    let division = Division::among(context.engine().communicator());
    let graph = read_divided(input, options, &division, context.progress());
    let graph = graph.map_err(|error| translated(error, OPTIONS))?;
    note_dropped(&graph, weights, context);
    Ok(graph)
}

/// `soc-wiki-Vote` for `dir/soc-wiki-Vote.edges.gz`.
pub(crate) fn stem(input: &str) -> String {
    let name = Path::new(input).file_name().unwrap_or(input.as_ref());
    let name = name.to_string_lossy();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.to_owned()
}

/// Notes guesses made while reading the graph, with the option that changes them, and what was dropped.
pub(crate) fn note_dropped(graph: &Graph, weights: bool, context: &Context) {
    let option = |name: &str, value: &str| match value {
        "" => format!("--{name}"),
        "yes" if name == "bipartite" => "--bipartite".to_owned(),
        _ if value.chars().all(|c| c.is_ascii_alphanumeric() || c == '%') => {
            format!("--{name} {value}")
        }
        _ => format!("--{name} '{value}'"),
    };
    for note in reading(graph).iter().flat_map(|reading| &reading.notes) {
        let kind = if note.is_warning() { "warning" } else { "note" };
        context.note(format_args!("{kind}: {}", note.show(&option)));
    }
    let dropped = graph.dropped();
    if !dropped.is_empty() {
        let remedy = match (dropped.weights > 0, weights) {
            (true, true) => " (--weighted keeps and uses weights)",
            (true, false) => " (weights are not used here)",
            (false, _) => "",
        };
        let added = match dropped.duplicates > 0 && graph.weights().is_some() {
            true => "; the weights of duplicate edges are added",
            false => "",
        };
        context.note(format_args!("note: {dropped}{remedy}{added}"));
    }
}

/// Notes that weights were read for work that does not use them.
pub(crate) fn note_idle_weights(graph: &Graph, context: &Context) {
    if graph.weights().is_some() {
        context.note("note: weights are not used here");
    }
}

/// Bytes that may be used, whatever the limit, to read a file for its size alone.
const AGAIN: u64 = 256 << 20;
/// Edges of the largest ring: as many as can be, and bytes of the limit for each.
const LARGEST: u64 = 1 << 20;
const PER_EDGE: u64 = 128;
/// Edges that every ring may have: with fewer, what one part adds would be lost in what a process holds anyway.
const SMALLEST: u64 = 1 << 16;

/// Work on a graph under a limit of one byte.
pub(crate) type Work<'a> = &'a dyn Fn(&Graph) -> Result<(), Error>;

/// Bytes that the work on a graph takes that did not fit, estimated from its size.
///
/// The needs of the stages are linear in nodes and edges, or maxima of such terms. So the work is tried, under a limit
/// of one byte, on a ring with as many nodes and edges, in which each node is linked to the next few; the refusal says
/// what it needs. For a large graph the need is extrapolated from two smaller rings.
fn foreseen(input: &Input, limit: u64, work: Work) -> Option<u64> {
    let options = ReadOptions {
        memory: Some(limit.max(AGAIN)),
        ..input.options.clone()
    };
    let sizes = sizes(&input.path, &options, &Silent).ok().flatten()?;
    let largest = (limit / PER_EDGE).clamp(SMALLEST, LARGEST);
    let parts = sizes.edges.max(sizes.nodes).div_ceil(largest).max(1);
    let of = |parts: u64| -> Option<u64> {
        let (nodes, edges) = (sizes.nodes.div_ceil(parts), sizes.edges.div_ceil(parts));
        match work(&ring(nodes, edges, input)?) {
            Err(Error::Memory { need, .. }) => Some(need),
            _ => None,
        }
    };
    let one = of(parts)?;
    // What one part more adds is seen by comparison with half of it.
    let added = match parts {
        1 => 0,
        _ => 2 * one.saturating_sub(of(2 * parts)?),
    };
    Some(one + added * (parts - 1) + sizes.leftover())
}

/// A ring of this many nodes and edges.
fn ring(nodes: u64, edges: u64, input: &Input) -> Option<Graph> {
    let count = u32::try_from(nodes.max(3)).ok()?;
    let nodes = u64::from(count);
    let ends = |edge: u64| {
        let (from, step) = (edge % nodes, 1 + edge / nodes % (nodes - 1));
        (from as u32, ((from + step) % nodes) as u32)
    };
    let options = &input.options;
    let mut builder = match options.directed {
        true => GraphBuilder::directed(count as usize),
        false => GraphBuilder::undirected(count as usize),
    };
    builder = builder.edges((0..edges).map(ends).collect::<Vec<_>>());
    if options.weighted || options.weight.is_some() {
        builder = builder.weights(vec![1.0; edges as usize]);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems() {
        assert_eq!(stem("x/soc-wiki-Vote.edges.gz"), "soc-wiki-Vote");
        assert_eq!(stem("builtin:karate"), "builtin:karate");
    }
}
