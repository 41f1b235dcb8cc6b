//! First lines that are not what the others are: comments with other marks, numbers of nodes and edges, other widths; and
//! headers that come later.
//!
//! Such a line decides how all others are cut, or becomes an edge between nodes that do not exist. What cannot be read is
//! refused with the first line named, not the second; what can be is read, with a note.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{NodeId, NodeIds};
use super::blocks::Fault;
use super::columns::{decimal, is_numbering};
use super::delimiter::{self, Found};
use super::fields::{self, Delimiter, row};
use super::header::{find_pair, is_number, same_names};
use super::options::{Column, ReadOptions};
use super::reading::{ReadNote, shown};
use super::source::Source;
use super::vocabulary::{CERTAIN, ID_COLUMNS, is_known};

/// How a table is cut whose first line names all columns but the first, which is an index, as R writes it; and whether
/// that is a guess. The index has no value twice. It has rising numbers, or the names are known, or the user says that the
/// first line is a header; and the names are not those of the columns before one of weights.
pub(super) fn index_header(
    lines: &[Vec<u8>],
    asked: Option<Delimiter>,
    options: &ReadOptions,
    path: &Path,
) -> Option<(Found, bool)> {
    let [head, rest @ ..] = lines else {
        return None;
    };
    // Where several files were put into one, those of the first.
    let rest: Vec<Vec<u8>> = rest
        .iter()
        .take_while(|line| *line != head)
        .cloned()
        .collect();
    if rest.is_empty() || options.header == Some(false) {
        return None;
    }
    let found = asked.map_or_else(|| delimiter::detect(&rest, 2, path), Found::certain);
    let names = row(head, found.delimiter).ok()?;
    let rows = rest
        .iter()
        .map_while(|line| row(line, found.delimiter).ok());
    let body: Vec<Vec<String>> = rows.filter(|row| row.len() == names.len() + 1).collect();
    let is_text = |name: &String| !name.is_empty() && !is_number(name);
    if names.len() < 2 || 2 * body.len() <= rest.len() || !names.iter().all(is_text) {
        return None;
    }
    let named = [&options.source, &options.target, &options.weight];
    let said = options.header == Some(true)
        || named
            .iter()
            .any(|column| matches!(column, Some(Column::Name(_))));
    let mut seen = FxHashSet::default();
    let distinct = body.iter().all(|row| seen.insert(&row[0]));
    let evident =
        said || rising(&body) || are_known(&names) && (names.len() > 2 || !numbers(&body, 2));
    let fits = distinct && evident && (names.len() > 2 || decimal(&body, 2).is_none());
    fits.then(|| {
        (
            found,
            !(said || are_known(&names) && is_numbering(&body, 0)),
        )
    })
}

fn are_known(names: &[String]) -> bool {
    names.iter().all(|name| is_known(name))
        || ID_COLUMNS
            .iter()
            .any(|pair| find_pair(names, *pair).is_some())
}

fn numbers(body: &[Vec<String>], column: usize) -> bool {
    body.iter().all(|row| is_number(&row[column]))
}

/// Whether the first column has rising integers.
fn rising(body: &[Vec<String>]) -> bool {
    let index: Option<Vec<i64>> = body.iter().map(|row| row[0].parse().ok()).collect();
    index.is_some_and(|index| index.windows(2).all(|two| two[0] < two[1]))
}

/// Gives the index of such a table an empty name, in the first line and in those that repeat it.
pub(super) fn name_index(table: &mut [Vec<String>]) {
    let Some(head) = table.first().cloned() else {
        return;
    };
    table
        .iter_mut()
        .filter(|row| same_names(row, &head))
        .for_each(|row| row.insert(0, String::new()));
}

/// A note about an edge between nodes that are called like a pair of columns: the header of a further file, perhaps.
pub(super) fn inner_header(file: &str, ids: &NodeIds, pairs: &[(u32, u32)]) -> Option<ReadNote> {
    let NodeIds::Text { .. } = ids else {
        return None;
    };
    let certain = &ID_COLUMNS[..CERTAIN];
    let longest = certain.iter().map(|(a, b)| a.len().max(b.len())).max()?;
    let names: FxHashSet<&str> = certain.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut called: FxHashMap<u32, String> = FxHashMap::default();
    for node in 0..ids.len() as u32 {
        if let NodeId::Text(id) = ids.get(node)
            && id.len() <= longest
        {
            let lower = id.to_ascii_lowercase();
            if names.contains(&*lower) {
                called.insert(node, lower);
            }
        }
    }
    if called.len() < 2 {
        return None;
    }
    let is_pair = |(u, v): &(u32, u32)| {
        let named = called.get(u).zip(called.get(v));
        named.is_some_and(|(u, v)| certain.iter().any(|(a, b)| a == u && b == v))
    };
    let (u, v) = pairs.iter().copied().find(is_pair)?;
    Some(ReadNote::InnerHeader {
        file: file.to_owned(),
        line: format!("{} – {}", ids.get(u), ids.get(v)),
    })
}

/// What is wrong with a first line that has other columns than all others, where these agree.
pub(super) fn misfit(
    lines: &[Vec<u8>],
    asked: Option<Delimiter>,
    source: &Source,
) -> Option<Fault> {
    let [head, rest @ ..] = lines else {
        return None;
    };
    if rest.len() < 2 {
        return None;
    }
    let detected = |lines: &[Vec<u8>]| {
        asked.unwrap_or_else(|| delimiter::detect(lines, 2, source.path()).delimiter)
    };
    let width_by = |line: &Vec<u8>, cut: Delimiter| {
        let mut fields = Vec::new();
        fields::split(line, cut, &mut fields)
            .ok()
            .map(|()| fields.len())
    };
    // What separates the names of the first line may separate all columns, whatever ids hold.
    let of_all = detected(lines);
    if width_by(head, of_all) >= Some(2)
        && rest
            .iter()
            .all(|line| width_by(line, of_all) == width_by(head, of_all))
    {
        return None;
    }
    let cut = detected(rest);
    let width = |line: &Vec<u8>| width_by(line, cut);
    let usual = width(&rest[0]).filter(|&columns| columns >= 2)?;
    if !rest.iter().all(|line| width(line) == Some(usual)) || width(head) == Some(usual) {
        return None;
    }
    let remedy = match comment_mark(head) {
        Some(mark) => format!("if it is a comment, `comment = {mark}` skips it; else fix the line"),
        None if width(head).is_some_and(|columns| columns + 1 == usual) => format!(
            "columns are separated by {}; fix the line, or remove it; if it names all columns but the first, `header = yes` \
             reads it so",
            cut.name()
        ),
        None => format!(
            "columns are separated by {}; fix the line, or remove it",
            cut.name()
        ),
    };
    Some(Fault::new(
        head,
        format!("this line does not have the {usual} columns of all lines below"),
        remedy,
    ))
}

/// What a line begins with if it looks like a comment in another language: `//`, `--`, `;` or `!` before a blank.
fn comment_mark(line: &[u8]) -> Option<char> {
    let first = line
        .trim_ascii_start()
        .split(u8::is_ascii_whitespace)
        .next()?;
    let mark = first
        .first()
        .copied()
        .filter(|mark| b"/-;!*".contains(mark))?;
    first
        .iter()
        .all(|&byte| byte == mark)
        .then(|| char::from(mark))
}

/// A note about a first line that is read as an edge, though it looks like a comment and no other line begins so.
pub(super) fn comment_note(lines: &[Vec<u8>], source: &Source) -> Option<ReadNote> {
    let [head, rest @ ..] = lines else {
        return None;
    };
    let mark = comment_mark(head)?;
    let begins = |line: &Vec<u8>| {
        line.trim_ascii_start()
            .first()
            .is_some_and(|&byte| char::from(byte) == mark)
    };
    let (file, line) = (source.path().display().to_string(), shown(head));
    (!rest.iter().any(begins)).then(|| ReadNote::MaybeComment {
        file,
        line,
        mark: mark.into(),
    })
}

/// A note about lines that end with what looks like a comment, and are read whole: `a,b # seen twice`.
pub(super) fn trailing_note(
    lines: &[Vec<u8>],
    delimiter: Delimiter,
    source: &Source,
) -> Option<ReadNote> {
    if delimiter == Delimiter::Blanks {
        return None;
    }
    let ends = |line: &[u8]| {
        let mut fields = Vec::new();
        fields::split(line, delimiter, &mut fields).is_ok()
            && fields
                .last()
                .is_some_and(|field| !field.is_quoted() && has_comment(&field.text()))
    };
    let line = shown(lines.iter().find(|line| ends(line))?);
    Some(ReadNote::Trailing {
        file: source.path().display().to_string(),
        line,
    })
}

/// Whether ` # ` is inside a field, behind something else.
pub(super) fn has_comment(field: &[u8]) -> bool {
    field
        .windows(3)
        .any(|three| three[0] == b' ' && b"#%".contains(&three[1]) && three[2] == b' ')
}

/// A note about a first line that is read as an edge, though it could be the numbers of nodes and edges: as many lines
/// follow as one of its numbers says.
pub(super) fn sizes_note(head: &[String], edges: usize, source: &str) -> Option<ReadNote> {
    let numbers: Option<Vec<u64>> = head.iter().map(|field| field.parse().ok()).collect();
    // Nodes and edges, or rows, columns and entries.
    let (nodes, lines) = match numbers?[..] {
        [nodes, lines] => (nodes, lines),
        [rows, columns, lines] if rows == columns => (rows, lines),
        _ => return None,
    };
    let says = edges > 2 && nodes > 1 && lines == edges as u64 - 1;
    says.then(|| ReadNote::MaybeSizes {
        file: source.to_owned(),
        line: head.join(" "),
        lines: edges as u64 - 1,
    })
}
