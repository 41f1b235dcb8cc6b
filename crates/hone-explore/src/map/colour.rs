//! What nodes of a map can be coloured by besides role, degree and motifs: labels and attributes of files.

use hone::Result;
use hone::attributes::{self, Loaded, Table};
use hone::dense::Block;
use hone::graph::NodeIds;
use hone::progress::Progress;

/// Categories of a colouring; all others share one.
const CATEGORIES: usize = 30;
/// Columns of attributes that are offered.
const COLUMNS: usize = 40;

/// A value per node.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Colour {
    /// One of a few names.
    Categories {
        /// What they are.
        name: String,
        /// Their names.
        names: Vec<String>,
        /// The category of every node.
        of: Vec<u16>,
    },
    /// A number.
    Numbers {
        /// What it is.
        name: String,
        /// The number of every node.
        values: Vec<f32>,
    },
}

impl Colour {
    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Colour::Categories { name, .. } | Colour::Numbers { name, .. } => name,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        match self {
            Colour::Categories { of, .. } => of.len(),
            Colour::Numbers { values, .. } => values.len(),
        }
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Labels of nodes: a table of ids and one or more columns, each value of which is a category. Returns what was read, and
/// notes about what was missing. The process may hold `memory` bytes; by default what the machine has free.
pub fn read_labels(
    file: &str,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Colour>, Vec<String>)> {
    let options = Table { categories: CATEGORIES, ..Table::default() };
    let first = attributes::read(file, &options, ids, memory, progress)?;
    // Read once more with every column as categories: numbers are names here.
    let mut columns: Vec<String> = first.named.names.iter().map(|name| prefix(name).to_owned()).collect();
    columns.dedup();
    let loaded = attributes::read(file, &Table { categorical: columns, ..options }, ids, memory, progress)?;
    Ok(colours(&loaded, "label"))
}

/// Attributes of nodes: numbers stay numbers, words become categories.
pub fn read_attributes(
    file: &str,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Colour>, Vec<String>)> {
    let options = Table { categories: CATEGORIES, ..Table::default() };
    Ok(colours(&attributes::read(file, &options, ids, memory, progress)?, "attribute"))
}

/// The column that a 0/1 column `city=Rome` comes from.
fn prefix(name: &str) -> &str {
    name.split_once('=').map_or(name, |(column, _)| column)
}

/// Columns as colours; 0/1 columns of one origin become one.
fn colours(loaded: &Loaded, fallback: &str) -> (Vec<Colour>, Vec<String>) {
    let (names, block) = (&loaded.named.names, &loaded.named.block);
    let (mut found, mut start) = (Vec::new(), 0);
    while start < names.len() {
        let own = prefix(&names[start]);
        let grouped = names[start].contains('=');
        let same = |name: &String| grouped && name.contains('=') && prefix(name) == own;
        let end = start + 1 + names[start + 1..].iter().take_while(|name| same(name)).count();
        // Columns without a header are called x1, x2, …
        let plain = own.strip_prefix('x').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
        let name = if plain { fallback.to_owned() } else { own.to_owned() };
        found.push(if grouped {
            categories(name, &names[start..end], block, start)
        } else {
            numbers(name, block, start)
        });
        start = end;
    }
    let mut notes = loaded.facts.notes.clone();
    if found.len() > COLUMNS {
        notes.push(format!("{} columns; the first {COLUMNS} are on the map", found.len()));
        found.truncate(COLUMNS);
    }
    (found, notes)
}

fn numbers(name: String, block: &Block, column: usize) -> Colour {
    Colour::Numbers { name, values: (0..block.rows()).map(|i| block.get(i, column)).collect() }
}

fn categories(name: String, columns: &[String], block: &Block, start: usize) -> Colour {
    let value = |column: &String| column.split_once('=').map_or(column.clone(), |(_, value)| value.to_owned());
    let mut names: Vec<String> = columns.iter().map(value).collect();
    let none = names.len() as u16;
    let own = |i: usize| {
        let row = &block.row(i)[start..start + columns.len()];
        row.iter().position(|&x| x > 0.0).map_or(none, |at| at as u16)
    };
    let of: Vec<u16> = (0..block.rows()).map(own).collect();
    if of.contains(&none) {
        names.push("(none)".into());
    }
    Colour::Categories { name, names, of }
}
