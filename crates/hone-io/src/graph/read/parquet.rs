//! Parquet tables: two id columns of integers or strings, perhaps a weight column.
//!
//! Read one row group after the other. Columns may be declared nullable (most writers do) but must not hold a null. Damaged
//! files are handled by [`TableReader`].

use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::basic::Type as Physical;
use parquet::file::reader::Length;

use super::division::Division;
use super::edges::{Chunk, Joined, edges_of};
use super::nodes::{self, NodeList};
use super::options::{InputFormat, ReadNote, ReadOptions, file_name};
use super::source::Source;
use super::survey::{Sizes, Survey};
use super::table::{self, Layout, are_times, is_weight, times_for_weights};
use crate::columnar::{Column, Data, LONGEST_HEADER, Nullable, TableReader, damaged, may_begin};
use crate::error::{Error, Result};
use crate::message::Message;
use crate::progress::Progress;
use hone_graph::number::Ends;

/// Rows per byte of the file beyond which its row count is taken for a lie; run-length encoding
/// makes few bytes of many equal values, but edges differ.
const ROWS_PER_BYTE: u64 = 1 << 10;

/// A table, and which column is what.
struct Table {
    path: PathBuf,
    opened: TableReader,
    layout: Layout,
    note: ReadNote,
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
    let Table { layout, note, .. } = table;
    if edges_of(&chunks) == 0 {
        let message = "the table has no rows";
        return Err(Error::input(&path, message, "it needs at least one edge"));
    }
    Joined::of_table(chunks, &layout, list, None, vec![note], &path, allowance)
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
        let is_flag = |c: &usize| columns[*c].physical_type() == Physical::BOOLEAN;
        if let Some(column) = used.into_iter().flatten().find(is_flag) {
            return fail(
                format!("column `{}` holds BOOLEAN values", names[column]),
                "node ids are integers or strings, weights are numbers; name other columns",
            );
        }
        let note = layout.note(options, &file_name(&path), &named, Vec::new());
        let (rows, bytes) = (opened.rows(), opened.size());
        if rows > (1 << 20) && rows > bytes.saturating_mul(ROWS_PER_BYTE) {
            return Err(opened.damaged(format!("{rows} rows in {bytes} bytes")));
        }
        let chosen = options.weight.is_some();
        Ok(Table {
            path,
            opened,
            layout,
            note,
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
        if let Some(names) = &layout.kinds {
            for (ids, name) in [&mut sources, &mut targets].into_iter().zip(names) {
                let prefixed = |row| format!("{name}:{}", text(ids, row));
                *ids = Column::Texts((0..ids.len()).map(prefixed).collect());
            }
        }
        let weights = layout
            .weight
            .map(|column| self.weights(group, column, before));
        let ends = self.ends(&sources, &targets, before, list)?;
        Ok(Chunk::new(ends, weights.transpose()?.unwrap_or_default()))
    }

    fn ends(
        &self,
        sources: &Column,
        targets: &Column,
        before: u64,
        list: Option<&NodeList>,
    ) -> Result<Ends> {
        let rows = 0..sources.len();
        if let Some(list) = list {
            let find = |ids: &Column, row: usize| {
                let (id, at) = (text(ids, row), before + row as u64);
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
                (Column::Integers(u), Column::Integers(v)) => ends.push_integers(u[row], v[row]),
                _ => ends.push(&text(sources, row), &text(targets, row)),
            };
            if !fits {
                return Err(self.fail("more nodes than 32 bits can number", "split the graph"));
            }
        }
        Ok(ends)
    }

    /// All values of a column of a group, none of which may be null.
    fn values(&self, group: usize, column: usize, before: u64) -> Result<Column> {
        let Nullable { values, present } = self.opened.part(group, column)?;
        let Some(present) = present else {
            return Ok(values);
        };
        let null = present.iter().position(|&present| !present).unwrap_or(0);
        let (row, name) = (before + null as u64, &self.opened.columns()[column]);
        let message = format!("row {row} has no value in column `{name}`");
        Err(self.fail(message, "drop the rows with nulls"))
    }

    /// A column that has values of another type than it should.
    fn wrong_type(&self, column: usize, remedy: &str) -> Error {
        let (name, columns) = (&self.opened.columns()[column], self.opened.schema());
        let kind = columns.column(column).physical_type();
        self.fail(format!("column `{name}` holds {kind} values"), remedy)
    }

    fn ids(&self, group: usize, column: usize, before: u64) -> Result<Column> {
        match self.values(group, column, before)? {
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
                    let message = format!("row {} has an empty node id", before + row as u64);
                    Err(self.fail(message, "remove the row"))
                }
            },
            ids @ Column::Integers(_) => Ok(ids),
            Column::Floats(_) | Column::Nodes(_) => {
                let remedy =
                    "node ids must be integers or strings; name other columns or convert them";
                Err(self.wrong_type(column, remedy))
            }
        }
    }

    fn weights(&self, group: usize, column: usize, before: u64) -> Result<Vec<f32>> {
        let weights: Vec<f32> = match self.values(group, column, before)? {
            Column::Floats(weights) => weights,
            Column::Integers(weights) => {
                self.check_times(column, &weights.iter().map(|&weight| weight as f64))?;
                weights.into_iter().map(|weight| weight as f32).collect()
            }
            Column::Counts(weights) => {
                self.check_times(column, &weights.iter().map(|&weight| weight as f64))?;
                weights.into_iter().map(|weight| weight as f32).collect()
            }
            Column::Texts(_) | Column::Nodes(_) => {
                let remedy = "weights must be numbers; name another column";
                return Err(self.wrong_type(column, remedy));
            }
        };
        let is_wrong = |weight: &f32| !(weight.is_finite() && *weight >= 0.0);
        if let Some(row) = weights.iter().position(is_wrong) {
            let message = format!(
                "row {} has the weight {}",
                before + row as u64,
                weights[row]
            );
            return Err(self.fail(message, "weights must be finite and ≥ 0"));
        }
        if weights.contains(&0.0)
            && let Some((row, weight)) = self.opened.vanishing(group, column)?
        {
            let message = format!("row {} has the weight {weight:e}", before + row as u64);
            let remedy = "it is below the range of 32-bit floating point: scale them up";
            return Err(self.fail(message, remedy));
        }
        Ok(weights)
    }

    /// Refuses times or dates that nobody called weights.
    fn check_times(
        &self,
        column: usize,
        values: &(impl Iterator<Item = f64> + Clone),
    ) -> Result<()> {
        let name = &self.opened.columns()[column];
        if self.chosen || is_weight(name) || !are_times(values) {
            return Ok(());
        }
        let (message, remedy) = times_for_weights(&format!("column `{name}`"));
        Err(self.fail(message, remedy))
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
