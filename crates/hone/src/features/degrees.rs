//! Motif degrees of nodes, and the neighbourhoods that they are aggregated over.
//!
//! Without directions a motif has one degree, the sum over a node's edges, and a node one neighbourhood. A directed motif has
//! a degree over the arcs that leave a node and one over those that enter it (one where all its arcs are mutual), and
//! a node has two neighbourhoods. Cost: O(M) per motif, and a search among the arcs of the other end for arcs that enter.

use std::sync::Arc;

use super::named::{Aggregate, Named, Origin};
use crate::dense::Block;
use crate::error::Result;
use crate::motif::triad::Triads;
use crate::motif::{Counts, Motif, Orbit};
use crate::sparse::Pattern;

/// Which arcs of a node are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Edges, directions ignored; or arcs both ways alike.
    Both,
    /// Those that leave.
    Out,
    /// Those that enter.
    In,
}

/// The degrees of motifs, in the order of columns.
pub(super) fn columns(motifs: &[Motif]) -> Vec<(Motif, Side)> {
    let sides = |motif: Motif| match motif.triad() {
        None => vec![Side::Both],
        Some(triad) if motif.arc_orbits().len() == triad.orbits().len() && triad.is_symmetric() => {
            vec![Side::Out]
        }
        Some(_) => vec![Side::Out, Side::In],
    };
    motifs
        .iter()
        .flat_map(|&motif| sides(motif).into_iter().map(move |side| (motif, side)))
        .collect()
}

/// How many neighbourhoods a node has.
pub(super) fn neighbourhoods(motifs: &[Motif]) -> usize {
    if motifs.iter().any(|motif| motif.is_directed()) {
        2
    } else {
        1
    }
}

fn name(motif: &str, side: Side, alone: bool) -> String {
    match side {
        Side::Out if !alone => format!("{motif}_out_degree"),
        Side::In => format!("{motif}_in_degree"),
        _ => format!("{motif}_degree"),
    }
}

/// The motif degrees as columns.
pub(super) fn base(counts: &Counts, motifs: &[Motif], numbers: bool) -> Result<Named> {
    let columns = columns(motifs);
    motifs
        .iter()
        .try_for_each(|&motif| counts.check_counted(motif))?;
    let triads = counts.triads().filter(|_| neighbourhoods(motifs) == 2);
    let of_nodes = counts.node_sums();
    let mut block = Block::zeros(counts.pattern().rows(), columns.len());
    block.update_rows(|i, row| {
        let sums = of_nodes(i);
        let arcs = triads.map(|triads| triads.node_sums(i));
        let degree = |&(motif, side): &(Motif, Side)| match (&arcs, side) {
            (Some((out, _)), Side::Out) => motif
                .arc_orbits()
                .iter()
                .map(|orbit| out[orbit.index()] as f64)
                .sum(),
            (Some((_, into)), Side::In) => motif
                .arc_orbits()
                .iter()
                .map(|orbit| into[orbit.index()] as f64)
                .sum(),
            _ => without_direction(motif, &sums),
        };
        row.iter_mut()
            .zip(&columns)
            .for_each(|(to, column)| *to = degree(column) as f32);
    });
    let (names, origins) = named(motifs, numbers);
    Ok(Named {
        names,
        origins,
        block,
    })
}

/// The degrees of motifs without directions, from sums over the edges of each node.
pub(super) fn of_sums(motifs: &[Motif], sums: &[[f64; Orbit::COUNT]], numbers: bool) -> Named {
    let mut block = Block::zeros(sums.len(), motifs.len());
    block.update_rows(|i, row| {
        row.iter_mut()
            .zip(motifs)
            .for_each(|(to, &motif)| *to = without_direction(motif, &sums[i]) as f32);
    });
    let (names, origins) = named(motifs, numbers);
    Named {
        names,
        origins,
        block,
    }
}

fn without_direction(motif: Motif, sums: &[f64; Orbit::COUNT]) -> f64 {
    motif
        .orbits()
        .iter()
        .map(|orbit| sums[orbit.index()])
        .sum::<f64>()
}

/// Names and origins of the motif degrees; motifs are called by name or by number.
pub(super) fn named(motifs: &[Motif], numbers: bool) -> (Vec<String>, Vec<Origin>) {
    let columns = columns(motifs);
    let alone = |motif: Motif| !columns.contains(&(motif, Side::In));
    let names = columns
        .iter()
        .map(|&(motif, side)| name(motif.called(numbers), side, alone(motif)))
        .collect();
    let origins = columns
        .iter()
        .map(|&(motif, _)| Origin {
            motif: Some(motif),
            level: 0,
        })
        .collect();
    (names, origins)
}

/// The neighbourhoods of all nodes.
#[derive(Debug, Clone)]
pub(super) struct Around(Vec<(Side, Arc<Pattern>)>);

impl Around {
    pub(super) fn of(counts: &Counts, motifs: &[Motif]) -> Around {
        let directed = |triads: &Triads| {
            vec![
                (Side::Out, triads.arcs().clone()),
                (Side::In, triads.entering().clone()),
            ]
        };
        let triads = counts.triads().filter(|_| neighbourhoods(motifs) == 2);
        Around(triads.map_or_else(|| vec![(Side::Both, counts.pattern().clone())], directed))
    }

    /// The same without directions, of rows that need not be all of a graph's.
    pub(super) fn rows(pattern: Pattern) -> Around {
        Around(vec![(Side::Both, Arc::new(pattern))])
    }

    /// Which neighbourhoods a node has.
    pub(super) fn sides(&self) -> impl Iterator<Item = Side> {
        self.0.iter().map(|&(side, _)| side)
    }

    /// Each aggregate over each neighbourhood, in the order of columns.
    pub(super) fn every(&self, aggregates: &[Aggregate]) -> Vec<(Aggregate, Side)> {
        aggregates
            .iter()
            .flat_map(|&aggregate| self.0.iter().map(move |&(side, _)| (aggregate, side)))
            .collect()
    }

    /// The neighbours of node `i` on one side.
    pub(super) fn neighbours(&self, side: Side, i: usize) -> &[u32] {
        self.0
            .iter()
            .find(|(own, _)| *own == side)
            .map_or(&[], |(_, pattern)| pattern.row(i))
    }

    /// Names and origins of the aggregated columns of a level.
    pub(super) fn named(
        &self,
        every: &[(Aggregate, Side)],
        level: &Named,
    ) -> (Vec<String>, Vec<Origin>) {
        let called = |&(aggregate, side): &(Aggregate, Side)| match side {
            Side::Both => aggregate.name().to_owned(),
            Side::Out => format!("{}_out", aggregate.name()),
            Side::In => format!("{}_in", aggregate.name()),
        };
        let of = |one: &(Aggregate, Side)| {
            let called = called(one);
            level
                .names
                .iter()
                .map(|name| format!("{called}_{name}"))
                .collect::<Vec<_>>()
        };
        let next = |origin: &Origin| Origin {
            level: origin.level + 1,
            ..*origin
        };
        let origins = level
            .origins
            .iter()
            .map(next)
            .collect::<Vec<_>>()
            .repeat(every.len());
        (every.iter().flat_map(of).collect(), origins)
    }
}
