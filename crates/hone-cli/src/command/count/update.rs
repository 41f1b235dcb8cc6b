//! `hone count GRAPH --update COUNTS`: counts of a graph whose edges have changed, from those before.

use std::path::{Path, PathBuf};

use hone::Error;
use hone::graph::{Edits, Graph, ReadOptions};
use hone::memory::Allowance;
use hone::motif::Counts;
use hone::store::CountTable;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::files::Files;
use crate::input::{GraphSource, read_changes};
use crate::repeat::Earlier;

/// What changed since an earlier count.
#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    /// Exact counts per edge of the graph in INPUT (.parquet, .tsv or .csv with all motifs): count only what changes
    /// with --add and --remove. The result is the same as counting the changed graph.
    #[arg(long, value_name = "COUNTS", help_heading = HEADING)]
    update: Option<PathBuf>,
    /// Edges to add to the graph in INPUT, in any graph format; new ids are new nodes.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    add: Option<PathBuf>,
    /// Edges to remove from the graph in INPUT.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    remove: Option<PathBuf>,
}

const HEADING: &str = "Changed graphs";

/// The files of an update; part of a record, where a later run finds them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Update {
    pub(crate) counts: PathBuf,
    #[serde(default)]
    pub(crate) add: Option<PathBuf>,
    #[serde(default)]
    pub(crate) remove: Option<PathBuf>,
}

/// What an update did; part of a record.
#[derive(Debug, Serialize)]
pub(crate) struct Updated {
    nodes: usize,
    edges: usize,
    new_nodes: usize,
    added: usize,
    removed: usize,
    /// Edges of --add that the graph had already.
    present: u64,
}

impl UpdateArgs {
    /// What the command line says, over what a record says.
    pub(crate) fn over(&self, before: Option<Update>) -> Result<Option<Update>, Error> {
        let mut counts = self.update.clone();
        let (mut add, mut remove) = (self.add.clone(), self.remove.clone());
        if let Some(before) = before {
            counts = counts.or(Some(before.counts));
            if add.is_none() && remove.is_none() {
                (add, remove) = (before.add, before.remove);
            }
        }
        let (option, message) = match (counts, &add, &remove) {
            (None, None, None) => return Ok(None),
            (Some(_), None, None) => {
                let message = "nothing changes; name edges with --add FILE or --remove FILE";
                ("--update", message)
            }
            (Some(counts), ..) => {
                return Ok(Some(Update {
                    counts,
                    add,
                    remove,
                }));
            }
            (None, ..) => {
                let message = "needs --update COUNTS, the counts of the graph before the change";
                (if add.is_some() { "--add" } else { "--remove" }, message)
            }
        };
        Err(Error::config(option, message))
    }
}

impl Update {
    /// The same with the files of a record where they are now.
    pub(crate) fn located<T>(&self, earlier: &Earlier<T>) -> Result<Update, Error> {
        let locate = |path: &PathBuf| match path.to_str() {
            Some(named) => earlier.locate(named),
            None => Ok(path.clone()),
        };
        Ok(Update {
            add: self.add.as_ref().map(locate).transpose()?,
            remove: self.remove.as_ref().map(locate).transpose()?,
            counts: locate(&self.counts)?,
        })
    }

    /// Adds its files to those of a run.
    pub(crate) fn files(&self, files: Files) -> Files {
        files
            .read("--update", [&self.counts])
            .read("--add", &self.add)
            .read("--remove", &self.remove)
    }

    /// The changed graph and its counts.
    pub(crate) fn run(
        &self,
        source: &GraphSource,
        graph: &Graph,
        context: &Context,
    ) -> anyhow::Result<(Graph, Counts, Updated)> {
        let memory = context.memory(source.memory);
        let options = ReadOptions {
            format: None,
            directed: false,
            weighted: false,
            weight: None,
            nodes: None,
            memory,
            ..source.input.options.clone()
        };
        let read = |path: &Option<PathBuf>| match path {
            Some(path) => read_changes(path, &options, context),
            None => Ok(None),
        };
        let (added, removed) = (read(&self.add)?, read(&self.remove)?);
        let edits = graph.edits(added.as_ref(), removed.as_ref());
        let Edits {
            graph,
            added,
            removed,
            present,
            new_nodes,
        } = edits.map_err(|error| self.named(error))?;
        if let Some(path) = self.add.as_deref().filter(|_| present > 0) {
            let what = match present {
                1 => "1 edge is".to_owned(),
                _ => format!("{present} edges are"),
            };
            let path = path.display();
            context.note(format_args!(
                "note: {path}: {what} in the graph already and left out"
            ));
        }
        let allowance = Allowance::new(memory);
        let counts = CountTable::read(&self.counts, &graph, allowance, context.progress())?;
        let counts = counts.update_within(&added, &removed, allowance, context.progress())?;
        let graph = counts.graph(graph.ids().clone())?;
        let updated = Updated {
            nodes: graph.nodes(),
            edges: graph.edges(),
            new_nodes,
            added: added.len(),
            removed: removed.len(),
            present,
        };
        Ok((graph, counts, updated))
    }

    /// An error about a change, with its file, and its line where that is found.
    fn named(&self, error: Error) -> Error {
        match (error, &self.remove) {
            (Error::Config { field, message }, Some(path)) if field == "removed" => {
                let ids: Vec<&str> = message.quotes().collect();
                let remedy = "remove edges that INPUT has, and no others";
                let found = line_of(path, &ids);
                match found {
                    Some((line, text)) => {
                        Error::input_at(path, line, text.as_bytes(), message, remedy)
                    }
                    None => Error::input(path, message, remedy),
                }
            }
            (error, _) => error,
        }
    }
}

/// The first line of a text that has all ids as fields.
fn line_of(path: &Path, ids: &[&str]) -> Option<(u64, String)> {
    const LARGEST: u64 = 1 << 26;
    let file = std::fs::metadata(path).ok()?;
    if file.len() > LARGEST {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let is_between = |c: char| c.is_whitespace() || ",;|\"".contains(c);
    let has = |line: &str, id: &str| line.split(is_between).any(|field| field == id);
    let mut lines = (1..).zip(text.lines());
    let found = lines.find(|(_, line)| ids.iter().all(|id| has(line, id)));
    found.map(|(number, line)| (number, line.to_owned()))
}
