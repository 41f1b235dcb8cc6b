//! [`Writers`]: the processes that write a result together, and how a failure of one becomes known to all.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Processes that write files together. Each holds some rows of a matrix, those of a process follow those of the one
/// before. All of them call the same functions in the same order.
pub trait Writers: Debug + Sync {
    /// The number of this process, from 0. Process 0 creates the files and puts them in place.
    fn rank(&self) -> usize;
    /// Number of processes.
    fn size(&self) -> usize;
    /// The numbers of all processes, in their order; each gives equally many.
    fn gather(&self, own: &[u64]) -> Vec<u64>;
    /// Copies bytes of process `from` to all others, which give equally many, at least one.
    fn spread(&self, from: usize, bytes: &mut [u8]);
    /// Sends values to process 0.
    fn send(&self, values: &[f32]);
    /// Receives equally many values in process 0.
    fn receive(&self, from: usize, values: &mut [f32]);
}

/// A process that writes alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneWriter;

impl Writers for OneWriter {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, own: &[u64]) -> Vec<u64> {
        own.to_vec()
    }

    fn spread(&self, _from: usize, _bytes: &mut [u8]) {}

    fn send(&self, _values: &[f32]) {}

    fn receive(&self, _from: usize, _values: &mut [f32]) {}
}

/// How a process fares: in the numbers that are gathered.
const WELL: u64 = 0;
/// The reader of a pipe had enough.
const CLOSED: u64 = 1;
/// Input or options are wrong.
const WRONG: u64 = 2;
const FAILED: u64 = 3;

impl dyn Writers + '_ {
    /// Whether this process creates the files.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// A text of process `from`, in all processes.
    pub fn text(&self, from: usize, own: &str) -> String {
        let length = self.gather(&[own.len() as u64])[from];
        let mut bytes = if self.rank() == from {
            own.as_bytes().to_vec()
        } else {
            vec![0; length as usize]
        };
        if length > 0 {
            self.spread(from, &mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What this process did, once all are done; fails in all processes if one has failed, with its error. `path`
    /// is what is written.
    pub fn agree<T>(&self, path: impl AsRef<Path>, done: Result<T>) -> Result<T> {
        let states = self.gather(&[state(&done)]);
        let Some(first) = states.iter().position(|&state| state != WELL) else {
            return done;
        };
        let own = done
            .as_ref()
            .err()
            .map(ToString::to_string)
            .unwrap_or_default();
        let message = self.text(first, &own);
        match (done, states[first]) {
            // Another process may have failed before.
            (Err(error @ Error::Process { .. }), _) => Err(error),
            (Err(error), _) if self.rank() == first => Err(error),
            (_, CLOSED) => Err(Error::io(path, io::ErrorKind::BrokenPipe.into())),
            (_, state) => Err(Error::Process {
                rank: first,
                size: self.size(),
                message,
                input: state == WRONG,
            }),
        }
    }
}

fn state<T>(done: &Result<T>) -> u64 {
    match done {
        Ok(_) => WELL,
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => CLOSED,
        Err(error) if error.is_input() => WRONG,
        Err(_) => FAILED,
    }
}
