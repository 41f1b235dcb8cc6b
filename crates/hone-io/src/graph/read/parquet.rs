//! Parquet tables: two id columns of integers or strings, perhaps a weight column.
//!
//! Read with the column API of the `parquet` crate, one row group after the other. Columns may be
//! declared nullable (most writers do) but must not hold a null. Damaged files are handled by [`TableReader`].

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::str;

use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::Length;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::columns::{Layout, columns, dates_for_weights};
use super::division::Division;
use super::join::{Chunk, Joined};
use super::nodes::{self, NodeList};
use super::options::{InputFormat, ReadOptions, refuse_text_options};
use super::reading::ReadNote;
use super::sides::{Sides, prefixed};
use super::source::Source;
use super::survey::{Sizes, Survey};
use super::times::are_dates;
use super::vocabulary::is_weight;
use crate::columnar::{Data, LONGEST_HEADER, TableReader, damaged, decoded, may_begin};
use crate::error::{Error, Result};
use crate::progress::Progress;
use hone_graph::number::Ends;

/// Values decoded at once.
const BATCH: usize = 1 << 16;
/// Rows per byte of the file beyond which its row count is taken for a lie; run-length encoding
/// makes few bytes of many equal values, but edges differ.
const ROWS_PER_BYTE: u64 = 1 << 10;

/// Reads a Parquet file.
pub(super) fn read(
    mut source: Source,
    options: &ReadOptions,
    division: &Division,
    progress: &dyn Progress,
) -> Result<Joined> {
    let path = source.path().to_path_buf();
    let allowance = source.allowance();
    let begun = begin(&mut source, options);
    let Begun {
        mut list,
        opened,
        layout,
        mut notes,
    } = division.agree(&path, begun, Begun::view)?;
    let table = Table {
        path: &path,
        list: list.as_ref(),
        chosen: options.weight.is_some(),
        opened: &opened,
    };
    // All of a stream is in the memory of each process as it is.
    let bytes = if source.file().is_some() {
        opened.size()
    } else {
        0
    };
    let groups = opened.groups().len();
    let read = |groups| {
        let chunks = table.read(groups, &layout, progress)?;
        source.check_unchanged().map(|()| chunks)
    };
    let chunks = match division.own(groups, bytes) {
        None => read(0..groups)?,
        Some(own) => division.exchange(read(own), &path, allowance)?,
    };
    drop(opened);
    let edges: usize = chunks.iter().map(|chunk| chunk.ends.len()).sum();
    if edges == 0 {
        return Err(Error::input(
            &path,
            "the table has no rows",
            "it needs at least one edge",
        ));
    }
    let first = list.as_mut().and_then(NodeList::take_first);
    notes.extend(
        list.iter_mut()
            .flat_map(|list| std::mem::take(&mut list.notes)),
    );
    let weighted = layout.weight.is_some();
    let joined = match list {
        Some(list) => Joined::numbered(chunks, weighted, list.into_ids()),
        None => Joined::new(chunks, weighted, &path, allowance)?,
    };
    notes.extend(
        layout
            .sides
            .note(&path.display().to_string(), &joined.ids, &joined.pairs),
    );
    notes.extend(nodes::first_note(first, &joined.pairs));
    let ignored_weights = if layout.ignored_weight.is_some() {
        edges as u64
    } else {
        0
    };
    Ok(Joined {
        ignored_weights,
        columns: Some(layout.facts(None)),
        notes,
        ..joined
    })
}

/// A table before its rows are read.
struct Begun {
    list: Option<NodeList>,
    opened: TableReader,
    layout: Layout,
    notes: Vec<ReadNote>,
}

impl Begun {
    /// What all processes should see alike.
    fn view(&self) -> String {
        let groups = self.opened.groups().len();
        format!(
            "{} {groups} {:?} {:?}",
            self.opened.rows(),
            self.list.as_ref().map(NodeList::len),
            self.layout
        )
    }
}

/// Opens a table, and finds out which column is what.
fn begin(source: &mut Source, options: &ReadOptions) -> Result<Begun> {
    let path = source.path().to_path_buf();
    refuse_text_options(options, InputFormat::Parquet)?;
    let list = nodes::read(options, source.allowance())?;
    let opened = open(source)?;
    let table = Table {
        path: &path,
        list: None,
        chosen: true,
        opened: &opened,
    };
    let (layout, notes) = table.layout(opened.schema(), options)?;
    let (rows, bytes) = (opened.rows(), opened.size());
    if rows > (1 << 20) && rows > bytes.saturating_mul(ROWS_PER_BYTE) {
        return Err(opened.damaged(format!("{rows} rows in {bytes} bytes")));
    }
    Ok(Begun {
        list,
        opened,
        layout,
        notes,
    })
}

/// How large the graph of a file is; its groups are read one after the other, and not kept.
pub(super) fn sizes(mut source: Source, options: &ReadOptions) -> Result<Sizes> {
    let opened = open(&mut source)?;
    let table = Table {
        path: source.path(),
        list: None,
        chosen: true,
        opened: &opened,
    };
    let (layout, _) = table.layout(opened.schema(), options)?;
    let survey = Survey::default();
    for group in 0..opened.groups().len() {
        survey.add(&table.read_group(group, &layout, 0)?);
    }
    let largest = opened
        .groups()
        .iter()
        .map(|group| group.num_rows().unsigned_abs())
        .max();
    Ok(Sizes::seen(&survey, largest.unwrap_or(0)))
}

/// Opens the table of a file or of a stream. A table is read from its end, so all of a stream is kept in memory, as far as the limit
/// allows; what cannot be a table is refused at once.
fn open(source: &mut Source) -> Result<TableReader> {
    let path = source.path().to_path_buf();
    let data = match source.file().map(File::try_clone) {
        Some(file) => Data::from(file.map_err(|error| Error::io(&path, error))?),
        None => {
            source.fill(LONGEST_HEADER as usize)?;
            if !source.ahead().is_empty() && !may_begin(source.ahead()) {
                return Err(damaged(&path, "it does not begin like one"));
            }
            Data::from(source.take_all()?)
        }
    };
    if data.len() == 0 {
        return Err(Error::input(
            path,
            "the file is empty",
            "it needs at least one edge",
        ));
    }
    TableReader::new(&path, data, source.allowance())
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

    /// The same with the name of their side in front.
    fn of_side(self, side: &str) -> Self {
        Ids::Text(
            (0..self.len())
                .map(|row| prefixed(side, &self.text(row)))
                .collect(),
        )
    }

    fn text(&self, row: usize) -> String {
        match self {
            Ids::Integers(ids) => ids[row].to_string(),
            Ids::Text(ids) => ids[row].clone(),
        }
    }
}

/// What the parts of reading have in common.
struct Table<'a> {
    path: &'a Path,
    list: Option<&'a NodeList>,
    /// Whether the user chose the weight column.
    chosen: bool,
    opened: &'a TableReader,
}

impl Table<'_> {
    fn fail(&self, message: impl Into<String>, remedy: &str) -> Error {
        Error::input(self.path, message, remedy)
    }

    /// The edges of some groups.
    fn read(
        &self,
        groups: Range<usize>,
        layout: &Layout,
        progress: &dyn Progress,
    ) -> Result<Vec<Chunk>> {
        let rows =
            |groups: Range<usize>| -> u64 { groups.map(|group| self.opened.rows_of(group)).sum() };
        progress.stage("reading", rows(groups.clone()));
        let mut chunks = Vec::with_capacity(groups.len());
        let mut before = rows(0..groups.start);
        for group in groups {
            progress.check()?;
            chunks.push(self.read_group(group, layout, before)?);
            before += self.opened.rows_of(group);
            progress.advance(self.opened.rows_of(group));
        }
        Ok(chunks)
    }

    /// Which column is what, by the names in the schema.
    fn layout(
        &self,
        schema: &SchemaDescriptor,
        options: &ReadOptions,
    ) -> Result<(Layout, Vec<ReadNote>)> {
        let names: Vec<String> = schema
            .columns()
            .iter()
            .map(|column| column.path().string())
            .collect();
        if names.len() < 2 {
            let message = format!(
                "the table has {} column{}",
                names.len(),
                if names.len() == 1 { "" } else { "s" }
            );
            return Err(self.fail(message, "an edge needs two id columns"));
        }
        let layout = columns(options, std::slice::from_ref(&names), true)
            .map_err(|(message, remedy)| self.fail(message, remedy))?;
        for column in [Some(layout.source), Some(layout.target), layout.weight]
            .into_iter()
            .flatten()
        {
            let column = schema.column(column);
            if column.max_rep_level() > 0 || column.max_def_level() > 1 {
                return Err(self.fail(
                    format!("column `{}` is nested", column.path()),
                    "name a flat column",
                ));
            }
        }
        let notes = layout.notes(options, self.path, &[], &names);
        Ok((layout, notes))
    }

    fn read_group(&self, group: usize, layout: &Layout, before: u64) -> Result<Chunk> {
        let mut sources = self.ids(group, layout.source, before)?;
        let mut targets = self.ids(group, layout.target, before)?;
        if let Sides::Two([left, right]) = &layout.sides {
            (sources, targets) = (sources.of_side(left), targets.of_side(right));
        }
        let weights = layout
            .weight
            .map(|column| self.weights(group, column, before))
            .transpose()?;
        let rows = sources.len();
        if targets.len() != rows
            || weights
                .as_ref()
                .is_some_and(|weights| weights.len() != rows)
        {
            return Err(self.opened.damaged("columns of different lengths"));
        }
        if rows as u64 != self.opened.rows_of(group) {
            let what = format!("{rows} rows in a group of {}", self.opened.rows_of(group));
            return Err(self.opened.damaged(what));
        }
        let ends = self.ends(&sources, &targets, before)?;
        Ok(Chunk::new(ends, weights.unwrap_or_default()))
    }

    fn ends(&self, sources: &Ids, targets: &Ids, before: u64) -> Result<Ends> {
        let too_many = || self.fail("more nodes than 32 bits can number", "split the graph");
        if let Some(list) = self.list {
            let find = |ids: &Ids, row: usize| {
                let id = ids.text(row);
                list.find(&id).map_err(|remedy| {
                    let message = format!(
                        "row {} has node `{id}`, which the node list does not have",
                        before + row as u64
                    );
                    self.fail(message, &remedy)
                })
            };
            let pairs =
                (0..sources.len()).map(|row| Ok((find(sources, row)?, find(targets, row)?)));
            return Ok(Ends::Nodes(pairs.collect::<Result<_>>()?));
        }
        let mut ends = Ends::Narrow(Vec::new());
        for row in 0..sources.len() {
            let fits = match (sources, targets) {
                (Ids::Integers(u), Ids::Integers(v)) => ends.push_integers(u[row], v[row]),
                _ => ends.push(&sources.text(row), &targets.text(row)),
            };
            if !fits {
                return Err(too_many());
            }
        }
        Ok(ends)
    }

    fn ids(&self, group: usize, column: usize, before: u64) -> Result<Ids> {
        let description = self.opened.schema().column(column);
        let unsigned = is_unsigned(&description);
        let reader = self.opened.column_of_group(group, column)?;
        match reader {
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
                    return Ok(Ids::Text(
                        values.into_iter().map(|v| (v as u64).to_string()).collect(),
                    ));
                }
                Ok(Ids::Integers(values))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                Ok(Ids::Text(self.names(&values, before)?))
            }
            _ => {
                let message = format!(
                    "column `{}` holds {} values",
                    description.path(),
                    description.physical_type()
                );
                Err(self.fail(
                    message,
                    "node ids must be integers or strings; name other columns or convert them",
                ))
            }
        }
    }

    fn names(&self, values: &[ByteArray], before: u64) -> Result<Vec<String>> {
        // A dictionary may have made many of few bytes.
        self.opened
            .check_memory(values.iter().map(|value| value.len() as u64 + 24).sum())?;
        let name = |(row, value): (usize, &ByteArray)| match str::from_utf8(value.data()) {
            Ok(name) if !name.is_empty() => Ok(name.to_string()),
            Ok(_) => Err(self.fail(
                format!("row {} has an empty node id", before + row as u64),
                "remove the row",
            )),
            Err(_) => {
                let message = format!(
                    "row {} has a node id that is not valid UTF-8",
                    before + row as u64
                );
                Err(self.fail(message, "write the column as strings"))
            }
        };
        values.iter().enumerate().map(name).collect()
    }

    fn weights(&self, group: usize, column: usize, before: u64) -> Result<Vec<f32>> {
        let description = self.opened.schema().column(column);
        let reader = self.opened.column_of_group(group, column)?;
        let weights: Vec<f32> = match reader {
            ColumnReader::FloatColumnReader(reader) => self.values(reader, &description, before)?,
            ColumnReader::DoubleColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                if let Some(row) = values
                    .iter()
                    .position(|&w: &f64| w != 0.0 && w as f32 == 0.0)
                {
                    let message = format!(
                        "row {} has the weight {:e}",
                        before + row as u64,
                        values[row]
                    );
                    return Err(self.fail(
                        message,
                        "it is below the range of 32-bit floating point: scale them up",
                    ));
                }
                values.into_iter().map(|w| w as f32).collect()
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                self.refuse_times(&description, values.iter().map(|&value| f64::from(value)))?;
                values.into_iter().map(|w| w as f32).collect()
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = self.values(reader, &description, before)?;
                self.refuse_times(&description, values.iter().map(|&value| value as f64))?;
                values.into_iter().map(|w| w as f32).collect()
            }
            _ => {
                let message = format!(
                    "column `{}` holds {} values",
                    description.path(),
                    description.physical_type()
                );
                return Err(self.fail(message, "weights must be numbers; name another column"));
            }
        };
        match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            Some(row) => {
                let message = format!(
                    "row {} has the weight {}",
                    before + row as u64,
                    weights[row]
                );
                Err(self.fail(message, "weights must be finite and ≥ 0"))
            }
            None => Ok(weights),
        }
    }

    /// Fails for a column of times or dates that nobody called a weight.
    fn refuse_times(
        &self,
        column: &ColumnDescriptor,
        values: impl Iterator<Item = f64>,
    ) -> Result<()> {
        let name = column.path().string();
        if self.chosen || is_weight(&name) || !are_dates(values.map(Some)) {
            return Ok(());
        }
        let (message, remedy) = dates_for_weights(&format!("column `{name}`"));
        Err(self.fail(message, remedy))
    }

    /// All values of a column of a row group; a null is an error.
    fn values<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        column: &ColumnDescriptor,
        before: u64,
    ) -> Result<Vec<T::T>> {
        // Texts may be long.
        let batch = if size_of::<T::T>() > size_of::<u64>() {
            BATCH / 16
        } else {
            BATCH
        };
        let mut values = Vec::new();
        let mut levels = Vec::new();
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
    let unsigned = [
        ConvertedType::UINT_8,
        ConvertedType::UINT_16,
        ConvertedType::UINT_32,
        ConvertedType::UINT_64,
    ];
    let logical = matches!(column.logical_type_ref(), Some(LogicalType::Integer(integer)) if !integer.is_signed);
    logical || unsigned.contains(&column.converted_type())
}
