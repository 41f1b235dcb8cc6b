//! Attributes from SVMlight files (<https://www.cs.cornell.edu/people/tj/svm_light/>): line i is node i of the
//! graph, `label index:value index:value … # comment`. The label is the prediction target, so it is
//! not an attribute. Indices ascend within a line and count from 1, or from 0 if one is 0.

use std::str;

use super::columns::Values;
use super::request::{Raw, Request};
use super::sparse::number;
use crate::error::Result;
use crate::graph::read::blocks::{self, Fault};
use crate::graph::read::comments::is_idle;
use crate::graph::read::fields::without_end;
use crate::graph::read::source::Source;

/// Some rows: (row, index, value), the rows counted from the first of the block.
struct Chunk {
    rows: u32,
    entries: Vec<(u32, u32, f32)>,
}

/// Reads an SVMlight file.
pub(super) fn read(mut source: Source, request: &Request) -> Result<Raw> {
    request.refuse_categories()?;
    source.check_text("it needs one line per node")?;
    let chunks = blocks::parse(source, request.progress, parse)?;
    let rows = chunks
        .iter()
        .map(|chunk| u64::from(chunk.rows))
        .sum::<u64>();
    request.check_rows(rows)?;
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
    Ok(Raw {
        names: used.iter().map(|&j| names[j].clone()).collect(),
        columns: used
            .iter()
            .map(|&j| Values::Sparse(std::mem::take(&mut columns[j])))
            .collect(),
        nodes: None,
        lines: None,
        rows,
        unknown: 0,
        example: None,
    })
}

fn parse(lines: &[u8]) -> Result<Chunk, Fault> {
    let mut chunk = Chunk {
        rows: 0,
        entries: Vec::new(),
    };
    for (number, line) in lines.split_inclusive(|&b| b == b'\n').enumerate() {
        let line = without_end(line);
        if !is_idle(line, b"#") {
            add(line, &mut chunk).map_err(|fault| fault.on_line(number as u64))?;
        }
    }
    Ok(chunk)
}

/// Adds the row of one line.
fn add(line: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
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
