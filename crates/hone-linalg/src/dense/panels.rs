//! Several blocks side by side as one wide matrix, X = [X₁ X₂ …]: Gram and cross products, products with small
//! matrices, norms.
//!
//! Sparse products gather rows, and a row of 32 columns is two cache lines: wide matrices are multiplied panel by panel, in the
//! memory of one panel. The dense algebra of all panels together is here. It reads rows of all panels into one buffer,
//! so the bits are those of a single wide block. Sums over rows are taken in f64: Cholesky QR and eigenvalues of
//! Gram matrices square the condition number.

use std::borrow::Borrow;
use std::ops::Range;
use std::path::Path;

use faer::Accum;
use rayon::prelude::*;

pub use super::lanes::Own;

use super::lanes::{self, chunk_rows, narrow, times_chunk};
use super::{Block, Norm, Small};
use crate::error::Result;
use crate::parallel::for_chunks;

/// Blocks side by side as one tall matrix.
#[derive(Debug, Clone)]
pub struct Panels(Vec<Block>);

impl From<Block> for Panels {
    fn from(block: Block) -> Self {
        Panels(vec![block])
    }
}

impl From<Panels> for Vec<Block> {
    fn from(panels: Panels) -> Self {
        panels.0
    }
}

impl From<Vec<Block>> for Panels {
    fn from(panels: Vec<Block>) -> Self {
        rows(&panels);
        Panels(panels)
    }
}

impl Panels {
    /// Writes some rows, row-major.
    pub(super) fn read(&self, range: &Range<usize>, to: &mut [f32]) {
        read(&refs(&self.0), range, to, |value| value);
    }

    /// All in one block: the only panel, or a copy.
    pub fn into_block(mut self) -> Block {
        if self.0.len() == 1 {
            return self.0.remove(0);
        }
        let mut out = Block::zeros(rows(&self.0), width(&self.0));
        let panels = refs(&self.0);
        change_rows(std::slice::from_mut(&mut out), |range, to| {
            read(&panels, &range, to, |value| value);
        });
        out
    }

    /// The panels.
    pub fn as_slice(&self) -> &[Block] {
        &self.0
    }

    /// The panels, which keep their shapes.
    pub fn as_mut_slice(&mut self) -> &mut [Block] {
        &mut self.0
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        rows(&self.0)
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        width(&self.0)
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        self.0.iter().map(Block::memory).sum()
    }

    /// The same columns in panels of the given widths.
    ///
    /// # Panics
    /// When the widths are not those of all columns together.
    #[must_use]
    pub fn cut(self, widths: &[usize]) -> Self {
        if self.0.iter().map(Block::cols).eq(widths.iter().copied()) {
            return self;
        }
        let whole = self.into_block();
        assert_eq!(
            whole.cols(),
            widths.iter().sum::<usize>(),
            "widths of panels"
        );
        let mut first = 0;
        let panel = |width: &usize| {
            first += width;
            whole.columns(first - width..first)
        };
        Panels(widths.iter().map(panel).collect())
    }

    /// Moves all panels to [files](Block::put_aside).
    pub fn put_aside(&mut self, folder: &Path) -> Result<()> {
        self.0
            .iter_mut()
            .try_for_each(|panel| panel.put_aside(folder))
    }

    /// Reads the panels back.
    pub fn bring_back(&mut self) -> Result<()> {
        self.0.iter_mut().try_for_each(Block::bring_back)
    }

    /// Whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        self.0.iter().all(|panel| {
            panel
                .as_slice()
                .par_iter()
                .with_min_len(1 << 14)
                .all(|x| x.is_finite())
        })
    }

    /// Pads with zero columns to `cols`.
    #[must_use]
    pub fn widened(mut self, cols: usize) -> Self {
        let missing = cols.saturating_sub(self.cols());
        if missing > 0 && self.0.len() == 1 {
            return Panels(vec![self.0.remove(0).widened(cols)]);
        }
        if missing > 0 {
            self.0.push(Block::zeros(self.rows(), missing));
        }
        self
    }

    /// Divides each column by its norm; a zero column stays zero.
    pub fn normalize_columns(&mut self, norm: Norm) {
        self.0
            .iter_mut()
            .for_each(|panel| drop(panel.normalize_columns(norm)));
    }

    /// Multiplies column j by `factors[j]`, in f64.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        let mut rest = factors;
        for panel in &mut self.0 {
            let (own, others) = rest.split_at(panel.cols());
            panel.scale_columns(own);
            rest = others;
        }
    }

    /// Rewrites each row, in parallel.
    pub fn update_rows(&mut self, change: impl Fn(&mut [f32]) + Sync) {
        update_rows(&mut self.0, change);
    }
}

/// Rewrites each row of all panels together, in parallel.
pub fn update_rows(x: &mut [Block], change: impl Fn(&mut [f32]) + Sync) {
    let cols = width(x);
    change_rows(x, |_, values| {
        values.chunks_exact_mut(cols).for_each(&change);
    });
}

/// Some rows of all panels together, in the order given.
///
/// # Panics
/// When there is no such row.
pub fn pick<B: Borrow<Block>>(x: &[B], which: &[usize]) -> Block {
    let (panels, mut out) = (refs(x), Block::zeros(which.len(), width(x)));
    out.update_rows(|k, row| read(&panels, &(which[k]..which[k] + 1), row, |value| value));
    out
}

/// Number of columns of all panels.
pub fn width<B: Borrow<Block>>(x: &[B]) -> usize {
    x.iter().map(|panel| panel.borrow().cols()).sum()
}

/// Number of rows, the same for all panels.
///
/// # Panics
/// When it is not.
pub fn rows<B: Borrow<Block>>(x: &[B]) -> usize {
    let rows = x.first().map_or(0, |panel| panel.borrow().rows());
    assert!(
        x.iter().all(|panel| panel.borrow().rows() == rows),
        "panels of one matrix have the same rows"
    );
    rows
}

/// The panels, wherever they are kept: what follows is compiled once.
pub(super) fn refs<B: Borrow<Block>>(x: &[B]) -> Vec<&Block> {
    x.iter().map(Borrow::borrow).collect()
}

/// Writes rows `range` of all panels, row-major.
pub(super) fn read<T: Copy>(
    x: &[&Block],
    range: &Range<usize>,
    to: &mut [T],
    as_t: impl Fn(f32) -> T,
) {
    let (all, mut at) = (width(x), 0);
    let mut buffer = Vec::new();
    for panel in x {
        let cols = panel.cols();
        let from = panel.rows_anywhere(range.clone(), &mut buffer);
        for (to, from) in to
            .chunks_exact_mut(all.max(1))
            .zip(from.chunks_exact(cols.max(1)))
        {
            to[at..at + cols]
                .iter_mut()
                .zip(from)
                .for_each(|(to, &value)| *to = as_t(value));
        }
        at += cols;
    }
}

/// The Gram matrix XᵀX.
pub fn gram(x: &[Block]) -> Small {
    let mut sum = Small::zeros(width(x), width(x));
    gram_parts(x, &Own::all(rows(x)), |part| sum.add(&part));
    sum
}

/// XᵀY, for matrices with the same number of rows.
pub fn cross(x: &[Block], y: &[Block]) -> Small {
    let mut sum = Small::zeros(width(x), width(y));
    cross_parts(x, y, &Own::all(rows(x)), |part| sum.add(&part));
    sum
}

/// Partial sums of XᵀX, one for each lane that X has of a larger matrix; added in order, they are its Gram matrix.
pub fn gram_parts<B: Borrow<Block>>(x: &[B], own: &Own, add: impl FnMut(Small)) {
    let x = refs(x);
    assert_eq!(rows(&x), own.range.len(), "rows of a Gram matrix");
    let fill = |range, wide: &mut [f64]| read(&x, &range, wide, f64::from);
    lanes::gram_parts(own, width(&x), || fill, add);
}

/// Partial sums of XᵀY, one for each lane that X and Y have of larger matrices.
pub fn cross_parts<B: Borrow<Block>>(x: &[B], y: &[B], own: &Own, add: impl FnMut(Small)) {
    let (x, y) = (refs(x), refs(y));
    assert!(
        rows(&x) == own.range.len() && rows(&y) == own.range.len(),
        "rows of a cross product"
    );
    let fill = |range: Range<usize>, left: &mut [f64], right: &mut [f64]| {
        read(&x, &range, left, f64::from);
        read(&y, &range, right, f64::from);
    };
    lanes::cross_parts(own, width(&x), width(&y), || fill, add);
}

/// X·M in panels of the given widths, for a small matrix M.
pub fn times<B: Borrow<Block>>(x: &[B], matrix: &Small, widths: &[usize]) -> Vec<Block> {
    let mut out: Vec<Block> = widths
        .iter()
        .map(|&cols| Block::zeros(rows(x), cols))
        .collect();
    combine(&mut out, &refs(x), matrix, &narrow(matrix), Accum::Replace);
    out
}

/// Y ← Y − X·M for a small matrix M.
pub fn subtract_times<B: Borrow<Block>>(y: &mut [Block], x: &[B], matrix: &Small) {
    let mut factor = narrow(matrix);
    factor.iter_mut().for_each(|value| *value = -*value);
    combine(y, &refs(x), matrix, &factor, Accum::Add);
}

/// Y ← [Y] + X·M, given M as f32 too.
fn combine(y: &mut [Block], x: &[&Block], matrix: &Small, factor: &[f32], accum: Accum) {
    let (a, b) = (width(x), width(y));
    assert_eq!(
        (matrix.rows(), matrix.cols()),
        (a, b),
        "shapes of a product with a small matrix"
    );
    assert_eq!(rows(x), rows(y), "rows of a product with a small matrix");
    if a == 0 {
        return;
    }
    change_rows(y, |range, to| match x {
        [only] => {
            let mut buffer = Vec::new();
            let from = only.rows_anywhere(range, &mut buffer);
            times_chunk(from, factor, a, b, to, accum);
        }
        _ => {
            let mut from = vec![0.0; range.len() * a];
            read(x, &range, &mut from, |value| value);
            times_chunk(&from, factor, a, b, to, accum);
        }
    });
}

/// X ← X·M for a small square matrix M.
pub fn transform(x: &mut [Block], matrix: &Small) {
    let cols = width(x);
    assert!(
        matrix.rows() == cols && matrix.cols() == cols,
        "a transform keeps the width {cols}"
    );
    let factor = narrow(matrix);
    change_rows(x, |_, to| {
        let from = to.to_vec();
        times_chunk(&from, &factor, cols, cols, to, Accum::Replace);
    });
}

/// Rewrites chunks of rows of all panels together, in parallel: `change` gets the rows and their values, row-major.
fn change_rows(x: &mut [Block], change: impl Fn(Range<usize>, &mut [f32]) + Sync) {
    change_chunks(x, chunk_rows(width(x)), &change);
}

/// The same with chunks of `chunk` rows.
pub(super) fn change_chunks(
    x: &mut [Block],
    chunk: usize,
    change: &(dyn Fn(Range<usize>, &mut [f32]) + Sync),
) {
    let (rows, cols) = (rows(x), width(x));
    if rows * cols == 0 {
        return;
    }
    if let [only] = x {
        let change =
            |at: usize, part: &mut [f32]| change(at * chunk..at * chunk + part.len() / cols, part);
        return for_chunks(only.as_mut_slice(), chunk * cols, &change);
    }
    let widths: Vec<usize> = x.iter().map(Block::cols).filter(|&cols| cols > 0).collect();
    let mut pieces: Vec<Vec<&mut [f32]>> = (0..rows.div_ceil(chunk))
        .map(|_| Vec::with_capacity(x.len()))
        .collect();
    for panel in x.iter_mut().filter(|panel| panel.cols() > 0) {
        let length = chunk * panel.cols();
        panel
            .as_mut_slice()
            .chunks_mut(length)
            .zip(&mut pieces)
            .for_each(|(part, pieces)| pieces.push(part));
    }
    pieces
        .into_par_iter()
        .enumerate()
        .for_each_init(Vec::new, |wide, (at, mut parts)| {
            let range = at * chunk..((at + 1) * chunk).min(rows);
            wide.resize(range.len() * cols, 0.0);
            copy_rows(wide, &mut parts, &widths, |wide, part| {
                wide.copy_from_slice(part);
            });
            change(range, wide);
            copy_rows(wide, &mut parts, &widths, |wide, part| {
                part.copy_from_slice(wide);
            });
        });
}

/// Copies between rows of all panels, `wide`, and the panels' parts.
fn copy_rows(
    wide: &mut [f32],
    parts: &mut [&mut [f32]],
    widths: &[usize],
    copy: fn(&mut [f32], &mut [f32]),
) {
    let (all, mut at) = (widths.iter().sum(), 0);
    for (part, &cols) in parts.iter_mut().zip(widths) {
        let rows = wide.chunks_exact_mut(all).zip(part.chunks_exact_mut(cols));
        rows.for_each(|(wide, part)| copy(&mut wide[at..at + cols], part));
        at += cols;
    }
}

/// A block alone is one panel.
impl Block {
    /// The Gram matrix XᵀX.
    pub fn gram(&self) -> Small {
        gram(std::slice::from_ref(self))
    }

    /// XᵀY, for blocks with the same number of rows.
    pub fn cross(&self, other: &Block) -> Small {
        cross(std::slice::from_ref(self), std::slice::from_ref(other))
    }

    /// X·M for a small matrix M.
    pub fn times(&self, matrix: &Small) -> Block {
        times(std::slice::from_ref(self), matrix, &[matrix.cols()]).remove(0)
    }

    /// X ← X − Y·M for a small matrix M.
    pub fn subtract_times(&mut self, other: &Block, matrix: &Small) {
        let (x, y) = (std::slice::from_mut(self), std::slice::from_ref(other));
        subtract_times(x, y, matrix);
    }

    /// X ← X·M for a small square matrix M.
    pub fn transform(&mut self, matrix: &Small) {
        transform(std::slice::from_mut(self), matrix);
    }
}
