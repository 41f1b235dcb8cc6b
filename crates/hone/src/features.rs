//! Structure features X: motif counts of every node and aggregates over its neighbours (sec. 4.3).
//!
//! The base columns are the motif degrees: for each motif (by default the 13 edge orbits), the sum of the
//! counts of a node's edges. Each level of recursion appends the sum, mean and maximum over the neighbourhood of
//! the columns the level before added; from the second level on a column that nearly repeats an
//! earlier one (by correlation) is left out, as in ReFeX (Henderson et al. 2011). Counts are
//! heavy-tailed, so log(1 + x) is taken of every column, and means are means of the logarithms,
//! unless set otherwise. Neighbourhoods ignore direction, unless there are directed motifs: these have two degrees,
//! over outgoing (`030T_out_degree`) and incoming arcs (`030T_in_degree`), and aggregates are over successors
//! (`mean_out_…`) and predecessors (`mean_in_…`). Cost: O(M) per column and level.

mod degrees;
mod named;
mod streamed;

pub use named::{Named, Origin};
pub use streamed::NamedColumns;

use hone_base::settings::SMALLEST;

use crate::dense::{Block, Norm};
use crate::error::{Error, Result};
use crate::message::{message, set, setting};
use crate::motif::{Counts, MotifSet};
use crate::parallel;
use degrees::Around;
use named::Aggregate;

hone_base::settings! {
    /// Features from motif counts: whether a run has them, and how they are computed.
    pub struct Structure {
        /// Whether they are used.
        pub enabled: bool = true,
        /// Motifs to count: auto (triads if arcs keep their direction, else all), or names as above.
        pub motifs: MotifSet = MotifSet::Auto,
        /// Add sums over neighbours.
        pub sum: bool = true,
        /// Add means over neighbours.
        pub mean: bool = true,
        /// Add maxima over neighbours.
        pub max: bool = true,
        /// Call motifs by their numbers in the literature, such as E1 for triangle, not by name.
        pub numbers: bool = false,
        /// Counts x become log(1 + x).
        pub log: bool = true,
        /// Levels of aggregation; 0 for the counts alone.
        #[range(0..=8)]
        pub depth: usize = 1,
        /// From level 2 on, columns whose correlation with an earlier one exceeds this are dropped.
        #[range(SMALLEST..=1.0)]
        pub prune: f64 = 0.999,
    }
}

impl Structure {
    /// Refuses values out of range; `field` is the name of this group of settings.
    pub fn check(&self, field: &str) -> Result<()> {
        self.motifs.check()?;
        self.check_ranges(&format!("{field}."))?;
        if self.depth > 0 && self.aggregates().is_empty() {
            return Err(Error::config(
                format!("{field}.depth"),
                "recursion needs one of sum, mean and max",
            ));
        }
        Ok(())
    }

    fn aggregates(&self) -> Vec<Aggregate> {
        let all = [
            (self.sum, Aggregate::Sum),
            (self.mean, Aggregate::Mean),
            (self.max, Aggregate::Max),
        ];
        all.into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, aggregate)| aggregate)
            .collect()
    }

    /// How many columns [`Structure::of`] makes at most.
    pub fn columns(&self) -> usize {
        let motifs = self.motifs.motifs();
        let factor = self.aggregates().len() * degrees::neighbourhoods(&motifs);
        (0..=self.depth)
            .map(|level| degrees::columns(&motifs).len() * factor.pow(level as u32))
            .sum()
    }

    /// X of a graph whose motifs were counted. Fails when sums of sums leave 32-bit floating point.
    pub fn of(&self, counts: &Counts) -> Result<Named> {
        let motifs = self.motifs.motifs();
        let around = Around::of(counts, &motifs);
        let mut level = degrees::base(counts, &motifs, self.numbers)?;
        let mut levels = Vec::new();
        for depth in 1..=self.depth {
            let next = self.aggregated(&level, &around);
            self.check_sums(&next.names, &next.block.column_norms(Norm::Max))?;
            levels.push(level);
            level = if depth > 1 {
                pruned(&levels, &next, self.prune)
            } else {
                next
            };
            if level.names.is_empty() {
                break;
            }
        }
        levels.push(level);
        let mut all = side_by_side(&levels.iter().collect::<Vec<_>>());
        if self.log {
            take_logs(&mut all.block);
        }
        Ok(all)
    }

    fn aggregated(&self, level: &Named, around: &Around) -> Named {
        let every = around.every(&self.aggregates());
        let width = level.names.len();
        let mut block = Block::zeros(level.block.rows(), width * every.len());
        block.update_rows(|i, row| {
            for (&(aggregate, side), to) in every.iter().zip(row.chunks_exact_mut(width)) {
                aggregate.over(&level.block, around.neighbours(side, i), self.log, to);
            }
        });
        let (names, origins) = around.named(&every, level);
        Named {
            names,
            origins,
            block,
        }
    }
}

/// The refusal of a column that overflows.
pub(crate) fn overflow(name: &str) -> Error {
    let message = message![
        format!("`{name}` exceeds 32-bit floating point; lower "),
        setting("structure.depth"),
        ", or leave out sums (",
        set("structure.sum", false),
        ")"
    ];
    Error::Numeric {
        stage: "features".into(),
        message,
    }
}

/// log(1 + x) of every value.
fn take_logs(block: &mut Block) {
    // Of zeros, which are many where few rows are made, it is zero.
    block.update_rows(|_, row| {
        row.iter_mut()
            .filter(|x| **x != 0.0)
            .for_each(|x| *x = x.ln_1p());
    });
}

/// All columns in one block.
pub(crate) fn side_by_side(levels: &[&Named]) -> Named {
    let names: Vec<String> = levels
        .iter()
        .flat_map(|level| level.names.iter().cloned())
        .collect();
    let rows = levels.first().map_or(0, |level| level.block.rows());
    let mut block = Block::zeros(rows, names.len());
    block.update_rows(|i, row| {
        let values = levels.iter().flat_map(|level| level.block.row(i));
        row.iter_mut().zip(values).for_each(|(to, &x)| *to = x);
    });
    let origins = levels
        .iter()
        .flat_map(|level| level.origins.iter().copied())
        .collect();
    Named {
        names,
        origins,
        block,
    }
}

/// The columns of `next` that no earlier column nearly repeats, compared after log(1 + x).
fn pruned(levels: &[Named], next: &Named, most: f64) -> Named {
    let earlier: usize = levels.iter().map(|level| level.names.len()).sum();
    let mut all = side_by_side(&levels.iter().chain([next]).collect::<Vec<_>>());
    take_logs(&mut all.block);
    let correlation = correlations(&all.block);
    let width = all.names.len();
    let mut kept: Vec<usize> = (0..earlier).collect();
    for j in earlier..width {
        if kept
            .iter()
            .all(|&k| correlation[j * width + k].abs() <= most)
        {
            kept.push(j);
        }
    }
    let kept: Vec<usize> = kept[earlier..].iter().map(|j| j - earlier).collect();
    let mut block = Block::zeros(next.block.rows(), kept.len());
    block.update_rows(|i, row| {
        row.iter_mut()
            .zip(&kept)
            .for_each(|(to, &j)| *to = next.block.row(i)[j]);
    });
    let names = kept.iter().map(|&j| next.names[j].clone()).collect();
    Named {
        names,
        origins: kept.iter().map(|&j| next.origins[j]).collect(),
        block,
    }
}

/// Correlations of all pairs of columns; a constant column repeats anything.
fn correlations(block: &Block) -> Vec<f64> {
    let (n, width) = (block.rows() as f64, block.cols());
    let gram = block.gram();
    let mean = |j: usize| {
        (0..block.rows())
            .map(|i| f64::from(block.row(i)[j]))
            .sum::<f64>()
            / n.max(1.0)
    };
    let means = parallel::map(width, mean);
    let covariance = |i: usize, j: usize| gram.get(i, j) / n.max(1.0) - means[i] * means[j];
    let flat = |i: usize| covariance(i, i) <= 1e-12 * (1.0 + means[i] * means[i]);
    let of = |i: usize, j: usize| {
        if flat(i) || flat(j) {
            1.0
        } else {
            covariance(i, j) / (covariance(i, i) * covariance(j, j)).sqrt()
        }
    };
    (0..width * width)
        .map(|at| of(at / width, at % width))
        .collect()
}
