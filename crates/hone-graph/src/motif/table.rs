//! [`OrbitTable`]: counts per edge, from files and arrays, back to their primitives.
//!
//! Five orbits are enough (`formula`): t, K, R, C and Q follow from triangle, clique4, diamond-rim, cycle4 and
//! tailed-far, everything else from the graph. All other columns are compared with the result, so that the table of
//! another graph, of estimates, or a damaged one is refused. Cost: linear in the edges, and a search for each.

use std::sync::Arc;

use super::column::Column;
use super::counts::Counts;
use super::formula::{Number, Primitives, Whole, degrees_of_others};
use super::orbit::Orbit;
use super::ranked::reversed;
use super::set::Motif;
use crate::error::{Error, Result};
use crate::parallel;
use crate::sparse::Pattern;
use crate::{Graph, NodeIds};

/// The orbits from which all counts follow.
const NEEDED: [Orbit; 5] = [
    Orbit::Triangle,
    Orbit::Cycle4,
    Orbit::TailedFar,
    Orbit::DiamondRim,
    Orbit::Clique4,
];
/// More than any edge has; products and sums of such numbers do not wrap around to small ones.
const MOST: u64 = 1 << 61;

/// Counts of the edges of an undirected graph, one row per edge in any order.
#[derive(Debug, Clone, Default)]
pub struct OrbitTable {
    /// The ends of the edge of each row.
    pub edges: Vec<(u32, u32)>,
    /// Motifs and their counts, one per row.
    pub columns: Vec<(Motif, Vec<u64>)>,
}

impl OrbitTable {
    /// Refuses a table that lacks a motif needed for the other counts.
    pub fn check_motifs(motifs: &[Motif]) -> Result<()> {
        let lacks = |orbit: &&Orbit| !motifs.iter().any(|motif| motif.orbits() == [**orbit]);
        let Some(orbit) = NEEDED.iter().find(lacks) else {
            return Ok(());
        };
        let needed = NEEDED.map(Orbit::name).join(", ");
        let message = format!(
            "there is no column `{orbit}`; an update needs exact counts of {needed} by edge"
        );
        Err(Error::config("counts", message))
    }

    /// The counts that the table has. Fails when it is not that of this graph.
    pub fn counts(&self, graph: &Graph) -> Result<Counts> {
        if graph.is_directed() {
            let message = "counts of a directed graph cannot be updated; count it again, or without directions";
            return Err(Error::config("counts", message));
        }
        let motifs: Vec<Motif> = self.columns.iter().map(|column| column.0).collect();
        OrbitTable::check_motifs(&motifs)?;
        self.check_size(graph.edges())?;
        let pattern = graph.pattern();
        let rows = self.rows_of(graph)?;
        let primitives = self.primitives(pattern, |slot| rows[slot] as usize)?;
        let counts = Counts::of_primitives(Arc::clone(pattern), primitives);
        self.compare(&counts, |slot| rows[slot] as usize)?;
        Ok(counts)
    }

    /// Refuses columns of other lengths than the graph has edges.
    fn check_size(&self, size: usize) -> Result<()> {
        let rows = self.edges.len();
        if let Some((motif, counts)) = self.columns.iter().find(|column| column.1.len() != rows) {
            let count = counts.len();
            return Err(wrong(format!("{count} counts of {motif} for {rows} edges")));
        }
        if rows != size || size > u32::MAX as usize / 2 {
            return Err(wrong(format!("{rows} rows for a graph of {size} edges")));
        }
        Ok(())
    }

    /// The row of each slot.
    fn rows_of(&self, graph: &Graph) -> Result<Vec<u32>> {
        let pattern = graph.pattern();
        let find = |row: usize| {
            let (a, b) = self.edges[row];
            let there = (a.max(b) as usize) < pattern.rows();
            let at = there
                .then(|| pattern.row(a as usize).binary_search(&b).ok())
                .flatten()?;
            Some(pattern.range(a as usize).start + at)
        };
        let (back, mut rows) = (reversed(pattern), vec![u32::MAX; pattern.nnz()]);
        let found = parallel::stretches(self.edges.len(), 1 << 14, |range| {
            range.map(find).collect::<Vec<_>>()
        });
        for (row, slot) in found.into_iter().flatten().enumerate() {
            let Some(slot) = slot else {
                return Err(self.wrong_row(graph.ids(), row, "no edge of the graph"));
            };
            if rows[slot] != u32::MAX {
                return Err(self.wrong_row(graph.ids(), row, "the edge has a row already"));
            }
            rows[slot] = row as u32;
            rows[back[slot] as usize] = row as u32;
        }
        Ok(rows)
    }

    /// The counts of an orbit.
    fn column(&self, orbit: Orbit) -> &[u64] {
        let mut columns = self.columns.iter();
        let column = columns.find(|column| column.0.orbits() == [orbit]);
        column.map_or(&[], |column| &column.1)
    }

    /// The primitives; `row` gives that of a slot.
    fn primitives(
        &self,
        pattern: &Pattern,
        row: impl Fn(usize) -> usize + Sync,
    ) -> Result<Primitives> {
        let [t, cycle, far, rim, k] = NEEDED.map(|orbit| self.column(orbit));
        let two = |slot: usize| 2 * k[row(slot)];
        let at_most = |row: usize| {
            let (a, b) = self.edges[row];
            let degree = |i: u32| pattern.row(i as usize).len() as u64;
            let pairs = Whole::of(t[row].min(u64::from(u32::MAX))).pairs().0;
            t[row] < degree(a).min(degree(b))
                && k[row] <= pairs
                && [cycle, far, rim].iter().all(|x| x[row] < MOST)
        };
        if let Some(row) = parallel::first(self.edges.len(), |row| !at_most(row)) {
            return Err(wrong(format!(
                "row {row} has counts that no edge of the graph can have"
            )));
        }
        let slots = pattern.nnz();
        let c = |slot: usize| cycle[row(slot)] + two(slot) + rim[row(slot)];
        let c = Column::collect(slots, c);
        let t = Column::collect(slots, |slot| t[row(slot)]);
        let inside: Vec<usize> = (0..slots).filter(|&slot| t.get(slot) > 0).collect();
        let of = |value: &(dyn Fn(usize) -> u64 + Sync)| {
            Column::collect(inside.len(), |at| value(inside[at]))
        };
        let columns = [
            of(&|slot| k[row(slot)]),
            of(&|slot| far[row(slot)] + 2 * t.get(slot) + two(slot) + rim[row(slot)]),
            of(&|slot| rim[row(slot)] + 2 * t.get(slot) + 2 * two(slot)),
        ];
        let [k, q, r] = columns;
        let columns = [t, c, k, q, r];
        Ok(Primitives::new(pattern, columns, |i| {
            degrees_of_others(pattern, i)
        }))
    }

    /// Compares all columns with the counts, and these with what is possible.
    fn compare(&self, counts: &Counts, row: impl Fn(usize) -> usize + Sync) -> Result<()> {
        let pattern = counts.pattern();
        let other = |i: usize| {
            // Each edge once: both of its slots have the numbers of one row.
            let upper = pattern.row(i).partition_point(|&j| (j as usize) < i);
            counts
                .row_from(i, upper)
                .zip(pattern.range(i).skip(upper))
                .find_map(|((_, orbits), slot)| {
                    let row = row(slot);
                    if orbits.iter().any(|&count| count > 1 << 63) {
                        return Some(format!(
                            "row {row} has counts that no edge of the graph can have"
                        ));
                    }
                    let same = |column: &&(Motif, Vec<u64>)| {
                        column.0.weight(&orbits) == Some(column.1[row])
                    };
                    let (motif, found) = self.columns.iter().find(|column| !same(column))?;
                    let expected = motif
                        .weight(&orbits)
                        .map_or_else(|| "more".to_owned(), |count| count.to_string());
                    Some(format!(
                        "row {row} has {} for {motif}, where its other counts give {expected}",
                        found[row]
                    ))
                })
        };
        let found = parallel::stretches(pattern.rows(), 1 << 12, |mut rows| rows.find_map(other));
        found
            .into_iter()
            .flatten()
            .next()
            .map_or(Ok(()), |message| Err(wrong(message)))
    }

    fn wrong_row(&self, ids: &NodeIds, row: usize, what: &str) -> Error {
        let name = |i: u32| match (i as usize) < ids.len() {
            true => ids.get(i).to_string(),
            false => i.to_string(),
        };
        let (a, b) = (name(self.edges[row].0), name(self.edges[row].1));
        wrong(format!("row {row}, the edge between {a} and {b}: {what}"))
    }
}

impl Counts {
    /// The graph that was counted, without directions, with these node names.
    pub fn graph(&self, ids: NodeIds) -> Result<Graph> {
        Graph::trusted(Arc::clone(self.pattern()), ids)
    }
}

fn wrong(what: impl std::fmt::Display) -> Error {
    Error::config(
        "counts",
        format!("not the exact counts of this graph: {what}; count the graph that they belong to"),
    )
}
