//! [`Local`]: what an engine makes of a motif matrix for Y (sec. 2.4), and [`Window`], the log window that may stand beside it.

use crate::dense::{Group, Panels};
use crate::error::Result;
use crate::factor::log_window::{View, log_window};
use crate::factor::svd::Side;
use crate::factor::{Factors, Task};
use crate::operator::Operator;
use crate::space::{Host, Space};

use super::shape::Shape;

/// Local embeddings as columns of Y: factors of a motif matrix and the log window that they span. They may be wherever the
/// engine keeps them.
#[derive(Debug)]
pub struct Local {
    /// U, V and singular values.
    pub factors: Factors<Group>,
    /// The log window, where one was asked for.
    pub window: Option<Group>,
}

/// A log window that is wanted: see [`log_window`](crate::factor::log_window).
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The matrix of walks that never stay. Its vectors are those of the matrix that is factored.
    pub s: &'a Operator,
    /// T, the longest walks.
    pub steps: usize,
    /// Number of columns.
    pub columns: usize,
    /// How large it is beside U, squared; as the spectrum says where it is none.
    pub weight: Option<f64>,
}

impl Window<'_> {
    /// The log window that U spans, where U is.
    pub fn spanned<S: Space>(
        &self,
        space: &S,
        u: &mut [S::Tall],
        task: &Task,
    ) -> Result<View<S::Tall>> {
        let task = Task {
            rank: self.columns,
            right: false,
            ..*task
        };
        let mut view = log_window(space, self.s, u, self.steps, &task)?;
        view.weight = self.weight.unwrap_or(view.weight);
        Ok(view)
    }

    /// The same by way of another space, for U in the memory of this process.
    pub fn spanned_through<S: Space>(&self, space: &S, u: &Panels, task: &Task) -> Result<View> {
        let mut there: Vec<S::Tall> = u
            .as_slice()
            .iter()
            .map(|panel| space.import(panel))
            .collect();
        let View {
            panels,
            weight,
            landmarks,
        } = self.spanned(space, &mut there, task)?;
        drop(there);
        Ok(View {
            panels: panels
                .into_iter()
                .map(|panel| space.export(panel))
                .collect(),
            weight,
            landmarks,
        })
    }
}

/// What is wanted of a motif matrix, for Y.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// How columns and rows are scaled.
    pub shape: Shape,
    /// The log window, if one is wanted.
    pub window: Option<Window<'a>>,
    /// Whether a process that shares the rows of Y with others may return [its own rows](Group::own_rows) only: rows of the
    /// matrix are then rows of Y.
    pub own_rows: bool,
}

impl Request<'_> {
    /// Makes the log window of factors and shapes both in a space; `keep` takes them from there. Small matrices were decomposed
    /// by this process, and other norms than L2 are rare: both are shaped in its memory.
    pub fn shaped_in<S: Space>(
        &self,
        space: &S,
        found: Factors<Side<S::Tall>>,
        task: &Task,
        keep: impl FnMut(Vec<S::Tall>) -> Result<Group>,
    ) -> Result<Local> {
        let is_there = |side: &Side<S::Tall>| matches!(side, Side::There(_));
        let (small, small_v) = (
            !is_there(&found.u),
            found.v.as_ref().is_some_and(|v| !is_there(v)),
        );
        if !self.shape.is_spatial() || small || small_v {
            let task = &Task {
                aside: None,
                ..*task
            };
            let mut factors = found.map(|side| side.exported(space)).finite()?;
            let window = self.window.map(|window| match small {
                true => window.spanned(&Host, factors.u.as_mut_slice(), task),
                false => window.spanned_through(space, &factors.u, task),
            });
            return Ok(self
                .shape
                .shaped_here(factors, window.transpose()?, None)?
                .0);
        }
        let mut factors = found.map(|side| match side {
            Side::There(panels) => panels,
            Side::Here(_) => unreachable!("looked at above"),
        });
        let window = self
            .window
            .map(|window| window.spanned(space, &mut factors.u, task));
        Ok(self
            .shape
            .shaped(space, factors, window.transpose()?, None, keep)?
            .0)
    }
}
