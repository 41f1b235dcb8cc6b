//! Embeddings on disk: one format a file, chosen by the name's extension.
//!
//! | extension | content |
//! |---|---|
//! | `.tsv`, `.csv` (also `.gz`, `.zst`) | header `id z0 z1 …`, one node per line |
//! | `.npy` | N × D float32; ids in `NAME.ids.txt`, names of columns in `NAME.npy.columns.txt`, one per line |
//! | `.npz` | arrays `ids`, `embedding` and `columns`, the names |
//! | `.parquet` | column `id` and one float column per dimension |
//! | `.w2v` | word2vec text, as gensim reads it; names of columns in `NAME.w2v.columns.txt` |
//! | `.safetensors` | tensor `embedding`; ids as tensor `ids` or as text; names of columns in the metadata |
//!
//! Every writer streams over the rows; none holds a second copy of the vectors.

mod counted;
mod counts;
pub mod factors;
pub(crate) mod names;
mod npy;
mod parquet;
mod quiet;
mod records;
mod safetensors;
pub mod table;
pub(crate) mod tensors;
mod text;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::memory::Allowance;
use crate::output::{Batch, Existing, is_stream};
use crate::record;

pub use counts::{CountTable, CountsBy};
pub(crate) use npy::read_npy_array;
pub use npy::write_header as write_npy_header;
pub use text::write_ids;

/// Bytes of buffers that every writer has.
const WRITING: u64 = 1 << 20;

/// Node vectors with the names of their rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Original id of every row.
    pub ids: NodeIds,
    /// One row per node.
    pub vectors: Block,
    /// One name per column.
    pub columns: Vec<String>,
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
        assert_eq!(ids.len(), vectors.rows(), "one id per row");
        assert_eq!(columns.len(), vectors.cols(), "one name per column");
        Embedding { ids, vectors, columns }
    }

    /// Reads an embedding that [`Embedding::write`] or a compatible tool wrote, if there is memory free for it.
    ///
    /// Where a record of the run stands beside it ([`crate::record`]), the files must be those that it lists.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, None, Allowance::new(None))
    }

    /// Reads an embedding, in the format that the extension names if none is given; what would take more memory than allowed is
    /// refused.
    pub fn read_within(path: impl AsRef<Path>, format: Option<Format>, allowance: Allowance) -> Result<Self> {
        let path = path.as_ref();
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        record::verify(path)?;
        let embedding = match format {
            Format::Tsv | Format::Csv | Format::Word2vec => records::read(path, format, allowance),
            Format::Npy => npy::read_npy(path, allowance),
            Format::Npz => npy::read_npz(path, allowance),
            Format::Parquet => parquet::read(path, allowance),
            Format::Safetensors => safetensors::read(path, allowance),
        }?;
        match embedding.ids.repeated() {
            Some(rows) => Err(two_vectors(path, format, &embedding.ids, rows, allowance)),
            None => Ok(embedding),
        }
    }

    /// Writes the embedding, all files of it or none, and returns what was written. The record of an earlier run beside
    /// it is removed.
    ///
    /// The extension names the format; [`Embedding::write_as`] takes any.
    pub fn write(&self, path: impl AsRef<Path>, existing: Existing) -> Result<Vec<PathBuf>> {
        self.write_as(&path, Format::of(path.as_ref())?, existing)
    }

    /// Writes the embedding in a format of choice, as [`Embedding::write`] does.
    pub fn write_as(&self, path: impl AsRef<Path>, format: Format, existing: Existing) -> Result<Vec<PathBuf>> {
        let path = path.as_ref();
        record::without(path, existing, |batch| self.add_to(batch, path, Some(format)))
    }

    /// Writes the embedding into a batch, where further files may join it, such as a record of the run
    /// ([`crate::record::add_to`]).
    pub fn add_to(&self, batch: &mut Batch, path: impl AsRef<Path>, format: Option<Format>) -> Result<()> {
        self.add_to_at(batch, path.as_ref(), format)
    }

    fn add_to_at(&self, batch: &mut Batch, path: &Path, format: Option<Format>) -> Result<()> {
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        let mut out = batch.begin(path)?;
        match format {
            Format::Tsv | Format::Csv | Format::Word2vec => text::write(self, path, format, &mut out)?,
            Format::Npy => npy::write_npy(self, path, &mut out)?,
            Format::Npz if !out.can_seek() => {
                return Err(Error::input(path, "an .npz archive cannot be written to a pipe", "name a file"));
            }
            Format::Npz => npy::write_npz(self, path, &mut out)?,
            Format::Parquet => parquet::write(self, path, &mut out)?,
            Format::Safetensors => safetensors::write(self, path, &mut out)?,
        }
        batch.add(out)?;
        for sidecar in &Self::files(path, Some(format))?[1..] {
            let mut beside = batch.begin(sidecar)?;
            if *sidecar == names::path(path) {
                names::write(&self.columns, sidecar, &mut beside)?;
            } else {
                write_ids(&self.ids, sidecar, &mut beside)?;
            }
            batch.add(beside)?;
        }
        Ok(())
    }

    /// The files that [`Embedding::write`] would write, the main one first.
    pub fn files(path: impl AsRef<Path>, format: Option<Format>) -> Result<Vec<PathBuf>> {
        Self::files_at(path.as_ref(), format)
    }

    fn files_at(path: &Path, format: Option<Format>) -> Result<Vec<PathBuf>> {
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        let mut files = vec![path.to_path_buf()];
        if format == Format::Npy && !is_stream(path) {
            files.push(npy::ids_path(path));
        }
        if names::are_beside(format) && !is_stream(path) {
            files.push(names::path(path));
        }
        Ok(files)
    }
}

/// What is wrong with a file that has two vectors of one node, in `rows` from 0.
fn two_vectors(path: &Path, format: Format, ids: &NodeIds, (a, b): (usize, usize), allowance: Allowance) -> Error {
    let text = matches!(format, Format::Tsv | Format::Csv | Format::Word2vec);
    let lines = text.then(|| records::lines_of([a, b], path, format, allowance)).flatten();
    let place = lines
        .map_or_else(|| format!("rows {a} and {b}, from 0"), |[first, second]| format!("lines {first} and {second}"));
    let message = format!("node `{}` has two vectors, in {place}", ids.get(a as u32));
    Error::input(path, message, "write one row per node")
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
    /// Parquet table.
    Parquet,
    /// word2vec text.
    #[serde(rename = "w2v")]
    Word2vec,
    /// safetensors file.
    Safetensors,
}

impl Format {
    /// All formats with the extension that names them.
    pub const ALL: [(Format, &'static str); 7] = [
        (Format::Tsv, "tsv"),
        (Format::Csv, "csv"),
        (Format::Npy, "npy"),
        (Format::Npz, "npz"),
        (Format::Parquet, "parquet"),
        (Format::Word2vec, "w2v"),
        (Format::Safetensors, "safetensors"),
    ];

    /// Bytes that writing so many vectors in this format takes beside them.
    pub(crate) fn memory(self, rows: u64, columns: u64) -> u64 {
        let writer = match self {
            Format::Parquet => parquet::memory(rows, columns),
            Format::Tsv | Format::Csv | Format::Word2vec => text::memory(columns),
            // Values as they are held, and names of columns in a header.
            Format::Npy | Format::Npz | Format::Safetensors => 64 * columns,
        };
        writer.saturating_add(WRITING)
    }

    /// The format that `name` (an extension without dot) stands for.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|&(format, _)| format)
    }

    /// The format of a file by its extension, seen through `.gz` and `.zst`; TSV for streams
    /// without one, such as `-`.
    pub fn of(path: impl AsRef<Path>) -> Result<Format> {
        Self::of_at(path.as_ref())
    }

    fn of_at(path: &Path) -> Result<Format> {
        if path.extension().is_none() && is_stream(path) {
            return Ok(Format::Tsv);
        }
        let extension = |p: &Path| p.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let outer = extension(path).unwrap_or_default();
        let compressed = matches!(outer.as_str(), "gz" | "zst");
        let name = if compressed { extension(Path::new(path.file_stem().unwrap_or_default())) } else { Some(outer) };
        match Format::from_name(name.as_deref().unwrap_or_default()) {
            Some(format) if !compressed || matches!(format, Format::Tsv | Format::Csv | Format::Word2vec) => Ok(format),
            Some(_) => Err(Error::input(path, "only text formats can be compressed", "drop the .gz or .zst")),
            None => {
                let known: Vec<_> = Format::ALL.iter().map(|(_, name)| format!(".{name}")).collect();
                Err(Error::input(path, "no embedding format has this extension", format!("use {}", known.join(", "))))
            }
        }
    }
}
