//! The graph that a command works on: how it is read, compared with the record of an earlier run, and what is noted.
//!
//! [`InputArgs`] are the options; [`GraphArgs`] those of a command that can repeat an earlier run, [`GraphSource`] what is
//! read then.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hone::attributes::content;
use hone::graph::{
    Column, Division, Graph, GraphBuilder, Input, InputFormat, ReadOptions, Recorded, read,
    read_divided, reading, sizes,
};
use hone::message::{message, setting};
use hone::output::is_stream;
use hone::{Error, Silent, memory, record};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::files::Files;
use crate::repeat::{Changed, Earlier, note_version};

/// The input graph; flatten this into the `Args` of any command that reads one.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    /// The graph: a file, - for standard input, or builtin:NAME (karate, florentine, petersen, …).
    ///
    /// Edge lists, Matrix Market, Parquet and METIS files, plain or with .gz or .zst, are recognised
    /// by content and extension.
    #[arg(value_name = "INPUT")]
    pub(crate) input: String,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
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
    #[arg(long, value_enum, value_name = "WHAT", requires = "config", help_heading = HEADING)]
    changed: Option<Changed>,
}

/// The same for a command whose choices are all in its record, and in no configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct RepeatableArgs {
    #[command(flatten)]
    graph: GraphArgs,
    /// Repeat an earlier run: its OUT.run.json, with the graph and all choices; other options override these.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

impl RepeatableArgs {
    /// What the run of `command` that is repeated has chosen, if one is.
    pub(crate) fn earlier<T: DeserializeOwned>(
        &self,
        command: &str,
    ) -> Result<Option<Earlier<T>>, Error> {
        let config = self.config.as_deref();
        config.map(|path| Earlier::read(path, command)).transpose()
    }

    /// Whether the command line names the graph.
    pub(crate) fn names_graph(&self) -> bool {
        self.graph.input.is_some()
    }

    /// Determines what is read and how, and lists the files.
    pub(crate) fn resolve(&self) -> Result<(GraphSource, Files), Error> {
        self.resolve_or(None)
    }

    /// The same with a file that is read where the command line names no graph, before that of the record.
    pub(crate) fn resolve_or(&self, other: Option<&Path>) -> Result<(GraphSource, Files), Error> {
        let source = self.graph.resolve_or(other, self.config.as_deref())?;
        let files = source.files().read("--config", &self.config);
        Ok((source, files))
    }
}

/// How a graph is read; flatten this where there are several, or where the graph has an argument of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of the input, whatever its extension.
    #[arg(id = "format", long = "input-format", value_name = "FORMAT", value_parser = formats(), help_heading = HEADING)]
    input_format: Option<InputFormat>,
    /// Keep the direction of edges; --no-directed drops it.
    #[arg(long, overrides_with = "no_directed", help_heading = HEADING)]
    directed: bool,
    #[arg(long, hide = true, overrides_with = "directed")]
    no_directed: bool,
    /// Use edge weights; --no-weighted ignores them.
    #[arg(long, overrides_with = "no_weighted", help_heading = HEADING)]
    weighted: bool,
    #[arg(long, hide = true, overrides_with = "weighted")]
    no_weighted: bool,
    /// What separates columns: a character, tab, space, symbols such as ::, or copy for the text of PostgreSQL's COPY
    /// [default: auto-detected].
    #[arg(long, value_name = "CHAR", allow_hyphen_values = true, help_heading = HEADING)]
    delimiter: Option<String>,
    /// Start of comment lines: a character, or none [default: # and %, before the first edge].
    #[arg(long, value_name = "CHAR|none", help_heading = HEADING)]
    comment: Option<String>,
    /// The first line names the columns; --no-header: it is an edge [default: an edge if it has a number or an id that comes
    /// again].
    #[arg(long, overrides_with = "no_header", help_heading = HEADING)]
    header: bool,
    #[arg(long, hide = true, overrides_with = "header")]
    no_header: bool,
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
    /// are prefixed with the name of their column (user:1, item:1); --no-bipartite: all are of one
    /// kind.
    #[arg(long, overrides_with = "no_bipartite", help_heading = HEADING)]
    bipartite: bool,
    #[arg(long, hide = true, overrides_with = "bipartite")]
    no_bipartite: bool,
    /// A file with one node id per line: fixes the order of nodes and adds those without an edge.
    #[arg(id = "nodes", long = "node-list", value_name = "FILE", help_heading = HEADING)]
    node_list: Option<PathBuf>,
    /// Memory limit, such as 8G (8 GiB) or 8GB. A file that does not fit is refused; `embed`, `features` and `count`
    /// plan all work within it, and `embed` moves what does not fit to temporary files [default: what the machine has
    /// free].
    #[arg(long, value_name = "SIZE", value_parser = parse_memory, help_heading = HEADING)]
    pub(crate) memory: Option<u64>,
}

const HEADING: &str = "Input options";

/// What an option and its opposite say, if one is given.
pub(crate) fn said(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

impl InputArgs {
    /// The graph that is read.
    pub(crate) fn source(&self) -> Result<GraphSource, Error> {
        self.read.source(&self.input)
    }
}

impl ReadArgs {
    /// A graph that no record names.
    pub(crate) fn source(&self, input: &str) -> Result<GraphSource, Error> {
        Ok(GraphSource {
            input: Input {
                path: input.to_owned(),
                options: self.over(ReadOptions::default())?,
            },
            memory: self.memory,
            recorded: None,
            added: None,
            otherwise: false,
            changed: Changed::Refuse,
        })
    }

    /// The files that are read for these graphs.
    pub(crate) fn files<P: AsRef<Path>>(&self, inputs: impl IntoIterator<Item = P>) -> Files {
        let files = Files::default().read("INPUT", inputs);
        files.read("--node-list", &self.node_list)
    }

    /// Whether the direction of edges is requested.
    pub(crate) fn is_directed(&self) -> bool {
        self.directed
    }

    /// These options on top of others.
    fn over(&self, below: ReadOptions) -> Result<ReadOptions, Error> {
        let kept = !self.no_weighted;
        if self.weight.is_some() && !kept {
            let message = "--weight names a column of weights and --no-weighted drops them; leave one of the two out";
            return Err(Error::config("--no-weighted", message));
        }
        let or = |yes, no, below| said(yes, no).unwrap_or(below);
        Ok(ReadOptions {
            format: self.input_format.or(below.format),
            directed: or(self.directed, self.no_directed, below.directed),
            weighted: self.weight.is_some() || or(self.weighted, self.no_weighted, below.weighted),
            delimiter: self.delimiter.clone().or(below.delimiter),
            comment: self.comment.clone().or(below.comment),
            header: said(self.header, self.no_header).or(below.header),
            source: self.source.clone().or(below.source),
            target: self.target.clone().or(below.target),
            weight: self.weight.clone().or(below.weight.filter(|_| kept)),
            bipartite: said(self.bipartite, self.no_bipartite).or(below.bipartite),
            nodes: self.node_list.clone().or(below.nodes),
            memory: below.memory,
        })
    }
}

impl GraphArgs {
    /// Whether the command line leaves weights in the graph, where a setting asks for them.
    pub(crate) fn keeps_weights(&self) -> bool {
        !self.read.no_weighted
    }

    /// Determines what is read and how: the options of the command line over those of the record `config`, whose files are
    /// looked for where the command line does not replace them.
    pub(crate) fn resolve(&self, config: Option<&Path>) -> Result<GraphSource, Error> {
        self.resolve_or(None, config)
    }

    fn resolve_or(
        &self,
        other: Option<&Path>,
        config: Option<&Path>,
    ) -> Result<GraphSource, Error> {
        let recorded = config.map(Recorded::read).transpose()?.flatten();
        let recorded = config.map(Path::to_path_buf).zip(recorded);
        let other = other.map(|path| path.display().to_string());
        let (mut path, mut before) = (self.input.clone().or(other), ReadOptions::default());
        if let Some((record, recorded)) = &recorded
            && let Some(input) = recorded.input.clone()
        {
            before = input.options;
            if path.is_none() {
                path = Some(recorded.locate(record, &input.path)?);
            }
            let nodes = before
                .nodes
                .as_mut()
                .filter(|_| self.read.node_list.is_none());
            if let Some(nodes) = nodes
                && let Some(named) = nodes.to_str()
            {
                *nodes = recorded.locate(record, named)?.into();
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
            memory: self.read.memory,
            recorded,
            added: None,
            changed: self.changed.unwrap_or_default(),
        })
    }
}

/// Takes one of these names.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let parse = move |name: String| parse(&name).expect("one of those listed");
    PossibleValuesParser::new(names).map(parse)
}

fn formats() -> impl TypedValueParser<Value = InputFormat> {
    one_of(InputFormat::ALL.map(InputFormat::name), |name| {
        name.parse().ok()
    })
}

/// A size of memory.
pub(crate) fn parse_memory(text: &str) -> Result<u64, String> {
    memory::parse_bytes(text).ok_or_else(|| "give a size such as 8G (8 GiB), 512M or 8GB".into())
}

fn column(text: &str) -> Result<Column, String> {
    if text.is_empty() {
        Err("give a name or a position from 0".into())
    } else {
        Ok(text.into())
    }
}

/// A graph that is about to be read, and the record that it should agree with.
#[derive(Debug)]
pub(crate) struct GraphSource {
    /// Where and how; for the record of this run.
    pub(crate) input: Input,
    /// Bytes that the process may hold, if the user gives a limit.
    pub(crate) memory: Option<u64>,
    /// The file of the record, and what it says.
    recorded: Option<(PathBuf, Recorded)>,
    /// Edges that are added to it.
    pub(crate) added: Option<PathBuf>,
    /// Whether the command line reads it with other options than the record.
    otherwise: bool,
    /// What becomes of inputs that are not as recorded.
    pub(crate) changed: Changed,
}

impl GraphSource {
    /// What the graph is called: `soc-wiki-Vote` for `dir/soc-wiki-Vote.edges.gz`.
    pub(crate) fn name(&self) -> String {
        let name = Path::new(&self.input.path).file_name();
        let name = name.unwrap_or(self.input.path.as_ref()).to_string_lossy();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        stem.to_owned()
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> Files {
        let files = Files::default().read("INPUT", [&self.input.path]);
        files.read("--node-list", &self.input.options.nodes)
    }

    /// Reads the graph, together with the other processes if there are some, notes what was a guess and what was dropped
    /// on the way, and compares it with the record. Work that does not use `weights` gets no note that recommends keeping
    /// them.
    pub(crate) fn open(&self, weights: bool, context: &Context) -> anyhow::Result<Graph> {
        let Input { path, options } = &self.input;
        let engine = context.engine();
        if engine.processes() > 1 && is_stream(path.as_ref()) {
            let message = format!("several processes cannot read {path}; give a file");
            return Err(Error::config("INPUT", message).into());
        }
        let options = ReadOptions {
            memory: context.memory(self.memory),
            ..options.clone()
        };
        let division = Division::among(engine.communicator());
        let graph = read_divided(path, &options, &division, context.progress());
        let graph = graph.map_err(|error| self.named_by_record(error))?;
        note_dropped(&graph, weights, context);
        let graph = self.with_added(graph, &options, context)?;
        let Some((file, recorded)) = &self.recorded else {
            return Ok(graph);
        };
        note_version(file, context)?;
        if let Some(how) = recorded.difference(&graph) {
            let how = format!("not the graph of {}: {how}", file.display());
            if self.otherwise {
                context.note(format_args!(
                    "note: {path}: {how}; the command line reads it with other options, so a file that has changed since \
                     would not be noticed"
                ));
            } else {
                self.changed.differs(path, how, context)?;
            }
        }
        Ok(graph)
    }

    /// The graph with the edges that are added to it.
    fn with_added(
        &self,
        graph: Graph,
        options: &ReadOptions,
        context: &Context,
    ) -> anyhow::Result<Graph> {
        let Some(path) = &self.added else {
            return Ok(graph);
        };
        let options = ReadOptions {
            format: None,
            directed: graph.is_directed(),
            weighted: graph.weights().is_some(),
            nodes: None,
            ..options.clone()
        };
        let added = read_changes(path, &options, context)?;
        Ok(match added {
            Some(added) => graph.with_added(&added)?,
            None => graph,
        })
    }

    /// The same for `work` that plans its memory: if the graph does not fit, the refusal names a limit that is
    /// enough for both.
    pub(crate) fn open_for(
        &self,
        work: Work,
        weights: bool,
        context: &Context,
    ) -> anyhow::Result<Graph> {
        self.open(weights, context).map_err(|mut error| {
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
                    *remedy = message![
                        "raise ",
                        setting("memory_limit"),
                        ", or give a smaller graph"
                    ];
                }
            }
            error
        })
    }

    /// Says of an option that the graph refuses whether it comes from the record.
    fn named_by_record(&self, mut error: Error) -> Error {
        if let Some((file, Recorded { input: Some(_), .. })) = &self.recorded
            && let Error::Config { field, message } = &mut error
        {
            let remedy = match field.as_str() {
                "directed" | "weighted" => format!("; --no-{field} takes that back"),
                "weights" => "; --no-weighted takes that back".to_owned(),
                _ => String::new(),
            };
            let record = file.display();
            message.push(format!(" (other options are those of {record}{remedy})"));
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

/// Notes how the graph was read, with the options that decide otherwise, and what was merged or dropped; work that does not
/// use `weights` gets no recommendation to keep them.
pub(crate) fn note_dropped(graph: &Graph, weights: bool, context: &Context) {
    for note in reading(graph).iter().flat_map(|reading| &reading.notes) {
        let kind = if note.is_routine() { "read" } else { "note" };
        context.say(kind, &note.text);
    }
    let dropped = graph.dropped();
    let counted = |count: u64, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let merged = counted(dropped.duplicates, "duplicate edge").map(|edges| {
        let summed = graph.weights().map_or("", |_| "; weights are summed");
        format!("merged {edges}{summed}")
    });
    let parts = [
        (dropped.self_loops, "self-loop"),
        (dropped.weights, "weight"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter_map(|part| counted(part.0, part.1))
        .collect();
    let remedy = match (dropped.weights > 0, weights) {
        (true, true) => " (--weighted keeps and uses weights)",
        (true, false) => " (weights are not used here)",
        (false, _) => "",
    };
    let left_out = (!parts.is_empty()).then(|| format!("dropped {}{remedy}", parts.join(", ")));
    for note in left_out.into_iter().chain(merged) {
        context.note(format_args!("note: {note}"));
    }
}

/// The edges of a file of changes, if there are any.
pub(crate) fn read_changes(
    path: &Path,
    options: &ReadOptions,
    context: &Context,
) -> anyhow::Result<Option<Graph>> {
    if std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0) {
        return Ok(None);
    }
    let graph = read(path, options, context.progress())?;
    note_dropped(&graph, options.weighted, context);
    Ok(Some(graph))
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
