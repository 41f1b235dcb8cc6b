//! Node lists: one id per line, in the order the nodes shall have.
//!
//! The whole line is the id, blanks and delimiters inside included; blanks around it are not. An id in
//! quotes is taken as it is (quotes within doubled), may hold line breaks and may be empty: this is how the
//! lists that are written here quote ids ([`super::super::quoted_line`]). A first line that is the name of an
//! id column (`id`, `node`, …) is a header unless it is quoted; if it names several columns, the list is a table.

use std::borrow::Cow;
use std::path::Path;

use super::super::NodeIds;
use super::blocks::Fault;
use super::comments::Comment;
use super::comments::{Tally, is_tight, marks};
use super::fields::{self, Delimiter, id, without_end};
use super::options::ReadOptions;
use super::reading::{ReadNote, shown};
use super::source::{BINARY, Source};
use super::vocabulary::is_known;
use crate::error::{Error, Result};
use crate::graph::quote::list_header;
use crate::memory::Allowance;
use hone_graph::Names;

/// Comments before the first id that are kept in mind because they could be ids, their longest, and how many have a note.
const SUSPECTS: usize = 1000;
const LONGEST_SUSPECT: usize = 1 << 12;
const NOTED: usize = 3;
/// Ids between two looks at the memory that is held.
const WATCH: usize = 1 << 14;

/// A node list as it was read.
pub(super) struct NodeList {
    names: Names,
    /// Lines at its beginning that are taken for comments or a header, and could be ids.
    left_out: Vec<String>,
    /// What is to be noted about it.
    pub(super) notes: Vec<ReadNote>,
    /// What is to be noted about its first line, if no edge has that node.
    first: Option<ReadNote>,
}

impl NodeList {
    /// The node with this id; else what to do about it.
    pub(super) fn find(&self, id: &str) -> Result<u32, String> {
        self.names.find(id).ok_or_else(|| {
            if self.left_out.iter().any(|line| line == id) {
                return format!(
                    "its line in the node list is taken for a comment or a header; quote it there: \"{id}\""
                );
            }
            "add it to the node list, on its own line, or leave the list out".into()
        })
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn into_ids(self) -> NodeIds {
        self.names.into_ids()
    }

    /// What [`first_note`] decides about.
    pub(super) fn take_first(&mut self) -> Option<ReadNote> {
        self.first.take()
    }
}

/// A note about a first line that is called like a column, where no edge has the node of that name: the first.
pub(super) fn first_note(note: Option<ReadNote>, pairs: &[(u32, u32)]) -> Option<ReadNote> {
    note.filter(|_| !pairs.iter().any(|&(u, v)| u == 0 || v == 0))
}

/// The list of the options, if there is one.
pub(super) fn read(options: &ReadOptions, allowance: Allowance) -> Result<Option<NodeList>> {
    options
        .nodes
        .as_deref()
        .map(|path| read_list(path, options.comment, allowance))
        .transpose()
}

fn read_list(path: &Path, comment: Option<Comment>, allowance: Allowance) -> Result<NodeList> {
    let name = path
        .to_str()
        .ok_or_else(|| Error::config("nodes", "the path of the node list is not valid UTF-8"))?;
    let mut source = Source::open(path, allowance)?;
    source.check_text("give one id per line, or leave it out")?;
    let before = source.lines();
    let text = source.take_all()?;
    let mut list = List::new(name, comment);
    let mut entries = Entries::new(&text);
    loop {
        let number = entries.line;
        let failed = |fault: Fault| fault.on_line(number).into_error(&source, before);
        let entry = if list.table.is_some() {
            Ok(entries.next_line())
        } else {
            entries.next_entry()
        };
        let Some(entry) = entry.map_err(failed)? else {
            break;
        };
        list.add(&entry).map_err(failed)?;
        if list.names.len().is_multiple_of(WATCH) {
            allowance.check(path, list.names.growth(WATCH))?;
        }
    }
    if list.names.is_empty() {
        let quote =
            "give one id per line, in quotes where it begins with # or %; or leave the list out";
        let remedy = if list.skipped.is_empty() {
            "give one id per line, or leave it out"
        } else {
            quote
        };
        return Err(Error::input(path, "the node list has no nodes", remedy));
    }
    let notes = list.notes();
    Ok(NodeList {
        names: list.names,
        left_out: list.skipped,
        notes,
        first: list.first,
    })
}

/// A list as it is read.
struct List<'a> {
    file: &'a str,
    names: Names,
    marks: &'static [u8],
    /// Whether the user said what begins comments.
    asked: bool,
    /// Whether a line with an id or a header was met.
    begun: bool,
    /// Delimiter and position of the ids, when the list is a table.
    table: Option<(Delimiter, usize)>,
    header: Option<ReadNote>,
    /// About the first line, if it is called like a column.
    first: Option<ReadNote>,
    read: Tally,
    /// Lines before the first id that are left out, and could be ids.
    skipped: Vec<String>,
}

impl<'a> List<'a> {
    fn new(file: &'a str, comment: Option<Comment>) -> Self {
        List {
            file,
            names: Names::new(),
            marks: marks(comment),
            asked: comment.is_some(),
            begun: false,
            table: None,
            header: None,
            first: None,
            read: Tally::default(),
            skipped: Vec::new(),
        }
    }

    /// Adds what a line has.
    fn add(&mut self, entry: &Entry) -> Result<(), Fault> {
        if !entry.quoted && (entry.text.is_empty() || self.is_comment(&entry.text)) {
            return Ok(());
        }
        let is_first = !std::mem::replace(&mut self.begun, true);
        if is_first && !entry.quoted {
            if self.is_header(&entry.text) {
                return Ok(());
            }
            self.doubt(&entry.text);
        }
        let mut columns = Vec::new();
        let text = match self.table {
            None => Cow::Borrowed(&*entry.text),
            Some((delimiter, position)) => {
                fields::split(entry.line, delimiter, &mut columns)?;
                let missing = || {
                    Fault::new(
                        entry.line,
                        "a row without an id",
                        "give every row the id of its node",
                    )
                };
                columns
                    .get(position)
                    .map(|field| field.text())
                    .ok_or_else(missing)?
            }
        };
        let id = if entry.quoted && self.table.is_none() {
            quoted_id(&text)?
        } else {
            id(entry.line, &text)?
        };
        let before = self.names.len();
        match self.names.intern(id) {
            None => Err(Fault::new(
                entry.line,
                "more nodes than 32 bits can number",
                "split the graph",
            )),
            Some(_) if self.names.len() == before => Err(Fault::new(
                entry.line,
                "this node is listed twice",
                "list each node once",
            )),
            Some(_) => Ok(()),
        }
    }

    /// Whether a line is a comment: before the first id, or where the user says so.
    fn is_comment(&mut self, line: &[u8]) -> bool {
        if !line.first().is_some_and(|first| self.marks.contains(first)) {
            return false;
        }
        if !self.asked && self.begun {
            self.read.add(line);
        } else if !self.asked
            && line.len() <= LONGEST_SUSPECT
            && is_tight(line, self.marks)
            && self.skipped.len() < SUSPECTS
        {
            self.skipped
                .push(String::from_utf8_lossy(line).into_owned());
        }
        self.asked || !self.begun
    }

    fn is_header(&mut self, line: &[u8]) -> bool {
        let text = String::from_utf8_lossy(line);
        let file = self.file.to_owned();
        self.header = match list_header(&text) {
            None => return false,
            Some((None, _)) => {
                self.skipped.push(text.clone().into_owned());
                Some(ReadNote::ListHeader {
                    file,
                    line: shown(line),
                })
            }
            Some((Some(separator), position)) => {
                self.table = Some((Delimiter::Byte(separator), position));
                let column = text
                    .split(char::from(separator))
                    .nth(position)
                    .unwrap_or_default();
                Some(ReadNote::ListTable {
                    file,
                    column: column.trim_matches(['"', ' ']).to_owned(),
                })
            }
        };
        true
    }

    /// Keeps a first line in mind that is called like a column.
    fn doubt(&mut self, line: &[u8]) {
        if is_known(&String::from_utf8_lossy(line)) {
            self.first = Some(ReadNote::ListNoHeader {
                file: self.file.to_owned(),
                line: shown(line),
            });
        }
    }

    fn notes(&self) -> Vec<ReadNote> {
        let mut notes: Vec<ReadNote> = self.header.clone().into_iter().collect();
        let file = self.file.to_owned();
        if self.read.count > 0 {
            let (lines, example) = (self.read.count, shown(&self.read.example));
            notes.push(ReadNote::CommentsRead {
                file: file.clone(),
                lines,
                example,
            });
        }
        let comments = self
            .skipped
            .iter()
            .filter(|line| is_tight(line.as_bytes(), self.marks));
        notes.extend(comments.take(NOTED).map(|line| {
            let line = shown(line.as_bytes());
            ReadNote::ListComment {
                file: file.clone(),
                line,
            }
        }));
        notes
    }
}

/// A quoted id, which may hold anything but NUL bytes.
fn quoted_id(text: &[u8]) -> Result<&str, Fault> {
    if text.contains(&0) {
        return Err(Fault::new(text, BINARY.0, BINARY.1));
    }
    std::str::from_utf8(text).map_err(|_| {
        Fault::new(
            text,
            "a node id that is not valid UTF-8",
            "save the file as UTF-8",
        )
    })
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
        let (field, after) = fields::quoted(self.rest, blanks).map_err(|_| {
            let line = self.rest.split(|&b| b == b'\n').next().unwrap_or_default();
            let remedy = "close the quotes, or double those that belong to the id";
            fields::escaped(line)
                .unwrap_or_else(|| Fault::new(line, "a quoted id does not end", remedy))
        })?;
        let end =
            memchr::memchr(b'\n', &self.rest[after..]).map_or(self.rest.len(), |at| after + at + 1);
        if !self.rest[after..end].trim_ascii().is_empty() {
            let line = without_end(&self.rest[..end]);
            let remedy = "double the quotes within an id, and quote all of it";
            let other = || Fault::new(line, "text after a closing quote", remedy);
            return Err(fields::escaped(line).unwrap_or_else(other));
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
