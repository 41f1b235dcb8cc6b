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
use std::io;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::blocks::{self, BLOCK, Fault};
use super::edges::Chunk;
use super::source::Source;
use super::table::Tally;
use crate::communicator::{Communicator, SingleProcess};
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::parallel;
use crate::progress::Progress;
use hone_graph::Names;
use hone_graph::number::Ends;

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
        let message = serde_json::to_vec(&own).unwrap_or_default();
        let all = self.communicator.gather_bytes(&message);
        let all: Result<Vec<Result<V>>, _> = all
            .iter()
            .map(|sent| serde_json::from_slice(sent))
            .collect();
        let all = all.map_err(|_| garbled(path))?;
        let others = all.iter().any(Result::is_ok);
        let Some(first) = all.iter().position(Result::is_err) else {
            return Ok(all.into_iter().flatten().collect());
        };
        match (own, all.into_iter().nth(first)) {
            (Err(error), _) if first == self.communicator.rank() => Err(error),
            // An error of the system names the process that met it, if others did not.
            (_, Some(Err(Error::Io { path, source, .. }))) if others => {
                let text = format!("{source}, in process {first}");
                Err(Error::io(path, io::Error::new(source.kind(), text)))
            }
            (_, Some(Err(error))) => Err(error),
            _ => Err(garbled(path)),
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
        match source.file().zip(self.own(blocks, source.rest())) {
            None => blocks::parse(source, progress, parse),
            Some((file, own)) => {
                let own = blocks::parse_part(file, &source, self.block, own, progress, &parse);
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
        let bytes: u64 = own.iter().map(Chunk::bytes).sum();
        let messages = messages(&own, self.round / self.processes() as u64);
        let sizes = self.tell(path, failed.map_or(Ok((messages.len(), bytes)), Err))?;
        let all: u64 = sizes.iter().map(|(_, bytes)| bytes).sum();
        let more = all - bytes + 2 * all.min(self.round);
        self.tell(path, allowance.check(path, more))?;
        let mut parts: Vec<Vec<Chunk>> = sizes.iter().map(|_| Vec::new()).collect();
        let rounds = sizes.iter().map(|(messages, _)| *messages).max();
        let mut sound = true;
        for round in 0..rounds.unwrap_or(0) {
            let range = messages.get(round).cloned().unwrap_or_default();
            sound &= self.receive(&own[range], &mut parts);
        }
        self.tell(path, if sound { Ok(()) } else { Err(garbled(path)) })?;
        parts[self.communicator.rank()] = own;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Sends chunks, and adds those that the others send to their parts; whether all could be decoded.
    fn receive(&self, own: &[Chunk], parts: &mut [Vec<Chunk>]) -> bool {
        let received = self.communicator.gather_bytes(&encode(own));
        let parts = parts.iter_mut().zip(&received).enumerate();
        let mut others = parts.filter(|(rank, _)| *rank != self.communicator.rank());
        others.all(|(_, (part, message))| {
            let Some(pieces) = split(message) else {
                return false;
            };
            let chunks = parallel::map(pieces.len(), |at| decode(pieces[at]));
            let chunks: Option<Vec<Chunk>> = chunks.into_iter().collect();
            chunks.map(|chunks| part.extend(chunks)).is_some()
        })
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

// --- chunks as bytes: arrays of little-endian numbers, each after its length in bytes

/// Cuts chunks into messages of about `most` bytes, of at least one chunk each.
fn messages(chunks: &[Chunk], most: u64) -> Vec<Range<usize>> {
    let (mut messages, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for (at, chunk) in chunks.iter().enumerate() {
        if at > begin && bytes + chunk.bytes() > most {
            messages.push(begin..at);
            (begin, bytes) = (at, 0);
        }
        bytes += chunk.bytes();
    }
    if begin < chunks.len() {
        messages.push(begin..chunks.len());
    }
    messages
}

/// Chunks as one message, each after its length, so that they can be decoded in parallel.
fn encode(chunks: &[Chunk]) -> Vec<u8> {
    let encoded = parallel::map(chunks.len(), |at| encode_one(&chunks[at]));
    let mut out = Vec::with_capacity(encoded.iter().map(|bytes| bytes.len() + 8).sum());
    encoded.iter().for_each(|bytes| put(&mut out, bytes));
    out
}

fn encode_one(chunk: &Chunk) -> Vec<u8> {
    let mut out = Vec::with_capacity(chunk.bytes() as usize + 256);
    let mut narrow = |kind: u8, pairs: &[(u32, u32)]| {
        put(&mut out, &[kind]);
        let flat: Vec<u32> = pairs.iter().flat_map(|&(u, v)| [u, v]).collect();
        put(&mut out, bytemuck::cast_slice(&flat));
    };
    match &chunk.ends {
        Ends::Nodes(pairs) => narrow(0, pairs),
        Ends::Narrow(pairs) => narrow(1, pairs),
        Ends::Wide(pairs) => {
            put(&mut out, &[2]);
            let flat: Vec<i64> = pairs.iter().flat_map(|&(u, v)| [u, v]).collect();
            put(&mut out, bytemuck::cast_slice(&flat));
        }
        Ends::Text(names, pairs) => {
            narrow(3, pairs);
            let names: Vec<&str> = (0..names.len() as u32).map(|i| names.get(i)).collect();
            // No line and no value of a Parquet file is longer than 32 bits can say.
            let length = |name: &&str| u32::try_from(name.len()).unwrap_or(u32::MAX);
            let lengths: Vec<u32> = names.iter().map(length).collect();
            put(&mut out, bytemuck::cast_slice(&lengths));
            put(&mut out, names.concat().as_bytes());
        }
    }
    put(&mut out, bytemuck::cast_slice(&chunk.weights));
    for tally in [&chunk.skipped, &chunk.headers] {
        put(&mut out, &tally.count.to_le_bytes());
        put(&mut out, &tally.example);
    }
    out
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// The chunks of a message, still encoded.
fn split(message: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut rest, mut pieces) = (Arrays(message), Vec::new());
    while !rest.0.is_empty() {
        pieces.push(rest.bytes()?);
    }
    Some(pieces)
}

/// The chunk of some bytes; none if they are not those of a chunk. Whatever they are, there is no panic.
fn decode(bytes: &[u8]) -> Option<Chunk> {
    let mut rest = Arrays(bytes);
    let (kind, pairs) = (rest.bytes()?, rest.bytes()?);
    let narrow = || -> Option<Vec<(u32, u32)>> {
        let flat = numbers(pairs, u32::from_le_bytes)?;
        let (pairs, []) = flat.as_chunks() else {
            return None;
        };
        Some(pairs.iter().map(|&[u, v]| (u, v)).collect())
    };
    let ends = match kind {
        [0] => Ends::Nodes(narrow()?),
        [1] => Ends::Narrow(narrow()?),
        [2] => {
            let flat = numbers(pairs, i64::from_le_bytes)?;
            let (pairs, []) = flat.as_chunks() else {
                return None;
            };
            Ends::Wide(pairs.iter().map(|&[u, v]| (u, v)).collect())
        }
        [3] => {
            let lengths = numbers(rest.bytes()?, u32::from_le_bytes)?;
            let text = std::str::from_utf8(rest.bytes()?).ok()?;
            let (names, pairs) = (Names::listed(lengths.into_iter(), text)?, narrow()?);
            if pairs.iter().any(|&(u, v)| u.max(v) as usize >= names.len()) {
                return None;
            }
            Ends::Text(names, pairs)
        }
        _ => return None,
    };
    let weights = numbers(rest.bytes()?, f32::from_le_bytes)?;
    if !weights.is_empty() && weights.len() != ends.len() {
        return None;
    }
    let mut tally = || {
        let count = u64::from_le_bytes(rest.bytes()?.try_into().ok()?);
        let example = rest.bytes()?.to_vec();
        Some(Tally { count, example })
    };
    let (skipped, headers) = (tally()?, tally()?);
    rest.0.is_empty().then_some(Chunk {
        ends,
        weights,
        skipped,
        headers,
    })
}

fn numbers<const N: usize, T>(bytes: &[u8], number: fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (numbers, []) = bytes.as_chunks() else {
        return None;
    };
    Some(numbers.iter().map(|&bytes| number(bytes)).collect())
}

/// Arrays that were not decoded yet.
struct Arrays<'a>(&'a [u8]);

impl<'a> Arrays<'a> {
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (taken, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks() -> Vec<Chunk> {
        let mut text = Ends::Narrow(Vec::new());
        for (u, v) in [("ann", "bob"), ("bob", "ü"), ("7", "ann"), ("", "x")] {
            assert!(text.push(u, v));
        }
        let mut skipped = Tally::default();
        skipped.add(b"#1 2");
        let narrow = vec![(0, u32::MAX), (7, 7)];
        vec![
            Chunk::new(Ends::Nodes(vec![(3, 4)]), vec![0.5]),
            Chunk {
                skipped,
                ..Chunk::new(Ends::Narrow(narrow), vec![1.0, f32::MAX])
            },
            Chunk::new(Ends::Wide(vec![(i64::MIN, -1), (i64::MAX, 0)]), Vec::new()),
            Chunk::new(text, Vec::new()),
            Chunk::new(Ends::Narrow(Vec::new()), Vec::new()),
        ]
    }

    fn shown(chunk: &Chunk) -> String {
        let ends = match &chunk.ends {
            Ends::Text(names, pairs) => {
                format!(
                    "{:?} {pairs:?}",
                    (0..names.len() as u32)
                        .map(|i| names.get(i).to_owned())
                        .collect::<Vec<_>>()
                )
            }
            other => format!("{other:?}"),
        };
        format!(
            "{ends} {:?} {:?} {:?}",
            chunk.weights, chunk.skipped, chunk.headers
        )
    }

    #[test]
    fn chunks_arrive_as_they_were_sent() {
        let chunks = chunks();
        let message = encode(&chunks);
        let pieces = split(&message).expect("whole chunks");
        assert_eq!(pieces.len(), chunks.len());
        for (chunk, piece) in chunks.iter().zip(pieces) {
            assert_eq!(shown(&decode(piece).expect("a chunk")), shown(chunk));
        }
        assert!(split(&[]).is_some_and(|pieces| pieces.is_empty()));
    }

    #[test]
    fn damaged_messages_are_noticed() {
        for chunk in &chunks() {
            let bytes = encode_one(chunk);
            for length in 0..bytes.len() {
                assert!(
                    decode(&bytes[..length]).is_none(),
                    "{length} of {}",
                    bytes.len()
                );
            }
            // Whatever a byte becomes, there is no panic.
            for at in 0..bytes.len() {
                for value in [0, 1, 2, 3, 127, 255] {
                    let mut bytes = bytes.clone();
                    bytes[at] = value;
                    let _ = decode(&bytes).map(|chunk| hone_graph::number::join(vec![chunk.ends]));
                    let _ = split(&bytes);
                }
            }
        }
    }

    #[test]
    fn messages_have_whole_chunks() {
        let chunks = chunks();
        let all: u64 = chunks.iter().map(Chunk::bytes).sum();
        assert_eq!(messages(&chunks, all), vec![0..5]);
        assert_eq!(
            messages(&chunks, 0),
            (0..5).map(|at| at..at + 1).collect::<Vec<_>>()
        );
        assert!(messages(&[], 9).is_empty());
    }
}
