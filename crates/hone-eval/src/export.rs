//! A link-prediction split as files, for methods that are run elsewhere.
//!
//! | file | content |
//! |---|---|
//! | `train.tsv` | the remaining edges, a third column with their weights when they have some |
//! | `nodes.txt` | all node ids in order, one per line, also of nodes left without an edge |
//! | `pairs.tsv` | `source target label`: removed edges (1) and as many pairs without an edge (0) |
//! | `split.json` | seed, share, kind of the pairs without an edge, and both graphs in figures |
//!
//! Ids are quoted as in every other file of the project, so that the next command reads the same nodes and edges. Where
//! ids are text, `train.tsv` begins with a line of column names: no edge can then be taken for one. All files are written
//! before the first appears under its name, and a failure leaves none of them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hone::graph::{Graph, GraphFacts, NodeId, NodeIds, quoted, quoted_line};
use hone::output::{Batch, Existing, NewFolder, Output};
use hone::{Error, Result};
use serde_json::json;

use crate::split::{LinkSplit, Negatives};

/// Where a split comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The whole graph in figures.
    pub graph: GraphFacts,
    /// Share of edges that were removed.
    pub removed: f64,
    /// Seed of the split.
    pub seed: u64,
    /// The pairs without an edge.
    pub negatives: Negatives,
}

/// The files of a split in `folder`.
pub fn files(folder: impl AsRef<Path>) -> [PathBuf; 4] {
    let folder = folder.as_ref();
    ["train.tsv", "nodes.txt", "pairs.tsv", "split.json"].map(|name| folder.join(name))
}

/// Writes the files of a split into `folder`, which is made when absent.
pub fn write(
    split: &LinkSplit,
    origin: &Origin,
    folder: impl AsRef<Path>,
    existing: Existing,
) -> Result<()> {
    write_at(split, origin, folder.as_ref(), existing)
}

fn write_at(split: &LinkSplit, origin: &Origin, folder: &Path, existing: Existing) -> Result<()> {
    refuse_unwritable(split.train.graph().ids(), folder)?;
    if folder.exists() && !folder.is_dir() {
        return Err(Error::config(
            "output",
            format!("{} is a file; give a folder", folder.display()),
        ));
    }
    let made = NewFolder::make(folder)?;
    write_files(split, origin, folder, existing)?;
    made.keep();
    Ok(())
}

fn write_files(
    split: &LinkSplit,
    origin: &Origin,
    folder: &Path,
    existing: Existing,
) -> Result<()> {
    type Write<'a> = Box<dyn Fn(&mut Output) -> io::Result<()> + 'a>;
    let train = split.train.graph();
    let writers: [Write<'_>; 4] = [
        Box::new(|out| edges(train, out)),
        Box::new(|out| nodes(train, out)),
        Box::new(|out| pairs(split, out)),
        Box::new(|out| about(split, origin, out)),
    ];
    let mut batch = Batch::new(existing);
    for (path, write) in files(folder).into_iter().zip(writers) {
        let mut output = batch.begin(&path)?;
        write(&mut output).map_err(|e| output.error(e))?;
        batch.add(output)?;
    }
    batch.commit().map(drop)
}

fn nodes(train: &Graph, out: &mut Output) -> io::Result<()> {
    train.ids().iter().try_for_each(|id| match id {
        NodeId::Integer(id) => writeln!(out, "{id}"),
        NodeId::Text(id) => writeln!(out, "{}", quoted_line(id)),
    })
}

fn edges(train: &Graph, out: &mut Output) -> io::Result<()> {
    let weight_name = if train.weights().is_some() {
        "\tweight"
    } else {
        ""
    };
    if let NodeIds::Text { .. } = train.ids() {
        writeln!(out, "source\ttarget{weight_name}")?;
    }
    for u in 0..train.nodes() as u32 {
        let kept = |&k: &usize| train.is_directed() || u < train.pattern().columns()[k];
        for k in train.pattern().range(u as usize).filter(kept) {
            let v = train.pattern().columns()[k];
            write!(
                out,
                "{}\t{}",
                field(train.ids().get(u)),
                field(train.ids().get(v))
            )?;
            match train.weights() {
                Some(weights) => writeln!(out, "\t{}", weights[k])?,
                None => writeln!(out)?,
            }
        }
    }
    Ok(())
}

fn pairs(split: &LinkSplit, out: &mut Output) -> io::Result<()> {
    let ids = split.train.graph().ids();
    writeln!(out, "source\ttarget\tlabel")?;
    for (&(u, v), &edge) in split.pairs.pairs.iter().zip(&split.pairs.labels) {
        writeln!(
            out,
            "{}\t{}\t{}",
            field(ids.get(u)),
            field(ids.get(v)),
            u8::from(edge)
        )?;
    }
    Ok(())
}

fn about(split: &LinkSplit, origin: &Origin, out: &mut Output) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let Origin {
        graph,
        removed,
        seed,
        negatives,
    } = origin;
    let train = GraphFacts::of(split.train.graph());
    let record = json!({"version": version, "seed": seed, "removed": removed, "negatives": negatives, "graph": graph,
        "train": train});
    writeln!(out, "{record:#}")
}

fn field(id: NodeId<'_>) -> String {
    match id {
        NodeId::Integer(id) => id.to_string(),
        // The edge between two nodes of these names would be taken for the header once more.
        NodeId::Text(id @ "source") => format!("\"{id}\""),
        NodeId::Text(id) => quoted(id, '\t').into_owned(),
    }
}

/// Ids that no line of text can hold; they may come from Parquet files or from Python.
fn refuse_unwritable(ids: &NodeIds, folder: &Path) -> Result<()> {
    let NodeIds::Text { .. } = ids else {
        return Ok(());
    };
    let bad = |id: &NodeId<'_>| matches!(id, NodeId::Text(text) if text.is_empty() || text.contains(['\n', '\r', '\0']));
    match ids.iter().find(bad) {
        Some(id) => {
            let message = format!("an edge list cannot hold the node id {:?}", id.to_string());
            Err(Error::input(
                folder,
                message,
                "rename nodes whose ids are empty or hold line breaks",
            ))
        }
        None => Ok(()),
    }
}
