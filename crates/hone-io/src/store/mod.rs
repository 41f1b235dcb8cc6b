//! Embeddings on disk: one module per format, chosen by the file extension.
//!
//! | extension | content |
//! |---|---|
//! | `.tsv`, `.csv` (also `.gz`, `.zst`) | header `id z0 z1 …`, one node per line |
//! | `.npy` | N × D float32; ids in `NAME.ids.txt`, names of columns in `NAME.npy.columns.txt`, one per line |
//! | `.npz` | arrays `ids`, `embedding` and `columns`, the names |
//! | `.parquet` | column `id` and one float column per dimension; `NAME.parquet/` is a folder of such files ([`parts`](crate::output::parts)) |
//! | `.w2v`, `.emb`, `.vec` | word2vec text, as gensim reads it; names of columns in `NAME.w2v.columns.txt` |
//! | `.safetensors` | tensor `embedding`; ids as tensor `ids` or as text; names of columns in the metadata |
//!
//! Every writer streams over the rows, without a second copy of the vectors. If several processes hold the rows, each
//! writes its own ([`Embedding::add_shared`]).

mod counted;
mod counts;
mod embedding;
pub mod factors;
mod format;
pub mod names;
mod npy;
mod parquet;
mod parts;
mod quiet;
mod records;
mod rows;
mod safetensors;
mod shared;
pub mod table;
pub mod tensors;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::memory::Allowance;
use crate::output::parts::is_folder;
use crate::output::{Batch, Existing, OneWriter, Output, Writers, is_stream};
use crate::record;

pub use counts::{CountTable, CountsBy};
pub use embedding::Embedding;
pub use format::Format;
pub use npy::read_npy_array;
pub use npy::write_header as write_npy_header;
use rows::Rows;
pub use text::write_ids;

/// Bytes of buffers that every writer has.
const WRITING: u64 = 1 << 20;

impl Embedding {
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
        self.add_shared(batch, path, format, &OneWriter)
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
        writers: &dyn Writers,
    ) -> Result<()> {
        assert!(
            writers.size() > 1 || self.own.is_all(),
            "rows of other processes are missing"
        );
        let path = path.as_ref();
        let format = format.map_or_else(|| Format::of(path), Ok)?;
        if is_folder(path) {
            return parts::write(self, batch, (path, format), writers);
        }
        let begun = if writers.leads() {
            begin(batch, path, format).map(Some)
        } else {
            Ok(None)
        };
        let mut out = writers.agree(path, begun)?;
        let shared = !self.own.is_all() && shared::has_places(format, path);
        let place = if shared {
            shared::open(path, out.as_ref(), writers)
        } else {
            None
        };
        let done = match place {
            Some(place) => shared::write(self, (path, format), (out.as_mut(), place), writers),
            None => self.write_from(out.as_mut(), (path, format), writers),
        };
        let added =
            done.and_then(|()| out.map_or(Ok(()), |out| self.finish(batch, out, (path, format))));
        writers.agree(path, added)
    }

    /// Writes all rows in process 0, which has the output; the others send theirs.
    fn write_from(
        &self,
        out: Option<&mut Output>,
        (path, format): (&Path, Format),
        writers: &dyn Writers,
    ) -> Result<()> {
        let rows = Rows::all(self, format, writers);
        let Some(out) = out else {
            rows.send();
            return Ok(());
        };
        let plain = |out: &mut dyn Write| {
            out.write_all(&shared::head(self, path, format)?)
                .map_err(|e| Error::io(path, e))?;
            shared::body(&rows, path, format, out)
        };
        let done = match format {
            Format::Npy => plain(out),
            Format::Tsv | Format::Csv | Format::Word2vec => text::compressed(path, out, plain),
            Format::Npz => npy::write_npz(&rows, path, out),
            Format::Parquet => parquet::write(&rows, path, out),
            Format::Safetensors => safetensors::write(&rows, path, out),
        };
        rows.drain();
        done
    }

    /// Adds the complete file, and those beside it.
    fn finish(
        &self,
        batch: &mut Batch,
        out: Output,
        (path, format): (&Path, Format),
    ) -> Result<()> {
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

/// Refuses a file whose header promises more than fits, before anything else is read of it.
fn check_size(path: &Path, format: Format, allowance: Allowance) -> Result<()> {
    let Ok(found) = std::fs::metadata(path).map(|found| found.is_file().then_some(found.len()))
    else {
        return Ok(());
    };
    match (format, found) {
        (Format::Npy, Some(_)) => npy::check_size(path, allowance),
        (Format::Safetensors, Some(length)) => {
            allowance.check(path, length.saturating_mul(safetensors::EACH))
        }
        _ => Ok(()),
    }
}

/// Opens the main file.
fn begin(batch: &Batch, path: &Path, format: Format) -> Result<Output> {
    let out = batch.begin(path)?;
    if format == Format::Npz && !out.can_seek() {
        return Err(Error::input(
            path,
            "an .npz archive cannot be written to a pipe",
            "name a file",
        ));
    }
    Ok(out)
}

/// What is wrong with a file that has two vectors of one node, in `rows` from 0.
fn two_vectors(
    path: &Path,
    format: Format,
    ids: &NodeIds,
    (a, b): (usize, usize),
    allowance: Allowance,
) -> Error {
    let text = matches!(format, Format::Tsv | Format::Csv | Format::Word2vec);
    let lines = text
        .then(|| records::lines_of([a, b], path, format, allowance))
        .flatten();
    let place = lines.map_or_else(
        || format!("rows {a} and {b}, from 0"),
        |[first, second]| format!("lines {first} and {second}"),
    );
    let message = format!("node `{}` has two vectors, in {place}", ids.get(a as u32));
    Error::input(path, message, "write one row per node")
}

impl Format {
    /// Bytes that writing this many vectors in this format takes in addition to them.
    pub fn memory(self, rows: u64, columns: u64) -> u64 {
        let writer = match self {
            Format::Parquet => parquet::memory(rows, columns),
            Format::Tsv | Format::Csv | Format::Word2vec => text::memory(columns),
            // Values as they are held, and names of columns in a header.
            Format::Npy | Format::Npz | Format::Safetensors => 64 * columns,
        };
        writer.saturating_add(WRITING)
    }

    /// Bytes of rows that other processes send, in the process that writes.
    pub fn received(self, rows: u64, columns: u64) -> u64 {
        let piece = rows.min(self.piece(columns as usize) as u64);
        piece
            .saturating_mul(columns)
            .saturating_mul(size_of::<f32>() as u64)
    }
}
