//! Decides whether the first line of an edge list names its columns.
//!
//! Three kinds of evidence, from the first lines (`judge`):
//!
//! * *known names*: a pair such as `source,target`, or two words that tables have columns for (`tweet,tag`);
//! * *contrast*: the first line is unlike all others: text above numbers, or above ids that all share
//!   something (a digit, `@`, a length, …) which it does not have;
//! * *no recurrence*: neither name occurs again, while nearly all other lines have an id that does.
//!
//! Against it: a number in the first line, or an id of it that occurs again, but for lines that repeat it as a whole; two
//! numbers above text are worth a note. A first column without a name is the index of a table, below a header. The last
//! kind of evidence is a matter of chance. If the first line were an edge like the others, the probability that neither of its ids
//! recurs would be about (k + 1) / (n + 1), where k of the n other lines have no id that recurs. It is taken
//! for a header when that is at most 1 in 40 (1 in 100 where blanks separate columns, since such files
//! seldom have headers). In a sparse list of names k is large, and the first edge stays an edge.

use rustc_hash::FxHashMap;

use super::vocabulary::{CERTAIN, ID_COLUMNS, is_known, is_unnamed};
use hone_graph::canonical_integer;

/// What the first line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A header, without doubt.
    Header,
    /// Most probably a header; worth a note.
    Guess,
    /// Most probably an edge, though it could be a header; worth a note.
    Doubt,
    /// An edge.
    Edge,
}

/// Lines that must agree before a contrast of one id column, of numbers and text, of a feature, or of letter case counts.
const LINES_ONE_COLUMN: usize = 3;
const LINES_SIZES: usize = 2;
const LINES_FEATURE: usize = 5;
const LINES_CASE: usize = 10;
/// Lines from which the lack of recurrence of an unknown name is worth a note.
const LINES_DOUBT: usize = 2;

/// The position of a column in a header, whatever its case.
pub fn find(header: &[String], name: &str) -> Option<usize> {
    header
        .iter()
        .position(|field| field.eq_ignore_ascii_case(name))
}

pub(super) fn find_pair(
    header: &[String],
    (source, target): (&str, &str),
) -> Option<(usize, usize)> {
    find(header, source).zip(find(header, target))
}

/// Whether two lines have the same names, but for capitals.
pub(super) fn same_names(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

/// Whether a line has two names that are hardly ever ids.
pub(super) fn has_certain_pair(line: &[String]) -> bool {
    ID_COLUMNS[..CERTAIN]
        .iter()
        .any(|pair| find_pair(line, *pair).is_some())
}

/// Judges the first line of a table by the others; `ids` are the columns of the ids where the user named them, `likely` those
/// that are taken where no names are known, and `blanks` says that blanks separate columns.
pub(super) fn judge(
    table: &[Vec<String>],
    ids: Option<(usize, usize)>,
    likely: (usize, usize),
    blanks: bool,
) -> Verdict {
    let Some((first, rest)) = table.split_first() else {
        return Verdict::Edge;
    };
    let pair = ID_COLUMNS
        .iter()
        .enumerate()
        .find_map(|(rank, names)| Some((rank, find_pair(first, *names)?)));
    let (u, v) = ids.or(pair.map(|(_, pair)| pair)).unwrap_or(likely);
    let (Some(a), Some(b)) = (first.get(u), first.get(v)) else {
        return Verdict::Edge;
    };
    let rest: Vec<&Vec<String>> = rest.iter().filter(|row| row.len() == first.len()).collect();
    // A header may come again, or another one, where several files were put into one; so may an edge.
    let again = |row: &[String]| same_names(row, first) || has_certain_pair(row);
    let others: Vec<&Vec<String>> = rest.iter().copied().filter(|row| !again(row)).collect();
    let repeated = others.len() < rest.len();
    let lines = Lines {
        first,
        rest: &others,
        u,
        v,
    };
    let recurrence = Recurrence::new(&lines);
    let continues = lines.continues_numbering();
    let recurs = recurrence.occurs(a) || recurrence.occurs(b) || continues;
    if pair.is_some_and(|(rank, _)| rank < CERTAIN) && !continues {
        return if recurs {
            Verdict::Guess
        } else {
            Verdict::Header
        };
    }
    if lines.has_unnamed_index() {
        return Verdict::Header;
    }
    if others.is_empty()
        || first.iter().any(|field| is_number(field))
        || a.is_empty()
        || b.is_empty()
    {
        return if !recurs && lines.are_numbers_above_text() {
            Verdict::Doubt
        } else {
            Verdict::Edge
        };
    }
    lines.judge(recurs, pair.is_some()).unwrap_or_else(|| {
        let plausible = is_name(a) && is_name(b) && a != b && !repeated;
        recurrence.verdict(blanks, is_known(a) || is_known(b), plausible)
    })
}

pub(super) fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok() || field.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// Whether a field looks like the name of a column.
fn is_name(field: &str) -> bool {
    let usual = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    field.len() <= 40
        && field.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && field.chars().all(usual)
}

/// The first line, the others of its width, and the columns of the ids.
struct Lines<'a> {
    first: &'a [String],
    rest: &'a [&'a Vec<String>],
    u: usize,
    v: usize,
}

impl Lines<'_> {
    /// What names and contrast say, `paired` if the names are known as a pair; nothing where only recurrence may tell.
    fn judge(&self, recurs: bool, paired: bool) -> Option<Verdict> {
        let [a, b] = [self.u, self.v].map(|c| &self.first[c]);
        let known = paired || is_known(a) && is_known(b);
        let weight = self.numbers_below_text();
        if recurs {
            let named = weight.is_some_and(|column| is_known(&self.first[column]));
            return Some(if named { Verdict::Guess } else { Verdict::Edge });
        }
        let integers =
            self.integers_below_text(self.u) && self.integers_below_text(self.v) && a != b;
        if integers || weight.is_some() {
            return Some(if known {
                Verdict::Header
            } else {
                Verdict::Guess
            });
        }
        let unlike = known && !self.is_one_of_the_letters()
            || self.is_unlike(LINES_ONE_COLUMN, LINES_FEATURE);
        // The same contrast with fewer lines is worth a note.
        let few = || {
            (is_name(a) && is_name(b) && a != b && self.is_unlike(1, 1)).then_some(Verdict::Doubt)
        };
        unlike.then_some(Verdict::Guess).or_else(few)
    }

    /// Whether the first column, and it alone, has no name, as the index of a table that pandas or R wrote.
    fn has_unnamed_index(&self) -> bool {
        let named = |field: &String| !field.is_empty() && !is_number(field);
        let [index, names @ ..] = self.first else {
            return false;
        };
        is_unnamed(index)
            && names.len() > 1
            && names.iter().all(named)
            && self.all(0, |field| !field.is_empty())
    }

    fn all(&self, column: usize, has: impl Fn(&str) -> bool) -> bool {
        !self.rest.is_empty() && self.rest.iter().all(|row| has(&row[column]))
    }

    fn integers_below_text(&self, column: usize) -> bool {
        self.all(column, |field| {
            canonical_integer(field.as_bytes()).is_some()
        })
    }

    /// A column beside the ids that has text in the first line and numbers below; some fields may be empty.
    fn numbers_below_text(&self) -> Option<usize> {
        let columns = (0..self.first.len())
            .filter(|&c| c != self.u && c != self.v && !self.first[c].is_empty());
        let numbers = |c: &usize| self.rest.iter().filter(|row| is_number(&row[*c])).count();
        let mut fitting =
            columns.filter(|&c| self.all(c, |field| field.is_empty() || is_number(field)));
        fitting.find(|c| numbers(c) > usize::from(!is_known(&self.first[*c])))
    }

    /// Whether the first line has two numbers where no other has one: the size of the graph, perhaps.
    fn are_numbers_above_text(&self) -> bool {
        let ends = [self.u, self.v];
        let text = |c: usize| self.all(c, |field| !is_number(field));
        self.rest.len() >= LINES_SIZES && ends.iter().all(|&c| is_number(&self.first[c]) && text(c))
    }

    /// Whether names that end with numbers are ids: `node1`, `node2` above `node3`.
    fn continues_numbering(&self) -> bool {
        let stem = |field: &str| {
            let stem = field.trim_end_matches(|c: char| c.is_ascii_digit());
            (stem.len() < field.len()).then(|| stem.to_ascii_lowercase())
        };
        let Some(own) = stem(&self.first[self.u]) else {
            return false;
        };
        self.rest.iter().any(|row| {
            [self.u, self.v]
                .iter()
                .any(|&c| stem(&row[c]).as_ref() == Some(&own))
        })
    }

    /// Whether `u,v` and the like stand above other single letters.
    fn is_one_of_the_letters(&self) -> bool {
        let is_letter = |field: &str| field.chars().count() == 1;
        let own = [self.u, self.v].iter().any(|&c| is_letter(&self.first[c]));
        own && self
            .rest
            .iter()
            .any(|row| [self.u, self.v].iter().any(|&c| is_letter(&row[c])))
    }

    /// Whether the ids of the first line lack what all ids below have, and share nothing with them; so many lines must agree
    /// before a column of integers, or a feature, counts.
    fn is_unlike(&self, integers: usize, features: usize) -> bool {
        if self.rest.len() >= integers
            && [self.u, self.v]
                .iter()
                .any(|&c| self.integers_below_text(c))
        {
            return true;
        }
        if self.rest.len() < features {
            return false;
        }
        let several = self.rest.len() >= LINES_FEATURE;
        let lengths = |c: usize| {
            self.rest
                .first()
                .filter(|_| several)
                .map(|row| row[c].len())
                .filter(|&length| length >= 6)
        };
        let has = |c: usize, feature: usize, field: &str| match feature {
            0 => field.contains(|c: char| c.is_ascii_digit()),
            1 => field.contains('@'),
            2 => field.contains(['/', ':']),
            3 => field.starts_with(|c: char| c.is_ascii_punctuation()),
            4 => lengths(c) == Some(field.len()),
            _ => field.contains(' '),
        };
        let common = |c: usize, feature: usize| self.all(c, |field| has(c, feature, field));
        let own = |c: usize, feature: usize| has(c, feature, &self.first[c]);
        let ends = [self.u, self.v];
        let lacks = ends
            .iter()
            .any(|&c| (0..=5).any(|f| common(c, f) && !own(c, f)));
        let shares = ends
            .iter()
            .any(|&c| (0..=4).any(|f| common(c, f) && own(c, f)));
        let capital = |field: &str| field.starts_with(char::is_uppercase);
        let small = ends
            .iter()
            .all(|&c| self.all(c, capital) && self.first[c].starts_with(char::is_lowercase));
        !shares && (lacks || small && self.rest.len() >= LINES_CASE)
    }
}

/// Which ids occur again.
struct Recurrence<'a> {
    counts: FxHashMap<&'a str, u32>,
    lines: usize,
    /// Lines neither of whose ids occurs in another line or twice.
    alone: usize,
}

impl<'a> Recurrence<'a> {
    fn new(lines: &Lines<'a>) -> Self {
        let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
        for row in lines.rest {
            *counts.entry(&row[lines.u]).or_default() += 1;
            *counts.entry(&row[lines.v]).or_default() += 1;
        }
        let once = |field: &str| counts[field] == 1;
        let alone = lines
            .rest
            .iter()
            .filter(|row| once(&row[lines.u]) && once(&row[lines.v]))
            .count();
        Recurrence {
            counts,
            lines: lines.rest.len(),
            alone,
        }
    }

    fn occurs(&self, id: &str) -> bool {
        self.counts.contains_key(id)
    }

    /// What a first line is neither of whose ids recurs, if nothing else is known.
    fn verdict(&self, blanks: bool, one_known: bool, plausible: bool) -> Verdict {
        let odds = (self.lines + 1) / (self.alone + 1);
        let enough = match (one_known, blanks) {
            (true, _) => 12,
            (false, false) => 40,
            (false, true) => 100,
        };
        match odds {
            _ if !plausible => Verdict::Edge,
            odds if odds >= enough => Verdict::Guess,
            _ if self.alone == 0 && self.lines >= LINES_DOUBT => Verdict::Doubt,
            _ => Verdict::Edge,
        }
    }
}

#[cfg(test)]
mod tests;
