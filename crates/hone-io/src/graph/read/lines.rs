//! Lines of text tables: which of them say nothing, what separates their columns, and how they are cut into fields.

use std::borrow::Cow;

use super::blocks::{Fault, LONGEST_LINE, long_line};
use super::source::{BINARY, Source};
use crate::error::{Error, Result};
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

/// Whether a line that begins like a comment has something right behind the mark, as `#rust` has and
/// `# note`, `##` and `#` have not.
pub fn is_tight(line: &[u8], marks: &[u8]) -> bool {
    let mut bytes = line.trim_ascii_start().iter();
    bytes.next().is_some_and(|first| marks.contains(first))
        && bytes
            .next()
            .is_some_and(|second| !second.is_ascii_whitespace() && !marks.contains(second))
}

/// How often something was met, and what it looked like the first time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many lines.
    pub count: u64,
    /// The first of them.
    pub example: Vec<u8>,
}

impl Tally {
    /// Counts a line.
    pub fn add(&mut self, line: &[u8]) {
        if self.count == 0 {
            // More is never shown.
            self.example = line[..line.len().min(1 << 10)].to_vec();
        }
        self.count += 1;
    }

    /// Adds what a later part of the file has.
    pub fn append(&mut self, later: &Tally) {
        if self.count == 0 {
            self.example.clone_from(&later.example);
        }
        self.count += later.count;
    }
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
    /// The delimiter that a text given as `field` stands for: a character, `tab`, `space` (any run of blanks), or symbols.
    pub fn named(asked: &str, field: &str) -> Result<Self> {
        match asked.as_bytes() {
            b" " | b"space" => Ok(Delimiter::Blanks),
            b"tab" => Ok(Delimiter::Byte(b'\t')),
            b"\"" | b"\n" | b"\r" => {
                let message = "a quote or the end of a line cannot separate columns";
                Err(Error::config(field, message))
            }
            [byte] if byte.is_ascii() => Ok(Delimiter::Byte(*byte)),
            _ => Symbols::new(asked).map(Delimiter::Symbols).ok_or_else(|| {
                let message = format!(
                    "`{asked}` is not one ASCII character, tab, space, or two to eight symbols such as ::"
                );
                Error::config(field, message)
            }),
        }
    }

    /// Its name in messages.
    pub fn name(self) -> String {
        match self {
            Delimiter::Blanks => "spaces".into(),
            Delimiter::Byte(b'\t') => "tabs".into(),
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
            Delimiter::Symbols(symbols) => symbols.as_bytes()[0] == byte,
        }
    }

    /// Bytes that one of it takes; of blanks more may follow.
    fn width(self) -> usize {
        match self {
            Delimiter::Blanks | Delimiter::Byte(_) => 1,
            Delimiter::Symbols(symbols) => symbols.as_bytes().len(),
        }
    }

    fn is_blank(self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && self != Delimiter::Byte(byte)
    }

    /// Whether it begins a text.
    pub(super) fn begins(self, text: &[u8]) -> bool {
        match self {
            Delimiter::Blanks => matches!(text.first(), Some(b' ' | b'\t')),
            Delimiter::Byte(delimiter) => text.first() == Some(&delimiter),
            Delimiter::Symbols(symbols) => text.starts_with(symbols.as_bytes()),
        }
    }

    /// Where it occurs first in a text; the end where it does not.
    fn find(self, text: &[u8]) -> usize {
        let found = match self {
            Delimiter::Blanks => text.iter().position(|&byte| byte == b' ' || byte == b'\t'),
            Delimiter::Byte(delimiter) => text.iter().position(|&byte| byte == delimiter),
            Delimiter::Symbols(symbols) => memchr::memmem::find(text, symbols.as_bytes()),
        };
        found.unwrap_or(text.len())
    }
}

/// What separates the columns of a table, from its first lines.
///
/// It is the first of tab, `|`, semicolon, comma, blanks and `::` that splits as many lines as any into as many columns as the
/// first one has, or as the second one, if that are more. But blanks do if every line but the first, which may be a header,
/// begins with two integers between blanks that it does not separate.
pub fn detect(lines: &[Vec<u8>]) -> Delimiter {
    let body = &lines[usize::from(lines.len() > 1)..];
    let characters = [b'\t', b'|', b';', b','].map(Delimiter::Byte);
    let symbols = Symbols::new("::").map(Delimiter::Symbols);
    let candidates = characters.into_iter().chain([Delimiter::Blanks]);
    let candidates = candidates.chain(symbols);
    let mut best = (0, Delimiter::Blanks);
    for lines in [lines, body] {
        for candidate in candidates.clone() {
            let like_the_first = even(lines, candidate);
            if like_the_first > best.0 {
                best = (like_the_first, candidate);
            }
        }
    }
    match body.iter().all(|line| joins_integers(line, best.1)) {
        true => Delimiter::Blanks,
        false => best.1,
    }
}

/// How many lines have as many columns as the first, if that has several.
fn even(lines: &[Vec<u8>], delimiter: Delimiter) -> usize {
    let mut fields = Vec::new();
    let mut widths = lines
        .iter()
        .map(|line| split(line, delimiter, &mut fields).map_or(0, |()| fields.len()));
    match widths.next() {
        Some(first) if first > 1 => 1 + widths.filter(|&columns| columns == first).count(),
        _ => 0,
    }
}

/// Whether a line begins with two integers between blanks that a delimiter does not separate: `0 1<TAB>5`, or
/// `0 1 {'weight': 3, 'year': 1999}`.
fn joins_integers(line: &[u8], delimiter: Delimiter) -> bool {
    let (mut words, mut fields) = (Vec::new(), Vec::new());
    let is_cut = split(line, Delimiter::Blanks, &mut words).is_ok()
        && split(line, delimiter, &mut fields).is_ok();
    let ids = |fields: &[Field]| match fields {
        [u, v, ..] => canonical_integer(&u.text()).zip(canonical_integer(&v.text())),
        _ => None,
    };
    is_cut && ids(&words).is_some() && ids(&words) != ids(&fields)
}

/// One field, quotes around it taken off.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    raw: &'a [u8],
    quoted: bool,
    /// Whether quotes within are doubled.
    doubled: bool,
}

impl<'a> Field<'a> {
    /// Whether it stood in quotes.
    pub fn is_quoted(self) -> bool {
        self.quoted
    }

    /// The text of the field.
    pub fn text(self) -> Cow<'a, [u8]> {
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
        let end = if line.get(at) == Some(&b'"') {
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

/// A line without its end, LF or CRLF.
pub fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
