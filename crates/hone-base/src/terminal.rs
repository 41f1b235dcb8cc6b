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
        Results::shown_on(out, terminal)
    }
}

impl<W> Results<W> {
    /// Results go to `out`, which may be a terminal.
    pub fn shown_on(out: W, terminal: bool) -> Self {
        Results {
            out,
            terminal,
            rest: Vec::new(),
        }
    }

    /// Where they went.
    pub fn into_inner(self) -> W {
        self.out
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
