//! Text embeddings: TSV, CSV and word2vec.
//!
//! Rows are formatted in parallel, chunk by chunk, and written in order. Numbers are the shortest
//! text that reads back as the same f32.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use rayon::prelude::*;

use super::{Embedding, Format};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::read::nodes;
use crate::graph::{NodeId, NodeIds, quoted, quoted_line};

/// Rows formatted by one task.
const CHUNK: usize = 4096;
/// Chunks held at once.
const WAVE: usize = 16;

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
pub(super) fn write_ids(ids: &NodeIds, path: &Path, out: &mut dyn Write) -> Result<()> {
    in_chunks(ids.len(), out, |i, line| match ids.get(i as u32) {
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
    refuse(ids, path, |c| c == '\n' || c == '\r', "a line break", "choose .tsv, .npz or .parquet")?;
    in_chunks(ids.len(), out, |i, line| {
        let _ = writeln!(line, "{}", ids.get(i as u32));
    })
    .map_err(|e| Error::io(path, e))
}

/// Formats rows `0..n` by `row` in parallel and writes them in order.
fn in_chunks(n: usize, out: &mut dyn Write, row: impl Fn(usize, &mut String) + Sync) -> io::Result<()> {
    for wave in (0..n).step_by(CHUNK * WAVE) {
        let end = n.min(wave + CHUNK * WAVE);
        let chunks: Vec<String> = (wave..end)
            .into_par_iter()
            .step_by(CHUNK)
            .map(|start| {
                let mut text = String::new();
                (start..end.min(start + CHUNK)).for_each(|i| row(i, &mut text));
                text
            })
            .collect();
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
        in_chunks(vectors.rows(), out, |i, line| {
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

pub(super) fn read(path: &Path, format: Format) -> Result<Embedding> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let plain: Box<dyn Read> = match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("zst") => Box::new(zstd::Decoder::new(file).map_err(|e| Error::reading(path, e))?),
        _ => Box::new(file),
    };
    let separator = match format {
        Format::Csv => ',',
        Format::Word2vec => ' ',
        _ => '\t',
    };
    let mut rows = Rows::default();
    let mut lines = Records { path, reader: BufReader::new(plain), separator, line: 0 };
    let head = lines.next_record()?.ok_or_else(|| Error::input(path, "the file is empty", ""))?;
    let columns: Vec<String> = if format == Format::Word2vec {
        let dim = head.get(1).and_then(|d| d.parse::<usize>().ok()).filter(|_| head.len() == 2);
        let dim = dim.ok_or_else(|| lines.wrong(&head.join(" "), "expected the numbers of rows and columns"))?;
        (0..dim.min(1 << 20)).map(|j| format!("z{j}")).collect()
    } else {
        head[1..].to_vec()
    };
    while let Some(fields) = lines.next_record()? {
        if fields.len() != columns.len() + 1 {
            let message = format!("expected {} fields, found {}", columns.len() + 1, fields.len());
            return Err(lines.wrong(&fields.join(" "), &message));
        }
        for field in &fields[1..] {
            let value = field.parse::<f32>().map_err(|_| lines.wrong(field, "not a number"))?;
            rows.values.push(value);
        }
        rows.ids.push(fields.into_iter().next().unwrap_or_default());
    }
    let ids = NodeIds::from_texts(&rows.ids);
    let vectors = Block::from_vec(ids.len(), columns.len(), rows.values);
    Ok(Embedding::with_columns(ids, vectors, columns))
}

#[derive(Default)]
struct Rows {
    ids: Vec<String>,
    values: Vec<f32>,
}

/// Splits a text into records of fields; quoted fields may hold separators and line breaks.
struct Records<'a> {
    path: &'a Path,
    reader: BufReader<Box<dyn Read>>,
    separator: char,
    line: u64,
}

impl Records<'_> {
    fn wrong(&self, text: &str, message: &str) -> Error {
        Error::input_at(self.path, self.line, text.as_bytes(), message, "")
    }

    fn next_record(&mut self) -> Result<Option<Vec<String>>> {
        let mut text = String::new();
        loop {
            let read = self.reader.read_line(&mut text).map_err(|e| Error::reading(self.path, e))?;
            self.line += 1;
            let open_quote = self.separator != ' ' && text.matches('"').count() % 2 == 1;
            if read == 0 && open_quote {
                return Err(self.wrong(&text, "a quoted field does not end"));
            }
            if read == 0 && text.is_empty() {
                return Ok(None);
            }
            if !open_quote {
                break;
            }
        }
        let text = text.trim_end_matches(['\n', '\r']);
        let text = if self.separator == ' ' { text.trim_end() } else { text };
        Ok(Some(split_fields(text, self.separator)))
    }
}

fn split_fields(text: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("never empty");
        match c {
            '"' if separator != ' ' && quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if separator != ' ' && (quoted || field.is_empty()) => quoted = !quoted,
            c if c == separator && !quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}

/// Ids of a sidecar file, one per line, as [`write_ids`] quotes them.
pub(super) fn read_ids(path: &Path) -> Result<NodeIds> {
    let text = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    Ok(NodeIds::from_texts(&nodes::ids(path, &text)?))
}
