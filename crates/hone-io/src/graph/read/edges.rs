//! Edge lists: one edge per line, two ids and perhaps a weight and other columns.
//!
//! Blocks of lines are parsed in parallel, each to a [`Chunk`] of edges with ids as narrow as possible; then the ids of all chunks
//! become node numbers ([`Joined`]). A canonical integer prints as it was read, so a chunk of integers can still become text when
//! another chunk has names: nothing is read twice. Lines of plain integers, which most large files consist of, are parsed straight
//! from the bytes (`scan_plain`); whatever looks different is left to the general parser.

use std::borrow::Cow;
use std::path::Path;
use std::str;
use std::sync::{Mutex, PoisonError};

use super::blocks::{self, Fault};
use super::division::Division;
use super::lines::{self, Delimiter, Field, id, without_end};
use super::nodes::{self, NodeList};
use super::options::{ReadNote, ReadOptions, TableColumns, file_name, shown};
use super::source::{BINARY, Source};
use super::survey::{Sizes, Survey};
use super::table::{self, Detected, Layout};
use crate::error::{Error, Result};
use crate::graph::{NodeId, NodeIds, copy};
use crate::memory::Allowance;
use crate::message::{message, setting};
use crate::progress::Progress;
use hone_graph::number::{Ends, concat, join_within, narrow};

/// What tables write where a value is missing.
const MISSING: [&str; 8] = ["NA", "N/A", "#N/A", "NULL", "null", "NaN", "nan", "None"];

/// Reads an edge list.
pub(super) fn read(
    mut source: Source,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Joined> {
    let path = source.path().to_path_buf();
    let allowance = source.allowance();
    let begun = nodes::read(options, allowance)
        .and_then(|list| Ok((list, table::detect(&mut source, options)?)));
    let (list, detected) = division.agree(&path, begun, |(list, found)| {
        let nodes = list.as_ref().map(NodeList::len);
        format!("{} {nodes:?} {:?}", source.position(), found.layout)
    })?;
    let Detected {
        layout,
        header,
        note,
    } = detected;
    let naming = list.as_ref().map_or(Naming::Free, Naming::Listed);
    let chunks = division.parse(source, progress, |lines| parse(lines, &layout, &naming))?;
    let edges = edges_of(&chunks);
    if edges == 0 {
        let message = "there are no edges after the header";
        return Err(Error::input(&path, message, "it needs at least one edge"));
    }
    let headers = chunks.iter().map(|chunk| chunk.headers).sum();
    let line = layout.header.as_deref().unwrap_or_default();
    let again = headers_note(headers, line, &file_name(&path));
    let notes = [note].into_iter().chain(again).collect();
    Joined::of_table(chunks, &layout, list, Some(header), notes, &path, allowance)
}

/// How large the graph of an edge list is; its blocks are parsed, and not kept.
pub(super) fn sizes(
    mut source: Source,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Sizes> {
    let layout = table::detect(&mut source, options)?.layout;
    let survey = Mutex::new(Survey::default());
    let counted = || survey.lock().unwrap_or_else(PoisonError::into_inner);
    blocks::parse(source, progress, |lines| {
        parse(lines, &layout, &Naming::Free).map(|chunk| counted().add(&chunk, 0))
    })?;
    Ok(survey
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .sizes())
}

/// A note about lines that repeat the header.
fn headers_note(count: u64, header: &[u8], file: &str) -> Option<ReadNote> {
    let line = shown(header);
    let (text, them) = match count {
        0 => return None,
        1 => (
            format!("1 line of {file} is a further header, `{line}`, and is left out"),
            "it",
        ),
        _ => (
            format!("{count} lines of {file} are further headers, `{line}`, and are left out"),
            "them",
        ),
    };
    let effect = format!("reads {them}, and the first line, as edges");
    Some(ReadNote::new("headers", text).with(&[("header", "false")], &effect))
}

/// A note if a missing value has become a node.
fn missing_note(file: &str, ids: &NodeIds, pairs: &[(u32, u32)]) -> Option<ReadNote> {
    let NodeIds::Text { .. } = ids else {
        return None;
    };
    let is_missing = |&i: &u32| matches!(ids.get(i), NodeId::Text(id) if MISSING.contains(&id));
    let node = (0..ids.len() as u32).find(is_missing)?;
    let edges = pairs
        .iter()
        .filter(|&&(u, v)| u == node || v == node)
        .count();
    let text = format!(
        "`{}` is the id of a node of {file}, with {edges} of its lines; if it stands for a missing value, remove these lines",
        ids.get(node)
    );
    Some(ReadNote::new("missing-ids", text))
}

/// Edges of one block, in order.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) ends: Ends,
    /// One per edge when weights are kept, else none.
    pub(super) weights: Vec<f32>,
    /// Lines that repeat the header.
    pub(super) headers: u64,
}

impl Chunk {
    pub(super) fn new(ends: Ends, weights: Vec<f32>) -> Self {
        Chunk {
            ends,
            weights,
            headers: 0,
        }
    }

    /// Frees unused capacity.
    fn fit(&mut self) {
        match &mut self.ends {
            Ends::Nodes(pairs) | Ends::Narrow(pairs) | Ends::Text(_, pairs) => {
                pairs.shrink_to_fit();
            }
            Ends::Wide(pairs) => pairs.shrink_to_fit(),
        }
        self.weights.shrink_to_fit();
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> u64 {
        let pairs = match &self.ends {
            Ends::Nodes(pairs) | Ends::Narrow(pairs) => 8 * pairs.capacity(),
            Ends::Wide(pairs) => 16 * pairs.capacity(),
            Ends::Text(names, pairs) => 8 * pairs.capacity() + names.bytes(),
        };
        (pairs + 4 * self.weights.capacity()) as u64
    }
}

/// Edges of some chunks.
pub(super) fn edges_of(chunks: &[Chunk]) -> usize {
    chunks.iter().map(|chunk| chunk.ends.len()).sum()
}

/// A file's content, ready for the builder.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) ids: NodeIds,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) weights: Option<Vec<f32>>,
    pub(super) ignored_weights: u64,
    /// Whether each pair stands for both directions whatever the options say.
    pub(super) symmetric: bool,
    /// The columns, of a table.
    pub(super) columns: Option<TableColumns>,
    /// What its owner should know.
    pub(super) notes: Vec<ReadNote>,
}

impl Joined {
    /// Edges between nodes with these ids.
    pub(super) fn new(ids: NodeIds, pairs: Vec<(u32, u32)>, weights: Option<Vec<f32>>) -> Joined {
        Joined {
            ids,
            pairs,
            weights,
            ignored_weights: 0,
            symmetric: false,
            columns: None,
            notes: Vec::new(),
        }
    }

    /// A file whose chunks have final node numbers ([`Ends::Nodes`]).
    pub(super) fn numbered(chunks: Vec<Chunk>, weighted: bool, ids: NodeIds) -> Joined {
        let (ends, weights) = unzip(chunks, weighted);
        let pairs = concat(ends.into_iter().map(narrow).collect(), |node| node);
        Joined::new(ids, pairs, weights)
    }

    /// A table, with the notes on what it has.
    pub(super) fn of_table(
        chunks: Vec<Chunk>,
        layout: &Layout,
        list: Option<NodeList>,
        header: Option<bool>,
        mut notes: Vec<ReadNote>,
        path: &Path,
        allowance: Allowance,
    ) -> Result<Joined> {
        let (edges, weighted) = (edges_of(&chunks), layout.weight.is_some());
        let joined = match list {
            Some(mut list) => {
                notes.extend(list.note.take());
                Joined::numbered(chunks, weighted, list.into_ids())
            }
            None => {
                allowance.check(path, 8 * edges as u64)?;
                let (ends, weights) = unzip(chunks, weighted);
                let room = |more: u64| allowance.check(path, more);
                let too_many = || {
                    let message = format!("more than {} nodes", u32::MAX);
                    let remedy = "split the graph; nodes are numbered in 32 bits";
                    Error::input(path, message, remedy)
                };
                let (ids, pairs) = join_within(ends, &room)?.ok_or_else(too_many)?;
                Joined::new(ids, pairs, weights)
            }
        };
        let file = file_name(path);
        notes.extend(missing_note(&file, &joined.ids, &joined.pairs));
        let ignored = layout.ignored_weight.map_or(0, |_| edges as u64);
        Ok(Joined {
            columns: Some(layout.facts(header)),
            ignored_weights: ignored,
            notes,
            ..joined
        })
    }
}

fn unzip(chunks: Vec<Chunk>, weighted: bool) -> (Vec<Ends>, Option<Vec<f32>>) {
    let weights = || {
        chunks
            .iter()
            .flat_map(|chunk| &chunk.weights)
            .copied()
            .collect()
    };
    let weights = weighted.then(weights);
    (
        chunks.into_iter().map(|chunk| chunk.ends).collect(),
        weights,
    )
}

/// What the ids of a file are.
pub(super) enum Naming<'a> {
    /// Anything; nodes are what occurs.
    Free,
    /// Only names of a node list.
    Listed(&'a NodeList),
    /// Only numbers 1..=n.
    Numbered(u32),
}

/// Parses whole lines.
pub(super) fn parse(lines: &[u8], layout: &Layout, naming: &Naming) -> Result<Chunk, Fault> {
    let pairs = Vec::with_capacity(lines.len() / 12 + 1);
    let ends = if let Naming::Free = naming {
        Ends::Narrow(pairs)
    } else {
        Ends::Nodes(pairs)
    };
    let mut chunk = Chunk::new(ends, Vec::new());
    let mut fields = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if layout.is_plain() {
            at = scan_plain(lines, at, layout, naming, &mut chunk);
            if at == lines.len() {
                break;
            }
        }
        at += lines[at..]
            .iter()
            .take_while(|&&byte| byte == b'\n')
            .count();
        let end = memchr::memchr(b'\n', &lines[at..]).map_or(lines.len(), |length| at + length + 1);
        let line = without_end(&lines[at..end]);
        cut(line, layout, &mut fields, &mut chunk)
            .and_then(|is_edge| {
                if is_edge {
                    parse_line(line, &fields, layout, naming, &mut chunk)
                } else {
                    Ok(())
                }
            })
            .map_err(|fault| {
                fault.on_line(memchr::memchr_iter(b'\n', &lines[..at]).count() as u64)
            })?;
        at = end;
    }
    chunk.fit();
    Ok(chunk)
}

/// Cuts a line into its fields, unless it says nothing; whether it is an edge.
fn cut<'a>(
    line: &'a [u8],
    layout: &Layout,
    fields: &mut Vec<Field<'a>>,
    chunk: &mut Chunk,
) -> Result<bool, Fault> {
    lines::check_width(line, |byte| layout.delimiter.begins_with(byte))?;
    match line.iter().find(|b| !b.is_ascii_whitespace()) {
        None => Ok(false),
        Some(b'\\') if line == copy::END && layout.delimiter == Delimiter::Copy => Ok(false),
        Some(&mark) if layout.comments.contains(&mark) => match layout.comments_lead {
            false => Ok(false),
            true => Err(lines::late_comment(line, mark)),
        },
        Some(_) if layout.header.as_deref() == Some(line) => {
            chunk.headers += 1;
            Ok(false)
        }
        Some(_) => lines::split(line, layout.delimiter, fields).map(|()| true),
    }
}

/// Takes plain integer lines from `at` for as long as there are some; returns where the rest begins.
fn scan_plain(
    lines: &[u8],
    mut at: usize,
    layout: &Layout,
    naming: &Naming,
    chunk: &mut Chunk,
) -> usize {
    // Numbers from 1 become node numbers at once; a 0 wraps round and is too large.
    let (pairs, first, nodes) = match (naming, &mut chunk.ends) {
        (Naming::Free, Ends::Narrow(pairs)) => (pairs, 0, u32::MAX),
        (&Naming::Numbered(n), Ends::Nodes(pairs)) if n > 0 => (pairs, 1, n - 1),
        _ => return at,
    };
    if layout.columns == 2 {
        while let Some((u, v, next)) = plain_pair(lines, at, layout.delimiter) {
            let (u, v) = (u.wrapping_sub(first), v.wrapping_sub(first));
            if u.max(v) > nodes {
                break;
            }
            pairs.push((u, v));
            at = next;
        }
        return at;
    }
    while let Some((u, v, field, next)) = plain_triple(lines, at, layout.delimiter) {
        let (u, v) = (u.wrapping_sub(first), v.wrapping_sub(first));
        if u.max(v) > nodes {
            break;
        }
        if layout.weight.is_some() {
            let Ok(weight) = weight(field) else { break };
            chunk.weights.push(weight);
        }
        pairs.push((u, v));
        at = next;
    }
    at
}

/// Two canonical integers within u32 that are a whole line from `at`, and where the next begins.
#[inline]
fn plain_pair(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<(u32, u32, usize)> {
    let (u, v, at) = two_numbers(bytes, at, delimiter)?;
    Some((u, v, line_end(bytes, at)?))
}

/// The same with one more field, neither empty nor quoted.
#[inline]
fn plain_triple(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<(u32, u32, &[u8], usize)> {
    let (u, v, at) = two_numbers(bytes, at, delimiter)?;
    let begin = gap(bytes, at, delimiter)?;
    // Where symbols separate columns, the first of them alone already ends the field: the general parser decides.
    let inside =
        |byte: &&u8| byte.is_ascii_graphic() && **byte != b'"' && !delimiter.begins_with(**byte);
    let end = begin + bytes[begin..].iter().take_while(inside).count();
    if begin == end {
        None
    } else {
        Some((u, v, &bytes[begin..end], line_end(bytes, end)?))
    }
}

#[inline]
fn two_numbers(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<(u32, u32, usize)> {
    let (u, at) = number(bytes, at)?;
    let (v, at) = number(bytes, gap(bytes, at, delimiter)?)?;
    Some((u, v, at))
}

/// Where the delimiter that begins at `at` ends.
#[inline]
fn gap(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<usize> {
    let mut at = match (delimiter, *bytes.get(at)?) {
        (Delimiter::Blanks, b' ' | b'\t') => at + 1,
        (Delimiter::Byte(wanted), found) if wanted == found => return Some(at + 1),
        (Delimiter::Copy, b'\t') => return Some(at + 1),
        (Delimiter::Symbols(symbols), _) if delimiter.begins(&bytes[at..]) => {
            return Some(at + symbols.as_bytes().len());
        }
        _ => return None,
    };
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    Some(at)
}

/// Where the next line begins, when this one ends at `at`.
#[inline]
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at) {
        Some(b'\n') => Some(at + 1),
        Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => Some(at + 2),
        None => Some(at),
        Some(_) => None,
    }
}

/// A canonical integer within u32 from `at`, and where it ends.
#[inline]
fn number(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let first = bytes.get(at)?.wrapping_sub(b'0');
    if first > 9 {
        return None;
    }
    let (mut value, mut end) = (u64::from(first), at + 1);
    while let Some(byte) = bytes.get(end) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    let digits = end - at;
    if digits > 10 || (first == 0 && digits > 1) {
        return None;
    }
    Some((u32::try_from(value).ok()?, end))
}

/// Adds the edge of one line that says something.
fn parse_line(
    line: &[u8],
    fields: &[Field],
    layout: &Layout,
    naming: &Naming,
    chunk: &mut Chunk,
) -> Result<(), Fault> {
    if fields.len() != layout.columns {
        return Err(wrong_columns(line, fields.len(), layout));
    }
    let ends = [fields[layout.source], fields[layout.target]];
    for end in ends {
        lines::check_end(line, end, layout.doubtful)?;
    }
    let (u, v) = (ends[0].text(), ends[1].text());
    let (mut u, mut v) = (Cow::Borrowed(id(line, &u)?), Cow::Borrowed(id(line, &v)?));
    if let Some([left, right]) = &layout.kinds {
        (u, v) = (format!("{left}:{u}").into(), format!("{right}:{v}").into());
    }
    let (u, v) = (&*u, &*v);
    match (naming, &mut chunk.ends) {
        (Naming::Listed(names), Ends::Nodes(pairs)) => {
            pairs.push((listed(names, u)?, listed(names, v)?));
        }
        (&Naming::Numbered(n), Ends::Nodes(pairs)) => {
            pairs.push((numbered(line, u, n)?, numbered(line, v, n)?));
        }
        (_, ends) => {
            if !ends.push(u, v) {
                return Err(Fault::new(
                    line,
                    "more nodes than 32 bits can number",
                    "split the graph",
                ));
            }
        }
    }
    if let Some(column) = layout.weight {
        let field = fields[column];
        if field.is_null() {
            let remedy = "give the edge a weight, or leave it out";
            return Err(Fault::new(
                line,
                "a null (\\N) in place of a weight",
                remedy,
            ));
        }
        chunk.weights.push(weight(&field.text())?);
    }
    Ok(())
}

fn wrong_columns(line: &[u8], found: usize, layout: &Layout) -> Fault {
    if let Some(fault) = lines::escaped(line) {
        return fault;
    }
    let message = format!(
        "{found} column{} where {} are expected",
        if found == 1 { "" } else { "s" },
        layout.columns
    );
    let remedy = match has_comment(line) {
        true => "a comment needs its own line; remove it from this one, or quote the id".into(),
        false => message![
            format!("columns are separated by {}; ", layout.delimiter.name()),
            "fix the line, quote a field that has one, or name what separates them with ",
            setting("delimiter")
        ],
    };
    let fault = Fault::new(line, message, remedy);
    if line.contains(&0) {
        Fault::new(line, BINARY.0, BINARY.1)
    } else {
        fault
    }
}

/// Whether ` # ` is inside a line.
fn has_comment(line: &[u8]) -> bool {
    [b" # ", b" % "]
        .iter()
        .any(|mark| memchr::memmem::find(line, *mark).is_some())
}

fn listed(list: &NodeList, id: &str) -> Result<u32, Fault> {
    list.find(id).map_err(|remedy| {
        Fault::new(
            id.as_bytes(),
            "a node that the node list does not have",
            remedy,
        )
    })
}

fn numbered(line: &[u8], id: &str, n: u32) -> Result<u32, Fault> {
    match id.parse::<u64>() {
        Ok(number) if (1..=u64::from(n)).contains(&number) => Ok((number - 1) as u32),
        Ok(number) => {
            let message = format!("index {number} is not within 1..{n}, the size in the header");
            Err(Fault::new(
                line,
                message,
                "indices count from 1; fix the size or the entry",
            ))
        }
        Err(_) => Err(Fault::new(
            line,
            format!("`{id}` is not an index"),
            "indices are whole numbers from 1",
        )),
    }
}

/// Whether a number has a digit other than 0 before its exponent.
fn text_is_not_zero(field: &[u8]) -> bool {
    let digits = field
        .iter()
        .take_while(|byte| !byte.eq_ignore_ascii_case(&b'e'));
    digits.into_iter().any(|byte| (b'1'..=b'9').contains(byte))
}

/// A weight, finite and not negative.
pub(super) fn weight(field: &[u8]) -> Result<f32, Fault> {
    let fault = |message: &str, remedy: &str| Err(Fault::new(field, message, remedy));
    let number = |text: &str| text.parse::<f32>().ok();
    let Some(weight) = str::from_utf8(field).ok().and_then(number) else {
        if str::from_utf8(field).is_ok_and(|text| number(&text.replacen(',', ".", 1)).is_some()) {
            return fault("a weight with a decimal comma", "write decimal points");
        }
        let message = "a weight that is not a number";
        return Err(Fault::new(field, message, table::name_weights()));
    };
    if weight.is_nan() {
        return fault(
            "a weight that is not a number",
            "remove the edge or give it a weight",
        );
    }
    if weight.is_infinite() {
        return fault(
            "a weight that is infinite or beyond 32-bit floating point",
            "scale the weights down",
        );
    }
    if weight == 0.0 && text_is_not_zero(field) {
        return fault(
            "a weight below the range of 32-bit floating point",
            "scale the weights up, or write 0",
        );
    }
    if weight < 0.0 {
        return fault(
            "a negative weight",
            "weights must be ≥ 0; shift them, or read without weights",
        );
    }
    // Adding zero turns -0 into 0.
    Ok(weight + 0.0)
}
