//! How [`Communicator`] count together.
//!
//! Each of them has the whole graph and does every n-th range of a sweep, for n processes; their results are added. All
//! results are integers, so it does not matter which process found what. Ranges have equal work, and there are about
//! two thousand.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::communicator::Communicator;

/// Values that are exchanged at a time, if they have to be copied.
const PIECE: usize = 1 << 18;

/// The ranges that this process does.
pub(super) fn share<T>(parts: impl Iterator<Item = T>, communicator: &dyn Communicator) -> Vec<T> {
    parts
        .enumerate()
        .filter(|(at, _)| at % communicator.size() == communicator.rank())
        .map(|(_, part)| part)
        .collect()
}

/// Adds counters of all processes.
pub(super) fn add(counts: &[AtomicU64], communicator: &dyn Communicator) {
    in_pieces(
        counts,
        communicator,
        |count| count.load(Relaxed),
        |count, sum| count.store(sum, Relaxed),
        |sums| communicator.add_u64(sums),
    );
}

/// Adds shorter counters of all processes.
pub(super) fn add_short(counts: &[AtomicU32], communicator: &dyn Communicator) {
    in_pieces(
        counts,
        communicator,
        |count| count.load(Relaxed),
        |count, sum| count.store(sum, Relaxed),
        |sums| communicator.add_u32(sums),
    );
}

/// Combines the flags of all processes: set if any process has set them.
pub(super) fn join(flags: &[AtomicBool], communicator: &dyn Communicator) {
    let set = |flag: &AtomicBool, sum: u32| flag.store(sum > 0, Relaxed);
    in_pieces(
        flags,
        communicator,
        |flag| flag.load(Relaxed).into(),
        set,
        |sums| communicator.add_u32(sums),
    );
}

fn in_pieces<C, T>(
    of: &[C],
    communicator: &dyn Communicator,
    load: impl Fn(&C) -> T,
    store: impl Fn(&C, T),
    mut add: impl FnMut(&mut [T]),
) {
    if communicator.size() == 1 {
        return;
    }
    for piece in of.chunks(PIECE) {
        let mut sums: Vec<T> = piece.iter().map(&load).collect();
        add(&mut sums);
        piece.iter().zip(sums).for_each(|(to, sum)| store(to, sum));
    }
}
