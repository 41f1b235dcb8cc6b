//! Random numbers keyed by (seed, purpose, index).
//!
//! Each unit of work (a walk, a batch of samples, a fold) draws from a stream of its own, so that
//! results depend on the seed alone and never on which thread did what, or when.

use hone::random::{Key, below, unit};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A generator of one stream.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `purpose` number `index` under `seed`.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        Stream(Key::new(seed).with(purpose, index).rng())
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0..n, without bias worth noticing (2^-32 for n below 2^32).
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "a choice among nothing");
        below(self.bits(), n as u64) as usize
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Standard normal (Box–Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Shuffles in place (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
