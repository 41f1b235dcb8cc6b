//! Text tables of attributes: an id and values per line, separated by tabs, `|`, commas, semicolons or blanks.
//!
//! Blocks of lines are parsed in parallel and joined in the order of the file; rows of nodes that the
//! graph does not have are only counted.

use std::str;

use super::columns::Values;
use super::layout::{COLUMN_BYTES, Layout, NEEDS};
use super::request::{Raw, Request};
use crate::error::{Error, Result};
use crate::graph::IdIndex;
use crate::graph::read::blocks::{self, Fault};
use crate::graph::read::comments::{COMMENTS, is_idle};
use crate::graph::read::fields::{self, Delimiter, Field, without_end};
use crate::graph::read::source::{BINARY, Source};

/// Reads a text table.
pub(super) fn read(mut source: Source, request: &Request) -> Result<Raw> {
    source.check_text(NEEDS)?;
    let ids = request.ids.index();
    let layout = Layout::detect(&mut source, request, &ids)?;
    let columns = layout.used.len() as u64;
    request.check_size_beside(columns, columns.saturating_mul(COLUMN_BYTES))?;
    let before = source.lines();
    let chunks = blocks::parse(source, request.progress, |lines| {
        Chunk::parse(lines, &layout, &ids)
    })?;
    join(chunks, layout, before, request)
}

/// What a block of lines had.
struct Chunk {
    nodes: Vec<u32>,
    /// Lines of the block before each row.
    lines: Vec<u32>,
    columns: Vec<Values>,
    /// Line and text of the first value of each column.
    first: Vec<Option<(u32, String)>>,
    rows: u64,
    unknown: u64,
    example: Option<String>,
    /// Lines of the block.
    length: u64,
}

impl Chunk {
    /// Parses whole lines.
    fn parse(lines: &[u8], layout: &Layout, ids: &IdIndex) -> Result<Chunk, Fault> {
        let width = layout.used.len();
        let mut chunk = Chunk {
            nodes: Vec::new(),
            lines: Vec::new(),
            columns: vec![Values::Nothing(0); width],
            first: vec![None; width],
            rows: 0,
            unknown: 0,
            example: None,
            length: memchr::memchr_iter(b'\n', lines).count() as u64,
        };
        let mut fields = Vec::new();
        for (number, line) in lines.split_inclusive(|&b| b == b'\n').enumerate() {
            let line = without_end(line);
            if is_idle(line, COMMENTS) && !is_row(line, layout, ids) {
                continue;
            }
            fields::split(line, layout.delimiter, &mut fields)
                .and_then(|()| chunk.add(line, &fields, layout, ids, number as u32))
                .map_err(|fault| fault.on_line(number as u64))?;
        }
        Ok(chunk)
    }

    /// Adds the row of one line that says something.
    fn add(
        &mut self,
        line: &[u8],
        fields: &[Field],
        layout: &Layout,
        ids: &IdIndex,
        number: u32,
    ) -> Result<(), Fault> {
        if fields.len() != layout.fields {
            return Err(wrong_fields(line, fields.len(), layout));
        }
        let id = fields[layout.id].text();
        let id = text(line, &id)?;
        if id.is_empty() {
            return Err(Fault::new(
                line,
                "a row without an id",
                "give every row the id of its node",
            ));
        }
        self.rows += 1;
        let Some(node) = ids.find(id) else {
            self.unknown += 1;
            self.example.get_or_insert_with(|| id.to_owned());
            return Ok(());
        };
        self.nodes.push(node);
        self.lines.push(number);
        for (c, &j) in layout.used.iter().enumerate() {
            let field = fields[j].text();
            let value = text(line, &field)?;
            self.columns[c]
                .push_text(value, layout.categorical[c])
                .map_err(|refusal| {
                    let (message, remedy) = refusal.explain(&layout.names[c]);
                    Fault::new(value.as_bytes(), message, remedy)
                })?;
            if self.first[c].is_none() && !matches!(self.columns[c], Values::Nothing(_)) {
                self.first[c] = Some((number, value.to_owned()));
            }
        }
        Ok(())
    }
}

fn wrong_fields(line: &[u8], found: usize, layout: &Layout) -> Fault {
    if line.contains(&0) {
        return Fault::new(line, BINARY.0, BINARY.1);
    }
    let message = format!(
        "{found} field{} where {} are expected",
        if found == 1 { "" } else { "s" },
        layout.fields
    );
    let remedy = format!(
        "fields are separated by {}; fix the line, quote a field that has one, or name what separates them with attributes.table.delimiter",
        layout.delimiter.name()
    );
    Fault::new(line, message, remedy)
}

/// Whether a line that begins like a comment has the row of a node: `#rust,0.5` where `#rust` is one.
fn is_row(line: &[u8], layout: &Layout, ids: &IdIndex) -> bool {
    let mut fields: Vec<Field> = Vec::new();
    layout.delimiter != Delimiter::Blanks
        && fields::split(line, layout.delimiter, &mut fields).is_ok()
        && fields.len() == layout.fields
        && str::from_utf8(&fields[layout.id].text()).is_ok_and(|id| ids.find(id).is_some())
}

/// A field as text.
fn text<'a>(line: &[u8], field: &'a [u8]) -> Result<&'a str, Fault> {
    let text = str::from_utf8(field).map_err(|_| {
        Fault::new(
            field,
            "text that is not valid UTF-8",
            "save the file as UTF-8",
        )
    })?;
    match field.iter().find(|&&b| b == 0 || b == b'\r') {
        Some(0) => Err(Fault::new(line, BINARY.0, BINARY.1)),
        Some(_) => Err(Fault::new(
            line,
            "a carriage return within a line",
            "end lines with LF or CRLF",
        )),
        None => Ok(text),
    }
}

/// Joins the blocks in order.
fn join(chunks: Vec<Chunk>, layout: Layout, before: u64, request: &Request) -> Result<Raw> {
    let mut columns = vec![Values::Nothing(0); layout.used.len()];
    let (mut nodes, mut lines) = (Vec::new(), Vec::new());
    let (mut rows, mut unknown, mut example) = (0, 0, None);
    let mut start = before + 1;
    for chunk in chunks {
        for (c, part) in chunk.columns.into_iter().enumerate() {
            columns[c].append(part).map_err(|refusal| {
                let (message, remedy) = refusal.explain(&layout.names[c]);
                let (line, text) = chunk.first[c].clone().unwrap_or_default();
                Error::input_at(
                    request.path,
                    start + u64::from(line),
                    text.as_bytes(),
                    message,
                    remedy,
                )
            })?;
        }
        nodes.extend(chunk.nodes);
        lines.extend(chunk.lines.iter().map(|&line| start + u64::from(line)));
        rows += chunk.rows;
        unknown += chunk.unknown;
        example = example.or(chunk.example);
        start += chunk.length;
    }
    if rows == 0 {
        return Err(request.fail("there are no rows after the header", NEEDS));
    }
    Ok(Raw {
        names: layout.names,
        columns,
        nodes: Some(nodes),
        lines: Some(lines),
        rows,
        unknown,
        example,
    })
}
