//! The rules by which a table of edges is read: whether its first line names the columns, which column is what, and what its
//! owner should know about that. `docs/formats.md` has them as a table; options override each.
//!
//! They look at the first 64 KiB alone; every later line must agree.

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::Fault;
use super::lines::{
    self, Delimiter, check_width, is_idle, is_tight, row, sample, skip_idle, without_end,
};
use super::options::{Column, ReadNote, ReadOptions, TableColumns, file_name, list, shown};
use super::source::Source;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::message::{Message, message, set, setting};

/// Bytes looked at.
const SAMPLE_BYTES: usize = 1 << 16;
/// Comments before the first line that are remembered because they could be edges, and their longest.
const COMMENTS: usize = 1000;
const LONGEST_COMMENT: usize = 1 << 12;
/// Lines below the first from which a lack of recurrence is worth a note.
const LINES_DOUBT: usize = 2;
/// Whole numbers that are dates (20240131), or Unix times since 1995 in seconds or in thousandths, millionths or billionths of
/// them, if all numbers of a column are.
const TIMES: [(f64, f64); 5] = [
    (19_000_101.0, 21_001_231.0),
    (8e8, 1e10),
    (8e11, 1e13),
    (8e14, 1e16),
    (8e17, 1e19),
];

/// Names of the two id columns, as [`plain`] has them.
const PAIRS: &str = "\
source:target source:destination source:dest src:dst src:dest src:tgt from:to node1:node2 nodea:nodeb id1:id2 ida:idb \
vertex1:vertex2 u:v i:j s:t x:y start:end head:tail left:right origin:destination parent:child follower:followee \
follower:followed citing:cited sender:receiver caller:callee user:friend";
/// Such names where the columns have nodes of two kinds, each numbered by itself.
const PAIRS_OF_KINDS: &str = "\
user:item user:movie user:product user:business user:artist user:book customer:product author:paper";
/// Names of the weights, the most usual first.
const WEIGHTS: &str = "weight weights w value edgeweight wt strength count score rating similarity";
/// What programs call the index of a table that they write with it, if they call it anything; and what is an index if no value
/// occurs twice.
const INDICES: [&str; 3] = ["", "unnamed0", "indexlevel0"];
const PERHAPS_INDICES: [&str; 4] = ["id", "index", "row", "rownames"];

/// A name of a column without what spellings differ in: `From_Node_ID` is `from`, `edgeWeight` is `edgeweight`.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let whole: String = letters.flat_map(char::to_lowercase).collect();
    let without = |suffix: &str, text: &str| match text.strip_suffix(suffix) {
        Some(stem) if !stem.is_empty() => stem.to_owned(),
        _ => text.to_owned(),
    };
    without("node", &without("id", &whole))
}

/// Whether two columns of a table, by their names, have nodes of two kinds.
///
/// ```
/// use hone_io::graph::are_two_kinds;
/// assert!(are_two_kinds("userId", "movieId") && are_two_kinds("paper", "author"));
/// assert!(!are_two_kinds("source", "target") && !are_two_kinds("user", "friend"));
/// ```
pub fn are_two_kinds(a: &str, b: &str) -> bool {
    let (a, b) = (plain(a), plain(b));
    let (a, b) = (a.as_str(), b.as_str());
    pairs(PAIRS_OF_KINDS).any(|pair| pair == (a, b) || pair == (b, a))
}

fn pairs(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.split_ascii_whitespace()
        .filter_map(|pair| pair.split_once(':'))
}

/// The position of a column, whatever its case.
pub fn find(names: &[String], name: &str) -> Option<usize> {
    names
        .iter()
        .position(|field| field.eq_ignore_ascii_case(name))
}

/// The positions of a pair of id columns that are called so.
fn known_pair(names: &[String]) -> Option<(usize, usize)> {
    let names: Vec<String> = names.iter().map(|name| plain(name)).collect();
    let at = |name: &str| names.iter().position(|own| own == name);
    let mut all = pairs(PAIRS).chain(pairs(PAIRS_OF_KINDS));
    all.find_map(|(u, v)| at(u).zip(at(v)))
}

/// What is wrong with a table, and the remedy.
pub(super) type Refusal = (String, Message);

/// What the two id columns of a table have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Nodes of one kind.
    One,
    /// Nodes of one kind, though the table looks like one of two; with the names of the columns.
    Suspect([String; 2]),
    /// Nodes of two kinds; their ids get these words and a colon in front.
    Two([String; 2]),
}

impl Kinds {
    /// A note if integers of two kinds of nodes have become the same nodes.
    pub(super) fn note(&self, file: &str, ids: &NodeIds, pairs: &[(u32, u32)]) -> Option<ReadNote> {
        let Kinds::Suspect([a, b]) = self else {
            return None;
        };
        if matches!(ids, NodeIds::Text { .. }) {
            return None;
        }
        let (mut left, mut right) = (vec![false; ids.len()], vec![false; ids.len()]);
        for &(u, v) in pairs {
            left[u as usize] = true;
            right[v as usize] = true;
        }
        let both = left.iter().zip(&right).filter(|(u, v)| **u && **v).count();
        let integers = match both {
            0 => return None,
            1 => "1 id occurs".to_owned(),
            _ => format!("{both} ids occur"),
        };
        let text = format!(
            "{integers} in both columns of {file}, `{a}` and `{b}`, which seem to name nodes of two kinds; the same id is \
             read as the same node"
        );
        let option = [("bipartite", "true")];
        Some(ReadNote::new("merged", text).with(&option, "keeps the two kinds apart"))
    }
}

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
    pub(super) kinds: Kinds,
    /// What comment lines begin with.
    pub(super) comments: Vec<u8>,
    /// Whether that is the default, so that comments which could be edges are worth a note.
    pub(super) guessed: bool,
    /// The line that names the columns, if it does: lines that repeat it are no edges.
    pub(super) header: Option<Vec<u8>>,
}

impl Layout {
    /// Two ids between blanks, and perhaps a value, as a format has them.
    pub(super) fn fixed(has_value: bool, weighted: bool) -> Self {
        Layout {
            delimiter: Delimiter::Blanks,
            columns: if has_value { 3 } else { 2 },
            source: 0,
            target: 1,
            weight: (has_value && weighted).then_some(2),
            ignored_weight: (has_value && !weighted).then_some(2),
            kinds: Kinds::One,
            comments: b"%".to_vec(),
            guessed: false,
            header: None,
        }
    }

    /// Whether a line is two ids and at most one more field, which is the weight if that is kept.
    pub(super) fn is_plain(&self) -> bool {
        let two_ids = (self.source, self.target) == (0, 1) && !matches!(self.kinds, Kinds::Two(_));
        two_ids && matches!((self.columns, self.weight), (2, None) | (3, None | Some(2)))
    }

    /// Whether a line that begins like a comment could be an edge: `#rust,t2` could, `# rust,t2` and `#source,target` could
    /// not.
    pub(super) fn could_be_edge(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii_start();
        self.guessed
            && is_tight(line, &self.comments)
            && row(line, self.delimiter).is_ok_and(|row| row.len() == self.columns)
            && row(&line[1..], self.delimiter).is_ok_and(|row| known_pair(&row).is_none())
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

    /// Notes about its columns: those that are not used, and weights and ids that may be none.
    pub(super) fn notes(&self, options: &ReadOptions, file: &str, table: &Table) -> Vec<ReadNote> {
        let mut notes = Vec::new();
        let used: Vec<usize> = [Some(self.source), Some(self.target), self.weight]
            .into_iter()
            .flatten()
            .collect();
        let is_unused = |c: usize| !used.contains(&c) && self.ignored_weight != Some(c);
        let says = |c: usize| {
            table.body.is_empty()
                || table
                    .fields(c)
                    .any(|field| !field.is_empty() && field != "{}")
        };
        let chosen = options.source.is_some() && options.target.is_some();
        if !chosen && (0..self.columns).any(|c| is_unused(c) && says(c)) {
            let name = |&c: &usize| Some(format!("`{}`", table.names.get(c)?));
            let names: Vec<String> = used.iter().filter_map(name).collect();
            let names = match names.is_empty() {
                true => String::new(),
                false => format!(" ({})", list(&names)),
            };
            let used: Vec<String> = used.iter().map(usize::to_string).collect();
            let text = format!(
                "columns {} of {} are used in {file}{names}",
                list(&used),
                self.columns
            );
            let others = [("source", ""), ("target", ""), ("weight", "")];
            let effect = "choose others (by name, or by position from 0)";
            notes.push(ReadNote::new("columns", text).with(&others, effect));
        }
        if let Some(column) = self.weight.filter(|_| options.weight.is_none())
            && let Some(name) = table.names.get(column).filter(|name| !is_weight(name))
        {
            let text = format!("column {column} of {file}, `{name}`, is read as the weights");
            let effect = "chooses another (by name, or by position from 0)";
            notes.push(ReadNote::new("weights", text).with(&[("weight", "")], effect));
        }
        let free = [
            (self.source, &options.source),
            (self.target, &options.target),
        ];
        let decimal = |c: usize| Some((c, table.decimal(c)?));
        let free = free.into_iter().filter(|(_, chosen)| chosen.is_none());
        if let Some((column, example)) = free.filter_map(|(c, _)| decimal(c)).next() {
            let text = format!(
                "column {column} of {file} has decimal numbers such as {example}, and is read as ids"
            );
            let others = ["source", "target", "weight", "delimiter"].map(|name| (name, ""));
            let effect = "choose others (by name, or by position from 0)";
            notes.push(ReadNote::new("decimal-ids", text).with(&others, effect));
        }
        notes
    }

    /// A note if blanks may separate the ids and the delimiter only what follows: `Ann Lee<TAB>3`.
    fn delimiter_note(&self, file: &str, table: &Table, line: &[u8]) -> Option<ReadNote> {
        let has_blank = |field: &str| field.contains(' ');
        let all = |c: usize, is: fn(&str) -> bool| table.fields(c).all(is);
        let mixed = !table.body.is_empty()
            && table.fields(self.source).all(has_blank)
            && all(self.target, is_number);
        (mixed && self.delimiter != Delimiter::Blanks).then(|| {
            let cut = self.delimiter.name();
            let text = format!(
                "{cut} separate the columns of {file}, as in `{}`",
                shown(line)
            );
            let blanks = [("delimiter", "space")];
            ReadNote::new("delimiter", text).with(&blanks, "would split its lines differently")
        })
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

    /// The first number with decimals of a column that has numbers alone.
    fn decimal(&self, column: usize) -> Option<&'a str> {
        let example = self
            .fields(column)
            .find(|field| field.contains(['.', ',']))?;
        self.fields(column).all(is_number).then_some(example)
    }

    /// Whether a column is the index of a table, not an id.
    fn is_index(&self, column: usize) -> bool {
        let Some(name) = self.names.get(column) else {
            return false;
        };
        let (name, mut seen) = (plain(name), FxHashSet::default());
        INDICES.contains(&&*name)
            || PERHAPS_INDICES.contains(&&*name)
                && self.fields(column).all(|field| seen.insert(field))
    }

    /// The columns of the ids: those requested, those called so, else the first two that are neither weights nor an index.
    fn ends(&self, asked: [Option<usize>; 3]) -> Option<(usize, usize)> {
        let [source, target, weight] = asked;
        let known = known_pair(self.names);
        let is_id = |c: &usize| {
            let is_named = self.names.get(*c).is_some_and(|name| is_weight(name));
            Some(*c) != weight && !is_named && !self.is_index(*c)
        };
        let mut candidates: Vec<usize> = (0..self.columns).filter(is_id).collect();
        if candidates.len() < 2 {
            candidates = (0..self.columns).filter(|&c| Some(c) != weight).collect();
        }
        let free = |taken: Option<usize>| candidates.iter().copied().find(|&c| Some(c) != taken);
        let source = source
            .or(known.map(|(u, _)| u).filter(|&u| Some(u) != target))
            .or_else(|| free(target));
        let target = target
            .or(known.map(|(_, v)| v).filter(|&v| Some(v) != source))
            .or_else(|| free(source));
        source.zip(target)
    }

    /// The position of a column that the user asks for.
    fn position(&self, column: &Option<Column>) -> Result<Option<usize>, Refusal> {
        match column {
            None => Ok(None),
            Some(Column::Position(position)) if *position < self.columns => Ok(Some(*position)),
            Some(Column::Position(position)) => Err((
                format!(
                    "there is no column {position}, only 0 to {}",
                    self.columns - 1
                ),
                "positions count from 0".into(),
            )),
            Some(Column::Name(name)) => {
                let exact = self.names.iter().position(|field| field == name);
                let missing = || {
                    let names = self.names.join(", ");
                    let message = format!("there is no column `{name}`; the columns are {names}");
                    (message, "name one of them".into())
                };
                exact
                    .or_else(|| find(self.names, name))
                    .map(Some)
                    .ok_or_else(missing)
            }
        }
    }

    /// Which column is what. The message and the remedy when the table does not have them.
    pub(super) fn layout(&self, options: &ReadOptions) -> Result<Layout, Refusal> {
        let asked = [&options.source, &options.target, &options.weight];
        let [chosen_source, chosen_target, weight] = match asked.map(|column| self.position(column))
        {
            [source, target, weight] => [source?, target?, weight?],
        };
        let chosen = chosen_source.or(chosen_target).is_some();
        if let [id, first, ..] = self.names
            && !chosen
            && id == "id"
            && (first == "z0" || first.starts_with("structure."))
        {
            let message =
                format!("the columns `{id}`, `{first}`, … are those of vectors, not of edges");
            let remedy = "give the graph that the vectors are of, or name the columns of the edges";
            return Err((message, remedy.into()));
        }
        let ends = self.ends([chosen_source, chosen_target, weight]);
        let (source, target) = ends.ok_or_else(|| {
            let message = "no column is left for an id".to_owned();
            (message, "an edge needs two id columns".into())
        })?;
        if source == target || Some(source) == weight || Some(target) == weight {
            let message = "the same column is given twice".into();
            return Err((
                message,
                "source, target and weight are three columns".into(),
            ));
        }
        let is_arrow = |field: &str| !field.is_empty() && field.chars().all(|c| "-<>=".contains(c));
        if chosen_target.is_none() && !self.body.is_empty() && self.fields(target).all(is_arrow) {
            let message = format!("column {target} has signs between ids, not ids");
            return Err((
                message,
                message![
                    "name the columns of the ids with ",
                    setting("source"),
                    " and ",
                    setting("target"),
                    ", by position from 0"
                ],
            ));
        }
        let kinds = self.kinds(options, (source, target));
        let layout = Layout {
            columns: self.columns,
            source,
            target,
            kinds,
            ..Layout::fixed(false, false)
        };
        self.with_weight(layout, weight, options)
    }

    fn kinds(&self, options: &ReadOptions, (source, target): (usize, usize)) -> Kinds {
        let named = self.names.get(source).zip(self.names.get(target));
        let named = named.filter(|(a, b)| a != b && !a.is_empty() && !b.is_empty());
        let owned = |(a, b): (&String, &String)| [a.clone(), b.clone()];
        match named {
            _ if options.bipartite == Some(true) => {
                Kinds::Two(named.map_or_else(|| ["source".into(), "target".into()], owned))
            }
            _ if options.bipartite == Some(false) => Kinds::One,
            Some((a, b)) if are_two_kinds(a, b) => Kinds::Suspect(owned((a, b))),
            // Two ids, a rating and a time.
            None if self.columns == 4 && (source, target) == (0, 1) && self.has_times(3) => {
                Kinds::Suspect(["column 1".into(), "column 2".into()])
            }
            _ => Kinds::One,
        }
    }

    /// Whether the numbers of a column are times, not weights.
    fn has_times(&self, column: usize) -> bool {
        let number = |field: &str| field.parse().unwrap_or(0.0);
        are_times(&self.fields(column).map(number))
    }

    /// Adds the weight column: the one requested, the one called so, the only one that is left, or the first that is left of
    /// those without names.
    fn with_weight(
        &self,
        mut layout: Layout,
        asked: Option<usize>,
        options: &ReadOptions,
    ) -> Result<Layout, Refusal> {
        let names: Vec<String> = self.names.iter().map(|name| plain(name)).collect();
        let is_free = |c: &usize| ![layout.source, layout.target].contains(c) && !self.is_index(*c);
        let called = |weight: &str| (0..names.len()).find(|c| is_free(c) && names[*c] == weight);
        let known = WEIGHTS.split(' ').find_map(called);
        let left: Vec<usize> = (0..self.columns).filter(is_free).collect();
        let next = left.first().copied();
        let next = next.filter(|_| names.is_empty() || left.len() == 1);
        let times = next.filter(|&c| known.is_none() && self.has_times(c));
        let next = next.filter(|_| times.is_none());
        if options.keeps_weights() {
            layout.weight = asked.or(known).or(next);
            if layout.weight.is_none() {
                return Err(self.no_weight(times));
            }
        } else {
            let has_number = |&c: &usize| self.fields(c).next().is_some_and(is_number);
            layout.ignored_weight = known.or(next.filter(has_number));
        }
        Ok(layout)
    }

    /// What is wrong with a table without weights; `times` is a column that could be taken for some.
    fn no_weight(&self, times: Option<usize>) -> Refusal {
        let remedy = name_weights();
        match times {
            Some(column) => {
                times_for_weights(&format!("column {} (position {column})", column + 1))
            }
            None if self.names.is_empty() => {
                let message = format!("there is no weight among the {} columns", self.columns);
                (message, remedy)
            }
            None => {
                let names = self.names.join(", ");
                let message = format!("none of the columns {names} has the name of a weight");
                (message, remedy)
            }
        }
    }
}

/// What helps where no column, or a wrong one, has weights.
pub(super) fn name_weights() -> Message {
    message![
        "name the column of the weights with ",
        setting("weight"),
        ", or read without weights"
    ]
}

/// Whether a name is one of weights.
pub(super) fn is_weight(name: &str) -> bool {
    WEIGHTS.split(' ').any(|weight| weight == plain(name))
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
/// and what its owner should know.
///
/// `names` are those of the columns, none if they have none, and `rows` the first of its rows.
pub fn table_columns(
    names: &[String],
    rows: &[Vec<String>],
    options: &ReadOptions,
) -> Result<(TableColumns, bool, Vec<ReadNote>), Error> {
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
    let notes = layout.notes(options, path, &table);
    Ok((layout.facts(None), layout.ignored_weight.is_some(), notes))
}

/// How often something was met, and what it looked like the first time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) example: Vec<u8>,
}

impl Tally {
    /// Counts a line.
    pub(super) fn add(&mut self, line: &[u8]) {
        if self.count == 0 {
            // More is never shown.
            self.example = line[..line.len().min(1 << 10)].to_vec();
        }
        self.count += 1;
    }

    /// Adds what a later part of the file has.
    pub(super) fn append(&mut self, later: &Tally) {
        if self.count == 0 {
            self.example.clone_from(&later.example);
        }
        self.count += later.count;
    }
}

/// The layout of an edge list, and what its owner should know.
pub(super) struct Detected {
    pub(super) layout: Layout,
    /// Whether the first line names the columns.
    pub(super) header: bool,
    pub(super) notes: Vec<ReadNote>,
    /// Comments before the first line that could be edges.
    pub(super) skipped: Tally,
    /// The first line, where it is read as an edge and nobody said so.
    pub(super) first: Option<Vec<String>>,
}

/// Decides the layout of an edge list; uses up the comments and the header at its beginning.
pub(super) fn detect(source: &mut Source, options: &ReadOptions) -> Result<Detected> {
    let asked = options.delimiter.as_deref();
    let asked = asked
        .map(|asked| Delimiter::named(asked, "delimiter"))
        .transpose()?;
    let marks = options.comments();
    let separates = |mark: &u8| asked.is_some_and(|asked| asked.begins_with(*mark));
    if options.comment.is_some() && marks.iter().any(separates) {
        let message = "the character that separates columns cannot begin comments";
        return Err(Error::config("comment", message));
    }
    let mut comments: Vec<Vec<u8>> = Vec::new();
    skip_idle(source, &marks, |line| {
        if comments.len() < COMMENTS && line.len() <= LONGEST_COMMENT && !is_idle(line, &[]) {
            comments.push(without_end(line).to_vec());
        }
    })?;
    source.fill(SAMPLE_BYTES)?;
    let asked = asked.or(skip_separator(source)?);
    let lines = sample(source, &marks);
    let Some(head) = lines.first() else {
        let remedy = match comments.is_empty() || options.comment.is_some() {
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
    let delimiter = asked.unwrap_or_else(|| lines::detect(&lines));
    let mut rows = rows(&lines, delimiter).map_err(refuse)?;
    let named = [&options.source, &options.target, &options.weight]
        .iter()
        .any(|column| matches!(column, Some(Column::Name(_))));
    if named && options.header == Some(false) {
        let message = "columns are named, so the file must have a header; give positions instead";
        return Err(Error::config("header", message));
    }
    let said = if named { Some(true) } else { options.header };
    fit_first(&mut rows, said, head, delimiter).map_err(refuse)?;
    let file = file_name(source.path());
    let (header, note) = match said {
        Some(header) => (header, None),
        None => first_line(&rows, options, &file, head),
    };
    let (names, body) = rows.split_at(usize::from(header));
    let names = names.first().map_or(&[][..], |names| names);
    // Where several files were put into one, the header comes again.
    let body: Vec<Vec<String>> = body.iter().filter(|row| *row != names).cloned().collect();
    let table = Table {
        names,
        body: &body,
        columns: rows[0].len(),
    };
    let mut layout = Layout {
        delimiter,
        ..table.layout(options).map_err(wrong)?
    };
    let line = lines.last().unwrap_or(head);
    let mut notes: Vec<ReadNote> = note.into_iter().collect();
    notes.extend(
        layout
            .delimiter_note(&file, &table, line)
            .filter(|_| asked.is_none()),
    );
    notes.extend(layout.notes(options, &file, &table));
    // Numbers may well come again as an edge.
    let is_text = |c: usize| {
        names
            .get(c)
            .is_some_and(|name| name.parse::<f64>().is_err())
    };
    layout.header = (is_text(layout.source) && is_text(layout.target)).then(|| head.clone());
    layout.guessed = options.comment.is_none();
    layout.comments = marks;
    let mut skipped = Tally::default();
    let edges = comments.iter().filter(|line| layout.could_be_edge(line));
    edges.for_each(|line| skipped.add(line));
    let first = (said.is_none() && !header).then(|| rows.swap_remove(0));
    if header {
        let end = memchr::memchr(b'\n', source.ahead()).map_or(source.ahead().len(), |at| at + 1);
        source.skip(end);
    }
    Ok(Detected {
        layout,
        header,
        notes,
        skipped,
        first,
    })
}

/// Uses up a line such as `sep=;`, which tells spreadsheets what separates columns; what it tells.
fn skip_separator(source: &mut Source) -> Result<Option<Delimiter>> {
    let end = memchr::memchr(b'\n', source.ahead()).map_or(source.ahead().len(), |at| at + 1);
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

/// The fields of the first lines, up to one that cannot be cut.
fn rows(lines: &[Vec<u8>], delimiter: Delimiter) -> Result<Vec<Vec<String>>, Fault> {
    let mut rows = vec![row(&lines[0], delimiter)?];
    // A later line is reported by the parser, with its own number.
    rows.extend(
        lines[1..]
            .iter()
            .map_while(|line| row(line, delimiter).ok()),
    );
    Ok(rows)
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

/// Whether the first line names the columns, and a note if that is not certain.
///
/// It does if it has a known pair of names, unless these look like ids below; if only its first field is empty, as above the
/// index of a table; or if it is text above a column of numbers, and neither id occurs again.
fn first_line(
    rows: &[Vec<String>],
    options: &ReadOptions,
    file: &str,
    head: &[u8],
) -> (bool, Option<ReadNote>) {
    let first = &rows[0];
    let others = |row: &&Vec<String>| row.len() == first.len() && *row != first;
    let body: Vec<&Vec<String>> = rows[1..].iter().filter(others).collect();
    let table = Table {
        names: first,
        body: &[],
        columns: first.len(),
    };
    let asked = [&options.source, &options.target, &options.weight];
    let asked = asked.map(|column| table.position(column).ok().flatten());
    let (u, v) = table.ends(asked).unwrap_or((0, 1));
    let mut ids: FxHashMap<&str, u32> = FxHashMap::default();
    for row in &body {
        *ids.entry(&row[u]).or_default() += 1;
        *ids.entry(&row[v]).or_default() += 1;
    }
    let names = [&*first[u], &*first[v]];
    if known_pair(first).is_some()
        && !ids
            .keys()
            .any(|id| names.iter().any(|name| are_alike(name, id)))
    {
        return (true, None);
    }
    let is_text = |field: &String| !field.is_empty() && !is_number(field);
    if first.len() > 2 && first[0].is_empty() && first[1..].iter().all(is_text) {
        return (true, None);
    }
    if body.is_empty() || names[0] == names[1] || names.iter().any(|name| ids.contains_key(name)) {
        return (false, None);
    }
    let text = format!("the first line of {file}, `{}`, is read as", shown(head));
    let has_numbers = |c: usize| {
        let fields = || body.iter().map(|row| &row[c]);
        fields().any(|field| is_number(field))
            && fields().all(|field| field.is_empty() || is_number(field))
    };
    if !first.iter().any(|field| is_number(field)) && (0..first.len()).any(has_numbers) {
        let note = ReadNote::new("header", format!("{text} a header"));
        return (
            true,
            Some(note.with(&[("header", "false")], "reads it as an edge")),
        );
    }
    // An edge of which neither id occurs again is rare where all others have one that does.
    let alone = |row: &&&Vec<String>| ids[&*row[u]] == 1 && ids[&*row[v]] == 1;
    let alike = names.iter().all(|name| is_number(name)) && ids.keys().any(|id| is_number(id));
    let doubtful = body.len() >= LINES_DOUBT && !alike && body.iter().find(alone).is_none();
    let note = || {
        let text = format!("{text} an edge, though neither id occurs again in the lines examined");
        ReadNote::new("no-header", text).with(&[("header", "true")], "reads it as a header")
    };
    (false, doubtful.then(note))
}

/// Whether a name may be an id like one of the file: both are letters, or end with numbers after the same word.
fn are_alike(name: &str, id: &str) -> bool {
    let stem = |text: &str| {
        text.trim_end_matches(|c: char| c.is_ascii_digit())
            .to_ascii_lowercase()
    };
    let numbered = stem(name).len() < name.len();
    let is_letter = |text: &str| text.chars().count() == 1 && text.chars().all(char::is_alphabetic);
    is_letter(name) && is_letter(id)
        || numbered && stem(name) == stem(id) && stem(id).len() < id.len()
}

/// A note about a first line that is read as an edge, though as many lines follow as its last number says.
pub(super) fn sizes_note(first: &[String], edges: usize, file: &str) -> Option<ReadNote> {
    let numbers: Option<Vec<u64>> = first.iter().map(|field| field.parse().ok()).collect();
    // Nodes and edges, or rows, columns and entries.
    let (nodes, lines) = match numbers?[..] {
        [nodes, lines] => (nodes, lines),
        [rows, columns, lines] if rows == columns => (rows, lines),
        _ => return None,
    };
    (edges > 2 && nodes > 1 && lines == edges as u64 - 1).then(|| {
        let text = format!(
            "the first line of {file}, `{}`, is read as an edge, though {lines} lines follow it, as if it had the \
             numbers of nodes and edges",
            first.join(" ")
        );
        ReadNote::new("sizes", text).with(&[("header", "true")], "leaves it out")
    })
}
