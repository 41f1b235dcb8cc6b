//! Which settings a model can be made with.

use crate::config::{Combine, Config, Direction, Form, Model, Output};
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::graph::Graph;
use crate::matrix::{Accumulate, Degree, Order, Psi};
use crate::message::{message, set};
use crate::motif::{Pairs, Sample};

/// Refuses settings whose vectors a model cannot extend, naming the first; `given` says that the caller gives attributes.
pub(in crate::embed) fn check(config: &Config, given: bool) -> Result<()> {
    let Config {
        local,
        global,
        features,
        ..
    } = config;
    let structure = &config.structure;
    let any = config.has_features() || given;
    let to_z = global.output == Output::Global;
    let components = matches!(features.form, Form::Components(_));
    let needs = [
        (
            config.model != Model::Separate,
            "model",
            set("model", "separate"),
        ),
        (
            config.psi != Psi::ANorm,
            "psi",
            message![set("psi", "a-norm"), ", a symmetric matrix"],
        ),
        (
            config.order == Order::PsiOfPower,
            "order",
            set("order", "power-of-psi"),
        ),
        (
            config.accumulate != Accumulate::None,
            "accumulate",
            set("accumulate", "none"),
        ),
        (config.pairs != Pairs::Edges, "pairs", set("pairs", "edges")),
        (
            !matches!(local.solver, Solver::Svd(_)),
            "local.solver.method",
            set("local.solver.method", "svd"),
        ),
        (
            to_z && !matches!(global.solver, Solver::Svd(_)),
            "global.solver.method",
            set("global.solver.method", "svd"),
        ),
        (
            config.sample != Sample::Exact,
            "sample",
            "exact counts, since estimates differ from graph to graph".into(),
        ),
        (
            any && features.diffusion.steps > 0,
            "features.diffusion.steps",
            set("features.diffusion.steps", 0),
        ),
        (
            any && (features.combine != Combine::After || !components),
            "features.combine",
            message![
                set("features.form", "components"),
                " and ",
                set("features.combine", "after")
            ],
        ),
        (
            structure.enabled && structure.depth > 1,
            "structure.depth",
            message![
                "at most ",
                set("structure.depth", 1),
                ", since deeper features are chosen graph by graph"
            ],
        ),
    ];
    match needs.into_iter().find(|(wrong, ..)| *wrong) {
        None => Ok(()),
        Some((_, field, what)) => Err(Error::config(
            field,
            message![
                "a model needs ",
                what,
                ", as in the preset hone; use that, or make no model"
            ],
        )),
    }
}

/// Refuses settings for a directed graph whose vectors a model cannot extend.
pub(in crate::embed) fn check_directed(config: &Config, graph: &Graph) -> Result<()> {
    let (field, what) = match config.direction {
        Direction::Ignore => return Ok(()),
        Direction::Source => (
            "direction",
            message!["factors of both sides, or ", set("direction", "ignore")],
        ),
        _ if config.degree != Degree::Total => ("degree", set("degree", "total")),
        _ if config.laziness_on(graph) > 0.0 => ("laziness", set("laziness", 0)),
        _ => return Ok(()),
    };
    let message = message![
        "a model of a directed graph needs ",
        what,
        "; leave this setting out, or make no model"
    ];
    Err(Error::config(field, message))
}
