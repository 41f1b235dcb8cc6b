//! Which settings a model can be made with.

use crate::config::{Combine, Config, Direction, Form, Model, Output};
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::graph::Graph;
use crate::matrix::{Accumulate, Degree, Order, Psi};
use crate::motif::{Pairs, Sample};

/// Refuses settings whose vectors a model cannot extend, naming the first.
pub(in crate::embed) fn check(config: &Config) -> Result<()> {
    let refuse = |field: &str, why: &str| {
        Err(Error::config(
            field,
            format!("a model needs {why}, as in the preset hone; use that, or make no model"),
        ))
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
        return refuse(
            "sample",
            "exact counts, since estimates differ from graph to graph",
        );
    }
    check_features(config)
}

/// Refuses settings for a directed graph whose vectors a model cannot extend.
pub(in crate::embed) fn check_directed(config: &Config, graph: &Graph) -> Result<()> {
    let refuse = |field: &str, why: &str| {
        let message = format!(
            "a model of a directed graph needs {why}; leave this setting out, or make no model"
        );
        Err(Error::config(field, message))
    };
    match config.direction {
        Direction::Ignore => Ok(()),
        Direction::Source => refuse(
            "direction",
            "factors of both sides, or direction = \"ignore\"",
        ),
        _ if config.degree != Degree::Total => refuse("degree", "degree = \"total\""),
        _ if config.laziness_on(graph) > 0.0 => refuse("laziness", "laziness = 0"),
        _ => Ok(()),
    }
}

fn check_features(config: &Config) -> Result<()> {
    let Config {
        structure,
        attributes,
        features,
        ..
    } = config;
    let refuse = |field: &str, why: &str| Err(Error::config(field, why));
    if attributes.file.is_some() {
        return refuse(
            "attributes.file",
            "a model does not know attributes of other graphs; fit without them, or make no model",
        );
    }
    if !structure.enabled {
        return Ok(());
    }
    if features.diffusion.steps > 0 {
        return refuse(
            "features.diffusion.steps",
            "a model needs 0, as in the preset hone; use that, or make no model",
        );
    }
    if features.combine != Combine::After || !matches!(features.form, Form::Components(_)) {
        let why = "a model needs features.form = components and features.combine = \"after\", as in the preset hone; use \
                   these, or make no model";
        return refuse("features.combine", why);
    }
    if structure.depth > 1 {
        return refuse(
            "structure.depth",
            "a model needs at most 1, since deeper features are chosen graph by graph; lower it, or make no model",
        );
    }
    Ok(())
}
