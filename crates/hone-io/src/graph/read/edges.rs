//! Edge lists: one edge per line, two ids and perhaps a weight and other columns.

use std::borrow::Cow;
use std::path::Path;
use std::str;

use super::super::{NodeId, NodeIds};
use super::blocks::{self, Fault};
use super::columns::Layout;
use super::comments::{Tally, is_tight};
use super::division::Division;
use super::fields::{self, Field, id, without_end};
use super::first;
use super::join::{Chunk, Joined};
use super::layout::{self, Detected, looks_like_edge};
use super::nodes::{self, NodeList};
use super::options::ReadOptions;
use super::reading::{ReadNote, shown};
use super::scan;
use super::sides::{Sides, prefixed};
use super::source::{BINARY, Source};
use super::survey::{Sizes, Survey};
use super::vocabulary::are_names;
use crate::error::{Error, Result};
use crate::progress::Progress;
use hone_graph::number::Ends;

/// What tables write where a value is missing.
const MISSING: [&str; 8] = ["NA", "N/A", "#N/A", "NULL", "null", "NaN", "nan", "None"];

/// A note if such a word has become a node.
fn missing_ids(path: &Path, ids: &NodeIds, pairs: &[(u32, u32)]) -> Option<ReadNote> {
    let NodeIds::Text { .. } = ids else {
        return None;
    };
    let mut nodes = 0..ids.len() as u32;
    let node = nodes.find(|&i| matches!(ids.get(i), NodeId::Text(id) if MISSING.contains(&id)))?;
    let id = ids.get(node).to_string();
    let edges = pairs
        .iter()
        .filter(|&&(u, v)| u == node || v == node)
        .count() as u64;
    Some(ReadNote::MissingIds {
        file: path.display().to_string(),
        id,
        edges,
    })
}

/// Reads an edge list.
pub(super) fn read(
    mut source: Source,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Joined> {
    let path = source.path().to_path_buf();
    let allowance = source.allowance();
    let begun = begin(&mut source, options);
    let begun = division.agree(&path, begun, |(list, found)| {
        format!(
            "{} {:?} {:?}",
            source.position(),
            list.as_ref().map(NodeList::len),
            found.layout
        )
    });
    let (
        mut list,
        Detected {
            layout,
            header,
            mut notes,
            skipped,
            head,
        },
    ) = begun?;
    let naming = list.as_ref().map_or(Naming::Free, Naming::Listed);
    let chunks = division.parse(source, progress, |lines| parse(lines, &layout, &naming))?;
    let edges: usize = chunks.iter().map(|chunk| chunk.ends.len()).sum();
    if edges == 0 {
        return Err(Error::input(
            &path,
            "there are no edges after the header",
            "it needs at least one edge",
        ));
    }
    notes.extend(line_notes(&path, &chunks, skipped, &layout, head));
    let first = list.as_mut().and_then(NodeList::take_first);
    notes.extend(
        list.iter_mut()
            .flat_map(|list| std::mem::take(&mut list.notes)),
    );
    let weighted = layout.weight.is_some();
    let mut joined = match list {
        Some(list) => Joined::numbered(chunks, weighted, list.into_ids()),
        None => Joined::new(chunks, weighted, &path, allowance)?,
    };
    notes.extend(
        layout
            .sides
            .note(&path.display().to_string(), &joined.ids, &joined.pairs),
    );
    notes.extend(nodes::first_note(first, &joined.pairs));
    notes.extend(missing_ids(&path, &joined.ids, &joined.pairs));
    if options.header != Some(false) {
        notes.extend(first::inner_header(
            &path.display().to_string(),
            &joined.ids,
            &joined.pairs,
        ));
    }
    if layout.ignored_weight.is_some() {
        joined.ignored_weights = edges as u64;
    }
    Ok(Joined {
        columns: Some(layout.facts(Some(header))),
        notes,
        ..joined
    })
}

/// The node list, and what the first lines say.
fn begin(source: &mut Source, options: &ReadOptions) -> Result<(Option<NodeList>, Detected)> {
    Ok((
        nodes::read(options, source.allowance())?,
        layout::detect(source, options)?,
    ))
}

/// How large the graph of an edge list is; its blocks are parsed, and not kept.
pub(super) fn sizes(
    mut source: Source,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<Sizes> {
    let layout = layout::detect(&mut source, options)?.layout;
    let survey = Survey::default();
    blocks::parse(source, progress, |lines| {
        parse(lines, &layout, &Naming::Free).map(|chunk| survey.add(&chunk))
    })?;
    Ok(Sizes::seen(&survey, 0))
}

/// Notes about lines that were taken for something that they might not be.
fn line_notes(
    path: &Path,
    chunks: &[Chunk],
    mut skipped: Tally,
    layout: &Layout,
    head: Option<Vec<String>>,
) -> Vec<ReadNote> {
    let (mut read, mut headers, mut edges) = (Tally::default(), Tally::default(), 0);
    for chunk in chunks {
        read.append(&chunk.read);
        skipped.append(&chunk.skipped);
        headers.append(&chunk.headers);
        edges += chunk.ends.len();
    }
    let sizes = head.and_then(|head| first::sizes_note(&head, edges, &path.display().to_string()));
    let headers = layout.headers_note(&headers, path);
    headers
        .into_iter()
        .chain(sizes)
        .chain(comment_notes(path, &read, &skipped))
        .collect()
}

/// Notes about lines that begin like comments.
fn comment_notes(path: &Path, read: &Tally, skipped: &Tally) -> Vec<ReadNote> {
    let file = || path.display().to_string();
    let example = |tally: &Tally| shown(&tally.example);
    let read = (read.count > 0).then(|| ReadNote::CommentsRead {
        file: file(),
        lines: read.count,
        example: example(read),
    });
    let skipped = (skipped.count > 0).then(|| ReadNote::CommentsSkipped {
        file: file(),
        lines: skipped.count,
        example: example(skipped),
    });
    read.into_iter().chain(skipped).collect()
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
    let comments = &layout.comments;
    fields::check_width(line, |byte| layout.delimiter.begins_with(byte))?;
    match line.iter().find(|b| !b.is_ascii_whitespace()) {
        None => Ok(false),
        Some(first) if comments.marks.contains(first) => {
            let fits = fields::split(line, layout.delimiter, fields).is_ok()
                && fields.len() == layout.columns;
            let is_edge = fits && comments.data_later && is_tight(line, comments.marks);
            if is_edge {
                chunk.read.add(line);
            } else if comments.data_later || comments.guessed && looks_like_edge(line, layout) {
                chunk.skipped.add(line);
            }
            Ok(is_edge)
        }
        Some(_) if layout.is_header(line) => {
            chunk.headers.add(line);
            Ok(false)
        }
        Some(_) => fields::split(line, layout.delimiter, fields).map(|()| true),
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
        while let Some((u, v, next)) = scan::pair(lines, at, layout.delimiter) {
            let (u, v) = (u.wrapping_sub(first), v.wrapping_sub(first));
            if u.max(v) > nodes {
                break;
            }
            pairs.push((u, v));
            at = next;
        }
        return at;
    }
    while let Some((u, v, field, next)) = scan::triple(lines, at, layout.delimiter) {
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
    let (u, v) = (fields[layout.source].text(), fields[layout.target].text());
    let (mut u, mut v) = (Cow::Borrowed(id(line, &u)?), Cow::Borrowed(id(line, &v)?));
    let quoted = fields[layout.source].is_quoted() || fields[layout.target].is_quoted();
    if layout.integers && !quoted && are_names(&u, &v) {
        chunk.headers.add(line);
        return Ok(());
    }
    if let Sides::Two([left, right]) = &layout.sides {
        (u, v) = (prefixed(left, &u).into(), prefixed(right, &v).into());
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
        chunk.weights.push(weight(&fields[column].text())?);
    }
    Ok(())
}

fn wrong_columns(line: &[u8], found: usize, layout: &Layout) -> Fault {
    if let Some(fault) = fields::escaped(line) {
        return fault;
    }
    let message = format!(
        "{found} column{} where {} are expected",
        if found == 1 { "" } else { "s" },
        layout.columns
    );
    let remedy = match first::has_comment(line) {
        true => "a comment needs its own line; remove it from this one, or quote the id".to_owned(),
        false => format!(
            "columns are separated by {}; fix the line, quote a field that has one, or name what separates them with the \
             option `delimiter`",
            layout.delimiter.name()
        ),
    };
    let fault = Fault::new(line, message, remedy);
    if line.contains(&0) {
        Fault::new(line, BINARY.0, BINARY.1)
    } else {
        fault
    }
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
        return fault(
            "a weight that is not a number",
            "name the column of the weights with the option `weight`, or read without weights",
        );
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
