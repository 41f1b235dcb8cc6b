//! [`Part`]: some columns of Y, as passed between stages.

use std::sync::Arc;

use crate::dense::panels::Own;
use crate::dense::{Group, Norm};

/// Some columns of Y and what they stand for: a motif (or attributes) and a step.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) step: usize,
    /// Names of the columns; numbers if there are none.
    pub(super) columns: Arc<[String]>,
    pub(super) group: Group,
}

impl Part {
    /// The rows that this process holds.
    pub(super) fn shared_out(self, own: &Own) -> Self {
        if own.is_all() || self.group.is_part() {
            return self;
        }
        Part {
            group: self.group.part(&own.range),
            ..self
        }
    }

    /// The sum of the squares of its values.
    pub(super) fn energy(&self) -> f64 {
        self.group
            .column_norms(Norm::L2)
            .iter()
            .map(|norm| norm * norm)
            .sum()
    }
}
