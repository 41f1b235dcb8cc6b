//! Detects how an edge list is laid out: delimiter, header, which column is what.
//!
//! Decided once, from the first lines (`SAMPLE` of them at most); every later line must agree.

use super::blocks::Fault;
use super::columns::{Layout, candidates, columns};
use super::comments::{Comments, Tally, is_idle, is_tight, marks, skip_idle};
use super::delimiter::{self, Found};
use super::fields::{Delimiter, check_width, row, without_end};
use super::first;
use super::header::{Verdict, has_certain_pair, judge, same_names};
use super::options::{Column, ReadOptions};
use super::reading::{ReadNote, shown};
use super::shapes::{adjacency_list, bracketed, labelled_matrix, matrix_note};
use super::source::Source;
use super::vocabulary::is_known;
use crate::error::{Error, Result};

/// Lines looked at.
const SAMPLE: usize = 2000;
/// Bytes looked at, if that many lines are longer.
const SAMPLE_BYTES: usize = 1 << 16;
/// Comments before the first line that are kept in mind because they could be data, and their longest.
const SUSPECTS: usize = 1000;
const LONGEST_SUSPECT: usize = 1 << 12;

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
    let asked = options
        .delimiter
        .as_deref()
        .map(|asked| delimiter::named(asked, "delimiter"))
        .transpose()?;
    let marks = marks(options.comment);
    if options.comment.is_some()
        && marks
            .iter()
            .any(|mark| asked.is_some_and(|asked| asked.begins_with(*mark)))
    {
        return Err(Error::config(
            "comment",
            "the character that separates columns cannot begin comments",
        ));
    }
    let suspects = skip_comments(source, marks, options.comment.is_none())?;
    let detected = detect_after(source, options, (asked, marks), &suspects)?;
    if detected.header {
        let end = memchr::memchr(b'\n', source.ahead()).map_or(source.ahead().len(), |at| at + 1);
        source.skip(end);
    }
    Ok(detected)
}

/// Decides the layout of an edge list whose first comments, the `suspects` among them, were skipped.
fn detect_after(
    source: &mut Source,
    options: &ReadOptions,
    (asked, marks): (Option<Delimiter>, &[u8]),
    suspects: &[Vec<u8>],
) -> Result<Detected> {
    source.fill(SAMPLE_BYTES)?;
    let asked = asked.or(skip_separator(source)?);
    let lines = sample(source, marks);
    if lines.is_empty() {
        return Err(no_edges(source, suspects));
    }
    let separates = |byte: u8| byte.is_ascii_punctuation() || byte == b' ' || byte == b'\t';
    check_width(&lines[0], separates).map_err(|fault| fault.into_error(source, source.lines()))?;
    let index = first::index_header(&lines, asked, options, source.path());
    if index.is_none()
        && let Some(fault) = first::misfit(&lines, asked, source)
    {
        return Err(fault.into_error(source, source.lines()));
    }
    let free = || {
        asked.map_or_else(
            || delimiter::detect(&lines, 2, source.path()),
            Found::certain,
        )
    };
    let found = index.map_or_else(free, |(found, _)| found);
    // Where a character separates columns, only what comes first can be a comment: later lines are data.
    let tight = options.comment.is_none() && found.delimiter != Delimiter::Blanks;
    let lines = if tight {
        sample_of(source, |line| {
            !is_idle(line, marks) || is_tight(line, marks)
        })
    } else {
        lines
    };
    let mut table = rows(source, &lines, found.delimiter)?;
    if index.is_some() {
        first::name_index(&mut table);
    }
    let mut detected = understand(
        source,
        options,
        &lines[0],
        &table,
        found.delimiter,
        suspects,
    )?;
    let file = || source.path().display().to_string();
    if index.is_some_and(|(_, guessed)| guessed) {
        detected.notes.insert(
            0,
            ReadNote::Header {
                file: file(),
                line: shown(&lines[0]),
            },
        );
    }
    if let Some(rival) = found.rival {
        let line = shown(lines.last().unwrap_or(&lines[0]));
        let (cut, rival) = (found.delimiter.name(), rival.option());
        detected.notes.insert(
            0,
            ReadNote::Delimiter {
                file: file(),
                line,
                cut,
                rival,
            },
        );
    }
    if options.comment.is_none() && !detected.header {
        detected.notes.extend(first::comment_note(&lines, source));
    }
    detected
        .notes
        .extend(first::trailing_note(&lines, found.delimiter, source));
    if options.header.is_none() && !detected.header {
        detected.head = table.into_iter().next();
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
    let fault = |(message, remedy): (String, &str)| {
        Fault::new(head, message, remedy).into_error(source, source.lines())
    };
    misshapen(head, table).map_or(Ok(()), |refusal| Err(fault(refusal)))?;
    let verdict = verdict(options, table, delimiter)?;
    let header = matches!(verdict, Verdict::Header | Verdict::Guess);
    // Where several files were put into one, the header comes again, or another one.
    let again = |row: &[String]| header && same_names(row, &table[0]) || has_certain_pair(row);
    let lines = table
        .iter()
        .enumerate()
        .filter(|(i, row)| *i == 0 || !again(row));
    let table: Vec<Vec<String>> = lines.map(|(_, row)| row.clone()).collect();
    let columns = columns(options, &table, header).map_err(fault)?;
    let layout = Layout {
        delimiter,
        comments: Comments::new(options.comment, delimiter),
        ..columns
    };
    let (names, body) = if header {
        (&table[0][..], &table[1..])
    } else {
        (&[][..], &table[..])
    };
    let layout = layout.below(head, names).above(options, body);
    adjacency_list(body).map_or(Ok(()), |refusal| Err(fault(refusal)))?;
    let (file, line) = (source.path().display().to_string(), shown(head));
    let mut notes = Vec::new();
    notes.extend(matrix_note(names, body, source.ended(), &file));
    match verdict {
        Verdict::Guess => notes.insert(0, ReadNote::Header { file, line }),
        Verdict::Doubt => notes.insert(0, ReadNote::NoHeader { file, line }),
        Verdict::Header | Verdict::Edge => {}
    }
    notes.extend(layout.notes(options, source.path(), body, names));
    let skipped = edge_like(suspects, &layout);
    Ok(Detected {
        layout,
        header,
        notes,
        skipped,
        head: None,
    })
}

/// What is wrong with a table that cannot be a list of edges.
fn misshapen(head: &[u8], table: &[Vec<String>]) -> Option<(String, &'static str)> {
    match table[0].len() < 2 {
        true if head.contains(&b'\r') => Some((
            "carriage returns without line feeds".into(),
            "end lines with LF or CRLF",
        )),
        true => {
            let remedy = "an edge needs two ids; if something unusual separates them, name it with the option `delimiter`";
            Some(("only one column".into(), remedy))
        }
        false => labelled_matrix(table).or_else(|| bracketed(table)),
    }
}

/// Uses up blank lines and comments at the beginning; returns comments that could be data.
fn skip_comments(source: &mut Source, marks: &[u8], guessed: bool) -> Result<Vec<Vec<u8>>> {
    let mut suspects = Vec::new();
    skip_idle(source, marks, |line| {
        if guessed
            && suspects.len() < SUSPECTS
            && line.len() <= LONGEST_SUSPECT
            && is_tight(line, marks)
        {
            suspects.push(without_end(line).to_vec());
        }
    })?;
    Ok(suspects)
}

/// Uses up a line such as `sep=;`, which tells spreadsheets what separates columns; what it tells.
fn skip_separator(source: &mut Source) -> Result<Option<Delimiter>> {
    let end = memchr::memchr(b'\n', source.ahead()).map_or(source.ahead().len(), |at| at + 1);
    let line = without_end(&source.ahead()[..end]);
    let byte = match line.split_at_checked(4) {
        Some((word, [byte])) if word.eq_ignore_ascii_case(b"sep=") => *byte,
        _ => return Ok(None),
    };
    if byte != b'\t' && (byte == b'"' || !byte.is_ascii_punctuation()) {
        return Ok(None);
    }
    source.skip(end);
    source.fill(SAMPLE_BYTES)?;
    Ok(Some(Delimiter::Byte(byte)))
}

fn no_edges(source: &Source, suspects: &[Vec<u8>]) -> Error {
    let message = "the file has no edges, only comments or blank lines";
    let remedy = if suspects.is_empty() {
        "it needs at least one edge"
    } else {
        "it needs at least one edge; if ids begin with # or %, `comment = none` reads them"
    };
    Error::input(source.path(), message, remedy)
}

/// Those of the comments before the first line that have as many columns as the edges, and other words
/// than headers have.
fn edge_like(suspects: &[Vec<u8>], layout: &Layout) -> Tally {
    let mut tally = Tally::default();
    suspects
        .iter()
        .filter(|line| looks_like_edge(line, layout))
        .for_each(|line| tally.add(line));
    tally
}

/// Whether a line that begins like a comment could be an edge: `#rust,t2` could, `# by Ann` and
/// `#source,target` could not.
pub(super) fn looks_like_edge(line: &[u8], layout: &Layout) -> bool {
    if !is_tight(line, layout.comments.marks) {
        return false;
    }
    let marks: Vec<char> = layout
        .comments
        .marks
        .iter()
        .map(|&mark| char::from(mark))
        .collect();
    row(line, layout.delimiter).is_ok_and(|row| {
        row.len() == layout.columns
            && !row
                .iter()
                .all(|name| is_known(name.trim_start_matches(&marks[..])))
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
pub fn sample(source: &Source, marks: &[u8]) -> Vec<Vec<u8>> {
    sample_of(source, |line| !is_idle(line, marks))
}

/// The first lines of some kind.
fn sample_of(source: &Source, wanted: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let ahead = source.ahead();
    let complete = if source.ended() {
        ahead.len()
    } else {
        memchr::memrchr(b'\n', ahead).unwrap_or(ahead.len())
    };
    let lines = ahead[..complete].split(|&b| b == b'\n').map(without_end);
    lines
        .filter(|line| wanted(line))
        .take(SAMPLE)
        .map(<[u8]>::to_vec)
        .collect()
}

/// Whether the first line names the columns: as asked, or because columns are requested by name, or as
/// the lines themselves have it.
fn verdict(options: &ReadOptions, table: &[Vec<String>], delimiter: Delimiter) -> Result<Verdict> {
    let asked = [&options.source, &options.target, &options.weight];
    let named = asked
        .iter()
        .any(|column| matches!(column, Some(Column::Name(_))));
    match options.header {
        Some(false) if named => Err(Error::config(
            "header",
            "columns are named, so the file must have a header; give positions instead",
        )),
        Some(false) => Ok(Verdict::Edge),
        Some(true) => Ok(Verdict::Header),
        None if named => Ok(Verdict::Header),
        None => {
            let ids = match (&options.source, &options.target) {
                (Some(Column::Position(u)), Some(Column::Position(v))) => Some((*u, *v)),
                _ => None,
            };
            // Without known names, the first two columns that could have ids.
            let likely = match candidates(&[], &table[1..], table[0].len())[..] {
                [u, v, ..] => (u, v),
                _ => (0, 1),
            };
            Ok(judge(table, ids, likely, delimiter == Delimiter::Blanks))
        }
    }
}
