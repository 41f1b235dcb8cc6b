//! Embeddings on disk: one module per format, chosen by the file extension.
//!
//! | extension | content |
//! |---|---|
//! | `.tsv`, `.csv` (also `.gz`, `.zst`) | header `id z0 z1 …`, one node per line |
//! | `.npy` | N × D float32; ids in `NAME.ids.txt`, names of columns in `NAME.npy.columns.txt`, one per line |
//! | `.npz` | arrays `ids`, `embedding` and `columns`, the names |
//! | `.parquet` | column `id` and one float column per dimension; `NAME.parquet/` is a folder of such files ([`parts`](crate::output::parts)) |
//! | none: format `parquet-vector` | Parquet with columns `id` and `vector`, a list of floats of one length; names of columns in the metadata |
//! | `.pgvector`, `.pgcopy` | PostgreSQL's COPY, text and binary: the id, a vector of pgvector; names of columns in `NAME.pgcopy.columns.txt` |
//! | `.w2v`, `.emb`, `.vec` | word2vec text, as gensim reads it; names of columns in `NAME.w2v.columns.txt` |
//! | `.safetensors` | tensor `embedding`; ids as tensor `ids` or as text; names of columns in the metadata |
//!
//! Every writer streams over the rows, without a second copy of the vectors. If several processes hold the rows, process 0
//! receives and writes them, or each writes a part of its own ([`Embedding::add_shared`]).

mod counts;
pub mod factors;
mod npy;
mod parquet;
mod pgvector;
mod shared;
pub mod table;
pub mod tensors;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::communicator::{Communicator, SingleProcess};
use crate::dense::Block;
use crate::dense::panels::Own;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::memory::Allowance;
use crate::output::companions::columns as names_path;
use crate::output::parts::is_folder;
use crate::output::{Batch, Existing, Output, is_stream};
use crate::record;

pub use counts::{CountTable, CountsBy};
pub use npy::read_npy_array;
pub use npy::write_header as write_npy_header;
use shared::RowPieces;
pub(crate) use text::compressed;
pub use text::write_ids;

/// Bytes of buffers that every writer has.
const WRITING: u64 = 1 << 20;

/// Node vectors with the names of their rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Original id of every row.
    pub ids: NodeIds,
    /// One row per node, or those of this process.
    pub vectors: Block,
    /// One name per column.
    pub columns: Vec<String>,
    /// The rows that are here: all, unless several processes hold the embedding together.
    pub own: Own,
}

impl Embedding {
    /// Vectors whose columns are called `z0`, `z1`, …
    ///
    /// # Panics
    /// When there are not as many ids as rows.
    pub fn new(ids: NodeIds, vectors: Block) -> Self {
        let columns = (0..vectors.cols()).map(|j| format!("z{j}")).collect();
        Self::with_columns(ids, vectors, columns)
    }

    /// Vectors with named columns.
    ///
    /// # Panics
    /// When ids or names do not match the block's shape.
    pub fn with_columns(ids: NodeIds, vectors: Block, columns: Vec<String>) -> Self {
        let own = Own::all(vectors.rows());
        Self::part(ids, own, vectors, columns)
    }

    /// Some rows of an embedding, the others being in other processes; the ids are those of all rows.
    ///
    /// # Panics
    /// When ids or names do not match the shape.
    pub fn part(ids: NodeIds, own: Own, vectors: Block, columns: Vec<String>) -> Self {
        assert_eq!(
            (ids.len(), own.range.len()),
            (own.rows, vectors.rows()),
            "one id per row"
        );
        assert_eq!(columns.len(), vectors.cols(), "one name per column");
        Embedding {
            ids,
            vectors,
            columns,
            own,
        }
    }

    /// One of parts that were read on their own; columns without names get them.
    fn of_parts(
        path: &Path,
        ids: NodeIds,
        vectors: Block,
        columns: Option<Vec<String>>,
    ) -> Result<Self> {
        let wrong = |message: String| Error::input(path, message, "write the file again");
        let (rows, cols) = (vectors.rows(), vectors.cols());
        if ids.len() != rows {
            return Err(wrong(format!("{} ids for {rows} rows", ids.len())));
        }
        match columns {
            None => Ok(Self::new(ids, vectors)),
            Some(names) if names.len() == cols => Ok(Self::with_columns(ids, vectors, names)),
            Some(names) => Err(wrong(format!("{} names for {cols} columns", names.len()))),
        }
    }

    /// Reads an embedding that [`Embedding::write`] or a compatible tool wrote, if there is memory free for it.
    ///
    /// If there is a record of the run next to it ([`crate::record`]), the files must match it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, None, Allowance::new(None))
    }

    /// Reads an embedding, in the format that the extension names if none is given; what would take more memory than allowed is
    /// refused.
    pub fn read_within(
        path: impl AsRef<Path>,
        format: Option<Format>,
        allowance: Allowance,
    ) -> Result<Self> {
        let path = path.as_ref();
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        check_size(path, format, allowance)?;
        record::verify(path)?;
        let mut lines = Vec::new();
        let embedding = match format {
            Format::Npy => npy::read_npy(path, allowance),
            Format::Npz => npy::read_npz(path, allowance),
            Format::Parquet | Format::ParquetVector => parquet::read(path, allowance),
            Format::Safetensors => tensors::read(path, allowance),
            Format::Pgvector => pgvector::read_text(path, allowance, &mut lines),
            Format::Pgcopy | Format::PgcopyHalf => pgvector::read_binary(path, allowance),
            text => text::read(path, text, allowance, &mut lines),
        }?;
        let Some((a, b)) = embedding.ids.repeated() else {
            return Ok(embedding);
        };
        let place = match lines.is_empty() {
            true => format!("rows {a} and {b}, from 0"),
            false => format!("lines {} and {}", lines[a], lines[b]),
        };
        let id = embedding.ids.get(a as u32);
        let message = format!("node `{id}` has two vectors, in {place}");
        Err(Error::input(path, message, "write one row per node"))
    }

    /// Writes the embedding, all files of it or none, and returns what was written. The record of an earlier run beside
    /// it is removed.
    ///
    /// The extension names the format; [`Embedding::write_as`] takes any.
    pub fn write(&self, path: impl AsRef<Path>, existing: Existing) -> Result<Vec<PathBuf>> {
        self.write_as(&path, Format::of(path.as_ref())?, existing)
    }

    /// Writes the embedding in a format of choice, as [`Embedding::write`] does.
    pub fn write_as(
        &self,
        path: impl AsRef<Path>,
        format: Format,
        existing: Existing,
    ) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        record::without(path, existing, |batch| {
            self.add_to(batch, path, Some(format))
        })
    }

    /// Writes the embedding into a batch, where further files may join it, such as a record of the run
    /// ([`crate::record::add_to`]).
    pub fn add_to(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        format: Option<Format>,
    ) -> Result<()> {
        self.add_shared(batch, path, format, &SingleProcess)
    }

    /// The same by several processes, each of which has some rows, or all of them; all call this. Files join the batch of
    /// process 0. If one process fails, all do.
    ///
    /// # Panics
    /// When this process has some rows only, and is alone.
    pub fn add_shared(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        format: Option<Format>,
        writers: &dyn Communicator,
    ) -> Result<()> {
        assert!(
            writers.size() > 1 || self.own.is_all(),
            "rows of other processes are missing"
        );
        let path = path.as_ref();
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        if is_folder(path) {
            return shared::write_parts(self, batch, path, format, usize::MAX, writers);
        }
        let begun = match writers.leads() {
            true => begin(batch, path, format).map(Some),
            false => Ok(None),
        };
        let out = writers.agree(path, begun)?;
        let rows = RowPieces::all(self, format, writers);
        let written = out.map(|mut out| {
            let written = write_rows(&rows, path, format, &mut out);
            written.map(|()| out)
        });
        rows.drain();
        let done = written.transpose().and_then(|out| match out {
            None => Ok(()),
            Some(out) => {
                batch.add(out)?;
                self.add_beside(batch, path, format)
            }
        });
        writers.agree(path, done)
    }

    /// The same into a folder of Parquet files of at most so many rows each.
    ///
    /// # Errors
    /// As [`Embedding::check_parts`], and what [`Embedding::add_shared`] refuses.
    pub fn add_parts(
        &self,
        batch: &mut Batch,
        path: impl AsRef<Path>,
        format: Option<Format>,
        rows_per_file: usize,
        writers: &dyn Communicator,
    ) -> Result<()> {
        let path = path.as_ref();
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        Self::check_parts(path, rows_per_file)?;
        shared::write_parts(self, batch, path, format, rows_per_file, writers)
    }

    /// Refuses parts without rows, and parts of an output that is one file.
    pub fn check_parts(path: impl AsRef<Path>, rows_per_file: usize) -> Result<()> {
        let message = match (is_folder(path.as_ref()), rows_per_file) {
            (true, 1..) => return Ok(()),
            (true, 0) => "a file needs at least one row".to_owned(),
            (false, _) => format!(
                "{} is one file; end its name with `/` for a folder of files",
                path.as_ref().display()
            ),
        };
        Err(Error::config("rows_per_file", message))
    }

    /// Adds the files beside the main one.
    fn add_beside(&self, batch: &mut Batch, path: &Path, format: Format) -> Result<()> {
        for sidecar in &Self::files(path, Some(format))?[1..] {
            let mut beside = batch.begin(sidecar)?;
            if *sidecar == names_path(path) {
                write_names(&self.columns, sidecar, &mut beside)?;
            } else {
                write_ids(&self.ids, sidecar, &mut beside)?;
            }
            batch.add(beside)?;
        }
        Ok(())
    }

    /// The files that [`Embedding::write`] would write, the main one first.
    pub fn files(path: impl AsRef<Path>, format: Option<Format>) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        let mut files = vec![path.to_path_buf()];
        if format == Format::Npy && !is_stream(path) {
            files.push(npy::ids_path(path));
        }
        if format.names_beside() && !is_stream(path) {
            files.push(names_path(path));
        }
        Ok(files)
    }
}

/// Refuses a file whose header promises more than fits, before anything else is read of it.
fn check_size(path: &Path, format: Format, allowance: Allowance) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Ok(()),
        Ok(_) if format == Format::Npy => npy::check_size(path, allowance),
        Ok(found) if format == Format::Safetensors => {
            allowance.check(path, found.len().saturating_mul(tensors::EACH))
        }
        _ => Ok(()),
    }
}

/// Opens the main file.
fn begin(batch: &Batch, path: &Path, format: Format) -> Result<Output> {
    let out = batch.begin(path)?;
    if format == Format::Npz && !out.can_seek() {
        let message = "an .npz archive cannot be written to a pipe";
        return Err(Error::input(path, message, "name a file"));
    }
    Ok(out)
}

/// Writes all rows.
fn write_rows(rows: &RowPieces, path: &Path, format: Format, out: &mut Output) -> Result<()> {
    match format {
        Format::Npy => npy::write(rows, out).map_err(|e| Error::io(path, e)),
        Format::Tsv | Format::Csv | Format::Word2vec => {
            compressed(path, out, |out| text::write(rows, path, format, out))
        }
        Format::Npz => npy::write_npz(rows, path, out),
        Format::Parquet => parquet::write(rows, path, out),
        Format::ParquetVector => parquet::write_vectors(rows, path, out),
        Format::Safetensors => tensors::write(rows, path, out),
        Format::Pgvector => compressed(path, out, |out| pgvector::write_text(rows, path, out)),
        Format::Pgcopy => pgvector::write_binary(rows, path, pgvector::Float::Single, out),
        Format::PgcopyHalf => pgvector::write_binary(rows, path, pgvector::Float::Half, out),
    }
}

/// File formats of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// Tab-separated text with a header.
    Tsv,
    /// Comma-separated text with a header.
    Csv,
    /// NumPy array, ids in a sidecar.
    Npy,
    /// NumPy archive with ids.
    Npz,
    /// Parquet table with a column for each of the vectors.
    Parquet,
    /// Parquet table with all vectors in one column, as lists of one length.
    ParquetVector,
    /// word2vec text, also called `.emb` and `.vec` by other tools.
    #[serde(rename = "w2v")]
    Word2vec,
    /// safetensors file.
    Safetensors,
    /// PostgreSQL's COPY as text: the id and a vector, which a column of type `vector` or `halfvec` takes.
    Pgvector,
    /// PostgreSQL's COPY in binary: the id, `bigint` if all ids are integers, else `text`, and a `vector`.
    Pgcopy,
    /// The same with a `halfvec`.
    PgcopyHalf,
}

impl Format {
    /// All formats with their names. These are extensions too, but for those with a `-`: which of two such formats a file
    /// gets must be said.
    pub const ALL: [(Format, &'static str); 11] = [
        (Format::Tsv, "tsv"),
        (Format::Csv, "csv"),
        (Format::Npy, "npy"),
        (Format::Npz, "npz"),
        (Format::Parquet, "parquet"),
        (Format::ParquetVector, "parquet-vector"),
        (Format::Word2vec, "w2v"),
        (Format::Safetensors, "safetensors"),
        (Format::Pgvector, "pgvector"),
        (Format::Pgcopy, "pgcopy"),
        (Format::PgcopyHalf, "pgcopy-half"),
    ];

    /// The extensions that stand for formats.
    fn extensions() -> impl Iterator<Item = &'static str> {
        let names = Format::ALL.into_iter().map(|(_, name)| name);
        names.filter(|name| !name.contains('-'))
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Format> {
        let mut all = Format::ALL.into_iter();
        let (format, _) = all.find(|(_, known)| known.eq_ignore_ascii_case(name))?;
        Some(format)
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Format::Tsv | Format::Csv | Format::Word2vec | Format::Pgvector
        )
    }

    /// Whether names of columns are in a file beside it, `NAME.columns.txt`.
    pub fn names_beside(self) -> bool {
        matches!(
            self,
            Format::Npy | Format::Word2vec | Format::Pgvector | Format::Pgcopy | Format::PgcopyHalf
        )
    }

    /// The format of a file by its extension, seen through `.gz` and `.zst`; TSV for streams
    /// without one, such as `-`; Parquet for other folders.
    pub fn of(path: impl AsRef<Path>) -> Result<Format> {
        let path = path.as_ref();
        if path.extension().is_none() && is_stream(path) {
            return Ok(Format::Tsv);
        }
        let (extension, compressed) = extension(path);
        let known = match extension.as_str() {
            "emb" | "vec" => Some(Format::Word2vec),
            name if Format::extensions().any(|known| known == name) => Format::from_name(name),
            _ => None,
        };
        match known {
            Some(format) if !compressed || format.is_text() => Ok(format),
            Some(_) => Err(not_text(path)),
            // Parts have the extension.
            None if is_folder(path) || path.is_dir() => Ok(Format::Parquet),
            None => {
                let known: Vec<String> = Format::extensions()
                    .map(|name| format!(".{name}"))
                    .collect();
                let known = known.join(", ");
                let message = "no embedding format has this extension";
                Err(extension_error(
                    path,
                    &extension,
                    message,
                    &format!("use {known}, .emb"),
                ))
            }
        }
    }

    /// Bytes that writing this many vectors in this format takes in addition to them.
    pub fn memory(self, rows: u64, columns: u64) -> u64 {
        let writer = match self {
            Format::Parquet => parquet::memory(rows, columns),
            Format::ParquetVector => parquet::vector_memory(rows, columns),
            Format::Tsv | Format::Csv | Format::Word2vec | Format::Pgvector => {
                text::memory(columns)
            }
            Format::Pgcopy | Format::PgcopyHalf => pgvector::memory(columns),
            // Values as they are held, and names of columns in a header.
            Format::Npy | Format::Npz | Format::Safetensors => 64 * columns,
        };
        writer.saturating_add(WRITING)
    }

    /// Bytes of rows that other processes have, in the process that writes: a piece, and what it is put together of.
    pub fn received(self, rows: u64, columns: u64) -> u64 {
        let value = size_of::<f32>() as u64;
        let piece = rows.min(self.piece(columns as usize) as u64);
        let exchanged = rows.saturating_mul(columns).min(shared::PIECE as u64);
        value.saturating_mul(piece.saturating_mul(columns).saturating_add(2 * exchanged))
    }
}

/// The extension of a name in lower case, seen through `.gz` and `.zst`, and whether it has one of these.
pub(crate) fn extension(path: &Path) -> (String, bool) {
    let of = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.unwrap_or_default().to_ascii_lowercase()
    };
    match of(path).as_str() {
        "gz" | "zst" => (of(Path::new(path.file_stem().unwrap_or_default())), true),
        plain => (plain.to_owned(), false),
    }
}

/// Why no format has this extension; `message` if there is one.
fn extension_error(path: &Path, extension: &str, message: &str, remedy: &str) -> Error {
    if path.is_dir() {
        return Error::input(path, "is a folder", "give the name of a file in it");
    }
    let message = match extension {
        "" => "the name has no extension, which names the format",
        _ => message,
    };
    Error::input(path, message, remedy)
}

fn not_text(path: &Path) -> Error {
    let message = "only text formats can be compressed";
    Error::input(path, message, "drop the .gz or .zst")
}

/// Writes names of columns, one per line. They may hold anything, so `\`, line feeds and carriage returns are written as
/// `\\`, `\n` and `\r`.
fn write_names(names: &[String], path: &Path, out: &mut dyn Write) -> Result<()> {
    let escaped = |name: &String| {
        name.replace('\\', "\\\\")
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            + "\n"
    };
    let text: String = names.iter().map(escaped).collect();
    out.write_all(text.as_bytes())
        .map_err(|e| Error::io(path, e))
}

/// The names of the columns of `of` in the file beside it, if there is one.
pub(crate) fn read_names(of: &Path, columns: usize) -> Result<Option<Vec<String>>> {
    let path = names_path(of);
    if !path.exists() {
        return Ok(None);
    }
    let wrong = |message: String| {
        let remedy = "write both files again, or remove this one";
        Error::input(&path, message, remedy)
    };
    // A line of one byte is a name of thirty.
    let bytes = Allowance::new(None).read(&path, 32, |_, _| Ok(()))?;
    let text =
        String::from_utf8(bytes).map_err(|_| wrong("text that is not valid UTF-8".into()))?;
    let names: Vec<String> = text.lines().map(unescaped).collect();
    if names.len() != columns {
        let (count, of) = (names.len(), of.display());
        return Err(wrong(format!(
            "{count} names for {columns} columns of {of}"
        )));
    }
    Ok(Some(names))
}

fn unescaped(line: &str) -> String {
    let (mut name, mut chars) = (String::with_capacity(line.len()), line.chars());
    while let Some(c) = chars.next() {
        name.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            plain => plain,
        });
    }
    name
}
