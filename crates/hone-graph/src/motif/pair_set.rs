//! [`PairSet`]: a set of pairs of nodes of which some are replaced, as when edges are switched.
//!
//! Open addressing with linear probing, at most half full. What follows a pair that is removed moves up, so that no mark is left
//! behind. A look-up takes one line of the cache, which can be fetched ahead. The hash has the seed of the process, so that no
//! file can make pairs collide; nothing depends on their order.

use std::hash::BuildHasher;

use crate::hashing::HashSeed;
use crate::sparse::prefetch;

/// Two nodes in one number; no pair is that of two largest numbers.
const EMPTY: u64 = u64::MAX;

/// A set of pairs of different nodes that never has more of them than at first.
#[derive(Debug, Clone)]
pub(super) struct PairSet {
    slots: Vec<u64>,
    seed: HashSeed,
}

fn number((a, b): (u32, u32)) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

impl PairSet {
    pub(super) fn new(pairs: impl ExactSizeIterator<Item = (u32, u32)>) -> PairSet {
        let size = (2 * pairs.len()).next_power_of_two().max(2);
        let mut set = PairSet {
            slots: vec![EMPTY; size],
            seed: HashSeed::default(),
        };
        pairs.for_each(|pair| set.insert(pair));
        set
    }

    /// Where the search for a pair begins.
    fn first(&self, number: u64) -> usize {
        self.seed.hash_one(number) as usize & (self.slots.len() - 1)
    }

    fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// The slot of a pair, or the empty one where it would be.
    fn find(&self, number: u64) -> Result<usize, usize> {
        let mut slot = self.first(number);
        loop {
            match self.slots[slot] {
                found if found == number => return Ok(slot),
                EMPTY => return Err(slot),
                _ => slot = self.next(slot),
            }
        }
    }

    /// Fetches what a look-up of the pair will need.
    pub(super) fn prefetch(&self, pair: (u32, u32)) {
        let slot = self.first(number(pair));
        prefetch(&self.slots[slot..=slot]);
    }

    pub(super) fn contains(&self, pair: (u32, u32)) -> bool {
        self.find(number(pair)).is_ok()
    }

    pub(super) fn insert(&mut self, pair: (u32, u32)) {
        if let Err(slot) = self.find(number(pair)) {
            self.slots[slot] = number(pair);
        }
    }

    pub(super) fn remove(&mut self, pair: (u32, u32)) {
        let Ok(mut hole) = self.find(number(pair)) else {
            return;
        };
        let mut slot = self.next(hole);
        while self.slots[slot] != EMPTY {
            let moved = self.slots[slot];
            // How far behind another slot; a pair may move up to where its search begins.
            let behind = |other: usize| slot.wrapping_sub(other) & (self.slots.len() - 1);
            if behind(self.first(moved)) >= behind(hole) {
                self.slots[hole] = moved;
                hole = slot;
            }
            slot = self.next(slot);
        }
        self.slots[hole] = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn pairs_are_those_of_a_standard_set() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for size in [0, 1, 2, 7, 64, 500] {
            let mut pair = || -> (u32, u32) { (rng.random_range(0..30), rng.random_range(30..60)) };
            let mut expected: HashSet<(u32, u32)> = (0..size).map(|_| pair()).collect();
            let mut set = PairSet::new(expected.clone().into_iter());
            for _ in 0..4 * size {
                let mut kept: Vec<(u32, u32)> = expected.iter().copied().collect();
                kept.sort_unstable();
                let (old, new) = (kept[pair().0 as usize % kept.len()], pair());
                assert_eq!(set.contains(new), expected.contains(&new));
                set.remove(old);
                expected.remove(&old);
                assert!(!set.contains(old));
                set.remove(old);
                set.prefetch(new);
                set.insert(new);
                set.insert(new);
                expected.insert(new);
                assert!(expected.iter().all(|&pair| set.contains(pair)));
            }
            let full = set.slots.iter().filter(|&&slot| slot != EMPTY).count();
            assert_eq!(full, expected.len());
            assert!(!set.contains((0, 0)));
        }
    }
}
