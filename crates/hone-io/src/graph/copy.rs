//! How PostgreSQL writes values in the text format of its COPY: a backslash before what separates fields and lines, and
//! `\N` for a null. Reference: the manual's page of COPY, "Text Format".

use std::borrow::Cow;

/// What stands for a null.
pub(crate) const NULL: &[u8] = b"\\N";
/// The line that may end the data.
pub(crate) const END: &[u8] = b"\\.";

/// A text as a field.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '\t', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut field = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' => field.push_str("\\\\"),
            '\t' => field.push_str("\\t"),
            '\n' => field.push_str("\\n"),
            '\r' => field.push_str("\\r"),
            plain => field.push(plain),
        }
    }
    Cow::Owned(field)
}

/// Whether a field has a backslash before what it could be meant for.
pub(crate) fn may_be_escaped(field: &[u8]) -> bool {
    let next = |at: usize| field.get(at + 1).copied().unwrap_or(b' ');
    memchr::memchr_iter(b'\\', field).any(|at| b"\\bfnrtvx01234567".contains(&next(at)))
}

/// The text of a field that is no null, as PostgreSQL reads it: any other character stands for itself after a backslash.
pub(crate) fn unescaped(field: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', field).is_none() {
        return Cow::Borrowed(field);
    }
    let (mut text, mut at) = (Vec::with_capacity(field.len()), 0);
    while let Some(&byte) = field.get(at) {
        at += 1;
        let Some(&next) = field.get(at).filter(|_| byte == b'\\') else {
            text.push(byte);
            continue;
        };
        at += 1;
        text.push(match next {
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'0'..=b'7' => number(field, &mut at, u32::from(next - b'0'), 8, 2),
            b'x' if field.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                number(field, &mut at, 0, 16, 2)
            }
            other => other,
        });
    }
    Cow::Owned(text)
}

/// The byte that at most so many digits of a base, after those that `value` has, stand for.
fn number(field: &[u8], at: &mut usize, mut value: u32, base: u32, digits: usize) -> u8 {
    for _ in 0..digits {
        let digit = field
            .get(*at)
            .and_then(|&byte| char::from(byte).to_digit(base));
        let Some(digit) = digit else { break };
        value = base * value + digit;
        *at += 1;
    }
    value as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_the_manual() {
        let table: [(&[u8], &[u8]); 9] = [
            (b"plain", b"plain"),
            (b"a\\tb\\nc\\rd", b"a\tb\nc\rd"),
            (b"\\b\\f\\v", b"\x08\x0c\x0b"),
            (b"\\\\N", b"\\N"),
            (b"\\101\\60x", b"A0x"),
            (b"\\x41\\x4g", b"A\x04g"),
            (b"\\xg\\q", b"xgq"),
            (b"\\1234", b"S4"),
            (b"ends\\", b"ends\\"),
        ];
        for (field, text) in table {
            assert_eq!(&*unescaped(field), text, "{}", field.escape_ascii());
        }
    }

    #[test]
    fn what_is_escaped_comes_back() {
        for text in ["", "\\N", "\\.", "a\tb\\t\n\r\\", "é\\x41", " blank "] {
            let field = escaped(text);
            assert_eq!(&*unescaped(field.as_bytes()), text.as_bytes());
            assert!(!field.contains(['\t', '\n', '\r']) && field.as_bytes() != NULL);
        }
    }
}
