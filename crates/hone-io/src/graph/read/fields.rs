//! Cuts a line of a table into its fields: delimiters, blanks around them, quotes.

use std::borrow::Cow;

use super::blocks::Fault;
use super::source::BINARY;

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
    /// What MovieLens separates columns with.
    pub const COLONS: Symbols = Symbols {
        bytes: *b"::\0\0\0\0\0\0",
        length: 2,
    };

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

    /// How the option `delimiter` names it.
    pub fn option(self) -> String {
        match self {
            Delimiter::Blanks => "space".into(),
            Delimiter::Byte(b'\t') => "tab".into(),
            Delimiter::Byte(other) => char::from(other).into(),
            Delimiter::Symbols(symbols) => String::from_utf8_lossy(symbols.as_bytes()).into_owned(),
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
            Delimiter::Symbols(symbols) => text
                .windows(self.width())
                .position(|window| window == symbols.as_bytes()),
        };
        found.unwrap_or(text.len())
    }
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

/// Columns that a table of edges has at most; those of one line would take gigabytes.
const MOST_COLUMNS: usize = 1 << 16;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, delimiter: Delimiter) -> Result<Vec<String>, String> {
        let mut fields = Vec::new();
        split(line.as_bytes(), delimiter, &mut fields).map_err(|fault| fault.message)?;
        Ok(fields
            .iter()
            .map(|f| String::from_utf8(f.text().into_owned()).expect("ASCII"))
            .collect())
    }

    #[test]
    fn blanks_and_bytes_and_quotes() {
        let (blanks, comma, tab) = (
            Delimiter::Blanks,
            Delimiter::Byte(b','),
            Delimiter::Byte(b'\t'),
        );
        let colons = Delimiter::Symbols(Symbols::COLONS);
        let cases: [(&str, Delimiter, &[&str]); 17] = [
            ("1 2", blanks, &["1", "2"]),
            ("  1 \t 2  ", blanks, &["1", "2"]),
            ("", blanks, &[]),
            ("", comma, &[""]),
            ("a , b c,", comma, &["a", "b c", ""]),
            ("a\tb c", tab, &["a", "b c"]),
            ("a\t\tb", tab, &["a", "", "b"]),
            ("\"a b\" c", blanks, &["a b", "c"]),
            ("\"a, b\" , \"c\"\"d\"", comma, &["a, b", "c\"d"]),
            ("\"\",x", comma, &["", "x"]),
            ("a\"b c", blanks, &["a\"b", "c"]),
            (",", comma, &["", ""]),
            ("1::1193::5", colons, &["1", "1193", "5"]),
            ("1 :: Toy Story: 2 ::", colons, &["1", "Toy Story: 2", ""]),
            ("\"a::b\"::c", colons, &["a::b", "c"]),
            ("a:::b", colons, &["a", ":b"]),
            ("", colons, &[""]),
        ];
        for (line, delimiter, expected) in cases {
            assert_eq!(fields(line, delimiter).expect(line), expected, "{line}");
        }
        assert!(fields("\"a b", blanks).is_err_and(|m| m.contains("not closed")));
        assert!(fields("\"a\"b c", blanks).is_err_and(|m| m.contains("after a closing")));
        for line in [
            "\"a \\\"b\\\" c\",d",
            "d,\"a\\\"\"",
            "\"a\\\"b\",\"c\\\"d\"",
        ] {
            assert!(
                fields(line, comma).is_err_and(|m| m.contains("a backslash before a quote")),
                "{line}"
            );
        }
        assert_eq!(fields("\"C:\\\",b", comma).expect("a path"), ["C:\\", "b"]);
    }
}
