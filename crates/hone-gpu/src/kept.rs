//! [`Kept`]: columns of Y or of features that stay on the device, and are read from there when needed.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hone::Result;
use hone::dense::{Group, Stored};
use hone::engine::{Engine, Local, Request};
use hone::factor::svd::svd_there;
use hone::factor::{Solver, Task};
use hone::operator::Operator;
use hone::space::{Fold, Space};

use crate::Cuda;
use crate::panel::Panel;

/// Some columns of a tall matrix in device memory.
pub(crate) struct Kept {
    cuda: Cuda,
    pub(crate) panels: Vec<Panel>,
    lengths: Vec<f64>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("rows", &self.rows())
            .field("cols", &self.cols())
            .finish_non_exhaustive()
    }
}

impl Kept {
    pub(crate) fn new(cuda: &Cuda, panels: Vec<Panel>) -> Self {
        let lengths = cuda.fold(&panels, Fold::Length);
        Kept {
            cuda: cuda.clone(),
            panels,
            lengths,
        }
    }

    /// Whether it is in the memory of that device.
    pub(crate) fn is_on(&self, cuda: &Cuda) -> bool {
        Arc::ptr_eq(&self.cuda.0, &cuda.0)
    }
}

impl Stored for Kept {
    fn rows(&self) -> usize {
        self.panels.first().map_or(0, |panel| panel.rows)
    }

    fn cols(&self) -> usize {
        self.panels.iter().map(|panel| panel.cols).sum()
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        let (all, mut first, mut some) = (self.cols(), 0, Vec::new());
        for panel in self.panels.iter().filter(|panel| panel.cols > 0) {
            some.resize(range.len() * panel.cols, 0.0);
            self.cuda
                .driver
                .download_at(&panel.values, range.start * panel.cols, &mut some);
            for (to, from) in to.chunks_exact_mut(all).zip(some.chunks_exact(panel.cols)) {
                to[first..first + panel.cols].copy_from_slice(from);
            }
            first += panel.cols;
        }
    }

    fn lengths(&self) -> Option<Vec<f64>> {
        Some(self.lengths.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl Cuda {
    /// Factors of a motif matrix and their log window, shaped, on the device where there is room for them beside further work, else
    /// here.
    pub(crate) fn local_there(
        &self,
        solver: &Solver,
        s: &Operator,
        task: &Task,
        request: &Request,
    ) -> Result<Local> {
        let Solver::Svd(options) = solver else {
            return Err(self.lacks(solver));
        };
        let mut room = None;
        let found = svd_there(self, s, options, task)?;
        self.resident.forget_unused();
        request.shaped_in(self, found, task, |panels| {
            let known = match room {
                Some(room) => room,
                None => self.free_memory()? >= self.needed.load(Relaxed),
            };
            room = Some(known);
            Ok(if known {
                Group::stored(None, Arc::new(Kept::new(self, panels)))
            } else {
                self.brought_back(panels)
            })
        })
    }

    /// Columns in the memory of this process.
    fn brought_back(&self, panels: Vec<Panel>) -> Group {
        let panels: Vec<_> = panels.into_iter().map(|panel| self.export(panel)).collect();
        Group::panels(None, panels.into())
    }
}
