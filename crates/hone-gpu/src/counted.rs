//! [`Counted`]: the numbers from which the counts of a graph follow, kept on the device.

use std::sync::{Arc, Weak};

use hone::sparse::Pattern;

use crate::driver::{Arg, Memory};
use crate::resident::Positions;

/// The numbers from which counts follow, on the device, in the order of a pattern.
pub(crate) struct Counted {
    pub(crate) pattern: Weak<Pattern>,
    pub(crate) nodes: usize,
    pub(crate) slots: usize,
    pub(crate) positions: Arc<Positions>,
    pub(crate) t: Memory<u32>,
    pub(crate) c: Memory<u64>,
    /// Positions in triangles before each row.
    pub(crate) inside: Memory<u64>,
    pub(crate) kqr: [Memory<u64>; 3],
    pub(crate) triangles: Memory<u64>,
    pub(crate) s: Memory<u64>,
}

impl Counted {
    /// The arguments of kernels that read counts.
    pub(crate) fn args(&self) -> Vec<Arg> {
        let [k, q, r] = &self.kqr;
        let (offsets, columns) = (
            self.positions.offsets.address(),
            self.positions.columns.address(),
        );
        let of_edges = [
            offsets,
            columns,
            self.t.address(),
            self.c.address(),
            self.inside.address(),
        ];
        let of_nodes = [
            k.address(),
            q.address(),
            r.address(),
            self.triangles.address(),
            self.s.address(),
        ];
        [of_edges, of_nodes].concat()
    }
}
