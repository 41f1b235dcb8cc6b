//! Motif counts on disk: one line per edge or node, one column per motif.
//!
//! | extension | content |
//! |---|---|
//! | `.tsv`, `.csv` (also `.gz`, `.zst`) | header `source target edge path3 …` (nodes: `id degree …`), original ids |
//! | `.npy` | uint64, one row per edge (node); ids in `NAME.edges.csv` (`NAME.ids.txt`) |
//! | `.parquet` | the columns of the text formats |
//!
//! Rows are those of a [`Table`] that is computed while it is written. Undirected edges have one row, with the node that came
//! first in the input first; arcs of a directed graph have one row each.
//!
//! [`CountTable::read`] takes tables by edge back, from text and Parquet, whose columns have names. A record next to the
//! table (`OUT.run.json`) that says that counts are estimates, or not per edge, is trusted; [`OrbitTable::counts`] checks the
//! rest. Memory: 8 bytes per count, and the ids.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::table::{Column, Kind, Table, TableReader, format_of};
use super::text::Records;
use super::{Format, npy, text};
use crate::error::{Error, Result};
use crate::graph::{Graph, IdIndex, NodeId};
use crate::memory::Allowance;
use crate::message::{message, setting};
use crate::motif::triad::Occurrence;
use crate::motif::{Counts, Motif, NODE_ORBITS, OrbitTable, node_orbits_called};
use crate::output::Batch;
use crate::progress::Progress;
use crate::record;

/// A table of counts, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct CountTable<'a> {
    graph: &'a Graph,
    counts: &'a Counts,
    rows: Entries<'a>,
    numbers: bool,
}

/// The meaning of a row of a table of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountsBy {
    /// An edge.
    Edge,
    /// A node.
    Node,
}

#[derive(Debug, Clone, Copy)]
enum Entries<'a> {
    /// One row per edge, these motifs; which occurrences of directed ones.
    Edges(&'a [Motif], Occurrence),
    /// One row per node, these counts.
    Nodes(&'a [[u64; NODE_ORBITS.len()]]),
}

/// Slots of the graph per piece.
const STRETCH: usize = 1 << 14;
/// Pieces in memory at once.
const WAVE: usize = 16;
/// Bytes of a row of this many counts at most, twice: as counts, and as text or in columns.
const fn row_bytes(columns: usize) -> u64 {
    2 * (8 + 8 * columns as u64) + 16
}

impl<'a> CountTable<'a> {
    /// The weights of `motifs` on every edge of `graph`, of which these are the counts; directed motifs by some of their
    /// occurrences.
    pub fn edges(
        graph: &'a Graph,
        counts: &'a Counts,
        motifs: &'a [Motif],
        occurrence: Occurrence,
    ) -> Self {
        CountTable {
            graph,
            counts,
            rows: Entries::Edges(motifs, occurrence),
            numbers: false,
        }
    }

    /// The 15 node orbits of every node, as [`Counts::node_orbits`] gives them.
    ///
    /// # Panics
    /// When there are not as many rows as nodes.
    pub fn nodes(
        graph: &'a Graph,
        counts: &'a Counts,
        orbits: &'a [[u64; NODE_ORBITS.len()]],
    ) -> Self {
        assert_eq!(graph.nodes(), orbits.len(), "one row per node");
        CountTable {
            graph,
            counts,
            rows: Entries::Nodes(orbits),
            numbers: false,
        }
    }

    /// The same with columns that are called by the numbers of motifs in the literature, or by their names.
    #[must_use]
    pub fn with_numbers(self, numbers: bool) -> Self {
        CountTable { numbers, ..self }
    }

    /// Bytes that writing a table of this many columns takes, at most.
    pub fn memory(graph: &Graph, by: CountsBy, columns: usize) -> u64 {
        let (slots, nodes) = (graph.pattern().nnz(), graph.nodes());
        let rows = match by {
            // Every other slot of an undirected graph has a row.
            CountsBy::Edge if graph.is_directed() => slots.min(WAVE * STRETCH),
            CountsBy::Edge => slots.min(WAVE * STRETCH) / 2,
            CountsBy::Node => nodes.min(WAVE * STRETCH),
        };
        let held = match by {
            CountsBy::Edge => 0,
            CountsBy::Node => 8 * columns * nodes,
        };
        rows as u64 * row_bytes(columns) + held as u64
    }

    /// The files that a table takes: `path`, and one for ids where the format has no place for them. Fails when the
    /// extension names no format.
    pub fn files(path: impl AsRef<Path>, by: CountsBy) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        let mut files = vec![path.to_path_buf()];
        if format_of(path)? == Format::Npy {
            files.push(match by {
                CountsBy::Edge => path.with_extension("edges.csv"),
                CountsBy::Node => npy::ids_path(path),
            });
        }
        Ok(files)
    }

    /// Writes the table (to standard output as TSV for `-`) into a batch, where further files may join it.
    pub fn add_to(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        let (keys, names): (&[&str], Vec<&str>) = match self.rows {
            Entries::Edges(motifs, _) => {
                let names = motifs.iter().map(|motif| motif.called(self.numbers));
                (&["source", "target"], names.collect())
            }
            Entries::Nodes(_) => (&["id"], node_orbits_called(self.numbers).to_vec()),
        };
        let keyed = keys.iter().map(|&key| (key, Kind::Node));
        let columns = keyed.chain(names.iter().map(|&name| (name, Kind::Count)));
        let values = |nodes| self.columns(nodes);
        let table = Table {
            pieces: self.pieces(),
            wave: WAVE,
            ..Table::new(self.graph.ids(), columns, 0, &values)
        };
        if format_of(path)? != Format::Npy {
            return table.add_to(batch, path, progress);
        }
        let (rows, by) = match self.rows {
            Entries::Edges(..) => (self.graph.edges(), CountsBy::Edge),
            Entries::Nodes(_) => (self.graph.nodes(), CountsBy::Node),
        };
        let edges = by == CountsBy::Edge;
        let beside = &CountTable::files(path, by)?[1];
        let (mut out, mut ids) = (batch.begin(path)?, batch.begin(beside)?);
        progress.stage("writing", self.graph.nodes() as u64);
        let failed = |e| Error::io(path, e);
        npy::write_header("<u8", &[rows, names.len()], &mut out).map_err(failed)?;
        if edges {
            ids.write_all(b"source,target\n")
                .map_err(|e| ids.error(e))?;
        } else {
            text::write_ids(self.graph.ids(), beside, &mut ids)?;
        }
        let bytes = |mut columns: Vec<Column>| {
            let counts = columns.split_off(keys.len());
            let mut bytes = Vec::with_capacity(8 * counts.len() * columns[0].len());
            for row in 0..columns[0].len() {
                for column in &counts {
                    let Column::Counts(counts) = column else {
                        unreachable!("counts follow the ids")
                    };
                    bytes.extend(counts[row].to_le_bytes());
                }
            }
            let lines = edges.then(|| table.lines(',', &columns));
            (bytes, lines.unwrap_or_default())
        };
        table.waves(progress, bytes, |pieces| {
            for (counts, lines) in pieces {
                out.write_all(&counts).map_err(|e| out.error(e))?;
                ids.write_all(&lines).map_err(|e| ids.error(e))?;
            }
            Ok(())
        })?;
        batch.add(out)?;
        batch.add(ids)
    }

    /// Nodes in ranges of about equal size.
    fn pieces(&self) -> Vec<Range<usize>> {
        let offsets = self.graph.pattern().offsets();
        let (mut pieces, mut start) = (Vec::new(), 0);
        for end in 1..=self.graph.nodes() {
            if offsets[end] - offsets[start] + (end - 1 - start) >= STRETCH
                || end == self.graph.nodes()
            {
                pieces.push(start..end);
                start = end;
            }
        }
        pieces
    }

    /// The rows of some nodes, by columns.
    fn columns(&self, nodes: Range<usize>) -> Result<Vec<Column>> {
        let nodes = nodes.start as u32..nodes.end as u32;
        let how = match self.rows {
            Entries::Edges(motifs, occurrence) => (motifs, occurrence),
            Entries::Nodes(orbits) => {
                let of = |orbit| nodes.clone().map(|i| orbits[i as usize][orbit]).collect();
                let counts = (0..NODE_ORBITS.len()).map(|orbit| Column::Counts(of(orbit)));
                let ids = Column::Nodes(nodes.clone().collect());
                return Ok(std::iter::once(ids).chain(counts).collect());
            }
        };
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        let mut counts = vec![Vec::new(); how.0.len()];
        for i in nodes {
            self.counts.for_arcs(self.graph, i, how, |j, weights| {
                if self.graph.is_directed() || i < j {
                    sources.push(i);
                    targets.push(j);
                    for (column, &weight) in counts.iter_mut().zip(weights) {
                        column.push(weight);
                    }
                }
            })?;
        }
        let ends = [sources, targets].map(Column::Nodes).into_iter();
        Ok(ends.chain(counts.into_iter().map(Column::Counts)).collect())
    }

    /// Reads exact counts by edge of an undirected graph: a `.parquet`, `.tsv` or `.csv` file (text also `.gz`, `.zst`)
    /// with columns `source`, `target` and motifs. Fails when they are estimates, not of this graph, or not enough.
    pub fn read(
        path: impl AsRef<Path>,
        graph: &Graph,
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        let path = path.as_ref();
        check_record(path)?;
        progress.stage("reading counts", 0);
        let wrong = |error: Error| match error {
            Error::Config { field, message } if field == "counts" => {
                Error::input(path, message, REMEDY)
            }
            other => other,
        };
        let table = match format_of(path)? {
            Format::Parquet => read_parquet(path, graph, allowance)?,
            Format::Npy => {
                let message = "counts in .npy have no names of columns";
                let remedy = "give them as .parquet, .tsv or .csv";
                return Err(Error::input(path, message, remedy));
            }
            text => read_text(path, text, graph, allowance)?,
        };
        progress.check()?;
        // The row of each edge and the columns of the counts.
        let more = 60 * graph.edges() as u64;
        allowance.check_work(
            "taking up counts",
            more,
            message!["raise ", setting("memory_limit")],
        )?;
        table.counts(graph).map_err(wrong)
    }
}

const REMEDY: &str = "give exact counts by edge of this graph, with all motifs";

/// Refuses what its record says is not exact, or not by edge.
fn check_record(path: &Path) -> Result<()> {
    let Some(beside) = record::path(path) else {
        let message = "counts cannot be read from a stream";
        return Err(Error::input(path, message, "give a file"));
    };
    // Other files say nothing about counts.
    let text = record::read(&beside)?.unwrap_or_default();
    let recorded: Value = serde_json::from_slice(&text).unwrap_or_default();
    let what = match (recorded["exact"].as_bool(), recorded["by"].as_str()) {
        (Some(false), _) => "these counts are estimates",
        (_, Some("node" | "total")) => "these counts are not by edge",
        _ => return Ok(()),
    };
    let message = format!("{what} (according to {})", beside.display());
    Err(Error::input(path, message, REMEDY))
}

/// The motifs that columns are called, which come after the ids.
fn motifs(path: &Path, names: &[String]) -> Result<Vec<Motif>> {
    let wrong = |message: String| Error::input(path, message, REMEDY);
    if names.len() < 2 || names[..2] != ["source", "target"] {
        let first = names[..names.len().min(2)].join(", ");
        return Err(wrong(format!(
            "the first two columns are `{first}`, not `source` and `target`"
        )));
    }
    let motif = |name: &String| match name.parse::<Motif>() {
        Ok(motif) if motif.is_directed() => Err(wrong(format!(
            "`{name}` is a directed motif, whose counts cannot be updated"
        ))),
        Ok(motif) => Ok(motif),
        Err(_) => Err(wrong(format!("no motif is called `{name}`"))),
    };
    let found = names[2..].iter().map(motif).collect::<Result<Vec<_>>>()?;
    OrbitTable::check_motifs(&found).map_err(|error| wrong(error.to_string()))?;
    Ok(found)
}

fn read_parquet(path: &Path, graph: &Graph, allowance: Allowance) -> Result<OrbitTable> {
    let table = TableReader::open(path, allowance)?;
    let motifs = motifs(path, table.columns())?;
    let wrong = |message: String| Error::input(path, message, REMEDY);
    let index = graph.ids().index();
    let find = |id: NodeId| {
        let found = match (&index, id) {
            (IdIndex::Integers(nodes), NodeId::Integer(id)) => nodes.get(&id).copied(),
            (index, NodeId::Text(id)) => index.find(id),
            (index, NodeId::Integer(id)) => index.find(&id.to_string()),
        };
        let message = || format!("not the exact counts of this graph: it has no node `{id}`");
        found.ok_or_else(|| wrong(message()))
    };
    let nodes = |name: &str| -> Result<Vec<u32>> {
        match table.column(name)? {
            Column::Integers(ids) => ids.iter().map(|&id| find(NodeId::Integer(id))).collect(),
            Column::Texts(ids) => ids.iter().map(|id| find(NodeId::Text(id))).collect(),
            _ => Err(wrong("the ids are neither integers nor text".into())),
        }
    };
    let counts = |(name, motif): (&String, Motif)| match table.column(name)? {
        Column::Counts(counts) => Ok((motif, counts)),
        Column::Integers(counts) => {
            let counts = counts.into_iter().map(u64::try_from);
            let message = || format!("column `{motif}` has a negative number");
            let counts = counts.collect::<Result<_, _>>();
            Ok((motif, counts.map_err(|_| wrong(message()))?))
        }
        _ => Err(wrong(format!("column `{motif}` has no whole numbers"))),
    };
    Ok(OrbitTable {
        edges: nodes("source")?.into_iter().zip(nodes("target")?).collect(),
        columns: table.columns()[2..]
            .iter()
            .zip(motifs)
            .map(counts)
            .collect::<Result<_>>()?,
    })
}

fn read_text(
    path: &Path,
    format: Format,
    graph: &Graph,
    allowance: Allowance,
) -> Result<OrbitTable> {
    let mut records = Records::open(path, format, allowance)?;
    let mut fields = Vec::new();
    if !records.next(&mut fields)? {
        return Err(Error::input(path, "the file is empty", REMEDY));
    }
    let motifs = motifs(path, &fields)?;
    let index = graph.ids().index();
    let mut table = OrbitTable {
        edges: Vec::new(),
        columns: motifs.into_iter().map(|m| (m, Vec::new())).collect(),
    };
    while records.next(&mut fields)? {
        records.check_fields(&fields, table.columns.len() + 2)?;
        let node = |id: &str| {
            let message = "not the counts of this graph: it has no such node";
            index.find(id).ok_or_else(|| records.wrong(id, message))
        };
        table.edges.push((node(&fields[0])?, node(&fields[1])?));
        for ((_, counts), field) in table.columns.iter_mut().zip(&fields[2..]) {
            let count = field.parse();
            counts.push(count.map_err(|_| records.wrong(field, "not a count"))?);
        }
    }
    Ok(table)
}
