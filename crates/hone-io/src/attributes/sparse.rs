//! Attributes from Matrix Market files (<https://math.nist.gov/MatrixMarket/formats.html>): row i is node i
//! of the graph, column j an attribute. Coordinate files (what is not there is zero; entries of one
//! place add up) and array files (column after column), general or symmetric.
//!
//! And from SVMlight files (<https://www.cs.cornell.edu/people/tj/svm_light/>): line i is node i of the graph,
//! `label index:value index:value … # comment`. The label is the prediction target, so it is not an attribute. Indices ascend
//! within a line and count from 1, or from 0 if one is 0; they are in the names of the columns, `x1` or `x0` being the first.

use std::str;

use super::columns::Values;
use super::{Raw, Request, Rows};
use crate::error::Result;
use crate::graph::read::blocks::{self, Fault};
use crate::graph::read::lines::{first_end, is_idle, skip_idle, without_end};
use crate::graph::read::mtx::first_line;
use crate::graph::read::source::Source;

/// What banner and size line say.
#[derive(Default)]
struct Head {
    coordinate: bool,
    pattern: bool,
    symmetric: bool,
    rows: u64,
    columns: u64,
    /// Entries of a coordinate file.
    entries: u64,
}

/// Reads a Matrix Market file.
pub(super) fn read_matrix(mut source: Source, request: &Request) -> Result<Raw> {
    request.refuse_categories()?;
    source.check_text("it needs one row per node")?;
    let head = head(&mut source)?;
    let rows = request.in_order(head.rows)?;
    let names = request.numbered(0..head.columns)?;
    let used = request.used(&names, None)?;
    if used.is_empty() {
        return Err(request.fail("the matrix has no columns", "give at least one attribute"));
    }
    let columns = values(source, &head, request)?;
    Ok(raw(&names, &used, columns, rows))
}

/// The columns that are used.
fn raw(names: &[String], used: &[usize], mut columns: Vec<Vec<(u32, f32)>>, rows: Rows) -> Raw {
    let column = |&j: &usize| Values::Sparse(std::mem::take(&mut columns[j]));
    Raw {
        names: used.iter().map(|&j| names[j].clone()).collect(),
        columns: used.iter().map(column).collect(),
        rows,
    }
}

/// (row, value) of every column.
fn values(source: Source, head: &Head, request: &Request) -> Result<Vec<Vec<(u32, f32)>>> {
    let mut columns = vec![Vec::new(); head.columns as usize];
    let mut put = |row: u32, column: u32, value| {
        columns[column as usize].push((row, value));
        if head.symmetric && row != column {
            columns[row as usize].push((column, value));
        }
    };
    let promised = |found: usize, expected: u64| {
        if found as u64 == expected {
            return Ok(());
        }
        let message = format!("the header promises {expected} entries, but there are {found}");
        Err(request.fail(message, "the file is truncated or its size line is wrong"))
    };
    if head.coordinate {
        let chunks = blocks::parse(source, request.progress, |lines| entries(lines, head))?;
        promised(chunks.iter().map(Vec::len).sum(), head.entries)?;
        for (row, column, value) in chunks.into_iter().flatten() {
            put(row, column, value);
        }
        return Ok(columns);
    }
    // Column after column; of a symmetric matrix only the lower triangle stands there.
    let chunks = blocks::parse(source, request.progress, numbers)?;
    let expected = match head.symmetric {
        true => head.rows * (head.rows + 1) / 2,
        false => head.rows.saturating_mul(head.columns),
    };
    promised(chunks.iter().map(Vec::len).sum(), expected)?;
    let mut values = chunks.into_iter().flatten();
    for j in 0..head.columns as u32 {
        for i in if head.symmetric { j } else { 0 }..head.rows as u32 {
            put(i, j, values.next().unwrap_or(0.0));
        }
    }
    Ok(columns)
}

/// Reads banner and size line.
fn head(source: &mut Source) -> Result<Head> {
    let line = first_line(source)?;
    let mut head = banner(&line).map_err(|fault| fault.into_error(source, source.lines()))?;
    source.skip(first_end(source.ahead()));
    skip_idle(source, b"%", |_| {})?;
    let line = first_line(source)?;
    sizes(&line, &mut head).map_err(|fault| fault.into_error(source, source.lines()))?;
    source.skip(first_end(source.ahead()));
    Ok(head)
}

fn banner(line: &[u8]) -> Result<Head, Fault> {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let fault = |message, remedy| Err(Fault::new(line, message, remedy));
    let (format, field, symmetry) = match words[..] {
        [
            "%%matrixmarket",
            "matrix",
            format @ ("coordinate" | "array"),
            field,
            symmetry,
        ] => (format, field, symmetry),
        _ => {
            let remedy = "a Matrix Market file begins with `%%MatrixMarket matrix coordinate real general` or the like";
            return fault("this is not a Matrix Market banner", remedy);
        }
    };
    let (coordinate, pattern) = (format == "coordinate", field == "pattern");
    let readable = matches!(field, "real" | "double" | "integer") || pattern && coordinate;
    if !readable {
        let message = "only real, integer and pattern matrices can be read";
        return fault(message, "drop the imaginary parts");
    }
    if !matches!(symmetry, "general" | "symmetric") {
        let message = "only general and symmetric matrices can be read";
        return fault(message, "write it as general");
    }
    Ok(Head {
        coordinate,
        pattern,
        symmetric: symmetry == "symmetric",
        ..Head::default()
    })
}

/// Adds rows, columns and, of a coordinate file, entries.
fn sizes(line: &[u8], head: &mut Head) -> Result<(), Fault> {
    let words = str::from_utf8(line)
        .unwrap_or_default()
        .split_ascii_whitespace();
    let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    (head.rows, head.columns, head.entries) = match numbers.as_deref() {
        Some(&[rows, columns, entries]) if head.coordinate => (rows, columns, entries),
        Some(&[rows, columns]) if !head.coordinate => (rows, columns, 0),
        _ => {
            let remedy =
                "it must be whole numbers: rows, columns and, of a coordinate file, entries";
            return Err(Fault::new(line, "this is not a size line", remedy));
        }
    };
    if head.symmetric && head.rows != head.columns {
        let message = "a symmetric matrix that is not square";
        return Err(Fault::new(line, message, "write it as general"));
    }
    Ok(())
}

/// Entries of whole lines, counted from 0.
fn entries(lines: &[u8], head: &Head) -> Result<Vec<(u32, u32, f32)>, Fault> {
    each_line(lines, |line| {
        let text = str::from_utf8(line).unwrap_or_default();
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let (row, column, value) = match words[..] {
            [row, column] if head.pattern => (row, column, "1"),
            [row, column, value] if !head.pattern => (row, column, value),
            _ => {
                let value = if head.pattern { "" } else { ", value" };
                let remedy = format!("it must be: row, column{value}");
                return Err(Fault::new(line, "this is not an entry", remedy));
            }
        };
        let index = |word: &str, most: u64, what: &str| {
            let number = word.parse::<u64>().ok();
            let within = number.filter(|number| (1..=most).contains(number));
            within.map(|number| (number - 1) as u32).ok_or_else(|| {
                let message = format!("{what} `{word}` is not within 1..{most}");
                Fault::new(line, message, "indices count from 1")
            })
        };
        Ok((
            index(row, head.rows, "row")?,
            index(column, head.columns, "column")?,
            number(line, value)?,
        ))
    })
}

/// Numbers of whole lines, one each.
fn numbers(lines: &[u8]) -> Result<Vec<f32>, Fault> {
    each_line(lines, |line| {
        number(line, str::from_utf8(line).unwrap_or_default().trim())
    })
}

fn each_line<T>(lines: &[u8], parse: impl Fn(&[u8]) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    let mut found = Vec::new();
    for (number, line) in lines.split_inclusive(|&b| b == b'\n').enumerate() {
        let line = without_end(line);
        if !is_idle(line, b"%") {
            found.push(parse(line).map_err(|fault| fault.on_line(number as u64))?);
        }
    }
    Ok(found)
}

/// A finite number.
fn number(line: &[u8], word: &str) -> Result<f32, Fault> {
    let Ok(value) = word.parse::<f64>() else {
        let remedy = "values are numbers; there are no words here";
        return Err(Fault::new(
            line,
            format!("`{word}` is not a number"),
            remedy,
        ));
    };
    if value.is_nan() {
        let remedy = "leave the entry out if it is zero; a table (.csv) or a .npy array may have missing values";
        return Err(Fault::new(line, "a value that is not a number", remedy));
    }
    if (value as f32).is_infinite() {
        let message = "a value that is infinite or beyond 32-bit floating point";
        return Err(Fault::new(line, message, "scale the values down"));
    }
    Ok(value as f32 + 0.0)
}

/// Some rows: (row, index, value), the rows counted from the first of the block.
struct Chunk {
    rows: u32,
    entries: Vec<(u32, u32, f32)>,
}

/// Reads an SVMlight file.
pub(super) fn read_svmlight(mut source: Source, request: &Request) -> Result<Raw> {
    request.refuse_categories()?;
    source.check_text("it needs one line per node")?;
    let chunks = blocks::parse(source, request.progress, parse_svmlight)?;
    let rows = chunks.iter().map(|chunk| u64::from(chunk.rows));
    let rows = request.in_order(rows.sum())?;
    let entries = || chunks.iter().flat_map(|chunk| &chunk.entries);
    let indices = || entries().map(|entry| entry.1);
    let (Some(least), Some(most)) = (indices().min(), indices().max()) else {
        return Err(request.fail("no line has a value", "give at least one attribute"));
    };
    let first = least.min(1);
    let names = request.numbered(u64::from(first)..u64::from(most) + 1)?;
    let used = request.used(&names, None)?;
    let mut columns = vec![Vec::new(); names.len()];
    let mut start = 0;
    for chunk in chunks {
        for (row, index, value) in chunk.entries {
            columns[(index - first) as usize].push((start + row, value));
        }
        start += chunk.rows;
    }
    Ok(raw(&names, &used, columns, rows))
}

fn parse_svmlight(lines: &[u8]) -> Result<Chunk, Fault> {
    let mut chunk = Chunk {
        rows: 0,
        entries: Vec::new(),
    };
    for (number, line) in lines.split_inclusive(|&b| b == b'\n').enumerate() {
        let line = without_end(line);
        if !is_idle(line, b"#") {
            add_svmlight(line, &mut chunk).map_err(|fault| fault.on_line(number as u64))?;
        }
    }
    Ok(chunk)
}

/// Adds the row of one line.
fn add_svmlight(line: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
    let fault = |at: &[u8], message, remedy| Err(Fault::new(at, message, remedy));
    let Ok(text) = str::from_utf8(line) else {
        return fault(line, "text that is not UTF-8", "save it as UTF-8");
    };
    let text = text.split('#').next().unwrap_or_default();
    let mut words = text.split_ascii_whitespace();
    if words.next().is_some_and(|label| label.contains(':')) {
        let remedy = "begin it with a label, 0 if there is none";
        return fault(line, "a line without a label", remedy);
    }
    let mut last = None;
    for word in words {
        let at = word.as_bytes();
        let Some((index, value)) = word.split_once(':') else {
            return fault(at, "this is not index:value", "write for instance 3:0.5");
        };
        if index == "qid" {
            continue;
        }
        let Some(index) = index.parse::<u32>().ok().filter(|&index| index < u32::MAX) else {
            let message = "an index that is not a whole number";
            return fault(at, message, "indices count from 1");
        };
        if last.is_some_and(|last| index <= last) {
            let remedy = "sort them, each once per line";
            return fault(at, "indices do not ascend", remedy);
        }
        last = Some(index);
        chunk.entries.push((chunk.rows, index, number(at, value)?));
    }
    chunk.rows += 1;
    Ok(())
}
