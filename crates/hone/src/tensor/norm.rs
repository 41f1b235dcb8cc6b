//! The size of a slice, and what it is multiplied with so that none drowns the others.
//!
//! The Frobenius norm is exact where entries can be read off (one step), and, by products with all unit
//! vectors, for small matrices. Otherwise ‖S‖² = ‖SQ‖² + ‖S(I − QQᵀ)‖², Q spanning the leading directions:
//! the first term is exact, the second the mean of ‖S g‖² over random signs (Hutch++: Meyer et al. 2021).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Slice, SliceNorm};
use crate::dense::{Block, Norm, orthonormalize};
use crate::error::{Error, Result};
use crate::factor::Task;
use crate::factor::svd::{Svd, svd};
use crate::operator::Operator;
use crate::random::Key;

/// What slices are brought to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Frobenius norm 1: every motif and step has the same part in the loss.
    #[default]
    Frobenius,
    /// Largest singular value 1: slices of many equal directions weigh more than those of few.
    Spectral,
    /// As they are: frequent motifs dominate where the matrix is not normalised.
    None,
}

/// Up to this many nodes the norm is taken from products with all unit vectors.
const SMALL: usize = 1024;
/// Columns of a product with unit vectors.
const UNITS: usize = 64;
/// Directions that are measured exactly.
const DIRECTIONS: usize = 16;
/// Random signs that measure the rest.
const SIGNS: usize = 48;
/// Rows whose squares are summed before they are added to the others.
const ROWS: usize = 1 << 12;

/// Measures a slice.
pub(super) fn measure(slice: &Slice, scaling: Scaling, task: &Task) -> Result<SliceNorm> {
    let (energy, exact) = energy(&slice.operator, task.key);
    let frobenius = energy.sqrt();
    let size = match scaling {
        _ if energy == 0.0 => 0.0,
        Scaling::Frobenius => frobenius,
        Scaling::Spectral => svd(&slice.operator, &Svd::default(), &Task { rank: 1, right: false, ..*task })?.sigma[0],
        Scaling::None => slice.scale,
    };
    let (inverse, frobenius) = (if size == 0.0 { 0.0 } else { 1.0 / size }, frobenius / slice.scale);
    let factor = inverse * slice.scale;
    let in_range = (inverse as f32).is_finite() && (size == 0.0 || (inverse as f32 > 0.0 && factor > 0.0));
    if frobenius.is_finite() && factor.is_finite() && in_range {
        return Ok(SliceNorm { frobenius, exact, factor });
    }
    let message = format!("its norm, {frobenius:e}, leaves the range of numbers; use fewer steps or bounded weights");
    Err(Error::Numeric { stage: format!("joint embedding, {}", slice.name), message })
}

/// ‖S‖² and whether it is exact.
fn energy(s: &Operator, key: Key) -> (f64, bool) {
    if readable(s) {
        (by_entries(s), true)
    } else if s.cols() <= SMALL {
        (by_units(s), true)
    } else {
        (by_signs(s, key), false)
    }
}

/// Whether the entries of a row follow from those of a sparse matrix.
fn readable(s: &Operator) -> bool {
    match s {
        Operator::Sparse(_) => true,
        Operator::Scaled(scaled) => readable(&scaled.inner),
        _ => false,
    }
}

/// The nonzeros of a row of a readable matrix.
fn read_row(s: &Operator, i: usize, to: &mut Vec<(usize, f64)>) {
    match s {
        Operator::Sparse(leaf) => {
            let (columns, values) = leaf.matrix().row(i);
            to.clear();
            to.extend(columns.iter().zip(values).map(|(&j, &x)| (j as usize, f64::from(x))));
        }
        Operator::Scaled(scaled) => {
            read_row(&scaled.inner, i, to);
            let at = |diagonal: &Option<crate::operator::Diagonal>, i: usize| {
                diagonal.as_ref().map_or(1.0, |diagonal| f64::from(diagonal.values()[i]))
            };
            let left = scaled.scale * at(&scaled.left, i);
            to.iter_mut().for_each(|(j, x)| *x *= left * at(&scaled.right, *j));
            if scaled.shift.is_some() {
                match to.iter_mut().find(|(j, _)| *j == i) {
                    Some((_, x)) => *x += at(&scaled.shift, i),
                    None => to.push((i, at(&scaled.shift, i))),
                }
            }
        }
        other => unreachable!("{} has no rows to read", other.formula()),
    }
}

fn by_entries(s: &Operator) -> f64 {
    let chunk = |chunk: usize| -> f64 {
        let mut row = Vec::new();
        let squares = |i: usize| -> f64 {
            read_row(s, i, &mut row);
            row.iter().map(|(_, x)| x * x).sum()
        };
        (chunk * ROWS..((chunk + 1) * ROWS).min(s.rows())).map(squares).sum()
    };
    let sums: Vec<f64> = (0..s.rows().div_ceil(ROWS)).into_par_iter().map(chunk).collect();
    sums.iter().sum()
}

fn by_units(s: &Operator) -> f64 {
    let block = |start: usize| {
        let mut units = Block::zeros(s.cols(), UNITS.min(s.cols() - start));
        (0..units.cols()).for_each(|j| units.row_mut(start + j)[j] = 1.0);
        squares(&s.apply(&units))
    };
    (0..s.cols()).step_by(UNITS).map(block).sum()
}

fn by_signs(s: &Operator, key: Key) -> f64 {
    let mut q = s.apply_transposed(&s.apply(&Block::random(s.cols(), DIRECTIONS, key.with("directions", 0))));
    orthonormalize(&mut q);
    let mut signs = Block::random(s.cols(), SIGNS, key.with("signs", 0));
    signs.update_rows(|_, row| row.iter_mut().for_each(|x| *x = x.signum()));
    let along = q.cross(&signs);
    signs.add_times(&q, &along, -1.0);
    squares(&s.apply(&q)) + squares(&s.apply(&signs)) / SIGNS as f64
}

fn squares(block: &Block) -> f64 {
    block.column_norms(Norm::L2).iter().map(|norm| norm * norm).sum()
}
