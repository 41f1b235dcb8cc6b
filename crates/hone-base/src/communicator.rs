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

impl dyn Communicator + '_ {
    /// Whether this process creates the files.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// What this process did, once all are done; fails in all processes if one has failed, with its error. `path`
    /// is what is written.
    pub fn agree<T>(&self, path: impl AsRef<Path>, done: Result<T>) -> Result<T> {
        let own = done.as_ref().map_or_else(sent, |_| Vec::new());
        let all = self.gather_bytes(&own);
        let Some(first) = all.iter().position(|said| !said.is_empty()) else {
            return done;
        };
        match done {
            // Another process may have failed before.
            Err(error @ Error::Process { .. }) => return Err(error),
            Err(error) if self.rank() == first => return Err(error),
            _ => (),
        }
        Err(match serde_json::from_slice(&all[first]) {
            Ok((true, _)) => Error::io(path, ErrorKind::BrokenPipe.into()),
            Ok((false, error)) => Error::Process {
                rank: first,
                size: self.size(),
                error: Box::new(error),
            },
            Err(error) => Error::io(path, error.into()),
        })
    }
}

/// An error as another process reads it, and whether it is that the reader of a pipe had enough.
fn sent(error: &Error) -> Vec<u8> {
    let closed =
        matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe);
    // A path that is not text cannot be sent.
    let text = |_| serde_json::to_vec(&(closed, Error::config("path", error.to_string())));
    let sent = serde_json::to_vec(&(closed, error)).or_else(text);
    sent.expect("text can be sent")
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
