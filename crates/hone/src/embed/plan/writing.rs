//! How much memory writing the result takes, in the requested format.

use super::work::{FLOAT, Work, attribute_columns};
use crate::config::{Combine, Output};

impl Work<'_> {
    /// Bytes while the result is written: its vectors, or those of this process and a piece of those that others send; and
    /// the writer's buffers.
    pub(super) fn writing(&self) -> u64 {
        let (config, rows) = (self.config, self.graph.nodes() as u64);
        let attributes = attribute_columns(config, self.own, self.motifs.len()) as u64;
        let columns = match (&config.global.output, &config.features.combine) {
            (Output::Local, _) => self.local_columns() + attributes,
            (Output::Global, Combine::Before) => self.z_columns(),
            (Output::Global, _) => self.z_columns() + attributes,
        };
        self.written_bytes(rows, columns)
    }

    pub(super) fn written_bytes(&self, rows: u64, columns: u64) -> u64 {
        let Some(format) = self.written else { return 0 };
        let held = (self.share(rows) * FLOAT).saturating_mul(columns);
        let received = if self.sharing > 1 {
            format.received(rows, columns)
        } else {
            0
        };
        held.saturating_add(received)
            .saturating_add(format.memory(rows, columns))
    }
}
