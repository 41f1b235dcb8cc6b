//! Attributes from arrays (NumPy files, and the archives that `hone features` and `hone embed` write) and from Parquet tables:
//! an id column of integers or text, others of numbers, booleans or text.

use super::columns::{Reading, Refusal, Values, is_missing};
use super::text::{ID_NAMES, NEEDS};
use super::{Raw, Request, Rows};
use crate::columnar::{Column as Stored, Nullable, TableReader};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::graph::read::{source::Source, table::find};
use crate::message::{message, setting};
use crate::store::{self, Embedding};

/// Reads a `.npy` array: rows in node order, or of the ids in `NAME.ids.txt`; columns named by `NAME.npy.columns.txt`.
pub(super) fn read_npy(mut source: Source, request: &Request) -> Result<Raw> {
    let (block, ids) = store::read_npy_array(request.path, &mut source, request.allowance)?;
    let numbered = request.numbered(0..block.cols() as u64)?;
    let names = store::read_names(request.path, block.cols())?.unwrap_or(numbered);
    columns(&block, &names, ids.as_ref(), request)
}

/// Reads an archive with ids.
pub(super) fn read_embedding(format: store::Format, request: &Request) -> Result<Raw> {
    let Embedding {
        ids,
        vectors,
        columns: names,
        ..
    } = Embedding::read_within(request.path, Some(format), request.allowance)?;
    columns(&vectors, &names, Some(&ids), request)
}

/// The columns of a block; NaN is a missing number.
fn columns(
    block: &Block,
    names: &[String],
    ids: Option<&NodeIds>,
    request: &Request,
) -> Result<Raw> {
    request.refuse_categories()?;
    if names.is_empty() {
        return Err(request.fail("the array has no columns", "give at least one attribute"));
    }
    let mut values = block.as_slice().iter();
    if let Some(at) = values.position(|value| value.is_infinite()) {
        let (row, column) = (at / block.cols(), at % block.cols());
        let (message, remedy) = Refusal::Infinite.explain(&names[column]);
        return Err(request.fail(format!("row {row} (from 0): {message}"), remedy));
    }
    let used = request.used(names, None)?;
    let (kept, rows) = match ids {
        Some(ids) => matched(ids, request),
        None => {
            let rows = request.in_order(block.rows() as u64)?;
            ((0..block.rows()).collect(), rows)
        }
    };
    let column = |&j: &usize| {
        let values = kept.iter().map(|&row| block.row(row)[j] + 0.0);
        Values::Numbers(values.collect())
    };
    Ok(Raw {
        columns: used.iter().map(column).collect(),
        names: used.iter().map(|&j| names[j].clone()).collect(),
        rows,
    })
}

/// The rows whose ids are nodes of the graph, and which.
fn matched(ids: &NodeIds, request: &Request) -> (Vec<usize>, Rows) {
    let index = request.ids.index();
    let (mut kept, mut nodes) = (Vec::new(), Vec::new());
    let mut rows = Rows {
        total: ids.len() as u64,
        ..Rows::default()
    };
    for (row, id) in ids.iter().enumerate() {
        let id = id.to_string();
        match index.find(&id) {
            Some(node) => {
                kept.push(row);
                nodes.push(node);
            }
            None => rows.skip(&id),
        }
    }
    rows.nodes = Some(nodes);
    (kept, rows)
}

/// Reads a Parquet table.
pub(super) fn read_parquet(request: &Request) -> Result<Raw> {
    if std::fs::metadata(request.path).is_ok_and(|file| file.len() == 0) {
        return Err(request.fail("the file is empty", NEEDS));
    }
    let table = TableReader::open(request.path, request.allowance)?;
    let all = table.columns();
    let named = request.id_column(all);
    let named = named.map_err(|(message, remedy)| request.fail(message, remedy))?;
    let known = ID_NAMES.iter().find_map(|name| find(all, name));
    let id = named.or(known).unwrap_or(0);
    let used = request.used(all, Some(id))?;
    if used.is_empty() {
        let remedy = "an id and at least one attribute are needed";
        return Err(request.fail("only one column", remedy));
    }
    let ids = ids(table.nullable_at(id)?, &all[id], request)?;
    if ids.is_empty() {
        return Err(request.fail("the table has no rows", NEEDS));
    }
    let (kept, rows) = matched(&ids, request);
    let bytes = kept.len() as u64 * 4 * used.len() as u64;
    request.allowance.check(request.path, bytes)?;
    let mut columns = Vec::with_capacity(used.len());
    for &j in &used {
        request.progress.check()?;
        let column = table.nullable_at(j);
        let column = column.map_err(|error| optional(error, &all[j]))?;
        columns.push(values(&column, &kept, &all[j], request)?);
    }
    Ok(Raw {
        names: used.iter().map(|&j| all[j].clone()).collect(),
        columns,
        rows,
    })
}

/// Adds to the remedy that an unreadable column can be left out.
fn optional(mut error: Error, name: &str) -> Error {
    if let Error::Input { remedy, .. } = &mut error {
        let or = if remedy.is_empty() { "" } else { "; or " };
        remedy.push(format!("{or}leave `{name}` out by naming the others in "));
        remedy.push(setting("attributes.table.columns"));
    }
    error
}

fn ids(column: Nullable, name: &str, request: &Request) -> Result<NodeIds> {
    let present = column.present.unwrap_or_default();
    if let Some(row) = present.iter().position(|present| !present) {
        let remedy = message![
            "give every row the id of its node, or name the id column with ",
            setting("attributes.table.id")
        ];
        let message = format!("row {row} (from 0) has no `{name}`");
        return Err(request.fail(message, remedy));
    }
    column.values.into_ids().ok_or_else(|| {
        let message = format!("column `{name}` has floating-point numbers, not ids");
        let remedy = message![
            "ids are integers or text; convert them, or name another column with ",
            setting("attributes.table.id")
        ];
        request.fail(message, remedy)
    })
}

/// The values of the rows that are kept.
fn values(column: &Nullable, kept: &[usize], name: &String, request: &Request) -> Result<Values> {
    let reading = request.reading(name);
    let words = reading != Reading::Detected;
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
        let pushed = match (
            places.get(row).copied().unwrap_or(Some(row)),
            &column.values,
        ) {
            (None, _) => values.push_number(f64::NAN),
            (Some(at), Stored::Texts(texts)) => match (is_missing(texts[at].trim()), reading) {
                (true, _) => values.push_number(f64::NAN),
                (false, Reading::Texts) => values.push_text(&texts[at], reading),
                (false, _) => values.push_category(&texts[at]),
            },
            (Some(at), Stored::Integers(v)) if words => {
                values.push_text(&v[at].to_string(), reading)
            }
            (Some(at), Stored::Integers(v)) => values.push_number(v[at] as f64),
            (Some(at), Stored::Counts(v)) if words => values.push_text(&v[at].to_string(), reading),
            (Some(at), Stored::Counts(v)) => values.push_number(v[at] as f64),
            (Some(at), Stored::Floats(v)) if words && !v[at].is_nan() => {
                values.push_text(&v[at].to_string(), reading)
            }
            (Some(at), Stored::Floats(v)) => values.push_number(f64::from(v[at])),
            (_, Stored::Nodes(_)) => unreachable!("only for writing"),
        };
        pushed.map_err(|refusal: Refusal| {
            let (message, remedy) = refusal.explain(name);
            request.fail(format!("row {row} (from 0): {message}"), remedy)
        })?;
    }
    Ok(values)
}
