//! From columns of a file to columns of X: rows are matched to nodes, categories become 0/1
//! columns, missing values are imputed.
//!
//! The most frequent categories get their own column (ties in alphabetical order), sorted alphabetically; all others
//! share one. Frequencies are those among the graph's nodes, so neither the order of the rows nor rows of other nodes
//! change the result.

use super::columns::{NO_CATEGORY, Values};
use super::request::{Format, Raw, Request};
use super::table::{Facts, Loaded, Missing};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::Names;

/// No row of the file.
pub(super) const NO_ROW: u32 = u32::MAX;

/// Where the values of a column of the file go.
enum Target<'a> {
    /// Numbers to one column.
    Number(&'a [f32], usize),
    /// Each category to its column.
    Categories(&'a [u32], Vec<usize>),
    /// Few numbers to one column of zeros.
    Sparse(&'a [(u32, f32)], usize),
}

/// X and its statistics.
pub(super) fn encode(raw: &Raw, format: Format, request: &Request) -> Result<Loaded> {
    let rows = row_of_node(raw, request)?;
    let absent = rows.iter().filter(|&&row| row == NO_ROW).count() as u64;
    let mut facts = Facts {
        file: request.path.display().to_string(),
        format: format.name().to_owned(),
        content: Vec::new(),
        by_id: raw.nodes.is_some(),
        rows: raw.rows,
        columns: raw.columns.len(),
        features: 0,
        absent_nodes: absent,
        unknown_ids: raw.unknown,
        missing_values: 0,
        notes: Vec::new(),
    };
    if request.options.missing == Missing::Refuse {
        refuse_missing(raw, &rows, request)?;
    }
    let mut names = Vec::new();
    let targets = plan(raw, &rows, request, &mut names, &mut facts)?;
    if names.is_empty() {
        return Err(request.fail(
            "no column has a value for a node of the graph",
            "give at least one attribute",
        ));
    }
    facts.features = names.len();
    request.check_size(names.len() as u64)?;
    let mut block = place(&targets, raw, &rows, names.len());
    fill(&mut block, request.options.missing);
    tell(raw, request, &mut facts);
    Ok(Loaded {
        names,
        block,
        facts,
    })
}

/// The row of each node; a node must not have two.
pub(super) fn row_of_node(raw: &Raw, request: &Request) -> Result<Vec<u32>> {
    let Some(nodes) = &raw.nodes else {
        return Ok((0..request.ids.len() as u32).collect());
    };
    if nodes.is_empty() {
        let node = if request.ids.is_empty() {
            String::new()
        } else {
            request.ids.get(0).to_string()
        };
        let theirs = raw.example.clone().unwrap_or_default();
        let message = "none of its ids is a node of the graph";
        let remedy = format!(
            "the file has ids like `{theirs}`, the graph has ids like `{node}`; name the id column with \
             attributes.table.id"
        );
        return Err(request.fail(message, remedy));
    }
    let mut rows = vec![NO_ROW; request.ids.len()];
    for (row, &node) in nodes.iter().enumerate() {
        let earlier = std::mem::replace(&mut rows[node as usize], row as u32);
        if earlier != NO_ROW {
            let id = request.ids.get(node).to_string();
            let message = format!("this node has a row already, {}", place_of(raw, earlier));
            let remedy = "keep one row per node";
            return Err(match &raw.lines {
                Some(lines) => {
                    Error::input_at(request.path, lines[row], id.as_bytes(), message, remedy)
                }
                None => request.fail(
                    format!("row {row} (from 0), node `{id}`: {message}"),
                    remedy,
                ),
            });
        }
    }
    Ok(rows)
}

/// `on line 5`, or `in row 5` (from 0) where there are no lines.
fn place_of(raw: &Raw, row: u32) -> String {
    match &raw.lines {
        Some(lines) => format!("on line {}", lines[row as usize]),
        None => format!("in row {row}"),
    }
}

/// Fails at the first node or value that is missing.
fn refuse_missing(raw: &Raw, rows: &[u32], request: &Request) -> Result<()> {
    let remedy = "add it, or choose attributes.table.missing = \"mean\" or \"zero\"";
    if let Some(node) = rows.iter().position(|&row| row == NO_ROW) {
        let message = format!(
            "node `{}` of the graph is not in the file",
            request.ids.get(node as u32)
        );
        return Err(request.fail(message, remedy));
    }
    for (name, values) in raw.names.iter().zip(&raw.columns) {
        let missing = match values {
            Values::Nothing(rows) => (*rows > 0).then_some(0),
            Values::Numbers(values) => values.iter().position(|value| value.is_nan()),
            Values::Categories(codes, _) => codes.iter().position(|&code| code == NO_CATEGORY),
            Values::Sparse(_) => None,
        };
        if let Some(row) = missing {
            let place = place_of(raw, row as u32);
            return Err(request.fail(format!("column `{name}` has no value {place}"), remedy));
        }
    }
    Ok(())
}

/// Decides which columns there will be.
fn plan<'a>(
    raw: &'a Raw,
    rows: &[u32],
    request: &Request,
    names: &mut Vec<String>,
    facts: &mut Facts,
) -> Result<Vec<Target<'a>>> {
    let there = rows.iter().filter(|&&row| row != NO_ROW).count() as u64;
    let present = |missing: &dyn Fn(usize) -> bool| {
        rows.iter()
            .filter(|&&row| row != NO_ROW && !missing(row as usize))
            .count() as u64
    };
    let mut targets = Vec::new();
    for (name, values) in raw.names.iter().zip(&raw.columns) {
        let at = names.len();
        let (found, target) = match values {
            Values::Nothing(_) => (0, None),
            Values::Numbers(values) => (
                present(&|row| values[row].is_nan()),
                Some(Target::Number(values, at)),
            ),
            Values::Sparse(values) => (there, Some(Target::Sparse(values, at))),
            Values::Categories(codes, known) => {
                let found = present(&|row| codes[row] == NO_CATEGORY);
                let slots = one_hot(
                    name,
                    codes,
                    known,
                    rows,
                    request.options.categories,
                    names,
                    facts,
                );
                (found, Some(Target::Categories(codes, slots)))
            }
        };
        facts.missing_values += there - found;
        let Some(target) = target.filter(|_| found > 0) else {
            facts.notes.push(format!(
                "attributes: column `{name}` has no value and is left out"
            ));
            continue;
        };
        if !matches!(target, Target::Categories(..)) {
            names.push(name.clone());
        }
        targets.push(target);
    }
    Ok(targets)
}

/// Adds the columns of one categorical column to `names`; returns where each category goes.
fn one_hot(
    name: &str,
    codes: &[u32],
    known: &Names,
    rows: &[u32],
    most: usize,
    names: &mut Vec<String>,
    facts: &mut Facts,
) -> Vec<usize> {
    let mut counts = vec![0u64; known.len()];
    let used = rows
        .iter()
        .filter(|&&row| row != NO_ROW)
        .map(|&row| codes[row as usize]);
    used.filter(|&code| code != NO_CATEGORY)
        .for_each(|code| counts[code as usize] += 1);
    let mut kept: Vec<u32> = (0..known.len() as u32)
        .filter(|&code| counts[code as usize] > 0)
        .collect();
    let categories = kept.len();
    kept.sort_by_key(|&code| (std::cmp::Reverse(counts[code as usize]), known.get(code)));
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
fn place(targets: &[Target], raw: &Raw, rows: &[u32], width: usize) -> Block {
    let mut block = Block::zeros(rows.len(), width);
    block.update_rows(|node, to| {
        let row = rows[node] as usize;
        for target in targets {
            match target {
                Target::Number(values, at) => {
                    to[*at] = values.get(row).copied().unwrap_or(f32::NAN);
                }
                Target::Categories(codes, slots) => {
                    let code = codes.get(row).copied().unwrap_or(NO_CATEGORY);
                    if let Some(&slot) = slots.get(code as usize) {
                        to[slot] = 1.0;
                    }
                }
                Target::Sparse(..) => {}
            }
        }
    });
    for target in targets {
        if let Target::Sparse(values, at) = target {
            for &(row, value) in *values {
                let node = raw.nodes.as_ref().map_or(row, |nodes| nodes[row as usize]);
                block.row_mut(node as usize)[*at] += value;
            }
        }
    }
    block
}

/// Fills NaN by the rule; means are summed in node order.
fn fill(block: &mut Block, missing: Missing) {
    let width = block.cols();
    let (mut sums, mut counts) = (vec![0f64; width], vec![0u64; width]);
    for row in 0..block.rows() {
        for (j, &value) in block
            .row(row)
            .iter()
            .enumerate()
            .filter(|(_, value)| !value.is_nan())
        {
            sums[j] += f64::from(value);
            counts[j] += 1;
        }
    }
    let mean = |j: usize| (sums[j] / counts[j].max(1) as f64) as f32;
    let filling: Vec<f32> = (0..width)
        .map(|j| {
            if missing == Missing::Mean {
                mean(j)
            } else {
                0.0
            }
        })
        .collect();
    block.update_rows(|_, row| {
        for (value, &filling) in row.iter_mut().zip(&filling) {
            if value.is_nan() {
                *value = filling;
            }
        }
    });
}

/// The counts as text.
fn tell(raw: &Raw, request: &Request, facts: &mut Facts) {
    let file = &facts.file;
    let rule = match request.options.missing {
        Missing::Mean => "numbers become the column's mean, categories zeros",
        Missing::Zero | Missing::Refuse => "they become zeros",
    };
    let mut notes = Vec::new();
    if facts.absent_nodes > 0 {
        let all = request.ids.len();
        let (count, are) = (
            facts.absent_nodes,
            if facts.absent_nodes == 1 { "is" } else { "are" },
        );
        notes.push(format!(
            "attributes: {count} of {all} nodes {are} not in {file}: {rule}"
        ));
    }
    if facts.unknown_ids > 0 {
        let example = raw.example.as_deref().unwrap_or_default();
        let (count, rows) = (facts.unknown_ids, facts.rows);
        let are = if count == 1 {
            "is ignored: its id is"
        } else {
            "are ignored: their ids are"
        };
        notes.push(format!("attributes: {count} of {rows} rows of {file} {are} not in the graph, such as `{example}`"));
    }
    if facts.missing_values > 0 {
        let (count, is) = (
            facts.missing_values,
            if facts.missing_values == 1 {
                " is"
            } else {
                "s are"
            },
        );
        notes.push(format!(
            "attributes: {count} value{is} missing in {file}: {rule}"
        ));
    }
    facts.notes.splice(0..0, notes);
}
