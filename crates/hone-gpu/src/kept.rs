//! [`Kept`]: columns of Y or of features that stay on the device, and are read from there when needed.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hone::Result;
use hone::dense::{Group, Norm, Stored};
use hone::engine::Shape;
use hone::factor::svd::{Side, svd_there};
use hone::factor::{Factors, Solver, Task};
use hone::operator::Operator;
use hone::space::{Fold, Map, Space};
use hone::{Error, engine::Engine};

use crate::Cuda;
use crate::driver::Arg;
use crate::panel::{Panel, wide};
use crate::ranked::THREADS;

/// Some columns of a tall matrix in device memory.
pub(crate) struct Kept {
    cuda: Cuda,
    pub(crate) panels: Vec<Panel>,
    lengths: Vec<f64>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("rows", &self.rows()).field("cols", &self.cols()).finish_non_exhaustive()
    }
}

impl Kept {
    pub(crate) fn new(cuda: &Cuda, panels: Vec<Panel>) -> Self {
        let lengths = cuda.fold(&panels, Fold::Length);
        Kept { cuda: cuda.clone(), panels, lengths }
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
            self.cuda.driver.download_at(&panel.values, range.start * panel.cols, &mut some);
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
    /// Factors of a motif matrix, normalised and scaled, on the device if there is room for them and further
    /// work, else here.
    pub(crate) fn local_there(
        &self,
        solver: &Solver,
        s: &Operator,
        task: &Task,
        shape: &Shape,
    ) -> Result<Factors<Group>> {
        let Solver::Svd(options) = solver else { return Err(self.lacks(solver)) };
        let found = svd_there(self, s, options, task)?;
        self.resident.forget_unused();
        // Other norms are rare, and computed by this process.
        let shapes = matches!(shape.norm, Norm::L2 | Norm::None);
        let there = |side: &Side<Panel>| matches!(side, Side::There(_));
        if !shapes || !there(&found.u) || found.v.as_ref().is_some_and(|v| !there(v)) {
            return Ok(shape.of_factors(found.map(|side| side.exported(self)).finite()?));
        }
        let Factors { u, sigma, v, info } = found;
        let room = self.free_memory()? >= self.needed.load(Relaxed);
        let kept = |side: Side<Panel>| -> Result<Group> {
            let Side::There(panels) = side else { unreachable!("looked at above") };
            let kept = self.shaped(panels, &sigma, shape)?;
            Ok(if room { Group::stored(None, Arc::new(kept)) } else { self.brought_back(kept) })
        };
        let (u, v) = (kept(u)?, v.map(kept).transpose()?);
        Ok(Factors { u, sigma, v, info })
    }

    /// Columns in the memory of this process.
    fn brought_back(&self, kept: Kept) -> Group {
        let panels: Vec<_> = kept.panels.into_iter().map(|panel| self.export(panel)).collect();
        Group::panels(None, panels.into())
    }

    /// Normalises and scales columns and rows as the settings say.
    fn shaped(&self, mut panels: Vec<Panel>, sigma: &[f64], shape: &Shape) -> Result<Kept> {
        let lengths = self.fold(&panels, Fold::Length);
        if !lengths.iter().chain(sigma).all(|length| length.is_finite()) {
            let message = "factors are not finite: scale the weights down, or raise the solver's regularization";
            return Err(Error::Numeric { stage: "factors".into(), message: message.into() });
        }
        let over = |length: f64| if length > 0.0 && shape.norm == Norm::L2 { 1.0 / length } else { 1.0 };
        let mut factors: Vec<f64> = lengths.into_iter().map(over).collect();
        if let Some(weights) = shape.weights(sigma) {
            factors.iter_mut().zip(weights).for_each(|(factor, weight)| *factor *= weight);
        }
        self.map(&mut panels, &Map::Scale(&factors));
        if shape.row_power > 0.0 {
            self.shorten(&panels, shape.row_power);
        }
        Ok(Kept::new(self, panels))
    }

    /// Divides each row by its length to a power.
    fn shorten(&self, panels: &[Panel], power: f64) {
        let rows = panels.first().map_or(0, |panel| panel.rows);
        let squares = self.driver.zeros::<f64>(rows);
        for panel in panels.iter().filter(|panel| panel.len() > 0) {
            let args = [wide(rows), panel.width(), panel.address(), squares.address()];
            self.start("add_squares", rows.div_ceil(THREADS), &args);
        }
        for panel in panels.iter().filter(|panel| panel.len() > 0) {
            let args = [wide(panel.len()), panel.width(), squares.address(), Arg::Real(power), panel.address()];
            self.start("shorten", panel.len().div_ceil(THREADS), &args);
        }
    }
}
