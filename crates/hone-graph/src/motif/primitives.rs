//! [`Primitives`]: the numbers from which motif counts follow, computed elsewhere, such as on a device.

use std::sync::Arc;

use super::column::Column;
use super::counts::Counts;
use super::exact::Exact;
use super::orbit::Orbit;
use super::place::Rank;
use super::set::Motif;
use crate::Graph;
use crate::error::Result;
use crate::sparse::Pattern;

/// The numbers of edges and nodes from which all exact counts follow (see `formula.rs` for the letters), in
/// the order of a symmetric pattern.
#[derive(Debug, Clone)]
pub struct Primitives {
    /// Common neighbours of each position.
    pub t: Column,
    /// Non-induced 4-cycles through each position.
    pub c: Column,
    /// 4-cliques on each position in a triangle.
    pub k: Column,
    /// Sum of the degrees of the common neighbours, for each position in a triangle.
    pub q: Column,
    /// Sum of the triangles of the edges to the common neighbours, for each position in a triangle.
    pub r: Column,
    /// Triangles of each node.
    pub triangles: Column,
    /// Sum of the degrees minus one of the neighbours of each node.
    pub s: Column,
}

impl Counts {
    /// The pattern on which a graph is counted exactly, if its degrees allow it.
    pub fn counted_pattern(graph: &Graph) -> Result<Arc<Pattern>> {
        let pattern = graph.symmetric_pattern();
        Exact::check_degrees(&pattern)?;
        Ok(pattern)
    }

    /// Exact counts from their primitives.
    ///
    /// # Panics
    /// When there are other numbers of values than the pattern has positions and nodes.
    pub fn of_primitives(pattern: Arc<Pattern>, found: Primitives) -> Counts {
        let Primitives {
            t,
            c,
            k,
            q,
            r,
            triangles,
            s,
        } = found;
        let (nodes, slots) = (pattern.rows(), pattern.nnz());
        assert!(
            t.len() == slots && c.len() == slots,
            "counts of every position"
        );
        assert!(
            triangles.len() == nodes && s.len() == nodes,
            "counts of every node"
        );
        let rank = Rank::new(slots, |range| t.nonzeros(range));
        let inside = rank.below(slots, |range| t.nonzeros(range));
        assert!(
            [&k, &q, &r].iter().all(|column| column.len() == inside),
            "counts of every position in a triangle"
        );
        let d = Column::gather(nodes, |i| pattern.range(i).len() as u64);
        Counts::exact(
            pattern,
            Exact {
                t,
                c,
                rank,
                k,
                q,
                r,
                d,
                triangles,
                s,
            },
        )
    }

    /// Whether these are exact counts of edge orbits.
    pub fn are_exact(&self) -> bool {
        matches!(self.values(), super::counts::Values::Exact(_))
    }
}

impl Motif {
    /// The orbits whose counts are summed for the motif, as bits in the order of [`Orbit::ALL`].
    pub fn orbit_bits(self) -> u32 {
        self.orbits()
            .iter()
            .fold(0, |bits, orbit: &Orbit| bits | 1 << orbit.index())
    }
}
