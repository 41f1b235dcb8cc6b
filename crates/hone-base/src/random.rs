//! Keyed random numbers: a [`Key`] names their purpose, so they do not depend on earlier draws.
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
        Key(splitmix64(seed))
    }

    /// The key of part `index` of `purpose` below this one.
    pub fn with(self, purpose: &str, index: u64) -> Self {
        let name = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        Key(splitmix64(
            splitmix64(self.0 ^ name).wrapping_add(splitmix64(index)),
        ))
    }

    /// The numbers of one row of a random matrix.
    pub fn of_row(self, row: u64) -> RowKey {
        RowKey(splitmix64(self.0 ^ splitmix64(row)))
    }

    /// The number behind the key: for a device that draws the numbers of rows itself, with the same bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The generator of this stream.
    pub fn rng(self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.0)
    }
}

/// Names the random numbers of one row: each depends on its column alone, so any part of a matrix can be drawn anywhere.
#[derive(Debug, Clone, Copy)]
pub struct RowKey(u64);

impl RowKey {
    /// The bits of column `column`: SplitMix64 with the row's seed, at that position.
    pub fn bits(self, column: u64) -> u64 {
        splitmix64(self.0.wrapping_add(column.wrapping_mul(GOLDEN_GAMMA)))
    }
}

/// A number in 0..n from 64 random bits, up to a bias of n / 2⁶⁴.
pub fn below(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

/// A number in [0, 1) from 64 random bits.
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// The number that SplitMix64 (Steele, Lea, Flood 2014) draws in the state `x`: a bijection that scatters close inputs.
pub fn splitmix64(x: u64) -> u64 {
    mix64(x.wrapping_add(GOLDEN_GAMMA))
}

/// The finaliser of SplitMix64: every bit of the result depends on all bits of the input.
pub fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The step from one state of SplitMix64 to the next: 2⁶⁴ over the golden ratio.
pub const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
