//! [`InputArgs`]: the graph a command works on, and how to read it. [`GraphArgs`]: the same for a command that can repeat
//! an earlier run.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use hone::graph::{Column, Comment, Graph, Input, InputFormat, ReadOptions, Recorded};
use hone::{Error, memory};

use crate::context::Context;
use crate::files::Files;
use crate::reading::note_idle_weights;
use crate::repeat::Changed;
use crate::source::{GraphSource, open, stem};

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
        Files::default()
            .read("INPUT", inputs)
            .read("--nodes", &self.nodes)
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

    /// Determines what is read and how: the options of the command line over those of the record `config`.
    pub(crate) fn resolve(&self, config: Option<&Path>) -> Result<GraphSource, Error> {
        let recorded = config.map(Recorded::read).transpose()?.flatten();
        let recorded = config.map(Path::to_path_buf).zip(recorded);
        let (path, options) = self.recorded_input(recorded.as_ref())?;
        let path = self.input.clone().or(path).ok_or_else(|| {
            let shown = config.unwrap_or(Path::new("")).display();
            Error::config(
                "INPUT",
                format!("{shown} names no graph; give one, such as graph.tsv"),
            )
        })?;
        let before = options.clone();
        let input = Input {
            path,
            options: self.read.over(options)?,
        };
        let otherwise = recorded.is_some() && input.options != before;
        Ok(GraphSource {
            input,
            recorded,
            otherwise,
            changed: self.changed.unwrap_or(Changed::Refuse),
        })
    }

    /// The graph of a record and how it was read; files that the command line does not replace are looked for.
    fn recorded_input(
        &self,
        recorded: Option<&(PathBuf, Recorded)>,
    ) -> Result<(Option<String>, ReadOptions), Error> {
        let Some((record, recorded)) = recorded else {
            return Ok(Default::default());
        };
        let Some(Input { path, mut options }) = recorded.input.clone() else {
            return Ok(Default::default());
        };
        let locate = |named: &str| recorded.locate(record, named);
        let path = if self.input.is_none() {
            locate(&path)?
        } else {
            path
        };
        if let Some(nodes) = options.nodes.as_mut().filter(|_| self.read.nodes.is_none()) {
            *nodes = nodes.to_str().map_or_else(
                || Ok(nodes.clone()),
                |named| locate(named).map(PathBuf::from),
            )?;
        }
        Ok((Some(path), options))
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
