//! Attributes from Matrix Market files (<https://math.nist.gov/MatrixMarket/formats.html>): row i is node i
//! of the graph, column j an attribute. Coordinate files (what is not there is zero; entries of one
//! place add up) and array files (column after column), general or symmetric.
//!
//! And from SVMlight files (<https://www.cs.cornell.edu/people/tj/svm_light/>): line i is node i of the graph,
//! `label index:value index:value … # comment`. The label is the prediction target, so it is not an attribute. Indices ascend
//! within a line and count from 1, or from 0 if one is 0.

use std::str;

use super::columns::Values;
use super::{Raw, Request, Rows};
use crate::error::Result;
use crate::graph::read::blocks::{self, Fault};
use crate::graph::read::comments::{is_idle, skip_idle};
use crate::graph::read::fields::without_end;
use crate::graph::read::mtx::{first_line, next_line};
use crate::graph::read::source::Source;

/// What banner and size line say.
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
    let names = request.numbered(head.columns)?;
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
    let (found, expected) = if head.coordinate {
        let chunks = blocks::parse(source, request.progress, |lines| entries(lines, head))?;
        let found = chunks.iter().map(Vec::len).sum::<usize>() as u64;
        for (row, column, value) in chunks.into_iter().flatten() {
            columns[column as usize].push((row, value));
            if head.symmetric && row != column {
                columns[row as usize].push((column, value));
            }
        }
        (found, head.entries)
    } else {
        let chunks = blocks::parse(source, request.progress, numbers)?;
        let found = chunks.iter().map(Vec::len).sum::<usize>() as u64;
        let expected = head.values();
        if found == expected {
            spread(chunks.into_iter().flatten(), head, &mut columns);
        }
        (found, expected)
    };
    if found != expected {
        let message = format!("the header promises {expected} entries, but there are {found}");
        return Err(request.fail(message, "the file is truncated or its size line is wrong"));
    }
    Ok(columns)
}

impl Head {
    /// Values of an array file: of a symmetric one only the lower triangle stands there.
    fn values(&self) -> u64 {
        if self.symmetric {
            self.rows * (self.rows + 1) / 2
        } else {
            self.rows.saturating_mul(self.columns)
        }
    }
}

/// Gives the values of an array, column after column, their places.
fn spread(mut values: impl Iterator<Item = f32>, head: &Head, columns: &mut [Vec<(u32, f32)>]) {
    let (rows, symmetric) = (head.rows as usize, head.symmetric);
    for j in 0..head.columns as usize {
        for i in if symmetric { j } else { 0 }..rows {
            let value = values.next().unwrap_or(0.0);
            columns[j].push((i as u32, value));
            if symmetric && i != j {
                columns[i].push((j as u32, value));
            }
        }
    }
}

/// Reads banner and size line.
fn head(source: &mut Source) -> Result<Head> {
    let banner = first_line(source)?;
    let text = String::from_utf8_lossy(&banner).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let fault = |source: &Source, line: &[u8], message: &str, remedy: &str| {
        Err(Fault::new(line, message, remedy).into_error(source, source.lines()))
    };
    let [
        "%%matrixmarket",
        "matrix",
        format @ ("coordinate" | "array"),
        field,
        symmetry,
    ] = words[..]
    else {
        let remedy = "a Matrix Market file begins with `%%MatrixMarket matrix coordinate real general` or the like";
        return fault(
            source,
            &banner,
            "this is not a Matrix Market banner",
            remedy,
        );
    };
    let (coordinate, pattern) = (format == "coordinate", field == "pattern");
    let readable = matches!(field, "real" | "double" | "integer") || pattern && coordinate;
    if !readable {
        let remedy = "drop the imaginary parts";
        return fault(
            source,
            &banner,
            "only real, integer and pattern matrices can be read",
            remedy,
        );
    }
    if !matches!(symmetry, "general" | "symmetric") {
        return fault(
            source,
            &banner,
            "only general and symmetric matrices can be read",
            "write it as general",
        );
    }
    let symmetric = symmetry == "symmetric";
    source.skip(next_line(source));
    skip_idle(source, b"%", |_| {})?;
    let line = first_line(source)?;
    let Some((rows, columns, entries)) = sizes(&line, coordinate) else {
        let remedy = "it must be whole numbers: rows, columns and, of a coordinate file, entries";
        return fault(source, &line, "this is not a size line", remedy);
    };
    if symmetric && rows != columns {
        return fault(
            source,
            &line,
            "a symmetric matrix that is not square",
            "write it as general",
        );
    }
    source.skip(next_line(source));
    Ok(Head {
        coordinate,
        pattern,
        symmetric,
        rows,
        columns,
        entries,
    })
}

/// Rows, columns and, of a coordinate file, entries.
fn sizes(line: &[u8], coordinate: bool) -> Option<(u64, u64, u64)> {
    let words = str::from_utf8(line).ok()?.split_ascii_whitespace();
    let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    match *numbers {
        [rows, columns, entries] if coordinate => Some((rows, columns, entries)),
        [rows, columns] if !coordinate => Some((rows, columns, 0)),
        _ => None,
    }
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
                let expected = if head.pattern {
                    "row, column"
                } else {
                    "row, column, value"
                };
                return Err(Fault::new(
                    line,
                    "this is not an entry",
                    format!("it must be: {expected}"),
                ));
            }
        };
        let index = |word: &str, most: u64, what: &str| {
            let number = word
                .parse::<u64>()
                .ok()
                .filter(|number| (1..=most).contains(number));
            number.map(|number| (number - 1) as u32).ok_or_else(|| {
                Fault::new(
                    line,
                    format!("{what} `{word}` is not within 1..{most}"),
                    "indices count from 1",
                )
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
        return Err(Fault::new(
            line,
            format!("`{word}` is not a number"),
            "values are numbers; there are no words here",
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
    let rows = chunks
        .iter()
        .map(|chunk| u64::from(chunk.rows))
        .sum::<u64>();
    let rows = request.in_order(rows)?;
    let indices = || {
        chunks
            .iter()
            .flat_map(|chunk| chunk.entries.iter().map(|entry| entry.1))
    };
    let (Some(least), Some(most)) = (indices().min(), indices().max()) else {
        return Err(request.fail("no line has a value", "give at least one attribute"));
    };
    let first = least.min(1);
    let names = request.numbered(u64::from(most - first) + 1)?;
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
    let text = str::from_utf8(line)
        .map_err(|_| Fault::new(line, "text that is not UTF-8", "save it as UTF-8"))?;
    let mut words = text
        .split('#')
        .next()
        .unwrap_or_default()
        .split_ascii_whitespace();
    if words.next().is_some_and(|label| label.contains(':')) {
        return Err(Fault::new(
            line,
            "a line without a label",
            "begin it with a label, 0 if there is none",
        ));
    }
    let mut last = None;
    for word in words {
        let Some((index, value)) = word.split_once(':') else {
            return Err(Fault::new(
                word.as_bytes(),
                "this is not index:value",
                "write for instance 3:0.5",
            ));
        };
        if index == "qid" {
            continue;
        }
        let Some(index) = index.parse::<u32>().ok().filter(|&index| index < u32::MAX) else {
            return Err(Fault::new(
                word.as_bytes(),
                "an index that is not a whole number",
                "indices count from 1",
            ));
        };
        if last.is_some_and(|last| index <= last) {
            return Err(Fault::new(
                word.as_bytes(),
                "indices do not ascend",
                "sort them, each once per line",
            ));
        }
        last = Some(index);
        chunk
            .entries
            .push((chunk.rows, index, number(word.as_bytes(), value)?));
    }
    chunk.rows += 1;
    Ok(())
}
