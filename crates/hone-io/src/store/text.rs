//! Writing text embeddings: TSV, CSV and word2vec.
//!
//! Rows are formatted in parallel, chunk by chunk, and written in order. Numbers are the shortest
//! text that reads back as the same f32.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use super::Format;
use super::shared::Rows;
use crate::error::{Error, Result};
use crate::graph::{NodeId, NodeIds, quoted, quoted_line};
use crate::parallel;

/// Rows formatted by one task, at most, and values: text takes three times the bytes of the values.
const CHUNK: usize = 1 << 12;
const VALUES: usize = 1 << 15;
/// Chunks held at once.
const WAVE: usize = 16;
/// Bytes that a value takes as text, about the most.
const VALUE: usize = 16;

/// Bytes of text in memory at once if rows have this many values.
pub(super) fn memory(columns: u64) -> u64 {
    (WAVE * VALUE) as u64 * columns.max(VALUES as u64)
}

/// Writes names of columns, or the size of a word2vec table, and the rows, each on a line. Refuses ids that the format cannot
/// hold.
pub(super) fn write(rows: &Rows, path: &Path, format: Format, out: &mut dyn Write) -> Result<()> {
    let (ids, cols) = (rows.ids(), rows.cols());
    let separator = match format {
        Format::Csv => ',',
        Format::Word2vec => ' ',
        _ => '\t',
    };
    let push = |field: &str, line: &mut String| match format {
        Format::Word2vec => line.push_str(field),
        _ => line.push_str(&quoted(field, separator)),
    };
    let mut head = "id".to_owned();
    if format == Format::Word2vec {
        refuse(
            ids,
            path,
            char::is_whitespace,
            "white space",
            "choose .tsv, .npz or .parquet",
        )?;
        head = format!("{} {cols}", rows.len());
    } else {
        for name in rows.names() {
            head.push(separator);
            push(name, &mut head);
        }
    }
    let lines = |out: &mut dyn Write| {
        out.write_all(head.as_bytes())?;
        out.write_all(b"\n")?;
        rows.each(|range, values| {
            in_chunks(range.len(), cols, out, |i, line| {
                match ids.get((range.start + i) as u32) {
                    NodeId::Text(id) => push(id, line),
                    NodeId::Integer(id) => {
                        let _ = write!(line, "{id}");
                    }
                }
                for value in &values[i * cols..(i + 1) * cols] {
                    let _ = write!(line, "{separator}{value:?}");
                }
                line.push('\n');
            })
        })
    };
    lines(out).map_err(|e| Error::io(path, e))
}

/// Writes text, compressed when the extension says so.
pub(super) fn compressed(
    path: &Path,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "gz" => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut encoder)?;
            encoder.finish().map(drop).map_err(|e| Error::io(path, e))
        }
        "zst" => {
            let mut encoder = zstd::Encoder::new(out, 3).map_err(|e| Error::io(path, e))?;
            write(&mut encoder)?;
            encoder.finish().map(drop).map_err(|e| Error::io(path, e))
        }
        _ => write(out),
    }
}

/// One id per line, quoted where it must be, for formats that cannot hold ids themselves.
pub fn write_ids(ids: &NodeIds, path: &Path, out: &mut dyn Write) -> Result<()> {
    in_chunks(ids.len(), 1, out, |i, line| match ids.get(i as u32) {
        NodeId::Text(id) => {
            let _ = writeln!(line, "{}", quoted_line(id));
        }
        NodeId::Integer(id) => {
            let _ = writeln!(line, "{id}");
        }
    })
    .map_err(|e| Error::io(path, e))
}

/// One id per line as it is, for formats that have no quotes.
pub(super) fn write_plain_ids(ids: &NodeIds, path: &Path, out: &mut dyn Write) -> Result<()> {
    in_chunks(ids.len(), 1, out, |i, line| {
        let _ = writeln!(line, "{}", ids.get(i as u32));
    })
    .map_err(|e| Error::io(path, e))
}

/// Refuses ids that do not fit on one line.
pub(super) fn check_plain_ids(ids: &NodeIds, path: &Path) -> Result<()> {
    refuse(
        ids,
        path,
        |c| c == '\n' || c == '\r',
        "a line break",
        "choose .tsv, .npz or .parquet",
    )
}

/// Formats rows `0..n` of `width` values by `row` in parallel and writes them in order.
fn in_chunks(
    n: usize,
    width: usize,
    out: &mut dyn Write,
    row: impl Fn(usize, &mut String) + Sync,
) -> io::Result<()> {
    let chunk = (VALUES / width.max(1)).clamp(1, CHUNK);
    for wave in (0..n).step_by(chunk * WAVE) {
        let end = n.min(wave + chunk * WAVE);
        let chunks = parallel::stretches(end - wave, chunk, |rows| {
            let mut text = String::new();
            rows.for_each(|i| row(wave + i, &mut text));
            text
        });
        for chunk in chunks {
            out.write_all(chunk.as_bytes())?;
        }
    }
    Ok(())
}

fn refuse(
    ids: &NodeIds,
    path: &Path,
    bad: impl Fn(char) -> bool,
    what: &str,
    remedy: &str,
) -> Result<()> {
    let NodeIds::Text { .. } = ids else {
        return Ok(());
    };
    for i in 0..ids.len() as u32 {
        if let NodeId::Text(id) = ids.get(i)
            && (id.contains(&bad) || id.is_empty())
        {
            let what = if id.is_empty() { "no character" } else { what };
            return Err(Error::input(
                path,
                format!("node id {id:?} has {what}, which this format cannot hold"),
                remedy,
            ));
        }
    }
    Ok(())
}
