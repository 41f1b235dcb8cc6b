//! [`GraphSource`]: a graph that is about to be read, compared with the record of an earlier run if there is one.

use std::path::{Path, PathBuf};

use hone::attributes::content;
use hone::graph::{Division, Graph, Input, ReadOptions, Recorded, read_divided};
use hone::output::is_stream;
use hone::{Error, record};

use crate::context::Context;
use crate::files::Files;
use crate::forecast::{Work, foreseen};
use crate::options::{Known, translated};
use crate::reading::note_dropped;
use crate::repeat::{Changed, note_version};

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
    pub(crate) recorded: Option<(PathBuf, Recorded)>,
    /// Whether the command line reads it with other options than the record.
    pub(crate) otherwise: bool,
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
        Files::default()
            .read("INPUT", [&self.input.path])
            .read("--nodes", &self.input.options.nodes)
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
        let graph = open(
            path,
            &ReadOptions {
                memory,
                ..options.clone()
            },
            weights,
            context,
        );
        let graph = graph.map_err(|error| self.named_by_record(error))?;
        let Some((file, recorded)) = &self.recorded else {
            return Ok(graph);
        };
        note_version(file, context)?;
        match recorded.difference(&graph) {
            Some(how) if self.otherwise => context.note(format_args!(
                "note: {path}: not the graph of {}: {how}; the command line reads it with other options, so a file that \
                 has changed since would not be noticed",
                file.display()
            )),
            Some(how) => self.changed.differs(path, format!("not the graph of {}: {how}", file.display()), context)?,
            None => {}
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
        self.open(weights, memory, context)
            .map_err(|error| foreseen(error, &self.input, work))
    }

    /// Says of an option that the graph refuses whether it comes from the record.
    fn named_by_record(&self, error: anyhow::Error) -> anyhow::Error {
        match (&self.recorded, error.downcast_ref::<Error>()) {
            (Some((file, recorded)), Some(Error::Config { field, message }))
                if recorded.input.is_some() =>
            {
                let record = file.display();
                let no = ["--directed", "--weighted"].contains(&field.as_str());
                let remedy = if no {
                    format!("; {field}=no takes that back")
                } else {
                    String::new()
                };
                let message = format!("{message} (other options are those of {record}{remedy})");
                Error::config(field.clone(), message).into()
            }
            _ => error,
        }
    }

    /// Compares a file of attributes with the record.
    pub(crate) fn check_attributes(
        &self,
        attributes: Option<&str>,
        context: &Context,
    ) -> Result<(), Error> {
        let Some((file, recorded)) = &self.recorded else {
            return Ok(());
        };
        let folder = &recorded.folder;
        let Some((path, recorded)) = attributes.zip(recorded.attributes.as_ref()) else {
            return Ok(());
        };
        if path == recorded.file && !Path::new(path).exists() {
            record::locate(file, folder.as_deref(), path)?;
        }
        match recorded.difference(&content(path)?) {
            Some(how) => self.changed.differs(
                path,
                format!("not the attributes of {}: {how}", file.display()),
                context,
            ),
            None => Ok(()),
        }
    }
}

/// Reads a graph, together with the other processes if there are some, and notes what was dropped on the way; work that does not use `weights` gets no note that recommends
/// keeping them.
pub(crate) fn open(
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
    let name = Path::new(input)
        .file_name()
        .map_or_else(|| input.to_string(), |n| n.to_string_lossy().into_owned());
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    name.rsplit_once('.')
        .map_or(name, |(stem, _)| stem)
        .to_string()
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
