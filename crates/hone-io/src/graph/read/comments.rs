//! Lines of text tables that say nothing: blank ones and comments.
//!
//! Unless the user decides, `#` and `%` begin comments: anywhere in a file whose columns are separated by
//! blanks, but only before the first data line where a character such as a comma separates them, for
//! there a later line that begins so may well be data (`#rust,t2`). What is a guess is counted.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::blocks::{LONGEST_LINE, long_line};
use super::fields::Delimiter;
use super::source::Source;
use crate::error::{Error, Result};

/// What begins a comment unless the user decides.
pub const COMMENTS: &[u8] = b"#%";
/// Every ASCII character, to make slices of one.
const ASCII: [u8; 128] = {
    let mut all = [0; 128];
    let mut i = 0;
    while i < 128 {
        all[i] = i as u8;
        i += 1;
    }
    all
};
/// Bytes asked for while lines are skipped.
const STEP: usize = 1 << 16;

/// What begins a comment line, when the user decides: written as the character, or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Comment {
    /// No line is a comment.
    None,
    /// A line that begins with this character, anywhere in the file.
    Char(char),
}

impl FromStr for Comment {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut chars = text.chars();
        match (text, chars.next(), chars.next()) {
            ("none", ..) => Ok(Comment::None),
            (_, Some(one), None) if one.is_ascii_punctuation() && one != '"' => {
                Ok(Comment::Char(one))
            }
            _ => {
                let message = format!(
                    "`{text}` cannot begin comments; give one of the characters #, %, !, /, … or none"
                );
                Err(Error::config("comment", message))
            }
        }
    }
}

impl TryFrom<String> for Comment {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Comment> for String {
    fn from(comment: Comment) -> Self {
        match comment {
            Comment::None => "none".into(),
            Comment::Char(one) => one.into(),
        }
    }
}

/// How lines of one file that begin like comments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comments {
    /// What comments begin with.
    pub marks: &'static [u8],
    /// Whether a line that begins so and comes after the first data line is data when it has as many
    /// columns as the others.
    pub data_later: bool,
    /// Whether all this is a guess, worth a note where it could be wrong.
    pub guessed: bool,
}

impl Comments {
    /// Lines that begin with one of `marks` are comments anywhere, as a format has it.
    pub fn fixed(marks: &'static [u8]) -> Self {
        Comments {
            marks,
            data_later: false,
            guessed: false,
        }
    }

    /// What the user asked for, else what suits a file with this delimiter.
    pub fn new(asked: Option<Comment>, delimiter: Delimiter) -> Self {
        match asked {
            None => Comments {
                marks: COMMENTS,
                data_later: delimiter != Delimiter::Blanks,
                guessed: true,
            },
            Some(_) => Comments::fixed(marks(asked)),
        }
    }
}

/// What may begin comments before the first data line.
pub fn marks(asked: Option<Comment>) -> &'static [u8] {
    match asked {
        None => COMMENTS,
        Some(Comment::None) => &[],
        Some(Comment::Char(one)) => ASCII.get(one as usize..=one as usize).unwrap_or_default(),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_character_or_none() {
        for (text, comment) in [
            ("none", Comment::None),
            ("#", Comment::Char('#')),
            ("!", Comment::Char('!')),
        ] {
            assert_eq!(text.parse::<Comment>().expect("valid"), comment);
            assert_eq!(String::from(comment), text);
        }
        for text in ["", "ab", "a", "7", " ", "\"", "é", "//"] {
            assert!(text.parse::<Comment>().is_err(), "{text}");
        }
        assert_eq!(marks(Some(Comment::Char('!'))), b"!");
        assert!(marks(Some(Comment::None)).is_empty());
    }

    #[test]
    fn tight_lines_may_be_data() {
        for (line, tight) in [
            ("#rust,t2", true),
            ("  %x", true),
            ("# note", false),
            ("##", false),
            ("#", false),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(is_tight(line.as_bytes(), COMMENTS), tight, "{line}");
        }
    }
}
