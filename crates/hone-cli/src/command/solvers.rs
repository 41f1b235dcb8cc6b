//! `hone solvers`: what the factors can be found with.

use std::fmt::Write;

use hone::factor::SOLVERS;

use crate::context::Context;

/// List the solvers, one line each.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

const EXAMPLES: &str = "\
Examples:
  hone solvers
  hone embed graph.tsv -o vectors.npy --solver als
  hone embed g.tsv -o v.npy --set local.solver.method=bregman --set local.solver.loss=poisson";

pub(crate) fn run(_args: &Args, context: &Context) -> anyhow::Result<()> {
    let mut out = String::new();
    for (name, line) in SOLVERS {
        let _ = writeln!(out, "{name:12} {line}");
    }
    context.print(out)
}
