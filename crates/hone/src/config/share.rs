//! How the columns of the result are divided: what `"auto"` stands for.
//!
//! A result of D columns contains Z and, if attributes are added after the global stage as components, these. The
//! components get one column in eight, rounded, but at least 2 and at most 16, and never more than half: 16 of 128, 8
//! of 64, 2 of 8, 1 of 2, none of 1. Each local embedding gets 16 columns, or as many as Z needs when there are few
//! motifs and steps. A log window has half of its motif's share of columns, at least 8; the global stage reduces both
//! to Z.

use super::{Combine, Config, Dim, Form, Steps};
use crate::graph::Graph;

/// Columns of a local embedding and of attributes in the paper's and our own experiments.
pub(super) const USUAL: usize = 16;
/// One column of the result in this many is for components of attributes.
const PARTS: usize = 8;

impl Config {
    /// The same configuration with numbers for `local.dim` and `features.form.components.dim`.
    #[must_use]
    pub fn resolved(mut self) -> Config {
        let (local, components) = (self.local_dim(), self.components_dim());
        self.local.dim = Dim::Fixed(local);
        if self.log_window_columns(false) > 0 {
            self.local.log_window.dim = Dim::Fixed(self.log_window_columns(false));
        }
        if let Form::Components(form) = &mut self.features.form {
            form.dim = Dim::Fixed(components);
        }
        self
    }

    /// The same configuration with rules where its numbers are those that [`Config::resolved`] gives.
    pub(super) fn by_rule(self) -> Config {
        let mut rule = self.clone();
        rule.local.dim = Dim::Auto;
        rule.local.log_window.dim = Dim::Auto;
        if let Form::Components(form) = &mut rule.features.form {
            form.dim = Dim::Auto;
        }
        if rule.clone().resolved() == self.clone().resolved() {
            rule
        } else {
            self
        }
    }

    /// D_l, columns of each local embedding.
    pub fn local_dim(&self) -> usize {
        match self.local.dim {
            Dim::Fixed(dim) => dim,
            Dim::Auto => {
                let parts = self.motifs.motifs().len() * self.kept_steps();
                self.z_dim().div_ceil(parts.max(1)).max(USUAL)
            }
        }
    }

    /// Columns of the log window of each motif of a graph; 0 if there is none.
    pub fn log_window_dim(&self, graph: &Graph) -> usize {
        self.log_window_columns(graph.is_directed())
    }

    pub(crate) fn log_window_columns(&self, directed: bool) -> usize {
        match self.local.log_window.dim {
            _ if self.local.log_window.steps == 0
                || self.without_log_window(directed).is_some() =>
            {
                0
            }
            Dim::Fixed(dim) => dim,
            Dim::Auto => {
                let motif = self.z_dim().div_ceil(self.motifs.motifs().len().max(1));
                motif.div_ceil(2).max(USUAL / 2)
            }
        }
    }

    /// Components of attributes; 0 where they stay columns.
    pub fn components_dim(&self) -> usize {
        let Form::Components(components) = self.features.form else {
            return 0;
        };
        match (components.dim, self.features.combine) {
            (Dim::Fixed(dim), _) => dim,
            (Dim::Auto, Combine::Before) => USUAL,
            (Dim::Auto, Combine::After) => {
                let share = (self.global.dim + PARTS / 2) / PARTS;
                share.clamp(2, USUAL).min(self.global.dim / 2)
            }
        }
    }

    /// Columns of Z: all of the result but the components of node features, if there are any.
    pub fn z_dim(&self) -> usize {
        self.z_columns(self.has_features())
    }

    /// The same with node features or without, whatever the settings say of them.
    pub(crate) fn z_columns(&self, features: bool) -> usize {
        match (features, self.features.combine) {
            (true, Combine::After) => self.global.dim.saturating_sub(self.components_dim()),
            _ => self.global.dim,
        }
    }

    /// Steps that are kept of each motif, at least.
    pub(super) fn kept_steps(&self) -> usize {
        match self.steps {
            Steps::Auto => 1,
            Steps::Fixed(steps) => steps + 1 - self.first_step.of(steps),
        }
    }
}
