//! Attributes from Parquet tables: an id column of integers or text, others of numbers, booleans or text.

use super::arrays::Rows;
use super::columns::{Refusal, Values, is_missing, listed};
use super::layout::{ID_NAMES, NEEDS};
use super::request::{Raw, Request};
use crate::columnar::{Column as Stored, Nullable, TableReader};
use crate::error::{Error, Result};
use crate::graph::read::header::find;
use crate::graph::{Column, NodeIds};

const ID_REMEDY: &str =
    "give every row the id of its node, or name the id column with attributes.table.id";

/// Reads a Parquet table.
pub(super) fn read(request: &Request) -> Result<Raw> {
    if std::fs::metadata(request.path).is_ok_and(|file| file.len() == 0) {
        return Err(request.fail("the file is empty", NEEDS));
    }
    let table = TableReader::open(request.path, request.allowance)?;
    let all = table.columns();
    let id = id_column(all, request)?;
    let used = request.used(all, Some(id))?;
    if used.is_empty() {
        return Err(request.fail(
            "only one column",
            "an id and at least one attribute are needed",
        ));
    }
    let ids = ids(&table, &all[id], request)?;
    if ids.is_empty() {
        return Err(request.fail("the table has no rows", NEEDS));
    }
    request.check_size(used.len() as u64)?;
    let rows = Rows::of(&ids, request);
    request
        .allowance
        .check(request.path, rows.kept.len() as u64 * 4 * used.len() as u64)?;
    let mut columns = Vec::with_capacity(used.len());
    for &j in &used {
        request.progress.check()?;
        let column = table
            .nullable(&all[j])
            .map_err(|error| optional(error, &all[j]))?;
        columns.push(values(&column, &rows.kept, &all[j], request)?);
    }
    Ok(Raw {
        names: used.iter().map(|&j| all[j].clone()).collect(),
        columns,
        nodes: Some(rows.nodes),
        lines: None,
        rows: ids.len() as u64,
        unknown: rows.unknown,
        example: rows.example,
    })
}

/// Adds to the remedy that an unreadable column can be left out.
fn optional(error: Error, name: &str) -> Error {
    match error {
        Error::Input {
            path,
            message,
            remedy,
            ..
        } => {
            let more =
                format!("leave `{name}` out by naming the others in attributes.table.columns");
            Error::input(
                path,
                message,
                if remedy.is_empty() {
                    more
                } else {
                    format!("{remedy}; or {more}")
                },
            )
        }
        other => other,
    }
}

fn id_column(names: &[String], request: &Request) -> Result<usize> {
    let listed = || format!("the columns are {}", listed(names));
    match &request.options.id {
        None => Ok(ID_NAMES
            .iter()
            .find_map(|name| find(names, name))
            .unwrap_or(0)),
        Some(Column::Position(position)) if *position < names.len() => Ok(*position),
        Some(Column::Position(position)) => Err(request.fail(
            format!("there is no column {position}"),
            format!("positions count from 0; {}", listed()),
        )),
        Some(Column::Name(name)) => names
            .iter()
            .position(|known| known == name)
            .or_else(|| find(names, name))
            .ok_or_else(|| {
                request.fail(format!("there is no column `{name}` for the ids"), listed())
            }),
    }
}

fn ids(table: &TableReader, name: &str, request: &Request) -> Result<NodeIds> {
    let Nullable { values, present } = table.nullable(name)?;
    if let Some(row) = present
        .as_ref()
        .and_then(|present| present.iter().position(|present| !present))
    {
        return Err(request.fail(format!("row {row} (from 0) has no `{name}`"), ID_REMEDY));
    }
    match values {
        Stored::Integers(ids) => Ok(NodeIds::from_integers(ids)),
        Stored::Counts(ids) => Ok(NodeIds::from_texts(
            &ids.iter().map(u64::to_string).collect::<Vec<_>>(),
        )),
        Stored::Texts(ids) => Ok(NodeIds::from_texts(&ids)),
        Stored::Floats(_) => {
            let remedy = "ids are integers or text; convert them, or name another column with attributes.table.id";
            Err(request.fail(
                format!("column `{name}` has floating-point numbers, not ids"),
                remedy,
            ))
        }
    }
}

/// The values of the rows that are kept.
fn values(column: &Nullable, kept: &[usize], name: &str, request: &Request) -> Result<Values> {
    let words = request.words
        || request
            .options
            .categorical
            .iter()
            .any(|known| known == name);
    // Where the value of each row is among those present.
    let mut places = Vec::new();
    if let Some(present) = &column.present {
        let mut next = 0;
        places.extend(present.iter().map(|&present| {
            next += usize::from(present);
            present.then(|| next - 1)
        }));
    }
    let mut values = Values::Nothing(0);
    for &row in kept {
        let at = if column.present.is_some() {
            places[row]
        } else {
            Some(row)
        };
        let pushed = match (at, &column.values) {
            (None, _) => {
                values.push_missing();
                Ok(())
            }
            (Some(at), Stored::Texts(texts)) if is_missing(texts[at].trim()) => {
                values.push_missing();
                Ok(())
            }
            (Some(at), Stored::Texts(texts)) => values.push_category(&texts[at]),
            (Some(at), Stored::Integers(v)) if words => values.push_category(&v[at].to_string()),
            (Some(at), Stored::Counts(v)) if words => values.push_category(&v[at].to_string()),
            (Some(at), Stored::Floats(v)) if words && !v[at].is_nan() => {
                values.push_category(&v[at].to_string())
            }
            (Some(at), Stored::Integers(v)) => values.push_number(v[at] as f64),
            (Some(at), Stored::Counts(v)) => values.push_number(v[at] as f64),
            (Some(at), Stored::Floats(v)) => values.push_number(f64::from(v[at])),
        };
        pushed.map_err(|refusal: Refusal| {
            let (message, remedy) = refusal.explain(name);
            request.fail(format!("row {row} (from 0): {message}"), remedy)
        })?;
    }
    Ok(values)
}
