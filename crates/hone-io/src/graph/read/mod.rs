//! From a file to a [`Graph`]: one entry, [`read`], and one module per format.
//!
//! The content decides where it can ([`InputFormat::MatrixMarket`] and [`InputFormat::Parquet`]
//! begin with a banner, gzip and zstd with magic bytes), then the extension. Text is read in
//! blocks that are parsed in parallel ([`blocks`]); a line that cannot be right is an
//! [`Error::Input`] with its number, never skipped.

pub mod blocks;
mod division;
mod edges;
pub mod lines;
mod metis;
pub mod mtx;
pub mod nodes;
mod options;
mod parquet;
pub mod source;
mod survey;
pub mod table;

use std::path::Path;

use super::{BUILTIN_PREFIX, BUILTINS, Graph, GraphBuilder, builtin};
use crate::columnar::BEGINNING;
use crate::error::{Error, Result};
use crate::memory::{self, Allowance};
use crate::message::{Message, call, message, setting};
use crate::progress::Progress;
pub use blocks::LONGEST_LINE;
pub use division::Division;
use edges::Joined;
pub use options::{Column, InputFormat, ReadNote, ReadOptions, Reading, TableColumns};
use parquet::Origin;
use source::Source;
pub use source::{check_lines, extension};
pub use survey::Sizes;
pub use table::table_columns;

/// Extensions of what cannot be read.
const OTHERS: &str = "gml graphml gexf json jsonl net dot gv xml mat pkl pickle xlsx xls zip tar bz2 xz lz4 7z rar feather arrow \
                      h5 hdf5 db sqlite";

/// Reads a graph from a file, from a folder of Parquet files, from standard input when `input` is `-`, or takes a built-in one for
/// `builtin:NAME`; `.gz` and `.zst` are decompressed on the way.
///
/// Ids that are all integers come out in ascending order, other ids in order of first appearance;
/// a node list ([`ReadOptions::nodes`]) fixes the order. Matrix Market and METIS number their
/// nodes 1..N and keep those ids.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let file = folder.path().join("friends.csv");
/// std::fs::write(&file, "source,target\nann,bob\nbob,cid\n").unwrap();
/// let graph = hone_io::graph::read(&file, &Default::default(), &hone_base::Silent)?;
/// assert_eq!((graph.nodes(), graph.edges()), (3, 2));
/// assert_eq!(graph.ids().get(2).to_string(), "cid");
/// # Ok::<(), hone_base::Error>(())
/// ```
pub fn read(
    input: impl AsRef<Path>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Graph> {
    read_input(input.as_ref(), options, &Division::none(), progress)
}

/// The same by several processes together, all of which call this with the same arguments: each parses a part of the file,
/// and all get the same graph, or the same error, as [`read`] gives. Matrix Market, Parquet files of several row groups
/// and edge lists are divided if they are large and not compressed; every process reads all of any other file.
pub fn read_divided(
    input: impl AsRef<Path>,
    options: &ReadOptions,
    division: &Division<'_>,
    progress: &dyn Progress,
) -> Result<Graph> {
    read_input(input.as_ref(), options, division, progress)
}

fn read_input(
    input: &Path,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Graph> {
    if let Some(name) = builtin_name(input) {
        return read_builtin(name, options);
    }
    let held = memory::resident().unwrap_or(0);
    let read = read_file(input, options, division, progress);
    read.map_err(|error| match error {
        Error::Io { source, .. }
            if source.kind() == std::io::ErrorKind::NotFound && is_builtin(input) =>
        {
            let known = input.display();
            let remedy = format!(
                "check its name and folder; the built-in graph is `{BUILTIN_PREFIX}{known}`"
            );
            Error::input(input, "no such file", remedy)
        }
        // A refusal names what is enough to read the whole file, where it can be looked through.
        Error::Memory {
            stage,
            need,
            least,
            limit,
            remedy,
        } => {
            let sizes = sizes(input, options, progress).ok().flatten();
            let reading = sizes.map(|sizes| sizes.reading(options, division.processes()));
            let enough = reading.map(|more| held.saturating_add(more).max(limit.saturating_add(1)));
            Error::Memory {
                stage,
                need: enough.unwrap_or(need),
                least: least || enough.is_some(),
                limit,
                remedy,
            }
        }
        error => error,
    })
}

/// What follows the prefix of built-in graphs.
fn builtin_name(input: &Path) -> Option<&str> {
    input.to_str()?.strip_prefix(BUILTIN_PREFIX)
}

fn is_builtin(name: &Path) -> bool {
    BUILTINS.iter().any(|builtin| name == Path::new(builtin.0))
}

/// How large the graph of a file is, as these options have it, without holding it; nothing for standard input and built-in
/// graphs. Takes one pass over the file.
pub fn sizes(
    input: impl AsRef<Path>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Option<Sizes>> {
    let input = input.as_ref();
    if input == Path::new("-") || builtin_name(input).is_some() {
        return Ok(None);
    }
    let allowance = Allowance::new(options.memory);
    let sizes = match open(input, options, allowance)? {
        Opened::File(source, InputFormat::Edges) => edges::sizes(*source, options, progress)?,
        Opened::File(mut source, InputFormat::MatrixMarket | InputFormat::Metis) => {
            mtx::promised(&mut source)?
        }
        Opened::File(source, InputFormat::Parquet) => {
            parquet::sizes(Origin::Source(source), options)?
        }
        Opened::Folder => parquet::sizes(Origin::Folder(input.to_path_buf(), allowance), options)?,
    };
    Ok(Some(sizes))
}

/// An input whose format is known.
enum Opened {
    File(Box<Source>, InputFormat),
    /// Of Parquet files.
    Folder,
}

impl Opened {
    fn format(&self) -> InputFormat {
        match self {
            Opened::File(_, format) => *format,
            Opened::Folder => InputFormat::Parquet,
        }
    }
}

/// Opens a file and finds out its format.
fn open(input: &Path, options: &ReadOptions, allowance: Allowance) -> Result<Opened> {
    if input.is_dir() {
        return match options.format {
            None | Some(InputFormat::Parquet) => Ok(Opened::Folder),
            Some(format) => {
                let message = format!("this is a folder, which cannot be read as {format}");
                Err(Error::input(input, message, "name a file in it"))
            }
        };
    }
    let mut source = Source::open(input, allowance)?;
    let format = match options.format {
        Some(format) => format,
        None => detect(&mut source)?,
    };
    if format != InputFormat::Parquet {
        source.check_text("it needs at least one edge")?;
    }
    Ok(Opened::File(Box::new(source), format))
}

fn read_file(
    input: &Path,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Graph> {
    let allowance = Allowance::new(options.memory);
    let opened = open(input, options, allowance);
    let opened = division.agree(input, opened, |opened| match opened {
        Opened::File(source, format) => format!("{format} {:?}", source.size()),
        Opened::Folder => "a folder".to_owned(),
    })?;
    let format = opened.format();
    let mut joined = match opened {
        Opened::File(source, InputFormat::Edges) => {
            edges::read(*source, options, division, progress)?
        }
        Opened::File(source, InputFormat::MatrixMarket) => {
            mtx::read(*source, options, division, progress)?
        }
        Opened::File(source, InputFormat::Metis) => metis::read(*source, options, progress)?,
        Opened::File(source, InputFormat::Parquet) => {
            parquet::read(Origin::Source(source), options, division, progress)?
        }
        Opened::Folder => {
            let origin = Origin::Folder(input.to_path_buf(), allowance);
            parquet::read(origin, options, division, progress)?
        }
    };
    progress.check()?;
    // Every edge stands in two rows, or in one; a copy of it is sorted, and each node has an offset.
    let slot = if joined.weights.is_some() { 12 } else { 8 };
    let rows = if options.directed && !joined.symmetric {
        1
    } else {
        2
    };
    let (edges, nodes) = (joined.pairs.len() as u64, joined.ids.len() as u64);
    allowance.check(input, rows * edges * slot + 8 * nodes)?;
    let reading = Reading {
        file: input.display().to_string(),
        format,
        columns: joined.columns.take(),
        notes: std::mem::take(&mut joined.notes),
    };
    Ok(build(joined, options.directed)?.with_extension(reading))
}

/// A built-in graph, which is what it is: the options must not ask for anything else.
fn read_builtin(name: &str, options: &ReadOptions) -> Result<Graph> {
    let graph = builtin(name)?;
    let asked = [
        ("directed", options.directed && !graph.is_directed()),
        ("weighted", options.weighted && graph.weights().is_none()),
        ("format", options.format.is_some()),
    ];
    let asked = asked.into_iter().find(|(_, contradicts)| *contradicts);
    match asked.map(|(field, _)| field).or(options.of_tables(false)) {
        Some(field) => {
            let message = format!(
                "does not apply to the built-in graph {BUILTIN_PREFIX}{name}; leave the option out"
            );
            Err(Error::config(field, message))
        }
        None => Ok(graph),
    }
}

/// Hands what a reader found to the builder.
fn build(joined: Joined, directed: bool) -> Result<Graph> {
    let Joined {
        ids,
        mut pairs,
        mut weights,
        ignored_weights,
        symmetric,
        ..
    } = joined;
    if directed && symmetric {
        // A loop is one arc.
        let differ = |(u, v): &&(u32, u32)| u != v;
        if let Some(weights) = &mut weights {
            let both = pairs.iter().zip(&*weights);
            let back: Vec<f32> = both
                .filter(|(pair, _)| differ(pair))
                .map(|(_, &w)| w)
                .collect();
            weights.extend(back);
        }
        let back: Vec<_> = pairs.iter().filter(differ).map(|&(u, v)| (v, u)).collect();
        pairs.extend(back);
    }
    let builder = match directed {
        true => GraphBuilder::directed(0),
        false => GraphBuilder::undirected(0),
    };
    let builder = builder
        .ids(ids)
        .edges(pairs)
        .ignored_weights(ignored_weights);
    match weights {
        Some(weights) => builder.weights(weights).build(),
        None => builder.build(),
    }
}

/// Tells the format from the first bytes, else from the extension.
fn detect(source: &mut Source) -> Result<InputFormat> {
    source.fill(16)?;
    let head = source.ahead();
    if head.starts_with(BEGINNING) {
        return Ok(InputFormat::Parquet);
    }
    if head.len() >= 14 && head[..14].eq_ignore_ascii_case(b"%%MatrixMarket") {
        return Ok(InputFormat::MatrixMarket);
    }
    let path = source.path();
    let refuse = |message: String, remedy: Message| Err(Error::input(path, message, remedy));
    match extension(path).as_deref() {
        Some("mtx") => Ok(InputFormat::MatrixMarket),
        Some("graph" | "metis") => Ok(InputFormat::Metis),
        Some("parquet" | "pq") => Ok(InputFormat::Parquet),
        Some("hone") => refuse(
            "this is a model, by its extension, not a graph".into(),
            message![
                "give a graph; ",
                call("Model::embed"),
                " places a graph in the space of a model"
            ],
        ),
        Some(extension @ ("npy" | "npz" | "safetensors" | "w2v" | "emb" | "vec")) => refuse(
            format!("`.{extension}` files cannot be read as a graph"),
            "these are vectors, by the extension: give the edge list; write the matrix of a graph as Matrix Market".into(),
        ),
        Some(extension) if OTHERS.split(' ').any(|other| other == extension) => {
            let message = format!("`.{extension}` files cannot be read");
            let remedy = message![
                "convert it to an edge list (two ids per line), Matrix Market, METIS or Parquet, plain or compressed with \
                 gzip or zstd; or name the format with ",
                setting("format"),
                " if the extension misleads"
            ];
            Err(Error::input(path, message, remedy))
        }
        _ => Ok(InputFormat::Edges),
    }
}
