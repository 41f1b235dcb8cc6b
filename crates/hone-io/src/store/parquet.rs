//! Embeddings as Parquet tables: column `id`, then one float column per dimension, or one column of vectors.

use std::io::Write;
use std::path::Path;

use super::Embedding;
use super::shared::RowPieces;
use crate::columnar::{Column, Kind, TableReader, TableWriter, VectorWriter};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::memory::Allowance;
use crate::output::parts;
use crate::parallel;

/// Rows that are not worth a task of their own.
const SERIAL: usize = 1 << 12;

/// Bytes that writing this many vectors takes in addition to them.
pub(super) fn memory(rows: u64, columns: u64) -> u64 {
    TableWriter::<std::io::Sink>::memory(rows, columns + 1)
}

/// Writes rows, a piece in each row group.
pub(super) fn write(rows: &RowPieces, path: &Path, out: &mut (impl Write + Send)) -> Result<()> {
    let cols = rows.cols();
    let mut schema = vec![("id".to_owned(), Kind::Node)];
    schema.extend(rows.names().iter().map(|name| (name.clone(), Kind::Float)));
    let mut table = TableWriter::new(path, out, &schema, rows.ids())?;
    rows.each(|range, block| {
        table.write(|j| match j {
            0 => Column::Nodes(range.clone().map(|row| row as u32).collect()),
            _ => {
                let mut values = vec![0.0; range.len()];
                parallel::for_chunks(&mut values, SERIAL, &|at, part| {
                    part.iter_mut()
                        .zip(at * SERIAL..)
                        .for_each(|(to, i)| *to = block[i * cols + j - 1]);
                });
                Column::Floats(values)
            }
        })
    })?;
    table.finish()
}

/// The same for a column of vectors.
pub(super) fn vector_memory(rows: u64, columns: u64) -> u64 {
    VectorWriter::<std::io::Sink>::memory(rows, columns)
}

/// Writes rows as one column of vectors, a piece in each row group.
pub(super) fn write_vectors(
    rows: &RowPieces,
    path: &Path,
    out: &mut (impl Write + Send),
) -> Result<()> {
    let mut table = VectorWriter::new(path, out, rows.names(), rows.ids())?;
    rows.each(|range, values| table.write(range, values))?;
    table.finish()
}

/// Reads a file, or a folder of parts in the order of their names.
pub(super) fn read(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let parts = parts::files(path)?;
    let tables = parts
        .iter()
        .map(|part| TableReader::open(part, allowance))
        .collect::<Result<Vec<_>>>()?;
    let keep = "keep only the parts of one table in the folder";
    let all = tables[0].columns();
    let (mut ids, mut mixed) = (Column::default(), false);
    for (part, table) in parts.iter().zip(&tables) {
        if table.columns().first().is_none_or(|name| name != "id") {
            let message = "the first column is not `id`";
            return Err(Error::input(
                part,
                message,
                "an embedding table is expected",
            ));
        }
        if table.columns() != all {
            let message = format!("it has other columns than {}", parts[0].display());
            return Err(Error::input(part, message, keep));
        }
        // Parts may be empty, and then of any type.
        if table.rows() > 0 && !ids.is_empty() {
            mixed |= !ids.append(table.column_at(0)?);
        } else if ids.is_empty() {
            ids = table.column_at(0)?;
        }
    }
    if mixed {
        let message = "column `id` is of integers in some parts and of text in others";
        return Err(Error::input(path, message, keep));
    }
    let ids = ids.into_ids().ok_or_else(|| {
        let message = "column `id` is neither integer nor text";
        Error::input(path, message, "write the ids as integers or text")
    })?;
    if all.len() == 2 && tables[0].is_vectors(1) {
        return of_vectors(path, &tables, ids, allowance);
    }
    let names = all[1..].to_vec();
    let bytes = (ids.len() as u64).saturating_mul(4 * names.len() as u64);
    allowance.check(path, bytes)?;
    let (mut vectors, mut first) = (Block::zeros(ids.len(), names.len()), 0);
    for (part, table) in parts.iter().zip(&tables) {
        for (j, name) in names.iter().enumerate() {
            let Column::Floats(values) = table.column_at(j + 1)? else {
                let message = format!("column `{name}` is not of floats");
                return Err(Error::input(part, message, "write it as floats"));
            };
            for (i, &value) in values.iter().enumerate() {
                vectors.row_mut(first + i)[j] = value;
            }
        }
        first += table.rows() as usize;
    }
    Ok(Embedding::with_columns(ids, vectors, names))
}

/// The rows of tables with a column of vectors.
fn of_vectors(
    path: &Path,
    tables: &[TableReader],
    ids: NodeIds,
    allowance: Allowance,
) -> Result<Embedding> {
    let (mut width, mut values) = (None, Vec::new());
    for table in tables {
        let mut before = 0;
        for group in 0..table.groups().len() {
            table.add_vectors(group, 1, before, &mut width, &mut values)?;
            before += table.rows_of(group);
            allowance.check(path, 0)?;
        }
    }
    let names = tables[0].vector_names()?;
    let width = width.or(names.as_ref().map(Vec::len)).unwrap_or(0);
    let vectors = Block::from_vec(ids.len(), width, values);
    Embedding::of_parts(path, ids, vectors, names)
}
