//! Writing a table as a folder of Parquet files ([`parts`](crate::output::parts)), one per process.
//!
//! Process 0 creates the folder under a temporary name, every process writes its own rows into a file of its own, and
//! process 0 puts the folder in place.

use std::path::{Path, PathBuf};

use super::embedding::Embedding;
use super::format::Format;
use super::parquet;
use super::rows::Rows;
use crate::error::{Error, Result};
use crate::output::parts::{check_target, part_name};
use crate::output::{Batch, Measured, Sum, TemporaryFolder, Writers, Written};

/// Writes the rows of this process into a folder of parts, which process 0 adds to its batch.
pub(super) fn write(
    embedding: &Embedding,
    batch: &mut Batch,
    (path, format): (&Path, Format),
    writers: &dyn Writers,
) -> Result<()> {
    if format != Format::Parquet {
        let remedy = "leave out the `/` at the end, or use .parquet";
        return Err(Error::input(
            path,
            "only a Parquet table can be a folder of parts",
            remedy,
        ));
    }
    let target = path.components().as_path();
    let begin =
        || check_target(target, batch.existing()).and_then(|()| TemporaryFolder::beside(target));
    let folder = writers.agree(
        path,
        if writers.leads() {
            begin().map(Some)
        } else {
            Ok(None)
        },
    )?;
    let own = folder
        .as_ref()
        .and_then(|folder| folder.path().file_name()?.to_str())
        .unwrap_or_default();
    let name = writers.text(0, own);
    // If all processes have all rows, one is enough.
    let writes = writers.leads() || !embedding.own.is_all();
    let place = folder.as_ref().map_or_else(
        || temporary_folder(target, &name),
        |folder| Ok(folder.path().into()),
    );
    let part = |place: PathBuf| write_part(embedding, path, &place.join(part_name(writers.rank())));
    let done = if writes {
        place.and_then(part)
    } else {
        Ok(Sum::default())
    };
    let sum = writers.agree(path, done)?;
    let sums = writers.gather(&[sum.bytes(), sum.crc32().into(), writes.into()]);
    if let Some(folder) = folder {
        let sums = sums
            .chunks_exact(3)
            .enumerate()
            .filter(|(_, sum)| sum[2] == 1);
        let written = |(rank, sum): (usize, &[u64])| {
            Written::new(Path::new(&part_name(rank)), &Sum::of(sum[0], sum[1] as u32))
        };
        let (target, existing) = (target.to_path_buf(), batch.existing());
        batch.add_folder(folder, target, existing, sums.map(written).collect());
    }
    Ok(())
}

/// The folder that process 0 has created.
fn temporary_folder(target: &Path, name: &str) -> Result<PathBuf> {
    let folder = target.with_file_name(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    let message = "this process does not see the folder that process 0 has made for the parts";
    Err(Error::input(
        target,
        message,
        "write to a folder that all processes share, or to one file (no `/` at the end)",
    ))
}

/// Writes a part; `path` is what the user calls the folder.
fn write_part(embedding: &Embedding, path: &Path, part: &Path) -> Result<Sum> {
    let mut out = Measured::create(part).map_err(|e| Error::io(path, e))?;
    parquet::write(&Rows::own(embedding, Format::Parquet), path, &mut out)?;
    out.finish().map_err(|e| Error::io(path, e))
}
