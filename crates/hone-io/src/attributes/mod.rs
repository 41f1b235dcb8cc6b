//! Node attributes of the user: a file becomes named columns of a sparse matrix, one row per node of the graph.
//!
//! | file | rows | content |
//! |---|---|---|
//! | `.csv`, `.tsv`, any other text | by id | an id column, numbers and words |
//! | `.parquet` | by id | the same, typed |
//! | `.npy` | in node order, or by `NAME.ids.txt` beside it | numbers |
//! | `.npz`, `.safetensors` | by id | what `hone features` and `hone embed` write |
//! | `.mtx` | in node order | Matrix Market, coordinate or array |
//! | `.svm`, `.svmlight`, `.libsvm` | in node order | a label, which is not used, and `index:value` pairs |
//!
//! Numbers are not changed; a column of words becomes one 0/1 column per category ([`Table::categories`]
//! of them at most), a column of [texts](Table::text) one per word, with its number in each text. Many
//! numbers that are mostly zero are words too, see [`Kind::Word`]. A missing value is filled by the rule [`Missing`]; for a
//! node that is not in the file, all values are missing. What is missing, unknown or left out is counted in [`Facts`].
//!
//! Cost: one parallel pass over the file; memory for the values that are there. Needs only the ids of the graph.

mod arrays;
mod columns;
mod encode;
mod sparse;
mod text;

use std::ops::Range;
use std::path::Path;

use hone_base::settings::Auto;
use serde::{Deserialize, Serialize};

use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::read::{extension, lines::Delimiter, source::Source, table::find};
use crate::graph::{Column, NodeIds};
use crate::memory::Allowance;
use crate::message::{Message, message, set, setting};
use crate::output::{Written, companions, parts};
use crate::progress::Progress;
use crate::sparse::Csr;
use columns::{Reading, Values, listed};

pub use encode::{Given, Shown, given, shown};

hone_base::settings! {
    /// How an attribute file is read.
    #[derive(Eq)]
    pub struct Table {
        /// The column of node ids, by name or by position from 0; auto: the one called id, node or the like, else the first.
        pub id: Auto<Column> = Auto::Auto,
        /// Whether the first line names the columns; auto: unless it begins with a node of the graph, or has numbers where the
        /// names would be.
        pub header: Auto<bool> = Auto::Auto,
        /// What separates the columns of a text table: one character, tab, space (any run of blanks), or two to eight symbols
        /// such as ::. auto: tab, |, semicolon, comma, ::, else blanks.
        pub delimiter: Auto<String> = Auto::Auto,
        /// Columns to use; all but the id if empty.
        pub columns: Vec<String> = Vec::new(),
        /// Columns whose values are categories even if they are numbers.
        pub categorical: Vec<String> = Vec::new(),
        /// Columns of texts, such as titles: each word has a column of its own, with its number in the text.
        pub text: Vec<String> = Vec::new(),
        /// Maximum number of categories with their own 0/1 column; the others share one.
        pub categories: usize = 32,
        /// What replaces a missing number: mean (of the column), zero, or refuse.
        pub missing: Missing = Missing::Mean,
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
            let field = format!("{field}.categories");
            return Err(Error::config(field, "must be at least 1"));
        }
        if let Auto::Given(delimiter) = &self.delimiter {
            Delimiter::named(delimiter, &format!("{field}.delimiter"))?;
        }
        if self.header == Auto::Given(false) && matches!(self.id, Auto::Given(Column::Name(_))) {
            let no = set(format!("{field}.header"), false);
            let message = message!["a name needs a header; give a position, or drop ", no];
            return Err(Error::config(format!("{field}.id"), message));
        }
        if let Some(name) = self
            .text
            .iter()
            .find(|name| self.categorical.contains(name))
        {
            let too = setting(format!("{field}.categorical"));
            let message = message![
                format!("{name:?} is in "),
                too,
                " too; name it in one of them"
            ];
            return Err(Error::config(format!("{field}.text"), message));
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
#[derive(Debug, Clone)]
pub struct Attributes {
    /// One per column.
    pub columns: Vec<Attribute>,
    /// The values, one row per node, in the graph's order; what is not stored is [absent](Attribute::absent).
    pub values: Csr,
}

/// An attribute: a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// The value of nodes for which none is stored: 0, or the mean of a number.
    pub absent: f32,
}

/// What the values of an attribute are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Numbers.
    Number,
    /// 1 for nodes of a category, else 0.
    Category,
    /// How often a node has a word, or how much: columns of texts; and numbers, where these are many and mostly zero: at
    /// least 32 columns, and three quarters of all values.
    Word,
}

impl Attributes {
    /// Numbers, one row per node; NaN where one is missing.
    ///
    /// # Errors
    /// When a value is infinite, or no column has one.
    pub fn numbers(names: Vec<String>, block: &Block) -> Result<Attributes> {
        let column = |j: usize| (0..block.rows()).map(|i| block.row(i)[j]).collect();
        let columns = names.into_iter().enumerate();
        let columns = columns.map(|(j, name)| (name, Given::Numbers(column(j))));
        let ids = NodeIds::Sequential(block.rows());
        Ok(given(columns.collect(), &Table::default(), &ids)?.attributes)
    }

    /// All values, those that are absent too.
    pub fn block(&self) -> Block {
        let absent: Vec<f32> = self.columns.iter().map(|column| column.absent).collect();
        let mut block = Block::zeros(self.values.rows(), absent.len());
        block.update_rows(|i, row| {
            row.copy_from_slice(&absent);
            let (columns, values) = self.values.row(i);
            for (&j, &value) in columns.iter().zip(values) {
                row[j as usize] = value;
            }
        });
        block
    }

    /// The name of each column.
    pub fn names(&self) -> Vec<String> {
        self.columns
            .iter()
            .map(|column| column.name.clone())
            .collect()
    }
}

/// Attributes of the nodes of a graph, and what was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The attributes.
    pub attributes: Attributes,
    /// What was read.
    pub facts: Facts,
}

/// Reads a file of attributes of the nodes called `ids`; the process may hold `memory` bytes, or what the machine has
/// free.
///
/// ```
/// use hone_io::attributes::{self, Table};
/// # let folder = tempfile::tempdir().unwrap();
/// # let file = folder.path().join("people.csv");
/// std::fs::write(&file, "id,age,city\nann,30,Rome\nbob,,Oslo\n").unwrap();
/// let ids = hone_io::graph::NodeIds::from_texts(&["bob", "ann", "cid"]);
/// let read = attributes::read(&file, &Table::default(), &ids, None, &hone_base::Silent)?;
/// assert_eq!(read.attributes.names(), ["age", "city=Oslo", "city=Rome"]);
/// let values = read.attributes.block();
/// assert_eq!(values.row(1), [30.0, 0.0, 1.0]);
/// assert_eq!(values.row(2), [30.0, 0.0, 0.0], "the mean where nothing is known");
/// assert_eq!((read.facts.absent_nodes, read.facts.missing_values), (1, 1));
/// # Ok::<(), hone_base::Error>(())
/// ```
pub fn read(
    file: impl AsRef<Path>,
    options: &Table,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<Loaded> {
    let file = file.as_ref();
    options.check("attributes.table")?;
    let content = content(file)?;
    let (request, format, raw) = open(file, options, ids, memory, false, progress)?;
    let mut loaded = encode::encode(raw, format, &request)?;
    loaded.facts.content = content;
    Ok(loaded)
}

/// The raw columns of a file, and what was requested; with `words` numbers are words too.
fn open<'a>(
    file: &'a Path,
    options: &'a Table,
    ids: &'a NodeIds,
    memory: Option<u64>,
    words: bool,
    progress: &'a dyn Progress,
) -> Result<(Request<'a>, &'static str, Raw)> {
    if file == Path::new("-") {
        let message = "attributes cannot come from standard input; name a file";
        return Err(Error::config("attributes.file", message));
    }
    crate::record::verify(file)?;
    let allowance = Allowance::new(memory);
    let mut source = Source::open(file, allowance)?;
    let request = Request {
        path: file,
        options,
        ids,
        allowance,
        words,
        progress,
    };
    let format = format(&mut source)?;
    let raw = match format {
        "parquet" => arrays::read_parquet(&request)?,
        "npy" => arrays::read_npy(source, &request)?,
        "npz" => arrays::read_embedding(crate::store::Format::Npz, &request)?,
        "safetensors" => arrays::read_embedding(crate::store::Format::Safetensors, &request)?,
        "mtx" => sparse::read_matrix(source, &request)?,
        "svmlight" => sparse::read_svmlight(source, &request)?,
        _ => text::read(source, &request)?,
    };
    progress.check()?;
    Ok((request, format, raw))
}

/// The format of a file by its first bytes, else by its extension.
fn format(source: &mut Source) -> Result<&'static str> {
    source.fill(16)?;
    let head = source.ahead();
    let banner = b"%%MatrixMarket";
    if head.starts_with(b"PAR1") {
        return Ok("parquet");
    }
    if head.starts_with(b"\x93NUMPY") {
        return Ok("npy");
    }
    if head.len() >= banner.len() && head[..banner.len()].eq_ignore_ascii_case(banner) {
        return Ok("mtx");
    }
    Ok(match extension(source.path()).as_deref() {
        Some("parquet" | "pq") => "parquet",
        Some("npy") => "npy",
        Some("npz") => "npz",
        Some("safetensors") => "safetensors",
        Some("mtx") => "mtx",
        Some("svm" | "svmlight" | "libsvm") => "svmlight",
        Some(
            other @ ("json" | "jsonl" | "xlsx" | "xls" | "feather" | "arrow" | "h5" | "hdf5"
            | "pkl" | "pickle" | "mat" | "db" | "sqlite" | "xml" | "gml" | "graphml"
            | "gexf"),
        ) => {
            let remedy = "convert it to .csv, .tsv, .parquet, .npy, .mtx or .svm";
            let message = format!("`.{other}` files cannot be read");
            return Err(Error::input(source.path(), message, remedy));
        }
        _ => "text",
    })
}

/// Length and checksum of a file of attributes, and of `NAME.ids.txt` and `FILE.columns.txt` where they stand beside it
/// and count, or of the parts in a folder; nothing for a stream, which can be read only once.
pub fn content(file: impl AsRef<Path>) -> Result<Vec<Written>> {
    let file = file.as_ref();
    let mut files = parts::files(file).unwrap_or_default();
    if extension(file).is_some_and(|extension| extension == "npy") {
        files.extend([companions::ids(file), companions::columns(file)]);
    }
    files.retain(|path| path.is_file());
    files.iter().map(|path| Written::of(path)).collect()
}

/// The output of a reader: columns of values, and whose they are.
struct Raw {
    names: Vec<String>,
    columns: Vec<Values>,
    rows: Rows,
}

/// The nodes that rows of a file belong to.
#[derive(Default)]
struct Rows {
    /// The node of each row that has one; none where row i is node i.
    nodes: Option<Vec<u32>>,
    /// The line of each of these rows, where the file has lines.
    lines: Option<Vec<u64>>,
    /// Rows of the file.
    total: u64,
    /// Rows that belong to no node, and the id of one of them.
    unknown: u64,
    example: Option<String>,
}

impl Rows {
    /// Counts a row that belongs to no node.
    fn skip(&mut self, id: &str) {
        self.unknown += 1;
        self.example.get_or_insert_with(|| id.to_owned());
    }
}

/// The input of every reader.
struct Request<'a> {
    path: &'a Path,
    options: &'a Table,
    ids: &'a NodeIds,
    /// How much memory may be used.
    allowance: Allowance,
    /// Whether all values are words, numbers too.
    words: bool,
    progress: &'a dyn Progress,
}

impl Request<'_> {
    fn fail(&self, message: impl Into<Message>, remedy: impl Into<Message>) -> Error {
        Error::input(self.path, message, remedy)
    }

    /// Refuses what does not fit: a value of so many columns for each node, and `beside` bytes that are needed meanwhile.
    fn check_size(&self, columns: u64, beside: u64) -> Result<()> {
        let nodes = self.ids.len() as u64;
        let values = nodes.saturating_mul(columns).saturating_mul(4);
        let more = values.saturating_add(beside);
        let Some((need, limit)) = self.allowance.exceeded(more) else {
            return Ok(());
        };
        let path = self.path.display();
        Err(Error::Memory {
            stage: match columns {
                0 => format!("{path}, its columns,"),
                _ => format!("{path}, {columns} columns for {nodes} nodes,"),
            },
            need,
            least: true,
            limit,
            remedy: message![
                "choose some with ",
                setting("attributes.table.columns"),
                ", lower ",
                setting("attributes.table.categories"),
                ", reduce the file beforehand, or raise ",
                setting("memory_limit")
            ],
        })
    }

    /// The rows of a file in node order, which must have one row per node.
    fn in_order(&self, total: u64) -> Result<Rows> {
        if total == self.ids.len() as u64 {
            return Ok(Rows {
                total,
                ..Rows::default()
            });
        }
        let message = format!("{total} rows for a graph of {} nodes", self.ids.len());
        let remedy = "this format needs one row per node, in the order of the graph's nodes; a table with an id column \
                      (.csv, .tsv, .parquet) may have any rows";
        Err(self.fail(message, remedy))
    }

    /// How the values of a column are understood.
    fn reading(&self, name: &String) -> Reading {
        if self.options.text.contains(name) {
            Reading::Texts
        } else if self.words || self.options.categorical.contains(name) {
            Reading::Categories
        } else {
            Reading::Detected
        }
    }

    /// The column of the ids where one is named, of those called `names`; else a message and a remedy.
    fn id_column(&self, names: &[String]) -> std::result::Result<Option<usize>, (String, String)> {
        match &self.options.id {
            Auto::Auto => Ok(None),
            Auto::Given(Column::Position(position)) if *position < names.len() => {
                Ok(Some(*position))
            }
            Auto::Given(Column::Position(position)) => {
                let last = names.len().saturating_sub(1);
                let message = format!("there is no column {position}, only 0 to {last}");
                Err((message, "positions count from 0".into()))
            }
            Auto::Given(Column::Name(name)) => {
                let exact = names.iter().position(|known| known == name);
                let found = exact.or_else(|| find(names, name));
                let message = || format!("there is no column `{name}` for the ids");
                let remedy = || format!("the columns are {}", listed(names));
                found.map(Some).ok_or_else(|| (message(), remedy()))
            }
        }
    }

    /// Positions of the columns that are used, of those called `names`; `id` is not one of them.
    fn used(&self, names: &[String], id: Option<usize>) -> Result<Vec<usize>> {
        let find = |name: &String| {
            let found = names.iter().position(|known| known == name);
            let message = || format!("there is no column `{name}`");
            let remedy = || format!("the columns are {}", listed(names));
            found.ok_or_else(|| self.fail(message(), remedy()))
        };
        for name in self.options.categorical.iter().chain(&self.options.text) {
            find(name)?;
        }
        if self.options.columns.is_empty() {
            return Ok((0..names.len()).filter(|j| Some(*j) != id).collect());
        }
        let used = self.options.columns.iter().map(find);
        let mut used = used.collect::<Result<Vec<usize>>>()?;
        used.sort_unstable();
        used.dedup();
        if let Some(id) = id.filter(|id| used.contains(id)) {
            let message = format!(
                "column `{}` holds the ids and is not an attribute",
                names[id]
            );
            let columns = setting("attributes.table.columns");
            let remedy = message!["take it off ", columns, ", or name another id column"];
            return Err(self.fail(message, remedy));
        }
        Ok(used)
    }

    /// Refuses a format that has numbers only where categories are requested.
    fn refuse_categories(&self) -> Result<()> {
        let (what, field) = match self.options {
            Table { categorical, .. } if !categorical.is_empty() => ("categories", "categorical"),
            Table { text, .. } if !text.is_empty() => ("texts", "text"),
            _ => return Ok(()),
        };
        let message = format!("the columns of this format are numbers, not {what}");
        let remedy = message![
            "use a table (.csv, .tsv, .parquet), or leave ",
            setting(format!("attributes.table.{field}")),
            " out"
        ];
        Err(self.fail(message, remedy))
    }

    /// Names of columns that have none: `x0`, `x1`, …; refuses what does not fit before they are made.
    fn numbered(&self, columns: Range<u64>) -> Result<Vec<String>> {
        let count = columns.end - columns.start;
        self.check_size(0, count.saturating_mul(NUMBERED))?;
        if count > MOST_COLUMNS {
            let remedy = format!("at most {MOST_COLUMNS} can be read");
            return Err(self.fail(format!("{count} columns"), remedy));
        }
        Ok(columns.map(|j| format!("x{j}")).collect())
    }
}

/// Bytes that a column of a sparse format takes besides its values: names and lists of entries, twice while they are sorted out.
const NUMBERED: u64 = 256;

/// More columns than any real file has; a larger number is an error in the file.
const MOST_COLUMNS: u64 = 1 << 24;
