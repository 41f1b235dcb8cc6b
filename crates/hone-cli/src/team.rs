//! [`Team`]: what a program of several processes provides to a command.

use std::sync::Arc;

use hone::engine::Engine;

/// The engine of several processes, and the resources of each.
#[derive(Debug, Clone)]
pub struct Team {
    /// Does the work.
    pub engine: Arc<dyn Engine>,
    /// Bytes that this process may hold where the user gives no limit; what the machine has free where this is none.
    pub memory: Option<u64>,
    /// Threads of this process where the user gives no number; one per core where this is none.
    pub threads: Option<usize>,
}
