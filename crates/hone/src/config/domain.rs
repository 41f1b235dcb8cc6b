//! Losses against motif matrices: what can be known to be outside a domain before any work is done.

use super::{Config, Output};
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::matrix::Psi;

/// Refuses Laplacians, which have negative entries wherever there is an edge, for losses that have no place for
/// them, and Y of solvers whose factors have both signs.
pub(super) fn check(config: &Config) -> Result<()> {
    let global = config.global.solver.loss();
    let signed =
        !matches!(config.local.solver, Solver::Nmf(_)) && config.global.output == Output::Global;
    if signed && global.refuses_negative() {
        let remedy = "use local.solver.method = nmf";
        return Err(Error::config(
            "global.solver.loss",
            global.negative("Y", remedy),
        ));
    }
    let matrix = match config.psi {
        Psi::L => "L",
        Psi::LNorm => "L̂",
        Psi::LRw => "L̂rw",
        Psi::W | Psi::P | Psi::ANorm => return Ok(()),
    };
    let loss = config.local.solver.loss();
    if !loss.refuses_negative() {
        return Ok(());
    }
    Err(Error::config(
        "local.solver.loss",
        loss.negative(matrix, "use psi = \"w\" or psi = \"p\""),
    ))
}
