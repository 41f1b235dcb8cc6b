//! [`Shelf`]: where finished parts of Y are stored, in memory while there is room, else in files.
//!
//! Temporary files have no name: the system removes them when the run ends, however it ends. With a
//! checkpoint, its files are used instead.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::checkpoint::{AGAIN, Checkpoint};
use super::part_file::{self, Faults};
use crate::dense::panels::Own;
use crate::embed::part::Part;
use crate::error::{Error, Result};
use crate::output::Batch;
use crate::report::LocalFacts;
use crate::storage::write_error;
use crate::store::factors::Writer;

/// Parts below this many bytes are not worth a file.
const SMALL: u64 = 1 << 18;
const BUFFER: usize = 1 << 20;

pub(in crate::embed) struct Shelf {
    /// Bytes of values that may still be kept in memory.
    room: u64,
    folder: PathBuf,
    checkpoint: Option<Checkpoint>,
    faults: Arc<Faults>,
    /// Bytes in temporary files.
    written: u64,
    /// Where factors are written as they are computed, if requested.
    factors: Option<Writer>,
}

impl Shelf {
    /// A shelf with `room` bytes in memory, temporary files in `folder`.
    pub(in crate::embed) fn new(
        room: u64,
        folder: PathBuf,
        checkpoint: Option<Checkpoint>,
        factors: Option<Writer>,
    ) -> Self {
        Shelf {
            room,
            folder,
            checkpoint,
            faults: Arc::default(),
            written: 0,
            factors,
        }
    }

    /// Where factors are written, if requested.
    pub(in crate::embed) fn factors(&mut self) -> Option<&mut Writer> {
        self.factors.as_mut()
    }

    /// Stores a finished part: this process's rows, in memory or in a file, and all rows in the checkpoint if there is
    /// one.
    pub(in crate::embed) fn keep(
        &mut self,
        part: Part,
        facts: Option<&LocalFacts>,
        own: &Own,
    ) -> Result<Part> {
        let all = part.group.stored_rows();
        let share = if part.group.is_part() {
            all
        } else {
            (all * own.range.len()).div_ceil(own.rows.max(1))
        };
        // Parts stored elsewhere take no memory of this process.
        let stored = part.group.elsewhere().is_some()
            && part.group.memory() == 4 * part.group.rows().map_or(0, <[u32]>::len);
        let hold = stored || self.take_room(share * part.group.cols());
        if let Some(checkpoint) = self
            .checkpoint
            .as_mut()
            .filter(|checkpoint| checkpoint.saves())
        {
            let name = file_name(&part.name, part.step);
            checkpoint.save(&name, |out| part_file::write(&part, facts, out))?;
            if !hold {
                drop(part);
                return checkpoint
                    .open(&name, |file, path| {
                        part_file::open(file, path, false, &self.faults)
                    })
                    .map(|found| first(found).shared_out(own));
            }
        }
        let part = part.shared_out(own);
        if hold {
            return Ok(part);
        }
        self.away(part)
    }

    /// A part whose values are in a temporary file.
    pub(in crate::embed) fn away(&mut self, part: Part) -> Result<Part> {
        let bytes = self.written + 4 * (part.group.stored_rows() * part.group.cols()) as u64;
        let file = self
            .spill(&part)
            .map_err(|e| write_error(&self.folder, bytes, e))?;
        drop(part);
        part_file::open(file, &self.folder, false, &self.faults).map(first)
    }

    /// Whether there is a part of an earlier run.
    pub(in crate::embed) fn has(&self, name: &str, step: usize) -> bool {
        self.checkpoint
            .as_ref()
            .is_some_and(|checkpoint| checkpoint.has(&file_name(name, step)))
    }

    /// A part of an earlier run, with its statistics; it must have `columns` columns of a graph of `nodes` nodes.
    pub(in crate::embed) fn find(
        &mut self,
        name: &str,
        step: usize,
        (nodes, columns): (usize, usize),
    ) -> Result<Option<(Part, Option<LocalFacts>)>> {
        let file = file_name(name, step);
        let Some(checkpoint) = self
            .checkpoint
            .as_ref()
            .filter(|checkpoint| checkpoint.has(&file))
        else {
            return Ok(None);
        };
        let bytes = checkpoint.bytes(&file);
        let hold = self.take_room(bytes as usize / 4);
        let checkpoint = self.checkpoint.as_ref().expect("found above");
        checkpoint.open(&file, |file, path| {
            let found = part_file::open(file, path, hold, &self.faults)?;
            let (part, group) = (&found.0, &found.0.group);
            let rows = match group.rows() {
                Some(rows) => rows.last().is_none_or(|&last| (last as usize) < nodes),
                None => group.stored_rows() == nodes,
            };
            let names = part.columns.is_empty() || part.columns.len() == columns;
            if rows
                && names
                && (part.name.as_str(), part.step, group.cols()) == (name, step, columns)
            {
                return Ok(Some(found));
            }
            let message =
                format!("is not {name} at step {step}, {columns} columns of {nodes} nodes");
            Err(Error::input(path, message, AGAIN))
        })
    }

    /// Adds the finished folder of factors to the files of a run; fails if a part could not be read back, so that no
    /// wrong result is returned.
    pub(in crate::embed) fn finish(self, batch: &mut Batch) -> Result<()> {
        self.faults.check()?;
        self.factors.map_or(Ok(()), |factors| factors.finish(batch))
    }

    /// Whether this many values stay in memory; if so, room is reserved for them.
    fn take_room(&mut self, values: usize) -> bool {
        let bytes = 4 * values as u64;
        let hold = bytes < SMALL || bytes <= self.room;
        if hold {
            self.room = self.room.saturating_sub(bytes);
        }
        hold
    }

    fn spill(&mut self, part: &Part) -> io::Result<File> {
        let mut out = BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(&self.folder)?);
        part_file::write(part, None, &mut out)?;
        out.flush()?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.written += file.metadata()?.len();
        Ok(file)
    }
}

fn first<A, B>(pair: (A, B)) -> A {
    pair.0
}

/// `structure:edge` at step 2 is `structure-edge.k2.part`.
fn file_name(name: &str, step: usize) -> String {
    format!("{}.k{step}.part", name.replace(':', "-"))
}
