//! `hone solvers`: the solvers that compute factors, and the joint models.

use std::fmt::Write;

use hone::config::MODELS;
use hone::factor::SOLVERS;

use crate::context::Context;

/// List the solvers and the models, one line each.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

const EXAMPLES: &str = "\
Examples:
  hone solvers
  hone embed graph.tsv -o vectors.npy --solver als
  hone embed g.tsv -o v.npy --set local.solver.method=bregman --set local.solver.loss=poisson
  hone embed g.tsv -o v.npy --preset hone-p --set model=tucker";

pub(crate) fn run(_args: &Args, context: &Context) -> anyhow::Result<()> {
    let mut out = String::from("Solvers (local.solver.method, global.solver.method):\n");
    for (name, line) in SOLVERS {
        let _ = writeln!(out, "  {name:12} {line}");
    }
    out.push_str("\nModels (model); tucker and cp use their own method instead of a solver:\n");
    for (name, line) in MODELS {
        let _ = writeln!(out, "  {name:12} {line}");
    }
    Ok(context.print(out)?)
}
