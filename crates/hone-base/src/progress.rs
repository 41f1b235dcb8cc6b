//! How long-running work communicates with its caller: what it is doing, how far it is, and whether to stop.
//!
//! The library never prints. A front end implements [`Progress`] (a bar on a terminal, tqdm in
//! Python); everyone else passes [`Silent`].

use crate::error::{Error, Result};
use crate::message::Message;

/// Receives progress of long work and may ask it to stop. Called from several threads.
pub trait Progress: Sync {
    /// A stage begins; `total` is its length in units of its own (0 when unknown).
    fn stage(&self, _name: &str, _total: u64) {}
    /// `done` further units of the current stage are finished.
    fn advance(&self, _done: u64) {}
    /// Something the user may want to know before the work continues, such as the memory it will take.
    fn note(&self, _message: &Message) {}
    /// Whether the caller wants the work to stop; asked a few times per second.
    fn cancelled(&self) -> bool {
        false
    }
    /// [`Error::Interrupted`] when cancelled, for use with `?`.
    fn check(&self) -> Result<()> {
        if self.cancelled() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Progress that is ignored and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
