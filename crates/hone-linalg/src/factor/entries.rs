//! The entries of a matrix that a loss uses: its nonzeros, stored by rows and by columns; these and sampled zeros; or all of
//! them, read when needed.
//!
//! Nonzeros are read from the rows of the expression, so that k-step matrices work too, as far as their nonzeros fit
//! the memory. Cost: 16 bytes per nonzero, and the walks of `Operator::row_work`.
//!
//! Of a row with n nonzeros and z zeros, `negatives` · n of the zeros are drawn (some for an empty row too),
//! each with weight z over the number drawn, so that weighted sums over the sample are unbiased. If nearly
//! all zeros of a row would be drawn, all are used.

use std::ops::Range;
use std::sync::Arc;

use rand_xoshiro::rand_core::Rng;
use rustc_hash::FxHashSet;

use super::Factors;
use super::pair::{Best, Descent, Pair, Start, nothing, penalty};
use crate::dense::{Block, Panels};
use crate::error::{Error, Result};
use crate::memory;
use crate::operator::{Operator, Rows};
use crate::parallel;
use crate::random::{Key, below};
use crate::sparse::{Csr, Pattern};

/// Bytes per nonzero, by rows and by columns.
pub(super) const ENTRY_BYTES: u64 = 16;

/// Rows per parallel task.
const CHUNK: usize = 256;

/// The least λ, relative to a typical entry.
const LEAST: f64 = 1e-4;

/// Pivots below this fraction of the largest diagonal entry: the coordinate is not determined by the entries.
const ZERO: f64 = 1e-10;

/// The nonzeros of a matrix.
pub(super) struct Observed {
    pub(super) rows: Csr,
    pub(super) columns: Csr,
    /// The sum of their squares.
    pub(super) norm: f64,
}

impl Observed {
    /// Reads the nonzeros; refuses more than fit into memory. An embedding has checked this with its plan before, for
    /// the largest possible number ([`Solver::memory`](super::Solver::memory)), so that its limit is kept.
    pub(super) fn of(s: &Operator) -> Result<Observed> {
        let limit = memory::available().unwrap_or(u64::MAX);
        let Some(rows) = s.entries((limit / ENTRY_BYTES) as usize) else {
            return Err(Error::Memory {
                stage: format!("keeping the nonzeros of {}", s.formula()),
                need: (s.row_work() * ENTRY_BYTES as f64) as u64,
                least: false,
                limit,
                remedy: "use fewer steps, or a solver that needs products only (svd, or als and ccd without \
                         observed-only)"
                    .into(),
            });
        };
        let columns = rows.transposed();
        let norm = rows.values().iter().map(|&x| f64::from(x).powi(2)).sum();
        Ok(Observed {
            rows,
            columns,
            norm,
        })
    }

    /// The λ that is used where another is asked for. With less, rows that have fewer entries than there are columns have no
    /// best factors, or only enormous ones that cancel.
    pub(super) fn weight(&self, asked: f64) -> f64 {
        let typical = (self.norm / self.rows.nnz().max(1) as f64).sqrt();
        asked.max(LEAST * typical)
    }

    /// (Σ (s − a·b)² + λ(‖A‖² + ‖B‖²)) / Σ s² over the nonzeros.
    pub(super) fn value(&self, pair: &Pair, weight: f64) -> f64 {
        let pieces = parallel::stretches(self.rows.rows(), CHUNK, |range| {
            let mut sum = 0.0;
            for i in range {
                let (columns, values) = self.rows.row(i);
                for (&j, &s) in columns.iter().zip(values) {
                    sum += (f64::from(s) - dot(pair.a.row(i), pair.b.row(j as usize))).powi(2);
                }
            }
            sum
        });
        let sum: f64 = pieces.into_iter().sum();
        if self.norm == 0.0 {
            return 0.0;
        }
        let penalty = penalty(weight, [&pair.a.gram(), &pair.b.gram()]);
        (sum + penalty) / self.norm
    }

    /// What [`Observed::value`] measures.
    pub(super) fn measure(&self, weight: f64) -> String {
        format!(
            "squared error and penalty (λ = {weight:.3e}) relative to ‖S‖², on the {} nonzeros only; exact",
            self.rows.nnz()
        )
    }
}

/// Factors of the nonzeros alone: `improve` does one iteration for these and a λ, and never increases the loss by much.
pub(super) fn fit_nonzeros(
    s: &Operator,
    start: Start,
    regularization: f64,
    descent: Descent,
    mut improve: impl FnMut(&Observed, &mut Pair, f64),
) -> Result<Factors<Panels>> {
    let mut pair = Pair::start(s, start, descent.task)?;
    let entries = Observed::of(s)?;
    if entries.norm == 0.0 {
        return Ok(nothing(s, descent.task, entries.measure(regularization)));
    }
    let weight = entries.weight(regularization);
    let first = entries.value(&pair, weight);
    let mut best = Best::new(first, &pair);
    let descent = descent.run(first, |_| {
        improve(&entries, &mut pair, weight);
        let loss = entries.value(&pair, weight);
        best.note(loss, &pair);
        Ok(loss)
    })?;
    let (found, measure) = (best.pair.decompose()?, entries.measure(weight));
    drop(best);
    Ok(descent.finish(found, measure, |pair| entries.value(&pair, weight)))
}

/// Each row of X by least squares with penalty λ‖x‖² on its own entries, given the other factor.
pub(super) fn least_squares(entries: &Csr, x: &mut Block, other: &Block, weight: f64) {
    let width = x.cols();
    x.update_rows(|i, row| {
        let (columns, values) = entries.row(i);
        let (mut gram, mut right) = (vec![0.0; width * width], vec![0.0; width]);
        for (&j, &s) in columns.iter().zip(values) {
            add_outer(
                &mut gram,
                &mut right,
                other.row(j as usize),
                1.0,
                f64::from(s),
            );
        }
        (0..width).for_each(|f| gram[f * width + f] += weight);
        solve(&mut gram, &mut right);
        row.iter_mut()
            .zip(&right)
            .for_each(|(to, &x)| *to = x as f32);
    });
}

/// Adds weight·b bᵀ to the lower half of `gram`, and value·b to `right`.
pub(super) fn add_outer(gram: &mut [f64], right: &mut [f64], b: &[f32], weight: f64, value: f64) {
    let width = b.len();
    for f in 0..width {
        let scaled = weight * f64::from(b[f]);
        right[f] += value * f64::from(b[f]);
        gram[f * width..][..=f]
            .iter_mut()
            .zip(b)
            .for_each(|(to, &b)| *to += scaled * f64::from(b));
    }
}

/// Solves G x = y in place by Cholesky's method, from the lower half of G (which is lost); coordinates that G
/// does not determine become zero.
pub(super) fn solve(gram: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    let floor = ZERO * (0..n).map(|f| gram[f * n + f]).fold(0.0, f64::max);
    for f in 0..n {
        for g in 0..=f {
            let known: f64 = (0..g).map(|h| gram[f * n + h] * gram[g * n + h]).sum();
            let rest = gram[f * n + g] - known;
            gram[f * n + g] = match (f == g, gram[g * n + g]) {
                (true, _) if rest > floor => rest.sqrt(),
                (true, _) => 0.0,
                (false, pivot) if pivot > 0.0 => rest / pivot,
                (false, _) => 0.0,
            };
        }
    }
    let divide = |value: f64, pivot: f64| if pivot > 0.0 { value / pivot } else { 0.0 };
    for f in 0..n {
        let known: f64 = (0..f).map(|g| gram[f * n + g] * right[g]).sum();
        right[f] = divide(right[f] - known, gram[f * n + f]);
    }
    for f in (0..n).rev() {
        let known: f64 = (f + 1..n).map(|g| gram[g * n + f] * right[g]).sum();
        right[f] = divide(right[f] - known, gram[f * n + f]);
    }
}

pub(super) fn dot(x: &[f32], y: &[f32]) -> f64 {
    x.iter()
        .zip(y)
        .map(|(&x, &y)| f64::from(x) * f64::from(y))
        .sum()
}

/// Bytes per entry of a sample, by rows and by columns.
pub(super) const SAMPLE_BYTES: u64 = 48;

/// The entries that are used.
pub(super) enum EntrySet<'a> {
    /// All, read from the expression.
    All(&'a Operator),
    /// Some, by rows and by columns.
    Stored {
        values: [Csr; 2],
        /// At the same positions; none when all are 1.
        weights: Option<[Csr; 2]>,
        nonzeros: usize,
    },
}

impl<'a> EntrySet<'a> {
    /// The nonzeros.
    pub(super) fn nonzeros(s: &'a Operator) -> Result<EntrySet<'a>> {
        let Observed { rows, columns, .. } = Observed::of(s)?;
        Ok(EntrySet::Stored {
            nonzeros: rows.nnz(),
            values: [rows, columns],
            weights: None,
        })
    }

    /// The nonzeros and a sample of the zeros.
    pub(super) fn sample(s: &'a Operator, negatives: usize, key: Key) -> Result<EntrySet<'a>> {
        let nonzeros = Observed::of(s)?.rows;
        let sampled = |i: usize| {
            let (columns, values) = nonzeros.row(i);
            let key = key.with("row", i as u64);
            let (zeros, weight) = draw_zeros(columns, nonzeros.cols(), negatives, key);
            let own = columns.iter().zip(values).map(|(&j, &s)| (j, s, 1.0));
            let zeros = zeros.into_iter().map(|j| (j, 0.0, weight));
            let mut row: Vec<(u32, f32, f32)> = own.chain(zeros).collect();
            row.sort_unstable_by_key(|&(j, ..)| j);
            row
        };
        let some = |range: Range<usize>| range.map(sampled).collect::<Vec<_>>();
        let rows = parallel::stretches(nonzeros.rows(), CHUNK, some).concat();
        let mut offsets = vec![0];
        rows.iter()
            .for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        let all = || rows.iter().flatten();
        let columns = all().map(|e| e.0).collect();
        let pattern = Arc::new(Pattern::new(offsets, columns, nonzeros.cols()));
        let values: Vec<f32> = all().map(|e| e.1).collect();
        let weights: Vec<f32> = all().map(|e| e.2).collect();
        let [values, weights] = [values, weights].map(|of| {
            let rows = Csr::new(pattern.clone(), of.into());
            let columns = rows.transposed();
            [rows, columns]
        });
        Ok(EntrySet::Stored {
            values,
            weights: Some(weights),
            nonzeros: nonzeros.nnz(),
        })
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        match self {
            EntrySet::All(s) => s.rows(),
            EntrySet::Stored { values, .. } => values[0].rows(),
        }
    }

    /// A reader of rows, or of columns when `transpose`.
    pub(super) fn reader(&self, transpose: bool) -> Reader<'_> {
        match self {
            EntrySet::All(s) => {
                let (rows, length) = match transpose {
                    true => (s.read_columns(), s.rows()),
                    false => (s.read_rows(), s.cols()),
                };
                let line = (0..length as u32).map(|j| (j, 0.0, 1.0)).collect();
                let from = Source::All(rows, Vec::new());
                Reader { from, line }
            }
            EntrySet::Stored {
                values, weights, ..
            } => {
                let side = usize::from(transpose);
                let weights = weights.as_ref().map(|weights| &weights[side]);
                let (from, line) = (Source::Stored(&values[side], weights), Vec::new());
                Reader { from, line }
            }
        }
    }

    /// Which entries these are, in words.
    pub(super) fn describe(&self) -> String {
        match self {
            EntrySet::All(s) => format!("all {} entries; exact", s.rows() * s.cols()),
            EntrySet::Stored {
                nonzeros,
                weights: None,
                ..
            } => format!("the {nonzeros} nonzeros only; exact"),
            EntrySet::Stored {
                nonzeros, values, ..
            } => {
                let zeros = values[0].nnz() - nonzeros;
                format!(
                    "trained and measured on {nonzeros} nonzeros and {zeros} sampled zeros; an estimate"
                )
            }
        }
    }
}

/// Distinct positions outside the ascending `taken`, and the weight of each.
fn draw_zeros(taken: &[u32], cols: usize, negatives: usize, key: Key) -> (Vec<u32>, f32) {
    let zeros = cols - taken.len();
    let wanted = negatives.saturating_mul(taken.len().max(1));
    if wanted >= zeros / 2 {
        let free = (0..cols as u32).filter(|j| taken.binary_search(j).is_err());
        return (free.collect(), 1.0);
    }
    let mut rng = key.rng();
    let mut drawn = FxHashSet::default();
    while drawn.len() < wanted {
        let j = below(rng.next_u64(), cols as u64) as u32;
        if taken.binary_search(&j).is_err() {
            drawn.insert(j);
        }
    }
    let mut drawn: Vec<u32> = drawn.into_iter().collect();
    drawn.sort_unstable();
    (drawn, (zeros as f64 / wanted as f64) as f32)
}

/// An entry that is used: its column, value and weight.
pub(super) type Entry = (u32, f64, f64);

enum Source<'a> {
    /// A reader of all rows, and the nonzeros of one.
    All(Rows<'a>, Vec<(u32, f64)>),
    /// Values and weights.
    Stored(&'a Csr, Option<&'a Csr>),
}

/// Reads the entries of rows.
pub(super) struct Reader<'a> {
    from: Source<'a>,
    line: Vec<Entry>,
}

impl Reader<'_> {
    pub(super) fn read(&mut self, i: usize) -> &[Entry] {
        match &mut self.from {
            Source::All(rows, nonzeros) => {
                rows.read(i, nonzeros);
                self.line.iter_mut().for_each(|(_, s, _)| *s = 0.0);
                for &(j, s) in nonzeros.iter() {
                    self.line[j as usize].1 = s;
                }
            }
            Source::Stored(values, weights) => {
                let (columns, own) = values.row(i);
                self.line.clear();
                let entries = columns.iter().zip(own);
                self.line
                    .extend(entries.map(|(&j, &s)| (j, f64::from(s), 1.0)));
                if let Some(weights) = weights {
                    for (entry, &weight) in self.line.iter_mut().zip(weights.row(i).1) {
                        entry.2 = f64::from(weight);
                    }
                }
            }
        }
        &self.line
    }
}
