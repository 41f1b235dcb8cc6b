//! The residual of singular triplets: measured once, on the vectors that are returned, with products that are not rounded
//! to 16 bits.
//!
//! It is the largest ‖S v − σ u‖ or ‖Sᵀu − σ v‖ of all triplets, relative to their σ. Where V is not wanted it is not kept
//! either, and v may be chosen: the best has ‖S v − σ u‖² + ‖Sᵀu − σ v‖² = zᵀ (S Sᵀ + σ²)⁻¹ z for z = S Sᵀu − σ² u. Along the
//! vectors of U, S Sᵀ is Σ², and elsewhere it is at least 0: this is at most √2 too large if U is near singular vectors, and not
//! too small. The part of z outside U follows from Gram matrices in f64. Cost: two products with the columns of U, and O(N r²).

use std::ops::Range;

use crate::dense::Small;
use crate::error::Result;
use crate::factor::method::Task;
use crate::operator::{Operator, Product};
use crate::space::{Fold, Space, Workspace};
use crate::sparse::Fused;

/// The largest residual of all triplets whose σ is not zero; there is one for each column of U.
pub(in crate::factor) fn residual<S: Space>(
    space: &S,
    s: &Operator,
    u: &mut [S::Tall],
    sigma: &[f64],
    v: Option<&[S::Tall]>,
    task: &Task,
) -> Result<f64> {
    let mut measure = Measure {
        space,
        s,
        sigma,
        work: Workspace::default(),
    };
    match v {
        Some(v) => measure.of_both(u, v, task),
        None => measure.of_left(u, task),
    }
}

struct Measure<'a, S: Space> {
    space: &'a S,
    s: &'a Operator,
    sigma: &'a [f64],
    work: Workspace<S::Tall>,
}

impl<S: Space> Measure<'_, S> {
    fn of_both(&mut self, u: &[S::Tall], v: &[S::Tall], task: &Task) -> Result<f64> {
        let mut worst = 0.0f64;
        for ((u, v), own) in u.iter().zip(v).zip(self.columns(u)) {
            for (x, y, transpose) in [(v, u, false), (u, v, true)] {
                task.progress.check()?;
                let image = self.product(x, transpose);
                let lengths = self.apart(image, y, (own.clone(), 1)).1;
                worst = lengths
                    .into_iter()
                    .zip(&self.sigma[own.clone()])
                    .fold(worst, relative);
            }
        }
        Ok(worst)
    }

    /// If memory is short, U is in files meanwhile.
    fn of_left(&mut self, u: &mut [S::Tall], task: &Task) -> Result<f64> {
        let (space, gram) = (self.space, self.space.gram(u));
        if let Some(folder) = task.aside {
            u.iter_mut()
                .try_for_each(|panel| space.put_aside(panel, folder))?;
        }
        let mut worst = 0.0f64;
        for (at, own) in self.columns(u).into_iter().enumerate() {
            task.progress.check()?;
            let mut back = task.aside.map(|_| space.copy(&u[at]));
            back.iter_mut()
                .try_for_each(|panel| space.bring_back(panel))?;
            let x = back.as_ref().unwrap_or(&u[at]);
            let inner = self.product(x, true);
            let z = self.product(&inner, false);
            self.work.give(inner);
            let (z, lengths) = self.apart(z, x, (own.clone(), 2));
            let along = space.cross(u, std::slice::from_ref(&z));
            self.work.give(z);
            let around = gram.times(&along);
            let best = |(at, length): (usize, f64)| {
                self.length(&along, &around, (at, length, self.sigma[own.start + at]))
            };
            let lengths = lengths.into_iter().enumerate().map(best);
            worst = lengths.zip(&self.sigma[own.clone()]).fold(worst, relative);
        }
        u.iter_mut().try_for_each(|panel| space.bring_back(panel))?;
        Ok(worst)
    }

    /// √(zᵀ (S Sᵀ + σ²)⁻¹ z) for column `at` of z, given Uᵀz and UᵀU Uᵀz.
    fn length(&self, along: &Small, around: &Small, (at, length, sigma): (usize, f64, f64)) -> f64 {
        let (mut outside, mut inside) = (length * length, 0.0);
        for (i, own) in self.sigma.iter().enumerate().filter(|(_, own)| **own > 0.0) {
            let part = along.get(i, at);
            outside += part * (around.get(i, at) - 2.0 * part);
            inside += part * part / (own * own + sigma * sigma);
        }
        (outside.max(0.0) / (sigma * sigma) + inside).sqrt()
    }

    /// The columns of each panel.
    fn columns(&self, x: &[S::Tall]) -> Vec<Range<usize>> {
        let mut first = 0;
        let own = |panel: &S::Tall| {
            let own = first..first + self.space.shape(panel).1;
            first = own.end;
            own
        };
        x.iter().map(own).collect()
    }

    /// S x or Sᵀx.
    fn product(&mut self, x: &S::Tall, transpose: bool) -> S::Tall {
        let (space, s) = (self.space, self.s);
        let rows = if transpose { s.cols() } else { s.rows() };
        let mut y = self.work.take(space, rows, space.shape(x).1);
        s.product(
            transpose && !s.is_symmetric(),
            Product {
                space,
                x,
                y: &mut y,
                then: Fused::default(),
                work: &mut self.work,
            },
        );
        y
    }

    /// Y − X diag(σ^power), and the lengths of its columns.
    fn apart(
        &self,
        mut y: S::Tall,
        x: &S::Tall,
        (own, power): (Range<usize>, i32),
    ) -> (S::Tall, Vec<f64>) {
        let sigma = &self.sigma[own];
        let scale = Small::from_fn(sigma.len(), sigma.len(), |i, j| match i == j {
            true => sigma[i].powi(power),
            false => 0.0,
        });
        let (to, from) = (std::slice::from_mut(&mut y), std::slice::from_ref(x));
        self.space.add_times(to, from, &scale, -1.0);
        let lengths = self.space.fold(std::slice::from_ref(&y), Fold::Length);
        (y, lengths)
    }
}

/// The larger of two residuals, the second of them relative to σ.
fn relative(worst: f64, (length, &sigma): (f64, &f64)) -> f64 {
    if sigma > 0.0 {
        worst.max(length / sigma)
    } else {
        worst
    }
}
