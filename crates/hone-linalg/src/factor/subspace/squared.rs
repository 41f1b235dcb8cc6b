//! A = SᵀS, or S itself when S is symmetric: its products, with the blocks that they need.

use crate::error::Result;
use crate::factor::method::Task;
use crate::operator::{Operator, Product};
use crate::space::{Space, Workspace};
use crate::sparse::Fused;

/// A, and the blocks its products need.
pub(super) struct Squared<'a, S: Space> {
    pub(super) space: &'a S,
    pub(super) s: &'a Operator,
    pub(super) symmetric: bool,
    pub(super) work: Workspace<S::Tall>,
}

impl<S: Space> Squared<'_, S> {
    /// S x, or Sᵀ x.
    pub(super) fn product(&mut self, x: &S::Tall, transpose: bool) -> S::Tall {
        let (space, cols) = (self.space, self.space.shape(x).1);
        let rows = if transpose {
            self.s.cols()
        } else {
            self.s.rows()
        };
        let mut y = self.work.take(space, rows, cols);
        let transpose = transpose && !self.symmetric;
        self.s.product(
            transpose,
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

    /// A x.
    pub(super) fn times(&mut self, x: &S::Tall) -> S::Tall {
        let y = self.product(x, false);
        if self.symmetric {
            return y;
        }
        let z = self.product(&y, true);
        self.work.give(y);
        z
    }

    /// X ← A X, panel by panel.
    pub(super) fn iterate(&mut self, x: &mut [S::Tall], task: &Task) -> Result<()> {
        self.one_by_one(x, task, |a, panel| {
            task.progress.check()?;
            let image = a.times(panel);
            a.work.give(std::mem::replace(panel, image));
            Ok(())
        })
    }

    /// Changes one panel after the other. If memory is short, the others are in files meanwhile, and no buffers are
    /// kept for later products.
    pub(super) fn one_by_one(
        &mut self,
        x: &mut [S::Tall],
        task: &Task,
        mut change: impl FnMut(&mut Self, &mut S::Tall) -> Result<()>,
    ) -> Result<()> {
        let Some(folder) = task.aside else {
            return x.iter_mut().try_for_each(|panel| change(self, panel));
        };
        let (space, last) = (self.space, x.len().saturating_sub(1));
        x.iter_mut()
            .skip(1)
            .try_for_each(|panel| space.put_aside(panel, folder))?;
        for (at, panel) in x.iter_mut().enumerate() {
            space.bring_back(panel)?;
            change(self, panel)?;
            if at < last {
                space.put_aside(panel, folder)?;
            }
        }
        self.work.clear();
        x.iter_mut().try_for_each(|panel| space.bring_back(panel))
    }
}
