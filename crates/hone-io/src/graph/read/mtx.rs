//! Matrix Market coordinate files (<https://math.nist.gov/MatrixMarket/formats.html>): a banner,
//! comments, a line `rows columns entries`, then one entry per line, counted from 1.
//!
//! The entries are an edge list with numbered ids, so they take its parallel path. A general
//! matrix lists arcs, a symmetric one each edge once.

use std::str;

use super::blocks::Fault;
use super::division::Division;
use super::edges::{self, Joined, Naming};
use super::lines::{first_end, skip_idle, without_end};
use super::options::{InputFormat, ReadOptions};
use super::source::Source;
use super::survey::Sizes;
use super::table::Layout;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::message::{message, setting};
use crate::progress::Progress;

/// A header may announce this many nodes whatever it has entries, and [`NODES_PER_ENTRY`] for each:
/// beyond that it is wrong rather than the graph full of isolated nodes.
const NODES_AT_LEAST: u64 = 1 << 20;
const NODES_PER_ENTRY: u64 = 1 << 7;

/// What the banner says.
struct Banner {
    has_values: bool,
    symmetric: bool,
}

/// Reads a Matrix Market file.
pub(super) fn read(
    mut source: Source,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Joined> {
    let path = source.path().to_path_buf();
    let weighted = options.keeps_weights();
    let begun = begin(&mut source, options, weighted);
    let (banner, nodes, entries) = division.agree(&path, begun, |(_, nodes, entries)| {
        format!("{} {nodes} {entries}", source.position())
    })?;
    let layout = Layout::fixed(banner.has_values, weighted);
    let naming = Naming::Numbered(nodes);
    let chunks = division.parse(source, progress, |lines| {
        edges::parse(lines, &layout, &naming)
    })?;
    let found = edges::edges_of(&chunks) as u64;
    if found != entries {
        let message = format!("the header promises {entries} entries, but there are {found}");
        return Err(Error::input(
            &path,
            message,
            "the file is truncated or its size line is wrong",
        ));
    }
    if entries == 0 {
        return Err(Error::input(
            &path,
            "the matrix has no entries",
            "it needs at least one edge",
        ));
    }
    let joined = Joined::numbered(chunks, layout.weight.is_some(), NodeIds::one_based(nodes));
    Ok(Joined {
        ignored_weights: layout.ignored_weight.map_or(0, |_| found),
        symmetric: banner.symmetric,
        ..joined
    })
}

/// What the first lines say: the banner, and the numbers of nodes and entries.
fn begin(source: &mut Source, options: &ReadOptions, weighted: bool) -> Result<(Banner, u32, u64)> {
    options.refuse_idle(InputFormat::MatrixMarket)?;
    let line = first_line(source)?;
    let banner =
        banner(&line, weighted).map_err(|fault| fault.into_error(source, source.lines()))?;
    source.skip(first_end(source.ahead()));
    skip_idle(source, b"%", |_| {})?;
    let line = first_line(source)?;
    let (nodes, entries) = size(&line).map_err(|fault| fault.into_error(source, source.lines()))?;
    source.skip(first_end(source.ahead()));
    Ok((banner, nodes, entries))
}

/// The numbers of nodes and edges that the first line of numbers has, here and in METIS files.
pub(super) fn promised(source: &mut Source) -> Result<Sizes> {
    skip_idle(source, b"%", |_| {})?;
    let line = first_line(source)?;
    let numbers: Vec<u64> = String::from_utf8_lossy(&line)
        .split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    // Nodes and edges, or rows, columns and entries.
    let (nodes, edges) = match numbers[..] {
        [rows, columns, entries] if rows == columns => (rows, entries),
        [nodes, edges, ..] => (nodes, edges),
        _ => (0, 0),
    };
    Ok(Sizes::promised(nodes, edges, source.size().unwrap_or(0)))
}

/// The line that comes next, without its end.
pub fn first_line(source: &mut Source) -> Result<Vec<u8>> {
    source.fill(1 << 12)?;
    let end = first_end(source.ahead());
    Ok(without_end(&source.ahead()[..end]).to_vec())
}

/// Reads `%%MatrixMarket matrix coordinate FIELD SYMMETRY`.
fn banner(line: &[u8], weighted: bool) -> Result<Banner, Fault> {
    let fault = |message: &str, remedy: &str| Err(Fault::new(line, message, remedy));
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let ["%%matrixmarket", "matrix", format, field, symmetry] = words[..] else {
        let remedy = message![
            "a Matrix Market file begins with `%%MatrixMarket matrix coordinate pattern symmetric` or the like; if it is \
             something else, name that with ",
            setting("format")
        ];
        let message = "this is not a Matrix Market banner";
        return Err(Fault::new(line, message, remedy));
    };
    if format != "coordinate" {
        return fault(
            "only coordinate matrices can be read",
            "write the matrix in sparse (coordinate) form",
        );
    }
    let has_values = match field {
        "pattern" if weighted => {
            return fault("a pattern matrix has no weights", "read it without weights");
        }
        "pattern" => false,
        "real" | "integer" | "double" => true,
        _ => {
            return fault(
                "only pattern, real and integer matrices can be read",
                "drop the imaginary parts",
            );
        }
    };
    match symmetry {
        "general" | "symmetric" => Ok(Banner {
            has_values,
            symmetric: symmetry == "symmetric",
        }),
        _ => fault(
            "only general and symmetric matrices can be read",
            "a skew-symmetric or Hermitian matrix is not a graph; write it as general",
        ),
    }
}

/// Reads `rows columns entries`: the number of nodes and of entries.
fn size(line: &[u8]) -> Result<(u32, u64), Fault> {
    let fault = |message: String, remedy: &str| Err(Fault::new(line, message, remedy));
    let numbers: Option<Vec<u64>> = str::from_utf8(line).ok().and_then(|text| {
        text.split_ascii_whitespace()
            .map(|word| word.parse().ok())
            .collect()
    });
    let Some([rows, columns, entries]) = numbers
        .as_deref()
        .and_then(|n| <[u64; 3]>::try_from(n).ok())
    else {
        return fault(
            "this is not a size line".into(),
            "it must be three whole numbers: rows, columns, entries",
        );
    };
    if rows != columns {
        let message = format!("a matrix of {rows} rows and {columns} columns");
        return fault(
            message,
            "an adjacency matrix is square; give a bipartite graph as an edge list, and read it as bipartite",
        );
    }
    match u32::try_from(rows) {
        Err(_) => fault(
            format!("{rows} nodes; at most {} are supported", u32::MAX),
            "split the graph",
        ),
        Ok(_) if rows > NODES_AT_LEAST.max(entries.saturating_mul(NODES_PER_ENTRY)) => {
            let message = format!("{rows} nodes but only {entries} entries");
            fault(
                message,
                "fix the size line, or give an edge list and a node list if there are so many isolated nodes",
            )
        }
        Ok(nodes) => Ok((nodes, entries)),
    }
}
