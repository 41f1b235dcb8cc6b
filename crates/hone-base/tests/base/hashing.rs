//! Hashes of keys that anybody may have chosen.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};

use hone_base::hashing::HashSeed;

/// Names that a hash without a seed puts into the same place.
#[test]
fn names_cannot_be_made_to_collide() {
    let crafted = (0u32..).map(|i| format!("x{i}")).filter(|name| {
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write(name.as_bytes());
        hasher.finish().is_multiple_of(1024)
    });
    let seed = HashSeed::default();
    let places = crafted.take(400).map(|name| seed.hash_one(name) % 1024);
    let places: BTreeSet<u64> = places.collect();
    assert!(places.len() > 250, "{} places for 400 names", places.len());
}
