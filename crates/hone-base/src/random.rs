//! Random numbers by name: a [`Key`] says what they are for, not who drew before.
//!
//! Every chunk of work derives its own stream from (seed, purpose, index), so results do not depend
//! on the number of threads or the order in which they run. Keys nest: `seed → "local", 3 → "sketch", 17`.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Names one stream of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    /// The root of all streams of a run.
    pub fn new(seed: u64) -> Self {
        Key(mix(seed))
    }

    /// The key of part `index` of `purpose` below this one.
    pub fn with(self, purpose: &str, index: u64) -> Self {
        let name = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Key(mix(mix(self.0 ^ name).wrapping_add(mix(index))))
    }

    /// The generator of this stream.
    pub fn rng(self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.0)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection that scatters close inputs.
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
