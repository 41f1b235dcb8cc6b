//! [`Communicator`]: processes that read a graph, count its motifs and write results together.
//!
//! All of them run the same program on the same input and call the same functions in the same order. Each parses a part of
//! a file (`graph::read_divided`) and does a share of the sweeps
//! (`Sample::count_motifs_with`); then they exchange what they found, and all
//! of them have all of it. Process 0 writes what they have, or each writes a part.

use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};

/// Processes that work together. All of them call the same functions in the same order.
pub trait Communicator: Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;
    /// Number of processes.
    fn size(&self) -> usize;
    /// Adds the values of all processes, element by element; each process gets the sums.
    fn add_u32(&self, values: &mut [u32]);
    /// The same for longer numbers.
    fn add_u64(&self, values: &mut [u64]);
    /// The bytes of every process, in the order of their numbers; each process may have another number of them.
    fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>>;
}

/// How a process fares: the first byte of what it says to the others, before the text of its error.
const WELL: u8 = 0;
/// The reader of a pipe had enough.
const CLOSED: u8 = 1;
/// Input or options are wrong.
const WRONG: u8 = 2;
const FAILED: u8 = 3;

impl dyn Communicator + '_ {
    /// Whether this process creates the files.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// What this process did, once all are done; fails in all processes if one has failed, with its error. `path`
    /// is what is written.
    pub fn agree<T>(&self, path: impl AsRef<Path>, done: Result<T>) -> Result<T> {
        let state = match &done {
            Ok(_) => WELL,
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => CLOSED,
            Err(error) if error.is_input() => WRONG,
            Err(_) => FAILED,
        };
        let text = done.as_ref().err().map(Error::to_string);
        let own = [&[state], text.unwrap_or_default().as_bytes()].concat();
        let all = self.gather_bytes(&own);
        let Some(first) = all.iter().position(|said| said[0] != WELL) else {
            return done;
        };
        match (done, all[first][0]) {
            // Another process may have failed before.
            (Err(error @ Error::Process { .. }), _) => Err(error),
            (Err(error), _) if self.rank() == first => Err(error),
            (_, CLOSED) => Err(Error::io(path, ErrorKind::BrokenPipe.into())),
            (_, state) => Err(Error::Process {
                rank: first,
                size: self.size(),
                message: String::from_utf8_lossy(&all[first][1..]).into_owned(),
                input: state == WRONG,
            }),
        }
    }
}

/// A process that works alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleProcess;

impl Communicator for SingleProcess {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn add_u32(&self, _values: &mut [u32]) {}

    fn add_u64(&self, _values: &mut [u64]) {}

    fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>> {
        vec![own.to_vec()]
    }
}
