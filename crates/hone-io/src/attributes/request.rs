//! The input ([`Request`]) and output ([`Raw`]) of every reader of attributes.

use std::path::Path;

use super::columns::{Values, listed};
use super::table::Table;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::graph::read::{extension, source::Source};
use crate::memory::Allowance;
use crate::progress::Progress;

/// The output of a reader: columns of values and the nodes of their rows.
pub(super) struct Raw {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Values>,
    /// The node of each row; none where row i is node i.
    pub(super) nodes: Option<Vec<u32>>,
    /// The line of each row, where the file has lines.
    pub(super) lines: Option<Vec<u64>>,
    /// Rows of the file.
    pub(super) rows: u64,
    /// Rows that belong to no node, and the id of one of them.
    pub(super) unknown: u64,
    pub(super) example: Option<String>,
}

/// The input of every reader.
pub(super) struct Request<'a> {
    pub(super) path: &'a Path,
    pub(super) options: &'a Table,
    pub(super) ids: &'a NodeIds,
    /// How much memory may be used.
    pub(super) allowance: Allowance,
    /// Whether all values are words, numbers too.
    pub(super) words: bool,
    pub(super) progress: &'a dyn Progress,
}

/// File formats of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Parquet,
    Npy,
    Npz,
    Safetensors,
    MatrixMarket,
    SvmLight,
}

impl Format {
    pub(super) fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Parquet => "parquet",
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::MatrixMarket => "mtx",
            Format::SvmLight => "svmlight",
        }
    }

    /// Detects the format from the first bytes, else from the extension.
    pub(super) fn of(source: &mut Source) -> Result<Format> {
        source.fill(16)?;
        let head = source.ahead();
        let banner = b"%%MatrixMarket";
        if head.starts_with(b"PAR1") {
            return Ok(Format::Parquet);
        }
        if head.starts_with(b"\x93NUMPY") {
            return Ok(Format::Npy);
        }
        if head.len() >= banner.len() && head[..banner.len()].eq_ignore_ascii_case(banner) {
            return Ok(Format::MatrixMarket);
        }
        Ok(match extension(source.path()).as_deref() {
            Some("parquet" | "pq") => Format::Parquet,
            Some("npy") => Format::Npy,
            Some("npz") => Format::Npz,
            Some("safetensors") => Format::Safetensors,
            Some("mtx") => Format::MatrixMarket,
            Some("svm" | "svmlight" | "libsvm") => Format::SvmLight,
            Some(
                other @ ("json" | "jsonl" | "xlsx" | "xls" | "feather" | "arrow" | "h5" | "hdf5"
                | "pkl" | "pickle" | "mat" | "db" | "sqlite" | "xml" | "gml" | "graphml"
                | "gexf"),
            ) => {
                let remedy = "convert it to .csv, .tsv, .parquet, .npy, .mtx or .svm";
                return Err(Error::input(
                    source.path(),
                    format!("`.{other}` files cannot be read"),
                    remedy,
                ));
            }
            _ => Format::Text,
        })
    }
}

impl Request<'_> {
    pub(super) fn fail(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.path, message, remedy)
    }

    /// Refuses what does not fit: `columns` for all nodes.
    pub(super) fn check_size(&self, columns: u64) -> Result<()> {
        self.check_size_beside(columns, 0)
    }

    /// Refuses what does not fit: `columns` for all nodes, and `beside` bytes that are needed meanwhile.
    pub(super) fn check_size_beside(&self, columns: u64, beside: u64) -> Result<()> {
        let more = (self.ids.len() as u64)
            .saturating_mul(columns)
            .saturating_mul(4)
            .saturating_add(beside);
        self.allowance.check(self.path, more).map_err(|error| match error {
            Error::Memory { need, limit, .. } => Error::Memory {
                stage: match columns {
                    0 => format!("{}, its columns,", self.path.display()),
                    _ => format!("{}, {columns} columns for {} nodes,", self.path.display(), self.ids.len()),
                },
                need,
                least: true,
                limit,
                remedy:
                    "choose some with attributes.table.columns, lower attributes.table.categories, reduce the file \
                         beforehand, or raise the memory limit"
                        .into(),
            },
            other => other,
        })
    }

    /// Refuses a file in node order that does not have one row per node.
    pub(super) fn check_rows(&self, rows: u64) -> Result<()> {
        if rows == self.ids.len() as u64 {
            return Ok(());
        }
        let message = format!("{rows} rows for a graph of {} nodes", self.ids.len());
        let remedy = "this format needs one row per node, in the order of the graph's nodes; a table with an id column \
                      (.csv, .tsv, .parquet) may have any rows";
        Err(self.fail(message, remedy))
    }

    /// Positions of the columns that are used, of those called `names`; `id` is not one of them.
    pub(super) fn used(&self, names: &[String], id: Option<usize>) -> Result<Vec<usize>> {
        let find = |name: &String| {
            let found = names.iter().position(|known| known == name);
            found.ok_or_else(|| {
                self.fail(
                    format!("there is no column `{name}`"),
                    format!("the columns are {}", listed(names)),
                )
            })
        };
        for name in &self.options.categorical {
            find(name)?;
        }
        if self.options.columns.is_empty() {
            return Ok((0..names.len()).filter(|j| Some(*j) != id).collect());
        }
        let mut used: Vec<usize> = self
            .options
            .columns
            .iter()
            .map(find)
            .collect::<Result<_>>()?;
        used.sort_unstable();
        used.dedup();
        match id.filter(|id| used.contains(id)) {
            Some(id) => {
                let remedy = "take it off attributes.table.columns, or name another id column";
                Err(self.fail(
                    format!(
                        "column `{}` holds the ids and is not an attribute",
                        names[id]
                    ),
                    remedy,
                ))
            }
            None => Ok(used),
        }
    }

    /// Names of columns that have none: `x0`, `x1`, …; refuses what does not fit before they are made.
    pub(super) fn numbered(&self, columns: u64) -> Result<Vec<String>> {
        let used = if self.options.columns.is_empty() {
            columns
        } else {
            0
        };
        self.check_size_beside(used, columns.saturating_mul(NUMBERED))?;
        if columns > MOST_COLUMNS {
            return Err(self.fail(
                format!("{columns} columns"),
                format!("at most {MOST_COLUMNS} can be read"),
            ));
        }
        Ok((0..columns).map(|j| format!("x{j}")).collect())
    }

    /// Refuses categories of a format that has numbers only.
    pub(super) fn refuse_categories(&self) -> Result<()> {
        if self.options.categorical.is_empty() {
            return Ok(());
        }
        let remedy =
            "use a table (.csv, .tsv, .parquet), or leave attributes.table.categorical out";
        Err(self.fail(
            "the columns of this format are numbers, not categories",
            remedy,
        ))
    }
}

/// Bytes that a column of a sparse format takes besides its values: names and lists of entries, twice while they are sorted out.
const NUMBERED: u64 = 256;

/// More columns than any real file has; a larger number is an error in the file.
const MOST_COLUMNS: u64 = 1 << 24;
