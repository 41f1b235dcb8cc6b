//! Cuts a line of a table into its fields: delimiters, blanks around them, quotes.

use std::borrow::Cow;

use super::blocks::Fault;

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// Any run of spaces and tabs.
    Blanks,
    /// Exactly one of this byte, with blanks around it ignored.
    Byte(u8),
}

impl Delimiter {
    /// Its name in messages.
    pub(crate) fn name(self) -> String {
        match self {
            Delimiter::Blanks => "spaces".into(),
            Delimiter::Byte(b'\t') => "tabs".into(),
            Delimiter::Byte(b',') => "commas".into(),
            Delimiter::Byte(b';') => "semicolons".into(),
            Delimiter::Byte(other) => format!("`{}`", char::from(other)),
        }
    }

    fn is_blank(self, byte: u8) -> bool {
        (byte == b' ' || byte == b'\t') && self != Delimiter::Byte(byte)
    }

    fn ends(self, byte: u8) -> bool {
        match self {
            Delimiter::Blanks => byte == b' ' || byte == b'\t',
            Delimiter::Byte(delimiter) => byte == delimiter,
        }
    }
}

/// One field, quotes around it taken off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field<'a> {
    raw: &'a [u8],
    quoted: bool,
    /// Whether quotes within are doubled.
    doubled: bool,
}

impl<'a> Field<'a> {
    /// Whether it stood in quotes.
    pub(crate) fn is_quoted(self) -> bool {
        self.quoted
    }

    /// The text of the field.
    pub(crate) fn text(self) -> Cow<'a, [u8]> {
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

/// Fills `fields` with those of a line without its end.
pub(crate) fn split<'a>(line: &'a [u8], delimiter: Delimiter, fields: &mut Vec<Field<'a>>) -> Result<(), Fault> {
    fields.clear();
    let skip = |from: usize| from + line[from..].iter().take_while(|&&b| delimiter.is_blank(b)).count();
    let mut at = skip(0);
    while at < line.len() || delimiter != Delimiter::Blanks {
        let end = if line.get(at) == Some(&b'"') {
            let (field, after) = quoted(line, at)?;
            fields.push(field);
            let end = if delimiter == Delimiter::Blanks { after } else { skip(after) };
            if line.get(end).is_some_and(|&b| !delimiter.ends(b)) {
                let message = "text after a closing quote";
                return Err(Fault::new(line, message, "double the quotes within a field, or quote all of it"));
            }
            end
        } else {
            let end = at + line[at..].iter().take_while(|&&b| !delimiter.ends(b)).count();
            let blanks = line[at..end].iter().rev().take_while(|&&b| delimiter.is_blank(b)).count();
            fields.push(Field { raw: &line[at..end - blanks], quoted: false, doubled: false });
            end
        };
        if end == line.len() {
            break;
        }
        at = skip(end + 1);
    }
    Ok(())
}

/// The quoted field that begins at `at`, and the place after its closing quote.
pub(super) fn quoted(line: &[u8], at: usize) -> Result<(Field<'_>, usize), Fault> {
    let begin = at + 1;
    let (mut end, mut doubled) = (begin, false);
    loop {
        let Some(quote) = memchr::memchr(b'"', &line[end..]) else {
            let message = "a quoted field is not closed on its line";
            return Err(Fault::new(&line[at..], message, "close it, or double a quote that belongs to the text"));
        };
        end += quote;
        if line.get(end + 1) != Some(&b'"') {
            return Ok((Field { raw: &line[begin..end], quoted: true, doubled }, end + 1));
        }
        doubled = true;
        end += 2;
    }
}

/// A line without its end, LF or CRLF.
pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, delimiter: Delimiter) -> Result<Vec<String>, String> {
        let mut fields = Vec::new();
        split(line.as_bytes(), delimiter, &mut fields).map_err(|fault| fault.message)?;
        Ok(fields.iter().map(|f| String::from_utf8(f.text().into_owned()).expect("ASCII")).collect())
    }

    #[test]
    fn blanks_and_bytes_and_quotes() {
        let (blanks, comma, tab) = (Delimiter::Blanks, Delimiter::Byte(b','), Delimiter::Byte(b'\t'));
        let cases: [(&str, Delimiter, &[&str]); 12] = [
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
        ];
        for (line, delimiter, expected) in cases {
            assert_eq!(fields(line, delimiter).expect(line), expected, "{line}");
        }
        assert!(fields("\"a b", blanks).is_err_and(|m| m.contains("not closed")));
        assert!(fields("\"a\"b c", blanks).is_err_and(|m| m.contains("after a closing")));
    }
}
