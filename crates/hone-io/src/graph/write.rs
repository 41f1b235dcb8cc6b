//! Writes generated graphs to files while they are drawn.
//!
//! Chunks of edges are turned to text by all threads and written in order. The format follows the
//! extension, with `.gz` or `.zst` behind it for compressed text. Matrix Market wants the number
//! of edges first, so the edges are drawn twice; METIS wants neighbourhoods, so the graph is built.

use std::fmt::{self, Display};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Edges, Generator, NodeIds};
use crate::columnar::{Column, Kind, TableWriter};
use crate::error::{Error, Result};
use crate::message::{message, setting};
use crate::output::{Existing, Output};
use crate::parallel;
use crate::progress::Progress;
use crate::record;
use crate::store::{compressed, extension};

/// A file format for graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GraphFormat {
    /// Edge list with tabs, after one comment line (`#`) that says where it comes from.
    Tsv,
    /// Edge list with commas, after a header line `source,target`.
    Csv,
    /// Edge list with spaces, after a comment line as in [`GraphFormat::Tsv`].
    Text,
    /// Matrix Market, coordinate pattern symmetric, numbered from 1.
    #[serde(rename = "mtx")]
    MatrixMarket,
    /// Parquet with integer columns `source` and `target`.
    Parquet,
    /// METIS: line i has the neighbours of node i, numbered from 1.
    Metis,
}

/// Extensions, and the format each stands for.
const EXTENSIONS: [(&str, GraphFormat); 8] = [
    ("tsv", GraphFormat::Tsv),
    ("csv", GraphFormat::Csv),
    ("txt", GraphFormat::Text),
    ("edges", GraphFormat::Text),
    ("el", GraphFormat::Text),
    ("mtx", GraphFormat::MatrixMarket),
    ("parquet", GraphFormat::Parquet),
    ("graph", GraphFormat::Metis),
];

impl GraphFormat {
    /// All formats, for choices in front ends.
    pub const ALL: [GraphFormat; 6] = [
        GraphFormat::Tsv,
        GraphFormat::Csv,
        GraphFormat::Text,
        GraphFormat::MatrixMarket,
        GraphFormat::Parquet,
        GraphFormat::Metis,
    ];

    /// The format the extension of `path` stands for; TSV when it has none.
    pub fn of(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (extension, _) = extension(path);
        if extension.is_empty() {
            return Ok(GraphFormat::Tsv);
        }
        if let Some((_, format)) = EXTENSIONS.iter().find(|(known, _)| *known == extension) {
            return Ok(*format);
        }
        let known = EXTENSIONS.map(|(known, _)| format!(".{known}")).join(" ");
        let remedy = message![
            format!("use {known} (text also with .gz or .zst), or name the format with "),
            setting("format")
        ];
        let message = format!("no graph format has the extension .{extension}");
        Err(Error::input(path, message, remedy))
    }
}

impl Display for GraphFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GraphFormat::Tsv => "tsv",
            GraphFormat::Csv => "csv",
            GraphFormat::Text => "text",
            GraphFormat::MatrixMarket => "mtx",
            GraphFormat::Parquet => "parquet",
            GraphFormat::Metis => "metis",
        })
    }
}

/// How to write a graph.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// The format; by default that of the extension.
    pub format: Option<GraphFormat>,
    /// Replace an existing file.
    pub overwrite: bool,
}

/// Draws a graph into a file (`-`: standard output) and returns the number of edges written.
pub fn write_generated(
    generator: &Generator,
    seed: u64,
    path: impl AsRef<Path>,
    options: &WriteOptions,
    progress: &dyn Progress,
) -> Result<u64> {
    let path = path.as_ref();
    generator.check()?;
    let format = options.format.map_or_else(|| GraphFormat::of(path), Ok)?;
    if format == GraphFormat::Parquet && extension(path).1 {
        let message = "Parquet is compressed inside";
        return Err(Error::input(path, message, "leave out .gz or .zst"));
    }
    let existing = Existing::replaced_if(options.overwrite);
    record::check_without(path, existing)?;
    let mut output = Output::create(path, existing)?;
    let drawn = Drawn {
        generator,
        seed,
        progress,
    };
    let edges = match format {
        GraphFormat::Parquet => drawn.parquet(path, &mut output),
        _ => compressed(path, &mut output, |out| drawn.text(format, path, out)),
    }?;
    output.commit()?;
    Ok(edges)
}

/// A graph about to be drawn.
struct Drawn<'a> {
    generator: &'a Generator,
    seed: u64,
    progress: &'a dyn Progress,
}

impl Drawn<'_> {
    fn text(&self, format: GraphFormat, path: &Path, out: &mut dyn Write) -> Result<u64> {
        let failed = |e| Error::io(path, e);
        let origin = format!("{} seed={}", self.generator, self.seed);
        let head = match format {
            GraphFormat::Metis => return self.metis(&origin, path, out),
            GraphFormat::Csv => "source,target\n".to_owned(),
            GraphFormat::MatrixMarket => self.matrix_market_head(&origin)?,
            _ => format!("# {origin}\n"),
        };
        out.write_all(head.as_bytes()).map_err(failed)?;
        let mut edges = 0;
        self.generator.edges(self.seed, self.progress, |batch| {
            edges += batch.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
            let texts = parallel::map(batch.len(), |c| lines(&batch[c], format));
            let mut texts = texts.iter();
            texts.try_for_each(|text| out.write_all(text).map_err(failed))
        })?;
        Ok(edges)
    }

    fn matrix_market_head(&self, origin: &str) -> Result<String> {
        let (nodes, mut edges) = (self.generator.nodes(), 0);
        self.generator.edges(self.seed, self.progress, |batch| {
            edges += batch.iter().map(Vec::len).sum::<usize>();
            Ok(())
        })?;
        Ok(format!(
            "%%MatrixMarket matrix coordinate pattern symmetric\n% {origin}\n{nodes} {nodes} {edges}\n"
        ))
    }

    fn metis(&self, origin: &str, path: &Path, out: &mut dyn Write) -> Result<u64> {
        let graph = self.generator.graph(self.seed, self.progress)?;
        let failed = |e| Error::io(path, e);
        let (n, edges) = (graph.nodes(), graph.edges());
        writeln!(out, "% {origin}\n{n} {edges}").map_err(failed)?;
        let nodes: Vec<u32> = (0..n as u32).collect();
        for batch in nodes.chunks(1 << 16) {
            let lines = |rows| neighborhoods(&graph, &batch[rows]);
            for text in parallel::stretches(batch.len(), 1 << 10, lines) {
                out.write_all(&text).map_err(failed)?;
            }
        }
        Ok(graph.edges() as u64)
    }

    fn parquet(&self, path: &Path, output: &mut Output) -> Result<u64> {
        let columns = ["source", "target"].map(|name| (name.to_owned(), Kind::Integer));
        let mut table = TableWriter::new(path, output, &columns, &NodeIds::Sequential(0))?;
        let mut edges = 0;
        self.generator.edges(self.seed, self.progress, |batch| {
            edges += batch.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
            let end = |j| move |&(u, v): &(u32, u32)| i64::from(if j == 0 { u } else { v });
            table.write(|j| Column::Integers(batch.iter().flatten().map(end(j)).collect()))
        })?;
        table.finish()?;
        Ok(edges)
    }
}

/// The edges as lines of text.
fn lines(edges: &Edges, format: GraphFormat) -> Vec<u8> {
    let separator = match format {
        GraphFormat::Tsv => b'\t',
        GraphFormat::Csv => b',',
        _ => b' ',
    };
    let mut out = Vec::with_capacity(edges.len() * 18);
    for &(u, v) in edges {
        // A symmetric matrix is given by its lower triangle, numbered from 1.
        let (u, v, first) = if format == GraphFormat::MatrixMarket {
            (u.max(v), u.min(v), 1)
        } else {
            (u, v, 0)
        };
        push(&mut out, u64::from(u) + first);
        out.push(separator);
        push(&mut out, u64::from(v) + first);
        out.push(b'\n');
    }
    out
}

fn neighborhoods(graph: &super::Graph, nodes: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    for &u in nodes {
        for (i, &v) in graph.neighbors(u).iter().enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            push(&mut out, u64::from(v) + 1);
        }
        out.push(b'\n');
    }
    out
}

/// Appends a number in decimal.
fn push(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
