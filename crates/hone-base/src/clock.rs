//! Where time goes: seconds, calls and bytes per kind of work, summed over the process.
//!
//! Counters are atomic and touched a few hundred times a run, so keeping them costs nothing; work that is
//! timed is not nested. Concurrent runs in one process share the counters: for the figures of a single run,
//! run it alone.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Sorting edges into an adjacency.
    Build,
    /// Weights W_t from motif counts.
    Weights,
    /// Sparse matrix times block.
    Products,
    /// Orthonormal columns.
    Orthonormalise,
    /// Gram matrix of Y.
    Gram,
    /// Y times a small matrix: Z.
    Combine,
}

impl Work {
    /// All kinds with their names, in the order of a run.
    pub const ALL: [(Work, &'static str); 6] = [
        (Work::Build, "build"),
        (Work::Weights, "weights"),
        (Work::Products, "products"),
        (Work::Orthonormalise, "orthonormalise"),
        (Work::Gram, "gram"),
        (Work::Combine, "combine"),
    ];
}

/// Sums of one kind of work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Total {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Number of calls.
    pub calls: u64,
    /// Bytes moved between memory and processor, as estimated from shapes: each operand once, gathered
    /// rows once per entry.
    pub bytes: u64,
}

/// Nanoseconds, calls, bytes.
static TOTALS: [[AtomicU64; 3]; Work::ALL.len()] =
    [const { [const { AtomicU64::new(0) }; 3] }; Work::ALL.len()];

/// Runs `run` and adds its time, and the bytes it moves, to its kind of work.
pub fn timed<T>(work: Work, bytes: u64, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    for (total, amount) in TOTALS[work as usize].iter().zip([nanoseconds, 1, bytes]) {
        total.fetch_add(amount, Relaxed);
    }
    result
}

/// The sums so far, in the order of [`Work::ALL`].
pub fn totals() -> [Total; Work::ALL.len()] {
    Work::ALL.map(|(work, _)| {
        let [nanoseconds, calls, bytes] = &TOTALS[work as usize];
        Total {
            seconds: nanoseconds.load(Relaxed) as f64 * 1e-9,
            calls: calls.load(Relaxed),
            bytes: bytes.load(Relaxed),
        }
    })
}
