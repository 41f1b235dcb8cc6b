//! Finds out how an edge list is laid out: delimiter, header, which column is what.
//!
//! Decided once, from the first lines ([`SAMPLE`] of them at most); every later line must agree.

use super::super::ids::canonical_integer;
use super::blocks::{Fault, LONGEST_LINE};
use super::fields::{self, Delimiter, Field, is_idle, without_end};
use super::source::Source;
use super::{Column, ReadOptions};
use crate::error::{Error, Result};

/// Lines looked at.
const SAMPLE: usize = 100;
/// Bytes looked at, if that many lines are longer.
const SAMPLE_BYTES: usize = 1 << 16;
/// What begins a comment in an edge list.
pub(crate) const COMMENTS: &[u8] = b"#%";
/// Names of the two id columns of a table that are recognised without being asked for, in lower case.
pub const ID_COLUMNS: [(&str, &str); 12] = [
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("fromnodeid", "tonodeid"),
    ("from_id", "to_id"),
    ("source_id", "target_id"),
    ("u", "v"),
];
/// Names of the weight column of a table, in lower case.
pub const WEIGHT_COLUMNS: [&str; 4] = ["weight", "weights", "w", "value"];

/// Where the parts of an edge are in a line.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) delimiter: Delimiter,
    /// Number of columns.
    pub(super) columns: usize,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The weight column, when weights are kept.
    pub(super) weight: Option<usize>,
    /// Whether there is a weight column nobody asked for.
    pub(super) ignores_weights: bool,
    /// What begins a comment.
    pub(super) comments: &'static [u8],
}

impl Layout {
    /// Whether a line is two ids and at most one more field, which is the weight if that is kept.
    pub(super) fn is_plain(&self) -> bool {
        let two_ids = (self.source, self.target) == (0, 1);
        two_ids && matches!((self.columns, self.weight), (2, None) | (3, None | Some(2)))
    }
}

/// Decides the layout of an edge list; uses up the comments and the header at its beginning.
pub(super) fn detect(source: &mut Source, options: &ReadOptions) -> Result<Layout> {
    skip_idle(source, COMMENTS)?;
    source.fill(SAMPLE_BYTES)?;
    let lines = sample(source);
    if lines.is_empty() {
        let message = "the file has no edges, only comments or blank lines";
        return Err(Error::input(source.path(), message, "it needs at least one edge"));
    }
    let delimiter = delimiter(options, &lines)?;
    let mut table: Vec<Vec<String>> = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        match row(line, delimiter) {
            Ok(row) => table.push(row),
            // A later line is reported by the parser, with its own number.
            Err(fault) if i == 0 => return Err(fault.into_error(source, source.lines())),
            Err(_) => break,
        }
    }
    let first = &table[0];
    let fault =
        |message: String, remedy: &str| Err(Fault::new(&lines[0], message, remedy).into_error(source, source.lines()));
    if first.len() < 2 {
        if lines[0].contains(&b'\r') {
            return fault("carriage returns without line feeds".into(), "end lines with LF or CRLF");
        }
        return fault(
            "only one column".into(),
            "an edge needs two ids; if something unusual separates them, name the delimiter",
        );
    }
    let header = has_header(options, &table)?;
    let columns = columns(options, &table, header).or_else(|(message, remedy)| fault(message, remedy))?;
    if header {
        let end = memchr::memchr(b'\n', source.ahead()).map_or(source.ahead().len(), |at| at + 1);
        source.skip(end);
    }
    Ok(Layout { delimiter, ..columns })
}

/// Uses up blank lines and comments at the beginning.
pub(crate) fn skip_idle(source: &mut Source, comments: &[u8]) -> Result<()> {
    loop {
        source.fill(1)?;
        let mut wanted = SAMPLE_BYTES;
        let end = loop {
            match memchr::memchr(b'\n', source.ahead()) {
                Some(at) => break at + 1,
                None if source.ended() || source.ahead().len() > LONGEST_LINE => break source.ahead().len(),
                None => source.fill(wanted)?,
            }
            wanted *= 2;
        };
        if end == 0 || !is_idle(&source.ahead()[..end], comments) {
            return Ok(());
        }
        source.skip(end);
    }
}

/// The first lines that say something, complete ones only.
pub(crate) fn sample(source: &Source) -> Vec<Vec<u8>> {
    let ahead = source.ahead();
    let complete = if source.ended() { ahead.len() } else { memchr::memrchr(b'\n', ahead).unwrap_or(ahead.len()) };
    let lines = ahead[..complete].split(|&b| b == b'\n').map(without_end);
    lines.filter(|line| !is_idle(line, COMMENTS)).take(SAMPLE).map(<[u8]>::to_vec).collect()
}

/// The fields of a line as text; bytes that are not UTF-8 are the parser's business.
pub(crate) fn row(line: &[u8], delimiter: Delimiter) -> Result<Vec<String>, Fault> {
    let mut fields: Vec<Field> = Vec::new();
    fields::split(line, delimiter, &mut fields)?;
    Ok(fields.iter().map(|field| String::from_utf8_lossy(&field.text()).into_owned()).collect())
}

/// The delimiter that a character given as `field` stands for; a space stands for any run of blanks.
pub(crate) fn named_delimiter(asked: char, field: &str) -> Result<Delimiter> {
    match asked {
        ' ' => Ok(Delimiter::Blanks),
        '"' | '\n' | '\r' => Err(Error::config(field, "a quote or the end of a line cannot separate columns")),
        asked if asked.is_ascii() => Ok(Delimiter::Byte(asked as u8)),
        asked => Err(Error::config(field, format!("`{asked}` is not an ASCII character"))),
    }
}

/// The delimiter asked for, or the first of tab, comma, semicolon that gives every line the same
/// number of columns, two or more, with ids in the first two; else blanks.
fn delimiter(options: &ReadOptions, lines: &[Vec<u8>]) -> Result<Delimiter> {
    if let Some(asked) = options.delimiter {
        return named_delimiter(asked, "delimiter");
    }
    let fits = |&byte: &u8| {
        let mut rows = lines.iter().map(|line| row(line, Delimiter::Byte(byte)));
        let Some(Ok(first)) = rows.next() else { return false };
        let good = |row: &[String]| row.len() >= 2 && !row[0].is_empty() && !row[1].is_empty();
        // One odd line among many is an error to report, not a reason for another delimiter.
        let odd = rows.filter(|row| !row.as_ref().is_ok_and(|row| row.len() == first.len())).count();
        let numbers = |row: &[String]| row.iter().all(|field| field.parse::<f64>().is_ok());
        // Numbers with tabs here and spaces there are separated by blanks.
        let mixed = byte == b'\t'
            && row(&lines[0], Delimiter::Blanks).is_ok_and(|blanks| blanks.len() > first.len() && numbers(&blanks));
        good(&first) && 2 * odd <= lines.len() && !mixed
    };
    Ok(b"\t,;".iter().copied().find(fits).map_or(Delimiter::Blanks, Delimiter::Byte))
}

/// Whether the first line names the columns: if asked, or if columns are asked for by name, or if
/// it has well-known names, or if it has names where all others have integers.
fn has_header(options: &ReadOptions, table: &[Vec<String>]) -> Result<bool> {
    let asked = [&options.source, &options.target, &options.weight];
    let named = asked.iter().any(|column| matches!(column, Some(Column::Name(_))));
    if named && options.header == Some(false) {
        return Err(Error::config(
            "header",
            "columns are named, so the file must have a header; give positions instead",
        ));
    }
    if let Some(header) = options.header {
        return Ok(header);
    }
    let integers = |row: &Vec<String>| row.iter().take(2).all(|field| canonical_integer(field.as_bytes()).is_some());
    let first = &table[0];
    let wordy = first.iter().take(2).all(|field| !field.is_empty() && field.parse::<f64>().is_err());
    // `u v` alone may well be an edge.
    let known = ID_COLUMNS[..ID_COLUMNS.len() - 1].iter().any(|names| find_pair(first, *names).is_some());
    let contrast = wordy && first[0] != first[1] && table.len() > 1 && table[1..].iter().all(integers);
    Ok(named || known || contrast)
}

pub(crate) fn find(header: &[String], name: &str) -> Option<usize> {
    header.iter().position(|field| field.eq_ignore_ascii_case(name))
}

fn find_pair(header: &[String], (source, target): (&str, &str)) -> Option<(usize, usize)> {
    find(header, source).zip(find(header, target))
}

/// Which column is what. The message and the remedy when the table does not have them.
pub(super) fn columns(
    options: &ReadOptions,
    table: &[Vec<String>],
    header: bool,
) -> Result<Layout, (String, &'static str)> {
    let names: &[String] = if header { &table[0] } else { &[] };
    let columns = table[0].len();
    let resolve = |column: &Column| match column {
        Column::Position(position) if *position < columns => Ok(*position),
        Column::Position(position) => {
            Err((format!("there is no column {position}, only 0 to {}", columns - 1), "positions count from 0"))
        }
        Column::Name(name) => {
            names.iter().position(|field| field == name).or_else(|| find(names, name)).ok_or_else(|| {
                (format!("there is no column `{name}`; the columns are {}", names.join(", ")), "name one of them")
            })
        }
    };
    let source = options.source.as_ref().map(resolve).transpose()?;
    let target = options.target.as_ref().map(resolve).transpose()?;
    let weight = options.weight.as_ref().map(resolve).transpose()?;
    let known = ID_COLUMNS.iter().find_map(|pair| find_pair(names, *pair));
    let free = |taken: [Option<usize>; 2]| (0..columns).find(|&c| !taken.contains(&Some(c)));
    let source = source.or(known.map(|k| k.0).filter(|&s| Some(s) != target)).or_else(|| free([target, weight]));
    let target = target.or(known.map(|k| k.1).filter(|&t| Some(t) != source)).or_else(|| free([source, weight]));
    let (Some(source), Some(target)) = (source, target) else {
        return Err(("no column is left for an id".into(), "an edge needs two id columns"));
    };
    if source == target || Some(source) == weight || Some(target) == weight {
        return Err(("the same column is asked for twice".into(), "source, target and weight are three columns"));
    }
    let layout = Layout {
        delimiter: Delimiter::Blanks,
        columns,
        source,
        target,
        weight: None,
        ignores_weights: false,
        comments: COMMENTS,
    };
    with_weight(layout, weight, options, table, names)
}

/// Adds the weight column: the one asked for, the one called so, or the first that is left.
fn with_weight(
    mut layout: Layout,
    asked: Option<usize>,
    options: &ReadOptions,
    table: &[Vec<String>],
    names: &[String],
) -> Result<Layout, (String, &'static str)> {
    let is_free = |c: &usize| *c != layout.source && *c != layout.target;
    let named = WEIGHT_COLUMNS.iter().find_map(|name| find(names, name)).filter(is_free);
    let numeric = |c: &usize| {
        let first = table.get(usize::from(!names.is_empty()));
        first.and_then(|row| row.get(*c)).is_some_and(|field| field.parse::<f32>().is_ok())
    };
    let next = (0..layout.columns).find(is_free).filter(|_| names.is_empty() || layout.columns == 3);
    if options.weighted || asked.is_some() {
        layout.weight = asked.or(named).or(next);
        if layout.weight.is_none() {
            let message = format!("there is no weight among the {} columns", layout.columns);
            return Err((message, "name the weight column, or read without weights"));
        }
    } else {
        layout.ignores_weights = named.or(next.filter(numeric)).is_some();
    }
    Ok(layout)
}
