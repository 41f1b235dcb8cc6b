//! [`Writers`]: the processes that write a result together, and how a failure of one becomes known to all.

use std::fmt::Debug;
use std::io::ErrorKind;
use std::path::Path;

use crate::communicator::{Communicator, SingleProcess};
use crate::error::{Error, Result};

/// Processes that write a result together. Each holds some rows of a matrix; those of a process follow those of the one
/// before. Process 0 creates the files and puts them in place.
pub trait Writers: Communicator + Debug {
    /// Sends values to process 0.
    fn send(&self, values: &[f32]);
    /// Receives equally many values in process 0.
    fn receive(&self, from: usize, values: &mut [f32]);
}

impl Writers for SingleProcess {
    fn send(&self, _values: &[f32]) {}

    fn receive(&self, _from: usize, _values: &mut [f32]) {}
}

/// How a process fares: the first byte of what it says to the others, before the text of its error.
const WELL: u8 = 0;
/// The reader of a pipe had enough.
const CLOSED: u8 = 1;
/// Input or options are wrong.
const WRONG: u8 = 2;
const FAILED: u8 = 3;

impl dyn Writers + '_ {
    /// Whether this process creates the files.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// What this process did, once all are done; fails in all processes if one has failed, with its error. `path`
    /// is what is written.
    pub fn agree<T>(&self, path: impl AsRef<Path>, done: Result<T>) -> Result<T> {
        let mut own = match &done {
            Ok(_) => vec![WELL],
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => vec![CLOSED],
            Err(error) if error.is_input() => vec![WRONG],
            Err(_) => vec![FAILED],
        };
        own.extend(
            done.as_ref()
                .err()
                .iter()
                .flat_map(|e| e.to_string().into_bytes()),
        );
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
