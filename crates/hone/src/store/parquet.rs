//! Embeddings as Parquet tables: column `id`, then one float column per dimension.

use std::io::Write;
use std::path::Path;

use super::embedding::Embedding;
use crate::columnar::{Column, Kind, ROW_GROUP, TableReader, TableWriter};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::memory::Allowance;
use crate::parallel;

/// Rows that are not worth a task of their own.
const SERIAL: usize = 1 << 12;

/// Bytes that writing this many vectors takes in addition to them.
pub(super) fn memory(rows: u64, columns: u64) -> u64 {
    TableWriter::<std::io::Sink>::memory(rows, columns + 1)
}

pub(super) fn write(embedding: &Embedding, path: &Path, out: &mut (impl Write + Send)) -> Result<()> {
    let Embedding { ids, vectors, columns } = embedding;
    let id_kind = if matches!(ids, NodeIds::Text { .. }) { Kind::Text } else { Kind::Integer };
    let mut schema = vec![("id".to_owned(), id_kind)];
    schema.extend(columns.iter().map(|name| (name.clone(), Kind::Float)));
    let mut table = TableWriter::new(path, out, &schema)?;
    for start in (0..vectors.rows()).step_by(ROW_GROUP) {
        let rows = start..vectors.rows().min(start + ROW_GROUP);
        table.write(|j| match j {
            0 => ids.column(rows.clone()),
            _ => {
                let mut values = vec![0.0; rows.len()];
                parallel::for_chunks(&mut values, SERIAL, &|at, part| {
                    part.iter_mut().zip(rows.start + at * SERIAL..).for_each(|(to, i)| *to = vectors.row(i)[j - 1]);
                });
                Column::Floats(values)
            }
        })?;
    }
    table.finish()
}

pub(super) fn read(path: &Path, allowance: Allowance) -> Result<Embedding> {
    let table = TableReader::open(path, allowance)?;
    let mut names = table.columns().to_vec();
    if names.first().map(String::as_str) != Some("id") {
        return Err(Error::input(path, "the first column is not `id`", "an embedding table is expected"));
    }
    let ids = match table.column("id")? {
        Column::Integers(ids) => NodeIds::from_integers(ids),
        Column::Texts(ids) => NodeIds::from_texts(&ids),
        _ => {
            return Err(Error::input(
                path,
                "column `id` is neither integer nor text",
                "write the ids as integers or text",
            ));
        }
    };
    names.remove(0);
    allowance.check(path, (ids.len() as u64).saturating_mul(4 * names.len() as u64))?;
    let mut vectors = Block::zeros(ids.len(), names.len());
    for (j, name) in names.iter().enumerate() {
        let Column::Floats(values) = table.column(name)? else {
            return Err(Error::input(path, format!("column `{name}` is not of floats"), "write it as floats"));
        };
        values.iter().enumerate().for_each(|(i, &value)| vectors.row_mut(i)[j] = value);
    }
    Ok(Embedding::with_columns(ids, vectors, names))
}
