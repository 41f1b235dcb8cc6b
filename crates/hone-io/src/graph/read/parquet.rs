//! Parquet tables: two id columns of integers or strings, perhaps a weight column; in a file, or in the files of a folder.
//!
//! Row groups are read in parallel, as many at a time as memory allows, and kept in the order of the files. Columns may be declared nullable (most writers do) but must not hold a null. Damaged
//! files are handled by [`TableReader`].

use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::basic::Type as Physical;
use parquet::file::reader::Length;
use parquet::schema::types::ColumnDescriptor;

use super::division::Division;
use super::edges::{Chunk, Joined, edges_of};
use super::nodes::{self, NodeList};
use super::options::{InputFormat, ReadNote, ReadOptions, file_name};
use super::source::Source;
use super::survey::{Sizes, Survey};
use super::table::{self, Layout, are_times, is_weight, times_for_weights};
use crate::columnar::{Column, Data, LONGEST_HEADER, Nullable, TableReader, damaged, may_begin};
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::message::{Message, message, set};
use crate::output::parts::data_set;
use crate::parallel;
use crate::progress::Progress;
use hone_graph::number::Ends;

/// Rows per byte of the file beyond which its row count is taken for a lie; run-length encoding
/// makes few bytes of many equal values, but edges differ.
const ROWS_PER_BYTE: u64 = 1 << 10;

/// Rows that are decoded at a time, at most, and bytes that a row then takes: more than one group is only read at a time where
/// this takes a small part of the remaining memory.
const WAVE: u64 = 1 << 22;
const DECODED: u64 = 64;
const SHARE: u64 = 8;

/// A file, or the files of a folder, which have the same columns, and which column is what.
struct Table {
    parts: Vec<TableReader>,
    units: Vec<Unit>,
    layout: Layout,
    note: ReadNote,
    /// Whether the user chose the weight column.
    chosen: bool,
    allowance: Allowance,
}

/// A row group of a file.
#[derive(Debug, Clone, Copy)]
struct Unit {
    part: usize,
    group: usize,
    /// Rows of the file before it.
    before: u64,
}

/// What a table is read from.
pub(super) enum Origin {
    /// A file or a stream.
    Source(Box<Source>),
    /// The files of a folder.
    Folder(PathBuf, Allowance),
}

impl Origin {
    /// What the user named.
    fn path(&self) -> &Path {
        match self {
            Origin::Source(source) => source.path(),
            Origin::Folder(path, _) => path,
        }
    }

    fn allowance(&self) -> Allowance {
        match self {
            Origin::Source(source) => source.allowance(),
            Origin::Folder(_, allowance) => *allowance,
        }
    }

    /// The tables, at least one.
    fn tables(&mut self) -> Result<Vec<TableReader>> {
        let allowance = self.allowance();
        match self {
            Origin::Source(source) => {
                let path = source.path().to_path_buf();
                TableReader::new(&path, data(source, &path)?, allowance).map(|one| vec![one])
            }
            Origin::Folder(folder, _) => {
                let files = data_set(folder)?;
                let open = |at: usize| {
                    let file: &PathBuf = &files[at];
                    TableReader::new(file, Data::of_many(file)?, allowance)
                };
                parallel::map(files.len(), open).into_iter().collect()
            }
        }
    }

    /// Fails for files that have another length or time than when they were opened.
    fn check_unchanged(&self, table: &Table) -> Result<()> {
        match self {
            Origin::Source(source) => source.check_unchanged(),
            Origin::Folder(..) => table
                .parts
                .iter()
                .try_for_each(TableReader::check_unchanged),
        }
    }
}

/// Reads a Parquet file, or all of a folder.
pub(super) fn read(
    mut origin: Origin,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Joined> {
    let path = origin.path().to_path_buf();
    let allowance = origin.allowance();
    let begun = options
        .refuse_idle(InputFormat::Parquet)
        .and_then(|()| nodes::read(options, allowance))
        .and_then(|list| Ok((list, Table::open(&mut origin, options)?)));
    let (list, table) = division.agree(&path, begun, |(list, table)| {
        let (rows, groups) = (table.rows(0..table.units.len()), table.units.len());
        let nodes = list.as_ref().map(NodeList::len);
        format!("{rows} {groups} {nodes:?} {:?}", table.layout)
    })?;
    // All of a stream is in the memory of each process as it is.
    let bytes = match &origin {
        Origin::Source(source) if source.file().is_none() => 0,
        _ => table.parts.iter().map(TableReader::size).sum(),
    };
    let read = |units| {
        let chunks = table.read(units, list.as_ref(), progress);
        // Before errors: of a file that changed, anything may be wrong.
        origin.check_unchanged(&table)?;
        chunks
    };
    let chunks = match division.own(table.units.len(), bytes) {
        None => read(0..table.units.len())?,
        Some(own) => division.exchange(read(own), &path, allowance)?,
    };
    let Table { layout, note, .. } = table;
    if edges_of(&chunks) == 0 {
        let message = "the table has no rows";
        return Err(Error::input(&path, message, "it needs at least one edge"));
    }
    Joined::of_table(chunks, &layout, list, None, vec![note], &path, allowance)
}

/// How large the graph of a file or folder is; its groups are read one after the other, and not kept.
pub(super) fn sizes(mut origin: Origin, options: &ReadOptions) -> Result<Sizes> {
    let table = Table::open(&mut origin, options)?;
    let mut survey = Survey::default();
    for &unit in &table.units {
        let chunk = table.read_unit(unit, None)?;
        survey.add(&chunk, table.rows_of(unit));
    }
    Ok(survey.sizes())
}

/// The bytes of a file or of a stream. A table is read from its end, so all of a stream is kept in memory, as far as the limit
/// allows; what cannot be a table is refused at once.
fn data(source: &mut Source, path: &Path) -> Result<Data> {
    let data = match source.file().map(File::try_clone) {
        Some(file) => Data::from(file.map_err(|error| Error::io(path, error))?),
        None => {
            source.fill(LONGEST_HEADER as usize)?;
            if !source.ahead().is_empty() && !may_begin(source.ahead()) {
                return Err(damaged(path, "it does not begin like one"));
            }
            Data::from(source.take_all()?)
        }
    };
    match data.len() {
        0 => Err(Error::input(
            path,
            "the file is empty",
            "it needs at least one edge",
        )),
        _ => Ok(data),
    }
}

/// What the values of a column are, in a word.
fn kind(column: &ColumnDescriptor) -> &'static str {
    match column.physical_type() {
        _ if column.max_rep_level() > 0 => "lists",
        Physical::BOOLEAN => "booleans",
        Physical::INT32 | Physical::INT64 => "integers",
        Physical::FLOAT | Physical::DOUBLE => "floats",
        Physical::BYTE_ARRAY => "text",
        Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY => "other values",
    }
}

/// Refuses a file whose columns have other names or types than those of the first.
fn check_same(first: &TableReader, other: &TableReader) -> Result<()> {
    let columns = |table: &TableReader| -> Vec<String> {
        let columns = table.schema().columns().iter();
        let named =
            columns.map(|column| format!("`{}` of {}", column.path().string(), kind(column)));
        named.collect()
    };
    let (then, now) = (columns(first), columns(other));
    let place = (0..then.len().max(now.len())).find(|&j| then.get(j) != now.get(j));
    let Some(j) = place else { return Ok(()) };
    let said = |all: &[String]| all.get(j).map_or("nothing".to_owned(), String::clone);
    let message = format!(
        "its columns differ from those of {}: column {j}, from 0, is {} here and {} there",
        first.path().display(),
        said(&now),
        said(&then)
    );
    let remedy = "the files of a folder have the same columns in the same order: write it again, or move it away";
    Err(Error::input(other.path(), message, remedy))
}

impl Table {
    /// Opens a table, and finds out which column is what, by the names in the schema.
    fn open(origin: &mut Origin, options: &ReadOptions) -> Result<Table> {
        let parts = origin.tables()?;
        let path = origin.path().to_path_buf();
        let opened = &parts[0];
        let fail =
            |message: String, remedy: Message| Err(Error::input(opened.path(), message, remedy));
        parts[1..]
            .iter()
            .try_for_each(|other| check_same(opened, other))?;
        let columns = opened.schema().columns();
        let names: Vec<String> = columns
            .iter()
            .map(|column| column.path().string())
            .collect();
        if names.len() < 2 {
            let end = if names.len() == 1 { "" } else { "s" };
            let message = format!("the table has {} column{end}", names.len());
            return fail(message, "an edge needs two id columns".into());
        }
        let named = table::Table {
            names: &names,
            body: &[],
            columns: names.len(),
        };
        let layout = match named.layout(options) {
            Ok(layout) => layout,
            Err((message, remedy)) => return fail(message, remedy),
        };
        let used = [Some(layout.source), Some(layout.target), layout.weight];
        let is_nested =
            |c: &usize| columns[*c].max_rep_level() > 0 || columns[*c].max_def_level() > 1;
        if let Some(column) = used.into_iter().flatten().find(is_nested) {
            let message = format!("column `{}` is nested", names[column]);
            return fail(message, "name a flat column".into());
        }
        let is_flag = |c: &usize| columns[*c].physical_type() == Physical::BOOLEAN;
        if let Some(column) = used.into_iter().flatten().find(is_flag) {
            let remedy =
                "node ids are integers or strings, weights are numbers; name other columns";
            return fail(
                format!("column `{}` holds BOOLEAN values", names[column]),
                remedy.into(),
            );
        }
        let kinds = [layout.source, layout.target].map(|column| kind(&columns[column]));
        if let (["integers", "text"] | ["text", "integers"], None) = (kinds, &layout.kinds) {
            let (source, target) = (&names[layout.source], &names[layout.target]);
            let message = format!(
                "ids of two types: column `{source}` has {}, column `{target}` has {}",
                kinds[0], kinds[1]
            );
            let remedy = message![
                "convert one of them, or tell nodes of two kinds apart with ",
                set("bipartite", true)
            ];
            return fail(message, remedy);
        }
        let note = layout.note(options, &file_name(&path), &named, Vec::new());
        for part in &parts {
            let (rows, bytes) = (part.rows(), part.size());
            if rows > (1 << 20) && rows > bytes.saturating_mul(ROWS_PER_BYTE) {
                return Err(part.damaged(format!("{rows} rows in {bytes} bytes")));
            }
        }
        let units = parts.iter().enumerate().flat_map(|(part, opened)| {
            let mut before = 0;
            (0..opened.groups().len()).map(move |group| {
                let unit = Unit {
                    part,
                    group,
                    before,
                };
                before += opened.rows_of(group);
                unit
            })
        });
        let units = units.collect();
        Ok(Table {
            units,
            parts,
            layout,
            note,
            chosen: options.weight.is_some(),
            allowance: origin.allowance(),
        })
    }

    fn fail(&self, unit: Unit, message: impl Into<Message>, remedy: impl Into<Message>) -> Error {
        Error::input(self.parts[unit.part].path(), message, remedy)
    }

    fn rows_of(&self, unit: Unit) -> u64 {
        self.parts[unit.part].rows_of(unit.group)
    }

    fn rows(&self, units: Range<usize>) -> u64 {
        units.map(|unit| self.rows_of(self.units[unit])).sum()
    }

    /// The edges of some groups, several of them at a time.
    fn read(
        &self,
        units: Range<usize>,
        list: Option<&NodeList>,
        progress: &dyn Progress,
    ) -> Result<Vec<Chunk>> {
        progress.stage("reading", self.rows(units.clone()));
        let (mut chunks, mut next) = (Vec::with_capacity(units.len()), units.start);
        while next < units.end {
            progress.check()?;
            let most = WAVE.min(self.allowance.remaining() / (SHARE * DECODED));
            let mut end = next + 1;
            while end < units.end && self.rows(next..end + 1) <= most {
                end += 1;
            }
            let wave = parallel::map(end - next, |at| {
                let unit = self.units[next + at];
                let chunk = self.read_unit(unit, list);
                progress.advance(self.rows_of(unit));
                chunk
            });
            for chunk in wave {
                chunks.push(chunk?);
            }
            next = end;
        }
        Ok(chunks)
    }

    /// The edges of a group. Errors name it, where there are several.
    fn read_unit(&self, unit: Unit, list: Option<&NodeList>) -> Result<Chunk> {
        self.read_group(unit, list).map_err(|mut error| {
            if let Error::Input { message, .. } = &mut error
                && self.units.len() > 1
            {
                message.push(format!(", in row group {}", unit.group));
            }
            error
        })
    }

    fn read_group(&self, unit: Unit, list: Option<&NodeList>) -> Result<Chunk> {
        let layout = &self.layout;
        let mut sources = self.ids(unit, layout.source)?;
        let mut targets = self.ids(unit, layout.target)?;
        if let Some(names) = &layout.kinds {
            for (ids, name) in [&mut sources, &mut targets].into_iter().zip(names) {
                let prefixed = |row| format!("{name}:{}", text(ids, row));
                *ids = Column::Texts((0..ids.len()).map(prefixed).collect());
            }
        }
        let weights = layout.weight.map(|column| self.weights(unit, column));
        let ends = self.ends(&sources, &targets, unit, list)?;
        Ok(Chunk::new(ends, weights.transpose()?.unwrap_or_default()))
    }

    fn ends(
        &self,
        sources: &Column,
        targets: &Column,
        unit: Unit,
        list: Option<&NodeList>,
    ) -> Result<Ends> {
        let rows = 0..sources.len();
        if let Some(list) = list {
            let find = |ids: &Column, row: usize| {
                let (id, at) = (text(ids, row), unit.before + row as u64);
                let message =
                    || format!("row {at} has node `{id}`, which the node list does not have");
                list.find(&id)
                    .map_err(|remedy| self.fail(unit, message(), &remedy))
            };
            let pair = |row| Ok((find(sources, row)?, find(targets, row)?));
            return Ok(Ends::Nodes(rows.map(pair).collect::<Result<_>>()?));
        }
        let mut ends = Ends::Narrow(Vec::new());
        for row in rows {
            let fits = match (sources, targets) {
                (Column::Integers(u), Column::Integers(v)) => ends.push_integers(u[row], v[row]),
                _ => ends.push(&text(sources, row), &text(targets, row)),
            };
            if !fits {
                return Err(self.fail(
                    unit,
                    "more nodes than 32 bits can number",
                    "split the graph",
                ));
            }
        }
        Ok(ends)
    }

    /// All values of a column of a group, none of which may be null.
    fn values(&self, unit: Unit, column: usize) -> Result<Column> {
        let Nullable { values, present } = self.parts[unit.part].part(unit.group, column)?;
        let Some(present) = present else {
            return Ok(values);
        };
        let null = present.iter().position(|&present| !present).unwrap_or(0);
        let (row, name) = (unit.before + null as u64, &self.parts[0].columns()[column]);
        let message = format!("row {row} has no value in column `{name}`");
        Err(self.fail(unit, message, "drop the rows with nulls"))
    }

    /// A column that has values of another type than it should.
    fn wrong_type(&self, unit: Unit, column: usize, remedy: &str) -> Error {
        let (name, columns) = (&self.parts[0].columns()[column], self.parts[0].schema());
        let kind = columns.column(column).physical_type();
        self.fail(unit, format!("column `{name}` holds {kind} values"), remedy)
    }

    fn ids(&self, unit: Unit, column: usize) -> Result<Column> {
        match self.values(unit, column)? {
            Column::Counts(ids) => {
                let integers = ids.iter().map(|&id| i64::try_from(id));
                Ok(match integers.collect::<Result<Vec<i64>, _>>() {
                    Ok(ids) => Column::Integers(ids),
                    Err(_) => Column::Texts(ids.iter().map(u64::to_string).collect()),
                })
            }
            Column::Texts(ids) => match ids.iter().position(String::is_empty) {
                None => Ok(Column::Texts(ids)),
                Some(row) => {
                    let message = format!("row {} has an empty node id", unit.before + row as u64);
                    Err(self.fail(unit, message, "remove the row"))
                }
            },
            ids @ Column::Integers(_) => Ok(ids),
            Column::Floats(_) | Column::Nodes(_) => {
                let remedy =
                    "node ids must be integers or strings; name other columns or convert them";
                Err(self.wrong_type(unit, column, remedy))
            }
        }
    }

    fn weights(&self, unit: Unit, column: usize) -> Result<Vec<f32>> {
        let weights: Vec<f32> = match self.values(unit, column)? {
            Column::Floats(weights) => weights,
            Column::Integers(weights) => {
                self.check_times(unit, column, &weights.iter().map(|&weight| weight as f64))?;
                weights.into_iter().map(|weight| weight as f32).collect()
            }
            Column::Counts(weights) => {
                self.check_times(unit, column, &weights.iter().map(|&weight| weight as f64))?;
                weights.into_iter().map(|weight| weight as f32).collect()
            }
            Column::Texts(_) | Column::Nodes(_) => {
                let remedy = "weights must be numbers; name another column";
                return Err(self.wrong_type(unit, column, remedy));
            }
        };
        let is_wrong = |weight: &f32| !(weight.is_finite() && *weight >= 0.0);
        if let Some(row) = weights.iter().position(is_wrong) {
            let message = format!(
                "row {} has the weight {}",
                unit.before + row as u64,
                weights[row]
            );
            return Err(self.fail(unit, message, "weights must be finite and ≥ 0"));
        }
        if weights.contains(&0.0)
            && let Some((row, weight)) = self.parts[unit.part].vanishing(unit.group, column)?
        {
            let message = format!("row {} has the weight {weight:e}", unit.before + row as u64);
            let remedy = "it is below the range of 32-bit floating point: scale them up";
            return Err(self.fail(unit, message, remedy));
        }
        Ok(weights)
    }

    /// Refuses times or dates that nobody called weights.
    fn check_times(
        &self,
        unit: Unit,
        column: usize,
        values: &(impl Iterator<Item = f64> + Clone),
    ) -> Result<()> {
        let name = &self.parts[0].columns()[column];
        if self.chosen || is_weight(name) || !are_times(values) {
            return Ok(());
        }
        let (message, remedy) = times_for_weights(&format!("column `{name}`"));
        Err(self.fail(unit, message, remedy))
    }
}

/// An id as text.
fn text(ids: &Column, row: usize) -> Cow<'_, str> {
    match ids {
        Column::Integers(ids) => Cow::Owned(ids[row].to_string()),
        Column::Texts(ids) => Cow::Borrowed(&ids[row]),
        _ => unreachable!("ids are integers or texts"),
    }
}
