//! The kernel of the method: a sparse matrix times a tall block, and times a vector.
//!
//! Each row of the result is a weighted sum of rows of the block, gathered at random: bound by memory latency, not
//! arithmetic. Rows are split among threads by their nonzeros; within a row a tile of columns stays in registers, its
//! width known at compile time, and rows of the block are prefetched some nonzeros ahead. The epilogue (diagonals,
//! shifts, sums) is fused into the single write of the row. Multiplications and additions are not fused, so the result
//! is the same on every machine, whatever its vector instructions. Cost: nnz·b multiply-adds; traffic 8 bytes per
//! nonzero and 4b per gathered row.

use std::ops::Range;

use super::rounded::{Rounded, Rows};
use super::{Csr, Diagonal, prefetch};
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

/// Products of a sparse matrix with tall blocks.
pub trait Multiply {
    /// `y = A x`.
    ///
    /// # Panics
    /// When the shapes do not fit.
    fn multiply(&self, x: &Block, y: &mut Block);

    /// `y = A x` with the epilogue in the same pass, see [`Fused`].
    ///
    /// # Panics
    /// When the shapes do not fit.
    fn multiply_fused(&self, x: &Block, y: &mut Block, fused: &Fused);

    /// The same for some rows: y and the added terms have these rows, x and the diagonals all rows.
    ///
    /// # Panics
    /// When the shapes do not fit.
    fn multiply_part(&self, rows: Range<usize>, x: &Block, y: &mut Block, fused: &Fused);

    /// `y = A x` for a rounded x, with the epilogue in the same pass, see [`Fused`].
    ///
    /// # Panics
    /// When the shapes do not fit.
    fn multiply_rounded(&self, x: &Rounded, y: &mut Block, fused: &Fused);

    /// The same for some rows: y and the added terms have these rows, x and the diagonals all rows.
    ///
    /// # Panics
    /// When the shapes do not fit.
    fn multiply_rounded_part(&self, rows: Range<usize>, x: &Rounded, y: &mut Block, fused: &Fused);
}

impl Multiply for Csr {
    fn multiply(&self, x: &Block, y: &mut Block) {
        self.multiply_fused(x, y, &Fused::default());
    }

    fn multiply_fused(&self, x: &Block, y: &mut Block, fused: &Fused) {
        self.multiply_part(0..self.rows(), x, y, fused);
    }

    fn multiply_part(&self, rows: Range<usize>, x: &Block, y: &mut Block, fused: &Fused) {
        let width = x.cols();
        assert_eq!(
            x.rows(),
            self.cols(),
            "rows of the block in a sparse product"
        );
        let then = Then::new(fused, self.rows(), rows.clone(), y, width);
        if width > 0 && !rows.is_empty() {
            // Pattern and values, a row of x per entry, and the result.
            let bytes = (nnz_of(self, &rows) * (8 + 4 * width)) as u64 + then.written(y);
            timed(Work::Products, bytes, || {
                let arch = pulp::Arch::new();
                split(self, rows, width, y.as_mut_slice(), &|rows, y| {
                    // Inlined into code for the widest vectors of this machine.
                    arch.dispatch(
                        #[inline(always)]
                        || multiply_rows(self, rows, x, y, then),
                    );
                });
            });
        }
    }

    fn multiply_rounded(&self, x: &Rounded, y: &mut Block, fused: &Fused) {
        self.multiply_rounded_part(0..self.rows(), x, y, fused);
    }

    fn multiply_rounded_part(&self, rows: Range<usize>, x: &Rounded, y: &mut Block, fused: &Fused) {
        let width = x.cols;
        assert_eq!(
            x.words.rows(),
            self.cols(),
            "rows of the block in a sparse product"
        );
        let then = Then::new(fused, self.rows(), rows.clone(), y, width);
        if width > 0 && !rows.is_empty() {
            let bytes = (nnz_of(self, &rows) * (8 + 4 * x.words.cols())) as u64 + then.written(y);
            timed(Work::Products, bytes, || {
                let arch = pulp::Arch::new();
                split(self, rows, width, y.as_mut_slice(), &|rows, y| {
                    arch.dispatch(Rows {
                        matrix: self,
                        rows,
                        x,
                        y,
                        then,
                    });
                });
            });
        }
    }
}

/// Nonzeros of some rows.
fn nnz_of(matrix: &Csr, rows: &Range<usize>) -> usize {
    matrix.pattern().offsets()[rows.end] - matrix.pattern().offsets()[rows.start]
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
    let middle = partition(rows.clone(), |at| work(at) < first + (last - first) / 2);
    let middle = middle.clamp(rows.start + 1, rows.end - 1);
    let (above, below) = y.split_at_mut((middle - rows.start) * width);
    rayon::join(
        || split(matrix, rows.start..middle, width, above, multiply),
        || split(matrix, middle..rows.end, width, below, multiply),
    );
}

#[inline(always)]
fn multiply_rows(matrix: &Csr, rows: Range<usize>, x: &Block, y: &mut [f32], then: Then) {
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
pub(super) fn ahead(matrix: &Csr, i: usize) -> &[u32] {
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
pub(super) struct Then<'a> {
    fused: &'a Fused<'a>,
    first: usize,
}

impl<'a> Then<'a> {
    /// Checked for rows `part` of a matrix of `rows` rows, which `y` takes, and that many columns.
    pub(super) fn new(
        fused: &'a Fused<'a>,
        rows: usize,
        part: Range<usize>,
        y: &Block,
        cols: usize,
    ) -> Self {
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
    pub(super) fn written(self, y: &Block) -> u64 {
        y.memory() as u64 * if self.fused.accumulate { 2 } else { 1 }
    }
}

/// Completes row `i` of the product, columns from `at`.
#[inline(always)]
pub(super) fn store<const B: usize>(
    i: usize,
    at: usize,
    sum: &[f32; B],
    y: &mut [f32],
    then: Then,
) {
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

/// First position of an ascending range at which `before` is false.
fn partition(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
