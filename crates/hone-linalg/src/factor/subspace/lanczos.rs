//! Leading eigenvectors of a symmetric operator by magnitude: block Lanczos with thick restart.
//!
//! A basis Q of orthonormal blocks grows by F = (I − Q Qᵀ) S Q_last, and H = Qᵀ S Q is small. Its leading eigenvectors E give
//! Ritz vectors X = Q E with S X = X Λ + F E_last: their residuals cost nothing. When the basis is full it is restarted as
//! [X, orth(F)], which keeps the Krylov structure without wasting a product (Wu, Simon 2000; Musco, Musco 2015).
//! Cost: one product and O(N b² blocks) each iteration.

use super::basis::{Basis, largest};
use super::ritz::{Ritz, Until};
use super::squared::Squared;
use crate::dense::Small;
use crate::error::Result;
use crate::factor::method::{Info, Task};
use crate::space::Space;

/// Orthonormal columns that span the leading space.
pub(super) fn run<'a, S: Space>(
    a: &mut Squared<'a, S>,
    start: Vec<S::Tall>,
    task: &Task,
    until: &Until,
    info: &mut Info,
) -> Result<Vec<S::Tall>> {
    let mut basis = Basis::new(a.space, task.key);
    basis.grow(start, 0.0, 0);
    let width = basis
        .panels
        .iter()
        .map(|panel| a.space.shape(panel).1)
        .sum();
    let mut h = Small::zeros(0, 0);
    loop {
        task.progress.check()?;
        let (grown, outside) = extend(a, &basis, &h, width);
        h = grown;
        info.iterations += 1;
        let last = info.iterations == until.limit;
        if last || h.rows() >= until.depth * width {
            let ritz = Ritz::of(&h, width)?;
            let done = ritz.worst(&a.space.gram(&outside), task.rank) <= until.tolerance;
            basis.restart(&ritz.vectors, &mut a.work);
            if done || last {
                let mut leading = basis.panels;
                Basis::new(a.space, task.key).orthonormalize(&mut leading, info.iterations);
                return Ok(leading);
            }
            h = Small::from_fn(
                width,
                width,
                |i, j| if i == j { ritz.values[i] } else { 0.0 },
            );
        }
        basis.grow(outside, largest(&h), info.iterations);
    }
}

/// Multiplies the last block, extends H by it, and returns the part outside the basis.
fn extend<S: Space>(
    a: &mut Squared<'_, S>,
    basis: &Basis<'_, S>,
    h: &Small,
    width: usize,
) -> (Small, Vec<S::Tall>) {
    let mut outside: Vec<S::Tall> = basis
        .last(width)
        .iter()
        .map(|panel| a.times(panel))
        .collect();
    let part = basis.project(&mut outside);
    let known = h.rows();
    let grown = Small::from_fn(known + width, known + width, |i, j| {
        match (i < known, j < known) {
            (true, true) => h.get(i, j),
            (_, false) => part.get(i, j - known),
            (false, true) => part.get(j, i - known),
        }
    });
    (grown, outside)
}
