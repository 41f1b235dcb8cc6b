//! Random numbers keyed by (seed, purpose, index).
//!
//! Each unit of work (a walk, a batch of samples, a fold) draws from a stream of its own, so that
//! results depend on the seed alone and never on which thread did what, or when.

use hone::random::Key;
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
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_in_each_part_of_the_key_and_repeat() {
        let first = |seed, purpose, index| Stream::new(seed, purpose, index).bits();
        assert_eq!(first(1, "walk", 2), first(1, "walk", 2));
        let all = [
            first(1, "walk", 2),
            first(2, "walk", 2),
            first(1, "fold", 2),
            first(1, "walk", 3),
        ];
        assert!((0..4).all(|i| (0..i).all(|j| all[i] != all[j])));
    }

    #[test]
    fn numbers_have_the_moments_they_should() {
        let mut stream = Stream::new(7, "moments", 0);
        let n = 100_000;
        let (mut unit, mut normal, mut square) = (0.0, 0.0, 0.0);
        let mut thirds = [0; 3];
        for _ in 0..n {
            unit += stream.unit();
            let x = stream.normal();
            normal += x;
            square += x * x;
            thirds[stream.below(3)] += 1;
        }
        let n = f64::from(n);
        assert!((unit / n - 0.5).abs() < 0.005);
        assert!((normal / n).abs() < 0.02 && (square / n - 1.0).abs() < 0.03);
        assert!(
            thirds
                .iter()
                .all(|&t| (f64::from(t) / n - 1.0 / 3.0).abs() < 0.01)
        );
    }

    #[test]
    fn shuffle_keeps_the_items() {
        let mut items: Vec<u32> = (0..50).collect();
        Stream::new(1, "shuffle", 0).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
