//! From columns of a file to attributes: rows are matched to nodes, categories become 0/1 columns, texts one column per word.
//! Or, [`shown`], to values as they are in the file, one per node.
//!
//! The most frequent categories get their own column (ties in alphabetical order), sorted alphabetically; all others
//! share one. Frequencies are those among the graph's nodes, so neither the order of the rows nor rows of other nodes
//! change the result.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

use super::columns::{NO_CATEGORY, Reading, Refusal, Values, listed};
use super::{Attribute, Attributes, Facts, Kind, Loaded, Missing, Raw, Request, Rows, Table, open};
use crate::error::{Error, Result};
use crate::graph::{Names, NodeIds};
use crate::memory::Allowance;
use crate::message::{message, set, setting};
use crate::progress::{Progress, Silent};
use crate::sparse::{Csr, Pattern};

/// No row of the file.
const NO_ROW: u32 = u32::MAX;
const NO_VALUE: &str = "no column has a value for a node of the graph";

/// Numbers are words if they are so many columns at least, and if one value in this many is not zero.
const WORDS: usize = 32;
const FILLED: usize = 4;

/// The attributes and their statistics.
pub(super) fn encode(raw: Raw, format: &str, request: &Request) -> Result<Loaded> {
    let rows = row_of_node(&raw.rows, request)?;
    let missing = request.options.missing;
    if missing == Missing::Refuse {
        refuse_missing(&raw, &rows, request)?;
    }
    let absent = rows.iter().filter(|&&row| row == NO_ROW).count();
    let mut facts = Facts {
        file: request.path.display().to_string(),
        format: format.to_owned(),
        content: Vec::new(),
        by_id: raw.rows.nodes.is_some(),
        rows: raw.rows.total,
        columns: raw.columns.len(),
        features: 0,
        absent_nodes: absent as u64,
        unknown_ids: raw.rows.unknown,
        missing_values: 0,
        notes: Vec::new(),
    };
    let are_words = are_words(&raw.columns, &rows);
    let (mut columns, mut empty) = (Columns::default(), Vec::new());
    for (name, values) in raw.names.into_iter().zip(raw.columns) {
        request.progress.check()?;
        let present = present(&values, &rows);
        facts.missing_values += (rows.len() - absent - present) as u64;
        if present == 0 {
            empty.push(name);
            continue;
        }
        match values {
            Values::Categories(codes, known) => {
                let most = request.options.categories;
                let note = columns.add_categories(&name, (&codes, &known), &rows, most);
                facts.notes.extend(note);
            }
            Values::Texts(codes, ends, known) => {
                columns.add_words(&name, (&codes, &ends, &known), &rows);
            }
            values => columns.add_numbers(name, values, &rows, are_words, missing),
        }
    }
    if columns.attributes.is_empty() {
        return Err(request.fail(NO_VALUE, "give at least one attribute"));
    }
    facts.features = columns.attributes.len();
    // The matrix and its transpose.
    request.check_size(0, 16 * columns.nodes.len() as u64)?;
    let rule = match missing {
        Missing::Mean => "numbers become the column's mean, categories and words zeros",
        Missing::Zero | Missing::Refuse => "they become zeros",
    };
    let absent = absent_note(facts.absent_nodes, request).map(|note| format!("{note}: {rule}"));
    let unknown = unknown_note(&raw.rows, request);
    let count = facts.missing_values;
    let missing = (count > 0).then(|| {
        let are = if count == 1 { " is" } else { "s are" };
        format!("{count} value{are} missing in {}: {rule}", facts.file)
    });
    let empty = match &empty[..] {
        [] => None,
        [name] => Some(format!("column `{name}` has no value and is left out")),
        some => Some(format!(
            "{} columns have no value and are left out: {}",
            some.len(),
            listed(some)
        )),
    };
    let notes = [absent, unknown, missing, empty].into_iter().flatten();
    let notes = notes.map(|note| format!("attributes: {note}"));
    facts.notes.splice(0..0, notes);
    Ok(Loaded {
        attributes: columns.finish(rows.len()),
        facts,
    })
}

/// Nodes that have a value.
fn present(values: &Values, rows: &[u32]) -> usize {
    let with_row = rows.iter().filter(|&&row| row != NO_ROW);
    match values {
        Values::Sparse(_) => with_row.count(),
        values => with_row.filter(|&&row| values.has(row)).count(),
    }
}

/// Whether numbers are so many and so often zero that they count words.
fn are_words(columns: &[Values], rows: &[u32]) -> bool {
    let (mut numeric, mut all, mut filled) = (0, 0, 0);
    for values in columns {
        match values {
            Values::Numbers(values) => {
                let at = rows.iter().filter_map(|&row| values.get(row as usize));
                let present = at.filter(|value| !value.is_nan());
                let count = present.fold([0, 0], |[all, filled], &value| {
                    [all + 1, filled + usize::from(value != 0.0)]
                });
                (all, filled) = (all + count[0], filled + count[1]);
            }
            Values::Sparse(entries) => (all, filled) = (all + rows.len(), filled + entries.len()),
            _ => continue,
        }
        numeric += 1;
    }
    numeric >= WORDS && filled <= all / FILLED
}

/// Columns of a sparse matrix, one after the other.
struct Columns {
    attributes: Vec<Attribute>,
    ends: Vec<usize>,
    nodes: Vec<u32>,
    values: Vec<f32>,
}

impl Default for Columns {
    fn default() -> Self {
        Columns {
            attributes: Vec::new(),
            ends: vec![0],
            nodes: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl Columns {
    /// Adds a column with values at some nodes, which ascend.
    fn add(
        &mut self,
        (name, kind): (String, Kind),
        absent: f32,
        values: impl Iterator<Item = (u32, f32)>,
    ) {
        for (node, value) in values {
            self.nodes.push(node);
            self.values.push(value);
        }
        self.ends.push(self.nodes.len());
        self.attributes.push(Attribute { name, kind, absent });
    }

    /// The matrix for so many nodes.
    fn finish(self, nodes: usize) -> Attributes {
        let pattern = Pattern::new(self.ends, self.nodes, nodes);
        let columns = Csr::new(Arc::new(pattern), self.values.into());
        Attributes {
            columns: self.attributes,
            values: columns.transposed(),
        }
    }

    /// Adds numbers, which count words where they are sparse.
    fn add_numbers(
        &mut self,
        name: String,
        values: Values,
        rows: &[u32],
        are_words: bool,
        missing: Missing,
    ) {
        let values: Vec<(u32, f32)> = match values {
            // Rows of sparse formats are nodes; entries of one place add up.
            Values::Sparse(mut entries) => {
                entries.sort_by_key(|entry| entry.0);
                entries.dedup_by(|next, sum| {
                    let same = next.0 == sum.0;
                    if same {
                        sum.1 += next.1;
                    }
                    same
                });
                if !(are_words && entries.len() < rows.len()) {
                    let mut all = vec![0.0; rows.len()];
                    entries
                        .iter()
                        .for_each(|&(node, value)| all[node as usize] = value);
                    entries = (0..).zip(all).collect();
                }
                entries
            }
            Values::Numbers(values) => {
                let of = |&row: &u32| values.get(row as usize).copied().unwrap_or(f32::NAN);
                (0..).zip(rows.iter().map(of)).collect()
            }
            _ => Vec::new(),
        };
        let present = values.iter().filter(|(_, value)| !value.is_nan());
        let is_word =
            are_words && (values.len() < rows.len() || present.clone().any(|v| v.1 == 0.0));
        if is_word {
            let filled = present.copied().filter(|&(_, value)| value != 0.0);
            return self.add((name, Kind::Word), 0.0, filled);
        }
        if missing == Missing::Mean {
            // Summed in node order.
            let sum: f64 = present.clone().map(|&(_, value)| f64::from(value)).sum();
            let mean = sum / present.clone().count().max(1) as f64;
            return self.add((name, Kind::Number), mean as f32, present.copied());
        }
        let or_zero =
            |&(node, value): &(u32, f32)| (node, if value.is_nan() { 0.0 } else { value });
        self.add((name, Kind::Number), 0.0, values.iter().map(or_zero));
    }

    /// Adds the columns of a categorical one: one for each of the most frequent categories, and one for the others.
    fn add_categories(
        &mut self,
        name: &str,
        (codes, known): (&[u32], &Names),
        rows: &[u32],
        most: usize,
    ) -> Option<String> {
        let mut nodes = vec![Vec::new(); known.len()];
        for (node, &row) in (0..).zip(rows).filter(|(_, row)| **row != NO_ROW) {
            let code = codes[row as usize];
            if code != NO_CATEGORY {
                nodes[code as usize].push(node);
            }
        }
        let mut kept: Vec<u32> = (0..known.len() as u32).collect();
        kept.retain(|&code| !nodes[code as usize].is_empty());
        kept.sort_by_key(|&code| (Reverse(nodes[code as usize].len()), known.get(code)));
        let categories = kept.len();
        let others = kept.split_off(most.min(categories));
        kept.sort_by_key(|&code| known.get(code));
        let ones = |nodes: Vec<u32>| nodes.into_iter().map(|node| (node, 1.0));
        for code in kept {
            let of = (format!("{name}={}", known.get(code)), Kind::Category);
            self.add(of, 0.0, ones(std::mem::take(&mut nodes[code as usize])));
        }
        if others.is_empty() {
            return None;
        }
        let of_others = others
            .into_iter()
            .map(|code| std::mem::take(&mut nodes[code as usize]));
        let mut shared: Vec<u32> = of_others.flatten().collect();
        shared.sort_unstable();
        self.add(
            (format!("{name}=(other)"), Kind::Category),
            0.0,
            ones(shared),
        );
        Some(format!(
            "attributes: column `{name}` has {categories} categories: the {most} most frequent have a column each, the \
             others share `{name}=(other)` (attributes.table.categories); texts are named in attributes.table.text"
        ))
    }

    /// Adds a column for each word, in alphabetical order, with its number in each text.
    fn add_words(
        &mut self,
        name: &str,
        (codes, ends, known): (&[u32], &[usize], &Names),
        rows: &[u32],
    ) {
        let mut counts: Vec<Vec<(u32, f32)>> = vec![Vec::new(); known.len()];
        for (node, &row) in (0..).zip(rows).filter(|(_, row)| **row != NO_ROW) {
            let row = row as usize;
            let start = row.checked_sub(1).map_or(0, |before| ends[before]);
            for &code in &codes[start..ends[row]] {
                match counts[code as usize]
                    .last_mut()
                    .filter(|last| last.0 == node)
                {
                    Some(last) => last.1 += 1.0,
                    None => counts[code as usize].push((node, 1.0)),
                }
            }
        }
        let mut words: Vec<u32> = (0..known.len() as u32).collect();
        words.retain(|&code| !counts[code as usize].is_empty());
        words.sort_unstable_by_key(|&code| known.get(code));
        for &code in &words {
            let of = (format!("{name}:{}", known.get(code)), Kind::Word);
            self.add(of, 0.0, counts[code as usize].iter().copied());
        }
    }
}

/// The row of each node; a node must not have two.
fn row_of_node(rows: &Rows, request: &Request) -> Result<Vec<u32>> {
    let Some(nodes) = &rows.nodes else {
        return Ok((0..request.ids.len() as u32).collect());
    };
    if nodes.is_empty() {
        let node = request.ids.iter().next();
        let node = node.map(|id| id.to_string()).unwrap_or_default();
        let theirs = rows.example.as_deref().unwrap_or_default();
        let remedy = message![
            format!(
                "the file has ids like `{theirs}`, the graph has ids like `{node}`; name the id column with "
            ),
            setting("attributes.table.id")
        ];
        return Err(request.fail("none of its ids is a node of the graph", remedy));
    }
    let mut row_of = vec![NO_ROW; request.ids.len()];
    for (row, &node) in nodes.iter().enumerate() {
        let earlier = std::mem::replace(&mut row_of[node as usize], row as u32);
        if earlier != NO_ROW {
            let id = request.ids.get(node).to_string();
            let place = place_of(rows, earlier as usize);
            let message = format!("this node has a row already, {place}");
            let remedy = "keep one row per node";
            let Some(lines) = &rows.lines else {
                let message = format!("row {row} (from 0), node `{id}`: {message}");
                return Err(request.fail(message, remedy));
            };
            let (path, line) = (request.path, lines[row]);
            return Err(Error::input_at(path, line, id.as_bytes(), message, remedy));
        }
    }
    Ok(row_of)
}

/// `on line 5`, or `in row 5` (from 0) where there are no lines.
fn place_of(rows: &Rows, row: usize) -> String {
    match &rows.lines {
        Some(lines) => format!("on line {}", lines[row]),
        None => format!("in row {row}"),
    }
}

/// Fails at the first node or value that is missing.
fn refuse_missing(raw: &Raw, rows: &[u32], request: &Request) -> Result<()> {
    let [mean, zero] = ["mean", "zero"].map(|value| set("attributes.table.missing", value));
    let remedy = message!["add it, or choose ", mean, " or ", zero];
    if let Some(node) = rows.iter().position(|&row| row == NO_ROW) {
        let id = request.ids.get(node as u32);
        let message = format!("node `{id}` of the graph is not in the file");
        return Err(request.fail(message, remedy));
    }
    let count = raw.rows.nodes.as_ref().map_or(rows.len(), Vec::len);
    for (name, values) in raw.names.iter().zip(&raw.columns) {
        let mut rows = (0..count).filter(|_| !matches!(values, Values::Sparse(_)));
        if let Some(row) = rows.find(|&row| !values.has(row as u32)) {
            let place = place_of(&raw.rows, row);
            return Err(request.fail(format!("column `{name}` has no value {place}"), remedy));
        }
    }
    Ok(())
}

fn absent_note(count: u64, request: &Request) -> Option<String> {
    let (file, are) = (
        request.path.display(),
        if count == 1 { "is" } else { "are" },
    );
    let all = request.ids.len();
    (count > 0).then(|| format!("{count} of {all} nodes {are} not in {file}"))
}

fn unknown_note(rows: &Rows, request: &Request) -> Option<String> {
    let (count, all, file) = (rows.unknown, rows.total, request.path.display());
    let are = match count {
        1 => "is ignored: its id is",
        _ => "are ignored: their ids are",
    };
    let example = rows.example.as_ref()?;
    Some(format!(
        "{count} of {all} rows of {file} {are} not in the graph, such as `{example}`"
    ))
}

/// One column of a file, one value per node.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Numbers of a format that has nothing else; NaN if there is none.
    Numbers {
        /// Its name.
        name: String,
        /// The number of every node.
        values: Vec<f32>,
    },
    /// Words; numbers in a text are words too.
    Words {
        /// Its name.
        name: String,
        /// All words that occur, in order of appearance.
        words: Vec<String>,
        /// The index of every node's word, if it has one.
        of: Vec<Option<u32>>,
    },
}

/// Reads the columns of a file for the nodes called `ids`, and notes what it lacks; the process may hold `memory` bytes, or
/// what the machine has free. Nothing is encoded and nothing filled: a missing value stays missing, and a column that mixes
/// numbers and words is a column of words.
pub fn shown(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Shown>, Vec<String>)> {
    let options = Table::default();
    let (request, _, raw) = open(file, &options, ids, memory, true, progress)?;
    let rows = row_of_node(&raw.rows, &request)?;
    let columns = raw.names.into_iter().zip(raw.columns);
    let found: Vec<Shown> = columns
        .filter_map(|(name, values)| column(name, values, &rows))
        .collect();
    if found.is_empty() {
        return Err(request.fail(NO_VALUE, "give at least one column"));
    }
    let count = rows.iter().filter(|&&row| row == NO_ROW).count() as u64;
    let notes = [
        absent_note(count, &request),
        unknown_note(&raw.rows, &request),
    ];
    Ok((found, notes.into_iter().flatten().collect()))
}

/// The values of one column at their nodes; nothing if there is none.
fn column(name: String, values: Values, rows: &[u32]) -> Option<Shown> {
    let values = match values {
        Values::Nothing(_) | Values::Texts(..) => return None,
        Values::Sparse(entries) => {
            let mut values = vec![0.0; rows.len()];
            entries
                .iter()
                .for_each(|&(row, value)| values[row as usize] += value);
            values
        }
        Values::Numbers(values) => {
            let of = |&row: &u32| values.get(row as usize).copied().unwrap_or(f32::NAN);
            rows.iter().map(of).collect()
        }
        Values::Categories(codes, known) => {
            let code = |&row: &u32| {
                codes
                    .get(row as usize)
                    .copied()
                    .filter(|&c| c != NO_CATEGORY)
            };
            let words = (0..known.len() as u32).map(|code| known.get(code).to_owned());
            return Some(Shown::Words {
                name,
                words: words.collect(),
                of: rows.iter().map(code).collect(),
            });
        }
    };
    Some(Shown::Numbers { name, values })
}

/// A column that is given, not read: a value for each node.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f32>),
    /// Words, texts, or numbers as they are written.
    Texts(Vec<Option<String>>),
    /// Nodes and numbers; zero elsewhere.
    Sparse(Vec<(u32, f32)>),
}

/// Attributes of the nodes called `ids` from columns that are given with their names, as from a table.
///
/// # Errors
/// When a column does not have a value for each node, or has an infinite one.
pub fn given(columns: Vec<(String, Given)>, options: &Table, ids: &NodeIds) -> Result<Loaded> {
    options.check("attributes.table")?;
    let request = Request {
        path: Path::new("attributes"),
        options,
        ids,
        allowance: Allowance::new(None),
        words: false,
        progress: &Silent,
    };
    let (names, mut columns): (Vec<String>, Vec<Given>) = columns.into_iter().unzip();
    let used = request.used(&names, None)?;
    let read = |&j: &usize| {
        let given = std::mem::replace(&mut columns[j], Given::Sparse(Vec::new()));
        let values = values_of(given, request.reading(&names[j]), ids.len());
        values.map_err(|(row, refusal)| match refusal {
            None => {
                let message = format!(
                    "column `{}` has {row} values for {} nodes",
                    names[j],
                    ids.len()
                );
                request.fail(message, "give one for each node")
            }
            Some(refusal) => {
                let (message, remedy) = refusal.explain(&names[j]);
                request.fail(format!("row {row} (from 0): {message}"), remedy)
            }
        })
    };
    let columns = used.iter().map(read).collect::<Result<Vec<Values>>>()?;
    let raw = Raw {
        names: used.iter().map(|&j| names[j].clone()).collect(),
        columns,
        rows: Rows {
            total: ids.len() as u64,
            ..Rows::default()
        },
    };
    encode(raw, "given", &request)
}

/// The values of a column for so many nodes; else how many there are, or the row that is refused.
fn values_of(
    given: Given,
    reading: Reading,
    nodes: usize,
) -> std::result::Result<Values, (usize, Option<Refusal>)> {
    let mut values = Values::Nothing(0);
    let count = match given {
        Given::Sparse(entries) => {
            if let Some(entry) = entries.iter().find(|entry| !entry.1.is_finite()) {
                return Err((entry.0 as usize, Some(Refusal::Infinite)));
            }
            let count = entries
                .iter()
                .map(|entry| entry.0 as usize + 1)
                .max()
                .unwrap_or(0);
            values = Values::Sparse(entries);
            count.max(nodes)
        }
        Given::Numbers(numbers) => {
            for (row, &number) in numbers.iter().enumerate() {
                let pushed = match reading {
                    Reading::Detected => values.push_number(f64::from(number)),
                    _ => values.push_text(&number.to_string(), reading),
                };
                pushed.map_err(|refusal| (row, Some(refusal)))?;
            }
            numbers.len()
        }
        Given::Texts(texts) => {
            for (row, text) in texts.iter().enumerate() {
                let pushed = values.push_text(text.as_deref().unwrap_or_default(), reading);
                pushed.map_err(|refusal| (row, Some(refusal)))?;
            }
            texts.len()
        }
    };
    match count == nodes {
        true => Ok(values),
        false => Err((count, None)),
    }
}
