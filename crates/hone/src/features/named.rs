//! [`Named`]: columns with names, and where they come from.

use crate::dense::Block;
use crate::motif::Motif;

/// Named columns, one row per node.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// One name per column.
    pub names: Vec<String>,
    /// Where each column comes from.
    pub origins: Vec<Origin>,
    /// The values.
    pub block: Block,
}

/// Where a column comes from; the default is a column that counts no motif.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// The motif it counts, if it counts one.
    pub motif: Option<Motif>,
    /// How often it was aggregated over neighbours.
    pub level: usize,
}

/// An aggregate over neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate {
    Sum,
    Mean,
    Max,
}

impl Origin {
    /// The number of vertices of the motif; 0 if there is none.
    pub fn size(&self) -> usize {
        self.motif.map_or(0, Motif::size)
    }
}

/// Columns whose sums are kept at a time; all of the usual ones.
pub(super) const PIECE: usize = 16;

impl Aggregate {
    pub(super) fn name(self) -> &'static str {
        match self {
            Aggregate::Sum => "sum",
            Aggregate::Mean => "mean",
            Aggregate::Max => "max",
        }
    }

    /// Writes the aggregate of some rows; zeros when there is none. With `log` the mean is that of
    /// the logarithms, taken back.
    pub(super) fn over(self, block: &Block, rows: &[u32], log: bool, to: &mut [f32]) {
        if self == Aggregate::Sum {
            return sums(block, rows, to);
        }
        let mut totals = vec![0f64; to.len()];
        let log_mean = log && self == Aggregate::Mean;
        for &j in rows {
            for (total, &x) in totals.iter_mut().zip(block.row(j as usize)) {
                let x = if log_mean {
                    f64::from(x).ln_1p()
                } else {
                    f64::from(x)
                };
                *total = if self == Aggregate::Max {
                    total.max(x)
                } else {
                    *total + x
                };
            }
        }
        let divisor = if self == Aggregate::Mean {
            rows.len().max(1) as f64
        } else {
            1.0
        };
        for (to, total) in to.iter_mut().zip(totals) {
            let value = total / divisor;
            *to = if log_mean {
                value.exp_m1() as f32
            } else {
                value as f32
            };
        }
    }
}

/// The sum of each column over some rows.
fn sums(block: &Block, rows: &[u32], to: &mut [f32]) {
    for (piece, to) in to.chunks_mut(PIECE).enumerate() {
        let mut totals = [0f64; PIECE];
        let totals = &mut totals[..to.len()];
        for &j in rows {
            let row = &block.row(j as usize)[piece * PIECE..];
            totals
                .iter_mut()
                .zip(row)
                .for_each(|(total, &x)| *total += f64::from(x));
        }
        to.iter_mut()
            .zip(totals)
            .for_each(|(to, total)| *to = *total as f32);
    }
}
