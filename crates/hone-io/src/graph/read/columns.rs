//! [`Layout`]: which column of a table is what.
//!
//! What the user names comes first, then known names (`source`, `target`, `weight`), then the order of the columns.
//! Columns that are clearly something else are skipped: arrows between ids, the index of a table, decimal numbers,
//! times.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::comments::{Comments, Tally};
use super::fields::{self, Delimiter, Field};
use super::header::{find, find_pair};
use super::options::{Column, ReadOptions};
use super::reading::{ReadNote, TableColumns, shown};
use super::shapes::{is_sign, points_back};
use super::sides::Sides;
use super::times::are_dates;
use super::vocabulary::{
    ID_COLUMNS, WEIGHT_COLUMNS, is_index, is_no_weight, is_time, is_unnamed, is_weight,
};
use crate::error::Error;
use hone_graph::canonical_integer;

/// Rows, and values of a column, from which an index is distinguished from ids that happen to rise.
const LEAST_NUMBERED: usize = 3;

/// What is wrong with a table, and the remedy.
pub(super) type Refusal = (String, &'static str);

/// Where the parts of an edge are in a line.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) delimiter: Delimiter,
    /// Number of columns.
    pub(super) columns: usize,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The weight column, when weights are kept.
    pub(super) weight: Option<usize>,
    /// The weight column, when weights are not kept.
    pub(super) ignored_weight: Option<usize>,
    /// Which lines are comments.
    pub(super) comments: Comments,
    /// Whether both id columns name nodes of one kind.
    pub(super) sides: Sides,
    /// The line that names the columns, where lines that repeat it are no edges.
    pub(super) header: Option<Header>,
    /// Whether all ids looked at are integers, so that a line of words that name columns is the header of a further file.
    pub(super) integers: bool,
}

/// The line that names the columns.
#[derive(Debug, Clone)]
pub(super) struct Header {
    line: Vec<u8>,
    /// Each name, and whether it is in quotes.
    names: Vec<(Vec<u8>, bool)>,
    /// Its first character, in lower case: most lines begin with another.
    initial: u8,
}

impl Header {
    fn new(line: &[u8], delimiter: Delimiter) -> Option<Header> {
        let mut fields = Vec::new();
        fields::split(line, delimiter, &mut fields).ok()?;
        let names = fields
            .iter()
            .map(|field| (field.text().into_owned(), field.is_quoted()))
            .collect();
        Some(Header {
            line: line.to_vec(),
            names,
            initial: initial(line),
        })
    }

    /// Whether a line equals this one up to blanks and case. Quoted names are ids.
    fn is(&self, line: &[u8], delimiter: Delimiter) -> bool {
        if line == self.line || initial(line) != self.initial {
            return line == self.line;
        }
        let mut fields = Vec::new();
        let same = |(field, (name, quoted)): (&Field, &(Vec<u8>, bool))| {
            field.is_quoted() == *quoted && field.text().eq_ignore_ascii_case(name)
        };
        fields::split(line, delimiter, &mut fields).is_ok()
            && fields.len() == self.names.len()
            && fields.iter().zip(&self.names).all(same)
    }
}

/// The first character of a line, but for blanks and quotes.
fn initial(line: &[u8]) -> u8 {
    let first = line
        .iter()
        .find(|byte| !byte.is_ascii_whitespace() && **byte != b'"');
    first.map_or(0, u8::to_ascii_lowercase)
}

impl Layout {
    /// Whether a line is two ids and at most one more field, which is the weight if that is kept.
    pub(super) fn is_plain(&self) -> bool {
        let two_ids = (self.source, self.target) == (0, 1) && !matches!(self.sides, Sides::Two(_));
        two_ids && matches!((self.columns, self.weight), (2, None) | (3, None | Some(2)))
    }

    /// Whether a line repeats the header, as in concatenated files.
    pub(super) fn is_header(&self, line: &[u8]) -> bool {
        self.header
            .as_ref()
            .is_some_and(|header| header.is(line, self.delimiter))
    }

    /// The same layout below the line that names its columns. Numbers may well come again as an edge.
    pub(super) fn below(mut self, line: &[u8], names: &[String]) -> Self {
        let is_number = |c: usize| names.get(c).is_none_or(|name| name.parse::<f64>().is_ok());
        if !is_number(self.source) && !is_number(self.target) {
            self.header = Header::new(line, self.delimiter);
        }
        self
    }

    /// What the record of a run says of it; `header` is known of text only.
    pub(super) fn facts(&self, header: Option<bool>) -> TableColumns {
        TableColumns {
            delimiter: header.map(|_| self.delimiter.name()),
            header,
            count: self.columns,
            source: self.source,
            target: self.target,
            weight: self.weight,
        }
    }

    /// Notes about its columns: those that are not used, weights and ids that may be none; `body` shows which columns hold
    /// anything.
    pub(super) fn notes(
        &self,
        options: &ReadOptions,
        path: &Path,
        body: &[Vec<String>],
        names: &[String],
    ) -> Vec<ReadNote> {
        let index = self.index(options, path, body, names);
        let surplus = index.or_else(|| self.surplus(options, path, body, names));
        let weights = self.guessed_weights(options, path, names);
        surplus
            .into_iter()
            .chain(weights)
            .chain(self.decimal_ids(options, path, body))
            .collect()
    }

    /// A note about columns that are not used.
    fn surplus(
        &self,
        options: &ReadOptions,
        path: &Path,
        body: &[Vec<String>],
        names: &[String],
    ) -> Option<ReadNote> {
        let used: Vec<usize> = [Some(self.source), Some(self.target), self.weight]
            .into_iter()
            .flatten()
            .collect();
        let is_idle = |c: usize| used.contains(&c) || self.ignored_weight == Some(c);
        let says = |c: usize| {
            body.is_empty()
                || body
                    .iter()
                    .any(|row| row.get(c).is_some_and(|f| !f.is_empty() && f != "{}"))
        };
        let chosen = options.source.is_some() && options.target.is_some();
        let surplus = (0..self.columns).any(|c| !is_idle(c) && says(c));
        (surplus && !chosen).then(|| ReadNote::Columns {
            file: path.display().to_string(),
            names: used.iter().filter_map(|&c| names.get(c).cloned()).collect(),
            used,
            count: self.columns,
        })
    }

    /// A note about ids that were not chosen by the user and number the lines of a table without names, where two columns next to them
    /// could be the ids: two of words, or two that have values in common.
    fn index(
        &self,
        options: &ReadOptions,
        path: &Path,
        body: &[Vec<String>],
        names: &[String],
    ) -> Option<ReadNote> {
        let chosen = options.source.is_some() || options.target.is_some() || options.weighted;
        let third = (self.target + 1..self.columns).find(|&c| !is_sign(body, c))?;
        if chosen
            || !names.is_empty()
            || self.source != 0
            || body.len() < LEAST_NUMBERED
            || !is_numbering(body, 0)
        {
            return None;
        }
        let values = |c: usize| {
            body.iter()
                .filter_map(|row| row.get(c))
                .collect::<FxHashSet<&String>>()
        };
        let (left, right) = (values(self.target), values(third));
        let words =
            |values: &FxHashSet<&String>| values.iter().all(|value| value.parse::<f64>().is_err());
        let shared =
            right.len() >= LEAST_NUMBERED && 2 * right.intersection(&left).count() >= right.len();
        let ids = decimal(body, third).is_none() && (words(&left) && words(&right) || shared);
        let (file, used) = (path.display().to_string(), [self.target, third]);
        ids.then_some(ReadNote::Index {
            file,
            column: self.source,
            used,
        })
    }

    /// A note about weights that were not chosen by the user, of a column whose name does not say that it has some.
    fn guessed_weights(
        &self,
        options: &ReadOptions,
        path: &Path,
        names: &[String],
    ) -> Option<ReadNote> {
        let column = self.weight.filter(|_| options.weight.is_none())?;
        let name = names.get(column).filter(|name| !is_weight(name))?.clone();
        Some(ReadNote::Weights {
            file: path.display().to_string(),
            column,
            name,
        })
    }

    /// A note about an id column that was not chosen by the user and that has decimal numbers, as weights are.
    fn decimal_ids(
        &self,
        options: &ReadOptions,
        path: &Path,
        body: &[Vec<String>],
    ) -> Option<ReadNote> {
        let chosen = [
            (self.source, &options.source),
            (self.target, &options.target),
        ];
        let free = chosen.into_iter().filter(|(_, chosen)| chosen.is_none());
        let (column, example) = free
            .map(|(c, _)| (c, decimal(body, c)))
            .find(|(_, example)| example.is_some())?;
        let (file, example) = (path.display().to_string(), example?.to_owned());
        Some(ReadNote::DecimalIds {
            file,
            column,
            example,
        })
    }

    /// A note about lines that are further headers.
    pub(super) fn headers_note(&self, headers: &Tally, path: &Path) -> Option<ReadNote> {
        let (file, line) = (path.display().to_string(), shown(&headers.example));
        (headers.count > 0).then_some(ReadNote::Headers {
            file,
            lines: headers.count,
            line,
        })
    }

    /// The same layout, with what `body` says of its ids.
    pub(super) fn above(mut self, options: &ReadOptions, body: &[Vec<String>]) -> Self {
        let is_integer = |field: &String| canonical_integer(field.as_bytes()).is_some();
        let integers = |row: &Vec<String>| {
            [self.source, self.target]
                .iter()
                .all(|&c| row.get(c).is_some_and(is_integer))
        };
        self.integers =
            options.header != Some(false) && !body.is_empty() && body.iter().all(integers);
        self
    }
}

/// The first number with decimals of a column that has numbers alone.
pub(super) fn decimal(body: &[Vec<String>], column: usize) -> Option<&str> {
    let number = |field: &str| {
        field.parse::<f64>().is_ok() || field.replacen(',', ".", 1).parse::<f64>().is_ok()
    };
    let mut fields = body.iter().filter_map(|row| row.get(column));
    let example = fields
        .clone()
        .find(|field| field.contains(['.', ',']) && number(field))?;
    fields.all(|field| number(field)).then_some(example)
}

/// Which columns of a table in memory are what, by the rules for files: its columns, whether one that is not used has weights,
/// and what was a guess.
///
/// `names` are those of the columns, none if they have none, and `rows` the first of its rows.
pub fn table_columns(
    names: &[String],
    rows: &[Vec<String>],
    options: &ReadOptions,
) -> Result<(TableColumns, bool, Vec<ReadNote>), Error> {
    let path = Path::new("the table");
    let head = (!names.is_empty()).then(|| names.to_vec());
    let table: Vec<Vec<String>> = head.into_iter().chain(rows.iter().cloned()).collect();
    if table.first().is_none_or(|row| row.len() < 2) {
        let message = "it has fewer than two columns";
        return Err(Error::input(path, message, "an edge needs two ids"));
    }
    let layout = columns(options, &table, !names.is_empty())
        .map_err(|(message, remedy)| Error::input(path, message, remedy))?;
    let notes = layout.notes(options, path, rows, names);
    Ok((layout.facts(None), layout.ignored_weight.is_some(), notes))
}

/// Which column is what. The message and the remedy when the table does not have them.
pub(super) fn columns(
    options: &ReadOptions,
    table: &[Vec<String>],
    header: bool,
) -> Result<Layout, Refusal> {
    let (names, body) = if header {
        (&table[0][..], &table[1..])
    } else {
        (&[][..], table)
    };
    let columns = table[0].len();
    let resolve = |column: &Option<Column>| {
        column
            .as_ref()
            .map(|c| position(c, names, columns))
            .transpose()
    };
    let (source, target, weight) = (
        resolve(&options.source)?,
        resolve(&options.target)?,
        resolve(&options.weight)?,
    );
    let named = ID_COLUMNS
        .iter()
        .any(|pair| find_pair(names, *pair).is_some());
    let chosen = named || source.is_some() || target.is_some();
    if !chosen && are_of_vectors(names) {
        let message = format!(
            "the columns `{}`, `{}`, … are those of vectors, not of edges",
            names[0], names[1]
        );
        return Err((
            message,
            "give the graph that the vectors are of, or name the columns of the edges",
        ));
    }
    let (source, target) = ends(names, body, columns, [source, target, weight])?;
    let turned =
        !chosen && source < target && points_back(body, [source, target], options.directed)?;
    let (source, target) = if turned {
        (target, source)
    } else {
        (source, target)
    };
    if source == target || Some(source) == weight || Some(target) == weight {
        return Err((
            "the same column is given twice".into(),
            "source, target and weight are three columns",
        ));
    }
    let layout = Layout {
        delimiter: Delimiter::Blanks,
        columns,
        source,
        target,
        weight: None,
        ignored_weight: None,
        comments: Comments::fixed(&[]),
        sides: Sides::of(options, (source, target), names, body),
        header: None,
        integers: false,
    };
    with_weight(layout, weight, options, names, body)
}

/// Whether columns are called as in a file of vectors.
fn are_of_vectors(names: &[String]) -> bool {
    matches!(names, [id, first, ..] if id == "id" && (first == "z0" || first.starts_with("structure.")))
}

/// The position of a column that the user asks for.
fn position(column: &Column, names: &[String], columns: usize) -> Result<usize, Refusal> {
    match column {
        Column::Position(position) if *position < columns => Ok(*position),
        Column::Position(position) => Err((
            format!("there is no column {position}, only 0 to {}", columns - 1),
            "positions count from 0",
        )),
        Column::Name(name) => names
            .iter()
            .position(|field| field == name)
            .or_else(|| find(names, name))
            .ok_or_else(|| {
                (
                    format!(
                        "there is no column `{name}`; the columns are {}",
                        names.join(", ")
                    ),
                    "name one of them",
                )
            }),
    }
}

/// The columns of the ids: those requested, those called so, else the first that could have some.
fn ends(
    names: &[String],
    body: &[Vec<String>],
    columns: usize,
    [source, target, weight]: [Option<usize>; 3],
) -> Result<(usize, usize), Refusal> {
    let known = ID_COLUMNS.iter().find_map(|pair| find_pair(names, *pair));
    let candidates = candidates(names, body, columns);
    let free = |taken: [Option<usize>; 2]| {
        candidates
            .iter()
            .copied()
            .find(|&c| !taken.contains(&Some(c)))
    };
    let source = source
        .or(known.map(|k| k.0).filter(|&s| Some(s) != target))
        .or_else(|| free([target, weight]));
    let target = target
        .or(known.map(|k| k.1).filter(|&t| Some(t) != source))
        .or_else(|| free([source, weight]));
    source.zip(target).ok_or_else(|| {
        (
            "no column is left for an id".into(),
            "an edge needs two id columns",
        )
    })
}

/// Columns that could have ids: if there are two, only those that are nothing else by their look.
pub(super) fn candidates(names: &[String], body: &[Vec<String>], columns: usize) -> Vec<usize> {
    if columns <= 2 {
        return (0..columns).collect();
    }
    let all: Vec<usize> = (0..columns).filter(|&c| !is_sign(body, c)).collect();
    let other = |c: usize| {
        let named = names
            .get(c)
            .is_some_and(|name| is_weight(name) || is_time(name));
        named || decimal(body, c).is_some() || counts_rows(names, body, c)
    };
    let likely: Vec<usize> = all.iter().copied().filter(|&c| !other(c)).collect();
    if likely.len() < 2 { all } else { likely }
}

/// Whether a column is the index of a table: it has no name and no value twice, or the name of an index and the
/// numbers of the rows.
fn counts_rows(names: &[String], body: &[Vec<String>], column: usize) -> bool {
    let Some(name) = names.get(column) else {
        return false;
    };
    let fields = || body.iter().filter_map(|row| row.get(column));
    if is_unnamed(name) {
        let mut seen = FxHashSet::default();
        return fields().all(|field| seen.insert(field)) || numbers_again(body, column);
    }
    is_index(name) && body.len() > 1 && is_numbering(body, column)
}

/// Whether a column has the numbers of the rows, beginning again where several files were put into one.
fn numbers_again(body: &[Vec<String>], column: usize) -> bool {
    let numbers: Option<Vec<u64>> = body
        .iter()
        .map(|row| row.get(column)?.parse().ok())
        .collect();
    let runs = |numbers: &[u64]| {
        numbers
            .windows(2)
            .all(|two| two[0].checked_add(1) == Some(two[1]) || two[1] == numbers[0])
    };
    numbers
        .is_some_and(|numbers| numbers.first().is_some_and(|first| *first <= 1) && runs(&numbers))
}

/// Whether a column has the numbers of the rows, from 0 or 1.
pub(super) fn is_numbering(body: &[Vec<String>], column: usize) -> bool {
    let fields = || body.iter().filter_map(|row| row.get(column));
    let Some(first) = fields().next().and_then(|field| field.parse::<u64>().ok()) else {
        return false;
    };
    first <= 1
        && (first..)
            .zip(fields())
            .all(|(number, field)| field.parse() == Ok(number))
}

/// Adds the weight column: the one requested, the one called so, or the first that is left.
fn with_weight(
    mut layout: Layout,
    asked: Option<usize>,
    options: &ReadOptions,
    names: &[String],
    body: &[Vec<String>],
) -> Result<Layout, Refusal> {
    let is_free = |c: &usize| *c != layout.source && *c != layout.target && !is_sign(body, *c);
    let exact = WEIGHT_COLUMNS
        .iter()
        .find_map(|name| find(names, name))
        .filter(is_free);
    let named = exact.or_else(|| (0..names.len()).find(|c| is_free(c) && is_weight(&names[*c])));
    // Without names it is the first that is left; with names the only one, unless it is called something else.
    let left: Vec<usize> = (0..layout.columns)
        .filter(|c| is_free(c) && names.get(*c).is_none_or(|n| !is_no_weight(n)))
        .collect();
    let next = left
        .first()
        .copied()
        .filter(|_| names.is_empty() || left.len() == 1);
    let number = |c: usize| body.iter().map(move |row| row.get(c)?.parse::<f64>().ok());
    let dates = next.filter(|&c| are_dates(number(c)));
    let next = next.filter(|_| dates.is_none());
    if options.weighted || asked.is_some() {
        layout.weight = asked.or(named).or(next);
        if layout.weight.is_none() {
            return Err(no_weight(&layout, names, dates));
        }
    } else {
        layout.ignored_weight = named.or(next.filter(|&c| number(c).next().flatten().is_some()));
    }
    Ok(layout)
}

/// What is wrong with a table without weights; `dates` is a column that could be taken for some.
fn no_weight(layout: &Layout, names: &[String], dates: Option<usize>) -> Refusal {
    let remedy = "name the column of the weights with the option `weight`, or read without weights";
    match dates {
        Some(column) => dates_for_weights(&format!("column {} (position {column})", column + 1)),
        None if names.is_empty() => (
            format!("there is no weight among the {} columns", layout.columns),
            remedy,
        ),
        None => (
            format!(
                "none of the columns {} has the name of a weight",
                names.join(", ")
            ),
            remedy,
        ),
    }
}

/// The error for times in place of weights.
pub(super) fn dates_for_weights(column: &str) -> Refusal {
    let remedy = "name the column of the weights, this one if its numbers are weights, with the option `weight`; or \
                  read without weights";
    (
        format!("{column} looks like times or dates, not weights"),
        remedy,
    )
}
