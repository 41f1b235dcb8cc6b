//! Text tables of attributes: an id and values per line, separated by tabs, `|`, commas, semicolons or blanks.
//!
//! Blocks of lines are parsed in parallel and joined in the order of the file; rows of nodes that the
//! graph does not have are only counted. The layout (delimiter, header, which columns are what) is decided once from the first
//! lines and the graph's ids; every later line must agree.

use std::str;

use hone_base::settings::Auto;

use super::columns::{Reading, Values};
use super::{Raw, Request, Rows};
use crate::error::{Error, Result};
use crate::graph::read::blocks::{self, Fault};
use crate::graph::read::lines::{
    self, COMMENTS, Delimiter, Field, is_idle, row, sample, skip_idle, without_end,
};
use crate::graph::read::source::{BINARY, Source};
use crate::graph::read::table::find;
use crate::graph::{Column, IdIndex};
use crate::hashing::SeededSet;
use crate::message::{message, set, setting};

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
const COLUMN_BYTES: u64 = 640;

/// What an empty file needs.
pub(super) const NEEDS: &str = "it needs one row per node: an id and at least one attribute";

/// Reads a text table.
pub(super) fn read(mut source: Source, request: &Request) -> Result<Raw> {
    source.check_text(NEEDS)?;
    let ids = request.ids.index();
    let layout = Layout::detect(&mut source, request, &ids)?;
    let columns = layout.used.len() as u64;
    request.check_size(columns, columns.saturating_mul(COLUMN_BYTES))?;
    let before = source.lines();
    let chunks = blocks::parse(source, request.progress, |lines| {
        Chunk::parse(lines, &layout, &ids)
    })?;
    join(chunks, layout, before, request)
}

/// What a block of lines had.
struct Chunk {
    rows: Rows,
    /// The node of each row, and the lines of the block before it.
    nodes: Vec<u32>,
    lines: Vec<u32>,
    columns: Vec<Values>,
    /// Line and text of the first value of each column.
    first: Vec<Option<(u32, String)>>,
    /// Lines of the block.
    length: u64,
}

impl Chunk {
    /// Parses whole lines.
    fn parse(lines: &[u8], layout: &Layout, ids: &IdIndex) -> Result<Chunk, Fault> {
        let width = layout.used.len();
        let mut chunk = Chunk {
            rows: Rows::default(),
            nodes: Vec::new(),
            lines: Vec::new(),
            columns: vec![Values::Nothing(0); width],
            first: vec![None; width],
            length: memchr::memchr_iter(b'\n', lines).count() as u64,
        };
        let mut fields = Vec::new();
        for (number, line) in lines.split_inclusive(|&b| b == b'\n').enumerate() {
            let line = without_end(line);
            if is_idle(line, COMMENTS) && !is_row(line, layout, ids) {
                continue;
            }
            lines::split(line, layout.delimiter, &mut fields)
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
            let remedy = "give every row the id of its node";
            return Err(Fault::new(line, "a row without an id", remedy));
        }
        self.rows.total += 1;
        let Some(node) = ids.find(id) else {
            self.rows.skip(id);
            return Ok(());
        };
        self.nodes.push(node);
        self.lines.push(number);
        for (c, &j) in layout.used.iter().enumerate() {
            let field = fields[j].text();
            let value = text(line, &field)?;
            let pushed = self.columns[c].push_text(value, layout.readings[c]);
            pushed.map_err(|refusal| {
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
    let (s, expected) = (if found == 1 { "" } else { "s" }, layout.fields);
    let message = format!("{found} field{s} where {expected} are expected");
    let delimiter = layout.delimiter.name();
    let remedy = message![
        format!(
            "fields are separated by {delimiter}; fix the line, quote a field that has one, or name what separates them \
             with "
        ),
        setting("attributes.table.delimiter")
    ];
    Fault::new(line, message, remedy)
}

/// Whether a line that begins like a comment has the row of a node: `#rust,0.5` where `#rust` is one.
fn is_row(line: &[u8], layout: &Layout, ids: &IdIndex) -> bool {
    let mut fields: Vec<Field> = Vec::new();
    layout.delimiter != Delimiter::Blanks
        && lines::split(line, layout.delimiter, &mut fields).is_ok()
        && fields.len() == layout.fields
        && str::from_utf8(&fields[layout.id].text()).is_ok_and(|id| ids.find(id).is_some())
}

/// A field as text.
fn text<'a>(line: &[u8], field: &'a [u8]) -> Result<&'a str, Fault> {
    let text = str::from_utf8(field).map_err(|_| {
        let message = "text that is not valid UTF-8";
        Fault::new(field, message, "save the file as UTF-8")
    })?;
    match field.iter().find(|&&b| b == 0 || b == b'\r') {
        None => Ok(text),
        Some(0) => Err(Fault::new(line, BINARY.0, BINARY.1)),
        Some(_) => {
            let message = "a carriage return within a line";
            Err(Fault::new(line, message, "end lines with LF or CRLF"))
        }
    }
}

/// Joins the blocks in order.
fn join(chunks: Vec<Chunk>, layout: Layout, before: u64, request: &Request) -> Result<Raw> {
    let mut columns = vec![Values::Nothing(0); layout.used.len()];
    let (mut nodes, mut lines, mut rows) = (Vec::new(), Vec::new(), Rows::default());
    let mut start = before + 1;
    for chunk in chunks {
        for (c, part) in chunk.columns.into_iter().enumerate() {
            columns[c].append(part).map_err(|refusal| {
                let (message, remedy) = refusal.explain(&layout.names[c]);
                let (line, text) = chunk.first[c].clone().unwrap_or_default();
                let line = start + u64::from(line);
                Error::input_at(request.path, line, text.as_bytes(), message, remedy)
            })?;
        }
        nodes.extend(chunk.nodes);
        lines.extend(chunk.lines.iter().map(|&line| start + u64::from(line)));
        rows.total += chunk.rows.total;
        rows.unknown += chunk.rows.unknown;
        rows.example = rows.example.or(chunk.rows.example);
        start += chunk.length;
    }
    if rows.total == 0 {
        return Err(request.fail("there are no rows after the header", NEEDS));
    }
    (rows.nodes, rows.lines) = (Some(nodes), Some(lines));
    Ok(Raw {
        names: layout.names,
        columns,
        rows,
    })
}

/// Where the parts of a row are in a line.
struct Layout {
    delimiter: Delimiter,
    /// Fields of a line.
    fields: usize,
    /// Position of the id.
    id: usize,
    /// Positions of the attributes.
    used: Vec<usize>,
    /// Their names.
    names: Vec<String>,
    /// How their values are understood.
    readings: Vec<Reading>,
}

impl Layout {
    /// Decides the layout; uses up the comments and the header at the beginning.
    fn detect(source: &mut Source, request: &Request, ids: &IdIndex) -> Result<Layout> {
        skip_idle(source, COMMENTS, |_| {})?;
        let first = memchr::memchr(b'\n', source.ahead()).unwrap_or(0);
        // Every other byte of the first line may separate two columns.
        let separators = source.ahead()[..first].iter();
        let separators = separators.filter(|byte| !byte.is_ascii_alphanumeric());
        request.check_size(0, (separators.count() as u64).saturating_mul(COLUMN_BYTES))?;
        source.fill(SAMPLE_BYTES.max(8 * first))?;
        let lines = sample(source, COMMENTS);
        let Some(head) = lines.first() else {
            return Err(request.fail("the file has only comments or blank lines", NEEDS));
        };
        let cut = |lines: &[Vec<u8>]| match &request.options.delimiter {
            Auto::Given(asked) => Delimiter::named(asked, "attributes.table.delimiter"),
            Auto::Auto => Ok(lines::detect(lines)),
        };
        let below = match request.options.header {
            Auto::Given(false) => &[],
            _ => &lines[1..],
        };
        let delimiter = cut(below)?;
        let (delimiter, first) = match index_header(head, below, delimiter, ids) {
            Some(names) => (delimiter, Ok(names)),
            None => {
                let delimiter = cut(&lines)?;
                (delimiter, row(head, delimiter))
            }
        };
        let decided = first.and_then(|first| decide(head, &first, request, ids));
        let (id, header, all) =
            decided.map_err(|fault| fault.into_error(source, source.lines()))?;
        if header {
            let end = memchr::memchr(b'\n', source.ahead());
            source.skip(end.map_or(source.ahead().len(), |at| at + 1));
        }
        let used = request.used(&all, Some(id))?;
        let names: Vec<String> = used.iter().map(|&j| all[j].clone()).collect();
        let readings = names.iter().map(|name| request.reading(name));
        Ok(Layout {
            delimiter,
            fields: all.len(),
            id,
            used,
            readings: readings.collect(),
            names,
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
    let rows = below.iter().map_while(|line| row(line, delimiter).ok());
    let rows: Vec<Vec<String>> = rows.collect();
    let fits = |row: &Vec<String>| row.len() == names.len() + 1;
    let are_nodes = rows.iter().any(|row| ids.find(&row[0]).is_some());
    let is_name = |name: &String| !name.is_empty() && name.parse::<f64>().is_err();
    let is_table =
        !rows.is_empty() && rows.iter().all(fits) && are_nodes && names.iter().all(is_name);
    is_table.then(|| [vec![String::new()], names].concat())
}

/// The position of the id, whether the first line is a header, and the names: `x` and the position for columns without one.
fn decide(
    head: &[u8],
    first: &[String],
    request: &Request,
    ids: &IdIndex,
) -> Result<(usize, bool, Vec<String>), Fault> {
    if head.contains(&b'\r') {
        let message = "carriage returns without line feeds";
        return Err(Fault::new(head, message, "end lines with LF or CRLF"));
    }
    if first.len() < 2 {
        let remedy = "an id and at least one attribute are needed; if something unusual separates them, set \
                      attributes.table.delimiter";
        return Err(Fault::new(head, "only one column", remedy));
    }
    let asked = request.options.header;
    let named = request.id_column(first);
    let named = named.map_err(|(message, remedy)| Fault::new(head, message, remedy))?;
    let known = ID_NAMES.iter().find_map(|name| find(first, name));
    let id = named
        .or(known.filter(|_| asked != Auto::Given(false)))
        .unwrap_or(0);
    let is_node = ids.find(&first[id]).is_some();
    let mut others = first.iter().enumerate().filter(|&(j, _)| j != id);
    let has_numbers = others.any(|(_, field)| field.parse::<f64>().is_ok());
    let looks_so = known == Some(id) || first[id].is_empty() || !is_node && !has_numbers;
    let header = matches!(request.options.id, Auto::Given(Column::Name(_))) || asked.or(looks_so);
    let name = |(j, field): (usize, &String)| match header && !field.is_empty() {
        true => field.clone(),
        false => format!("x{j}"),
    };
    let names: Vec<String> = first.iter().enumerate().map(name).collect();
    let mut seen = SeededSet::default();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        let message = format!("two columns are called `{twice}`");
        let no = set("attributes.table.header", false);
        let remedy = message!["rename one of them; or use ", no];
        return Err(Fault::new(head, message, remedy));
    }
    Ok((id, header, names))
}
