//! Detects how an edge list is laid out: delimiter, header, which column is what.
//!
//! Decided once, from the first lines ([`SAMPLE`] of them at most); every later line must agree.

use std::path::Path;

use super::blocks::Fault;
use super::comments::{Comments, Tally, is_idle, is_tight, marks, skip_idle};
use super::delimiter::{self, Found};
use super::fields::{self, Delimiter, Field, without_end};
use super::first;
use super::header::{Verdict, find, find_pair, judge};
use super::reading::{ReadNote, TableColumns, shown};
use super::shapes::{adjacency_list, is_sign, matrix_note};
use super::sides::Sides;
use super::source::Source;
use super::times::are_times;
use super::vocabulary::{ID_COLUMNS, NOT_WEIGHTS, WEIGHT_COLUMNS, is_known};
use super::{Column, ReadOptions};
use crate::error::{Error, Result};

/// Lines looked at.
const SAMPLE: usize = 2000;
/// Bytes looked at, if that many lines are longer.
const SAMPLE_BYTES: usize = 1 << 16;
/// Comments before the first line that are kept in mind because they could be data.
const SUSPECTS: usize = 1000;

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
    /// The weight column, when weights are not kept.
    pub(super) ignored_weight: Option<usize>,
    /// Which lines are comments.
    pub(super) comments: Comments,
    /// Whether both id columns name nodes of one kind.
    pub(super) sides: Sides,
}

impl Layout {
    /// Whether a line is two ids and at most one more field, which is the weight if that is kept.
    pub(super) fn is_plain(&self) -> bool {
        let two_ids = (self.source, self.target) == (0, 1) && !matches!(self.sides, Sides::Two(_));
        two_ids && matches!((self.columns, self.weight), (2, None) | (3, None | Some(2)))
    }

    /// What the record of a run says of it; `header` is known of text only.
    pub(super) fn facts(&self, header: Option<bool>) -> TableColumns {
        TableColumns {
            delimiter: header.map(|_| self.delimiter.name()),
            header,
            count: self.columns,
            source: self.source,
            target: self.target,
            weight: self.weight,
        }
    }

    /// A note about columns that nobody asked for and nobody uses; `table` shows which hold anything.
    pub(super) fn surplus(
        &self,
        options: &ReadOptions,
        path: &Path,
        table: &[Vec<String>],
        names: &[String],
    ) -> Option<ReadNote> {
        let used: Vec<usize> = [Some(self.source), Some(self.target), self.weight].into_iter().flatten().collect();
        let is_idle = |c: usize| used.contains(&c) || self.ignored_weight == Some(c);
        let says = |c: usize| {
            table.is_empty() || table.iter().any(|row| row.get(c).is_some_and(|f| !f.is_empty() && f != "{}"))
        };
        let chosen = options.source.is_some() && options.target.is_some();
        let surplus = (0..self.columns).any(|c| !is_idle(c) && says(c));
        (surplus && !chosen).then(|| ReadNote::Columns {
            file: path.display().to_string(),
            names: used.iter().filter_map(|&c| names.get(c).cloned()).collect(),
            used,
            count: self.columns,
        })
    }

    /// A note about an id column that nobody chose and that has decimal numbers, as weights are.
    fn decimal_ids(&self, options: &ReadOptions, path: &Path, body: &[Vec<String>]) -> Option<ReadNote> {
        let is_decimal = |field: &str| field.contains('.') && field.parse::<f64>().is_ok();
        let is_number = |row: &Vec<String>, c: usize| row.get(c).is_some_and(|field| field.parse::<f64>().is_ok());
        let chosen = [(self.source, &options.source), (self.target, &options.target)];
        let column = chosen.into_iter().filter(|(_, chosen)| chosen.is_none()).find_map(|(c, _)| {
            let example = body.iter().find_map(|row| row.get(c).filter(|field| is_decimal(field)))?;
            body.iter().all(|row| is_number(row, c)).then_some((c, example))
        });
        column.map(|(column, example)| ReadNote::DecimalIds {
            file: path.display().to_string(),
            column,
            example: example.clone(),
        })
    }
}

/// A layout, and what was a guess about it.
pub(super) struct Detected {
    pub(super) layout: Layout,
    pub(super) header: bool,
    pub(super) notes: Vec<ReadNote>,
    /// Comments before the first line that look like edges.
    pub(super) skipped: Tally,
    /// The first line, where it is taken for an edge and nobody said so.
    pub(super) head: Option<Vec<String>>,
}

/// Decides the layout of an edge list; uses up the comments and the header at its beginning.
pub(super) fn detect(source: &mut Source, options: &ReadOptions) -> Result<Detected> {
    let asked = options.delimiter.as_deref().map(|asked| delimiter::named(asked, "delimiter")).transpose()?;
    let marks = marks(options.comment);
    if options.comment.is_some() && marks.iter().any(|mark| asked.is_some_and(|asked| asked.begins_with(*mark))) {
        return Err(Error::config("comment", "the character that separates columns cannot begin comments"));
    }
    let suspects = skip_comments(source, marks, options.comment.is_none())?;
    source.fill(SAMPLE_BYTES)?;
    let lines = sample(source, marks);
    if lines.is_empty() {
        return Err(no_edges(source, &suspects));
    }
    if let Some(fault) = first::misfit(&lines, asked, source) {
        return Err(fault.into_error(source, source.lines()));
    }
    let found = asked.map_or_else(|| delimiter::detect(&lines, 2, source.path()), Found::certain);
    // Where a character separates columns, only what comes first can be a comment: later lines are data.
    let tight = options.comment.is_none() && found.delimiter != Delimiter::Blanks;
    let lines = if tight { sample_of(source, |line| !is_idle(line, marks) || is_tight(line, marks)) } else { lines };
    let table = rows(source, &lines, found.delimiter)?;
    let mut detected = understand(source, options, &lines[0], &table, found.delimiter, &suspects)?;
    if let Some(rival) = found.rival {
        let (file, line) = (source.path().display().to_string(), shown(lines.last().unwrap_or(&lines[0])));
        let (cut, rival) = (found.delimiter.name(), rival.option());
        detected.notes.insert(0, ReadNote::Delimiter { file, line, cut, rival });
    }
    if options.comment.is_none() && !detected.header {
        detected.notes.extend(first::comment_note(&lines, source));
    }
    detected.notes.extend(first::trailing_note(&lines, found.delimiter, source));
    if options.header.is_none() && !detected.header {
        detected.head = table.into_iter().next();
    }
    if detected.header {
        let end = memchr::memchr(b'\n', source.ahead()).map_or(source.ahead().len(), |at| at + 1);
        source.skip(end);
    }
    Ok(detected)
}

/// Decides what the columns of a table are, and whether its first line, `head`, names them.
fn understand(
    source: &Source,
    options: &ReadOptions,
    head: &[u8],
    table: &[Vec<String>],
    delimiter: Delimiter,
    suspects: &[Vec<u8>],
) -> Result<Detected> {
    let fault = |message: String, remedy: &str| Fault::new(head, message, remedy).into_error(source, source.lines());
    if table[0].len() < 2 {
        if head.contains(&b'\r') {
            return Err(fault("carriage returns without line feeds".into(), "end lines with LF or CRLF"));
        }
        let remedy = "an edge needs two ids; if something unusual separates them, name the delimiter";
        return Err(fault("only one column".into(), remedy));
    }
    let verdict = verdict(options, table, delimiter)?;
    let header = matches!(verdict, Verdict::Header | Verdict::Guess);
    let columns = columns(options, table, header).map_err(|(message, remedy)| fault(message, remedy))?;
    let layout = Layout { delimiter, comments: Comments::new(options.comment, delimiter), ..columns };
    let (file, line) = (source.path().display().to_string(), shown(head));
    let mut notes = Vec::new();
    match verdict {
        Verdict::Guess => notes.push(ReadNote::Header { file, line }),
        Verdict::Doubt => notes.push(ReadNote::NoHeader { file, line }),
        Verdict::Header | Verdict::Edge => {}
    }
    let (names, body) = if header { (&table[0][..], &table[1..]) } else { (&[][..], table) };
    if let Some((message, remedy)) = adjacency_list(body) {
        return Err(fault(message, remedy));
    }
    notes.extend(matrix_note(body, source.ended(), &source.path().display().to_string()));
    notes.extend(layout.surplus(options, source.path(), body, names));
    notes.extend(layout.decimal_ids(options, source.path(), body));
    let skipped = edge_like(suspects, &layout);
    Ok(Detected { layout, header, notes, skipped, head: None })
}

/// Uses up blank lines and comments at the beginning; returns comments that could be data.
fn skip_comments(source: &mut Source, marks: &[u8], guessed: bool) -> Result<Vec<Vec<u8>>> {
    let mut suspects = Vec::new();
    skip_idle(source, marks, |line| {
        if guessed && suspects.len() < SUSPECTS && is_tight(line, marks) {
            suspects.push(without_end(line).to_vec());
        }
    })?;
    Ok(suspects)
}

fn no_edges(source: &Source, suspects: &[Vec<u8>]) -> Error {
    let message = "the file has no edges, only comments or blank lines";
    let remedy = if suspects.is_empty() {
        "it needs at least one edge"
    } else {
        "it needs at least one edge; if ids begin with # or %, set comment to none"
    };
    Error::input(source.path(), message, remedy)
}

/// Those of the comments before the first line that have as many columns as the edges, and other words
/// than headers have.
fn edge_like(suspects: &[Vec<u8>], layout: &Layout) -> Tally {
    let mut tally = Tally::default();
    suspects.iter().filter(|line| looks_like_edge(line, layout)).for_each(|line| tally.add(line));
    tally
}

/// Whether a line that begins like a comment could be an edge: `#rust,t2` could, `# by Ann` and
/// `#source,target` could not.
pub(super) fn looks_like_edge(line: &[u8], layout: &Layout) -> bool {
    if !is_tight(line, layout.comments.marks) {
        return false;
    }
    let marks: Vec<char> = layout.comments.marks.iter().map(|&mark| char::from(mark)).collect();
    row(line, layout.delimiter).is_ok_and(|row| {
        row.len() == layout.columns && !row.iter().all(|name| is_known(name.trim_start_matches(&marks[..])))
    })
}

/// The fields of the first lines, up to one that cannot be cut.
fn rows(source: &Source, lines: &[Vec<u8>], delimiter: Delimiter) -> Result<Vec<Vec<String>>> {
    let mut table: Vec<Vec<String>> = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        match row(line, delimiter) {
            Ok(row) => table.push(row),
            // A later line is reported by the parser, with its own number.
            Err(fault) if i == 0 => return Err(fault.into_error(source, source.lines())),
            Err(_) => break,
        }
    }
    Ok(table)
}

/// The first lines that say something, complete ones only.
pub(crate) fn sample(source: &Source, marks: &[u8]) -> Vec<Vec<u8>> {
    sample_of(source, |line| !is_idle(line, marks))
}

/// The first lines of some kind.
fn sample_of(source: &Source, wanted: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let ahead = source.ahead();
    let complete = if source.ended() { ahead.len() } else { memchr::memrchr(b'\n', ahead).unwrap_or(ahead.len()) };
    let lines = ahead[..complete].split(|&b| b == b'\n').map(without_end);
    lines.filter(|line| wanted(line)).take(SAMPLE).map(<[u8]>::to_vec).collect()
}

/// The fields of a line as text; bytes that are not UTF-8 are left to the parser.
pub(crate) fn row(line: &[u8], delimiter: Delimiter) -> Result<Vec<String>, Fault> {
    let mut fields: Vec<Field> = Vec::new();
    fields::split(line, delimiter, &mut fields)?;
    Ok(fields.iter().map(|field| String::from_utf8_lossy(&field.text()).into_owned()).collect())
}

/// Whether the first line names the columns: as asked, or because columns are asked for by name, or as
/// the lines themselves have it.
fn verdict(options: &ReadOptions, table: &[Vec<String>], delimiter: Delimiter) -> Result<Verdict> {
    let asked = [&options.source, &options.target, &options.weight];
    let named = asked.iter().any(|column| matches!(column, Some(Column::Name(_))));
    match options.header {
        Some(false) if named => {
            Err(Error::config("header", "columns are named, so the file must have a header; give positions instead"))
        }
        Some(false) => Ok(Verdict::Edge),
        Some(true) => Ok(Verdict::Header),
        None if named => Ok(Verdict::Header),
        None => {
            let ids = match (&options.source, &options.target) {
                (Some(Column::Position(u)), Some(Column::Position(v))) => Some((*u, *v)),
                _ => None,
            };
            Ok(judge(table, ids, delimiter == Delimiter::Blanks))
        }
    }
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
    let body = &table[usize::from(header).min(table.len())..];
    let is_id = |c: usize| columns <= 2 || !is_sign(body, c);
    let free = |taken: [Option<usize>; 2]| (0..columns).find(|&c| !taken.contains(&Some(c)) && is_id(c));
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
        ignored_weight: None,
        comments: Comments::fixed(&[]),
        sides: Sides::of(options, (source, target), names, body),
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
    let body = &table[usize::from(!names.is_empty()).min(table.len())..];
    let is_free = |c: &usize| *c != layout.source && *c != layout.target && !is_sign(body, *c);
    let named = WEIGHT_COLUMNS.iter().find_map(|name| find(names, name)).filter(is_free);
    let numeric = |c: &usize| {
        let first = table.get(usize::from(!names.is_empty()));
        first.and_then(|row| row.get(*c)).is_some_and(|field| field.parse::<f32>().is_ok())
    };
    let other = |c: &usize| names.get(*c).is_some_and(|name| NOT_WEIGHTS.iter().any(|n| name.eq_ignore_ascii_case(n)));
    let next = (0..layout.columns).find(is_free).filter(|c| names.is_empty() || layout.columns == 3 && !other(c));
    let field = |row: &'_ Vec<String>, c: usize| row.get(c)?.parse::<f64>().ok();
    let is_times = |c: &usize| are_times(table.iter().skip(usize::from(!names.is_empty())).map(|row| field(row, *c)));
    let times = next.filter(is_times);
    let next = next.filter(|_| times.is_none());
    if options.weighted || asked.is_some() {
        layout.weight = asked.or(named).or(next);
        if layout.weight.is_none() {
            return Err(no_weight(&layout, times));
        }
    } else {
        layout.ignored_weight = named.or(next.filter(numeric));
    }
    Ok(layout)
}

/// What is wrong with a table without weights; `times` is a column that could be taken for some.
fn no_weight(layout: &Layout, times: Option<usize>) -> (String, &'static str) {
    match times {
        Some(column) => times_for_weights(&format!("column {} (position {column})", column + 1)),
        None => {
            let message = format!("there is no weight among the {} columns", layout.columns);
            (message, "name the weight column, or read without weights")
        }
    }
}

/// What is wrong with Unix times in the place of weights.
pub(super) fn times_for_weights(column: &str) -> (String, &'static str) {
    let remedy = "name the column of the weights, this one if its numbers are weights, with the option `weight`; or \
                  read without weights";
    (format!("{column} looks like Unix times, not weights"), remedy)
}
