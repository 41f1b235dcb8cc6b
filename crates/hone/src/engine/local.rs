//! [`Local`]: what an engine makes of a motif matrix for Y (sec. 2.4), and [`Window`], the log window that may stand beside it.

use crate::dense::{Group, Panels};
use crate::error::Result;
use crate::factor::log_window::{View, log_window};
use crate::factor::{Factors, Task};
use crate::operator::Operator;
use crate::space::Space;

/// Factors of a motif matrix and the log window that they span.
#[derive(Debug)]
pub enum Local {
    /// Columns of Y. They may be wherever the engine keeps them.
    Shaped {
        /// U, V and singular values.
        factors: Factors<Group>,
        /// The log window, where one was asked for.
        window: Option<Group>,
    },
    /// In the memory of this process, not shaped yet. Where memory is short, U is aside when there is a window.
    Raw {
        /// U, V and singular values.
        factors: Factors<Panels>,
        /// The log window, where one was asked for.
        window: Option<View>,
    },
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
    pub fn spanned<S: Space>(&self, space: &S, u: &mut [S::Tall], task: &Task) -> Result<View<S::Tall>> {
        let task = Task { rank: self.columns, right: false, ..*task };
        let mut view = log_window(space, self.s, u, self.steps, &task)?;
        view.weight = self.weight.unwrap_or(view.weight);
        Ok(view)
    }

    /// The same by way of another space, for U in the memory of this process.
    pub fn spanned_through<S: Space>(&self, space: &S, u: &Panels, task: &Task) -> Result<View> {
        let mut there: Vec<S::Tall> = u.as_slice().iter().map(|panel| space.import(panel)).collect();
        let View { panels, weight, landmarks } = self.spanned(space, &mut there, task)?;
        drop(there);
        Ok(View { panels: panels.into_iter().map(|panel| space.export(panel)).collect(), weight, landmarks })
    }
}
