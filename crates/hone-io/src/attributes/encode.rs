//! From columns of a file to columns of X: rows are matched to nodes, categories become 0/1
//! columns, missing values are imputed. Or, [`shown`], to values as they are in the file, one per node.
//!
//! The most frequent categories get their own column (ties in alphabetical order), sorted alphabetically; all others
//! share one. Frequencies are those among the graph's nodes, so neither the order of the rows nor rows of other nodes
//! change the result.

use std::cmp::Reverse;
use std::path::Path;

use super::columns::{NO_CATEGORY, Values};
use super::{Facts, Loaded, Missing, Raw, Request, Rows, Table, open};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::{Names, NodeIds};
use crate::message::{message, set, setting};
use crate::progress::Progress;

/// No row of the file.
const NO_ROW: u32 = u32::MAX;
const NO_VALUE: &str = "no column has a value for a node of the graph";

/// X and its statistics.
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
    let (mut names, mut targets) = (Vec::new(), Vec::new());
    for (name, values) in raw.names.into_iter().zip(raw.columns) {
        let present = |row: &&u32| **row != NO_ROW && values.has(**row);
        let present = rows.iter().filter(present).count();
        facts.missing_values += (rows.len() - absent - present) as u64;
        if present == 0 {
            let note = format!("attributes: column `{name}` has no value and is left out");
            facts.notes.push(note);
            continue;
        }
        // Where its values go: one column of X, or one for each category.
        let at = if let Values::Categories(codes, known) = &values {
            let most = request.options.categories;
            one_hot(&name, (codes, known), &rows, most, &mut names, &mut facts)
        } else {
            names.push(name);
            vec![names.len() - 1]
        };
        targets.push((values, at));
    }
    if names.is_empty() {
        return Err(request.fail(NO_VALUE, "give at least one attribute"));
    }
    facts.features = names.len();
    request.check_size(names.len() as u64)?;
    let mut block = place(&targets, &rows, names.len());
    fill(&mut block, missing);
    let rule = match missing {
        Missing::Mean => "numbers become the column's mean, categories zeros",
        Missing::Zero | Missing::Refuse => "they become zeros",
    };
    let absent = absent_note(facts.absent_nodes, request).map(|note| format!("{note}: {rule}"));
    let unknown = unknown_note(&raw.rows, request);
    let count = facts.missing_values;
    let missing = (count > 0).then(|| {
        let are = if count == 1 { " is" } else { "s are" };
        format!("{count} value{are} missing in {}: {rule}", facts.file)
    });
    let notes = [absent, unknown, missing].into_iter().flatten();
    let notes = notes.map(|note| format!("attributes: {note}"));
    facts.notes.splice(0..0, notes);
    Ok(Loaded {
        names,
        block,
        facts,
    })
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
        if let Some(row) = (0..count).find(|&row| !values.has(row as u32)) {
            let place = place_of(&raw.rows, row);
            return Err(request.fail(format!("column `{name}` has no value {place}"), remedy));
        }
    }
    Ok(())
}

/// Adds the columns of one categorical column to `names`; returns where each category goes.
fn one_hot(
    name: &str,
    (codes, known): (&[u32], &Names),
    rows: &[u32],
    most: usize,
    names: &mut Vec<String>,
    facts: &mut Facts,
) -> Vec<usize> {
    let mut counts = vec![0u64; known.len()];
    for &row in rows.iter().filter(|&&row| row != NO_ROW) {
        let code = codes[row as usize];
        if code != NO_CATEGORY {
            counts[code as usize] += 1;
        }
    }
    let mut kept: Vec<u32> = (0..known.len() as u32).collect();
    kept.retain(|&code| counts[code as usize] > 0);
    let categories = kept.len();
    kept.sort_by_key(|&code| (Reverse(counts[code as usize]), known.get(code)));
    kept.truncate(most);
    kept.sort_by_key(|&code| known.get(code));
    let others = names.len() + kept.len();
    let mut slots = vec![others; known.len()];
    for &code in &kept {
        slots[code as usize] = names.len();
        names.push(format!("{name}={}", known.get(code)));
    }
    if categories > kept.len() {
        names.push(format!("{name}=(other)"));
        facts.notes.push(format!(
            "attributes: column `{name}` has {categories} categories: the {} most frequent have a column each, the \
             others share `{name}=(other)` (attributes.table.categories)",
            kept.len()
        ));
    }
    slots
}

/// Values at their nodes; NaN where a number is missing.
fn place(targets: &[(Values, Vec<usize>)], rows: &[u32], width: usize) -> Block {
    let mut block = Block::zeros(rows.len(), width);
    block.update_rows(|node, to| {
        let row = rows[node] as usize;
        for (values, at) in targets {
            match values {
                Values::Numbers(values) => to[at[0]] = values.get(row).copied().unwrap_or(f32::NAN),
                Values::Categories(codes, _) => {
                    let code = codes.get(row).copied().unwrap_or(NO_CATEGORY);
                    if let Some(&at) = at.get(code as usize) {
                        to[at] = 1.0;
                    }
                }
                Values::Nothing(_) => {}
            }
        }
    });
    block
}

/// Fills NaN by the rule; means are summed in node order.
fn fill(block: &mut Block, missing: Missing) {
    let width = block.cols();
    let (mut sums, mut counts) = (vec![0f64; width], vec![0u64; width]);
    for row in 0..block.rows() {
        for (j, &value) in block.row(row).iter().enumerate() {
            if !value.is_nan() {
                sums[j] += f64::from(value);
                counts[j] += 1;
            }
        }
    }
    let filling = |j: usize| match missing {
        Missing::Mean => (sums[j] / counts[j].max(1) as f64) as f32,
        _ => 0.0,
    };
    let filling: Vec<f32> = (0..width).map(filling).collect();
    block.update_rows(|_, row| {
        for (value, &filling) in row.iter_mut().zip(&filling) {
            if value.is_nan() {
                *value = filling;
            }
        }
    });
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
        Values::Nothing(_) => return None,
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
