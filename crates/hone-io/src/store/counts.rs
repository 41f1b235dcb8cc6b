//! Motif counts on disk: one line per edge or node, one column per motif.
//!
//! | extension | content |
//! |---|---|
//! | `.tsv`, `.csv` (also `.gz`, `.zst`) | header `source target edge path3 …` (nodes: `id degree …`), original ids |
//! | `.npy` | uint64, one row per edge (node); ids in `NAME.edges.csv` (`NAME.ids.txt`) |
//! | `.parquet` | the columns of the text formats |
//!
//! Rows are computed and formatted in ranges by all threads and written in order, so no table of
//! counts is ever stored in memory. Undirected edges have one row, with the node that came first in
//! the input first; arcs of a directed graph have one row each.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{npy, text};
use crate::columnar::{Column, Kind, TableWriter};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, NodeIds, quoted};
use crate::motif::triad::Occurrence;
use crate::motif::{Counts, Motif, NODE_ORBITS};
use crate::output::{Batch, Existing, Output, is_stream};
use crate::parallel;
use crate::progress::Progress;
use crate::record;

/// A table of counts, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct CountTable<'a> {
    graph: &'a Graph,
    counts: &'a Counts,
    rows: Rows<'a>,
    occurrence: Occurrence,
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
enum Rows<'a> {
    /// One row per edge, these motifs.
    Edges(&'a [Motif]),
    /// One row per node, these counts.
    Nodes(&'a [[u64; NODE_ORBITS.len()]]),
}

/// The file formats of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Text(u8),
    Npy,
    Parquet,
}

/// Slots of the graph per range.
const STRETCH: usize = 1 << 14;
/// Ranges in memory at once.
const WAVE: usize = 16;
/// Bytes of a row of this many counts at most, twice: as counts, and as text or in columns.
const fn row_bytes(columns: usize) -> u64 {
    2 * (8 + 8 * columns as u64) + 16
}

/// The rows of a stretch: ends of the edges (`sources` only for nodes) and their counts in a row.
#[derive(Default)]
struct Stretch {
    sources: Vec<u32>,
    targets: Vec<u32>,
    counts: Vec<u64>,
}

impl<'a> CountTable<'a> {
    /// The weights of `motifs` on every edge of `graph`, of which these are the counts.
    pub fn edges(graph: &'a Graph, counts: &'a Counts, motifs: &'a [Motif]) -> Self {
        CountTable {
            graph,
            counts,
            rows: Rows::Edges(motifs),
            occurrence: Occurrence::Induced,
        }
    }

    /// The same with other occurrences of directed motifs.
    #[must_use]
    pub fn with_occurrence(self, occurrence: Occurrence) -> Self {
        CountTable { occurrence, ..self }
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
            rows: Rows::Nodes(orbits),
            occurrence: Occurrence::Induced,
        }
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
        let held = if by == CountsBy::Node {
            8 * columns * nodes
        } else {
            0
        };
        rows as u64 * row_bytes(columns) + held as u64
    }

    /// The files that a table takes: `path`, and one for ids where the format has no place for them. Fails when the
    /// extension names no format.
    pub fn files(path: impl AsRef<Path>, by: CountsBy) -> Result<Vec<PathBuf>> {
        Self::files_at(path.as_ref(), by)
    }

    fn files_at(path: &Path, by: CountsBy) -> Result<Vec<PathBuf>> {
        let mut files = vec![path.to_path_buf()];
        if Layout::of(path)? == Layout::Npy {
            files.push(match by {
                CountsBy::Edge => path.with_extension("edges.csv"),
                CountsBy::Node => npy::ids_path(path),
            });
        }
        Ok(files)
    }

    /// Writes the table (to standard output as TSV for `-`), all files of it or none; returns them. The record of an
    /// earlier run beside it is removed.
    pub fn write(
        &self,
        path: impl AsRef<Path>,
        existing: Existing,
        progress: &dyn Progress,
    ) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        record::without(path, existing, |batch| self.add_to(batch, path, progress))
    }

    /// Writes the table into a batch, where further files may join it.
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.add_to_at(batch, path.as_ref(), progress)
    }

    fn add_to_at(&self, batch: &mut Batch, path: &Path, progress: &dyn Progress) -> Result<()> {
        let files = CountTable::files(path, self.by())?;
        let mut out = batch.begin(path)?;
        progress.stage("writing", self.graph.nodes() as u64);
        match Layout::of(path)? {
            Layout::Text(separator) => {
                text::compressed(path, &mut out, |out| {
                    self.text(separator, path, out, progress)
                })?;
            }
            Layout::Parquet => self.parquet(path, &mut out, progress)?,
            Layout::Npy => {
                let mut ids = batch.begin(&files[1])?;
                self.npy(&mut out, &mut ids, progress)?;
                batch.add(out)?;
                return batch.add(ids);
            }
        }
        batch.add(out)
    }

    fn by(&self) -> CountsBy {
        match self.rows {
            Rows::Edges(_) => CountsBy::Edge,
            Rows::Nodes(_) => CountsBy::Node,
        }
    }

    /// Names of the columns of counts.
    fn columns(&self) -> Vec<&'static str> {
        match self.rows {
            Rows::Edges(motifs) => motifs.iter().map(|motif| motif.name()).collect(),
            Rows::Nodes(_) => NODE_ORBITS.to_vec(),
        }
    }

    /// Names of the columns of ids.
    fn keys(&self) -> &'static [&'static str] {
        match self.rows {
            Rows::Edges(_) => &["source", "target"],
            Rows::Nodes(_) => &["id"],
        }
    }

    fn text(
        &self,
        separator: u8,
        path: &Path,
        out: &mut dyn Write,
        progress: &dyn Progress,
    ) -> Result<()> {
        let names = [self.keys(), &self.columns()]
            .concat()
            .join(&char::from(separator).to_string());
        writeln!(out, "{names}").map_err(|e| Error::io(path, e))?;
        let width = self.columns().len();
        let lines = |stretch: Stretch| {
            let mut text = Vec::with_capacity(stretch.sources.len() * (8 + 3 * width));
            for (k, &source) in stretch.sources.iter().enumerate() {
                push_id(self.graph.ids(), source, separator, &mut text);
                if let Some(&target) = stretch.targets.get(k) {
                    text.push(separator);
                    push_id(self.graph.ids(), target, separator, &mut text);
                }
                for &count in &stretch.counts[k * width..(k + 1) * width] {
                    text.push(separator);
                    push_number(count, &mut text);
                }
                text.push(b'\n');
            }
            text
        };
        self.waves(progress, lines, |pieces| write_all(out, path, &pieces))
    }

    fn npy(&self, out: &mut Output, ids: &mut Output, progress: &dyn Progress) -> Result<()> {
        let edges = self.by() == CountsBy::Edge;
        let rows = if edges {
            self.graph.edges()
        } else {
            self.graph.nodes()
        };
        npy::write_header("<u8", &[rows, self.columns().len()], out).map_err(|e| out.error(e))?;
        if edges {
            ids.write_all(b"source,target\n")
                .map_err(|e| ids.error(e))?;
        } else {
            let path = ids.path().to_path_buf();
            text::write_ids(self.graph.ids(), &path, ids)?;
        }
        let bytes = |stretch: Stretch| {
            let values = stretch
                .counts
                .iter()
                .flat_map(|count| count.to_le_bytes())
                .collect::<Vec<u8>>();
            let mut names = Vec::new();
            for (&source, &target) in stretch.sources.iter().zip(&stretch.targets) {
                push_id(self.graph.ids(), source, b',', &mut names);
                names.push(b',');
                push_id(self.graph.ids(), target, b',', &mut names);
                names.push(b'\n');
            }
            (values, names)
        };
        self.waves(progress, bytes, |pieces| {
            let (values, names): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
            let (path, beside) = (out.path().to_path_buf(), ids.path().to_path_buf());
            write_all(out, &path, &values)?;
            if edges {
                write_all(ids, &beside, &names)
            } else {
                Ok(())
            }
        })
    }

    fn parquet(&self, path: &Path, out: &mut Output, progress: &dyn Progress) -> Result<()> {
        let (ids, keys, names) = (self.graph.ids(), self.keys(), self.columns());
        let kind = if matches!(ids, NodeIds::Text { .. }) {
            Kind::Text
        } else {
            Kind::Integer
        };
        let keyed = keys.iter().map(|key| (key.to_string(), kind));
        let columns: Vec<_> = keyed
            .chain(names.iter().map(|name| (name.to_string(), Kind::Count)))
            .collect();
        let mut table = TableWriter::new(path, out, &columns)?;
        self.waves(
            progress,
            |stretch| stretch,
            |wave: Vec<Stretch>| {
                if wave.iter().all(|stretch| stretch.sources.is_empty()) {
                    return Ok(());
                }
                table.write(|column| match column.checked_sub(keys.len()) {
                    None if column == 0 => {
                        id_column(ids, wave.iter().flat_map(|stretch| &stretch.sources))
                    }
                    None => id_column(ids, wave.iter().flat_map(|stretch| &stretch.targets)),
                    Some(c) => {
                        let counts = wave
                            .iter()
                            .flat_map(|stretch| stretch.counts.iter().skip(c).step_by(names.len()));
                        Column::Counts(counts.copied().collect())
                    }
                })
            },
        )?;
        table.finish()
    }

    /// Computes a piece per range in parallel and passes them on in order, a wave at a time.
    fn waves<T: Send>(
        &self,
        progress: &dyn Progress,
        piece: impl Fn(Stretch) -> T + Sync,
        mut sink: impl FnMut(Vec<T>) -> Result<()>,
    ) -> Result<()> {
        for wave in self.stretches().chunks(WAVE) {
            progress.check()?;
            let made = |nodes: &Range<usize>| self.stretch(nodes.clone()).map(&piece);
            let found = parallel::map(wave.len(), |at| made(&wave[at]));
            sink(found.into_iter().collect::<Result<_>>()?)?;
            progress.advance(wave.iter().map(|nodes| nodes.len() as u64).sum());
        }
        Ok(())
    }

    /// Nodes in ranges of about equal size.
    fn stretches(&self) -> Vec<Range<usize>> {
        let offsets = self.graph.pattern().offsets();
        let (mut stretches, mut start) = (Vec::new(), 0);
        for i in 0..self.graph.nodes() {
            if offsets[i + 1] - offsets[start] + (i - start) >= STRETCH
                || i + 1 == self.graph.nodes()
            {
                stretches.push(start..i + 1);
                start = i + 1;
            }
        }
        stretches
    }

    fn stretch(&self, nodes: Range<usize>) -> Result<Stretch> {
        let mut stretch = Stretch::default();
        let motifs = match self.rows {
            Rows::Edges(motifs) => motifs,
            Rows::Nodes(orbits) => {
                stretch.sources.extend(nodes.clone().map(|i| i as u32));
                stretch.counts.extend(orbits[nodes].iter().flatten());
                return Ok(stretch);
            }
        };
        for i in nodes.start as u32..nodes.end as u32 {
            self.counts
                .for_arcs(self.graph, i, (motifs, self.occurrence), |j, weights| {
                    if self.graph.is_directed() || i < j {
                        stretch.sources.push(i);
                        stretch.targets.push(j);
                        stretch.counts.extend(weights);
                    }
                })?;
        }
        Ok(stretch)
    }
}

impl Layout {
    pub(super) fn of(path: &Path) -> Result<Layout> {
        let extension_of = |path: &Path| {
            path.extension()
                .and_then(|e| e.to_str())
                .unwrap_or_default()
                .to_ascii_lowercase()
        };
        let extension = extension_of(path);
        match extension.as_str() {
            "gz" | "zst" => match Layout::of(&path.with_extension(""))? {
                text @ Layout::Text(_) => Ok(text),
                _ => Err(Error::input(
                    path,
                    "only text formats can be compressed",
                    "drop the .gz or .zst",
                )),
            },
            "tsv" | "txt" => Ok(Layout::Text(b'\t')),
            "csv" => Ok(Layout::Text(b',')),
            "npy" => Ok(Layout::Npy),
            "parquet" => Ok(Layout::Parquet),
            _ if is_stream(path) => Ok(Layout::Text(b'\t')),
            _ => Err(Error::input(
                path,
                if extension.is_empty() {
                    "the name has no extension, which names the format of counts".to_owned()
                } else {
                    format!("no format of counts has the extension `.{extension}`")
                },
                "use .tsv, .csv (also .gz, .zst), .npy or .parquet",
            )),
        }
    }
}

fn write_all(out: &mut dyn Write, path: &Path, pieces: &[Vec<u8>]) -> Result<()> {
    let written: io::Result<()> = pieces.iter().try_for_each(|piece| out.write_all(piece));
    written.map_err(|e| Error::io(path, e))
}

fn id_column<'a>(ids: &NodeIds, nodes: impl Iterator<Item = &'a u32>) -> Column {
    if let NodeIds::Text { .. } = ids {
        return Column::Texts(nodes.map(|&i| ids.get(i).to_string()).collect());
    }
    let integer = |&i: &u32| match ids.get(i) {
        NodeId::Integer(id) => id,
        NodeId::Text(_) => unreachable!("only text ids are text"),
    };
    Column::Integers(nodes.map(integer).collect())
}

/// An id, quoted as RFC 4180 does when it must be.
fn push_id(ids: &NodeIds, i: u32, separator: u8, out: &mut Vec<u8>) {
    match ids.get(i) {
        NodeId::Integer(id) => {
            if id < 0 {
                out.push(b'-');
            }
            push_number(id.unsigned_abs(), out);
        }
        NodeId::Text(id) => out.extend_from_slice(quoted(id, char::from(separator)).as_bytes()),
    }
}

fn push_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
