//! Products of sparse matrices with tall blocks, exact and with rounded blocks.
//!
//! Each row of the result is a weighted sum of rows of the block, gathered at random: bound by memory latency, not
//! arithmetic. Rows are split among threads by their nonzeros; within a row a tile of columns stays in registers, its
//! width known at compile time, and rows of the block are prefetched some nonzeros ahead. The epilogue (diagonals,
//! shifts, sums) is fused into the single write of the row. Multiplications and additions are not fused, so the result
//! is the same on every machine, whatever its vector instructions. Cost: nnz·b multiply-adds; traffic 8 bytes per
//! nonzero and 4b per gathered row.

use std::ops::Range;

pub use hone_base::sparse::{Csr, Diagonal, Indices, Pattern, RemoteValues, prefetch};

use crate::clock::{Work, timed};
use crate::dense::Block;

/// Work (nonzeros plus rows) below which a range is not split again.
const GRAIN: usize = 1 << 14;

/// How many nonzeros ahead rows of the block are prefetched.
const AHEAD: usize = 24;

/// What is done with a row Σ_j a_ij x_j before it is stored:
/// `y_i = [y_i] + scale · left_i · Σ_j a_ij x_j + Σ factor · diagonal_i · z_i`.
#[derive(Debug)]
pub struct Fused<'a, T = Block> {
    /// Multiplies every row.
    pub scale: f32,
    /// Multiplies row i by its entry i.
    pub left: Option<&'a Diagonal>,
    /// Adds rows of blocks of the same shape as the result.
    pub plus: &'a [Plus<'a, T>],
    /// Adds to what is already there instead of replacing it.
    pub accumulate: bool,
}

impl<T> Clone for Fused<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Fused<'_, T> {}

impl<T> Default for Fused<'_, T> {
    fn default() -> Self {
        Fused {
            scale: 1.0,
            left: None,
            plus: &[],
            accumulate: false,
        }
    }
}

/// A term `factor · diag(diagonal) · block`.
#[derive(Debug)]
pub struct Plus<'a, T = Block> {
    /// Multiplies every row.
    pub factor: f32,
    /// Multiplies row i by its entry i.
    pub diagonal: Option<&'a Diagonal>,
    /// The rows.
    pub block: &'a T,
}

impl<T> Clone for Plus<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Plus<'_, T> {}

/// `y = A x`.
///
/// # Panics
/// When the shapes do not fit.
pub fn multiply(a: &Csr, x: &Block, y: &mut Block) {
    multiply_rows(a, 0..a.rows(), x, y, &Fused::default());
}

/// Rows of `y = A x` with the epilogue in the same pass, see [`Fused`]: y and the added terms have these rows, x and the
/// diagonals all rows.
///
/// # Panics
/// When the shapes do not fit.
pub fn multiply_rows(a: &Csr, rows: Range<usize>, x: &Block, y: &mut Block, fused: &Fused) {
    let (arch, width) = (pulp::Arch::new(), x.cols());
    product(a, rows, (x, width), y, fused, &|rows, y, then| {
        // Inlined into code for the widest vectors of this machine.
        arch.dispatch(
            #[inline(always)]
            || columns(a, rows, x, y, then),
        );
    });
}

/// The same for a rounded x.
///
/// # Panics
/// When the shapes do not fit.
pub fn multiply_rounded(a: &Csr, rows: Range<usize>, x: &Rounded, y: &mut Block, fused: &Fused) {
    let arch = pulp::Arch::new();
    product(a, rows, (&x.words, x.cols), y, fused, &|rows, y, then| {
        arch.dispatch(Rows {
            matrix: a,
            rows,
            x,
            y,
            then,
        });
    });
}

/// Checks shapes, and calls `multiply` for parts of the rows in parallel; rows of x are stored in a block and have `width`
/// columns.
fn product(
    matrix: &Csr,
    rows: Range<usize>,
    (x, width): (&Block, usize),
    y: &mut Block,
    fused: &Fused,
    multiply: &(impl Fn(Range<usize>, &mut [f32], Then) + Sync),
) {
    let inner = (x.rows(), matrix.cols());
    assert_eq!(inner.0, inner.1, "rows of the block in a sparse product");
    let then = Then::new(fused, matrix.rows(), rows.clone(), y, width);
    if width == 0 || rows.is_empty() {
        return;
    }
    // Pattern and values, a row of x per entry, and the result.
    let offsets = matrix.pattern().offsets();
    let nonzeros = offsets[rows.end] - offsets[rows.start];
    let bytes = (nonzeros * (8 + 4 * x.cols())) as u64 + then.written(y);
    timed(Work::Products, bytes, || {
        split(matrix, rows, width, y.as_mut_slice(), &|rows, y| {
            multiply(rows, y, then);
        });
    });
}

/// Halves a range of rows by work until it is small, then multiplies it; `y` has rows of that `width`.
fn split<F>(matrix: &Csr, rows: Range<usize>, width: usize, y: &mut [f32], multiply: &F)
where
    F: Fn(Range<usize>, &mut [f32]) + Sync,
{
    let work = |at: usize| matrix.pattern().offsets()[at] + at;
    let (first, last) = (work(rows.start), work(rows.end));
    if last - first <= GRAIN || rows.len() == 1 {
        return multiply(rows, y);
    }
    let half = first + (last - first) / 2;
    // The first row that begins in the second half.
    let (mut low, mut high) = (rows.start, rows.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if work(middle) < half {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let middle = low.clamp(rows.start + 1, rows.end - 1);
    let (above, below) = y.split_at_mut((middle - rows.start) * width);
    rayon::join(
        || split(matrix, rows.start..middle, width, above, multiply),
        || split(matrix, middle..rows.end, width, below, multiply),
    );
}

#[inline(always)]
fn columns(matrix: &Csr, rows: Range<usize>, x: &Block, y: &mut [f32], then: Then) {
    match x.cols() {
        8 => exact::<8>(matrix, rows, x, y, then),
        16 => exact::<16>(matrix, rows, x, y, then),
        24 => exact::<24>(matrix, rows, x, y, then),
        32 => exact::<32>(matrix, rows, x, y, then),
        40 => exact::<40>(matrix, rows, x, y, then),
        48 => exact::<48>(matrix, rows, x, y, then),
        _ => tiles(matrix, rows, x, y, then),
    }
}

/// The columns [`AHEAD`] of those of row `i`, row after row.
#[inline(always)]
fn ahead(matrix: &Csr, i: usize) -> &[u32] {
    let all = matrix.pattern().columns();
    &all[(matrix.pattern().range(i).start + AHEAD).min(all.len())..]
}

/// Rows of exactly `B` columns.
#[inline(always)]
fn exact<const B: usize>(matrix: &Csr, rows: Range<usize>, x: &Block, y: &mut [f32], then: Then) {
    let (x, _) = x.as_slice().as_chunks::<B>();
    let (y, _) = y.as_chunks_mut::<B>();
    for (i, y) in rows.zip(y) {
        let (columns, values) = matrix.row(i);
        let ahead = ahead(matrix, i);
        let mut sum = [0.0f32; B];
        for (k, (&j, &a)) in columns.iter().zip(values).enumerate() {
            if let Some(row) = ahead.get(k).and_then(|&j| x.get(j as usize)) {
                prefetch(row);
            }
            let x = &x[j as usize];
            for t in 0..B {
                sum[t] += a * x[t];
            }
        }
        store(i, 0, &sum, y, then);
    }
}

/// Rows of any width.
#[inline(always)]
fn tiles(matrix: &Csr, rows: Range<usize>, x: &Block, y: &mut [f32], then: Then) {
    let mut at = 0;
    for tile in [32, 16, 8, 4, 2, 1] {
        while at + tile <= x.cols() {
            match tile {
                32 => columns_of::<32>(matrix, rows.clone(), x, y, at, then),
                16 => columns_of::<16>(matrix, rows.clone(), x, y, at, then),
                8 => columns_of::<8>(matrix, rows.clone(), x, y, at, then),
                4 => columns_of::<4>(matrix, rows.clone(), x, y, at, then),
                2 => columns_of::<2>(matrix, rows.clone(), x, y, at, then),
                _ => columns_of::<1>(matrix, rows.clone(), x, y, at, then),
            }
            at += tile;
        }
    }
}

/// Columns `at..at + B` of wider rows.
#[inline(always)]
fn columns_of<const B: usize>(
    matrix: &Csr,
    rows: Range<usize>,
    x: &Block,
    y: &mut [f32],
    at: usize,
    then: Then,
) {
    let (width, x) = (x.cols(), x.as_slice());
    for (i, y) in rows.zip(y.chunks_exact_mut(width)) {
        let (columns, values) = matrix.row(i);
        let ahead = ahead(matrix, i);
        let mut sum = [0.0f32; B];
        for (k, (&j, &a)) in columns.iter().zip(values).enumerate() {
            if let Some(row) = ahead.get(k).and_then(|&j| x.get(j as usize * width + at..)) {
                prefetch(&row[..B]);
            }
            let x = &x[j as usize * width + at..][..B];
            for t in 0..B {
                sum[t] += a * x[t];
            }
        }
        store(i, at, &sum, &mut y[at..at + B], then);
    }
}

impl Fused<'_> {
    /// Does the same to rows of a product that was computed elsewhere: `y = [y] + scale · left · product + …`. Product, y
    /// and the summands have rows `part` of a matrix of `rows` rows, the diagonals all.
    ///
    /// # Panics
    /// When the shapes do not fit.
    pub fn finish_part(&self, rows: usize, part: Range<usize>, product: &Block, y: &mut Block) {
        let cols = product.cols();
        let then = Then::new(self, rows, part, y, cols);
        y.update_rows(|i, y| {
            for t in 0..cols {
                store(then.first + i, t, &[product.row(i)[t]], &mut y[t..=t], then);
            }
        });
    }
}

/// The epilogue of a product, for rows from `first` on.
#[derive(Clone, Copy)]
struct Then<'a> {
    fused: &'a Fused<'a>,
    first: usize,
}

impl<'a> Then<'a> {
    /// Checked for rows `part` of a matrix of `rows` rows, which `y` takes, and that many columns.
    fn new(fused: &'a Fused<'a>, rows: usize, part: Range<usize>, y: &Block, cols: usize) -> Self {
        assert!(part.end <= rows, "rows of a product");
        let shape = (part.len(), cols);
        assert_eq!(
            (y.rows(), y.cols()),
            shape,
            "shape of the result of a sparse product"
        );
        assert!(
            fused.left.is_none_or(|left| left.values().len() == rows),
            "length of a left diagonal, {rows} rows"
        );
        for plus in fused.plus {
            assert_eq!(
                (plus.block.rows(), plus.block.cols()),
                shape,
                "shape of a summand of a product"
            );
            let fits = plus
                .diagonal
                .is_none_or(|diagonal| diagonal.values().len() == rows);
            assert!(fits, "length of a shift, {rows} rows");
        }
        Then {
            fused,
            first: part.start,
        }
    }

    /// Bytes of the result that are read and written.
    fn written(self, y: &Block) -> u64 {
        y.memory() as u64 * if self.fused.accumulate { 2 } else { 1 }
    }
}

/// Completes row `i` of the product, columns from `at`.
#[inline(always)]
fn store<const B: usize>(i: usize, at: usize, sum: &[f32; B], y: &mut [f32], then: Then) {
    let Then { fused, first } = then;
    let factor = fused
        .left
        .map_or(fused.scale, |left| fused.scale * left.values()[i]);
    let mut out = sum.map(|value| value * factor);
    for plus in fused.plus {
        let factor = plus
            .diagonal
            .map_or(plus.factor, |diagonal| plus.factor * diagonal.values()[i]);
        let z = &plus.block.row(i - first)[at..at + B];
        (0..B).for_each(|t| out[t] += factor * z[t]);
    }
    if fused.accumulate {
        (0..B).for_each(|t| out[t] += y[t]);
    }
    y.copy_from_slice(&out);
}

/// Words in a cache line.
const WORDS: usize = 16;

/// Columns in a cache line.
const COLUMNS: usize = 2 * WORDS;

/// The upper half of a word.
const UPPER: u32 = 0xffff_0000;

/// Rows of a block, each value rounded to 16 bits: half the space, for products that need not be exact.
///
/// A product gathers rows at random and waits for their cache lines, not for arithmetic. Values rounded to their upper
/// 16 bits (bfloat16: the range of f32, 8 significant bits) need half the lines; in large blocks each row begins a new
/// line. Up to 16 columns fit into one line anyway, so nothing is gained. A word holds two values of one line, 16
/// columns apart, so that either is extracted by one operation, 16 at a time. Sums are taken in f32. Error: at most 2⁻⁸
/// of each value, 1.5·10⁻³ in the mean square, to nearest and hence nearly independent; further products with exact
/// values correct the directions.
pub struct Rounded {
    /// Bits of two values per word, whole lines per row.
    words: Block,
    cols: usize,
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
struct Rows<'a> {
    matrix: &'a Csr,
    rows: Range<usize>,
    x: &'a Rounded,
    y: &'a mut [f32],
    then: Then<'a>,
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
