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

#[cfg(test)]
mod tests {
    use super::super::column::Narrow;
    use super::super::counts::Values;
    use super::*;
    use crate::Generator;
    use crate::progress::Silent;

    /// Counts that are made of their primitives are the counts.
    #[test]
    fn counts_follow_from_primitives() {
        let graph = Generator::Ba {
            nodes: 300,
            degree: 8.0,
        }
        .graph(4, &Silent)
        .expect("a graph");
        let counts = super::super::count(&graph, &Silent).expect("counted");
        let Values::Exact(exact) = counts.values() else {
            panic!("exact counts")
        };
        let Exact {
            t,
            c,
            k,
            q,
            r,
            triangles,
            s,
            ..
        } = (**exact).clone();
        let found = Primitives {
            t,
            c,
            k,
            q,
            r,
            triangles,
            s,
        };
        let pattern = Counts::counted_pattern(&graph).expect("small degrees");
        let made = Counts::of_primitives(pattern, found);
        assert!(made.are_exact() && made.bytes() == counts.bytes());
        (0..300).for_each(|i| assert!(made.row(i).eq(counts.row(i)), "row {i}"));
    }

    #[test]
    fn values_that_do_not_fit_are_listed_in_any_order() {
        let column = Column::of(Narrow::U8(vec![1, 255, 3, 255]), vec![(3, 900), (1, 255)]);
        assert_eq!(
            (0..4).map(|i| column.get(i)).collect::<Vec<_>>(),
            [1, 255, 3, 900]
        );
        for wrong in [
            vec![(3, 900)],
            vec![(1, 255), (2, 4)],
            vec![(1, 255), (1, 255), (3, 900)],
        ] {
            let made =
                std::panic::catch_unwind(|| Column::of(Narrow::U8(vec![1, 255, 3, 255]), wrong));
            assert!(made.is_err());
        }
    }

    #[test]
    fn motifs_are_bits_of_orbits() {
        let bits = |name: &str| name.parse::<Motif>().expect("a motif").orbit_bits();
        assert_eq!((bits("edge"), bits("clique4")), (1, 1 << 12));
        assert_eq!(bits("path4"), bits("path4-end") | bits("path4-mid"));
    }
}
