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
use crate::dense::Block;
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
) -> Result<Factors> {
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
    /// Some, stored by rows and by columns.
    Stored {
        rows: Weighted,
        columns: Weighted,
        nonzeros: usize,
    },
}

/// Values, and weights at the same positions; none when all are 1.
pub(super) struct Weighted {
    values: Csr,
    weights: Option<Csr>,
}

impl<'a> EntrySet<'a> {
    /// The nonzeros.
    pub(super) fn nonzeros(s: &'a Operator) -> Result<EntrySet<'a>> {
        let Observed { rows, columns, .. } = Observed::of(s)?;
        let plain = |values| Weighted {
            values,
            weights: None,
        };
        Ok(EntrySet::Stored {
            nonzeros: rows.nnz(),
            rows: plain(rows),
            columns: plain(columns),
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
            let mut row: Vec<(u32, f32, f32)> = own
                .chain(zeros.into_iter().map(|j| (j, 0.0, weight)))
                .collect();
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
        let values = Csr::new(pattern.clone(), values.into());
        let weights = Csr::new(pattern, weights.into());
        Ok(EntrySet::Stored {
            columns: Weighted {
                values: values.transposed(),
                weights: Some(weights.transposed()),
            },
            rows: Weighted {
                values,
                weights: Some(weights),
            },
            nonzeros: nonzeros.nnz(),
        })
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        match self {
            EntrySet::All(s) => s.rows(),
            EntrySet::Stored { rows, .. } => rows.values.rows(),
        }
    }

    /// A reader of rows, or of columns when `transpose`.
    pub(super) fn reader(&self, transpose: bool) -> Reader<'_> {
        let from = match self {
            EntrySet::All(s) if transpose => Source::All(s.read_columns(), s.rows(), Vec::new()),
            EntrySet::All(s) => Source::All(s.read_rows(), s.cols(), Vec::new()),
            EntrySet::Stored { columns, .. } if transpose => Source::Stored(columns),
            EntrySet::Stored { rows, .. } => Source::Stored(rows),
        };
        Reader {
            from,
            line: Line::default(),
        }
    }

    /// Which entries these are, in words.
    pub(super) fn describe(&self) -> String {
        match self {
            EntrySet::All(s) => format!("all {} entries; exact", s.rows() * s.cols()),
            EntrySet::Stored { rows, nonzeros, .. } if rows.weights.is_none() => {
                format!("the {nonzeros} nonzeros only; exact")
            }
            EntrySet::Stored { rows, nonzeros, .. } => {
                let zeros = rows.values.nnz() - nonzeros;
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

/// The entries of a row that are used.
#[derive(Default)]
pub(super) struct Line {
    columns: Vec<u32>,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Line {
    /// Column, entry, weight.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f64, f64)> + '_ {
        self.columns
            .iter()
            .zip(&self.values)
            .zip(&self.weights)
            .map(|((&j, &s), &weight)| (j, s, weight))
    }
}

enum Source<'a> {
    /// A reader, the length of its rows, and the nonzeros of one.
    All(Rows<'a>, usize, Vec<(u32, f64)>),
    Stored(&'a Weighted),
}

/// Reads rows into a [`Line`].
pub(super) struct Reader<'a> {
    from: Source<'a>,
    line: Line,
}

impl Reader<'_> {
    pub(super) fn read(&mut self, i: usize) -> &Line {
        let line = &mut self.line;
        match &mut self.from {
            Source::All(rows, length, nonzeros) => {
                rows.read(i, nonzeros);
                if line.columns.len() != *length {
                    line.columns = (0..*length as u32).collect();
                    line.weights = vec![1.0; *length];
                }
                line.values.clear();
                line.values.resize(*length, 0.0);
                nonzeros
                    .iter()
                    .for_each(|&(j, s)| line.values[j as usize] = s);
            }
            Source::Stored(Weighted { values, weights }) => {
                let (columns, own) = values.row(i);
                line.columns.clear();
                line.columns.extend_from_slice(columns);
                line.values.clear();
                line.values.extend(own.iter().map(|&s| f64::from(s)));
                line.weights.clear();
                match weights {
                    Some(weights) => line
                        .weights
                        .extend(weights.row(i).1.iter().map(|&w| f64::from(w))),
                    None => line.weights.resize(columns.len(), 1.0),
                }
            }
        }
        line
    }
}
