//! Parquet tables: two id columns of integers or strings, perhaps a weight column.
//!
//! Read with the column API of the `parquet` crate, one row group after the other. Columns may be
//! declared nullable (most writers do) but must not hold a null. Damaged files are handled by [`TableReader`].

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str;

use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::Length;
use parquet::schema::types::ColumnDescriptor;

use super::division::Division;
use super::edges::{Chunk, Joined, edges_of};
use super::nodes::{self, NodeList};
use super::options::{InputFormat, ReadNote, ReadOptions, file_name};
use super::source::Source;
use super::survey::{Sizes, Survey};
use super::table::{self, Kinds, Layout, are_times, is_weight, times_for_weights};
use crate::columnar::{Data, LONGEST_HEADER, TableReader, damaged, decoded, may_begin};
use crate::error::{Error, Result};
use crate::message::Message;
use crate::progress::Progress;
use hone_graph::number::Ends;

/// Values decoded at once.
const BATCH: usize = 1 << 16;
/// Rows per byte of the file beyond which its row count is taken for a lie; run-length encoding
/// makes few bytes of many equal values, but edges differ.
const ROWS_PER_BYTE: u64 = 1 << 10;

/// A table, and which column is what.
struct Table {
    path: PathBuf,
    opened: TableReader,
    layout: Layout,
    notes: Vec<ReadNote>,
    /// Whether the user chose the weight column.
    chosen: bool,
}

/// Reads a Parquet file.
pub(super) fn read(
    mut source: Source,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Joined> {
    let path = source.path().to_path_buf();
    let allowance = source.allowance();
    let begun = options
        .refuse_idle(InputFormat::Parquet)
        .and_then(|()| nodes::read(options, allowance))
        .and_then(|list| Ok((list, Table::open(&mut source, options)?)));
    let (list, table) = division.agree(&path, begun, |(list, table)| {
        let (rows, groups) = (table.opened.rows(), table.opened.groups().len());
        let nodes = list.as_ref().map(NodeList::len);
        format!("{rows} {groups} {nodes:?} {:?}", table.layout)
    })?;
    // All of a stream is in the memory of each process as it is.
    let bytes = source.file().map_or(0, |_| table.opened.size());
    let groups = table.opened.groups().len();
    let read = |groups| {
        let chunks = table.read(groups, list.as_ref(), progress)?;
        source.check_unchanged().map(|()| chunks)
    };
    let chunks = match division.own(groups, bytes) {
        None => read(0..groups)?,
        Some(own) => division.exchange(read(own), &path, allowance)?,
    };
    let Table { layout, notes, .. } = table;
    if edges_of(&chunks) == 0 {
        let message = "the table has no rows";
        return Err(Error::input(&path, message, "it needs at least one edge"));
    }
    Joined::of_table(chunks, &layout, list, None, notes, &path, allowance)
}

/// How large the graph of a file is; its groups are read one after the other, and not kept.
pub(super) fn sizes(mut source: Source, options: &ReadOptions) -> Result<Sizes> {
    let table = Table::open(&mut source, options)?;
    let mut survey = Survey::default();
    for group in 0..table.opened.groups().len() {
        let chunk = table.read_group(group, 0, None)?;
        survey.add(&chunk, table.opened.rows_of(group));
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

/// The values of an id column.
enum Ids {
    Integers(Vec<i64>),
    Text(Vec<String>),
}

impl Ids {
    fn len(&self) -> usize {
        match self {
            Ids::Integers(ids) => ids.len(),
            Ids::Text(ids) => ids.len(),
        }
    }

    fn text(&self, row: usize) -> String {
        match self {
            Ids::Integers(ids) => ids[row].to_string(),
            Ids::Text(ids) => ids[row].clone(),
        }
    }
}

impl Table {
    /// Opens a table, and finds out which column is what, by the names in the schema.
    fn open(source: &mut Source, options: &ReadOptions) -> Result<Table> {
        let path = source.path().to_path_buf();
        let fail = |message: String, remedy: &str| Err(Error::input(&path, message, remedy));
        let opened = TableReader::new(&path, data(source, &path)?, source.allowance())?;
        let columns = opened.schema().columns();
        let names: Vec<String> = columns
            .iter()
            .map(|column| column.path().string())
            .collect();
        if names.len() < 2 {
            let end = if names.len() == 1 { "" } else { "s" };
            let message = format!("the table has {} column{end}", names.len());
            return fail(message, "an edge needs two id columns");
        }
        let named = table::Table {
            names: &names,
            body: &[],
            columns: names.len(),
        };
        let layout = match named.layout(options) {
            Ok(layout) => layout,
            Err((message, remedy)) => return Err(Error::input(&path, message, remedy)),
        };
        let used = [Some(layout.source), Some(layout.target), layout.weight];
        let is_nested =
            |c: &usize| columns[*c].max_rep_level() > 0 || columns[*c].max_def_level() > 1;
        if let Some(column) = used.into_iter().flatten().find(is_nested) {
            return fail(
                format!("column `{}` is nested", names[column]),
                "name a flat column",
            );
        }
        let notes = layout.notes(options, &file_name(&path), &named);
        let (rows, bytes) = (opened.rows(), opened.size());
        if rows > (1 << 20) && rows > bytes.saturating_mul(ROWS_PER_BYTE) {
            return Err(opened.damaged(format!("{rows} rows in {bytes} bytes")));
        }
        let chosen = options.weight.is_some();
        Ok(Table {
            path,
            opened,
            layout,
            notes,
            chosen,
        })
    }

    fn fail(&self, message: impl Into<Message>, remedy: impl Into<Message>) -> Error {
        Error::input(&self.path, message, remedy)
    }

    /// The edges of some groups.
    fn read(
        &self,
        groups: Range<usize>,
        list: Option<&NodeList>,
        progress: &dyn Progress,
    ) -> Result<Vec<Chunk>> {
        let rows = |groups: Range<usize>| groups.map(|group| self.opened.rows_of(group)).sum();
        progress.stage("reading", rows(groups.clone()));
        let mut before: u64 = rows(0..groups.start);
        let read = |group| {
            progress.check()?;
            let chunk = self.read_group(group, before, list)?;
            before += self.opened.rows_of(group);
            progress.advance(self.opened.rows_of(group));
            Ok(chunk)
        };
        groups.map(read).collect()
    }

    /// The edges of a group, with so many rows before it.
    fn read_group(&self, group: usize, before: u64, list: Option<&NodeList>) -> Result<Chunk> {
        let layout = &self.layout;
        let mut sources = self.ids(group, layout.source, before)?;
        let mut targets = self.ids(group, layout.target, before)?;
        if let Kinds::Two(names) = &layout.kinds {
            for (ids, name) in [&mut sources, &mut targets].into_iter().zip(names) {
                let prefixed = |row| format!("{name}:{}", ids.text(row));
                *ids = Ids::Text((0..ids.len()).map(prefixed).collect());
            }
        }
        let weights = layout
            .weight
            .map(|column| self.weights(group, column, before));
        let weights = weights.transpose()?;
        let rows = sources.len();
        let promised = self.opened.rows_of(group);
        let weight_rows = weights.as_ref().map_or(rows, Vec::len);
        if targets.len() != rows || weight_rows != rows || rows as u64 != promised {
            let what = format!("columns of {rows} and other rows in a group of {promised}");
            return Err(self.opened.damaged(what));
        }
        let ends = self.ends(&sources, &targets, before, list)?;
        Ok(Chunk::new(ends, weights.unwrap_or_default()))
    }

    fn ends(
        &self,
        sources: &Ids,
        targets: &Ids,
        before: u64,
        list: Option<&NodeList>,
    ) -> Result<Ends> {
        let rows = 0..sources.len();
        if let Some(list) = list {
            let find = |ids: &Ids, row: usize| {
                let (id, at) = (ids.text(row), before + row as u64);
                let message =
                    || format!("row {at} has node `{id}`, which the node list does not have");
                list.find(&id)
                    .map_err(|remedy| self.fail(message(), &remedy))
            };
            let pair = |row| Ok((find(sources, row)?, find(targets, row)?));
            return Ok(Ends::Nodes(rows.map(pair).collect::<Result<_>>()?));
        }
        let mut ends = Ends::Narrow(Vec::new());
        for row in rows {
            let fits = match (sources, targets) {
                (Ids::Integers(u), Ids::Integers(v)) => ends.push_integers(u[row], v[row]),
                _ => ends.push(&sources.text(row), &targets.text(row)),
            };
            if !fits {
                return Err(self.fail("more nodes than 32 bits can number", "split the graph"));
            }
        }
        Ok(ends)
    }

    /// A column that has values of another type than it should.
    fn wrong_type(&self, column: &ColumnDescriptor, remedy: &str) -> Error {
        let (path, kind) = (column.path(), column.physical_type());
        self.fail(format!("column `{path}` holds {kind} values"), remedy)
    }

    fn ids(&self, group: usize, column: usize, before: u64) -> Result<Ids> {
        let description = self.opened.schema().column(column);
        let unsigned = is_unsigned(&description);
        match self.opened.column_of_group(group, column)? {
            ColumnReader::Int32ColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                let widen = |v: i32| {
                    if unsigned {
                        i64::from(v as u32)
                    } else {
                        i64::from(v)
                    }
                };
                Ok(Ids::Integers(values.into_iter().map(widen).collect()))
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                if unsigned && values.iter().any(|&v| v < 0) {
                    let text = |v: i64| (v as u64).to_string();
                    return Ok(Ids::Text(values.into_iter().map(text).collect()));
                }
                Ok(Ids::Integers(values))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                Ok(Ids::Text(self.names(&values, before)?))
            }
            _ => {
                let remedy =
                    "node ids must be integers or strings; name other columns or convert them";
                Err(self.wrong_type(&description, remedy))
            }
        }
    }

    fn names(&self, values: &[ByteArray], before: u64) -> Result<Vec<String>> {
        // A dictionary may have made many of few bytes.
        let bytes = values.iter().map(|value| value.len() as u64 + 24).sum();
        self.opened.check_memory(bytes)?;
        let name = |(row, value): (u64, &ByteArray)| {
            let fail =
                |what: &str, remedy: &str| Err(self.fail(format!("row {row} has {what}"), remedy));
            match str::from_utf8(value.data()) {
                Ok("") => fail("an empty node id", "remove the row"),
                Ok(name) => Ok(name.to_owned()),
                Err(_) => fail(
                    "a node id that is not valid UTF-8",
                    "write the column as strings",
                ),
            }
        };
        (before..).zip(values).map(name).collect()
    }

    fn weights(&self, group: usize, column: usize, before: u64) -> Result<Vec<f32>> {
        let description = self.opened.schema().column(column);
        let weights: Vec<f32> = match self.opened.column_of_group(group, column)? {
            ColumnReader::FloatColumnReader(reader) => self.values(reader, &description, before)?,
            ColumnReader::DoubleColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                let vanishes = |weight: &f64| *weight != 0.0 && *weight as f32 == 0.0;
                if let Some((row, weight)) = (before..).zip(&values).find(|(_, w)| vanishes(w)) {
                    let remedy = "it is below the range of 32-bit floating point: scale them up";
                    return Err(self.fail(format!("row {row} has the weight {weight:e}"), remedy));
                }
                values.into_iter().map(|w| w as f32).collect()
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                self.integer_weights(&description, values.into_iter().map(i64::from).collect())?
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                self.integer_weights(&description, values)?
            }
            _ => {
                let remedy = "weights must be numbers; name another column";
                return Err(self.wrong_type(&description, remedy));
            }
        };
        let is_wrong = |weight: f32| !(weight.is_finite() && weight >= 0.0);
        match (before..)
            .zip(&weights)
            .find(|(_, weight)| is_wrong(**weight))
        {
            Some((row, weight)) => {
                let message = format!("row {row} has the weight {weight}");
                Err(self.fail(message, "weights must be finite and ≥ 0"))
            }
            None => Ok(weights),
        }
    }

    /// Integers as weights; fails for times or dates that nobody called weights.
    fn integer_weights(&self, column: &ColumnDescriptor, values: Vec<i64>) -> Result<Vec<f32>> {
        let name = column.path().string();
        let is_called_so = self.chosen || is_weight(&name);
        if !is_called_so && are_times(&values.iter().map(|&value| value as f64)) {
            let (message, remedy) = times_for_weights(&format!("column `{name}`"));
            return Err(self.fail(message, remedy));
        }
        Ok(values.into_iter().map(|weight| weight as f32).collect())
    }

    /// All values of a column of a row group; a null is an error.
    fn values<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        column: &ColumnDescriptor,
        before: u64,
    ) -> Result<Vec<T::T>> {
        // Texts may be long.
        let is_long = size_of::<T::T>() > size_of::<u64>();
        let batch = if is_long { BATCH / 16 } else { BATCH };
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        loop {
            levels.clear();
            let row = before + values.len() as u64;
            // Few bytes may stand for many values.
            self.opened
                .check_memory((batch * size_of::<T::T>()) as u64)?;
            let call = || reader.read_records(batch, Some(&mut levels), None, &mut values);
            let (records, read, _) = decoded(call).map_err(|what| self.opened.damaged(what))?;
            if records != read {
                let null = levels.iter().position(|&level| level == 0).unwrap_or(0) as u64;
                let message = format!(
                    "row {} has no value in column `{}`",
                    row + null,
                    column.path()
                );
                return Err(self.fail(message, "drop the rows with nulls"));
            }
            if records == 0 {
                return Ok(values);
            }
        }
    }
}

/// Whether the bits of an integer column mean an unsigned number.
fn is_unsigned(column: &ColumnDescriptor) -> bool {
    use ConvertedType as T;
    let unsigned = [T::UINT_8, T::UINT_16, T::UINT_32, T::UINT_64];
    let logical = matches!(column.logical_type_ref(), Some(LogicalType::Integer(integer)) if !integer.is_signed);
    logical || unsigned.contains(&column.converted_type())
}
