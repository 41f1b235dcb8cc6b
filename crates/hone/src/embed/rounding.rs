//! Rows that are nothing but rounding errors: a node outside all leading directions has zeros in exact arithmetic, and
//! in floats the residue of sums that cancel. Its direction is random, and should not be compared.
//!
//! A part of a row of Y is rounding if it is shorter than [`FLOOR`] times a typical row of its block: factors are f32,
//! and their small entries are differences of large ones. A row of Z = Y H, H orthonormal, is rounding if it is shorter
//! than [`LOST`] times its row of Y. Such rows are written as zeros, and counted in a warning (`notes::zero_rows`).
//! Other rows that are far shorter than the typical one may belong to nodes far from the core, or be left by iterations
//! that end at a residual of 10⁻⁴: they stay, and a note counts them. Cost: one pass over Z, and one over those pieces
//! of Y that have rows far shorter than others.

use super::context::Context;
use crate::config::Config;
use crate::dense::{Block, Columns, Group};
use crate::factor::Solver;
use crate::parallel;

/// A part of Y below this fraction of a typical row is rounding.
const FLOOR: f64 = 1e-5;
/// A row of Z below this fraction of its row of Y is rounding.
const LOST: f64 = 1e-5;
/// Rows of Z below this fraction of a typical row are short.
const SHORT: f64 = 1e-3;
/// The same if rows were divided by a power of their lengths, at most.
const SHORTEST: f64 = 0.03;

/// The smallest row length of each block of Y that is more than rounding.
pub(super) struct Floors {
    /// Width and smallest length of each block.
    blocks: Vec<(usize, f64)>,
}

impl Floors {
    /// Those of `y`, whose first `locals` blocks are factors.
    pub(super) fn of(run: &Context, y: &Columns, locals: usize) -> Floors {
        let share = match run.config.local.solver {
            Solver::Svd(_) => shortened(FLOOR, run.config).unwrap_or(0.0),
            _ => 0.0,
        };
        let typical = |energy: f64| (energy / run.own.rows.max(1) as f64).sqrt();
        let least = |(number, group): (usize, &Group)| {
            let floor = match number < locals {
                true => share * typical(group.energy()),
                false => 0.0,
            };
            (group.cols(), floor)
        };
        Floors {
            blocks: y.groups().iter().enumerate().map(least).collect(),
        }
    }

    /// The length of what is more than rounding in a row of Y.
    pub(super) fn length(&self, row: &[f32]) -> f64 {
        let (mut rest, mut sum) = (row, 0.0);
        for &(width, least) in &self.blocks {
            let (part, others) = rest.split_at(width);
            rest = others;
            let squared = squared(part);
            if squared > least * least {
                sum += squared;
            }
        }
        sum.sqrt()
    }
}

/// Sets rows of Z that are nothing but rounding to zero; returns the number of other short ones.
pub(super) fn clear(run: &Context, y: &Columns, floors: &Floors, z: &mut Block) -> u64 {
    if !matches!(run.config.global.solver, Solver::Svd(_)) {
        return 0;
    }
    let sigma = run
        .report
        .global
        .as_ref()
        .map_or(&[][..], |facts| &facts.singular_values);
    let typical =
        (sigma.iter().map(|sigma| sigma * sigma).sum::<f64>() / run.own.rows.max(1) as f64).sqrt();
    let least = shortened(SHORT, run.config).map_or(SHORT, |share| share.min(SHORTEST)) * typical;
    let length = |i: usize| squared(z.row(i)).sqrt();
    let short = |i: usize| ((0.0..least).contains(&length(i)) && length(i) > 0.0).then_some(i);
    let short: Vec<usize> = parallel::collect_some(z.rows(), short);
    let nothing = y.map_rows(&short, |i, row| {
        let solid = floors.length(row);
        solid == 0.0 || length(i) < LOST * solid
    });
    let mut left = [nothing.iter().filter(|nothing| !**nothing).count() as u64];
    short
        .iter()
        .zip(nothing)
        .filter(|(_, nothing)| *nothing)
        .for_each(|(&i, _)| z.row_mut(i).fill(0.0));
    run.engine.totals(&mut left);
    left[0]
}

/// A fraction of a length after rows were divided by a power of their lengths; none if that makes most lengths alike.
fn shortened(share: f64, config: &Config) -> Option<f64> {
    let left = 1.0 - config.local.row_power;
    (left >= 0.25).then(|| share.powf(left))
}

fn squared(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x) * f64::from(x)).sum()
}
