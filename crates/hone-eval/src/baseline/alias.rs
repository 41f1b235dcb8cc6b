//! Alias tables (Walker, Vose): draw from any discrete distribution in constant time.

use crate::random::Stream;

/// A table over 0..n; linear memory, linear construction.
#[derive(Debug, Clone)]
pub(super) struct Alias {
    /// Chance to keep the drawn slot, and who gets it otherwise.
    slots: Vec<(f32, u32)>,
}

impl Alias {
    /// A table for weights that are finite, not negative and not all zero.
    ///
    /// # Panics
    /// When they are not.
    pub(super) fn new(weights: impl ExactSizeIterator<Item = f64>) -> Self {
        let mut share: Vec<f64> = weights.collect();
        let total: f64 = share.iter().sum();
        assert!(
            total > 0.0 && total.is_finite() && share.iter().all(|&w| w >= 0.0),
            "weights of an alias table"
        );
        let n = share.len();
        share.iter_mut().for_each(|w| *w *= n as f64 / total);
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..n as u32).partition(|&i| share[i as usize] < 1.0);
        let mut slots: Vec<(f32, u32)> = (0..n as u32).map(|i| (1.0, i)).collect();
        while let (Some(&s), Some(&l)) = (small.last(), large.last()) {
            small.pop();
            slots[s as usize] = (share[s as usize] as f32, l);
            share[l as usize] -= 1.0 - share[s as usize];
            if share[l as usize] < 1.0 {
                large.pop();
                small.push(l);
            }
        }
        Alias { slots }
    }

    /// Draws one index.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        let bits = stream.bits();
        let slot = (((bits >> 32) * self.slots.len() as u64) >> 32) as usize;
        let coin = (bits & 0xff_ffff) as f32 / (1 << 24) as f32;
        let (keep, other) = self.slots[slot];
        if coin < keep { slot as u32 } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_follow_the_weights() {
        let weights = [0.0, 1.0, 2.0, 5.0, 0.5];
        let table = Alias::new(weights.into_iter());
        let mut stream = Stream::new(3, "alias", 0);
        let mut seen = [0u32; 5];
        for _ in 0..200_000 {
            seen[table.draw(&mut stream) as usize] += 1;
        }
        for (s, w) in seen.iter().zip(weights) {
            assert!(
                (f64::from(*s) / 200_000.0 - w / 8.5).abs() < 0.005,
                "{seen:?}"
            );
        }
        assert_eq!(seen[0], 0);
    }
}
