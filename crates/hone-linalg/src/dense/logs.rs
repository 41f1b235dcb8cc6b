//! [`Logs`]: logarithms of inner products of all rows with a few landmarks, computed when they are needed and never stored.
//!
//! Entry (i, j) of L is ln max(1, rᵢ uᵢ·lⱼ) sⱼ for row uᵢ of a tall matrix U and landmark lⱼ. Rows are computed
//! [`TOGETHER`] at a time, always the same ones, so that the bits depend neither on threads nor on who holds which rows: whole lanes
//! begin at multiples of it. Cost: a row of L takes one multiply-add per landmark and column of U.

use std::borrow::Borrow;
use std::ops::Range;

use faer::Accum;

use super::lanes::{self, Own, narrow, times_chunk};
use super::panels::{change_chunks, read, refs, rows, width};
use super::{Block, Small};

/// Rows that are computed at a time: those of a lane are a multiple of it.
const TOGETHER: usize = 64;

/// Columns of L: landmarks, and what the columns are multiplied with.
#[derive(Debug, Clone, Copy)]
pub struct Logs<'a> {
    /// One row per landmark, with as many columns as U.
    pub landmarks: &'a Block,
    /// One factor per landmark.
    pub scales: &'a [f32],
}

impl Logs<'_> {
    /// L·M in panels of the given widths, for the rows of `u` and their factors r.
    ///
    /// # Panics
    /// When shapes do not match.
    pub fn times<B: Borrow<Block>>(
        &self,
        u: &[B],
        roots: &[f32],
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Block> {
        let zeros = |&cols: &usize| Block::zeros(rows(u), cols);
        let mut out: Vec<Block> = widths.iter().map(zeros).collect();
        let (u, count, b) = (refs(u), self.scales.len(), width(&out));
        assert_eq!(
            (matrix.rows(), matrix.cols()),
            (count, b),
            "shapes of a product with logarithms"
        );
        if count == 0 {
            return out;
        }
        let factor = narrow(matrix);
        change_chunks(&mut out, TOGETHER, &|range, to| {
            let mut logs = vec![0.0; range.len() * count];
            self.fill(&u, roots, &range, &mut logs);
            times_chunk(&logs, &factor, count, b, to, Accum::Replace);
        });
        out
    }

    /// LᵀL for the rows of `u` and their factors r.
    ///
    /// # Panics
    /// When shapes do not match.
    pub fn gram(&self, u: &Block, roots: &[f32]) -> Small {
        let (count, own) = (self.scales.len(), Own::all(u.rows()));
        let mut sum = Small::zeros(count, count);
        let start = || {
            let mut logs = Vec::new();
            move |range: Range<usize>, wide: &mut [f64]| {
                logs.resize(range.len() * count, 0.0);
                self.fill(&[u], roots, &range, &mut logs);
                wide.iter_mut()
                    .zip(&logs)
                    .for_each(|(to, &from)| *to = f64::from(from));
            }
        };
        lanes::gram_parts(&own, count, start, |part| sum.add(&part));
        sum
    }

    /// Some rows of L.
    fn fill(&self, u: &[&Block], roots: &[f32], range: &Range<usize>, to: &mut [f32]) {
        let cols = width(u);
        assert_eq!(
            (roots.len(), self.landmarks.cols()),
            (rows(u), cols),
            "factors of rows, columns of landmarks"
        );
        let mut own = vec![0.0; range.len() * cols];
        read(u, range, &mut own, |value| value);
        lanes::dots(&own, self.landmarks.as_slice(), cols, to);
        for (row, &root) in to
            .chunks_exact_mut(self.scales.len())
            .zip(&roots[range.clone()])
        {
            row.iter_mut()
                .zip(self.scales)
                .for_each(|(x, scale)| *x = log_above_one(*x * root) * scale);
        }
    }
}

/// ln(max(1, x)) to seven digits, by the exponent and a series of the rest: without a branch, so that loops over it use
/// vector instructions.
pub fn log_above_one(x: f32) -> f32 {
    let x = if x > 1.0 { x } else { 1.0 };
    let bits = x.to_bits();
    // x = m · 2^e with m in [√½, √2).
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let exponent = (shifted as i32 >> 23) as f32;
    let m = f32::from_bits((shifted & 0x007f_ffff) + 0x3f35_04f3);
    // ln m = 2 (t + t³/3 + t⁵/5 + …), t = (m − 1)/(m + 1).
    let t = (m - 1.0) / (m + 1.0);
    let t2 = t * t;
    let series = 2.0 + t2 * (2.0 / 3.0 + t2 * (2.0 / 5.0 + t2 * (2.0 / 7.0 + t2 * (2.0 / 9.0))));
    exponent * std::f32::consts::LN_2 + t * series
}
