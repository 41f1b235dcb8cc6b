//! [`SeededMap`] and [`SeededSet`], for keys that come from files: ids, labels, names of columns.
//!
//! A hash without a secret can be flooded: 40 000 ids made to collide take seconds instead of milliseconds, and ten times as many
//! a hundred times as long. This one has a seed that the system draws for each process. The order of such a map differs from run
//! to run, so nothing may depend on it.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::LazyLock;

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;

/// A map whose keys may be anybody's.
pub type SeededMap<K, V> = HashMap<K, V, HashSeed>;
/// A set whose members may be anybody's.
pub type SeededSet<K> = HashSet<K, HashSeed>;

/// The seed of this process.
#[derive(Debug, Clone, Copy)]
pub struct HashSeed {
    shared: &'static SharedSeed,
    own: u64,
}

impl Default for HashSeed {
    fn default() -> Self {
        static SEEDS: LazyLock<(SharedSeed, u64)> = LazyLock::new(|| {
            // The standard library asks the system for random bits.
            let random = || RandomState::new().hash_one(0);
            (SharedSeed::from_u64(random()), random())
        });
        let (shared, own) = &*SEEDS;
        HashSeed { shared, own: *own }
    }
}

impl BuildHasher for HashSeed {
    type Hasher = FoldHasher<'static>;

    fn build_hasher(&self) -> Self::Hasher {
        FoldHasher::with_seed(self.own, self.shared)
    }
}
