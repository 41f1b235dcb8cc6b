//! Node lists: one id per line, in the order the nodes shall have.
//!
//! The whole line is the id, blanks and delimiters inside included; blanks around it are not. An id in
//! quotes is taken as it is (quotes within doubled), may hold line breaks and may be empty: this is how the
//! lists that are written here quote ids ([`super::super::quoted_line`]). A first line `id` is a header unless it is
//! quoted; if it names several columns, the list is a table.

use std::borrow::Cow;
use std::path::Path;

use super::super::NodeIds;
use super::blocks::Fault;
use super::lines::{self, Delimiter, id, without_end};
use super::options::{ReadNote, ReadOptions, shown};
use super::source::{BINARY, Source};
use crate::error::{Error, Result};
use crate::graph::quote::list_header;
use crate::memory::Allowance;
use hone_graph::Names;

/// Ids between two looks at the memory that is held.
const WATCH: usize = 1 << 14;

/// A node list.
pub(super) struct NodeList {
    names: Names,
    /// Delimiter and position of the ids, when the list is a table.
    table: Option<(Delimiter, usize)>,
    /// What was decided about its first line.
    pub(super) note: Option<ReadNote>,
}

/// The list of the options, if there is one.
pub(super) fn read(options: &ReadOptions, allowance: Allowance) -> Result<Option<NodeList>> {
    let Some(path) = options.nodes.as_deref() else {
        return Ok(None);
    };
    let file = path
        .to_str()
        .ok_or_else(|| Error::config("nodes", "the path of the node list is not valid UTF-8"))?;
    let mut source = Source::open(path, allowance)?;
    source.check_text("give one id per line, or leave it out")?;
    let before = source.lines();
    let text = source.take_all()?;
    let mut list = NodeList {
        names: Names::new(),
        table: None,
        note: None,
    };
    let (marks, mut entries, mut first) = (options.comments()?, Entries::new(&text), true);
    loop {
        let number = entries.line;
        let failed = |fault: Fault| fault.on_line(number).into_error(&source, before);
        let entry = match list.table {
            Some(_) => Ok(entries.next_line()),
            None => entries.next_entry(),
        };
        let Some(entry) = entry.map_err(failed)? else {
            break;
        };
        match entry.text.first() {
            None if !entry.quoted => continue,
            Some(&mark) if !entry.quoted && marks.contains(&mark) => {
                if first || options.comment.is_some() {
                    continue;
                }
                return Err(failed(lines::late_comment(entry.line, mark)));
            }
            _ => {}
        }
        if std::mem::take(&mut first) && !entry.quoted && list.take_header(file, &entry.text) {
            continue;
        }
        list.add(&entry).map_err(failed)?;
        if list.names.len().is_multiple_of(WATCH) {
            allowance.check(path, list.names.growth(WATCH))?;
        }
    }
    if list.names.is_empty() {
        let remedy =
            "give one id per line, in quotes where it begins with # or %; or leave the list out";
        return Err(Error::input(path, "the node list has no nodes", remedy));
    }
    Ok(Some(list))
}

impl NodeList {
    /// The node with this id; else what to do about it.
    pub(super) fn find(&self, id: &str) -> Result<u32, String> {
        let is_special = || id.starts_with(['#', '%']) || list_header(id).is_some();
        self.names.find(id).ok_or_else(|| match is_special() {
            true => format!(
                "if its line in the node list is taken for a comment or a header, quote it there: \"{id}\"; else add it"
            ),
            false => "add it to the node list, on its own line, or leave the list out".into(),
        })
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn into_ids(self) -> NodeIds {
        self.names.into_ids()
    }

    /// Whether a first line names the columns.
    fn take_header(&mut self, file: &str, line: &[u8]) -> bool {
        let Some((separator, position)) = list_header(&String::from_utf8_lossy(line)) else {
            return false;
        };
        let shown = shown(line);
        let text = match separator {
            None => format!(
                "the first line of {file}, `{shown}`, is read as a header; put it in quotes (\"{shown}\") to list a node of \
                 that name"
            ),
            Some(_) => {
                format!("{file} is read as a table with ids in the column `id` of `{shown}`")
            }
        };
        self.note = Some(ReadNote::new("list-header", text));
        self.table = separator.map(|separator| (Delimiter::Byte(separator), position));
        true
    }

    /// Adds the id of a line.
    fn add(&mut self, entry: &Entry) -> Result<(), Fault> {
        let fault = |message: &str, remedy: &str| Fault::new(entry.line, message, remedy);
        let mut columns = Vec::new();
        let text = match self.table {
            None => Cow::Borrowed(&*entry.text),
            Some((delimiter, position)) => {
                lines::split(entry.line, delimiter, &mut columns)?;
                let field = columns.get(position).map(|field| field.text());
                let missing = || fault("a row without an id", "give every row the id of its node");
                field.ok_or_else(missing)?
            }
        };
        let id = match entry.quoted {
            true => quoted_id(&text)?,
            false => id(entry.line, &text)?,
        };
        let before = self.names.len();
        match self.names.intern(id) {
            None => Err(fault(
                "more nodes than 32 bits can number",
                "split the graph",
            )),
            Some(_) if self.names.len() == before => {
                Err(fault("this node is listed twice", "list each node once"))
            }
            Some(_) => Ok(()),
        }
    }
}

/// A quoted id, which may hold anything but NUL bytes.
fn quoted_id(text: &[u8]) -> Result<&str, Fault> {
    if text.contains(&0) {
        return Err(Fault::new(text, BINARY.0, BINARY.1));
    }
    let message = "a node id that is not valid UTF-8";
    std::str::from_utf8(text).map_err(|_| Fault::new(text, message, "save the file as UTF-8"))
}

/// One line of a list, or several when quotes hold line breaks.
pub struct Entry<'a> {
    /// As it is in the file, without the end of the line.
    line: &'a [u8],
    /// Without blanks around it, or what the quotes hold.
    text: Cow<'a, [u8]>,
    quoted: bool,
}

/// Cuts a list into its entries, in one pass.
pub struct Entries<'a> {
    rest: &'a [u8],
    /// Lines before `rest`.
    line: u64,
}

impl<'a> Entries<'a> {
    /// Reads a list from its text.
    pub fn new(text: &'a [u8]) -> Self {
        Entries {
            rest: text,
            line: 0,
        }
    }

    /// The next line, whatever quotes it has.
    fn next_line(&mut self) -> Option<Entry<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.rest).map_or(self.rest.len(), |at| at + 1);
        let line = without_end(self.take(end));
        Some(Entry {
            line,
            text: Cow::Borrowed(line.trim_ascii()),
            quoted: false,
        })
    }

    /// The next id, or a blank line.
    fn next_entry(&mut self) -> Result<Option<Entry<'a>>, Fault> {
        let blanks = self
            .rest
            .iter()
            .take_while(|&&b| b == b' ' || b == b'\t')
            .count();
        if self.rest.get(blanks) != Some(&b'"') {
            return Ok(self.next_line());
        }
        let (field, after) = lines::quoted(self.rest, blanks).map_err(|_| {
            let line = self.rest.split(|&b| b == b'\n').next().unwrap_or_default();
            let remedy = "close the quotes, or double those that belong to the id";
            lines::escaped(line)
                .unwrap_or_else(|| Fault::new(line, "a quoted id does not end", remedy))
        })?;
        let end =
            memchr::memchr(b'\n', &self.rest[after..]).map_or(self.rest.len(), |at| after + at + 1);
        if !self.rest[after..end].trim_ascii().is_empty() {
            let line = without_end(&self.rest[..end]);
            let remedy = "double the quotes within an id, and quote all of it";
            let other = || Fault::new(line, "text after a closing quote", remedy);
            return Err(lines::escaped(line).unwrap_or_else(other));
        }
        let line = without_end(self.take(end));
        Ok(Some(Entry {
            line,
            text: field.text(),
            quoted: true,
        }))
    }

    fn take(&mut self, end: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(end);
        self.line += memchr::memchr_iter(b'\n', taken).count() as u64;
        self.rest = rest;
        taken
    }
}

/// The ids of a list without comments and header, a line each: the companion of an array.
pub fn ids(path: &Path, text: &[u8]) -> Result<Vec<String>> {
    let mut entries = Entries::new(text);
    let mut ids = Vec::new();
    loop {
        let number = entries.line;
        let failed = |fault: Fault| {
            Error::input_at(path, number + 1, &fault.text, fault.message, fault.remedy)
        };
        let Some(entry) = entries.next_entry().map_err(failed)? else {
            return Ok(ids);
        };
        let id = String::from_utf8(entry.text.into_owned());
        ids.push(id.map_err(|e| {
            failed(Fault::new(
                e.as_bytes(),
                "an id that is not valid UTF-8",
                "save the file as UTF-8",
            ))
        })?);
    }
}
