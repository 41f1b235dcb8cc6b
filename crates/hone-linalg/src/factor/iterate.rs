//! Common code of iterative solvers: when to stop, the history of the loss, and a guard against NaN.

use super::method::{Info, Loss, Task};
use crate::error::{Error, Result};

/// Rounding noise of f32 products, relative to the sum of squares.
const NOISE: f64 = 1e-7;

/// When a solver stops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Maximum number of iterations.
    pub(super) iterations: usize,
    /// The relative change of the loss that counts as none.
    pub(super) tolerance: f64,
}

/// Follows the loss of a solver.
pub(super) struct Watch<'a> {
    solver: &'static str,
    limits: Limits,
    task: &'a Task<'a>,
    /// What the loss is relative to; zero if there is only its initial value.
    unit: f64,
    values: Vec<f64>,
    converged: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(solver: &'static str, limits: Limits, unit: f64, task: &'a Task<'a>) -> Self {
        Watch {
            solver,
            limits,
            task,
            unit,
            values: Vec::new(),
            converged: false,
        }
    }

    /// Iterations recorded; the first value is that of the start.
    pub(super) fn done(&self) -> usize {
        self.values.len().saturating_sub(1)
    }

    /// Whether to do another iteration.
    pub(super) fn goes_on(&self) -> Result<bool> {
        self.task.progress.check()?;
        Ok(!self.converged && self.done() < self.limits.iterations)
    }

    /// Records the loss after an iteration (or of the start).
    pub(super) fn record(&mut self, loss: f64) -> Result<()> {
        if !loss.is_finite() {
            let message = format!(
                "the loss is {loss} after iteration {}: scale the weights down, or raise the solver's regularization",
                self.values.len()
            );
            return Err(Error::Numeric {
                stage: self.solver.into(),
                message,
            });
        }
        if let Some(last) = self.values.last() {
            self.converged = self.is_still((last - loss).abs(), loss);
        }
        self.values.push(loss);
        Ok(())
    }

    /// Whether a change of the loss counts as none.
    fn is_still(&self, change: f64, loss: f64) -> bool {
        let scale = if self.unit > 0.0 {
            self.unit
        } else {
            self.values[0].abs()
        };
        change <= self.limits.tolerance * loss.abs() + NOISE * scale
    }

    /// How it went, given the loss of the factors that are returned.
    pub(super) fn info(self, rank: usize, measure: String, returned: f64) -> Info {
        let least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let returned = Some(returned).filter(|loss| loss.is_finite());
        let as_measured = |loss| self.is_still(loss - least, least);
        let converged = self.converged && returned.is_some_and(as_measured);
        let iterations = self.done();
        let loss = Some(Loss {
            measure,
            values: self.values,
            returned,
        });
        Info {
            iterations,
            converged,
            rank,
            loss,
            ..Info::default()
        }
    }
}

/// Refuses a number that is negative or not finite.
pub(super) fn not_negative(field: &str, name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::config(
        format!("{field}.{name}"),
        format!("{value} is not a number ≥ 0"),
    ))
}

/// Refuses an absurdly large number.
pub(super) fn at_most(field: &str, name: &str, value: usize, most: usize) -> Result<()> {
    if value <= most {
        return Ok(());
    }
    Err(Error::config(
        format!("{field}.{name}"),
        format!("{value} is more than {most}, the maximum"),
    ))
}

/// Refuses an absurd number of zeros per nonzero.
pub(super) fn sensible_negatives(field: &str, value: usize) -> Result<()> {
    if (1..=1000).contains(&value) {
        return Ok(());
    }
    Err(Error::config(
        format!("{field}.negatives"),
        format!("{value} is not between 1 and 1000"),
    ))
}

/// Refuses zero.
pub(super) fn at_least_one(field: &str, name: &str, value: usize) -> Result<()> {
    if value > 0 {
        Ok(())
    } else {
        Err(Error::config(
            format!("{field}.{name}"),
            "must be at least 1",
        ))
    }
}
