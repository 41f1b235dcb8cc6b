//! Detects how a text table of attributes is laid out: delimiter, header, which columns are what.
//!
//! Decided once from the first lines and the graph's ids; every later line must agree.

use super::columns::listed;
use super::request::Request;
use crate::error::Result;
use crate::graph::read::blocks::Fault;
use crate::graph::read::comments::{COMMENTS, skip_idle};
use crate::graph::read::delimiter;
use crate::graph::read::fields::{Delimiter, row};
use crate::graph::read::header::find;
use crate::graph::read::layout::sample;
use crate::graph::read::source::Source;
use crate::graph::{Column, IdIndex};
use crate::hashing::SeededSet;

/// Names of an id column that are known without being asked for.
pub(super) const ID_NAMES: [&str; 7] = [
    "id",
    "node",
    "node_id",
    "nodeid",
    "nodes",
    "index",
    "__index_level_0__",
];
/// Bytes looked at.
const SAMPLE_BYTES: usize = 1 << 16;

/// Bytes that a column takes while a table is read, besides its values: its name three times, and what the parts of the file that
/// are read at the same time have of it.
pub(super) const COLUMN_BYTES: u64 = 640;

/// Where the parts of a row are in a line.
pub(super) struct Layout {
    pub(super) delimiter: Delimiter,
    /// Fields of a line.
    pub(super) fields: usize,
    /// Position of the id.
    pub(super) id: usize,
    /// Positions of the attributes.
    pub(super) used: Vec<usize>,
    /// Their names.
    pub(super) names: Vec<String>,
    /// Whether their numbers are categories.
    pub(super) categorical: Vec<bool>,
}

impl Layout {
    /// Decides the layout; uses up the comments and the header at the beginning.
    pub(super) fn detect(source: &mut Source, request: &Request, ids: &IdIndex) -> Result<Layout> {
        skip_idle(source, COMMENTS, |_| {})?;
        let first = memchr::memchr(b'\n', source.ahead()).unwrap_or(0);
        // Every other byte of the first line may separate two columns.
        let separators = source.ahead()[..first]
            .iter()
            .filter(|byte| !byte.is_ascii_alphanumeric())
            .count();
        request.check_size_beside(0, (separators as u64).saturating_mul(COLUMN_BYTES))?;
        source.fill(SAMPLE_BYTES.max(8 * first))?;
        let lines = sample(source, COMMENTS);
        let Some(head) = lines.first() else {
            return Err(request.fail("the file has only comments or blank lines", NEEDS));
        };
        let cut = |lines: &[Vec<u8>]| match &request.options.delimiter {
            Some(asked) => delimiter::named(asked, "attributes.table.delimiter"),
            None => Ok(delimiter::detect(lines, 1, request.path).delimiter),
        };
        let below = if request.options.header == Some(false) {
            &[]
        } else {
            &lines[1..]
        };
        let (delimiter, first) = match index_header(head, below, cut(below)?, ids) {
            Some(names) => (cut(below)?, names),
            None => {
                let delimiter = cut(&lines)?;
                (
                    delimiter,
                    row(head, delimiter)
                        .map_err(|fault| fault.into_error(source, source.lines()))?,
                )
            }
        };
        let fault = |message: String, remedy: &str| {
            Err(Fault::new(head, message, remedy).into_error(source, source.lines()))
        };
        if head.contains(&b'\r') {
            return fault(
                "carriage returns without line feeds".into(),
                "end lines with LF or CRLF",
            );
        }
        if first.len() < 2 {
            let remedy = "an id and at least one attribute are needed; if something unusual separates them, set \
                          attributes.table.delimiter";
            return fault("only one column".into(), remedy);
        }
        let found = id_and_header(request, &first, ids);
        let found = found.and_then(|(id, header)| Ok((id, header, column_names(&first, header)?)));
        let (id, header, names) = match found {
            Ok(found) => found,
            Err((message, remedy)) => return fault(message, &remedy),
        };
        if header {
            let end =
                memchr::memchr(b'\n', source.ahead()).map_or(source.ahead().len(), |at| at + 1);
            source.skip(end);
        }
        Layout::new(request, delimiter, id, &names)
    }

    fn new(request: &Request, delimiter: Delimiter, id: usize, all: &[String]) -> Result<Layout> {
        let used = request.used(all, Some(id))?;
        let names: Vec<String> = used.iter().map(|&j| all[j].clone()).collect();
        let categorical = names
            .iter()
            .map(|name| request.words || request.options.categorical.contains(name))
            .collect();
        Ok(Layout {
            delimiter,
            fields: all.len(),
            id,
            used,
            names,
            categorical,
        })
    }
}

/// The names of a table whose first line names all columns but the first, which has the ids, as R writes it.
fn index_header(
    head: &[u8],
    below: &[Vec<u8>],
    delimiter: Delimiter,
    ids: &IdIndex,
) -> Option<Vec<String>> {
    let names = row(head, delimiter).ok()?;
    let rows: Vec<Vec<String>> = below
        .iter()
        .map_while(|line| row(line, delimiter).ok())
        .collect();
    let fits = |row: &Vec<String>| row.len() == names.len() + 1;
    let are_nodes = rows.iter().any(|row| ids.find(&row[0]).is_some());
    let is_name = |name: &String| !name.is_empty() && name.parse::<f64>().is_err();
    let is_table =
        !rows.is_empty() && rows.iter().all(fits) && are_nodes && names.iter().all(is_name);
    is_table.then(|| [vec![String::new()], names].concat())
}

/// What an empty file needs.
pub(super) const NEEDS: &str = "it needs one row per node: an id and at least one attribute";

/// The position of the id, and whether the first line is a header; else a message and a remedy.
fn id_and_header(
    request: &Request,
    first: &[String],
    ids: &IdIndex,
) -> Result<(usize, bool), (String, String)> {
    let asked = request.options.header;
    let known = ID_NAMES.iter().find_map(|name| find(first, name));
    let id = match &request.options.id {
        Some(Column::Position(position)) if *position < first.len() => *position,
        Some(Column::Position(position)) => {
            let message = format!(
                "there is no column {position}, only 0 to {}",
                first.len() - 1
            );
            return Err((message, "positions count from 0".into()));
        }
        Some(Column::Name(name)) => {
            let found = first
                .iter()
                .position(|field| field == name)
                .or_else(|| find(first, name));
            return found.map(|id| (id, true)).ok_or_else(|| {
                (
                    format!("there is no column `{name}` for the ids"),
                    format!("the columns are {}", listed(first)),
                )
            });
        }
        None => known.filter(|_| asked != Some(false)).unwrap_or(0),
    };
    let is_node = ids.find(&first[id]).is_some();
    let has_numbers = first
        .iter()
        .enumerate()
        .any(|(j, field)| j != id && field.parse::<f64>().is_ok());
    let looks_so = known == Some(id) || first[id].is_empty() || !is_node && !has_numbers;
    Ok((id, asked.unwrap_or(looks_so)))
}

/// The names in the header; `x` and the position for columns without one.
fn column_names(first: &[String], header: bool) -> Result<Vec<String>, (String, String)> {
    let name = |(j, field): (usize, &String)| {
        if header && !field.is_empty() {
            field.clone()
        } else {
            format!("x{j}")
        }
    };
    let names: Vec<String> = first.iter().enumerate().map(name).collect();
    let mut seen = SeededSet::default();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(twice) => {
            let message = format!("two columns are called `{twice}`");
            Err((
                message,
                "rename one of them; or use attributes.table.header = false".into(),
            ))
        }
        None => Ok(names),
    }
}
