//! Features of one level of recursion, computed again whenever they are read.
//!
//! Of the counts and their sums, means and maxima over neighbours (52 columns by default) only the logarithms of the
//! counts and of the sums are stored. Means of logarithms and maxima are computed when rows are read: a quarter of the
//! memory for each, at one visit of the neighbours per pass. What follows needs two passes. Cost: O(M) per counted
//! motif and pass; 2 of 4 columns are held.

use std::ops::Range;
use std::sync::Arc;

use super::degrees::{self, Around, Side};
use super::named::{Aggregate, Named, Origin, PIECE, divided};
use super::{Structure, check_finite, overflow, take_logs};
use crate::dense::{Block, Columns, Group, Stored};
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
        let level = degrees::base(counts, &motifs)?;
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
        let (streamed, names, origins) = self.stream(degrees::of_sums(&motifs, &sums), around)?;
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
        let sums = aggregates.contains(&Aggregate::Sum).then(|| {
            let sums = Structure {
                mean: false,
                max: false,
                ..self.clone()
            }
            .aggregated(&level, &around);
            check_finite(&sums).map(|()| sums.block)
        });
        let mut sums = sums.transpose()?;
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
        let (mut names, mut origins) = degrees::named(&motifs);
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
        for (i, row) in range.zip(to.chunks_exact_mut(self.cols().max(1))) {
            if i + 1 < end {
                self.ask(i + 1);
            }
            let (own, aggregated) = row.split_at_mut(width);
            own.copy_from_slice(self.logs.row(i));
            for at in 0..self.every.len() {
                self.aggregate(i, at, aggregated);
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
    fn ask(&self, i: usize) {
        let sides = self.every.iter().map(|one| one.1).enumerate();
        let once = sides.filter(|&(at, side)| !self.every[..at].iter().any(|one| one.1 == side));
        for (_, side) in once {
            let near = self.around.neighbours(side, i);
            near.iter()
                .take(NEAR)
                .for_each(|&j| prefetch(self.logs.row(j as usize)));
        }
    }

    /// Writes one aggregate of a node; the mean together with the maximum over the same neighbours, if both
    /// are requested.
    fn aggregate(&self, i: usize, at: usize, all: &mut [f32]) {
        let width = self.logs.cols();
        let (aggregate, side) = self.every[at];
        let near = self.around.neighbours(side, i);
        let (to, after) = all[at * width..].split_at_mut(width);
        let with = |other: Aggregate| self.every.iter().position(|one| *one == (other, side));
        match (aggregate, &self.sums) {
            // Sums come first.
            (Aggregate::Sum, Some(sums)) => {
                to.copy_from_slice(&sums.row(i)[at * width..(at + 1) * width]);
            }
            (Aggregate::Max, _) if with(Aggregate::Mean).is_some_and(|mean| mean < at) => {}
            (Aggregate::Max, _) => maxima(&self.logs, near, to),
            _ => match with(Aggregate::Max).and_then(|most| most.checked_sub(at + 1)) {
                Some(most) => {
                    means_and_maxima(&self.logs, near, to, &mut after[most * width..][..width]);
                }
                None => means(&self.logs, near, to),
            },
        }
    }
}

/// Neighbours whose rows are prefetched.
const NEAR: usize = 32;
/// The largest value of each column over some rows; zeros when there is none. No value is negative.
fn maxima(block: &Block, rows: &[u32], to: &mut [f32]) {
    to.fill(0.0);
    for &j in rows {
        to.iter_mut()
            .zip(block.row(j as usize))
            .for_each(|(most, &x)| *most = most.max(x));
    }
}

/// The mean of each column over some rows; zeros when there is none.
fn means(block: &Block, rows: &[u32], to: &mut [f32]) {
    divided(block, rows, rows.len().max(1) as f64, to);
}

/// [`means`] and [`maxima`] at one visit of the rows.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Generator;
    use crate::progress::Silent;

    /// The same columns as those that are held, to rounding.
    #[test]
    fn streamed_features_are_the_features() {
        let graph = Generator::Rmat {
            nodes: 600,
            degree: 6.0,
            quadrants: [0.57, 0.19, 0.19, 0.05],
        };
        let counts = crate::motif::count(&graph.graph(3, &Silent).expect("a graph"), &Silent)
            .expect("counted");
        for (sum, mean, max) in [
            (true, true, true),
            (false, true, false),
            (true, false, true),
        ] {
            let features = Structure {
                sum,
                mean,
                max,
                ..Structure::default()
            };
            let (held, streamed) = (
                features.of(&counts).expect("finite"),
                features.streamed(&counts).expect("finite"),
            );
            assert_eq!(
                (&held.names, &held.origins),
                (&streamed.names, &streamed.origins)
            );
            let block = streamed.columns.to_block();
            let off = held
                .block
                .as_slice()
                .iter()
                .zip(block.as_slice())
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(off < 1e-5, "{off}");
        }
        let structure = Structure::default();
        let whole = structure
            .streamed(&counts)
            .expect("finite")
            .columns
            .to_block();
        let pattern = counts.pattern();
        let far: Vec<u32> = (0..600)
            .filter(|&i| pattern.row(i as usize).len() < 2)
            .take(5)
            .collect();
        for nodes in [&far[..], &far[..1], &[]] {
            let few = structure
                .of_nodes(pattern, nodes, None, &Silent)
                .expect("finite")
                .expect("few steps")
                .columns
                .to_block();
            assert_eq!((few.rows(), few.cols()), (nodes.len(), whole.cols()));
            nodes
                .iter()
                .enumerate()
                .for_each(|(k, &i)| assert_eq!(few.row(k), whole.row(i as usize), "node {i}"));
        }
        let deep = Structure {
            depth: 2,
            ..Structure::default()
        };
        assert_eq!(
            deep.streamed(&counts).expect("finite").columns.to_block(),
            deep.of(&counts).expect("finite").block
        );
    }
}
