//! Features of one level of recursion, computed again whenever they are read.
//!
//! Of the counts and their sums, means and maxima over neighbours (52 columns by default) only the logarithms of the
//! counts and of the sums are stored. Means of logarithms and maxima are computed when rows are read: a quarter of the
//! memory for each, at one visit of the neighbours per pass. What follows needs two passes. Cost: O(M) per counted
//! motif and pass; 2 of 4 columns are held.

use std::ops::Range;
use std::sync::Arc;

use super::degrees::{self, Around, Side};
use super::named::{Aggregate, Named, Origin, PIECE};
use super::{Structure, overflow, take_logs};
use crate::dense::{Block, Columns, Group, Norm, Stored};
use crate::error::Result;
use crate::motif::{Counts, Triangles, sums_of_nodes, with_neighbours};
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// Named columns, stored or computed.
#[derive(Debug, Clone)]
pub struct NamedColumns {
    /// One name per column.
    pub names: Vec<String>,
    /// Where each column comes from.
    pub origins: Vec<Origin>,
    /// The values.
    pub columns: Columns,
}

impl From<Named> for NamedColumns {
    fn from(named: Named) -> Self {
        NamedColumns {
            names: named.names,
            origins: named.origins,
            columns: named.block.into(),
        }
    }
}

impl Structure {
    /// The columns of [`Structure::of`] for one or two passes: one level of logarithms is not stored completely.
    pub fn streamed(&self, counts: &Counts) -> Result<NamedColumns> {
        if !self.streams() {
            return Ok(self.of(counts)?.into());
        }
        let motifs = self.motifs.motifs();
        let level = degrees::base(counts, &motifs, self.numbers)?;
        let (streamed, names, origins) = self.stream(level, Around::of(counts, &motifs))?;
        let columns = Columns::new(
            streamed.rows(),
            vec![Group::stored(None, Arc::new(streamed))],
        );
        Ok(NamedColumns {
            names,
            origins,
            columns,
        })
    }

    /// The columns of chosen nodes, which ascend: the rows of [`Structure::streamed`] for them, bit for bit, by counting motifs
    /// around them alone (`motif/exact/chosen.rs`). Nothing where that would take more than counting those of the whole
    /// graph, or needs directions.
    pub(crate) fn of_nodes(
        &self,
        pattern: &Pattern,
        nodes: &[u32],
        known: Triangles,
        progress: &dyn Progress,
    ) -> Result<Option<NamedColumns>> {
        let motifs = self.motifs.motifs();
        if !self.streams() || degrees::neighbourhoods(&motifs) > 1 {
            return Ok(None);
        }
        let near = with_neighbours(pattern, nodes);
        let Some(sums) = sums_of_nodes(pattern, &near, known, progress)? else {
            return Ok(None);
        };
        let mut number = vec![0; pattern.rows()];
        near.iter()
            .zip(0..)
            .for_each(|(&i, at)| number[i as usize] = at);
        let around = Around::rows(rows_of(pattern, &near, nodes, &number));
        let level = degrees::of_sums(&motifs, &sums, self.numbers);
        let (streamed, names, origins) = self.stream(level, around)?;
        let rows = nodes.iter().map(|&i| number[i as usize]).collect();
        let columns = Columns::new(
            nodes.len(),
            vec![Group::stored(None, Arc::new(Picked { streamed, rows }))],
        );
        Ok(Some(NamedColumns {
            names,
            origins,
            columns,
        }))
    }

    /// The columns that follow from those of one level, with their names and origins.
    fn stream(
        &self,
        mut level: Named,
        around: Around,
    ) -> Result<(Streamed, Vec<String>, Vec<Origin>)> {
        let aggregates = self.aggregates();
        let mut sums = None;
        if aggregates.contains(&Aggregate::Sum) {
            let alone = Structure {
                mean: false,
                max: false,
                ..self.clone()
            };
            let found = alone.aggregated(&level, &around);
            self.check_sums(&found.names, &found.block.column_norms(Norm::Max))?;
            sums = Some(found.block);
        }
        take_logs(&mut level.block);
        sums.iter_mut().for_each(take_logs);
        let (mut names, mut origins) = (level.names.clone(), level.origins.clone());
        let every = around.every(&aggregates);
        let aggregated = around.named(&every, &level);
        names.extend(aggregated.0);
        origins.extend(aggregated.1);
        Ok((
            Streamed {
                logs: level.block,
                sums,
                every,
                around,
            },
            names,
            origins,
        ))
    }

    /// Names and origins of the columns of one level of recursion: counts, then sums, means and maxima.
    pub fn named(&self, counts: &Counts) -> (Vec<String>, Vec<Origin>) {
        let motifs = self.motifs.motifs();
        let around = Around::of(counts, &motifs);
        let (mut names, mut origins) = degrees::named(&motifs, self.numbers);
        let level = Named {
            names: names.clone(),
            origins: origins.clone(),
            block: Block::zeros(0, 0),
        };
        let aggregated = around.named(&around.every(&self.aggregates()), &level);
        names.extend(aggregated.0);
        origins.extend(aggregated.1);
        (names, origins)
    }

    /// Refuses sums over neighbours that overflow, given their names and the largest value of each.
    pub fn check_sums(&self, names: &[String], largest: &[f64]) -> Result<()> {
        match names
            .iter()
            .zip(largest)
            .find(|(_, most)| !most.is_finite())
        {
            None => Ok(()),
            Some((name, _)) => Err(overflow(name)),
        }
    }

    /// Whether [`Structure::streamed`] holds less than all columns.
    pub(crate) fn streams(&self) -> bool {
        self.log && self.depth == 1
    }

    /// Columns that are held while features are read.
    pub(crate) fn held(&self) -> usize {
        let (all, motifs) = (self.columns(), self.motifs.motifs());
        let (base, sums) = (
            degrees::columns(&motifs).len(),
            degrees::neighbourhoods(&motifs),
        );
        if self.streams() {
            base * (1 + sums * usize::from(self.sum))
        } else {
            all
        }
    }
}

/// Neighbours of chosen nodes by their numbers among `near`, ascending; no others have neighbours.
fn rows_of(pattern: &Pattern, near: &[u32], nodes: &[u32], number: &[u32]) -> Pattern {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    let mut chosen = nodes.iter().peekable();
    for i in near {
        if chosen.next_if_eq(&i).is_some() {
            columns.extend(pattern.row(*i as usize).iter().map(|&j| number[j as usize]));
        }
        offsets.push(columns.len());
    }
    Pattern::new(offsets, columns, near.len())
}

/// Logarithms of the counts, of their sums over neighbours, and what their means and maxima are found from.
#[derive(Debug)]
struct Streamed {
    logs: Block,
    sums: Option<Block>,
    every: Vec<(Aggregate, Side)>,
    around: Around,
}

impl Stored for Streamed {
    fn rows(&self) -> usize {
        self.logs.rows()
    }

    fn cols(&self) -> usize {
        self.logs.cols() * (1 + self.every.len())
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        let (width, end) = (self.logs.cols(), range.end);
        let (mut means, mut maxima) = (vec![0.0; width], vec![0.0; width]);
        for (i, row) in range.zip(to.chunks_exact_mut(self.cols().max(1))) {
            if i + 1 < end {
                self.prefetch(i + 1);
            }
            let (own, aggregated) = row.split_at_mut(width);
            own.copy_from_slice(self.logs.row(i));
            for side in self.around.sides() {
                let aggregates = || {
                    self.every
                        .iter()
                        .enumerate()
                        .filter(move |one| one.1.1 == side)
                };
                if aggregates().any(|(_, one)| one.0 != Aggregate::Sum) {
                    let near = self.around.neighbours(side, i);
                    means_and_maxima(&self.logs, near, &mut means, &mut maxima);
                }
                for (at, (aggregate, _)) in aggregates() {
                    let columns = at * width..(at + 1) * width;
                    let from = match (aggregate, &self.sums) {
                        // Sums come first.
                        (Aggregate::Sum, Some(sums)) => &sums.row(i)[columns.clone()],
                        (Aggregate::Max, _) => &maxima,
                        _ => &means,
                    };
                    aggregated[columns].copy_from_slice(from);
                }
            }
        }
    }

    fn memory(&self) -> usize {
        self.logs.memory() + self.sums.as_ref().map_or(0, Block::memory)
    }
}

/// Some rows of them.
#[derive(Debug)]
struct Picked {
    streamed: Streamed,
    rows: Vec<u32>,
}

impl Stored for Picked {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cols(&self) -> usize {
        self.streamed.cols()
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        for (&row, to) in self.rows[range]
            .iter()
            .zip(to.chunks_exact_mut(self.cols().max(1)))
        {
            self.streamed.read(row as usize..row as usize + 1, to);
        }
    }

    fn memory(&self) -> usize {
        self.streamed.memory() + 4 * self.rows.len()
    }
}

impl Streamed {
    /// Prefetches the rows that the aggregates of a node are made of.
    fn prefetch(&self, i: usize) {
        for side in self.around.sides() {
            let near = self.around.neighbours(side, i);
            near.iter()
                .take(NEAR)
                .for_each(|&j| prefetch(self.logs.row(j as usize)));
        }
    }
}

/// Neighbours whose rows are prefetched.
const NEAR: usize = 32;

/// The mean and the maximum of each column over some rows, at one visit; zeros when there is none. No value is negative.
fn means_and_maxima(block: &Block, rows: &[u32], to: &mut [f32], most: &mut [f32]) {
    let divisor = rows.len().max(1) as f64;
    for (piece, (to, most)) in to.chunks_mut(PIECE).zip(most.chunks_mut(PIECE)).enumerate() {
        let mut totals = [0f64; PIECE];
        let totals = &mut totals[..to.len()];
        most.fill(0.0);
        for &j in rows {
            let row = &block.row(j as usize)[piece * PIECE..];
            for ((total, most), &x) in totals.iter_mut().zip(most.iter_mut()).zip(row) {
                *total += f64::from(x);
                *most = most.max(x);
            }
        }
        to.iter_mut()
            .zip(totals)
            .for_each(|(to, total)| *to = (*total / divisor) as f32);
    }
}
