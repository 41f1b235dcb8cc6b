//! Reading tables of counts by edge that [`CountTable`] wrote: text and Parquet, whose columns have names.
//!
//! A record next to the table (`OUT.run.json`) that says that counts are estimates, or not per edge, is trusted;
//! [`OrbitTable::counts`] checks the rest. Memory: 8 bytes per count, and the ids.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::counts::{CountTable, Layout};
use super::format::Format;
use super::records::Records;
use crate::columnar::{Column, TableReader};
use crate::error::{Error, Result};
use crate::graph::{Graph, IdIndex, NodeId};
use crate::memory::Allowance;
use crate::motif::{Counts, Motif, OrbitTable};
use crate::progress::Progress;
use crate::record;

const REMEDY: &str = "give exact counts by edge of this graph, with all motifs";

/// What the record of counts says that matters here.
#[derive(Deserialize)]
struct Recorded {
    #[serde(default)]
    by: Option<String>,
    #[serde(default)]
    exact: Option<bool>,
}

impl CountTable<'_> {
    /// Reads exact counts by edge of an undirected graph: a `.parquet`, `.tsv` or `.csv` file (text also `.gz`, `.zst`)
    /// with columns `source`, `target` and motifs. Fails when they are estimates, not of this graph, or not enough.
    pub fn read(
        path: impl AsRef<Path>,
        graph: &Graph,
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        Self::read_at(path.as_ref(), graph, allowance, progress)
    }

    fn read_at(
        path: &Path,
        graph: &Graph,
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        check_record(path)?;
        progress.stage("reading counts", 0);
        let wrong = |error: Error| match error {
            Error::Config { field, message } if field == "counts" => {
                Error::input(path, message, REMEDY)
            }
            other => other,
        };
        let table = match Layout::of(path)? {
            Layout::Parquet => parquet(path, graph, allowance)?,
            Layout::Text(separator) => text(path, separator, graph, allowance)?,
            Layout::Npy => {
                let message = "counts in .npy have no names of columns";
                return Err(Error::input(
                    path,
                    message,
                    "give them as .parquet, .tsv or .csv",
                ));
            }
        };
        progress.check()?;
        // The row of each edge and the columns of the counts.
        let more = 60 * graph.edges() as u64;
        allowance.check_work("taking up counts", more, "raise the memory limit")?;
        table.counts(graph).map_err(wrong)
    }
}

/// Refuses what its record says is not exact, or not by edge.
fn check_record(path: &Path) -> Result<()> {
    let Some(beside) = record::path(path) else {
        return Err(Error::input(
            path,
            "counts cannot be read from a stream",
            "give a file",
        ));
    };
    let Some(recorded) = record::read(&beside)? else {
        return Ok(());
    };
    // Other files say nothing about counts.
    let Ok(recorded) = serde_json::from_slice::<Recorded>(&recorded) else {
        return Ok(());
    };
    let refused = |what: &str| {
        Err(Error::input(
            path,
            format!("{what} (according to {})", beside.display()),
            REMEDY,
        ))
    };
    match (recorded.exact, recorded.by.as_deref()) {
        (Some(false), _) => refused("these counts are estimates"),
        (_, Some("node" | "total")) => refused("these counts are not by edge"),
        _ => Ok(()),
    }
}

/// The motifs that columns are called, which come after the ids.
fn motifs(path: &Path, names: &[String]) -> Result<Vec<Motif>> {
    let ids = ["source", "target"];
    if names.len() < 2 || names[..2] != ids {
        let first = names
            .iter()
            .take(2)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let message = format!("the first two columns are `{first}`, not `source` and `target`");
        return Err(Error::input(path, message, REMEDY));
    }
    let motif = |name: &String| match name.parse::<Motif>() {
        Ok(motif) if motif.is_directed() => Err(Error::input(
            path,
            format!("`{name}` is a directed motif, whose counts cannot be updated"),
            REMEDY,
        )),
        Ok(motif) => Ok(motif),
        Err(_) => Err(Error::input(
            path,
            format!("no motif is called `{name}`"),
            REMEDY,
        )),
    };
    let found = names[2..].iter().map(motif).collect::<Result<Vec<_>>>()?;
    let enough = OrbitTable::check_motifs(&found);
    enough
        .map(|()| found)
        .map_err(|error| Error::input(path, error.to_string(), REMEDY))
}

/// Finds the nodes of ids.
struct Nodes<'a> {
    path: PathBuf,
    index: IdIndex<'a>,
}

impl Nodes<'_> {
    fn find(&self, id: NodeId<'_>) -> Result<u32> {
        let found = match (&self.index, id) {
            (IdIndex::Integers(nodes), NodeId::Integer(id)) => nodes.get(&id).copied(),
            (index, NodeId::Text(id)) => index.find(id),
            (index, NodeId::Integer(id)) => index.find(&id.to_string()),
        };
        found.ok_or_else(|| {
            let message = format!("not the exact counts of this graph: it has no node `{id}`");
            Error::input(&self.path, message, REMEDY)
        })
    }

    fn column(&self, column: &Column) -> Result<Vec<u32>> {
        match column {
            Column::Integers(ids) => ids
                .iter()
                .map(|&id| self.find(NodeId::Integer(id)))
                .collect(),
            Column::Texts(ids) => ids.iter().map(|id| self.find(NodeId::Text(id))).collect(),
            _ => Err(Error::input(
                &self.path,
                "the ids are neither integers nor text",
                REMEDY,
            )),
        }
    }
}

fn parquet(path: &Path, graph: &Graph, allowance: Allowance) -> Result<OrbitTable> {
    let table = TableReader::open(path, allowance)?;
    let motifs = motifs(path, table.columns())?;
    let nodes = Nodes {
        path: path.to_path_buf(),
        index: graph.ids().index(),
    };
    let [sources, targets] = ["source", "target"].map(|name| nodes.column(&table.column(name)?));
    let edges = sources?.into_iter().zip(targets?).collect();
    let counts = |motif: Motif| match table.column(motif.name())? {
        Column::Counts(counts) => Ok((motif, counts)),
        Column::Integers(counts) => {
            let counts = counts
                .into_iter()
                .map(u64::try_from)
                .collect::<Result<_, _>>();
            counts.map(|counts| (motif, counts)).map_err(|_| {
                Error::input(
                    path,
                    format!("column `{motif}` has a negative number"),
                    REMEDY,
                )
            })
        }
        _ => Err(Error::input(
            path,
            format!("column `{motif}` has no whole numbers"),
            REMEDY,
        )),
    };
    Ok(OrbitTable {
        edges,
        columns: motifs.into_iter().map(counts).collect::<Result<_>>()?,
    })
}

fn text(path: &Path, separator: u8, graph: &Graph, allowance: Allowance) -> Result<OrbitTable> {
    let format = if separator == b',' {
        Format::Csv
    } else {
        Format::Tsv
    };
    let mut records = Records::open(path, format, allowance)?;
    let mut fields = Vec::new();
    if !records.next(&mut fields)? {
        return Err(Error::input(path, "the file is empty", REMEDY));
    }
    let motifs = motifs(path, &fields)?;
    let nodes = Nodes {
        path: path.to_path_buf(),
        index: graph.ids().index(),
    };
    let mut table = OrbitTable {
        edges: Vec::new(),
        columns: motifs.into_iter().map(|m| (m, Vec::new())).collect(),
    };
    while records.next(&mut fields)? {
        if fields.len() != table.columns.len() + 2 {
            let message = format!(
                "expected {} fields, found {}",
                table.columns.len() + 2,
                fields.len()
            );
            return Err(records.wrong(&fields.join(" "), &message));
        }
        let node = |id: &str| {
            nodes.index.find(id).ok_or_else(|| {
                records.wrong(id, "not the counts of this graph: it has no such node")
            })
        };
        table.edges.push((node(&fields[0])?, node(&fields[1])?));
        for ((_, counts), field) in table.columns.iter_mut().zip(&fields[2..]) {
            counts.push(
                field
                    .parse()
                    .map_err(|_| records.wrong(field, "not a count"))?,
            );
        }
    }
    Ok(table)
}
