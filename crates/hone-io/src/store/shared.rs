//! One file written by several processes, each its own rows at their offset.
//!
//! A file of this kind is a head and rows in their order: an array, or text. Process 0 creates the temporary file, writes
//! head and first rows, and puts it in place at the end. If others do not find the file, because their machines do
//! not share the folder, they send their rows to process 0 instead.

use std::io::{self, Write};
use std::path::Path;

use super::embedding::Embedding;
use super::format::Format;
use super::rows::Rows;
use super::{npy, text};
use crate::error::{Error, Result};
use crate::output::{Measured, Output, Sum, Writers, temporary_of};

/// Whether a file is a head and rows, so that the place of every row is known.
pub(super) fn has_places(format: Format, path: &Path) -> bool {
    match format {
        Format::Npy => true,
        Format::Tsv | Format::Csv | Format::Word2vec => !text::is_compressed(path),
        Format::Npz | Format::Parquet | Format::Safetensors => false,
    }
}

/// The part of the temporary file that this process writes; nothing if it is not to be found in all processes, or the
/// output is a stream. `out` is that of process 0.
pub(super) fn open(path: &Path, out: Option<&Output>, writers: &dyn Writers) -> Option<Place> {
    let name = writers.text(0, out.and_then(Output::temporary_name).unwrap_or_default());
    let join = || {
        temporary_of(path, &name)
            .ok()
            .filter(|_| !name.is_empty())
            .and_then(|file| Measured::join(&file).ok())
    };
    let place = match out {
        Some(_) => Some(Place::Lead),
        None => join().map(Place::Part),
    };
    let found = writers.gather(&[u64::from(!name.is_empty() && place.is_some())]);
    place.filter(|_| found.iter().all(|&found| found == 1))
}

/// Where a process writes.
pub(super) enum Place {
    /// The beginning of the output, in process 0.
    Lead,
    /// A part of it.
    Part(Measured),
}

/// Writes the rows of this process.
pub(super) fn write(
    embedding: &Embedding,
    (path, format): (&Path, Format),
    (out, place): (Option<&mut Output>, Place),
    writers: &dyn Writers,
) -> Result<()> {
    let body = |out: &mut dyn Write| body(&Rows::own(embedding, format), path, format, out);
    let head = head(embedding, path, format)?;
    let mut counted = Count(0);
    body(&mut counted)?;
    let lengths = writers.gather(&[counted.0]);
    let before = head.len() as u64 + lengths[..writers.rank()].iter().sum::<u64>();
    let failed = |e| Error::io(path, e);
    let part = |mut part: Measured| {
        part.go_to(before).map_err(failed)?;
        body(&mut part)?;
        part.finish().map_err(failed)
    };
    let done = match (out, place) {
        (Some(out), _) => lead(out, &head, body).map(|()| (Sum::default(), Some(out))),
        (None, Place::Part(file)) => part(file).map(|sum| (sum, None)),
        (None, Place::Lead) => Ok((Sum::default(), None)),
    };
    let (sum, out) = writers.agree(path, done)?;
    let sums = writers.gather(&[sum.bytes(), sum.crc32().into()]);
    if let Some(out) = out {
        sums.chunks_exact(2)
            .skip(1)
            .for_each(|sum| out.extend(&Sum::of(sum[0], sum[1] as u32)));
    }
    Ok(())
}

/// Writes what comes first.
fn lead(out: &mut Output, head: &[u8], body: impl Fn(&mut dyn Write) -> Result<()>) -> Result<()> {
    out.write_all(head).map_err(|e| out.error(e))?;
    body(out)?;
    out.flush().map_err(|e| out.error(e))
}

/// What comes before the rows.
pub(super) fn head(embedding: &Embedding, path: &Path, format: Format) -> Result<Vec<u8>> {
    match format {
        Format::Npy => {
            npy::head(embedding.own.rows, embedding.vectors.cols()).map_err(|e| Error::io(path, e))
        }
        _ => text::head(embedding, path, format),
    }
}

/// The rows.
pub(super) fn body(rows: &Rows, path: &Path, format: Format, out: &mut dyn Write) -> Result<()> {
    let done = match format {
        Format::Npy => npy::write_rows(rows, out),
        _ => text::write_rows(rows, format, out),
    };
    done.map_err(|e| Error::io(path, e))
}

/// Counts bytes.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0 += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
