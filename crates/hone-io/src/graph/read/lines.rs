//! Lines of text tables: which of them say nothing, what separates their columns, and how they are cut into fields.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::blocks::{Fault, LONGEST_LINE, long_line};
use super::source::{BINARY, Source};
use crate::error::{Error, Result};
use crate::graph::copy;
use crate::message::{message, set};
use hone_graph::canonical_integer;

/// What a comment begins with unless the user decides.
pub const COMMENTS: &[u8] = b"#%";
/// Bytes asked for while lines are skipped.
const STEP: usize = 1 << 16;
/// Lines that rules are applied to.
const SAMPLE: usize = 2000;
/// Columns that a table of edges has at most; those of one line would take gigabytes.
const MOST_COLUMNS: usize = 1 << 16;

/// Whether a line says nothing: blank, or a comment.
pub fn is_idle(line: &[u8], marks: &[u8]) -> bool {
    line.iter()
        .find(|b| !b.is_ascii_whitespace())
        .is_none_or(|first| marks.contains(first))
}

/// What is wrong with a line that begins like a comment, but not at the head of its file.
pub(super) fn late_comment(line: &[u8], mark: u8) -> Fault {
    let mark = char::from(mark);
    let message = format!("a line that begins with {mark} below the first line of data");
    let (skip, keep) = (set("comment", mark), set("comment", "none"));
    let remedy = message![skip, " skips such lines, ", keep, " reads them as data"];
    Fault::new(line, message, remedy)
}

/// Uses up blank lines and comments at the beginning, in time linear in them; `seen` gets the comments, among them lines of
/// blanks.
pub fn skip_idle(source: &mut Source, marks: &[u8], mut seen: impl FnMut(&[u8])) -> Result<()> {
    loop {
        let ahead = source.ahead();
        let (mut at, mut found) = (0, false);
        loop {
            at += ahead[at..]
                .iter()
                .take_while(|&&byte| byte == b'\n')
                .count();
            let Some(length) = memchr::memchr(b'\n', &ahead[at..]) else {
                break;
            };
            let line = &ahead[at..at + length];
            found = !is_idle(line, marks);
            if found {
                break;
            }
            seen(line);
            at += length + 1;
        }
        let rest = &ahead[at..];
        if !found && rest.len() > LONGEST_LINE {
            let line = memchr::memchr_iter(b'\n', &ahead[..at]).count() as u64;
            return Err(long_line(rest)
                .on_line(line)
                .into_error(source, source.lines()));
        }
        if !found && source.ended() && is_idle(rest, marks) {
            seen(rest);
            at = ahead.len();
        }
        source.skip(at);
        if found || source.ended() {
            return Ok(());
        }
        let ahead = source.ahead().len();
        source.fill(ahead + STEP.max(ahead / 4))?;
    }
}

/// The first lines ahead that say something, complete ones only.
pub fn sample(source: &Source, marks: &[u8]) -> Vec<Vec<u8>> {
    let ahead = source.ahead();
    let complete = match source.ended() {
        true => ahead.len(),
        false => memchr::memrchr(b'\n', ahead).unwrap_or(ahead.len()),
    };
    let lines = ahead[..complete].split(|&b| b == b'\n').map(without_end);
    lines
        .filter(|line| !is_idle(line, marks))
        .take(SAMPLE)
        .map(<[u8]>::to_vec)
        .collect()
}

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// Any run of spaces and tabs.
    Blanks,
    /// Exactly one of this byte, with blanks around it ignored.
    Byte(u8),
    /// Exactly these symbols, such as `::`, with blanks around them ignored.
    Symbols(Symbols),
    /// Exactly one tab, as PostgreSQL's COPY writes text: no quotes, blanks belong to the fields, backslashes are decoded.
    Copy,
}

/// Two to eight ASCII symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbols {
    bytes: [u8; 8],
    length: u8,
}

impl Symbols {
    /// Those of a text; nothing if there is only one, more than eight, or another character than a symbol.
    pub fn new(text: &str) -> Option<Self> {
        let is_symbol = |byte: u8| byte.is_ascii_punctuation() && byte != b'"';
        let mut bytes = [0; 8];
        let place = bytes
            .get_mut(..text.len())
            .filter(|_| text.len() > 1 && text.bytes().all(is_symbol))?;
        place.copy_from_slice(text.as_bytes());
        Some(Symbols {
            bytes,
            length: text.len() as u8,
        })
    }

    /// The bytes of the field.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Delimiter {
    /// The delimiter that a text given as `field` stands for: a character, `tab`, `space` (any run of blanks), `copy`
    /// (PostgreSQL's text), or symbols.
    pub fn named(asked: &str, field: &str) -> Result<Self> {
        match asked.as_bytes() {
            b" " | b"space" => Ok(Delimiter::Blanks),
            b"tab" => Ok(Delimiter::Byte(b'\t')),
            b"copy" => Ok(Delimiter::Copy),
            b"\"" | b"\n" | b"\r" => {
                let message = "a quote or the end of a line cannot separate columns";
                Err(Error::config(field, message))
            }
            [byte] if byte.is_ascii() => Ok(Delimiter::Byte(*byte)),
            _ => Symbols::new(asked).map(Delimiter::Symbols).ok_or_else(|| {
                let message = format!(
                    "`{asked}` is not one ASCII character, tab, space, copy, or two to eight symbols such as ::"
                );
                Error::config(field, message)
            }),
        }
    }

    /// Its name in messages.
    pub fn name(self) -> String {
        match self {
            Delimiter::Blanks => "spaces".into(),
            Delimiter::Byte(b'\t') | Delimiter::Copy => "tabs".into(),
            Delimiter::Byte(b',') => "commas".into(),
            Delimiter::Byte(b';') => "semicolons".into(),
            Delimiter::Byte(other) => format!("`{}`", char::from(other)),
            Delimiter::Symbols(symbols) => {
                format!("`{}`", String::from_utf8_lossy(symbols.as_bytes()))
            }
        }
    }

    /// Whether its first byte is this one.
    pub(super) fn begins_with(self, byte: u8) -> bool {
        match self {
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
            Delimiter::Byte(own) => own == byte,
            Delimiter::Copy => byte == b'\t',
            Delimiter::Symbols(symbols) => symbols.as_bytes()[0] == byte,
        }
    }

    /// Bytes that one of it takes; of blanks more may follow.
    fn width(self) -> usize {
        match self {
            Delimiter::Blanks | Delimiter::Byte(_) | Delimiter::Copy => 1,
            Delimiter::Symbols(symbols) => symbols.as_bytes().len(),
        }
    }

    fn is_blank(self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && ![Delimiter::Byte(byte), Delimiter::Copy].contains(&self)
    }

    /// Whether it begins a text.
    pub(super) fn begins(self, text: &[u8]) -> bool {
        match self {
            Delimiter::Blanks => matches!(text.first(), Some(b' ' | b'\t')),
            Delimiter::Byte(delimiter) => text.first() == Some(&delimiter),
            Delimiter::Copy => text.first() == Some(&b'\t'),
            Delimiter::Symbols(symbols) => text.starts_with(symbols.as_bytes()),
        }
    }

    /// Where it occurs first in a text; the end where it does not.
    fn find(self, text: &[u8]) -> usize {
        let found = match self {
            Delimiter::Blanks => text.iter().position(|&byte| byte == b' ' || byte == b'\t'),
            Delimiter::Byte(delimiter) => text.iter().position(|&byte| byte == delimiter),
            Delimiter::Copy => memchr::memchr(b'\t', text),
            Delimiter::Symbols(symbols) => memchr::memmem::find(text, symbols.as_bytes()),
        };
        found.unwrap_or(text.len())
    }
}

/// What separates the columns of a table, from its first lines: the first of tab, `|`, semicolon, comma, blanks and `::` that
/// splits the most lines into equally many columns, at least two. A line of which two whole numbers between blanks would stay
/// together in one of the first two columns does not count.
pub fn detect(lines: &[Vec<u8>]) -> Delimiter {
    let characters = [b'\t', b'|', b';', b','].map(Delimiter::Byte);
    let symbols = Symbols::new("::").map(Delimiter::Symbols);
    let candidates = characters.into_iter().chain([Delimiter::Blanks]);
    let (mut most, mut best) = (0, Delimiter::Blanks);
    for candidate in candidates.chain(symbols) {
        let mut lines_of: FxHashMap<usize, usize> = FxHashMap::default();
        for columns in lines.iter().filter_map(|line| columns(line, candidate)) {
            *lines_of.entry(columns).or_default() += 1;
        }
        let even = lines_of.into_values().max().unwrap_or(0);
        if even > most {
            (most, best) = (even, candidate);
        }
    }
    best
}

/// Into how many columns a delimiter splits a line, if there are several, and ids between blanks are not left together.
fn columns(line: &[u8], delimiter: Delimiter) -> Option<usize> {
    let mut fields = Vec::new();
    split(line, delimiter, &mut fields).ok()?;
    let are_integers = |field: &Field| {
        let mut words = field.raw.split(|&byte| byte == b' ' || byte == b'\t');
        let mut is_integer = || {
            words
                .next()
                .is_some_and(|word| canonical_integer(word).is_some())
        };
        !field.quoted && is_integer() && is_integer()
    };
    (fields.len() > 1 && !fields[..2].iter().any(are_integers)).then_some(fields.len())
}

/// One field, quotes around it taken off.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    raw: &'a [u8],
    quoted: bool,
    /// Whether quotes within are doubled.
    doubled: bool,
    /// Whether backslashes are decoded.
    escaped: bool,
}

impl<'a> Field<'a> {
    /// Whether it is a null, as databases write it.
    pub(super) fn is_null(self) -> bool {
        !self.quoted && self.raw == copy::NULL
    }

    /// Whether it has a backslash that a database may have put there, and that is not decoded.
    pub(super) fn may_be_escaped(self) -> bool {
        !self.quoted && !self.escaped && copy::may_be_escaped(self.raw)
    }

    /// The text of the field; none for a null where backslashes are decoded.
    pub fn text(self) -> Cow<'a, [u8]> {
        if self.escaped {
            return match self.is_null() {
                true => Cow::Borrowed(b""),
                false => copy::unescaped(self.raw),
            };
        }
        if !self.doubled {
            return Cow::Borrowed(self.raw);
        }
        let mut text = Vec::with_capacity(self.raw.len());
        let mut bytes = self.raw.iter();
        while let Some(&byte) = bytes.next() {
            text.push(byte);
            if byte == b'"' {
                bytes.next();
            }
        }
        Cow::Owned(text)
    }
}

/// Refuses a line of a table of edges that has too many columns, before it is cut.
pub(super) fn check_width(line: &[u8], separates: impl Fn(u8) -> bool) -> Result<(), Fault> {
    let is_blank = |byte: u8| byte == b' ' || byte == b'\t';
    let ends_column = |two: &&[u8]| separates(two[1]) && !(is_blank(two[0]) && is_blank(two[1]));
    if line.len() > MOST_COLUMNS && line.windows(2).filter(ends_column).count() > MOST_COLUMNS {
        let message = format!("a line of more than {MOST_COLUMNS} columns");
        return Err(Fault::new(
            line,
            message,
            "an edge has two ids and perhaps a few more columns: one edge per line",
        ));
    }
    Ok(())
}

/// Fills `fields` with those of a line without its end.
pub fn split<'a>(
    line: &'a [u8],
    delimiter: Delimiter,
    fields: &mut Vec<Field<'a>>,
) -> Result<(), Fault> {
    fields.clear();
    let skip = |from: usize| {
        from + line[from..]
            .iter()
            .take_while(|&&b| delimiter.is_blank(b))
            .count()
    };
    let mut at = skip(0);
    while at < line.len() || delimiter != Delimiter::Blanks {
        let end = if line.get(at) == Some(&b'"') && delimiter != Delimiter::Copy {
            let (field, after) = quoted(line, at)?;
            fields.push(field);
            let end = if delimiter == Delimiter::Blanks {
                after
            } else {
                skip(after)
            };
            if end < line.len() && !delimiter.begins(&line[end..]) {
                return Err(escaped(line).unwrap_or_else(|| {
                    let remedy = "double the quotes within a field, or quote all of it";
                    Fault::new(line, "text after a closing quote", remedy)
                }));
            }
            end
        } else {
            let end = at + delimiter.find(&line[at..]);
            let blanks = line[at..end]
                .iter()
                .rev()
                .take_while(|&&b| delimiter.is_blank(b))
                .count();
            fields.push(Field {
                raw: &line[at..end - blanks],
                quoted: false,
                doubled: false,
                escaped: delimiter == Delimiter::Copy,
            });
            end
        };
        if end == line.len() {
            break;
        }
        at = skip(end + delimiter.width());
    }
    Ok(())
}

/// The fields of a line as text; bytes that are not UTF-8 are left to the parser.
pub fn row(line: &[u8], delimiter: Delimiter) -> Result<Vec<String>, Fault> {
    let mut fields: Vec<Field> = Vec::new();
    split(line, delimiter, &mut fields)?;
    Ok(fields
        .iter()
        .map(|field| String::from_utf8_lossy(&field.text()).into_owned())
        .collect())
}

/// Refuses an id that a database has put there and that would be misunderstood: a null, or, if `doubtful`, a backslash that may
/// stand for another character.
pub(super) fn check_end(line: &[u8], field: Field, doubtful: bool) -> Result<(), Fault> {
    if field.is_null() {
        let remedy = "leave such edges out: WHERE … IS NOT NULL";
        return Err(Fault::new(
            line,
            "a null (\\N) in place of a node id",
            remedy,
        ));
    }
    if doubtful && field.may_be_escaped() {
        let message = "a backslash in a node id, which databases write before other characters";
        let (decode, keep) = (set("delimiter", "copy"), set("delimiter", "tab"));
        let remedy = message![
            decode,
            " decodes the text of COPY, ",
            keep,
            " reads the id as it is"
        ];
        return Err(Fault::new(line, message, remedy));
    }
    Ok(())
}

/// What is wrong with a line in which backslashes stand before quotes, as some programs write them.
pub(super) fn escaped(line: &[u8]) -> Option<Fault> {
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let remedy = "write two quotes (\"\") for each quote within a field, without the backslash";
    let message = "a backslash before a quote does not make it part of the field";
    let opened =
        line.first() == Some(&b'"') || line.windows(2).any(|two| two[0] != b'\\' && two[1] == b'"');
    let found = opened && line.windows(2).any(|two| two == b"\\\"");
    found.then(|| Fault::new(line, message, remedy))
}

/// The quoted field that begins at `at`, and the place after its closing quote.
pub(super) fn quoted(line: &[u8], at: usize) -> Result<(Field<'_>, usize), Fault> {
    let begin = at + 1;
    let (mut end, mut doubled) = (begin, false);
    loop {
        let Some(quote) = memchr::memchr(b'"', &line[end..]) else {
            return Err(escaped(&line[at..]).unwrap_or_else(|| {
                let message = "a quoted field is not closed on its line";
                Fault::new(
                    &line[at..],
                    message,
                    "close it, or double a quote that belongs to the text",
                )
            }));
        };
        end += quote;
        if line.get(end + 1) != Some(&b'"') {
            return Ok((
                Field {
                    raw: &line[begin..end],
                    quoted: true,
                    doubled,
                    escaped: false,
                },
                end + 1,
            ));
        }
        doubled = true;
        end += 2;
    }
}

/// An id as text.
pub(super) fn id<'a>(line: &[u8], field: &'a [u8]) -> Result<&'a str, Fault> {
    if field.is_empty() {
        return Err(Fault::new(
            line,
            "an empty node id",
            "give every edge two ids",
        ));
    }
    let id = std::str::from_utf8(field).map_err(|_| {
        Fault::new(
            field,
            "a node id that is not valid UTF-8",
            "save the file as UTF-8",
        )
    })?;
    match field.iter().find(|&&b| b == 0 || b == b'\r') {
        Some(0) => Err(Fault::new(line, BINARY.0, BINARY.1)),
        Some(_) => Err(Fault::new(
            line,
            "a carriage return within a line",
            "end lines with LF or CRLF",
        )),
        None => Ok(id),
    }
}

/// Length of the first line of a text, with its end.
pub fn first_end(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1)
}

/// A line without its end, LF or CRLF.
pub fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
