//! Leading right singular vectors of an operator: block Golub–Kahan bidiagonalisation with thick restart.
//!
//! Two bases of orthonormal blocks grow in turn: P by (I − P Pᵀ) S Q_last, then Q by F = (I − Q Qᵀ) Sᵀ P_last. S Q = P B for
//! the small B = Pᵀ S Q. Its singular triplets (E, σ, G) give U = P E and V = Q G with S V = U diag(σ) and
//! Sᵀ U = V diag(σ) + F E_last: residuals cost nothing. Full bases are restarted as U and [V, orth(F)]
//! (Golub, Luk, Overton 1981; Baglama, Reichel 2005).
//! SᵀS is never formed: its rounding would be relative to σ₁², and singular values below 10⁻³ σ₁ would be lost in f32.
//! Cost: two products and O(N b² blocks) each iteration; the memory of two bases.

use super::basis::{Basis, largest};
use super::ritz::{Until, lengths, worst};
use super::squared::Squared;
use crate::dense::Small;
use crate::error::Result;
use crate::factor::method::{Info, Task};
use crate::space::Space;

/// Orthonormal columns that span the leading right space.
pub(super) fn run<'a, S: Space>(
    a: &mut Squared<'a, S>,
    start: Vec<S::Tall>,
    task: &Task,
    until: &Until,
    info: &mut Info,
) -> Result<Vec<S::Tall>> {
    let [left, right] = [("left", 1), ("right", 0)].map(|(side, index)| task.key.with(side, index));
    let (mut p, mut q) = (Basis::new(a.space, left), Basis::new(a.space, right));
    q.grow(start, 0.0, 0);
    let width = q.panels.iter().map(|panel| a.space.shape(panel).1).sum();
    let mut b = Small::zeros(0, 0);
    loop {
        task.progress.check()?;
        info.iterations += 1;
        let outside = extend(a, &mut p, &q, &mut b, width, info.iterations);
        let last = info.iterations == until.limit;
        if last || b.rows() >= until.depth * width {
            let triplets = b.svd()?;
            let tail = Small::from_fn(width, width, |i, j| triplets.u.get(b.rows() - width + i, j));
            let residuals = lengths(&a.space.gram(&outside), &tail);
            let done = worst(&residuals, &triplets.sigma, task.rank) <= until.tolerance;
            q.restart(&triplets.v.columns(width), &mut a.work);
            if done || last {
                let mut leading = q.panels;
                Basis::new(a.space, right).orthonormalize(&mut leading, info.iterations);
                return Ok(leading);
            }
            p.restart(&triplets.u.columns(width), &mut a.work);
            b = Small::from_fn(
                width,
                width,
                |i, j| if i == j { triplets.sigma[i] } else { 0.0 },
            );
        }
        q.grow(outside, largest(&b), info.iterations);
    }
}

/// Multiplies the last block of Q, extends P and B by the result, and returns the part of Sᵀ P_last outside Q.
fn extend<S: Space>(
    a: &mut Squared<'_, S>,
    p: &mut Basis<'_, S>,
    q: &Basis<'_, S>,
    b: &mut Small,
    width: usize,
    round: usize,
) -> Vec<S::Tall> {
    let mut image: Vec<S::Tall> = q
        .last(width)
        .iter()
        .map(|panel| a.product(panel, false))
        .collect();
    let above = p.project(&mut image);
    p.grow(image, largest(b).max(largest(&above)), round);
    let mut outside: Vec<S::Tall> = p
        .last(width)
        .iter()
        .map(|panel| a.product(panel, true))
        .collect();
    let below = q.project(&mut outside);
    let known = b.rows();
    *b = Small::from_fn(known + width, known + width, |i, j| {
        match (i < known, j < known) {
            (true, true) => b.get(i, j),
            (true, false) => above.get(i, j - known),
            (false, _) => below.get(j, i - known),
        }
    });
    outside
}
