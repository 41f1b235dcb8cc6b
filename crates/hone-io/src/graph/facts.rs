//! Statistics of a graph, where it was read, and whether it is the same as before: what a record stores to
//! repeat a run.

use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{BUILTIN_PREFIX, Graph, ReadOptions, Reading, reading};
use crate::error::{Error, Result};
use crate::output::Written;
use crate::record;

/// Size and kind of the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphFacts {
    /// N.
    pub nodes: usize,
    /// M.
    pub edges: usize,
    /// Whether arcs have a direction.
    pub directed: bool,
    /// Whether edges have weights.
    pub weighted: bool,
    /// How its file was understood, if it comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// [`Graph::fingerprint`], where the run recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// [`Graph::edge_fingerprint`], where the run recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_fingerprint: Option<String>,
}

impl GraphFacts {
    /// Those of a graph.
    pub fn of(graph: &Graph) -> Self {
        GraphFacts {
            nodes: graph.nodes(),
            edges: graph.edges(),
            directed: graph.is_directed(),
            weighted: graph.weights().is_some(),
            reading: reading(graph).cloned(),
            fingerprint: Some(graph.fingerprint()),
            edge_fingerprint: Some(graph.edge_fingerprint()),
        }
    }
}

/// From where and how a graph is read: enough to read it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file as the user named it, `-` for standard input, or `builtin:NAME`.
    pub path: String,
    /// Direction, weights, columns, node list and all else that decides what is read.
    pub options: ReadOptions,
}

/// What the record of a run says about its inputs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Recorded {
    /// Where it was read.
    #[serde(default)]
    pub input: Option<Input>,
    /// What it was.
    pub graph: GraphFacts,
    /// The file of attributes, if there was one.
    #[serde(default)]
    pub attributes: Option<RecordedFile>,
    /// The folder of the run, relative to that of the record.
    #[serde(default)]
    pub folder: Option<PathBuf>,
}

/// What the record of a run says about a file that it read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFile {
    /// The file.
    pub file: String,
    /// Length and checksum of it, and of the files that belong to it.
    #[serde(default)]
    pub content: Vec<Written>,
}

impl RecordedFile {
    /// How files with this content differ from the recorded ones; nothing when they are the same, or when that cannot be
    /// known. Names do not count.
    pub fn difference(&self, now: &[Written]) -> Option<String> {
        let then = &self.content;
        if then.is_empty() || now.is_empty() {
            return None;
        }
        let mut pairs = then.iter().zip(now);
        pairs.find_map(|(then, now)| then.change(now)).or_else(|| {
            let (before, now) = (then.len(), now.len());
            (before != now).then(|| format!("the number of files was {before}, now it is {now}"))
        })
    }
}

/// Whether a file describes a graph.
#[derive(Deserialize)]
struct OfGraph {
    graph: Option<IgnoredAny>,
}

impl Recorded {
    /// Reads what `OUT.run.json` says; nothing for a configuration, which is of no particular graph.
    pub fn read(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = path.as_ref();
        if path.exists() && !path.is_file() {
            // A pipe, which was read for its settings.
            return Ok(None);
        }
        let Some(text) = record::read(path)? else {
            return Err(Error::io(path, std::io::ErrorKind::NotFound.into()));
        };
        let wrong =
            |what: String| Error::input(path, what, "give the OUT.run.json of an earlier run");
        if !text.trim_ascii_start().starts_with(b"{") {
            return Ok(None);
        }
        let found: OfGraph = record::parse(&text).map_err(wrong)?;
        found
            .graph
            .map(|_| record::parse(&text))
            .transpose()
            .map_err(wrong)
    }

    /// Where an input is that the record in the file `record` names: a file in the folder of the run, wherever this process
    /// is, or what is no file.
    pub fn locate(&self, record: impl AsRef<Path>, named: &str) -> Result<String> {
        if named.starts_with(BUILTIN_PREFIX) {
            return Ok(named.to_owned());
        }
        record::locate(record.as_ref(), self.folder.as_deref(), named)
    }

    /// The graph of the record in the file `record` and how it was read, its files [located](Recorded::locate).
    pub fn located_input(&self, record: impl AsRef<Path>) -> Result<Option<Input>> {
        let record = record.as_ref();
        let Some(Input { path, mut options }) = self.input.clone() else {
            return Ok(None);
        };
        let path = self.locate(record, &path)?;
        if let Some(nodes) = &mut options.nodes {
            *nodes = self.locate(record, &nodes.to_string_lossy())?.into();
        }
        Ok(Some(Input { path, options }))
    }

    /// How a graph differs from the recorded one; nothing when it is the same, or when that cannot be known.
    pub fn difference(&self, graph: &Graph) -> Option<String> {
        let (then, now) = (&self.graph, GraphFacts::of(graph));
        if then.fingerprint.is_none() || then.fingerprint == now.fingerprint {
            return None;
        }
        let counted = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        let size = |facts: &GraphFacts| {
            format!(
                "{} and {}",
                counted(facts.nodes, "node"),
                counted(facts.edges, "edge")
            )
        };
        let kind = |flag: bool, yes: &'static str, no: &'static str| if flag { yes } else { no };
        Some(if (then.nodes, then.edges) != (now.nodes, now.edges) {
            format!("{} then, {} now", size(then), size(&now))
        } else if then.directed != now.directed {
            let named = |facts: &GraphFacts| kind(facts.directed, "directed", "undirected");
            format!("{} then, {} now", named(then), named(&now))
        } else if then.weighted != now.weighted {
            let named = |facts: &GraphFacts| kind(facts.weighted, "weighted", "without weights");
            format!("{} then, {} now", named(then), named(&now))
        } else {
            "the same numbers of nodes and edges, but other ids, edges or weights, or another order of nodes".to_owned()
        })
    }
}
