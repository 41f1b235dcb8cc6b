//! The leading right singular space of an operator: restarted block Krylov, or power iteration.
//!
//! If many products are affordable, a basis of several blocks is kept and restarted: one basis for a symmetric S
//! (`lanczos`), one on each side for any other (`bidiagonal`). For only a few products a basis does not pay off. With A =
//! SᵀS, or S itself when S is symmetric, V = orth(A V) is then iterated (Halko, Martinsson, Tropp 2011), and a
//! Chebyshev polynomial of a symmetric S may follow: small for eigenvalues below those of V, steep beyond (Zhou, Saad
//! 2007). Wide blocks are lists of panels ([`panels`]). Power iterations, the filter and the last product go panel by
//! panel, in place: they hold one block and two panels or, if memory is short, only two panels and the others in files.
//! The residuals of a basis are estimates, which only end the iterations. Cost: an application of A (2 products, 1 if
//! symmetric) and O(N b² blocks) each iteration.

mod basis;
mod bidiagonal;
mod lanczos;
mod ritz;
mod squared;

use self::basis::Basis;
use self::ritz::{Ritz, Until};
use self::squared::Squared;
use super::method::{Info, Task};
use super::svd_options::{NOISE, Svd};
use crate::dense::orthonormalize;
use crate::error::Result;
use crate::operator::{Operator, Product};
use crate::space::{Fold, In, Map, Space, Workspace, panels};
use crate::sparse::{Fused, Rounded};

/// Blocks in the basis before it is restarted.
pub(super) const DEPTH: usize = 4;

/// From this many iterations on, a basis is kept.
pub(super) const MANY: usize = 2 * DEPTH;

/// Maximum value of a Chebyshev polynomial: far from the limits of f32.
const LARGEST: f64 = 1e16;

/// The fraction of the tolerance at which iterations with a basis stop, so that measured residuals mostly meet it too.
const MARGIN: f64 = 0.7;

/// Blocks of more bytes do not fit into caches: power iterations round the values that their products gather
/// (see [`Rounded`]). Filters do not: they would amplify early errors.
const LARGE: usize = 1 << 24;

/// Whether that pays off for a block.
fn rounds(rows: usize, cols: usize) -> bool {
    rows * cols * size_of::<f32>() > LARGE && Rounded::words(cols) < cols
}

/// An iteration in some space; blocks are lists of panels.
pub(super) struct Subspace<'a, S: Space> {
    a: Squared<'a, S>,
    task: &'a Task<'a>,
    width: usize,
    /// The initial directions.
    start: Vec<S::Tall>,
    /// Whether power iterations round the values that their products gather.
    rounds: bool,
}

/// S V, and V if requested.
pub(super) struct Image<T> {
    pub(super) v: Option<Vec<T>>,
    pub(super) y: Vec<T>,
}

impl<'a, S: Space> Subspace<'a, S> {
    /// Begins with `width` random directions.
    pub(super) fn new(space: &'a S, s: &'a Operator, task: &'a Task<'a>, width: usize) -> Self {
        let key = task.key.with("sketch", 0);
        let start = panels(width)
            .into_iter()
            .map(|range| space.random(s.cols(), range, key))
            .collect();
        let a = Squared {
            space,
            s,
            symmetric: s.is_symmetric(),
            work: Workspace::default(),
        };
        let rounds = rounds(s.cols(), width);
        Subspace {
            a,
            task,
            width,
            start,
            rounds,
        }
    }

    /// Orthonormal columns that span the space after at most `limit` applications of A.
    pub(super) fn run(
        &mut self,
        limit: usize,
        options: &Svd,
        info: &mut Info,
    ) -> Result<Vec<S::Tall>> {
        let room = self.a.s.cols().min(self.a.s.rows()) / self.width.max(1);
        if limit >= MANY && room > 1 {
            let start = std::mem::take(&mut self.start);
            let until = Until {
                limit,
                depth: room.min(DEPTH),
                tolerance: MARGIN * options.tolerance,
            };
            return match self.a.symmetric {
                true => lanczos::run(&mut self.a, start, self.task, &until, info),
                false => bidiagonal::run(&mut self.a, start, self.task, &until, info),
            };
        }
        if self.a.symmetric && options.filter > 0 {
            return self.filtered(limit.max(1), options.filter, info);
        }
        self.power(limit, info)
    }

    /// S V. If V is no longer needed, each panel of the product replaces its panel of V.
    pub(super) fn image(mut self, mut v: Vec<S::Tall>) -> Result<Image<S::Tall>> {
        if !self.task.right && self.a.s.rows() == self.a.s.cols() {
            let progress = self.task.progress;
            self.a.one_by_one(&mut v, self.task, |a, panel| {
                progress.check()?;
                let image = a.product(panel, false);
                a.work.give(std::mem::replace(panel, image));
                Ok(())
            })?;
            return Ok(Image { v: None, y: v });
        }
        let y: Vec<S::Tall> = v.iter().map(|panel| self.a.product(panel, false)).collect();
        Ok(Image { v: Some(v), y })
    }

    /// V ← orth(A V). Random directions are nearly orthogonal: only the last product needs more.
    fn power(&mut self, limit: usize, info: &mut Info) -> Result<Vec<S::Tall>> {
        let mut v = std::mem::take(&mut self.start);
        if limit < 2 {
            self.orthonormal(&mut v);
        }
        self.a.work.rounds = self.rounds;
        while info.iterations < limit {
            info.iterations += 1;
            self.a.iterate(&mut v, self.task)?;
            self.orthonormalize(&mut v, info.iterations);
        }
        self.a.work.rounds = false;
        Ok(v)
    }

    /// Power iterations, one more, and V ← orth(T_m(S/c) V), c being the smallest singular value of S V before the last
    /// of them: |T_m| ≤ 1 up to c and grows fast beyond. V is rotated to singular vectors first, so that each column
    /// grows by its own factor and none is lost in rounding.
    fn filtered(&mut self, limit: usize, degree: usize, info: &mut Info) -> Result<Vec<S::Tall>> {
        let mut v = self.power(limit, info)?;
        self.a.work.rounds = self.rounds;
        self.a.iterate(&mut v, self.task)?;
        self.a.work.rounds = false;
        info.iterations += 1;
        let squares = Ritz::of(&self.a.space.gram(&v), self.width)?;
        let [most, least] = [squares.values.first(), squares.values.last()]
            .map(|value| value.map_or(0.0, |value| value.abs().sqrt()));
        if least <= NOISE * most {
            self.orthonormalize(&mut v, info.iterations);
            return Ok(v);
        }
        let mut rotation = squares.vectors.clone();
        rotation.scale_columns(
            &squares
                .values
                .iter()
                .map(|value| 1.0 / value.abs().sqrt())
                .collect::<Vec<_>>(),
        );
        self.a.space.transform(&mut v, &rotation);
        self.orthonormalize(&mut v, info.iterations);
        // The filter does not need the buffers of power iterations.
        self.a.work.clear();
        let degree = (LARGEST.ln() / (most / least).acosh()).clamp(1.0, degree as f64) as usize;
        let task = self.task;
        self.a.one_by_one(&mut v, task, |a, panel| {
            chebyshev(a, panel, (degree, least), task)
        })?;
        info.iterations += degree;
        let lengths = self.a.space.fold(&v, Fold::Length);
        let factors: Vec<f64> = lengths
            .iter()
            .map(|&n| if n > 0.0 { 1.0 / n } else { 0.0 })
            .collect();
        self.a.space.map(&mut v, &Map::Scale(&factors));
        self.orthonormalize(&mut v, info.iterations);
        Ok(v)
    }

    fn orthonormal(&self, x: &mut [S::Tall]) {
        orthonormalize(&mut In {
            space: self.a.space,
            panels: x,
        });
    }

    /// Makes columns orthonormal; lost ones are drawn again, once.
    fn orthonormalize(&self, x: &mut [S::Tall], round: usize) {
        Basis::new(self.a.space, self.task.key).orthonormalize(x, round);
    }
}

/// X ← T_m(S/c) X for m = `degree`.
fn chebyshev<S: Space>(
    a: &mut Squared<'_, S>,
    x: &mut S::Tall,
    (degree, c): (usize, f64),
    task: &Task,
) -> Result<()> {
    let (rows, cols) = a.space.shape(x);
    let (space, s, work) = (a.space, a.s, &mut a.work);
    let mut last = work.take(space, rows, cols);
    let then = Fused {
        scale: (1.0 / c) as f32,
        ..Fused::default()
    };
    s.product(
        false,
        Product {
            space,
            x,
            y: &mut last,
            then,
            work,
        },
    );
    let before = x;
    for step in 1..degree {
        task.progress.check()?;
        // T_{m+1} = 2/c S T_m − T_{m−1} with signs + + − − + + …, so that the product can be added in place.
        let twice = (2.0 / c) as f32;
        let scale = if step % 2 == 1 { -twice } else { twice };
        let then = Fused {
            scale,
            accumulate: true,
            ..Fused::default()
        };
        s.product(
            false,
            Product {
                space,
                x: &last,
                y: before,
                then,
                work,
            },
        );
        std::mem::swap(before, &mut last);
    }
    std::mem::swap(before, &mut last);
    work.give(last);
    Ok(())
}

#[cfg(test)]
mod tests;
