//! Text from files as a terminal may show it.
//!
//! Names and ids come from files that others wrote. Control characters in them would move the cursor, change colours or the
//! title of the window, or ring; marks of direction would reorder what stands beside them. Messages have one line and are escaped
//! wherever they go, results only where they go to a terminal: in files and pipes they keep their bytes.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// Whether a character acts on a terminal instead of being shown: control characters, ends of lines and paragraphs that
/// Unicode adds, marks of direction.
fn acts(c: char) -> bool {
    let direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    direction || c.is_control()
}

/// Text whose lines are meant: all but line feeds and tabs is escaped.
///
/// ```
/// use hone_base::terminal::shown;
/// assert_eq!(shown("héllo\tworld\n"), "héllo\tworld\n");
/// assert_eq!(shown("\u{1b}[2J \u{9b}2J \u{202e}gpj.exe\r"), r"\u{1b}[2J \u{9b}2J \u{202e}gpj.exe\r");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| acts(c) && !matches!(c, '\n' | '\t'),
        |out, c| out.extend(c.escape_debug()),
    )
}

/// A message or a name, which has one line: a line break in what it quotes would forge another.
///
/// ```
/// use hone_base::terminal::line;
/// assert_eq!(line("no node is called `a\nerror: b`"), r"no node is called `a\nerror: b`");
/// ```
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, acts, |out, c| out.extend(c.escape_debug()))
}

/// JSON with such characters as `\u009b`: they stand in strings alone, since its writers escape those of ASCII.
pub fn json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| acts(c) && !c.is_ascii_whitespace(),
        |out, c| {
            // All of them have one unit of UTF-16.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        },
    )
}

fn escaped(
    text: &str,
    acts: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A stream for results, in which they are escaped if it is a terminal.
#[derive(Debug)]
pub struct Results<W> {
    out: W,
    terminal: bool,
    /// The beginning of a character.
    rest: Vec<u8>,
}

impl<W: Write + IsTerminal> Results<W> {
    /// Results go to `out`.
    pub fn new(out: W) -> Self {
        let terminal = out.is_terminal();
        Results {
            out,
            terminal,
            rest: Vec::new(),
        }
    }
}

impl<W: Write> Write for Results<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if !self.terminal {
            return self.out.write(data);
        }
        self.rest.extend_from_slice(data);
        let whole = match str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]);
        self.out.write_all(shown(&text).as_bytes())?;
        self.rest.drain(..whole);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character that is a control character or a mark of direction, by the tables of Unicode.
    fn hostile() -> String {
        let marks = [0x61c, 0x200e, 0x200f, 0x2028, 0x2029];
        let codes = (0..0x20).chain(0x7f..0xa0).chain(marks);
        let codes = codes.chain(0x202a..=0x202e).chain(0x2066..=0x2069);
        codes.filter_map(char::from_u32).collect()
    }

    #[test]
    fn what_acts_is_escaped_and_what_is_shown_stays() {
        let hostile = hostile();
        let text = shown(&hostile);
        assert!(text.chars().all(|c| !acts(c) || matches!(c, '\n' | '\t')));
        assert_eq!(text.matches('\\').count(), hostile.chars().count() - 2);
        assert!(line(&hostile).chars().all(|c| !acts(c)));
        for plain in [
            "",
            "plain",
            "ünïcode ☃ 木 \u{200d}",
            "a\\b \"c\" 'd'",
            "e\u{301}",
        ] {
            assert!(matches!(shown(plain), Cow::Borrowed(same) if same == plain));
            assert!(matches!(line(plain), Cow::Borrowed(same) if same == plain));
        }
        assert_eq!(line("a\nb\tc"), "a\\nb\\tc");
        assert_eq!(
            json("[\n\t\"\u{7f}\u{9b}\u{202e}é\"]"),
            "[\n\t\"\\u007f\\u009b\\u202eé\"]"
        );
    }

    #[test]
    fn results_on_a_terminal_are_escaped_wherever_the_pieces_end() {
        let text = format!("id\tü{}☃\n\u{202e}\n", hostile());
        for piece in 1..7 {
            let [terminal, file] = [true, false].map(|terminal| {
                let (out, rest) = (Vec::new(), Vec::new());
                let mut results = Results {
                    out,
                    terminal,
                    rest,
                };
                for piece in text.as_bytes().chunks(piece) {
                    results.write_all(piece).expect("in memory");
                }
                results.out
            });
            assert_eq!(String::from_utf8(terminal).expect("text"), shown(&text));
            assert_eq!(file, text.as_bytes());
        }
        let mut binary = Results {
            out: Vec::new(),
            terminal: true,
            rest: Vec::new(),
        };
        binary.write_all(b"\x93NUMPY\x1b[31m\n").expect("in memory");
        assert_eq!(binary.out, "\u{fffd}NUMPY\\u{1b}[31m\n".as_bytes());
    }
}
