//! What `"auto"` stands for: rules that depend on other settings, so that one choice can be changed on its own, or on the graph.
//!
//! A result of D columns contains Z and, if attributes are added after the global stage as components, these. The
//! components get one column in eight, rounded, but at least 2 and at most 16, and never more than half: 16 of 128, 8
//! of 64, 2 of 8, 1 of 2, none of 1. Attributes of the user get half of the columns, which Z goes without. Each local embedding gets 16 columns, or as many as Z needs when there are few
//! motifs and steps. A log window has half of its motif's share of columns, at least 8; the global stage reduces both
//! to Z.

use std::borrow::Cow;

use super::{Auto, Combine, Config, Direction, Form, Model};
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::graph::Graph;
use crate::matrix::{Accumulate, Degree, Order, Psi};
use crate::message::{message, setting};
use crate::motif::MotifSet;

/// Columns of a local embedding and of attributes in the paper's and our own experiments.
pub(super) const USUAL: usize = 16;
/// One column of the result in this many is for components of attributes.
const PARTS: usize = 8;
/// The laziness of walks on bipartite graphs.
const OF_BIPARTITE: f64 = 0.2;

impl Config {
    /// The same configuration with numbers for the numbers of columns.
    #[must_use]
    pub fn resolved(mut self) -> Config {
        let (local, components) = (self.local_dim(), self.components_dim());
        self.local.dim = Auto::Given(local);
        let window = self.log_window_columns(false);
        if window > 0 {
            self.local.log_window.dim = Auto::Given(window);
        }
        if let Form::Components(form) = &mut self.features.form
            && self.structure.enabled
        {
            form.dim = Auto::Given(components);
        }
        self
    }

    /// D_l, columns of each local embedding.
    pub fn local_dim(&self) -> usize {
        let parts = self.motifs.motifs().len() * self.kept_steps();
        let share = self.z_dim().div_ceil(parts.max(1));
        self.local.dim.or(share.max(USUAL))
    }

    /// Columns of the log window of each motif of a graph; 0 if there is none.
    pub fn log_window_dim(&self, graph: &Graph) -> usize {
        self.log_window_columns(graph.is_directed())
    }

    pub(crate) fn log_window_columns(&self, directed: bool) -> usize {
        if self.local.log_window.steps == 0 || self.log_window_conflict(directed).is_some() {
            return 0;
        }
        let motif = self.z_dim().div_ceil(self.motifs.motifs().len().max(1));
        self.local
            .log_window
            .dim
            .or(motif.div_ceil(2).max(USUAL / 2))
    }

    /// Why the log window, if requested, cannot be computed. There is none if arcs keep their direction.
    pub(crate) fn log_window_conflict(&self, directed: bool) -> Option<&'static str> {
        let conflicts = [
            (self.psi != Psi::ANorm, "psi is not a-norm"),
            (self.order == Order::PsiOfPower, "order is psi-of-power"),
            (self.accumulate != Accumulate::None, "steps are accumulated"),
            (self.steps == Auto::Auto, "steps are automatic"),
            (self.model != Model::Separate, "the model is a joint one"),
            (
                !matches!(self.local.solver, Solver::Svd(_)),
                "the solver of local embeddings is not svd",
            ),
            (
                directed && self.direction != Direction::Ignore,
                "the directions of arcs are kept",
            ),
        ];
        let conflict = conflicts.into_iter().find(|(is, _)| *is);
        conflict
            .filter(|_| self.local.log_window.steps > 0)
            .map(|(_, why)| why)
    }

    /// Components of structure; 0 where it stays columns.
    pub fn components_dim(&self) -> usize {
        let Form::Components(components) = self.features.form else {
            return 0;
        };
        if !self.structure.enabled {
            return 0;
        }
        let share = match self.features.combine {
            Combine::Before => USUAL,
            Combine::After => {
                let share = (self.global.dim + PARTS / 2) / PARTS;
                share.clamp(2, USUAL).min(self.global.dim / 2)
            }
        };
        components.dim.or(share)
    }

    /// Columns of Z where there are no attributes: all of the result but the components of structure, if there are any.
    pub fn z_dim(&self) -> usize {
        match self.features.combine {
            Combine::After => self.global.dim.saturating_sub(self.components_dim()),
            Combine::Before => self.global.dim,
        }
    }

    /// Columns of the result for so many attributes of the user, which leave at least one for Z; 0 where they stay columns.
    pub(crate) fn attributes_dim(&self, attributes: usize) -> Result<usize> {
        if self.features.form == Form::Columns || attributes == 0 {
            return Ok(0);
        }
        let (dim, room) = match self.features.combine {
            Combine::Before => (USUAL, self.global.dim),
            Combine::After => (self.global.dim / 2, self.z_dim().saturating_sub(1)),
        };
        let wanted = self.attributes.dim.or(dim.min(room)).min(attributes);
        if wanted > 0 && wanted <= room {
            return Ok(wanted);
        }
        let message = message![
            self.global.dim.to_string(),
            " leaves no room for columns of attributes and proximity; raise it, or lower ",
            setting("attributes.dim")
        ];
        Err(Error::config("global.dim", message))
    }

    /// Steps that are kept of each motif, at least.
    pub(super) fn kept_steps(&self) -> usize {
        let steps = self.steps.or(1);
        steps + 1 - self.first_step.of(steps)
    }

    /// The same configuration with `auto` resolved for a graph. If arcs keep their direction, they have half the weight
    /// when walked against it, degrees count arcs in both directions, and structure counts dyads and triads.
    pub fn of(&self, graph: &Graph) -> Cow<'_, Config> {
        let directed = graph.is_directed() && self.direction != Direction::Ignore;
        let mut config = Cow::Borrowed(self);
        if directed && self.direction == Direction::Auto {
            config.to_mut().direction = Direction::Keep;
        }
        if self.reverse == Auto::Auto {
            config.to_mut().reverse = Auto::Given(if directed { 0.5 } else { 0.0 });
        }
        if self.degree == Degree::Auto {
            config.to_mut().degree = if directed { Degree::Total } else { Degree::Out };
        }
        if self.structure.motifs == MotifSet::Auto {
            config.to_mut().structure.motifs = match directed {
                true => MotifSet::Triads,
                false => MotifSet::Orbits,
            };
        }
        config
    }

    /// The laziness of walks on a graph: where it is bipartite its spectrum is symmetric, and if λ and −λ have the same weight,
    /// products of vectors across the two sides cancel.
    pub(crate) fn laziness_on(&self, graph: &Graph) -> f64 {
        let symmetric = !graph.is_directed() || self.direction == Direction::Ignore;
        let bipartite = || symmetric && graph.is_bipartite();
        match self.laziness {
            Auto::Given(share) => share,
            Auto::Auto if bipartite() => OF_BIPARTITE,
            Auto::Auto => 0.0,
        }
    }
}
