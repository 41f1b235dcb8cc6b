//! Detects what separates the columns of a text table.
//!
//! A character fits when it cuts at least half of the first lines into as many columns as the first line,
//! two or more. Of those that fit, the one is taken that leaves fewest odd lines, and fewest ids with another
//! of these characters inside (`a;b;0,5` is cut at `;`, `1,2,x;y` at `,`); the extension and then the order of
//! [`CANDIDATES`], which is how rare they are in text, decide between equals. If none fits, blanks separate
//! columns; blanks inside delimited fields belong to them.

use std::path::Path;

use super::super::ids::canonical_integer;
use super::extension;
use super::fields::{self, Delimiter, Field};
use crate::error::{Error, Result};

const CANDIDATES: &[u8] = b"\t|;,";

/// The delimiter that a character given as `field` stands for; a space stands for any run of blanks.
pub(crate) fn named(asked: char, field: &str) -> Result<Delimiter> {
    match asked {
        ' ' => Ok(Delimiter::Blanks),
        '"' | '\n' | '\r' => Err(Error::config(field, "a quote or the end of a line cannot separate columns")),
        asked if asked.is_ascii() => Ok(Delimiter::Byte(asked as u8)),
        asked => Err(Error::config(field, format!("`{asked}` is not an ASCII character"))),
    }
}

/// The delimiter of a table whose first `ids` columns are ids, from its first lines and its name.
pub(crate) fn detect(lines: &[Vec<u8>], ids: usize, path: &Path) -> Delimiter {
    let expected = match extension(path).as_deref() {
        Some("tsv" | "tab") => Some(b'\t'),
        Some("psv") => Some(b'|'),
        Some("csv") => Some(b','),
        _ => None,
    };
    // Files called .csv often have semicolons; the others mean what they say.
    if let Some(byte @ (b'\t' | b'|')) = expected
        && cost(lines, byte, ids).is_some()
    {
        return Delimiter::Byte(byte);
    }
    let fitting = CANDIDATES.iter().enumerate().filter_map(|(order, &byte)| {
        let cost = cost(lines, byte, ids)?;
        Some((cost, Some(byte) != expected, order, byte))
    });
    match fitting.min() {
        Some((.., byte)) if Some(byte) == expected || !cuts_integers(lines, byte) => Delimiter::Byte(byte),
        _ => Delimiter::Blanks,
    }
}

/// Lines that speak against a delimiter; none when too many do.
fn cost(lines: &[Vec<u8>], byte: u8, ids: usize) -> Option<usize> {
    let mut fields = Vec::new();
    let (mut columns, mut odd, mut unclean) = (0, 0, 0);
    for (i, line) in lines.iter().enumerate() {
        let cut = fields::split(line, Delimiter::Byte(byte), &mut fields).is_ok();
        if i == 0 && (!cut || fields.len() < 2) {
            return None;
        }
        if i == 0 {
            columns = fields.len();
        }
        odd += usize::from(!cut || fields.len() != columns);
        unclean += usize::from(cut && fields.iter().take(ids).any(|field| is_unclean(field, byte)));
    }
    // One odd line among many is an error to report, not a reason for another delimiter.
    (2 * odd <= lines.len()).then_some(odd + unclean)
}

/// Whether a field that is not quoted has another delimiter inside, with no blank beside it as in `Lee, Ann`.
fn is_unclean(field: &Field, byte: u8) -> bool {
    let text = field.text();
    let is_other = |&b: &u8| b != byte && CANDIDATES.contains(&b);
    let is_blank = |b: u8| b == b' ';
    !field.is_quoted() && text.windows(3).any(|w| is_other(&w[1]) && !is_blank(w[0]) && !is_blank(w[2]))
}

/// Whether every line but a header begins with two integers between blanks that `byte` does not tell apart:
/// `0 1<TAB>5`, or `0 1 {'weight': 3, 'year': 1999}`.
fn cuts_integers(lines: &[Vec<u8>], byte: u8) -> bool {
    let (mut blanks, mut others) = (Vec::new(), Vec::new());
    let body = if lines.len() > 1 { &lines[1..] } else { lines };
    body.iter().all(|line| {
        let split = fields::split(line, Delimiter::Blanks, &mut blanks).is_ok()
            && fields::split(line, Delimiter::Byte(byte), &mut others).is_ok();
        let [u, v, ..] = &blanks[..] else { return false };
        let integers = [u, v].iter().all(|field| canonical_integer(&field.text()).is_some());
        let same = others.len() >= 2 && others[0].text() == u.text() && others[1].text() == v.text();
        split && integers && !same
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_separates_columns() {
        let cases: [(&str, &str, &str); 24] = [
            ("a.txt", "a b\nb c", "spaces"),
            ("a.txt", "a\tb\nb\tc", "tabs"),
            ("a.txt", "Ann Lee\tBob Ray", "tabs"),
            ("a.txt", "Ann Lee|Bob Ray", "`|`"),
            ("a.txt", "Ann Lee;Bob Ray", "semicolons"),
            ("a.txt", "Ann Lee,Bob Ray", "commas"),
            ("a.txt", "Lee, Ann;Ray, Bob", "semicolons"),
            ("a.txt", "Lee, Ann|Ray, Bob", "`|`"),
            ("a.csv", "a;b;0,5\nb;c;1,5", "semicolons"),
            ("a.txt", "1,2,x;y\n2,3,y;z", "commas"),
            ("a.csv", "x;1,y;2\ny;2,z;3", "commas"),
            ("a.tsv", "x;1;y\tz", "tabs"),
            ("a.csv", "1 , 2\n2, 3", "commas"),
            ("a.txt", "0 1\t5\n1 2\t5", "spaces"),
            ("a.txt", "0\t1 5\n1\t2 5", "spaces"),
            ("a.tsv", "0 1\t5\n1 2\t5", "tabs"),
            ("a.txt", "0 1 {'w': 3, 'y': 4}\n1 2 {'w': 5, 'y': 6}", "spaces"),
            ("a.txt", "1\t2\tsome text\n2\t3\tmore of it here", "tabs"),
            ("a.txt", "\"a,b\" c\n\"d,e\" f", "spaces"),
            ("a.txt", "1 2 0,5\n2 3 1,5", "spaces"),
            ("a.csv", ",source,target\n0,a,b\n1,b,c", "commas"),
            ("a.csv", "a,b\nc,d\ne", "commas"),
            ("a.txt", "http://x.org/1;http://x.org/2", "semicolons"),
            ("a.psv", "a,b|c,d", "`|`"),
        ];
        for (name, text, expected) in cases {
            let lines: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
            assert_eq!(detect(&lines, 2, Path::new(name)).name(), expected, "{name}: {text}");
        }
    }
}
