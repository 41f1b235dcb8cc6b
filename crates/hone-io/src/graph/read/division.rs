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
use crate::communicator::{Communicator, SingleProcess};
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::parallel;
use crate::progress::Progress;
use crate::store::tensors::{Tensors, Writer};
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
        others
            .all(|(_, (part, message))| decode(message).map(|chunks| part.extend(chunks)).is_some())
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

/// Chunks as one message, an array for each part of a chunk.
fn encode(chunks: &[Chunk]) -> Vec<u8> {
    let mut message = Writer::default();
    for (at, chunk) in chunks.iter().enumerate() {
        let name = |part: &str| format!("{at}.{part}");
        match &chunk.ends {
            Ends::Nodes(pairs) => message.values(&name("nodes"), flat(pairs)),
            Ends::Narrow(pairs) => message.values(&name("narrow"), flat(pairs)),
            Ends::Wide(pairs) => message.values(&name("wide"), flat(pairs)),
            Ends::Text(names, pairs) => {
                let names: Vec<&str> = (0..names.len() as u32).map(|i| names.get(i)).collect();
                // No line and no value of a Parquet file is longer than 32 bits can say.
                let lengths: Vec<u32> = names.iter().map(|name| name.len() as u32).collect();
                message.values(&name("text"), flat(pairs));
                message.values(&name("lengths"), lengths);
                message.values(&name("names"), names.concat().into_bytes());
            }
        }
        message.values(&name("weights"), &chunk.weights[..]);
    }
    let headers: Vec<u64> = chunks.iter().map(|chunk| chunk.headers).collect();
    message.values("headers", headers);
    let mut bytes = Vec::new();
    let written = message.write(&[], &mut bytes);
    written.expect("memory takes every write");
    bytes
}

/// The chunks of a message; none if it is not one. Whatever its bytes are, there is no panic.
fn decode(message: &[u8]) -> Option<Vec<Chunk>> {
    let arrays = Tensors::of(message).ok()?;
    let headers = arrays.values::<u64>("headers").ok()?;
    let chunk = |at: usize| {
        let name = |part: &str| format!("{at}.{part}");
        let narrow = |part| pairs(&arrays.values::<u32>(&name(part)).ok()?);
        let ends = if arrays.has(&name("nodes")) {
            Ends::Nodes(narrow("nodes")?)
        } else if arrays.has(&name("narrow")) {
            Ends::Narrow(narrow("narrow")?)
        } else if arrays.has(&name("wide")) {
            Ends::Wide(pairs(&arrays.values::<i64>(&name("wide")).ok()?)?)
        } else {
            let text = String::from_utf8(arrays.values(&name("names")).ok()?).ok()?;
            let lengths = arrays.values::<u32>(&name("lengths")).ok()?.into_iter();
            let (names, pairs) = (Names::listed(lengths, &text)?, narrow("text")?);
            if pairs.iter().any(|&(u, v)| u.max(v) as usize >= names.len()) {
                return None;
            }
            Ends::Text(names, pairs)
        };
        let weights = arrays.values::<f32>(&name("weights")).ok()?;
        (weights.is_empty() || weights.len() == ends.len()).then_some(Chunk {
            ends,
            weights,
            headers: headers[at],
        })
    };
    parallel::map(headers.len(), chunk).into_iter().collect()
}

fn flat<T: Copy>(pairs: &[(T, T)]) -> Vec<T> {
    pairs.iter().flat_map(|&(u, v)| [u, v]).collect()
}

fn pairs<T: Copy>(flat: &[T]) -> Option<Vec<(T, T)>> {
    let (pairs, []) = flat.as_chunks() else {
        return None;
    };
    Some(pairs.iter().map(|&[u, v]| (u, v)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks() -> Vec<Chunk> {
        let mut text = Ends::Narrow(Vec::new());
        for (u, v) in [("ann", "bob"), ("bob", "ü"), ("7", "ann"), ("", "x")] {
            assert!(text.push(u, v));
        }
        let narrow = vec![(0, u32::MAX), (7, 7)];
        vec![
            Chunk::new(Ends::Nodes(vec![(3, 4)]), vec![0.5]),
            Chunk {
                headers: 7,
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
        format!("{ends} {:?} {}", chunk.weights, chunk.headers)
    }

    #[test]
    fn chunks_arrive_as_they_were_sent() {
        let chunks = chunks();
        let arrived = decode(&encode(&chunks)).expect("whole chunks");
        let all = |chunks: &[Chunk]| chunks.iter().map(shown).collect::<Vec<_>>();
        assert_eq!(all(&arrived), all(&chunks));
        assert!(decode(&encode(&[])).is_some_and(|chunks| chunks.is_empty()));
    }

    #[test]
    fn damaged_messages_are_noticed() {
        for chunk in chunks() {
            let bytes = encode(&[chunk]);
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
                    for chunk in decode(&bytes).into_iter().flatten() {
                        hone_graph::number::join(vec![chunk.ends]);
                    }
                }
            }
        }
    }
}
