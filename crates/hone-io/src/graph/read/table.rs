//! The rules by which a table of edges is read: whether its first line names the columns, and which column is what.
//! `docs/formats.md` has them as a table; options override each, and a note says what was decided.
//!
//! They look at the first 64 KiB alone; every later line must agree.

use super::blocks::Fault;
use super::lines::{
    self, Delimiter, check_width, first_end, is_idle, row, sample, skip_idle, without_end,
};
use super::options::{Column, ReadNote, ReadOptions, TableColumns, file_name, list, shown};
use super::source::Source;
use crate::error::{Error, Result};
use crate::hashing::{SeededMap, SeededSet};
use crate::message::{Message, message, set, setting};

/// Bytes looked at.
const SAMPLE_BYTES: usize = 1 << 16;
/// Whole numbers that are dates (20240131), or Unix times since 1995 in seconds or in thousandths, millionths or billionths of
/// them, if all numbers of a column are.
const TIMES: [(f64, f64); 5] = [
    (19_000_101.0, 21_001_231.0),
    (8e8, 1e10),
    (8e11, 1e13),
    (8e14, 1e16),
    (8e17, 1e19),
];

/// What the two ends of an edge are usually called, as [`plain`] names; docs/formats.md lists them.
const PAIRS: [(&str, &str); 16] = [
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("payer", "payee"),
    ("caller", "callee"),
    ("follower", "followee"),
    ("head", "tail"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("start", "end"),
];

/// A name of a column without what people put into it at will: `From_ID` and `fromNode` are `from`.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| c.is_alphanumeric());
    let name = kept.collect::<String>().to_ascii_lowercase();
    let without = |name: &str, end: &str| {
        let stem = name.strip_suffix(end).filter(|stem| !stem.is_empty());
        stem.unwrap_or(name).to_owned()
    };
    without(&without(&name, "id"), "node")
}

/// The columns that one of the [`PAIRS`] names. Columns called `start` and `end` alone are times more often than nodes.
fn pair(names: &[String]) -> Option<(usize, usize)> {
    let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let is_end = |c: &usize| !["start", "end"].contains(&&*names[*c].to_ascii_lowercase());
    let place = |wanted: &str| plain.iter().position(|name| name == wanted).filter(is_end);
    let mut found = PAIRS.iter().map(|(u, v)| place(u).zip(place(v)));
    found.find_map(|found| found)
}

/// The position of a column, whatever its case.
pub fn find(names: &[String], name: &str) -> Option<usize> {
    names
        .iter()
        .position(|field| field.eq_ignore_ascii_case(name))
}

/// What is wrong with a table, and the remedy.
pub(super) type Refusal = (String, Message);

/// Where the parts of an edge are in a line.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) delimiter: Delimiter,
    /// Whether a backslash may have been put there by a database: nobody has said what separates columns.
    pub(super) doubtful: bool,
    /// Number of columns.
    pub(super) columns: usize,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The weight column, when weights are kept.
    pub(super) weight: Option<usize>,
    /// The weight column, when weights are not kept.
    pub(super) ignored_weight: Option<usize>,
    /// What the ids of two kinds of nodes get in front, with a colon.
    pub(super) kinds: Option<[String; 2]>,
    /// What comment lines begin with.
    pub(super) comments: Vec<u8>,
    /// Whether comments stand before the first edge only.
    pub(super) comments_lead: bool,
    /// The line that names the columns, if it does: lines that repeat it are no edges.
    pub(super) header: Option<Vec<u8>>,
}

impl Layout {
    /// Two ids between blanks, and perhaps a value, as a format has them.
    pub(super) fn fixed(has_value: bool, weighted: bool) -> Self {
        Layout {
            delimiter: Delimiter::Blanks,
            doubtful: false,
            columns: if has_value { 3 } else { 2 },
            source: 0,
            target: 1,
            weight: (has_value && weighted).then_some(2),
            ignored_weight: (has_value && !weighted).then_some(2),
            kinds: None,
            comments: b"%".to_vec(),
            comments_lead: false,
            header: None,
        }
    }

    /// Whether a line is two ids and at most one more field, which is the weight if that is kept.
    pub(super) fn is_plain(&self) -> bool {
        let two_ids = (self.source, self.target) == (0, 1) && self.kinds.is_none();
        two_ids && matches!((self.columns, self.weight), (2, None) | (3, None | Some(2)))
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

    /// What was decided about a table, and the options that decide otherwise. `form` is what is said of text alone.
    pub(super) fn note(
        &self,
        options: &ReadOptions,
        file: &str,
        table: &Table,
        mut form: Vec<String>,
    ) -> ReadNote {
        let name = |c: usize| match table.names.get(c).filter(|name| !name.is_empty()) {
            Some(name) => format!("`{name}`"),
            None => format!("column {c}"),
        };
        // Of text, what was found that most files do not have; of all tables, which of several columns.
        let (is_text, has_names) = (!form.is_empty(), !table.names.is_empty());
        let usual = [
            Delimiter::Byte(b'\t'),
            Delimiter::Byte(b','),
            Delimiter::Blanks,
        ];
        let has_comments = form
            .first()
            .is_some_and(|part| part.ends_with("of comments"));
        let is_odd = is_text && !usual.contains(&self.delimiter);
        let has_choice = self.columns > 2;
        let may_be_two_kinds = has_names && pair(table.names).is_none();
        let decided = [
            ("delimiter", "", is_odd && options.delimiter.is_none()),
            (
                "header",
                "false",
                is_text && has_names && options.header.is_none(),
            ),
            ("comment", "", has_comments && options.comment.is_none()),
            ("source", "", has_choice && options.source.is_none()),
            ("target", "", has_choice && options.target.is_none()),
            ("weight", "", has_choice && options.weight.is_none()),
            (
                "bipartite",
                "",
                may_be_two_kinds && options.bipartite.is_none(),
            ),
        ];
        let example = table.body.first().and_then(|row| {
            let (u, v) = (row.get(self.source)?, row.get(self.target)?);
            let (u, v) = (shown(u.as_bytes()), shown(v.as_bytes()));
            Some(format!(" (first edge {u} → {v})"))
        });
        let (source, target) = (name(self.source), name(self.target));
        form.push(format!(
            "edges from {source} to {target}{}",
            example.unwrap_or_default()
        ));
        if let Some(weight) = self.weight {
            form.push(format!("weights in {}", name(weight)));
        }
        let used = [Some(self.source), Some(self.target), self.weight];
        let left: Vec<String> = (0..self.columns)
            .filter(|c| !used.contains(&Some(*c)))
            .map(name)
            .collect();
        match left.len() {
            0 => {}
            1..=3 => form.push(format!("{} not used", list(&left))),
            more => form.push(format!("{more} columns not used")),
        }
        let open = decided.iter().filter(|(.., open)| *open);
        let open: Vec<_> = open.map(|(option, value, _)| (*option, *value)).collect();
        let note = ReadNote::new("reading", format!("{file}: {}", form.join(", ")));
        match open.len() {
            0 => note,
            1 => note.with(&open, "decides otherwise"),
            _ => note.with(&open, "decide otherwise"),
        }
    }
}

/// The names of the columns, none if they have none, and rows.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) names: &'a [String],
    pub(super) body: &'a [Vec<String>],
    pub(super) columns: usize,
}

impl<'a> Table<'a> {
    fn fields(&self, column: usize) -> impl Iterator<Item = &'a str> + Clone {
        self.body
            .iter()
            .filter_map(move |row| row.get(column).map(String::as_str))
    }

    /// Whether a column is the index of a table, as programs write one: it has no name, or is called `id` or `index` and has no
    /// value twice.
    fn is_index(&self, column: usize) -> bool {
        let Some(name) = self.names.get(column) else {
            return false;
        };
        let mut seen = SeededSet::default();
        ["", "Unnamed: 0", "__index_level_0__"].contains(&&**name)
            || ["id", "index"]
                .iter()
                .any(|it| name.eq_ignore_ascii_case(it))
                && self.fields(column).all(|id| seen.insert(id))
    }

    /// The columns of the ids: those requested, those of a usual [`pair`], else the first two that are neither the index nor the
    /// weight.
    fn ends(&self, [source, target, weight]: [Option<usize>; 3]) -> Option<(usize, usize)> {
        let called = |name: &str, taken: Option<usize>| {
            find(self.names, name).filter(|&c| Some(c) != taken && Some(c) != weight)
        };
        let weights = weight.or(find(self.names, "weight"));
        let mut candidates: Vec<usize> = (0..self.columns)
            .filter(|&c| Some(c) != weights && !self.is_index(c))
            .collect();
        if candidates.len() < 2 {
            candidates = (0..self.columns).filter(|&c| Some(c) != weight).collect();
        }
        let free = |taken: Option<usize>| candidates.iter().copied().find(|&c| Some(c) != taken);
        let named = pair(self.names);
        let paired = |end: Option<usize>, taken: Option<usize>| {
            end.filter(|&c| Some(c) != taken && Some(c) != weight)
        };
        let source = source
            .or_else(|| paired(named.map(|pair| pair.0), target))
            .or_else(|| called("source", target));
        let target = target
            .or_else(|| paired(named.map(|pair| pair.1), source))
            .or_else(|| called("target", source));
        let source = source.or_else(|| free(target));
        source.zip(target.or_else(|| free(source)))
    }

    /// The positions of the columns that the user asks for.
    fn asked(&self, options: &ReadOptions) -> Result<[Option<usize>; 3], Refusal> {
        let position = |column: &Option<Column>| match column {
            None => Ok(None),
            Some(Column::Position(position)) if *position < self.columns => Ok(Some(*position)),
            Some(Column::Position(position)) => {
                let last = self.columns - 1;
                let message = format!("there is no column {position}, only 0 to {last}");
                Err((message, "positions count from 0".into()))
            }
            Some(Column::Name(name)) => {
                let exact = self.names.iter().position(|field| field == name);
                let found = exact.or_else(|| find(self.names, name));
                found.map(Some).ok_or_else(|| {
                    let names = self.names.join(", ");
                    let message = format!("there is no column `{name}`; the columns are {names}");
                    (message, "name one of them".into())
                })
            }
        };
        Ok([
            position(&options.source)?,
            position(&options.target)?,
            position(&options.weight)?,
        ])
    }

    /// Which column is what. The message and the remedy when the table does not have them.
    pub(super) fn layout(&self, options: &ReadOptions) -> Result<Layout, Refusal> {
        let asked = self.asked(options)?;
        if let ([id, first, ..], [None, None, _]) = (self.names, asked)
            && id == "id"
            && (first == "z0" || first.starts_with("structure_"))
        {
            let message =
                format!("the columns `{id}`, `{first}`, … are those of vectors, not of edges");
            let remedy = "give the graph that the vectors are of, or name the columns of the edges";
            return Err((message, remedy.into()));
        }
        let (source, target) = self.ends(asked).ok_or_else(|| {
            let message = "no column is left for an id".to_owned();
            (message, "an edge needs two id columns".into())
        })?;
        if source == target || [Some(source), Some(target)].contains(&asked[2]) {
            let message = "the same column is given twice".into();
            let remedy = "source, target and weight are three columns";
            return Err((message, remedy.into()));
        }
        let is_arrow = |field: &str| !field.is_empty() && field.chars().all(|c| "-<>=".contains(c));
        if asked[1].is_none() && !self.body.is_empty() && self.fields(target).all(is_arrow) {
            let message = format!("column {target} has signs between ids, not ids");
            let remedy = message![
                "name the columns of the ids with ",
                setting("source"),
                " and ",
                setting("target"),
                ", by position from 0"
            ];
            return Err((message, remedy));
        }
        let names = self.names.get(source).zip(self.names.get(target));
        let names = names.filter(|(a, b)| a != b && !a.is_empty() && !b.is_empty());
        let kinds = || match names {
            Some((a, b)) => [a.clone(), b.clone()],
            None => ["source".into(), "target".into()],
        };
        let layout = Layout {
            columns: self.columns,
            source,
            target,
            kinds: (options.bipartite == Some(true)).then(kinds),
            ..Layout::fixed(false, false)
        };
        self.with_weight(layout, asked[2], options)
    }

    /// Adds the weight column: the one requested, the one called `weight`, the only one that is left, or the first that is
    /// left of those without names.
    fn with_weight(
        &self,
        mut layout: Layout,
        asked: Option<usize>,
        options: &ReadOptions,
    ) -> Result<Layout, Refusal> {
        let is_free = |c: &usize| ![layout.source, layout.target].contains(c) && !self.is_index(*c);
        let called = find(self.names, "weight").filter(is_free);
        let left: Vec<usize> = (0..self.columns).filter(is_free).collect();
        let next = left.first().copied();
        let next = next.filter(|_| self.names.is_empty() || left.len() == 1);
        let number = |field: &str| field.parse().unwrap_or(0.0);
        let has_times = |&c: &usize| called.is_none() && are_times(&self.fields(c).map(number));
        if !options.keeps_weights() {
            let has_number = |&c: &usize| self.fields(c).next().is_some_and(is_number);
            let next = next.filter(|c| has_number(c) && !has_times(c));
            layout.ignored_weight = called.or(next);
            return Ok(layout);
        }
        let is_idle = |&c: &usize| {
            c < self.names.len() && !self.body.is_empty() && !self.fields(c).any(is_number)
        };
        if let Some(column) = asked.filter(is_idle) {
            let message = format!("`{}` is not a column of numbers", self.names[column]);
            return Err((message, name_weights()));
        }
        layout.weight = asked.or(called).or_else(|| next.filter(|c| !has_times(c)));
        if layout.weight.is_some() {
            return Ok(layout);
        }
        if let Some(column) = next {
            let column = format!("column {} (position {column})", column + 1);
            return Err(times_for_weights(&column));
        }
        let message = match self.names.is_empty() {
            true => format!("there is no weight among the {} columns", self.columns),
            false => format!(
                "none of the columns {} is called weight",
                self.names.join(", ")
            ),
        };
        Err((message, name_weights()))
    }

    /// Whether the first of some rows names the columns.
    ///
    /// It is an edge if one of its fields is a number or one of its ids comes again below. Else it is a header if a column
    /// has only numbers below it, or if all other lines have an id that comes again, as those of a graph do.
    fn is_headed(rows: &[Vec<String>], options: &ReadOptions) -> bool {
        let names = &rows[0];
        let others = |row: &&Vec<String>| row.len() == names.len() && *row != names;
        let body: Vec<Vec<String>> = rows[1..].iter().filter(others).cloned().collect();
        let columns = names.len();
        let table = Table {
            names,
            body: &body,
            columns,
        };
        if find(names, "source").is_some() && find(names, "target").is_some() {
            return true;
        }
        let ends = table.ends(table.asked(options).unwrap_or_default());
        let (u, v) = ends.unwrap_or((0, 1));
        let mut ids: SeededMap<&str, u32> = SeededMap::default();
        for id in table.fields(u).chain(table.fields(v)) {
            *ids.entry(id).or_default() += 1;
        }
        let comes_again = |column: usize| ids.contains_key(&*names[column]);
        let is_edge = names.iter().any(|name| is_number(name)) || names[u] == names[v];
        if body.is_empty() || is_edge || comes_again(u) || comes_again(v) {
            return false;
        }
        let has_numbers = |c: usize| {
            table.fields(c).any(is_number)
                && table
                    .fields(c)
                    .all(|field| field.is_empty() || is_number(field))
        };
        let is_linked = |row: &Vec<String>| ids[&*row[u]] > 1 || ids[&*row[v]] > 1;
        (0..columns).any(has_numbers) || body.iter().all(is_linked)
    }
}

/// Whether a name is that of weights.
pub(super) fn is_weight(name: &str) -> bool {
    name.eq_ignore_ascii_case("weight")
}

/// Whether numbers are times or dates, not weights.
pub(super) fn are_times(values: &(impl Iterator<Item = f64> + Clone)) -> bool {
    let any = values.clone().next().is_some();
    let are = |(first, last)| {
        let is_time = |value: f64| value.fract() == 0.0 && (first..=last).contains(&value);
        values.clone().all(is_time)
    };
    any && TIMES.into_iter().any(are)
}

/// What helps where no column, or a wrong one, has weights.
pub(super) fn name_weights() -> Message {
    message![
        "name the column of the weights with ",
        setting("weight"),
        ", or read without weights"
    ]
}

/// The error for times in place of weights.
pub(super) fn times_for_weights(column: &str) -> Refusal {
    let remedy = message![
        "name the column of the weights, this one if its numbers are weights, with ",
        setting("weight"),
        "; or read without weights"
    ];
    (
        format!("{column} looks like times or dates, not weights"),
        remedy,
    )
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok() || field.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// Which columns of a table in memory are what, by the rules for files: its columns, whether one that is not used has weights,
/// and what was decided.
///
/// `names` are those of the columns, none if they have none, and `rows` the first of its rows.
pub fn table_columns(
    names: &[String],
    rows: &[Vec<String>],
    options: &ReadOptions,
) -> Result<(TableColumns, bool, ReadNote), Error> {
    let path = "the table";
    let columns = rows.first().map_or(names.len(), Vec::len).max(names.len());
    if columns < 2 {
        let message = "it has fewer than two columns";
        return Err(Error::input(path, message, "an edge needs two ids"));
    }
    let table = Table {
        names,
        body: rows,
        columns,
    };
    let layout = table
        .layout(options)
        .map_err(|(message, remedy)| Error::input(path, message, remedy))?;
    let note = layout.note(options, path, &table, Vec::new());
    Ok((layout.facts(None), layout.ignored_weight.is_some(), note))
}

/// The layout of an edge list.
pub(super) struct Detected {
    pub(super) layout: Layout,
    /// Whether the first line names the columns.
    pub(super) header: bool,
    /// What was decided.
    pub(super) note: ReadNote,
}

/// Decides the layout of an edge list; uses up the comments and the header at its beginning.
pub(super) fn detect(source: &mut Source, options: &ReadOptions) -> Result<Detected> {
    let asked = options.delimiter.as_deref();
    let asked = asked
        .map(|asked| Delimiter::named(asked, "delimiter"))
        .transpose()?;
    let is_copy = asked == Some(Delimiter::Copy);
    let marks = match is_copy && options.comment.is_none() {
        true => Vec::new(),
        false => options.comments()?,
    };
    let separates = |mark: &u8| asked.is_some_and(|asked| asked.begins_with(*mark));
    if options.comment.is_some() && marks.iter().any(separates) {
        let message = "the character that separates columns cannot begin comments";
        return Err(Error::config("comment", message));
    }
    let mut comments = 0u64;
    skip_idle(source, &marks, |line| {
        comments += u64::from(!is_idle(line, &[]));
    })?;
    source.fill(SAMPLE_BYTES)?;
    let asked = asked.or(skip_separator(source)?);
    let lines = sample(source, &marks);
    let Some(head) = lines.first() else {
        let remedy = match comments == 0 || options.comment.is_some() {
            true => "it needs at least one edge".into(),
            false => message![
                "it needs at least one edge; if ids begin with # or %, ",
                set("comment", "none"),
                " reads them"
            ],
        };
        let message = "the file has no edges, only comments or blank lines";
        return Err(Error::input(source.path(), message, remedy));
    };
    let refuse = |fault: Fault| fault.into_error(source, source.lines());
    let wrong = |(message, remedy): Refusal| refuse(Fault::new(head, message, remedy));
    check_width(head, |byte| {
        byte.is_ascii_punctuation() || byte == b' ' || byte == b'\t'
    })
    .map_err(refuse)?;
    let doubtful = asked.is_none();
    let delimiter = asked.unwrap_or_else(|| lines::detect(&lines));
    let mut rows = vec![row(head, delimiter).map_err(refuse)?];
    // A later line that cannot be cut is reported by the parser, with its own number.
    let later = lines[1..].iter();
    rows.extend(later.map_while(|line| row(line, delimiter).ok()));
    let named = [&options.source, &options.target, &options.weight]
        .iter()
        .any(|column| matches!(column, Some(Column::Name(_))));
    if named && options.header == Some(false) {
        let message = "columns are named, so the file must have a header; give positions instead";
        return Err(Error::config("header", message));
    }
    let said = if named { Some(true) } else { options.header };
    fit_first(&mut rows, said, head, delimiter).map_err(refuse)?;
    let header = said.unwrap_or_else(|| !is_copy && Table::is_headed(&rows, options));
    let (names, body) = rows.split_at(usize::from(header));
    let names = names.first().map_or(&[][..], |names| names);
    // Where several files were put into one, the header comes again.
    let body: Vec<Vec<String>> = body.iter().filter(|row| *row != names).cloned().collect();
    let table = Table {
        names,
        body: &body,
        columns: rows[0].len(),
    };
    if options.source.is_none() && options.target.is_none() {
        matrix(&rows, &table, source.ended()).map_or(Ok(()), |refusal| Err(wrong(refusal)))?;
    }
    let mut layout = Layout {
        delimiter,
        doubtful: doubtful && delimiter == Delimiter::Byte(b'\t'),
        comments: marks,
        comments_lead: options.comment.is_none(),
        ..table.layout(options).map_err(wrong)?
    };
    let mut form = match comments {
        0 => Vec::new(),
        1 => vec!["1 line of comments".to_owned()],
        lines => vec![format!("{lines} lines of comments")],
    };
    form.push(format!("{} between columns", delimiter.name()));
    form.push(if header { "a header" } else { "no header" }.to_owned());
    let note = layout.note(options, &file_name(source.path()), &table, form);
    // Numbers may well come again as an edge.
    let is_text = |c: usize| {
        names
            .get(c)
            .is_some_and(|name| name.parse::<f64>().is_err())
    };
    layout.header = (is_text(layout.source) && is_text(layout.target)).then(|| head.clone());
    if header {
        source.skip(first_end(source.ahead()));
    }
    Ok(Detected {
        layout,
        header,
        note,
    })
}

/// What is wrong with an adjacency matrix, of which the first rows are given: its first line repeats its first column, or its
/// rows are numbers of which two are true: symmetric, with a diagonal of zeros, zeros and ones alone.
fn matrix(rows: &[Vec<String>], table: &Table, whole: bool) -> Option<Refusal> {
    let is_square =
        |rows: usize, columns: usize| rows == columns || !whole && 0 < rows && rows < columns;
    let is_labelled = || {
        let (head, rows) = rows.split_first()?;
        let (corner, labels) = head.split_first()?;
        let is_entry = |field: &String| field.is_empty() || is_number(field);
        let fits = |(row, label): (&Vec<String>, &String)| {
            row.len() == head.len() && row[0] == *label && row[1..].iter().all(is_entry)
        };
        let square = labels.len() > 1 && is_square(rows.len(), labels.len()) && !is_number(corner);
        Some(square && rows.iter().zip(labels).all(fits))
    };
    let is_plain = || {
        let (rows, columns) = (table.body, table.columns);
        let named = ["source", "target", "weight"].map(|name| find(table.names, name));
        if columns < 3 || named.iter().any(Option::is_some) || !is_square(rows.len(), columns) {
            return None;
        }
        let row = |row: &Vec<String>| -> Option<Vec<f64>> {
            let numbers = row.iter().map(|field| field.parse().ok());
            numbers
                .collect::<Option<_>>()
                .filter(|_| row.len() == columns)
        };
        let entries = rows.iter().map(row).collect::<Option<Vec<_>>>()?;
        let n = entries.len();
        let looks = [
            (0..n).all(|i| (0..i).all(|j| entries[i][j] == entries[j][i])),
            (0..n).all(|i| entries[i][i] == 0.0),
            entries.iter().flatten().all(|&x| x == 0.0 || x == 1.0),
        ];
        Some(looks.into_iter().filter(|&look| look).count() > 1)
    };
    let why = match (is_labelled(), is_plain()) {
        (Some(true), _) => "the first line repeats the first column",
        (_, Some(true)) => "it has as many lines as columns, all of numbers",
        _ => return None,
    };
    let remedy = message![
        "write one edge per line, or the matrix as Matrix Market; if the lines are edges, ",
        set("source", 0),
        " and ",
        set("target", 1),
        " read them"
    ];
    Some((
        format!("this looks like an adjacency matrix: {why}"),
        remedy,
    ))
}

/// Uses up a line such as `sep=;`, which tells spreadsheets what separates columns; what it tells.
fn skip_separator(source: &mut Source) -> Result<Option<Delimiter>> {
    let end = first_end(source.ahead());
    let byte = match without_end(&source.ahead()[..end]).split_at_checked(4) {
        Some((word, [byte])) if word.eq_ignore_ascii_case(b"sep=") => *byte,
        _ => return Ok(None),
    };
    if byte != b'\t' && (byte == b'"' || !byte.is_ascii_punctuation()) {
        return Ok(None);
    }
    source.skip(end);
    source.fill(SAMPLE_BYTES)?;
    Ok(Some(Delimiter::Byte(byte)))
}

/// Refuses a first line with other columns than all others have. A header may leave out the name of the first column, an
/// index, as R writes it.
fn fit_first(
    rows: &mut [Vec<String>],
    header: Option<bool>,
    head: &[u8],
    delimiter: Delimiter,
) -> Result<(), Fault> {
    let Some((first, rest)) = rows.split_first_mut() else {
        return Ok(());
    };
    let usual = rest.first().map_or(0, Vec::len);
    let is_even = usual > 1 && rest.iter().all(|row| row.len() == usual);
    if is_even && header == Some(true) && first.len() + 1 == usual {
        first.insert(0, String::new());
    } else if is_even && rest.len() > 1 && first.len() != usual {
        let fix = format!(
            "columns are separated by {}; fix the line, or remove it",
            delimiter.name()
        );
        let remedy = match head.trim_ascii_start().first() {
            Some(mark) if mark.is_ascii_punctuation() && *mark != b'"' => {
                let mark = char::from(*mark);
                let skip = set("comment", mark);
                message!["if it is a comment, ", skip, " skips it; else fix the line"]
            }
            _ if first.len() + 1 == usual => {
                let header = set("header", true);
                let if_so = "; if it names all columns but the first, ";
                message![fix, if_so, header, " reads it so"]
            }
            _ => fix.into(),
        };
        let message = format!("this line does not have the {usual} columns of all lines below");
        return Err(Fault::new(head, message, remedy));
    } else if first.len() < 2 && head.contains(&b'\r') {
        let message = "carriage returns without line feeds";
        return Err(Fault::new(head, message, "end lines with LF or CRLF"));
    } else if first.len() < 2 {
        let remedy = message![
            "an edge needs two ids; if something unusual separates them, name it with ",
            setting("delimiter")
        ];
        return Err(Fault::new(head, "only one column", remedy));
    }
    Ok(())
}
