//! [`Table`]: how an attribute file is read; [`Facts`]: what it contained.

use crate::dense::Block;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::Column;
use crate::output::Written;

/// How an attribute file is read; everything has a sensible default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Table {
    /// The column of node ids, by name or by position from 0; by default the one called `id`, `node` or
    /// the like, else the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Column>,
    /// Whether the first line names the columns; by default it does unless it begins with a node of
    /// the graph, or has numbers where the names would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// What separates the columns of a text table: one character, `tab`, `space` (any run of
    /// blanks), or two to eight symbols such as `::`. By default detected: tab, `|`, semicolon, comma, `::`, else blanks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Columns to use; all but the id if empty.
    pub columns: Vec<String>,
    /// Columns whose values are categories even if they are numbers.
    pub categorical: Vec<String>,
    /// Maximum number of categories with their own 0/1 column; all others share one.
    pub categories: usize,
    /// What stands for a missing number.
    pub missing: Missing,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            id: None,
            header: None,
            delimiter: None,
            columns: Vec::new(),
            categorical: Vec::new(),
            categories: 32,
            missing: Missing::Mean,
        }
    }
}

/// What replaces a missing number. A missing category becomes zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Missing {
    /// The mean of the column over the nodes that have a value.
    Mean,
    /// Zero.
    Zero,
    /// Nothing: a missing value is an error.
    Refuse,
}

impl Table {
    /// Refuses values out of range; `field` is the name of this group of settings.
    pub fn check(&self, field: &str) -> Result<()> {
        if self.categories == 0 {
            return Err(Error::config(
                format!("{field}.categories"),
                "must be at least 1",
            ));
        }
        if let Some(delimiter) = &self.delimiter {
            crate::graph::read::delimiter::named(delimiter, &format!("{field}.delimiter"))?;
        }
        if self.header == Some(false) && matches!(self.id, Some(Column::Name(_))) {
            return Err(Error::config(
                format!("{field}.id"),
                "a name needs a header; give a position, or drop header = false",
            ));
        }
        Ok(())
    }
}

/// What an attribute file contained, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The file.
    pub file: String,
    /// Its format.
    pub format: String,
    /// Length and checksum of the file, and of those beside it that name its rows and columns; nothing for a stream.
    #[serde(default)]
    pub content: Vec<Written>,
    /// Whether rows were matched by id; otherwise row i is node i.
    pub by_id: bool,
    /// Rows of the file.
    pub rows: u64,
    /// Columns of the file that were used.
    pub columns: usize,
    /// The resulting columns.
    pub features: usize,
    /// Nodes of the graph that are not in the file.
    pub absent_nodes: u64,
    /// Rows whose id is not a node of the graph; they are ignored.
    pub unknown_ids: u64,
    /// Values missing in the rows that are used.
    pub missing_values: u64,
    /// The same as text, and other notes.
    pub notes: Vec<String>,
}

/// Attributes of the nodes of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// One name per column.
    pub names: Vec<String>,
    /// The values, one row per node, in the graph's order.
    pub block: Block,
    /// What was read.
    pub facts: Facts,
}
