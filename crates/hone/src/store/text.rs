//! Writing text embeddings: TSV, CSV and word2vec.
//!
//! Rows are formatted in parallel, chunk by chunk, and written in order. Numbers are the shortest
//! text that reads back as the same f32.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use super::embedding::Embedding;
use super::format::Format;
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

pub(super) fn write(embedding: &Embedding, path: &Path, format: Format, out: &mut dyn Write) -> Result<()> {
    let style = Style::new(format, path, &embedding.ids)?;
    compressed(path, out, |out| style.write(embedding, out).map_err(|e| Error::io(path, e)))
}

/// Writes text, compressed when the extension says so.
pub(super) fn compressed(
    path: &Path,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
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
pub fn write_ids(ids: &NodeIds, path: impl AsRef<Path>, out: &mut dyn Write) -> Result<()> {
    write_ids_at(ids, path.as_ref(), out)
}

fn write_ids_at(ids: &NodeIds, path: &Path, out: &mut dyn Write) -> Result<()> {
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
    refuse(ids, path, |c| c == '\n' || c == '\r', "a line break", "choose .tsv, .npz or .parquet")
}

/// Formats rows `0..n` of `width` values by `row` in parallel and writes them in order.
fn in_chunks(n: usize, width: usize, out: &mut dyn Write, row: impl Fn(usize, &mut String) + Sync) -> io::Result<()> {
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

fn refuse(ids: &NodeIds, path: &Path, bad: impl Fn(char) -> bool, what: &str, remedy: &str) -> Result<()> {
    let NodeIds::Text { .. } = ids else { return Ok(()) };
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

/// What separates the fields and what comes before the rows.
struct Style {
    separator: char,
    word2vec: bool,
}

impl Style {
    fn new(format: Format, path: &Path, ids: &NodeIds) -> Result<Self> {
        let word2vec = format == Format::Word2vec;
        if word2vec {
            refuse(ids, path, char::is_whitespace, "white space", "choose .tsv, .npz or .parquet")?;
        }
        let separator = match format {
            Format::Csv => ',',
            Format::Word2vec => ' ',
            _ => '\t',
        };
        Ok(Style { separator, word2vec })
    }

    fn write(&self, embedding: &Embedding, out: &mut dyn Write) -> io::Result<()> {
        let Embedding { ids, vectors, columns } = embedding;
        let mut head = String::new();
        if self.word2vec {
            let _ = writeln!(head, "{} {}", vectors.rows(), vectors.cols());
        } else {
            head.push_str("id");
            for name in columns {
                head.push(self.separator);
                self.push_field(name, &mut head);
            }
            head.push('\n');
        }
        out.write_all(head.as_bytes())?;
        in_chunks(vectors.rows(), vectors.cols(), out, |i, line| {
            match ids.get(i as u32) {
                NodeId::Text(id) => self.push_field(id, line),
                NodeId::Integer(id) => {
                    let _ = write!(line, "{id}");
                }
            }
            for value in vectors.row(i) {
                let _ = write!(line, "{}{value:?}", self.separator);
            }
            line.push('\n');
        })
    }

    /// A field, quoted as RFC 4180 does when it must be.
    fn push_field(&self, field: &str, line: &mut String) {
        line.push_str(&if self.word2vec { field.into() } else { quoted(field, self.separator) });
    }
}
