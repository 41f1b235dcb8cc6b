//! Detects what separates the columns of a text table.
//!
//! A delimiter fits if it splits at least half of the first lines into as many columns as the first line, two or more.
//! Of those that fit, the one that leaves the fewest odd lines is chosen, and the fewest ids that contain another
//! delimiter (`a;b;0,5` and `a;0,5;b` are cut at `;`, `1,2,x;y` at `,`); the extension and then the order of
//! `CANDIDATES`, which is how rare they are in text, break ties, with a note. If none fits, blanks separate columns;
//! blanks inside delimited fields belong to them.
//!
//! Blanks also win where they separate the ids and a tab only what follows (`ann bob<TAB>0.5`): always if the ids are
//! integers or the other id would be a decimal number, else if words of the first column recur in the second. If
//! that remains ambiguous, the [`Found::rival`] is worth a note. And they win where all commas are decimal
//! (`ann bob 0,5`).

use std::borrow::Cow;
use std::path::Path;

use rustc_hash::FxHashSet;

use super::fields::{self, Delimiter, Field, Symbols};
use super::source::extension;
use crate::error::{Error, Result};
use hone_graph::canonical_integer;

const CANDIDATES: [Delimiter; 5] = [
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b'|'),
    Delimiter::Byte(b';'),
    Delimiter::Byte(b','),
    Delimiter::Symbols(Symbols::COLONS),
];

/// What separates columns, as far as the first lines show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The delimiter.
    pub delimiter: Delimiter,
    /// What else could.
    pub rival: Option<Delimiter>,
}

impl Found {
    /// No other would do.
    pub fn certain(delimiter: Delimiter) -> Self {
        Found {
            delimiter,
            rival: None,
        }
    }
}

/// The delimiter that a text given as `field` stands for: a character, `tab`, `space` (any run of blanks), or symbols.
pub fn named(asked: &str, field: &str) -> Result<Delimiter> {
    match asked.as_bytes() {
        b" " | b"space" => Ok(Delimiter::Blanks),
        b"tab" => Ok(Delimiter::Byte(b'\t')),
        b"\"" | b"\n" | b"\r" => Err(Error::config(field, "a quote or the end of a line cannot separate columns")),
        [byte] if byte.is_ascii() => Ok(Delimiter::Byte(*byte)),
        _ => Symbols::new(asked).map(Delimiter::Symbols).ok_or_else(|| {
            let message =
                format!("`{asked}` is not one ASCII character, tab, space, or two to eight symbols such as ::");
            Error::config(field, message)
        }),
    }
}

/// The delimiter of a table whose first `ids` columns are ids, from its first lines and its name.
pub fn detect(lines: &[Vec<u8>], ids: usize, path: &Path) -> Found {
    let expected = match extension(path).as_deref() {
        Some("tsv" | "tab") => Some(Delimiter::Byte(b'\t')),
        Some("psv") => Some(Delimiter::Byte(b'|')),
        Some("csv") => Some(Delimiter::Byte(b',')),
        _ => None,
    };
    // Files called .csv often have semicolons; the others mean what they say.
    let certain =
        expected.filter(|&it| it != Delimiter::Byte(b',') && cost(lines, it, ids).is_some());
    let fitting = CANDIDATES
        .iter()
        .enumerate()
        .filter_map(|(order, &candidate)| {
            let cost = cost(lines, candidate, ids)?;
            Some(((cost, Some(candidate) != expected, order), candidate))
        });
    let mut fitting: Vec<_> = fitting.collect();
    fitting.sort_by_key(|(key, _)| *key);
    // As good as the first, were it not for the extension or the order. Symbols are often part of ids.
    let equal = match fitting[..] {
        [((best, ..), _), ((next, ..), other), ..]
            if best == next && best > 0 && certain.is_none() =>
        {
            Some(other)
        }
        _ => None,
    };
    let equal = equal.filter(|other| !matches!(other, Delimiter::Symbols(_)));
    match certain.or_else(|| Some(fitting.first()?.1)) {
        Some(delimiter) => {
            let found = or_blanks(lines, delimiter, Some(delimiter) == expected, ids);
            Found {
                rival: found
                    .rival
                    .or(equal.filter(|_| found.delimiter == delimiter)),
                ..found
            }
        }
        None => Found::certain(Delimiter::Blanks),
    }
}

/// A delimiter that fits, unless blanks fit better.
fn or_blanks(lines: &[Vec<u8>], delimiter: Delimiter, expected: bool, ids: usize) -> Found {
    let blanks = Found::certain(Delimiter::Blanks);
    if cuts_integers(lines, delimiter) {
        return if expected {
            Found {
                delimiter,
                rival: Some(Delimiter::Blanks),
            }
        } else {
            blanks
        };
    }
    match (delimiter, mixed(lines)) {
        (Delimiter::Byte(b'\t'), Some(mixed)) if ids > 1 => match mixed {
            Mixed::Decimals if !expected => blanks,
            Mixed::Decimals | Mixed::Shared => Found {
                rival: Some(delimiter),
                ..blanks
            },
            Mixed::Apart => Found {
                delimiter,
                rival: Some(Delimiter::Blanks),
            },
        },
        (Delimiter::Symbols(symbols), _) => or_inside(lines, symbols, ids),
        (Delimiter::Byte(b','), _) if has_decimal_commas(lines, ids) => blanks,
        _ => Found::certain(delimiter),
    }
}

/// Whether blanks separate ids and numbers with decimal commas, and commas nothing: `ann bob 0,5`.
fn has_decimal_commas(lines: &[Vec<u8>], ids: usize) -> bool {
    let (mut fields, mut widths, mut decimals) = (Vec::new(), FxHashSet::default(), false);
    let body = if lines.len() > 1 { &lines[1..] } else { lines };
    let all = body.iter().all(|line| {
        let cut = fields::split(line, Delimiter::Blanks, &mut fields).is_ok();
        widths.insert(fields.len());
        decimals |= fields.iter().any(is_decimal_comma);
        let plain = |field: &Field| {
            field.is_quoted() || !field.text().contains(&b',') || is_decimal_comma(field)
        };
        cut && fields
            .iter()
            .filter(|field| !is_decimal_comma(field))
            .count()
            >= ids
            && fields.iter().all(plain)
    });
    all && decimals && widths.len() == 1
}

/// Whether a field is a number with a decimal comma: `0,5`.
fn is_decimal_comma(field: &Field) -> bool {
    let text = field.text();
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let unsigned = text.strip_prefix(b"-").unwrap_or(&text);
    let comma = memchr::memchr(b',', unsigned);
    !field.is_quoted()
        && comma.is_some_and(|at| digits(&unsigned[..at]) && digits(&unsigned[at + 1..]))
}

/// Symbols, unless they are part of ids between blanks: `std::map std::set`.
fn or_inside(lines: &[Vec<u8>], symbols: Symbols, ids: usize) -> Found {
    let delimiter = Delimiter::Symbols(symbols);
    let (mut fields, mut widths, mut blanks, mut within) =
        (Vec::new(), FxHashSet::default(), false, true);
    for line in lines {
        if fields::split(line, delimiter, &mut fields).is_ok() {
            blanks |= fields
                .iter()
                .take(ids)
                .any(|field| !field.is_quoted() && field.text().contains(&b' '));
        }
        if fields::split(line, Delimiter::Blanks, &mut fields).is_ok() {
            widths.insert(fields.len());
            let has = |field: &Field| {
                field
                    .text()
                    .windows(symbols.as_bytes().len())
                    .any(|w| w == symbols.as_bytes())
            };
            within &= fields.len() >= ids && fields.iter().take(ids).all(has);
        }
    }
    match blanks && widths.len() == 1 {
        true if within => Found::certain(Delimiter::Blanks),
        true => Found {
            delimiter,
            rival: Some(Delimiter::Blanks),
        },
        false => Found::certain(delimiter),
    }
}

/// Lines that speak against a delimiter; none when too many do.
fn cost(lines: &[Vec<u8>], delimiter: Delimiter, ids: usize) -> Option<usize> {
    let mut fields = Vec::new();
    let (mut columns, mut odd, mut unclean) = (0, 0, 0);
    for (i, line) in lines.iter().enumerate() {
        let cut = fields::split(line, delimiter, &mut fields).is_ok();
        if i == 0 && (!cut || fields.len() < 2) {
            return None;
        }
        if i == 0 {
            columns = fields.len();
        }
        odd += usize::from(!cut || fields.len() != columns);
        unclean +=
            usize::from(cut && likely_ids(&fields, ids).any(|field| is_unclean(field, delimiter)));
    }
    // One odd line among many is an error to report, not a reason for another delimiter.
    (2 * odd <= lines.len()).then_some(odd + unclean)
}

/// The first fields that could be ids: none with a decimal comma, where there are enough others.
fn likely_ids<'a, 'b>(fields: &'b [Field<'a>], ids: usize) -> impl Iterator<Item = &'b Field<'a>> {
    let enough = fields
        .iter()
        .filter(|field| !is_decimal_comma(field))
        .count()
        >= ids;
    fields
        .iter()
        .filter(move |field| !enough || !is_decimal_comma(field))
        .take(ids)
}

/// Whether a field that is not quoted has another delimiter inside, with no blank beside it as in `Lee, Ann`.
fn is_unclean(field: &Field, delimiter: Delimiter) -> bool {
    let text = field.text();
    let begins = |at: usize| {
        CANDIDATES
            .iter()
            .any(|other| *other != delimiter && other.begins(&text[at..]))
    };
    let inside = |at: usize| begins(at) && text[at - 1] != b' ' && text[at + 1] != b' ';
    !field.is_quoted() && (1..text.len().saturating_sub(1)).any(inside)
}

/// How lines read whose ids blanks separate, and a tab only what follows: `ann bob<TAB>0.5`, `ann<TAB>bob 0.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mixed {
    /// One of the ids between tabs would be, or end with, a decimal number.
    Decimals,
    /// Words of the first column between blanks occur in the second.
    Shared,
    /// They do not, as with first names and last names.
    Apart,
}

/// Whether all lines, or all but a header, are such.
fn mixed(lines: &[Vec<u8>]) -> Option<Mixed> {
    let (mut first, mut second, mut decimals) = (FxHashSet::default(), FxHashSet::default(), false);
    for (i, line) in lines.iter().enumerate() {
        match two_words_and_a_number(line) {
            Some([u, v, number]) => {
                decimals |= canonical_integer(&number).is_none();
                first.insert(u);
                second.insert(v);
            }
            None if i == 0 && lines.len() > 1 => {}
            None => return None,
        }
    }
    Some(match first.is_disjoint(&second) {
        _ if decimals => Mixed::Decimals,
        false => Mixed::Shared,
        true => Mixed::Apart,
    })
}

/// The ids between blanks, and the number behind them, of a line where tabs separate one column less.
fn two_words_and_a_number(line: &[u8]) -> Option<[Cow<'_, [u8]>; 3]> {
    let (mut words, mut parts) = (Vec::new(), Vec::new());
    fields::split(line, Delimiter::Blanks, &mut words).ok()?;
    fields::split(line, Delimiter::Byte(b'\t'), &mut parts).ok()?;
    if words.len() != parts.len() + 1
        || words.len() < 3
        || words.iter().any(|word| word.is_quoted())
    {
        return None;
    }
    let behind =
        parts[0].text().contains(&b' ') || parts.len() == 2 && parts[1].text().contains(&b' ');
    let [u, v, number] = [0, 1, 2].map(|i| words[i].text());
    let value = std::str::from_utf8(&number).ok()?.parse::<f64>().ok()?;
    (behind && value.is_finite()).then_some([u, v, number])
}

/// Whether every line but a header begins with two integers between blanks that `delimiter` does not separate:
/// `0 1<TAB>5`, or `0 1 {'weight': 3, 'year': 1999}`.
fn cuts_integers(lines: &[Vec<u8>], delimiter: Delimiter) -> bool {
    let (mut blanks, mut others) = (Vec::new(), Vec::new());
    let body = if lines.len() > 1 { &lines[1..] } else { lines };
    body.iter().all(|line| {
        let split = fields::split(line, Delimiter::Blanks, &mut blanks).is_ok()
            && fields::split(line, delimiter, &mut others).is_ok();
        let [u, v, ..] = &blanks[..] else {
            return false;
        };
        let integers = [u, v]
            .iter()
            .all(|field| canonical_integer(&field.text()).is_some());
        let same =
            others.len() >= 2 && others[0].text() == u.text() && others[1].text() == v.text();
        split && integers && !same
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_separates_columns() {
        let cases: [(&str, &str, &str); 49] = [
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
            ("a.csv", "x;1,y;2\ny;2,z;3", "commas or semicolons"),
            ("a.csv", "a;b,c\nd;e,f", "commas or semicolons"),
            ("a.txt", "a;b,c\nd;e,f", "semicolons or commas"),
            ("a.csv", "a;b;0,5\nb;c;1\nc;d;2", "semicolons"),
            ("a.txt", "a;1,5;b\nb;2,5;c", "semicolons"),
            ("a.csv", "a;1,5;b\nb;2,5;c", "semicolons"),
            ("a.csv", "0,5;a;b\n1,5;b;c", "semicolons"),
            ("a.csv", "1,2;3\n2,3;1", "commas or semicolons"),
            ("a.txt", "ann bob 0,5\nbob cid 1,5", "spaces"),
            ("a.csv", "ann bob 0,5\nbob cid 1,5", "spaces"),
            (
                "a.txt",
                "von nach kosten\nann bob 0,5\nbob cid 1,5",
                "spaces",
            ),
            ("a.txt", "Rue 1,5 rooms\nRue 2,7 rooms", "spaces"),
            ("a.tsv", "x;1;y\tz", "tabs"),
            ("a.csv", "1 , 2\n2, 3", "commas"),
            ("a.txt", "0 1\t5\n1 2\t5", "spaces"),
            ("a.txt", "0\t1 5\n1\t2 5", "spaces"),
            ("a.tsv", "0 1\t5\n1 2\t5", "tabs or spaces"),
            ("a.txt", "ann bob\t0.5\nbob cid\t1", "spaces"),
            ("a.txt", "ann\tbob 0.5\nbob\tcid 1.5", "spaces"),
            ("a.txt", "source target\tweight\nann bob\t0.5", "spaces"),
            ("a.tsv", "ann bob\t0.5\nbob cid\t1", "spaces or tabs"),
            ("a.txt", "ann bob\t5\nbob cid\t1", "spaces or tabs"),
            ("a.txt", "Ann Lee\t5\nBob Ray\t1", "tabs or spaces"),
            ("a.txt", "Ann Lee\tOslo\nBob Ray\tRome", "tabs"),
            (
                "a.txt",
                "1::1193::5::978300760\n1::661::3::978302109",
                "`::`",
            ),
            ("a.dat", "ann::bob", "`::`"),
            ("a.dat", "Ann Lee::Bob Ray", "`::` or spaces"),
            ("a.dat", "Ann Lee::Bob Ray\nBob Ray::Cid", "`::`"),
            ("a.txt", "std::map std::set\nstd::set std::vec", "spaces"),
            ("a.txt", "fe80::1,fe80::2", "commas"),
            ("a.txt", "a::b\tc::d", "tabs"),
            (
                "a.txt",
                "0 1 {'w': 3, 'y': 4}\n1 2 {'w': 5, 'y': 6}",
                "spaces",
            ),
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
            let found = detect(&lines, 2, Path::new(name));
            let rival = found
                .rival
                .map_or_else(String::new, |rival| format!(" or {}", rival.name()));
            assert_eq!(found.delimiter.name() + &rival, expected, "{name}: {text}");
        }
        let movies = [
            "1::Toy Story (1995)::Animation|Comedy",
            "2::Jumanji (1995)::Adventure|Children's",
        ];
        let movies = movies.map(|line| line.as_bytes().to_vec());
        assert_eq!(
            detect(&movies, 1, Path::new("movies.dat")).delimiter.name(),
            "`::`"
        );
    }

    #[test]
    fn what_can_be_named() {
        for (text, name) in [
            (" ", "spaces"),
            ("space", "spaces"),
            ("\t", "tabs"),
            ("tab", "tabs"),
            ("::", "`::`"),
            ("->", "`->`"),
            ("x", "`x`"),
        ] {
            assert_eq!(named(text, "delimiter").expect("valid").name(), name);
        }
        for text in ["", "\"", "\n", "é", "ab", ": :", "\"\"", ":::::::::"] {
            assert!(named(text, "delimiter").is_err(), "{text}");
        }
    }
}
