//! First lines that are not what the others are: comments with other marks, numbers of nodes and edges, other widths.
//!
//! Such a line decides how all others are cut, or becomes an edge between nodes that do not exist. What cannot be read is
//! refused with the first line named, not the second; what can be is read, with a note.

use super::blocks::Fault;
use super::delimiter;
use super::fields::{self, Delimiter};
use super::reading::{ReadNote, shown};
use super::source::Source;

/// What is wrong with a first line that has other columns than all others, where these agree.
pub(super) fn misfit(lines: &[Vec<u8>], asked: Option<Delimiter>, source: &Source) -> Option<Fault> {
    let [head, rest @ ..] = lines else { return None };
    if rest.len() < 2 {
        return None;
    }
    let cut = asked.unwrap_or_else(|| delimiter::detect(rest, 2, source.path()).delimiter);
    let width = |line: &Vec<u8>| {
        let mut fields = Vec::new();
        fields::split(line, cut, &mut fields).ok().map(|()| fields.len())
    };
    let usual = width(&rest[0]).filter(|&columns| columns >= 2)?;
    if !rest.iter().all(|line| width(line) == Some(usual)) || width(head) == Some(usual) {
        return None;
    }
    let remedy = match comment_mark(head) {
        Some(mark) => format!("if it is a comment, `comment = {mark}` skips it; else mend the line"),
        None => format!("columns are separated by {}; mend the line, or remove it", cut.name()),
    };
    Some(Fault::new(head, format!("this line does not have the {usual} columns of all lines below"), remedy))
}

/// What a line begins with if it looks like a comment in another language: `//`, `--`, `;` or `!` before a blank.
fn comment_mark(line: &[u8]) -> Option<char> {
    let first = line.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    let mark = first.first().copied().filter(|mark| b"/-;!*".contains(mark))?;
    first.iter().all(|&byte| byte == mark).then(|| char::from(mark))
}

/// A note about a first line that is read as an edge, though it looks like a comment and no other line begins so.
pub(super) fn comment_note(lines: &[Vec<u8>], source: &Source) -> Option<ReadNote> {
    let [head, rest @ ..] = lines else { return None };
    let mark = comment_mark(head)?;
    let begins = |line: &Vec<u8>| line.trim_ascii_start().first().is_some_and(|&byte| char::from(byte) == mark);
    let (file, line) = (source.path().display().to_string(), shown(head));
    (!rest.iter().any(begins)).then(|| ReadNote::MaybeComment { file, line, mark: mark.into() })
}

/// A note about lines that end with what looks like a comment, and are read whole: `a,b # seen twice`.
pub(super) fn trailing_note(lines: &[Vec<u8>], delimiter: Delimiter, source: &Source) -> Option<ReadNote> {
    if delimiter == Delimiter::Blanks {
        return None;
    }
    let ends = |line: &[u8]| {
        let mut fields = Vec::new();
        fields::split(line, delimiter, &mut fields).is_ok()
            && fields.last().is_some_and(|field| !field.is_quoted() && has_comment(&field.text()))
    };
    let line = shown(lines.iter().find(|line| ends(line))?);
    Some(ReadNote::Trailing { file: source.path().display().to_string(), line })
}

/// Whether ` # ` is inside a field, behind something else.
pub(super) fn has_comment(field: &[u8]) -> bool {
    field.windows(3).any(|three| three[0] == b' ' && b"#%".contains(&three[1]) && three[2] == b' ')
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
    says.then(|| ReadNote::MaybeSizes { file: source.to_owned(), line: head.join(" "), lines: edges as u64 - 1 })
}
