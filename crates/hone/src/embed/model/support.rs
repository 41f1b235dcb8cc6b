//! Which settings a model can be made with.

use crate::config::{Combine, Config, Form, Model, Output};
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::matrix::{Accumulate, Order, Psi};
use crate::motif::{Pairs, Sample};

/// Refuses settings whose vectors a model cannot extend, naming the first.
pub(in crate::embed) fn check(config: &Config) -> Result<()> {
    let refuse = |field: &str, why: &str| {
        Err(Error::config(field, format!("a model needs {why}, as in the preset hone; leave out the model otherwise")))
    };
    if config.model != Model::Separate {
        return refuse("model", "model = \"separate\"");
    }
    if config.psi != Psi::ANorm {
        return refuse("psi", "psi = \"a-norm\", a symmetric matrix");
    }
    if config.order == Order::PsiOfPower {
        return refuse("order", "order = \"power-of-psi\"");
    }
    if config.accumulate != Accumulate::None {
        return refuse("accumulate", "accumulate = \"none\"");
    }
    if config.pairs != Pairs::Edges {
        return refuse("pairs", "pairs = \"edges\"");
    }
    if !matches!(config.local.solver, Solver::Svd(_)) {
        return refuse("local.solver.method", "local.solver.method = \"svd\"");
    }
    if config.global.output == Output::Global && !matches!(config.global.solver, Solver::Svd(_)) {
        return refuse("global.solver.method", "global.solver.method = \"svd\"");
    }
    if config.sample != Sample::Exact {
        return refuse("sample", "exact counts, since estimates differ from graph to graph");
    }
    check_attributes(config)
}

fn check_attributes(config: &Config) -> Result<()> {
    let attributes = &config.attributes;
    let refuse = |field: &str, why: &str| Err(Error::config(format!("attributes.{field}"), why));
    if attributes.file.is_some() {
        return refuse(
            "file",
            "a model has no attributes of other graphs: fit without attributes, or leave out the model",
        );
    }
    if !attributes.structure {
        return Ok(());
    }
    if attributes.diffusion.steps > 0 {
        return refuse("diffusion.steps", "a model needs 0, as in the preset hone; leave out the model otherwise");
    }
    if attributes.combine != Combine::After || !matches!(attributes.form, Form::Components(_)) {
        let why = "a model needs components beside Z (combine = \"after\"), as in the preset hone; leave out the model otherwise";
        return refuse("combine", why);
    }
    if attributes.features.depth > 1 {
        return refuse("features.depth", "a model needs at most 1: deeper features are chosen graph by graph");
    }
    Ok(())
}
