//! Text embeddings: TSV, CSV and word2vec, and the ids beside arrays.
//!
//! Rows are formatted in parallel, chunk by chunk, and written in order. Numbers are the shortest
//! text that reads back as the same f32.
//!
//! A record that is read is a line, or several where a quoted field holds line breaks (RFC 4180; word2vec knows no quotes). It
//! is cut into fields in one pass, whatever its quotes; one that does not end within [`LONGEST_LINE`] bytes is no record.
//! Cost: linear in the file; memory for the values, the ids and one record.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::shared::RowPieces;
use super::{Embedding, Format, read_names};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::read::blocks::LONGEST_LINE;
use crate::graph::read::nodes;
use crate::graph::read::source::{Source, check_lines};
use crate::graph::{NodeId, NodeIds, quoted, quoted_line};
use crate::memory::Allowance;
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
pub(super) fn write(
    rows: &RowPieces,
    path: &Path,
    format: Format,
    out: &mut dyn Write,
) -> Result<()> {
    let (ids, cols) = (rows.ids(), rows.cols());
    let separator = separator(format);
    let push = |field: &str, line: &mut String| match format {
        Format::Word2vec => line.push_str(field),
        _ => line.push_str(&quoted(field, separator)),
    };
    let mut head = "id".to_owned();
    if format == Format::Word2vec {
        check_ids(ids, path, char::is_whitespace, "white space")?;
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
pub(crate) fn compressed<T>(
    path: &Path,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let failed = |e| Error::io(path, e);
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension.unwrap_or_default().to_ascii_lowercase().as_str() {
        "gz" => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            let written = write(&mut encoder)?;
            encoder.finish().map(|_| written).map_err(failed)
        }
        "zst" => {
            let mut encoder = zstd::Encoder::new(out, 3).map_err(failed)?;
            let written = write(&mut encoder)?;
            encoder.finish().map(|_| written).map_err(failed)
        }
        _ => write(out),
    }
}

/// One id per line, quoted where it must be, for formats that cannot hold ids themselves.
pub fn write_ids(ids: &NodeIds, path: &Path, out: &mut dyn Write) -> Result<()> {
    id_lines(ids, path, out, quoted_line)
}

/// One id per line; `text` says how one that is text stands there.
pub(super) fn id_lines(
    ids: &NodeIds,
    path: &Path,
    out: &mut dyn Write,
    text: impl Fn(&str) -> Cow<'_, str> + Sync,
) -> Result<()> {
    let lines = in_chunks(ids.len(), 1, out, |i, line| {
        let _ = match ids.get(i as u32) {
            NodeId::Text(id) => writeln!(line, "{}", text(id)),
            NodeId::Integer(id) => writeln!(line, "{id}"),
        };
    });
    lines.map_err(|e| Error::io(path, e))
}

/// Formats rows `0..n` of `width` values by `row` in parallel and writes them in order.
pub(super) fn in_chunks(
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

/// Refuses ids that are empty or have what is `bad`, and that a format without quotes cannot hold.
pub(super) fn check_ids(
    ids: &NodeIds,
    path: &Path,
    bad: impl Fn(char) -> bool,
    what: &str,
) -> Result<()> {
    for i in 0..ids.len() as u32 {
        let NodeId::Text(id) = ids.get(i) else {
            return Ok(());
        };
        if id.is_empty() || id.contains(&bad) {
            let what = if id.is_empty() { "no character" } else { what };
            let message = format!("node id {id:?} has {what}, which this format cannot hold");
            return Err(Error::input(path, message, "choose .tsv, .npz or .parquet"));
        }
    }
    Ok(())
}

/// What stands between fields.
pub(super) fn separator(format: Format) -> char {
    match format {
        Format::Csv => ',',
        Format::Word2vec => ' ',
        _ => '\t',
    }
}

/// Ids of a sidecar file, one per line, as they are quoted there.
pub(super) fn read_ids(path: &Path, allowance: Allowance) -> Result<NodeIds> {
    // A line of two bytes is an id of thirty.
    let bytes = allowance.read(path, 16, |text, seen| check_lines(path, text, seen))?;
    Ok(NodeIds::from_texts(&nodes::ids(path, &bytes)?))
}

/// What a line ends with.
const ENDS: [char; 2] = ['\n', '\r'];
/// More columns than any embedding has.
const MOST_COLUMNS: usize = 1 << 20;
/// What columns of ids are called.
const OF_IDS: [&str; 11] = [
    "", "id", "ids", "index", "key", "label", "name", "node", "vertex", "user", "word",
];

/// Reads an embedding; `lines` gets the line, from 1, on which each row begins.
pub(super) fn read(
    path: &Path,
    format: Format,
    allowance: Allowance,
    lines: &mut Vec<u64>,
) -> Result<Embedding> {
    let mut records = Records::open(path, format, allowance)?;
    let mut fields = Vec::new();
    if !records.next(&mut fields)? {
        return Err(Error::input(path, "the file is empty", "write it again"));
    }
    let numbered = |dim: usize| (0..dim).map(|j| format!("z{j}")).collect::<Vec<String>>();
    let (mut promised, mut is_row) = (None, false);
    let columns = if format == Format::Word2vec {
        let (rows, dim) = records.sizes(&fields)?;
        promised = Some(rows);
        read_names(path, dim)?.unwrap_or_else(|| numbered(dim))
    } else {
        records.check_separator(&fields)?;
        // A row and not a header: all but its id are numbers, and its id does not name a column.
        let (id, values) = fields.split_first().expect("a record has a field");
        is_row = !values.is_empty()
            && values.iter().all(|field| field.parse::<f32>().is_ok())
            && !OF_IDS.iter().any(|name| id.eq_ignore_ascii_case(name));
        match is_row {
            true => numbered(values.len()),
            false => values.to_vec(),
        }
    };
    let (mut ids, mut values) = (Vec::new(), Vec::new());
    while std::mem::take(&mut is_row) || records.next(&mut fields)? {
        let expected = columns.len() + 1;
        records.check_fields(&fields, expected)?;
        for field in &fields[1..] {
            let value = field.parse::<f32>();
            values.push(value.map_err(|_| records.wrong(field, "not a number"))?);
        }
        ids.push(std::mem::take(&mut fields[0]));
        lines.push(records.first);
        // Many short rows take far more memory than their text.
        if ids.len().is_multiple_of(1 << 13) {
            records.check_memory(0)?;
        }
    }
    if let Some(promised) = promised.filter(|&promised| promised != ids.len()) {
        let rows = ids.len();
        let message = format!("the first line promises {promised} rows, but there are {rows}");
        let remedy = "the file is truncated or its first line is wrong";
        return Err(Error::input(path, message, remedy));
    }
    allowance.check(path, ids.iter().map(|id| 2 * (id.len() as u64 + 16)).sum())?;
    let ids = NodeIds::from_texts(&ids);
    let vectors = Block::from_vec(ids.len(), columns.len(), values);
    Ok(Embedding::with_columns(ids, vectors, columns))
}

/// Cuts a text into records of fields.
pub(super) struct Records {
    path: PathBuf,
    reader: BufReader<Source>,
    separator: char,
    quotes: bool,
    /// Lines read.
    line: u64,
    /// The line that the record begins on.
    first: u64,
}

impl Records {
    pub(super) fn open(path: &Path, format: Format, allowance: Allowance) -> Result<Self> {
        let mut source = Source::open(path, allowance)?;
        source.check_text("write it again")?;
        Ok(Records {
            path: path.to_path_buf(),
            reader: BufReader::with_capacity(1 << 16, source),
            separator: separator(format),
            quotes: !matches!(format, Format::Word2vec | Format::Pgvector),
            line: 0,
            first: 1,
        })
    }

    pub(super) fn wrong(&self, text: &str, message: &str) -> Error {
        let remedy = "fix the line, or write the file again";
        Error::input_at(&self.path, self.first, text.as_bytes(), message, remedy)
    }

    /// Refuses a record of another number of fields.
    pub(super) fn check_fields(&self, fields: &[String], expected: usize) -> Result<()> {
        if fields.len() == expected {
            return Ok(());
        }
        let message = format!("expected {expected} fields, found {}", fields.len());
        Err(self.wrong(&fields.join(" "), &message))
    }

    /// Refuses a first line that something else separates.
    fn check_separator(&self, fields: &[String]) -> Result<()> {
        if fields.len() > 1 || !fields[0].contains([' ', '\t', ',', ';', '|']) {
            return Ok(());
        }
        let what = match self.separator {
            ',' => "commas",
            _ => "tabs",
        };
        let message = format!("only one column: this format has {what} between columns");
        Err(self.wrong(&fields[0], &message))
    }

    /// The numbers of rows and columns that the first line of a word2vec file has.
    fn sizes(&self, head: &[String]) -> Result<(usize, usize)> {
        let sizes = match head {
            [rows, dim] => rows.parse::<usize>().ok().zip(dim.parse().ok()),
            _ => None,
        };
        let sizes = sizes.filter(|&(_, dim)| dim <= MOST_COLUMNS);
        sizes.ok_or_else(|| self.wrong(&head.join(" "), "expected the numbers of rows and columns"))
    }

    /// Puts the fields of the next record into `fields`; whether there was one. Blank lines are none.
    pub(super) fn next(&mut self, fields: &mut Vec<String>) -> Result<bool> {
        let mut line = Vec::new();
        loop {
            if !self.next_alone(&mut line)? {
                return Ok(false);
            }
            let text = self.text(&line)?;
            if !text.trim_end_matches(ENDS).is_empty() {
                return self.split(text.to_owned(), fields).map(|()| true);
            }
        }
    }

    /// The next line with its end, a record of its own; whether there was one.
    pub(super) fn next_alone(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        self.first = self.line + 1;
        self.next_line(line, LONGEST_LINE)
    }

    /// Refuses to hold `more` bytes than may be held.
    pub(super) fn check_memory(&self, more: u64) -> Result<()> {
        self.reader.get_ref().allowance().check(&self.path, more)
    }

    /// The line, from 1, that the record begins on.
    pub(super) fn first_line(&self) -> u64 {
        self.first
    }

    /// The next line with its end, of at most `longest` bytes.
    fn next_line(&mut self, line: &mut Vec<u8>, longest: usize) -> Result<bool> {
        line.clear();
        let read = (&mut self.reader)
            .take(longest as u64 + 1)
            .read_until(b'\n', line);
        self.line += 1;
        match read.map_err(|error| crate::error::unwrapped(&self.path, error))? {
            0 => Ok(false),
            read if read > longest => {
                let message = format!("a record of more than {} MiB", LONGEST_LINE >> 20);
                let shown = String::from_utf8_lossy(&line[..line.len().min(100)]).into_owned();
                Err(self.wrong(&shown, &message))
            }
            _ => Ok(true),
        }
    }

    /// A line as text.
    fn text<'a>(&self, line: &'a [u8]) -> Result<&'a str> {
        let text = std::str::from_utf8(line).map_err(|_| {
            let (message, remedy) = ("text that is not valid UTF-8", "save the file as UTF-8");
            Error::input_at(&self.path, self.line, line, message, remedy)
        })?;
        Ok(if self.quotes { text } else { text.trim_end() })
    }

    /// Cuts a record into fields, reading on while a quote is open.
    fn split(&mut self, mut text: String, fields: &mut Vec<String>) -> Result<()> {
        fields.clear();
        let (mut field, mut quoted, mut length) = (String::new(), false, 0);
        loop {
            let (inside, end) = text.split_at(text.trim_end_matches(ENDS).len());
            let mut chars = inside.chars().peekable();
            while let Some(c) = chars.next() {
                match c {
                    '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
                    '"' if quoted || self.quotes && field.is_empty() => quoted = !quoted,
                    c if c == self.separator && !quoted => fields.push(std::mem::take(&mut field)),
                    c => field.push(c),
                }
            }
            if !quoted {
                fields.push(field);
                return Ok(());
            }
            field.push_str(end);
            length += text.len();
            let mut line = Vec::new();
            if length > LONGEST_LINE || !self.next_line(&mut line, LONGEST_LINE)? {
                let shown: String = field.chars().take(100).collect();
                return Err(self.wrong(&shown, "a quoted field does not end"));
            }
            text = self.text(&line)?.to_owned();
        }
    }
}
