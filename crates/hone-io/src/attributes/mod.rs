//! Node attributes of the user: a file becomes named columns, one row per node of the graph.
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
//! of them at most). A missing value is filled by the rule [`Missing`]; for a node that is not in the
//! file, all values are missing. What is missing, unknown or left out is counted in [`Facts`].
//!
//! Cost: one parallel pass over the file, O(N F) memory for F columns. Needs only the ids of the graph.

mod arrays;
mod columns;
mod encode;
mod layout;
mod parquet;
mod request;
mod shown;
mod sparse;
mod svmlight;
mod table;
mod text;

use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::graph::read::{extension, source::Source};
use crate::memory::Allowance;
use crate::output::{Written, companions, parts};
use crate::progress::Progress;
use request::{Format, Raw, Request};

pub use shown::{Shown, shown};
pub use table::{Facts, Loaded, Missing, Table};

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
/// assert_eq!(read.names, ["age", "city=Oslo", "city=Rome"]);
/// assert_eq!(read.block.row(1), [30.0, 0.0, 1.0]);
/// assert_eq!(read.block.row(2), [30.0, 0.0, 0.0], "the mean where nothing is known");
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
    let mut loaded = encode::encode(&raw, format, &request)?;
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
) -> Result<(Request<'a>, Format, Raw)> {
    if file == Path::new("-") {
        return Err(Error::config(
            "attributes.file",
            "attributes cannot come from standard input; name a file",
        ));
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
    let format = Format::of(&mut source)?;
    let raw = match format {
        Format::Text => text::read(source, &request)?,
        Format::Parquet => parquet::read(&request)?,
        Format::Npy => arrays::read_npy(source, &request)?,
        Format::Npz | Format::Safetensors => arrays::read_embedding(format, &request)?,
        Format::MatrixMarket => sparse::read(source, &request)?,
        Format::SvmLight => svmlight::read(source, &request)?,
    };
    progress.check()?;
    Ok((request, format, raw))
}

/// Length and checksum of a file of attributes, and of `NAME.ids.txt` and `FILE.columns.txt` where they stand beside it
/// and count, or of the parts in a folder; nothing for a stream, which can be read only once.
pub fn content(file: impl AsRef<Path>) -> Result<Vec<Written>> {
    let file = file.as_ref();
    let array = extension(file).is_some_and(|extension| extension == "npy");
    let beside = [companions::ids(file), companions::columns(file)]
        .into_iter()
        .filter(|path| array && path.is_file());
    let parts = if file.is_dir() {
        parts::files(file).unwrap_or_default()
    } else {
        vec![file.to_path_buf()]
    };
    let files = parts.into_iter().chain(beside);
    files
        .filter(|path| path.is_file())
        .map(|path| crate::record::content(&path))
        .collect()
}
