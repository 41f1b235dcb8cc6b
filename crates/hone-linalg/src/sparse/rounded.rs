//! [`Rounded`]: a block in half the space, for products that need not be exact.
//!
//! A product gathers rows at random and waits for their cache lines, not for arithmetic. Values rounded to their upper
//! 16 bits (bfloat16: the range of f32, 8 significant bits) need half the lines; in large blocks each row begins a new
//! line. Up to 16 columns fit into one line anyway, so nothing is gained. A word holds two values of one line, 16
//! columns apart, so that either is extracted by one operation, 16 at a time. Sums are taken in f32. Error: at most 2⁻⁸
//! of each value, 1.5·10⁻³ in the mean square, to nearest and hence nearly independent; further products with exact
//! values correct the directions.

use std::ops::Range;

use super::Csr;
use super::multiply::{Then, ahead, store};
use super::prefetch;
use crate::dense::Block;

/// Words in a cache line.
const WORDS: usize = 16;

/// Columns in a cache line.
const COLUMNS: usize = 2 * WORDS;

/// The upper half of a word.
const UPPER: u32 = 0xffff_0000;

/// Rows of a block, each value rounded to 16 bits.
pub struct Rounded {
    /// Bits of two values per word, whole lines per row.
    pub(super) words: Block,
    pub(super) cols: usize,
}

impl Rounded {
    /// Words of a row with that many columns.
    pub fn words(cols: usize) -> usize {
        cols.div_ceil(COLUMNS) * WORDS
    }

    /// diag(factors) x, rounded into `words`, which has [`Rounded::words`] columns.
    ///
    /// # Panics
    /// When the shapes do not fit.
    pub fn of(x: &Block, factors: Option<&[f32]>, mut words: Block) -> Rounded {
        let cols = x.cols();
        assert_eq!(
            (words.rows(), words.cols()),
            (x.rows(), Self::words(cols)),
            "shape of a rounded block"
        );
        assert!(
            factors.is_none_or(|factors| factors.len() == x.rows()),
            "one factor per row"
        );
        words.update_rows(|i, row| {
            let factor = factors.map_or(1.0, |factors| factors[i]);
            for (values, words) in x.row(i).chunks(COLUMNS).zip(row.as_chunks_mut::<WORDS>().0) {
                let mut line = [0.0f32; COLUMNS];
                line.iter_mut()
                    .zip(values)
                    .for_each(|(to, &value)| *to = factor * value);
                for t in 0..WORDS {
                    words[t] = f32::from_bits(upper(line[t]) >> 16 | upper(line[t + WORDS]));
                }
            }
        });
        Rounded { words, cols }
    }

    /// Rows of `cols` columns that were rounded elsewhere, such as by the processes that own them.
    ///
    /// # Panics
    /// When rows of that many columns have other words.
    pub fn from_words(words: Block, cols: usize) -> Rounded {
        assert_eq!(words.cols(), Self::words(cols), "words of a rounded row");
        Rounded { words, cols }
    }

    /// The memory.
    pub fn into_block(self) -> Block {
        self.words
    }
}

/// The bits of the nearest value whose lower 16 bits are zero, ties to even.
#[inline(always)]
fn upper(value: f32) -> u32 {
    let bits = value.to_bits();
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    (if value.is_nan() {
        f32::NAN.to_bits()
    } else {
        nearest
    }) & UPPER
}

/// The product of some rows, in the widest vectors of this machine. The instructions are explicit,
/// since a compiler would unpack the words one by one.
pub(super) struct Rows<'a> {
    pub(super) matrix: &'a Csr,
    pub(super) rows: Range<usize>,
    pub(super) x: &'a Rounded,
    pub(super) y: &'a mut [f32],
    pub(super) then: Then<'a>,
}

impl pulp::WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, simd: S) {
        match self.x.words.cols() / WORDS {
            1 => self.lines::<1, S>(simd, 0),
            2 => self.lines::<2, S>(simd, 0),
            3 => self.lines::<3, S>(simd, 0),
            4 => self.lines::<4, S>(simd, 0),
            lines => {
                for first in 0..lines {
                    self.lines::<1, S>(simd, first);
                }
            }
        }
    }
}

impl Rows<'_> {
    /// `L` lines of each row, from line `first` on.
    #[inline(always)]
    fn lines<const L: usize, S: pulp::Simd>(&mut self, simd: S, first: usize) {
        let (words, _) = self.x.words.as_slice().as_chunks::<WORDS>();
        let a_row = self.x.words.cols() / WORDS;
        let line = |j: u32| {
            words
                .get(j as usize * a_row + first..)
                .and_then(|rest| rest.first_chunk::<L>())
        };
        for (i, y) in self.rows.clone().zip(self.y.chunks_exact_mut(self.x.cols)) {
            let (columns, values) = self.matrix.row(i);
            let ahead = ahead(self.matrix, i);
            let mut sum = [[[0.0f32; WORDS]; 2]; L];
            for (k, (&j, &a)) in columns.iter().zip(values).enumerate() {
                if let Some(row) = ahead.get(k).and_then(|&j| line(j)) {
                    prefetch(row.as_flattened());
                }
                let row = line(j).expect("columns are below the rows of the block");
                // No closure, which would not be inlined into code for these vectors.
                for (sum, words) in sum.iter_mut().zip(row) {
                    add(simd, a, words, sum);
                }
            }
            for (line, sum) in (first..).zip(&sum) {
                store_line(i, line * COLUMNS, sum.as_flattened(), y, self.then);
            }
        }
    }
}

/// Adds `a` times the values of a line.
#[inline(always)]
fn add<S: pulp::Simd>(
    simd: S,
    a: f32,
    words: &[f32; WORDS],
    [first, second]: &mut [[f32; WORDS]; 2],
) {
    let (a, sixteen, mask) = (
        simd.splat_f32s(a),
        simd.splat_u32s(16),
        simd.splat_u32s(UPPER),
    );
    let (first, _) = S::as_mut_simd_f32s(first);
    let (second, _) = S::as_mut_simd_f32s(second);
    let (words, _) = S::as_simd_f32s(words);
    for ((first, second), &word) in first.iter_mut().zip(second).zip(words) {
        let bits = simd.transmute_u32s_f32s(word);
        let low = simd.transmute_f32s_u32s(simd.wrapping_dyn_shl_u32s(bits, sixteen));
        let high = simd.transmute_f32s_u32s(simd.and_u32s(bits, mask));
        *first = simd.add_f32s(*first, simd.mul_f32s(a, low));
        *second = simd.add_f32s(*second, simd.mul_f32s(a, high));
    }
}

/// Completes the existing columns of row `i` from `at` on.
#[inline(always)]
fn store_line(i: usize, at: usize, sum: &[f32], y: &mut [f32], then: Then) {
    const TILE: usize = 8;
    let (tiles, rest) = sum[..(y.len() - at).min(COLUMNS)].as_chunks::<TILE>();
    let mut at = at;
    for tile in tiles {
        store(i, at, tile, &mut y[at..at + TILE], then);
        at += TILE;
    }
    for &value in rest {
        store(i, at, &[value], &mut y[at..=at], then);
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_to_the_nearest_with_eight_bits() {
        let step = 2f32.powi(-7);
        let cases = [
            (1.0, 1.0),
            (1.0 + step, 1.0 + step),
            (1.0 + 0.4 * step, 1.0),
            (1.0 + 0.6 * step, 1.0 + step),
            (1.0 + 0.5 * step, 1.0),
            (1.0 + 1.5 * step, 1.0 + 2.0 * step),
            (-3.0 - 0.6 * 2.0 * step, -3.0 - 2.0 * step),
            (0.0, 0.0),
            (f32::INFINITY, f32::INFINITY),
        ];
        for (value, expected) in cases {
            assert_eq!(f32::from_bits(upper(value)), expected, "{value}");
        }
        assert!(f32::from_bits(upper(f32::NAN)).is_nan());
        assert!(f32::from_bits(upper(f32::from_bits(0x7fff_ffff))).is_nan());
    }
}
