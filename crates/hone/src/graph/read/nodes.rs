//! Node lists: one id a line, in the order the nodes shall have.

use std::path::Path;

use super::super::ids::Names;
use super::blocks::Fault;
use super::edges::id;
use super::fields::{self, Delimiter, is_idle, without_end};
use super::layout::COMMENTS;
use super::source::Source;
use crate::error::{Error, Result};

/// A first line that is one of these is a header.
const HEADERS: [&str; 5] = ["id", "node", "nodes", "node_id", "nodeid"];

/// Reads the first column of a file (columns separated by tabs, commas, semicolons or blanks,
/// whichever of these its first line has first in that order).
pub(super) fn read(path: &Path) -> Result<Names> {
    let name = path.to_str().ok_or_else(|| Error::config("nodes", "the path of the node list is not valid UTF-8"))?;
    let mut source = Source::open(name)?;
    source.check_text("give one id a line, or leave it out")?;
    let before = source.lines();
    let text = source.take_all()?;
    let mut names = Names::new();
    let mut delimiter = None;
    for (number, line) in text.split_inclusive(|&b| b == b'\n').enumerate() {
        let line = without_end(line);
        if is_idle(line, COMMENTS) {
            continue;
        }
        let is_first = delimiter.is_none();
        let delimiter = *delimiter.get_or_insert_with(|| {
            b"\t,;".iter().find(|b| line.contains(b)).map_or(Delimiter::Blanks, |&b| Delimiter::Byte(b))
        });
        add(&mut names, line, delimiter, is_first)
            .map_err(|fault| fault.on_line(number as u64).into_error(&source, before))?;
    }
    if names.len() == 0 {
        return Err(Error::input(path, "the node list has no nodes", "give one id a line, or leave it out"));
    }
    Ok(names)
}

fn add(names: &mut Names, line: &[u8], delimiter: Delimiter, is_first: bool) -> Result<(), Fault> {
    let mut columns = Vec::new();
    fields::split(line, delimiter, &mut columns)?;
    let text = columns[0].text();
    let (id, before) = (id(line, &text)?, names.len());
    if is_first && HEADERS.iter().any(|header| id.eq_ignore_ascii_case(header)) {
        return Ok(());
    }
    match names.intern(id) {
        None => Err(Fault::new(line, "more nodes than 32 bits can number", "split the graph")),
        Some(_) if names.len() == before => Err(Fault::new(line, "this node is listed twice", "list each node once")),
        Some(_) => Ok(()),
    }
}
