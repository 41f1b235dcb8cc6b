//! [`Division`]: several processes parse one file, each its part, and exchange what they found.
//!
//! A process parses a contiguous range of the blocks of a text file, or of the groups of a Parquet file. Where blocks
//! begin and end depends on the file alone, so the chunks that all processes have after the exchange, in the order of
//! the file, are those that one process would have parsed. Everything after that is done by every process: numbering
//! nodes, notes, sorting neighbours.
//!
//! A process that meets an error does not leave the others waiting. Processes tell each other how each step went
//! ([`Division::tell`]) before they go on, and if it failed in one of them, all of them return that error. Of several
//! processes the first is believed: it has the first part of the file, and so the first wrong line.
//!
//! Cost: each process sends its own chunks once and receives those of all others, 8 bytes per edge where ids fit 32
//! bits (16 where not; 4 more for a weight; of text, each name of a block once). Messages have at most [`ROUND`] bytes in
//! all at a time, and are held twice: as they were received, and as chunks.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::blocks::{self, BLOCK, Fault, Part};
use super::failed::Failed;
use super::join::Chunk;
use super::message;
use super::source::Source;
use crate::communicator::{Communicator, SingleProcess};
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::parallel;
use crate::progress::Progress;

/// Files of fewer bytes are read by every process: that takes less time than it takes to talk about it.
const LEAST: u64 = 8 << 20;

/// Bytes of the messages of all processes that are sent at a time.
pub(super) const ROUND: u64 = 32 << 20;

/// How a file is divided among the processes that read it; see [`read_divided`](super::read_divided).
#[derive(Clone, Copy)]
pub struct Division<'a> {
    communicator: &'a dyn Communicator,
    /// Bytes of the smallest file that is divided.
    least: u64,
    /// Bytes of a block of text.
    block: usize,
    /// Bytes of all messages at a time.
    round: u64,
}

/// What a process is about to send.
#[derive(Serialize, Deserialize)]
struct Outline {
    /// Number of messages.
    messages: usize,
    /// Bytes of its chunks.
    bytes: u64,
}

impl<'a> Division<'a> {
    /// Among all of `communicator`. Small files are not divided.
    pub fn among(communicator: &'a dyn Communicator) -> Self {
        Division {
            communicator,
            least: LEAST,
            block: BLOCK,
            round: ROUND,
        }
    }

    /// No division: this process reads alone.
    pub(super) fn none() -> Division<'static> {
        Division::among(&SingleProcess)
    }

    /// The same for files of at least one byte, in blocks and rounds of so many bytes: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn in_blocks_of(self, block: usize, round: u64) -> Self {
        Division {
            least: 1,
            block: block.max(1),
            round,
            ..self
        }
    }

    /// Number of processes.
    pub(super) fn processes(&self) -> usize {
        self.communicator.size()
    }

    /// The items of `count` that this process does, where they make up a plain file of so many bytes; none if every
    /// process does all of them.
    pub(super) fn own(&self, count: usize, bytes: u64) -> Option<Range<usize>> {
        let divided = self.processes() > 1 && count > 1 && bytes >= self.least;
        divided.then(|| blocks::share(count, self.communicator.rank(), self.processes()))
    }

    /// What a step gave, if it succeeded in all processes and each saw the same; `view` says what.
    pub(super) fn agree<T>(
        &self,
        path: &Path,
        own: Result<T>,
        view: impl Fn(&T) -> String,
    ) -> Result<T> {
        if self.processes() == 1 {
            return own;
        }
        let (own, told) = match own {
            Ok(own) => {
                let view = view(&own);
                (Some(own), Ok(view))
            }
            Err(error) => (None, Err(error)),
        };
        let views = self.tell(path, told)?;
        let other = views.iter().position(|view| *view != views[0]);
        own.filter(|_| other.is_none())
            .ok_or_else(|| differs(path, other.unwrap_or(0)))
    }

    /// What every process has to say; the error of the first that failed, if one has.
    fn tell<V: Serialize + for<'de> Deserialize<'de>>(
        &self,
        path: &Path,
        own: Result<V>,
    ) -> Result<Vec<V>> {
        let message = serde_json::to_vec(&own.as_ref().map_err(Failed::of)).unwrap_or_default();
        let all = self.communicator.gather_bytes(&message);
        let all: Result<Vec<Result<V, Failed>>, _> = all
            .iter()
            .map(|told| serde_json::from_slice(told))
            .collect();
        let all = all.map_err(|_| garbled(path))?;
        let others = all.iter().any(Result::is_ok);
        let Some(first) = all.iter().position(Result::is_err) else {
            return Ok(all.into_iter().flatten().collect());
        };
        match own {
            Err(error) if first == self.communicator.rank() => Err(error),
            _ => match all.into_iter().nth(first) {
                Some(Err(failed)) => Err(failed.into_error(path, others.then_some(first))),
                _ => Err(garbled(path)),
            },
        }
    }

    /// The chunks of all lines of a source that every process has opened ([`Division::agree`]).
    pub(super) fn parse(
        &self,
        source: Source,
        progress: &dyn Progress,
        parse: impl Fn(&[u8]) -> Result<Chunk, Fault> + Sync,
    ) -> Result<Vec<Chunk>> {
        let blocks = source.rest().div_ceil(self.block as u64) as usize;
        match source
            .file()
            .filter(|_| self.own(blocks, source.rest()).is_some())
        {
            None => blocks::parse(source, progress, parse),
            Some(file) => {
                let part = Part {
                    block: self.block,
                    rank: self.communicator.rank(),
                    of: self.processes(),
                };
                let own = blocks::parse_part(file, &source, part, progress, &parse);
                self.exchange(own, source.path(), source.allowance())
            }
        }
    }

    /// The chunks of all processes, given those of this one, in the order of the processes; the first error if there is
    /// one.
    pub(super) fn exchange(
        &self,
        own: Result<Vec<Chunk>>,
        path: &Path,
        allowance: Allowance,
    ) -> Result<Vec<Chunk>> {
        let (own, failed) = match own {
            Ok(own) => (own, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let messages = message::cut(&own, self.round / self.processes() as u64);
        let bytes = own.iter().map(Chunk::bytes).sum();
        let outline = failed.map_or(
            Ok(Outline {
                messages: messages.len(),
                bytes,
            }),
            Err,
        );
        let outlines = self.tell(path, outline)?;
        let all: u64 = outlines.iter().map(|outline| outline.bytes).sum();
        self.tell(
            path,
            allowance.check(path, all - bytes + 2 * all.min(self.round)),
        )?;
        let mut parts: Vec<Vec<Chunk>> = outlines.iter().map(|_| Vec::new()).collect();
        let rounds = outlines
            .iter()
            .map(|outline| outline.messages)
            .max()
            .unwrap_or(0);
        let mut sound = true;
        for round in 0..rounds {
            let chunks = messages
                .get(round)
                .map_or(&[][..], |range| &own[range.clone()]);
            sound &= self.receive(chunks, &mut parts);
        }
        self.tell(path, if sound { Ok(()) } else { Err(garbled(path)) })?;
        parts[self.communicator.rank()] = own;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Sends chunks, and adds those that the others send to their parts; whether all could be decoded.
    fn receive(&self, own: &[Chunk], parts: &mut [Vec<Chunk>]) -> bool {
        let received = self.communicator.gather_bytes(&message::encode(own));
        let mut pieces: Vec<(usize, &[u8])> = Vec::new();
        for (rank, message) in received
            .iter()
            .enumerate()
            .filter(|(rank, _)| *rank != self.communicator.rank())
        {
            let Some(split) = message::split(message) else {
                return false;
            };
            pieces.extend(split.into_iter().map(|piece| (rank, piece)));
        }
        let chunks = parallel::map(pieces.len(), |at| message::decode(pieces[at].1));
        for ((rank, _), chunk) in pieces.iter().zip(chunks) {
            let Some(chunk) = chunk else { return false };
            parts[*rank].push(chunk);
        }
        true
    }
}

fn differs(path: &Path, process: usize) -> Error {
    let message = format!("process {process} reads another file than process 0");
    Error::input(
        path,
        message,
        "give all processes the same files, complete and under the same paths",
    )
}

fn garbled(path: &Path) -> Error {
    let message = "what another process sent about the file cannot be understood";
    Error::input(path, message, "start the same program in all processes")
}

impl fmt::Debug for Division<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, size) = (self.communicator.rank(), self.communicator.size());
        f.debug_struct("Division")
            .field("rank", &rank)
            .field("size", &size)
            .field("least", &self.least)
            .finish()
    }
}
